"""Prediction sets: coverage over random splits, what they cost, and false links.

Six tasks, 100 random splits each: the share of test pairs whose truth is in the set, for
three levels. The same where kernels and lambda are chosen on the training pairs. Then times: jackknife+ against leave-one-out, full conformal sets at n = 2,000,
refitting as general packages do, and the share of false links on 50 simulated networks.
"""
import os
import sys
import time

from common import BUILD, finish, report, seconds, skip

os.environ.setdefault("OKRA_LIBRARY", os.path.join(os.path.abspath(BUILD), "libokra.so"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))

import numpy as np  # noqa: E402

import okra  # noqa: E402
from okra import IOKR  # noqa: E402

DATA = os.environ.get("OKRA_DATA", os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "..", "..", "shared", "data"))
SPLITS, TRAIN, HELD, TEST = 100, 120, 60, 40
LEVELS = (0.05, 0.1, 0.2)


def load(name):
    return np.load(os.path.join(DATA, name))


def halves():
    x = load("usps/train_x.npy")[:1500].astype(float) / 1000
    return x[:, :128], x[:, 128:], dict(kx="rbf(sigma=6)", ky="rbf(sigma=6)", lam=0.1)


def letters():
    x = load("ocr_letters/pixels.npy")[:3000].astype(float)
    with open(os.path.join(DATA, "ocr_letters/letters.tsv")) as f:
        y = np.array([line.split("\t")[1] for line in f.read().splitlines()[1:3001]])
    return x, y, dict(kx="cosine | poly(degree=3)", ky="zero-one", lam=0.1)


def label_sets():
    x, y = load("mlc/emotions_x.npy").astype(float), load("mlc/emotions_y.npy").astype(float)
    x = (x - x.mean(0)) / x.std(0)
    return x, y, dict(kx="rbf(sigma=8)", ky="tanimoto", lam=0.5)


def activities():
    x = np.unpackbits(load("nci60/fp2.npy"), axis=1).astype(float)
    rows = np.flatnonzero(x.any(1))[:1500]
    return (x[rows], load("nci60/activity.npy")[rows][:, :10].astype(float),
            dict(kx="tanimoto", ky="linear", lam=1.0))


def strings():
    with open(os.path.join(DATA, "strings/inflection_english.tsv"), encoding="utf-8") as f:
        rows = [line.split("\t") for line in f.read().splitlines()[1:1501]]
    kernel = "spectrum(k=2) | normalize"
    return (np.array([r[1] for r in rows], dtype=object),
            np.array([r[2] for r in rows], dtype=object),
            dict(kx=kernel, ky=kernel, lam=0.1))


def network():
    """Nodes of a network from noisy places of their class."""
    rng = np.random.default_rng(7)
    classes = rng.integers(6, size=400)
    links = rng.random((400, 400)) < np.where(classes[:, None] == classes, 0.3, 0.01)
    adjacency = np.triu(links, 1)
    adjacency = (adjacency + adjacency.T).astype(float)
    return (np.eye(6)[classes] + 0.4 * rng.standard_normal((400, 6)), (adjacency, None),
            dict(kx="rbf(sigma=0.7)", ky="diffusion(beta=0.3)", lam=0.5))


TASKS = {"digits' halves": halves, "letters": letters, "label sets": label_sets,
         "activities": activities, "strings": strings, "network": network}


def outputs(y, rows):
    if isinstance(y, tuple):
        return okra.nodes(y[0], rows)
    part = y[rows]
    return okra.labels(part) if part.dtype.kind == "U" else (
        list(part) if part.dtype == object else part)


def inputs(x, rows):
    return list(x[rows]) if x.dtype == object else x[rows]


