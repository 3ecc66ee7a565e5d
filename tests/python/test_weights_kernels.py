"""A weight of 2 is the pair twice under every kernel, also one that learns from the pairs."""
import itertools

import numpy as np
import pytest

import okra

N, M = 26, 5


def scene(kind, seed):
    """Inputs, test inputs and a number of each that outputs are made of."""
    rng = np.random.default_rng(seed)
    if kind == "vectors":
        data = rng.normal(size=(N + M, 3)) * [1, 10, 0.1] + [0, 5, -3]
        return okra.as_data(data[:N]), okra.as_data(data[N:]), data[:, 0]
    if kind == "terms":
        data = (rng.random((N + M, 8)) < 0.4).astype(float)
        return okra.as_data(data[:N]), okra.as_data(data[N:]), data.sum(axis=1)
    if kind == "strings":
        texts = ["".join(rng.choice(list("abcd"), rng.integers(3, 8))) for _ in range(N + M)]
        numbers = np.array([float(t.count("a")) for t in texts])
        return okra.as_data(texts[:N]), okra.as_data(texts[N:]), numbers
    if kind == "sequences":
        rows = [rng.normal(size=(rng.integers(2, 5), 2)) * [1, 7] for _ in range(N + M)]
        return okra.sequences(rows[:N]), okra.sequences(rows[N:]), \
            np.array([r[:, 0].sum() for r in rows])
    if kind == "molecules":
        texts = ["C" * rng.integers(1, 6) + str(rng.choice(["O", "N", "(=O)O", "c1ccccc1"]))
                 for _ in range(N + M)]
        return okra.smiles(texts[:N]), okra.smiles(texts[N:]), \
            np.array([float(len(t)) for t in texts])
    if kind == "nodes":
        near = np.triu(rng.random((N + M, N + M)) < 0.15, 1).astype(float)
        near[np.arange(N + M - 1), np.arange(1, N + M)] = 1
        all_nodes = okra.nodes(near + near.T)
        return all_nodes[np.arange(N)], all_nodes[np.arange(N, N + M)], rng.normal(size=N + M)
    if kind == "tuples":
        a, ta, numbers = scene("vectors", seed)
        b, tb, _ = scene("terms", seed + 1)
        return okra.as_data((a, b)), okra.as_data((ta, tb)), numbers
    raise ValueError(kind)


def outputs(kind, numbers, seed):
    rng = np.random.default_rng(seed + 100)
    if kind == "labels":
        middle = np.median(numbers)
        codes = (numbers > middle).astype(int) + (numbers > numbers.max() - 1).astype(int)
        codes[:3] = [0, 1, 2]
        return okra.labels(codes)
    y = np.c_[np.sin(numbers), 9 * np.cos(numbers)] + 0.1 * rng.normal(size=(len(numbers), 2))
    return okra.as_data(y[:, :1] if kind == "number" else y)


# every kernel that learns from what it is bound to, and some that do not
KERNELS = {
    "vectors": ["rbf(sigma=auto)", "rbf(gamma=auto)", "laplacian(gamma=auto)",
                "standardize | rbf(sigma=1.5)", "standardize | rbf(sigma=auto)",
                "linear | center", "rbf(sigma=4) | center", "standardize | poly(degree=2)",
                "rbf(sigma=4) | center | normalize", "linear | normalize | center",
                "0.5*standardize + rbf(sigma=auto)", "standardize * rbf(sigma=3)",
                "align(standardize, rbf(sigma=4), linear | center)",
                "align-each(standardize, rbf(sigma=auto))",
                "standardize | rbf(sigma=1) | chol(rank=8,tol=0)",
                "standardize | rbf(sigma=1) | chol(rank=30,tol=0.05)",
                "patches(standardize,width=3,patch=1,overlap=0)", "tasks(mu=0.3)"],
    "terms": ["ic", "ic | rbf(sigma=auto)", "ic | normalize | center", "tanimoto",
              "tanimoto | center"],
    "strings": ["ends(reach=4)", "ends(reach=4) | center", "spectrum(k=2) | rbf(sigma=auto)",
                "position(zero-one)", "position(zero-one,map=1)",
                "position(zero-one | center)", "mismatch(k=2,m=1) | normalize | center",
                "edit(sigma=2)"],
    "sequences": ["position(standardize)", "position(standardize | rbf(sigma=1))",
                  "position(rbf(sigma=2),map=1)", "position(linear | center)"],
    "molecules": ["ecfp | tanimoto | center", "wl | normalize | rbf(sigma=auto)"],
    "nodes": ["diffusion(beta=auto)", "diffusion(beta=1) | center",
              "regularized-laplacian(sigma2=auto)"],
    "tuples": ["standardize@1 + ic@2", "standardize@1 * tanimoto@2",
               "align(standardize@1, ic@2)"],
}
CASES = [(kind, kernel) for kind in KERNELS for kernel in KERNELS[kind]]

