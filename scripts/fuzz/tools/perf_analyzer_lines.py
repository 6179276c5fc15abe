"""Lines of perf_analyzer such as people type, from a seed, for the models of a repository."""
import base64
import json
import random
import tempfile
from pathlib import Path

import models
from line import Line

NUMBERS = {"INT8": (-128, 127), "INT16": (-32768, 32767), "INT32": (-9, 99999), "INT64": (-9, 2**40), "UINT8": (0, 255), "UINT16": (0, 65535), "UINT32": (0, 2**31), "UINT64": (0, 2**40)}


def pick(rng: random.Random, weights: dict):
    return rng.choices(list(weights), list(weights.values()))[0]


def line(seed: int, repository: int) -> Line:
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as tmp:
        found = models.make(repository, Path(tmp))
    weights = {"plain": 1, "versions": 1, "cached": 2, "ensemble": 3, "stream": 2, "sequence": 2, "refuses": 1}
    model = rng.choices(found, [weights[m.kind] for m in found])[0]
    out = Line("perf_analyzer", seed)
    out.server = {"repository": repository, "kind": model.kind}
    protocol = "grpc" if model.kind == "stream" else rng.choice(["grpc", "http"])
    scheme = rng.choice(["http://", "grpc://", "https://"]) if rng.random() < 0.02 else ""
    slash = "/" if rng.random() < 0.01 else ""
    out.flags = [["-m", model.name], ["-u", scheme + "{" + protocol + "}" + slash]]
    if protocol == "grpc" or rng.random() < 0.5:
        out.flags.append(["-i", protocol if rng.random() < 0.9 else protocol.upper()])
    if model.kind == "stream" or protocol == "grpc" and rng.random() < 0.15:
        out.flags.append(["--streaming"])
        out.flags.append(["--async"])
    elif rng.random() < 0.4:
        out.flags.append([rng.choice(["--async", "-a", "--sync"])])
    shapes(rng, out, model)
    data(rng, out, model)
    load(rng, out, model)
    extras(rng, out, model, protocol)
    fresh(out, model)
    odder(rng, out)
    out.faithful = rng.random() < 0.4
    return out


def fresh(out: Line, model) -> None:
    """Has the strings of a line be its own: a cache may have those of the lines before, and strings that are drawn are new to it."""
    words = out.words()
    if model.kind in ("cached", "ensemble") and any(kind == "STRING" for _, kind, _, _ in model.inputs) and "data.json" not in words and "--string-data" not in words:
        out.flags.append(["--string-data", f"s{out.seed}"])


def shapes(rng: random.Random, out: Line, model) -> None:
    for name, _, dims, _ in model.inputs:
        if -1 in dims and rng.random() < 0.93:
            out.flags.append(["--shape", f"{name}:{','.join(str(3 if d < 0 else d) for d in dims)}"])


LONG = {"-p": "--measurement-interval", "-s": "--stability-percentage", "-l": "--latency-threshold", "-a": "--async"}
SHORTER = {"--measurement-mode": "--measurement-m", "--percentile": "--perc", "--verbose-csv": "--verb", "--max-trials": "--max-tr", "--profile-export-file": "--prof", "--max-threads": "--max"}
READ = ("--request-count", "--input-data", "--string-data", "--sequence-length", "--sequence-length-variation")  # by the comparison


def odder(rng: random.Random, out: Line) -> None:
    """Other ways to say the same, options given twice, and those of old."""
    for f in out.flags:
        if f[0] in LONG and rng.random() < 0.2:
            f[0] = LONG[f[0]]
        elif f[0] in SHORTER and rng.random() < 0.1:
            f[0] = SHORTER[f[0]]
        if len(f) == 2 and f[0].startswith("--") and f[0] not in READ and rng.random() < 0.1:
            f[:] = [f"{f[0]}={f[1]}"]
    if rng.random() < 0.04:
        out.flags.append(list(rng.choice(out.flags)))
    if rng.random() < 0.06:
        name, values = rng.choice(ODD)
        out.flags.insert(rng.randrange(len(out.flags) + 1), [name, rng.choice(values)] if values else [name])


WRONG = ["0", "-1", "x", "", "3x"]
WHOLE = [*WRONG, "1", "5", "1.5", " 4", "99"]
ODD = [(n, WHOLE) for n in ("--max-threads", "--sequence-length", "--percentile", "-r", "--max-trials", "--string-length", "--num-of-sequences", "--output-shared-memory-size", "--measurement-request-count",
                            "--sequence-length-variation", "--request-period", "--request-count", "--warmup-request-count", "-b", "-t", "-c", "--trace-count", "--log-frequency", "--metrics-interval", "--session-concurrency")]
