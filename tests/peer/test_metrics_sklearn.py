"""Metrics against scikit-learn's on random vectors, sets and labels."""
import sys
import warnings

try:
    import numpy as np
    from scipy.sparse import csr_matrix
    from sklearn import metrics as sk
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import okra_ctypes as okra

# Both sum doubles in some order; the worst of these cases is 2.1e-15 relative.
TOLERANCE = 1e-14
failures = 0
worst = 0


def compare(what, got, want):
    global failures, worst
    worst = max(worst, abs(got - want) / max(1, abs(want)))
    if not abs(got - want) <= TOLERANCE * max(1, abs(want)):
        failures += 1
        print(f"{what}: okra {got!r}, scikit-learn {want!r}")


def vectors(rng, n, d):
    y, z = rng.normal(size=(n, d)), rng.normal(size=(n, d))
    a, b = okra.dense(y), okra.dense(z)
    compare("mse", okra.score("mse", a, b), sk.mean_squared_error(y, z))
    compare("mae", okra.score("mae", a, b), sk.mean_absolute_error(y, z))
    compare("rmse", okra.score("rmse", a, b), np.sqrt(sk.mean_squared_error(y, z)))
    compare("rmse of outputs", okra.score("rmse:average=outputs", a, b),
            sk.mean_squared_error(y, z, squared=False))
    for j in range(d):
        compare("rmse of an output", okra.score(f"rmse:output={j}", a, b),
                np.sqrt(sk.mean_squared_error(y[:, j], z[:, j])))
    if n > 1:
        compare("r2", okra.score("r2", a, b), sk.r2_score(y, z))
        compare("r2 weighted", okra.score("r2:average=weighted", a, b),
                sk.r2_score(y, z, multioutput="variance_weighted"))
        compare("arrmse", okra.score("arrmse", a, b),
                np.mean(np.sqrt(1 - sk.r2_score(y, z, multioutput="raw_values"))))
        flat = y.copy()
        flat[:, 0] = 3
        c = okra.dense(flat)
        compare("r2 of a constant", okra.score("r2", c, b), sk.r2_score(flat, z))
        compare("r2 of itself", okra.score("r2", c, c), sk.r2_score(flat, flat))
    if d == 1:
        compare("rmse of scalars", okra.score("rmse", a, b),
                sk.mean_squared_error(y, z, squared=False))


def sets(rng, n, d, density):
    """Few members make empty sets and classes that never occur: 0/0 in all averages."""
    y, z = (rng.random((2, n, d)) < density).astype(int)
    for a, b in ((okra.dense(y), okra.dense(z)),
                 (okra.sparse(csr_matrix(y)), okra.sparse(csr_matrix(z)))):
        # scikit-learn takes one column as a binary class instead of sets
        if d > 1:
            compare("hamming", okra.score("hamming", a, b), sk.hamming_loss(y, z))
            compare("zero-one", okra.score("zero-one", a, b), sk.zero_one_loss(y, z))
            for name in ("accuracy", "exact-match", "subset-accuracy"):
                compare(name, okra.score(name, a, b), sk.accuracy_score(y, z))
            for average, theirs in (("micro", "micro"), ("macro", "macro"),
                                    ("example", "samples")):
                for empty in (0, 1):
                    compare(f"f1 {average} empty={empty} {n}x{d}",
                            okra.score(f"f1:average={average},empty={empty}", a, b),
                            sk.f1_score(y, z, average=theirs, zero_division=empty))


def classes(rng, n, count):
    y, z = rng.integers(count, size=(2, n))
    a, b = okra.labels(y, count), okra.labels(z, count)
    compare("zero-one of labels", okra.score("zero-one", a, b), sk.zero_one_loss(y, z))
    compare("accuracy of labels", okra.score("accuracy", a, b), sk.accuracy_score(y, z))
    compare("hamming of labels", okra.score("hamming", a, b), sk.hamming_loss(y, z))
    for average in ("micro", "macro"):
        compare(f"f1 {average} of labels", okra.score(f"f1:average={average}", a, b),
                sk.f1_score(y, z, average=average))


def rankings(rng, n, d, levels):
    """Few levels make ties; both classes are there."""
    y = (rng.random((n, d)) < 0.3).astype(int)
    y.flat[0], y.flat[-1] = 1, 0
    z = np.round(rng.normal(size=(n, d)) * levels) / levels
    a, b = okra.dense(y), okra.dense(z)
    compare(f"auc-roc {n}x{d}/{levels}", okra.score("auc-roc", a, b),
            sk.roc_auc_score(y.ravel(), z.ravel()))
    compare(f"auc-pr {n}x{d}/{levels}", okra.score("auc-pr", a, b),
            sk.average_precision_score(y.ravel(), z.ravel()))


def relevances(rng, n, d, levels):
    """Graded relevances; ties on both sides, and objects to which nothing is relevant."""
    y = rng.integers(4, size=(n, d)) * (rng.random((n, 1)) < 0.8)
    z = np.round(rng.normal(size=(n, d)) * levels) / levels
    if (np.sort(y) == np.arange(1, d + 1)).all():
        return
    a, b = okra.dense(y), okra.dense(z)
    for k in (0, 1, 3, d + 1):
        compare(f"ndcg k={k} {n}x{d}/{levels}", okra.score(f"ndcg:k={k}", a, b),
                sk.ndcg_score(y, z, k=k or None))
        compare(f"ndcg exponential k={k} {n}x{d}/{levels}",
                okra.score(f"ndcg:k={k},gain=exponential", a, b),
                sk.ndcg_score(2.0**y - 1, z, k=k or None))


def main():
    warnings.simplefilter("ignore")  # scikit-learn's, on 0/0
    rng = np.random.default_rng(0)
    cases = 0
    for n in (1, 2, 17, 200):
        for d in (1, 2, 9):
            vectors(rng, n, d)
            for density in (0, 0.05, 0.5, 1):
                sets(rng, n, d, density)
            classes(rng, n, d + 1)
            for levels in (1, 3, 1e6):
                if n * d > 1:
                    rankings(rng, n, d, levels)
                if d > 1:
                    relevances(rng, n, d, levels)
            cases += 1
    print(f"{cases} shapes, {failures} differences; worst {worst:.2g}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
