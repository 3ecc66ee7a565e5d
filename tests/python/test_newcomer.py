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


# ---- tasks that the rules of the automatic fit were not written beside --------------------
# Made after those rules, and left as they came out: other shapes, other noise, other sizes.
# `motifs` found that long strings had no kernel of long words, and the rules got one; so it
# is seen now, and `proteins` was made after it. `plurals` found that strings which are edited
# inputs have a decoder of their own, and the rules take it.

def wide_vectors(rng):
    """Sixty inputs with heavy tails, of which four matter; kinks, not curves."""
    X = rng.standard_t(3, size=(900, 60)) * np.exp(rng.normal(size=60))
    S = X / np.std(X, 0)
    Y = np.c_[np.maximum(S[:, 3], 0) - np.abs(S[:, 7]), S[:, 11] + np.minimum(S[:, 19], 1)]
    return X, Y + 0.3 * rng.normal(size=Y.shape), 500, "r2", dict(
        kx=["0.02*standardize", "standardize | rbf(sigma=3..48:9)", "rbf(sigma=2..64:9)"],
        lam="1e-4..10:11", options={"center-output": "yes"})


def counts(rng):
    """Word counts of short texts about four topics, as a sparse matrix."""
    import scipy.sparse
    topic = rng.integers(0, 4, 1500)
    rates = rng.gamma(0.15, 1, size=(4, 250))
    rates = 14 * rates / rates.sum(1, keepdims=True) + 0.06
    X = scipy.sparse.csr_matrix(rng.poisson(rates[topic]).astype(float))
    names = np.array(["art", "law", "sport", "war"])[topic]
    return X, names, 250, "accuracy", dict(
        kx=["linear | normalize", "0.05*linear", "linear | normalize | rbf(sigma=0.3..2:6)",
            "rbf(sigma=2..32:6)"],
        ky="zero-one", lam="1e-3..10:9", metric="accuracy")


def motifs(rng):
    """DNA of different lengths; how often two motifs occur, and their share."""
    x, y = [], []
    for _ in range(420):
        letters = list(rng.choice(list("ACGT"), rng.integers(30, 70)))
        for _ in range(rng.integers(0, 4)):
            at = rng.integers(0, len(letters) - 5)
            letters[at:at + 5] = list("GATTA" if rng.random() < 0.5 else "CCGCC")
        text = "".join(letters)
        x.append(text)
        y.append([text.count("GATTA"), text.count("CCGCC")])
    return x, np.array(y, dtype=float), 280, "r2", dict(
        kx=["spectrum(k={2,3,4,5,6})", "spectrum(k={3,4,5}) | normalize",
            "spectrum(k=3) + spectrum(k=4) + spectrum(k=5) | normalize",
            "mismatch(k=5,m=1) | normalize"],
        lam="1e-4..100:13", options={"center-output": "yes"})


def proteins(rng):
    """Two families by where charged letters stand to one another, among twelve letters."""
    letters, x, y = list("ADEFGHIKLNRS"), [], []
    for _ in range(900):
        family = rng.integers(0, 3)
        text = list(rng.choice(letters, rng.integers(40, 90)))
        for _ in range(3):
            at = rng.integers(0, len(text) - 6)
            text[at:at + 4] = list(("DEKR", "KDRE", "EEDD")[family])
            if rng.random() < 0.3:
                text[at + rng.integers(0, 4)] = rng.choice(letters)
        x.append("".join(text))
        y.append(("alpha", "beta", "gamma")[family])
    return x, np.array(y), 300, "accuracy", dict(
        kx=["spectrum(k={2,3,4,5})", "spectrum(k={2,3,4,5}) | normalize",
            "mismatch(k={3,4},m=1) | normalize"],
        ky="zero-one", lam="1e-3..100:11", metric="accuracy")


def melodies(rng):
    """Sequences of two numbers per note, and the letters that name the notes."""
    steps = {c: i for i, c in enumerate("cdefgab")}
    texts = ["".join(rng.choice(list(steps), rng.integers(4, 9))) for _ in range(320)]
    x = [np.array([[steps[c] + 0.35 * rng.normal(), rng.normal()] for c in t]) for t in texts]
    return x, texts, 200, "characters", dict(
        kx=["position(rbf(sigma=0.3..6:9))", "position(rbf(sigma=0.3..6:9)) | normalize"],
        ky="position(zero-one)", decode="position", lam="1e-3..10:9")


def plurals(rng):
    """Made words and their plurals: the ending rules, and a vowel that changes."""
    stems = ["".join(rng.choice(list("bdfgklmnprst")) + rng.choice(list("aeiou"))
                     for _ in range(rng.integers(1, 3))) + rng.choice(list("klmnrst"))
             for _ in range(420)]
    y = [w[:-2] + {"a": "e"}.get(w[-2], w[-2]) + w[-1] + ("es" if w[-1] in "st" else "s")
         for w in stems]
    kernel = "spectrum(k=1) + spectrum(k=2) + spectrum(k=3) | normalize"
    return stems, y, 300, "edit", dict(
        kx=["spectrum(k={1,2,3}) | normalize", kernel,
            "ssk(length={2,3},decay={0.3,0.6}) | normalize"],
        ky=kernel, lam="1e-4..10:9", metric="edit")


def crossed_sets(rng):
    """Five labels, each by the sign of a product of two inputs, or of none."""
    X = rng.uniform(-1, 1, size=(1400, 6))
    pairs = [(0, 1), (2, 3), (4, 5), (0, 3), (1, 1)]
    Y = np.stack([(X[:, a] * X[:, b] > (0.3 if a == b else 0)) for a, b in pairs], 1)
    Y = np.where(rng.random(Y.shape) < 0.03, ~Y, Y).astype(float)
    return X, Y, 600, "f1:average=example", dict(
        kx=["standardize | rbf(sigma=0.5..8:9)", "0.1*standardize | poly(degree=2)"],
        lam="1e-3..10:11", decode="labels", options={"center-output": "yes"})


def rings(rng):
    """Benzene with up to three groups; is there a halogen beside a hydroxyl group?"""
    x, y = [], []
    for _ in range(500):
        at = [rng.choice(["", "(O)", "(Cl)", "(F)", "(C)", "(N)", "(CC)"],
                         p=[0.4, 0.15, 0.1, 0.1, 0.1, 0.1, 0.05]) for _ in range(6)]
        x.append("c1" + at[0] + "".join(f"c{g}" for g in at[1:5]) + "c1" + at[5])
        y.append("yes" if any({"(O)"} & {a, b} and {"(Cl)", "(F)"} & {a, b}
                              for a, b in zip(at, at[1:] + at[:1])) else "no")
    return okra.smiles(x), np.array(y), 320, "accuracy", dict(
        kx=["ecfp(radius={1,2,3}) | tanimoto", "ecfp(radius={1,2,3},count=1) | normalize",
            "wl(h={1,2,3}) | normalize"],
        ky="zero-one", lam="1e-4..1:9", metric="accuracy")


TASKS = [vectors, classes, label_sets, strings, molecules, network, images, sequences,
         missing]
UNSEEN = [wide_vectors, counts, motifs, proteins, plurals, crossed_sets, rings, melodies]


@pytest.mark.parametrize("task", TASKS + UNSEEN, ids=lambda t: t.__name__)
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
