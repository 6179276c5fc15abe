"""Holds inferometer's perf_analyzer and llm_perf against the real Perf Analyzer.

usage: conformance-perf-analyzer.py INFEROMETER PEERS TRITON-GRPC-ADDRESS DIRECTORY

On each model the original, ours, and ours with --faithful alternate. Figures must agree
within the spread of the runs of a tool, or 2 %, whichever is more; requests per second of
window, and with --faithful requests per window, within 2 %. Reports must have the same lines
in the same order. The real genai-perf must take our exports, of Triton and of the mock.
"""
import json
import os
import re
import subprocess
import sys
from pathlib import Path

INFEROMETER, PEERS, ADDRESS, DIR = sys.argv[1], Path(sys.argv[2]).resolve(), sys.argv[3], Path(sys.argv[4])
ANALYZER = PEERS / "perf_analyzer" / "perf_analyzer"
RUNS, INTERVAL = int(os.environ.get("RUNS", 3)), os.environ.get("INTERVAL", "3000")
NEAR = 0.02
TOKENS = 8
FAILED: list[str] = []

# A model and its load. The first two are bound by their own clock, the third by the rate.
CASES = {
    "ensemble": ["-m", "ensemble", "--async", "--streaming", "--input-data", "ensemble.json", "--concurrency-range", "4",
                 "--shape", "max_tokens:1", "--shape", "text_input:1"],
    "vllm_model": ["-m", "vllm_model", "--async", "--streaming", "--input-data", "vllm.json", "--concurrency-range", "4"],
    "simple": ["-m", "simple", "--async", "--request-rate-range", "50"],
}
# Lines of ours alone, and those that come and go.
OURS = ("First response latency", "Latency from the scheduled send", "Avg send request rate", "[WARNING]", "Failed request count")
# What is compared, and how much of it may lie between two tools whose runs agree exactly, in microseconds:
# ours reads sooner, and stamps what it reads in the kernel.
FIGURES = {
    "throughput (infer/sec)": (r"Client:.*?Throughput: ([\d.]+)", 0),
    "avg latency (us)": (r"Avg latency: (\d+) usec \(standard", 500),
    "p50 latency (us)": (r"p50 latency: (\d+)", 500),
    "p99 latency (us)": (r"p99 latency: (\d+)", 3000),
    "server avg request (us)": (r"Server:.*?Avg request latency: (\d+)", 500),
    "server queue (us)": (r"Server:.*?queue (\d+) usec", 500),
}


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
    (DIR / "prompts.jsonl").write_text("".join(json.dumps({"input": p, "output": ""}) + "\n" for p in prompts * 3))


def run(tool: list[str], args: list[str]) -> str:
    done = subprocess.run([*tool, *args], cwd=DIR, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join([*tool, *args])}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


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


def compare(model: str, args: list[str]) -> None:
    args = ["-u", ADDRESS, "-i", "grpc", *args, "-s", "999"]
    run([INFEROMETER, "perf_analyzer"], [*args, "-p", "700"])  # the server's first requests are nobody's
    args += ["-p", INTERVAL]
    said: dict[str, list[str]] = {"original": [], "ours": [], "faithful": []}
    for i in range(RUNS):
        said["original"].append(run([str(ANALYZER)], args))
        export = DIR / f"{model}.{i}.json"
        said["ours"].append(run([INFEROMETER, "perf_analyzer"], [*args, "--profile-export-file", str(export)]))
        said["faithful"].append(run([INFEROMETER, "perf_analyzer"], [*args, "--faithful"]))
    print(f"\n{model}: {RUNS} runs of each, windows of {INTERVAL} ms")
    print(f"  {'':24} {'original':>12} {'spread':>9} {'ours':>12} {'spread':>9} {'faithful':>12} {'apart':>8}")
    judged = []
    for name, (pattern, slack) in FIGURES.items():
        values = {tool: [figure(text, pattern) for text in texts] for tool, texts in said.items()}
        if any(v != v for v in values["original"] + values["ours"]):
            continue
        a, b, f = (mean(values[t]) for t in ("original", "ours", "faithful"))
        spread = {t: max(v) - min(v) for t, v in values.items()}
        print(f"  {name:24} {a:12.1f} {spread['original']:9.1f} {b:12.1f} {spread['ours']:9.1f} {f:12.1f} {(b - a) / a * 100 if a else 0:7.1f}%")
        judged.append((name, abs(a - b) <= max(spread["original"], spread["ours"], NEAR * a, slack)))
    counts = {tool: mean([figure(text, r"Request count: (\d+)") for text in texts]) for tool, texts in said.items()}
    print(f"  {'requests of 3 windows':24} {counts['original']:12.1f} {'':9} {counts['ours']:12.1f} {'':9} {counts['faithful']:12.1f}")
    for name, ok in judged:
        check(f"{model}: {name} agree", ok)
    rates = {t: mean([figure(x, FIGURES["throughput (infer/sec)"][0]) for x in said[t]]) for t in said}
    check(f"{model}: requests per second of window within 2 %", abs(rates["original"] - rates["ours"]) <= NEAR * rates["original"])
    check(f"{model}: requests per window with --faithful within 2 %", abs(counts["original"] - counts["faithful"]) <= max(NEAR * counts["original"], 3))
    theirs, own = lines(said["original"][0]), lines(said["ours"][0])
    check(f"{model}: the same lines in the same order", theirs == own, "\n".join(["original:", *theirs, "ours:", *own]))


