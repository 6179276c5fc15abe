"""Makes internal/token/unidata/*.txt by asking Hugging Face tokenizers.

Each library inside the reference carries character tables of its own Unicode
version (9, 16 and 17 at the time of writing), so what counts is what the
reference does: every table is a sweep of its behaviour over all code points. Only what it
cannot show, the numeric value of a combining class and the pair that a
character is composed of, comes from Python's unicodedata, and both are frozen
by the standard. Grapheme classes come from the regex module, as far as the
reference shows them.

usage: python unidata.py OUT_DIR
"""
import base64
import json
import pathlib
import struct
import sys
import unicodedata

import regex
from tokenizers import Regex, Tokenizer, normalizers, pre_tokenizers

HERE = pathlib.Path(__file__).parent
ALL = [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000]
TEXT = "".join(ALL)


def ranges(chars):
    out = []
    for c in sorted(set(map(ord, chars))):
        if out and out[-1][1] == c - 1:
            out[-1][1] = c
        else:
            out.append([c, c])
    return out


def pack(chars):
    """gap and length of each range, in hex; the length is left out where it is 1."""
    words, at = [], 0
    for lo, hi in ranges(chars):
        words.append("%x" % (lo - at) if lo == hi else "%x,%x" % (lo - at, hi - lo + 1))
        at = hi + 1
    return " ".join(words)


def dropped(normalizer, text=TEXT):
    return set(text) - set(normalizer.normalize_str(text))


def onig(cls):
    """The characters that a one-character pattern matches."""
    return normalizers.Replace(Regex("(?:(?!%s)(?m:.))+" % cls), "").normalize_str(TEXT)


def onig_property(name):
    return normalizers.Replace(Regex(r"\P{%s}+" % name), "").normalize_str(TEXT)


def write_properties(out):
    lines, seen = [], {}
    for name in (HERE / "onig_properties.txt").read_text().split():
        try:
            packed = pack(onig_property(name))
        except Exception as e:
            print("no property", name, e)
            continue
        key = name.lower().replace("_", "").replace("-", "")
        if packed in seen:
            lines.append("%s\t=%s" % (key, seen[packed]))
        else:
            seen[packed] = key
            lines.append("%s\t%s" % (key, packed))
    (out / "properties.txt").write_text("\n".join(sorted(lines)) + "\n")


def pieces(pre, text):
    return [p for p, _ in pre.pre_tokenize_str(text)]


def each(pre, test):
    """The characters for which test(pieces of 'a' + c + 'a') holds."""
    return [c for c in ALL if test(pieces(pre, "a" + c + "a"))]


# Inside a class, \w and [:punct:] differ from \w and \p{Punct} outside.
POSIX = [("posix_" + n, "[[:%s:]]" % n) for n in "alnum alpha ascii blank cntrl digit graph lower print punct space upper xdigit word".split()]


def write_sets(out):
    sets = {}
    whitespace = pre_tokenizers.WhitespaceSplit()
    word = pre_tokenizers.Whitespace()
    sets["rust_space"] = each(whitespace, lambda p: len(p) == 2)
    sets["rust_numeric"] = each(pre_tokenizers.Digits(True), lambda p: len(p) == 3)
    sets["regex_word"] = each(word, lambda p: len(p) == 1)
    sets["regex_space"] = each(word, lambda p: len(p) == 2)
    sets["punctuation"] = each(pre_tokenizers.Punctuation(), lambda p: len(p) == 3)
    clean = normalizers.BertNormalizer(True, False, False, False)
    sets["bert_dropped"] = [c for c in ALL if clean.normalize_str(c) == ""]
    sets["bert_space"] = [c for c in ALL if clean.normalize_str(c) == " "]
    accents = normalizers.BertNormalizer(False, False, True, False)
    sets["bert_accent"] = [c for c in ALL if accents.normalize_str(c) == ""]
    sets["combining_mark"] = dropped(normalizers.StripAccents())
    lines = ["%s\t%s" % (k, pack(v)) for k, v in sorted(sets.items())]
    for name, pattern in [("onig_word", r"\w"), ("onig_space", r"\s"), ("onig_digit", r"\d"), ("onig_hex", r"\h"), ("onig_class_word", r"[\w]")] + POSIX:
        lines.append("%s\t%s" % (name, pack(onig(pattern))))
    (out / "sets.txt").write_text("\n".join(lines) + "\n")


def write_scripts(out):
    pre = pre_tokenizers.UnicodeScripts()

    def same(a, b):
        return len(pieces(pre, a + b)) == 1

    members, none = {}, []
    last = None
    for c in ALL:
        if pieces(pre, c) == []:
            none.append(c)
            continue
        if last is not None and same(last, c):
            members[last].append(c)
            continue
        last = next((r for r in members if same(r, c)), c)
        members.setdefault(last, []).append(c)
    lines = ["\t" + pack(none)] + ["%x\t%s" % (ord(k), pack(v)) for k, v in sorted(members.items())]
    (out / "scripts.txt").write_text("\n".join(lines) + "\n")


