"""
Several answers for one question
================================

In the middle of the S-shape three outputs fit one input. Regression gives their mean, which is none of them. A twin Gaussian
process looks for an output that makes the pair most like the training pairs; learned twin kernels sharpen it.
"""
import matplotlib.pyplot as plt
import numpy as np

import okra
from okra import IOKR, TwinGP, TwinKernelLearner

x, y = okra.datasets.make_s_shape(250, seed=1)
grid = np.linspace(x.min(), x.max(), 200).reshape(-1, 1)
mean = IOKR().fit(x, y)
twin = TwinGP(kx="rbf(gamma=20)", ky="rbf(gamma=5)", lam=0.01).fit(x, y)

# %%
# ``TwinKernelLearner`` learns polynomials of two kernels that make inputs and outputs depend on each other most.
learner = TwinKernelLearner(kx="rbf(gamma=20)", ky="rbf(gamma=5)", degree_x=1, degree_y=11).fit(x, y)
learned = TwinGP(kx=learner.kx_, ky=learner.ky_, lam=0.01).fit(x, y)
print(learner.ky_[:70], "...")

# %%
figure, axes = plt.subplots(1, 3, figsize=(8, 3), sharey=True)
models = {"regression": mean, "twin Gaussian process": twin, "with learned kernels": learned}
for ax, (name, model) in zip(axes, models.items()):
    ax.plot(x, y, ".", color="lightgray")
    ax.plot(grid, model.predict(grid), ".", markersize=3)
    ax.set_title(name)
    ax.set_xlabel("input")
axes[0].set_ylabel("output")
plt.show()
