"""Holds the loads of inferometer's perf_analyzer against the real Perf Analyzer: sequences, rates,
schedules and searches.

usage: perf-analyzer-loads.py INFEROMETER PEERS HTTP-ADDRESS GRPC-ADDRESS DIRECTORY

The models are those of the directory perf-analyzer-loads, whose speed is that of their sleep. They write down in
DIRECTORY what came, so that not only reports are compared but what was sent. CLIENT in the
environment is a command that runs the clients.
"""
import json
import os
import re
import subprocess
import sys
from pathlib import Path

INFEROMETER, PEERS, HTTP, GRPC, DIR = sys.argv[1], Path(sys.argv[2]).resolve(), sys.argv[3], sys.argv[4], Path(sys.argv[5])
CLIENT = os.environ.get("CLIENT", "").split()
TOOLS = {"original": [str(PEERS / "perf_analyzer" / "perf_analyzer")], "ours": [INFEROMETER, "perf_analyzer"], "faithful": [INFEROMETER, "perf_analyzer", "--faithful"]}
NEAR = 0.15  # of figures, on a busy machine
TRIES = 3
FAILED: list[str] = []


def check(name: str, ok: bool, text: str = "") -> None:
    print(f"  {'ok  ' if ok else 'FAIL'} {name}", flush=True)
    if not ok:
        FAILED.append(name)
        print(text)


class Run:
    """What a command line of a tool said, and what came to the server."""

    def __init__(self, tool: str, args: str, model: str) -> None:
        log = DIR / f"{model}.log"
        before = len(log.read_text().splitlines()) if log.exists() else 0
        address = GRPC if "-i grpc" in args else HTTP
        line = [*CLIENT, *TOOLS[tool], "-m", model, "-u", address, *args.split()]
        done = subprocess.run(line, cwd=DIR, capture_output=True, text=True, timeout=300)
        self.text, self.code = done.stdout + done.stderr, done.returncode
        self.rows = [[float(x) for x in row.split()] for row in log.read_text().splitlines()[before:]]

    def figures(self, pattern: str) -> list[float]:
        return [float(x) for x in re.findall(pattern, self.text)]

    def throughputs(self) -> list[float]:
        return self.figures(r", throughput: ([\d.]+)")

    def open(self) -> set[float]:
        """The sequences that were begun and not ended."""
        left = set()
        for key, start, end, _ in self.rows:
            if start:
                left.add(key)
            if end:
                left.discard(key)
        return left


def near(a: list[float], b: list[float]) -> bool:
    return len(a) == len(b) > 0 and all(abs(x - y) <= NEAR * x for x, y in zip(a, b))


def rates(name: str, args: str, model: str, tools: tuple[str, ...] = ("ours",)) -> None:
    """Throughputs agree, level by level, and no sequence is left open. What other work on the machine
    has spoilt is measured again."""
    for left in reversed(range(TRIES)):
        original = Run("original", args, model)
        runs = {tool: Run(tool, args, model) for tool in tools}
        agreed = all(near(original.throughputs(), run.throughputs()) for run in runs.values())
        if agreed or not left:
            break
    for tool, run in runs.items():
        told = f"{original.throughputs()} and {run.throughputs()} infer/sec"
        check(f"{name}, {tool}: {told}", near(original.throughputs(), run.throughputs()), run.text)
        if model == "stateful":
            check(f"{name}, {tool}: no sequence is left open", not run.open() and not original.open(), f"       {run.open()}, original {original.open()}")


def sequences() -> None:
    print("\nsequences, on a model with places for 8")
    more = "-p 1000 -s 999 --sequence-length 40"
    rates("concurrency 4, 6, 8 of streams", f"-i grpc --async --streaming --concurrency-range 4:8:2 {more}", "stateful", ("ours", "faithful"))
    rates("and once more: all places are free", f"-i grpc --async --streaming --concurrency-range 8 {more}", "stateful")
    rates("over HTTP, synchronously", f"--sync --concurrency-range 6 {more}", "stateful", ("ours", "faithful"))
    rates("at a rate", f"-i grpc --streaming --request-rate-range 40 {more}", "stateful")
    rates("one after the other at a rate", f"-i grpc --request-rate-range 20 --serial-sequences {more}", "stateful")
    rates("one after the other, 2 at a time", f"-i grpc --request-rate-range 200 --serial-sequences --num-of-sequences 2 {more}", "stateful")
    rates("6 at a time from 4 threads", f"-i grpc --request-rate-range 200 --num-of-sequences 6 --sync {more}", "stateful")
    for args in ("-i grpc --concurrency-range 4", "--sync --concurrency-range 4", "-i grpc --streaming --request-rate-range 30 --num-of-sequences 3"):
        args += " --request-count 28 --sequence-length 10 --sequence-length-variation 0"
        original, ours = Run("original", args, "stateful"), Run("ours", args, "stateful")
        count = r"(?:Request|Sequence|Successful request) count: (\d+)"
        check(f"{args}: requests, sequences and the server's count are {ours.figures(count)}",
              original.figures(count) == ours.figures(count) and not ours.open(), f"       original {original.figures(count)}\n{ours.text}")


