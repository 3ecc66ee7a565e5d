"""
A property of molecules
=======================

From a structure to a number: how well a molecule dissolves in fat rather than in water (log P). The molecules are the first
200 of the NCI set that comes with RDKit.
"""
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from rdkit import Chem, RDConfig

import okra
from okra import IOKR

source = Path(RDConfig.RDDataDir) / "NCI" / "first_200.props.sdf"
known = [m for m in Chem.SDMolSupplier(str(source)) if m is not None and m.HasProp("CLOGP")]
smiles = [Chem.MolToSmiles(m) for m in known]
log_p = np.array([float(m.GetProp("CLOGP")) for m in known])
order = np.random.default_rng(0).permutation(len(smiles))
train, test = order[:130], order[130:]

# %%
# ``okra.smiles`` says that the texts are molecules. okra chooses how to compare them.
model = IOKR().fit(okra.smiles([smiles[k] for k in train]), log_p[train])
found = np.ravel(model.predict(okra.smiles([smiles[k] for k in test])))
print(model.chosen_["kx"])
explained = 1 - np.mean((found - log_p[test]) ** 2) / np.var(log_p[test])
print(f"R² on {len(test)} new molecules: {explained:.2f}")

# %%
figure, ax = plt.subplots(figsize=(4.6, 3.8))
ax.plot([-3, 8], [-3, 8], color="gray", linewidth=1)
ax.plot(log_p[test], found, "o", alpha=0.7)
ax.set(xlabel="log P given", ylabel="log P predicted")
plt.show()

# %%
# The same model says on which training molecules a prediction stands: the largest weights.
from rdkit.Chem import Draw  # noqa: E402

weights = model.weights(okra.smiles([smiles[test[0]]]))[0]
best = np.argsort(-np.abs(weights))[:3]
picture = Draw.MolsToGridImage([known[test[0]], *(known[train[k]] for k in best)], molsPerRow=4,
                               subImgSize=(220, 200), returnPNG=False,
                               legends=["new", *(f"weight {weights[k]:.2f}" for k in best)])
figure, ax = plt.subplots(figsize=(7, 1.9))
ax.imshow(np.asarray(picture))
ax.axis("off")
plt.show()
