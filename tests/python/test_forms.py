"""What a loaded or unpickled estimator predicts: the type, shape, names and numbers of before."""
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_multilabel_classification

import okra
from okra import IOKR

rng = np.random.default_rng(3)
X = rng.normal(size=(40, 3))
SETS = make_multilabel_classification(40, 3, n_classes=4, random_state=0)[1]
GIVEN = {"lam": 0.1, "kx": "rbf(sigma=1)"}


def same(a, b):
    assert type(a) is type(b)
    if isinstance(a, pd.DataFrame):
        pd.testing.assert_frame_equal(a, b)
    elif isinstance(a, pd.Series):
        pd.testing.assert_series_equal(a, b)
    elif isinstance(a, np.ndarray):
        assert a.dtype == b.dtype and a.shape == b.shape
        np.testing.assert_array_equal(a, b)
    else:
        assert a == b


CASES = {
    "flat": (X[:, 0] ** 2, {}, np.float64),
    "matrix": (X[:, :2], {}, np.float64),
    "float32": ((X[:, 0] ** 2).astype(np.float32), {}, np.float32),
    "truth": (X[:, 0] > 0, {}, bool),
    "classes": (np.array(["a", "b"])[(X[:, 0] > 0) * 1], {}, None),
    "whole classes": (okra.labels((X[:, 0] > 0) * 2 + 3), {}, np.int64),
    "chosen sets": (SETS.astype(np.int32), {"lam": "auto"}, np.int32),
    "truth sets": (SETS > 0, {"lam": "auto"}, bool),
    "int sets": (SETS.astype(np.int32), {"ky": "tanimoto"}, np.int32),
    "texts": ([f"w{i}ed" for i in range(40)], {"ky": "ssk"}, None),
}


@pytest.mark.parametrize("name", CASES)
def test_saved_and_loaded(name, tmp_path):
    y, more, dtype = CASES[name]
    model = IOKR(**{**GIVEN, **more}).fit(X, y)
    before = model.predict(X[:7])
    if dtype is not None:
        assert before.dtype == dtype
    model.save(tmp_path / "m.okra")
    same(before, IOKR.load(tmp_path / "m.okra").predict(X[:7]))
    same(before, pickle.loads(pickle.dumps(model)).predict(X[:7]))


@pytest.mark.parametrize("y", [pd.DataFrame(X[:, :2], columns=["a", "b"]), pd.Series(X[:, 0], name="price")])
def test_frames(y, tmp_path):
    model = IOKR(**GIVEN).fit(pd.DataFrame(X, columns=list("uvw")), y).set_output(predict="pandas")
    new = pd.DataFrame(X[:5], columns=list("uvw"), index=list("abcde"))
    model.save(tmp_path / "m.okra")
    same(model.predict(new), IOKR.load(tmp_path / "m.okra").predict(new))
    same(model.predict(new), pickle.loads(pickle.dumps(model)).predict(new))


def test_of_the_program(tmp_path):
    """A file without a note, and one with somebody else's, load as before."""
    model = IOKR(**GIVEN).fit(X, X[:, 0])
    for note in (None, "[1]", "not JSON", '{"python": 3}'):
        model.model_.save(tmp_path / "m.okra", note=note)
        assert IOKR.load(tmp_path / "m.okra").predict(X[:2]).shape == (2, 1)
    assert okra.Model.load(tmp_path / "m.okra").info["note"] == '{"python": 3}'


def test_size_of_pickles():
    """Coefficients alone where outputs are explicit; the factor is made again for weights."""
    rows = rng.normal(size=(1500, 20))
    model = IOKR(kx="rbf(sigma=4)", ky="linear", lam=0.1).fit(rows, rows[:, 0] * rows[:, 1])
    content = pickle.dumps(model)
    assert len(content) < 400_000  # the factor has 18 million bytes
    again = pickle.loads(content)
    np.testing.assert_array_equal(again.predict(rows[:9]), model.predict(rows[:9]))
    np.testing.assert_allclose(again.weights(rows[:9]), model.weights(rows[:9]), rtol=1e-9, atol=1e-12)
    again.partial_fit(rows[:2], rows[:2, 0])
    model.partial_fit(rows[:2], rows[:2, 0])
    np.testing.assert_allclose(again.predict(rows[:9]), model.predict(rows[:9]), rtol=1e-7)
    kept = IOKR(kx="rbf(sigma=4)", ky="linear", lam=0.1, options={"keep": "weights"}).fit(rows, rows[:, 0])
    assert len(pickle.dumps(kept)) > 10_000_000


def test_header(tmp_path):
    path = tmp_path / "v.tsv"
    path.write_text("walk\twalked\ntalk\ttalked\n")
    with pytest.warns(okra.OkraWarning, match="taken as a row"):
        assert len(okra.read(f"{path}:1")) == 2
    assert okra.read(f"strings:{path}:1", header=True).objects == ["talk"]
    assert okra.read(f"strings:{path}:1", header=False).objects == ["walk", "talk"]


def test_mixed_frame(tmp_path):
    """Numbers, classes, dates and gaps, as the program reads the table of them."""
    n = 150
    town = rng.choice(["Paris", "Rome", "Oslo"], n)
    frame = pd.DataFrame({"size": rng.uniform(20, 90, n), "age": rng.integers(0, 50, n).astype(float), "town": town,
                          "sold": pd.to_datetime("2024-01-01") + pd.to_timedelta(rng.integers(0, 90, n), "D")})
    price = frame["size"] + pd.Series(town).map({"Paris": 30, "Rome": 10, "Oslo": 20}) - 0.2 * frame["age"]
    frame.loc[::9, "age"] = np.nan
    model = IOKR().fit(frame[:100], price[:100])
    assert model.score(frame[100:], price[100:]) > 0.9
    assert model.predict(frame[100:103]).shape == (3,)
    model.save(tmp_path / "m.okra")
    again = IOKR.load(tmp_path / "m.okra")
    np.testing.assert_allclose(again.predict(frame[100:]), model.predict(frame[100:]))
    np.testing.assert_allclose(pickle.loads(pickle.dumps(model)).predict(frame[100:]), model.predict(frame[100:]))
