"""How the tools are started: plain processes, and warm hosts for those in Python."""
import ctypes
import json
import os
import signal
import socket
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
LIMIT = 60  # seconds for a line, of which a busy machine takes most


def die_with_parent() -> None:
    """Has the kernel end this process when the one that started it ends, however that came."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


@dataclass
class Side:
    """What came of a line on one side."""
    code: int
    screen: str
    where: Path
    errors: str = ""  # standard error, where it is kept apart
    requests: list = field(default_factory=list)
    port: int = 0

    def failed(self) -> bool:
        return self.code != 0


def process(argv: list, where: Path, env: dict, limit: float = LIMIT, apart: bool = False) -> Side:
    """Runs a program in a process group of its own, and ends what it leaves."""
    with open(where.with_suffix(".screen"), "wb") as out, open(where.with_suffix(".errors"), "wb") as errors:
        running = subprocess.Popen(argv, cwd=where, stdout=out, stderr=errors if apart else subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                   env={**os.environ, **env}, start_new_session=True)
        try:
            code = running.wait(limit)
        except subprocess.TimeoutExpired:
            code = 124
        try:
            os.killpg(running.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        running.wait()
    return Side(code, screen(where), where, where.with_suffix(".errors").read_text(errors="replace"))


def screen(where: Path) -> str:
    return where.with_suffix(".screen").read_text(errors="replace")


class Host:
    """A real Python tool that is loaded once; see hosts/host.py."""

    def __init__(self, python: Path, name: str, tokenizer: Path):
        self.dir = tempfile.TemporaryDirectory()
        self.path = f"{self.dir.name}/socket"
        self.log = open(f"{self.dir.name}/log", "w+")
        env = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}  # to compile what it imports takes half a minute, so that is kept
        self.running = subprocess.Popen([python, HERE / "hosts/host.py", name, self.path, tokenizer], env=env, stdout=subprocess.PIPE, stderr=self.log, text=True, preexec_fn=die_with_parent)
        if self.running.stdout.readline() != "ready\n":
            self.log.seek(0)
            raise SystemExit(f"the real {name} does not load: scripts/peers.sh {name} installs it\n{self.log.read()[-2000:]}")

    def send(self, job: dict) -> dict:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(self.path)
            with connection.makefile("rw") as stream:
                stream.write(json.dumps(job) + "\n")
                stream.flush()
                return json.loads(stream.readline())

    def run(self, argv: list, where: Path, env: dict, limit: float = LIMIT) -> Side:
        found = self.send({"argv": argv, "cwd": str(where), "out": str(where.with_suffix(".screen")), "env": env, "limit": limit})
        return Side(found.get("code", 70), screen(where), where)

    def ask(self, **question: object) -> object:
        found = self.send(question)
        if "error" in found:
            raise ValueError(found["error"])
        return found["answer"]

    def close(self) -> None:
        self.running.kill()
        self.running.wait()
        self.dir.cleanup()
