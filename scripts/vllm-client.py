#!/usr/bin/env python3
"""Lays the client of vLLM's serving benchmark out under a directory, from its source package alone: vllm/benchmarks and the parser of
its command lines as they are, and small stand-ins for what else they import of the engine. Of 0.10.0, the last with a benchmark_serving.py, only that. usage: vllm-client.py VERSION SHA256 DIR"""
import hashlib
import io
import os
import re
import sys
import tarfile
import urllib.parse
import urllib.request

LAST, SCRIPT = "0.10.0", re.compile(r"benchmarks/(benchmark_serving|benchmark_dataset|backend_request_func|benchmark_utils)\.py")
version, sha, out = sys.argv[1:4]
index = os.environ.get("PIP_INDEX_URL") or "https://pypi.org/simple"
page = index.rstrip("/") + "/vllm/"
found = re.search(r'href="([^"#]*/vllm-%s\.tar\.gz)' % re.escape(version), urllib.request.urlopen(page).read().decode())
if not found:
    sys.exit(f"vllm-{version}.tar.gz is not in the index {page}")
data = urllib.request.urlopen(urllib.parse.urljoin(page, found.group(1))).read()
if hashlib.sha256(data).hexdigest() != sha:
    sys.exit("the package is not the one that was looked at")


def put(name, data):
    path = os.path.join(out, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(data)


with tarfile.open(fileobj=io.BytesIO(data)) as t:
    for m in t.getmembers():
        name = m.name.partition("/")[2]
        if SCRIPT.fullmatch(name) and version == LAST:
            put(os.path.basename(name), t.extractfile(m).read())
        if version != LAST and m.isfile() and (name.startswith("vllm/benchmarks/") or name == "vllm/utils/argparse_utils.py"):
            put(name, t.extractfile(m).read())

if version == LAST:
    sys.exit()
STAND_INS = {
    "__init__": f"__version__ = {version!r}",
    "envs": "VLLM_GC_DEBUG = ''",
    "logger": """
import logging
logging.basicConfig(level=logging.INFO)
def init_logger(name):
    log = logging.getLogger(name)
    log.warning_once = log.warning
    return log""",
    "utils/__init__": "from vllm.utils.argparse_utils import FlexibleArgumentParser",
    "utils/gc_utils": "def freeze_gc_heap(): pass",
    "utils/network_utils": "def join_host_port(host, port): return f'[{host}]:{port}' if ':' in host else f'{host}:{port}'",
    "utils/import_utils": """
class PlaceholderModule:
    def __init__(self, name): self.__name = name
    def placeholder_attr(self, name): return self
    def __getattr__(self, key): raise ImportError('not installed: ' + self.__name)""",
    "utils/mistral": "def is_mistral_tokenizer(t): return False",
    "tokenizers/__init__": """
from typing import Any
TokenizerLike = Any
def get_tokenizer(name, *, tokenizer_mode='auto', trust_remote_code=False, **more):
    from transformers import AutoTokenizer
    return AutoTokenizer.from_pretrained(name, trust_remote_code=trust_remote_code)""",
    "inputs": "from typing import Any\nMultiModalDataDict = dict[str, Any]",
    "lora/__init__": "",
    "lora/request": "class LoRARequest: pass",
    "lora/utils": "def get_adapter_absolute_path(p): return p",
    "multimodal/__init__": "from vllm.inputs import MultiModalDataDict",
    "multimodal/audio": "def get_audio_duration(*a, **k): raise NotImplementedError",
    "multimodal/image": "def convert_image_mode(image, mode): return image if image.mode == mode else image.convert(mode)",
    "multimodal/utils": "def fetch_image(url): raise NotImplementedError\ndef encode_image_url(image): raise NotImplementedError",
    "transformers_utils/__init__": "",
    "transformers_utils/repo_utils": "hf_api = None",
    "transformers_utils/tokenizer": "from vllm.tokenizers import get_tokenizer\ndef get_lora_tokenizer(r): return None",
    "__main__": """
from vllm.benchmarks.serve import add_cli_args, main
from vllm.utils.argparse_utils import FlexibleArgumentParser
top = FlexibleArgumentParser(prog='vllm')
bench = top.add_subparsers(required=True, dest='subparser').add_parser('bench')
serve = bench.add_subparsers(required=True, dest='bench_type').add_parser('serve')
add_cli_args(serve)
main(top.parse_args())""",
}
for name, text in STAND_INS.items():
    put(f"vllm/{name}.py", text.strip().encode() + b"\n")
for where, _, files in os.walk(os.path.join(out, "vllm")):
    if "__init__.py" not in files:
        put(os.path.relpath(os.path.join(where, "__init__.py"), out), b"")