def threads() -> None:
    print("\nsynchronous requests beyond what their threads manage, on a model of 50 ms")
    rates("4 threads", "-i grpc --request-rate-range 200 -p 1000 -s 999", "slow")
    rates("2 threads", "-i grpc --request-rate-range 200 --max-threads 2 -p 1000 -s 999", "slow")
    rates("2 threads over HTTP", "--request-rate-range 200 --max-threads 2 -p 1000 -s 999", "slow")
    rates("asynchronously there is no such bound", "-i grpc --async --request-rate-range 100 --max-threads 2 -p 1000 -s 999", "slow")


def schedules() -> None:
    print("\nschedules of tensors")
    due = [0, 100, 300, 350, 900]
    (DIR / "schedule.json").write_text(json.dumps({"data": [{"INPUT": [i], "timestamp": [ms]} for i, ms in enumerate(due)]}))
    (DIR / "turned.json").write_text(json.dumps({"data": [{"INPUT": [1], "timestamp": [400]}, {"INPUT": [2], "timestamp": [100]}, {"INPUT": [3], "timestamp": [300]}]}))
    (DIR / "untimed.json").write_text(json.dumps({"data": [{"INPUT": [1]}]}))
    settings = lambda run: run.text[run.text.find("Successfully read"):run.text.find("Client:")]
    for name in ("schedule", "turned"):
        original, ours = (Run(tool, f"-i grpc --fixed-schedule --input-data {name}.json", "slow") for tool in ("original", "ours"))
        check(f"{name}.json: the same settings", settings(original) == settings(ours), settings(original) + settings(ours))
        check(f"{name}.json: inputs {[int(r[1]) for r in ours.rows]}", [r[1] for r in original.rows] == [r[1] for r in ours.rows], f"       {original.rows}")
        apart = [round(1000 * (b[0] - a[0])) for a, b in zip(ours.rows, ours.rows[1:])]
        theirs = [round(1000 * (b[0] - a[0])) for a, b in zip(original.rows, original.rows[1:])]
        check(f"{name}.json: {apart} ms apart", len(apart) == len(theirs) and all(abs(a - b) < 40 for a, b in zip(apart, theirs)), f"       original {theirs}")
    original, ours = (Run(tool, "-i grpc --fixed-schedule --input-data untimed.json", "slow") for tool in ("original", "ours"))
    check("a step without a timestamp is refused", original.code == ours.code == 99 and "timestamp" in ours.text, ours.text)


def searches() -> None:
    print("\nsearches without an end")
    for args in ("-i grpc --concurrency-range 1:0:8 -l 60", "-i grpc --concurrency-range 1:0:8 -l 60 --max-threads 5", "-i grpc --async --concurrency-range 1:0:12 -l 60",
                 "-i grpc --async --request-rate-range 20:0:180 -l 60"):
        original, ours = (Run(tool, f"{args} -p 500 -s 999", "slow") for tool in ("original", "ours"))
        limits = lambda run: [l for l in run.text.splitlines() if "limit" in l and not l.startswith("Measured")]
        levels = lambda run: run.figures(r"(?:Concurrency|Request Rate): ([\d.]+), throughput")
        check(f"{args}: {limits(ours)}", sorted(limits(original)) == sorted(limits(ours)), f"       {limits(original)}")
        check(f"{args}: levels {levels(ours)}", levels(original) == levels(ours), original.text + ours.text)


sequences()
threads()
schedules()
searches()
print(f"\n{len(FAILED)} checks of loads failed" + "".join(f"\n  {name}" for name in FAILED))
sys.exit(1 if FAILED else 0)
