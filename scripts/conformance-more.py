#!/usr/bin/env python3
"""Runs vllm bench serve and ours, line by line, on a server that keeps every request, and compares what was sent,
what was printed and what was written. usage: conformance-more.py INFEROMETER PEERS TOKENIZER [WORD in lines | NUMBER of made-up lines [SEED]]"""
import asyncio, json, os, random, re, subprocess, sys, tempfile, threading, time

OURS, PEERS, TOKENIZER = (os.path.abspath(a) for a in sys.argv[1:4])
ONLY = sys.argv[4] if len(sys.argv) > 4 else ""
MADE = int(ONLY) if ONLY.isdigit() else 0
SEED = int(sys.argv[5]) if len(sys.argv) > 5 else int(time.time())
WORDS = "one two three four five six seven eight nine ten".split()


class Server:
    """Speaks what the benchmark asks for. Responses have as many words as were asked for."""

    def __init__(self):
        self.log, self.fail, self.short, self.spec = [], 0, False, 0
        self.posts = 0
        started = threading.Event()
        threading.Thread(target=lambda: asyncio.run(self.serve(started)), daemon=True).start()
        started.wait()

    async def serve(self, started):
        s = await asyncio.start_server(self.client, "127.0.0.1", 0)
        self.port = s.sockets[0].getsockname()[1]
        started.set()
        await s.serve_forever()

    async def client(self, r, w):
        try:
            while True:
                head = (await r.readuntil(b"\r\n\r\n")).decode("latin1").split("\r\n")
                method, path, _ = head[0].split(" ", 2)
                headers = {k.lower(): v for k, v in (line.split(": ", 1) for line in head[1:] if line)}
                body = await r.readexactly(int(headers.get("content-length", 0)))
                self.log.append((time.monotonic(), method, path, headers, body.decode()))
                await self.answer(w, method, path, json.loads(body) if body else {})
                await w.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            w.close()

    async def answer(self, w, method, path, q):
        def whole(o, status="200 OK", kind="application/json"):
            text = o if isinstance(o, bytes) else json.dumps(o).encode()
            w.write(f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(text)}\r\n\r\n".encode() + text)
        if path == "/v1/models":
            return whole({"object": "list", "data": [{"id": "served", "root": TOKENIZER}]})
        if path == "/metrics":
            self.spec += 10
            names = [("num_drafts", "", 1), ("num_draft_tokens", "", 2), ("num_accepted_tokens", "", 1), ("num_accepted_tokens_per_pos", ',position="0"', 1)]
            return whole("".join(f'vllm:spec_decode_{n}_total{{engine="0"{l}}} {self.spec * k}\n' for n, l, k in names).encode(), kind="text/plain")
        if path == "/tokenize":
            return whole({"tokens": list(range(len(q["prompt"].split()) if self.short else 10**6))} if self.short else {}, "200 OK" if self.short else "404 Not Found")
        if path == "/detokenize":
            return whole({"prompt": " ".join(str(t) for t in q["tokens"])})
        if path in ("/start_profile", "/stop_profile"):
            return whole(b"")
        self.posts += 1
        if self.fail and self.posts % self.fail == 0:
            return whole({"error": {"message": "made to fail"}}, "500 Internal Server Error")
        text = json.dumps(q.get("prompt", q.get("messages")))
        usage = {"prompt_tokens": len(text) // 4, "completion_tokens": q.get("max_tokens", q.get("max_completion_tokens", 0))}
        w.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        chat, n = path.endswith("chat/completions"), usage["completion_tokens"]

        async def event(o):
            text = b"data: " + (o if isinstance(o, bytes) else json.dumps(o).encode()) + b"\n\n"
            w.write(b"%x\r\n" % len(text) + text + b"\r\n")
            await w.drain()
        await asyncio.sleep(0.02)
        if chat:
            await event({"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]})
        for i in range(n):
            word = " " + WORDS[i % len(WORDS)]
            end = "length" if i == n - 1 else None
            await event({"choices": [{"index": 0, "delta": {"content": word}, "finish_reason": end}] if chat else [{"index": 0, "text": word, "finish_reason": end}]})
            await asyncio.sleep(0.004)
        await event({"choices": [], "usage": usage})
        await event(b"[DONE]")
        w.write(b"0\r\n\r\n")


def data(dir):
    """Files of data sets."""
    with open(f"{dir}/sharegpt.json", "w") as f:
        json.dump([{"id": str(i), "conversations": [{"from": "human", "value": f"Please count to {i} and é " + "go on " * (i % 9)},
                                                    {"from": "gpt", "value": "one two three " * (1 + i % 5)}][: 1 + (i % 7 > 0)]} for i in range(30)], f)
    with open(f"{dir}/custom.jsonl", "w") as f:
        for i in range(12):
            f.write(json.dumps({"prompt": f"Say {i} \"things\" — now", "output_tokens": 3 + i % 4}) + "\n")
    with open(f"{dir}/burstgpt.csv", "w") as f:
        f.write("Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n")
        for i in range(25):
            f.write(f"{i},{'GPT-4' if i % 3 else 'ChatGPT'},{10 + i},{i % 5},{10 + i + i % 5},API log\n")
    with open(f"{dir}/timed.jsonl", "w") as f:
        for i in range(9):
            f.write(json.dumps({"timestamp": i * 20, "input_length": 20 + 7 * i, "output_length": 2 + i % 3, "hash_ids": [i % 2, 46, 47 + i, 9]}) + "\n")


CHAT = "--backend openai-chat --endpoint /v1/chat/completions "
LINES = [
    "--random-input-len 64 --random-output-len 6 --random-range-ratio 0.2 --num-prompts 20 --max-concurrency 4 --ignore-eos --num-warmups 8 --percentile-metrics ttft,tpot,itl,e2el",
    CHAT + "--random-input-len 24 --random-output-len 6 --num-prompts 12 --request-rate 30 --burstiness 0.5 --max-concurrency 8 --goodput ttft:40 tpot:8 e2el:80 --percentile-metrics ttft,tpot,itl,e2el,client_queue_time,e2el_including_client_queue --metadata tp=1 note=a=b --temperature 0 --top-p 0.9 --extra-body {\"min_tokens\":2,\"x\":1.0} --header X-A=1",
    "--dataset-name sharegpt --dataset-path DATA/sharegpt.json --num-prompts 30 --request-rate 50 --ready-check-timeout-sec 10 --label run7",
    "--dataset-name custom --dataset-path DATA/custom.jsonl --custom-output-len -1 --num-prompts 8 --logprobs 2",
    CHAT + "--dataset-name custom --dataset-path DATA/custom.jsonl --num-prompts 15 --skip-chat-template --output-len 5 --seed 3 --max-concurrency 3",
    "--dataset-name custom --dataset-path DATA/custom.jsonl --num-prompts 0 --custom_output_len 2 --disable-shuffle",
    "--dataset-name prefix_repetition --prefix-repetition-prefix-len 32 --prefix-repetition-suffix-len 8 --prefix-repetition-num-prefixes 3 --prefix-repetition-output-len 4 --num-prompts 13 --ramp-up-strategy linear --ramp-up-start-rps 5 --ramp-up-end-rps 40",
    "--dataset-name prefix_repetition --num-prompts 20 --output-len 3 --request-rate 60 --seed 9",
    "--dataset-name burstgpt --dataset-path DATA/burstgpt.csv --num-prompts 10 --seed 5",
    "--dataset-name burstgpt --dataset-path DATA/burstgpt.csv --num-prompts 40 --max-concurrency 20",
    "--dataset-name timed_trace --dataset-path DATA/timed.jsonl --timed-trace-chunk-hash-size 16 --timed-trace-sec-multiplier 0.001 --num-prompts 8",
    "--dataset-name timed_trace --dataset-path DATA/timed.jsonl --no-self-timed --num-prompts 20 --request-rate 80 --burstiness inf",
    "--random-input 40 --random-output 3 --num-prompt 9 --random-prefix-len 17 --seed 77 --request-rate 100 --burstiness 3",
    "--random-input-len 33 --random-output-len 4 --random-range-ratio {\"input\":0.5,\"output\":0.1} --num-prompts 10 --seed 4294967295 --ramp-up-strategy exponential --ramp-up-start-rps 10 --ramp-up-end-rps 90",
    "--random-input-len 16 --random-output-len 5 --num-prompts 11 --percentile-metrics e2el --fail",
    "--random-input-len 16 --random-output-len 5 --num-prompts 7 --align --profile --extra-body.a.b x --extra-body.n 1k --extra_body.l+ u,v",
    "--no-model --random-input-len 8 --random-output-len 2 --num-prompts 3 --served-model-name other",
    "--random-input-len 8 --random-output-len 2 --num-prompts 6 --lora-modules a b c --lora-assignment round-robin --served-model-name other",
]
# Of the script of 0.10, which is run as it is, once for each line.
SCRIPT = [
    CHAT + "--dataset-name random --random-input-len 32 --random-output-len 8 --random-range-ratio 0.5 --num-prompts 10 --max-concurrency 4 --percentile-metrics ttft,tpot,itl,e2el --seed 7",
    "--dataset-name random --random-input-len 20 --random-output-len 4 --random-prefix-len 9 --num-prompts 9 --request-rate 60 --burstiness 2 --ignore-eos --top-p 0.5",
    "--dataset-name sharegpt --dataset-path DATA/sharegpt.json --num-prompts 12 --backend sglang --logprobs 1",
]
WRONG = [
    "--num 5", "--num-prompts x", "--nosuch 1", "--burstiness 0", "--max-concurrency 0", "--request-rate 5 --ramp-up-strategy linear --ramp-up-start-rps 1 --ramp-up-end-rps 2", "--ramp-up-strategy linear",
    "--goodput foo:3", "--goodput ttft", "--goodput", "--backend nosuch", "--endpoint /v1/nosuch", "--dataset-path x", "--dataset-name sharegpt", "--dataset-name custom --dataset-path x.txt", "--random-range-ratio 1", "--header X",
    "--metadata x --num-prompts 1", "--dataset-name timed_trace --dataset-path DATA/timed.jsonl " + CHAT, "--self-timed", "stray", "--extra-body x", "--ignore-eos=1", "--random-input-len 0",
]


HOST = """
import json, os, runpy, sys
import aiohttp, numpy, pandas, transformers, vllm.benchmarks.serve
from transformers import AutoTokenizer
for line in sys.stdin:
    q = json.loads(line)
    pid = os.fork()
    if pid == 0:
        os.chdir(q["dir"]); os.environ.update(q["env"])
        for n, name in ((0, os.devnull), (1, "stdout"), (2, "stderr")):
            os.dup2(os.open(name, os.O_RDWR | os.O_CREAT, 0o644), n)
        sys.argv = ["vllm", "bench", "serve"] + q["args"]
        code = 0
        try:
            runpy.run_module("vllm", run_name="__main__")
        except SystemExit as e:
            code = e.code if isinstance(e.code, int) else int(e.code is not None)
        except BaseException:
            import traceback; traceback.print_exc(); code = 1
        sys.stdout.flush(); sys.stderr.flush(); os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""


class Original:
    """The original, whose imports take seconds: a process that has them forks for each line."""

    def __init__(self):
        env = {**os.environ, "PYTHONPATH": f"{PEERS}/client", "PYTHONHASHSEED": "7", "HF_HUB_OFFLINE": "1"}
        env.pop("OPENAI_API_KEY", None)
        self.p = subprocess.Popen([f"{PEERS}/bin/python", "-c", HOST], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=env)

    def run(self, args, dir, env):
        self.p.stdin.write(json.dumps({"args": args, "dir": dir, "env": env}) + "\n")
        self.p.stdin.flush()
        code = int(self.p.stdout.readline())
        texts = []
        for name in ("stdout", "stderr"):
            texts.append(open(f"{dir}/{name}").read())
            os.remove(f"{dir}/{name}")
        return code, *texts


def ours(args, dir, env):
    p = subprocess.run([OURS, "vllm", "bench", "serve"] + args, cwd=dir, env={**os.environ, "PYTHONHASHSEED": "7", "HF_HUB_OFFLINE": "1", **env}, capture_output=True, text=True, timeout=300)
    return p.returncode, p.stdout, p.stderr


def made_up(seed):
    """A line such as people type: of each part of the command line some flags, now and then ones that do not fit."""
    rng = random.Random(seed)
    pick, some = rng.choice, lambda share: rng.random() < share
    out = [CHAT.strip()] if some(0.4) else [pick(["--backend vllm", "--backend openai", ""])]
    n = rng.randint(1, 14)
    kind = pick(["random"] * 5 + ["sharegpt", "custom", "custom", "prefix_repetition", "burstgpt", "timed_trace"])
    if kind != "random" or some(0.5):
        out.append(pick(["--dataset-name ", "--dataset_name=", "--dataset-n "]) + kind)
    if kind == "random":
        out += [pick(["--random-input-len ", "--random-input ", "--input-len "]) + str(rng.randint(3, 60)), pick(["--random-output-len ", "--random-output ", "--output-len "]) + str(rng.randint(1, 6))]
        out += [f"--random-range-ratio {pick(['0.1', '0.5', '0.9', '1.0', chr(123) + chr(34) + 'input' + chr(34) + ':0.3,' + chr(34) + 'output' + chr(34) + ':0' + chr(125)])}"] * some(0.5)
        out += [f"--random-prefix-len {rng.randint(0, 20)}"] * some(0.3)
    elif kind == "prefix_repetition":
        out += [f"--prefix-repetition-num-prefixes {rng.randint(1, 5)} --prefix-repetition-prefix-len {rng.randint(1, 30)} --prefix-repetition-suffix-len {rng.randint(1, 20)} --prefix-repetition-output-len {rng.randint(1, 5)}"]
    else:
        out.append("--dataset-path DATA/" + {"sharegpt": "sharegpt.json", "custom": "custom.jsonl", "burstgpt": "burstgpt.csv", "timed_trace": "timed.jsonl"}[kind])
        out += ["--sharegpt-output-len 3"] * (kind == "sharegpt" and some(0.5)) + [f"--custom-output-len {pick(['-1', '2', '5'])}"] * (kind == "custom") + ["--timed-trace-sec-multiplier 0.001"] * (kind == "timed_trace")
    out += [pick(["--num-prompts ", "--num-prompt ", "--num_prompts="]) + str(n)]
    if some(0.4):
        out.append(f"--max-concurrency {rng.randint(1, 6)}")
    load = rng.random()
    if load < 0.35:
        out.append(f"--request-rate {pick(['40', '99.5', '200', 'inf'])}" + (f" --burstiness {pick(['0.3', '1', '4', 'inf'])}" if some(0.6) else ""))
    elif load < 0.5:
        out.append(f"--ramp-up-strategy {pick(['linear', 'exponential'])} --ramp-up-start-rps {rng.randint(10, 30)} --ramp-up-end-rps {rng.randint(30, 90)}")
    for flag, share in (("--ignore-eos", 0.3), ("--disable-shuffle", 0.2), ("--no-oversample", 0.2), ("--skip-chat-template", 0.3), (f"--num-warmups {rng.randint(1, 5)}", 0.25), (f"--seed {rng.randint(0, 2**32 - 1)}", 0.5),
                        ("--temperature 0.7", 0.3), ("--top-k 5", 0.1), ("--min-p 0.05", 0.1), ("--repetition-penalty 1.1", 0.1), ("--logprobs 1", 0.15), ("--extra-body.a.b c", 0.1), ("--header X-A=é=b", 0.0), ("--goodput ttft:60 e2el:100", 0.2),
                        ("--percentile-metrics ttft,e2el", 0.2), ("--label one", 0.1), ("--metadata a=1 b=2", 0.1), ("--served-model-name other", 0.1), ("--profile", 0.1), ("--fail", 0.1), ("--align", 0.15), ("--lora-modules a b --lora-assignment round-robin", 0.08),
                        ("--disable-tqdm", 0.2), ("--trust-remote-code", 0.2), ("--burstiness 0", 0.02), ("--max-concurrency -1", 0.02), ("--nonsense", 0.02), ("--num 3", 0.02), ("--goodput x:1", 0.02), ("--self-timed", 0.03)):
        if some(share):
            out.append(flag)
    rng.shuffle(out)
    return " ".join(" ".join(out).split())


def normal(entry):
    _, method, path, headers, body = entry
    keep = {k: v for k, v in headers.items() if k in ("authorization", "x-request-id", "x-a") or k == "content-type" and body}
    try:
        return method, path, json.dumps(keep, sort_keys=True), json.dumps(json.loads(body), sort_keys=True) if body else ""
    except ValueError:
        return method, path, json.dumps(keep), body


def shape(v):
    return {"NoneType": "null", "int": "number", "float": "number"}.get(type(v).__name__, type(v).__name__)


def compare(line, a, b, where):
    """What differs between the original's run and ours."""
    say = lambda *what: where.append((line[:110], *what))
    (code, out, err, log, files), (code2, out2, err2, log2, files2) = a, b
    if code != code2:
        return say("exit code", code, code2, err2[-300:] or err[-300:])
    seq, seq2 = [normal(e) for e in log], [normal(e) for e in log2]
    order = lambda s: [e[:2] for e in s]
    if order(seq) != order(seq2):
        say("order of requests", order(seq), order(seq2))
    for x, y in zip(sorted(seq), sorted(seq2)):
        if x != y:
            say("request", x, y)
            break
    if len(files) != len(files2):
        return say("files", list(files), list(files2))
    for (name, text), (name2, text2) in zip(sorted(files.items()), sorted(files2.items())):
        if re.sub(r"\d{8}-\d{6}", "T", name) != re.sub(r"\d{8}-\d{6}", "T", name2):
            say("file name", name, name2)
        x, y = json.loads(text), json.loads(text2)
        if [k for k in y if not k.startswith("benchmark_")] != list(x):
            say("keys", list(x), list(y))
        for k in x:
            if k in y and y[k] != "inf" and (shape(x[k]) != shape(y[k]) or isinstance(x[k], list) and len(x[k]) != len(y[k])):
                say("type of " + k, x[k], y[k])
            if k in y and k in ("completed", "failed", "total_input_tokens", "total_output_tokens", "num_prompts", "request_rate", "burstiness", "max_concurrency", "label", "model_id", "tokenizer_id", "generated_texts", "input_lens", "output_lens", "endpoint_type", "tp", "note") and x[k] != y[k] and y[k] != "inf":
                say(k, x[k], y[k])
    rows = lambda text: [re.sub(r"[\d.]+ *", "N", l) for l in text.split("\n") if re.search(r"^[=-]|:  ", l)]
    if rows(out) != rows(out2):
        say("table", rows(out), rows(out2))


def same_times(text, dir, where):
    """The figures of the original's file, worked out again by ours from the single requests in it."""
    path, ours = f"{dir}/theirs.json", f"{dir}/again"
    open(path, "w").write(text)
    p = subprocess.run([OURS, "report", path, "--format", "vllm-bench", "--out", ours], capture_output=True, text=True)
    if p.returncode:
        return where.append(("again", p.stderr))
    x = json.loads(text)
    y = json.loads(open(f"{ours}/{os.listdir(ours)[0]}").read())
    checked = 0
    for k, v in x.items():
        if k.endswith("_ms") and k in y:
            checked += 1
            if abs(v - y[k]) > 1e-5 * abs(v) + 2e-6:
                where.append(("again: " + k, v, y[k]))
    return checked


def main():
    server, where, compared, original = Server(), [], 0, Original()
    medians = []
    with tempfile.TemporaryDirectory() as dir:
        data(dir)
        for line in [made_up(SEED + i) for i in range(MADE)] or LINES:
            if ONLY not in line and not MADE:
                continue
            words = line.replace("DATA", dir).split()
            server.fail, server.short = 5 * ("--fail" in words), "--align" in words
            words = [w for w in words if w not in ("--fail", "--align")]
            if "--no-model" in words:
                words.remove("--no-model")
            else:
                words += ["--model", "mock", "--tokenizer", TOKENIZER]
            words += ["--port", str(server.port), "--request-id-prefix", "x-", "--save-result", "--save-detailed", "--result-dir", "results", "--metric-percentiles", "50,90,95,99"]
            sides = []
            for run in (original.run, ours):
                server.log, server.posts, server.spec = [], 0, 0
                work = tempfile.mkdtemp(dir=dir)
                code, out, err = run(words, work, {"OPENAI_API_KEY": "k"} if "goodput" in line else {})
                files = {}
                if os.path.isdir(work + "/results"):
                    files = {n: open(f"{work}/results/{n}").read() for n in os.listdir(work + "/results")}
                sides.append((code, out, err, server.log, files))
            before = len(where)
            compare(line, *sides, where)
            for text in sides[0][4].values():
                compared += same_times(text, tempfile.mkdtemp(dir=dir), where) or 0
                x, y = json.loads(text), json.loads(list(sides[1][4].values() or ["{}"])[0])
                medians += [(k, x[k], y.get(k)) for k in ("median_ttft_ms", "median_itl_ms", "median_tpot_ms") if k in x]
            print("same" if len(where) == before else "DIFFERS", len(sides[0][3]), "requests", line[:100], flush=True)
        for line in SCRIPT if os.path.exists(f"{PEERS}/script/benchmark_serving.py") else []:
            if ONLY not in line:
                continue
            words = line.replace("DATA", dir).split() + ["--model", "mock", "--tokenizer", TOKENIZER, "--port", str(server.port), "--save-result", "--save-detailed", "--result-dir", ".", "--result-filename", "r.json"]
            server.fail, server.short, sides = 0, False, []
            env = {**os.environ, "PYTHONPATH": f"{PEERS}/client:{PEERS}/script", "HF_HUB_OFFLINE": "1"}
            for program in ([f"{PEERS}/bin/python", f"{PEERS}/script/benchmark_serving.py"], [OURS, "benchmark_serving.py", "--faithful"]):
                server.log, server.posts = [], 0
                work = tempfile.mkdtemp(dir=dir)
                p = subprocess.run(program + words, cwd=work, env=env, capture_output=True, text=True)
                file = {"r.json": open(work + "/r.json").read()} if os.path.exists(work + "/r.json") else {}
                sides.append((p.returncode, p.stdout, p.stderr, server.log, file))
            before = len(where)
            compare("0.10: " + line, *sides, where)
            print("same" if len(where) == before else "DIFFERS", len(sides[0][3]), "requests of the script", line[:80], flush=True)
        for line in WRONG:
            if ONLY not in line:
                continue
            few = [] if "--num-prompts" in line else ["--num-prompts", "2"]
            words = line.replace("DATA", dir).split() + few + (["--random-output-len", "2", "--model", "mock", "--tokenizer", TOKENIZER] if "--" in line else []) + ["--port", str(server.port)]
            server.fail, server.short = 0, False
            codes = [run(words, dir, {})[0] for run in (original.run, ours)]
            if codes[0] != codes[1]:
                where.append(("wrong line", line, codes))
            print("same" if codes[0] == codes[1] else "DIFFERS", "exit code", codes[0], line, flush=True)
    print(f"{compared} figures worked out again from the same times")
    for k, x, y in medians:
        print(f"  {k}: {x:.2f} there, {y if y is None else round(y, 2)} here")
    for w in where:
        print("DIFFERENCE:", *w, sep="\n    ")
    return len(where) > 0


sys.exit(main())
