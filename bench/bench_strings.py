"""The subsequence kernel against kernlab's stringdot(type="sequence") in R, one thread each,
and how its cost grows, counted in instructions.

Each claim is one JSON line with the ratio measured in this run and its target.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

import common
import numpy as np
from common import BUILD, context, gram, report, seconds

SCRIPT = """
suppressPackageStartupMessages(library(kernlab))
a <- commandArgs(trailingOnly = TRUE)
s <- as.list(readLines(a[1]))
k <- stringdot(length = 3, lambda = 0.5, type = "sequence", normalized = FALSE)
t <- system.time(K <- kernelMatrix(k, s))
writeBin(as.numeric(K), a[2])
cat(t[["elapsed"]])
"""


def random_strings(n, length):
    letters = np.random.default_rng(1).integers(ord("a"), ord("z") + 1, (n, length))
    return ["".join(map(chr, row)) for row in letters]


def strings(texts):
    import ctypes
    h = common.Handle("okra_data_free")
    array = (ctypes.c_char_p * len(texts))(*[t.encode() for t in texts])
    common.check(common.lib.okra_data_strings(array, ctypes.c_int64(len(texts)),
                                              ctypes.byref(h.p)))
    return h


def kernlab(texts, folder):
    """Seconds of kernlab's Gram matrix, R's own start left out, and the matrix."""
    words, values = os.path.join(folder, "s.txt"), os.path.join(folder, "K.bin")
    with open(words, "w") as f:
        f.write("\n".join(texts) + "\n")
    out = subprocess.run(["Rscript", "-e", SCRIPT, words, values], check=True,
                         capture_output=True, text=True).stdout
    return float(out), np.fromfile(values).reshape(len(texts), len(texts))


def against_kernlab(folder, n, length, target):
    texts = random_strings(n, length)
    data, ctx, K = strings(texts), context(1), np.empty((n, n))
    theirs, L = kernlab(texts, folder)
    ours = seconds({"okra": lambda: gram(ctx, "ssk(length=3,decay=0.5)", data, n, K)}, 5)
    error = np.abs(K - L).max() / np.abs(L).max()
    report(f"ssk(length=3), {n} strings of {length} letters, against kernlab, one thread",
           theirs / ours["okra"], target, okra=ours["okra"], kernlab=theirs,
           difference=f"{error:.1e}")


def instructions(folder, length, r):
    """Of `okra gram` on 8 strings, counted by callgrind."""
    path = os.path.join(folder, "g.txt")
    with open(path, "w") as f:
        f.write("\n".join(random_strings(8, length)) + "\n")
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
               os.path.join(BUILD, "okra"), "gram", "--x", path, "--kernel",
               f"ssk(length={r},decay=0.5)", "-o", os.path.join(folder, "K.npy"),
               "--threads", "1", "--quiet"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    return int(re.search(r"Collected : (\d+)", text).group(1))


def growth(folder):
    base = instructions(folder, 20, 1)  # start of the program
    count = {(n, r): instructions(folder, n, r) - base
             for n, r in [(200, 3), (400, 3), (400, 8), (400, 16)]}
    for name, ratio, expected in [
            ("|s||t| fourfold", count[400, 3] / count[200, 3], 4),
            ("length 8 to 16", count[400, 16] / count[400, 8], 2)]:
        report(f"ssk instructions, {name}: growth over {expected}", ratio / expected, 1.1,
               "lower", growth=ratio)


def main():
    with tempfile.TemporaryDirectory() as folder:
        if shutil.which("valgrind"):
            growth(folder)
        else:
            print("skipped: valgrind is not there to count instructions", file=sys.stderr)
        found = shutil.which("Rscript") and subprocess.run(
            ["Rscript", "-e", "library(kernlab)"], capture_output=True).returncode == 0
        if not found:
            print("skipped: R with kernlab is not there", file=sys.stderr)
        else:
            against_kernlab(folder, 40, 200, 200)
            against_kernlab(folder, 1000, 12, 50)
    common.finish()


main()
