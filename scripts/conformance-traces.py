#!/usr/bin/env python3
"""Traces in each public layout, played against the mock, beside a reader of their own.

For each format a file is made, played at twice its speed, and what the server saw (its truth file) is held against what
this script reads from the same file: how many requests, how long each is, what it asks for, when it comes, and how many
of its tokens the server's prefix cache has.
"""
import csv
import datetime
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time

PROGRAM = os.path.abspath(sys.argv[1])
LATE = float(os.environ.get("LATE", "0.1"))  # seconds; as much may a request come late, at the 90th percentile
SPEED = 2.0
REQUESTS = 120


def made(rng, block):
    """Requests with prefixes that some share: (seconds, input, output, hashes). The output tells them apart."""
    now, rows, chains, fresh = 0.0, [], [], 0
    for i in range(REQUESTS):
        now += rng.expovariate(30)
        chain = list(rng.choice(chains)[: rng.randint(1, 4)]) if chains and rng.random() < 0.6 else []
        for _ in range(rng.randint(1, 3)):
            fresh += 1
            chain.append(fresh)
        chains.append(chain)
        rows.append((now, block * (len(chain) - 1) + rng.randint(1, block), i + 1, chain))
    return rows


def lines_of_json(unit, digits, more):
    def write(path, rows):
        with open(path, "w") as f:
            for i, (at, given, asked, hashes) in enumerate(rows):
                row = {"timestamp": round(at * unit, digits) if digits else round(at * unit), "input_length": given, "output_length": asked, "hash_ids": hashes}
                f.write(json.dumps({**more(i), **row}) + "\n")
    return write


def read_json(unit):
    def read(path):
        with open(path) as f:
            rows = [json.loads(line) for line in f]
        return [(r["timestamp"] / unit, r["input_length"], r["output_length"], r["hash_ids"]) for r in rows]
    return read


def write_burst(sessions):
    def write(path, rows):
        with open(path, "w", newline="") as f:
            out = csv.writer(f)
            out.writerow(["Timestamp"] + (["Session ID", "Elapsed time"] if sessions else []) + ["Model", "Request tokens", "Response tokens", "Total tokens", "Log Type"])
            for i, (at, given, asked, _) in enumerate(rows):
                out.writerow([round(at, 3)] + ([i % 7, 1.5] if sessions else []) + ["GPT-4", given, asked, given + asked, "Conversation log"])
            out.writerow([round(rows[-1][0], 3)] + ([1, 0.5] if sessions else []) + ["ChatGPT", 50, 0, 50, "API log"])  # a failure
    return write


def read_burst(path):
    with open(path, newline="") as f:
        rows = list(csv.DictReader(f))
    return [(float(r["Timestamp"]), int(r["Request tokens"]), int(r["Response tokens"]), []) for r in rows if r["Response tokens"] != "0"]


def write_azure(path, rows):
    begin = datetime.datetime(2023, 11, 16, 18, 15, 46)
    with open(path, "w") as f:
        f.write("TIMESTAMP,ContextTokens,GeneratedTokens\n")
        for at, given, asked, _ in rows:
            f.write(f"{begin + datetime.timedelta(seconds=at):%Y-%m-%d %H:%M:%S.%f}0,{given},{asked}\n")


def read_azure(path):
    with open(path, newline="") as f:
        rows = list(csv.DictReader(f))
    return [(datetime.datetime.fromisoformat(r["TIMESTAMP"][:26]).timestamp(), int(r["ContextTokens"]), int(r["GeneratedTokens"]), []) for r in rows]


FORMATS = {  # name: (tokens of a hash, how it is written, how it is read)
    "mooncake": (512, lines_of_json(1000, 0, lambda i: {}), read_json(1000)),
    "bailian": (16, lines_of_json(1, 3, lambda i: {"chat_id": i, "parent_chat_id": -1, "type": "text", "turn": 1}), read_json(1)),
    "timed": (16, lines_of_json(1, 3, lambda i: {}), read_json(1)),
    "burstgpt": (0, write_burst(False), read_burst),
    "burstgpt with sessions": (0, write_burst(True), read_burst),
    "azure": (0, write_azure, read_azure),
}


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def saw(path, block, directory):
    """What the mock saw of a trace, and what the run said."""
    port, truth = free_port(), os.path.join(directory, "truth.jsonl")
    mock = subprocess.Popen([PROGRAM, "mock", "--listen", f"127.0.0.1:{port}", "--truth", truth, "--prefix-cache", "--block-size", str(block or 16), "--kv-blocks", "1000000"], stdout=subprocess.DEVNULL)
    try:
        for _ in range(100):
            with socket.socket() as s:
                if s.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        run = subprocess.run([PROGRAM, "run", f"http://127.0.0.1:{port}", "--trace", path, "--speed", str(SPEED), "--no-preflight"], capture_output=True, text=True)
    finally:
        mock.terminate()
        mock.wait()
    with open(truth) as f:
        return sorted((r for r in map(json.loads, f) if "chat" in r["path"]), key=lambda r: r["read"]), run.stdout + run.stderr


def cached(rows, block):
    """The tokens that a cache of whole blocks has, of requests in the order in which they came."""
    seen, total = set(), 0
    for _, given, _, hashes in rows:
        whole = [tuple(hashes[: k + 1]) for k in range(given // block)]
        hits = 0
        while hits < len(whole) and whole[hits] in seen:
            hits += 1
        total += hits * block
        seen.update(whole)
    return total


def compare(name, rng, directory):
    block, write, read = FORMATS[name]
    path = os.path.join(directory, "trace.csv" if block == 0 else "trace.jsonl")
    write(path, made(rng, block or 100))
    rows, faults = read(path), []
    got, said = saw(path, block, directory)
    if f" {name.split()[0]} trace" not in said:
        faults.append("the run does not say what it took the file for: " + said[:300])
    by_output = {r[2]: r for r in rows}
    if len(got) != len(rows):
        faults.append(f"{len(got)} requests, the file has {len(rows)}")
    late = []
    for r in got:
        row = by_output.get(r["max_tokens"])
        if row is None or r["prompt_tokens"] != row[1]:
            faults.append(f"a request of {r['prompt_tokens']} tokens asks for {r['max_tokens']}; the file has {row}")
            continue
        late.append((r["read"] - got[0]["read"]) / 1e9 - (row[0] - rows[0][0]) / SPEED)
    late.sort(key=abs)
    p90 = abs(late[int(len(late) * 0.9)]) if late else 0
    if p90 > LATE:
        faults.append(f"requests come {p90:.3f} s off, at the 90th percentile")
    text = ""
    if block:
        want, have = cached([by_output[r["max_tokens"]] for r in got if r["max_tokens"] in by_output], block), sum(r["cached_tokens"] for r in got)
        text = f", cached tokens {have}, of the file {want}"
        if abs(have - want) > want / 100:
            faults.append(f"the server's cache had {have} tokens, the file has {want}")
    print(f"{name:24} {len(got)} requests, {sum(r[1] for r in rows)} tokens{text}; p90 {p90 * 1000:.1f} ms off", *faults[:5], sep="\n  " if faults else " ")
    return not faults


def main():
    seed = int(os.environ.get("SEED", "1"))
    fine = True
    for name in FORMATS:
        with tempfile.TemporaryDirectory() as directory:
            fine = compare(name, random.Random(f"{seed} {name}"), directory) and fine
    sys.exit(0 if fine else 1)


main()
