"""Models whose training pairs come and go, parts that become one model, Dask arrays."""
import collections
import os
import pathlib
import pickle
import re
import subprocess

import numpy as np
import pytest

import okra
from okra import IOKR, Model

OKRA = os.environ["OKRA_PROGRAM"]


def problem(n=120, d=2, seed=0):
    r = np.random.default_rng(seed)
    x = r.normal(size=(n, 4))
    return x, np.sin(x @ r.normal(size=(4, d))), r.normal(size=(9, 4))


def test_partial_fit_equals_fit():
    x, y, t = problem()
    whole = IOKR(kx="rbf(sigma=2)", lam=0.1, center_output=True).fit(x, y)
    parts = IOKR(kx="rbf(sigma=2)", lam=0.1, center_output=True)
    for begin in range(0, 120, 40):
        assert parts.partial_fit(x[begin:begin + 40], y[begin:begin + 40]) is parts
    assert parts.update_["how"] == "factor" and parts.update_["added"] == 40
    assert np.abs(parts.predict(t) - whole.predict(t)).max() < 1e-12
    assert np.abs(parts.weights(t) - whole.weights(t)).max() < 1e-12
    assert abs(parts.loo_score_ - whole.loo_score_) < 1e-12


def test_thousand_single_updates():
    """1,000 of them in a row stay within 1e-8; taking them out again gives 1e-9."""
    x, y, t = problem(1200, 1)
    whole = IOKR(kx="rbf(sigma=2)", lam=0.01).fit(x, y)
    first = IOKR(kx="rbf(sigma=2)", lam=0.01).fit(x[:200], y[:200])
    now = pickle.loads(pickle.dumps(first))
    for i in range(200, 1200):
        now.partial_fit(x[i:i + 1], y[i:i + 1])
        assert now.update_["how"] == "factor"
    assert np.abs(now.predict(t) - whole.predict(t)).max() < 1e-10  # 8e-13 measured
    now.remove(np.arange(200, 1200))
    assert np.abs(now.predict(t) - first.predict(t)).max() < 1e-10  # 0 measured


def test_added_in_the_middle_of_removals_returns():
    x, y, t = problem(300, 3)
    first = IOKR(kx="rbf(sigma=2)", lam=0.05).fit(x, y)
    now = IOKR(kx="rbf(sigma=2)", lam=0.05).fit(x, y)
    r = np.random.default_rng(5)
    for k in range(30):  # the oldest goes, and comes again at the end: a rolling window
        now.remove([0]).partial_fit(x[k:k + 1], y[k:k + 1])
    order = np.r_[30:300, 0:30]
    again = IOKR(kx="rbf(sigma=2)", lam=0.05).fit(x[order], y[order])
    assert np.abs(now.weights(t) - again.weights(t)).max() < 1e-12
    gone = r.choice(300, 100, replace=False)
    now.remove(gone)
    kept = np.delete(order, gone)
    again = IOKR(kx="rbf(sigma=2)", lam=0.05).fit(x[kept], y[kept])
    assert np.abs(now.predict(t) - again.predict(t)).max() < 1e-12
    assert np.abs(first.predict(t)).max() > 0


def test_branches_of_a_model():
    """Models that grew from one share memory, and none changes another."""
    x, y, t = problem(200)
    first = Model.fit(x[:100], y[:100], {"kx": "rbf(sigma=2)", "ky": "linear", "lambda": 0.1})
    root, _ = first.update(x[100:120], y[100:120])
    kept = root.to_bytes()
    left, _ = root.update(x[120:150], y[120:150])
    right, _ = root.update(x[150:], y[150:])
    assert root.to_bytes() == kept
    for model, rows in ((left, np.r_[0:150]), (right, np.r_[0:120, 150:200])):
        whole = Model.fit(x[rows], y[rows], {"kx": "rbf(sigma=2)", "ky": "linear",
                                             "lambda": 0.1})
        for m in (model, Model.from_bytes(model.to_bytes())):
            w = m.predict(t, {"decode": "none"}, weights=True).weights()
            want = whole.predict(t, {"decode": "none"}, weights=True).weights()
            assert np.abs(w - want).max() < 1e-12


