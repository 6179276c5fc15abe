"""genai-perf: how its lines are run on both sides, and what of them is compared."""
import json
import math
import os
import re
import statistics
from contextlib import nullcontext
from itertools import takewhile
from pathlib import Path

from compare import MISSING, Difference, files, multisets, near, noisy, rows, table, values
from line import Line
from originals import Host, Side, process
from server import Server
from tools import genai_perf_lines
from tools.shared import ends, headers, last, masked

NAME = "genai-perf"
TIMES = ("time_to_first_token", "time_to_second_token", "request_latency", "inter_token_latency")
RATES = ("request_throughput", "output_token_throughput", "output_token_throughput_per_user", "request_goodput", "image_throughput", "image_latency")
LENGTH = re.compile(r'("max_(?:completion_|new_)?tokens\\*": ?)(\d+)')  # also in a text within JSON
STEADY = ("avg", "p50")  # of times; the others say more of the machine than of the tool


class Tool:
    def __init__(self, binary: Path, peers: Path, jobs: int):
        self.binary, self.peers = binary, peers
        self.tokenizer = peers / "tokenizer"
        self.host = Host(peers / "genai-perf/bin/python", "genai_perf", self.tokenizer)
        self.options = self.host.ask(about="options")

    def close(self) -> None:
        self.host.close()

    def line(self, seed: int) -> Line:
        return genai_perf_lines.line(seed, self.options)

    def batches(self, lines: list):
        return [lines]

    def servers(self, line: Line):
        """Each side has a server of its own, which run starts."""
        return nullcontext()

    def run(self, line: Line, side: str, where: Path, servers: None) -> Side:
        where.mkdir(parents=True)
        env = {"COLUMNS": "140", "HOME": str(where.parent), "PATH": f"{self.peers}/genai-perf/bin:{os.environ['PATH']}", "HF_HUB_OFFLINE": "1"}
        with Server(line.seed, line.server, answers_by(line)) as server:
            known = {"url": f"127.0.0.1:{server.port}", "tokenizer": str(self.tokenizer)}
            line.write(where, **known)
            words = line.words(**known)
            if side == "original":
                found = self.host.run(words, where, env)
            else:
                own = ["--faithful"] if line.faithful and line.command[0] in ("profile", "analyze", "config") else []
                at = words.index("--") if "--" in words else len(words)
                found = process([self.binary, "genai-perf", *words[:at], *own, *words[at:]], where, env)
            found.requests, found.port = list(server.requests), server.port
        return found

    def compare(self, line: Line, a: Side, b: Side) -> list:
        if a.failed() or b.failed():
            return ends(a, b)
        out = lengths(line, a, b) if draws_lengths(line) else []
        out += requests(line, a, b) + self.written(line, a, b) + screens(line, a, b)
        if line.command[0] != "process-export-files" and not any(d.place == "files/missing" for d in out):  # whose throughputs are sums
            out += self.reread(line, a, b)
        return out

    def written(self, line: Line, a: Side, b: Side) -> list:
        left, right = (files(s.where) for s in (a, b))
        left, right = ({k: v for k, v in s.items() if k not in line.files} for s in (left, right))
        out = [Difference("files/missing", f, MISSING) for f in left if f not in right] + [Difference("files/more", MISSING, f) for f in right if f not in left]
        for name in [n for n in left if n in right]:
            if name.endswith(".json"):
                out += json_file(line, name, a, b, load(line, left[name], a), load(line, right[name], b))
            elif name.endswith(".csv"):
                out += csv_file(name, left[name].read_text(), right[name].read_text())
            elif name.endswith((".yaml", ".yml")):
                out += values(f"file:{name}", settings(left[name]), settings(right[name]))
        return out

    def reread(self, line: Line, a: Side, b: Side) -> list:
        """Both on the same raw times: their arithmetic on our export, and ours on theirs."""
        out = []
        said = line.meaning()
        uses = [[w for w in takewhile(lambda w: not w.startswith(("-", "=")), said[n + 1:]) if ":" in w] for n, flag in enumerate(said) if flag in ("--goodput", "-g")]
        goodput = uses[-1] if uses else []
        for report in b.where.rglob("*_genai_perf.json"):
            export = report.with_name(report.name.replace("_genai_perf.json", ".json"))
            if not export.exists():
                continue
            kind = json.loads(report.read_text())["input_config"]["endpoint"]["type"]
            try:
                theirs = self.host.ask(about="metrics", file=str(export), tokenizer=str(self.tokenizer), goodput=goodput, kind=kind)
            except ValueError as error:
                out.append(Difference("reread:theirs-of-ours/error", str(error)[-300:], "reported"))
                continue
            found = {k: v for k, v in json.loads(report.read_text()).items() if k not in ("input_config", "sessions", "telemetry_stats")}
            out += values("reread:theirs-of-ours", theirs, found, lambda place: "bits")
        runs = [p.parent for p in a.where.rglob("profile_export_genai_perf.json")]
        if len(runs) == 1:
            out += self.ours_of_theirs(line, a, runs[0])
        return out

    def ours_of_theirs(self, line: Line, a: Side, run: Path) -> list:
        where = a.where.parent / "reread"
        where.mkdir()
        own = ["--faithful"] if line.faithful else []
        again = process([self.binary, "genai-perf", "process-export-files", "-d", str(run.parent), "--artifact-dir", "merged", *own], where, {"COLUMNS": "140"})
        found = list(where.rglob("*_genai_perf.json"))
        if again.failed() or len(found) != 1:
            return [Difference("reread:ours-of-theirs/error", "reported", last(again.screen))]
        theirs, ours = ({k: v for k, v in json.loads(f.read_text()).items() if k not in ("input_config", "sessions", "telemetry_stats")} for f in (run / "profile_export_genai_perf.json", found[0]))
        out = values("reread:ours-of-theirs", theirs, ours, lambda place: "bits")
        one, two = (next(d.glob("*.csv")).read_text() for d in (run, found[0].parent))
        if one != two and not out:
            out.append(Difference("reread:csv", one, two))
        one, two = table(a.screen), table(again.screen)
        if one != two and not out:
            out.append(Difference("reread:table", one, two))
        return out


