#!/usr/bin/env python3
"""Finds the capacity of mocks whose capacity is known, by rate and by concurrency, with real processes.

    scripts/conformance-capacity.py bin/inferometer

By rate, the mock is a queue of 8 places with equal service times (M/D/8): the knee is worked out by simulating
that queue. By concurrency, each running sequence adds to the time between tokens: the knee is a division.
"""
import heapq, json, random, socket, subprocess, sys, time

BIN = sys.argv[1]


def knee_of_queue(places, service, wait, q):
    """The rate at which the share q of requests waits no longer than wait."""
    def share_over(rate):
        rng, free, t, over, n = random.Random(1), [0.0] * places, 0.0, 0, 200_000
        for i in range(n):
            t += rng.expovariate(rate)
            start = max(t, heapq.heappop(free))
            heapq.heappush(free, start + service)
            over += start - t > wait
        return over / n
    lo, hi = 0.0, places / service
    for _ in range(14):
        mid = (lo + hi) / 2
        lo, hi = (mid, hi) if share_over(mid) <= 1 - q else (lo, mid)
    return lo


def search(mock, flags):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen([BIN, "mock", "--listen", f"127.0.0.1:{port}"] + mock, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        for _ in range(300):
            time.sleep(0.1)
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
        assert server.poll() is None, "the mock has ended"
        run = subprocess.run([BIN, "capacity", f"http://127.0.0.1:{port}", "--json"] + flags, stdout=subprocess.PIPE, text=True)
    finally:
        server.terminate()
        server.wait()
    result = json.loads(run.stdout)
    return result["capacity"], result["verdict"]["word"]


bad = 0
for name, knee, mock, flags in [
    ("by rate", knee_of_queue(8, 0.24, 0.1, 0.9), ["--max-seqs", "8", "--ttft", "40ms", "--itl", "20ms", "--output-tokens", "11"],
     ["--slo", "ttft.p90 < 140ms", "--start", "4", "--max-time", "5m", "--output-tokens", "11"]),
    ("by concurrency", int((61 - 20) / 1.6), ["--ttft", "40ms", "--itl", "20ms", "--itl-per-seq", "1600us", "--output-tokens", "21"],
     ["--by", "concurrency", "--slo", "tpot.avg < 61ms", "--max-time", "3m", "--output-tokens", "21"]),
]:
    found, verdict = search(mock, flags)
    off = found["value"] / knee - 1
    held = found["lo"] <= knee <= found["hi"] + (found["by"] == "concurrency")
    print(f"{name}: knee {knee:.4g}, found {found['sentence']} ({off:+.1%}, {'within' if held else 'NOT within'} the interval, {len(found['levels'])} levels, {verdict})")
    bad += not (abs(off) <= 0.05 or held)
sys.exit(bad > 0)
