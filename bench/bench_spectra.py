"""Kernels of spectra: Gram matrices of 4,000 spectra of 60 peaks, beside plain loops over all pairs of peaks in
NumPy on a part of them. Molecules of 800 spectra named among those of the test fold, beside scikit-learn's
KernelRidge to RDKit's fingerprints and beside the nearest spectrum by modified cosine."""
import ctypes
import os
import sys
import time

import numpy as np

from common import BUILD, THREADS, Handle, check, context, finish, lib, report
from identify import LAMBDAS, OUTPUTS, by_okra, chosen, fold, ranks

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.environ.get("OKRA_DATA", os.path.join(HERE, "../../shared/data"))

N, PEAKS, PART = 4000, 60, 60


def spectra(rng, n):
    """Peaks of random formulas: multiples of atom masses, so that many coincide."""
    mz, height = [], []
    for _ in range(n):
        atoms = rng.integers(0, 12, (PEAKS, 4))
        m = 15 + atoms @ np.array([12.0, 1.0078250, 14.003074, 15.994915]) * (1 + 2e-6 * rng.normal())
        mz.append(np.sort(m + 1e-4 * np.arange(PEAKS)))
        height.append(rng.exponential(size=PEAKS) + 1e-3)
    return np.concatenate(mz), np.concatenate(height)


def data(mz, height, n):
    h, offsets = Handle("okra_data_free"), np.arange(0, (n + 1) * PEAKS, PEAKS, dtype=np.int64)
    about = (ctypes.c_char_p * n)(*[b"PEPMASS=700\nCHARGE=1+\n"] * n)
    check(lib.okra_data_spectra(offsets.ctypes.data_as(ctypes.c_void_p), mz.ctypes.data_as(ctypes.c_void_p),
                                height.ctypes.data_as(ctypes.c_void_p), about, ctypes.c_int64(n),
                                ctypes.byref(h.p)))
    return h


def gram(ctx, text, x, n):
    k, out = Handle("okra_kernel_free"), np.empty((n, n))
    check(lib.okra_kernel_parse(text.encode(), ctypes.byref(k.p)))
    begin = time.perf_counter()
    check(lib.okra_gram(ctx.p, k.p, x.p, None, out.ctypes.data_as(ctypes.c_void_p), ctypes.c_int64(n)))
    return time.perf_counter() - begin, out


def plain(mz, height, n):
    """The same by all pairs of peaks."""
    mz, height = mz.reshape(n, PEAKS), height.reshape(n, PEAKS)
    weight = np.sqrt(height / height.max(axis=1, keepdims=True))
    width = np.maximum(1e-5 * mz, 0.001)
    out, begin = np.empty((n, n)), time.perf_counter()
    for i in range(n):
        square = width[i][None, :, None] ** 2 + width[:, None, :] ** 2
        far = (mz[i][None, :, None] - mz[:, None, :]) ** 2 / (2 * square)
        value = np.sqrt(2 * width[i][None, :, None] * width[:, None, :] / square) * np.exp(-far)
        out[i] = np.einsum("p,jpq,jq->j", weight[i], value, weight)
    return time.perf_counter() - begin, out


def main():
    rng, ctx = np.random.default_rng(0), context(THREADS)
    mz, height = spectra(rng, N)
    whole, part = data(mz, height, N), data(mz, height, PART)
    slow, want = plain(mz[:PART * PEAKS], height[:PART * PEAKS], PART)
    fast, got = gram(ctx, "ppk", part, PART)
    worst = float(np.abs(got - want).max() / want.max())
    report("ppk equals all pairs of peaks: largest difference, of 1e-12", worst / 1e-12, 1, better="lower")
    for text, target in (("ppk", 10), ("ppk(of=losses)", 10), ("mz-bins", 10), ("mz-match", 60)):
        spent = min(gram(ctx, text, whole, N)[0] for _ in range(2))
        report(f"{text}: Gram matrix of 4,000 spectra of 60 peaks, seconds of {target}", spent / target, 1,
               better="lower", seconds=spent)
        if text == "ppk":
            report("the same beside NumPy over all pairs of peaks, times faster per value",
                   slow / PART**2 / (spent / N**2), 1)


