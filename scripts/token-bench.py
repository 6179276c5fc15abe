"""The reference's side of `make bench`, as far as it is about tokens.

    token-bench.py corpus OUT                  2 MB of prose, code and twenty scripts in documents of about 4 kB, one JSON string a line
    token-bench.py unigram OUT                 a tokenizer.json with a Unigram model of 32,000 pieces, trained by the reference
    token-bench.py encode CORPUS TOKENIZER...  MB per second of processor time of encode, one thread, and milliseconds to load, for each tokenizer.json
"""
import importlib.util
import json
import os
import pathlib
import random
import sys
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"


def corpus(out):
    truth = load_truth()
    rng = random.Random(7)
    book = (pathlib.Path(__file__).parent.parent / "internal/prompt/synthetic/opticks.txt").read_text()
    sources = sorted(pathlib.Path(__file__).parent.parent.glob("internal/*/*.go"))
    code = "".join(p.read_text() for p in sources)[:700_000]
    size = 0
    with open(out, "w") as f:
        while size < 2_000_000:
            kind = rng.random()
            if kind < 0.4:
                at = rng.randrange(len(book) - 4000)
                doc = book[at:at + 4000]
            elif kind < 0.7:
                at = rng.randrange(len(code) - 4000)
                doc = code[at:at + 4000]
            else:
                doc = ""
                while len(doc.encode()) < 4000:
                    words = rng.choice(truth.PROSE).split(" ")
                    rng.shuffle(words)
                    doc += " ".join(words) + rng.choice([" ", "\n", ". ", " 😀 "])
            size += len(doc.encode())
            f.write(json.dumps(doc) + "\n")


def load_truth():
    spec = importlib.util.spec_from_file_location("truth", pathlib.Path(__file__).with_name("token-truth.py"))
    truth = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(truth)
    return truth


def unigram(out):
    """Trains on the bundled book, the texts of twenty scripts and Python's own library: code and its prose."""
    del os.environ["RAYON_NUM_THREADS"]
    os.environ["TOKENIZERS_PARALLELISM"] = "true"
    import sysconfig
    from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
    root = pathlib.Path(__file__).parent.parent
    texts = (root / "internal/prompt/synthetic/opticks.txt").read_text().split("\n")
    rng = random.Random(5)
    for prose in load_truth().PROSE:
        words = prose.split(" ")
        for _ in range(50):
            rng.shuffle(words)
            texts.append(" ".join(words))
    size = 0
    for file in sorted(pathlib.Path(sysconfig.get_paths()["stdlib"]).glob("**/*.py")):
        if size > 3_000_000:
            break
        try:
            text = file.read_text()
        except UnicodeDecodeError:
            continue
        size += len(text)
        texts += text.split("\n")
    tok = Tokenizer(models.Unigram())
    tok.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")])
    tok.pre_tokenizer = pre_tokenizers.Metaspace()
    tok.decoder = decoders.Metaspace()
    tok.train_from_iterator(texts, trainers.UnigramTrainer(vocab_size=32000, special_tokens=["<pad>", "</s>", "<unk>"], unk_token="<unk>", shrinking_factor=0.5, show_progress=False))
    if tok.get_vocab_size() < 32000:
        sys.exit("the trainer found %d pieces, not 32,000: it needs more text" % tok.get_vocab_size())
    tok.save(out)


def encode(corpus_file, files):
    from tokenizers import Tokenizer
    docs = [json.loads(line) for line in open(corpus_file)]
    size = sum(len(d.encode()) for d in docs)
    for file in files:
        t = time.process_time()
        tok = Tokenizer.from_file(file)
        load = time.process_time() - t
        tok.no_truncation()
        tok.no_padding()
        best = 0
        for _ in range(2):
            t = time.process_time()
            for d in docs:
                tok.encode(d, add_special_tokens=False)
            best = max(best, size / 1e6 / (time.process_time() - t))
        print("there %s %.2f MB/s load %.0f ms" % (pathlib.Path(file).parent.name, best, load * 1000), flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "corpus":
        corpus(sys.argv[2])
    elif sys.argv[1] == "unigram":
        unigram(sys.argv[2])
    else:
        encode(sys.argv[2], sys.argv[3:])
