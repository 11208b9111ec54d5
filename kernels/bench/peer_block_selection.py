#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times torch.topk on the shapes of a bench_block_selection JSON, in the same way, and prints both.

    peer_block_selection.py BENCH.json [--json OUT.json]

torch.topk leaves the order of ties open, so it does a little less than block selection.
Needs PyTorch with CUDA.
"""
import argparse
import json
import sys

import torch

NUM_SAMPLES = 200
POOL_BYTES = 300 << 20  # over four times the L2 of an H200


def graph_of(sets, k):
    """One CUDA graph with a torch.topk for each tensor of `sets`."""
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        torch.topk(sets[0], k, dim=-1)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for scores in sets:
            torch.topk(scores, k, dim=-1)
    return graph


def time_graphs(graphs, launches):
    """Median, 5th and 95th percentile of microseconds a launch."""
    for graph in graphs:
        graph.replay()
    torch.cuda.synchronize()
    samples = []
    for i in range(NUM_SAMPLES):
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        graphs[i % len(graphs)].replay()
        stop.record()
        stop.synchronize()
        samples.append(start.elapsed_time(stop) * 1000 / launches)
    samples.sort()
    return [samples[int(part * (len(samples) - 1))] for part in (0.5, 0.05, 0.95)]


def time_topk(rows, row_len, k, scores_kind):
    launches = 4 if rows > 100 else 20
    num_sets = max(1, POOL_BYTES // (rows * row_len * 4))
    pool = torch.randn(num_sets, rows, row_len, device="cuda")
    if scores_kind == "relu":
        pool = torch.relu(pool)
    elif scores_kind == "zeros":
        pool.zero_()
    warm = time_graphs([graph_of([pool[0]] * launches, k)], launches)
    # 200 samples use no more graphs than there are samples.
    num_graphs = min(NUM_SAMPLES, (num_sets + launches - 1) // launches)
    cold = time_graphs(
        [graph_of([pool[(g * launches + i) % num_sets] for i in range(launches)], k)
         for g in range(num_graphs)], launches)
    return warm, cold


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bench", help="JSON of bench_block_selection")
    parser.add_argument("--json", help="where to write both, side by side")
    arguments = parser.parse_args()
    if not torch.cuda.is_available():
        print("skipped: PyTorch sees no CUDA device", file=sys.stderr)
        return 77
    with open(arguments.bench, encoding="utf-8") as file:
        cases = json.load(file)
    print(f"torch {torch.__version__}, {torch.cuda.get_device_name(0)}; medians, us")
    print(f"{'rows':>5} {'length':>7} {'k':>5} {'scores':7} {'path':8} | {'warm':>8} {'torch':>8} "
          f"{'ratio':>6} | {'cold':>8} {'torch':>8} {'ratio':>6} | {'floor':>7}")
    measured = {}
    for case in cases:
        key = (case["rows"], case["row_len"], case["k"], case["scores"])
        if key not in measured:
            measured[key] = time_topk(*key)
        warm, cold = measured[key]
        case["torch_warm"] = dict(zip(("median_us", "p5_us", "p95_us"), warm))
        case["torch_cold"] = dict(zip(("median_us", "p5_us", "p95_us"), cold))
        ours_warm, ours_cold = case["warm"]["median_us"], case["cold"]["median_us"]
        print(f"{case['rows']:5d} {case['row_len']:7d} {case['k']:5d} {case['scores']:7} "
              f"{case['path']:8} | {ours_warm:8.2f} {warm[0]:8.2f} {warm[0] / ours_warm:6.2f} | "
              f"{ours_cold:8.2f} {cold[0]:8.2f} {cold[0] / ours_cold:6.2f} | "
              f"{case['floor_us']:7.2f}", flush=True)
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(cases, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
