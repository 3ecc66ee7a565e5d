"""
Read words from pictures of their letters
=========================================

Each input is a sequence of pictures, each output a text of the same length. The pictures are handwritten digits, the words
are years between 1950 and 2029: some figures follow others, and a reader that knows this errs less.
"""
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from okra import ConstrainedRegression, M3N

digits = load_digits()
rng = np.random.default_rng(0)


def written(year, pool):
    """A handwritten picture for each figure of the year, with noise."""
    kinds = digits.target[pool]
    pictures = [digits.data[rng.choice(pool[kinds == int(figure)])] for figure in year]
    return np.array(pictures) / 16 + 0.3 * rng.normal(size=(len(year), 64))


early, late = np.arange(900), np.arange(900, 1797)  # other writers
years = [str(year) for year in rng.integers(1950, 2030, size=160)]
images = [written(year, early if k < 100 else late) for k, year in enumerate(years)]

# %%
# One figure by itself, then whole words: M3N learns figures and their transitions together.
alone = ConstrainedRegression(reach=0).fit(images[:100], years[:100])
whole = M3N(lam=0.05, tolerance=0.03).fit(images[:100], years[:100])
scores = {"figure by figure": alone.score(images[100:], years[100:]),
          "whole words": whole.score(images[100:], years[100:])}
for name, score in scores.items():
    print(f"{name}: {100 * score:.0f} % of the figures are right")

# %%
shown = range(100, 108)
single, words = alone.predict(images[100:108]), whole.predict(images[100:108])
figure, axes = plt.subplots(2, 4, figsize=(7, 2.9))
for ax, k, one, other in zip(axes.flat, shown, single, words):
    ax.imshow(np.hstack(images[k].reshape(-1, 8, 8)), cmap="gray_r", vmin=0, vmax=1)
    ax.set(xticks=[], yticks=[])
    ax.set_xlabel(f"{one} → {other}", color="tab:green" if other == years[k] else "tab:red")
figure.suptitle("figure by figure → whole words; green: right", fontsize=11)
plt.show()
