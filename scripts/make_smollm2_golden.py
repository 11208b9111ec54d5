#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/golden/smollm2/golden.json: what llama.cpp makes of 12 prompts.

Usage: make_smollm2_golden.py SmolLM2-135M-Instruct.Q4_1.gguf tests/golden/smollm2/golden.json

Needs llama-cpp-python 0.3.36 (its bundled llama.cpp is the reference). Format of the file:

  made_with            {llama_cpp_python, llama_cpp_system_info, command, model_file, model_sha256,
                        n_ctx, n_batch, threads, kv_cache, use_extra_bufts}: how the values came to be
  prompts[12]          one object each:
    name               unique, snake_case
    kind               "plain": `text` is encoded with special-token parsing off
                       "chat":  `messages` [{role, content}] go through the file's ChatML template
                                with add_generation_prompt; `text` is the templated string, which
                                llama.cpp encoded with parsing on (the contents are benign)
    text, messages     see kind; `messages` is absent for plain prompts
    ids                int[], the prompt's token ids (no BOS: the file says add_bos_token = false)
    greedy             48 steps of greedy decoding after `ids`; step i was computed from
                       ids ++ greedy[0..i-1].id, one token at a time after one prefill:
      id               arg-max of the logits (lowest id on a tie); generation goes on past end tokens
      second_id        id of the second largest logit
      logit, second_logit   the two logits, rounded to 4 decimals
      gap              logit - second_logit, rounded to 4 decimals

A teacher-forced check feeds ids ++ greedy ids and compares its arg-max at position
len(ids) - 1 + i with greedy[i].id; where they differ, greedy[i].gap has to be small.
"""

import ctypes
import hashlib
import json
import os
import sys

import llama_cpp
import numpy as np

MODEL_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
NUM_STEPS = 48
LONG_PROMPT_TOKENS = 1000
N_CTX = 2048
N_BATCH = 512
NUM_THREADS = 2
DEFAULT_SYSTEM = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"

CODE = '''def running_mean(values, width):
    """Mean of the last `width` values."""
    out = []
    total = 0.0
    for i, v in enumerate(values):
        total += v
        if i >= width:
            total -= values[i - width]
        out.append(total / min(i + 1, width))
    return out


class Ring:
\tdef __init__(self, size: int = 0x10):
\t\tself._data = [None] * size
'''

EMOJI = "Weather today: ☀️🌤️, later 🌧️⛈️! Team: 👩‍🚀👨🏽‍🔬🧑‍🎨 🇫🇷🇯🇵 😸😹 ❤️‍🔥 1️⃣2️⃣ → done ✅. Tomorrow:"

MULTILINGUAL = (
    "Bonjour, où est la bibliothèque ? ¿Dónde está el río? Straße über Ödland. "
    "Привет, как дела? Γειά σου Κόσμε. 你好，世界！こんにちは、元気ですか。안녕하세요. "
    "مرحبا بالعالم. שלום עולם. नमस्ते दुनिया। สวัสดีชาวโลก. Xin chào thế giới; e\u0301 and \u00e9."
)

DIGITS = (
    "In 2024, 3.14159 * 1,000,000 = 3141590 (0xFF, 1e-5, 50%).  Two  spaces,   three.\n\n"
    "\tTabbed\t\tline   \n    four in front\r\nCRLF line\r\n\r\n  42 is  the answer; ½ cup, x² + y³, "
    "No. Ⅳ, ٣٤٥, a1b2c3   \n \n\n   End:  "
)

PUNCTUATION = (
    "It's what they've said: \"We'll go, I'd stay; you're late, I'm not, don't!\" -- (really?) ... "
    "[x]{y}<z> a/b\\c #tag @user $5 ~50 ^_^ `q` 'S 'T CAN'T o'clock ''' \u2018quoted\u2019 "
    "\u201cdouble\u201d \u2014 dash\u2026"
)

SPACES = (
    "no-break\u00a0space, thin\u2009space, ideographic\u3000space, zero\u200bwidth, line\u2028sep, "
    "nel\u0085 end. \u00a0 mixed \u2003 runs \u00a0\u00a0\nnext"
)


def long_text():
    """A logbook; each entry differs, so the text is neither noise nor one sentence repeated."""
    places = ["the north pier", "the old lighthouse", "the salt market", "the tide mill",
              "the customs house", "the ferry stairs", "the rope yard", "the upper lock"]
    events = ["a fishing boat came in with its mast broken", "two barges waited for the water to rise",
              "the bell rang although nobody stood near it", "a crate of oranges was left unclaimed",
              "the clerk counted the barrels twice and found one more",
              "children flew a kite made of an old sail", "the lamp was trimmed and lit early"]
    remarks = ["Nobody could say why.", "The harbour master wrote it down without comment.",
               "By evening the wind had turned to the west.", "It cost the town about {n} crowns.",
               "We shall ask again tomorrow.", "The captain only laughed."]
    out = ["The logbook of the harbour, copied in full.\n"]
    for day in range(1, 41):
        place, event = places[(day * 5) % 8], events[(day * 3) % 7]
        remark = remarks[(day * 7 + day // 6) % 6].format(n=12 + day * 9)
        out.append(f"\nDay {day}. At {place}, {event}. {remark}")
    return "".join(out)


def chat_text(messages):
    """The templated string of SmolLM2's chat form, generation prompt added."""
    out = ""
    if messages[0]["role"] != "system":
        out += f"<|im_start|>system\n{DEFAULT_SYSTEM}<|im_end|>\n"
    for message in messages:
        out += f"<|im_start|>{message['role']}\n{message['content']}<|im_end|>\n"
    return out + "<|im_start|>assistant\n"


