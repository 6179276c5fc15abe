"""Holds inferometer's perf_analyzer against the real one on models of many kinds.

usage: perf-analyzer-models.py INFEROMETER PEERS TRITON DIRECTORY

It writes models, starts a Triton with them, and lets both tools run the same command lines:
exports must hold the same inputs and outputs, name by name and value by value; statistics of
several loaded versions must be of the same models; responses without text and requests without
a response must count alike; caches inside ensembles, steps that keep state and few sequence ids
must show alike in reports and CSV files.
"""
import json
import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path

INFEROMETER, PEERS, TRITON, DIR = sys.argv[1], Path(sys.argv[2]).resolve(), Path(sys.argv[3]), Path(sys.argv[4]) / "kinds"
TOOLS = {"original": [str(PEERS / "perf_analyzer" / "perf_analyzer")], "ours": [INFEROMETER, "perf_analyzer"]}
FAILED: list[str] = []

HEAD = """import time, numpy as np
import triton_python_backend_utils as pb
def value(r, name, default):
    t = pb.get_input_tensor_by_name(r, name)
    return default if t is None else t.as_numpy().flatten()[0]
class TritonPythonModel:
    def execute(self, requests):
"""
VERSION = HEAD + """        time.sleep(%d / 1000)
        return [pb.InferenceResponse(output_tensors=[pb.Tensor("OUT", pb.get_input_tensor_by_name(r, "IN").as_numpy() * %d)]) for r in requests]
"""
CALLS = HEAD + """        asked = [pb.InferenceRequest(model_name="versions", inputs=[pb.get_input_tensor_by_name(r, "IN")], requested_output_names=["OUT"]).exec() for r in requests]
        return [pb.InferenceResponse(output_tensors=[pb.get_output_tensor_by_name(a, "OUT")]) for a in asked]
"""
MANY = HEAD + """        out = []
        for r in requests:
            f, s = (pb.get_input_tensor_by_name(r, n).as_numpy() for n in "FS")
            n = f.shape[0]
            rows = lambda values, kind: np.tile(np.array([values], kind), (n, 1))
            out.append(pb.InferenceResponse(output_tensors=[pb.Tensor("OF", f * 2), pb.Tensor("OS", s), pb.Tensor("OD", rows([0.1, 1e300], np.float64)),
                pb.Tensor("OI", rows([-1, 0, 7], np.int8)), pb.Tensor("OU", rows([2**64 - 1], np.uint64)), pb.Tensor("OB", rows([True, False], bool))]))
        return out
"""
STREAM = HEAD + """        for r in requests:
            sender = r.get_response_sender()
            for i in range(int(value(r, "N", 0))):
                time.sleep(0.01)
                word = b"" if value(r, "EMPTY", False) else b"w%d" % i
                sender.send(pb.InferenceResponse(output_tensors=[pb.Tensor("VALUE", np.array([i, i / 3], np.float32)), pb.Tensor("WORD", np.array([word], np.object_))]))
            time.sleep(0.01)
            sender.send(flags=pb.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
        return None
"""


def tensors(kind: str, *all: tuple[str, str, int, bool]) -> str:
    return kind + " [" + ", ".join(f'{{ name: "{n}" data_type: TYPE_{t} dims: [ {d} ] optional: {str(o).lower()} }}' if kind == "input" else
                                   f'{{ name: "{n}" data_type: TYPE_{t} dims: [ {d} ] }}' for n, t, d, o in all) + "]\n"


def model(name: str, text: str, versions: dict[int, str], batch: int = 0) -> None:
    for version, code in versions.items():
        place = DIR / "models" / name / str(version)
        place.mkdir(parents=True)
        (place / "model.py").write_text(code)
    (DIR / "models" / name / "config.pbtxt").write_text(f'name: "{name}"\nmax_batch_size: {batch}\n{text}')


