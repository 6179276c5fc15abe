"""Packs GPT-2's vocab.bpe into internal/token/gpt2/merges.bin: for each merge the ids of its two tokens, as four
columns of bytes (low and high of the left, low and high of the right), deflated.

    token-gpt2.py VOCAB.BPE OUT
"""
import hashlib
import sys
import zlib

data = open(sys.argv[1], "rb").read()
assert hashlib.sha256(data).hexdigest() == "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5"
printable = [b for b in range(256) if 33 <= b <= 126 or 161 <= b <= 172 or b >= 174]
others = [b for b in range(256) if b not in printable]
ids = {chr(b): i for i, b in enumerate(printable)}
ids.update({chr(256 + i): len(printable) + i for i in range(len(others))})
pairs = []
for line in data.decode("utf-8").split("\n")[1:]:
    if line:
        left, right = line.split(" ")
        pairs.append((ids[left], ids[right]))
        ids[left + right] = len(ids)
assert len(ids) == 50256
columns = b"".join(bytes(f(p) for p in pairs) for f in (lambda p: p[0] & 255, lambda p: p[0] >> 8, lambda p: p[1] & 255, lambda p: p[1] >> 8))
pack = zlib.compressobj(9, zlib.DEFLATED, -15)
open(sys.argv[2], "wb").write(pack.compress(columns) + pack.flush())
