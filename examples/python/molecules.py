"""From molecules to numbers: boiling points (degrees Celsius) of alcohols and amines."""
import numpy as np

import okra
from okra import IOKR

known = ["CO", "CCO", "CCCO", "CCCCCO", "CN", "CCN", "CCCN", "CCCCCN"]
boiling = np.array([[65.0], [78], [97], [138], [-6], [17], [48], [104]])
model = IOKR(kx="paths(m=6,count=1) | tanimoto", lam=0.01)
model.fit(okra.smiles(known), boiling - 50)
for name, value in zip(["butanol", "butylamine"], model.predict(okra.smiles(["CCCCO", "CCCCN"]))):
    print(f"{name}: {50 + value[0]:.0f}")
