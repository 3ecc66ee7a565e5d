#!/usr/bin/env python3
"""Compare arrays that bits.bash left (BITS_KEEP) with the kept ones, within a relative 1e-10.

Kept of an array: its shape, its scale (the largest absolute value) and four sums of its values,
each with random signs. A difference d of single values changes a sum by d; a difference spread
over an array has to vanish in four random directions to go unseen. A table (CSV, TSV) is one
array per column; a column of words is a hash.

What rounding alone does to an array is measured: --spread takes a second run with other code of
OpenBLAS and writes, for each array that moved by more than 1e-11 of its scale, ten times the move
as its tolerance: iterations that stop at a tolerance. What moved by more than 1e-3 is a choice
between equals (splits of trees), and its tolerance is `inf`. All others have 1e-10.

Usage: values.py FOLDER                    print what is kept of the arrays of a run
       values.py FOLDER KEPT               compare; exit status 1: something moved, is new or gone
                                           (a choice between equals may not move either)
       values.py FOLDER KEPT --elsewhere   the same for a machine whose bits differ: what is
                                           predicted and chosen, not what models store, within a
                                           thousand times the tolerance; choices between equals
                                           are left out
       values.py FOLDER KEPT --write [--spread FOLDER]
                                           write KEPT; values within tolerance stay as they were
"""
import array
import ast
import csv
import hashlib
import math
import os
import random
import struct
import sys

SUMS = 4
TOLERANCE = 1e-10


def npy(data):
    """Shape and values of an .npy file, or None."""
    if data[:6] != b"\x93NUMPY":
        return None
    long = data[6] > 1
    (length,) = struct.unpack("<I" if long else "<H", data[8:12] if long else data[8:10])
    start = 12 if long else 10
    header = ast.literal_eval(data[start:start + length].decode("latin-1"))
    codes = {"f8": "d", "f4": "f", "i8": "q", "i4": "i", "u8": "Q", "u4": "I", "u1": "B",
             "i1": "b", "b1": "B", "i2": "h", "u2": "H"}
    values = array.array(codes[header["descr"][1:]])
    values.frombytes(data[start + length:])
    return "x".join(map(str, header["shape"])), list(map(float, values))


def number(text):
    try:
        return float(text)
    except ValueError:
        return None


def table(data):
    """Columns of a text table as (name, shape, values); words give values None and a hash."""
    text = data.decode()
    rows = list(csv.reader(text.splitlines(), delimiter="\t" if "\t" in text else ","))
    if not rows:
        return []
    head = rows[0] if all(number(cell) is None for cell in rows[0]) else None
    columns = []
    for j, name in enumerate(head or [str(j) for j in range(len(rows[0]))]):
        cells = [row[j] if j < len(row) else "" for row in (rows[1:] if head else rows)]
        values = [number(cell) for cell in cells]
        if None in values:
            values = "words:" + hashlib.sha256("\n".join(cells).encode()).hexdigest()[:12]
        columns.append((name, str(len(cells)), values))
    return columns


def pinned(shape, values):
    """What is kept of an array: [shape, scale, sums...]; of words [shape, hash]."""
    if isinstance(values, str):
        return [shape, values]
    odd = [f"{i}:{v}" for i, v in enumerate(values) if not math.isfinite(v)]
    if odd:
        shape += "!" + hashlib.sha256(" ".join(odd).encode()).hexdigest()[:8]
        values = [v if math.isfinite(v) else 0.0 for v in values]
    sums = []
    for k in range(SUMS):
        signs = random.Random(20261117 + k).getrandbits(max(len(values), 1))
        sums.append(math.fsum(v if signs >> i & 1 else -v for i, v in enumerate(values)))
    return [shape, max(map(abs, values), default=0.0)] + sums


def run(folder):
    """{(result, array): what is kept} of a run. The data that a model keeps is no result."""
    found = {}
    with open(os.path.join(folder, "list")) as lines:
        for line in lines:
            name, what, number_ = line.rstrip("\n").split("\t")
            if what.startswith(("x/", "y/")) or "/x/" in what or "/y/" in what:
                continue
            if ".middle" in what:  # means of what is centred: nothing but rounding
                continue
            what = what.replace("bag/", "").removesuffix(".npy")
            with open(os.path.join(folder, number_), "rb") as file:
                data = file.read()
            one = npy(data)
            if one:
                found[name, what] = pinned(*one)
            else:
                for column, shape, values in table(data):
                    found[name, f"{what}.{column}"] = pinned(shape, values)
    return found


