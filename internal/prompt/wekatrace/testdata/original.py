"""Prints what the original inference-perf makes of the traces of a directory, as JSON.

Run it with the original's Python: original.py TRACES TOKENIZER > original.json
"""

import json
import sys

from inference_perf.config import APIConfig, CustomTokenizerConfig, DataConfig
from inference_perf.datagen.replay.weka_trace_replay_datagen import WekaTraceReplayDataGenerator
from inference_perf.utils.custom_tokenizer import CustomTokenizer

traces, name = sys.argv[1:]
tokenizer = CustomTokenizer(CustomTokenizerConfig(pretrained_model_name_or_path=name))
settings = {"trace_directory": traces, "datagen_workers": 1}
source = WekaTraceReplayDataGenerator(
    APIConfig(type="chat"), DataConfig(type="weka_trace_replay", weka_trace_replay=settings), tokenizer, base_seed=1
)
sessions = {}
for session in source.sessions:
    events = source._build_session_schedule(session)
    order = [e.event_id for e in events]
    sessions[session.session_id] = [
        {
            "id": e.event_id.split(":", 1)[1],
            "after": sorted(order.index(p) for p in e.predecessor_event_ids),
            "wait_ms": e.wait_ms,
            "output": e.expected_output_tokens,
            "messages": [
                [m["role"], len(tokenizer.get_tokenizer().encode(m["content"], add_special_tokens=False))] for m in e.messages
            ],
        }
        for e in events
    ]
json.dump(sessions, sys.stdout, indent=1, sort_keys=True)