METHODS = {
    "ridge": ({"lambda": 0.3, "ky": "linear"}, "vector", 1e-9),
    "ridge centred": ({"lambda": 0.3, "ky": "linear", "center-output": True}, "vector", 1e-9),
    "ridge cov": ({"lambda": 0.3, "ky": "standardize | rbf(sigma=auto)", "operator": "cov"},
                  "vector", 1e-8),
    "ridge tasks": ({"lambda": 0.3, "ky": "tasks(mu=0.4)"}, "vector", 1e-9),
    "ridge graph": ({"lambda": 0.3, "ky": "linear",
                     "operator": "graph:estimate(gamma=auto),mu=0.5"}, "vector", 1e-9),
    "ridge ky center": ({"lambda": 0.3, "ky": "rbf(sigma=auto) | center"}, "vector", 1e-9),
    "kpca": ({"method": "kpca", "lambda": 0.3, "ky": "standardize | rbf(sigma=1)",
              "components": 3}, "vector", 1e-7),
    "margin": ({"method": "margin", "lambda": 0.3, "ky": "rbf(sigma=auto)",
                "tolerance": 1e-13}, "vector", 2e-5),
    "svr": ({"method": "svr", "ky": "linear", "cost": 1, "svm-tolerance": 1e-9}, "number",
            1e-5),
    "svm": ({"method": "svm", "ky": "zero-one", "cost": 1, "svm-tolerance": 1e-9}, "labels",
            1e-5),
    "knn": ({"method": "knn", "k": 3, "ky": "standardize"}, "vector", 1e-9),
    "low rank": ({"lambda": 0.3, "ky": "linear", "low-rank-x": "chol(rank=6,tol=0)"}, "vector",
                 1e-7),
}


def predicted(model, name, test, truth):
    """Numbers that tell all of a prediction."""
    if name in ("svm", "svr"):
        how = {"decode": "none"}
        if name == "svr":
            return model.predict(test, how, embedding=True).embedding()
        return model.predict(test, how, weights=True).weights()
    return np.array([model.loss(test[[i]], truth[[i]]) for i in range(M)])


def by_class(values, labels, some):
    """Decisions stand at the first pair of each class."""
    codes = labels.objects[some]
    return np.stack([values[:, np.flatnonzero(codes == c)[0]] for c in np.unique(codes)], 1)


def compare(kind, kernel, name, seed):
    values, out, tolerance = METHODS[name]
    x, test, numbers = scene(kind, seed)
    y = outputs(out, numbers, seed)
    y, truth = y[np.arange(N)], y[np.arange(N, N + M)]
    weights = np.random.default_rng(seed + 7).integers(0, 4, N).astype(float)
    weights[:3] = [2, 1, 3]
    index = np.repeat(np.arange(N), weights.astype(int))
    values = dict(values, kx=kernel)
    a = okra.Model.fit(x, y.weigh(weights), values)
    b = okra.Model.fit(x[index], y[index], values)
    got, want = (predicted(m, name, test, truth) for m in (a, b))
    if name == "svm":
        got, want = by_class(got, y, weights > 0), by_class(want, y, index)
    scale = 1 + abs(want).max()
    assert abs(got - want).max() < tolerance * scale, (got, want)
    again = okra.Model.from_bytes(a.to_bytes())  # what is bound anew is what it was
    assert np.allclose(predicted(again, name, test, truth), predicted(a, name, test, truth),
                       rtol=1e-12, atol=1e-12)
    if "align" not in kernel:
        assert a.info["kernels"] == b.info["kernels"]  # widths, too


@pytest.mark.parametrize("kind,kernel", CASES)
def test_ridge(kind, kernel):
    for seed in range(3):
        compare(kind, kernel, "ridge", seed)


SOME = [("vectors", "standardize | rbf(sigma=auto)"), ("vectors", "rbf(sigma=4) | center"),
        ("terms", "ic"), ("strings", "ends(reach=4)"), ("sequences", "position(standardize)"),
        ("tuples", "standardize@1 + ic@2")]


