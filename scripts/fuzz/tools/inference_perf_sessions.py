"""Configs of inference-perf whose prompts belong together: recorded traces and agents.

weka_trace_replay is not among them: the original takes minutes to cut up its book.
"""
import json
import random

WORDS = "why does the river bend seven times before it meets the sea and what of rain then tell".split()
KINDS = ("otel_trace_replay", "synthetic_agentic")


def words(rng: random.Random, low: int, high: int) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(rng.randint(low, high)))


def fixed(n: int) -> dict:
    return {"type": "fixed", "mean": n, "min": n, "max": n, "std_dev": 0}


def data(rng: random.Random, kind: str, files: dict, put) -> None:
    section = f"data.{kind}."
    if kind == "synthetic_agentic":
        agents(rng, lambda name, value: put(section + name, value))
        return
    names = [f"traces/{chr(97 + i)}.json" for i in range(rng.choice([1, 2, 3]))]
    for name in names:
        files[name] = json.dumps(otel(rng, name))
    if rng.random() < 0.6:
        put(section + "trace_directory", "traces")
    else:
        put(section + "trace_files", names)
    some = {"inject_random_session_id": [True], "duplicate_sessions_target": [2 * len(names)], "tool_choice_mode": ["as_recorded"], "override_tool_call_max_tokens": [False],
            "disable_output_substitution": [True], "include_errors": [False]}
    put(section + "max_wait_ms", rng.choice([0, 100]))
    for name, of in some.items():
        if rng.random() < 0.15:
            put(section + name, rng.choice(of))


def agents(rng: random.Random, put) -> None:
    put("num_sessions", rng.choice([1, 2, 3]))
    put("input_tokens_per_turn", fixed(rng.choice([6, 12])))
    put("output_tokens_per_turn", fixed(rng.choice([3, 8])))
    put("shared_system_prompt_len", rng.choice([0, 20]))
    put("tool_catalog_size_per_agent", fixed(rng.choice([1, 2])))
    put("tool_call_latency_sec", fixed(0))
    put("user_think_time_sec", fixed(0))
    for name, values, chance in (("turns_per_session", [fixed(2), {"type": "uniform", "min": 1, "max": 3}], 0.4), ("tool_loop_depth", [fixed(0), fixed(1)], 0.6), ("fanout_probability", [1.0, 0.5], 0.2),
                                 ("parallel_tool_calls_per_step", [fixed(2)], 0.2), ("max_events_per_session", [3], 0.2), ("seed", [1, 7], 0.4), ("theme_mix", [{"generic": 1}, {"research_rag": 1.0, "code_change_task": {"weight": 2.0}}], 0.3)):
        if rng.random() < chance:
            put(name, rng.choice(values))


def otel(rng: random.Random, name: str) -> dict:
    """A chain of calls, each of which goes on from the one before it."""
    messages, spans, at = [{"role": "system", "content": words(rng, 3, 8)}] if rng.random() < 0.5 else [], [], 0.0
    for i in range(rng.choice([1, 2, 3])):
        messages = messages + [{"role": "user", "content": words(rng, 2, 9)}]
        said = words(rng, 2, 6)
        attributes = {"gen_ai.request.model": "m", "gen_ai.input.messages": json.dumps(messages),
                      "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": said}]} if rng.random() < 0.5 else {"role": "assistant", "content": said}])}
        if rng.random() < 0.8:
            attributes["gen_ai.usage.output_tokens"] = len(said.split())
        spans.append({"span_id": f"s{i}", "trace_id": "t", "name": "chat m", "start_time": f"2026-03-01T09:00:{at:06.3f}Z", "end_time": f"2026-03-01T09:00:{at + 0.05:06.3f}Z", "attributes": attributes})
        messages = messages + [{"role": "assistant", "content": said}]
        at += rng.choice([0.05, 0.1, 0.3])
    return {"trace_id": name, "spans": spans}


def load(rng: random.Random, put, files: dict) -> None:
    put("load.type", "trace_session_replay")
    stage: dict = {"concurrent_sessions": rng.choice([0, 1, 2])}
    if rng.random() < 0.2:
        stage["num_sessions"] = 1
    if rng.random() < 0.2 and stage["concurrent_sessions"] != 1:
        stage["session_rate"] = 2
    stages = [stage] if rng.random() < 0.8 else [{"concurrent_sessions": 1, "num_sessions": 1}, stage]
    put("load.stages", stages)
    traces = [name for name in files if name.startswith("traces/")]
    if traces and any("num_sessions" in s for s in stages):  # which ones these are, each draws for itself
        for name in traces[1:]:
            files[name] = json.dumps({**json.loads(files[traces[0]]), "trace_id": name})
