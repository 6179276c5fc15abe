"""Holds inferometer's genai-perf against the real one.

usage: genai-perf-conformance.py INFEROMETER PERF_ANALYZER TOKENIZER [CASE...]

It is run by the Python that has the real genai-perf. Against the built-in mock:

(a) ours measures, and the real tool's metrics on the profile_export.json that we wrote
    must be those in our own JSON report, to the last digit;
(b) the real tool measures, and our process-export-files on what it wrote must give its
    JSON, its CSV and its table;
(c) both measure with long fixed latencies: every column within 2 %;
(d) where docs/differences.md says that the original is wrong, it is, and with --faithful
    ours is wrong in the same way, to the last digit.
"""
import importlib.util
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

INFEROMETER, ANALYZER, TOKENIZER = (str(Path(p).resolve()) for p in sys.argv[1:4])
SPEC = importlib.util.spec_from_file_location("metrics", Path(__file__).with_name("genai-perf-metrics.py"))
REAL = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(REAL)
LOCK = threading.Lock()  # the real parser keeps state
GENAI_PERF = str(Path(sys.executable).with_name("genai-perf"))
FAILED: list[str] = []

# What is measured: a name, flags, whether the mock puts several events into one write.
CASES = [
    ("chat", ["--endpoint-type", "chat", "--streaming"], 1),
    ("chat, events written together", ["--endpoint-type", "chat", "--streaming"], 3),
    ("chat, whole answers", ["--endpoint-type", "chat"], 1),
    ("completions", ["--endpoint-type", "completions", "--streaming"], 1),
    ("completions, whole answers", ["--endpoint-type", "completions"], 1),
    ("embeddings", ["--endpoint-type", "embeddings"], 1),
    ("rankings", ["--endpoint-type", "rankings", "--input-file", "synthetic:queries,passages", "--batch-size-text", "3"], 1),
    ("image retrieval", ["--endpoint-type", "image_retrieval", "--image-width-mean", "32", "--image-height-mean", "24", "--batch-size-image", "2"], 1),
    ("goodput", ["--endpoint-type", "chat", "--streaming", "--goodput", "request_latency:60", "time_to_first_token:25"], 1),
    ("triton, vllm", ["--endpoint-type", "kserve", "--backend", "vllm", "--streaming"], 1),
    ("triton, tensorrtllm", ["--endpoint-type", "kserve", "--backend", "tensorrtllm", "--streaming"], 1),
]


def check(name: str, ok: bool, text: str = "") -> None:
    print(f"{'ok  ' if ok else 'FAIL'} {name}")
    if not ok:
        FAILED.append(name)
        print(text)


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Mock:
    def __init__(self, *flags: str) -> None:
        self.http, self.grpc = free_port(), free_port()
        self.process = subprocess.Popen(
            [INFEROMETER, "mock", "--listen", f"127.0.0.1:{self.http}", "--grpc", f"127.0.0.1:{self.grpc}", "--model", "m", *flags],
            stderr=subprocess.PIPE, text=True)
        while "gRPC" not in self.process.stderr.readline():
            pass

    def url(self, flags: list[str]) -> str:
        return f"127.0.0.1:{self.grpc if 'kserve' in flags else self.http}"

    def __enter__(self) -> "Mock":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()


def load(pattern: str, where: Path) -> dict:
    found = [p for p in where.rglob(pattern)]
    assert len(found) == 1, found
    return json.loads(found[0].read_text())


def differences(want: dict, got: dict) -> str:
    lines = []
    for metric in list(want) + [m for m in got if m not in want]:
        for key in {**want.get(metric, {}), **got.get(metric, {})}:
            a, b = want.get(metric, {}).get(key), got.get(metric, {}).get(key)
            if a != b:
                lines.append(f"  {metric} {key}: real {a}, ours {b}")
    if not lines and list(want) != list(got):
        lines.append(f"  order: real {list(want)}, ours {list(got)}")
    return "\n".join(lines)


def profile(program: list[str], flags: list[str], url: str, where: Path, count: int = 60, osl: int = 16) -> subprocess.CompletedProcess:
    args = ["profile", "-m", "m", *flags, "--isl", "60", "--osl", str(osl), "--concurrency", "4", "--request-count", str(count), "-u", url,
            "--tokenizer", TOKENIZER, "--artifact-dir", str(where)]
    env = {**os.environ, "PATH": f"{Path(ANALYZER).parent}:{os.environ['PATH']}", "COLUMNS": "140", "HF_HUB_OFFLINE": "1"}
    return subprocess.run([*program, *args], capture_output=True, text=True, env=env)


