"""Prediction sets and intervals: coverage over many splits, and the forms of results."""
import numpy as np
import pytest

from okra import IOKR, UnsupportedError, labels


def _task(seed, n):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    noise = rng.normal(size=n)
    y = np.where(X[:, 0] + 0.5 * noise > 0, "right", np.where(X[:, 1] > 0, "up", "down"))
    Y = np.c_[np.sin(2 * X[:, 0]), X[:, 1]] + 0.3 * rng.normal(size=(n, 2))
    return X, y, Y


@pytest.mark.parametrize("how, least, most", [
    ("full", 0.86, 0.94), ("split", 0.86, 0.94), ("jackknife+", 0.8, 1), ("cv+", 0.8, 1)])
def test_coverage_over_many_training_sets(how, least, most):
    """400 test points in all: 0.9 has a standard error of 0.015, besides that of the sets."""
    inside, inside_interval = [], []
    for seed in range(20):
        X, y, Y = _task(seed, 100)
        fit, held, new = slice(0, 50), slice(50, 80), slice(80, 100)
        more = ({"how": "split", "calibration": (X[held], labels(y[held]))}
                if how == "split" else {"how": how})
        model = IOKR(kx="rbf(sigma=1)", ky="zero-one", lam=0.5).fit(X[fit], labels(y[fit]))
        sets = model.predict_set(X[new], alpha=0.1, **more)
        inside += [truth in list(found) for truth, found in zip(y[new], sets)]
        if how == "split":
            more["calibration"] = (X[held], Y[held])
        model = IOKR(kx="rbf(sigma=1)", ky="linear", lam=0.5).fit(X[fit], Y[fit])
        bounds = model.predict_interval(X[new], alpha=0.1, **more)
        inside_interval.append((bounds[..., 0] <= Y[new]) & (Y[new] <= bounds[..., 1]))
    assert least <= np.mean(inside) <= most
    assert least <= np.mean(inside_interval) <= most


def test_sets_are_the_candidates_above_alpha():
    X, y, _ = _task(1, 60)
    model = IOKR(kx="rbf(sigma=1)", ky="zero-one", lam=0.5).fit(X[:40], labels(y[:40]))
    classes = list(dict.fromkeys(y[:40]))
    p = model.p_values(X[40:])
    sets = model.predict_set(X[40:], alpha=0.2)
    assert p.shape == (20, len(classes)) and ((p > 0) & (p <= 1)).all()
    for row, found in zip(p, sets):
        want = [classes[i] for i in np.argsort(-row, kind="stable") if row[i] > 0.2]
        assert list(found) == want
    given = model.p_values(X[40:], candidates=labels(classes))
    np.testing.assert_array_equal(given, p)


def test_regions_and_refusals():
    X, _, Y = _task(2, 60)
    model = IOKR(kx="rbf(sigma=1)", ky="linear", lam=0.5).fit(X[:40], Y[:40])
    bounds, radius = model.predict_interval(X[40:], how="jackknife+", region=True)
    assert bounds.shape == (20, 2, 2) and radius.shape == (20,) and (radius > 0).all()
    wide = model.predict_interval(X[40:], alpha=0.001)
    assert np.isinf(wide).all()
    with pytest.raises(TypeError, match="no argument 'level'"):
        model.predict_interval(X, level=3)
    with pytest.raises(UnsupportedError, match="no joint region"):
        model.predict_interval(X, how="full", region=True)
    with pytest.raises(ValueError, match="weights have shape"):
        model.p_values(X, Y, weights=[7.0], test_weights=[1.0])
    with pytest.raises(ValueError, match="expected labels or 'class'"):
        model.p_values(X, Y, groups="clas")
    with pytest.raises(ValueError, match="go together"):
        model.p_values(X, Y, test_groups=[0] * 60)
    with pytest.raises(ValueError, match="alpha is 0"):
        model.predict_set(X, alpha=0)
    with pytest.raises(ValueError, match="pairs to calibrate with"):
        model.predict_interval(X, how="split")
