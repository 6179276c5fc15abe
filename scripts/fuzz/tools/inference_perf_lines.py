"""Configs of inference-perf such as people write, from a seed.

An entry ["=api.type", "chat"] is a setting of the config; other words are on the command line.
Settings that are not below come from the tool's own schema.
"""
import json
import random

from line import TOKENIZER, URL, Line
from server import FEATURES
from tools import inference_perf_sessions as sessions
from tools.shared import replaced

WORDS = "why does the river bend seven times before it meets the sea and what of rain then tell".split()


def pick(rng: random.Random, weights: dict):
    return rng.choices(list(weights), list(weights.values()))[0]


def line(seed: int, schema: dict) -> Line:
    rng = random.Random(seed)
    out = Line("inference-perf", seed, by="count")
    out.faithful = rng.random() < 0.4
    put = lambda name, value: out.flags.append(["=" + name, value])
    api = pick(rng, {"completion": 45, "chat": 45, "anthropic_messages": 10})
    put("api.type", api)
    if rng.random() < 0.6:
        put("api.streaming", True)
    put("server.type", "vllm" if api == "anthropic_messages" else pick(rng, {"vllm": 80, "sglang": 10, "tgi": 10}))
    if rng.random() < 0.93:
        put("server.model_name", "m")
    put("server.base_url", f"http://{URL}")
    put("tokenizer.pretrained_model_name_or_path", TOKENIZER)
    if rng.random() < 0.4:
        put("server.ignore_eos", rng.random() < 0.5)
    data(rng, out, put, api)
    load(rng, out, put)
    report(rng, put)
    if rng.random() < 0.7:
        put("storage.local_storage.path", "reports")
    if rng.random() < 0.05:
        put("storage.local_storage.report_file_prefix", "p-")
    if rng.random() < 0.15:
        put("api.headers", rng.choice([{"x-team": "a"}, {"Authorization": "Bearer k"}, {}, {"x-slo-ttft-ms": "5"}, {"x-slo-ttft-ms": "30000"}, {"x-slo-tpot-ms": "1"}]))
    if rng.random() < 0.05:
        put("api.response_format", rng.choice([{"type": "json_object"}, {"type": "json_schema", "name": "s", "json_schema": {"type": "object"}}, {"type": "json_schema"}]))
    if rng.random() < 0.05:
        breaker(rng, put)
    if rng.random() < 0.1:
        put("server.api_key", "secret")
    if rng.random() < 0.12:
        out.flags.append(["=" + odd_name(rng, schema), rng.choice([0, -1, 1, True, None, "x", 1.5, [], {}])])
    if rng.random() < 0.1:
        out.flags.append(rng.choice([["--api.streaming", "true"], ["--load.interval", "0"], ["--server.model_name", "n"], ["--log-level", "INFO"], ["--report.request_lifecycle.per_request", "true"], ["--nonsense"]]))
    seldom(random.Random(f"{seed} seldom"), out, put)
    replaced(out, 0.4)
    out.server = features(rng)
    if any(f[0] == "=load.sweep" for f in out.flags):  # a search among failures takes minutes
        out.server = {k: v for k, v in out.server.items() if k not in ("error", "connection")}
    if any(f[1] == "trace_session_replay" for f in out.flags if len(f) > 1) and not out.server.get("error", "none").startswith("all"):
        out.server.pop("error", None)  # which session a failure belongs to is a matter of the order
    if together(out.files.get("trace.csv", "")) and not out.server.get("error", "none").startswith("all"):
        out.server.pop("error", None)  # which of requests at one time fails is a matter of the order
    if turns(out) and out.server.get("connection") == "closed-silently":
        out.server.pop("connection")  # the original loses a turn where it does not notice in time
    return out


