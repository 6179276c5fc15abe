"""The two sides that are held against each other, and the servers that they measure.

It is imported by genai-perf-conformance.py and genai-perf-differences.py, and run by the
Python that has the real genai-perf. That tool takes many seconds to load itself and to
count the tokens of the book that its prompts come from: both are done once, and each run
of it is a fork, with a command line, an environment and a screen of its own.
"""
import importlib.util
import json
import logging
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

INFEROMETER, ANALYZER, TOKENIZER = (str(Path(p).resolve()) for p in sys.argv[1:4])
FAILED: list[str] = []
TITLE = "NVIDIA GenAI-Perf |"

# Set ahead of the imports.
os.environ.update(HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false", TQDM_DISABLE="1")


def sibling(name: str):
    spec = importlib.util.spec_from_file_location(name.replace("-", "_"), Path(__file__).with_name(name + ".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


METRICS = sibling("genai-perf-metrics")
import genai_perf.main  # noqa: E402  (it comes after the environment)
from genai_perf.inputs.retrievers.synthetic_prompt_generator import SyntheticPromptGenerator  # noqa: E402

SyntheticPromptGenerator.create_synthetic_prompt(METRICS.tokenizer_of(TOKENIZER), 10, 0)


def check(name: str, ok: bool, text: str = "") -> None:
    print(f"{'ok  ' if ok else 'FAIL'} {name}", flush=True)
    if not ok:
        FAILED.append(name)
        print(text, flush=True)


def quiet(core: int) -> list[str]:
    """Words in front of a command that keep other work of the machine away from it, where that is allowed."""
    words = ["chrt", "-f", "5", "taskset", "-c", str(core)]
    may = shutil.which("chrt") and shutil.which("taskset") and (os.cpu_count() or 1) > 1
    return words if may and subprocess.run([*words, "true"], stderr=subprocess.DEVNULL).returncode == 0 else []


@dataclass
class Run:
    code: int
    out: str

    def measured(self) -> bool:
        return TITLE in self.out


def ours(args: list[str], front: list[str] = [], width: int = 140) -> Run:
    env = {**os.environ, "COLUMNS": str(width)}
    run = subprocess.run([*front, INFEROMETER, "genai-perf", *args], capture_output=True, text=True, env=env)
    return Run(run.returncode, run.stdout + run.stderr)


def real(args: list[str], front: list[str] = [], width: int = 140) -> Run:
    """Runs the real tool. What stands in front goes in front of its Perf Analyzer, which does the measuring."""
    with tempfile.TemporaryDirectory() as tmp, tempfile.TemporaryFile("w+") as screen:
        shim = Path(tmp) / "perf_analyzer"
        shim.write_text(f"#!/bin/sh\nexec {' '.join(front)} '{ANALYZER}' \"$@\"\n")
        shim.chmod(0o755)
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            code = 70
            try:
                os.dup2(screen.fileno(), 1)
                os.dup2(screen.fileno(), 2)
                os.environ.update(PATH=f"{tmp}:{os.environ['PATH']}", COLUMNS=str(width))
                logging.disable(logging.NOTSET)
                sys.argv = ["genai-perf", *args]
                code = genai_perf.main.main()
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else 1
            finally:
                sys.stdout.flush()
                os._exit(code)
        _, status = os.waitpid(pid, 0)
        screen.seek(0)
        return Run(os.waitstatus_to_exitcode(status), screen.read())


def line(flags: list[str], url: str, where: Path, count: int = 60, osl: int = 16, concurrency: int = 4, warmup: int = 0) -> list[str]:
    """A command line that both sides take."""
    warm = ["--warmup-request-count", str(warmup)] if warmup else []
    return ["profile", "-m", "m", *flags, "--isl", "60", "--osl", str(osl), "--concurrency", str(concurrency), "--request-count", str(count),
            *warm, "-u", url, "--tokenizer", TOKENIZER, "--artifact-dir", str(where)]


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Mock:
    def __init__(self, *flags: str, front: list[str] = []) -> None:
        self.http, self.grpc = free_port(), free_port()
        self.process = subprocess.Popen(
            [*front, INFEROMETER, "mock", "--listen", f"127.0.0.1:{self.http}", "--grpc", f"127.0.0.1:{self.grpc}", "--model", "m", *flags],
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
        self.process.stderr.close()


class Calm(ThreadingHTTPServer):
    def handle_error(self, *_: object) -> None:
        """A client that leaves early is no news."""


class Server:
    """A server that answers as no well-behaved one does, in a process of its own."""

    def __init__(self, handler: type[BaseHTTPRequestHandler]) -> None:
        server = Calm(("127.0.0.1", 0), handler)
        self.url = f"127.0.0.1:{server.server_port}"
        self.pid = os.fork()
        if self.pid == 0:
            try:
                server.serve_forever()
            finally:
                os._exit(0)
        server.server_close()

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


def load(pattern: str, where: Path) -> dict:
    found = list(where.rglob(pattern))
    assert len(found) == 1, f"{pattern} in {where}: {found}"
    return json.loads(found[0].read_text())


def figures(where: Path) -> dict:
    """The figures of a JSON report, without the settings that it repeats."""
    found = load("profile_export_genai_perf.json", where)
    found.pop("input_config")
    return found


def real_metrics(where: Path, goodput: list[str] = []) -> dict:
    """What the real tool makes of a profile export."""
    return METRICS.metrics(next(where.rglob("profile_export.json")), TOKENIZER, goodput)


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
