#!/usr/bin/env python3
"""Two programs predict the same from the same model files, within 1e-12 of the larger of 1 and the value.

The models are those of tests/old, which have every method and several kinds of objects, read by both.
Prints the largest difference.

Usage: same.py OKRA OTHER...     OTHER: a command, as "qemu-aarch64-static build-arm/okra"
"""
import math
import os
import subprocess
import sys
import tempfile

OLD = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "old")
sys.path.insert(0, OLD)
from test_old import FLAGS, columns, table  # noqa: E402

MOST = 1e-12


def predicted(command, folder, model, flags):
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run([*command, "predict", model, *flags, *FLAGS, "-o", f"{scratch}/now.csv"], cwd=folder, check=True)
        rows = table(f"{scratch}/now.csv")
    return columns(rows, ["test", "rank", "candidate", "distance"]) if rows[0][:1] == ["test"] else rows


def difference(a, b):
    """Of two cells; infinite where words differ."""
    try:
        a, b = float(a), float(b)
    except ValueError:
        return 0 if a == b else math.inf
    if a == b or (math.isnan(a) and math.isnan(b)):
        return 0
    return abs(a - b) / max(1, abs(a), abs(b)) if math.isfinite(a) and math.isfinite(b) else math.inf


def main():
    here, there = [os.path.abspath(sys.argv[1])], sys.argv[2:]
    worst, count = 0, 0
    for version in sorted(os.listdir(OLD)):
        folder = os.path.join(OLD, version)
        if not os.path.exists(os.path.join(folder, "cases.tsv")):
            continue
        for model, flags in table(os.path.join(folder, "cases.tsv")):
            one, other = (predicted(c, folder, model, flags.split(" ")) for c in (here, there))
            if [len(row) for row in one] != [len(row) for row in other]:
                sys.exit(f"{version}/{model}: tables of other shapes")
            found = max(difference(a, b) for r, s in zip(one, other) for a, b in zip(r, s))
            worst, count = max(worst, found), count + 1
            if not found <= MOST:
                sys.exit(f"{version}/{model}: predictions differ by {found:.1e}, at most {MOST:.0e}")
    print(f"{count} models: predictions differ by {worst:.1e} at most")


main()
