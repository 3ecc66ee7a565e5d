"""Support vector machines against scikit-learn's: svr of vectors, svm of classes, and
regression of outputs on one another (soar) with support vectors. Both programs stand on LIBSVM, so what is compared is what is made of it: kernels, costs, tubes,
biases, signs and the choice of a class."""
import sys

try:
    import numpy as np
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.svm import SVC, SVR
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import okra_ctypes as okra

TOLERANCE = 1e-8  # of predictions; measured 1.1e-9


SOAR_TOLERANCE = 1e-2  # its machines stop at 1e-3 standard deviations


def soar_difference(rng):
    """One sweep over the outputs from regressions on the inputs alone."""
    x, q = rng.normal(size=(60, 3)), rng.normal(size=(25, 3))
    y = np.column_stack([np.sin(x[:, 0]), x[:, 1] * x[:, 2]]) + 0.1 * rng.normal(size=(60, 2))
    y[:, 1] += 3 * y[:, 0] ** 2

    def gauss(a, b, gamma):
        return np.exp(-gamma * ((a[:, None] - b[None]) ** 2).sum(-1))

    def machine(gram, target):
        return SVR(kernel="precomputed", C=2, epsilon=0.05, tol=1e-6).fit(gram, target)

    model = okra.fit(okra.dense(x), okra.dense(y), method="soar", kx="rbf(gamma=0.3)",
                     ky="linear", learner="svr", cost=2, tube=0.05, combine="sum",
                     associate="rbf(gamma=0.5)", sweeps=1, settle=1e-300)
    got = okra.predict(model, okra.dense(q), decode="explicit")
    kx, kq = gauss(x, x, 0.3), gauss(q, x, 0.3)
    want = np.column_stack([machine(kx, column).predict(kq) for column in y.T])
    for j in range(2):
        rest = y[:, [1 - j]]
        want[:, j] = machine(kx + gauss(rest, rest, 0.5), y[:, j]).predict(
            kq + gauss(want[:, [1 - j]], rest, 0.5))
    return np.abs((got - want) / y.std(0)).max()


def main():
    rng = np.random.default_rng(0)
    worst = 0
    for trial in range(20):
        x, q = rng.normal(size=(60, 3)), rng.normal(size=(25, 3))
        y = np.column_stack([np.sin(x[:, 0]), x[:, 1] * x[:, 2], np.full(60, 0.25)])
        y[:, :2] += 0.1 * rng.normal(size=(60, 2))
        cost, tube, gamma = [(1, 0.1, 0.3), (10, 0.02, 1), (0.2, 0, 0.1)][trial % 3]
        kx = f"rbf(gamma={gamma})"
        model = okra.fit(okra.dense(x), okra.dense(y), method="svr", kx=kx, ky="linear",
                         cost=cost, tube=tube, svm_tolerance=1e-9)
        got = okra.predict(model, okra.dense(q), decode="explicit")
        want = np.column_stack([SVR(C=cost, epsilon=tube, gamma=gamma, tol=1e-9)
                                .fit(x, column).predict(q) for column in y.T])
        worst = max(worst, np.abs(got - want).max() / np.abs(want).max())

        codes = (np.arctan2(x[:, 1], x[:, 0]) // 2.1 % 3).astype(int)
        model = okra.fit(okra.dense(x), okra.labels(codes, 3), method="svm", kx=kx,
                         ky="zero-one", cost=cost, svm_tolerance=1e-9)
        first = [int(np.argmax(codes == k)) for k in range(3)]
        got = okra.weights(model, okra.dense(q))[:, first]
        want = OneVsRestClassifier(SVC(C=cost, gamma=gamma, tol=1e-9)).fit(x, codes)
        want = want.decision_function(q)
        worst = max(worst, np.abs(got - want).max() / np.abs(want).max())
    soar = max(soar_difference(rng) for _ in range(5))
    print(f"soar: worst difference {soar:.3g} standard deviations, allowed {SOAR_TOLERANCE:g}")
    print(f"worst relative difference {worst:.3g}, allowed {TOLERANCE:g}")
    return 0 if worst <= TOLERANCE and soar <= SOAR_TOLERANCE else 1


if __name__ == "__main__":
    sys.exit(main())