def test_learned_weights_of_kernels_stay():
    x, y, _ = problem()
    model = IOKR(kx="align(rbf(sigma=2), linear)", lam=0.1).fit(x[:100], y[:100])
    about = model.model_.info
    model.partial_fit(x[100:], y[100:]).remove([0])
    for part in ("numbers", "texts"):
        had = {k: v for k, v in about[part].items() if k.startswith("align.")}
        assert had and all(model.model_.info[part][k] == v for k, v in had.items())


def test_objects_of_other_kinds():
    words = ["abba", "ab", "bca", "a", "cab", "bb", "acb", "ca"]
    y = [w[::-1] for w in words]
    now = IOKR(kx="spectrum(k=1)", ky="spectrum(k=1)", lam=0.1).fit(words[:5], y[:5])
    now.partial_fit(words[5:], y[5:])
    whole = IOKR(kx="spectrum(k=1)", ky="spectrum(k=1)", lam=0.1).fit(words, y)
    assert now.predict(["ba", "cc"]) == whole.predict(["ba", "cc"])
    assert np.abs(now.weights(words) - whole.weights(words)).max() < 1e-13


def test_graphs_as_outputs_are_given_back():
    networkx = pytest.importorskip("networkx")
    graphs = [networkx.path_graph(k + 2) for k in range(5)]
    for g in graphs:
        networkx.set_node_attributes(g, "a", "label")
    x = np.arange(5.0).reshape(-1, 1)
    now = IOKR(kx="rbf(sigma=0.3)", ky="wl", lam=0.01).fit(x[:3], graphs[:3])
    now.partial_fit(x[3:], graphs[3:])
    assert now.predict(x[4:])[0] is graphs[4]
    now.remove([0])
    assert now.predict(x[4:])[0] is graphs[4]


def test_others_are_fitted_anew():
    x, y, t = problem()
    now = IOKR(kx="rbf(sigma=2)", operator="cov", lam=0.1).fit(x[:100], y[:100])
    now.partial_fit(x[100:], y[100:])
    assert now.update_ == {"how": "refit", "why": "the operator is neither identity nor a matrix", "drift": 0,
                           "added": 20, "removed": 0}
    whole = IOKR(kx="rbf(sigma=2)", operator="cov", lam=0.1).fit(x, y)
    assert np.array_equal(now.predict(t), whole.predict(t))


def test_matrix_operators():
    x, y, t = problem(120, 3)
    r = np.random.default_rng(2)
    A = r.normal(size=(3, 3))
    A = A @ A.T
    w = r.integers(1, 4, 120).astype(float)
    for more in ({}, {"center_output": True}):
        make = dict(kx="rbf(sigma=2)", operator=A, lam=0.1, **more)
        whole = IOKR(**make).fit(x, y)
        slim = IOKR(**make).fit(x[:90], y[:90]).partial_fit(x[90:], y[90:])
        assert slim.update_["why"] == "the model does not keep its factor"
        assert np.array_equal(slim.predict(t), whole.predict(t))
        first = IOKR(options={"keep": "weights"}, **make).fit(x[:90], y[:90])
        now = pickle.loads(pickle.dumps(first)).partial_fit(x[90:], y[90:])
        assert now.update_["how"] == "factor"
        assert np.abs(now.predict(t) - whole.predict(t)).max() < 1e-12
        now.remove(np.arange(90, 120))
        assert np.abs(now.predict(t) - first.predict(t)).max() < 1e-12
        twice = IOKR(**make).fit(np.repeat(x, w.astype(int), 0), np.repeat(y, w.astype(int), 0))
        now = IOKR(options={"keep": "weights"}, **make).fit(x[:90], y[:90], sample_weight=w[:90])
        now.partial_fit(x[90:], y[90:], sample_weight=w[90:])
        assert now.update_["how"] == "factor"
        assert np.abs(now.predict(t) - twice.predict(t)).max() < 1e-12
    with pytest.raises(okra.OkraError, match="there are 20, expected 16 at most"):
        IOKR(kx="linear", operator=np.diag(np.arange(1.0, 21)), lam=1,
             options={"keep": "weights"}).fit(
            x, r.normal(size=(120, 20)))


