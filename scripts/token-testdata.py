"""Trains the small tokenizers under internal/token/testdata, one of every family, and writes what the reference says
of some strings: for each tokenizer NAME.json.gz and NAME.truth.gz, and strings.jsonl.gz for all. The rows of truth are
those of token-truth.py.

    token-testdata.py OUT
"""
import gzip
import importlib.util
import json
import pathlib
import random
import sys

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

here = pathlib.Path(__file__).parent
spec = importlib.util.spec_from_file_location("truth", here / "token-truth.py")
truth = importlib.util.module_from_spec(spec)
spec.loader.exec_module(truth)
out = pathlib.Path(sys.argv[1])
out.mkdir(parents=True, exist_ok=True)
book = (here.parent / "internal/prompt/synthetic/opticks.txt").read_text()[:120_000].split("\n")
TEXT = book + truth.PROSE * 6 + truth.CODE.split("\n") * 6

GPT = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
ENDS = r"|\s*[\r\n]+|\s+(?!\S)|\s+"
CASED = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
UP, LOW = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
NOT = r"[^\r\n\p{L}\p{N}]?"
CL100K = CASED + "|" + NOT + r"\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*" + ENDS
QWEN = CASED + "|" + NOT + r"\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*" + ENDS
QWEN35 = CASED + "|" + NOT + r"[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*" + ENDS
O200K = NOT + UP + "*" + LOW + "+" + CASED + "?|" + NOT + UP + "+" + LOW + "*" + CASED + r"?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*" + ENDS
TEKKEN = NOT + UP + "*" + LOW + "+|" + NOT + UP + "+" + LOW + r"*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*" + ENDS
DEEPSEEK = [r"\p{N}{1,3}", "[一-龥぀-ゟ゠-ヿ]+", "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"]


def split(*patterns, behavior="isolated", invert=False):
    return [pre_tokenizers.Split(Regex(p), behavior, invert) for p in patterns]


def byte_level(pre, normalizer=None, size=1500, post=None, added=(), special=("<|endoftext|>",), **model):
    t = Tokenizer(models.BPE(**model))
    if normalizer:
        t.normalizer = normalizer
    t.pre_tokenizer = pre
    t.decoder = decoders.ByteLevel()
    t.train_from_iterator(TEXT, trainers.BpeTrainer(vocab_size=size, special_tokens=list(special), initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False, **({"end_of_word_suffix": model["end_of_word_suffix"]} if "end_of_word_suffix" in model else {})))
    if post:
        t.post_processor = post(t)
    if added:
        t.add_tokens(list(added))
    return t


def bl(use_regex=False, add_prefix_space=False):
    return pre_tokenizers.ByteLevel(add_prefix_space=add_prefix_space, use_regex=use_regex)


def seq(*list_):
    return pre_tokenizers.Sequence([x for l in list_ for x in (l if isinstance(l, list) else [l])])


def template(single, *names):
    return lambda t: processors.TemplateProcessing(single=single, special_tokens=[(n, t.token_to_id(n)) for n in names])


BYTES = ["<unk>", "<s>", "</s>"] + ["<0x%02X>" % b for b in range(256)]


def sp_bpe(normalizer=None, pre=None, decoder=None, fallback=True, fuse=True, size=1600, alphabet=300):
    special = BYTES if fallback else BYTES[:3]
    t = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=fuse, byte_fallback=fallback))
    if normalizer:
        t.normalizer = normalizer
    if pre:
        t.pre_tokenizer = pre
    t.train_from_iterator(TEXT if pre else [w for l in TEXT[:800] for w in l.replace(" ", " \x00").split("\x00")], trainers.BpeTrainer(vocab_size=size, special_tokens=special, limit_alphabet=alphabet, show_progress=False))
    j = json.loads(t.to_str())
    j["added_tokens"] = j["added_tokens"][:3]
    t = Tokenizer.from_str(json.dumps(j))
    if decoder:
        t.decoder = decoder
    t.post_processor = template("<s> $A", "<s>")(t)
    return t


def unigram(size=700, **kw):
    t = Tokenizer(models.Unigram())
    t.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")])
    t.pre_tokenizer = pre_tokenizers.Metaspace()
    t.decoder = decoders.Metaspace()
    t.train_from_iterator(TEXT, trainers.UnigramTrainer(vocab_size=size, special_tokens=["<pad>", "</s>", "<unk>"], unk_token="<unk>", show_progress=False))
    t.post_processor = template("$A </s>", "</s>")(t)
    return t


def wordpiece():
    t = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    t.normalizer = normalizers.BertNormalizer()
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    t.decoder = decoders.WordPiece()
    t.train_from_iterator(TEXT, trainers.WordPieceTrainer(vocab_size=900, limit_alphabet=300, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], show_progress=False))
    t.post_processor = processors.BertProcessing(("[SEP]", t.token_to_id("[SEP]")), ("[CLS]", t.token_to_id("[CLS]")))
    return t


def wordlevel():
    t = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    t.normalizer = normalizers.Sequence([normalizers.NFD(), normalizers.Lowercase(), normalizers.StripAccents()])
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Digits(individual_digits=True)])
    t.train_from_iterator(TEXT, trainers.WordLevelTrainer(vocab_size=700, special_tokens=["[UNK]"], show_progress=False))
    return t


def char_bpe():
    t = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=False, end_of_word_suffix="</w>"))
    t.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    t.decoder = decoders.BPEDecoder("</w>")
    t.train_from_iterator(TEXT, trainers.BpeTrainer(vocab_size=700, limit_alphabet=200, special_tokens=["<unk>"], end_of_word_suffix="</w>", show_progress=False))
    return t


