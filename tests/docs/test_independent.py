"""Full results beside those of a second implementation (independent.json): where two means
are more than two standard errors of their difference apart, a note says why, and docs/reports/independent.md
is what both give. `test_independent.py --write` writes the page."""
import json
import math
import os
import statistics
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PAGE = os.path.join(ROOT, "docs", "reports", "independent.md")
HEAD = """# A second implementation

Written by `tests/docs/test_independent.py --write`; nothing here is typed by hand.

{what}

Of {all} values {near} are within two standard errors of okra's ({share:.0f} %; about 95 % would be, if both did\nthe same but for the draws). The others say why they may differ, or that nobody knows.

| entry | table | row | column | okra | second | z | why it may differ |
|---|---|---|---|---:|---:|---:|---|
"""


def load(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as f:
        return json.load(f)


def ours(cell):
    """Mean and standard error of okra's cell."""
    table = next(t for t in load("docs", "results", cell["entry"] + "-full.json")["tables"] if t["id"] == cell["table"])
    row = next(r for r in table["rows"] if r["label"] == cell["row"])
    values = row["cells"][cell["column"]]["values"]
    return statistics.fmean(values), statistics.stdev(values) / math.sqrt(len(values))


def compare(cell, mean, error):
    """z, and the line of the page."""
    z = (mean - cell["value"]) / math.hypot(error, cell["error"])
    digits = 1 if abs(mean) >= 10 else 4
    note = cell.get("note", "") if abs(z) > 2 else ""
    return z, (f"| {cell['entry']} | {cell['table']} | {cell['row']} | {cell['column']} | {mean:.{digits}f} ± "
               f"{error:.{digits}f} | {cell['value']:.{digits}f} ± {cell['error']:.{digits}f} | {z:+.1f} | {note} |\n")


example = {"entry": "e", "table": "t", "row": "r", "column": "c", "value": 1.0, "error": 0.3, "note": "why"}
assert abs(compare(example, 2.0, 0.4)[0] - 2) < 1e-12 and compare(example, 2.0, 0.4)[1].endswith("+2.0 |  |\n")
assert compare(example, 2.1, 0.4)[1].endswith("| why |\n")

second, page, near, bare = load("tests", "docs", "independent.json"), "", 0, []
for one in second["cells"]:
    score, line = compare(one, *ours(one))
    page, near = page + line, near + (abs(score) <= 2)
    if abs(score) > 2 and not one.get("note"):
        bare.append(line)
count = len(second["cells"])
page = HEAD.format(what=second["what"], all=count, near=near, share=100 * near / count) + page
if "--write" in sys.argv:
    with open(PAGE, "w", encoding="utf-8") as out:
        out.write(page)
with open(PAGE, encoding="utf-8") as kept:
    same = kept.read() == page
print("".join(bare) + ("" if same else "docs/reports/independent.md is old: test_independent.py --write\n")
      + f"{near} of {count} values within two standard errors")
sys.exit(bool(bare) or not same)
