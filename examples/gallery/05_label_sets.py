"""
Several labels for one object
=============================

A digit may be even, prime, larger than four, and may have a hole or be made of straight lines. From its picture okra predicts the set of what holds. A
predicted set need not be one of the training sets.
"""
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import f1_score

from okra import IOKR

digits = load_digits()
names = ["even", "prime", "above four", "has a hole", "straight"]
kinds = {"even": {0, 2, 4, 6, 8}, "prime": {2, 3, 5, 7}, "above four": {5, 6, 7, 8, 9},
         "has a hole": {0, 6, 8, 9}, "straight": {1, 4, 7}}
sets = np.array([[kind in kinds[name] for name in names] for kind in digits.target]).astype(float)
train, test = slice(0, 500), slice(1200, None)

# %%
# Rows of 0 and 1 are sets: okra sees this, and chooses the threshold of the scores too.
model = IOKR().fit(digits.data[train], sets[train])
found = np.asarray(model.predict(digits.data[test]))
scores = model.decision_function(digits.data[test])
print("F1 of each label:", dict(zip(names, f1_score(sets[test], found, average=None).round(2))))

# %%
figure, axes = plt.subplots(1, 5, figsize=(8.5, 2.4), sharey=True)
for ax, name, score, truth in zip(axes, names, scores.T, sets[test].T):
    ax.hist([score[truth == 0], score[truth == 1]], bins=20, range=(-0.5, 1.5), stacked=True,
            label=["no", "yes"])
    ax.set_title(name)
    ax.set_xlabel("score")
axes[0].set_ylabel("test digits")
axes[-1].legend(frameon=False)
plt.show()