def answers_by(line: Line) -> str:
    """What answers follow from. Which of several sessions is the first to ask is chance, and texts that share a request are drawn."""
    def more(*names: str) -> bool:
        said = line.meaning()
        return any(flag in names and value != "1" for flag, value in zip(said, said[1:]))

    if line.by == "count" and more("--session-concurrency"):
        return "turn"
    return "count" if more("--batch-size-text", "--batch-size", "-b") else line.by


def settings(file: Path) -> list:
    """The lines of a YAML file without its comments, which each tool has in its own words."""
    return [row.rstrip() for row in file.read_text().splitlines() if row.strip() and not row.lstrip().startswith("#")]


def draws_lengths(line: Line) -> bool:
    """Whether output lengths are drawn, by each tool in its own way."""
    return re.search(r"--output-tokens-stddev (?!0 )", line.text()) is not None


def lengths(line: Line, *sides: Side) -> list:
    """The lengths that are drawn, as distributions: the mean and the deviation of each side, held against the other's.
    They are taken out of the requests."""
    found = [[int(m.group(2)) for body in {r.body for r in side.requests if r.json is not None} for m in LENGTH.finditer(body.decode())] for side in sides]
    for request in (r for side in sides for r in side.requests if r.json is not None):
        request.body = LENGTH.sub(r"\g<1>0", request.body.decode()).encode()
        request.json = json.loads(request.body)
    if not found[0] or not found[1]:
        return values("request/lengths", *found)
    if min(map(len, found)) < 8:
        return []  # too few to tell
    means, spreads = ([f(drawn) for drawn in found] for f in (statistics.mean, statistics.stdev))
    error = math.hypot(*(s / math.sqrt(len(drawn)) for s, drawn in zip(spreads, found)))
    out = [] if abs(means[0] - means[1]) <= 5 * error + 1 else [Difference("request/lengths/mean", *means)]
    return out if max(spreads) <= 4 * min(spreads) + 2 else [*out, Difference("request/lengths/deviation", *spreads)]