PLAIN = [("plain_sentence", "The capital of France is"), ("code", CODE), ("emoji", EMOJI),
         ("multilingual", MULTILINGUAL), ("digits_whitespace", DIGITS),
         ("punctuation", PUNCTUATION), ("unicode_spaces", SPACES)]

CHATS = [
    ("chat_question", [{"role": "user", "content": "What is the tallest mountain on Earth?"}]),
    ("chat_system", [
        {"role": "system", "content": "You are a pirate. Answer in one short sentence."},
        {"role": "user", "content": "  Where did you hide the treasure?\n"}]),
    ("chat_turns", [
        {"role": "user", "content": "My name is Ada and I have 3 cats."},
        {"role": "assistant", "content": "Nice to meet you, Ada! What are your cats called?"},
        {"role": "user", "content": "Ink, Moth & Tuesday.\n\nHow many cats do I have?"}]),
    ("chat_emoji", [{"role": "user", "content": "Translate to English: 😺 «Ich habe großen Hunger» 日本"}]),
]


class Reference:
    """llama.cpp on one file, CPU only."""

    def __init__(self, path):
        llama_cpp.llama_backend_init()
        params = llama_cpp.llama_model_default_params()
        params.n_gpu_layers = 0
        # No AMX or repacked weights: the file's blocks as they are, the same path on every x86 CPU.
        params.use_extra_bufts = False
        self.model = llama_cpp.llama_model_load_from_file(path.encode(), params)
        self.vocab = llama_cpp.llama_model_get_vocab(self.model)
        self.vocab_size = llama_cpp.llama_vocab_n_tokens(self.vocab)

    def encode(self, text, parse_special):
        data = text.encode()
        buffer = (llama_cpp.llama_token * (len(data) + 16))()
        count = llama_cpp.llama_tokenize(
            self.vocab, data, len(data), buffer, len(buffer), False, parse_special)
        assert count >= 0
        return list(buffer[:count])

    def decode(self, ids):
        out = b""
        for token in ids:
            buffer = ctypes.create_string_buffer(512)
            count = llama_cpp.llama_token_to_piece(self.vocab, token, buffer, 512, 0, True)
            assert count >= 0
            out += buffer.raw[:count]
        return out

    def greedy(self, ids):
        params = llama_cpp.llama_context_default_params()
        params.n_ctx, params.n_batch, params.n_ubatch = N_CTX, N_BATCH, N_BATCH
        params.n_threads = params.n_threads_batch = NUM_THREADS
        context = llama_cpp.llama_init_from_model(self.model, params)
        for start in range(0, len(ids), N_BATCH):
            self._eval(context, ids[start:start + N_BATCH])
        steps = []
        for _ in range(NUM_STEPS):
            raw = llama_cpp.llama_get_logits_ith(context, -1)
            logits = np.ctypeslib.as_array(raw, shape=(self.vocab_size,)).copy()
            first = int(np.argmax(logits))
            best = float(logits[first])
            logits[first] = -np.inf
            second = int(np.argmax(logits))
            steps.append({"id": first, "second_id": second, "logit": round(best, 4),
                          "second_logit": round(float(logits[second]), 4),
                          "gap": round(best - float(logits[second]), 4)})
            self._eval(context, [first])
        llama_cpp.llama_free(context)
        return steps

    @staticmethod
    def _eval(context, ids):
        array = (llama_cpp.llama_token * len(ids))(*ids)
        batch = llama_cpp.llama_batch_get_one(array, len(ids))
        assert llama_cpp.llama_decode(context, batch) == 0


