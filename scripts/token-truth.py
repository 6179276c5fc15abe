"""Writes what Hugging Face tokenizers says of many strings, for `make conformance-tokens`.

    token-truth.py strings OUT                  the strings, one JSON string a line
    token-truth.py truth STRINGS TOKENIZER OUT  for each string: ids, ids with special tokens, text decoded from
                                                the ids, and the same without special tokens, as one JSON array a line
    token-truth.py bert VOCAB.JSON OUT          the tokenizer.json of a BERT vocabulary
    token-truth.py xlmr VOCAB.GGUF OUT          the tokenizer.json of an XLM-R vocabulary, as transformers makes it
"""
import json
import random
import struct
import sys
import unicodedata

CODE = '''def quicksort(xs: list[int]) -> list[int]:
\tif len(xs) <= 1:\n\t\treturn xs\n    pivot, *rest = xs  # 0x1F600 "quoted" 'it's'\n    return quicksort([x for x in rest if x < pivot]) + [pivot]
#include <stdio.h>\r\nint main(void) {\r\n    printf("%d\\n", 1<<20);   /* 3.14159e-10 */\r\n}\r\n
SELECT * FROM t WHERE a >= 10 AND b != 'x' -- comment\n<div class="a b" id='c'>&nbsp;<br/></div>
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mu.Lock(); defer s.mu.Unlock() }
{"key": [1, 2.50, null, true], "nested": {"päth": "C:\\\\Users\\\\x"}}\n$ git rebase -i HEAD~3 && make -j8 || echo "failed"
'''
PROSE = [
    "The quick brown fox jumps over the lazy dog. It's 10:45 o'clock; we'll go, they've gone, I'm here, you'd say he'S RIGHT, DON'T.",
    "Быстрая коричневая лиса прыгает через ленивую собаку. Съешь ещё этих мягких французских булок, да выпей чаю.",
    "敏捷的棕色狐狸跳过了懒狗。今天是2024年3月15日，天气很好！「你好」他说，价格是￥1,234.50元。",
    "いろはにほへと ちりぬるを。カタカナとひらがなと漢字、ｶﾀｶﾅ、ー々〆。東京タワーは333メートルです。",
    "다람쥐 헌 쳇바퀴에 타고파. 안녕하세요, 반갑습니다! ᄒᆞᆫ글 옛한글",
    "نص حكيم له سر قاطع وذو شأن عظيم مكتوب على ثوب أخضر ومغلف بجلد أزرق ١٢٣٤٥٦٧٨٩٠، السلامُ عَلَيْكُم",
    "דג סקרן שט בים מאוכזב ולפתע מצא חברה שָׁלוֹם עֲלֵיכֶם",
    "ऋषियों को सताने वाले दुष्ट राक्षसों के राजा रावण का सर्वनाश करने वाले विष्णु १२३ क्षत्रिय",
    "อักษรไทย ไม่มีช่องว่างระหว่างคำ ๑๒๓๔ น้ำใจ เป็นมนุษย์สุดประเสริฐเลิศคุณค่า",
    "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία. Τάχιστη αλώπηξ βαφής ψημένη γη, δρασκελίζει υπέρ νωθρού κυνός",
    "Zażółć gęślą jaźń. Příliš žluťoučký kůň úpěl ďábelské ódy. Jó foxim és don Quijote húszwattos lámpánál ülve",
    "Đây là một câu tiếng Việt có dấu: phở, bánh mì, Nguyễn Thị Minh Khai, đường phố Hà Nội.",
    "வணக்கம் உலகம், தமிழ் மொழி ௧௨௩ யாமறிந்த மொழிகளிலே", "నమస్కారం ప్రపంచం తెలుగు భాష", "ನಮಸ್ಕಾರ ಪ್ರಪಂಚ ಕನ್ನಡ", "നമസ്കാരം ലോകം മലയാളം",
    "নমস্কার বিশ্ব বাংলা ভাষা ১২৩", "ਸਤ ਸ੍ਰੀ ਅਕਾਲ ਦੁਨੀਆ", "નમસ્તે દુનિયા ગુજરાતી", "გამარჯობა მსოფლიო ქართული ენა ႠႡ", "Բարեւ աշխարհ հայերեն լեզու",
    "ሰላም ለዓለም አማርኛ ፩፪፫", "ជំរាបសួរ​ពិភពលោក ១២៣", "မင်္ဂလာပါ ကမ္ဘာလောက", "བཀྲ་ཤིས་བདེ་ལེགས།", "ආයුබෝවන් ලෝකය", "ສະບາຍດີຊາວໂລກ ໑໒໓",
    "ᠮᠣᠩᠭᠣᠯ ᠪᠢᠴᠢᠭ ᠎ᠠ", "ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ ꭰꭱ", "𐌰𐌱𐌲 𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𝟘𝟙𝟚 𝓐𝓑 Ⅷ ⅷ ½ ²³ ① ㊀ ﬁ ﬂ ŉ ß ẞ İ ı ǅ ᾳ",
]
EMOJI = "😀 👨‍👩‍👧‍👦 🏳️‍🌈 👍🏽 🇩🇪🇯🇵 1️⃣ ❤️‍🔥 ☺️ ☺ 🫠 🧑🏿‍🚀 🏴󠁧󠁢󠁥󠁮󠁧󠁿 ©®™ ♠♣ ➡️ ✅".split(" ")
SPACES = [" ", "  ", "   ", "\t", "\n", "\r\n", "\r", "\n\n", " \n", "\n ", "\u00a0", "\u2003", "\u3000", "\u200b", "\u2028", "\u0085", "\u1680", "\v", "\f", "\ufeff", "\u180e"]
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<s>", "</s>", "<unk>", "<pad>", "<mask>", "[CLS]", "[SEP]", "[MASK]", "[UNK]", "[PAD]", "<bos>", "<eos>", "<|eot_id|>", "<|begin_of_text|>",
           "<|start_header_id|>", "<|end_header_id|>", "<start_of_turn>", "<end_of_turn>", "[INST]", "[/INST]", "<<SYS>>", "<|fim_prefix|>", "<｜begin▁of▁sentence｜>", "<｜User｜>", "<think>", "</think>", "<tool_call>",
           "<BOS_TOKEN>", "<|START_OF_TURN_TOKEN|>", "<|user|>", "<0x0A>", "<0xE2>", "<table>", "</td>", "<EOT>", "\n\n\n", "▁▁▁", "▁", "Ġ", "##ing", "<unused7>", "<|reserved_special_token_9|>", "<|endofprompt|>"]


