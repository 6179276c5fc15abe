"""Prints what the real GenAI-Perf makes of a profile_export.json, as JSON.

usage: genai-perf-metrics.py PROFILE_EXPORT TOKENIZER [METRIC:VALUE...]
"""
import json
import logging
import sys
from pathlib import Path

from genai_perf.config.input.config_command import ConfigCommand
from genai_perf.profile_data_parser import ImageRetrievalProfileDataParser, LLMProfileDataParser, ProfileDataParser
from genai_perf.tokenizer import Tokenizer, get_tokenizer

logging.disable(logging.CRITICAL)


def tokenizer_of(name: str) -> Tokenizer:
    config = ConfigCommand({"model_name": "m"}, skip_inferencing_and_checking=True)
    config.tokenizer.name = name
    config.tokenizer.revision = "main"
    config.tokenizer.trust_remote_code = False
    return get_tokenizer(config)


def metrics(path: Path, tokenizer: str, goodput: list[str], kind: str = "") -> dict:
    """`kind` is the type of an endpoint whose path does not tell it."""
    bounds = {k: float(v) for k, v in (a.split(":") for a in goodput)}
    endpoint = json.loads(path.read_text())["endpoint"]
    if endpoint in ("v1/embeddings", "v1/ranking", "rerank") or kind in ("embeddings", "rankings", "nvclip"):
        parser = ProfileDataParser(path, bounds)
    elif endpoint == "v1/infer":
        parser = ImageRetrievalProfileDataParser(path, bounds)
    else:
        parser = LLMProfileDataParser(path, tokenizer_of(tokenizer), bounds)
    mode, level = parser.get_profile_load_info()[0]
    stats = parser.get_statistics(mode, level)
    stats.scale_data()
    return json.loads(json.dumps(stats.stats_dict))


if __name__ == "__main__":
    json.dump(metrics(Path(sys.argv[1]), sys.argv[2], sys.argv[3:]), sys.stdout, indent=2)
