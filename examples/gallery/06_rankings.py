"""
Predict an order
================

Which constituents stand out in a wine? Each output is a ranking of five constituents, from the one that is highest for
wines to the one that is lowest. Inputs are eight other measurements.
"""
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from okra import IOKR

wine = load_wine()
values = (wine.data - wine.data.mean(axis=0)) / wine.data.std(axis=0)
items = [0, 2, 6, 9, 12]
names = [wine.feature_names[j].split("_")[0] for j in items]
inputs = np.delete(values, items, axis=1)
ranks = 1 + np.argsort(np.argsort(-values[:, items], axis=1), axis=1)  # 1: the highest
order = np.random.default_rng(0).permutation(len(ranks))
train, test = order[:120], order[120:]

# %%
# The kernel ``kendall`` counts the pairs of items that two rankings order in the same way.
model = IOKR(ky="kendall", decode="rankings").fit(inputs[train], ranks[train].astype(float))
found = np.asarray(model.predict(inputs[test])).astype(int)
pairs = [(a, b) for a in range(5) for b in range(a)]


def agreement(one, other):
    """Share of pairs of items in the same order."""
    return np.mean([(one[:, a] < one[:, b]) == (other[:, a] < other[:, b]) for a, b in pairs])


usual = np.tile(1 + np.argsort(np.argsort(ranks[train].mean(axis=0))), (len(test), 1))
print(f"pairs in the right order: {agreement(found, ranks[test]):.2f}; "
      f"by the mean ranking: {agreement(usual, ranks[test]):.2f}")

# %%
# Where the item of a true rank was put.
places = range(1, 6)
table = np.array([[np.mean(found[ranks[test] == true] == said) for said in places] for true in places])
figure, ax = plt.subplots(figsize=(4, 3.4))
ax.imshow(table, cmap="Greens", vmin=0, vmax=1)
for (i, j), share in np.ndenumerate(table):
    ax.text(j, i, f"{share:.2f}", ha="center", va="center", color="white" if share > 0.5 else "black")
ax.set(xticks=range(5), xticklabels=range(1, 6), yticks=range(5), yticklabels=range(1, 6),
       xlabel="predicted rank", ylabel="true rank")
ax.grid(False)
plt.show()
