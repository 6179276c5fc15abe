"""Holds inferometer's genai-perf against the real one.

usage: genai-perf-conformance.py INFEROMETER PERF_ANALYZER TOKENIZER [CASE...]

It is run by the Python that has the real genai-perf. Against the built-in mock:

(a) ours measures, and the real tool's metrics on the profile_export.json that we wrote
    must be those in our own JSON report, to the last digit; the real tool measures, and
    our process-export-files on what it wrote must give its JSON, its CSV and its table;
(b) both measure in turns, with long fixed latencies: every column within 2 %;
(c) where docs/differences.md says that the original is wrong, it is, and with --faithful
    ours is wrong in the same way where that page says so (genai-perf-differences.py).

(d) exit codes, repeated settings and sweeps of command lines, and on a real Triton what is
    sent, are the same (genai-perf-lines.py).

A case is one of (a), "fixed" and one of (b), "differences" or "lines".
"""
import importlib.util
import statistics
import sys
import tempfile
import time
from pathlib import Path

SPEC = importlib.util.spec_from_file_location("sides", Path(__file__).with_name("genai-perf-sides.py"))
SIDES = importlib.util.module_from_spec(SPEC)
sys.modules["sides"] = SIDES
SPEC.loader.exec_module(SIDES)
from sides import FAILED, TITLE, Mock, Run, check, differences, figures, line, ours, quiet, real, real_metrics  # noqa: E402

# What is measured in (a): a name, flags, how many events the mock puts into one write.
CASES = [
    ("chat", ["--endpoint-type", "chat", "--streaming"], 1),
    ("chat, events written together", ["--endpoint-type", "chat", "--streaming"], 3),
    ("chat, whole answers", ["--endpoint-type", "chat"], 1),
    ("completions", ["--endpoint-type", "completions", "--streaming"], 1),
    ("completions, whole answers", ["--endpoint-type", "completions"], 1),
    ("embeddings", ["--endpoint-type", "embeddings"], 1),
    ("rankings", ["--endpoint-type", "rankings", "--input-file", "synthetic:queries,passages", "--batch-size-text", "3"], 1),
    ("image retrieval", ["--endpoint-type", "image_retrieval", "--image-width-mean", "32", "--image-height-mean", "24", "--batch-size-image", "2"], 1),
    ("goodput", ["--endpoint-type", "chat", "--streaming", "--goodput", "request_latency:60", "time_to_first_token:25"], 1),
    ("triton, vllm", ["--endpoint-type", "kserve", "--backend", "vllm", "--streaming"], 1),
    ("triton, tensorrtllm", ["--endpoint-type", "kserve", "--backend", "tensorrtllm", "--streaming"], 1),
    ("triton, generate", ["--endpoint-type", "generate"], 1),
]

# What the real tool measures and then cannot report: one way round only.
BROKEN = ["image retrieval"]

WIDTHS = [80, 100, 140]  # of the terminals that tables are made for, in turn


def table(text: str) -> str:
    start = text.index(TITLE)
    start = text.rindex("\n", 0, start) + 1 if "\n" in text[:start] else 0
    return text[start:text.index("┘", start) + 1]


def goodput_of(flags: list[str]) -> list[str]:
    return [f for f in flags[flags.index("--goodput") + 1:] if ":" in f] if "--goodput" in flags else []


def ours_to_theirs(name: str, flags: list[str], mock: Mock, where: Path) -> None:
    run = ours(line(flags, mock.url(flags), where))
    if run.code != 0:
        check(f"(a) {name}", False, run.out)
        return
    diff = differences(real_metrics(where, goodput_of(flags)), figures(where))
    check(f"(a) {name}: our profile export, their metrics", diff == "", diff)


def theirs_to_ours(name: str, flags: list[str], width: int, mock: Mock, where: Path) -> None:
    run = real(line(flags, mock.url(flags), where / "runs"), width=width)
    if not run.measured():
        check(f"(a) {name}: the real tool measures", False, run.out[-2000:])
        return
    merged = ours(["process-export-files", "-d", str(where / "runs"), "--artifact-dir", str(where / "merged")], width=width)
    if merged.code != 0:
        check(f"(a) {name}", False, merged.out)
        return
    diff = differences(figures(where / "runs"), figures(where / "merged"))
    check(f"(a) {name}: their profile export, our JSON", diff == "", diff)
    csv = [next((where / d).rglob("*.csv")).read_bytes() for d in ("runs", "merged")]
    check(f"(a) {name}: CSV", csv[0] == csv[1], f"{csv[0].decode()}\n{csv[1].decode()}")
    tables = table(run.out), table(merged.out)
    check(f"(a) {name}: table of {width} columns", tables[0] == tables[1], "\n".join(tables))


