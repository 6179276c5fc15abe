"""inference-perf: how its configs are run on both sides, and what of them is compared."""
import json
import re
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from compare import MISSING, Difference, files, loaded, multisets, near, noisy, values
from line import Line
from originals import Host, Side, process
from server import Server
from tools import inference_perf_lines
from tools import inference_perf_reread as reread
from tools.shared import ends, headers, masked

NAME = "inference-perf"
TIMES = ("request_latency", "time_to_first_token", "normalized_time_per_output_token")
GAPS = ("time_per_output_token", "inter_token_latency")
STEADY = ("mean", "median")


class Tool:
    def __init__(self, binary: Path, peers: Path, jobs: int):
        self.binary, self.tokenizer = binary, peers / "tokenizer"
        self.host = Host(peers / "inference-perf/bin/python", "inference_perf", self.tokenizer)
        self.schema = self.host.ask(about="schema")

    def close(self) -> None:
        self.host.close()

    def line(self, seed: int) -> Line:
        return inference_perf_lines.line(seed, self.schema)

    def batches(self, lines: list):
        return [lines]

    def servers(self, line: Line):
        """Each side has a server of its own, which run starts."""
        return nullcontext()

    def run(self, line: Line, side: str, where: Path, servers: None) -> Side:
        where.mkdir(parents=True)
        with Server(line.seed, line.server, line.by) as server:
            settings, words = [], []
            for f in line.flags:
                (settings if f[0].startswith("=") else words).append(f)
            text = json.dumps(tree(settings), indent=1).replace("{url}", f"127.0.0.1:{server.port}").replace("{tokenizer}", str(self.tokenizer))
            line.copy(files={**line.files, "config.yml": text}).write(where)
            argv = ["--config_file", "config.yml", *(w for f in words for w in f)]
            env = {"COLUMNS": "140", "HOME": str(where.parent), "HF_HUB_OFFLINE": "1"}
            if side == "original":
                found = self.host.run(argv, where, env, limit=60)
            else:
                own = ["--faithful"] if line.faithful else []
                found = process([self.binary, "inference-perf", *argv, *own], where, env, limit=60)
            found.requests, found.port = list(server.requests), server.port
        return found

    def compare(self, line: Line, a: Side, b: Side) -> list:
        b.screen = re.sub(r"(: \d+ errors:)\n((?:  .*\n)+)", lambda m: m[1] + re.sub(r"\s+", " ", m[2]) + "\n", b.screen)  # one line of them
        found = ends(a, b)
        if a.failed() or b.failed() and not reports(b):
            return found
        found += requests(line, a, b) + written(line, a, b) + self.papers(line, a, b) + screens(line, a, b)
        closed = line.server.get("connection") == "closed-silently" or line.server.get("error") == "one-reset"
        lost = next((d for d in found if closed and "Server disconnected" in str(d.original)), None)
        if lost:
            return [Difference("request/resent", lost.original, lost.ours)]  # all else that differs comes of it
        return found + reread.ours_of_theirs(self.binary, line, a)

    def papers(self, line: Line, a: Side, b: Side) -> list:
        """What the files of YAML say: the config in force, and partial reports, whose figures are those of the other reports."""
        left, right = ({stage(re.sub("^p-", "", f.name)): f for name, f in files(s.where).items() if name.endswith(".yaml") and "inferometer/" not in name} for s in (a, b))
        names = [n for n in left if n in right]
        found = numbers(self.host.ask(about="yaml", files=[str(s[n]) for n in names for s in (left, right)]))
        out = []
        for i, name in enumerate(names):
            kind = setting if name == "config.yaml" else figure
            these = values(f"file:{name}", *found[2 * i:2 * i + 2], kind)
            out += these if name == "config.yaml" else [alike(d) for d in these if not ("/throughput" in d.place and any("/request_latency" in o.place for o in these))]
        return out


