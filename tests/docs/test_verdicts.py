"""Every committed result of a paper agrees with itself, by arithmetic of its own: mean and
deviation are those of its single values, z and the verdict follow from them by
the rule of docs/results-format.md, and a cell that differs has a reason. A claim is called
reproduced on docs/reports/claims.md where its numbers say so, and the page counts its claims right."""
import glob
import json
import math
import os
import re
import statistics
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def near(a, b):
    if a is None or b is None:
        return a is b
    return abs(a - b) <= 1e-8 * max(1, abs(a), abs(b))


MET = {None: "reproduced as printed", "one constant": "reproduced after one constant",
       "found reading": "reproduced under a found reading"}


def wrong(cell, table, deviates=False):
    """What does not follow, in words."""
    values, paper = cell["values"], cell["paper"]
    if None in values:
        yield "a value is missing"
        return
    mean = statistics.fmean(values) if values else None
    sd = statistics.stdev(values) if len(values) > 1 else 0
    error = sd / math.sqrt(max(1, len(values)))
    shown = error if table.get("spread") == "standard error" else sd
    printed = (cell["paper_sd"] or 0) / math.sqrt(table.get("printed_count") or 1)
    if table.get("one_draw"):
        printed = max(printed, sd)
    both, z = math.hypot(printed, error), None
    if paper is not None and mean is not None:
        z = 0 if mean == paper else (mean - paper) / both if both > 0 else None
    if not near(mean, cell["okra"]) or not near(shown, cell["okra_sd"]):
        yield f"okra is {cell['okra']} ± {cell['okra_sd']}, its values give {mean} ± {shown}"
    if not near(z, cell["z"]):
        yield f"z is {cell['z']}, expected {z}"
    verdict, why = cell["verdict"], cell.get("why")
    if cell.get("seen") and (verdict != "not comparable" or not why):
        yield f"test results were in sight, and it is called {verdict}, reason {why}"
    want = "not comparable" if z is None or deviates or cell.get("mark") not in MET else \
        MET[cell.get("mark")] if abs(z) <= 2 else "differs"
    if verdict != want and not (verdict == "not comparable" and why):
        yield f"verdict is {verdict}, expected {want}"
    if paper is not None and verdict in ("differs", "not comparable") and not why:
        yield f"{verdict} without a reason"


def findings(paths):
    for path in paths:
        with open(path, encoding="utf-8") as f:
            result = json.load(f)
        for table in result["tables"]:
            for row in table["rows"]:
                for column, cell in row["cells"].items():
                    for text in wrong(cell, table, bool(result.get("deviations"))):
                        yield (f"{os.path.basename(path)}: {table['id']}: {row['label']}, "
                               f"{column}: {text}")


def claims_wrong(page):
    """What a page of claims says that its own rows do not, in words."""
    rows = [line.split(" | ") for line in page.splitlines() if " | **" in line]
    verdicts = [re.match(r"\*\*(.*?)\*\*", row[1]).group(1) for row in rows]
    for row, verdict in zip(rows, verdicts):
        counted = row[3].split(". As printed: ")[0]
        far = [z for z in re.findall(r", z ([-+][\d.]+)\)", counted) if abs(float(z)) > 2]
        if verdict.startswith("reproduced") and (far or "≈" in counted):
            yield f"{row[0]}: {verdict}, but {counted}"
    told = re.search(r"Of (\d+) claims, (.*?)\. ", page)
    counts = {verdict: int(n) for n, verdict in re.findall(r"(\d+) (?:are |is )?([a-z ]+)", told.group(2))}
    for verdict in sorted(set(counts) | {v if v != "fails" else "fail" for v in verdicts}):
        here = sum(v in (verdict, verdict + "s") for v in verdicts)
        if counts.get(verdict, 0) != here:
            yield f"{counts.get(verdict, 0)} claims are counted as {verdict}, {here} are"
    if int(told.group(1)) != len(rows):
        yield f"{told.group(1)} claims are counted, {len(rows)} are there"


# What is wrong is found: values 3 and 5 have mean 4, sd sqrt 2, standard error 1.
good = {"paper": 1, "paper_sd": 0, "okra": 4, "okra_sd": 2 ** .5, "values": [3, 5],
        "z": 3, "verdict": "differs", "why": "other data"}
assert not list(wrong(good, {}))
for field, value in (("okra", 4.1), ("okra_sd", 1), ("values", [3, 6]), ("z", 0.5),
                     ("verdict", MET[None]), ("verdict", "differs "), ("why", None)):
    assert list(wrong({**good, field: value}, {})), field
assert list(wrong({**good, "seen": True}, {})) and list(wrong(good, {}, True))
assert not list(wrong({**good, "okra_sd": 1}, {"spread": "standard error"}))
near_print = {**good, "paper": 3.5, "z": 0.5, "verdict": MET[None]}
assert not list(wrong(near_print, {})) and list(wrong({**near_print, "mark": "found reading"}, {}))
drawn = {**good, "z": 3 / 3 ** .5, "verdict": MET[None]}
assert not list(wrong(drawn, {"one_draw": True})) and list(wrong(drawn, {}))
assert not list(wrong({**good, "paper_sd": 6, "z": 3 / 5 ** .5, "verdict": MET[None]}, {"printed_count": 9}))

claim = ("Of 1 claims, 1 are reproduced as printed. \n| a | **reproduced as printed** |  | "
         "1 (paper 1, z -2.0). As printed: 2 (paper 1, z +9.0). n = 2 | t | e |\n")
assert not list(claims_wrong(claim))
for old, new in (("-2.0", "-2.1"), ("1 (paper 1, ", "1 ≈ 2, "), ("Of 1", "Of 2"), (", 1 are", ", 2 are"),
                 ("**reproduced as printed", "**fails")):
    assert list(claims_wrong(claim.replace(old, new, 1))), new

paths = sys.argv[1:] or sorted(glob.glob(os.path.join(ROOT, "docs", "results", "*.json")))
if not paths:
    print("skipped: docs/results has no results: make results")
    sys.exit(77)
found = list(findings(paths))
if not sys.argv[1:]:
    with open(os.path.join(ROOT, "docs", "reports", "claims.md"), encoding="utf-8") as kept:
        found += claims_wrong(kept.read())
print("\n".join(found) if found else f"{len(paths)} results agree with themselves")
sys.exit(bool(found))
