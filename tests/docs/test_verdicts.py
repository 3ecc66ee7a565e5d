"""Every committed result of a paper agrees with itself, by arithmetic of its own: mean and
deviation are those of its single values, the difference and the verdict follow from them by
the rule of docs/results-format.md, and a cell that does not reproduce has a reason."""
import glob
import json
import math
import os
import statistics
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def near(a, b):
    if a is None or b is None:
        return a is b
    return abs(a - b) <= 1e-8 * max(1, abs(a), abs(b))


def wrong(cell, better, spread=None):
    """What does not follow, in words."""
    values, paper = cell["values"], cell["paper"]
    if None in values:
        yield "a value is missing"
        return
    mean = statistics.fmean(values) if values else None
    sd = statistics.stdev(values) if len(values) > 1 else 0
    if spread == "standard error":
        sd /= math.sqrt(max(1, len(values)))
    spread = math.hypot(cell["paper_sd"] or 0, sd)
    d = None
    if paper is not None and mean is not None:
        d = 0 if mean == paper else (mean - paper) / spread if spread > 0 else None
    if not near(mean, cell["okra"]) or not near(sd, cell["okra_sd"]):
        yield f"okra is {cell['okra']} ± {cell['okra_sd']}, its values give {mean} ± {sd}"
    if not near(d, cell["difference_sd"]):
        yield f"difference is {cell['difference_sd']}, expected {d}"
    verdict, why = cell["verdict"], cell.get("why")
    if cell.get("seen") and (verdict != "not comparable" or not why):
        yield f"test results were in sight, and it is called {verdict}, reason {why}"
    if verdict != "not comparable" or d is None:
        gain = {"lower": -1, "higher": 1}.get(better, 0) * (d or 0)
        want = "not comparable" if d is None else "reproduced" if abs(d) <= 1 else \
            "beyond the paper" if gain > 0 else "not reproduced"
        if verdict != want:
            yield f"verdict is {verdict}, expected {want}"
    if paper is not None and verdict in ("not reproduced", "not comparable") and not why:
        yield f"{verdict} without a reason"


def findings(paths):
    for path in paths:
        with open(path, encoding="utf-8") as f:
            result = json.load(f)
        for table in result["tables"]:
            for row in table["rows"]:
                for column, cell in row["cells"].items():
                    for text in wrong(cell, table["better"], table.get("spread")):
                        yield (f"{os.path.basename(path)}: {table['id']}: {row['label']}, "
                               f"{column}: {text}")


# What is wrong is found.
good = {"paper": 1, "paper_sd": 0, "okra": 4, "okra_sd": 2 ** .5, "values": [3, 5],
        "difference_sd": 3 / 2 ** .5, "verdict": "not reproduced", "why": "other data"}
assert not list(wrong(good, "lower"))
for field, value in (("okra", 4.1), ("okra_sd", 1), ("values", [3, 6]), ("difference_sd", 0.5),
                     ("verdict", "reproduced"), ("verdict", "beyond the paper"), ("why", None)):
    assert list(wrong({**good, field: value}, "lower")), field
assert list(wrong(good, "higher"))
assert list(wrong({**good, "seen": True}, "lower"))
error = {**good, "okra_sd": 1, "difference_sd": 3.0}
assert not list(wrong(error, "lower", "standard error")) and list(wrong(error, "lower"))

paths = sys.argv[1:] or sorted(glob.glob(os.path.join(ROOT, "docs", "results", "*.json")))
if not paths:
    print("skipped: docs/results has no results: make results")
    sys.exit(77)
found = list(findings(paths))
print("\n".join(found) if found else f"{len(paths)} results agree with themselves")
sys.exit(bool(found))
