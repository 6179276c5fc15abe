"""perf_analyzer: how its lines are run on both sides, each with a Triton of its own, and what is compared."""
import queue
import json
import re
import subprocess
import tempfile
import threading
from contextlib import contextmanager, nullcontext
from pathlib import Path

from compare import MISSING, Difference, canonical, files, loaded, multisets, near, rows, values
from line import Line
from originals import Side, process
from tools import perf_analyzer_lines
from tools.perf_analyzer_facts import facts
from tools.shared import ends
from tritons import Triton

NAME = "perf_analyzer"
SEQUENCES = ("sequence", "dialog")  # models that keep state
REPOSITORIES = 8  # repositories of models: lines whose seeds are alike by this share one


class Tool:
    """Servers are started for one repository at a time, a pair of them for each line that runs at a time."""

    def __init__(self, binary: Path, peers: Path, jobs: int):
        self.binary, self.peers, self.jobs = binary, peers, jobs
        self.dir = tempfile.TemporaryDirectory(prefix="conformance-triton-")
        self.repository, self.pairs, self.free = None, [], queue.Queue()
        self.preload = cuda(Path(self.dir.name))
        self.memory = threading.Lock()  # regions of shared memory have the same names in all runs

    def close(self) -> None:
        for pair in self.pairs:
            for triton in pair.values():
                triton.close()
        self.pairs = []
        self.dir.cleanup()

    def prepare(self, repository: int) -> None:
        """Starts servers with the models of a repository, in place of those that run."""
        if repository == self.repository:
            return
        for pair in self.pairs:
            for triton in pair.values():
                triton.close()
        self.repository, self.free = repository, queue.Queue()
        self.pairs = [{side: self.triton(Path(self.dir.name) / f"{repository}-{i}-{side}", repository, f"{i}{side}") for side in ("original", "ours")} for i in range(self.jobs)]
        for pair in self.pairs:
            for triton in pair.values():
                triton.wait()
            self.free.put(pair)

    def triton(self, where: Path, repository: int, name: str) -> Triton:
        return Triton(self.peers / "triton/tritonserver", where, repository, name)

    def line(self, seed: int) -> Line:
        return perf_analyzer_lines.line(seed, seed // 1000 * REPOSITORIES + seed % 1000 * REPOSITORIES // 1000)

    def batches(self, lines: list):
        """Lines by the repository that they need, whose servers are started ahead of each."""
        for repository in dict.fromkeys(line.server["repository"] for line in lines):
            self.prepare(repository)
            yield [line for line in lines if line.server["repository"] == repository]

    @contextmanager
    def servers(self, line: Line):
        pair = self.free.get()
        try:
            with self.memory if any(str(w).endswith("system") for w in line.words()) else nullcontext():
                yield pair
        finally:
            self.free.put(pair)

    def run(self, line: Line, side: str, where: Path, pair: dict) -> Side:
        triton = pair[side]
        where.mkdir(parents=True)
        line.write(where)
        triton.revive()
        words = line.words(http=f"127.0.0.1:{triton.http}", grpc=f"127.0.0.1:{triton.grpc}")
        program = [self.peers / "perf_analyzer/perf_analyzer"] if side == "original" else [self.binary, "perf_analyzer", *(["--faithful"] if line.faithful else [])]
        triton.forget()
        found = process([*program, *words], where, {"COLUMNS": "140", "HOME": str(where.parent), **(self.preload if side == "original" else {})}, limit=40, apart=True)
        found.requests, found.port = triton.requests(), triton.grpc
        found.screen = found.screen.replace(f"127.0.0.1:{triton.http}", "URL").replace(f"127.0.0.1:{triton.grpc}", "URL")
        return found

    def compare(self, line: Line, a: Side, b: Side) -> list:
        if a.failed() != b.failed() and any(map(stalled, (a, b))) or near_limit(line) and limited(a) != limited(b):
            return []
        if a.failed() or b.failed():
            return ends(a, b) + refusals(a, b)
        return requests(line, a, b) + written(line, a, b) + screens(a, b) + sums(line, a, b)


def sums(line: Line, a: Side, b: Side) -> list:
    """What holds within the original's files and not within ours."""
    left, right = (facts(s.where, s.screen, line.files) for s in (a, b))
    return [Difference(f"facts/{name}", holds, right[name]) for name, holds in left.items() if holds and not right.get(name, True)]


def cuda(where: Path) -> dict:
    """What has the original find a CUDA runtime, which it loads for any shared memory."""
    made = where / "libcudart.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-nostdlib", f"-Wl,-soname,{made.name}", "-o", made, Path(__file__).parent.parent / "cudart.c"], check=True)
    return {"LD_PRELOAD": str(made)}


