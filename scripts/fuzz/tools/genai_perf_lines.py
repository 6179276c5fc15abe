"""Lines of genai-perf such as people type, from a seed.

The flags come from the tool's own parser. Those below have values that make sense; any other
gets one by its type, so that nothing is forgotten.
"""
import json
import random

from line import TOKENIZER, URL, Line
from server import FEATURES

WORDS = "what why is tell me about sorting networks rivers in spring seven reasons to write a short poem on rust 12 + 30 and then".split()
TYPES = {"chat": 45, "completions": 16, "embeddings": 8, "rankings": 4, "generate": 7, "huggingface_generate": 6, "multimodal": 3, "vision": 3,
         "image_retrieval": 2, "nvclip": 2, "template": 2, "tensorrtllm_engine": 1, "dynamic_grpc": 1}
# How often a type is asked to stream. Ours streams those of generate, too, and then little of a line is alike.
STREAMED = {"chat": 0.7, "completions": 0.7, "multimodal": 0.7, "vision": 0.7, "generate": 0.15, "huggingface_generate": 0.15}
PIXEL = "base64:iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def pick(rng: random.Random, weights: dict):
    return rng.choices(list(weights), list(weights.values()))[0]


def prompt(rng: random.Random) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(rng.choice([1, 2, 3, 5, 8, 13, 21, 60])))


def line(seed: int, options: dict) -> Line:
    rng = random.Random(seed)
    out = Line("genai-perf", seed)
    out.command = [pick(rng, {"profile": 90, "analyze": 6, "config": 2, "create-template": 1, "process-export-files": 1})]
    out.faithful = rng.random() < 0.25
    if out.command[0] in ("create-template", "process-export-files"):
        if rng.random() < 0.5:
            out.flags.append(odd(rng, options[out.command[0]]))
        return out
    kind = pick(rng, TYPES)
    out.flags = [["-m", *pick(rng, {("m",): 9, ("org/model-1b",): 2, ("m", "n"): 1})], ["--endpoint-type", kind], ["-u", URL], ["--tokenizer", TOKENIZER]]
    if rng.random() < STREAMED.get(kind, 0):
        out.flags.append(["--streaming"])
    data(rng, out, kind)
    load(rng, out)
    extras(rng, out, kind)
    if out.command[0] == "analyze":
        sweep(rng, out)
    if rng.random() < 0.2:
        out.flags.append(odd(rng, options[out.command[0]]))
    if rng.random() < 0.07:
        out.tail = [rng.choice([["--concurrency-range", "2"], ["--max-threads", "4"], ["--request-count", "8"], ["-H", "x:y"], ["-v"], ["--stability-percentage", "50"],
                                ["--request-parameter", "a:1:int"], ["--nonsense"], ["--warmup-request-count", "2"], ["-p", "300"], ["--request-distribution", "poisson"]])]
    out.server = features(rng)
    if "thinking" in out.server and rng.random() < 0.6:
        out.faithful = True  # else little of what comes of it is alike
    if out.command[0] == "config":
        as_file(out)
    return out


