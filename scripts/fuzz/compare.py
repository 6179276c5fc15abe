"""What differs between two sides: places, with what stands there on either."""
import csv
import io
import json
import math
import re
from collections import Counter
from dataclasses import dataclass, replace

# Times of the two are apart by what their clients take and by the noise of the machine. The
# delays that the server makes are 20 ms and more, so a response that is missed or taken for another shows.
TIME_MS = 15.0  # what times may be apart by
RATIO = 0.25  # or, where that is more, this part of them


@dataclass
class Difference:
    place: str
    original: object
    ours: object
    same: object = None  # of figures that a busy machine makes worse, what says that two are the same: see noisy

    def key(self) -> str:
        """What makes it the same difference as that of another line: its place, and for ends the error's first words."""
        if self.place.startswith(("screen", "files")):
            return f"{self.place} {self.original} {self.ours}"
        if not self.place.startswith("exit"):
            return re.sub(r"/(avg|mean|median|min|max|std|total|p[\d.]+)$", "/*", re.sub(r"/\d+(?=/|$)", "/n", self.place))
        return self.place + " " + " ".join(re.sub(r"[^A-Za-z ]", " ", f"{self.original} {self.ours}").split()[:8])

    def quieter(self, other: "Difference") -> "Difference":
        """Of two runs, the figure of each side that the machine disturbed less."""
        if not self.same or not all(isinstance(v, (int, float)) for v in (self.original, self.ours, other.original, other.ours)):
            return self
        best = max if self.same.falls else min
        return replace(self, original=best(self.original, other.original), ours=best(self.ours, other.ours))

    def differs(self) -> bool:
        return not (self.same and self.same(self.original, self.ours))

    def text(self) -> str:
        return f"{self.place}\n    original: {short(self.original)}\n    ours:     {short(self.ours)}"


def short(value: object, limit: int = 300) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= limit else text[:limit] + f"… ({len(text)} characters)"


def near(a: float, b: float, absolute: float = TIME_MS, ratio: float = RATIO) -> bool:
    return abs(a - b) <= max(absolute, ratio * max(abs(a), abs(b)))


def noisy(compares, falls: bool = False):
    """A comparison of figures that a busy machine makes more, or less where they fall: of several runs the best
    of each side is compared."""
    def same(a: object, b: object) -> bool:
        return compares(a, b)

    same.falls = falls
    return same


MISSING = "(missing)"


def values(place: str, a: object, b: object, kind=lambda path: "exact") -> list:
    """Differences of two JSON values. `kind` says for a place how it is compared: "exact", "bits", "type", "skip", or a function of both."""
    how = kind(place)
    if how == "skip":
        return []
    if callable(how) and not (isinstance(a, dict) and isinstance(b, dict)):
        return [] if how(a, b) else [Difference(place, a, b, how if hasattr(how, "falls") else None)]
    if isinstance(a, dict) and isinstance(b, dict):
        out = []
        for key in {**a, **b}:
            out += values(f"{place}/{key}", a.get(key, MISSING), b.get(key, MISSING), kind)
        if not out and list(a) != list(b) and how != "unordered":
            out.append(Difference(f"{place}/order", list(a), list(b)))
        return out
    if isinstance(a, list) and isinstance(b, list):
        if len(a) != len(b):
            return [Difference(f"{place}/length", len(a), len(b))]
        return [d for i, (x, y) in enumerate(zip(a, b)) for d in values(f"{place}/{i}", x, y, kind)]
    if how == "type":
        return [] if type(a) is type(b) else [Difference(f"{place}/type", a, b)]
    if isinstance(a, float) and isinstance(b, float) and (math.isnan(a) and math.isnan(b) or how != "bits" and math.isclose(a, b, rel_tol=1e-12)):
        return []  # the order of a sum is in its last digit
    return [] if type(a) is type(b) and a == b else [Difference(place, a, b)]


def multisets(place: str, a: list, b: list) -> list:
    """Differences of two lists whose order says nothing."""
    left, right = Counter(map(canonical, a)), Counter(map(canonical, b))
    if left == right:
        return []
    return [Difference(place, dict((left - right).most_common(3)), dict((right - left).most_common(3)))]


def canonical(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)


def loaded(file) -> object:
    """The JSON in a file, or what stands there where it is none."""
    text = file.read_text(errors="replace")
    try:
        return json.loads(text)
    except ValueError:
        return "no JSON: " + text[:200]


def rows(text: str) -> list:
    return list(csv.reader(io.StringIO(text)))


BOX = str.maketrans({c: "│" for c in "┃║"})


def table(screen: str) -> list:
    """The rows of the tables on a screen, as lists of cells. A cell that goes on in the next line is one."""
    out: list = []
    fresh = True
    for line in screen.translate(BOX).splitlines():
        if "│" not in line:
            fresh = True
            if re.search(r"[━─]{5}", line):
                out.append(["—"])
            continue
        cells = [c.strip() for c in line.strip().strip("│").split("│")]
        if not fresh and out and len(cells) == len(out[-1]) and not any(cells[1:]) and cells[0]:
            out[-1][0] += " " + cells[0]
        elif not fresh and out and len(cells) == len(out[-1]) and not cells[0]:
            out[-1] = [f"{p} {c}".strip() for p, c in zip(out[-1], cells)]
        else:
            out.append(cells)
        fresh = False
    return [r for r in out if r != ["—"]]


def files(where) -> dict:
    """The files under a directory, by their path in it."""
    return {str(p.relative_to(where)): p for p in sorted(where.rglob("*")) if p.is_file()}
