"""Writes what Hugging Face tokenizers makes of many texts, part by part.

For each package under internal/token there is a file of JSON lines, gzipped. Its
first line is the list of inputs; each further line has the JSON of a component and
its outputs, one for each input; null where the reference fails.

usage: python components.py OUT_DIR COUNT [SEED]

OUT_DIR is internal/token for the small files that are committed (COUNT 120), which
go to <package>/testdata/truth.jsonl.gz, or any other folder for a sweep, where they
are called <package>.jsonl.gz.
"""
import gzip
import json
import pathlib
import random
import sys

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

# Texts ---------------------------------------------------------------------------

WORDS = """the of and to in is you that it he was for on are as with his they I at be this have from or one had by
word but not what all were we when your can said there use an each which she do how their if will up other about out
many then them these so some her would make like him into time has look two more write go see number no way could
people my than first water been call who oil its now find long down day did get come made may part DON'T I'll we've
naïve café Straße ΌΣΟΣ İstanbul ﬁne ﬆop Kelvin ſharp I'M HE'S they'Re def return import self.x() x==1 foo_bar CamelCase
größe żółć mañana 1,234.56 2024-01-02 0x1F 3/4 ½ ² ٣ ५ 東京都 日本語 中文字符 한국어 텍스트 ไทยภาษา हिन्दी क्षत्रिय தமிழ் العربية עברית русский
украї́нська ქართული ខ្មែរ မြန်မာ አማርኛ ᏣᎳᎩ ɓaƙa ʻōlelo Việt ngữ <s> </s> <unk> <0x41> [UNK] ##ing ▁a ▁ ▁▁""".split()
SPACES = [" ", " ", " ", "  ", "\n", "\n\n", "\t", "\r\n", "\u00a0", "\u2003", "\u3000", "\u200b", "\u2028", "\x0b", "\x0c", "\x85", "\x1c", "    ", "\ufeff", "\u180e"]
MARKS = list("\u0301\u0300\u0308\u0327\u0323\u0334\u0345\u05b0\u05bc\u064b\u0651\u093c\u094d\u0e38\u0f71\u0f72\u302a\u3099\u309a\u20d0\u1dc0") + ["\U0001d165", "\U0001e8d0", "\U00011046"]
EMOJI = ["😀", "👩‍👩‍👧‍👦", "🇩🇪🇫🇷🇺", "👍🏽", "❤️", "1️⃣", "🏳️‍🌈", "🧑🏿‍🚀", "©️", "〰️", "⚕️", "\U0001f46a\u200d", "\u200d👦"]
ODD = ["'s", "'S", "'ſ", "'re", "'LL", "ß", "ẞ", "ss", "SS", "ŉ", "ΐ", "ΰ", "և", "ﬀ", "ﬃ", "ﬅ", "K", "Å", "ſ", "ς", "σ", "Σ", "İ", "ı", "ǅ", "ᾳ", "ͅ", "\u1e9b\u0323", "가", "각", "ᄀ", "ᅡ", "ᆨ", "ᆧ",
       "ﾊﾞ", "パ", "ｶﾞ", "①", "㌀", "ﷺ", "\u0958", "\u0344", "\u2126", "\u212b", "\U0001d15e", "\ud7a3", "\u0f77", "\u1100\u1161\u11a8", "々", "ー", "゛", "¨", "`", "$", "^", "+", "|", "~", "_", "-", ".", "...", "!?", "“”", "—", "¿", "٪", "。", "、"]
RANGES = [(0x20, 0x7E), (0, 0x1F), (0x7F, 0xFF), (0x100, 0x24F), (0x250, 0x36F), (0x370, 0x3FF), (0x400, 0x52F), (0x530, 0x5FF), (0x600, 0x6FF), (0x700, 0x8FF), (0x900, 0x97F), (0x980, 0xDFF), (0xE00, 0xEFF), (0xF00, 0xFFF),
          (0x1000, 0x109F), (0x1100, 0x11FF), (0x1200, 0x139F), (0x1400, 0x167F), (0x1780, 0x17FF), (0x1800, 0x18AF), (0x1A00, 0x1CFF), (0x1D00, 0x1FFF), (0x2000, 0x206F), (0x2070, 0x20FF), (0x2100, 0x218F), (0x2190, 0x23FF), (0x2460, 0x27BF),
          (0x2C00, 0x2DFF), (0x2E80, 0x303F), (0x3040, 0x30FF), (0x3100, 0x33FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xA000, 0xA63F), (0xA640, 0xABFF), (0xAC00, 0xD7FF), (0xE000, 0xF8FF), (0xF900, 0xFAFF), (0xFB00, 0xFDFF), (0xFE00, 0xFFFF),
          (0x10000, 0x10FFF), (0x11000, 0x11FFF), (0x12000, 0x16FFF), (0x17000, 0x1BFFF), (0x1D000, 0x1D7FF), (0x1E000, 0x1EFFF), (0x1F000, 0x1FAFF), (0x20000, 0x2FFFF), (0x30000, 0x323FF), (0xE0000, 0xE01EF), (0xF0000, 0x10FFFF)]


