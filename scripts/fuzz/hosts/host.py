"""A warm host of a Python tool: loads it once, then forks for each command line.

usage: host.py TOOL SOCKET TOKENIZER

Each connection to SOCKET brings one JSON object and gets one back. {"argv", "cwd", "out", "env", "limit"} runs
a command line and answers {"code"}, 124 where it took more than `limit` seconds; {"about"} asks the
tool something. Whatever a fork leaves running ends with it.
"""
import json
import os
import signal
import socket
import sys
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))


def run(tool, job: dict) -> int:
    """Runs a command line in a fork, in a process group of its own."""
    pid = os.fork()
    if pid == 0:
        code = 70
        try:
            os.setsid()
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            os.chdir(job["cwd"])
            os.environ.update(job["env"])
            out = os.open(job["out"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
            os.dup2(out, 1)
            os.dup2(out, 2)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            code = tool.run(job["argv"])
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
            if isinstance(end.code, str):
                print(end.code, file=sys.stderr)
        except BaseException:
            traceback.print_exc()
            code = 1
        finally:
            for stream in (sys.stdout, sys.stderr):
                try:
                    stream.flush()
                except OSError:
                    pass
            os._exit(code if isinstance(code, int) else 0)
    deadline = time.monotonic() + job["limit"]
    while time.monotonic() < deadline:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            kill(pid)
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    kill(pid)
    os.waitpid(pid, 0)
    return 124


def kill(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass


def answer(tool, connection: socket.socket) -> None:
    with connection, connection.makefile("rw") as stream:
        job = json.loads(stream.readline())
        try:
            found = {"answer": tool.ask(job)} if "about" in job else {"code": run(tool, job)}
        except Exception:
            found = {"error": traceback.format_exc()}
        stream.write(json.dumps(found) + "\n")


def main() -> None:
    name, path, tokenizer = sys.argv[1:4]
    tool = __import__("host_" + name)
    tool.warm(tokenizer)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(64)
    print("ready", flush=True)
    while True:
        listener.settimeout(0.5)
        try:
            connection, _ = listener.accept()
        except TimeoutError:
            connection = None
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass
        if os.getppid() == 1:
            return  # whoever started it is gone
        if connection is None:
            continue
        connection.settimeout(None)
        if os.fork() == 0:
            listener.close()
            try:
                answer(tool, connection)
            finally:
                os._exit(0)
        connection.close()


main()