def stalled(side: Side) -> bool:
    """Whether a window of a side that reached the server had no response: what the machine, or a cold model, did."""
    return bool(side.requests) and "No valid requests recorded within time interval" in side.screen + side.errors


def near_limit(line: Line) -> bool:
    """Whether the limit of latencies is one that a machine that does other things is above at times."""
    return re.search(r"(-l|--latency-threshold)[ =]?1( |$)", " ".join(map(str, line.words()))) is not None


def limited(side: Side) -> bool:
    """Whether a latency was above its limit."""
    return "Measured latency went over the set limit" in side.screen + side.errors


def refusals(a: Side, b: Side) -> list:
    """What is said of bad options, where both refuse the line."""
    said = [re.search(pattern, s.errors, re.M) for s, pattern in ((a, r"^Error: (.*?)\.?$"), (b, r"^inferometer perf_analyzer: (.*?)\.?$"))]
    warned = [re.sub("^Warning", "WARNING", row) for row in a.errors.splitlines() if row.lower().startswith("warning: ")]
    out = [Difference("exit/warning", row, MISSING) for row in warned if row not in b.errors and a.failed() and b.failed()]
    return out + values("exit/words", *(s.group(1) for s in said)) if all(said) and b.code == 3 else out


def counted(line: Line) -> bool:
    """Whether the number of requests follows from the line. The lengths of sequences, which are sent to their end, are drawn."""
    drawn_lengths = line.server["kind"] == "sequence" and "--sequence-length-variation 0" not in " ".join(map(str, line.words()))
    return "--request-count" in line.words() and not drawn_lengths


def by_chance(line: Line, side: Side) -> bool:
    """Whether figures follow from what each tool draws: how many responses a request has, or how long a sequence holds up others."""
    drawn_lengths = "--sequence-length-variation 0" not in " ".join(map(str, line.words()))
    return line.server["kind"] == "stream" and drawn(line, side) or line.server["kind"] == "sequence" and drawn_lengths


def drawn_streams(line: Line) -> bool:
    """Whether each tool draws which stream of the data a sequence goes through."""
    return line.server["kind"] == "sequence" and re.match(r"\ufeff?{\"data\": \[\[", line.files.get("data.json", "")) is not None


def side_by_side(line: Line) -> bool:
    """Whether several requests are in flight at a time, or may be."""
    words = line.words()
    return not {"--request-rate-range", "--request-intervals", "--fixed-schedule", "-c", "-t"}.isdisjoint(words) or re.search(r"--concurrency-range[ =](?!1 )", " ".join(map(str, words)) + " ") is not None


def drawn(line: Line, side: Side) -> bool:
    """Whether values of inputs are drawn by each tool. Strings are, even beside zeros."""
    words = line.words()
    strings = any(v[0] == "object" for rs in side.requests.values() for v in rs[0]["inputs"].values())
    return "--input-data" not in words or "random" in words or "zero" in words and strings and "--string-data" not in words


