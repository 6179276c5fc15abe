"""Command lines that the real genai-perf and ours both take, and what comes of them.

It is imported by genai-perf-conformance.py. What is compared: exit codes, the settings that
JSON reports repeat, the runs of a sweep; and on a real Triton, where there is one, what
inputs.json and the profile export say that was sent, and how many tokens came back.
"""
import json
import os
import shutil
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

from sides import TOKENIZER, Mock, check, figures, free_port, load, ours, real

HERE = Path(__file__).resolve().parent.parent
TRITON = Path(os.environ.get("INFEROMETER_TRITON", HERE / ".peers/triton"))
SMALL = ["--isl", "20", "--num-dataset-entries", "3", "--tokenizer", TOKENIZER]

# What is wrong with each of these ends both tools in the same way.
FAULTS = [
    ["serve", "-m", "m"],
    ["profile", "-m", "m", "--endpoint-type", "chat", "--wrong"],
    ["profile", "-m", "m", "--endpoint-type", "speech"],
    ["profile", "-m", "m", "--endpoint-type", "chat", "--isl", "many"],
    ["profile", "-m", "m", "--endpoint-type", "chat", "--concurrency", "1", "--request-rate", "2"],
    ["profile", "-m", "m", "--endpoint-type", "chat", "--request-count", "1", "--measurement-interval", "2"],
    ["config"],
    ["profile", "--endpoint-type", "chat"],
    ["profile", "-m", "m", "--endpoint-type", "chat", "--goodput", "request_latency:-1"],
    ["profile", "-m", "m", "--endpoint-type", "chat", "--backend", "vllm"],
    ["profile", "-m", "m", "--endpoint-type", "chat", "--profile-export-file", "a/b.json"],
    ["config", "-f", "nowhere.yaml"],
    ["process-export-files", "-d", "nowhere"],
    ["analyze", "-m", "m", "--endpoint-type", "chat", "--sweep-type", "concurrency", "--sweep-range", "4:2"],
    ["profile", "-m", "m", "--endpoint-type", "chat", "-u", "127.0.0.1:9", *SMALL],
    ["profile", "-m", "m", "--endpoint-type", "chat", "--isl", "-5"],
    ["profile", "-m", "m", "--endpoint-type", "chat", "--input-file", "nowhere.jsonl"],
]

# These end the original with an error, and are run by ours.
# differs: genai-runs-loads, genai-runs-data
MORE = [
    ["profile", "--endpoint-type", "chat", "--request-rate", "30", "--request-count", "15"],
    ["profile", "--endpoint-type", "chat", "--output-tokens-mean-deterministic", "--request-count", "4"],
    ["profile", "--endpoint-type", "rankings", "--request-count", "4"],
    ["profile", "--endpoint-type", "multimodal", "--audio-length-mean", "0.2", "--audio-depths", "8", "--request-count", "4"],
    ["analyze", "--endpoint-type", "embeddings", "--sweep-type", "batch_size", "--sweep-range", "1:2", "--request-count", "4"],
]

# Lines whose settings are compared, key by key.
LINES = [
    ["profile", "--endpoint-type", "generate", "--request-count", "5"],
    ["profile", "--endpoint-type", "rankings", "--input-file", "synthetic:queries,passages", "--request-count", "5"],
    ["profile", "--endpoint-type", "huggingface_generate", "--request-count", "5"],
    ["profile", "--endpoint-type", "embeddings"],
    ["profile", "--endpoint-type", "chat", "--concurrency", "7", "--goodput", "request_latency:300"],
    ["profile", "--endpoint-type", "chat", "--measurement-interval", "300", "--osl", "4", "--extra-inputs", "temperature:0.5"],
    ["profile", "--endpoint-type", "chat", "--osl", "4", "--num-sessions", "3", "--session-concurrency", "2", "--session-turns-mean", "2"],
    ["profile", "--endpoint-type", "kserve", "--backend", "vllm", "--streaming", "--osl", "4"],
    ["profile", "--endpoint-type", "vision", "--image-width-mean", "20", "--image-height-mean", "10", "--osl", "4", "--request-count", "4"],
]


