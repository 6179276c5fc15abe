"""Runs for genai-perf process-export-files to merge, from a seed.

They are of Triton, since the original reads no others.
"""
import json
import random

from line import TOKENIZER, Line
from server import WORDS

START = 1_700_000_000_000_000_000  # ns
STATS = ("avg", "p99", "p50", "min", "max", "std")


def add(rng: random.Random, out: Line) -> None:
    """One to three runs, in files of the line."""
    stimulus = rng.choice([{"concurrency": 1}, {"concurrency": 3}, {"request_rate": 5.0}])
    streaming, goodput = rng.random() < 0.7, rng.choice([None, None, {"request_latency": 60.0}])
    name = rng.choice(["profile_export", "profile_export", "mine"])
    for i in range(rng.choice([1, 2, 2, 3])):
        requests = [request(rng, START + rng.randrange(3_000_000_000), streaming) for _ in range(rng.choice([1, 3, 8]))]
        if i and rng.random() < 0.1:
            requests = []
        mode, value = next(iter(stimulus.items()))
        export = {"experiments": [{"experiment": {"mode": mode, "value": value}, "requests": requests, "window_boundaries": [START, START + 3_000_000_000]}],
                  "version": "2.60.0", "service_kind": "triton", "endpoint": ""}
        report = {"request_throughput": {"unit": "requests/sec", "avg": rng.uniform(1, 9)}, "output_token_throughput": {"unit": "tokens/sec", "avg": rng.uniform(9, 99)},
                  "input_config": settings(stimulus, streaming, goodput)}
        if rng.random() < 0.2:
            report["telemetry_stats"] = {"gpu_power_usage": {"unit": "W", "gpu0": {stat: rng.uniform(50, 90) for stat in STATS}}}
        out.files[f"runs/r{i}/{name}.json"], out.files[f"runs/r{i}/{name}_genai_perf.json"] = json.dumps(export), json.dumps(report)
    out.flags += [[rng.choice(["-d", "--input-directory"]), "runs"]] + rng.choice([[], [["--artifact-dir", "merged"]], [["--profile-export-file", "all.json"]]])


def request(rng: random.Random, start: int, streaming: bool) -> dict:
    said = [" " + rng.choice(WORDS) for _ in range(rng.choice([1, 2, 5, 9]))]
    pieces = said if streaming else ["".join(said)]
    at = [start + 30_000_000 * (i + 1) + rng.randrange(9_000_000) for i in range(len(pieces))]
    asked = {"stream": streaming, "max_tokens": 9, "text_input": " ".join(rng.choice(WORDS) for _ in range(rng.choice([1, 4, 9])))}
    return {"timestamp": start, "request_inputs": asked, "response_timestamps": at, "response_outputs": [{"model_name": "m", "text_output": p} for p in pieces]}


def settings(stimulus: dict, streaming: bool, goodput: "dict | None") -> dict:
    """What a report repeats of a command line, as the original has it."""
    none, one = {"mean": 0, "stddev": 0}, {"min": 1, "max": 1024}
    return {
        "model_names": ["m"], "subcommand": "profile", "verbose": False, "template_filename": "genai_perf_config.yaml", "analyze": {"sweep_parameters": {"concurrency": one}},
        "endpoint": {"model_selection_strategy": "round_robin", "backend": "tensorrtllm", "custom": "", "type": "kserve", "streaming": streaming, "server_metrics_urls": ["http://localhost:9400/metrics"],
                     "url": "localhost:8001", "grpc_method": "", "service_kind": "triton", "output_format": "tensorrtllm"},
        "perf_analyzer": {"path": "perf_analyzer", "verbose": False, "stimulus": stimulus, "stability_percentage": 999, "measurement": {"mode": "request_count", "num": 8}, "warmup_request_count": 0},
        "input": {"batch_size": 1, "extra": "", "goodput": goodput or "", "header": "", "file": "", "num_dataset_entries": 8, "random_seed": 0,
                  "audio": {"batch_size": 1, "length": none, "format": "wav", "depths": [16], "sample_rates": [16], "num_channels": 1},
                  "image": {"width": none, "height": none, "batch_size": 1, "format": "png"}, "output_tokens": {"mean": "", "deterministic": False, "stddev": 0},
                  "synthetic_tokens": {"mean": 550, "stddev": 0}, "prefix_prompt": {"num": 0, "length": 100},
                  "sessions": {"num": 0, "turns": {"mean": 1, "stddev": 0}, "turn_delay": {"mean": 0, "ratio": 1.0, "stddev": 0}},
                  "prompt_source": "synthetic", "synthetic_files": [], "payload_file": ""},
        "output": {"artifact_directory": "artifacts", "checkpoint_directory": "checkpoint", "profile_export_file": "profile_export.json", "generate_plots": False, "enable_checkpointing": False},
        "tokenizer": {"name": TOKENIZER, "revision": "main", "trust_remote_code": False, "_enable_debug_logging": True}, "process": {"input_path": "aggregated"}}
