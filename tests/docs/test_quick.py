"""test_quick.py OKRA: runs the quick entries that need no data again, with the fixed seed, and
compares their tables and figures with the results that docs/reports/results-quick.md is written from.

On one machine the numbers come out the same to the last bit. Another processor or BLAS rounds
otherwise, and a choice among nearly equal parameters may fall otherwise: a mean may differ by
TOLERANCE of its size, a small one by half of its standard deviation up to TOLERANCE; a number
drawn in a figure by TOLERANCE of the largest of its series, and that share of a network's edges.
Printed values, names and reasons must be equal. Times and deviations are not compared."""
import json
import glob
import os
import subprocess
import sys
import tempfile

TOLERANCE = 0.02
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
okra = os.path.abspath(sys.argv[1])


def cells(result):
    """(table, row, column) -> cell"""
    return {(t["id"], row["label"], column): cell for t in result["tables"]
            for row in t["rows"] for column, cell in row["cells"].items()
            if "second" not in t["metric"]}


def drawn(where, kept, made):
    """What is not equal in a figure or a part of it, in words."""
    parts = [v for v in (kept, made) if isinstance(v, list)]
    if type(kept) is not type(made) or len(parts) == 2 and len(kept) != len(made) \
            and not where.endswith(".edges"):
        yield f"{where} is {made}, committed is {kept}"
    elif isinstance(kept, dict):
        for key in sorted(set(kept) | set(made)):
            if key != "sd":
                yield from drawn(f"{where}.{key}", kept.get(key), made.get(key))
    elif where.endswith(".edges"):
        a, b = ({tuple(sorted(edge)) for edge in edges} for edges in parts)
        if len(a ^ b) > TOLERANCE * len(a | b):
            yield f"{where}: {len(a ^ b)} of {len(a | b)} are in one of the two only"
    elif parts and all(isinstance(v, (float, type(None))) for v in kept + made):
        scale = max((abs(x) for x in kept if x is not None), default=0)
        for i, (x, y) in enumerate(zip(kept, made)):
            if (x is None) != (y is None) or x is not None and \
                    abs(x - y) > max(1e-6, TOLERANCE * scale):
                yield f"{where}[{i}] is {y}, committed is {x}"
    elif parts:
        for i, (x, y) in enumerate(zip(kept, made)):
            yield from drawn(f"{where}[{i}]", x, y)
    elif kept != made:
        yield f"{where} is {made}, committed is {kept}"


def compare(name, kept, made):
    """What is not equal, in words."""
    for field in ("title", "paper", "mode", "seed", "readings", "deviations"):
        if kept.get(field) != made.get(field):
            yield f"{name}: {field} is {made.get(field)}, committed is {kept.get(field)}"
    a, b = cells(kept), cells(made)
    for key in sorted(set(a) ^ set(b)):
        yield f"{name}: {key} is in one of the two only"
    for key in sorted(set(a) & set(b)):
        for field in ("paper", "paper_sd"):
            if a[key][field] != b[key][field]:
                yield f"{name}: {key}: {field} is {b[key][field]}, committed is {a[key][field]}"
        reasons = a[key].get("why"), b[key].get("why")
        if a[key].get("verdict") == b[key].get("verdict") and reasons[0] != reasons[1]:
            yield f"{name}: {key}: the reason is {reasons[1]}, committed is {reasons[0]}"
        x, y = a[key]["okra"], b[key]["okra"]
        half = min(TOLERANCE, (b[key].get("okra_sd") or 0) / 2)
        if (x is None) != (y is None) or x is not None and \
                abs(x - y) > max(1e-6, TOLERANCE * abs(y), half):
            yield f"{name}: {key}: okra is {y}, committed is {x}"
    figures = ({figure["id"]: figure for figure in r.get("figures", [])} for r in (kept, made))
    yield from drawn(f"{name}: figures", *figures)


def main():
    committed = sorted(glob.glob(os.path.join(ROOT, "docs", "results", "*-quick.json")))
    names = {os.path.basename(path) for path in committed}
    if not committed:
        print("skipped: docs/results has no quick results: make results-quick")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([okra, "paper", "all", "--quick", "--quiet", "--threads", "2", "--data",
                        os.path.join(folder, "none"), "--results", folder],
                       check=True, stderr=subprocess.DEVNULL)
        made = {os.path.basename(p) for p in glob.glob(os.path.join(folder, "*-quick.json"))}
        found = [f"{n} is not committed: make results-quick" for n in sorted(made - names)]
        for path in committed:
            name = os.path.basename(path)
            if name not in made:
                print(f"{name} needs data and is not run again here")
                continue
            with open(path) as f, open(os.path.join(folder, name)) as g:
                found += compare(name, json.load(f), json.load(g))
    print("\n".join(found) if found else f"{len(made)} quick results came out as committed")
    return int(bool(found))


# A number changed by hand is found.
assert len(list(compare("sample", *({"tables": [{"id": "t", "metric": "loss", "rows": [
    {"label": "r", "cells": {"c": {"paper": 1, "paper_sd": 1, "okra": v, "okra_sd": 0.12}}}]}]}
    for v in (0.936, 0.994))))) == 1
sample = {"tables": [{"id": "t", "metric": "loss", "rows": [
    {"label": "r", "cells": {"c": {"paper": 0.9, "paper_sd": None, "okra": 0.085, "okra_sd": 0.004,
                                   "why": "other data"}}}]}]}
for field, value in (("paper", 0.91), ("okra", 0.09), ("okra", None), ("why", "other")):
    other = json.loads(json.dumps(sample))
    other["tables"][0]["rows"][0]["cells"]["c"][field] = value
    assert len(list(compare("sample", sample, other))) == 1, field
sample["figures"] = [
    {"id": "c", "type": "curve", "series": [
        {"name": "a", "x": [0.1, 1.0], "y": [0.5, 40.0], "sd": [0.0, 0.0]}]},
    {"id": "n", "type": "network", "nodes": 3, "panels": [
        {"name": "p", "edges": [[0, 1], [1, 2]]}]}]
for figure, field, number, value in (
        (0, "series", "y", [0.5, 41.0]), (0, "series", "y", [0.5, None]),
        (0, "series", "y", [0.5]), (0, "series", "x", [0.1, 2.0]), (0, "series", "name", "b"),
        (1, "panels", "edges", [[1, 0]]), (1, "panels", "name", "q")):
    other = json.loads(json.dumps(sample))
    other["figures"][figure][field][0][number] = value
    assert len(list(compare("sample", sample, other))) == 1, (number, value)
assert len(list(compare("sample", sample, {**sample, "figures": sample["figures"][:1]}))) == 1
assert not list(compare("sample", sample, sample))
sys.exit(main())
