"""Exports of real runs, read with pandas and DuckDB: figures that users work out of them are those of result.json.

    conformance-export.py INFEROMETER [FILE OF ANOTHER TOOL]...
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import time

import duckdb
import numpy
import pandas

BIN = str(pathlib.Path(sys.argv[1]).resolve())
PERCENTILES = {"p1": 1, "p50": 50, "p90": 90, "p99": 99, "p99.9": 99.9}
POOLED = ("inter_token_latency", "inter_event_latency")
NAMES = {
    "output_sequence_length": "output_tokens",
    "input_sequence_length": "input_tokens",
    "output_token_throughput_per_user": "output_tokens_per_s_per_user",
}
compared = 0


def inferometer(*args, ok=(0, 1)):
    done = subprocess.run([BIN, *map(str, args)], capture_output=True, text=True)
    if done.returncode not in ok:
        sys.exit(f"{args}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def same(what, want, got):
    global compared
    compared += 1
    # Samples are whole nanoseconds; a column has them as fractions of a millisecond.
    if not numpy.isclose(want, got, rtol=1e-9, atol=2e-6):
        sys.exit(f"{what}: result.json has {want}, the export {got}")


def column(name, unit):
    return NAMES.get(name, name + "_ms" if unit == "ms" else name)


def stats(what, want, values):
    same(what + " count", want["count"], len(values))
    same(what + " avg", want["avg"], numpy.mean(values))
    same(what + " max", want["max"], numpy.max(values))
    for name, q in PERCENTILES.items():
        same(f"{what} {name}", want[name], numpy.percentile(values, q))


def check(what, requests, events, result):
    for stage in result["stages"]:
        rows = requests[(requests.stage == stage["index"]) & (requests.phase == "measured")]
        counts = stage["counts"]
        same(what + " sent", counts["sent"], len(rows))
        same(what + " failed", counts["failed"], (rows.status == "failed").sum())
        if stage.get("goodput"):
            same(what + " good", stage["metrics"]["slo_attainment"]["avg"], rows.good.astype(bool).mean())
        for f in stage.get("failures", []):
            mine = rows[rows.error_class == f["class"]]
            if len([g for g in stage["failures"] if g["class"] == f["class"]]) == 1:
                same(what + " " + f["class"], f["count"], len(mine))
        seconds = stage["window"]["end_s"] - stage["window"]["begin_s"]
        well = rows[rows.status == "ok"]
        if seconds > 0 and len(well):
            same(what + " throughput", stage["metrics"]["request_throughput"]["avg"], len(well) / seconds)
        whole = [("whole", rows, stage["metrics"])]
        if "steady" in stage:
            steady = requests[(requests.stage == stage["index"]) & requests.steady]
            whole.append(("steady", steady, stage["steady"]["metrics"]))
        for window, rows, metrics in whole:
            for name, m in metrics.items():
                about = f"{what} stage {stage['index']} {window} {name}"
                if "p50" not in m or name == "read_delay":
                    continue
                if name not in POOLED:
                    stats(about, m, rows[column(name, m["unit"])].dropna().to_numpy(dtype=float))
                    continue
                weights = rows[name + "_samples"]
                own = rows[name + "_ms"].fillna(0)
                same(about + " samples", m["count"], weights.sum())
                if m["count"]:
                    assert abs((own * weights).sum() / weights.sum() - m["avg"]) < 1e-5, about
                if events is None:
                    continue
                mine = events[(events.stage == stage["index"]) & ((events.phase == "measured") if window == "whole" else events.steady)]
                mine = mine[mine[name + "_ms"].notna()]
                values = mine[name + "_ms"].to_numpy(dtype=float)
                if name == "inter_token_latency":
                    values = numpy.repeat(values, mine.tokens.to_numpy(dtype=int))
                stats(about, m, values)


def exported(run, where, folded=False):
    """Every format says the same. Of folded streams, the table of events has a part."""
    result = json.loads(inferometer("report", run, "--format", "json").stdout)
    files = {}
    where.mkdir()
    for table, more in (("requests", []), ("events", ["--events"])):
        for suffix in ("parquet", "csv", "jsonl"):
            files[table, suffix] = where / f"{table}.{suffix}"
            inferometer("export", run, "--out", files[table, suffix], *more, ok=(0,))
    events = pandas.read_parquet(files["events", "parquet"])
    requests = pandas.read_parquet(files["requests", "parquet"])
    readers = {
        "pandas parquet": lambda t: pandas.read_parquet(files[t, "parquet"]),
        "pandas csv": lambda t: pandas.read_csv(files[t, "csv"]),
        "pandas jsonl": lambda t: pandas.read_json(files[t, "jsonl"], lines=True),
        "duckdb parquet": lambda t: duckdb.sql(f"from '{files[t, 'parquet']}'").df(),
        "duckdb csv": lambda t: duckdb.sql(f"from '{files[t, 'csv']}'").df(),
        "duckdb jsonl": lambda t: duckdb.sql(f"from '{files[t, 'jsonl']}'").df(),
    }
    for name, read in readers.items():
        got = read("requests")
        assert list(got.columns) == list(requests.columns), (name, list(got.columns))
        assert (got.request == requests.request).all(), name
        check(f"{run.name} by {name}", got, None if folded else read("events"), result)
    assert str(requests.sent_at.dtype).startswith("datetime64"), requests.sent_at.dtype
    assert folded or (events.groupby("request").size().reindex(requests.request, fill_value=0).to_numpy() == requests.events.to_numpy()).all()
    return requests


def mock(*args):
    server = subprocess.Popen([BIN, "mock", "--listen", "127.0.0.1:0", "--ttft", "20ms", "--itl", "2ms", *args], stderr=subprocess.PIPE, text=True)
    address = [server.stderr.readline().split() for _ in range(2 if "--grpc" in args else 1)]
    return server, ["http://" + address[0][-1]] + ["grpc://" + line[3] for line in address[1:]]


NAME = "=cmd|' /C calc'!A1"  # a formula to a spreadsheet


def ours(scratch):
    plain, faulty = ["--tokens-per-event", "3", "--grpc", "127.0.0.1:0"], ["--fault", "status:500=0.2", "--fault", "truncate=0.1", "--fault", "error-event=0.1"]
    for servers, runs in (
        (plain, {
            "plain": [0, "--requests", 200, "--concurrency", 8, "--goodput", "ttft:21ms"],
            "stages": [0, "--stage", "concurrency=4,requests=40,warmup=8", "--stage", "rate=100,arrival=poisson,requests=60"],
            "windows": [0, "--levels", "1:2:1", "--window", "1s", "--max-trials", 3],
            "workers": [0, "--requests", 60, "--workers", 2, "--concurrency", 4],
            "whole": [0, "--requests", 30, "--no-stream"],
            "warm-up found": [0, "--requests", 100, "--warmup", "auto"],
            "triton": [1, "--requests", 60, "--model", "mock"],
            "long streams": [0, "--requests", 20, "--limit", "stream=4KiB"],
        }),
        (faulty, {"failures": [0, "--requests", 200, "--concurrency", 16, "--max-errors", "100%"]}),
    ):
        server, urls = mock(*servers)
        try:
            for name, (which, *args) in runs.items():
                run = scratch / name
                inferometer("run", urls[which], *args, "--name", NAME, "--out", run, "--export", scratch / (name + ".parquet"), "-q")
                rows = exported(run, scratch / (name + " files"), name == "long streams")
                assert pandas.read_parquet(scratch / (name + ".parquet")).equals(rows), name
                assert (rows.run == NAME).all() and name != "workers" or set(rows.worker) == {"worker-1", "worker-2"}
                print(f"{name}: {len(rows)} requests, {compared} figures equal so far", flush=True)
        finally:
            server.kill()
            server.wait()


def killed(scratch):
    server, urls = mock()
    run = scratch / "killed"
    going = subprocess.Popen([BIN, "run", urls[0], "--concurrency", "8", "--duration", "60s", "--out", run, "-q"])
    try:
        while not (run / "requests.jsonl.zst").exists() or (run / "requests.jsonl.zst").stat().st_size < 100_000:
            time.sleep(0.1)
    finally:
        going.kill()
        going.wait()
        server.kill()
        server.wait()
    rows = exported(run, scratch / "killed files")
    assert (rows.error_class == "cut_off").any()
    print(f"killed: {len(rows)} requests, {compared} figures equal so far", flush=True)


def others(scratch, path):
    """What another tool wrote has the figures that a report of it has."""
    out = scratch / "theirs.parquet"
    inferometer("export", path, "--out", out, ok=(0,))
    rows = pandas.read_parquet(out)
    assert len(rows) and rows.request_latency_ms.notna().any(), path
    print(f"{path}: {len(rows)} requests", flush=True)
    out.unlink()


def main():
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        ours(scratch)
        killed(scratch)
        inferometer("export", scratch / "plain", "--format", "profile-export")
        others(scratch, scratch / "plain" / "profile_export.json")
        for path in sys.argv[2:]:
            others(scratch, path)
        spread = pandas.read_csv(scratch / "plain files" / "requests.csv")
        assert (spread.run == "'" + NAME).all(), "a spreadsheet would take the name for a formula"
    print(f"ok: {compared} figures of exports are those of result.json")


main()