def models() -> list[str]:
    one = lambda *t: tensors("input", ("IN", "FP32", 4, False)) + tensors("output", ("OUT", "FP32", 4, False))
    every = 'version_policy { all {} }\n'
    python = 'backend: "python"\ninstance_group [ { count: 1 kind: KIND_CPU } ]\n'
    model("versions", python + every + one(), {v: VERSION % (4 * v, v) for v in (1, 2, 3)})

    def ensemble(name: str, *steps: tuple[str, int], versions: tuple[int, ...] = (1,)) -> None:
        at = ["IN", *(f"t{i}" for i in range(len(steps) - 1)), "OUT"]
        text = ", ".join(f'{{ model_name: "{m}" model_version: {v} input_map {{ key: "IN" value: "{at[i]}" }} output_map {{ key: "OUT" value: "{at[i + 1]}" }} }}'
                         for i, (m, v) in enumerate(steps))
        model(name, f'platform: "ensemble"\n{every}{one()}ensemble_scheduling {{ step [ {text} ] }}\n', dict.fromkeys(versions, ""))

    ensemble("latest", ("versions", -1))
    ensemble("second", ("versions", 2))
    ensemble("both", ("versions", 1), ("versions", 3))
    ensemble("twice", ("versions", -1), versions=(1, 2))
    ensemble("nested", ("twice", -1), ("both", -1), ("second", -1))
    model("kept", python + "response_cache { enable: true }\n" + one(), {1: VERSION % (4, 1)})
    ensemble("partly", ("versions", -1), ("kept", -1))
    ensemble("deep", ("partly", -1), ("versions", -1))
    model("calls", python + one(), {1: CALLS})
    control = ", ".join(f'{{ name: "{n}" control [ {{ kind: CONTROL_SEQUENCE_{n} int32_false_true: [ 0, 1 ] }} ] }}' for n in ("START", "END"))
    model("state", python + one() + f"sequence_batching {{ max_sequence_idle_microseconds: 60000000 direct {{ }} control_input [ {control} ] }}\n", {1: VERSION % (4, 1)}, batch=4)
    model("stated", f'platform: "ensemble"\n{one()}ensemble_scheduling {{ step [ {{ model_name: "state" model_version: -1 input_map {{ key: "IN" value: "IN" }} output_map {{ key: "OUT" value: "OUT" }} }} ] }}\n', {1: ""}, batch=4)
    model("many", python + tensors("input", ("F", "FP32", -1, False), ("S", "STRING", -1, False), ("B", "BOOL", 1, True), ("I", "INT64", 2, True)) +
          tensors("output", ("OF", "FP32", -1, False), ("OS", "STRING", -1, False), ("OD", "FP64", 2, False), ("OI", "INT8", 3, False), ("OU", "UINT64", 1, False), ("OB", "BOOL", 2, False)),
          {1: MANY}, batch=8)
    model("stream", 'backend: "python"\ninstance_group [ { count: 4 kind: KIND_CPU } ]\nmodel_transaction_policy { decoupled: true }\n' +
          tensors("input", ("N", "INT32", 1, False), ("EMPTY", "BOOL", 1, True)) + tensors("output", ("VALUE", "FP32", 2, False), ("WORD", "STRING", 1, False)), {1: STREAM})
    return ["versions", "latest", "second", "both", "twice", "nested", "kept", "partly", "deep", "calls", "state", "stated", "many", "stream"]


def data(name: str, *steps: dict) -> list[str]:
    (DIR / name).write_text(json.dumps({"data": steps}))
    return ["--input-data", str(DIR / name)]


