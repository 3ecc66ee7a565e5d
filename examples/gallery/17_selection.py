"""
Compare settings
================

``IOKRCV`` compares kernels and regularisation. Leave-one-out has a closed form: all values of λ cost one decomposition a
kernel, so a large grid takes seconds.
"""
import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes

import okra
from okra import IOKRCV

X, y = load_diabetes(return_X_y=True)
X = X / X.std(axis=0)
model = IOKRCV(kx="rbf(sigma={4,8,16,32,64})", lam="1e-4..1e2").fit(X[:300], y[:300])
print(model.best_params_)
print(f"R² on new patients: {model.score(X[300:], y[300:]):.2f}")

# %%
figure, axes = plt.subplots(1, 2, figsize=(8, 3.4))
okra.plot.selection(model, ax=axes[0])
okra.plot.selection(model, "kx", ax=axes[1])
plt.show()
