"""What the warm host of the real genai-perf loads, and what it can be asked.

It is run by the Python that has genai-perf. Counting the tokens of the book that its prompts
come from takes seconds, so that is done once, ahead of the forks.
"""
import argparse
import importlib.util
import json
import logging
import os
import sys
from pathlib import Path

os.environ.update(HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false", TQDM_DISABLE="1")

import genai_perf.main  # noqa: E402  (it comes after the environment)
import genai_perf.parser  # noqa: E402
from genai_perf.inputs.retrievers.synthetic_prompt_generator import SyntheticPromptGenerator  # noqa: E402

_spec = importlib.util.spec_from_file_location("genai_perf_metrics", Path(__file__).parents[2] / "genai-perf-metrics.py")
METRICS = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(METRICS)


def warm(tokenizer: str) -> None:
    SyntheticPromptGenerator.create_synthetic_prompt(METRICS.tokenizer_of(tokenizer), 10, 0)


def run(argv: list) -> int:
    logging.disable(logging.NOTSET)
    sys.argv = ["genai-perf", *argv]
    return genai_perf.main.main()


def ask(question: dict) -> object:
    if question["about"] == "options":
        return options(genai_perf.parser.init_parsers())
    return metrics(question)


def options(parser: argparse.ArgumentParser) -> dict:
    """The flags of each subcommand, as its own parser has them."""
    subcommands = next(a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    return {name: [{"flags": a.option_strings, "choices": list(a.choices) if a.choices else None, "nargs": str(a.nargs),
                    "type": getattr(a.type, "__name__", None)} for a in sub._actions if a.option_strings and a.dest != "help"]
            for name, sub in subcommands.choices.items()}


def metrics(question: dict) -> object:
    """What the real tool makes of a profile export."""
    return json.loads(json.dumps(METRICS.metrics(Path(question["file"]), question["tokenizer"], question["goodput"], question["kind"])))
