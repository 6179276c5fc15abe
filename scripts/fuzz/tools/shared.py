"""What the grammars and the comparisons of several tools share."""
import random
import re

from compare import MISSING, Difference
from line import Line
from originals import Side

TEXTS = ("content", "prompt", "text", "text_input", "inputs", "input", "query", "passages", "texts", "url", "data", "image", "system")


def replaced(out: Line, chance: float = 0.05) -> None:
    """Now and then gives a flag of the line another value ahead of its own, which mostly does not fit."""
    rng = random.Random(f"{out.seed} replaced")
    places = [i for i, f in enumerate(out.flags) if len(f) == 2 and f[0].startswith("-")]
    if places and rng.random() < chance:
        i = rng.choice(places)
        out.flags.insert(i, [out.flags[i][0], rng.choice(["x", "", "0", "-1", "1.5", "2", "true"])])


def ends(a: Side, b: Side) -> list:
    """How two runs ended of which at least one failed."""
    words = [f"{s.code}: {last(s.screen, s.errors) if s.failed() else 'ran'}" for s in (a, b)]
    if a.failed() != b.failed():
        return [Difference("exit/original-fails" if a.failed() else "exit/ours-fails", *words)]
    return [] if a.code == b.code else [Difference("exit/code", *words)]


def last(*screens: str) -> str:
    """The line of a screen that says what went wrong."""
    lines = [s.strip() for screen in screens for s in screen.splitlines() if s.strip() and "CalledProcessError" not in s and "perf_analyzer'," not in s and " in flight | " not in s and "] INFO " not in s]
    for words in (r"^[\w.]*(Error|Exception)\b|^[Ee]rror:(?! [\d.]+$)|^inferometer|^genai-perf|^inference-perf", r"[Ee]rror|[Ff]ail|refused|cannot|invalid|must "):
        found = next((s for s in reversed(lines) if re.search(words, s)), "")
        if found:
            return found
    return lines[-1] if lines else ""


def masked(value: object, key: str = "") -> object:
    """A body without what the two make up each in its own way."""
    if isinstance(value, dict):
        return {k: masked(v, k) for k, v in value.items()}
    if isinstance(value, list):
        return [masked(v, key) for v in value]
    return "<text>" if key in TEXTS and isinstance(value, str) else value


def headers(posts: list) -> list:
    """Each header that one of them sends and the other does not, or with another value."""
    sides = []
    for requests_ in posts:
        found: dict = {}
        for r in requests_:
            for name, value in r.headers:
                found.setdefault(name.lower(), set()).add("(any)" if name.lower() in ("content-length", "host") else value)
        sides.append({k: sorted(v) for k, v in found.items()})
    return [Difference(f"request/header/{name}", sides[0].get(name, MISSING), sides[1].get(name, MISSING))
            for name in sorted({**sides[0], **sides[1]}) if sides[0].get(name) != sides[1].get(name)] if all(posts) else []