FLAGS = [AddedToken("<mask>", lstrip=True, special=True, normalized=False), AddedToken("[UNK]", rstrip=True, normalized=False), AddedToken("the", single_word=True, normalized=False),
         AddedToken("Light", normalized=True), AddedToken("<think>", normalized=False), AddedToken("<think", lstrip=True, rstrip=True, normalized=False), AddedToken("Å", normalized=True), AddedToken("中文", normalized=False)]
SPM = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
GEMMA = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])

FAMILIES = {
    "gpt2": lambda: byte_level(bl(True), post=lambda t: processors.ByteLevel(trim_offsets=False)),
    "llama3": lambda: byte_level(seq(split(CL100K), bl()), special=["<|begin_of_text|>", "<|eot_id|>"], ignore_merges=True, post=lambda t: processors.Sequence([processors.ByteLevel(trim_offsets=False), template("<|begin_of_text|> $A", "<|begin_of_text|>")(t)])),
    "gpt4": lambda: byte_level(seq(split(CL100K, behavior="removed", invert=True), bl())),
    "qwen": lambda: byte_level(seq(split(QWEN), bl()), normalizers.NFC(), added=[AddedToken("<tool_call>", normalized=False)], special=["<|endoftext|>", "<|im_start|>", "<|im_end|>"]),
    "qwen35": lambda: byte_level(seq(split(QWEN35), bl()), normalizers.NFC()),
    "gpt4o": lambda: byte_level(seq(split(O200K, behavior="removed", invert=True), bl()), size=1800),
    "tekken": lambda: byte_level(seq(split(TEKKEN), bl()), ignore_merges=True, special=["<unk>", "<s>", "</s>"], post=template("<s> $A </s>", "<s>", "</s>")),
    "deepseek": lambda: byte_level(seq(split(*DEEPSEEK), bl()), normalizers.Sequence([])),
    "command": lambda: byte_level(seq([pre_tokenizers.Digits(individual_digits=True)], bl(True)), normalizers.NFC()),
    "digits": lambda: byte_level(seq([pre_tokenizers.Digits(individual_digits=False)], bl(True))),
    "roberta": lambda: byte_level(bl(True, True), special=["<s>", "<pad>", "</s>", "<unk>"], added=FLAGS[:1], post=lambda t: processors.RobertaProcessing(("</s>", t.token_to_id("</s>")), ("<s>", t.token_to_id("<s>")))),
    "flags": lambda: byte_level(bl(True), normalizers.Sequence([normalizers.NFC(), normalizers.Lowercase()]), added=FLAGS),
    "unknown-split": lambda: byte_level(seq(split(r"\d|[aeiou]+(?=s)|\S+"), bl())),
    "whitespace": lambda: byte_level(seq([pre_tokenizers.WhitespaceSplit()], bl())),
    "whole": lambda: byte_level(bl(), size=700),
    "llama2": lambda: sp_bpe(normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]), decoder=SPM),
    "gemma": lambda: sp_bpe(normalizers.Replace(" ", "▁"), pre_tokenizers.Split(" ", "merged_with_previous"), decoder=GEMMA),
    "metaspace": lambda: sp_bpe(None, pre_tokenizers.Metaspace(prepend_scheme="first", split=False), decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace(prepend_scheme="first", split=False)])),
    "metaspace-strip": lambda: sp_bpe(normalizers.Sequence([normalizers.NFKC(), normalizers.Strip()]), pre_tokenizers.Metaspace(prepend_scheme="first"), decoders.Metaspace(prepend_scheme="first"), fallback=False, size=700),
    "unk": lambda: sp_bpe(None, pre_tokenizers.Metaspace(), decoders.Metaspace(), fallback=False, fuse=False, size=600),
    "unk-fused": lambda: sp_bpe(normalizers.Replace(" ", "▁"), None, decoders.Replace("▁", " "), fallback=False, size=600),
    "char-bpe": char_bpe,
    "unigram": unigram,
    "wordpiece": wordpiece,
    "wordlevel": wordlevel,
}


def pick():
    """A sample of the strings for conformance, short ones, and some of every kind."""
    rng = random.Random(11)
    everything = [s for s in truth.strings() if len(s) <= 120]
    head = [s for s in everything[:700] if len(s) < 100]
    return head[::2] + rng.sample(everything[700:-9000], 420) + rng.sample(everything[-9000:], 60)


def packed(path, data):
    with open(path, "wb") as f, gzip.GzipFile("", "wb", 9, f, 0) as z:
        z.write(data.encode())


strings = pick()
packed(out / "strings.jsonl.gz", "".join(json.dumps(s) + "\n" for s in strings))
for name, make in FAMILIES.items():
    if len(sys.argv) > 2 and name not in sys.argv[2:]:
        continue
    t = make()
    text = t.to_str()
    t = Tokenizer.from_str(text)
    packed(out / (name + ".json.gz"), text)
    rows = []
    for s in strings:
        ids, special = t.encode(s, add_special_tokens=False).ids, t.encode(s).ids
        rows.append(json.dumps([ids, special, t.decode(ids, skip_special_tokens=False), t.decode(special, skip_special_tokens=True)], separators=(",", ":")))
    packed(out / (name + ".truth.gz"), "\n".join(rows) + "\n")
    print(name, t.get_vocab_size(), len(text))