def test_gram_matrices_are_refused():
    x, y, _ = problem()
    now = IOKR(kx="precomputed", lam=0.1).fit(x @ x.T, y)
    with pytest.raises(okra.OkraError, match="Gram matrix"):
        now.remove([0])
    with pytest.raises(ValueError, match="expected integers"):
        now.remove([0.5])


# ---- low rank ------------------------------------------------------------------------

LOW = ["nystrom(rank=30)", "chol(rank=30)", "rff(rank=30)", "sketch(rank=30)",
       "nystrom(rank=30,pivots=centres)"]
OPERATORS = [{}, {"center-output": True}, {"operator": "cov"},
             {"operator": "ccov", "epsilon": 0.1, "center-output": True}]


@pytest.mark.parametrize("low", LOW)
@pytest.mark.parametrize("more", OPERATORS)
def test_eight_parts_are_one_fit(low, more):
    x, y, t = problem(400, 3)
    basis = Model.basis(x[::5], {"kx": "rbf(sigma=2)", "low-rank-x": low})
    values = {"ky": "linear", "lambda": 0.05, "keep-moments": True, **more}
    parts = [Model.fit(x[k::8], y[k::8], values, basis=basis) for k in range(8)]
    order = np.concatenate([np.arange(k, 400, 8) for k in range(8)])
    whole = Model.fit(x[order], y[order], values, basis=basis)
    merged = Model.merge(parts)

    def h(model):
        return model.predict(t, {"decode": "none"}, embedding=True).embedding()

    scale = np.abs(h(whole)).max()
    assert np.abs(h(merged) - h(whole)).max() < 1e-12 * scale
    assert merged.to_bytes() == Model.merge(parts).to_bytes()
    assert merged.to_bytes() == Model.merge([Model.merge(parts[:3])] + parts[3:]).to_bytes()
    assert np.array_equal(merged.outputs.objects, y[order])
    # one by one, and out again
    now, report = parts[0].update(x[1::8], y[1::8])
    assert report["how"] == "moments"
    assert np.abs(h(now) - h(Model.merge(parts[:2]))).max() < 1e-12 * scale
    back, report = now.update(remove=np.arange(50, 100), removed_x=x[1::8])
    assert np.abs(h(back) - h(parts[0])).max() < 1e-11 * scale
    assert report["drift"] < 1e-14


def test_estimators_with_moments():
    x, y, t = problem(200)
    make = dict(kx="rbf(sigma=2)", ky="linear", lam=0.05, low_rank_x="chol(rank=20)",
                keep_moments=True)
    now = IOKR(**make).fit(x[:150], y[:150]).partial_fit(x[150:], y[150:])
    assert now.update_["how"] == "moments" and len(now.model_) == 200
    rows = np.arange(120, 150)
    now.remove(rows, x[rows])
    kept = np.r_[0:120, 150:200]
    basis = IOKR(**make).fit(x[:150], y[:150]).model_
    want = Model.fit(x[kept], y[kept], {"ky": "linear", "lambda": 0.05}, basis=basis)
    h = want.predict(t, {"decode": "none"}, embedding=True).embedding()
    assert np.abs(now.predict(t) - h).max() < 1e-11
    with pytest.raises(ValueError, match="removed-x"):
        now.remove([0])
    slim = IOKR(**{**make, "keep_moments": None}).fit(x, y)
    with pytest.raises(okra.OkraError, match="keep-moments"):
        slim.partial_fit(x, y)


