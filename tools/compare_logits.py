#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what `interframe logits` wrote with a reference's golden.safetensors.

    compare_logits.py OUT GOLDEN [--max-error 2e-5] [--same-bits OTHER_OUT]

Prints ||out - ref|| / ||ref|| over all logits (prefill, decode) and, for each layer, whether the selections are equal.
Exit code 1 when an error is over the bound, a selection differs, a tensor is missing, or (--same-bits) two outputs differ.
Needs NumPy alone.
"""
import argparse
import json
import struct
import sys

import numpy as np

TYPES = {"F32": np.float32, "U8": np.uint8, "I32": np.int32, "I64": np.int64}


def load(path):
    with open(path, "rb") as file:
        data = file.read()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    tensors = {}
    for name, info in header.items():
        if name == "__metadata__" or info["dtype"] not in TYPES:
            continue
        begin, end = info["data_offsets"]
        tensors[name] = np.frombuffer(data[8 + length + begin : 8 + length + end], TYPES[info["dtype"]]).reshape(info["shape"])
    return tensors


def compare(out, golden, max_error):
    failed = False
    for name in ("prefill_logits", "decode_logits"):
        if name not in golden:
            continue
        if name not in out:
            print(f"{name}: missing")
            failed = True
            continue
        reference = golden[name].astype(np.float64)
        error = np.linalg.norm(out[name].astype(np.float64) - reference) / np.linalg.norm(reference)
        good = bool(error <= max_error)
        failed |= not good
        print(f"{name}: relative error {error:.3e} {'ok' if good else 'OVER ' + str(max_error)}")
    for name in sorted(n for n in golden if n.endswith("selected")):
        equal = name in out and np.array_equal(out[name], golden[name])
        failed |= not equal
        print(f"{name}: {'equal' if equal else 'DIFFERS' if name in out else 'missing'}")
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out")
    parser.add_argument("golden")
    parser.add_argument("--max-error", type=float, default=2e-5)
    parser.add_argument("--same-bits", default=None)
    options = parser.parse_args()
    out = load(options.out)
    failed = compare(out, load(options.golden), options.max_error)
    if options.same_bits:
        other = load(options.same_bits)
        same = out.keys() == other.keys() and all(out[n].tobytes() == other[n].tobytes() for n in out)
        failed |= not same
        print(f"bits: {'same' if same else 'DIFFER'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
