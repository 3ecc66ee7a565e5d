"""
Write a string that was never seen
==================================

A cell transcribes DNA to RNA: A becomes U, T becomes A, C and G change places. okra is not given the rule, only 150 pairs of
strings. It has no list of answers to choose from either: it writes each string letter by letter.
"""
import matplotlib.pyplot as plt
import numpy as np

from okra import IOKR

rng = np.random.default_rng(0)
dna = ["".join(rng.choice(list("ACGT"), size=rng.integers(6, 11))) for _ in range(200)]
rna = [text.translate(str.maketrans("ACGT", "UGCA")) for text in dna]

# %%
# Both kernels compare strings by the pieces of one, two and three letters that they share. ``decode="string"`` searches for
# the string whose pieces fit the prediction best.
pieces = "spectrum(k=1) + spectrum(k=2) + spectrum(k=3)"
model = IOKR(kx=pieces, ky=pieces, lam=0.001, decode="string").fit(dna[:150], rna[:150])
found = list(model.predict(dna[150:]))
right = np.array([a == b for a, b in zip(found, rna[150:])])
new = np.array([text not in rna[:150] for text in found])
print(f"{right.mean():.0%} of 50 strings are right to the letter; "
      f"{new.mean():.0%} of the answers were never seen")

# %%
# What it misses are strings with the same pieces in another order.
for a, b, c in [(a, b, c) for a, b, c in zip(dna[150:], found, rna[150:]) if b != c][:4]:
    print(f"{a}: {b}, should be {c}")

# %%
# A prediction stands on training strings that share pieces with the new one: the largest weights.
weights = model.weights(dna[150:151])[0]
best = np.argsort(-np.abs(weights))[:8]
figure, ax = plt.subplots(figsize=(5.5, 3))
ax.barh([f"{dna[k]} → {rna[k]}" for k in best], weights[best])
ax.invert_yaxis()
ax.set(xlabel="weight", title=f"{dna[150]} → {found[0]}")
plt.show()
