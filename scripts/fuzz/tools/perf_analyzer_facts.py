"""What must hold within the files of one side of perf_analyzer, however busy the machine is: its arithmetic."""
import math
import re
from pathlib import Path

from compare import files, loaded, rows

PARTS = ("Client Send", "Network+Server Send/Recv", "Server Queue", "Server Compute Input", "Server Compute Infer", "Server Compute Output",
         "Server Cache Hit", "Server Cache Miss", "Client Recv")


def facts(where: Path, screen: str, given: dict) -> dict:
    """Whether each thing holds that can be told, by its name."""
    found = {k: v for k, v in files(where).items() if k not in given}
    tables = [[dict(zip(t[0], r)) for r in t[1:]] for t in (rows(f.read_text()) for n, f in found.items() if n in ("out.csv", "latency.csv")) if t]
    exports = [loaded(f) for n, f in found.items() if n == "export.json"]
    levels = tables[0] if tables else []
    out = of_rows(levels)
    if screen.count("Throughput: ") - screen.count("Response Throughput: ") == 1:
        shown = of_screen(screen)
        if len(levels) == 1:
            out |= same_as_screen(levels[0], shown)
        if exports and isinstance(exports[0], dict) and len(exports[0].get("experiments", [])) == 1:
            out |= of_export(exports[0]["experiments"][0], shown)
    return out


def of_rows(levels: list) -> dict:
    out: dict = {}
    for row in levels:
        number = {k: float(v) for k, v in row.items() if re.fullmatch(r"[\d.e+]+", v or "")}
        shares = [(int(m.group(1)), v) for k, v in number.items() if (m := re.fullmatch(r"p(\d+) latency", k))]
        out["percentiles in order"] = [v for _, v in shares] == sorted(v for _, v in shares) and out.get("percentiles in order", True)
        parts = [number[p] for p in PARTS if p in number]
        if "Avg latency" in number and number.get("Network+Server Send/Recv"):
            out["parts make the average"] = abs(number["Avg latency"] - sum(parts)) <= len(parts)
        if "request/response" in number:
            out["request/response is send and receive"] = number["request/response"] == number["Client Send"] + number["Client Recv"]
    rates = [float(row["Inferences/Second"]) for row in levels if re.fullmatch(r"[\d.e+]+", row.get("Inferences/Second") or "")]
    return out | {"rows by rate": rates == sorted(rates)} if levels else out


def of_screen(screen: str) -> dict:
    """The figures of the client in the report of the only level."""
    number = r"([\d.e+]+)"
    patterns = {"count": rf"^ *Request count: {number}", "rate": rf"^ *Throughput: {number}", "avg": rf"^ *Avg latency: {number} usec", "std": rf"^ *Avg latency: .*standard deviation {number}"}
    patterns |= {f"p{n} latency": rf"^ *p{n} latency: {number} usec" for n in re.findall(r"^ *p(\d+) latency:", screen, re.M)}
    out = {k: float(m.group(1)) for k, p in patterns.items() if (m := re.search(p, screen, re.M))}
    server = re.search(r"^ *Server: .*?^ *Avg request latency: [^\n]*queue (\d+) usec \+ compute input (\d+) usec \+ compute infer (\d+) usec \+ compute output (\d+) usec", screen, re.M | re.S)
    if server and "Composing models" not in screen:
        out |= dict(zip(PARTS[2:6], map(float, server.groups())))
    return out


def same_as_screen(row: dict, shown: dict) -> dict:
    out = {f"{k} as in the report": float(row[k]) == v for k, v in shown.items() if k in row}
    if "Avg latency" in row and "avg" in shown:
        out["Avg latency as in the report"] = float(row["Avg latency"]) == shown["avg"]
    if "rate" in shown:
        out["rate as in the report"] = math.isclose(float(row["Inferences/Second"]), shown["rate"], rel_tol=1e-3)
    return out


def of_export(experiment: dict, shown: dict) -> dict:
    """The figures of the report, from the times of the requests in the export."""
    ends = experiment["window_boundaries"]
    spans = []  # start and end of each request of the windows that count: the last three
    for r in experiment["requests"]:
        outputs = r.get("response_outputs") or [{}]
        empty = r["response_timestamps"] and outputs[-1] == {"O0": ""} and not isinstance(r["request_inputs"].get("I0"), str)
        times = r["response_timestamps"][:-1] if empty else r["response_timestamps"]  # without the empty final response
        if times:
            spans.append((r["timestamp"], times[-1]))
    first = ends[max(0, len(ends) - 4)]
    took = sorted(end - start for start, end in spans if len(ends) < 5 or end >= first)
    if not took:
        return {}
    mean = sum(took) // len(took)
    out = {"Request count of the export": len(took) == shown.get("count")}
    if "avg" in shown:
        out["average of the export"] = mean // 1000 == shown["avg"]
    for k, v in shown.items():
        if m := re.fullmatch(r"p(\d+) latency", k):
            out[f"{k} of the export"] = took[int(int(m.group(1)) / 100 * (len(took) - 1) + 0.5)] // 1000 == v
    if len(took) > 1 and "std" in shown:
        out["deviation of the export"] = abs(math.sqrt(sum((t - mean) ** 2 for t in took) / (len(took) - 1)) // 1000 - shown["std"]) <= 1
    return out
