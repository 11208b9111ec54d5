#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the interframe program on the micro model and checks what it prints, writes and refuses.

    test_program.py PROGRAM SOURCE_DIR      (exit 77: skipped, NumPy is missing)
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

program, source = sys.argv[1], pathlib.Path(sys.argv[2])
model = str(source / "assets/micro")
golden = str(source / "tests/golden/micro/golden.safetensors")
failures = []


def run(*arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=300)


def check(condition, what):
    if not condition:
        failures.append(what)
        print("FAILED:", what)


def refused(words, *arguments):
    result = run(*arguments)
    check(result.returncode != 0, f"{arguments} should fail")
    check(result.stdout == "", f"{arguments} printed an answer: {result.stdout!r}")
    for word in words:
        check(word in result.stderr, f"{arguments}: '{word}' not in {result.stderr!r}")


def test_info():
    result = run("info", model)
    check(result.returncode == 0, f"info: {result.stderr}")
    info = json.loads(result.stdout)
    check(info["architecture"] == "qwen4_exp", "info: architecture")
    check(info["format"] == "safetensors", "info: format")
    check(info["config"]["layers"].count("sparse_attention") == 1, "info: layers")
    check(info["tokenizer"] is None, "info: tokenizer")
    need = json.loads(run("info", model, "--context", "1024").stdout)["need"]
    double = json.loads(run("info", model, "--context", "2048").stdout)["need"]
    check(0 < need["session_bytes"] < double["session_bytes"], "info: need grows with the context")
    refused(["no-such-model"], "info", "no-such-model")
    refused(["config.json"], "info", str(source / "docs"))


def test_generate():
    arguments = ["generate", model, "--prompt", "Hello", "--max-tokens", "12", "--ignore-end", "--json"]
    first, second = (json.loads(run(*arguments).stdout) for _ in range(2))
    check(len(first["token_ids"]) == 12, "generate: 12 tokens")
    check(first["token_ids"] == second["token_ids"], "generate: greedy is repeatable")
    check(first["finish_reason"] == "max_tokens", "generate: reason")
    check(first["prompt_tokens"] == 5, "generate: prompt bytes are the ids")
    sampled = [*arguments, "--temperature", "1", "--top-k", "50", "--top-p", "0.95"]
    a = json.loads(run(*sampled, "--seed", "7").stdout)
    b = json.loads(run(*sampled, "--seed", "7", "--threads", "2").stdout)
    c = json.loads(run(*sampled, "--seed", "8").stdout)
    check(a["token_ids"] == b["token_ids"], "generate: same seed, same tokens")
    check(a["token_ids"] != c["token_ids"], "generate: another seed, other tokens")
    free = json.loads(run(*sampled).stdout)
    again = json.loads(run(*sampled, "--seed", str(free["seed"])).stdout)
    check(free["token_ids"] == again["token_ids"], "generate: the reported seed repeats the run")
    plain = run("generate", model, "--prompt", "Hello", "--max-tokens", "12", "--ignore-end")
    check([int(t) for t in plain.stdout.split()] == first["token_ids"], "generate: streamed ids")
    refused(["temperature"], "generate", model, "--prompt", "x", "--temperature", "-1")
    refused(["no tokenizer"], "generate", model, "--prompt", "x", "--chat")
    refused(["context"], "generate", model, "--prompt", "x" * 70, "--context", "64")
    refused([], "generate", model, "--prompt", "x", "--backend", "tpu")
    refused([], "generate", model, "--prompt", "")


def test_logits(folder):
    compare = [sys.executable, str(source / "tools/compare_logits.py")]
    outputs = []
    for chunk in ("1", "7", "64", "1024"):
        out = str(folder / f"chunk{chunk}.safetensors")
        result = run("logits", model, "--tokens", golden, "--out", out, "--chunk", chunk)
        check(result.returncode == 0, f"logits --chunk {chunk}: {result.stderr}")
        outputs.append(out)
    for out in outputs:
        result = subprocess.run([*compare, out, golden, "--same-bits", outputs[0]], capture_output=True, text=True)
        check(result.returncode == 0, f"compare {out}: {result.stdout}{result.stderr}")
    print(result.stdout, end="")
    out = str(folder / "x.safetensors")
    refused(["--activations"], "logits", model, "--tokens", golden, "--out", out, "--activations", "bf16")
    refused(["cuda"], "logits", model, "--tokens", golden, "--out", out, "--backend", "cuda")
    refused(["input_ids"], "logits", model, "--tokens", model + "/model.safetensors", "--out", out)
    refused(["/no/such"], "logits", model, "--tokens", golden, "--out", "/no/such/x.safetensors")
    check(not os.path.exists(out), "logits: nothing is written when refused")


def main():
    try:
        import numpy  # noqa: F401
    except ImportError:
        print("SKIPPED: NumPy is not installed (package python3-numpy)")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        test_info()
        test_generate()
        test_logits(pathlib.Path(folder))
    refused([], "no-such-command")
    check(run("--version").stdout.strip() != "", "--version")
    print(f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
