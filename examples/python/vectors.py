"""From vectors to vectors: the lower half of small pictures from the upper half."""
import numpy as np

import okra
from okra import IOKRCV

upper, lower = okra.datasets.make_patterns(200, seed=1)
model = IOKRCV(kx="rbf(sigma={2,4,8})", lam="1e-4..1e0").fit(upper[:150], lower[:150])
found = model.predict(upper[150:])
print(f"{len(found)} pictures, mean squared error {np.mean((found - lower[150:]) ** 2):.4f}")