def flat(value: object, path: str = "") -> dict:
    if not isinstance(value, dict) or not value:
        return {path: value}
    return {k: v for name, inner in value.items() for k, v in flat(inner, f"{path}.{name}").items()}


def exit_codes() -> None:
    for args in FAULTS:
        with tempfile.TemporaryDirectory() as tmp:
            where = ["--artifact-dir", tmp] if args[0] in ("profile", "analyze") else []
            a, b = real([*args, *where]), ours([*args, *where])
            check(f"(d) exit code of {' '.join(args[:8])}", a.code == b.code, f"real {a.code}, ours {b.code}: {b.out[-400:]}")


def settings() -> None:
    for args in LINES:
        with tempfile.TemporaryDirectory() as tmp, Mock("--ttft", "2ms", "--itl", "1ms") as mock:
            found = []
            for side, run in (("real", real), ("ours", ours)):
                result = run([*args, "-m", "m", "-u", mock.url(args), *SMALL, "--artifact-dir", f"{tmp}/{side}"])
                if not result.measured():
                    check(f"(d) {' '.join(args)}: {side} measures", False, result.out[-2000:])
                    break
                config = flat(load("profile_export_genai_perf.json", Path(tmp) / side)["input_config"])
                found.append({k: v for k, v in config.items() if k != ".output.artifact_directory"})
            else:
                check(f"(d) input_config of {' '.join(args)}", list(found[0].items()) == list(found[1].items()), f"{set(map(str, found[0].items())) ^ set(map(str, found[1].items()))}")


def more() -> None:
    for args in MORE:
        with tempfile.TemporaryDirectory() as tmp, Mock("--ttft", "2ms", "--itl", "1ms") as mock:
            codes = [run([*args, "-m", "m", "-u", mock.url(args), *SMALL, "--artifact-dir", f"{tmp}/{side}"]).code for side, run in (("real", real), ("ours", ours))]
            check(f"(d) {' '.join(args)}: an error, and a run", codes == [1, 0], str(codes))


def inputs() -> None:
    """What inputs.json says of texts in batches, and of the pauses of sessions."""
    with tempfile.TemporaryDirectory() as tmp, Mock("--ttft", "2ms", "--itl", "1ms") as mock:
        file = Path(tmp) / "texts.jsonl"
        file.write_text("".join(json.dumps({"text": t}) + "\n" for t in ("first", "second", "third")))
        batches = ["--endpoint-type", "embeddings", "--batch-size-text", "2", "--request-count", "3", "--input-file", str(file), "--tokenizer", TOKENIZER]
        turns = ["--endpoint-type", "chat", "--osl", "4", "--num-sessions", "2", "--session-concurrency", "2", "--session-turns-mean", "2",
                 "--session-turn-delay-mean", "30", "--session-delay-ratio", "0.5", *SMALL]
        found = {}
        for side, run in (("real", real), ("ours", ours)):
            for name, args in (("batches", batches), ("turns", turns)):
                run(["profile", "-m", "m", "-u", mock.url([]), *args, "--artifact-dir", f"{tmp}/{side}/{name}"])
                found[side, name] = load("inputs.json", Path(tmp) / side / name)["data"]
        # differs: genai-text-batches
        counts = [len(found[side, "batches"]) for side in ("real", "ours")]
        check("(d) batches of three texts: 100 that are drawn, and 3 in order", counts == [100, 3], str(counts))
        # differs: genai-delay-ratio
        pauses = [sorted({d for step in found[side, "turns"] for d in step.get("delay", [])}) for side in ("real", "ours")]
        check("(d) pauses of sessions: 30 ms, and 15 with --session-delay-ratio 0.5", pauses == [[30], [15]], str(pauses))


