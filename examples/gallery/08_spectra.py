"""
From a mass spectrum to a molecule
==================================

Spectra of known molecules teach okra what peaks say about structures. Then it ranks molecules for a spectrum that it has not
seen. The spectra were measured: 179 molecules of MassBank, one spectrum each, which come with okra.
"""
import matplotlib.pyplot as plt
import numpy as np

import okra
from okra import IOKR

spectra, molecules = okra.datasets.load_spectra()
test = np.arange(4, len(molecules), 5)  # every fifth molecule
train = np.setdiff1d(np.arange(len(molecules)), test)
model = IOKR().fit(spectra[train], molecules[train])
print(model.chosen_["kx"])
print(model.chosen_["ky"])

# %%
# All 179 molecules are ranked for each new spectrum. With ``as_new`` those that it has learned from are not favoured.
order, distance = model.rank(spectra[test], molecules, top=len(molecules), as_new=True)
ranks = np.array([1 + list(row).index(k) for row, k in zip(order, test)])
for top in (1, 5, 20):
    chance = top / len(molecules)
    print(f"right molecule among the first {top}: {np.mean(ranks <= top):.0%}, by chance {chance:.0%}")

# %%
# The shares for lists of every length.
figure, ax = plt.subplots(figsize=(6.5, 3.2))
length = np.arange(1, 51)
found = [100 * np.mean(ranks <= k) for k in length]
ax.step(length, found, where="mid", color="tab:blue", label="okra")
ax.plot(length, 100 * length / len(molecules), color="black", linewidth=1, label="by chance")
ax.set(xlabel="length of the list", ylabel="right molecule in it, %")
ax.set(xlim=(1, 50), ylim=(0, 100))
ax.legend(loc="lower right")
plt.show()