def data(rng: random.Random, out: Line, kind: str) -> None:
    """Where prompts come from: mostly a file, since only then both send the same."""
    if kind == "rankings":
        if rng.random() < 0.5:
            out.files = {"in/queries.jsonl": texts(rng, 3), "in/passages.jsonl": texts(rng, 4)}
            out.flags.append(["--input-file", "in"])
        else:
            out.flags.append(["--input-file", "synthetic:queries,passages"])
            out.by = "count"
        return
    form = pick(rng, {"file": 60, "synthetic": 30, "payload": 4, "sessions": 4, "directory": 1, "nothing": 1})
    if kind in ("multimodal", "vision", "image_retrieval", "nvclip"):
        form = rng.choice(["pictures", "pictures", "drawn"])
    if form == "file":
        out.files = {"prompts.jsonl": texts(rng, rng.choice([1, 3, 5, 9]), rng.choice(["text", "text", "text", "text_input"]))}
        out.flags.append(["--input-file", "prompts.jsonl"])
    elif form == "pictures":
        image = rng.choice(["dot.png", "dot.png", "http://127.0.0.1/a.png"])
        out.files = {"dot.png": PIXEL, "prompts.jsonl": "".join(json.dumps({"text": prompt(rng), "image": image}) + "\n" for _ in range(3))}
        out.flags.append(["--input-file", "prompts.jsonl"])
    elif form == "drawn":
        out.by = "count"
        out.flags += [["--image-width-mean", "16"], ["--image-height-mean", "8"], ["--num-dataset-entries", "3"], ["--isl", "9"]]
    elif form == "payload":
        at, rows = 0, []
        for i in range(5):
            at += rng.choice([0, 40, 120])
            rows.append({"timestamp": at, "text": prompt(rng), "output_length": rng.choice([4, 9])})
        out.files = {"trace.jsonl": "".join(json.dumps(r) + "\n" for r in rows)}
        out.flags += [["--input-file", "payload:trace.jsonl"], ["--fixed-schedule", "true"]]
    elif form == "sessions":
        out.by = "count"
        out.flags += [["--num-sessions", "3"], ["--session-concurrency", rng.choice(["1", "2"])], ["--session-turns-mean", rng.choice(["1", "2", "3"])],
                      ["--session-turn-delay-mean", rng.choice(["0", "30"])], ["--isl", "12"]]
    elif form == "directory":
        out.files = {"in/prompts.jsonl": texts(rng, 4)}
        out.flags.append(["--input-file", "in"])
    else:
        out.by = "count"
        if form == "synthetic":
            out.flags += [["--isl", rng.choice(["1", "8", "20", "50"])], ["--num-dataset-entries", rng.choice(["1", "3", "5"])]]
            for flag, value, chance in (("--synthetic-input-tokens-stddev", "4", 0.15), ("--random-seed", "7", 0.1), ("--num-prefix-prompts", "2", 0.08)):
                if rng.random() < chance:
                    out.flags.append([flag, value] + ([] if flag != "--num-prefix-prompts" else ["--prefix-prompt-length", "5"]))


def texts(rng: random.Random, n: int, key: str = "text") -> str:
    return "".join(json.dumps({key: prompt(rng)}) + "\n" for _ in range(n))


def load(rng: random.Random, out: Line) -> None:
    words = out.words()
    kind = pick(rng, {"concurrency": 60, "rate": 12, "none": 25, "both": 1})
    if "--fixed-schedule" in words or "--session-concurrency" in words:
        kind = "none"
    if kind in ("concurrency", "both"):
        out.flags.append(["--concurrency", rng.choice(["1", "1", "2", "3", "4"])])
    if kind in ("rate", "both"):
        out.flags.append(["--request-rate", rng.choice(["4", "8", "7.5"])])  # of no more requests than --request-count: that is refused
    ends = pick(rng, {"count": 72, "none": 22, "interval": 4, "both": 1})
    if "--fixed-schedule" in words:
        ends = "none"
    if ends in ("count", "both"):
        out.flags.append([rng.choice(["--request-count", "--request-count", "--num-requests"]), rng.choice(["6", "9", "15"] if kind == "concurrency" else ["9", "15"])])
    if ends in ("interval", "both"):
        out.flags.append([rng.choice(["--measurement-interval", "-p"]), "400"])
    if rng.random() < (0.02 if kind == "rate" else 0.2):  # at a rate the original's warm-up has no end
        out.flags.append([rng.choice(["--warmup-request-count", "--num-warmup-requests"]), rng.choice(["1", "2", "4"])])


def extras(rng: random.Random, out: Line, kind: str) -> None:
    for chance, make in (
            (0.3, lambda: ["--osl", rng.choice(["1", "6", "30"])]),
            (0.05, lambda: ["--output-tokens-stddev", "0"]),
            (0.15, lambda: ["--extra-inputs", rng.choice(["temperature:0.5", "temperature:1.0", "n:2", "ignore_eos:true", "top_p:.9", "neg:-1", "sci:1e-3", "flag",
                                                          '{"a": [1, 2.50], "b": {"c": null}}', "stop:x", "a:b:c", "name:", "s:007", "t:True"])]),
            (0.06, lambda: ["--extra-inputs", rng.choice(["zeta:1", "alpha:2"])]),
            (0.1, lambda: ["--goodput", *rng.choice([["request_latency:1000"], ["request_latency:1"], ["time_to_first_token:5000"], ["inter_token_latency:9"],
                                                     ["time_to_first_token:1000", "inter_token_latency:500"], ["output_token_throughput_per_user:1"], ["nonsense:3"], ["request_latency:-1"]])]),
            (0.1, lambda: rng.choice([["-H", "X-Team:a"], ["--header", "Authorization: Bearer k"], ["-H", "Content-Type:application/json"], ["-H", "nocolon"]])),
            (0.07, lambda: [rng.choice(["--batch-size-text", "--batch-size", "-b"]), rng.choice(["1", "2"])]),
            (0.08, lambda: ["--artifact-dir", rng.choice(["out", "a/b"])]),
            (0.06, lambda: ["--profile-export-file", rng.choice(["mine.json", "mine", "x/y.json"])]),
            (0.05, lambda: ["-v"]),
            (0.03, lambda: ["--model-selection-strategy", rng.choice(["round_robin", "random"])]),
            (0.03, lambda: ["--endpoint", rng.choice(["v1/chat/completions", "/v1/completions", "custom/path"])]),
            (0.03, lambda: ["--stability-percentage", "50"]),
            (0.02, lambda: ["--tokenizer-revision", "main"]),
            (0.02, lambda: ["--enable-checkpointing"]),
            (0.01, lambda: ["--generate-plots"])):
        if rng.random() < chance:
            out.flags.append(make())


