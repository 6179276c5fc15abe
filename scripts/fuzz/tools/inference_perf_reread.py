"""Our arithmetic on the original's report of single requests, against its own reports of the same run."""
import math
import re
import shutil
from pathlib import Path

from compare import MISSING, Difference, files, loaded
from originals import Side, process

# What entries of single requests do not have.
UNKNOWN = re.compile(r"/load_summary/(schedule_delay|requested_rate|concurrency)|/goodput_metrics|/retries|/successes/prompt_len|/messages")


def ours_of_theirs(binary: Path, line, a: Side) -> list:
    text = line.text()
    if "use_server_output_tokens true" in text or '"info": false' in text:
        return []
    found = [f for f in files(a.where).values() if f.name.endswith("per_request_lifecycle_metrics.json")]
    if not found or loaded(found[0]) == []:
        return []
    where = a.where.parent / "reread"
    where.mkdir()
    again = process([binary, "report", str(found[0].parent), "--format", "inference-perf", "--out", "again"], where, {"COLUMNS": "140"})
    ours = {f.name: f for f in (where / "again").rglob("*.json")}
    out = []
    for theirs in found[0].parent.glob("*_lifecycle_metrics.json"):
        name = re.sub("^p-", "", theirs.name)
        if "per_request" in name or "adapter_" in name or "session" in name:
            continue
        place = "reread:" + re.sub(r"stage_\d+", "stage_N", name)
        out += compared(place, loaded(theirs), loaded(ours[name])) if name in ours else [Difference(place, "reported", again.screen[-300:])]
    shutil.rmtree(where)
    if "multimodal" in text:  # our records of another's requests have no media
        out = [d for d in out if not re.search(r"/(image|video|audio)/|/(image|video|audio)s_per_sec", d.place)]
    return [d for d in out if not ('"request": false' in text and "request_size_bytes" in d.place)]


def compared(place: str, a: object, b: object) -> list:
    """Numbers alike to the nanoseconds that our records have. Which percentiles there are is the config's."""
    if UNKNOWN.search(place):
        return []
    if isinstance(a, dict) and isinstance(b, dict):
        return [d for k in {**a, **b} if not (re.fullmatch(r"median|p[\d.]+", k) and not (k in a and k in b)) for d in compared(f"{place}/{k}", a.get(k, MISSING), b.get(k, MISSING))]
    if isinstance(a, (int, float)) and isinstance(b, (int, float)) and not isinstance(a, bool):
        return [] if math.isclose(a, b, rel_tol=1e-6, abs_tol=5e-9) else [Difference(place, a, b)]
    return [] if a == b else [Difference(place, a, b)]
