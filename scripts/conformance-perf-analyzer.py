"""Holds inferometer's perf_analyzer and llm_perf against the real Perf Analyzer.

usage: conformance-perf-analyzer.py INFEROMETER PEERS TRITON-GRPC-ADDRESS DIRECTORY

On each model the original, ours, and ours with --faithful alternate. Throughput, latency and
the server's statistics must agree within the spread of the runs, which is measured in the same
call; requests per second of window, and with --faithful requests per window, within 2 %. Reports
must have the same lines in the same order. The real genai-perf must take our exports, of Triton
and of the mock.

A latency of ours may be lower by what the original's own client takes: ours begins with the first
byte on the wire and ends with the kernel's stamp. How much that is, the ordinary model shows: what
lies there between the original's latency and the server's account of it.

A model whose runs do not agree is measured once more: of so many figures one is now and then
further apart than its few runs are. CLIENT in the environment is a command that runs the clients,
such as one that gives them a core.
"""
import json
import os
import re
import resource
import statistics
import subprocess
import sys
from pathlib import Path

INFEROMETER, PEERS, ADDRESS, DIR = sys.argv[1], Path(sys.argv[2]).resolve(), sys.argv[3], Path(sys.argv[4])
ANALYZER = PEERS / "perf_analyzer" / "perf_analyzer"
RUNS, INTERVAL = int(os.environ.get("RUNS", 4)), os.environ.get("INTERVAL", "2500")
CLIENT = os.environ.get("CLIENT", "").split()
TRIES = 2
NEAR = 0.02
TOKENS = 8
PROMPTS = 300  # of llm_perf
FAILED: list[str] = []

# A model and its load. The first is bound by the rate, the others by their own clock.
CASES = {
    "simple": ["-m", "simple", "--async", "--request-rate-range", "50"],
    "ensemble": ["-m", "ensemble", "--async", "--streaming", "--input-data", "ensemble.json", "--concurrency-range", "4",
                 "--shape", "max_tokens:1", "--shape", "text_input:1"],
    "vllm_model": ["-m", "vllm_model", "--async", "--streaming", "--input-data", "vllm.json", "--concurrency-range", "4"],
}
# Lines of ours alone, and those that come and go.
OURS = ("First response latency", "Latency from the scheduled send", "Avg send request rate", "[WARNING]", "Failed request count")
# What is compared; of latencies, what the original's client adds is known.
FIGURES = {
    "throughput (infer/sec)": r"Client:.*?Throughput: ([\d.]+)",
    "avg latency (us)": r"Avg latency: (\d+) usec \(standard",
    "p50 latency (us)": r"p50 latency: (\d+)",
    "p99 latency (us)": r"p99 latency: (\d+)",
    "server avg request (us)": r"Server:.*?Avg request latency: (\d+)",
    "server queue (us)": r"Server:.*?queue (\d+) usec",
}
THROUGHPUT, LATENCY, SERVER = "throughput (infer/sec)", "avg latency (us)", "server avg request (us)"
LATENCIES = (LATENCY, "p50 latency (us)", "p99 latency (us)")


def check(name: str, ok: bool, text: str = "") -> None:
    print(f"  {'ok  ' if ok else 'FAIL'} {name}", flush=True)
    if not ok:
        FAILED.append(name)
        if text:
            print(text)


def data() -> None:
    prompts = [f"Prompt number {i} asks how the weather was on that day." for i in range(100)]
    knobs = json.dumps({"max_tokens": TOKENS, "ttft_ms": 50, "itl_ms": 10})
    write = lambda name, steps: (DIR / name).write_text(json.dumps({"data": steps}))
    write("ensemble.json", [{"text_input": [p], "max_tokens": [TOKENS], "stream": [True]} for p in prompts])
    write("vllm.json", [{"text_input": [p], "stream": [True], "sampling_parameters": [knobs]} for p in prompts])
    (DIR / "prompts.jsonl").write_text("".join(json.dumps({"input": p, "output": ""}) + "\n" for p in (prompts * 3)[:PROMPTS]))