def moved(old, new):
    """How far new is from old, in units of the scale; infinite where they cannot be compared."""
    if old[0] != new[0] or len(old) != len(new):
        return math.inf
    if isinstance(old[1], str) or isinstance(new[1], str):
        return 0.0 if old[1] == new[1] else math.inf
    far = max(abs(a - b) for a, b in zip(old[1:], new[1:]))
    return far / max(old[1], new[1]) if far else 0.0


def text(name, what, kept, tolerance):
    cells = [f"{v:.17g}" if isinstance(v, float) else v for v in kept]
    return "\t".join([name, what, f"{tolerance:.0e}"] + cells)


def read(path):
    """{(result, array): (tolerance, what is kept)}"""
    kept = {}
    with open(path) as lines:
        for line in lines:
            if not line.startswith("#"):
                name, what, tolerance, shape, *rest = line.rstrip("\n").split("\t")
                if not rest[0].startswith("words:"):
                    rest = list(map(float, rest))
                kept[name, what] = float(tolerance), [shape] + rest
    return kept


def predicted(key):
    """Is this array a result that a user sees, not one that a model stores?"""
    return key[1].split(".")[0] in ("weights", "embedding", "top", "confidence", "cells", "links")


def compare(now, kept, elsewhere):
    """Print what moved; the number of arrays that moved too far, are new or are gone."""
    bad, within = [], {}
    if elsewhere:
        kept = {key: (1000 * tolerance, old) for key, (tolerance, old) in kept.items()
                if predicted(key) and math.isfinite(tolerance)}
        now = {key: values for key, values in now.items() if key in kept}
    for key in kept:
        if key not in now:
            bad.append(f"{key[0]}: {key[1]} is gone")
    for key, values in now.items():
        if key not in kept:
            bad.append(f"{key[0]}: {key[1]} is new")
            continue
        tolerance, old = kept[key]
        far = moved(old, values)
        if far > (tolerance if elsewhere or math.isfinite(tolerance) else TOLERANCE):
            how = f"by {far:.1e} of its scale" if math.isfinite(far) else "in shape or words"
            bad.append(f"{key[0]}: {key[1]} moved {how} (allowed: {tolerance:.0e})"
                       + ("" if math.isfinite(tolerance) else ", perhaps a choice between equals"))
        elif far > 0:
            within.setdefault(key[0], []).append((far, key[1]))
    if within:
        worst = max(max(v) for v in within.values())
        print(f"{sum(map(len, within.values()))} arrays of {len(within)} results moved within"
              f" their tolerance (1e-10 of the scale, but for iterations); the farthest by"
              f" {worst[0]:.1e}:")
        for name, list_ in list(within.items())[:40]:
            print(f"  {name}: " + ", ".join(f"{what} {far:.0e}" for far, what in list_[:4]))
    if bad:
        print(f"{len(bad)} arrays are not what they were:")
        print("\n".join("  " + line for line in bad[:60]))
    return len(bad)


def write(path, now, kept, spread):
    with open(path, "w") as out:
        out.write("# result, array, tolerance, shape, scale, four sums with random signs: values.py\n")
        for key, values in now.items():
            tolerance, old = kept.get(key, (TOLERANCE, None))
            if spread is not None:
                far = moved(values, spread[key]) if key in spread else 0.0
                tolerance = math.inf if far > 1e-3 else max(TOLERANCE, 10 * far)
            if old and moved(old, values) <= tolerance:
                values = old
            out.write(text(*key, values, tolerance) + "\n")


def main():
    arguments = sys.argv[1:]
    now = run(arguments[0])
    if len(arguments) == 1:
        for key, values in now.items():
            print(text(*key, values, TOLERANCE))
        return 0
    path = arguments[1]
    kept = read(path) if os.path.exists(path) else {}
    if "--write" in arguments:
        spread = run(arguments[-1]) if "--spread" in arguments else None
        write(path, now, kept, spread)
        print(f"{len(now)} arrays written to {path}")
        return 0
    bad = compare(now, kept, "--elsewhere" in arguments)
    if not bad:
        print(f"{len(now)} arrays are within their tolerance")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
