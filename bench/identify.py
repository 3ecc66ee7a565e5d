"""Molecules named by their spectra: what benchmarks of it share."""
import numpy as np

INNER = 4
OUTPUTS = ["ecfp | tanimoto", "(ecfp(radius=1) | tanimoto) + (wl | tanimoto) + (composition | tanimoto)",
           "(ecfp(radius=1) | tanimoto) + (ecfp | tanimoto) + (shortest-path | tanimoto) + (composition | tanimoto)"]
LAMBDAS = [0.03, 0.1, 0.3, 1.0]


def fold(index, folds, f):
    """Part f of the numbers, and the rest."""
    begin, end = len(index) * f // folds, len(index) * (f + 1) // folds
    return index[begin:end], np.concatenate([index[:begin], index[end:]])


def ranks(distance):
    """Of each true molecule, on the diagonal; equal distances count against it."""
    return (distance <= np.diag(distance)[:, None] + 1e-12).sum(axis=1)


def by_okra(okra, grams, y, train, test, choice):
    which, ky, lam = choice
    model = okra.IOKR(kx="precomputed", ky=ky, lam=lam).fit(okra.gram(grams[which][np.ix_(train, train)]), y[train])
    prediction = model.model_.predict(okra.gram(grams[which][np.ix_(test, train)]), {"top": len(test)},
                                      candidates=y[test])
    out = np.full((len(test), len(test)), np.inf)
    np.put_along_axis(out, prediction.index(), prediction.distance(), axis=1)
    return out


def chosen(index, choices, rank):
    """The choice with the largest mean of 1 / rank over inner folds."""
    scores = [np.mean([np.mean(1 / ranks(rank(rest, part, c)))
                       for part, rest in (fold(index, INNER, f) for f in range(INNER))]) for c in choices]
    return choices[int(np.argmax(scores))]
