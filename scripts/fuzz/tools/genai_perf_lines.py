"""Lines of genai-perf such as people type, from a seed.

The flags come from the tool's own parser. Those below have values that make sense; any other
gets one by its type, so that nothing is forgotten.
"""
import json
import random

from line import TOKENIZER, URL, Line
from server import FEATURES
from tools import genai_perf_runs
from tools.shared import replaced

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
    out.command = [pick(rng, {"profile": 90, "analyze": 6, "config": 4, "create-template": 1, "process-export-files": 2})]
    out.faithful = rng.random() < 0.25
    if out.command[0] in ("create-template", "process-export-files"):
        if out.command[0] == "process-export-files" and rng.random() < 0.8:
            genai_perf_runs.add(rng, out)
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
    if ("thinking" in out.server or out.server.get("answer") == "tools") and rng.random() < 0.6:
        out.faithful = True  # else little of what comes of it is alike
    if out.command[0] == "config":
        as_file(rng, out)
    else:
        replaced(out)
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
            (0.05, lambda: ["--output-tokens-stddev", rng.choice(["0", "4"])]),
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
    values = {"int": ["0", "1", "-1", "2", "7", "1.5", "x"], "float": ["0", "0.5", "-1", "1e1", "nan", "x"], "bool": ["true", "false", ""],
              "positive_integer": ["0", "1", "-1", "2", "x"]}
    return [flag, rng.choice(values.get(option["type"], ["x", "", "a b", "0"]))]


def features(rng: random.Random) -> dict:
    """A server that is plain in most ways, and awkward in a few."""
    weights = {"pieces": 0.4, "choices": 0.08, "answer": 0.3, "usage": 0.3, "role": 0.2, "done": 0.1, "thinking": 0.06, "get": 0.4, "error": 0.08, "connection": 0.15, "frame": 0.12, "lines": 0.12}
    out = {name: rng.choice(found[1:]) for name, found in FEATURES.items() if rng.random() < weights[name]}
    # What ends the original, or leaves it without figures, is rare, since nothing else of such a line is seen.
    for name, value, instead in (("usage", "last", "always"), ("usage", "null", "always"), ("lines", "numbered", "tight"), ("pieces", "split", "together"), ("pieces", "split-slowly", "written-together"), ("lines", "named", "comments")):
        if out.get(name) == value and rng.random() < 0.8:
            out[name] = instead
    return out


# The keys that files have for flags.
KEYS = {"--endpoint-type": "endpoint.type", "-u": "endpoint.url", "--streaming": "endpoint.streaming", "--endpoint": "endpoint.custom", "--model-selection-strategy": "endpoint.model_selection_strategy",
        "--tokenizer": "tokenizer.name", "--tokenizer-revision": "tokenizer.revision", "--input-file": "input.file", "--isl": "input.synthetic_tokens.mean",
        "--synthetic-input-tokens-stddev": "input.synthetic_tokens.stddev", "--osl": "input.output_tokens.mean", "--output-tokens-stddev": "input.output_tokens.stddev",
        "--num-dataset-entries": "input.num_dataset_entries", "--random-seed": "input.random_seed", "--num-sessions": "input.sessions.num", "--session-turns-mean": "input.sessions.turns.mean",
        "--session-turn-delay-mean": "input.sessions.turn_delay.mean", "--image-width-mean": "input.image.width.mean", "--image-height-mean": "input.image.height.mean",
        "--goodput": "input.goodput", "--extra-inputs": "input.extra", "--batch-size-text": "input.batch_size", "--concurrency": "perf_analyzer.stimulus.concurrency",
        "--request-rate": "perf_analyzer.stimulus.request_rate", "--session-concurrency": "perf_analyzer.stimulus.session_concurrency", "--request-count": "perf_analyzer.measurement.num",
        "--warmup-request-count": "perf_analyzer.warmup_request_count", "--stability-percentage": "perf_analyzer.stability_percentage",
        "--artifact-dir": "output.artifact_directory", "--profile-export-file": "output.profile_export_file", "--enable-checkpointing": "output.enable_checkpointing"}


def as_file(rng: random.Random, out: Line) -> None:
    """Turns the flags into the file of `config -f`, as far as it has keys for them."""
    tree: dict = {"model_names": ["m"]}
    out.meant = ["profile", "-m", "m"]
    for flag, *rest in (f for f in out.flags if f[0] in KEYS):
        at = tree
        *path, name = KEYS[flag].split(".")
        for part in path:
            at = at.setdefault(part, {})
        at[name] = named(flag, rest)
        if flag == "--request-count":
            at["mode"] = "request_count"
        out.meant += [flag, *rest]
    if not tree.get("input", {}).get("file"):
        out.by = "count"
    if rng.random() < 0.15:
        kind, start, stop = rng.choice([("concurrency", 1, 2), ("request_rate", 4, 8), ("concurrency", 2, 4)])
        tree["analyze"] = {kind: {"start": start, "stop": stop}}
        out.meant = ["analyze", *out.meant[1:], "--sweep-type", kind, "--sweep-range", f"{start}:{stop}"]
    if rng.random() < 0.1:
        tree.setdefault(*rng.choice([("nonsense", 1), ("verbose", True), ("input", None), ("endpoint", {"type": "chat", "nonsense": 1}), ("output", {})]))
    out.flags, out.tail = [["-f", "run.yaml"]] + [["--override-config"]] * (rng.random() < 0.5), []
    out.files["run.yaml"] = json.dumps(tree)


def named(flag: str, rest: list) -> object:
    """What a file has for a flag's value."""
    pairs = dict(w.split(":", 1) for w in rest if ":" in w)
    if flag == "--goodput":
        return {k: float(v) for k, v in pairs.items()}
    if flag == "--extra-inputs":
        return json.loads(rest[0]) if rest[0].startswith("{") else pairs
    if not rest:
        return True
    for kind in () if flag in ("--artifact-dir", "--profile-export-file") else (int, float):
        try:
            return kind(rest[0])
        except ValueError:
            pass
    return rest[0]
