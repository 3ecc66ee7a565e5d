"""Bags of spectra: of MassBank 500 molecules that training has not seen, by all of their spectra (at most 12), named among
one another. Bags, beside the same spectra merged to one and beside the nearest training spectrum by modified cosine and by
spectral entropy, with intervals over molecules; kernels and lambda by inner folds over molecules.

Bags may know collision energies and the merged spectrum, too."""
import gzip
import os
import sys
import tempfile
import time
import warnings

import numpy as np

from common import BUILD, finish, report, skip
from identify import OUTPUTS, by_okra, chosen, ranks

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.environ.get("OKRA_DATA", os.path.join(HERE, "../../shared/data"))

MOST, UNSEEN = 12, 500
LAMBDAS = [0.003, 0.01, 0.03, 0.1, 0.3]
VIEWS = "(ppk(ppm=5,power={0}) | normalize) + (ppk(ppm=5,power={0},of=losses) | normalize)"
OF_BAGS = {"plain": f"bag({VIEWS}) | normalize", "merged": f"bag({VIEWS},merge) | normalize",
           "energies": f"bag(({VIEWS}) * field(sigma=20,floor=0.5)) | normalize"}


def first_places(okra, grams, y, train, test):
    """Hits of the true molecule among those of the test; Gram matrix and lambda by inner folds over molecules."""
    distance = lambda a, b, c: by_okra(okra, grams, y, a, b, (c[0], OUTPUTS[1], c[1]))  # noqa: E731
    best = chosen(train, [(k, lam) for k in range(len(grams)) for lam in LAMBDAS], distance)
    return best, (ranks(distance(train, test, best)) == 1).astype(float)


def nearest(okra, kernel, x, at, likeness, train, test):
    """Hits of the molecule of the nearest training spectrum, as others by Tanimoto to it; ties are no hits."""
    members = [np.concatenate([np.arange(at[m], at[m + 1]) for m in part]) for part in (test, train)]
    owner = np.repeat(np.arange(len(at) - 1), np.diff(at))
    match = okra.gram_matrix(kernel, x[members[0]], x[members[1]])
    near = np.array([owner[members[1]][match[owner[members[0]] == m].max(axis=0).argmax()] for m in test])
    found = likeness[np.ix_(near, test)]
    return ((found >= np.diag(found)[:, None] - 1e-12).sum(axis=1) == 1).astype(float)


def main():
    path = os.path.join(DATA, "massbank", "train.mgf.gz")
    if not os.path.exists(path):
        skip(f"bags need {path}")
    os.environ.setdefault("OKRA_LIBRARY", os.path.join(BUILD, "libokra.so"))
    sys.path.insert(0, os.path.join(HERE, "..", "python"))
    import okra
    import okra.checks.intervals
    warnings.simplefilter("ignore")  # no kernel of matched peaks is semidefinite; some spectra tell no energy
    with tempfile.NamedTemporaryFile(suffix=".mgf") as file:
        with gzip.open(path) as packed:
            file.write(packed.read())
        file.flush()
        x, y = okra.read(file.name), okra.read(file.name + ":smiles")
    code = np.unique([fields["INCHIKEY"][:14] for _, fields in x.objects], return_inverse=True)[1]
    rng = np.random.default_rng(0)
    rows = [np.sort(rng.permutation(np.flatnonzero(code == c))[:MOST]) for c in range(code.max() + 1)]
    order, sizes = np.concatenate(rows), [len(r) for r in rows]
    x, y, at = x[order], y[np.array([r[0] for r in rows])], np.r_[0, np.cumsum(sizes)]
    bags, grams, spent = okra.bags(x, sizes), {}, {}
    for power in (0.1, 0.25):
        for name, text in OF_BAGS.items():
            if power == 0.1 or name == "merged":
                begin = time.perf_counter()
                grams[f"{name} {power}"] = okra.gram_matrix(text.format(power), bags)
                spent[name] = time.perf_counter() - begin
    grams["energies and merged"] = (grams["energies 0.1"] + grams["merged 0.1"]) / 2
    shuffled = rng.permutation(len(rows))
    test, train = shuffled[:UNSEEN], shuffled[UNSEEN:]
    names = {"bags": ["plain 0.1", "energies 0.1", "energies and merged"], "merged": ["merged 0.1", "merged 0.25"]}
    found, best = {}, {}
    for way, some in names.items():
        (which, lam), found[way] = first_places(okra, [grams[name] for name in some], y, train, test)
        best[f"{way}_chose"] = f"{some[which]}, lambda {lam}"
    likeness = okra.gram_matrix("ecfp | tanimoto", y)
    for name, kernel in (("modified_cosine", "mz-match"), ("spectral_entropy", "mz-match(score=entropy,power=1,modified=0)")):
        found[name] = nearest(okra, kernel, x, at, likeness, train, test)
    share = {name: float(hits.mean()) for name, hits in found.items()}
    pair = okra.checks.intervals.compare_values(found["merged"], found["bags"])
    report(f"MassBank, {UNSEEN} unseen molecules: share in the first place by bags less that of the same spectra merged to one",
           pair["difference"], 0.02, low=pair["low"], high=pair["high"], p=pair["p"], **share, **best)
    for name in ("modified_cosine", "spectral_entropy"):
        report(f"the same over that of the nearest spectrum by {name.replace('_', ' ')}", share["bags"] / max(share[name], 1e-9), 2)
    report(f"the Gram matrix of {len(rows)} bags of {len(order)} spectra: seconds, of 300", spent["plain"] / 300, 1, better="lower",
           seconds=spent["plain"])


main()
finish()