def load(line: Line, file: Path, side: Side) -> object:
    """The JSON of a file, without what is drawn: ports, lengths, and names of sessions, which are numbered."""
    found: dict = {}
    text = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", lambda m: found.setdefault(m.group(), f"session {len(found)}"), file.read_text())
    if draws_lengths(line):
        text = LENGTH.sub(r"\g<1>0", text)
    try:
        return json.loads(text.replace(f"127.0.0.1:{side.port}", "URL"))
    except ValueError:
        return text


def requests(line: Line, a: Side, b: Side) -> list:
    posts = [[r for r in s.requests if r.method == "POST"] for s in (a, b)]
    others = [[f"{r.method} {r.path}" for r in s.requests if r.method != "POST"] for s in (a, b)]
    out = multisets("request/other", *others) if set(others[0]) != set(others[1]) else []
    if timed(line):
        posts = [list({r.path: r for r in p}.values()) for p in posts]
    out += multisets("request/path", *([r.path for r in p] for p in posts))
    out += headers(posts)
    bodies = [[r.json if line.by == "content" else masked(r.json) for r in p] for p in posts]
    if timed(line):
        return out
    found = multisets("request/body", *bodies)
    if not found and in_order(line):
        found = values("request/body-order", *bodies)[:1]
    if not found and line.by == "content":
        raw = [sorted(r.body for r in p) for p in posts]
        if raw[0] != raw[1]:
            pair = next((x, y) for x, y in zip(*raw) if x != y)
            found = [Difference("request/body-bytes", *(p.decode(errors="replace") for p in pair))]
    return out + found


def timed(line: Line) -> bool:
    """Whether a time, and not a count, ends the run."""
    return any(w in ("--measurement-interval", "-p") for w in line.meaning())


def in_order(line: Line) -> bool:
    """Whether requests are sent one by one."""
    words = line.meaning()
    return not any(w in ("--concurrency", "--request-rate", "--session-concurrency", "--fixed-schedule", "--concurrency-range", "--request-rate-range", "--sweep-type") for w in words) or "--concurrency 1 " in " ".join(words) + " "


def late(line: Line, side: Side, metric: str, stat: str) -> float:
    """How long the server itself took, in ms: on a busy machine it is late, and not for both sides alike."""
    words = [str(w) for w in line.meaning()]
    warmup = next((int(n) for flag, n in zip(words, words[1:]) if "warmup-request" in flag and n.isdigit()), 0)
    end = {"request_latency": "ended", "time_to_first_token": "began"}.get(metric)
    posts = [r for r in side.requests if r.method == "POST"][warmup:]
    if not end or not posts or line.command[0] == "analyze":
        return 0.0
    took = [1000 * (getattr(r, end) - r.came) for r in posts]
    return statistics.mean(took) if stat == "avg" else statistics.median(took)


def kind_of_report(line: Line, left: Side, right: Side):
    """How each place of the JSON report is compared."""
    def time(metric: str, stat: str):
        def same(a: object, b: object) -> bool:
            if not (isinstance(a, (int, float)) and isinstance(b, (int, float))):
                return False
            return near(a, b) or near(a - late(line, left, metric, stat), b - late(line, right, metric, stat))
        return same

    def rate(a: object, b: object) -> bool:
        return isinstance(a, (int, float)) and isinstance(b, (int, float)) and near(a, b, 0.5, 0.4)

    def length(a: object, b: object) -> bool:
        return isinstance(a, (int, float)) and isinstance(b, (int, float)) and near(a, b, 3, 0.1)

    def kind(place: str):
        parts = place.split("/")[1:]
        if len(parts) < 2 or parts[0] == "input_config" or parts[-1] == "unit":
            return "exact"
        metric, stat = parts[-2:]
        if metric in TIMES:
            return noisy(time(metric, stat)) if stat in STEADY else "type"
        if metric in RATES:
            return noisy(rate, falls=True) if stat == "avg" else "type"
        if metric == "input_sequence_length" and line.by == "count":
            return length if "stddev" not in line.text() and stat != "std" else "type"
        return "type" if timed(line) or parts[0] == "telemetry_stats" else "exact"
    return kind


