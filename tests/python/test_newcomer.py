"""Ten tasks of a newcomer, with no kernel and no lambda given, against what a selection over
grids written for the task reaches; and inputs of very different scales against the scaled
and tuned ridge of scikit-learn."""
import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import okra
from okra import IOKR, IOKRCV


def smooth(rng, n, scales):
    """Inputs of several scales, and three smooth outputs with noise."""
    Z = rng.normal(size=(n, len(scales)))
    Y = np.c_[np.sin(1.5 * Z[:, 0]) + 0.5 * Z[:, 1] * Z[:, 2], np.cos(Z[:, 3]) * Z[:, 4],
              Z[:, 0] - 0.7 * Z[:, 2] ** 2]
    return Z * scales, Y + 0.15 * rng.normal(size=Y.shape)


def vectors(rng):
    X, Y = smooth(rng, 700, [1, 10, 1e3, 1e-3, 5])
    return X, Y, 400, "r2", dict(kx="standardize | rbf(sigma=0.5..8:13)",
                                 lam="1e-5..1:16", options={"center-output": "yes"})


def classes(rng):
    n = 2300
    angle, ring = rng.uniform(0, 2 * np.pi, n), rng.integers(0, 3, n)
    r = 1 + ring + 0.25 * rng.normal(size=n)
    X = np.c_[r * np.cos(angle), r * np.sin(angle), rng.normal(size=n)]
    names = np.array(["inner", "middle", "outer"])[ring]
    return X, names, 300, "accuracy", dict(
        kx="{standardize | rbf(sigma=0.3..4:9), rbf(sigma=0.5..8:9)}", ky="zero-one",
        lam="1e-4..10:11", metric="accuracy")


def label_sets(rng):
    X = rng.normal(size=(600, 10))
    H = np.tanh(X @ rng.normal(size=(10, 12)) / 2) @ rng.normal(size=(12, 6))
    Y = (H + 0.3 * rng.normal(size=H.shape) > 0.5).astype(float)
    return X, Y, 400, "f1:average=example", dict(
        kx="{0.1*standardize, standardize | rbf(sigma=1.5..16:10)}", lam="1e-3..10:13",
        decode="labels", options={"center-output": "yes"})


def strings(rng):
    x, y, _ = okra.datasets.make_strings(400, seed=3)
    kernel = "spectrum(k=1) + spectrum(k=2) + spectrum(k=3) | normalize"
    return x, y, 250, "edit", dict(
        kx=["spectrum(k={1,2,3,4}) | normalize", kernel,
            "ssk(length={2,3},decay={0.3,0.5,0.8}) | normalize"],
        ky=kernel, lam="1e-4..10:11", metric="edit")


def molecules(rng):
    """Chains with groups on them; a property of the groups and of their neighbours."""
    groups = {"C": 0.0, "O": 1.0, "N": 0.5, "C(=O)": 1.5, "C(C)": -0.5, "C(Cl)": -1.0}
    x, y = [], []
    for _ in range(400):
        parts = rng.choice(list(groups), rng.integers(3, 8))
        pairs = sum(a == "O" and b == "N" or a == "N" and b == "O"
                    for a, b in zip(parts, parts[1:]))
        x.append("C" + "".join(parts) + "C")
        y.append(sum(groups[p] for p in parts) - pairs + 0.1 * rng.normal())
    return okra.smiles(x), np.array(y), 250, "r2", dict(
        kx=["ecfp(radius={1,2,3}) | tanimoto", "ecfp(radius={1,2},count=1) | normalize",
            "ecfp(radius={1,2},count=1) | tanimoto", "wl(h={1,2,3}) | normalize",
            "paths(m={2,4}) | tanimoto"],
        lam="1e-5..1:11", options={"center-output": "yes"})


def network(rng):
    nodes = okra.datasets.make_network(300, 5, 0.15, 0.01, seed=2)
    nodes = nodes[rng.permutation(300)]  # they come class by class
    K = okra.gram_matrix("diffusion(beta=0.5)", nodes)
    Y = K @ rng.normal(size=(300, 2))
    Y = Y / Y.std(0) + 0.2 * rng.normal(size=Y.shape)
    return nodes, Y, 200, "r2", dict(
        kx=["diffusion(beta=0.02..4:10) | normalize",
            "regularized-laplacian(sigma2=0.02..2:9) | normalize"],
        lam="1e-4..10:13", options={"center-output": "yes"})


def images(rng):
    X, Y = okra.datasets.make_patterns(300, seed=4)
    return X, Y, 200, "r2", dict(
        kx=["rbf(sigma=2..32:10)", "standardize | rbf(sigma=2..64:10)"], lam="1e-5..1:13",
        options={"center-output": "yes"})


