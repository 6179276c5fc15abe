"""What the warm host of the real inference-perf loads, and what it can be asked."""
import os
import sys

os.environ.update(HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false", TQDM_DISABLE="1")

import inference_perf.main  # noqa: E402  (it comes after the environment)
from inference_perf.config import Config  # noqa: E402
from transformers import AutoTokenizer  # noqa: E402


def warm(tokenizer: str) -> None:
    AutoTokenizer.from_pretrained(tokenizer)


def run(argv: list) -> int:
    sys.argv = ["inference-perf", *argv]
    inference_perf.main.main_cli()
    return 0


def ask(question: dict) -> object:
    """The schema of configs."""
    return Config.model_json_schema()