def write_lower(out):
    lower = normalizers.Lowercase()
    lines = []
    for c in ALL:
        l = lower.normalize_str(c)
        if l != c:
            lines.append("%x %s" % (ord(c), " ".join("%x" % ord(x) for x in l)))
    (out / "lower.txt").write_text("\n".join(lines) + "\n")


def write_forms(out):
    nfd, nfkd, nfc = normalizers.NFD(), normalizers.NFKD(), normalizers.NFC()
    lines = []
    hangul = range(0xAC00, 0xD7A4)
    for c in ALL:
        if ord(c) in hangul:
            continue
        d, k = nfd.normalize_str(c), nfkd.normalize_str(c)
        if d != c:
            lines.append("d %x %s" % (ord(c), " ".join("%x" % ord(x) for x in d)))
        if k != d:
            lines.append("k %x %s" % (ord(c), " ".join("%x" % ord(x) for x in k)))
        if d != c and nfc.normalize_str(c) == c:
            pair = unicodedata.decomposition(c).split()
            assert len(pair) == 2 and pair[0][0] != "<", c
            lines.append("c %x %x %x" % (ord(c), int(pair[0], 16), int(pair[1], 16)))
    low, high = "\u0334", "\u0345"
    for c in ALL:
        ccc = unicodedata.combining(c)
        if ccc and nfd.normalize_str(c) == c:
            moved = nfd.normalize_str("a" + c + low) == "a" + low + c or nfd.normalize_str("a" + high + c) == "a" + c + high
            if moved or c == high:
                lines.append("m %x %x" % (ord(c), ccc))
    (out / "forms.txt").write_text("\n".join(lines) + "\n")


def write_folds(out):
    cased = sorted(set(onig_property("Cased")) | {c for c in ALL if c.casefold() != c or c.upper() != c or c.lower() != c})
    text = " ".join(cased)
    lines, done = [], set()
    for c in cased:
        if c in done:
            continue
        rest = normalizers.Replace(Regex(r"(?i:\x{%x})" % ord(c)), "").normalize_str(text)
        group = sorted(set(cased) - set(rest))
        if len(group) > 1:
            lines.append("s " + " ".join("%x" % ord(x) for x in group))
            done.update(group)
    for c in cased:
        f = c.casefold()
        if len(f) > 1:
            lines.append("f %x %s" % (ord(c), " ".join("%x" % ord(x) for x in f)))
    (out / "folds.txt").write_text("\n".join(lines) + "\n")


def swallower():
    """A Precompiled normalizer that replaces every cluster of up to five bytes by X where it begins with an a or a byte of 0xe0 to 0xef."""
    first = [0x61] + list(range(0xE0, 0xF0))
    base, leaf = 0x100, 0x200
    units = [0] * 0x400
    units[0] = base << 10
    for b in first:
        at = base ^ b
        units[at] = b | 1 << 8 | (at ^ leaf) << 10
    units[leaf] = 1 << 31
    blob = struct.pack("<I", 4 * len(units)) + struct.pack("<%dI" % len(units), *units) + b"X\0"
    file = {"version": "1.0", "added_tokens": [], "normalizer": {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(blob).decode()}, "model": {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}}
    return Tokenizer.from_str(json.dumps(file)).normalizer.normalize_str


def write_graphemes(out):
    # The regex module may know a later Unicode than the reference, so what the
    # reference shows of a class decides: a mark is swallowed with the letter before it,
    # and a conjunct is too long for that.
    swallow = swallower()

    def conjunct(a, link, b):
        return swallow(a + link + b + "\u0301").endswith("\u0301")

    def members(name):
        chars = regex.findall(r"\p{%s}" % name, TEXT)
        if name in ("GCB=Extend", "GCB=SpacingMark", "GCB=ZWJ", "InCB=Extend"):
            return [c for c in chars if swallow("a" + c) == "X"]
        if name == "InCB=Linker":
            return [c for c in chars if conjunct("\u0915", c, "\u0915")]
        if name == "InCB=Consonant":
            return [c for c in chars if ord(c) > 0xFFFF or conjunct(c, "\u094d", c)]
        return chars

    lines = []
    for n in ["CR", "LF", "Control", "Extend", "ZWJ", "Regional_Indicator", "Prepend", "SpacingMark", "L", "V", "T", "LV", "LVT"]:
        lines.append("%s\t%s" % (n, pack(members("GCB=" + n))))
    lines.append("ExtPict\t" + pack(members("Extended_Pictographic")))
    for n in ["Linker", "Consonant", "Extend"]:
        lines.append("InCB_%s\t%s" % (n, pack(members("InCB=" + n))))
    (out / "graphemes.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    wanted = sys.argv[2:]
    for job in [write_sets, write_lower, write_forms, write_folds, write_graphemes, write_scripts, write_properties]:
        if not wanted or job.__name__ in wanted:
            job(out)
            print(job.__name__, "done", flush=True)