def test_subtracting_nearly_all_warns():
    x, y, _ = problem(60)
    x[:50] *= 1e5
    model = Model.fit(x, y, {"kx": "linear", "lambda": 0.1, "keep-moments": True,
                             "low-rank-x": "chol(rank=3)"})
    with pytest.warns(okra.OkraWarning, match="rounding in the moments has added up"):
        model.update(remove=np.arange(50), removed_x=x[:50])


def test_parts_that_do_not_go_together():
    x, y, _ = problem()
    basis = Model.basis(x, {"kx": "rbf(sigma=2)", "low-rank-x": "nystrom(rank=9)"})
    other = Model.basis(x[:50], {"kx": "rbf(sigma=2)", "low-rank-x": "nystrom(rank=9)"})
    values = {"lambda": 0.1, "keep-moments": True}
    a = Model.fit(x, y, values, basis=basis)
    with pytest.raises(ValueError, match="the objects of the basis"):
        Model.merge([a, Model.fit(x, y, values, basis=other)])
    with pytest.raises(ValueError, match="differ in option lambda"):
        Model.merge([a, Model.fit(x, y, {**values, "lambda": 1}, basis=basis)])
    with pytest.raises(ValueError, match="model 2 keeps no moments"):
        Model.merge([a, Model.fit(x, y, {"lambda": 0.1}, basis=basis)])
    with pytest.raises(ValueError, match="there are no models"):
        Model.merge([])
    with pytest.raises(ValueError, match="leave it out"):
        Model.fit(x, y, {**values, "kx": "linear"}, basis=basis)
    with pytest.raises(okra.OkraError, match="the basis was made of"):
        Model.fit(x[:, :3], y, values, basis=basis)
    with pytest.raises(ValueError, match="keeps no basis"):
        Model.fit(x, y, values, basis=Model.fit(x, y, {"lambda": 0.1}))
    with pytest.raises(ValueError, match="keep-moments needs low-rank-x"):
        Model.fit(x, y, values)
    with pytest.raises(ValueError, match="no use for option lambda"):
        Model.basis(x, {"kx": "linear", "low-rank-x": "chol(rank=3)", "lambda": 1})


def test_basis_predicts_features():
    x, _, t = problem()
    for low in LOW:
        basis = Model.basis(x, {"kx": "rbf(sigma=2)", "low-rank-x": low})
        f = basis.predict(t, {"decode": "none"}, embedding=True).embedding()
        K = okra.gram_matrix("rbf(sigma=2)", t)
        assert f.shape[0] == len(t)
        if low.startswith("rff"):
            assert np.allclose((f * f).sum(1), 1)
        else:  # no features have more than the whole
            assert ((f * f).sum(1) < np.diag(K) + 1e-9).all()


# ---- Dask ----------------------------------------------------------------------------

def test_dask_arrays():
    da = pytest.importorskip("dask.array")
    x, y, t = problem(1000)
    make = dict(kx="rbf(sigma=2)", lam=0.05, low_rank_x="nystrom(rank=40)")
    lazy = IOKR(**make).fit(da.from_array(x, chunks=(300, 2)), da.from_array(y, chunks=170))
    basis = Model.basis(x, {"kx": "rbf(sigma=2)", "low-rank-x": "nystrom(rank=40)"})
    whole = Model.fit(x, y, {"ky": "linear", "lambda": 0.05}, basis=basis)
    h = whole.predict(t, {"decode": "none"}, embedding=True).embedding()
    assert np.abs(lazy.predict(t) - h).max() < 1e-12
    later = lazy.predict(da.from_array(t, chunks=4))
    assert later.shape == (9, 2) and np.abs(later.compute() - h).max() < 1e-12
    flat = IOKR(**make).fit(da.from_array(x, chunks=400), y[:, 0])
    assert flat.predict(da.from_array(t, chunks=4)).compute().shape == (9,)
    with pytest.raises(ValueError, match="needs low_rank_x"):
        IOKR(kx="linear", lam=1).fit(da.from_array(x), y)
    with pytest.raises(ValueError, match="lam is 'auto'"):
        IOKR(kx="linear", low_rank_x="chol(rank=3)").fit(da.from_array(x), y)


