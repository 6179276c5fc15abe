"""What the warm host of the real inference-perf loads, and what it can be asked."""
import json
import os
import sys

os.environ.update(HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false", TQDM_DISABLE="1")

from pathlib import Path  # noqa: E402  (all of these come after the environment)

import inference_perf.main  # noqa: E402
import yaml  # noqa: E402
from inference_perf.config import Config  # noqa: E402
from transformers import AutoTokenizer, PreTrainedTokenizerBase  # noqa: E402

LONG = 1_000_000  # characters of a text whose tokens are remembered


def warm(tokenizer: str) -> None:
    """Loads the tokenizer and reads the book that prompts are cut from, which takes seconds."""
    encode, known = PreTrainedTokenizerBase.encode, {}

    def remembered(self, text, *args, **options):
        if args or options or not isinstance(text, str) or len(text) < LONG:
            return encode(self, text, *args, **options)
        if (self.name_or_path, text) not in known:
            known[self.name_or_path, text] = encode(self, text)
        return list(known[self.name_or_path, text])

    PreTrainedTokenizerBase.encode = remembered
    book = Path(inference_perf.main.__file__).parent / "assets/shakespeare.txt"
    AutoTokenizer.from_pretrained(tokenizer).encode("Pick as many lines as you can from these poem lines:\n" + book.read_text(encoding="utf-8"))


def run(argv: list) -> int:
    sys.argv = ["inference-perf", *argv]
    inference_perf.main.main_cli()
    return 0


def ask(question: dict) -> object:
    """The schema of configs, or what stands in files of YAML."""
    if question["about"] == "yaml":
        return [json.loads(json.dumps(yaml.safe_load(Path(name).read_text()), default=str)) for name in question["files"]]
    return Config.model_json_schema()