def char(rng):
    while True:
        c = rng.randint(*rng.choice(RANGES))
        if c > 0x10FFFF or 0xD800 <= c < 0xE000:
            continue
        return chr(c)


def bit(rng):
    k = rng.random()
    if k < 0.34:
        return rng.choice(WORDS)
    if k < 0.52:
        return rng.choice(SPACES) * rng.choice([1, 1, 1, 2, 5])
    if k < 0.60:
        return rng.choice(ODD)
    if k < 0.66:
        return "".join(rng.choice(MARKS) for _ in range(rng.choice([1, 2, 3, 40])))
    if k < 0.70:
        return rng.choice(EMOJI)
    if k < 0.76:
        return "".join(rng.choice("0123456789") for _ in range(rng.randint(1, 7)))
    if k < 0.82:
        return rng.choice("abeoAEsStT") + rng.choice(MARKS)
    if k < 0.90:
        lo, hi = rng.choice(RANGES)
        return "".join(c for c in (chr(rng.randint(lo, hi)) for _ in range(rng.randint(1, 8))) if not 0xD800 <= ord(c) < 0xE000)
    return char(rng)


def text(rng):
    return "".join(bit(rng) for _ in range(rng.choice([1, 2, 3, 5, 8, 13, 21])))


def texts(count, seed):
    rng = random.Random(seed)
    out = ["", " ", "  a", "a ", "\n", "Hello, y'all! How are you 😁 ?", "▁a b", " ▁ b", "a" * 120, "é" * 101, "ab" * 300]
    have = len(out)
    while len(out) < have + count:
        out.append(text(rng))
    if count >= 10000:  # every code point, with and without neighbours
        all = [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000 and not 0x40000 <= c < 0xE0000]
        for i in range(0, len(all), 48):
            out.append("".join(all[i : i + 48]))
        for i in range(0, len(all), 29):
            out.append("a".join(all[i : i + 29]))
        for i in range(0, 0x20000 - 0x800, 17):
            out.append("".join("e" + c + "\u0301 " for c in all[i : i + 17]))
    return out


def attempt(f, *args):
    try:
        return f(*args)
    except BaseException as e:
        if isinstance(e, KeyboardInterrupt):
            raise
        return None