def setting(place: str) -> str:
    """How a setting of the config in force is compared."""
    return "type" if re.search(r"/(base_seed|base_url|local_storage/path)$", place) else "exact"


def figure(place: str) -> str:
    """How a place of a partial report is compared."""
    if re.search(r"/run/(uid|eid|time)|/stddev$", place):  # of one sample there is none
        return "skip"
    if re.search(r"/(latency/\w+|(in|out)put_length)$", place):
        return "unordered"
    return "exact" if place.endswith("/units") else "type"


def alike(d: Difference) -> Difference:
    """A difference of partial reports with the place and values that it has in the others: what is left out there is null here."""
    place = d.place.removesuffix("/type").replace("results/request_performance/aggregate/", "successes/")
    for a, b in (("requests/input_length", "prompt_len"), ("requests/output_length", "output_len"), ("successes/requests/failures", "failures/count")):
        place = place.replace(a, b)
    return replace(d, place=place, **{k: None for k in ("original", "ours") if getattr(d, k) == MISSING})


def numbers(value: object) -> object:
    """What a file says, with numbers that are numbers, whether they are written whole or not."""
    if isinstance(value, dict):
        return {k: numbers(v) for k, v in value.items()}
    if isinstance(value, list):
        return [numbers(v) for v in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def reports(side: Side) -> bool:
    """Whether a run came to its reports: ours ends with 1 where nothing was answered."""
    return side.code == 1 and any(name.endswith("_lifecycle_metrics.json") for name in files(side.where))


def tree(settings: list) -> dict:
    """The config that entries such as ["=api.type", "chat"] make up."""
    out: dict = {}
    for name, value in settings:
        *path, last = name[1:].split(".")
        at = out
        for part in path:
            if not isinstance(at.get(part), dict):  # a part of what is a number otherwise
                at[part] = {}
            at = at[part]
        at[last] = value
    return out


def requests(line: Line, a: Side, b: Side) -> list:
    posts = [[r for r in s.requests if r.method == "POST"] for s in (a, b)]
    others = [[f"{r.method} {r.path}" for r in s.requests if r.method != "POST"] for s in (a, b)]
    out = multisets("request/other", *others) if set(others[0]) != set(others[1]) else []
    if "=load.request_timeout 0.01" in line.text():  # whether any is sent in that time is a matter of the machine
        return out
    if swept(line):
        posts = [list({r.path: r for r in p}.values()) for p in posts]
    out += multisets("request/path", *([r.path for r in p] for p in posts)) + headers(posts)
    bodies = [[masked(r.json) for r in p] for p in posts]
    if swept(line):
        return out
    if any(drawn(line, name) for name in ("data.output_distribution", "data.shared_prefix.output_len", "data.shared_prefix.output_distribution")):
        for body in bodies[0] + bodies[1]:
            if isinstance(body, dict) and "max_tokens" in body:
                body["max_tokens"] = 0
    for body in bodies[0] + bodies[1]:
        if "=data.type synthetic_agentic" in line.text():  # calls in words of each one's own, as long as these make them
            body.pop("max_tokens", None)
            body["tools"] = sorted(t["function"]["name"] if "function" in t else t["name"] for t in body.get("tools", []))
        if "=load.lora_traffic_split" in line.words():
            body["model"] = "(drawn)"
        for message in body.get("messages", []):
            message["content"] = parts(message.get("content"))
    if not {"error", "connection"} & line.server.keys():  # which have requests sent again
        out += values("request/media-of-several", *(shared(p) for p in posts))
    return out + multisets("request/body", *bodies)


def shared(posts: list) -> bool:
    """Whether several requests have the same picture, video or sound."""
    found = [set(re.findall(rb'"(?:url|data)": ?"([^"]{40,})"', r.body)) for r in posts]
    return sum(map(len, found)) > len(set().union(*found))


def parts(content: object) -> object:
    """The content of a message without where its media stand in the text, which is drawn."""
    if not isinstance(content, list) or all(p.get("type") == "text" for p in content):
        return content
    return sorted((p for p in content if p.get("type") != "text"), key=json.dumps)


def swept(line: Line) -> bool:
    return "=load.sweep" in line.text()


def drawn(line: Line, name: str) -> bool:
    """Whether each draws the lengths of a distribution from a seed of its own."""
    settings = {f[0][1:]: f[1] for f in line.flags if f[0].startswith("=")}
    parts = {key.removeprefix(name + "."): value for key, value in settings.items() if key.startswith(name + ".")}
    found = {**settings.get(name, {}), **parts} if parts and isinstance(settings.get(name, {}), dict) else settings.get(name)
    seed = "data.shared_prefix.seed" if "shared_prefix" in name else "load.base_seed"
    if not isinstance(found, dict) or seed in settings or "data.trace.file" in settings:
        return False
    kind = found.get("type", "normal")
    return kind != "fixed" and (kind == "uniform" or found.get("std_dev", 1) != 0)


def written(line: Line, a: Side, b: Side) -> list:
    given = {*line.files, "config.yml"}
    left, right = ({re.sub(r"reports-\d+-\d+", "reports-TIME", k): v for k, v in files(s.where).items() if k not in given} for s in (a, b))
    out = [Difference("files/missing", f, MISSING) for f in left if f not in right] + [Difference("files/more", MISSING, f) for f in right if f not in left]
    for name in [n for n in left if n in right]:
        if name.endswith("_metrics.json") and "per_request" not in name:
            kind = kind_of_report(line)
            if swept(line) or "adapter_" in name:  # the rates that are found are each one's own; which requests are an adapter's is drawn
                kind = lambda place: "type"
            these = values(f"file:{stage(name)}", *(loaded(s[name]) for s in (left, right)), kind)
            out += [replace(d, place=d.place.removesuffix("/type")) for d in these] if swept(line) else these
        elif "per_request" in name:
            out += entries(line, *(loaded(s[name]) for s in (left, right)))
    return out


def stage(name: str) -> str:
    return re.sub(r"stage_\d+", "stage_N", Path(name).name)


def entries(line: Line, a: list, b: list) -> list:
    """Reports of single requests: how many, their keys, and what they say beside times."""
    ranged = swept(line) and bool(a) and bool(b)  # as many as the rates make that each has found
    if len(a) != len(b) and not ranged:
        return [Difference("file:per_request/length", len(a), len(b))]
    keys = [sorted({k for e in side for k in e}) for side in (a, b)]
    out = [Difference("file:per_request/keys", *keys)] if keys[0] != keys[1] else []
    info = [sorted({k for e in side for k in (e.get("info") or {})}) for side in (a, b)]
    if info[0] != info[1]:
        out.append(Difference("file:per_request/info-keys", *info))
    if ranged:
        return out
    for name, of in (("error", error), ("chunks", chunks), ("usage", usage), ("output_tokens", output_tokens)):
        out += multisets(f"file:per_request/{name}", *([of(e) for e in side] for side in (a, b)))
    return out


def error(entry: dict) -> str:
    return (entry.get("error") or {}).get("error_type", "none")


def metrics(entry: dict) -> dict:
    return (entry.get("info") or {}).get("response_metrics") or {}


def chunks(entry: dict) -> object:
    """The chunks of a streamed response, of which each has a time."""
    found = metrics(entry)
    return [found.get("response_chunks"), len(found.get("chunk_times") or [])]


def usage(entry: dict) -> object:
    return metrics(entry).get("server_usage")


def output_tokens(entry: dict) -> object:
    return metrics(entry).get("output_tokens")


def kind_of_report(line: Line):
    """How each place of a lifecycle report is compared."""
    other = any(drawn(line, name) for name in ("data.input_distribution", "data.shared_prefix.question_len", "data.shared_prefix.question_distribution")) or "=data.type conversation_replay" in line.text()

    # Which requests fail, where the server counts them, is a matter of the order.
    other = other or line.server.get("error", "").startswith(("one", "event", "cut")) and '"concurrency_level": 1}' not in line.text()

    # Random ids in front of messages have as many tokens as their digits happen to make.
    # Of sessions at one time, which gets which answer, and has it in its later inputs, is a matter of the order.
    tagged = bool(re.search(r'inject_random_session_id true|duplicate_sessions_target|data.type otel_trace_replay .*"concurrent_sessions": [^1]', line.text()))

    def number(a: object, b: object) -> bool:
        return isinstance(a, (int, float)) and isinstance(b, (int, float))

    def time(a: object, b: object) -> bool:
        # The original's times hold its client's own work, which on a busy machine is hundreds of milliseconds.
        return a is b is None or number(a, b) and (near(a * 1000, b * 1000) or 0 < a - b < 1)

    def later(a: object, b: object) -> bool:
        return a is b is None or number(a, b) and (near(a * 1000, b * 1000) or a > b)

    def rate(a: object, b: object) -> bool:
        return a is b is None or number(a, b) and (near(a, b, 0.5, 0.4) or b > a)  # its closed loops wait for a queue

    def length(a: object, b: object) -> bool:
        return a is b is None or number(a, b) and near(a, b, 4, 0.15)

    def gap(a: object, b: object) -> bool:
        # A client that is late reads at once what came in steps of 20 ms.
        return time(a, b) or number(a, b) and a < 0.001 < 0.015 < b and line.server.get("pieces", "each") == "each"

    gap, time, later, rate = noisy(gap, falls=True), noisy(time), noisy(later), noisy(rate, falls=True)

    # In an open loop the time that a rate is about is one between arrivals, which are drawn.
    steady = rate if "=load.type concurrent" in line.text() else "type"

    def kind(place: str):
        parts = place.split("/")[1:]
        if not parts:
            return "exact"
        name = parts[-2] if len(parts) > 1 else ""
        if parts[-1] in ("actual_duration", "sessions_per_second"):
            return "type"
        if name in ("session_duration_sec", "tfut_sec"):  # with the original's own work between calls
            return later if parts[-1] in STEADY else "type"
        if name in GAPS:
            return gap if parts[-1] in STEADY else "type"
        if name in TIMES:
            return time if parts[-1] in STEADY else "type"
        if "schedule_delay" in parts or "teardown_duration" in parts or parts[-1] in ("send_duration", "benchmark_time_seconds", "achieved_rate", "requested_rate"):
            return "type" if parts[-1] != "requested_rate" else "exact"
        if "goodput_metrics" in parts:
            return steady if parts[-1].endswith("goodput") else "exact"
        if "throughput" in parts and len(parts) > 2:
            return steady if parts[-1] == "requests_per_sec" else "type"
        if name == "total_input_tokens" and parts[-1] == "mean" and tagged:
            return length
        if name in ("total_input_tokens", "total_output_tokens"):  # which session a response belongs to is a matter of the order
            return "exact" if parts[-1] == "mean" else "type"
        if "request_size_bytes" in parts:
            return "type"
        if "aspect_ratio" in parts:  # ours has nine digits
            return lambda a, b: a is b is None or number(a, b) and abs(a - b) < 1e-8
        if "prompt_tokens" in parts or "prompt_len" in parts:
            return "type" if other else length
        return "exact"
    return kind


def screens(line: Line, a: Side, b: Side) -> list:
    """What programs read on the screen: the marks around reports, and how stages go."""
    out = []
    for place, pattern in (("marks", r"=== (?:START|END)_.*"), ("stages", r"Stage \d+ - (?:session-based )?run \w+$")):
        if place == "marks" or not swept(line):
            out += values("screen/" + place, *(re.findall(pattern, x.screen, re.MULTILINE) for x in (a, b)))
    return out