def accepted(name: str, export: Path, latency: float) -> None:
    """Whether the real genai-perf takes an export and finds our latency in it."""
    tool = [str(PEERS / "genai-perf" / "bin" / "python"), str(Path(__file__).with_name("genai-perf-metrics.py").resolve())]
    done = subprocess.run([*tool, str(export), str(PEERS / "tokenizer")], cwd=DIR, capture_output=True, text=True)
    if done.returncode != 0:
        check(f"{name}: the real genai-perf takes the export", False, done.stderr[-2000:])
        return
    stats = json.loads(done.stdout)
    found = stats["request_latency"]["avg"] * 1000
    check(f"{name}: the real genai-perf takes the export; its request latency is {found:.0f} us, ours {latency:.0f}", abs(found - latency) <= max(NEAR * latency, 300))


def exports() -> None:
    print("\nexports, read by the real genai-perf")
    for model in ("ensemble", "vllm_model"):
        export = DIR / f"{model}.export.json"
        args = ["-u", ADDRESS, "-i", "grpc", *CASES[model], "-p", INTERVAL, "-s", "999", "--profile-export-file", str(export)]
        accepted(model, export, figure(run([INFEROMETER, "perf_analyzer"], args), FIGURES["avg latency (us)"][0]))
    mock = subprocess.Popen([INFEROMETER, "mock", "--listen", "127.0.0.1:0", "--grpc", "127.0.0.1:0", "--model", "vllm_model", "--ttft", "10ms", "--itl", "2ms"],
                            stderr=subprocess.PIPE, text=True)
    try:
        at = {}
        while len(at) < 2:
            line = mock.stderr.readline()
            at["grpc" if "gRPC" in line else "http"] = re.search(r"127[\d.:]+", line).group()
        export = DIR / "mock.export.json"
        text = run([INFEROMETER, "perf_analyzer"], ["-u", at["grpc"], "-i", "grpc", *CASES["vllm_model"], "-p", "1000", "-s", "999", "--profile-export-file", str(export)])
        accepted("mock, Triton", export, figure(text, FIGURES["avg latency (us)"][0]))
        chats = [{"payload": [{"model": "vllm_model", "messages": [{"role": "user", "content": "good day"}], "stream": True, "max_tokens": TOKENS}]}]
        (DIR / "chats.json").write_text(json.dumps({"data": chats}))
        export = DIR / "chat.export.json"
        text = run([INFEROMETER, "perf_analyzer"], ["-m", "vllm_model", "--service-kind", "openai", "--endpoint", "v1/chat/completions", "--async", "--input-data", "chats.json",
                                                    "-u", at["http"], "-p", "1000", "-s", "999", "--profile-export-file", str(export)])
        accepted("mock, OpenAI", export, figure(text, FIGURES["avg latency (us)"][0]))
    finally:
        mock.terminate()
        mock.wait()


def llm_perf() -> None:
    common = ["-u", ADDRESS, "-i", "grpc", "-m", "ensemble"]
    rows: dict[str, dict[str, list[float]]] = {}
    for _ in range(RUNS):
        for tool, command, latency, rate, unit in (
            ("perf_analyzer, original", [str(ANALYZER)], FIGURES["avg latency (us)"][0], FIGURES["throughput (infer/sec)"][0], 1e-6),
            ("perf_analyzer, ours", [INFEROMETER, "perf_analyzer"], FIGURES["avg latency (us)"][0], FIGURES["throughput (infer/sec)"][0], 1e-6),
            ("llm_perf", [INFEROMETER, "llm_perf"], r"average_latency: ([\d.e-]+)", r"throughput: ([\d.]+)", 1),
        ):
            if tool == "llm_perf":
                text = run(command, [*common, "--concurrency", "4", "--input-data", "prompts.jsonl", "--output-len", str(TOKENS)])
            else:
                text = run(command, ["-u", ADDRESS, "-i", "grpc", *CASES["ensemble"], "-p", INTERVAL, "-s", "999"])
            row = rows.setdefault(tool, {"latency": [], "throughput": []})
            row["latency"].append(figure(text, latency) * unit)
            row["throughput"].append(figure(text, rate))
    print(f"\nllm_perf beside perf_analyzer: the ensemble, 4 in flight, {RUNS} runs of each")
    print(f"  {'':24} {'latency (s)':>12} {'spread':>10} {'infer/sec':>12} {'spread':>10} {'latency x infer/sec':>20}")
    for tool, row in rows.items():
        l, t = mean(row["latency"]), mean(row["throughput"])
        print(f"  {tool:24} {l:12.6f} {max(row['latency']) - min(row['latency']):10.6f} {t:12.3f} {max(row['throughput']) - min(row['throughput']):10.3f} {l * t:20.3f}")
        check(f"{tool}: latency x throughput within the concurrency", l * t <= 4 * 1.001)
    own = rows["llm_perf"]
    for tool in ("perf_analyzer, original", "perf_analyzer, ours"):
        for name in ("latency", "throughput"):
            a, b = mean(rows[tool][name]), mean(own[name])
            check(f"llm_perf's {name} within 2 % of {tool}: {(b - a) / a * 100:+.2f} %", abs(a - b) <= NEAR * a)


data()
for model, args in CASES.items():
    compare(model, args)
exports()
llm_perf()
print(f"\n{len(FAILED)} checks failed" + "".join(f"\n  {name}" for name in FAILED))
sys.exit(1 if FAILED else 0)
