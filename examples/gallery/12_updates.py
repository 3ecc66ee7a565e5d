"""
Learn more without starting again
=================================

New pairs arrive every day. ``partial_fit`` adds them to a fitted model in a fraction of the time of a new fit, and gives the
same predictions. ``remove`` takes pairs away again.
"""
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from okra import IOKR

images = load_digits().images / 16
upper, lower = images[:, :4].reshape(-1, 32), images[:, 4:].reshape(-1, 32)
test = slice(1500, None)
settings = dict(kx="rbf(sigma=1.2)", lam=0.05)
model = IOKR(**settings).fit(upper[:100], lower[:100])
counts, errors = [100], [np.mean((model.predict(upper[test]) - lower[test]) ** 2)]
for start in range(100, 1100, 100):
    model.partial_fit(upper[start:start + 100], lower[start:start + 100])
    counts.append(start + 100)
    errors.append(np.mean((model.predict(upper[test]) - lower[test]) ** 2))

# %%
# The same as one fit of everything:
again = IOKR(**settings).fit(upper[:1100], lower[:1100])
apart = np.abs(again.predict(upper[test]) - model.predict(upper[test])).max()
print(f"largest difference below 1e-10: {apart < 1e-10}")

# %%
# Somebody asks you to forget the first hundred pairs:
model.remove(range(100))
without = IOKR(**settings).fit(upper[100:1100], lower[100:1100])
apart = np.abs(without.predict(upper[test]) - model.predict(upper[test])).max()
print(f"largest difference below 1e-10: {apart < 1e-10}")

# %%
figure, ax = plt.subplots(figsize=(5.5, 3.2))
ax.plot(counts, errors, "o-")
ax.set(xlabel="pairs learned", ylabel="mean squared error, new digits", ylim=(0, None))
plt.show()