def sweep(rng: random.Random, out: Line) -> None:
    out.flags = [f for f in out.flags if f[0] not in ("--concurrency", "--request-rate")]
    kind = pick(rng, {"concurrency": 5, "request_rate": 2, "num_dataset_entries": 1, "input_sequence_length": 1, "batch_size": 1})
    out.flags.append(["--sweep-type", kind])
    out.flags.append(rng.choice([["--sweep-range", "1:2"], ["--sweep-range", "2:4"], ["--sweep-list", "1,3"], ["--sweep-range", "4:8:2"]]))


def odd(rng: random.Random, options: list) -> list:
    """Any flag of the tool, with a value at its bounds or beyond."""
    option = rng.choice(options)
    flag = rng.choice(option["flags"])
    if option["nargs"] == "0":
        return [flag]
    if option["choices"] and rng.random() < 0.8:
        return [flag, str(rng.choice(option["choices"]))]
    values = {"int": ["0", "1", "-1", "2", "7", "1.5", "x"], "float": ["0", "0.5", "-1", "1e3", "nan", "x"], "bool": ["true", "false", ""],
              "positive_integer": ["0", "1", "-1", "2", "x"]}
    return [flag, rng.choice(values.get(option["type"], ["x", "", "a b", "0"]))]


def features(rng: random.Random) -> dict:
    """A server that is plain in most ways, and awkward in a few."""
    weights = {"pieces": 0.4, "choices": 0.08, "answer": 0.3, "usage": 0.3, "role": 0.2, "done": 0.1, "thinking": 0.06, "get": 0.4, "error": 0.08, "connection": 0.15, "frame": 0.12, "lines": 0.12}
    out = {name: rng.choice(found[1:]) for name, found in FEATURES.items() if rng.random() < weights[name]}
    # What ends the original, or leaves it without figures, is rare, since nothing else of such a line is seen.
    for name, value, instead in (("usage", "last", "always"), ("pieces", "split", "together"), ("pieces", "split-slowly", "written-together"), ("lines", "named", "comments")):
        if out.get(name) == value and rng.random() < 0.8:
            out[name] = instead
    return out


def as_file(out: Line) -> None:
    """Turns the flags into the file of `config -f`, as far as it has keys for them."""
    keys = {"--endpoint-type": "endpoint.type", "-u": "endpoint.url", "--streaming": "endpoint.streaming", "--tokenizer": "tokenizer.name", "--input-file": "input.file",
            "--isl": "input.synthetic_tokens.mean", "--osl": "input.output_tokens.mean", "--num-dataset-entries": "input.num_dataset_entries", "--concurrency": "perf_analyzer.stimulus.concurrency",
            "--request-count": "perf_analyzer.measurement.request_count", "--artifact-dir": "output.artifact_directory"}
    tree: dict = {"model_names": ["m"]}
    rest = []
    for f in out.flags:
        if f[0] == "-m":
            continue
        if f[0] not in keys:
            rest.append(f)
            continue
        at = tree
        *path, name = keys[f[0]].split(".")
        for part in path:
            at = at.setdefault(part, {})
        value = f[1] if len(f) > 1 else "true"
        at[name] = True if value == "true" else int(value) if value.isdigit() else value
    out.flags = [["-f", "run.yaml"], ["--override-config"]] + [f for f in rest if f[0] in ("-v",)]
    out.files["run.yaml"] = json.dumps(tree)
