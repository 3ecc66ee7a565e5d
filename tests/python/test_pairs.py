"""PairRegressor against the dense product kernel in NumPy."""
import numpy as np
import pytest

import okra

RNG = np.random.default_rng(3)
X, Z = RNG.normal(size=(7, 2)), RNG.normal(size=(5, 3))
Y = np.sin(X[:, :1]) * Z[:, 0] + RNG.normal(size=(7, 5)) + 3
GAPS = np.where(RNG.random(Y.shape) < 0.3, np.nan, Y)


def rbf(a, b):
    return np.exp(-((a[:, None] - b[None]) ** 2).sum(-1) / 2)


@pytest.mark.parametrize("values", [Y, GAPS])
def test_equals_the_dense_kernel(values):
    model = okra.PairRegressor(kernel="rbf(sigma=1) * rbf(sigma=1)", lam=0.3, own=0).fit(X, Z, values)
    known = ~np.isnan(values.ravel())
    K = np.kron(rbf(X, X), rbf(Z, Z))
    mean = values.ravel()[known].mean()
    c = np.linalg.solve(K[np.ix_(known, known)] + 0.3 * np.eye(known.sum()), values.ravel()[known] - mean)
    new_x, new_z = RNG.normal(size=(3, 2)), RNG.normal(size=(4, 3))
    want = (np.kron(rbf(new_x, X), rbf(new_z, Z))[:, known] @ c + mean).reshape(3, 4)
    assert np.abs(model.predict(new_x, new_z) - want).max() < 1e-9
    fitted = (K[:, known] @ c + mean).reshape(7, 5)
    assert np.abs(model.predict() - fitted).max() < 1e-9
    given = okra.PairRegressor(kernel="precomputed * precomputed", lam=0.3, own=0).fit(rbf(X, X), rbf(Z, Z), values)
    assert np.abs(given.predict(rbf(new_x, X), rbf(new_z, Z)) - want).max() < 1e-9


def test_scores_and_intervals(tmp_path):
    model = okra.PairRegressor(setting="row", calibration=0.4).fit(X, Z, Y)
    assert set(model.scores_) == {"pair", "row", "column", "both"}
    assert model.interval(0.5) > 0
    assert model.score(X, Z, Y) > 0
    model.save(tmp_path / "m.okra")
    assert (tmp_path / "m.okra").stat().st_size > 0
    with pytest.raises(ValueError, match="expected \\(7, 5\\)"):
        model.fit(X, Z, Y[:3])


def test_loads_what_it_saves(tmp_path):
    path = tmp_path / "m.okra"
    for kernel, rows, columns in (("rbf(sigma=1) * rbf(sigma=2)", X, Z),
                                  ("precomputed * precomputed", rbf(X, X), rbf(Z, Z))):
        model = okra.PairRegressor(kernel=kernel, setting="row", calibration=0.3).fit(rows, columns, GAPS)
        model.save(path)
        again = okra.PairRegressor.load(path)
        assert again.scores_ == model.scores_ and again.setting == "row"
        assert np.array_equal(again.predict(rows[:3], columns[:2]), model.predict(rows[:3], columns[:2]))
        assert again.interval(0.5) == model.interval(0.5)
    path.write_bytes(b"no archive")
    with pytest.raises(okra.OkraError, match="m.okra"):
        okra.PairRegressor.load(path)