def same_file(name: str, flags: list[str], coalesce: int, width: int) -> None:
    with tempfile.TemporaryDirectory() as tmp, Mock("--ttft", "20ms", "--itl", "2ms", "--coalesce", str(coalesce)) as mock:
        ours_to_theirs(name, flags, mock, Path(tmp) / "ours")
        if name not in BROKEN:
            theirs_to_ours(name, flags, width, mock, Path(tmp) / "theirs")


# What is measured in (b), by both: a name and flags.
FIXED = [
    ("chat", ["--endpoint-type", "chat", "--streaming"]),
    ("completions", ["--endpoint-type", "completions", "--streaming"]),
    ("triton, vllm", ["--endpoint-type", "kserve", "--backend", "vllm", "--streaming"]),
    ("triton, tensorrtllm", ["--endpoint-type", "kserve", "--backend", "tensorrtllm", "--streaming"]),
    ("embeddings", ["--endpoint-type", "embeddings"]),
    ("rankings", ["--endpoint-type", "rankings", "--input-file", "synthetic:queries,passages", "--batch-size-text", "3"]),
]
NEAR = 0.02
ROUNDS, MORE_ROUNDS = 3, 5
# Long beside what a client and a busy machine add to them.
LATENCIES = ["--ttft", "200ms", "--itl", "50ms"]


def side_by_side(name: str, flags: list[str]) -> None:
    """Each side measures three times, in turns, and a column of it is the median of the three.

    Where they are apart, other work of the machine may have met more than one of the
    three: two more of each are taken, and the median is that of all five.
    """
    found: dict[str, list[dict]] = {"real": [], "ours": []}
    text = "nothing is measured"
    for rounds in (ROUNDS, MORE_ROUNDS):
        while len(found["ours"]) < rounds:
            for side, run in (("real", real), ("ours", ours)):
                result, values = fixed_run(run, flags)
                if not result.measured():
                    check(f"(b) {name}: {side} measures", False, result.out[-2000:])
                    return
                found[side].append(values)
        text = columns_apart(found["real"], found["ours"])
        if text == "":
            break
    check(f"(b) {name}: fixed latencies, every column within 2 %, medians of {len(found['ours'])}", text == "", text)


def fixed_run(run, flags: list[str]) -> tuple[Run, dict]:
    """The mock is a fresh one each time: its n-th answer is the same for both."""
    with tempfile.TemporaryDirectory() as tmp, Mock(*LATENCIES, front=quiet(0)) as mock:
        result = run(line(flags, mock.url(flags), Path(tmp), count=8, osl=5, concurrency=2, warmup=2), quiet(1))
        return result, figures(Path(tmp)) if result.measured() else {}


def columns_apart(real_runs: list[dict], our_runs: list[dict]) -> str:
    lines, compared = [], 0
    for metric in real_runs[0]:
        if metric == "telemetry_stats":
            continue
        for key in real_runs[0][metric]:
            # The deviation of times that are all the same is the noise of the machine alone.
            if key == "unit" or key == "std" and real_runs[0][metric]["unit"] != "tokens":
                continue
            values = [[r.get(metric, {}).get(key) for r in runs] for runs in (real_runs, our_runs)]
            compared += 1
            if None in values[0] + values[1]:
                lines.append(f"  {metric} {key}: real {values[0]}, ours {values[1]}")
                continue
            a, b = (statistics.median(v) for v in values)
            if abs(a - b) > NEAR * abs(a):
                lines.append(f"  {metric} {key}: real {a}, ours {b}, of {values}")
    if compared < 14:
        lines.append(f"  {compared} columns are too few")
    return "\n".join(lines)


def main() -> None:
    wanted = sys.argv[4:]
    begin = time.monotonic()
    for i, (name, flags, coalesce) in enumerate(CASES):
        if not wanted or name in wanted:
            same_file(name, flags, coalesce, WIDTHS[i % len(WIDTHS)])
    for name, flags in FIXED:
        if not wanted or f"fixed {name}" in wanted or "fixed" in wanted:
            side_by_side(name, flags)
    if not wanted or "differences" in wanted:
        SIDES.sibling("genai-perf-differences").run()
    if not wanted or "lines" in wanted:
        SIDES.sibling("genai-perf-lines").run()
    print(f"in {time.monotonic() - begin:.0f} s")
    if FAILED:
        sys.exit(f"{len(FAILED)} of the comparisons differ: {'; '.join(FAILED)}")


main()
