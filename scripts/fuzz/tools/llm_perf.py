"""llm_perf: its lines, how they are run on both sides, each with a Triton of its own, and what is compared."""
import json
import math
import random
import re
from dataclasses import replace
from pathlib import Path

import language
from compare import MISSING, Difference, files, loaded, multisets, noisy, values
from line import TOKENIZER, Line
from originals import Host, Side, process
from tools import perf_analyzer
from tools.shared import ends, replaced
from tritons import Triton

NAME = "llm_perf"
WORDS = "why does the river bend seven times before it meets the sea and what of rain then tell me".split()


class Tool(perf_analyzer.Tool):
    def __init__(self, binary: Path, peers: Path, jobs: int):
        super().__init__(binary, peers, jobs)
        self.host = Host(peers / "llm_perf/bin/python", "llm_perf", peers / "tokenizer")

    def close(self) -> None:
        self.host.close()
        super().close()

    def triton(self, where: Path, repository: int, name: str) -> Triton:
        return Triton(self.peers / "triton/tritonserver", where, repository, name, language.make)

    def line(self, seed: int) -> Line:
        return make(seed)

    def run(self, line: Line, side: str, where: Path, pair: dict) -> Side:
        triton = pair[side]
        where.mkdir(parents=True)
        line.write(where)
        words = line.words(http=f"127.0.0.1:{triton.http}", grpc=f"127.0.0.1:{triton.grpc}", tokenizer=str(self.peers / "tokenizer"))
        env = {"HOME": str(where.parent), "HF_HUB_OFFLINE": "1"}
        triton.forget()
        if side == "original":
            found = self.host.run(words, where, env, limit=45)  # it waits forever for a model that failed
        else:
            own = ["--faithful"] if line.faithful else []
            found = process([self.binary, "llm_perf", *words, *own], where, env, apart=True)
        found.requests = {k: v for k, v in triton.requests().items() if k != "tensorrt_llm"}
        found.screen = found.screen.replace(f"127.0.0.1:{triton.http}", "URL").replace(f"127.0.0.1:{triton.grpc}", "URL")
        return found

    def compare(self, line: Line, a: Side, b: Side) -> list:
        if a.failed() or b.failed():
            return ends(a, b)
        out = []
        for name in sorted({*a.requests, *b.requests}):
            left, right = (s.requests.get(name, []) for s in (a, b))
            keys = [dict.fromkeys(sorted({k for r in side for k in r}), True) for side in (left, right)]
            out += values(f"request/{name}/inputs", *keys, lambda _: "unordered")
            out += multisets(f"request/{name}", *([{k: r[k] for k in r if k in keys[0] and k in keys[1]} for r in side] for side in (left, right)))
        return out + written(line, a, b) + screens(a, b)


