#!/usr/bin/env python3
"""Traces in each public layout, played against the mock, beside a reader of their own.

For each format a file is made, played at twice its speed, and what the server saw (its truth file) is held against what
this script reads from the same file: how many requests, how long each is, what it asks for, when it comes, and how many
of its tokens the server's prefix cache has. Where the client says itself that it was late, as on a machine that is busy
otherwise, a trace is played again, five times at most.
"""
import csv
import datetime
import gzip
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
BUSY = "The client delayed requests"


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


def spoken(rng, n):
    return " ".join(rng.choice("alpha beta gamma delta epsilon".split()) for _ in range(n))


def heads(rng):
    """System prompts that sessions share."""
    return [spoken(rng, n) for n in (21, 40, 64)]


def answer(*call):
    """The tokens of a server's response to a call: those of no other."""
    return [(*call[:-1], i) for i in range(call[-1])]


def iso(at):
    return (datetime.datetime(2026, 6, 1, 5, 40) + datetime.timedelta(seconds=at)).isoformat(timespec="milliseconds") + "Z"


def plan_sessions(rng, count=14):
    """Sessions as lists of turns: (seconds since the session's begin, tokens, tokens of the response, kept of the one before)."""
    out, asked, now = [], 0, 0.0
    for _ in range(count):
        now += rng.expovariate(4)
        turns, at, length = [], 0.0, 0
        for k in range(rng.randint(1, 5)):
            at += rng.uniform(0.4, 1.5) if k else 0.0
            kept = 0 if k == 0 else 16 * rng.randint(length // 32, length // 16)
            length = kept + rng.randint(20, 300)
            asked += 1
            turns.append((at, length, asked, kept))
        out.append((now, turns))
    return out


def write_tracelab(path, rng):
    rows = []
    for i, (begin, turns) in enumerate(plan_sessions(rng)):
        for k, (at, length, asked, kept) in enumerate(turns):
            when = begin + at
            rows.append((when, {"provider": "claude", "project": "p", "session_id": f"claude:{i}", "round_index": k, "model": f"m{i}", "input_tokens_total": length, "prefix_tokens": kept,
                         "newly_append_tokens": length - kept, "output_tokens": asked, "timing_events": [{"event_type": "user_message", "timestamp": iso(when)}, {"event_type": "text", "timestamp": iso(when + 0.05)}],
                         "tools": [], "first_input_event_type": "user_message"}))
    rows.sort(key=lambda r: r[0])
    with gzip.open(path, "wt") as f:
        f.writelines(json.dumps(r) + "\n" for _, r in rows)


def read_tracelab(path):
    """Calls of sessions: session, place, seconds, input, output, tokens that the cache has (blocks of 16)."""
    with gzip.open(path, "rt") as f:
        rows = sorted(map(json.loads, f), key=lambda r: (r["session_id"], r["round_index"]))
    calls = []
    for r in rows:
        at = datetime.datetime.fromisoformat(r["timing_events"][0]["timestamp"].replace("Z", "+00:00")).timestamp()
        hit = r["prefix_tokens"] // 16 * 16 if r["round_index"] else 0
        calls.append(dict(session=r["session_id"], place=r["round_index"], at=at, input=r["input_tokens_total"], output=r["output_tokens"], cached=hit))
    return calls


def write_multiturn(path, rng):
    shared = heads(rng)
    with open(path, "w") as f:
        for i, (begin, turns) in enumerate(plan_sessions(rng)):
            rows = [{"text": spoken(rng, 40), "output_length": t[2], "timestamp": round((begin + t[0]) * 1000)} for t in turns]
            f.write(json.dumps({"session_id": f"s{i}", "turns": [{"role": "system", "text": rng.choice(shared)}] + rows}) + "\n")


def read_multiturn(path):
    calls = []
    with open(path) as f:
        for row in map(json.loads, f):
            said = row["turns"][0]["text"].split()
            for k, t in enumerate(row["turns"][1:]):
                said = said + t["text"].split()
                calls.append(dict(session=row["session_id"], place=k, at=t["timestamp"] / 1000, text=said, output=t["output_length"]))
                said = said + answer(row["session_id"], k, t["output_length"])  # the mock's response has as many words
    return calls


def write_lmcache(path, rng):
    import pyarrow
    import pyarrow.parquet
    rows, shared = [], heads(rng)
    for i, (_, turns) in enumerate(plan_sessions(rng)):
        said = [{"role": "system", "content": rng.choice(shared), "tool_call_id": None}]
        for k, t in enumerate(turns):
            said = said + [{"role": "user" if k == 0 else "tool", "content": spoken(rng, rng.randint(10, 90)), "tool_call_id": None if k == 0 else f"c{k}"}]
            rows.append({"session_id": f"swe__{i}", "model": "m", "input": said, "output_length": t[2], "pre_gap": 0.0 if k == 0 else round(rng.uniform(0.1, 0.9), 4)})
            said = said + [{"role": "assistant", "content": spoken(rng, 12), "tool_call_id": None}]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)


