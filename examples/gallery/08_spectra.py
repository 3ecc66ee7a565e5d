"""
From a mass spectrum to a molecule
==================================

Spectra of known molecules teach okra what peaks say about structures. Then it ranks candidates for a spectrum that it has
not seen. The spectra are made up for this page: fragments that the molecules may be expected to give, with invented
intensities. Nothing was measured.
"""
import matplotlib.pyplot as plt
import numpy as np

import okra
from okra import IOKR

# name, SMILES, precursor [M+H]+, m/z and intensity of the main fragments
library = [
    ("caffeine", "Cn1cnc2c1c(=O)n(C)c(=O)n2C", 195.0877, [(138.0662, 100), (110.0713, 30), (83.0604, 8), (69.0447, 12)]),
    ("theophylline", "Cn1c2nc[nH]c2c(=O)n(C)c1=O", 181.0720, [(124.0505, 100), (96.0556, 35), (69.0447, 15)]),
    ("theobromine", "Cn1cnc2c1c(=O)[nH]c(=O)n2C", 181.0720, [(163.0614, 20), (138.0662, 100), (110.0713, 35), (67.0291, 12)]),
    ("xanthine", "O=c1[nH]c(=O)c2[nH]cnc2[nH]1", 153.0407, [(136.0142, 20), (110.0349, 100), (55.0291, 15)]),
    ("adenine", "Nc1ncnc2[nH]cnc12", 136.0618, [(119.0352, 100), (109.0509, 15), (94.0400, 20), (92.0243, 25)]),
    ("dopamine", "NCCc1ccc(O)c(O)c1", 154.0863, [(137.0597, 100), (119.0491, 30), (91.0542, 60), (65.0386, 15)]),
    ("tyramine", "NCCc1ccc(O)cc1", 138.0913, [(121.0648, 100), (103.0542, 25), (93.0699, 12), (77.0386, 20)]),
    ("phenethylamine", "NCCc1ccccc1", 122.0964, [(105.0699, 100), (79.0542, 35), (77.0386, 15)]),
    ("tyrosine", "NC(Cc1ccc(O)cc1)C(=O)O", 182.0812, [(165.0546, 30), (136.0757, 100), (123.0441, 20), (119.0491, 25), (91.0542, 20)]),
    ("phenylalanine", "NC(Cc1ccccc1)C(=O)O", 166.0863, [(120.0808, 100), (103.0542, 30), (91.0542, 10), (79.0542, 12)]),
    ("tryptophan", "NC(Cc1c[nH]c2ccccc12)C(=O)O", 205.0972, [(188.0706, 100), (146.0600, 60), (132.0808, 15), (118.0651, 30)]),
    ("serotonin", "NCCc1c[nH]c2ccc(O)cc12", 177.1022, [(160.0757, 100), (132.0808, 20), (117.0573, 15), (115.0542, 25)]),
    ("paracetamol", "CC(=O)Nc1ccc(O)cc1", 152.0706, [(110.0600, 100), (93.0335, 8), (65.0386, 15), (43.0178, 10)]),
    ("phenacetin", "CCOc1ccc(NC(C)=O)cc1", 180.1019, [(138.0913, 60), (110.0600, 100), (93.0335, 8), (65.0386, 12)]),
    ("nicotine", "CN1CCCC1c1cccnc1", 163.1230, [(132.0808, 60), (130.0651, 100), (117.0573, 50), (106.0651, 30), (84.0808, 45)]),
    ("cotinine", "CN1C(=O)CCC1c1cccnc1", 177.1022, [(146.0600, 15), (98.0600, 40), (80.0495, 100)]),
    ("salicylic acid", "O=C(O)c1ccccc1O", 139.0390, [(121.0284, 100), (95.0491, 20), (93.0335, 30), (65.0386, 40)]),
    ("vanillin", "COc1cc(C=O)ccc1O", 153.0546, [(125.0597, 70), (111.0441, 35), (93.0335, 100), (65.0386, 60)]),
]
names, smiles, masses, peaks = zip(*library)


def data(rows):
    return okra.spectra([np.array(peaks[k], dtype=float) for k in rows],
                        [{"PEPMASS": masses[k], "ADDUCT": "[M+H]+", "TITLE": names[k]} for k in rows])


# %%
# Each molecule is left out in turn: okra learns from the other 17, and ranks all 18 for its spectrum. With ``as_new`` those
# that it has learned from are not favoured.
kx = "(ppk(ppm=10,power=0.25) | normalize) + (ppk(ppm=10,power=0.25,of=losses) | normalize)"
ky = "ecfp(radius=2,bits=1024) | tanimoto"
ranks = []
for k in range(len(library)):
    others = [j for j in range(len(library)) if j != k]
    model = IOKR(kx=kx, ky=ky, lam=0.1).fit(data(others), okra.smiles([smiles[j] for j in others]))
    order, distance = model.rank(data([k]), okra.smiles(list(smiles)), top=len(library), as_new=True)
    ranks.append(1 + list(order[0]).index(k))
first, five = np.mean(np.array(ranks) == 1), np.mean(np.array(ranks) <= 5)
print(f"the right molecule is first {first:.0%}, among five {five:.0%}")
print("by chance it would be first 6%, among five 28%")

# %%
# A mirror plot: a spectrum above, below it the training spectrum that counts most for its prediction.
k = names.index("theobromine")
others = [j for j in range(len(library)) if j != k]
model = IOKR(kx=kx, ky=ky, lam=0.1).fit(data(others), okra.smiles([smiles[j] for j in others]))
nearest = others[int(np.argmax(model.weights(data([k]))[0]))]
figure, ax = plt.subplots(figsize=(6.5, 3.2))
for row, sign, colour in ((k, 1, "tab:blue"), (nearest, -1, "tab:orange")):
    where, height = np.transpose(peaks[row])
    ax.vlines(where, 0, sign * height, color=colour, linewidth=2)
    ax.text(45, sign * 85, names[row] + (" (new)" if sign > 0 else " (learned)"), color=colour)
ax.axhline(0, color="black", linewidth=1)
ax.set(xlabel="m/z", ylabel="intensity", xlim=(40, 200))
ax.set_yticks([-100, 0, 100], [100, 0, 100])
plt.show()