def requests(line: Line, a: Side, b: Side) -> list:
    out = []
    for s in (a, b):  # without what the server fills up batches with
        kept = {n: [r for r in found if n not in SEQUENCES or r["correlation"] or r["outputs"]] for n, found in s.requests.items()}
        s.requests = {n: found for n, found in kept.items() if found}
    if list(a.requests) != list(b.requests):
        if any(not s.requests and re.search(r"Cache hit count: [1-9]", s.screen) for s in (a, b)):
            return []  # an earlier line had the same inputs, and no model was asked again
        return [Difference("request/models", list(a.requests), list(b.requests))]
    for name in a.requests:
        left, right = ([plain(r, drawn(line, a)) for r in s.requests[name]] for s in (a, b))
        found = [s.requests[name] for s in (a, b)]
        if name in SEQUENCES and line.server["kind"] == "sequence":
            name = "sequence"
            out += sequences(*found)
        out += values(f"request/{name}/ids", *map(ids, found))
        if counted(line) and not (line.server["kind"] in ("cached", "ensemble") and side_by_side(line)):  # which finds a response in the cache first is chance
            if len(left) != len(right):
                out.append(Difference(f"request/{name}/count{open_ends(line, len(left), len(right)) or refused(a, len(left), len(right))}", len(left), len(right)))
            elif not drawn_streams(line):
                different = multisets(f"request/{name}", left, right)
                if different and open_ends(line, len(left), len(right)) and not multisets("", *([{**r, "flags": 0} for r in found] for found in (left, right))):
                    different[0].place += "/open"  # the same requests, in other sequences
                out += different
        elif "--sequence-length" not in line.words():
            out += values(f"request/{name}/kinds", sorted(set(map(canonical, left))), sorted(set(map(canonical, right))))
    return out


def ids(found: list) -> list:
    """The first id of sequences, and whether there are gaps between them."""
    numbers = sorted({r["correlation"] for r in found})
    return [numbers[0], numbers[-1] - numbers[0] >= len(numbers)]


def sequences(a: list, b: list) -> list:
    """Whether each sequence begins and ends once, and one of its id only after the one before."""
    whole = [True, True]
    for i, found in enumerate((a, b)):
        going = set()
        for r in found:
            starts, ends_ = bool(r["flags"] & 1), bool(r["flags"] & 2)
            whole[i] = whole[i] and (r["correlation"] in going) != starts
            (set.discard if ends_ else set.add)(going, r["correlation"])
        whole[i] = whole[i] and not going
    return [Difference("request/sequence/whole", *whole)] if whole[0] and not whole[1] else []


def open_ends(line: Line, *counts: int) -> str:
    """What the place says of counts that are apart only by the ends of sequences that were open after the last request
    asked for, or at a rate after the warm-up."""
    words = [w for word in line.words() for w in re.split("=", str(word), maxsplit=1)]
    text = " ".join(words)
    asked, warm, length, sequences = (int(words[words.index(n) + 1]) if n in words else default for n, default in (
        ("--request-count", 0), ("--warmup-request-count", 0), ("--sequence-length", 20), ("--num-of-sequences", 4)))
    if re.search("--request-(rate-range|intervals)", text):
        return "/warm" if warm and all(asked <= n <= asked + warm + 2 * sequences * (length - 1) for n in counts) else ""
    if "--request-count" not in words:
        return ""
    at_once = re.search(r"(?:--concurrency-range[ =]|-t )(?:\d+:)?(\d+)", text)
    most = asked + warm + (1 + bool(warm)) * int(at_once.group(1) if at_once else 1) * (length - 1)
    return "/open" if all(asked <= n <= most for n in counts) else ""


def refused(original: Side, *counts: int) -> str:
    """What the place says of counts that are apart by requests which the server refused the original."""
    return "/refused" if 0 < counts[1] - counts[0] <= original.errors.count("must specify the START flag") else ""


def plain(r: dict, drawn_values: bool) -> dict:
    """A request without what each tool draws, and without ids of sequences, which threads hand out in any order."""
    inputs = {k: v for k, v in r["inputs"].items() if k not in ("START", "END", "READY", "CORRID")}  # made by the server from flags and ids
    r = {**r, "correlation": bool(r["correlation"]), "inputs": inputs}
    if drawn_values:
        r["inputs"] = {k: [*v[:2], *v[3:]] for k, v in r["inputs"].items()}
    return r


