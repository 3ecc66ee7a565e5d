"""
Sets that hold the truth
========================

One answer or several? A conformal set holds every digit that cannot be excluded, and holds the true one with a probability
that you choose. Where the picture is clear the set has one digit.
"""
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import okra
from okra import IOKR

digits = load_digits()
rng = np.random.default_rng(0)
pictures = digits.data / 16 + 0.25 * rng.normal(size=digits.data.shape)  # noise makes it hard
order = rng.permutation(len(pictures))  # the promise holds for test pictures like the training ones
train, test = order[:400], order[400:700]
model = IOKR().fit(pictures[train], okra.labels(digits.target[train]))

# %%
# ``alpha`` is the share of sets that may miss the truth.
for alpha in (0.02, 0.05, 0.2):
    sets = model.predict_set(pictures[test], alpha=alpha)
    held = np.mean([truth in one for truth, one in zip(digits.target[test], sets)])
    size = np.mean([len(one) for one in sets])
    print(f"alpha {alpha}: {held:.0%} of the sets hold the truth, {size:.2f} digits on average")

# %%
sets = model.predict_set(pictures[test], alpha=0.02)
sizes = np.array([len(one) for one in sets])
shown = [*np.flatnonzero(sizes == 1)[:5], *np.flatnonzero(sizes == 2)[:5], *np.argsort(-sizes)[:5]]
figure, axes = plt.subplots(3, 5, figsize=(6.5, 4.6))
for ax, k in zip(axes.flat, shown):
    ax.imshow(pictures[test][k].reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
    ax.set(xticks=[], yticks=[])
    ax.set_xlabel("{" + ", ".join(map(str, sorted(sets[k]))) + "}",
                  color="tab:green" if digits.target[test][k] in sets[k] else "tab:red")
figure.suptitle("sets that hold the truth with probability 0.98", fontsize=11)
plt.show()
