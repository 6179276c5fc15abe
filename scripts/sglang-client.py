#!/usr/bin/env python3
"""Lays the client of SGLang's serving benchmark out under a directory, from its wheel alone: bench_serving.py and sglang/benchmark as they
are, and small stand-ins for what else they import of the engine. usage: sglang-client.py WHEEL SHA256 DIR"""
import hashlib
import io
import os
import re
import sys
import urllib.parse
import urllib.request
import zipfile

wheel, sha, out = sys.argv[1:4]
index = os.environ.get("PIP_INDEX_URL") or "https://pypi.org/simple"
page = index.rstrip("/") + "/sglang/"
found = re.search(r'href="([^"#]*/%s)' % re.escape(wheel), urllib.request.urlopen(page).read().decode())
if not found:
    sys.exit(f"{wheel} is not in the index {page}")
data = urllib.request.urlopen(urllib.parse.urljoin(page, found.group(1))).read()
if hashlib.sha256(data).hexdigest() != sha:
    sys.exit("the package is not the one that was looked at")
with zipfile.ZipFile(io.BytesIO(data)) as z:
    for name in z.namelist():
        if name == "sglang/bench_serving.py" or name.startswith("sglang/benchmark/") and not name.endswith("/"):
            z.extract(name, out)
STAND_INS = {
    "__init__": "",
    "srt/__init__": "",
    "srt/disaggregation/__init__": "",
    "srt/disaggregation/utils": "FAKE_BOOTSTRAP_HOST = '2.2.2.2'",
    "srt/utils/__init__": "",
    "srt/utils/network": """
def resolve_base_url(base_url, host, port): return base_url or f'http://{host}:{port}'
def resolve_host_port(base_url, host, port): return base_url or f'{host}:{port}'""",
}
for name, text in STAND_INS.items():
    path = f"{out}/sglang/{name}.py"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(text.lstrip("\n") + "\n")
