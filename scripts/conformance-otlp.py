"""Runs that are sent to a real OpenTelemetry collector, over each protocol: what the collector prints is what result.json says.

    conformance-otlp.py INFEROMETER OTELCOL
"""

import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time

BIN, OTELCOL = (str(pathlib.Path(a).resolve()) for a in sys.argv[1:3])
compared = 0


def free():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def same(what, got, want, within=1e-6):
    global compared
    compared += 1
    if abs(got - want) > max(within * abs(want), 1e-6):  # it prints six decimals
        sys.exit(f"{what}: the collector has {got}, result.json {want}")


def points(log, name):
    """The points of a metric: their attributes and figures."""
    for part in re.split(r"^Metric #\d+\n", log, flags=re.M)[1:]:
        if f"-> Name: {name}\n" not in part:
            continue
        for point in re.split(r"^(?:Histogram|Number)DataPoints #\d+\n", part, flags=re.M)[1:]:
            yield dict(re.findall(r"-> (\S+): \w+\((.*)\)", point)), dict(re.findall(r"^(Count|Sum|Min|Max|Value): (\S+)$", point, flags=re.M))


def check(log, result, protocol):
    sent = sum(s["counts"]["sent"] + s["counts"]["warmup"] for s in result["stages"])
    same(f"{protocol}: spans", len(re.findall(r"^Span #", log, flags=re.M)), sent)
    for i, stage in enumerate(result["stages"], 1):
        metrics = stage["metrics"]
        for name, ours in (("gen_ai.client.operation.duration", "request_latency"), ("gen_ai.server.time_to_first_token", "time_to_first_token"), ("gen_ai.server.time_per_output_token", "time_per_output_token")):
            found = [f for a, f in points(log, name) if a["inferometer.stage"] == str(i) and "error.type" not in a]
            m = metrics[ours]
            same(f"{protocol}: {name} of stage {i}", sum(int(f["Count"]) for f in found), m["count"])
            same(f"{protocol}: sum of {name}", sum(float(f["Sum"]) for f in found), m["avg"] * m["count"] / 1000, 1e-4)
            same(f"{protocol}: max of {name}", max(float(f["Max"]) for f in found), m["max"] / 1000, 1e-4)
        for a, f in points(log, "inferometer.result"):
            if a["inferometer.stage"] == str(i):
                same(f"{protocol}: {a}", float(f["Value"]), metrics[a["inferometer.metric"]][a["inferometer.stat"]], 1e-3)


def main():
    with tempfile.TemporaryDirectory() as temp:
        out = os.path.join(temp, "out")
        subprocess.run([BIN, "run", "--stage", "concurrency=8,requests=200,warmup=20", "--stage", "rate=200,requests=100", "--output-tokens", "4", "--out", out, "--quiet"], stdout=subprocess.DEVNULL, check=False)
        result = json.loads(pathlib.Path(out, "result.json").read_text())
        for protocol in ("grpc", "http/protobuf", "http/json"):
            port = free()
            how = "grpc" if protocol == "grpc" else "http"
            name = os.path.join(temp, "log")
            config = {
                "receivers": {"otlp": {"protocols": {how: {"endpoint": f"127.0.0.1:{port}"}}}},
                "exporters": {"debug": {"verbosity": "detailed", "sampling_initial": 1000000}},
                "service": {"telemetry": {"metrics": {"level": "none"}}, "pipelines": {k: {"receivers": ["otlp"], "exporters": ["debug"]} for k in ("traces", "metrics")}},
            }
            with open(name, "w") as log, subprocess.Popen([OTELCOL, "--config", "yaml:" + json.dumps(config)], stdout=log, stderr=log) as collector:
                try:
                    for _ in range(600):
                        if "Everything is ready" in pathlib.Path(name).read_text():
                            break
                        time.sleep(0.1)
                    env = dict(os.environ, OTEL_EXPORTER_OTLP_PROTOCOL=protocol)
                    done = subprocess.run([BIN, "report", out, "--format", "csv", "--otlp", f"http://127.0.0.1:{port}"], env=env, capture_output=True, text=True)
                    if "Sent: " not in done.stderr or "were not" in done.stderr:
                        sys.exit(f"{protocol}: {done.stderr}")
                finally:
                    collector.terminate()
            check(pathlib.Path(name).read_text(), result, protocol)
    print(f"conformance-otlp: {compared} figures in a real collector are those of result.json")


main()