def coverage(name, make):
    x, y, settings = make()
    numbers = settings["ky"] == "linear"
    ways = ("full", "split", "jackknife+")
    inside = {way: [] for way in ways}
    for split in range(SPLITS):
        order = np.random.default_rng(split).permutation(len(x))
        train, held, test = np.split(order[:TRAIN + HELD + TEST], (TRAIN, TRAIN + HELD))
        model = IOKR(**settings).fit(inputs(x, train), outputs(y, train))
        for way in ways:
            more = {"how": way}
            if way == "split":
                more["calibration"] = (inputs(x, held), outputs(y, held))
            if numbers:
                found = []
                for alpha in LEVELS:
                    b = model.predict_interval(x[test], alpha, **more)
                    found.append(((b[..., 0] <= y[test]) & (y[test] <= b[..., 1])).mean())
                inside[way].append(found)
            else:
                p = np.diagonal(model.p_values(inputs(x, test), outputs(y, test), **more))
                inside[way].append([(p > alpha).mean() for alpha in LEVELS])
    for way in ways:
        mean = np.mean(inside[way], axis=0)
        told = {f"at_{alpha}": round(float(m), 4) for alpha, m in zip(LEVELS, mean)}
        if way == "jackknife+":
            worst = min(m - (1 - 2 * a) for m, a in zip(mean, LEVELS))
            report(f"coverage of {name}, {way}: least above 1 - 2 alpha", worst, 0, **told)
        else:
            worst = max(max(1 - a - m, (m - (1 - a)) / 2) for m, a in zip(mean, LEVELS))
            report(f"coverage of {name}, {way}: farthest below 1 - alpha, or half above",
                   worst, 0.01, "lower", **told)


def automatic(name, make, splits=None):
    """Fits that choose their kernels and lambda, with centred outputs: on the pairs that
    calibrate, which the guarantee does not know of (full), and apart from them (split)."""
    x, y, settings = make()
    numbers = settings["ky"] == "linear"
    inside = {"full": [], "split": []}
    for split in range(splits or SPLITS):
        order = np.random.default_rng(split).permutation(len(x))
        train, test = np.split(order[:TRAIN + HELD + 5 * TEST], (TRAIN + HELD,))
        for way, share in (("full", None), ("split", HELD / (TRAIN + HELD))):
            model = IOKR(random_state=split).fit(inputs(x, train), outputs(y, train),
                                                 calibration=share)
            if numbers:
                bounds = (model.predict_interval(x[test], alpha) for alpha in LEVELS)
                found = [((b[..., 0] <= y[test]) & (y[test] <= b[..., 1])).mean()
                         for b in bounds]
            else:
                p = np.diagonal(model.p_values(inputs(x, test), outputs(y, test)))
                found = [(p > alpha).mean() for alpha in LEVELS]
            inside[way].append(found)
    for way, allowed in (("full", 0.03), ("split", 0.01)):
        mean = np.mean(inside[way], axis=0)
        told = {f"at_{alpha}": round(float(m), 4) for alpha, m in zip(LEVELS, mean)}
        report(f"coverage of {name}, automatic fit, {way}: farthest below 1 - alpha",
               max(1 - a - m for m, a in zip(mean, LEVELS)), allowed, "lower", **told)


def costs():
    rng = np.random.default_rng(1)
    n, d = 2000, 16
    x, y = rng.standard_normal((n, d)), rng.standard_normal((n, 4))
    model = IOKR(kx="rbf(sigma=4)", ky="linear", lam=0.5).fit(x, y)
    t = rng.standard_normal((10, d))

    def loo():
        model._left = None
        model.loo_score_

    s = seconds({"leave-one-out": loo,
                 "jackknife+": lambda: model.predict_interval(t, how="jackknife+")}, 3)
    report("jackknife+ intervals n=2000 against one leave-one-out",
           s["jackknife+"] / s["leave-one-out"], 1.2, "lower", **s)
    model = IOKR(kx="rbf(sigma=4)", ky="rbf(sigma=2)", lam=0.5).fit(x, y)
    t, c = rng.standard_normal((1000, d)), rng.standard_normal((1000, 4))
    begin = time.perf_counter()
    model.p_values(t, c, how="full")
    report("full conformal, n=2000, 1000 test inputs x 1000 candidates, seconds",
           time.perf_counter() - begin, 60, "lower")


def refits(name, theirs, ours, target, budget=30):
    """Against refitting, at the largest n (doubled from 250) that takes less than `budget`
    seconds. Both get n training pairs, 10 test inputs and 10 candidates, and give arrays."""
    from sklearn.kernel_ridge import KernelRidge

    def ridge():
        return KernelRidge(alpha=0.5, kernel="rbf", gamma=0.1)

    n, best = 250, None
    while best is None or best[1]["sklearn"] * 10 < budget:
        rng = np.random.default_rng(2)
        x, y = rng.standard_normal((n, 4)), rng.standard_normal((n, 2))
        t, c = rng.standard_normal((10, 4)), rng.standard_normal((10, 2))
        out = {}
        s = seconds({"okra": lambda: out.update(okra=ours(x, y, t, c)),
                     "sklearn": lambda: out.update(sklearn=theirs(ridge, x, y, t, c))}, 1)
        best = n, s, np.abs(out["okra"] - out["sklearn"]).max()
        n *= 2
    n, s, apart = best
    report(f"{name}, 10 test inputs, against refits with scikit-learn at the largest n within "
           f"{budget} s", s["sklearn"] / s["okra"], target, n=n, difference=f"{apart:.1e}", **s)


