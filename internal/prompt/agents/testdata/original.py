"""Writes original.json: the sessions that inference-perf 0.7.0 makes, without their words but with the lengths of them.

    .peers/inference-perf/bin/python internal/prompt/agents/testdata/original.py

The configs are those of TestOriginal.
"""
import json
import pathlib

from tokenizers import Tokenizer

from inference_perf.config.datagen.replay import SyntheticAgenticConfig
from inference_perf.datagen.synthetic_agentic import synthetic_agentic_datagen as agentic
from inference_perf.datagen.synthetic_agentic.synthetic_themes import GENERIC_THEME, load_theme


gpt2 = Tokenizer.from_file(".peers/tokens/vocab/gpt2/tokenizer.json")


class GPT2:
    def count_tokens(self, text):
        return len(gpt2.encode(text).ids)

    def get_tokenizer(self):
        raise RuntimeError


fixed = lambda n: {"type": "fixed", "mean": n}
uniform = lambda a, b: {"type": "uniform", "min": a, "max": b}
base = {"num_sessions": 4, "input_tokens_per_turn": fixed(300), "output_tokens_per_turn": fixed(50)}
cases = {
    "defaults": base,
    "bare": base | {"input_tokens_per_turn": fixed(350), "tool_catalog_size_per_agent": fixed(0), "turns_per_session": fixed(3), "shared_system_prompt_len": 0},
    "fan-out": base | {"fanout_probability": 0.5, "tool_loop_depth": uniform(0, 3), "turns_per_session": uniform(1, 3), "max_depth": 3},
    "always": base | {"fanout_probability": 1.0, "sub_agents_per_spawn": fixed(2), "max_events_per_session": 30, "parallel_tool_calls_per_step": uniform(1, 3)},
    "little room": base | {"fanout_probability": 1.0, "max_events_per_session": 5, "tool_loop_depth": fixed(4), "turns_per_session": fixed(2)},
    "spread": base | {
        "seed": 7, "output_tokens_per_turn": {"type": "lognormal", "mean": 80, "std_dev": 40, "min": 1, "max": 500},
        "turns_per_session": {"type": "poisson", "mean": 3, "min": 1, "max": 9}, "user_think_time_sec": {"type": "normal", "mean": 6, "std_dev": 3, "min": 0, "max": 30},
        "tool_call_latency_sec": {"type": "skew_normal", "mean": 2, "std_dev": 2, "skew": 4, "min": 0, "max": 20}, "tool_catalog_size_per_agent": uniform(1, 20),
        "theme_mix": {"code_change_task": 3, "generic": {"weight": 1}}},
    "deep": base | {"num_sessions": 12, "tool_loop_depth": uniform(6, 12), "parallel_tool_calls_per_step": uniform(1, 4), "tool_catalog_size_per_agent": uniform(4, 14), "shared_system_prompt_len": 100, "input_tokens_per_turn": fixed(60), "turns_per_session": fixed(2)},
    "long": base | {"num_sessions": 8, "seed": 3, "input_tokens_per_turn": fixed(900), "shared_system_prompt_len": 700, "fanout_probability": 0.4, "turns_per_session": fixed(4),
                    "context_compaction": {"trigger_tokens": uniform(3000, 6000), "target_tokens": fixed(400)}},
    "compacted": base | {"turns_per_session": fixed(5), "context_compaction": {"trigger_tokens": fixed(100), "target_tokens": fixed(200)}},
}
out = {}
for name, config in cases.items():
    cfg = SyntheticAgenticConfig(**config)
    sessions = []
    for i in range(cfg.num_sessions):
        weights = cfg.theme_weights()
        names = list(weights)
        p = agentic.np.array(list(weights.values()), dtype=float)
        picked = names[int(agentic.child_rng(agentic.session_seed(cfg.seed, i), 999).choice(len(names), p=p / p.sum()))]
        theme = GENERIC_THEME if picked == "generic" else load_theme(picked)
        graph = agentic.build_graph_for_session(cfg, theme, GPT2(), i)
        places = {e: n for n, e in enumerate(graph.events)}
        events = []
        for e in graph.events.values():
            c = e.call
            events.append([
                e.event_id, [places[p] for p in e.predecessor_event_ids], e.wait_ms, "".join(m["role"][0] for m in c.messages),
                (c.expected_output_tool_names or [""])[0] if len(c.expected_output_tool_names or []) < 2 else "several", 0 if c.expected_output_is_tool_call else c.expected_output_tokens, len(c.tool_definitions or []),
                " ".join(f"{s.type[0]}{s.message_count}{'' if s.source_event_id is None else '<' + str(places[s.source_event_id])}" for s in c.input_segments),
                sum(GPT2().count_tokens(m.get("content") or "") for m in c.messages), sum(GPT2().count_tokens(json.dumps(t)) for t in c.tool_definitions or []), c.expected_output_tokens,
            ])
        sessions.append({"theme": picked, "events": events})
    out[name] = sessions
text = json.dumps(out).replace('], ["', '],\n["')
pathlib.Path(__file__).with_name("original.json").write_text(text + "\n")
