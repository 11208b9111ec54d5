#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small random models of the qwen4_exp kind and what a slow float64 program computes for them.

    make_variants.py OUT_DIR               writes one folder a variant (Hugging Face layout, golden.safetensors)
    make_variants.py --check FOLDER [GOLDEN]   holds the program below against stored goldens

Needs numpy only. The program is written from the model's mathematics alone and shares nothing with
the engine; --check on the reference models (made by Hugging Face transformers) shows that it is
right. Equal index scores go to the lower block; a seed is moved on until no chosen and refused block,
and no chosen and refused expert, are closer than 1e-5 relative, so that float32 cannot flip a choice.
"""
import json
import os
import struct
import sys

import numpy as np

F8 = np.float64


# ---------------------------------------------------------------- safetensors

def bf16_bits(x):
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def bf16_values(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


def read_safetensors(path):
    with open(path, "rb") as f:
        size, = struct.unpack("<Q", f.read(8))
        header = json.loads(f.read(size))
        data = f.read()
    kinds = {"F32": np.float32, "F16": np.float16, "BF16": np.uint16, "I64": np.int64, "I32": np.int32, "U8": np.uint8}
    out = {}
    for name, t in header.items():
        if name == "__metadata__":
            continue
        begin, end = t["data_offsets"]
        x = np.frombuffer(data[begin:end], kinds[t["dtype"]]).reshape(t["shape"])
        out[name] = bf16_values(x) if t["dtype"] == "BF16" else x
    return out


def write_safetensors(path, tensors, float_type="F32"):
    """float_type: how float32 arrays are stored; their values must fit it."""
    header, parts, at = {}, [], 0
    for name, x in tensors.items():
        kind = {np.dtype(np.int64): "I64", np.dtype(np.int32): "I32", np.dtype(np.uint8): "U8"}.get(x.dtype, float_type)
        raw = {"BF16": bf16_bits, "F16": lambda v: v.astype(np.float16)}.get(kind, lambda v: v)(x).tobytes()
        header[name] = {"dtype": kind, "shape": list(x.shape), "data_offsets": [at, at + len(raw)]}
        parts.append(raw)
        at += len(raw)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + b"".join(parts))


# ---------------------------------------------------------------- the mathematics

def sigmoid(x):
    return 0.5 * (1 + np.tanh(0.5 * x))


def silu(x):
    return x * sigmoid(x)


def rms(x, w, eps):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * w


def grouped_rms(x, w, groups, eps):
    y = x.reshape(len(x), groups, -1)
    return (y / np.sqrt((y * y).mean(-1, keepdims=True) + eps)).reshape(x.shape) * (1 + w)


def rotate(x, positions, rot, theta):
    """x: [T, heads, D]; halves pairing on the first `rot` channels."""
    inv = np.float32(1) / np.power(np.float32(theta), np.arange(0, rot, 2, dtype=np.float32) / np.float32(rot)).astype(np.float32)
    angle = (positions.astype(np.float32)[:, None] * inv[None]).astype(np.float32).astype(F8)[:, None]
    a, b = x[..., : rot // 2], x[..., rot // 2: rot]
    turned = [a * np.cos(angle) - b * np.sin(angle), b * np.cos(angle) + a * np.sin(angle), x[..., rot:]]
    return np.concatenate(turned, -1)


def causal_conv(x, w, dilation=1):
    """x: [T, ch], w: [ch, 1, taps]."""
    taps = w.shape[-1]
    past = np.concatenate([np.zeros(((taps - 1) * dilation, x.shape[1])), x])
    return silu(sum(past[j * dilation: j * dilation + len(x)] * w[:, 0, j] for j in range(taps)))


def splitmix(x):
    m = (1 << 64) - 1
    x = (x + 0x9E3779B97F4A7C15) & m
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & m
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & m
    return x ^ (x >> 31)


def primes_from(base, count):
    out, n = [], base
    while len(out) < count:
        if n > 1 and all(n % d for d in range(2, int(n ** 0.5) + 1)):
            out.append(n)
        n += 1
    return out


def ngram_constants(c, p):
    heads = (c["ngram_size"] - 1) * c["heads_per_ngram"]
    half = max(1, ((2 ** 63 - 1) // max(c["vocab_size"], 1)) // 2)
    gamma = 0x9E3779B97F4A7C15
    mult = [2 * (splitmix((c["seed"] + 10007 * p + gamma * (j + 1)) % 2 ** 64) % half) + 1 for j in range(c["ngram_size"])]
    primes = primes_from(c["ngram_vocab_size_base"], (p + 1) * heads)[p * heads:]
    offsets = [sum(primes[:i]) for i in range(heads)]
    div = c["make_ngram_vocab_size_divisible_by"]
    return mult, primes, offsets, (sum(primes) + div - 1) // div * div


DEFAULTS = {
    "rms_norm_eps": 1e-6, "hc_count": 4, "hc_lowrank": 320, "ple_layer_ids": None, "ple_conv_kernel_size": 4,
    "ngram_size": 3, "heads_per_ngram": 8, "seed": 1234, "split_ngram_parts": 512, "norm_topk_prob": True,
    "make_ngram_vocab_size_divisible_by": 128, "output_gate_type": None, "hidden_act": "silu", "layer_types": None,
    "tie_word_embeddings": False, "linear_conv_kernel_dim": 4, "rope_parameters": None, "eos_token_id": None,
}


def complete(config):
    c = {**DEFAULTS, **config.get("text_config", config)}
    rope = c["rope_parameters"] or {}
    c["theta"] = rope.get("rope_theta", 10000.0)
    c["rot"] = int(c["head_dim"] * rope.get("partial_rotary_factor", 1.0))
    c["gate"] = silu if (c["output_gate_type"] or c["hidden_act"]) == "silu" else sigmoid
    c["ple"] = sorted(c["ple_layer_ids"] or [])
    c["ple_embed_dim"] = c.get("ple_embed_dim") or c["hidden_size"]
    kinds = c["layer_types"] or ["linear_attention" if (i + 1) % 4 else "full_attention" for i in range(c["num_hidden_layers"])]
    c["kinds"] = kinds
    eos = c["eos_token_id"]
    c["eos"] = eos[0] if isinstance(eos, list) else eos
    return c


class Oracle:
    def __init__(self, config, tensors):
        self.c = complete(config)
        self.root = "model.language_model." if "text_config" in config else "model."
        self.w = {k: v.astype(F8) if v.dtype.kind == "f" else v for k, v in tensors.items()}
        self.gap = 1.0          # of any choice
        self.selected = {}      # layer -> [T, T]

    def lin(self, x, name):
        return x @ self.w[name + ".weight"].T

    def close(self, chosen, refused):
        if chosen != refused:
            self.gap = min(self.gap, (chosen - refused) / max(abs(chosen), 1e-300))

    def mix(self, s, at, inject=True):
        c, eps = self.c["hc_count"], self.c["rms_norm_eps"]
        n = grouped_rms(s, self.w[at + "hc_norm.weight"], c, eps)
        g = sigmoid(self.lin(silu(self.lin(n, at + "input_mix_weight_down") / c), at + "input_mix_weight_up"))
        mixed = (g * n).reshape(len(s), c, -1).mean(1)
        return mixed, (2 * sigmoid(self.lin(n, at + "block_inject_weight") / c) if inject else None)

    def delta_net(self, m, at):
        c, T = self.c, len(m)
        kh, vh, dk, dv = (c["linear_" + k] for k in ("num_key_heads", "num_value_heads", "key_head_dim", "value_head_dim"))
        x = causal_conv(self.lin(m, at + "in_proj_qkv"), self.w[at + "conv1d.weight"])
        q, k, v = np.split(x, [kh * dk, 2 * kh * dk], 1)
        unit = lambda y: y / np.sqrt((y * y).sum(-1, keepdims=True) + 1e-6)
        q = unit(q.reshape(T, kh, dk)).repeat(vh // kh, 1) / np.sqrt(dk)
        k = unit(k.reshape(T, kh, dk)).repeat(vh // kh, 1)
        v = v.reshape(T, vh, dv)
        beta = sigmoid(self.lin(m, at + "in_proj_b"))
        decay = np.exp(-np.exp(self.w[at + "A_log"]) * np.logaddexp(0, self.lin(m, at + "in_proj_a") + self.w[at + "dt_bias"]))
        M, out = np.zeros((vh, dk, dv)), np.empty((T, vh, dv))
        for t in range(T):
            M *= decay[t][:, None, None]
            delta = beta[t][:, None] * (v[t] - np.einsum("hkv,hk->hv", M, k[t]))
            M += k[t][:, :, None] * delta[:, None, :]
            out[t] = np.einsum("hkv,hk->hv", M, q[t])
        z = self.lin(m, at + "in_proj_z").reshape(T, vh, dv)
        out = rms(out, self.w[at + "norm.weight"], c["rms_norm_eps"]) * c["gate"](z)
        return self.lin(out.reshape(T, -1), at + "out_proj")

    def choose(self, m, at):
        """[T, T] mask of what each query may attend."""
        c, T, eps = self.c, len(m), self.c["rms_norm_eps"]
        n, d, r = c["indexer_n_heads"], c["indexer_head_dim"], c["indexer_compress_ratio"]
        raw = self.lin(m, at + "index_qk_proj").reshape(T, n + 1, d)
        q = rotate(rms(raw[:, :n], 1 + self.w[at + "q_layernorm.weight"], eps), np.arange(T), c["rot"], c["theta"])
        blocks = T // r
        keys = rms(raw[: blocks * r, n].reshape(blocks, r, d).mean(1), 1 + self.w[at + "k_layernorm.weight"], eps)
        keys = rotate(keys[:, None], np.arange(blocks) * r, c["rot"], c["theta"])[:, 0]
        score = np.maximum(np.einsum("thd,bd->thb", q, keys), 0).sum(1) / np.sqrt(d)
        mask = np.zeros((T, T), np.uint8)
        for t in range(T):
            live = (t + 1) // r
            order = np.argsort(-score[t, :live], kind="stable")
            best = order[: c["indexer_budget"] // r]
            if len(best) < live:
                self.close(score[t, best[-1]], score[t, order[len(best)]])
            for b in best:
                mask[t, b * r: b * r + r] = 1
            mask[t, live * r: t + 1] = 1
        return mask

    def attention(self, m, at, layer):
        c, T, eps = self.c, len(m), self.c["rms_norm_eps"]
        h, kv, d = c["num_attention_heads"], c["num_key_value_heads"], c["head_dim"]
        qg = self.lin(m, at + "q_proj").reshape(T, h, 2 * d)
        k, v = (self.lin(m, at + n).reshape(T, kv, d) for n in ("k_proj", "v_proj"))
        q = rotate(rms(qg[..., :d], 1 + self.w[at + "q_norm.weight"], eps), np.arange(T), c["rot"], c["theta"])
        k = rotate(rms(k, 1 + self.w[at + "k_norm.weight"], eps), np.arange(T), c["rot"], c["theta"])
        mask = self.selected[layer] = self.choose(m, at + "indexer.")
        out = np.empty((T, h, d))
        for i in range(h):
            s = np.where(mask == 1, q[:, i] @ k[:, i // (h // kv)].T / np.sqrt(d), -np.inf)
            # A query that completes a block may lose it and then sees nothing of its own, never nothing at all.
            p = np.exp(s - s.max(-1, keepdims=True))
            out[:, i] = p / p.sum(-1, keepdims=True) @ v[:, i // (h // kv)]
        return self.lin((out * sigmoid(qg[..., d:])).reshape(T, -1), at + "o_proj")

    def mlp(self, x, at):
        return self.lin(silu(self.lin(x, at + "gate_proj")) * self.lin(x, at + "up_proj"), at + "down_proj")

    def moe(self, m, at):
        c = self.c
        logits = self.lin(m, at + "gate")
        p = np.exp(logits - logits.max(-1, keepdims=True))
        p /= p.sum(-1, keepdims=True)
        out = sigmoid(self.lin(m, at + "shared_expert_gate")) * self.mlp(m, at + "shared_expert.")
        for t in range(len(m)):
            order = np.argsort(-p[t], kind="stable")
            best = order[: c["num_experts_per_tok"]]
            if len(best) < len(order):
                self.close(p[t, best[-1]], p[t, order[len(best)]])
            scale = p[t, best].sum() if c["norm_topk_prob"] else 1.0
            for e in best:
                out[t] += p[t, e] / scale * self.mlp(m[t: t + 1], f"{at}experts.{e}.")[0]
        return out

    def ple(self, s, ids, at, index):
        c, H, T = self.c, self.c["hidden_size"], len(s)
        mult, primes, offsets, rows = ngram_constants(c, index)
        table_at = at + "ple_embedding."
        for name, expected in (("layer_multipliers", mult), ("ngram_heads_vocab_sizes", primes), ("ngram_heads_offsets", offsets)):
            assert list(self.w[table_at + name]) == expected, name
        shards, k = [], 0
        while f"{table_at}ngram_embedding.shard_{k}.weight" in self.w:
            shards.append(self.w[f"{table_at}ngram_embedding.shard_{k}.weight"])
            k += 1
        table = np.concatenate(shards)
        assert len(table) == rows
        e = np.empty((T, len(primes) * table.shape[1]))
        for t in range(T):
            history, cut = [], False     # token j places back, as this position sees it
            for j in range(c["ngram_size"]):
                cut = cut or t - j < 0 or (j > 0 and ids[t - j] == c["eos"])
                history.append(c["eos"] if cut else int(ids[t - j]))
            row = []
            for order in range(2, c["ngram_size"] + 1):
                x = 0
                for j in range(order):
                    x ^= history[j] * mult[j]
                x = (x + 2 ** 63) % 2 ** 64 - 2 ** 63
                for i in range(c["heads_per_ngram"]):
                    head = (order - 2) * c["heads_per_ngram"] + i
                    row.append(table[x % primes[head] + offsets[head]])
            e[t] = np.concatenate(row)
        norm = lambda x, name: grouped_rms(x, self.w[at + name + ".weight"], c["hc_count"], c["rms_norm_eps"])
        key = norm(self.lin(e, at + "key_proj"), "norm_key").reshape(T, -1, H)
        query = norm(s, "norm_query").reshape(T, -1, H)
        gate = (key * query).sum(-1) / np.sqrt(H)
        gate = np.sign(gate) * np.sqrt(np.maximum(np.abs(gate), 1e-6))
        u = (sigmoid(gate)[..., None] * self.lin(e, at + "value_proj")[:, None]).reshape(T, -1)
        return u + causal_conv(norm(u, "norm_conv"), self.w[at + "conv1d.weight"], c["ngram_size"])

    def run(self, ids):
        c = self.c
        s = np.tile(self.w[self.root + "embed_tokens.weight"][ids], (1, c["hc_count"]))
        add = lambda s, y, g: s + (g[:, :, None] * y[:, None]).reshape(s.shape)
        for n in range(c["num_hidden_layers"]):
            at = f"{self.root}layers.{n}."
            if n + 1 in c["ple"]:
                s = s + self.ple(s, ids, at + "ple.", c["ple"].index(n + 1))
            m, g = self.mix(s, at + "attn_hyper_connection.")
            linear = c["kinds"][n] == "linear_attention"
            s = add(s, self.delta_net(m, at + "linear_attn.") if linear else self.attention(m, at + "self_attn.", n), g)
            m, g = self.mix(s, at + "mlp_hyper_connection.")
            s = add(s, self.moe(m, at + "mlp."), g)
        m, _ = self.mix(s, self.root + "hyper_connection_mixer.", inject=False)
        head = self.root + "embed_tokens.weight" if c["tie_word_embeddings"] else "lm_head.weight"
        return m @ self.w[head].T


# ---------------------------------------------------------------- random models

def make_weights(config, rng, float_type):
    c = complete(config)
    H, C, E = c["hidden_size"], c["hc_count"], c["num_experts"]
    root = "model.language_model." if "text_config" in config else "model."
    out = {}

    def put(name, shape, kind="matrix"):
        x = rng.standard_normal(shape)
        if kind == "matrix":
            x *= 4 / np.sqrt(np.prod(shape[1:]))
        elif kind == "norm":
            x *= 0.1
        elif kind == "one":
            x = 1 + 0.1 * x
        elif kind == "decay":
            x = np.log(rng.uniform(0.05, 8, shape))
        x = x.astype(np.float32)
        out[name] = {"BF16": lambda v: bf16_values(bf16_bits(v)), "F16": lambda v: v.astype(np.float16).astype(np.float32)}.get(float_type, lambda v: v)(x)

    def mixer(at, inject=True):
        put(at + "hc_norm.weight", (C * H,), "norm")
        put(at + "input_mix_weight_down.weight", (c["hc_lowrank"], C * H))
        put(at + "input_mix_weight_up.weight", (C * H, c["hc_lowrank"]))
        if inject:
            put(at + "block_inject_weight.weight", (C, C * H))

    def mlp(at, width):
        put(at + "gate_proj.weight", (width, H))
        put(at + "up_proj.weight", (width, H))
        put(at + "down_proj.weight", (H, width))

    put(root + "embed_tokens.weight", (c["vocab_size"], H), "embedding")
    if not c["tie_word_embeddings"]:
        put("lm_head.weight", (c["vocab_size"], H))
    mixer(root + "hyper_connection_mixer.", False)
    for n, kind in enumerate(c["kinds"]):
        at = f"{root}layers.{n}."
        mixer(at + "attn_hyper_connection.")
        mixer(at + "mlp_hyper_connection.")
        if kind == "linear_attention":
            kh, vh, dk, dv = (c["linear_" + k] for k in ("num_key_heads", "num_value_heads", "key_head_dim", "value_head_dim"))
            a, channels = at + "linear_attn.", 2 * kh * dk + vh * dv
            for name, rows in (("qkv", channels), ("z", vh * dv), ("b", vh), ("a", vh)):
                put(f"{a}in_proj_{name}.weight", (rows, H))
            put(a + "conv1d.weight", (channels, 1, c["linear_conv_kernel_dim"]))
            put(a + "A_log", (vh,), "decay")
            put(a + "dt_bias", (vh,), "embedding")
            put(a + "norm.weight", (dv,), "one")
            put(a + "out_proj.weight", (H, vh * dv))
        else:
            h, kv, d, di = c["num_attention_heads"], c["num_key_value_heads"], c["head_dim"], c["indexer_head_dim"]
            a = at + "self_attn."
            for name, rows in (("q", 2 * h * d), ("k", kv * d), ("v", kv * d)):
                put(f"{a}{name}_proj.weight", (rows, H))
            put(a + "o_proj.weight", (H, h * d))
            put(a + "q_norm.weight", (d,), "norm")
            put(a + "k_norm.weight", (d,), "norm")
            put(a + "indexer.index_qk_proj.weight", ((c["indexer_n_heads"] + 1) * di, H))
            put(a + "indexer.q_layernorm.weight", (di,), "norm")
            put(a + "indexer.k_layernorm.weight", (di,), "norm")
        put(at + "mlp.gate.weight", (E, H))
        for e in range(E):
            mlp(f"{at}mlp.experts.{e}.", c["moe_intermediate_size"])
        mlp(at + "mlp.shared_expert.", c["shared_expert_intermediate_size"])
        put(at + "mlp.shared_expert_gate.weight", (1, H))
        if n + 1 in c["ple"]:
            p, width = at + "ple.", c["ple_embed_dim"]
            put(p + "key_proj.weight", (C * H, width))
            put(p + "value_proj.weight", (H, width))
            for name in ("norm_key", "norm_query", "norm_conv"):
                put(f"{p}{name}.weight", (C * H,), "norm")
            put(p + "conv1d.weight", (C * H, 1, c["ple_conv_kernel_size"]))
            mult, primes, offsets, rows = ngram_constants(c, c["ple"].index(n + 1))
            for name, values in (("layer_multipliers", mult), ("ngram_heads_vocab_sizes", primes), ("ngram_heads_offsets", offsets)):
                out[p + "ple_embedding." + name] = np.array(values, np.int64)
            per = -(-rows // c["split_ngram_parts"])
            for k in range(-(-rows // per)):
                put(f"{p}ple_embedding.ngram_embedding.shard_{k}.weight", (min(per, rows - k * per), width // len(primes)), "embedding")
    return out


BASE = {
    "model_type": "qwen4_exp_text", "vocab_size": 96, "hidden_size": 32, "num_hidden_layers": 4, "rms_norm_eps": 1e-6,
    "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "hc_count": 4, "hc_lowrank": 8,
    "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5},
    "linear_key_head_dim": 8, "linear_value_head_dim": 8, "linear_num_key_heads": 2, "linear_num_value_heads": 4,
    "moe_intermediate_size": 24, "shared_expert_intermediate_size": 16, "num_experts": 6, "num_experts_per_tok": 2,
    "ple_layer_ids": [1], "ple_embed_dim": 32, "ngram_vocab_size_base": 53, "split_ngram_parts": 8,
    "indexer_n_heads": 4, "indexer_kv_heads": 1, "indexer_head_dim": 16, "indexer_budget": 16, "indexer_compress_ratio": 4,
    "max_position_embeddings": 1024, "eos_token_id": 2, "bos_token_id": 1,
    "output_gate_type": "sigmoid", "norm_topk_prob": True, "tie_word_embeddings": False,
    "layer_types": ["linear_attention", "qwen_sparse_attention", "linear_attention", "qwen_sparse_attention"],
}
INDEXER = [k for k in BASE if k.startswith("indexer_")]
L, S, F = "linear_attention", "qwen_sparse_attention", "full_attention"

# name -> (changes; None removes a key), weight type, prompt tokens
VARIANTS = {
    "one_kv_head": ({"num_attention_heads": 6, "num_key_value_heads": 1, "rope_parameters": {"rope_theta": 1e7, "partial_rotary_factor": 0.25}}, "BF16", 130),
    "ratio_1": ({"indexer_compress_ratio": 1, "indexer_budget": 9}, "BF16", 75),
    "ratio_3_one_index_head": ({"indexer_compress_ratio": 3, "indexer_budget": 12, "indexer_n_heads": 1}, "BF16", 140),
    "ratio_8_one_block": ({"indexer_compress_ratio": 8, "indexer_budget": 8, "indexer_head_dim": 24}, "BF16", 100),
    "budget_beyond_context": ({"indexer_budget": 512}, "BF16", 70),
    "two_streams_f32": ({"hc_count": 2, "hc_lowrank": 5, "num_experts_per_tok": 6}, "F32", 80),
    "three_streams_bigrams": ({"hc_count": 3, "ngram_size": 2, "heads_per_ngram": 4}, "BF16", 80),
    "four_grams_two_layers": ({"ngram_size": 4, "heads_per_ngram": 2, "ple_embed_dim": 36, "ple_layer_ids": [3, 1], "ple_conv_kernel_size": 3,
                               "split_ngram_parts": 5, "make_ngram_vocab_size_divisible_by": 16, "seed": 77}, "BF16", 90),
    "full_attention_list": ({"num_hidden_layers": 3, "layer_types": [F, L, S], "split_ngram_parts": 1}, "BF16", 80),
    "all_linear_no_ple": ({"layer_types": [L] * 4, "ple_layer_ids": None, **{k: None for k in INDEXER}}, "BF16", 80),
    "all_sparse_no_ple": ({"layer_types": [S] * 4, "ple_layer_ids": []}, "BF16", 90),
    "silu_gate_tied": ({"output_gate_type": "silu", "tie_word_embeddings": True, "norm_topk_prob": False, "rms_norm_eps": 1e-5}, "BF16", 80),
    "absent_keys": ({k: None for k in ("layer_types", "output_gate_type", "norm_topk_prob", "tie_word_embeddings", "hc_count", "rope_parameters",
                                       "ple_layer_ids", "bos_token_id", "split_ngram_parts", "ple_embed_dim")}, "BF16", 80),
    "odd_delta_net_f16": ({"linear_num_key_heads": 1, "linear_num_value_heads": 3, "linear_value_head_dim": 12, "linear_conv_kernel_dim": 2}, "F16", 80),
    "text_config_eos_list": ({"eos_token_id": [2, 5], "linear_conv_kernel_dim": 1, "_wrap": True}, "BF16", 80),
    "ple_on_sparse_layer": ({"ple_layer_ids": [2, 4], "heads_per_ngram": 1, "linear_num_key_heads": 4}, "BF16", 200),
}


def make_variant(name, out_dir):
    changes, float_type, prompt = VARIANTS[name]
    config = {k: v for k, v in {**BASE, **changes}.items() if v is not None and k != "_wrap"}
    if changes.get("_wrap"):
        config = {"model_type": "qwen4_exp", "text_config": config, "vision_config": {}, "tie_word_embeddings": False}
    c = complete(config)
    decode = 7
    for seed in range(100):
        rng = np.random.default_rng([seed, len(name), prompt])
        tensors = make_weights(config, rng, float_type)
        ids = rng.integers(3, c["vocab_size"], prompt + decode)
        ids[[prompt // 3, prompt // 3 + 1, prompt - 2, prompt + decode // 2]] = c["eos"]
        oracle = Oracle(config, tensors)
        logits = oracle.run(ids).astype(np.float32)
        if oracle.gap >= 1e-5:
            break
    else:
        sys.exit(f"{name}: no seed keeps choices apart")
    golden = {"input_ids": ids[:prompt].astype(np.int32), "decode_ids": ids[prompt:].astype(np.int32),
              "prefill_logits": logits[:prompt], "decode_logits": logits[prompt:]}
    for layer, mask in oracle.selected.items():
        golden[f"layer.{layer}.selected"] = np.ascontiguousarray(mask[:prompt, :prompt])
        golden[f"layer.{layer}.decode_selected"] = np.ascontiguousarray(mask[prompt:])
    folder = os.path.join(out_dir, name)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "config.json"), "w") as f:
        json.dump(config, f, indent=1)
    if changes.get("_wrap"):
        tensors["model.visual.patch_embed.proj.weight"] = np.ones((4, 4), np.float32)
    write_safetensors(os.path.join(folder, "model.safetensors"), tensors, float_type)
    write_safetensors(os.path.join(folder, "golden.safetensors"), golden)
    print(f"{name}: seed {seed}, closest choice {oracle.gap:.1e}, logit std {logits.std():.3f}")


def check(folder, golden_path):
    config = json.load(open(os.path.join(folder, "config.json")))
    tensors = {}
    for name in sorted(os.listdir(folder)):
        if name.startswith("model") and name.endswith(".safetensors"):
            tensors.update(read_safetensors(os.path.join(folder, name)))
    g = read_safetensors(golden_path)
    ids = np.concatenate([g["input_ids"], g["decode_ids"]])
    prompt = len(g["input_ids"])
    oracle = Oracle(config, tensors)
    logits = oracle.run(ids)
    error = lambda a, b: np.linalg.norm(a - b) / np.linalg.norm(b)
    wrong = sum(int((m[:prompt, :prompt] != g[f"layer.{n}.selected"]).any(1).sum() + (m[prompt:] != g[f"layer.{n}.decode_selected"]).any(1).sum())
                for n, m in oracle.selected.items())
    print(f"{folder}: prefill {error(logits[:prompt], g['prefill_logits']):.2e}, decode {error(logits[prompt:], g['decode_logits']):.2e}, "
          f"rows of wrong selections {wrong}")


if __name__ == "__main__":
    if sys.argv[1] == "--check":
        check(sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else os.path.join(sys.argv[2], "golden.safetensors"))
    else:
        for variant in VARIANTS:
            make_variant(variant, sys.argv[1])