class Failed(Exception):
    """A command that did not end well."""


def run(tool: list[str], args: list[str]) -> str:
    done = subprocess.run([*CLIENT, *tool, *args], cwd=DIR, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(f"{' '.join([*tool, *args])}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def cpu() -> float:
    """CPU time of all commands so far, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def figure(text: str, pattern: str) -> float:
    found = re.search(pattern, text, re.DOTALL)
    return float(found.group(1)) if found else float("nan")


def lines(text: str) -> list[str]:
    found = []
    for line in text.splitlines():
        line = re.sub(r"\d+(\.\d+)?(e\+\d+)?", "N", line).rstrip()
        if line and not any(o in line for o in OURS):
            found.append(line)
    return found


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


class Runs:
    """What the tools said of one model, and the CPU time that they took."""

    def __init__(self, model: str) -> None:
        self.said: dict[str, list[str]] = {"original": [], "ours": [], "faithful": []}
        self.cpu = dict.fromkeys(self.said, 0.0)
        args = ["-u", ADDRESS, "-i", "grpc", *CASES[model], "-s", "999", "-p", INTERVAL]
        for i in range(RUNS):
            for tool, command, more in (
                ("original", [str(ANALYZER)], []),
                ("ours", [INFEROMETER, "perf_analyzer"], ["--profile-export-file", str(DIR / f"{model}.profile.json")]),
                ("faithful", [INFEROMETER, "perf_analyzer"], ["--faithful"]),
            ):
                before = cpu()
                self.said[tool].append(run(command, [*args, *more]))
                self.cpu[tool] += cpu() - before

    def values(self, tool: str, pattern: str) -> list[float]:
        return [figure(text, pattern) for text in self.said[tool]]

    def client(self) -> float:
        """What the original's client adds to the server's time, in microseconds."""
        return statistics.median(l - s for l, s in zip(self.values("original", FIGURES[LATENCY]), self.values("original", FIGURES[SERVER])))


def spread(values: list[float]) -> float:
    return max(values) - min(values)


def judge(runs: Runs, client: float) -> list[tuple[str, bool, str]]:
    """Each check with its outcome and what to show where it fails."""
    print(f"  {'median of the runs':24} {'original':>12} {'spread':>9} {'ours':>12} {'spread':>9} {'faithful':>12} {'apart':>8}")
    checks = []
    for name, pattern in FIGURES.items():
        values = {tool: runs.values(tool, pattern) for tool in runs.said}
        if any(v != v for v in values["original"] + values["ours"]):
            continue
        a, b, f = (statistics.median(values[t]) for t in ("original", "ours", "faithful"))
        theirs, own = spread(values["original"]), spread(values["ours"])
        print(f"  {name:24} {a:12.1f} {theirs:9.1f} {b:12.1f} {own:9.1f} {f:12.1f} {(b - a) / a * 100 if a else 0:7.1f}%")
        allowed = max(theirs, own, NEAR * a if name == THROUGHPUT else 0)
        below = allowed + (client if name in LATENCIES else 0)
        checks.append((f"{name} agree", a - below <= b <= a + allowed, f"       {values}"))
    counts = {tool: mean(runs.values(tool, r"Request count: (\d+)")) for tool in runs.said}
    rates = {tool: mean(runs.values(tool, FIGURES[THROUGHPUT])) for tool in runs.said}
    print(f"  {'requests of 3 windows':24} {counts['original']:12.1f} {'':9} {counts['ours']:12.1f} {'':9} {counts['faithful']:12.1f}")
    print(f"  {'CPU time of a run (s)':24} {runs.cpu['original'] / RUNS:12.2f} {'':9} {runs.cpu['ours'] / RUNS:12.2f} {'':9} {runs.cpu['faithful'] / RUNS:12.2f}")
    near = lambda a, b: abs(a - b) <= NEAR * a
    checks.append(("requests per second of window within 2 %", near(rates["original"], rates["ours"]), f"       {rates}"))
    checks.append(("requests per window with --faithful within 2 %", near(counts["original"], counts["faithful"]), f"       {counts}"))
    theirs, own = lines(runs.said["original"][0]), lines(runs.said["ours"][0])
    checks.append(("the same lines in the same order", theirs == own, "\n".join(["original:", *theirs, "ours:", *own])))
    return checks


def compare(model: str, client: float) -> float:
    """Holds the tools against each other; it gives what the original's client adds."""
    warm = ["-u", ADDRESS, "-i", "grpc", *CASES[model], "-s", "999", "-p", "700"]
    for left in reversed(range(TRIES)):
        try:
            run([str(ANALYZER)], warm)  # the server's first requests are nobody's
            run([INFEROMETER, "perf_analyzer"], warm)
            runs = Runs(model)
        except Failed as why:
            print(f"\n{model}: {why}", flush=True)
            if not left:
                check(f"{model}: every command ends well", False)
            continue
        if model == "simple":
            client = runs.client()
        print(f"\n{model}: {RUNS} runs of each, windows of {INTERVAL} ms, {client:.0f} us of the original's client")
        checks = judge(runs, client)
        if left and not all(ok for _, ok, _ in checks):
            print("  measured once more: " + "; ".join(name for name, ok, _ in checks if not ok), flush=True)
            continue
        for name, ok, text in checks:
            check(f"{model}: {name}", ok, text)
        break
    return client


def accepted(name: str, export: Path, latency: float) -> None:
    """Whether the real genai-perf takes an export and finds our latency in it."""
    tool = [str(PEERS / "genai-perf" / "bin" / "python"), str(Path(__file__).with_name("genai-perf-metrics.py").resolve())]
    done = subprocess.run([*tool, str(export), str(PEERS / "tokenizer")], cwd=DIR, capture_output=True, text=True)
    if done.returncode != 0:
        check(f"{name}: the real genai-perf takes the export", False, done.stderr[-2000:])
        return
    stats = json.loads(done.stdout)
    found = stats["request_latency"]["avg"] * 1000
    check(f"{name}: the real genai-perf takes the export; its request latency is {found:.0f} us, ours {latency:.0f}", abs(found - latency) <= NEAR * latency)


def exports() -> None:
    print("\nexports, read by the real genai-perf")
    for model in ("ensemble", "vllm_model"):
        export = DIR / f"{model}.export.json"
        args = ["-u", ADDRESS, "-i", "grpc", *CASES[model], "-p", INTERVAL, "-s", "999", "--profile-export-file", str(export)]
        accepted(model, export, figure(run([INFEROMETER, "perf_analyzer"], args), FIGURES[LATENCY]))
    mock = subprocess.Popen([INFEROMETER, "mock", "--listen", "127.0.0.1:0", "--grpc", "127.0.0.1:0", "--model", "vllm_model", "--ttft", "10ms", "--itl", "2ms"],
                            stderr=subprocess.PIPE, text=True)
    try:
        at = {}
        while len(at) < 2:
            line = mock.stderr.readline()
            at["grpc" if "gRPC" in line else "http"] = re.search(r"127[\d.:]+", line).group()
        export = DIR / "mock.export.json"
        text = run([INFEROMETER, "perf_analyzer"], ["-u", at["grpc"], "-i", "grpc", *CASES["vllm_model"], "-p", "1000", "-s", "999", "--profile-export-file", str(export)])
        accepted("mock, Triton", export, figure(text, FIGURES[LATENCY]))
        chats = [{"payload": [{"model": "vllm_model", "messages": [{"role": "user", "content": "good day"}], "stream": True, "max_tokens": TOKENS}]}]
        (DIR / "chats.json").write_text(json.dumps({"data": chats}))
        export = DIR / "chat.export.json"
        text = run([INFEROMETER, "perf_analyzer"], ["-m", "vllm_model", "--service-kind", "openai", "--endpoint", "v1/chat/completions", "--async", "--input-data", "chats.json",
                                                    "-u", at["http"], "-p", "1000", "-s", "999", "--profile-export-file", str(export)])
        accepted("mock, OpenAI", export, figure(text, FIGURES[LATENCY]))
    finally:
        mock.terminate()
        mock.wait()


def levels() -> dict[str, dict[str, list[float]]]:
    """Latency, throughput and requests of the three tools on the ensemble, in turn."""
    rows: dict[str, dict[str, list[float]]] = {}
    for _ in range(RUNS):
        for tool, command, latency, rate, unit in (
            ("perf_analyzer, original", [str(ANALYZER)], FIGURES[LATENCY], FIGURES[THROUGHPUT], 1e-6),
            ("perf_analyzer, ours", [INFEROMETER, "perf_analyzer"], FIGURES[LATENCY], FIGURES[THROUGHPUT], 1e-6),
            ("llm_perf", [INFEROMETER, "llm_perf"], r"average_latency: ([\d.e-]+)", r"throughput: ([\d.]+)", 1),
        ):
            if tool == "llm_perf":
                text = run(command, ["-u", ADDRESS, "-i", "grpc", "-m", "ensemble", "--concurrency", "4", "--input-data", "prompts.jsonl", "--output-len", str(TOKENS)])
            else:
                text = run(command, ["-u", ADDRESS, "-i", "grpc", *CASES["ensemble"], "-p", INTERVAL, "-s", "999"])
            row = rows.setdefault(tool, {"latency": [], "throughput": [], "requests": []})
            row["latency"].append(figure(text, latency) * unit)
            row["throughput"].append(figure(text, rate))
            row["requests"].append(figure(text, r"Request count: (\d+)") if tool != "llm_perf" else PROMPTS)
    return rows


def llm_perf() -> None:
    for left in reversed(range(TRIES)):
        rows = levels()
        print(f"\nllm_perf beside perf_analyzer: the ensemble, 4 in flight, {RUNS} runs of each")
        print(f"  {'median of the runs':24} {'latency (s)':>12} {'spread':>10} {'infer/sec':>12} {'spread':>10} {'latency x infer/sec':>20}")
        checks = []
        middle = {tool: {name: statistics.median(values) for name, values in row.items()} for tool, row in rows.items()}
        for tool, row in rows.items():
            l, t = middle[tool]["latency"], middle[tool]["throughput"]
            print(f"  {tool:24} {l:12.6f} {spread(row['latency']):10.6f} {t:12.3f} {spread(row['throughput']):10.3f} {l * t:20.3f}")
            # A window's edge may fall behind one more request of each of the four.
            checks.append((f"{tool}: latency x throughput within the concurrency", l * t <= 4 * (1 + 4 / middle[tool]["requests"])))
        for tool in ("perf_analyzer, original", "perf_analyzer, ours"):
            for name in ("latency", "throughput"):
                a, b = middle[tool][name], middle["llm_perf"][name]
                checks.append((f"llm_perf's {name} within 2 % of {tool}: {(b - a) / a * 100:+.2f} %", abs(a - b) <= NEAR * a))
        if left and not all(ok for _, ok in checks):
            print("  measured once more: " + "; ".join(name for name, ok in checks if not ok), flush=True)
            continue
        for name, ok in checks:
            check(name, ok)
        break


data()
own = 0.0
for model in CASES:
    own = compare(model, own)
try:
    exports()
    llm_perf()
except Failed as why:
    sys.exit(str(why))
print(f"\n{len(FAILED)} checks failed" + "".join(f"\n  {name}" for name in FAILED))
sys.exit(1 if FAILED else 0)