ODD += [(n, WRONG) for n in ("-p", "--measurement-interval", "-l", "--latency-threshold", "-s")]  # of others it depends on the machine what comes of them
ODD += [(n, ["1", "1:2", "2:1", "0", "0:2", "1:2:0", "1:2:3:4", "x", "1:x", "", "1:", "1.5:2.5:0.5"]) for n in ("--concurrency-range", "--request-rate-range", "--sequence-id-range", "--periodic-concurrency-range")]
ODD += [("--shape", ["a:1", "a:0", "a:1,,2", "a", "a:", "a:x", "a:b:3"]), ("--data-directory", ["nope"]), ("--input-data", ["nope", ""]), ("--request-distribution", ["x"]), ("--request-intervals", ["nope"]), ("--shared-memory", ["x"]),
        ("--service-kind", ["openai", "x"]), ("--model-signature-name", ["x"]), ("--grpc-compression-algorithm", ["gzip", "x"]), ("--measurement-mode", ["x"]), ("--trace-level", ["OFF", "x"]), ("--metrics-url", ["localhost:1"]),
        ("--input-tensor-format", ["x"]), ("--output-tensor-format", ["json", "x"]), ("--profile-export-file", ["data.json"]), ("--request-parameter", ["a:x:int", "a:b", "a::string", "a:1:float"]), ("-i", ["rpc", ""]), ("-H", ["a:b", "a"]),
        ("--ssl-https-verify-peer", ["1", "2"]), ("--ssl-https-verify-host", ["0", "3"]), ("--ssl-grpc-root-certifications-file", ["nope"]), ("--ssl-https-client-certificate-type", ["PEM", "x"])]
ODD += [(n, None) for n in ("-z", "-d", "-v", "--version", "--help", "stray", "-q", "--enable-mpi", "--streaming", "--sync", "--binary-search", "--fixed-schedule", "--serial-sequences", "--nonsense", "--max", "--async=1")]


def value(rng: random.Random, kind: str) -> object:
    if kind == "STRING":
        return rng.choice(["a", "", "two words", "é\n\"q\"", "x" * 30])
    if kind == "BOOL":
        return rng.random() < 0.5
    if kind.startswith("FP"):
        return rng.choice([0.5, 1.0, -2.25, 1e-3])
    return rng.randint(*NUMBERS[kind])


def data(rng: random.Random, out: Line, model) -> None:
    how = pick(rng, {"file": 58, "directory": 3, "zero": 15, "random": 8, "none": 17})
    if how == "directory":
        directory(rng, out, model)
    if how in ("zero", "random"):
        out.flags.append(["--input-data", how])
    if how != "file":
        return
    steps = []
    for _ in range(rng.choice([1, 2, 3, 5])):
        step = {}
        for name, kind, dims, optional in model.inputs:
            if optional and rng.random() < 0.4:
                continue
            n = 1
            for d in dims:
                n *= 3 if d < 0 else d
            numbers = [rng.randint(0, 3) if model.kind == "stream" and kind == "INT32" else value(rng, kind) for _ in range(n)]
            step[name] = odd(rng, kind, numbers, [3 if d < 0 else d for d in dims])
        if rng.random() < 0.02:
            step["NOPE"] = [1]
        if rng.random() < 0.02:
            step.pop(model.inputs[-1][0], None)
        steps.append(step)
    form = pick(rng, {"steps": 80, "streams": 11, "empty": 1, "validated": 8})
    content: dict = {"data": steps}
    if form == "streams":
        content = {"data": [steps, list(reversed(steps))]}
    elif form == "empty":
        content = {"data": []}
    elif form == "validated" and len(model.inputs) == 1:
        content["validation_data"] = [{k.replace("I", "O"): v for k, v in s.items()} for s in steps]
        if rng.random() < 0.2:
            content["validation_data"] = rng.choice([content["validation_data"][1:], list(reversed(content["validation_data"])), [], {}, content["validation_data"] * 2])
    text = json.dumps(content)
    out.files["data.json"] = ("\ufeff" + text) if rng.random() < 0.02 else text
    out.flags.append(["--input-data", "data.json"])
    if rng.random() < 0.04:
        out.files["more.json"] = json.dumps({"data": list(reversed(content["data"]))})
        out.flags.append(["--input-data", "more.json"])