def sweeps() -> None:
    """A sweep beside a load of its own kind runs, from flags and from a file."""
    file = "model_names: m\nanalyze: {concurrency: {start: 1, stop: 2}}\nperf_analyzer: {stimulus: {concurrency: 1}}\n"
    with tempfile.TemporaryDirectory() as tmp, Mock("--ttft", "2ms", "--itl", "1ms") as mock:
        name = Path(tmp) / "c.yaml"
        name.write_text(file + f"endpoint: {{type: chat, url: '{mock.url([])}'}}\ntokenizer: {{name: {TOKENIZER}}}\ninput: {{num_dataset_entries: 3}}\n")
        flags = ["analyze", "-m", "m", "--endpoint-type", "chat", "--sweep-type", "concurrency", "--sweep-range", "1:2", "--concurrency", "1", "-u", mock.url([]), *SMALL]
        for title, args in (("flags", flags), ("a file", ["config", "-f", str(name), "--override-config"])):
            names = []
            for side, run in (("real", real), ("ours", ours)):
                result = run([*args, "--artifact-dir", f"{tmp}/{title}/{side}"])
                names.append((result.code, sorted(p.parent.name for p in (Path(tmp) / title / side).rglob("profile_export.json"))))
            check(f"(d) a sweep beside a load, of {title}", names[0] == names[1] and len(names[0][1]) == 2, str(names))


class Triton:
    """A real server, with a model like vLLM's."""

    def __enter__(self) -> "Triton":
        self.dir = Path(tempfile.mkdtemp())
        shutil.copytree(HERE / "internal/testkit/triton/testdata/models", self.dir / "models")
        self.http, self.grpc = free_port(), free_port()
        self.process = subprocess.Popen(
            [TRITON / "tritonserver", f"--model-repository={self.dir / 'models'}", "--model-control-mode=explicit", "--load-model=vllm_model",
             "--http-address=127.0.0.1", f"--http-port={self.http}", "--grpc-address=127.0.0.1", f"--grpc-port={self.grpc}", "--allow-metrics=false",
             "--exit-timeout-secs=2", f"--backend-config=python,shm-region-prefix-name=genai{os.getpid()}"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(600):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.http}/v2/health/ready", timeout=5).close()
                return self
            except OSError:
                time.sleep(0.2)
        raise TimeoutError("Triton does not start")

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.dir)


def sent(where: Path) -> list:
    """What the files say of the first request, without the words of its prompt."""
    request = load("profile_export.json", where)["experiments"][0]["requests"][0]
    inputs, first = request["request_inputs"], load("inputs.json", where)["data"][0]
    payload = json.loads(inputs.pop("payload", "{}"))
    return [json.loads(json.dumps(part), object_hook=lambda o: {k: "TEXT" if k == "text_input" else v for k, v in o.items()})
            for part in (inputs, payload, first)] + [sorted(o) for o in request["response_outputs"] if "response" not in o]


def triton() -> None:
    if not (TRITON / "tritonserver").exists():
        print(f"no Triton in {TRITON}: what is sent to one is not compared")
        return
    with Triton() as server:
        for name, args in {
            "vllm": ["--backend", "vllm", "--streaming"],
            "vllm, whole answers": ["--backend", "vllm"],
            "vllm, an echo": ["--backend", "vllm", "--extra-inputs", "exclude_input_in_output:false"],
            "vllm, no shorter": ["--backend", "vllm", "--streaming", "--output-tokens-mean-deterministic"],
            "generate": ["--endpoint-type", "generate"],
        }.items():
            with tempfile.TemporaryDirectory() as tmp:
                url = f"127.0.0.1:{server.http if 'generate' in args else server.grpc}"
                line = ["profile", "-m", "vllm_model", *args, "-u", url, *SMALL, "--osl", "8", "--request-count", "6", "--artifact-dir"]
                runs = real([*line, f"{tmp}/real"]), ours([*line, f"{tmp}/ours", "--faithful"])
                if not all(r.measured() for r in runs):
                    check(f"(d) Triton, {name}: both measure", False, runs[0].out[-1000:] + runs[1].out[-1000:])
                    continue
                a, b = (sent(Path(tmp) / side) for side in ("real", "ours"))
                check(f"(d) Triton, {name}: what is sent", a == b, f"real {a}\nours {b}")
                a, b = (figures(Path(tmp) / side)["output_sequence_length"] for side in ("real", "ours"))
                check(f"(d) Triton, {name}: tokens of answers", a == b, f"real {a}\nours {b}")


def run() -> None:
    exit_codes()
    settings()
    more()
    inputs()
    sweeps()
    triton()
