"""Every method, operator and form of low rank on an engine against the host.

Usage: compare.py ENGINE [N [FAMILY...]]     N training pairs; only these families

Each setting is fitted on both. Weights, embeddings and the best candidates must agree to
1e-9 of the largest, also where the one predicts from the model of the other: what is solved
by iteration to its own tolerance, kernels of large values as their condition allows. Of kpca
the weights are compared as points of the output space: rounding turns its last directions,
whose variance is rounding too. Two fits on the engine have the same bits, and both models
hold the same arrays. What the host refuses, the engine refuses in the same words.
"""
import os
import sys
import tempfile
import warnings
import zipfile

import numpy as np
import okra
from okra._library import Context

ENGINE, N = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 60
TESTS, RANK = 23, max(9, N // 6)
ONLY = sys.argv[3:]
CLOSE = 1e-9
# Iterations end within their own tolerance of the solution.
LOOSE = {"margin": 1e-6, "tgp-kl optimum": 1e-6, "cg": 1e-6}


def data():
    rng = np.random.default_rng(3)
    X, U, T = (rng.standard_normal((m, 4)) for m in (N, N // 3, TESTS))
    Y = np.stack([np.sin(2 * X[:, 0]) + X[:, 1], X[:, 1] * X[:, 2], np.cos(X[:, 3]) - X[:, 0]], 1)
    return X, U, T, Y


X, U, T, Y = data()
FOLDER = tempfile.mkdtemp()


def table(name, values):
    path = os.path.join(FOLDER, name)
    np.save(path, np.array(values, float))
    return path


MATRIX = "matrix:" + table("A.npy", [[2, .5, .1], [.5, 1, .2], [.1, .2, 1.5]])
GRAPH = "graph:" + table("G.npy", [[0, 1, 0], [1, 0, 1], [0, 1, 0]]) + ",mu=0.5"


def context(engine):
    return Context(threads=2, seed=7, engine=engine)


def outcome(work):
    """What came of it, or the words of the refusal."""
    try:
        return work(), None
    except okra.OkraError as error:
        return None, str(error)


def predicted(model, x, engine, decode):
    """Everything that a model says, by name."""
    said = {}
    for name in ("weights", "embedding"):
        part, _ = outcome(lambda: model.predict(x, {"decode": "none"}, context=context(engine),
                                                **{name: True}))
        if part is not None:
            said[name] = getattr(part, name)()
    part, _ = outcome(lambda: model.predict(x, {"top": 3, **decode}, context=context(engine)))
    if part is not None:
        said["distance"] = part.distance()
        said["index"] = part.index()
    part, _ = outcome(lambda: model.predict(x, decode, confidence=True, context=context(engine)))
    if part is not None:
        said["confidence"] = np.nan_to_num(part.confidence())
    return said


def arrays(model):
    """The arrays of the model file and their shapes."""
    path = os.path.join(FOLDER, "model.okra")
    model.save(path)
    with zipfile.ZipFile(path) as file:
        names = [name for name in file.namelist() if name.endswith(".npy")]
        return {name: np.load(file.open(name), allow_pickle=False).shape for name in sorted(names)}


def difference(a, b):
    if a is None or b is None:
        return 0.0 if a is b else np.inf
    if a.shape != b.shape:
        return np.inf
    other = a != b  # infinite where there are fewer candidates than asked for
    known = np.abs(a[np.isfinite(a)])
    return float(np.abs(a[other] - b[other]).max() / max(known.max(), 1e-300)) if other.any() else 0.0


def at_outputs(values, y, said):
    """The weights of predicted points become inner products with the training outputs."""
    if "weights" in said:
        said["weights"] = said["weights"] @ okra.gram_matrix(values.get("ky", "linear"), y)
    return said


def same_choice(mine, theirs, distance):
    """The same candidates, but for those that are as near."""
    other = mine != theirs
    return not other.any() or np.ptp(distance[other.any(1)], axis=1).min() < 1e-8


worst, faults, count, refused = {}, [], 0, 0


def fault(name, text):
    faults.append(f"{name}: {text}")
    print("FAULT", faults[-1], flush=True)


def judge(name, family, x, y, values, test, decode):
    global count, refused
    if ONLY and family.split()[0] not in ONLY:
        return
    count += 1
    fits = {e: outcome(lambda: okra.Model.fit(x, y, values, context(e))) for e in ("host", ENGINE)}
    words = [fits[e][1] for e in ("host", ENGINE)]
    if words[0] or words[1]:
        refused += 1
        if words[0] != words[1]:
            fault(name, f"the host says {words[0]!r}, {ENGINE} says {words[1]!r}")
        return
    host, other = (fits[e][0] for e in ("host", ENGINE))
    if arrays(host) != arrays(other):
        fault(name, "models that hold other arrays")
    points = values.get("method") == "kpca"
    want = predicted(host, test, "host", decode)
    want = at_outputs(values, y, want) if points else want
    for who, model, engine in (("both", other, ENGINE), ("its model on the host", other, "host"),
                               ("the host's model", host, ENGINE)):
        got = predicted(model, test, engine, decode)
        got = at_outputs(values, y, got) if points else got
        if sorted(got) != sorted(want):
            fault(name, f"{who}: says {sorted(got)}, expected {sorted(want)}")
            continue
        for what in want:
            if what == "index":
                if not same_choice(want[what], got[what], want["distance"]):
                    fault(name, f"{who}: other candidates")
                continue
            d = difference(want[what], got[what])
            worst[family] = max(worst.get(family, 0), d)
            if not d <= LOOSE.get(family, CLOSE):
                fault(name, f"{who}: {what} differ by {d:.2g}")
    again = okra.Model.fit(x, y, values, context(ENGINE))
    first, second = (predicted(m, test, ENGINE, decode) for m in (other, again))
    for what in first:
        if first[what] is not None and first[what].tobytes() != second[what].tobytes():
            fault(name, f"two fits differ in bits: {what}")


def fit(name, family=None, x=X, y=Y, test=T, decode=None, **values):
    values = {key.replace("_", "-"): value for key, value in values.items()}
    values.setdefault("kx", "rbf(sigma=1)")
    judge(name, family or name.split()[0], x, y, values, test, decode or {})


def with_low_rank(low, ky):
    base = {"ky": ky, **({"low_rank": low} if low else {})}
    tail = f"low={low} ky={ky}"
    both = np.concatenate([X, U])
    for center in ({}, {"center_output": "yes"}):
        for op in ("identity", "cov", "ccov", "diagonal(t=0.3)", MATRIX, GRAPH):
            y = np.column_stack([Y, Y[:, :1] * Y[:, 1:2]]) if op.startswith("diagonal") else Y
            fit(f"ridge {op} {tail} {center}", y=y, operator=op, **{"lambda": 0.1}, **center, **base)
    for more in ({"graph": "gram"}, {"graph": "knn(k=4)"}, {"operator": MATRIX}):
        fit(f"semi {more} {tail}", x=both, lambda2=0.5, **{"lambda": 0.1}, **more, **base)
    for components in ({"components": 2}, {}):
        fit(f"kpca {components} {tail}", method="kpca", **{"lambda": 0.1}, **components, **base)
    for loss in ("hinge", "epsilon", "huber"):
        for op in ("identity", MATRIX):
            fit(f"margin {loss} {op} {tail}", method="margin", loss=loss, operator=op,
                **{"lambda": 0.1}, **base)
    fit(f"margin semi {tail}", x=both, method="margin", lambda2=0.5, **{"lambda": 0.1}, **base)


def kinds():
    rng = np.random.default_rng(5)
    bits = okra.bits(rng.integers(0, 2, (N, 200)))
    some = okra.bits(rng.integers(0, 2, (TESTS, 200)))
    words = ["".join(rng.choice(list("abcd"), rng.integers(3, 9))) for _ in range(N + TESTS)]
    fit("bits tanimoto", x=bits, y=bits, test=some, kx="tanimoto", ky="tanimoto", **{"lambda": 0.1})
    fit("bits linear", x=bits, y=bits, test=some, kx="linear", ky="linear", **{"lambda": 0.1})
    fit("strings", x=words[:N], test=words[N:], kx="spectrum(k=2) | normalize", **{"lambda": 0.1})
    # l(y,y) is not the same for all outputs.
    fit("strings both", x=words[:N], y=words[:N], test=words[N:], kx="spectrum(k=2)",
        ky="spectrum(k=2)", **{"lambda": 0.1})
    hole = Y.copy()
    hole[::5, 1] = np.nan
    for op in ("identity", MATRIX):
        fit(f"missing {op}", y=okra.missing(hole), operator=op, **{"lambda": 0.1})
    weights = np.arange(1, N + 1) / N
    for op in ("identity", "ccov"):
        fit(f"weights {op}", x=okra.as_data(X).weigh(weights), operator=op, ky="rbf(sigma=1)",
            **{"lambda": 0.1})
    for n in (1, 2):
        fit(f"few {n}", x=X[:n], y=Y[:n], ky="rbf(sigma=1)", **{"lambda": 0.1})
        fit(f"few ccov {n}", x=X[:n], y=Y[:n], ky="rbf(sigma=1)", operator="ccov", **{"lambda": 0.1})
    fit("strided", x=np.repeat(X, 2, 1)[:, ::2], y=np.asfortranarray(Y), **{"lambda": 0.1})
    try:
        import scipy.sparse
        fit("sparse", x=scipy.sparse.csr_matrix(X * (X > 0)), test=scipy.sparse.csr_matrix(T),
            **{"lambda": 0.1})
    except ImportError:
        print("no SciPy: sparse inputs are not compared")


def kernels():
    """Rounding grows with the condition of K + lambda I, below tr(K) / lambda."""
    for kx in ("linear", "rbf(sigma=1)", "laplacian(gamma=0.5)", "poly(degree=3)", "cosine",
               "linear | center | poly(degree=2)", "rbf(sigma=1) + 0.5*linear",
               "cosine * rbf(sigma=2)", "poly(degree=2) | normalize | rbf(sigma=1)", "tanimoto",
               "rbf(sigma=1) | center"):
        family = f"kernel {kx}"
        condition = np.trace(okra.gram_matrix(kx, X)) / 0.1
        LOOSE[family] = max(CLOSE, 64 * np.finfo(float).eps * condition)
        fit(family, family, kx=kx, ky="rbf(sigma=1)", **{"lambda": 0.1})
        fit(f"kernel ccov {kx}", family, kx=kx, ky=kx, operator="ccov", **{"lambda": 0.1})


def twins():
    smooth = {"ky": "rbf(sigma=1)"}
    fit("twin 3,3", twin="3,3", **smooth, **{"lambda": 0.1})
    fit("twin 5,2,unbiased", twin="5,2,unbiased", **smooth, **{"lambda": 0.1})
    fit("twin low rank", twin="3,3", low_rank=f"chol(rank={RANK})", **smooth, **{"lambda": 0.1})
    for decode in ({"decode": "candidates"}, {"decode": "optimum"}):
        how = decode["decode"]
        family = "tgp-kl optimum" if how == "optimum" else None
        fit(f"tgp-kl {how}", family, method="tgp-kl", decode=decode, **smooth, **{"lambda": 0.1})
        fit(f"tgp-kl local {how}", family, method="tgp-kl", neighbours=9, decode=decode, **smooth,
            **{"lambda": 0.1})
        fit(f"tgp-hsic {how}", "tgp-kl optimum", method="tgp-hsic", decode=decode, **smooth)
    for join in ("sum", "product"):
        fit(f"soar {join}", method="soar", combine=join, **{"lambda": 0.1})
    fit("soar svr", "margin", method="soar", learner="svr", combine="sum")


def main():
    warnings.simplefilter("ignore")
    for low in (None, *(f"{form}(rank={RANK})" for form in ("chol", "nystrom", "sketch", "rff"))):
        for ky in ("linear", "rbf(sigma=1)"):
            with_low_rank(low, ky)
        if low:
            fit(f"cg low={low}", solver="cg", low_rank=low, **{"lambda": 0.1})
    kinds()
    kernels()
    twins()
    for family, d in sorted(worst.items()):
        print(f"{family}: {d:.2g}")
    print(f"engine {ENGINE}, n = {N}: {count} settings, {refused} refused by both alike, "
          f"{len(faults)} faults")
    return 1 if faults or refused == count else 0


if __name__ == "__main__":
    sys.exit(main())