def read_lmcache(path):
    import pyarrow.parquet
    calls, place = [], {}
    for r in pyarrow.parquet.read_table(path).to_pylist():
        k = place[r["session_id"]] = place.get(r["session_id"], -1) + 1
        calls.append(dict(session=r["session_id"], place=k, wait=r["pre_gap"] if k else None, text=[w for m in r["input"] for w in m["content"].split()], output=r["output_length"]))
    return calls


def write_mlperf(path, rng):
    shared = heads(rng)
    with open(path, "w") as f:
        for i, (_, turns) in enumerate(plan_sessions(rng)):
            for k, t in enumerate(turns):
                asked = {"conversation_id": f"c{i}", "turn": 2 * k + 1, "role": "user", "content": spoken(rng, rng.randint(5, 60)), "delay_seconds": round(rng.uniform(0.1, 0.9), 3)}
                if k == 0:
                    asked["system"] = rng.choice(shared)
                f.write(json.dumps(asked) + "\n")
                f.write(json.dumps({"conversation_id": f"c{i}", "turn": 2 * k + 2, "role": "assistant", "content": spoken(rng, t[2])}) + "\n")


def read_mlperf(path):
    calls, said, place = [], [], 0
    with open(path) as f:
        for r in map(json.loads, f):
            words = r["content"].split()
            if r["role"] == "assistant":
                calls[-1]["output"] = len(words)
                said = said + words
                continue
            if r["turn"] == 1:
                said, place = r["system"].split(), 0
            said = said + words
            calls.append(dict(session=r["conversation_id"], place=place, wait=r["delay_seconds"] if place else None, text=said))
            place += 1
    return calls


def write_sglang(path, rng):
    shared = heads(rng)
    turns = [[{"messages": ([{"role": "system", "content": rng.choice(shared)}] if k == 0 else []) + [{"role": "user", "content": spoken(rng, 10 + t[2])}], "prompt_tokens": t[1]}
              for k, t in enumerate(ts)] for _, ts in plan_sessions(rng)]
    with open(path, "w") as f:
        json.dump({"metadata": {"source": "made"}, "conversations": turns}, f)


def read_sglang(path):
    calls = []
    with open(path) as f:
        for i, turns in enumerate(json.load(f)["conversations"]):
            said = []
            for k, t in enumerate(turns):
                said = said + [w for m in t["messages"] for w in m["content"].split()]
                calls.append(dict(session=str(i), place=k, text=said, output=220))
                said = said + answer(i, k, 220)
    return calls


def write_dag(path, rng):
    def turn(n, **more):
        return {"messages": [{"role": "user", "content": spoken(rng, n)}], **more}
    with open(path, "w") as f:
        for i in range(8):
            asked = 10 * i
            f.write(json.dumps({"session_id": f"r{i}", "turns": [turn(20, max_tokens=asked + 1, spawns=[{"children": [f"s{i}"], "join_at": 2}]), turn(30, max_tokens=asked + 2, delay=300),
                                turn(10, max_tokens=asked + 3, forks=[f"f{i}", f"g{i}"])]}) + "\n")
            f.write(json.dumps({"session_id": f"s{i}", "turns": [turn(15, max_tokens=asked + 4), turn(25, max_tokens=asked + 5, delay=200)]}) + "\n")
            f.write(json.dumps({"session_id": f"f{i}", "turns": [turn(12, max_tokens=asked + 6)]}) + "\n")
            f.write(json.dumps({"session_id": f"g{i}", "turns": [turn(14, max_tokens=asked + 7, delay=250)]}) + "\n")


