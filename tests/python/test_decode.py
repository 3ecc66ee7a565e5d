"""Model.decode: weights of anyone over the training outputs."""
import numpy as np
import pytest
import scipy.sparse

import okra


@pytest.fixture(name="model")
def fixture_model():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(20, 3))
    y = np.hstack([np.sin(x[:, :1]), x[:, 1:2]])
    return okra.Model.fit(x, y, {"method": "blend", "kx": "rbf(sigma=2)", "ky": "linear",
                                 "lambda": "0.1", "trees": "5"}), rng.normal(size=(4, 3)), y


def test_own_weights_give_own_predictions(model):
    model, x, y = model
    own = model.predict(x, weights=True)
    for weights in (own.weights(), scipy.sparse.csr_matrix(own.weights())):
        np.testing.assert_allclose(model.decode(weights).objects().objects, own.weights() @ y,
                                   atol=1e-12)
        ranked = model.decode(weights, {"decode": "candidates", "top": "3"})
        want = model.predict(x, {"decode": "candidates", "top": "3"})
        assert np.array_equal(ranked.index(), want.index())


def test_shapes_are_checked(model):
    model, _, _ = model
    with pytest.raises(okra.OkraError, match="has 3 numbers, expected 20"):
        model.decode(np.ones((4, 3)))
    with pytest.raises(okra.OkraError, match="weights of 4 test points, expected 2"):
        model.decode(np.ones((4, 20)), x=np.zeros((2, 3)))
