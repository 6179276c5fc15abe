#!/usr/bin/env python3
"""Finds the capacity of servers whose capacity is known, by rate and by concurrency, with real processes.

    scripts/conformance-capacity.py bin/inferometer bin/awkward [WHICH]
    JOBS=8 scripts/conformance-capacity.py bin/inferometer bin/awkward

The awkward servers of internal/testkit/awkward, each in real time, and mocks; WHICH is a part of their names. By rate,
the mock is a queue of 8 places with equal service times (M/D/8): the knee is worked out by simulating that queue. By
concurrency, each running sequence adds to the time between tokens: the knee is a division.

JOBS searches run side by side. Where there are two cores or more for each, a search and its server have cores of their
own; with fewer they disturb each other, and the answers are worth less. It needs Python and the two programs only.
"""
import concurrent.futures, heapq, json, os, queue, random, signal, socket, subprocess, sys, threading, time

BIN, AWKWARD = sys.argv[1], sys.argv[2]
WHICH = sys.argv[3] if len(sys.argv) > 3 else ""
JOBS = int(os.environ.get("JOBS") or 1)


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
        if server.poll() is not None:
            raise RuntimeError("the mock has ended")
        return capacity_of(f"http://127.0.0.1:{port}", flags)[:2]
    finally:
        server.terminate()
        server.wait()


def capacity_of(url, flags):
    run = subprocess.run([BIN, "capacity", url, "--json"] + flags, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        result = json.loads(run.stdout)
    except ValueError:
        raise RuntimeError(f"the search ended with {run.returncode} and without a result: {run.stderr[-500:]}") from None
    return result["capacity"], result["verdict"]["status"], run.returncode


def awkward(kind):
    """Searches for the capacity of an awkward server, and says whether the answer is one that it must be."""
    server = subprocess.Popen([AWKWARD, "-kind", kind["kind"]], stdout=subprocess.PIPE, text=True)
    try:
        url = "http://" + server.stdout.readline().strip()
        began = time.monotonic()
        found, verdict, code = capacity_of(url, ["--slo", f"latency.p{100 * kind['quantile']:g} < {kind['bound_ms']}ms", "--start", "2", "--max-time", "4m"])
        took = time.monotonic() - began
    finally:
        server.kill()
        server.wait()
    must, trusted = kind["must"], verdict == "valid"
    if found["outcome"] == "met at every load" and found["value"] <= 1.03 * kind["load"]:
        return True, f"right, {took:.0f} s, {verdict}, exit {code}: {found['sentence']}"
    near = found["outcome"] == "found" and found["value"] <= 1.03 * kind["load"] and found["lo"] <= kind["load"] and found["hi"] >= kind["sure"]
    if must.startswith("says"):  # missed at every load
        right = found["outcome"] == "missed at every load" and code == 3 or not trusted
        if kind["kind"] in ("fails always", "never fast enough"):  # which a few requests show
            right = right and trusted and took < 60
    elif "does not come back" in must:
        right = (near and "recovery" in found) or not trusted
    else:
        right = near or not trusted
    return right, f"{'right' if right else 'WRONG'}, {took:.0f} s, {verdict}, exit {code}: {found['sentence']}"


def mocked(knee, mock, flags):
    """Searches for the capacity of a mock, and says whether it is the knee."""
    found, verdict = search(mock, flags)
    knee = knee()
    off = found["value"] / knee - 1
    held = found["lo"] <= knee <= found["hi"] + (found["by"] == "concurrency")
    return abs(off) <= 0.05 or held, f"knee {knee:.4g}, found {found['sentence']} ({off:+.1%}, {'within' if held else 'NOT within'} the interval, {len(found['levels'])} levels, {verdict})"


def servers():
    """What is searched, by name: those that take longest first, so that none is left over at the end."""
    kinds = [json.loads(line) for line in subprocess.run([AWKWARD, "-list"], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()]
    return {
        "by rate": lambda: mocked(lambda: knee_of_queue(8, 0.24, 0.1, 0.9), ["--max-seqs", "8", "--ttft", "40ms", "--itl", "20ms", "--output-tokens", "11"],
                                  ["--slo", "ttft.p90 < 140ms", "--start", "4", "--max-time", "5m", "--output-tokens", "11"]),
        **{k["kind"]: lambda k=k: awkward(k) for k in kinds if not k["must"].startswith("says")},
        "by concurrency": lambda: mocked(lambda: int((61 - 20) / 1.6), ["--ttft", "40ms", "--itl", "20ms", "--itl-per-seq", "1600us", "--output-tokens", "21"],
                                         ["--by", "concurrency", "--slo", "tpot.avg < 61ms", "--max-time", "3m", "--output-tokens", "21"]),
        **{k["kind"]: lambda k=k: awkward(k) for k in kinds if k["must"].startswith("says")},
    }


def cores_of_their_own():
    """Sets of cores, one for each of the searches that run side by side; None: the cores are shared."""
    sets = queue.Queue()
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    each = len(cores) // JOBS
    for i in range(JOBS):
        sets.put(cores[i * each:(i + 1) * each] if JOBS > 1 and each >= 2 else None)
    return sets


def one(name, find, sets):
    mine = sets.get()
    running[name] = time.monotonic()
    try:
        if mine:
            os.sched_setaffinity(0, mine)  # of this thread, and of what it starts
        right, says = find()
    except Exception as e:
        right, says = False, f"WRONG: {e}"
    finally:
        sets.put(mine)
    if not stopped.is_set():
        print(f"{name}: {says}", flush=True)
    ended.append(right)
    running.pop(name)
    return right


def stop(*_):
    """Says what was found so far, and ends what is running."""
    stopped.set()
    now = time.monotonic()
    print(f"stopped: {sum(ended)} of {len(ended)} right, {now - began:.0f} s; cut off: " + (", ".join(f"{n} ({now - t:.0f} s)" for n, t in list(running.items())) or "none")
          + f"; not begun: {len(chosen) - len(ended) - len(running)}", flush=True)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.killpg(0, signal.SIGTERM)
    os._exit(1)


running, ended, stopped = {}, [], threading.Event()


began, sets = time.monotonic(), cores_of_their_own()
chosen = {name: find for name, find in servers().items() if WHICH in name}
if not chosen:
    sys.exit(f"no server has {WHICH!r} in its name: {', '.join(servers())}")
if os.getpgrp() != os.getpid():
    os.setpgrp()  # so that what is stopped with it is its own
for sig in (signal.SIGTERM, signal.SIGINT):
    signal.signal(sig, stop)
with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
    right = list(pool.map(lambda item: one(*item, sets), chosen.items()))
print(f"{sum(right)} of {len(right)} right, {time.monotonic() - began:.0f} s")
sys.exit(not all(right))
