"""Figures with matplotlib against their data; pandas out; notebooks."""
import numpy as np
import pytest

import okra
from okra import IOKR, IOKRCV

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plot = pytest.importorskip("okra.plot")


@pytest.fixture(autouse=True)
def closed():
    yield
    import matplotlib.pyplot as plt
    plt.close("all")


def test_areas_are_those_that_are_told():
    from sklearn.metrics import average_precision_score, roc_auc_score
    rng = np.random.default_rng(0)
    truth = rng.random(3000) < 0.03
    scores = np.round(rng.normal(size=3000) + truth, 1)  # with ties
    line = plot.ranking(truth, scores).lines[0]
    assert line.get_drawstyle() == "steps-pre"
    x, y = line.get_data()
    assert np.isclose(np.sum(np.diff(x) * y[1:]), average_precision_score(truth, scores))
    x, y = plot.ranking(truth, scores, roc=True).lines[0].get_data()
    assert np.isclose(np.trapz(y, x), roc_auc_score(truth, scores))
    with pytest.raises(ValueError, match="3 truths and 2 scores"):
        plot.ranking([0, 1, 1], [1, 2])


def test_every_figure_is_its_data():
    ax = plot.figure({"type": "curve", "title": "t", "x_label": "a", "log_x": True,
                      "series": [{"name": "s", "x": [0, 0.1, 10], "y": [1, None, 3],
                                  "sd": [0.1, 0, 0.2]}]})
    assert np.array_equal(ax.lines[0].get_xdata(), [0, 0.1, 10])
    assert ax.get_xscale() == "symlog" and ax.get_title() == "t"
    ax = plot.figure({"type": "scatter", "series": [{"x": [1, 2], "y": [3, 4]}]})
    assert np.array_equal(ax.lines[0].get_ydata(), [3, 4])
    ax = plot.figure({"type": "bars", "labels": ["p", "q"], "series": [
        {"name": "a", "y": [1, -2]}, {"name": "b", "y": [3, 4]}]})
    assert [p.get_height() for p in ax.patches] == [1, -2, 3, 4]
    ax = plot.figure({"type": "heatmap", "x": [1, 2], "y": ["u"], "values": [[5, 6]]})
    assert np.array_equal(ax.images[0].get_array(), [[5, 6]])
    ax = plot.figure({"type": "images", "rows": 2, "cols": 1, "columns": ["a", "b"],
                      "images": [[[0, 1], [1, 0]]]})
    assert np.array_equal(ax.images[0].get_array().filled(9), [[0, 9, 1], [1, 9, 0]])
    ax = plot.figure({"type": "network", "nodes": 3, "panels": [
        {"name": "known", "edges": [[0, 2]]}]})
    assert sorted(ax.lines[0].get_xdata()) == [0, 2]
    ax = plot.figure({"type": "curve", "series": [{"name": "s", "x": [1, 2], "y": [3, -4],
                                                   "stems": True}]})
    assert [p.tolist() for p in ax.collections[0].get_segments()] == [
        [[1, 0], [1, 3]], [[2, 0], [2, -4]]]
    ax = plot.figure({"type": "molecules", "items": [
        {"smiles": "C=O", "label": "1. CH2O", "atoms": [[0, 0, ""], [1, 1, "O"]],
         "bonds": [[0, 1, 2]]}, {"smiles": "no molecule", "label": "2."},
        {"smiles": "CCO", "label": "3."}]})
    one, other = (np.array(line.get_data()) for line in ax.lines[:2])  # a double bond: two lines
    assert np.allclose((one + other) / 2, [[-1 / 1.4, 1 / 1.4]] * 2) and len(ax.lines) > 2
    words = [t.get_text() for t in ax.texts]
    assert "O" in words and any("no molecule" in w for w in words)
    with pytest.raises(ValueError, match="of type 'pie' cannot be drawn"):
        plot.figure({"type": "pie"})
    assert len(plot.figures({"figures": [
        {"type": "scatter", "series": [{"x": [1], "y": [1]}]}]})) == 1
    ax = plot.figure({"type": "network", "nodes": 4, "panels": [
        {"name": "predicted", "edges": [[0, 1]], "new": [[2, 3], [1, 2]]}]})
    known, fresh = ax.get_lines()
    assert sorted(zip(*known.get_data())) == [(0, 1), (1, 0)]
    assert sorted(zip(*fresh.get_data())) == [(1, 2), (2, 1), (2, 3), (3, 2)]
    assert fresh.get_label() == "predicted, new edges"


def test_selections():
    X, Y = okra.datasets.make_patterns(40, seed=0)
    model = IOKRCV(kx=["linear", "rbf(sigma=4)"], lam=[0.01, 0.1, 1]).fit(X, Y)
    axes = plot.selection(model)
    assert axes.get_ylabel() == "mean squared distance in feature space"  # not "feature-loss"
    x, y = axes.lines[0].get_data()
    assert np.allclose(x, [0.01, 0.1, 1])
    cells = model.selection_["cells"]
    assert np.allclose(y, [min(c["mean"] for c in cells if float(
        c["settings"]["lambda"]) == v) for v in (0.01, 0.1, 1)])
    assert len(plot.selection(model, "kx").patches) == 2
    with pytest.raises(ValueError, match="did not set 'epsilon'"):
        plot.selection(model, "epsilon")


def test_pandas_in_and_out():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(20, 2)), columns=["u", "v"], index=range(100, 120))
    Y = pd.DataFrame({"sum": X.u + X.v, "product": X.u * X.v})
    model = IOKR(kx="rbf(sigma=1)", lam=0.1).fit(X, Y)
    plain = model.predict(X)
    assert isinstance(plain, np.ndarray)
    framed = model.set_output(predict="pandas").predict(X[3:7])
    assert list(framed.columns) == ["sum", "product"]
    assert list(framed.index) == [103, 104, 105, 106]
    assert np.array_equal(framed.to_numpy(), plain[3:7])
    flat = IOKR(kx="rbf(sigma=1)", lam=0.1).set_output(predict="pandas").fit(X, Y["sum"])
    series = flat.predict(X)
    assert series.name == "sum" and list(series.index) == list(X.index)
    assert isinstance(flat.set_output(predict="default").predict(X), np.ndarray)
    with pytest.raises(ValueError, match="expected 'default' or 'pandas'"):
        model.set_output(predict="polars")


def test_notebooks():
    X, Y = okra.datasets.make_patterns(20, seed=0)
    model = IOKR(kx="rbf(sigma=4)", ky="rbf(sigma=7)", lam=0.1).fit(X, Y)
    assert "rbf(sigma=4)" in repr(model.model_)
    html = model.model_._repr_html_()
    assert "<table>" in html and "rbf(sigma=7)" in html and "20 dense, width 128" in html
    assert "IOKR" in model._repr_html_()


def test_plot_is_there_without_importing_it():
    import subprocess
    import sys
    subprocess.run([sys.executable, "-c", "import okra; okra.plot.selection"], check=True)
