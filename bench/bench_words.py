"""Words from images of their letters (Kadri et al. 2013, Table 2, right): reading, fitting and
predicting one fold, about 690 words to train and 6,190 to test, on two cores.

The claim is a time: seconds by the program, all of it, of the ten that a fold may take."""
import os
import subprocess
import tempfile
import time

import common
import numpy as np

DATA = os.path.join(os.environ.get("OKRA_DATA", os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "..", "..", "shared", "data")), "ocr_letters")
OKRA = os.path.join(common.BUILD, "okra")


def table(name):
    with open(os.path.join(DATA, name)) as f:
        return [line.rstrip("\n").split("\t") for line in f]


def split(folder, fold):
    """The fold as train.*, the others as test.*; how many words each."""
    pixels = np.load(os.path.join(DATA, "pixels.npy"))
    letters, words, counts = table("letters.tsv"), table("words.tsv"), {}
    for name, wanted in (("train", lambda f: f == fold), ("test", lambda f: f != fold)):
        rows = [i for i, row in enumerate(letters[1:]) if wanted(row[4])]
        np.save(f"{folder}/{name}.npy", pixels[rows])
        with open(f"{folder}/{name}.tsv", "w") as f:
            f.write("\t".join(letters[0]) + "\n")
            for k, i in enumerate(rows):
                f.write("\t".join([str(k)] + letters[i + 1][1:]) + "\n")
        chosen = [row[4] for row in words[1:] if wanted(row[1])]
        with open(f"{folder}/{name}.txt", "w") as f:
            f.writelines(word + "\n" for word in chosen)
        counts[name] = len(chosen)
    return counts


def okra(*arguments):
    return subprocess.run([OKRA, *arguments, "--threads", str(common.THREADS)], check=True,
                          capture_output=True, text=True).stdout


def fold(folder, operator):
    okra("fit", "-q", "--x", f"sequences:{folder}/train.npy:train.tsv", "--y",
         f"{folder}/train.txt", "--kx", "position(cosine | poly(degree=3,coef0=1))", "--ky",
         "position(zero-one)", "--operator", operator, "--lambda", "0.01", "-o",
         f"{folder}/model.okra")
    okra("predict", "-q", f"{folder}/model.okra", "--decode", "position", "--chain", "1", "--x",
         f"sequences:{folder}/test.npy:test.tsv", "-o", f"{folder}/predicted.txt")


def main():
    if not os.path.exists(os.path.join(DATA, "pixels.npy")):
        common.skip(f"no {DATA}/pixels.npy")
    with tempfile.TemporaryDirectory() as folder:
        counts = split(folder, "0")
        for operator in ("identity", "ccov"):
            best = common.seconds({"okra": lambda: fold(folder, operator)}, 3)["okra"]
            right = okra("score", "--y", f"{folder}/test.txt", "--yhat",
                         f"{folder}/predicted.txt", "--metric", "characters").split()[-1]
            common.report(f"words of one fold, {operator} and a chain: seconds, of 10",
                          best / 10, 1, better="lower", seconds=best, characters=float(right),
                          train=counts["train"], test=counts["test"])
    common.finish()


main()
