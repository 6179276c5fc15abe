#!/usr/bin/env python3
"""Runs command lines from a seed with a real tool and with ours, and tells what differs.

Both run each line on a server of their own that answers alike. A difference is explained by a
rule of docs/differences.json, or it is confirmed, made smaller and printed, and the exit code is 1.

usage: fuzz.py [--tool TOOL] [--lines N] [--seed S] [--jobs J] [--keep DIR] [--cases] [--matching PATTERN] [--show] [--replay LINE | @FILE]
"""
import argparse
import importlib
import re
import shutil
import signal
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))

from line import Line  # noqa: E402
from rules import Rules  # noqa: E402
from shrink import shrink  # noqa: E402

MANY = 200  # lines after which a pattern that explained nothing is worth a look
TOOLS = {"genai-perf": "genai_perf", "perf_analyzer": "perf_analyzer", "llm_perf": "llm_perf", "inference-perf": "inference_perf"}


class Fuzz:
    def __init__(self, tool, rules: Rules, where: Path, shrinks: bool, ignored: str):
        self.ignored = re.compile(ignored) if ignored else None
        self.tool, self.rules, self.where, self.shrinks = tool, rules, where, shrinks
        self.lock = threading.Lock()
        self.count = 0
        self.places: dict = {}  # unexplained places, and the first line that showed each

    def once(self, line: Line) -> list:
        """The differences of one run of a line on both sides."""
        with self.lock:
            self.count += 1
            where = self.where / f"{self.count}-{line.seed}"
        with self.tool.servers(line) as servers:
            sides = [self.tool.run(line, side, where / side, servers) for side in ("original", "ours")]
        found = self.tool.compare(line, *sides)
        if not found:
            shutil.rmtree(where, ignore_errors=True)
        return found

    def unexplained(self, line: Line) -> list:
        found = [d for d in self.once(line) if not (self.ignored and self.ignored.search(d.place))]
        return [d for d in found if not self.rules.explain(line, d)]

    def confirm(self, line: Line, found: list) -> list:
        """What of a line is not explained again and again: what a busy machine did does not come back."""
        for n in range(4):
            if not found or n >= 2 and not any(d.same for d in found):
                break
            again = {d.place: d for d in self.unexplained(line)}
            found = [again[d.place].quieter(d) for d in found if d.place in again]
            found = [d for d in found if d.differs()]
        return found

    def batch(self, lines: list, jobs: int) -> int:
        """Tries lines that need the same servers, then those that differ once more, fewer at a time, and says how many still do."""
        failed, piece = 0, max(50, 5 * jobs)
        for start in range(0, len(lines), piece):
            with ThreadPoolExecutor(jobs) as pool:
                tried = zip(lines[start:start + piece], pool.map(self.unexplained, lines[start:start + piece]))
                again = [pair for pair in tried if pair[1]]
            with ThreadPoolExecutor(max(1, jobs // 3)) as pool:  # with the machine more to itself
                confirmed = list(zip(again, pool.map(lambda pair: self.confirm(*pair), again)))
            for (line, _), found in confirmed:
                if found:
                    failed += 1
                    self.report(line, found)
        return failed

    def report(self, line: Line, found: list) -> None:
        with self.lock:
            new = [d for d in found if d.key() not in self.places]
            for d in found:
                self.places.setdefault(d.key(), []).append(line.seed)
        print(f"seed {line.seed}: {len(found)} unexplained ({len(new)} at places not seen before)\n  {line.text()}")
        shown = {d.key(): d for d in reversed([*new, *found])}  # one of each, what is new first
        for d in list(reversed(shown.values()))[:8]:
            print("  " + d.text())
        if new and self.shrinks:
            small = shrink(line, new[0].key(), lambda candidate: {d.key() for d in self.unexplained(candidate)})
            print(f"  smallest line that differs at {new[0].place}; to keep in scripts/fuzz/cases:\n  {small.json()}")
        sys.stdout.flush()


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tool", choices=list(TOOLS), default="genai-perf")
    parser.add_argument("--lines", type=int, default=20)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="a directory for what the lines that differ wrote")
    parser.add_argument("--replay", help="a line as JSON, or @FILE, in place of lines from the seed")
    parser.add_argument("--cases", action="store_true", help="the lines that were kept in scripts/fuzz/cases, ahead of others")
    parser.add_argument("--matching", default="", help="a pattern: of the lines from the seed, only those whose text has it")
    parser.add_argument("--show", action="store_true", help="print the lines as JSON, and run nothing")
    parser.add_argument("--explained", action="store_true", help="print the places that each rule explained, and the patterns that matched")
    parser.add_argument("--no-shrink", action="store_true")
    parser.add_argument("--ignore", help="a pattern of places that are left alone")
    parser.add_argument("--binary", type=Path, default=ROOT / "bin/inferometer")
    parser.add_argument("--peers", type=Path, default=ROOT / ".peers")
    return parser.parse_args()


def lines_of(args: argparse.Namespace, tool) -> list:
    if args.replay:
        text = Path(args.replay[1:]).read_text() if args.replay.startswith("@") else args.replay
        return [Line.of(row) for row in text.splitlines() if row.strip()]
    kept = HERE / "cases" / f"{TOOLS[args.tool]}.jsonl"
    cases = [Line.of(row) for row in kept.read_text().splitlines()] if kept.exists() and args.cases else []
    found = (tool.line(args.seed * 1000 + i) for i in range(max(1000, args.lines)))
    return cases + list(islice((line for line in found if re.search(args.matching, line.text())), args.lines))


def main() -> int:
    args = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # servers end with it
    tool = importlib.import_module("tools." + TOOLS[args.tool]).Tool(args.binary.resolve(), args.peers.resolve(), args.jobs)
    rules = Rules(ROOT / "docs/differences.json", args.tool)
    start, failed = time.monotonic(), 0
    where = args.keep / args.tool if args.keep else Path(tempfile.mkdtemp(prefix="conformance-fuzz-"))
    try:
        fuzz = Fuzz(tool, rules, where, not args.no_shrink, args.ignore)
        lines = lines_of(args, tool)
        if args.show:
            print(*(line.json() for line in lines), sep="\n")
            return 0
        failed = sum(fuzz.batch(batch, args.jobs) for batch in tool.batches(lines))
    finally:
        tool.close()
        if not args.keep:
            shutil.rmtree(where, ignore_errors=True)
    took = time.monotonic() - start
    print(f"{len(lines)} lines of {args.tool} from seed {args.seed}: {failed} with an unexplained difference; {took:.0f} s, {took / max(1, len(lines)):.1f} s a line")
    for name, n in sorted(rules.used.items(), key=lambda item: -item[1]):
        print(f"  explained by {name}: {n}")
        for place, times in sorted(rules.places[name].items()) if args.explained else []:
            print(f"    {place}: {times}")
    for pattern in rules.patterns(matched=True) if args.explained else []:
        print(f"  matched: {pattern}")
    for pattern in rules.patterns(matched=False) if len(lines) >= MANY else []:
        print(f"  never matched: {pattern}")
    for place, seeds in sorted(fuzz.places.items(), key=lambda item: -len(item[1])):
        print(f"  unexplained {place}: {len(seeds)} lines, such as {seeds[0]}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