def table(text: str) -> str:
    start = text.index("NVIDIA GenAI-Perf |")
    start = text.rindex("\n", 0, start) + 1 if "\n" in text[:start] else 0
    return text[start:text.index("┘", start) + 1]


def goodput_of(flags: list[str]) -> list[str]:
    return [f for f in flags[flags.index("--goodput") + 1:] if ":" in f] if "--goodput" in flags else []


def real_metrics(where: Path, flags: list[str]) -> dict:
    with LOCK:
        return REAL.metrics(next(where.rglob("profile_export.json")), TOKENIZER, goodput_of(flags))


def ours_to_theirs(name: str, flags: list[str], mock: Mock, where: Path) -> None:
    run = profile([INFEROMETER, "genai-perf"], flags, mock.url(flags), where)
    if run.returncode != 0:
        check(f"(a) {name}", False, run.stdout + run.stderr)
        return
    got = load("profile_export_genai_perf.json", where)
    got.pop("input_config")
    diff = differences(real_metrics(where, flags), got)
    check(f"(a) {name}: our profile export, their metrics", diff == "", diff)


def theirs_to_ours(name: str, flags: list[str], mock: Mock, where: Path) -> None:
    run = profile([GENAI_PERF], flags, mock.url(flags), where / "runs")
    if "NVIDIA GenAI-Perf |" not in run.stdout:
        print(f"--   (b) {name}: the real tool fails: {(run.stdout + run.stderr).strip().splitlines()[-1]}")
        return
    env = {**os.environ, "COLUMNS": "140"}
    ours = subprocess.run([INFEROMETER, "genai-perf", "process-export-files", "-d", str(where / "runs"), "--artifact-dir", str(where / "merged")],
                          capture_output=True, text=True, env=env)
    if ours.returncode != 0:
        check(f"(b) {name}", False, ours.stdout + ours.stderr)
        return
    want, got = (load("profile_export_genai_perf.json", where / d) for d in ("runs", "merged"))
    want.pop("input_config"), got.pop("input_config")
    diff = differences(want, got)
    check(f"(b) {name}: their profile export, our JSON", diff == "", diff)
    csv = [next((where / d).rglob("*.csv")).read_bytes() for d in ("runs", "merged")]
    check(f"(b) {name}: CSV", csv[0] == csv[1], f"{csv[0].decode()}\n{csv[1].decode()}")
    tables = table(run.stdout), table(ours.stdout)
    check(f"(b) {name}: table", tables[0] == tables[1], "\n".join(tables))


# What is held side by side, with long latencies, so that a client's own time is small
# beside them: a name and flags.
FIXED = [
    ("chat", ["--endpoint-type", "chat", "--streaming"]),
    ("completions", ["--endpoint-type", "completions", "--streaming"]),
    ("triton, vllm", ["--endpoint-type", "kserve", "--backend", "vllm", "--streaming"]),
    ("triton, tensorrtllm", ["--endpoint-type", "kserve", "--backend", "tensorrtllm", "--streaming"]),
    ("embeddings", ["--endpoint-type", "embeddings"]),
]
NEAR = 0.02


def side_by_side(name: str, flags: list[str]) -> None:
    """Other work on the machine delays one of the two now and then, and a real difference is there every time: three tries."""
    text = ""
    for _ in range(3):
        with tempfile.TemporaryDirectory() as tmp:
            text = columns_apart(flags, Path(tmp))
        if text == "":
            break
    check(f"(c) {name}: fixed latencies, every column within 2 %", text == "", text)


def columns_apart(flags: list[str], tmp: Path) -> str:
    with Mock("--ttft", "600ms", "--itl", "150ms") as mock:
        theirs = profile([GENAI_PERF], flags, mock.url(flags), tmp / "theirs", 16, 5)
        ours = profile([INFEROMETER, "genai-perf"], flags, mock.url(flags), tmp / "ours", 16, 5)
    if "NVIDIA GenAI-Perf |" not in theirs.stdout or ours.returncode != 0:
        return theirs.stdout[-2000:] + theirs.stderr[-2000:] + ours.stderr
    want, got = (load("profile_export_genai_perf.json", tmp / d) for d in ("theirs", "ours"))
    lines = []
    for metric in want:
        if metric in ("input_config", "telemetry_stats", "input_sequence_length"):  # prompts are not the same ones
            continue
        for key, a in want[metric].items():
            b = got.get(metric, {}).get(key)
            if key in ("unit", "std"):
                continue
            if b is None or abs(a - b) > NEAR * abs(a):
                lines.append(f"  {metric} {key}: real {a}, ours {b}")
    return "\n".join(lines)