SIZES = {"BOOL": 1, "INT8": 1, "UINT8": 1, "INT16": 2, "UINT16": 2, "FP16": 2, "INT32": 4, "UINT32": 4, "FP32": 4, "INT64": 8, "UINT64": 8, "FP64": 8}


def directory(rng: random.Random, out: Line, model) -> None:
    """A file for each input, and now and then one for an output, one too short, or one for nothing."""
    for name, kind, dims, _ in model.inputs:
        n = 1
        for d in dims:
            n *= 3 if d < 0 else d
        body = b"".join(b"word %d\n" % i for i in range(n)) if kind == "STRING" else bytes([1, *[0] * (SIZES[kind] - 1)]) * n
        out.files[f"tensors/{name}"] = "base64:" + base64.b64encode(body[1:] if rng.random() < 0.05 else body).decode()
    if rng.random() < 0.1:
        out.files["tensors/" + rng.choice(["O0", "NOPE"])] = "x"
    out.flags.append([rng.choice(["--input-data", "--input-data", "--data-directory"]), "tensors"])


def odd(rng: random.Random, kind: str, numbers: list, dims: list) -> object:
    """A tensor, now and then in another form or with a value that does not fit."""
    form = pick(rng, {"list": 80, "content": 8, "b64": 3, "short": 2, "range": 2, "scalar": 2, "text": 1, "nested": 1, "null": 1, "shape": 2, "plain content": 1, "whole": 1, "part": 1})
    if form == "content":
        return {"content": numbers, "shape": dims}
    if form == "b64" and kind != "STRING":
        return {"b64": base64.b64encode(bytes(8 * len(numbers))).decode()}
    if form == "short":
        return numbers[:-1]
    if form == "range" and kind in NUMBERS:
        return [NUMBERS[kind][1] + 300] * len(numbers)
    if form == "scalar":
        return numbers[0]
    if form == "nested":
        return [numbers[:1], numbers[1:]]
    if form == "null":
        return rng.choice([None, [None] * len(numbers)])
    if form == "shape":
        return {"content": numbers, "shape": rng.choice([[len(numbers)], [*dims[:-1], dims[-1] + 1], [], [0], [-1]])}
    if form == "plain content":
        return {"content": numbers}
    if form == "whole" and kind.startswith("FP"):
        return [1] * len(numbers)
    if form == "part" and kind in NUMBERS:
        return [1.5] * len(numbers)
    if form == "text" and kind != "STRING":
        return ["x"] * len(numbers)
    return numbers


def load(rng: random.Random, out: Line, model) -> None:
    kind = pick(rng, {"none": 20, "concurrency": 40, "range": 10, "rate": 18, "intervals": 6, "periodic": 2, "search": 3, "schedule": 3, "both": 1})
    if kind == "search":
        out.flags += [["--concurrency-range", rng.choice(["1:4", "1:3:2", "2:6:1"])], ["-l", rng.choice(["5000", "5000", "1"])], ["--binary-search"]]
    if kind == "schedule":
        schedule(rng, out)
    if kind in ("concurrency", "both"):
        out.flags.append(["--concurrency-range", rng.choice(["1", "2", "3", "4"])])
    if kind == "range":
        out.flags.append(["--concurrency-range", rng.choice(["1:2", "1:3:2", "2:4:2", "1:2:1", "2:3"] if rng.random() < 0.9 else ["3:1", "0:2", "1:3:0", "x", "1:2:3:4", "2:0"])])
    if kind in ("rate", "both"):
        out.flags.append(["--request-rate-range", rng.choice(["20", "30.5", "10:20:10", "40"] if rng.random() < 0.93 else ["0", "-5", "20:10", "x"])])
        if rng.random() < 0.3:
            out.flags.append(["--request-distribution", rng.choice(["poisson", "constant"])])
    if kind == "intervals":
        out.files["intervals.txt"] = "".join(f"{rng.choice([20000, 40000, 60000])}\n" for _ in range(5))
        out.flags.append(["--request-intervals", "intervals.txt"])
    if kind == "periodic":
        out.flags += [["--periodic-concurrency-range", "1:3:1"], ["--request-period", "2"]]
    ends = pick(rng, {"count": 55, "windows": 30, "counted-windows": 10, "default": 0})
    if kind == "schedule":
        return
    if ends == "count" and kind not in ("range", "search"):
        out.flags.append(["--request-count", rng.choice(["5", "8", "40"] if kind not in ("rate", "intervals") or rng.random() < 0.1 else ["40", "50"])])
    elif ends == "counted-windows":
        out.flags += [["--measurement-mode", "count_windows"], ["--measurement-request-count", "10"], ["-s", "99999"]]
    else:
        waits = model.kind == "sequence" and kind in ("rate", "intervals")  # for one another: windows with few requests
        out.flags += [["-p", rng.choice(["300", "500"] if not waits else ["800"])], ["-s", "99999"]]
    if model.kind == "sequence":
        if rng.random() < 0.7:
            out.flags.append(["--sequence-length", rng.choice(["2", "4"])])
        if rng.random() < 0.3:
            out.flags.append(["--sequence-length-variation", "0"])
        if rng.random() < 0.3:
            out.flags.append(["--sequence-id-range", rng.choice(["100:110", "5", "100:103"] if rng.random() < 0.9 else ["0", "10:5", "x"])])
        if rng.random() < 0.2:
            out.flags.append(["--num-of-sequences", "3"])