class File:
    def __init__(self, out, package, inputs):
        if out.name == "token" and out.parent.name == "internal":
            path = out / package / "testdata" / "truth.jsonl.gz"
        else:
            path = out / (package + ".jsonl.gz")
        path.parent.mkdir(parents=True, exist_ok=True)
        # No name and no time, so that the same contents give the same file.
        self.file = gzip.GzipFile("", "wb", 9 if len(inputs) < 10000 else 1, path.open("wb"), 0)
        self.inputs = inputs
        self.write(inputs)

    def write(self, value):
        self.file.write((json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n").encode())

    def row(self, config, f, count=None):
        """One component; count: how many inputs it is tried on, the rest being single code points."""
        count = len(self.inputs) if count is None else min(count, len(self.inputs))
        self.write({"config": config, "out": [attempt(f, x) for x in self.inputs[:count]] + [None] * (len(self.inputs) - count)})

    def close(self):
        raw = self.file.fileobj
        self.file.close()
        raw.close()


def config_of(component):
    return json.loads(component.__getstate__())


# Components ----------------------------------------------------------------------


def charsmap(rng):
    """A small precompiled_charsmap: a double array built by trying, as SentencePiece would."""
    import base64
    import struct

    rules = {"ﬁ": "fi", "ｶ": "カ", "ｶﾞ": "ガ", "e\u0301": "é", "\u0301": "", "①": "1", "\t": " ", "\r\n": "\n", "한": "KR", "ไ": "x", "🇩": "D", "👍": "+1", "क": "k", "\u200d": "", "ﷺ": "a b c", "a\u0308": "ä",
             "\u00a0": " ", "…": "...", "S\u0327": "Ş", "\u1100\u1161": "가", "Ω": "W", "ß": "ss", "각": "gag", "‼": "!!", "❤️": "<3"}
    for c in range(0xFF21, 0xFF3B):
        rules[chr(c)] = chr(c - 0xFEE0)
    blob, at = b"", {}
    for k, v in sorted(rules.items()):
        at[k] = len(blob)
        blob += v.encode() + b"\0"
    tree = {}
    for k in rules:
        node = tree
        for b in k.encode():
            node = node.setdefault(b, {})
        node[0] = at[k]
    units, used = {0: 0}, {0}

    def place(node, pos):
        # Children are at offset^label, where offset is pos^value; label 0 holds the value.
        base = 1
        while True:
            labels = list(node)
            if all((base ^ l) not in used for l in labels) and base ^ pos < 1 << 21 and base not in bases:
                break
            base += 1
        bases.add(base)
        units[pos] = units.get(pos, 0) | ((base ^ pos) << 10)
        for l in labels:
            used.add(base ^ l)
        for l, child in sorted(node.items()):
            if l == 0:
                units[pos] |= 1 << 8
                units[base] = child | 1 << 31
            else:
                units[base ^ l] = l
        for l, child in sorted(node.items()):
            if l:
                place(child, base ^ l)

    bases = set()
    place(tree, 0)
    size = max(max(units), max(used)) + 256
    array = [units.get(i, 0) for i in range(size)]
    return base64.b64encode(struct.pack("<I", 4 * size) + struct.pack("<%dI" % size, *array) + blob).decode()


def spm_charsmap():
    """The nmt_nfkc table of SentencePiece, out of a model that is trained for it."""
    import base64
    import io

    try:
        import sentencepiece
        from sentencepiece import sentencepiece_model_pb2 as pb
    except ImportError:
        return None
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(WORDS * 20), model_writer=model, vocab_size=400, hard_vocab_limit=False, minloglevel=2)
    proto = pb.ModelProto()
    proto.ParseFromString(model.getvalue())
    return base64.b64encode(proto.normalizer_spec.precompiled_charsmap).decode()


def write_normal(out, inputs, seed, count):
    rng = random.Random(seed)
    f = File(out, "normal", inputs)
    n = normalizers
    list_ = [n.NFC(), n.NFD(), n.NFKC(), n.NFKD(), n.Lowercase(), n.StripAccents(), n.Nmt(), n.ByteLevel(), n.Strip(True, True), n.Strip(True, False), n.Strip(False, True), n.Prepend("▁"), n.Prepend("ab"),
             n.Replace(" ", "▁"), n.Replace("", "-"), n.Replace("a.b", "x"), n.Replace(Regex(r"\s+"), " "), n.Replace(Regex(" {2,}"), "▁"), n.Replace(Regex("[aeiou]*"), "*"), n.Replace(Regex("^"), "> "), n.Replace("''", '"')]
    for clean in (True, False):
        for chinese in (True, False):
            for accents in (None, True, False):
                for lower in (True, False):
                    list_.append(n.BertNormalizer(clean, chinese, accents, lower))
    list_.append(n.Sequence([n.NFKD(), n.Lowercase(), n.StripAccents()]))
    list_.append(n.Sequence([n.Nmt(), n.NFKC(), n.Replace(Regex(" {2,}"), " "), n.Strip(True, True), n.Prepend("▁")]))
    list_.append(n.Sequence([]))
    for x in list_:
        f.row(config_of(x), x.normalize_str)
    for blob in [charsmap(rng), spm_charsmap() if len(inputs) > 10000 else None]:
        if blob:
            config = {"type": "Precompiled", "precompiled_charsmap": blob}
            x = Tokenizer.from_str(json.dumps({"version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": config, "pre_tokenizer": None, "post_processor": None, "decoder": None,
                                               "model": {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}})).normalizer
            f.row(config, x.normalize_str)
    f.close()


BEHAVIORS = ["removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"]

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
CL100K = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
O200K = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"


def write_pretoken(out, inputs, seed, count):
    f = File(out, "pretoken", inputs)
    p = pre_tokenizers
    list_ = [p.ByteLevel(prefix, True, regex) for prefix in (True, False) for regex in (True, False)]
    list_ += [p.Metaspace("▁", scheme, split) for scheme in ("always", "never", "first") for split in (True, False)]
    list_ += [p.Metaspace("_", "always", True), p.Digits(True), p.Digits(False), p.Whitespace(), p.WhitespaceSplit(), p.BertPreTokenizer(), p.UnicodeScripts(), p.CharDelimiterSplit("e"), p.CharDelimiterSplit("▁"), p.FixedLength(5), p.FixedLength(1)]
    by_character = len(list_)
    for b in BEHAVIORS:
        list_.append(p.Punctuation(b))
        for invert in (False, True):
            list_.append(p.Split(" ", b, invert))
            list_.append(p.Split("", b, invert))
            list_.append(p.Split(Regex(GPT2), b, invert))
            list_.append(p.Split(Regex(r"\d|[A-Z]"), b, invert))
            list_.append(p.Split(Regex(r"[aeiou]*"), b, invert))
    list_.append(p.Sequence([p.WhitespaceSplit(), p.Metaspace("▁", "always", True)]))
    list_.append(p.Sequence([p.WhitespaceSplit(), p.Metaspace("▁", "first", True)]))
    list_.append(p.Sequence([p.Punctuation("isolated"), p.Metaspace("▁", "first", True)]))
    list_.append(p.Sequence([p.Digits(True), p.ByteLevel(False, True, True)]))
    list_.append(p.Sequence([p.Split(Regex(r"\p{N}{1,3}"), "isolated"), p.Split(Regex("[一-龥぀-ゟ゠-ヿ]+"), "isolated"), p.ByteLevel(False, True, False)]))
    list_.append(p.Sequence([]))
    for i, x in enumerate(list_):
        f.row(config_of(x), lambda s: [t for t, _ in x.pre_tokenize_str(s) if t], None if i < by_character else count)
    f.close()


def write_regex(out, inputs, seed, count):
    f = File(out, "regex", inputs[:count])
    lines = (pathlib.Path(__file__).parent / "patterns.txt").read_text().splitlines()
    for pattern in lines:
        if not pattern:
            continue
        x = attempt(lambda: normalizers.Replace(Regex(pattern), "\x01"))
        if x is None:
            f.write({"config": pattern, "out": None})
        else:
            f.row(pattern, x.normalize_str)
    f.close()


def write_detoken(out, inputs, seed, count):
    rng = random.Random(seed)
    alphabet = sorted(p[0][0] for c in range(256) if c < 128 for p in [pre_tokenizers.ByteLevel(False, True, False).pre_tokenize_str(chr(c))])
    alphabet += [chr(c) for c in range(0xA1, 0x144)]

    def token():
        k = rng.random()
        if k < 0.2:
            return "<0x%02X>" % rng.choice([0x41, 0xE4, 0xBD, 0xA0, 0x0A, 0xF0, 0x9F, 0x98, 0x80, rng.randrange(256)])
        if k < 0.25:
            return rng.choice(["<0xé>", "<0x+5>", "<0xfF>", "<0x-1>", "<0xGG>", "<0x 1>", "<pad>", "|", "|", "##s", "##", "</w>", "a</w>", "", "▁", "▁▁a", "n't", "'m", ".", "do not", "[UNK]", "<pad>a"])
        if k < 0.45:
            return "".join(rng.choice(alphabet) for _ in range(rng.randint(1, 4)))
        if k < 0.6:
            return "▁" + rng.choice(WORDS)
        if k < 0.7:
            return "##" + rng.choice(WORDS)
        return bit(rng)

    lists = [[], [""], ["a"]]
    for _ in range(count):
        l = [token() for _ in range(rng.randint(1, 12))]
        if rng.random() < 0.3:
            i = rng.randrange(len(l))
            l[i:i] = [l[i]] * rng.randint(1, 3)
        lists.append(l)
    f = File(out, "detoken", lists)
    d = decoders
    list_ = [d.ByteLevel(), d.ByteFallback(), d.Fuse(), d.WordPiece("##", True), d.WordPiece("##", False), d.WordPiece("", True), d.Metaspace("▁", "always"), d.Metaspace("▁", "never"), d.Metaspace("▁", "first"), d.BPEDecoder("</w>"), d.BPEDecoder(""),
             d.Strip(" ", 1, 0), d.Strip("▁", 2, 1), d.Strip("a", 0, 1), d.Replace("▁", " "), d.Replace("", "-"), d.Replace(Regex(r"\s+"), "_"), d.Replace(Regex("[ab]*"), "."), d.CTC("<pad>", "|", True), d.CTC("<pad>", "|", False), d.CTC("", "", True),
             d.Sequence([d.Replace("▁", " "), d.ByteFallback(), d.Fuse(), d.Strip(" ", 1, 0)]), d.Sequence([d.ByteFallback(), d.Metaspace("▁", "first"), d.Fuse()]), d.Sequence([])]
    for x in list_:
        f.row(config_of(x), x.decode)
    f.close()


def model_config(t):
    return json.loads(t.to_str())["model"]


def write_model(out, package, inputs, list_):
    f = File(out, package, inputs)
    for m in list_:
        t = Tokenizer(m)
        # What comes of it when read from a file: the reference's JSON reader does not always give the nearest float.
        read = Tokenizer.from_str(t.to_str())
        f.row(model_config(t), lambda s: read.encode(s).ids)
    f.close()


def words(inputs):
    """The inputs cut to what models see: words of every kind."""
    pre = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation()])
    out = ["", "a" * 100, "a" * 101, "é" * 100, "é" * 101]
    for s in inputs:
        out += [t for t, _ in pre.pre_tokenize_str(s)]
    return list(dict.fromkeys(out))