def read_dag(path):
    """Each call with the outputs of those that it comes after."""
    with open(path) as f:
        nodes = {n["session_id"]: n for n in map(json.loads, f)}
    calls = []

    def run(name, said, after, session):
        joins, last = {}, after
        for k, t in enumerate(nodes[name]["turns"]):
            said = said + [w for m in t["messages"] for w in m["content"].split()]
            last = last + joins.get(k, [])
            calls.append(dict(session=session, text=said, output=t["max_tokens"], after=last, wait=t.get("delay", 0) / 1000 if last else None))
            last, said = [t["max_tokens"]], said + answer(name, k, t["max_tokens"])
            for s in t.get("spawns", []):
                joins.setdefault(s["join_at"], []).extend(run(c, [], last, session)[0] for c in s["children"])
            for child in t.get("forks", []):
                run(child, said, last, session)
        return last
    for name in nodes:
        if name.startswith("r"):
            run(name, [], [], name)
    return calls


def write_weka(path, rng):
    with open(path, "w") as f:
        for i, (_, turns) in enumerate(plan_sessions(rng)):
            rows, hashes, fresh = [], [], 0
            for at, _, asked, _ in turns:
                hashes = hashes[: rng.randint(len(hashes) // 2, len(hashes))]
                for _ in range(rng.randint(1, 4)):
                    fresh += 1
                    hashes = hashes + [fresh]
                rows.append({"t": at, "type": "s", "model": "m", "in": 64 * len(hashes) + rng.randint(1, 60), "out": asked, "hash_ids": list(hashes), "api_time": 0.05, "think_time": 0.0})
            f.write(json.dumps({"id": f"w{i}", "models": ["m"], "block_size": 64, "hash_id_scope": "local", "tool_tokens": 0, "system_tokens": 0, "requests": rows}) + "\n")


def read_weka(path):
    calls = []
    with open(path) as f:
        for t in map(json.loads, f):
            before, seen = None, set()
            for k, r in enumerate(t["requests"]):
                wait = None if before is None else max(r["t"] - before["t"] - before["api_time"], 0)
                chain = [tuple(r["hash_ids"][: n + 1]) for n in range(len(r["hash_ids"]))]
                hit = 0
                while hit < len(chain) and chain[hit] in seen:
                    hit += 1
                seen.update(chain)
                calls.append(dict(session=t["id"], place=k, wait=wait, input=r["in"], output=r["out"], cached=hit * 64))
                before = r
    return calls


def write_otel(path, rng):
    def span(i, k, begin, end, said, answer, asked):
        return {"span_id": f"{i}-{k}", "name": "chat m", "start_time": iso(begin), "end_time": iso(end),
                "attributes": {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.input.messages": said, "gen_ai.output.messages": [answer], "gen_ai.usage.output_tokens": asked}}
    shared = heads(rng)
    with open(path, "w") as f:
        for i, (begin, turns) in enumerate(plan_sessions(rng)):
            said, spans = [{"role": "system", "content": rng.choice(shared)}], []
            for k, (at, _, asked, _) in enumerate(turns):
                said = said + [{"role": "user", "content": f"{i} {k} " + spoken(rng, rng.randint(8, 60))}]
                answer = {"role": "assistant", "content": f"answer {i} {k} " + spoken(rng, max(asked - 3, 0))}
                spans.append(span(i, k, begin + at, begin + at + 0.1, said, answer, asked))
                said = said + [answer]
            f.write(json.dumps({"session_id": f"o{i}", "spans": spans}) + "\n")


def read_otel(path):
    calls = []
    with open(path) as f:
        for t in map(json.loads, f):
            before, said = None, []
            for k, s in enumerate(t["spans"]):
                a, moments = s["attributes"], [datetime.datetime.fromisoformat(s[n].replace("Z", "+00:00")).timestamp() for n in ("start_time", "end_time")]
                said = said + (a["gen_ai.input.messages"][0]["content"].split() if k == 0 else answer(t["session_id"], k, before[1]))
                said = said + a["gen_ai.input.messages"][-1]["content"].split()
                call = dict(session=t["session_id"], place=k, text=said, output=a["gen_ai.usage.output_tokens"])
                call.update({"at": moments[0]} if k == 0 else {"wait": (moments[0] - before[0]) / SPEED})
                calls.append(call)
                before = (moments[1], call["output"])
    return calls


def write_servegen(path, rng):
    os.mkdir(path)
    for i in range(3):
        with open(os.path.join(path, f"chunk-{i}-trace.csv"), "w") as f:
            for w in range(4):
                f.write(f"{600 * w},{1 + i},1.0,{['Gamma', 'Weibull'][i % 2]},{[1.0, 1.2][i % 2]},1.0\n" if (w + i) % 3 else f"{600 * w},0,0,,0,0\n")
        with open(os.path.join(path, f"chunk-{i}-dataset.json"), "w") as f:
            json.dump({"0": {"input_tokens": str({20 + i: 0.25, 60 + i: 0.75}), "output_tokens": str({2 + i: 1.0})}, "1200": {"input_tokens": str({90 + i: 1.0}), "output_tokens": str({12 + i: 1.0})}}, f)


def compare_servegen(name, rng, directory, more):
    """Requests are drawn: as many as the rates say in each window, and as long as the distributions have them, give or take."""
    path, speed, faults = os.path.join(directory, "servegen"), 120.0, []
    write_servegen(path, rng)
    got, said = saw(path, 0, directory, ["--speed", str(speed), "--tokenizer", "words", "--seed", "1"])
    if " servegen trace" not in said:
        faults.append(said[:300])
    for i in range(3):
        with open(os.path.join(path, f"chunk-{i}-trace.csv")) as f:
            rates = [float(line.split(",")[1]) for line in f]
        for half, (length, asked) in enumerate([(50 + i, 2 + i), (90 + i, 12 + i)]):
            own = [r for r in got if r["max_tokens"] == asked]
            want = 600 * sum(rates[2 * half : 2 * half + 2])
            if abs(len(own) - want) > 5 * want**0.5 + 1:
                faults.append(f"client {i} sends {len(own)} requests, about {want:.0f} are due")
            mean = sum(r["prompt_tokens"] for r in own) / max(len(own), 1)
            if own and abs(mean - length) > 3:
                faults.append(f"prompts of client {i} have {mean:.1f} tokens, not about {length}")
    print(f"{'servegen':24} {len(got)} requests of 3 clients, drawn", *faults[:5], sep="\n  " if faults else " ")
    return not faults


SESSIONS = {  # name: (how it is written, how it is read, tokens of a block, flags of the load)
    "tracelab": (write_tracelab, read_tracelab, 16, ["--speed", "2"]),
    "aiperf-multi-turn": (write_multiturn, read_multiturn, 16, ["--speed", "2"]),
    "otel": (write_otel, read_otel, 16, ["--speed", "2"]),
    "weka": (write_weka, read_weka, 64, []),
    "lmcache": (write_lmcache, read_lmcache, 16, []),
    "mlperf": (write_mlperf, read_mlperf, 16, []),
    "sglang-agentic": (write_sglang, read_sglang, 16, []),
    "aiperf-dag": (write_dag, read_dag, 16, []),
}

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


def saw(path, block, directory, load=("--speed", str(SPEED))):
    """What the mock saw of a trace, and what the run said."""
    port, truth = free_port(), os.path.join(directory, "truth.jsonl")
    mock = subprocess.Popen([PROGRAM, "mock", "--listen", f"127.0.0.1:{port}", "--truth", truth, "--prefix-cache", "--block-size", str(block or 16), "--kv-blocks", "1000000"], stdout=subprocess.DEVNULL)
    try:
        for _ in range(100):
            with socket.socket() as s:
                if s.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        run = subprocess.run([PROGRAM, "run", f"http://127.0.0.1:{port}", "--trace", path, *load, "--no-preflight"], capture_output=True, text=True)
    finally:
        mock.terminate()
        mock.wait()
    with open(truth) as f:
        return sorted((r for r in map(json.loads, f) if "chat" in r["path"]), key=lambda r: r["read"]), run.stdout + run.stderr


def cached(chains):
    """How many leading links of each chain are those of one before it."""
    seen, hits = set(), []
    for chain in chains:
        links = [tuple(chain[: k + 1]) for k in range(len(chain))]
        hits.append(next((k for k, link in enumerate(links) if link not in seen), len(links)))
        seen.update(links)
    return hits


def blocks(tokens, block):
    """The whole blocks of a text, which a server keeps in its cache."""
    return [tuple(tokens[k : k + block]) for k in range(0, len(tokens) - block + 1, block)]


def compare(name, rng, directory, more):
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
    if p90 > LATE and BUSY in said and more:
        return None
    if p90 > LATE:
        faults.append(f"requests come {p90:.3f} s off, at the 90th percentile")
    text = ""
    if block:
        played = [by_output[r["max_tokens"]] for r in got if r["max_tokens"] in by_output]
        want, have = block * sum(cached([hashes[: given // block] for _, given, _, hashes in played])), sum(r["cached_tokens"] for r in got)
        text = f", cached tokens {have}, of the file {want}"
        if abs(have - want) > want / 100:
            faults.append(f"the server's cache had {have} tokens, the file has {want}")
    print(f"{name:24} {len(got)} requests, {sum(r[1] for r in rows)} tokens{text}; p90 {p90 * 1000:.1f} ms off", *faults[:5], sep="\n  " if faults else " ")
    return not faults


def compare_sessions(name, rng, directory, more):
    """Lengths, links and moments of sessions: a call comes its wait after what it comes after, or at its own time."""
    write, read, block, load = SESSIONS[name]
    path, faults, late = os.path.join(directory, "trace"), [], []
    try:
        write(path, rng)
    except ImportError as e:
        print(f"{name:24} left out: {e}")
        return True
    calls = read(path)
    for c in calls:
        if "text" in c:
            c["input"] = len(c["text"])
    if not load:
        load = ["--set", "stages=[{arrival: sessions, sessions: {concurrent: 4}}]"]
    got, said = saw(path, block, directory, [*load, "--tokenizer", "words"])  # as the mock counts
    if f" {name} trace" not in said:
        faults.append("the run does not say what it took the file for: " + said[:300])
    if len(got) != len(calls):
        faults.append(f"{len(got)} requests, the file has {len(calls)}: {said[-300:]}")
    left, seen = list(got), {}
    for c in calls:
        r = next((r for r in left if r["prompt_tokens"] == c["input"] and (r["max_tokens"] or r["tokens"]) == c["output"]), None)
        if r is None:
            faults.append(f"no request has {c['input']} tokens and asks for {c['output']}")
            continue
        left.remove(r)
        c["got"] = seen[c["output"] if "after" in c else (c["session"], c["place"])] = r
    first = min((c for c in calls if "got" in c and "at" in c), key=lambda c: c["at"], default=None)
    for c in calls:
        if "got" not in c:
            continue
        before = [seen[k] for k in c["after"] if k in seen] if "after" in c else [seen[k] for k in [(c["session"], c.get("place", 0) - 1)] if k in seen]
        if any(b["end"] > c["got"]["read"] for b in before):
            faults.append(f"a call of {c['session']} comes before the response to the one before it")
        if "at" in c:
            late.append((c["got"]["read"] - first["got"]["read"]) / 1e9 - (c["at"] - first["at"]) / SPEED)
        if c.get("wait") is not None and before:
            late.append((c["got"]["read"] - max(b["end"] for b in before)) / 1e9 - c["wait"])
    late.sort(key=abs)
    p90 = abs(late[int(len(late) * 0.9)]) if late else 0
    if p90 > LATE and BUSY in said and more:
        return None
    if p90 > LATE:
        faults.append(f"requests come {p90:.3f} s off, at the 90th percentile")
    played = sorted((c for c in calls if "got" in c), key=lambda c: c["got"]["read"])
    for c, hits in zip(played, cached([blocks(c.get("text", []), block) for c in played])):
        c.setdefault("cached", hits * block)
    want, have = sum(c["cached"] for c in played), sum(r["cached_tokens"] for r in got)
    text = f", cached tokens {have}, of the file {want}"
    if abs(have - want) > want / 100:
        faults.append(f"the server's cache had {have} tokens, the file has {want}")
    print(f"{name:24} {len(got)} requests, {sum(c['input'] for c in calls)} tokens{text}; p90 {p90 * 1000:.1f} ms off", *faults[:5], sep="\n  " if faults else " ")
    return not faults


def main():
    seed, fine = int(os.environ.get("SEED", "1")), True
    plays = [(compare, name) for name in FORMATS] + [(compare_sessions, name) for name in SESSIONS] + [(compare_servegen, "servegen")]
    for play, name in plays:
        for more in range(4, -1, -1):
            with tempfile.TemporaryDirectory() as directory:
                went = play(name, random.Random(f"{seed} {name}"), directory, more)
            if went is not None:
                break
            print(f"{name:24} again: the client says that it was late")
        fine = fine and went
    sys.exit(0 if fine else 1)


main()
