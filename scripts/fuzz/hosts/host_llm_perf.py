"""What the warm host of the original llm_perf loads: a script beside its Python."""
import os
import runpy
import sys
from pathlib import Path

os.environ.update(HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false")
SCRIPT = Path(sys.prefix) / "source/inference_perf/llm_perf.py"
sys.path.insert(0, str(SCRIPT.parent))

import trt_llm  # noqa: E402, F401  (its imports take the time)
from transformers import AutoTokenizer  # noqa: E402


def warm(tokenizer: str) -> None:
    import pandas  # noqa: F401


def run(argv: list) -> int:
    sys.argv = ["llm_perf.py", *argv]
    runpy.run_path(str(SCRIPT), run_name="__main__")
    return 0


def ask(question: dict) -> object:
    return None