def strings():
    rng = random.Random(20240315)
    yield from ["", " ", "a", "  ", "▁", " ▁ ", "\x00", "'", "''", "'s", "'S", "'ſ", "x'ſ", "'lL", "'RE", "'re'", "K", "Å", "ſ", "ß", "İ", "ǰ", "ΐ", "ẞ", "\ufffd", "\U0010ffff"]
    yield from PROSE + EMOJI + SPACES + SPECIAL + CODE.split("\n") + [CODE]
    words = [w for p in PROSE for w in p.split()] + CODE.split() + EMOJI
    pieces = words + SPACES * 8 + SPECIAL * 2
    for n in (1, 2, 3, 7, 31, 64, 200, 1000):
        for c in "a A0 9\n\t.-=é中😀\u0301▁'/_#<":
            yield c * n
    for w in words:
        yield w
        yield " " + w
    for _ in range(3000):  # pieces joined anyhow
        yield "".join(rng.choice(pieces) + rng.choice(["", " ", " ", rng.choice(SPACES)]) for _ in range(rng.randint(1, 12)))
    for s in SPECIAL:  # specials among words, spaces and letters
        for _ in range(12):
            a, b = rng.choice(words), rng.choice(words)
            yield rng.choice(["", " ", "  ", a, a + " ", a + "\n"]) + s + rng.choice(["", " ", "\t ", s, b, " " + b, "\n\n" + b])
    for _ in range(1200):  # combining marks, also in long runs
        base = rng.choice("aeocnAÅeé가ᄀक中 ")
        n = rng.choice([1, 1, 2, 3, 5, 30, 31, 40, 80])
        marks = [chr(rng.choice([rng.randint(0x300, 0x36F), rng.randint(0x591, 0x5C7), rng.randint(0x64B, 0x65F), rng.randint(0x1AB0, 0x1ACE), 0x3099, 0x93C, 0x11A8, 0x1161, 0x345])) for _ in range(n)]
        yield rng.choice(words) + base + "".join(marks) + rng.choice(["", "x", " y"])
    for _ in range(800):  # controls
        yield "".join(chr(rng.choice([rng.randint(0, 31), 127, rng.randint(0x80, 0x9F), rng.randint(32, 126), 0x200B, 0x200D, 0x2060, 0xFEFF, 0xAD])) for _ in range(rng.randint(1, 20)))
    for _ in range(800):  # white space runs
        yield "".join(rng.choice(SPACES) * rng.randint(1, 4) + rng.choice(["", "", "a", "1", ".", "é"]) for _ in range(rng.randint(1, 6)))
    for _ in range(800):  # numbers
        yield rng.choice(["", " ", "$", "v", "٣"]) + "".join(rng.choice("0123456789.,-/: ٣४½Ⅷ²") for _ in range(rng.randint(1, 16)))
    blocks = [(0x20, 0x7F), (0xA0, 0x250), (0x250, 0x600), (0x600, 0x900), (0x900, 0x1000), (0x1000, 0x2000), (0x2000, 0x2C00), (0x2E80, 0xA000), (0xA000, 0xD800), (0xE000, 0xFFFE), (0x10000, 0x11000), (0x1D400, 0x1D800), (0x1F000, 0x1FB00), (0x20000, 0x2A000), (0xE0000, 0xE0200)]
    for _ in range(4000):  # random Unicode
        k = rng.randint(1, 3)
        mix = [rng.choice(blocks) for _ in range(k)]
        yield "".join(chr(rng.randrange(*rng.choice(mix))) for _ in range(rng.randint(1, 24)))
    for _ in range(400):  # letters of both cases, apostrophes
        yield "".join(rng.choice("aBcD'sStTreVELlmMdé É中ʰ\u0301ǅ!") for _ in range(rng.randint(1, 16)))
    # every assigned code point once, and the two lowest planes' others
    points = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000 and (unicodedata.category(chr(c)) not in ("Cn", "Co") or c < 0x10000 or 0x10D00 <= c < 0x1E000)]
    for i in range(0, len(points), 14):
        yield rng.choice(["", " ", "a", "."]).join(chr(c) for c in points[i:i + 14])
    for _ in range(40):  # long texts
        yield "\n".join(rng.choice(PROSE + [CODE]) for _ in range(40))