def chunk(**delta: str) -> bytes:
    return b"data: " + json.dumps({"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]}).encode() + b"\n\n"


class Odd(BaseHTTPRequestHandler):
    """Answers in turn with five words, with one, with none, and with thoughts ahead."""
    protocol_version = "HTTP/1.1"
    count = 0

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        turn, Odd.count = Odd.count % 4, Odd.count + 1
        parts = [{"content": w} for w in [" one", " two", " three", " four", " five"][:[5, 1, 0, 4][turn]]]
        if turn == 3:
            parts = [{"reasoning_content": w} for w in (" well", " now", " then", " so")] + parts
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for data in [chunk(role="assistant"), *(chunk(**p) for p in parts), b"data: [DONE]\n\n"]:
            threading.Event().wait(0.005)
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, *_: object) -> None:
        pass


# Flags, and the metrics in which the original is wrong.
WRONG = ["--endpoint-type", "chat", "--streaming", "--goodput", "time_to_first_token:22", "inter_token_latency:100"]
WRONG_IN = {"request_throughput", "request_goodput", "time_to_first_token", "output_sequence_length"}


def differ(real: dict, ours: dict) -> set[str]:
    return {m for m in {**real, **ours} if real.get(m) != ours.get(m)}


def original_is_wrong(tmp: Path) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Odd)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for faithful in (False, True):
        where = tmp / str(faithful)
        run = profile([INFEROMETER, "genai-perf"], WRONG + ["--faithful"] * faithful, f"127.0.0.1:{server.server_port}", where)
        ours = load("profile_export_genai_perf.json", where)
        ours.pop("input_config")
        real = real_metrics(where, WRONG)
        if faithful:
            check("(d) thoughts, empty answers and goodput, --faithful: as the original", run.returncode == 0 and real == ours, differences(real, ours))
            continue
        found = differ(real, ours)
        check("(d) thoughts, empty answers and goodput: the original is wrong", WRONG_IN <= found, f"  they differ in {sorted(found)}")
        check("(d) thoughts are output", ours["output_sequence_length"]["max"] > real["output_sequence_length"]["max"], "")
        check("(d) empty answers are no throughput", ours["request_throughput"]["avg"] < real["request_throughput"]["avg"], "")
    server.shutdown()
    flags = ["--endpoint-type", "kserve", "--backend", "vllm", "--streaming"]
    with Mock("--ttft", "10ms") as mock:
        for faithful in (False, True):
            where = tmp / f"triton{faithful}"
            profile([INFEROMETER, "genai-perf"], flags + ["--faithful"] * faithful, mock.url(flags), where, 20, 1)
            ours = load("profile_export_genai_perf.json", where)
            ours.pop("input_config")
            found = differ(real_metrics(where, flags), ours)
            if faithful:
                check("(d) one token of Triton, --faithful: as the original", not found, f"  they differ in {sorted(found)}")
            else:
                check("(d) one token of Triton: there is no second", found == {"time_to_second_token"} and "time_to_second_token" not in ours, f"  they differ in {sorted(found)}")
    with Mock("--ttft", "5ms", "--fault", "status:500=0.3") as mock:
        flags = ["--endpoint-type", "chat"]
        theirs = profile([GENAI_PERF], flags, mock.url(flags), tmp / "failing")
        ours = profile([INFEROMETER, "genai-perf"], flags, mock.url(flags), tmp / "counted")
        check("(d) a request that fails: the end of the original's run", "NVIDIA GenAI-Perf |" not in theirs.stdout, theirs.stdout)
        check("(d) a request that fails: counted here", "requests failed" in ours.stdout and "NVIDIA GenAI-Perf |" in ours.stdout, ours.stdout + ours.stderr)


def case(name: str, flags: list[str], coalesce: int) -> None:
    with tempfile.TemporaryDirectory() as tmp, Mock("--ttft", "20ms", "--itl", "2ms", "--coalesce", str(coalesce)) as mock:
        ours_to_theirs(name, flags, mock, Path(tmp) / "ours")
        theirs_to_ours(name, flags, mock, Path(tmp) / "theirs")


def main() -> None:
    wanted = sys.argv[4:]
    with ThreadPoolExecutor(2) as pool:  # what is compared here is one file, whatever the times in it
        list(pool.map(lambda c: case(*c), [c for c in CASES if not wanted or c[0] in wanted]))
    for name, flags in FIXED:  # times are compared here: one after the other
        if not wanted or f"fixed {name}" in wanted:
            side_by_side(name, flags)
    if not wanted or "differences" in wanted:
        with tempfile.TemporaryDirectory() as tmp:
            original_is_wrong(Path(tmp))
    if FAILED:
        sys.exit(f"{len(FAILED)} of the comparisons differ")


main()
