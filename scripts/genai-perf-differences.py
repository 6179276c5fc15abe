"""Where docs/differences.md says that the real genai-perf is wrong, it is, and ours is as the page says, with --faithful and without.

It is a part of genai-perf-conformance.py. Rows on releases that nobody can run any more
are held by tests in Go; a row that neither has is a failure.
"""
import json
import tempfile
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path

from sides import Mock, Run, Server, check, differences, figures, line, load, ours, real, real_metrics

ROOT = Path(__file__).resolve().parent.parent
CHAT = ["--endpoint-type", "chat", "--streaming"]
PAUSE = 0.3  # seconds between two reads
LONG = 240  # ms: whatever is longer had the pause in it


def event(**delta: object) -> bytes:
    return b"data: " + json.dumps({"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]}).encode() + b"\n\n"


DONE = b"data: [DONE]\n\n"


class Pieces(BaseHTTPRequestHandler):
    """Answers with pieces of a body, each a write of its own, after a pause each."""
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    kind = "text/event-stream"
    count = 0

    def pieces(self, n: int) -> list[tuple[float, bytes]]:
        raise NotImplementedError

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        n, type(self).count = self.count, self.count + 1
        self.send_response(200)
        self.send_header("Content-Type", self.kind)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for pause, data in self.pieces(n):
            time.sleep(pause)
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, *_: object) -> None:
        pass


class Odd(Pieces):
    """Answers in turn with five words, with one, with none, with thoughts ahead, and with a call of a tool."""

    def pieces(self, n: int) -> list[tuple[float, bytes]]:
        words = [{"content": w} for w in (" one", " two", " three", " four", " five")]
        call = {"tool_calls": [{"index": 0, "id": "c", "type": "function", "function": {"name": "look", "arguments": "{\"at\": \"all of it\"}"}}]}
        thoughts = [{"reasoning_content": w} for w in (" well", " now", " then", " so")]
        parts = [words, words[:1], [], thoughts + words[:4], [call]][n % 5]
        return [(0.005, data) for data in (event(role="assistant"), *(event(**p) for p in parts), DONE)]


class Tools(Pieces):
    """Answers with two words and then with a call of a tool, in two events."""

    def pieces(self, n: int) -> list[tuple[float, bytes]]:
        def call(text: str) -> bytes:
            return event(tool_calls=[{"index": 0, "function": {"name": "look", "arguments": text}}])
        return [(0.005, data) for data in (event(content=" one"), event(content=" two"), call("{\"at\":"), call(" \"all\"}"), DONE)]


class Thoughts(Pieces):
    """Thinks for a while, and then says two words."""

    def pieces(self, n: int) -> list[tuple[float, bytes]]:
        return [(0.02, event(reasoning_content=" well")), (PAUSE, event(content=" one")), (0.02, event(content=" two")), (0.02, DONE)]


class Whole(Pieces):
    """Answers without a stream, in two reads."""
    kind = "application/json"

    def pieces(self, n: int) -> list[tuple[float, bytes]]:
        body = json.dumps({"object": "chat.completion", "choices": [{"index": 0, "message": {"role": "assistant", "content": "one two three"}}]}).encode()
        return [(0.02, body[:60]), (PAUSE, body[60:])]


class WholeVector(Whole):
    """The same with an embedding."""

    def pieces(self, n: int) -> list[tuple[float, bytes]]:
        body = json.dumps({"object": "list", "data": [{"object": "embedding", "index": 0, "embedding": [0.5] * 8}]}).encode()
        return [(0.02, body[:30]), (PAUSE, body[30:])]


class Cut(Pieces):
    """Cuts the second event in two reads."""

    def pieces(self, n: int) -> list[tuple[float, bytes]]:
        second = event(content=" two")
        return [(0.02, event(content=" one")), (0.02, second[:40]), (PAUSE, second[40:]), (0.02, event(content=" three")), (0.02, DONE)]


class Comment(Pieces):
    """Puts a comment and an event into one write."""

    def pieces(self, n: int) -> list[tuple[float, bytes]]:
        return [(0.02, event(content=" one")), (0.02, b": ping\n\n" + event(content=" two")), (0.02, DONE)]


class AfterDone(Pieces):
    """Puts [DONE] and a comment into one write."""

    def pieces(self, n: int) -> list[tuple[float, bytes]]:
        return [(0.02, event(content=" one")), (0.02, event(content=" two")), (0.02, DONE + b": bye\n\n")]


class GPUs(BaseHTTPRequestHandler):
    """A page of a DCGM exporter with one GPU, the first of its server."""
    watts = 100.0

    def do_GET(self) -> None:
        body = f"# TYPE DCGM_FI_DEV_POWER_USAGE gauge\nDCGM_FI_DEV_POWER_USAGE{{gpu=\"0\",UUID=\"GPU-{self.watts:.0f}\"}} {self.watts}\n".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


class MoreGPUs(GPUs):
    watts = 300.0


def both(handler: type[Pieces], flags: list[str], tmp: Path) -> dict[str, Run]:
    """Runs the real tool, ours, and ours with --faithful on one server; what they wrote is under tmp, by these names."""
    with Server(handler) as s:
        return {
            "real": real(line(flags, s.url, tmp / "real", count=4, concurrency=1)),
            "ours": ours(line(flags, s.url, tmp / "ours", count=4, concurrency=1)),
            "faithful": ours(line([*flags, "--faithful"], s.url, tmp / "faithful", count=4, concurrency=1)),
        }


def least(where: Path, metric: str) -> float:
    return figures(where)[metric]["min"]


def odd_answers(tmp: Path) -> None:
    """Rows on thoughts, on throughput and on goodput: the two make different figures of one file, and the same with --faithful."""
    goodput = ["time_to_first_token:22", "inter_token_latency:100"]
    flags = [*CHAT, "--goodput", *goodput]
    with Server(Odd) as s:
        for name in ("ours", "faithful"):
            run = ours(line(flags + ["--faithful"] * (name == "faithful"), s.url, tmp / name))
            check(f"(c) odd answers: {name} measures", run.code == 0, run.out)
    want, got = real_metrics(tmp / "ours", goodput), figures(tmp / "ours")
    text = differences(want, got)
    check("(c) reasoning: the original's answers are shorter", want["output_sequence_length"]["max"] < got["output_sequence_length"]["max"], text)
    check("(c) tool calls: to the original an answer with nothing else is empty", want["request_count"]["avg"] < got["request_count"]["avg"], text)
    check("(c) request throughput: the original counts empty answers", want["request_throughput"]["avg"] > got["request_throughput"]["avg"], text)
    check("(c) goodput: the original pairs values of different requests", want["request_goodput"]["avg"] < got["request_goodput"]["avg"], text)
    diff = differences(real_metrics(tmp / "faithful", goodput), figures(tmp / "faithful"))
    check("(c) odd answers, --faithful: as the original, to the last digit", diff == "", diff)


def no_words(tmp: Path) -> None:
    both(Tools, CHAT, tmp / "tools")
    want, got, same = (figures(tmp / "tools" / d)["output_sequence_length"] for d in ("real", "ours", "faithful"))
    check("(c) tool calls: words alone are output to the original, and with --faithful", want["avg"] == same["avg"] == 2 < got["avg"], f"  real {want}, ours {got}, faithful {same}")
    runs = both(Thoughts, CHAT, tmp / "thoughts")
    for side, late in (("real", True), ("ours", False), ("faithful", True)):
        check(f"(c) reasoning: the first token is {'a visible one' if late else 'a thought'}, {side}", (least(tmp / "thoughts" / side, "time_to_first_token") > LONG) == late, runs[side].out)


def unknown_objective(tmp: Path) -> None:
    goodput = ["latency:3"]
    with Mock("--ttft", "5ms") as mock:
        run = ours(line(CHAT, mock.url(CHAT), tmp))
        check("(c) goodput with an unknown metric: -1 from the original", real_metrics(tmp, goodput)["request_goodput"]["avg"] == -1, run.out)
        for faithful in ([], ["--faithful"]):
            run = ours(line([*CHAT, *faithful, "--goodput", *goodput], mock.url(CHAT), tmp / "refused"))
            check(f"(c) goodput with an unknown metric: refused here {' '.join(faithful)}", run.code == 1 and "unknown metric" in run.out, run.out)


def one_token(tmp: Path) -> None:
    flags = ["--endpoint-type", "kserve", "--backend", "vllm", "--streaming"]
    with Mock("--ttft", "10ms") as mock:
        for name in ("ours", "faithful"):
            ours(line(flags + ["--faithful"] * (name == "faithful"), mock.url(flags), tmp / name, 20, 1))
    want, got = real_metrics(tmp / "ours"), figures(tmp / "ours")
    check("(c) one token of Triton: the original has a second", "time_to_second_token" in want and "time_to_second_token" not in got)
    diff = differences(real_metrics(tmp / "faithful"), figures(tmp / "faithful"))
    check("(c) one token of Triton, --faithful: as the original", diff == "", diff)


def several_reads(tmp: Path) -> None:
    # Of an answer without a stream both take the last read.
    for name, handler, flags in (("a chat answer", Whole, CHAT[:2]), ("an embedding", WholeVector, ["--endpoint-type", "embeddings"])):
        runs = both(handler, flags, tmp / handler.__name__)
        for side in runs:
            check(f"(c) {name} in several reads: the last one, {side}", least(tmp / handler.__name__ / side, "request_latency") > LONG, runs[side].out)
    runs = both(Cut, CHAT, tmp / "cut")
    for side, last in (("real", False), ("ours", True), ("faithful", True)):
        check(f"(c) an event in two reads: the {'last' if last else 'first'} one, {side}", (least(tmp / "cut" / side, "time_to_second_token") > LONG) == last, runs[side].out)


def together(tmp: Path) -> None:
    for handler in (Comment, AfterDone):
        runs = both(handler, CHAT, tmp / handler.__name__)
        check(f"(c) {handler.__name__} ahead in one read: an error of the original", not runs["real"].measured(), runs["real"].out)
        for side in ("ours", "faithful"):
            got = figures(tmp / handler.__name__ / side)
            check(f"(c) {handler.__name__} ahead in one read: measured, {side}", got["request_count"]["avg"] == 4 and got["output_sequence_length"]["avg"] == 2, runs[side].out)


def same_index(tmp: Path) -> None:
    with Server(GPUs) as a, Server(MoreGPUs) as b, Mock("--ttft", "1s") as mock:
        flags = ["--endpoint-type", "chat", "--server-metrics-url", f"http://{a.url}/metrics", f"http://{b.url}/metrics"]
        runs = {
            "real": real(line(flags, mock.url(flags), tmp / "real", 4, 4)),
            "ours": ours(line(flags, mock.url(flags), tmp / "ours", 4, 4)),
            "faithful": ours(line([*flags, "--faithful"], mock.url(flags), tmp / "faithful", 4, 4)),
        }
    power = {side: load("profile_export_genai_perf.json", tmp / side)["telemetry_stats"]["gpu_power_usage"] for side in runs}
    power = {side: {gpu: (v["min"], v["max"]) for gpu, v in p.items() if gpu != "unit"} for side, p in power.items()}
    text = f"  {power}"
    check("(c) GPUs with the same index: one to the original", list(power["real"].values()) == [(100.0, 300.0)], text)
    check("(c) GPUs with the same index: two here", sorted(power["ours"].values()) == [(100.0, 100.0), (300.0, 300.0)], text)
    check("(c) GPUs with the same index, --faithful: as the original", power["faithful"] == power["real"], text)


def failures(tmp: Path) -> None:
    flags = ["--endpoint-type", "chat"]
    with Mock("--ttft", "5ms", "--fault", "status:500=0.3") as mock:
        theirs = real(line(flags, mock.url(flags), tmp / "real"))
        check("(c) a request that fails: the end of the original's run", not theirs.measured(), theirs.out)
        for faithful in ([], ["--faithful"]):
            run = ours(line([*flags, *faithful], mock.url(flags), tmp / f"ours{len(faithful)}"))
            check(f"(c) a request that fails: counted here {' '.join(faithful)}", "requests failed" in run.out and run.measured(), run.out)


def image_retrieval(tmp: Path) -> None:
    flags = ["--endpoint-type", "image_retrieval", "--image-width-mean", "32", "--image-height-mean", "24"]
    with Mock("--ttft", "5ms") as mock:
        theirs = real(line(flags, mock.url(flags), tmp / "real"))
        check("(c) image retrieval: an error of the original", not theirs.measured() and "is not a valid Record tag" in theirs.out, theirs.out)
        for faithful in ([], ["--faithful"]):
            run = ours(line([*flags, *faithful], mock.url(flags), tmp / f"ours{len(faithful)}"))
            check(f"(c) image retrieval: measured here {' '.join(faithful)}", run.measured(), run.out)


# The rows of the table, by how they begin, and what holds them: a function above, or a test in Go.
ROWS = {
    # differs: genai-reasoning
    "reasoning and tool calls": no_words,
    # differs: genai-empty-answers
    "request throughput": odd_answers,
    # differs: genai-goodput-pairs
    "goodput": odd_answers,
    # differs: genai-goodput-unknown
    "goodput with an unknown metric": unknown_objective,
    "a response of Triton's that begins with the prompt": "internal/tool/genaiperf:TestGenerateIsEnough",
    "an input of the form that a Triton model lacks, such as `exclude_input_in_output`": "internal/prompt/shaped:TestTensors",
    # differs: genai-second-token
    "time to second token of a Triton response with one token": one_token,
    "24.03: time to first token of a chat": "internal/tool/genaiperf/dialect:TestFaithful",
    "24.03, 24.04: output tokens": "internal/tool/genaiperf/dialect:TestEarlyOutputTokens",
    "24.03: tokens are made and counted": "internal/tool/genaiperf:TestRowsOfThePages",
    "24.04: input tokens of completions": "internal/tool/genaiperf:TestRowsOfThePages",
    "24.04: 200 tokens asked for": "internal/tool/genaiperf:TestRowsOfThePages",
    # differs: genai-cut-event
    "an event that is cut in two reads": several_reads,
    # differs: genai-events-together
    "events in one read that begin with a comment or with `[DONE]`": together,
    # differs: genai-same-gpu-index
    "GPUs with the same index on several servers": same_index,
    # differs: genai-failed-request
    "a request that fails": failures,
    # differs: genai-image-retrieval
    "`--endpoint-type image_retrieval`": image_retrieval,
}


def held(row: str) -> str:
    """What is wrong with how a row of the page is held; empty: nothing."""
    by = ROWS.get(row)
    if by is None:
        return f"  nothing holds the row {row!r}"
    if isinstance(by, str):
        package, test = by.split(":")
        if not any(f"func {test}(" in f.read_text() for f in (ROOT / package).glob("*_test.go")):
            return f"  {package} has no {test}"
    return ""


def run() -> None:
    rules = json.loads((ROOT / "docs" / "differences.json").read_text())["rules"]
    rows = [r["what"] for r in rules if r["tool"] == "genai-perf" and r["what"] in ROWS]
    text = "\n".join(filter(None, [held(r) for r in rows] + [f"  there is no rule {r!r}" for r in ROWS if r not in rows]))
    check(f"(c) each of the {len(rows)} rules of this script is held", text == "", text)
    for f in dict.fromkeys(f for f in ROWS.values() if callable(f)):
        with tempfile.TemporaryDirectory() as tmp:
            f(Path(tmp))