def make(seed: int) -> Line:
    """A line such as people type."""
    rng = random.Random(seed)
    out = Line("llm_perf", seed, server={"repository": seed // 1000})
    out.faithful = rng.random() < 0.6
    http = rng.random() < 0.25
    rows = []
    for _ in range(rng.choice([1, 3, 6, 10])):
        text = " ".join(rng.choice(WORDS) for _ in range(rng.choice([1, 2, 5, 13, 40])))
        rows.append({"input": text + rng.choice(["", "", "", "", " é", " stop" if rng.random() < 0.2 else "", " fail" if rng.random() < 0.05 else ""]), "output": "x"})
    if rng.random() < 0.05:
        rows[0]["max_tokens"] = 5
    if rng.random() < 0.03:
        rows[-1]["input"] = ""
    text = "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rows)
    out.files["prompts.jsonl"] = text if rng.random() < 0.9 else text.rstrip("\n")
    out.flags = [["-u" if rng.random() < 0.7 else "--uri", "{http}" if http else "{grpc}"], ["-m" if rng.random() < 0.7 else "--triton-model", "whole" if http else "ensemble"],
                 ["--input-data", "prompts.jsonl"], ["--tokenizer-path", TOKENIZER], ["--measurement-interval", "0"],
                 ["--concurrency", rng.choice(["1", "2", "1,4", "4,2", "3,3", "1,2,3"] if rng.random() < 0.9 else ["0", "1,x", "", "-1"])]]
    if http or rng.random() < 0.4:
        out.flags.append([rng.choice(["-i", "--protocol"]), rng.choice(["http", "HTTP"]) if http else rng.choice(["grpc", "GRPC"])])
    if rng.random() < 0.3:
        out.flags.append(["--profile-export-file", rng.choice(["mine.json", "mine", "no/where.json"])])
    if rng.random() < 0.06:
        out.flags.append(rng.choice([["--nonsense"], ["-m", "nomodel"], ["--input-data", "nowhere.jsonl"], ["-i", "carrier-pigeon"], ["--tokenizer-path", "nowhere"], ["--measurement-interval", "1.5"], ["--conc", "2"]]))
    replaced(out)
    return out


def kind(place: str):
    """How each place of the results is compared. The original's times hold a question to the server, a connection
    and a thread's turn, so ours have only to be none the longer, on average."""
    def number(a: object, b: object) -> bool:
        return isinstance(a, (int, float)) and isinstance(b, (int, float)) and (a == -1) == (b == -1)

    def time(a: object, b: object) -> bool:
        return number(a, b) and b * 1000 <= max(2 * a * 1000, a * 1000 + 60)

    name = place.rsplit("/", 1)[-1]
    if name in ("average_ttft", "average_latency"):
        return noisy(time)
    if name.startswith("p99") or name.endswith("_per_sec") or name in ("throughput", "ttft", "e2e_latency"):
        return number
    return "exact"


def written(line: Line, a: Side, b: Side) -> list:
    left, right = ({k: v for k, v in files(s.where).items() if k not in line.files} for s in (a, b))
    out = [Difference("files/missing", f, MISSING) for f in left if f not in right] + [Difference("files/more", MISSING, f) for f in right if f not in left]
    for name in [n for n in left if n in right]:
        found = [loaded(s[name]) for s in (left, right)]
        out += [of_text(d, *found) for d in values("file:results", *found, kind)]
        holds = [averages(results) for results in found]
        out += [Difference(f"facts/{name}", True, False) for name, held in holds[0].items() if held and not holds[1].get(name, True)]
    return out


def of_text(d: Difference, a: dict, b: dict) -> Difference:
    """A difference, whose place says of a number of tokens if it is that of another text."""
    if at := re.fullmatch(r"file:results/(\w+)/perf_results/(\d+)/output_tokens", d.place):
        level, i = at.group(1), int(at.group(2))
        if a[level]["perf_results"][i]["output_text"] != b[level]["perf_results"][i]["output_text"]:
            return replace(d, place=d.place + "/of-other-text")
    return d


def averages(results: object) -> dict:
    """Whether each figure of a level is what its requests make, for files that are results."""
    out: dict = {}
    for level in results.values() if isinstance(results, dict) else []:
        answered = [r for r in level["perf_results"] if "error" not in r]
        took, first = (sorted(r[name] for r in answered) for name in ("e2e_latency", "ttft"))
        if not took or not sum(took):
            continue
        made = {f"average_{way}_token_per_sec": sum(r[f"{way}_tokens"] for r in answered) / sum(took) for way in ("input", "output")}
        for name, found in (("latency", took), ("ttft", first)):
            at = 0.99 * (len(found) - 1)
            low, high = found[int(at)], found[min(int(at) + 1, len(found) - 1)]
            made |= {f"average_{name}": sum(found) / len(found), f"p99_{name}": low + (high - low) * (at - int(at))}
        for name, value in made.items():
            out[name] = math.isclose(value, level["metrics"][name], rel_tol=1e-6) and out.get(name, True)
        out["requests"] = level["client_requests"] == len(level["perf_results"]) and out.get("requests", True)
    return out


def screens(a: Side, b: Side) -> list:
    def shape(screen: str) -> list:
        return [re.sub(r"-?\d+(\.\d+)?(e[+-]\d+)?", "N", s.strip()) for s in screen.splitlines() if s.strip()]
    left, right = shape(a.screen), shape(b.screen)
    out = [Difference("screen/missing", row, MISSING) for row in dict.fromkeys(left) if row not in right]
    out += [Difference("screen/more", MISSING, row) for row in dict.fromkeys(right) if row not in left]
    return out or ([Difference("screen/order", left, right)] if left != right else [])
