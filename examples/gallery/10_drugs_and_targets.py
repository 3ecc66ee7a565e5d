"""
Drugs and targets
=================

On which targets does a drug act? Thirty-one drugs and six targets, much of the table hidden. Targets that are related (two
cyclooxygenases, two adrenoceptors) share what is known: a graph of tasks says so. Activities are those of textbooks, 1 or 0.
"""
import matplotlib.pyplot as plt
import numpy as np

import okra
from okra import MultiTaskKernelRidge

targets = ["COX-1", "COX-2", "β1", "β2", "HMG-CoA", "H1"]
drugs = {  # name: SMILES, targets
    "aspirin": ("CC(=O)Oc1ccccc1C(=O)O", "110000"), "ibuprofen": ("CC(C)Cc1ccc(cc1)C(C)C(=O)O", "110000"),
    "naproxen": ("COc1ccc2cc(ccc2c1)C(C)C(=O)O", "110000"), "ketoprofen": ("CC(C(=O)O)c1cccc(c1)C(=O)c1ccccc1", "110000"),
    "flurbiprofen": ("CC(C(=O)O)c1ccc(c(F)c1)-c1ccccc1", "110000"), "fenoprofen": ("CC(C(=O)O)c1cccc(Oc2ccccc2)c1", "110000"),
    "diclofenac": ("OC(=O)Cc1ccccc1Nc1c(Cl)cccc1Cl", "110000"), "mefenamic acid": ("Cc1cccc(Nc2ccccc2C(=O)O)c1C", "110000"),
    "celecoxib": ("Cc1ccc(cc1)-c1cc(nn1-c1ccc(cc1)S(N)(=O)=O)C(F)(F)F", "010000"),
    "valdecoxib": ("Cc1onc(-c2ccccc2)c1-c1ccc(cc1)S(N)(=O)=O", "010000"),
    "rofecoxib": ("CS(=O)(=O)c1ccc(cc1)C1=C(C(=O)OC1)c1ccccc1", "010000"),
    "etoricoxib": ("Cc1ccc(cn1)-c1ncc(Cl)cc1-c1ccc(cc1)S(C)(=O)=O", "010000"),
    "propranolol": ("CC(C)NCC(O)COc1cccc2ccccc12", "001100"), "pindolol": ("CC(C)NCC(O)COc1cccc2[nH]ccc12", "001100"),
    "timolol": ("CC(C)(C)NCC(O)COc1nsnc1N1CCOCC1", "001100"), "nadolol": ("CC(C)(C)NCC(O)COc1cccc2CC(O)C(O)Cc12", "001100"),
    "alprenolol": ("CC(C)NCC(O)COc1ccccc1CC=C", "001100"), "oxprenolol": ("CC(C)NCC(O)COc1ccccc1OCC=C", "001100"),
    "atenolol": ("CC(C)NCC(O)COc1ccc(CC(N)=O)cc1", "001000"), "metoprolol": ("COCCc1ccc(OCC(O)CNC(C)C)cc1", "001000"),
    "bisoprolol": ("CC(C)NCC(O)COc1ccc(COCCOC(C)C)cc1", "001000"), "betaxolol": ("CC(C)NCC(O)COc1ccc(CCOCC2CC2)cc1", "001000"),
    "salbutamol": ("CC(C)(C)NCC(O)c1ccc(O)c(CO)c1", "000100"), "terbutaline": ("CC(C)(C)NCC(O)c1cc(O)cc(O)c1", "000100"),
    "lovastatin": ("CCC(C)C(=O)OC1CC(C)C=C2C=CC(C)C(CCC3CC(O)CC(=O)O3)C12", "000010"),
    "simvastatin": ("CCC(C)(C)C(=O)OC1CC(C)C=C2C=CC(C)C(CCC3CC(O)CC(=O)O3)C12", "000010"),
    "pravastatin": ("CCC(C)C(=O)OC1CC(O)C=C2C=CC(C)C(CCC(O)CC(O)CC(=O)O)C12", "000010"),
    "diphenhydramine": ("CN(C)CCOC(c1ccccc1)c1ccccc1", "000001"), "chlorphenamine": ("CN(C)CCC(c1ccc(Cl)cc1)c1ccccn1", "000001"),
    "pheniramine": ("CN(C)CCC(c1ccccc1)c1ccccn1", "000001"), "cyclizine": ("CN1CCN(CC1)C(c1ccccc1)c1ccccc1", "000001"),
}
truth = np.array([[float(c) for c in row] for _, row in drugs.values()])
hidden = np.random.default_rng(1).random(truth.shape) < 0.4
given = np.where(hidden, np.nan, truth)

# %%
# ``okra.missing``: NaN is not known, and nothing is filled in. ``task_graph`` links related targets.
graph = np.zeros((6, 6))
graph[0, 1] = graph[1, 0] = graph[2, 3] = graph[3, 2] = 1
molecules = okra.smiles([smiles for smiles, _ in drugs.values()])
model = MultiTaskKernelRidge(kx="ecfp(radius=2) | tanimoto", lam=0.1, task_graph=graph, mu=0.3)
found = np.asarray(model.fit(molecules, okra.missing(given)).predict(molecules))
right = np.mean((found[hidden] > 0.5) == (truth[hidden] == 1))
print(f"{hidden.sum()} hidden cells, {right:.0%} right; "
      f"calling all inactive: {np.mean(truth[hidden] == 0):.0%}")

# %%
figure, axes = plt.subplots(1, 3, figsize=(8, 6.2), sharey=True)
for ax, title, table in zip(axes, ("given", "predicted", "truth"), (given, found, truth)):
    ax.imshow(table, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    ax.set_title(title)
    ax.set_xticks(range(6), targets, rotation=60, ha="right")
    ax.grid(False)
axes[0].set_facecolor("#eeeeee")  # not known
axes[0].set_yticks(range(len(drugs)), list(drugs), fontsize=8)
axes[1].plot(*np.argwhere(hidden & ((found > 0.5) != (truth == 1)))[:, ::-1].T, "x", color="tab:red")
plt.show()