def run(tool: str, args: list[str]) -> tuple[int, str]:
    done = subprocess.run([*TOOLS[tool], *args], cwd=DIR, capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout + done.stderr


def check(name: str, ok: bool, *why: object) -> None:
    print(f"  {'ok  ' if ok else 'FAIL'} {name}", flush=True)
    if not ok:
        FAILED.append(name)
        print(*("       " + str(w) for w in why), sep="\n")


def export(name: str, args: list[str], *own: str) -> None:
    """Both exports have the same requests; own are arguments for ours alone."""
    seen = {}
    for tool in TOOLS:
        file = DIR / f"{tool}.json"
        file.unlink(missing_ok=True)
        code, text = run(tool, [*args, *(own if tool == "ours" else ()), "--profile-export-file", str(file)])
        if code or not file.exists():
            return check(name, False, f"{tool}: exit code {code}", text[-800:])
        found = [json.dumps([r["request_inputs"], r["response_outputs"]], sort_keys=True) for e in json.loads(file.read_text())["experiments"] for r in e["requests"]]
        seen[tool] = sorted(set(found)), len(found)
    check(name, seen["original"] == seen["ours"], *seen.items())


def figures(text: str) -> list[str]:
    """The lines of a report about servers and their models, without numbers but versions."""
    after = text.partition("Server:")[2].partition("Inferences/Second")[0]
    lines = [re.sub(r"\b\d+ usec", "N usec", l).rstrip() for l in after.splitlines() if l.strip()]
    return [re.sub(r"(count): \d+", r"\1: N", l) for l in lines]


def beside(name: str, args: list[str], *same: str) -> None:
    """Both run the line: exit codes, lines about the server, these lines of the report, and the first rows of the CSV files are alike."""
    seen = {}
    for tool in TOOLS:
        for file in DIR.glob("*.csv"):
            file.unlink()
        code, text = run(tool, [*args, "-f", "levels.csv"])
        lines = [re.sub(r"[\d.]+", "N", l) for l in text.splitlines() if any(s in l for s in same)]
        seen[tool] = [code, *figures(text), *lines, *sorted(f"{f.name}: {f.read_text().splitlines()[0]}" for f in DIR.glob("*.csv"))]
    check(name, seen["original"] == seen["ours"] and seen["ours"][0] == 0, *seen.values())


def main(grpc: str, http: str) -> None:
    g, h = ["-u", grpc, "-i", "grpc"], ["-u", http, "-i", "http"]
    many = data("many.json", {"F": [1.5, 0.1, 3.0], "S": ["a", "bcd"], "B": [True], "I": [1, -9000000000]}, {"F": [1.5e10, -0.1, 1e-7], "S": ["x\u00e9\n\"q\"", ""], "B": [False], "I": [5, 6]})
    one = data("one.json", {"F": [1.5], "S": ["a word"], "B": [True], "I": [1, 2]})
    shapes = ["--shape", "F:3", "--shape", "S:2"]
    single = ["--shape", "F:1", "--shape", "S:1"]
    streams = ["-m", "stream", *g, "--async", "--streaming"]
    print("\nexports, held against the original's")
    export("many outputs, over gRPC", ["-m", "many", *g, *one, *single, "--request-count", "4"])
    export("many outputs, over HTTP", ["-m", "many", *h, *one, *single, "--request-count", "4"])
    export("several strings in a tensor, batches, with --faithful", ["-m", "many", *h, *many, *shapes, "-b", "2", "--request-count", "4"], "--faithful")
    export("zeros made up by the tool", ["-m", "versions", *g, "--input-data", "zero", "--request-count", "3"])
    export("a decoupled model, with empty texts and without a response", [*streams, *data("stream.json", {"N": [3]}, {"N": [2], "EMPTY": [True]}, {"N": [0]}), "--request-count", "6"])
    print("\ndata that the original does not take")
    for what, value in {"whole numbers for FP32": [1, 2, 3, 4], "lists in lists": [[1.5, 2.5, 3.5, 4.5]]}.items():
        got = {tool: run(tool, ["-m", "versions", *g, *data("forms.json", {"IN": value}), "--request-count", "2"]) for tool in TOOLS}
        check(f"{what}: exit code 99", [c for c, _ in got.values()] == [99, 99], got)
    print("\nresponses without text, and none at all")
    empty = data("empty.json", {"N": [3], "EMPTY": [True]})
    said = {tool: run(tool, [*streams, *empty, "--concurrency-range", "2", "-p", "1500", "-s", "999"])[1] for tool in TOOLS}
    per = {t: float(re.search(r"Response Throughput: ([\d.]+)", s).group(1)) / float(re.search(r" Throughput: ([\d.]+)", s).group(1)) for t, s in said.items()}
    check("three responses for each request", all(abs(n - 3) < 0.05 for n in per.values()), per)
    for args in (["-p", "600", "-s", "999"], ["--request-count", "5"]):
        got = {tool: run(tool, [*streams, *data("none.json", {"N": [0]}), *args]) for tool in TOOLS}
        check(f"no valid requests recorded, exit code 3 ({' '.join(args)})", all(c == 3 and "No valid requests recorded" in s for c, s in got.values()), got)
    print("\nstatistics of several loaded versions")
    for name in ("versions", "latest", "second", "both", "twice", "nested"):
        got = {tool: figures(run(tool, ["-m", name, *g, "-p", "700", "-s", "999"])[1]) for tool in TOOLS}
        check(f"{name}: the same models and versions", got["original"] == got["ours"] and len(got["ours"]) > 3, *got.values())
    print("\ncaches, and state over sequences")
    for name in ("kept", "partly", "deep"):
        beside(f"{name}: lines and columns of a cache", ["-m", name, *g, "--request-count", "6"])
    beside("a model that is named twice", ["-m", "calls", *g, "--request-count", "6", "--bls-composing-models", "versions,versions"])
    for name in ("state", "stated"):
        beside(f"{name}: sequences", ["-m", name, *g, "--request-count", "12", "--sequence-length", "3"], "synchronous calls", "Sequence count")
    beside("as many ids as sequences", ["-m", "state", *g, "--request-count", "120", "--sequence-id-range", "100:103", "--concurrency-range", "3"], "Sequence count", "ailed")
    print("\ndata in several streams, and given twice")
    (DIR / "streams.json").write_text(json.dumps({"data": [[{"IN": [1.5] * 4}, {"IN": [2.5] * 4}], [{"IN": [3.5] * 4}]]}))
    export("requests that stand alone are those of the first stream", ["-m", "versions", *g, "--input-data", str(DIR / "streams.json"), "--request-count", "5"])
    (DIR / "twice.json").write_text('{"data": [{"IN": [1.5, 1.5, 1.5, 1.5], "IN": [2.5, 2.5, 2.5, 2.5]}]}')
    export("a tensor that is given twice", ["-m", "versions", *g, "--input-data", str(DIR / "twice.json"), "--request-count", "3"])


DIR.mkdir()
loaded = models()
taken = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
ports = [s.getsockname()[1] for s in taken]
for s in taken:
    s.close()
server = subprocess.Popen([TRITON / "tritonserver", f"--model-repository={DIR / 'models'}", "--model-control-mode=explicit", *(f"--load-model={m}" for m in loaded),
                           f"--http-port={ports[0]}", f"--grpc-port={ports[1]}", "--allow-metrics=false", "--exit-timeout-secs=2", "--cache-config=local,size=1048576",
                           f"--backend-config=python,shm-region-prefix-name=kinds{os.getpid()}"], stdout=open(DIR / "triton.log", "w"), stderr=subprocess.STDOUT)
try:
    for _ in range(600):
        if "Started HTTPService" in (DIR / "triton.log").read_text():
            break
        if server.poll() is not None:
            sys.exit("Triton did not start:\n" + (DIR / "triton.log").read_text()[-3000:])
        time.sleep(0.2)
    main(f"127.0.0.1:{ports[1]}", f"127.0.0.1:{ports[0]}")
finally:
    server.terminate()
    server.wait()
print(f"\n{len(FAILED)} checks failed" + "".join(f"\n  {name}" for name in FAILED))
sys.exit(1 if FAILED else 0)
