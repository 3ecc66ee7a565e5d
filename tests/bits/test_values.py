#!/usr/bin/env python3
"""values.py finds a difference of 1e-9 of the scale and overlooks one of 1e-13."""
import os
import random
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def npy(path, rows, columns, values):
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, {columns}), }}"
    header = header.ljust(117) + "\n"
    with open(path, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        out.write(struct.pack(f"<{len(values)}d", *values))


def make(folder, change=0.0, at=17, word="rbf", more=(), less=()):
    os.makedirs(folder)
    generator = random.Random(1)
    values = [1000 * generator.gauss(0, 1) for _ in range(60)]
    values[at] += change * max(map(abs, values))
    npy(os.path.join(folder, "1"), 12, 5, values)
    with open(os.path.join(folder, "2"), "w") as out:
        out.write(f"kx,mean\n{word},{0.5 + change}\nlinear,0.25\n")
    lines = [("fit", "bag/B.npy", "1"), ("fit", "weights", "1"), ("choice", "cells", "2")]
    with open(os.path.join(folder, "list"), "w") as out:
        for line in [x for x in lines if x[1] not in less] + list(more):
            out.write("\t".join(line) + "\n")


def main():
    failures = 0
    with tempfile.TemporaryDirectory() as scratch:
        kept = os.path.join(scratch, "kept.tsv")

        def values(*arguments):
            return subprocess.run([sys.executable, os.path.join(HERE, "values.py"), *arguments],
                                  capture_output=True, text=True)

        def expect(name, status, words, *flags, **how):
            nonlocal failures
            folder = os.path.join(scratch, name.replace(" ", "_"))
            make(folder, **how)
            done = values(folder, kept, *flags)
            if done.returncode != status or words not in done.stdout:
                failures += 1
                print(f"{name}: {done.returncode}\n{done.stdout}{done.stderr}")

        make(os.path.join(scratch, "first"))
        values(os.path.join(scratch, "first"), kept, "--write")
        expect("same", 0, "4 arrays are within")
        for at in (0, 17, 59):
            expect(f"rounding {at}", 0, "moved within their tolerance", change=1e-13, at=at)
            expect(f"moved {at}", 1, "fit: B moved by 1.0e-09", change=1e-9, at=at)
        expect("not finite", 1, "in shape or words", change=float("nan"))
        expect("elsewhere", 0, "3 arrays", "--elsewhere", change=1e-9, less=("bag/B.npy",))
        expect("far elsewhere", 1, "fit: weights moved", "--elsewhere", change=1e-6)
        expect("word", 1, "choice: cells.kx moved in shape or words", word="poly")
        expect("new", 1, "fit: C is new", more=[("fit", "bag/C.npy", "1")])
        expect("gone", 1, "fit: B is gone", less=("bag/B.npy",))
        # what is within tolerance stays as it was when it is written again
        before = open(kept).read()
        make(os.path.join(scratch, "near"), change=1e-13)
        values(os.path.join(scratch, "near"), kept, "--write")
        if open(kept).read() != before:
            failures += 1
            print("kept values drift")
    print("failures:", failures)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