def test_dask_weights():
    """2 is the row twice, 0 no such row; parts of zeros alone are none."""
    da = pytest.importorskip("dask.array")
    x, y, t = problem(200)
    w = np.random.default_rng(2).integers(0, 3, 200).astype(float)
    w[50:100] = 0
    make = dict(kx="rbf(sigma=2)", lam=0.05, low_rank_x="nystrom(rank=20)")
    parts = [da.from_array(v, chunks=50) for v in (x, y, w)]
    lazy = IOKR(**make).fit(parts[0], parts[1], sample_weight=parts[2])
    assert len(lazy.model_) == (w > 0).sum()
    basis = Model.basis(x[w > 0], {"kx": "rbf(sigma=2)", "low-rank-x": "nystrom(rank=20)"})
    rows = np.repeat(np.arange(200), w.astype(int))
    whole = Model.fit(x[rows], y[rows], {"ky": "linear", "lambda": 0.05}, basis=basis)
    h = whole.predict(t, {"decode": "none"}, embedding=True).embedding()
    assert np.abs(lazy.predict(t) - h).max() < 2e-11  # 1.6e-12 measured: the basis
    again = IOKR(**make).fit(parts[0], parts[1], sample_weight=w)
    assert np.array_equal(again.predict(t), lazy.predict(t))
    for wrong in (w[:3], -w, 0 * w):
        with pytest.raises(ValueError, match="sample_weight"):
            IOKR(**make).fit(parts[0], parts[1], sample_weight=wrong)
    with pytest.raises(ValueError, match="for data in memory"):
        IOKR(**make).fit(parts[0], parts[1], calibration=0.1)


def test_dask_frames():
    dd = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    x, y, t = problem(90)
    frame = dd.from_pandas(pandas.DataFrame(x), npartitions=4)
    model = IOKR(kx="rbf(sigma=2)", lam=0.05, low_rank_x="chol(rank=9)").fit(frame, y)
    assert len(model.model_) == 90 and model.predict(t).shape == (9, 2)


# ---- the examples of the page ----

def block(text):
    """The Python block of docs/updates.md that holds this text."""
    page = pathlib.Path(__file__).parents[2] / "docs" / "updates.md"
    found = [b for b in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
             if text in b]
    assert len(found) == 1
    return found[0]


def test_example_of_updates():
    x, y, _ = problem()
    names = {"okra": okra, "X": x[:100], "Y": y[:100], "X_new": x[100:], "Y_new": y[100:],
             "A": np.eye(2)}
    code = block("model.partial_fit")
    exec(code.replace("rbf(sigma=0.3)", "rbf(sigma=2)"), names)
    assert names["model"].operator is names["A"]


def test_example_of_dask(monkeypatch):
    dask = pytest.importorskip("dask")
    da = pytest.importorskip("dask.array")
    x, y, t = problem(800)
    monkeypatch.setattr(da, "from_zarr", lambda name: da.from_array(
        {"x.zarr": x, "y.zarr": y}[name], chunks=(200, 2)))
    names = {"okra": okra, "dask": dask, "X_new": da.from_array(t, chunks=4)}
    exec(block("from_zarr"), names)
    assert names["model"].predict(t).shape == (9, 2) and len(names["model"].model_) == 800


