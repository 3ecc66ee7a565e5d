"""
Complete a picture
==================

The upper half of a handwritten digit goes in, the lower half comes out. An output is 32 pixels at once, and they depend on
one another: that is what output kernels are for.
"""
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from okra import IOKR

images = load_digits().images / 16  # 1,797 pictures of 8 x 8 pixels
upper, lower = images[:, :4].reshape(-1, 32), images[:, 4:].reshape(-1, 32)
train, test = slice(0, 600), slice(1700, None)

# %%
# Without options okra chooses the kernel and the regularisation by leave-one-out, and remembers the choice.
mean = IOKR().fit(upper[train], lower[train])
print(mean.chosen_)

# %%
# A prediction is then a weighted mean of training pictures. Means blur. With an RBF kernel on the outputs okra predicts a
# point of that kernel's feature space, and decodes it to the nearest training picture: a sharp one.
sharp = IOKR(kx="rbf(sigma=1)", ky="rbf(sigma=1)", operator="ccov", lam=1e-4, epsilon=0.01)
sharp.fit(upper[train], lower[train])

# %%
chosen = slice(0, 10)
given = upper[test][chosen]
rows = {"given": np.hstack([given, np.full_like(given, 0.15)]),
        "mean": np.hstack([given, mean.predict(given)]),
        "nearest": np.hstack([given, sharp.predict(given)]),
        "truth": images[test][chosen].reshape(-1, 64)}
figure, axes = plt.subplots(4, 10, figsize=(7, 3.2))
for axis_row, (name, pictures) in zip(axes, rows.items()):
    axis_row[0].set_ylabel(name, rotation=0, ha="right", va="center")
    for ax, picture in zip(axis_row, pictures):
        ax.imshow(picture.reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
        ax.set(xticks=[], yticks=[])
plt.show()