@pytest.mark.parametrize("name", [m for m in METHODS if m != "ridge"])
def test_methods(name):
    for (kind, kernel), seed in itertools.product(SOME, range(2)):
        if name == "low rank" and ("center" in kernel):
            continue  # it needs the whole training set
        compare(kind, kernel, name, seed)


def test_gram_matrices():
    rng = np.random.default_rng(5)
    a = rng.normal(size=(N + M, 3))
    weights = rng.integers(1, 4, N).astype(float)
    index = np.repeat(np.arange(N), weights.astype(int))
    y = rng.normal(size=(N, 2))
    K = a @ a.T + 2
    D = np.abs(a[:, None] - a[None]).sum(axis=2) ** 1.3  # not Euclidean
    for matrix, kernel in [(K, "precomputed | center"), (D, "from-distance"),
                           (D, "from-distance(repair=none)"), (K, "precomputed | rbf(sigma=auto)")]:
        models = []
        for some, u in ((np.arange(N), weights), (index, None)):
            square = okra.gram(np.ascontiguousarray(matrix[np.ix_(some, some)]))
            models.append(okra.Model.fit(square, okra.as_data(y[some]).weigh(u),
                                         {"kx": kernel, "ky": "linear", "lambda": 500}))
        tests = [okra.gram(np.ascontiguousarray(matrix[N:][:, some]), np.diag(matrix)[N:].copy())
                 for some in (np.arange(N), index)]
        got, want = (m.predict(t, {"decode": "none"}, embedding=True).embedding()
                     for m, t in zip(models, tests))
        assert abs(got - want).max() < 1e-8 * (1 + abs(want).max()), kernel


def test_equal_weights_are_none():
    for kind, kernel in CASES:
        x, test, numbers = scene(kind, 0)
        y = outputs("vector", numbers, 0)
        y, truth = y[np.arange(N)], y[np.arange(N, N + M)]
        values = {"kx": kernel, "ky": "linear", "lambda": 0.3}
        a, b = (okra.Model.fit(x, y.weigh(u), values) for u in (np.ones(N), None))
        assert a.to_bytes() == b.to_bytes(), kernel


def test_updates_keep_the_weights():
    for kind, kernel in CASES:
        if any(word in kernel for word in ("auto", "align", "chol", "standardize", "tasks")):
            continue  # an update keeps what the first fit learned
        x, test, numbers = scene(kind, 1)
        y = outputs("vector", numbers, 1)
        y, truth = y[np.arange(N)], y[np.arange(N, N + M)]
        u = np.random.default_rng(3).uniform(0.3, 3, N)
        values = {"kx": kernel, "ky": "linear", "lambda": 0.3}
        whole = okra.Model.fit(x, y.weigh(u), values)
        first, rest = np.arange(N - 6), np.arange(N - 6, N)
        part = okra.Model.fit(x[first], y[first].weigh(u[first]), values)
        part = okra.Model.from_bytes(part.to_bytes())
        grown, _ = part.update(x[rest], y[rest].weigh(u[rest]))
        for i in range(M):
            want = whole.loss(test[[i]], truth[[i]])
            assert grown.loss(test[[i]], truth[[i]]) == pytest.approx(want, rel=1e-9), kernel
        less, _ = grown.update(remove=rest)
        for i in range(M):
            want = part.loss(test[[i]], truth[[i]])
            assert less.loss(test[[i]], truth[[i]]) == pytest.approx(want, rel=1e-8), kernel


def test_widths_of_a_sample():
    """Of many pairs some are looked at: those that would be, were the copies there."""
    rng = np.random.default_rng(8)
    x, y = rng.normal(size=(700, 2)) ** 3, rng.normal(size=(700, 1))
    weights = rng.integers(1, 9, 700).astype(float)
    index = np.repeat(np.arange(700), weights.astype(int))
    for kernel in ("rbf(sigma=auto)", "standardize | rbf(sigma=auto)", "laplacian(gamma=auto)"):
        values = {"kx": kernel, "ky": "linear", "method": "knn", "k": 3}
        a = okra.Model.fit(x, okra.as_data(y).weigh(weights), values)
        b = okra.Model.fit(x[index], y[index], values)
        plain = okra.Model.fit(x, y, values)
        assert a.info["kernels"] == b.info["kernels"] != plain.info["kernels"]


