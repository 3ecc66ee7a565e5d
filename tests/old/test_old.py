#!/usr/bin/env python3
"""Files of older versions are read, and predict what they predicted then (relative 1e-10), or are
refused with a sentence that says what to do.

A folder here holds the files of one version, made by make.bash: cases.tsv has the models and the
flags of a prediction with each, NAME.expected.csv what was predicted. What is refused today stands in
refused.tsv of that folder: the name of the file and the sentence. There must be no other refusal.

Usage: test_old.py OKRA
"""
import csv
import math
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
FLAGS = ["--threads", "1", "--seed", "7", "--quiet"]


def table(path):
    with open(path, newline="") as file:
        text = file.read()
    return list(csv.reader(text.splitlines(), delimiter="\t" if path.endswith("tsv") else ","))


def columns(rows, names):
    """The columns of these names."""
    at = [rows[0].index(name) for name in names]
    return [[row[j] for j in at] for row in rows]


def same(a, b):
    """Are two cells the same word, or numbers within 1e-10 of the larger of 1 and their size?"""
    try:
        a, b = float(a), float(b)
    except ValueError:
        return a == b
    return a == b or (math.isnan(a) and math.isnan(b)) or abs(a - b) <= 1e-10 * max(1, abs(a), abs(b))


def differs(was, now):
    """What differs between two tables, or None."""
    if len(was) != len(now):
        return f"{len(was)} rows then, {len(now)} now"
    for i, (a, b) in enumerate(zip(was, now)):
        if len(a) != len(b) or not all(map(same, a, b)):
            return f"row {i}: then {','.join(a)}, now {','.join(b)}"
    return None


class Version:
    """Tests of the files of one version, in a copy of their folder."""

    def __init__(self, okra, folder):
        self.okra, self.folder, self.count, self.failures = okra, folder, 0, 0
        self.refused = dict(map(lambda row: (row[0], row[1]), table("refused.tsv"))) \
            if os.path.exists("refused.tsv") else {}

    def fail(self, what):
        self.failures += 1
        print(f"{self.folder}: {what}")

    def run(self, file, *arguments):
        """Run okra on a file; True where it was read. A refusal has to be the one that is kept."""
        self.count += 1
        done = subprocess.run([self.okra, *arguments], capture_output=True, text=True)
        if file in self.refused:
            if done.returncode == 0 or self.refused[file] not in done.stderr:
                self.fail(f"{file} is not refused with the sentence of refused.tsv: {done.stderr}")
            return False
        if done.returncode:
            self.fail(f"{file} is not read: {done.stderr}")
        return done.returncode == 0

    def compare(self, file, was, now):
        self.count += 1
        why = differs(was, now)
        if why:
            self.fail(f"{file} predicts something else: {why}")

    def models(self):
        for file, flags in table("cases.tsv"):
            kept = file.replace(".okra", ".expected.csv")
            if self.run(file, "predict", file, *flags.split(" "), *FLAGS, "-o", "now.csv"):
                was, now = table(kept), table("now.csv")
                if was[0][:1] == ["test"]:  # ranked candidates: other columns may follow
                    was, now = (columns(rows, ["test", "rank", "candidate", "distance"])
                                for rows in (was, now))
                self.compare(file, was, now)
            self.run(file, "info", file, "--quiet")

    def update(self):
        """What a model keeps for later work is of use: pairs are added and taken away again."""
        with open("gone.txt", "w") as out:
            out.write("20\n21\n22\n23\n")
        add = ["--x", "t.csv", "--y", "t.csv", "--quiet", "-o", "more.okra"]
        self.run("low-moments.okra", "update", "low-moments.okra", *add)
        if self.run("ridge.okra", "update", "ridge.okra", *add) and \
                self.run("ridge.okra", "update", "more.okra", "--remove", "gone.txt", "--quiet", "-o",
                         "less.okra"):
            self.run("ridge.okra", "predict", "less.okra", "--x", "t.csv", *FLAGS, "-o", "now.csv")
            self.compare("ridge.okra", table("ridge.expected.csv"), table("now.csv"))

    def others(self):
        rank = ["predict", "to-molecules.okra", "--x", "t.csv", "--candidates", "candidates.okx",
                "--top", "3", *FLAGS, "-o", "now.tsv"]
        if self.run("candidates.okx", *rank):
            both = [table("index.expected.tsv"), table("now.tsv")]
            self.compare("candidates.okx", *(columns(rows, ["test", "rank", "distance", "smiles"])
                                             for rows in both))
        fit = ["fit", "--x", "x.csv", "--y", "y.csv", "--ky", "linear", "--lambda", "0.1", *FLAGS]
        self.run("basis.okra", *fit, "--basis", "basis.okra", "-o", "b.okra")
        # Its name has the last bits of a factor: it was made with OpenBLAS's code for AVX-512.
        with open("/proc/cpuinfo") as cpu:
            if "avx512f" in cpu.read():
                os.environ["OPENBLAS_CORETYPE"] = "SkylakeX"
            else:
                self.refused["state"] = "conjugate gradients on another kind of processor; remove it"
        self.run("state", *fit, "--kx", "rbf(sigma=1)", "--low-rank-x", "nystrom(rank=6)", "--solver",
                 "cg", "--cg-iterations", "2", "--cg-tolerance", "1e-15", "--checkpoint", "state", "-o",
                 "c.okra")
        os.environ.pop("OPENBLAS_CORETYPE", None)
        self.run("journal", "select", "--x", "x.csv", "--y", "y.csv", "--kx", "rbf(sigma=1)", "--ky",
                 "linear", "--lambda", "0.1,1", "--cv", "kfold:2", "--resume", "journal", *FLAGS, "-o",
                 "d.okra")


def main():
    okra = os.path.abspath(sys.argv[1])
    failures = 0
    for folder in sorted(os.listdir(HERE)):
        if not os.path.exists(os.path.join(HERE, folder, "cases.tsv")):
            continue
        with tempfile.TemporaryDirectory() as scratch:
            shutil.copytree(os.path.join(HERE, folder), os.path.join(scratch, folder))
            os.chdir(os.path.join(scratch, folder))
            version = Version(okra, folder)
            version.models()
            version.update()
            version.others()
            print(f"{folder}: {version.count} checks, {version.failures} failures")
            failures += version.failures
            os.chdir(HERE)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
