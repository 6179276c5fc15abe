"""Real Triton servers with models from a seed, one for each side."""
import json
import os
import socket
import subprocess
import time
from pathlib import Path

import models
from originals import die_with_parent


class Triton:
    def __init__(self, program: Path, where: Path, seed: int, name: str, make=models.make):
        self.log = where / "requests"
        self.log.mkdir(parents=True)
        self.models = make(seed, where / "models")
        self.said = where / "triton.log"
        self.argv = [program, f"--model-repository={where / 'models'}", "--http-address=127.0.0.1", "--grpc-address=127.0.0.1",
                     "--allow-metrics=false", "--exit-timeout-secs=2", "--cache-config=local,size=10485760", f"--backend-config=python,shm-region-prefix-name=fuzz{os.getpid()}{name}"]
        self.start()

    def start(self) -> None:
        """Starts it on ports that are free, others each time: another process may have come first."""
        taken = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
        self.http, self.grpc = (s.getsockname()[1] for s in taken)
        for s in taken:
            s.close()
        self.running = subprocess.Popen([*self.argv, f"--http-port={self.http}", f"--grpc-port={self.grpc}"], stdout=open(self.said, "w"), stderr=subprocess.STDOUT, env={**os.environ, "FUZZ_LOG": str(self.log)}, start_new_session=True, preexec_fn=die_with_parent)

    def wait(self, tries: int = 3) -> None:
        """Waits until it serves. On a busy machine its backends now and then fail to start, so it is tried again."""
        for _ in range(600):
            text = self.said.read_text()
            if "Started HTTPService" in text:
                return
            if self.running.poll() is not None:
                if tries == 1:
                    raise SystemExit("Triton did not start: scripts/triton.sh installs it\n" + text[-3000:])
                self.start()
                return self.wait(tries - 1)
            time.sleep(0.2)
        raise SystemExit("Triton did not start within two minutes")

    def revive(self) -> None:
        """Starts it again if it ended: some requests are more than it can take."""
        if self.running.poll() is not None:
            self.start()
            self.wait()

    def forget(self) -> None:
        for file in self.log.iterdir():
            file.unlink()

    def requests(self) -> dict:
        """The requests of each model since the last forget."""
        return {f.name: [json.loads(row) for row in f.read_text().splitlines()] for f in sorted(self.log.iterdir())}

    def close(self) -> None:
        self.running.terminate()
        try:
            self.running.wait(10)
        except subprocess.TimeoutExpired:
            self.running.kill()
            self.running.wait()
