"""Label sets by the loss that judges them: example-F1 of candidates under a linear and under a
Tanimoto output kernel, beside the least expected F1 loss among candidates and over all sets.

Every way chooses its lambda on a part of the training pairs by the F1 that it is judged by.
Four splits; `standard_error` is that of the mean gain over them. What explains the gain:
`labels_*` is how many labels a set has (the truth, under Tanimoto, by the F1 loss); `clipped`
is the F1 loss with the negative weights of ridge, `negative` in sum, set to 0. The F1 loss
predicts larger sets than there are: the weights spread more than the outputs do, and hedging
pays under F1. Without the negative weights they spread more still. `f1_votes` has the powers
--sharpen and --votes, chosen on the same part as lambda.

Label sets of e-mails (enron) under Tanimoto kernels, four splits: what the search of sets
costs beside candidates, each the best of five predictions, and the F1 of both."""
import os
import subprocess
import tempfile
import time

import common
import numpy as np

DATA = os.path.join(os.environ.get("OKRA_DATA", os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "..", "..", "shared", "data")), "mlc")
OKRA = os.path.join(common.BUILD, "okra")
LAMBDAS = ("0.1", "0.3", "1", "3")
WAYS = {"default": ("linear", "labels"), "linear": ("linear", "candidates"),
        "tanimoto": ("tanimoto", "candidates"), "sets": ("tanimoto", "labels"),
        "f1": ("tanimoto", "loss:f1"),
        "f1_over_all": ("tanimoto", "loss:f1", "--over-all")}
# The F1 loss of weights that are made sharper, with every pair of powers.
SHARPER = [("tanimoto", "loss:f1", "--sharpen", p, "--votes", a)
           for p in ("1", "1.5", "2") for a in ("0", "1.5", "2", "3")]


def okra(*arguments):
    subprocess.run([OKRA, *arguments, "-q", "--threads", str(common.THREADS)], check=True,
                   capture_output=True)


def f1(truth, found):
    both, all_ = (truth * found).sum(1), truth.sum(1) + found.sum(1)
    return float(np.mean(2 * both / np.maximum(all_, 1)))


def fit(folder, X, Y, ky, lam):
    np.save(f"{folder}/x.npy", X)
    np.save(f"{folder}/y.npy", Y)
    okra("fit", "--x", f"{folder}/x.npy", "--y", f"{folder}/y.npy", "--kx",
         f"rbf(sigma={np.sqrt(X.shape[1]):g})", "--ky", ky, "--lambda", lam, "-o",
         f"{folder}/model.okra")


def predict(folder, X, way):
    np.save(f"{folder}/q.npy", X)
    okra("predict", f"{folder}/model.okra", "--x", f"{folder}/q.npy", "--decode", *way, "-o",
         f"{folder}/found.npy")
    return np.load(f"{folder}/found.npy").astype(float)


def clipped(folder, X, Y, train_y):
    """F1 of the F1 loss without negative weights, and their mean sum."""
    np.save(f"{folder}/q.npy", X)
    okra("predict", f"{folder}/model.okra", "--x", f"{folder}/q.npy", "--weights",
         f"{folder}/w.npy")
    W = np.load(f"{folder}/w.npy")
    W = W if W.shape[0] == len(X) else W.T
    sizes = train_y.sum(1)
    gains = 2 * (train_y @ train_y.T) / np.maximum(sizes[:, None] + sizes, 1)
    found = train_y[(np.maximum(W, 0) @ gains).argmax(1)]
    return f1(Y, found), float(-np.minimum(W, 0).sum() / len(X))


