#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs `interframe perplexity` and --sparse of the other commands on small models, and checks what they refuse.

    test_sparse_program.py PROGRAM WRITER SOURCE_DIR
WRITER FILE writes a small dense model with a tokenizer; it takes contexts of 512 tokens.
"""
import array
import json
import math
import pathlib
import struct
import subprocess
import sys
import tempfile

program, writer, source = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
micro = str(source / "assets/micro")
failures = []


def run(*arguments):
    return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=600)


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


def perplexity(*arguments):
    result = run("perplexity", *arguments, "--json", "-")
    check(result.returncode == 0, f"perplexity {arguments}: {result.stderr}")
    return json.loads(result.stdout)


def tokens_file(path, ids):
    header = json.dumps({"input_ids": {"dtype": "I32", "shape": [len(ids)], "data_offsets": [0, 4 * len(ids)]}})
    header += " " * (-len(header) % 8)
    path.write_bytes(struct.pack("<Q", len(header)) + header.encode() + struct.pack(f"<{len(ids)}i", *ids))


def read_rows(path, name):
    """The rows of a two-dimensional F32 or U8 tensor."""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    entry = json.loads(data[8 : 8 + length])[name]
    begin, end = entry["data_offsets"]
    values = array.array({"F32": "f", "U8": "B"}[entry["dtype"]], data[8 + length + begin : 8 + length + end])
    rows, columns = entry["shape"]
    return [values[i * columns : (i + 1) * columns] for i in range(rows)]


def expected_nll(logits, ids, first):
    """Mean negative log-likelihood of ids[first:] from the rows before them."""
    total = 0.0
    for i in range(first, len(ids)):
        row = logits[i - 1]
        top = max(row)
        total += math.log(math.fsum(math.exp(x - top) for x in row)) + top - row[ids[i]]
    return total / (len(ids) - first)


def test_against_logits(folder):
    """The micro model has no tokenizer: bytes are ids, and `logits` gives the rows to compute from."""
    text = folder / "bytes.txt"
    text.write_bytes(bytes((i * 37 + i * i) % 256 for i in range(300)))
    for window in (3, 64, 101):
        ids = list(text.read_bytes()[:window])
        tokens, out = folder / "ids.safetensors", folder / "logits.safetensors"
        tokens_file(tokens, ids)
        check(run("logits", micro, "--tokens", tokens, "--out", out).returncode == 0, "logits")
        expected = expected_nll(read_rows(out, "prefill_logits"), ids, window // 2)
        got = perplexity(micro, "--text", text, "--window-tokens", window, "--windows", 1)
        check(abs(got["mean_nll"] - expected) < 1e-9 * abs(expected) + 1e-9, f"nll of {window}: {got} for {expected}")
        check(got["scored_tokens"] == window - window // 2, f"scored of {window}: {got}")
        check(abs(got["perplexity"] - math.exp(expected)) < 1e-6 * got["perplexity"], "perplexity is exp of the mean")
    whole = perplexity(micro, "--text", text, "--window-tokens", 64)
    check(whole["windows"] == 4 and whole["scored_tokens"] == 4 * 32, f"windows: {whole}")
    plain = run("perplexity", micro, "--text", text, "--window-tokens", 64, "--threads", 1)
    check(f"perplexity {whole['perplexity']:.4f} +- " in plain.stdout, f"text form: {plain.stdout}")
    run("perplexity", micro, "--text", text, "--window-tokens", 64, "--json", folder / "p.json")
    check(json.loads((folder / "p.json").read_text())["mean_nll"] == whole["mean_nll"], "--json FILE")


def test_sparse(model, folder):
    text = folder / "text.txt"
    text.write_text("".join(f"Line {i} says {i * i % 97} and {i * 7 % 13}.\n" for i in range(200)))
    common = (model, "--text", text, "--window-tokens", 256, "--windows", 2)
    dense = perplexity(*common)
    check(dense["sparse_budget_tokens"] == 0, "dense says budget 0")
    for budget in (0, 256, 512, 1 << 20):
        same = perplexity(*common, "--sparse", f"budget={budget}")
        check(same["mean_nll"] == dense["mean_nll"], f"a budget of {budget} holds the window, yet differs")
    small = perplexity(*common, "--sparse", "budget=64")
    check(small["sparse_budget_tokens"] == 64, "the budget is told")
    check(small["mean_nll"] != dense["mean_nll"], "a budget of 64 should change the numbers")
    again = perplexity(*common, "--sparse", "budget=64", "--threads", 1)
    check(small["mean_nll"] == again["mean_nll"], "sparse numbers do not depend on the threads")

    need = json.loads(run("info", model, "--context", 512).stdout)
    sparse = json.loads(run("info", model, "--context", 512, "--sparse", "budget=64").stdout)
    check((need["sparse_budget_tokens"], sparse["sparse_budget_tokens"]) == (0, 64), "info tells the budget")
    check(sparse["need"]["session_bytes"] > need["need"]["session_bytes"], "info counts the index")

    tokens, out = folder / "t.safetensors", folder / "o.safetensors"
    tokens_file(tokens, [(i * 37 + 5) % 300 for i in range(200)])
    check(run("logits", model, "--tokens", tokens, "--out", out, "--sparse", "budget=64").returncode == 0, "logits")
    selected = read_rows(out, "layer.1.selected")
    check((len(selected), len(selected[0])) == (200, 200), "logits writes the selections")
    check(all(selected[150][:16]), "the first block is read")
    check(all(selected[150][128:151]), "the recent block and the query's own are read")
    # Four blocks a key head, the query's own of 8 tokens so far; two heads may choose one block each.
    check(sum(selected[199]) in (56, 72), f"row 199 reads {sum(selected[199])}")
    check(not any(selected[150][151:]), "nothing of the future is read")


def test_refusals(model, folder):
    text = folder / "text.txt"
    for command in (("perplexity", "--text", text), ("info",)):
        for value in ("256", "budget", "budget=", "budget=x", "budget=1.5", "budget=64x", "tokens=64", "budget=99999999999"):
            refused(["--sparse", "budget=256"], command[0], model, *command[1:], "--sparse", value)
        for value in (-64, 1, 48, 65):
            refused(["multiple of 16", "at least 64"], command[0], model, *command[1:], "--sparse", f"budget={value}")
        refused(["indexer of its own"], command[0], micro, *command[1:], "--sparse", "budget=64")
    out = folder / "refused.safetensors"
    refused(["multiple of 16"], "logits", model, "--tokens", folder / "t.safetensors", "--out", out, "--sparse", "budget=8")
    check(not out.exists(), "logits: nothing is written when refused")

    refused(["no-such"], "perplexity", model, "--text", folder / "no-such")
    refused(["512"], "perplexity", model, "--text", text, "--window-tokens", 513)
    refused(["nothing to predict"], "perplexity", model, "--text", text, "--window-tokens", 1)
    (folder / "short.txt").write_text("Too short")
    refused(["longer text"], "perplexity", model, "--text", folder / "short.txt", "--window-tokens", 64)
    (folder / "wrong.txt").write_bytes(b"caf\xe9")
    refused(["UTF-8"], "perplexity", model, "--text", folder / "wrong.txt", "--window-tokens", 3)
    failed = run("perplexity", model, "--text", text, "--windows", 1, "--json", "/no/such/p.json")
    check(failed.returncode != 0 and "/no/such/p.json" in failed.stderr, f"--json: {failed.stderr}")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        model = folder / "b.gguf"
        subprocess.run([writer, str(model)], check=True)
        test_against_logits(folder)
        test_sparse(model, folder)
        test_refusals(model, folder)
    print(f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