# ---- the molecule behind a spectrum ----

FOLDS = 5
OF_PEAKS = "(ppk(ppm=5,power=0.15) | normalize)"
LOSSES = OF_PEAKS + " + (ppk(ppm=5,power=0.25,of=losses) | normalize)"
INPUTS = [OF_PEAKS, LOSSES, LOSSES + " + 0.5*precursor(sigma=50)"]


def by_ridge(grams, bits, train, test, choice):
    """KernelRidge to the bits, the nearest bits by distance or by cosine."""
    from sklearn.kernel_ridge import KernelRidge
    which, lam, cosine = choice
    model = KernelRidge(alpha=lam, kernel="precomputed").fit(grams[which][np.ix_(train, train)], bits[train])
    h = model.predict(grams[which][np.ix_(test, train)])
    inner, size = h @ bits[test].T, (bits[test] ** 2).sum(axis=1)
    return -inner / np.sqrt(size) if cosine else size - 2 * inner


def by_cosine(match, bits, train, test):
    """The nearest training spectrum; then molecules by Tanimoto to its own."""
    near = bits[train[match[np.ix_(test, train)].argmax(axis=1)]]
    both = near @ bits[test].T
    return 1 - both / (near.sum(axis=1)[:, None] + bits[test].sum(axis=1) - both)


def identification():
    try:
        import sklearn  # noqa: F401
        from rdkit import Chem, DataStructs, RDLogger
        from rdkit.Chem import AllChem
    except ImportError as missing:
        print(f"left out: identification needs {missing.name}")
        return
    os.environ.setdefault("OKRA_LIBRARY", os.path.join(BUILD, "libokra.so"))
    sys.path.insert(0, os.path.join(HERE, "..", "python"))
    import okra
    RDLogger.DisableLog("rdApp.*")
    path = os.path.join(DATA, "msms", "spectra.mgf")
    if not os.path.exists(path):
        print(f"left out: identification needs {path}")
        return
    x, y = okra.read(path), okra.read(path + ":smiles")
    bits = np.zeros((len(x), 2048))
    for i, smiles in enumerate(y.objects):
        found = AllChem.GetMorganFingerprintAsBitVect(Chem.MolFromSmiles(smiles, sanitize=True), 2, 2048)
        DataStructs.ConvertToNumpyArray(found, bits[i])
    grams = [okra.gram_matrix(k, x) for k in INPUTS]
    match = okra.gram_matrix("mz-match", x)
    ours = [(k, ky, lam) for k in range(len(INPUTS)) for ky in OUTPUTS for lam in LAMBDAS]
    theirs = [(k, lam, cosine) for k in range(len(INPUTS)) for lam in LAMBDAS for cosine in (False, True)]
    found = {"okra": [], "kernel_ridge": [], "modified_cosine": []}
    everything = np.arange(len(x))
    for f in range(FOLDS):
        test, train = fold(everything, FOLDS, f)
        mine = lambda a, b, c: by_okra(okra, grams, y, a, b, c)  # noqa: E731
        other = lambda a, b, c: by_ridge(grams, bits, a, b, c)  # noqa: E731
        found["okra"].append(ranks(mine(train, test, chosen(train, ours, mine))))
        found["kernel_ridge"].append(ranks(other(train, test, chosen(train, theirs, other))))
        found["modified_cosine"].append(ranks(by_cosine(match, bits, train, test)))
    for top in (1, 5, 10):
        share = {name: float(np.mean(np.concatenate(r) <= top)) for name, r in found.items()}
        best = max(share["kernel_ridge"], share["modified_cosine"])
        report(f"800 spectra, 5 folds, {len(x) // FOLDS} molecules: share in the top {top}, of the better of "
               "KernelRidge to fingerprints and 1-NN by modified cosine", share["okra"] / best, 1, **share)


main()
identification()
finish()