def split_scores(folder, X, Y, seed):
    """On the test part, of every way with the lambda that the dev part chose: F1, and what
    explains it."""
    order = np.random.default_rng(seed).permutation(len(X))
    n = min(1000, len(X) // 2)
    train, dev, test = np.split(order[:n + n // 3 + 800], [n, n + n // 3])
    scores, best = {"labels_true": Y[test].sum(1).mean()}, {}
    for ky in ("linear", "tanimoto"):
        for lam in LAMBDAS:
            fit(folder, X[train], Y[train], ky, lam)
            for name, way in [*WAYS.items(), *(("f1_votes", way) for way in SHARPER)]:
                if way[0] == ky:
                    tried = f1(Y[dev], predict(folder, X[dev], way[1:])), lam, way
                    best[name] = max(best.get(name, tried), tried, key=lambda t: t[0])
    for name, (_, lam, way) in best.items():
        fit(folder, X[train], Y[train], way[0], lam)
        found = predict(folder, X[test], way[1:])
        scores[name], scores[f"labels_{name}"] = f1(Y[test], found), found.sum(1).mean()
        if name == "f1":
            scores["clipped"], scores["negative"] = clipped(folder, X[test], Y[test], Y[train])
    return scores


def dense(part):
    """Rows of 0/1 from the indices of their ones."""
    ends, ones = (np.load(os.path.join(DATA, f"enron_{part}_{what}.npy"))
                  for what in ("indptr", "indices"))
    rows = np.zeros((len(ends) - 1, ones.max() + 1))
    rows[np.repeat(np.arange(len(rows)), np.diff(ends)), ones] = 1
    return rows


def emails(folder):
    """Seconds and F1 of candidates and of label sets: four splits of enron."""
    X, Y = dense("x"), dense("y")
    seconds, scores = np.zeros((4, 2)), np.zeros((4, 2))
    for seed in range(4):
        order = np.random.default_rng(seed).permutation(len(X))
        train, test = order[:2 * len(X) // 3], order[2 * len(X) // 3:]
        np.save(f"{folder}/x.npy", X[train])
        np.save(f"{folder}/y.npy", Y[train])
        okra("fit", "--x", f"{folder}/x.npy", "--y", f"{folder}/y.npy", "--kx", "tanimoto",
             "--ky", "tanimoto", "--lambda", "0.1", "-o", f"{folder}/model.okra")
        for k, decoder in enumerate(("candidates", "labels")):
            spent = []
            for _ in range(5):
                begin = time.perf_counter()
                found = predict(folder, X[test], (decoder,))
                spent.append(time.perf_counter() - begin)
            seconds[seed, k], scores[seed, k] = min(spent), f1(Y[test], found)
    common.report("enron, Tanimoto: seconds of label sets over those of candidates",
                  seconds[:, 1].sum() / seconds[:, 0].sum(), 2, better="lower",
                  candidates=seconds[:, 0].sum(), labels=seconds[:, 1].sum())
    gain = scores[:, 1] - scores[:, 0]
    common.report("enron, Tanimoto: example-F1 of label sets over that of candidates",
                  gain.mean(), 0, standard_error=gain.std(ddof=1) / 2,
                  candidates=scores[:, 0].mean(), labels=scores[:, 1].mean())


def main():
    if not os.path.exists(os.path.join(DATA, "yeast_x.npy")):
        common.skip(f"no {DATA}/yeast_x.npy")
    with tempfile.TemporaryDirectory() as folder:
        emails(folder)
        for name in ("scene", "yeast", "emotions"):
            X = np.load(os.path.join(DATA, f"{name}_x.npy")).astype(float)
            Y = np.load(os.path.join(DATA, f"{name}_y.npy")).astype(float)
            X = (X - X.mean(0)) / (X.std(0) + 1e-12)
            runs = [split_scores(folder, X, Y, seed) for seed in range(4)]
            told = {k: np.mean([run[k] for run in runs]) for k in
                    (*WAYS, "f1_votes", "labels_true", "labels_tanimoto", "labels_f1",
                     "labels_f1_votes", "clipped", "negative")}
            for base, what in (("default", "what fit chooses by itself, linear and labels"),
                               ("linear", "candidates, linear"),
                               ("tanimoto", "candidates, tanimoto")):
                for way, said in (("f1", "the F1 loss"), ("f1_votes", "the F1 loss, sharper weights,")):
                    gain = np.array([run[way] - run[base] for run in runs])
                    common.report(
                        f"example-F1 of {name}: gain of {said} over {what}",
                        gain.mean(), 0, standard_error=gain.std(ddof=1) / 2, **told)
    common.finish()


main()