def distribution(rng: random.Random, low: int, high: int) -> dict:
    kind = pick(rng, {"fixed": 5, "normal": 4, "uniform": 1, "lognormal": 1, "poisson": 1, "skew_normal": 1})
    out = {"type": kind, "min": low, "max": high, "mean": (low + high) // 2, "std_dev": 0 if kind == "fixed" else (high - low) // 4}
    if rng.random() < 0.3:
        out.pop("type")
    if rng.random() < 0.05:
        out["mean"] = rng.choice([low - 2, high + 5])
    return out


def trace(rng: random.Random) -> str:
    """A trace of Azure's: when each request came, and how long it and its answer were."""
    at, rows = 0.0, []
    for _ in range(rng.choice([3, 5, 9])):
        rows.append(f"2023-11-16 18:17:{3 + at:010.7f},{rng.choice([5, 9, 22, 40])},{rng.choice([2, 5, 12])}")
        at += rng.choice([0, 0.05, 0.2, 0.4])
    head = ["TIMESTAMP,ContextTokens,GeneratedTokens"] if rng.random() < 0.8 else []
    return "\n".join(head + rows) + "\n"


def turns(out: Line) -> bool:
    """Whether requests go right after the answers to others."""
    given = dict(f for f in out.flags if len(f) > 1)
    return given.get("=load.type") == "trace_session_replay" or given["=data.type"] == "conversation_replay" or given.get("=data.shared_prefix.enable_multi_turn_chat") is True


def together(rows: str) -> bool:
    """Whether a trace has requests at one time."""
    times = [row.split(",")[0] for row in rows.splitlines()]
    return len(set(times)) < len(times)


def data(rng: random.Random, out: Line, put, api: str) -> None:
    kinds = {"random": 35, "synthetic": 20, "shared_prefix": 22, "mock": 10, "shareGPT": 8, "conversation_replay": 8}
    if api == "chat":  # which few kinds can be
        kinds.update({"random": 2, "synthetic": 4, "conversation_replay": 1, "mock": 20, "shareGPT": 16, "synthetic_agentic": 3, "otel_trace_replay": 6})
    elif api == "anthropic_messages":
        kinds = {"mock": 10, "shareGPT": 10, "synthetic_agentic": 1, "otel_trace_replay": 3, "random": 1}
    kind = pick(rng, kinds)
    put("data.type", kind)
    if kind in sessions.KINDS:
        sessions.data(rng, kind, out.files, put)
    elif kind == "random" and rng.random() < 0.15:
        out.files["trace.csv"] = trace(rng)
        put("data.trace.file", "trace.csv")
    elif kind in ("random", "synthetic"):
        put("data.input_distribution", distribution(rng, 5, 40))
        put("data.output_distribution", distribution(rng, 2, 12))
        if kind == "random" and rng.random() < 0.08:
            put("data.use_chat_template", True)
        if kind == "synthetic" and rng.random() < (0.8 if api == "chat" else 0.05):
            put("data.multimodal", media(rng))
    elif kind == "shared_prefix":
        put("data.shared_prefix.num_unique_system_prompts", rng.choice([1, 2, 3]))
        put("data.shared_prefix.num_users_per_system_prompt", rng.choice([1, 2, 3]))
        put("data.shared_prefix.system_prompt_len", rng.choice([10, 20]))
        put("data.shared_prefix.question_len", rng.choice([4, 9, 9, {"type": "uniform", "min": 3, "max": 12}]))
        put("data.shared_prefix.output_len", rng.choice([3, 8, 8, {"mean": 6, "std_dev": 3, "min": 2, "max": 12}]))
        if rng.random() < 0.1:
            put(rng.choice(["data.multimodal", "data.shared_prefix.multimodal"]), media(rng))
        if rng.random() < 0.2:
            put("data.shared_prefix.enable_multi_turn_chat", True)
        if rng.random() < 0.08:
            put(*rng.choice([("data.shared_prefix.question_distribution", distribution(rng, 3, 9)), ("data.shared_prefix.output_distribution", distribution(rng, 2, 9))]))
        if rng.random() < 0.3:
            put("data.shared_prefix.seed", 7)
    elif kind == "shareGPT":
        rows = [{"id": str(i), "conversations": [{"from": "human" if j % 2 == 0 else "gpt", "value": " ".join(rng.choice(WORDS) for _ in range(rng.choice([2, 5, 30])))} for j in range(rng.choice([2, 2, 4]))]} for i in range(12)]
        out.files["chats.json"] = json.dumps(rows)
        put("data.path", "chats.json")
    elif kind == "conversation_replay":
        put("data.conversation_replay.num_conversations", rng.choice([1, 3]))
        put("data.conversation_replay.shared_system_prompt_len", rng.choice([0, 10]))
        for name, low, high in (("dynamic_system_prompt_len", 2, 6), ("input_tokens_per_turn", 3, 8), ("output_tokens_per_turn", 3, 8), ("turns_per_conversation", 1, 3)):
            put("data.conversation_replay." + name, rng.choice([sessions.fixed(high - 1), {"type": "uniform", "min": low, "max": high}]))
        for name, values in (("seed", [1, 7]), ("max_model_len", [300, 2000]), ("tool_call_latency_sec", [sessions.fixed(0)])):
            if rng.random() < 0.2:
                put("data.conversation_replay." + name, rng.choice(values))



def media(rng: random.Random) -> dict:
    """Pictures and sounds that take no time to make."""
    some = {"type": "fixed", "mean": rng.choice([1, 2])}
    image = {"count": some, "resolutions": {"width": 16, "height": 8}, "representation": rng.choice(["png", "jpeg"])}
    audio = {"count": some, "durations": 0.1, "insertion_point": rng.choice([0, 1])}
    return rng.choice([{"image": image}, {"audio": audio}, {"image": image, "audio": audio}, {"image": {"resolutions": "360p"}}])


def breaker(rng: random.Random, put) -> None:
    """A breaker that may open."""
    put("circuit_breakers", [{"name": "b", "metrics": {"matches": [rng.choice(["error", "`true`", "error.error_type == 'x'"])], "rules": []},
                              "triggers": [rng.choice([{"type": "consecutive", "threshold": 3}, {"type": "rate_over_window", "threshold": 0.5, "window_sec": 5, "min_samples": 2}])]}])
    put("load.circuit_breakers", rng.choice([["b"], [], ["c"]]))


def load(rng: random.Random, out: Line, put) -> None:
    traced = "trace.csv" in out.files
    if any(name.startswith("=data." + k) for f in out.flags for name in f[:1] for k in sessions.KINDS) and rng.random() < 0.97:
        sessions.load(rng, put, out.files)
        put("load.num_workers", rng.choice([1, 1, 2]))
        return
    kind = pick(rng, {"constant": 40, "poisson": 20, "concurrent": 40, "trace_replay": 60 if traced else 2})
    if kind == "trace_replay":
        out.files.setdefault("trace.csv", trace(rng))
        put("load.trace.file", "trace.csv")
    stages = rng.choice([1, 1, 1, 2])
    put("load.type", kind)
    if kind == "concurrent":
        put("load.stages", [{"num_requests": rng.choice([4, 7, 10]), "concurrency_level": rng.choice([1, 2, 3])} for _ in range(stages)])
    else:
        put("load.stages", [{"rate": rng.choice([3, 8, 10, 7.5]), "duration": 1} for _ in range(stages)])
        if kind != "trace_replay" and rng.random() < 0.02:
            put("load.sweep", {"type": rng.choice(["linear", "geometric"]), "num_requests": 8, "timeout": 5, "num_stages": 2, "stage_duration": 1})
    put("load.interval", 0)
    put("load.num_workers", rng.choice([1, 1, 2]))
    if rng.random() < 0.5:
        put("load.base_seed", rng.choice([1, 42]))
    for name, values, chance in (("worker_max_concurrency", [1, 10], 0.1), ("request_timeout", [5, 0.01], 0.1), ("request_retries", [1], 0.08),
                                 ("lora_traffic_split", [[{"name": "a", "split": 0.5}, {"name": "b", "split": 0.5}], [{"name": "a", "split": 1}], [{"name": "a", "split": 0.5}]], 0.06)):
        if rng.random() < chance:
            put("load." + name, rng.choice(values))


def report(rng: random.Random, put) -> None:
    for name, values, chance in (("request_lifecycle.per_request", [True], 0.4), ("request_lifecycle.per_stage", [False], 0.1), ("request_lifecycle.summary", [False], 0.05),
                                 ("request_lifecycle.per_adapter_stage", [True], 0.05), ("request_lifecycle.max_error_messages", [0, 1], 0.05), ("request_lifecycle.percentiles", [[50, 99], [0.1, 100], []], 0.1), ("request_lifecycle.use_server_output_tokens", [True], 0.1),
                                 ("goodput.constraints", [{"ttft": 30.0}, {"request_latency": 0.001}, {"tpot": 20, "itl": 20}, {"nonsense": 1.0}, {"ntpot": 30, "e2e": 3}], 0.2),
                                 ("request_lifecycle.per_request_fields", [{"computed_metrics": True}, {"response": False, "request": False}, {"info": False}, {"response_chunks": False}], 0.1)):
        if rng.random() < chance:
            put("report." + name, rng.choice(values))


def seldom(rng: random.Random, out: Line, put) -> None:
    """What few configs have, and the original takes."""
    given = dict(f for f in out.flags if f[0].startswith("="))
    stages = given.get("=load.stages", [])
    if all("rate" in s for s in stages) and rng.random() < 0.04:  # one that sends nothing
        stages.insert(rng.choice([0, len(stages)]), {"rate": 0.5, "duration": 1})
    for some in given.get("=circuit_breakers", []):
        if rng.random() < 0.3:
            rng.choice([some, some["triggers"][0], some["metrics"]])["colour"] = "red"
    if rng.random() < 0.02:
        put("metrics", {"type": rng.choice(["default", "prometheus"])})
    if rng.random() < 0.02:
        put("server.base_url", f"http://{URL}" + rng.choice(["/", "/v1", "/v1/"]))
    if rng.random() < 0.02 and "=data.multimodal" not in given:
        put("data.multimodal", media(rng))


def odd_name(rng: random.Random, schema: dict) -> str:
    """Any setting of the schema."""
    names = []

    def walk(properties: dict, path: str, depth: int) -> None:
        for key, value in properties.items():
            names.append(path + key)
            refs = [value.get("$ref", "")] + [o.get("$ref", "") for o in value.get("anyOf", [])]
            for ref in refs:
                inner = schema["$defs"].get(ref.rsplit("/", 1)[-1], {})
                if depth < 4 and "properties" in inner:
                    walk(inner["properties"], f"{path}{key}.", depth + 1)

    walk(schema["properties"], "", 0)
    return rng.choice([n for n in names if "." in n and ".count." not in n])  # hundreds of pictures are more than a machine can make


def features(rng: random.Random) -> dict:
    weights = {"pieces": 0.4, "choices": 0.06, "answer": 0.3, "usage": 0.5, "role": 0.2, "done": 0.1, "thinking": 0.06, "get": 0.4, "error": 0.12, "connection": 0.12, "frame": 0.12, "lines": 0.12}
    return {name: rng.choice(found[1:]) for name, found in FEATURES.items() if rng.random() < weights[name]}