def build_prompts(reference):
    prompts = []
    for name, text in PLAIN:
        prompts.append({"name": name, "kind": "plain", "text": text,
                        "ids": reference.encode(text, False)})
    cut = reference.decode(reference.encode(long_text(), False)[:LONG_PROMPT_TOKENS]).decode()
    ids = reference.encode(cut, False)
    assert len(ids) == LONG_PROMPT_TOKENS
    prompts.append({"name": "long_1000", "kind": "plain", "text": cut, "ids": ids})
    for name, messages in CHATS:
        text = chat_text(messages)
        prompts.append({"name": name, "kind": "chat", "messages": messages, "text": text,
                        "ids": reference.encode(text, True)})
    for prompt in prompts:
        assert reference.decode(prompt["ids"]) == prompt["text"].encode(), prompt["name"]
    return prompts


def dump(golden, path):
    """JSON with one greedy step or one id list a line, so that a change shows in a diff."""
    lines = ["{", ' "made_with": ' + json.dumps(golden["made_with"], indent=2) + ",",
             ' "prompts": [']
    for number, prompt in enumerate(golden["prompts"]):
        lines.append("  {")
        for key, value in prompt.items():
            if key != "greedy":
                lines.append(f'   "{key}": {json.dumps(value, ensure_ascii=True)},')
        steps = ",\n".join("    " + json.dumps(step) for step in prompt["greedy"])
        lines.append('   "greedy": [\n' + steps + "\n   ]")
        lines.append("  }" + ("," if number + 1 < len(golden["prompts"]) else ""))
    lines += [" ]", "}", ""]
    with open(path, "w", encoding="ascii", newline="\n") as out:
        out.write("\n".join(lines))
    with open(path, encoding="ascii") as check:
        assert json.load(check) == golden


def main():
    model_path, out_path = sys.argv[1:]
    with open(model_path, "rb") as model_file:
        sha256 = hashlib.sha256(model_file.read()).hexdigest()
    assert sha256 == MODEL_SHA256, f"{model_path} is another file: sha256 {sha256}"
    reference = Reference(model_path)
    prompts = build_prompts(reference)
    for prompt in prompts:
        prompt["greedy"] = reference.greedy(prompt["ids"])
        ids = [step["id"] for step in prompt["greedy"]]
        print(prompt["name"], len(prompt["ids"]), "->", reference.decode(ids))
    golden = {
        "made_with": {
            "llama_cpp_python": llama_cpp.__version__,
            "llama_cpp_system_info": llama_cpp.llama_print_system_info().decode().strip(),
            "command": "make_smollm2_golden.py " + os.path.basename(model_path) + " golden.json",
            "model_file": os.path.basename(model_path),
            "model_sha256": sha256,
            "n_ctx": N_CTX,
            "n_batch": N_BATCH,
            "threads": NUM_THREADS,
            "kv_cache": "f16",
            "use_extra_bufts": False,
        },
        "prompts": prompts,
    }
    dump(golden, out_path)


if __name__ == "__main__":
    main()
