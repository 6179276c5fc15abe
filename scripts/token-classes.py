"""Writes internal/token/scan/classes.txt: the classes of characters as the regular
expressions of Hugging Face tokenizers see them. Their Unicode is newer than Go's.
Run with the Python of .peers/tokens/venv and give the file to write."""
import sys

from tokenizers import Regex, pre_tokenizers

CLASSES = [("u", r"[\p{Lu}\p{Lt}]"), ("l", r"\p{Ll}"), ("o", r"[\p{Lm}\p{Lo}]"), ("m", r"\p{M}"),
           ("n", r"\p{N}"), ("p", r"\p{P}"), ("s", r"\p{S}"), ("w", r"\s")]
text = "".join(chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000)
table = {}
for name, regex in CLASSES:
    for piece, _ in pre_tokenizers.Split(Regex(regex), "removed", invert=True).pre_tokenize_str(text):
        for ch in piece:
            assert ord(ch) not in table, (ch, name)
            table[ord(ch)] = name

with open(sys.argv[1], "w") as out:
    start = None
    for c in range(0x110001):
        if start is not None and table.get(c) != table.get(start):
            if start in table:
                out.write("%s %x" % (table[start], start) + (" %x" % (c - 1) if c - 1 > start else "") + "\n")
            start = c
        if start is None:
            start = c
