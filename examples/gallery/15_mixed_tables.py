"""
A table of everything
=====================

Numbers, texts, dates and gaps in one table, and two outputs. okra reads the frame as it is. The flats are made up here, so
that you see the rule that okra has to find.
"""
import matplotlib.pyplot as plt
import numpy as np
import pandas

from okra import IOKR

rng = np.random.default_rng(0)
n = 400
flats = pandas.DataFrame({
    "area": rng.uniform(25, 140, n).round(),
    "floor": rng.integers(0, 6, n).astype(float),
    "district": rng.choice(["harbour", "old town", "hill", "east"], n),
    "heating": rng.choice(["gas", "oil", "district heat"], n),
    "built": pandas.to_datetime(rng.integers(-20, 50, n) * 365, unit="D"),
})
age = 2020 - flats["built"].dt.year
level = flats["district"].map({"harbour": 14, "old town": 16, "hill": 18, "east": 10})
rent = level * flats["area"] - 2 * age + 10 * flats["floor"] + rng.normal(0, 40, n)
price = flats["heating"].map({"gas": 1.2, "oil": 1.6, "district heat": 1.0})
cost = price * flats["area"] + 0.4 * age + rng.normal(0, 6, n)
outputs = pandas.DataFrame({"rent": rent, "heating": cost})
for column in ("floor", "district", "built"):  # one of ten is not known
    flats.loc[rng.random(n) < 0.1, column] = None
print(flats.head(4))

# %%
model = IOKR().fit(flats[:300], outputs[:300])
found = np.asarray(model.predict(flats[300:]))
print(model.chosen_["kx"])

# %%
figure, axes = plt.subplots(1, 2, figsize=(8, 3.6))
for ax, name, said in zip(axes, outputs, found.T):
    truth = outputs[name][300:]
    ax.plot(truth, said, "o", alpha=0.6)
    ax.axline((truth.mean(), truth.mean()), slope=1, color="gray", linewidth=1)
    explained = 1 - np.mean((truth - said) ** 2) / np.var(truth)
    ax.set(title=f"{name}: R² {explained:.2f}", xlabel="truth", ylabel="predicted")
plt.show()
