#!/usr/bin/env python3
"""Replays of traces beside the tools that replay them: AIPerf on Mooncake and Weka files, SGLang's Mooncake mode, and vLLM's
benchmark on timed and BurstGPT traces. usage: conformance-trace-peers.py PROGRAM PEERS [NAME...]

Both sides play the same file against a mock of their own, and what the mocks saw (their truth files) is compared: how many
requests, how long each is and what it asks for, when they come, and how many of their tokens the server's prefix cache
had. In the tokenizer a word is a token, so that the mock counts as the tools do. Lengths, responses and cached tokens agree
within 1 %. A side whose moments are further off than LATE seconds at the 90th percentile is played again, three times at
most: tools share the machine with whatever else runs on it. What differs on purpose stands at the end of docs/traces.md.
"""
import collections
import glob
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time

PROGRAM, PEERS = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
LATE = float(os.environ.get("LATE", "0.25"))
AIPERF, VLLM, SGLANG = f"{PEERS}/aiperf/bin", f"{PEERS}/vllm/bin/python", f"{PEERS}/sglang/client"
SPECIAL = ["<s>", "</s>", "<pad>", "<unk>"]
REQUESTS = 60


def tokenizer(hub):
    """Writes a tokenizer in which each word of AIPerf's texts is a token, as the cache of a hub has it, and says where."""
    words, commit = set(), "0" * 40
    to = os.path.join(hub, "models--own--words", "snapshots", commit)
    os.makedirs(os.path.join(hub, "models--own--words", "refs"))
    with open(os.path.join(hub, "models--own--words", "refs", "main"), "w") as f:
        f.write(commit)
    for name in glob.glob(f"{PEERS}/aiperf/lib/python3*/site-packages/aiperf/dataset/generator/assets/*.txt"):
        with open(name, encoding="utf-8") as f:
            words.update(f.read().split())
    words = sorted(words - set(SPECIAL)) or [f"w{i}" for i in range(20000)]
    added = [{"id": i, "content": t, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True} for i, t in enumerate(SPECIAL)]
    names = dict(zip(["bos_token", "eos_token", "pad_token", "unk_token"], SPECIAL))
    for file, value in {
        "tokenizer.json": {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": None,
                           "pre_tokenizer": {"type": "WhitespaceSplit"}, "post_processor": None, "decoder": None,
                           "model": {"type": "WordLevel", "vocab": {w: i for i, w in enumerate(SPECIAL + words)}, "unk_token": "<unk>"}},
        "tokenizer_config.json": {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 1 << 20, "clean_up_tokenization_spaces": False,
                                  "chat_template": "{% for m in messages %}{{ m['content'] }} {% endfor %}", **names},
        "special_tokens_map.json": names,
        "config.json": {"model_type": "llama", "vocab_size": len(words) + len(SPECIAL)},
    }.items():
        os.makedirs(to, exist_ok=True)
        with open(os.path.join(to, file), "w") as f:
            json.dump(value, f)
    return to


def requests(rng, block):
    """Requests that share whole blocks: (seconds, input, output, hashes). The output tells them apart."""
    now, rows, chains, fresh = 0.0, [], [], 0
    for i in range(REQUESTS):
        chain = list(rng.choice(chains)[: rng.randint(1, 4)]) if chains and rng.random() < 0.6 else []
        for _ in range(rng.randint(1, 3)):
            fresh += 1
            chain.append(fresh)
        chains.append(chain[:-1] or chain[:0])  # the last block is not whole, and of this request alone
        chains = [c for c in chains if c]
        rows.append((now, block * (len(chain) - 1) + rng.randint(1, block - 1), i + 1, chain))
        now += rng.expovariate(8)
    return rows


def lines(unit, digits):
    def write(path, rng, block):
        with open(path, "w") as f:
            for at, given, asked, hashes in requests(rng, block):
                f.write(json.dumps({"timestamp": round(at * unit, digits) if digits else round(at * unit), "input_length": given, "output_length": asked, "hash_ids": hashes}) + "\n")
    return write