def sequences(rng):
    codes = {letter: rng.normal(size=8) for letter in "abcdef"}
    texts = ["".join(rng.choice(list("abcdef"), rng.integers(3, 7))) for _ in range(260)]
    x = [np.array([codes[c] for c in t]) + 0.8 * rng.normal(size=(len(t), 8))
         for t in texts]
    return x, texts, 160, "characters", dict(
        kx=["position(rbf(sigma=1..16:9))", "position(rbf(sigma=1..16:9)) | normalize"],
        ky="position(zero-one)", decode="position", lam="1e-3..10:9")


def missing(rng):
    X, Y = smooth(rng, 700, [1, 10, 1e3, 1e-3, 5])
    holes = Y.copy()
    holes[:400][rng.random((400, 3)) < 0.15] = np.nan
    return X, (okra.missing(holes[:400]), Y), 400, "r2", dict(
        kx="standardize | rbf(sigma=1..8:9)", lam="1e-4..1:9",
        options={"center-output": "yes"})


TASKS = [vectors, classes, label_sets, strings, molecules, network, images, sequences,
         missing]


@pytest.mark.parametrize("task", TASKS, ids=lambda t: t.__name__)
@pytest.mark.filterwarnings("ignore")
def test_nothing_given_is_as_good_as_tuned(task):
    rng = np.random.default_rng(7)
    X, Y, n, metric, grid = task(rng)
    train_y, test_y = (Y[0], Y[1][n:]) if isinstance(Y, tuple) else (Y[:n], Y[n:])
    known = Y[1][:n] if isinstance(Y, tuple) else train_y  # a grid needs whole outputs
    if metric == "accuracy":
        train_y, known = okra.labels(train_y), okra.labels(known)
    automatic = IOKR().fit(X[:n], train_y)
    tuned = IOKRCV(**grid).fit(X[:n], known)
    got = automatic.score(X[n:], test_y, metric=metric)
    want = tuned.score(X[n:], test_y, metric=metric)
    print(f"{task.__name__}: {metric} {got:.4f}, tuned {want:.4f}; {automatic.chosen_}")
    assert got >= want - 0.02 * abs(want), (got, want, automatic.chosen_)


@pytest.mark.filterwarnings("ignore")
def test_large_training_set():
    rng = np.random.default_rng(8)
    X, Y = smooth(rng, 22000, [1, 10, 1e3, 1e-3, 5])
    X, Y, Xt, Yt = X[:21000], Y[:21000, 0], X[21000:], Y[21000:, 0]
    automatic = IOKR().fit(X, Y)
    assert automatic.chosen_["low_rank_x"].startswith("nystrom")
    tuned = IOKRCV(kx="standardize | rbf(sigma=1..4:5)", lam="1e-3..0.1:5",
                   options={"center-output": "yes"}).fit(X[::14], Y[::14])
    dense = IOKR(**{**tuned.best_params_, "low_rank_x": "chol(rank=1000)"}).fit(X, Y)
    got, want = automatic.score(Xt, Yt), dense.score(Xt, Yt)
    print(f"large: {got:.4f}, tuned {want:.4f}; {automatic.chosen_}")
    assert got >= 0.98 * want


@pytest.mark.filterwarnings("ignore")
def test_inputs_of_very_different_scales():
    """As in SARCOS: positions, velocities and accelerations of seven joints, torques."""
    rng = np.random.default_rng(9)
    n = 1200
    q, v, a = rng.uniform(-1, 1, (n, 7)), 2 * rng.normal(size=(n, 7)), \
        50 * rng.normal(size=(n, 7))
    inertia = 1 + 0.5 * np.cos(q) + 0.3 * np.cos(q + np.roll(q, 1, 1))
    torque = inertia * a / 50 + 0.1 * v * np.abs(v) * np.sin(q) + 3 * np.sin(q)
    Y = torque + 0.1 * torque.std(0) * rng.normal(size=(n, 7))
    X = np.hstack([q, v, a])
    ridge = make_pipeline(StandardScaler(), KernelRidge(kernel="rbf"))
    search = GridSearchCV(ridge, {
        "kernelridge__gamma": np.logspace(-4, -0.5, 8),
        "kernelridge__alpha": np.logspace(-4, 1, 8)}, cv=5)
    mean = Y[:600].mean(0)
    search.fit(X[:600], Y[:600] - mean)
    theirs = 1 - r2_score(Y[600:], search.predict(X[600:]) + mean)
    ours = 1 - r2_score(Y[600:], IOKR().fit(X[:600], Y[:600]).predict(X[600:]))
    print(f"different scales: unexplained {ours:.4f}, scikit-learn {theirs:.4f}")
    assert ours <= 1.05 * theirs
