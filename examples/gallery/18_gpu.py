"""
On a GPU
========

This example is shown, not run: it needs an NVIDIA GPU. ``engine="cuda"`` is all that changes. Where the GPU cannot be used
okra says why; it never computes elsewhere in silence.
"""
import numpy as np

from okra import IOKR

rng = np.random.default_rng(0)
X = rng.normal(size=(25_000, 50))
Y = np.sin(X @ rng.normal(size=(50, 100)) / 4)

# %%
# The model is an ordinary one: it can be saved, and used where there is no GPU.
model = IOKR(kx="rbf(sigma=10)", lam=0.1, engine="cuda").fit(X[:20_000], Y[:20_000])
found = model.predict(X[20_000:])
print(found.shape)
model.save("model.okra")

# %%
# :doc:`/cuda` says which computations move there, and :doc:`/reports/benchmarks-cuda` what it gains.