def written(line: Line, a: Side, b: Side) -> list:
    left, right = ({k: v for k, v in files(s.where).items() if k not in line.files} for s in (a, b))
    out = []
    for name in [n for n in left if "_v-1." in n and n not in right]:
        match = next((n for n in right if n not in left and n.startswith(name.split("_v-1.")[0] + "_v")), None)
        if match:
            out.append(Difference("files/version", name, match))
            left[match] = left.pop(name)
    out += [Difference("files/missing", f, MISSING) for f in left if f not in right] + [Difference("files/more", MISSING, f) for f in right if f not in left]
    for name in [n for n in left if n in right]:
        if name.endswith(".csv"):
            out += [d for d in csv_file(line, name, left[name].read_text(), right[name].read_text(), answered(a)) if not by_chance(line, a) or d.place.endswith(("/header", "/rows", "/cells"))]
        elif name.endswith(".json"):
            out += export(line, a, *(loaded(s[name]) for s in (left, right)))
    return out


def answered(side: Side) -> int:
    """How many requests a report counts, which are not those without a response, or 0 where it has several levels or none."""
    counts = re.findall(r"^ *Client: *\n *Request count: (\d+)", side.screen, re.M)  # models have one too
    return int(counts[0]) if len(counts) == 1 else 0


def csv_file(line: Line, name: str, a: str, b: str, count: int) -> list:
    """Header, labels, and times and rates within tolerance, given how many requests the original's report counts."""
    left, right = rows(a), rows(b)
    place = f"file:{name}"
    if not left or not right or left[0] != right[0]:
        return [Difference(f"{place}/header", left[:1], right[:1])]
    if len(left) != len(right):
        return [Difference(f"{place}/rows", len(left), len(right))]
    out = []
    for x, y in zip(sorted(left[1:]), sorted(right[1:])):  # by their level: they stand in the order of their rates
        for column, p, q in zip(left[0], x, y):
            out += late_end(line, cell(f"{place}/{column}", column, p, q), count)
        if len(x) != len(y):
            out.append(Difference(f"{place}/cells", len(x), len(y)))
    return out


def cell(place: str, column: str, a: str, b: str) -> list:
    try:
        x, y = float(a), float(b)
    except ValueError:
        return [] if a == b else [Difference(place, a, b)]
    if column in ("Concurrency", "Request Rate"):
        same = x == y
    elif column in ("Inferences/Second", "Response Throughput"):
        same = near(x, y, 1, 0.8)
    elif "Count" in column:
        same = near(x, y, 5, 0.6)
    elif column.startswith("p9"):
        same = True  # of few requests, those are what the machine did
    else:
        same = near(x / 1000, y / 1000, 100, 0.9)  # microseconds: of the right order, on a busy machine; facts has their arithmetic
    return [] if same else [Difference(place, a, b)]


def late_end(line: Line, found: list, count: int) -> list:
    """Of a number of requests, a rate that is what it is because the original looks once a second whether they have ended."""
    words = line.words()
    if not found or not found[0].place.endswith(("Inferences/Second", "Response Throughput")):
        return found
    if "--request-count" not in words and "--fixed-schedule" not in words:
        return found
    d = found[0]
    sent = count * (float(words[words.index("-b") + 1]) if "-b" in words else 1)
    if re.search(r"_v\d+\.", d.place):  # of what reached a composing model, from none to two of each: not known here
        return [Difference(d.place + "/late-end", d.original, d.ours)] if float(d.original) < float(d.ours) and float(d.original) <= 2 * sent else found
    later = sent / float(d.original) - sent / float(d.ours) if float(d.original) and float(d.ours) else 0
    return [Difference(d.place + "/late-end", d.original, d.ours)] if 0 < later < 2 else found