def schedule(rng: random.Random, out: Line) -> None:
    """Moments for the entries of the data, at which each is sent once."""
    out.flags.append(["--fixed-schedule"])
    if "data.json" in out.files and out.files["data.json"].startswith("{"):
        content, at = json.loads(out.files["data.json"]), 0
        for step in content["data"]:
            if isinstance(step, dict):
                step["timestamp"], at = [at], at + rng.choice([0, 20, 60])
        out.files["data.json"] = json.dumps(content)


def extras(rng: random.Random, out: Line, model, protocol: str) -> None:
    for chance, make in (
            (0.5, lambda: ["-f", rng.choice(["out.csv", "latency.csv"])]),
            (0.45, lambda: ["--profile-export-file", "export.json"]),
            (0.25, lambda: ["--verbose-csv"]),
            (0.12, lambda: ["--percentile", rng.choice(["95", "50", "99", "75", "90"] if rng.random() < 0.9 else ["0", "100", "-1", "99.5"])]),
            (0.12, lambda: ["-b", rng.choice(["1", "2", "4"] if rng.random() < 0.85 else ["9", "0", "x"])]),
            (0.1, lambda: ["--warmup-request-count", "3"]),
            (0.1, lambda: ["-v"]),
            (0.08, lambda: ["--string-length", "5"] if rng.random() < 0.5 else ["--string-data", "abc"]),
            (0.07, lambda: ["--max-threads", rng.choice(["1", "4"])]),
            (0.07, lambda: ["--shared-memory", rng.choice(["none", "system", "system"])]),
            (0.02, lambda: ["--output-shared-memory-size", rng.choice(["1000", "100000"])]),
            (0.05, lambda: ["--request-parameter", rng.choice(["a:1:int", "b:x:string", "c:true:bool"] if rng.random() < 0.85 else ["d:1", "e:x:int", ":1:int", "f:1:bool", "g:1.5:double"])]),
            (0.05, lambda: ["-H", "x-team:a"]),
            (0.05, lambda: ["-x", rng.choice(["1", "2", "7", ""])]),
            (0.05, lambda: ["--input-tensor-format", rng.choice(["json", "binary"])]),
            (0.05, lambda: ["--output-tensor-format", rng.choice(["json", "binary"])]),
            (0.04, lambda: ["--grpc-compression-algorithm", rng.choice(["gzip", "none", "deflate"])]),
            (0.04, lambda: ["-l", rng.choice(["1000", "1"])]),
            (0.03, lambda: ["--max-trials", "3"]),
            (0.03, lambda: ["--bls-composing-models", "first,second"]),
            (0.02, lambda: ["--serial-sequences"]),
            (0.02, lambda: ["--service-kind", rng.choice(["triton", "openai"])]),
            (0.02, lambda: ["--shape", "NOPE:3"]),
            (0.02, lambda: ["--trace-level", rng.choice(["TIMESTAMPS", "OFF"])]),
            (0.01, lambda: ["--trace-rate", rng.choice(["1", "1000"])]),
            (0.01, lambda: ["--collect-metrics"]),
            (0.01, lambda: ["-m", rng.choice(["nope", "plain0"])]),
            (0.01, lambda: ["-u", "127.0.0.1:1"]),
            (0.01, lambda: ["-v", "-v"]),
            (0.01, lambda: ["--nonsense"])):
        if rng.random() < chance:
            out.flags.append(make())