def truth(strings_file, tokenizer_file, out_file):
    from tokenizers import Tokenizer
    tok = Tokenizer.from_file(tokenizer_file)
    tok.no_truncation()
    tok.no_padding()
    texts = [json.loads(line) for line in open(strings_file, encoding="utf-8")]
    with open(out_file, "w", encoding="utf-8") as out:
        for i in range(0, len(texts), 1000):
            batch = texts[i:i + 1000]
            plain = [e.ids for e in tok.encode_batch(batch, add_special_tokens=False)]
            special = [e.ids for e in tok.encode_batch(batch, add_special_tokens=True)]
            texts_all = tok.decode_batch(plain, skip_special_tokens=False)
            texts_skip = tok.decode_batch(special, skip_special_tokens=True)
            for row in zip(plain, special, texts_all, texts_skip):
                out.write(json.dumps(row) + "\n")


def bert(vocab_file, out_file):
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
    listed = json.load(open(vocab_file, encoding="utf-8"))  # marks the pieces that begin a word, where BERT marks the others
    vocab = {}
    for i, t in enumerate(listed):
        if t.startswith("▁"):
            vocab[t[1:]] = i
        elif t.startswith("[") and t.endswith("]"):
            vocab[t] = i
        else:
            vocab["##" + t] = i
    vocab.pop("", None)
    tok = Tokenizer(models.WordPiece(vocab, unk_token="[UNK]"))
    tok.normalizer = normalizers.BertNormalizer()
    tok.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tok.decoder = decoders.WordPiece()
    tok.post_processor = processors.BertProcessing(("[SEP]", vocab["[SEP]"]), ("[CLS]", vocab["[CLS]"]))
    tok.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    tok.save(out_file)


def gguf(path):
    """The keys of a GGUF file."""
    data, at = memoryview(open(path, "rb").read()), 24
    formats = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}

    def take(layout, n=1):
        nonlocal at
        values = struct.unpack_from(f"<{n}{layout}", data, at)
        at += struct.calcsize(f"<{n}{layout}")
        return values

    def text():
        nonlocal at
        n, = take("Q")
        at += n
        return bytes(data[at - n:at])

    def value(kind):
        if kind == 8:
            return text()
        if kind != 9:
            return take(formats[kind])[0]
        kind, = take("I")
        n, = take("Q")
        return [text() for _ in range(n)] if kind == 8 else take(formats[kind], n)

    out = {}
    for _ in range(struct.unpack_from("<Q", data, 16)[0]):
        key = text().decode()
        out[key] = value(take("I")[0])
    return out


def xlmr(vocab_file, out_file):
    from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
    keys = gguf(vocab_file)
    vocab = list(zip((t.decode() for t in keys["tokenizer.ggml.tokens"]), keys["tokenizer.ggml.scores"]))
    tok = Tokenizer(models.Unigram(vocab, unk_id=keys["tokenizer.ggml.unknown_token_id"]))
    tok.normalizer = normalizers.Sequence([normalizers.Precompiled(bytes(keys["tokenizer.ggml.precompiled_charsmap"]))])
    tok.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    tok.decoder = decoders.Metaspace()
    tok.add_special_tokens([AddedToken(t, special=True, normalized=False, lstrip=t == "<mask>") for t in ("<s>", "<pad>", "</s>", "<unk>", "<mask>")])
    tok.post_processor = processors.TemplateProcessing(single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    tok.save(out_file)


if __name__ == "__main__":
    if sys.argv[1] == "strings":
        with open(sys.argv[2], "w", encoding="utf-8") as out:
            n = 0
            for s in strings():
                out.write(json.dumps(s) + "\n")
                n += 1
        print(n, "strings")
    elif sys.argv[1] in ("bert", "xlmr"):
        {"bert": bert, "xlmr": xlmr}[sys.argv[1]](*sys.argv[2:4])
    else:
        truth(*sys.argv[2:5])