def joined(value: object) -> object:
    """A tensor of an export with its strings as the original puts them behind one another."""
    if isinstance(value, dict):
        return {k: joined(v) for k, v in value.items()}
    if isinstance(value, list) and value and all(isinstance(v, str) for v in value):
        return value[0] + "".join(len(v.encode()).to_bytes(4, "little").decode("latin-1") + v for v in value[1:])
    return [joined(v) for v in value] if isinstance(value, list) else value


def export(line: Line, original: Side, a: object, b: object) -> list:
    place = "file:export"
    if not isinstance(a, dict) or not isinstance(b, dict):
        return [Difference(f"{place}/form", *(s if isinstance(s, str) else "JSON" for s in (a, b)))]
    out = values(place, *({k: v for k, v in s.items() if k not in ("experiments", "version")} for s in (a, b)))
    if len(a["experiments"]) != len(b["experiments"]):
        return out + [Difference(f"{place}/experiments", len(a["experiments"]), len(b["experiments"]))]
    for x, y in zip(a["experiments"], b["experiments"]):
        out += values(f"{place}/experiment", x["experiment"], y["experiment"])
        keys = [sorted({k for r in s["requests"] for k in r}) for s in (x, y)]
        out += values(f"{place}/request-keys", *keys)
        if counted(line):
            sent = [len(s["requests"]) for s in (x, y)]
            out += values(f"{place}/requests{open_ends(line, *sent) or refused(original, *sent)}", *sent)
            out += values(f"{place}/window_boundaries", len(x["window_boundaries"]), len(y["window_boundaries"]))
        if not drawn(line, original):
            out += contents(place, x["requests"], y["requests"])
    return out


def contents(place: str, a: list, b: list) -> list:
    """What requests of exports carried, of each kind one."""
    left, right = ([[r["request_inputs"], r["response_outputs"]] for r in s] for s in (a, b))
    kinds = [sorted(set(map(canonical, s))) for s in (left, right)]
    if kinds[0] != kinds[1] and kinds[0] == sorted({canonical(joined(r)) for r in right}):
        return [Difference(f"{place}/strings", kinds[0], kinds[1])]
    return values(f"{place}/contents", *kinds)


def shape(screen: str) -> list:
    """The lines of a report with N for numbers."""
    found = []
    for row in screen.splitlines():
        row = re.sub(r"^(Perf Analyzer Version|\{\"model_stats\").*", r"\1", re.sub("^Warning: ", "WARNING: ", row.strip()))
        found.append(re.sub(r"\d+(\.\d+)?(e[+-]\d+)?", "N", row))
    return found


def screens(a: Side, b: Side) -> list:
    """Lines that ours lacks on either stream, and lines of its report that the original does not print."""
    left, right = shape(a.screen.strip()), shape(b.screen.strip())
    more = {"", *shape(b.errors)}
    unversioned = [row.replace("version: -N", "version: N") for row in left]
    if unversioned != left and all(row in right for row in unversioned if row not in left):
        row = next(row for row in left if row not in unversioned)
        return [Difference("screen/version", row, row.replace("-N", "N"))] + rows_of(unversioned, right, shape(a.errors), more)
    return rows_of(left, right, shape(a.errors), more)


# Lines that are there or not by what the machine was doing.
MEASURED = ("[WARNING] Perf Analyzer is not able to keep up", "Server average accounted time was larger than")


def rows_of(left: list, right: list, errors: list, more: set) -> list:
    """The differences of two screens, given what stands on standard error too."""
    left, right, errors = ([row for row in rows if not row.startswith(MEASURED)] for rows in (left, right, errors))
    out = [Difference("screen/missing", row, MISSING) for row in dict.fromkeys(left + errors) if row not in right and row not in more]
    out += [Difference("screen/more", MISSING, row) for row in dict.fromkeys(right) if row not in left]
    if not out and left != right:
        once = [row for i, row in enumerate(left) if i == 0 or row != left[i - 1] or not row.startswith("Request ")]
        out.append(Difference("screen/twice" if once == right else "screen/order", left, right))
    return out