def json_file(line: Line, name: str, left: Side, right: Side, a: object, b: object) -> list:
    place = f"file:{Path(name).name}"
    if name.endswith("inputs.json"):
        if line.by == "count":
            a, b = masked(a), masked(b)
        return values(place, a, b)
    if name.endswith("_genai_perf.json"):
        return values(place, a, b, kind_of_report(line, left, right))
    if isinstance(a, dict) and isinstance(b, dict) and "experiments" in a and "experiments" in b:
        return export(line, place, a, b)
    return values(place, a, b, lambda p: "type")


def export(line: Line, place: str, a: dict, b: dict) -> list:
    """Differences of profile exports: what is in them, not when."""
    out = values(place, *({k: v for k, v in s.items() if k not in ("experiments", "version")} for s in (a, b)))
    if len(a["experiments"]) != len(b["experiments"]):
        return out + [Difference(f"{place}/experiments/length", len(a["experiments"]), len(b["experiments"]))]
    for x, y in zip(a["experiments"], b["experiments"]):
        out += values(f"{place}/experiment", x.get("experiment"), y.get("experiment"))
        out += multisets(f"{place}/request-keys", [list(r) for r in x["requests"]][:1], [list(r) for r in y["requests"]][:1])
        out += values(f"{place}/window_boundaries", len(x["window_boundaries"]), len(y["window_boundaries"]))
        if timed(line):
            continue
        out += values(f"{place}/requests", len(x["requests"]), len(y["requests"]))
        out += responses(line, place, x["requests"], y["requests"])
        if line.by == "content":
            out += multisets(f"{place}/request_inputs", *([r["request_inputs"] for r in s["requests"]] for s in (x, y)))
    return out


def responses(line: Line, place: str, a: list, b: list) -> list:
    """Differences of the responses to all requests. Without chunks each network read is a response, of which a busy machine has a few less."""
    counts = [[len(r["response_timestamps"]) for r in s] for s in (a, b)]
    if line.server.get("frame", "chunked") == "chunked":
        out = multisets(f"{place}/responses-count", *counts)
    else:
        out = values(f"{place}/responses-count", *map(sum, counts), lambda _: noisy(lambda p, q: near(p, q, 0, 0.02), falls=True))
    def text(request: dict) -> str:
        found = "".join(str(o.get("response", o)) for o in request["response_outputs"])
        return found if line.by == "content" else re.sub('"model": "[^"]*"', "", found)  # which of several models is asked next is chance

    return out + multisets(f"{place}/responses", *([text(r) for r in s] for s in (a, b)))


def csv_file(name: str, a: str, b: str) -> list:
    """Header rows and the names of rows: the values are those of the JSON report."""
    place = f"file:{Path(name).name}"
    left, right = ([r if r[:1] in (["Metric"], ["Config Name"]) else r[:1] + [str(len(r))] for r in rows(t)] for t in (a, b))
    return values(f"{place}/rows", left, right)


MACHINE = re.compile(r"\[WARNING\]|WARNING: Pass contained only one request| *Avg send request rate:")


def screens(line: Line, a: Side, b: Side) -> list:
    def shape(screen: str) -> list:
        return [r if r[:1] == ["Statistic"] else [r[0], *("N/A" if c == "N/A" else "n" for c in r[1:])] for r in table(screen)]

    def titles(screen: str) -> list:
        return [s.strip() for s in screen.splitlines() if "NVIDIA GenAI-Perf |" in s]

    def reports(screen: str) -> list:
        """What Perf Analyzer says with -v, with N for numbers and without what a busy machine has it say."""
        found = re.findall(r"^\*\*\* Measurement Settings.*?(?=^\[\d|^Inferences/Second|^ *NVIDIA|\Z)", screen, re.MULTILINE | re.DOTALL)
        return [re.sub(r"\d+(\.\d+)?(e[+-]\d+)?", "N", row.strip()) for report in found for row in report.splitlines() if row.strip() and not MACHINE.match(row)]

    out = values("table/title", titles(a.screen), titles(b.screen)) + values("report", reports(a.screen), reports(b.screen))
    return out + values("table", shape(a.screen), shape(b.screen))