def test_example_of_spark():
    """mapPartitions pickles what it is given and what it gets."""
    x, y, t = problem(600)
    Row = collections.namedtuple("Row", "x y")

    class Frame:
        rdd = property(lambda self: self)

        def mapPartitions(self, function):
            self.parts = []
            for begin in range(0, 600, 150):
                rows = [Row(*pair) for pair in zip(x[begin:begin + 150], y[begin:begin + 150])]
                self.parts += [pickle.dumps(m) for m in function(iter(rows))]
            return self

        def collect(self):
            return [pickle.loads(p) for p in self.parts]

    names = {"okra": okra, "np": np, "sample": x[::2], "frame": Frame()}
    exec(block("mapPartitions"), names)
    basis = Model.basis(x[::2], {"kx": "rbf(sigma=4)", "low-rank-x": "nystrom(rank=500)"})
    whole = Model.fit(x, y, {"ky": "linear", "lambda": 0.1}, basis=basis)
    h, want = (m.predict(t, {"decode": "none"}, embedding=True).embedding()
               for m in (names["model"], whole))
    assert np.abs(h - want).max() < 1e-10 * np.abs(want).max()


# ---- the same files ------------------------------------------------------------------

def test_command_line_gives_the_same_model(tmp_path):
    x, y, _ = problem()
    np.save(tmp_path / "x.npy", x[:100])
    np.save(tmp_path / "y.npy", y[:100])
    np.save(tmp_path / "x2.npy", x[100:])
    np.save(tmp_path / "y2.npy", y[100:])
    (tmp_path / "rows.txt").write_text("3\n1\n")

    def run(*arguments):
        subprocess.run([OKRA, *arguments, "-q"], cwd=tmp_path, check=True)

    run("fit", "--x", "x.npy", "--y", "y.npy", "--kx", "rbf(sigma=2)", "--ky", "linear",
        "--lambda", "0.1", "-o", "m.okra")
    run("update", "m.okra", "--x", "x2.npy", "--y", "y2.npy", "--remove", "rows.txt", "-o",
        "m2.okra")
    now, _ = Model.load(tmp_path / "m.okra").update(x[100:], y[100:], remove=[3, 1])
    assert (tmp_path / "m2.okra").read_bytes() == now.to_bytes()


# ---- weights -------------------------------------------------------------------------

@pytest.mark.parametrize("more", [{}, {"center_output": True}, {"ky": "rbf(sigma=1)"},
                                  {"low_rank_x": "chol(rank=200)", "keep_moments": True},
                                  {"low_rank_x": "chol(rank=200)", "keep_moments": True,
                                   "operator": "ccov", "center_output": True}])
def test_weights_come_and_go(more):
    x, y, t = problem(90)
    w = np.random.default_rng(3).integers(0, 4, 90).astype(float)
    w[:5] = 1, 2, 0.5, 3, 1
    make = {"kx": "rbf(sigma=2)", "ky": "linear", "lam": 0.1, **more}
    now = IOKR(**make).fit(x[:60], y[:60], sample_weight=w[:60])
    first = now.predict(t) if "rbf" not in make["ky"] else now.weights(t)
    n = len(now.model_)
    assert n == (w[:60] > 0).sum()
    now.partial_fit(x[60:], y[60:], sample_weight=w[60:])
    low = "low_rank_x" in make
    assert now.update_["how"] == ("moments" if low else "factor")
    kept = w > 0
    if low:
        whole = Model.fit(x[kept], okra.as_data(y[kept]).weigh(w[kept]), {
            "ky": "linear", "lambda": 0.1, **{k.replace("_", "-"): v for k, v in more.items()
                                             if k != "low_rank_x"}},
            basis=IOKR(**make).fit(x[:60], y[:60], sample_weight=w[:60]).model_)
        want = whole.predict(t, {"decode": "none"}, embedding=True).embedding()
    else:
        whole = IOKR(**make).fit(x, y, sample_weight=w)
        want = whole.predict(t) if "rbf" not in make["ky"] else whole.weights(t)
    got = now.predict(t) if "rbf" not in make["ky"] else now.weights(t)
    assert np.abs(got - want).max() < 1e-10 * np.abs(want).max()
    again = pickle.loads(pickle.dumps(now))
    gone = np.arange(n, len(now.model_))
    again.remove(gone, x[60:][w[60:] > 0] if low else None)
    back = again.predict(t) if "rbf" not in make["ky"] else again.weights(t)
    assert np.abs(back - first).max() < 1e-9 * np.abs(first).max()
