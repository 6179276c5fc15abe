"""Holds inferometer's genai-perf against the real one.

usage: genai-perf-conformance.py INFEROMETER PERF_ANALYZER TOKENIZER [CASE...]

It is run by the Python that has the real genai-perf. Against the built-in mock:

(a) ours measures, and the real tool's metrics on the profile_export.json that we wrote
    must be those in our own JSON report, to the last digit;
(b) the real tool measures, and our process-export-files on what it wrote must give its
    JSON, its CSV and its table.
"""
import json
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

INFEROMETER, ANALYZER, TOKENIZER = (str(Path(p).resolve()) for p in sys.argv[1:4])
METRICS = str(Path(__file__).with_name("genai-perf-metrics.py").resolve())
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
    def __init__(self, coalesce: int) -> None:
        self.http, self.grpc = free_port(), free_port()
        self.process = subprocess.Popen(
            [INFEROMETER, "mock", "--listen", f"127.0.0.1:{self.http}", "--grpc", f"127.0.0.1:{self.grpc}", "--model", "m",
             "--ttft", "20ms", "--itl", "2ms", "--coalesce", str(coalesce)],
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


def profile(program: list[str], flags: list[str], mock: Mock, where: Path) -> subprocess.CompletedProcess:
    args = ["profile", "-m", "m", *flags, "--isl", "60", "--osl", "16", "--concurrency", "4", "--request-count", "60", "-u", mock.url(flags),
            "--tokenizer", TOKENIZER, "--artifact-dir", str(where)]
    env = {**os.environ, "PATH": f"{Path(ANALYZER).parent}:{os.environ['PATH']}", "COLUMNS": "140", "HF_HUB_OFFLINE": "1"}
    return subprocess.run([*program, *args], capture_output=True, text=True, env=env)


def table(text: str) -> str:
    start = text.index("NVIDIA GenAI-Perf |")
    start = text.rindex("\n", 0, start) + 1 if "\n" in text[:start] else 0
    return text[start:text.index("┘", start) + 1]


def ours_to_theirs(name: str, flags: list[str], mock: Mock, where: Path) -> None:
    run = profile([INFEROMETER, "genai-perf"], flags, mock, where)
    if run.returncode != 0:
        check(f"(a) {name}", False, run.stdout + run.stderr)
        return
    got = load("profile_export_genai_perf.json", where)
    goodput = flags[flags.index("--goodput") + 1:] if "--goodput" in flags else []
    export = next(where.rglob("profile_export.json"))
    real = subprocess.run([sys.executable, METRICS, str(export), TOKENIZER, *goodput], capture_output=True, text=True)
    if real.returncode != 0:
        check(f"(a) {name}", False, real.stderr)
        return
    got.pop("input_config")
    diff = differences(json.loads(real.stdout), got)
    check(f"(a) {name}: our profile export, their metrics", diff == "", diff)


def theirs_to_ours(name: str, flags: list[str], mock: Mock, where: Path) -> None:
    run = profile([str(Path(sys.executable).with_name("genai-perf"))], flags, mock, where / "runs")
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


def main() -> None:
    for name, flags, coalesce in CASES:
        if sys.argv[4:] and name not in sys.argv[4:]:
            continue
        with tempfile.TemporaryDirectory() as tmp, Mock(coalesce) as mock:
            ours_to_theirs(name, flags, mock, Path(tmp) / "ours")
            theirs_to_ours(name, flags, mock, Path(tmp) / "theirs")
    if FAILED:
        sys.exit(f"{len(FAILED)} of the comparisons differ")


main()