def pieces(rng, inputs, count):
    out = {}
    while len(out) < count:
        s = rng.choice(inputs)
        if s:
            i = rng.randrange(len(s))
            out[s[i : i + rng.choice([1, 1, 1, 2, 2, 3, 4, 6, 10])]] = 0
    return list(out)


def write_unigram(out, inputs, seed, count):
    rng = random.Random(seed)
    trained = Tokenizer(models.Unigram())
    trained.pre_tokenizer = pre_tokenizers.Metaspace()
    trained.train_from_iterator(inputs[:2000], trainers.UnigramTrainer(vocab_size=1500 if count < 1000 else 20000, special_tokens=["<unk>", "<s>"], unk_token="<unk>", show_progress=False))
    vocab = [tuple(x) for x in model_config(trained)["vocab"]]
    byte = [("<0x%02X>" % b, -9.0) for b in range(256)]
    list_ = [models.Unigram(vocab, 0, False), models.Unigram(vocab + byte, 0, True), models.Unigram(vocab + byte[:200], 0, True)]
    for scores in ([-1.0], [-1.0, -2.0, -3.0], [0.1, 0.2, 0.3, -0.1], [30.0, 31.0, 60.5], [-1.5, -3.0, -4.5, -6.0]):
        some = [("<unk>", rng.choice(scores))] + [(p, rng.choice(scores)) for p in pieces(rng, inputs, 600)]
        some += [(w, rng.choice(scores)) for w in ("<unk>", "the", "the", "")]
        list_.append(models.Unigram(some, rng.choice([0, 0, 5]), False))
        list_.append(models.Unigram(some + byte, 0, True))
    write_model(out, "unigram", inputs[: 3 * count], list_)


