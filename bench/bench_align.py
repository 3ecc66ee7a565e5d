"""Learned weights of kernels: against the mean on yeast's protein interactions; time.

Yeast: the interactions with two publications or more among proteins that have GO terms, an
expression profile and a sequence. A fifth of the proteins is held back at a time; ridge into the
diffusion kernel of the others' network predicts all places, inner products score pairs with a
protein that was held back. Each combination gets its scale, which is its lambda, from leaving
out one training protein at a time (align-loo of the one sum): nothing is chosen on what is held
back. --only NAME (yeast, time) one part; --folds K: the first K of the five folds.
"""
import csv
import os
import pathlib
import sys
import time

import numpy as np

import common
from common import report

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))
import okra  # noqa: E402
from okra import Model  # noqa: E402
from okra._library import Context  # noqa: E402

KERNELS = ["cosine@1", "rbf(sigma=6)@2", "spectrum(k=3)@3|normalize"]
LAMBDA = 0.1


def table(path):
    with open(path, encoding="utf-8") as f:
        return list(csv.DictReader(f, delimiter="\t"))


def proteins():
    """GO terms, standardised profiles, sequences, and the adjacency matrix."""
    folder = pathlib.Path(os.environ.get("OKRA_DATA", ROOT.parent / "shared" / "data"))
    folder = folder / "yeast_ppi"
    if not folder.is_dir():
        common.skip(f"there is no folder {folder}")
    go, profile = np.load(folder / "go.npy"), np.load(folder / "expression.npy")
    sequence = {int(r["protein"]): r["sequence"] for r in table(folder / "sequences.tsv")}
    whole = (go.sum(1) > 0) & ~np.isnan(profile).any(1)
    whole &= np.isin(np.arange(len(go)), list(sequence))
    edges = np.array([(int(r["i"]), int(r["j"])) for r in table(folder / "edges.tsv")
                      if int(r["publications"]) >= 2])
    edges = edges[whole[edges].all(1)]
    nodes, edges = np.unique(edges, return_inverse=True)
    edges = edges.reshape(-1, 2)
    A = np.zeros((len(nodes), len(nodes)))
    A[edges[:, 0], edges[:, 1]] = A[edges[:, 1], edges[:, 0]] = 1
    e = profile[nodes].astype(float)
    e = (e - e.mean(1, keepdims=True)) / e.std(1, keepdims=True)
    return go[nodes].astype(float), e, [sequence[v] for v in nodes], A


def areas(truth, score):
    """Under the ROC and the precision-recall curve."""
    order = np.argsort(-score, kind="stable")
    hit = truth[order] > 0
    rank = np.flatnonzero(hit) + 1.0
    count = np.arange(1, len(rank) + 1)
    misses = (rank - count).sum() / (len(hit) - len(rank)) / len(rank)
    return 1 - misses, float((count / rank).mean())


def combination(how, x, y, ctx):
    """A model on the combination, its scale from leaving out; and its weights."""
    values = {"ky": "diffusion(beta=1)", "lambda": LAMBDA}
    weights = np.ones(len(KERNELS)) / len(KERNELS)
    if how == "align-loo":
        kx = f"align-loo({', '.join(KERNELS)})"
    else:
        if how != "mean":
            first = Model.fit(x, y, {**values, "kx": f"{how}({', '.join(KERNELS)})"}, ctx)
            weights = np.array([float(v) for v in
                                first.info["texts"]["align.weights"].split(",")])
        kx = " + ".join(f"{w:.17g}*({k})" for w, k in zip(weights, KERNELS) if w > 0)
        kx = f"align-loo({kx})"
    model = Model.fit(x, y, {**values, "kx": kx}, ctx)
    scale = np.array([float(v) for v in model.info["texts"]["align.weights"].split(",")])
    return model, scale if how == "align-loo" else scale[0] * weights


def yeast(folds=5):
    go, profile, sequence, A = proteins()
    n, ctx = len(A), Context(threads=common.THREADS)
    fold = np.random.default_rng(0).permutation(n) % 5
    found = {how: [] for how in ("mean", "align", "align-each", "align-loo")}
    for k in range(folds):
        known = np.flatnonzero(fold != k)
        network = okra.nodes(A[np.ix_(known, known)])
        L = okra.gram_matrix("diffusion(beta=1)", network)
        x = okra.as_data((go[known], profile[known], [sequence[i] for i in known]))
        everything = okra.as_data((go, profile, sequence))
        i, j = np.triu_indices(n, 1)
        asked = (fold[i] == k) | (fold[j] == k)
        i, j = i[asked], j[asked]
        for how, areas_found in found.items():
            model, weights = combination(how, x, network, ctx)
            W = model.predict(everything, {"decode": "none"}, weights=True,
                              context=ctx).weights()
            areas_found.append((*areas(A[i, j], (W @ L @ W.T)[i, j]), *weights))
    mean = np.mean(found["mean"], 0)
    for how in ("align", "align-each", "align-loo"):
        now = np.mean(found[how], 0)
        told = {"proteins": n, "folds": folds,
                "weights": " ".join(f"{w:.4g}" for w in now[2:])}
        for area, name in enumerate(("ROC", "precision-recall")):
            report(f"yeast, {how} against the mean: area under the {name} curve",
                   now[area] / mean[area], 1, learned=now[area], mean=mean[area], **told)


def seconds_of_24(n=2000):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((n, 10))
    y = np.sin(x @ rng.standard_normal((10, 2)) / 2)
    kernels = ", ".join(f"rbf(sigma={s:.4g})" for s in np.geomspace(0.3, 30, 24))
    for how in ("align", "align-each", "align-loo"):
        begin = time.perf_counter()
        Model.fit(x, y, {"kx": f"{how}({kernels})", "ky": "linear", "lambda": 0.1},
                  Context(threads=common.THREADS))
        report(f"{how} of 24 kernels and {n} pairs, with the fit: seconds",
               time.perf_counter() - begin, 10, "lower")


def main():
    arguments = sys.argv[1:]
    only = arguments[arguments.index("--only") + 1] if "--only" in arguments else None
    if only in (None, "time"):
        seconds_of_24()
    if only in (None, "yeast"):
        yeast(int(arguments[arguments.index("--folds") + 1]) if "--folds" in arguments else 5)
    common.finish()


if __name__ == "__main__":
    main()