def test_leave_one_out_equals_refits():
    """The closed form, where the kernel does not learn; and a selection of folds, where each
    fold has means of its own."""
    for kind, kernel in [("terms", "tanimoto"), ("strings", "spectrum(k=2) | normalize"),
                         ("vectors", "rbf(sigma=4)"), ("sequences", "position(rbf(sigma=2))")]:
        x, _, numbers = scene(kind, 2)
        y = outputs("vector", numbers, 2)[np.arange(N)]
        u = np.random.default_rng(4).uniform(0.2, 3, N)
        values = {"kx": kernel, "ky": "linear", "lambda": 0.3}
        losses = okra.Model.fit(x, y.weigh(u), values).leave(values)[1]
        for i in range(0, N, 5):
            rest = np.flatnonzero(np.arange(N) != i)
            model = okra.Model.fit(x[rest], y[rest].weigh(u[rest]), values)
            assert losses[i] == pytest.approx(model.loss(x[[i]], y[[i]]), rel=1e-9), kernel


def test_the_unit_of_weights_does_not_matter():
    rng = np.random.default_rng(8)
    x, y = okra.as_data(rng.normal(size=(20, 2))), okra.as_data(rng.normal(size=(20, 1)))
    weights = rng.integers(1, 5, 20).astype(float)
    texts = set()
    for unit in (2.0 ** -990, 2.0 ** -500, 1, 8):
        model = okra.Model.fit(x, y.weigh(unit * weights),
                               {"kx": "rbf(sigma=auto)", "ky": "linear", "lambda": 1})
        texts.add(model.info["kernels"]["x"])
    assert len(texts) == 1
    uneven = np.ones(20)
    uneven[3] = 1e300
    for heavy in (uneven, 2.0 ** 990 * weights):
        okra.Model.fit(x, y.weigh(heavy), {"kx": "rbf(sigma=auto)", "ky": "linear",
                                           "lambda": 1})


@pytest.mark.parametrize("low", ["rff(rank=16)", "nystrom(rank=8)"])
def test_moments_of_tiny_weights(low):
    rng = np.random.default_rng(9)
    x, y = rng.normal(size=(30, 2)), rng.normal(size=(30, 2))
    weights = rng.integers(1, 5, 30).astype(float)
    for more in ({}, {"center-output": True}):
        predictions = []
        for unit in (1, 2.0 ** -30, 2.0 ** -66, 2.0 ** -150):
            values = {"kx": "rbf(sigma=2)", "ky": "linear", "lambda": 0.1 * unit,
                      "low-rank-x": low, "keep-moments": True, **more}
            model = okra.Model.fit(x, okra.as_data(y).weigh(unit * weights), values)
            model = okra.Model.from_bytes(model.to_bytes())
            predictions.append(model.predict(x, {"decode": "explicit"},
                                             embedding=True).embedding())
        for other in predictions[1:]:
            assert np.allclose(other, predictions[0], rtol=0, atol=1e-12)


def test_a_function_does_not_see_pairs_of_weight_0():
    rng = np.random.default_rng(3)
    x, y, new = rng.normal(size=(12, 3)), rng.normal(size=(12, 2)), rng.normal(size=(4, 3))
    w = np.where(np.arange(12) % 4 == 1, 0, 1 + np.arange(12) / 5)
    some = w > 0

    def kernel(a, b):
        return np.exp(-((np.asarray(a)[:, None] - np.asarray(b)[None]) ** 2).sum(2) / 3)

    def dot(a, b):
        return np.asarray(a) @ np.asarray(b).T

    for kx, ky in ((kernel, "linear"), ("rbf(gamma=0.3)", dot), (kernel, dot)):
        a = okra.IOKR(kx=kx, ky=ky, lam=0.5).fit(x, y, sample_weight=w)
        b = okra.IOKR(kx=kx, ky=ky, lam=0.5).fit(x[some], y[some], sample_weight=w[some])
        assert np.array_equal(a.weights(new), b.weights(new))
        assert np.array_equal(a.predict(new), b.predict(new))
        for model in (a, b):
            model.partial_fit(new, y[:4], [1, 0, 2, 1])
            model.remove([0])
        assert np.array_equal(a.weights(new), b.weights(new))
    with pytest.raises(ValueError, match="-1"):
        okra.IOKR(kx=kernel, ky="linear", lam=0.5).fit(x, y, np.where(some, w, -1))