def write_wordpiece(out, inputs, seed, count):
    rng = random.Random(seed)
    list_ = []
    t = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    t.train_from_iterator(inputs[:2000], trainers.WordPieceTrainer(vocab_size=2000, special_tokens=["[UNK]"], show_progress=False))
    vocab = model_config(t)["vocab"]
    list_.append(models.WordPiece(vocab, unk_token="[UNK]", max_input_chars_per_word=100, continuing_subword_prefix="##"))
    list_.append(models.WordPiece(vocab, unk_token="[UNK]", max_input_chars_per_word=4, continuing_subword_prefix="##"))
    list_.append(models.WordPiece(vocab, unk_token="[UNK]", max_input_chars_per_word=1000, continuing_subword_prefix=""))
    chars = sorted({c for s in inputs[:400] for c in s})
    some = ["[UNK]", "ß"] + pieces(rng, inputs, 300) + chars + ["ß" + c for c in chars]
    vocab = {p: i for i, p in enumerate(dict.fromkeys(some))}
    list_.append(models.WordPiece(vocab, unk_token="[UNK]", max_input_chars_per_word=100, continuing_subword_prefix="ß"))
    write_model(out, "wordpiece", words(inputs), list_)


def write_wordlevel(out, inputs, seed, count):
    rng = random.Random(seed)
    some = words(inputs)
    keep = ["<unk>"] + [w for w in some if rng.random() < 0.3]
    write_model(out, "wordlevel", some, [models.WordLevel({w: 3 * i for i, w in enumerate(dict.fromkeys(keep))}, "<unk>")])


if __name__ == "__main__":
    out, count = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    only = sys.argv[4:]
    inputs = texts(count, seed)
    for name, write in [("normal", write_normal), ("pretoken", write_pretoken), ("regex", write_regex), ("detoken", write_detoken), ("unigram", write_unigram), ("wordpiece", write_wordpiece), ("wordlevel", write_wordlevel)]:
        if not only or name in only:
            write(out.resolve(), inputs, seed, count)
            print(name, "done", flush=True)