def burst(path, rng, _):
    with open(path, "w") as f:
        f.write("Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n")
        for at, given, asked, _ in requests(rng, 100):
            f.write(f"{at:.3f},GPT-4,{given},{asked},{given + asked},Conversation log\n")
        f.write("99.0,GPT-4,50,0,50,API log\n")  # a failure


def weka(path, rng, block):
    asked = 0
    os.mkdir(path)
    for i in range(10):
        rows, hashes, fresh, at = [], [], 0, 0.0
        for _ in range(rng.randint(2, 5)):
            hashes = hashes[: rng.randint(len(hashes) // 2, len(hashes))]
            for _ in range(rng.randint(1, 4)):
                fresh, hashes = fresh + 1, hashes + [fresh + 1]
            asked += 1
            rows.append({"t": round(at, 3), "type": "s", "model": "m", "in": block * len(hashes), "out": asked, "hash_ids": list(hashes), "api_time": 0.05, "think_time": 0.0,
                         "input_types": ["text"], "output_types": ["text"], "stop": "end_turn"})
            at += rng.uniform(0.5, 1.5)
        with open(os.path.join(path, f"{i}.json"), "w") as f:
            json.dump({"id": f"w{i}", "models": ["m"], "block_size": block, "hash_id_scope": "local", "tool_tokens": 0, "system_tokens": 0, "requests": rows}, f)


def seen(command, block, env=None):
    """What a mock saw of a command, the requests of a run in the order in which they came, and what the command said."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    with tempfile.TemporaryDirectory() as directory:
        truth, url = os.path.join(directory, "truth.jsonl"), f"http://127.0.0.1:{port}"
        mock = subprocess.Popen([PROGRAM, "mock", "--listen", f"127.0.0.1:{port}", "--truth", truth, "--prefix-cache", "--block-size", str(block), "--kv-blocks", "4000000"],
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            for _ in range(300):
                with socket.socket() as s:
                    if s.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.1)
            run = subprocess.run([w.replace("URL", url) for w in command], cwd=directory, env={**os.environ, **(env or {})}, capture_output=True, text=True, timeout=1200)
        finally:
            mock.terminate()
            mock.wait()
        with open(truth) as f:
            rows = [r for r in map(json.loads, f) if r.get("prompt_tokens", 0) > 0]
    return sorted(rows, key=lambda r: r["read"]), run.stdout + run.stderr


def moments(rows):
    return [(r["read"] - rows[0]["read"]) / 1e9 for r in rows]


def close(a, b):
    return abs(a - b) <= max(a, b) / 100


def aiperf(kind, *more):
    # Its helpers look a tokenizer up in the hub's cache alone.
    return lambda file, tok: ([f"{AIPERF}/aiperf", "profile", "-m", "mock", "--tokenizer", "own/words", "--url", "URL", "--endpoint-type", "chat", "--streaming", "--input-file", file,
                               "--custom-dataset-type", kind, "--use-server-token-count", "--extra-inputs", "ignore_eos:true", "--ui", "none", "--workers-max", "1", "--random-seed", "1", *more], {"HF_HUB_CACHE": os.path.join(os.path.dirname(file), "hub"), "HF_HUB_OFFLINE": "1"})


def vllm(name, *more):
    return lambda file, tok: ([VLLM, "-m", "vllm", "bench", "serve", "--backend", "vllm", "--base-url", "URL", "--model", "mock", "--tokenizer", tok, "--dataset-name", name, "--dataset-path", file,
                               "--num-prompts", str(REQUESTS), "--ignore-eos", *more], {"PYTHONPATH": f"{PEERS}/vllm/client", "PYTHONHASHSEED": "0", "HF_HUB_OFFLINE": "1"})


def sglang(file, tok):
    return ([VLLM, "-m", "sglang.bench_serving", "--backend", "sglang", "--base-url", "URL", "--model", "mock", "--tokenizer", tok, "--dataset-name", "mooncake", "--dataset-path", file,
             "--num-prompts", str(REQUESTS), "--use-trace-timestamps"], {"PYTHONPATH": SGLANG, "HF_HUB_OFFLINE": "1"})


def blocks_of_sglang(rows):
    """Cached blocks: a hash is 127 words and one that runs into the next; what all prompts begin with stands before them."""
    return sum(r["cached_tokens"] // 127 for r in rows)


Case = collections.namedtuple("Case", "file write block theirs ours what")
LABELS = ["--timed-trace-label-timestamp", "timestamp", "--timed-trace-label-input-length", "input_length", "--timed-trace-label-output-length", "output_length", "--timed-trace-label-hash-ids", "hash_ids"]
CASES = {  # what is compared: lengths of prompts, moments, cached tokens
    "aiperf-mooncake": Case("trace.jsonl", lines(1000, 0), 512, aiperf("mooncake_trace", "--fixed-schedule"), [], "lengths moments cached"),
    "aiperf-weka": Case("traces", weka, 64, aiperf("weka_trace", "--concurrency", "10", "--num-sessions", "10"), ["--set", "stages=[{arrival: sessions, sessions: {concurrent: 10}}]"], "lengths moments cached"),
    "sglang-mooncake": Case("trace.jsonl", lines(1000, 0), 512, sglang, [], "moments blocks"),
    "vllm-timed": Case("trace.jsonl", lines(1, 3), 16, vllm("timed_trace", *LABELS), ["--endpoint", "completions"], "lengths moments cached"),
    "vllm-burstgpt": Case("trace.csv", burst, 16, vllm("burstgpt"), ["--endpoint", "completions"], "lengths"),
}


def compare(name, directory, again):
    c, faults = CASES[name], []
    file, tok = os.path.join(directory, c.file), tokenizer(os.path.join(directory, "hub"))
    c.write(file, random.Random(f"1 {name}"), c.block)
    command, env = c.theirs(file, tok)
    theirs, their_text = seen(command, 1 if "blocks" in c.what else c.block, env)
    ours, our_text = seen([PROGRAM, "run", "URL", "--trace", file, "--model", "mock", "--tokenizer", tok, "--no-preflight", *c.ours], c.block)
    if name == "sglang-mooncake":
        theirs = theirs[1:]  # its warm-up
    text = f"{len(ours)} requests here, {len(theirs)} there"
    if not theirs or not ours or len(theirs) != len(ours):
        return [their_text[-2000:], our_text[-300:]], text
    for what, key in (("responses", lambda r: r["max_tokens"]), ("prompts", lambda r: r["prompt_tokens"])):
        if what == "prompts" and "lengths" not in c.what:
            continue
        pairs = list(zip(sorted(ours, key=lambda r: (r["max_tokens"], r["prompt_tokens"])), sorted(theirs, key=lambda r: (r["max_tokens"], r["prompt_tokens"]))))
        odd = [(key(a), key(b)) for a, b in pairs if not close(key(a), key(b))]
        text += f"; {sum(key(a) for a in ours)} and {sum(key(b) for b in theirs)} tokens of {what}"
        if odd:
            faults.append(f"lengths of {len(odd)} {what} differ, such as {odd[:4]}")
    if "moments" in c.what:
        off = sorted(abs(a - b) for a, b in zip(moments(ours), moments(theirs)))
        p90 = off[int(len(off) * 0.9)]
        text += f"; moments {p90 * 1000:.0f} ms apart at p90, of {moments(ours)[-1]:.1f} s"
        if p90 > LATE and again:
            return None, text
        if p90 > LATE:
            faults.append(f"moments are {p90:.3f} s apart at the 90th percentile")
    have, want, unit = sum(r["cached_tokens"] for r in ours), sum(r["cached_tokens"] for r in theirs), "tokens"
    if "blocks" in c.what:
        have, want, unit = have // c.block, blocks_of_sglang(theirs), "blocks"
    if c.what != "lengths":
        text += f"; cached {unit} {have} and {want}"
        if not close(have, want):
            faults.append(f"the cache has {have} {unit} here, {want} there")
    return faults, text


def main():
    fine = True
    for name in sys.argv[3:] or CASES:
        for again in (2, 1, 0):
            with tempfile.TemporaryDirectory() as directory:
                faults, text = compare(name, directory, again)
            if faults is not None:
                break
            print(f"{name:16} again: {text}", flush=True)
        print(f"{name:16} {'DIFFERS' if faults else 'same'}: {text}", *faults, sep="\n  ", flush=True)
        fine = fine and not faults
    sys.exit(0 if fine else 1)


main()