def full_refits(ridge, x, y, t, c):
    """Full conformal sets by refitting with every candidate."""
    p = np.empty((len(t), len(c)))
    for i in range(len(t)):
        for j in range(len(c)):
            X, Y = np.vstack([x, t[i]]), np.vstack([y, c[j]])
            r = ((Y - ridge().fit(X, Y).predict(X)) ** 2).sum(1)
            p[i, j] = (r >= r[-1] * (1 - 1e-9)).mean()
    return p


def full_ours(x, y, t, c):
    model = IOKR(kx="rbf(gamma=0.1)", ky="linear", lam=0.5).fit(x, y)
    return model.p_values(t, c, how="full", score="residual")


def jackknife_refits(ridge, x, y, t, _):
    """jackknife+ intervals of the first output by refitting without every pair."""
    n = len(x)
    low, high = np.empty((n, len(t))), np.empty((n, len(t)))
    for i in range(n):
        keep = np.arange(n) != i
        fit = ridge().fit(x[keep], y[keep, 0])
        left = abs(y[i, 0] - fit.predict(x[i:i + 1])[0])
        low[i], high[i] = fit.predict(t) - left, fit.predict(t) + left
    k = int(np.ceil(0.9 * (n + 1) - 1e-9))
    return np.c_[np.sort(low, 0)[n - k], np.sort(high, 0)[k - 1]]


def jackknife_ours(x, y, t, _):
    model = IOKR(kx="rbf(gamma=0.1)", ky="linear", lam=0.5).fit(x, y)
    return model.predict_interval(t, alpha=0.1, how="jackknife+", score="distance")[:, 0]


def links(networks=50, target=0.2):
    """The share of false links in lists by okra link --fdr."""
    import subprocess
    import tempfile
    shares, found = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(networks):
            rng = np.random.default_rng(seed)
            classes = rng.integers(8, size=200)
            links = np.triu(rng.random((200, 200))
                            < np.where(classes[:, None] == classes, 0.95, 0.01), 1)
            np.save(f"{folder}/x.npy",
                    np.eye(8)[classes] + 0.25 * rng.standard_normal((200, 8)))
            labelled = set(rng.permutation(200)[:120].tolist())
            edges = [(a, b) for a, b in zip(*np.nonzero(links))]
            with open(f"{folder}/known.tsv", "w") as f:
                f.writelines(f"{a} {b}\n" for a, b in edges if a in labelled and b in labelled)
            with open(f"{folder}/labelled.txt", "w") as f:
                f.writelines(f"{a}\n" for a in sorted(labelled))
            subprocess.run([os.path.join(BUILD, "okra"), "link", "-q", "--x", f"{folder}/x.npy",
                            "--edges", f"{folder}/known.tsv", "--labelled",
                            f"{folder}/labelled.txt", "--kx", "rbf(sigma=0.7)", "--lambda",
                            "0.5", "--fdr", str(target), "--seed", str(seed), "-o",
                            f"{folder}/found.tsv"], check=True)
            list_ = np.loadtxt(f"{folder}/found.tsv", skiprows=1, ndmin=2)
            wrong = [not links[min(a, b), max(a, b)] for a, b in list_[:, :2].astype(int)] \
                if list_.size else []
            shares.append(np.mean(wrong) if len(wrong) else 0.0)
            found += len(wrong)
    report(f"links by --fdr {target}, {networks} networks: share of false ones above the target",
           float(np.mean(shares)) - target, 0.01, "lower",
           share=round(float(np.mean(shares)), 4), found=found)


if __name__ == "__main__":
    if not os.path.isdir(DATA):
        skip(f"no data in {DATA}")
    for name, make in TASKS.items():
        coverage(name, make)
    for name in "letters", "label sets", "activities", "strings":
        automatic(name, TASKS[name])
    costs()
    refits("full conformal sets of 10 candidates", full_refits, full_ours, 10)
    refits("jackknife+ intervals", jackknife_refits, jackknife_ours, 10)
    links()
    finish()
