"""The package against short NumPy implementations, over random configurations.

Sizes, kernels and regularisation are drawn; numbers come from a seed that is drawn too, so
that a failing case can be made again from what is printed.
"""
import numpy as np
import pytest
from scipy.linalg import eigh, expm
from sklearn.decomposition import KernelPCA
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from okra import IOKR, KDE, LinkPredictor, gram_matrix

hypothesis = pytest.importorskip("hypothesis")
from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

# ---- about twenty lines of NumPy --------------------------------------------------------


def gram(spec, a, b):
    name, value = spec
    if name == "linear":
        return a @ b.T
    if name == "rbf":
        d2 = ((a[:, None] - b[None]) ** 2).sum(2)
        return np.exp(-d2 / (2 * value ** 2))
    return (a @ b.T + 1) ** value


def ridge_weights(K, k_test, lam):
    return np.linalg.solve(K + lam * np.eye(len(K)), k_test.T).T


def distances(W, L, l_candidates, l_self):
    return l_self - 2 * W @ l_candidates + np.einsum("ri,ij,rj->r", W, L, W)[:, None]


def covariance_weights(K, L, k_test, lam, epsilon):
    """T a with T a K + n lambda a = I by Kronecker products."""
    n = len(K)
    # n epsilon (K + n epsilon I)^-1 L, which is L - (K + n epsilon I)^-1 K L without the
    # difference, whose digits cancel: it made this form 40 times less exact than okra.
    T = L if epsilon is None else n * epsilon * np.linalg.solve(K + n * epsilon * np.eye(n), L)
    system = np.kron(K, T) + n * lam * np.eye(n * n)
    a = np.linalg.solve(system, np.eye(n).ravel(order="F")).reshape(n, n, order="F")
    return (T @ a @ k_test.T).T


# ---- configurations ---------------------------------------------------------------------

KERNELS = st.one_of(st.just(("linear", None)), st.tuples(st.just("rbf"), st.sampled_from(
    [0.7, 1.5, 4.0])), st.tuples(st.just("poly"), st.sampled_from([2, 3])))
TEXT = {"linear": "linear", "rbf": "rbf(sigma={})", "poly": "poly(degree={})"}
SETTINGS = dict(max_examples=200, deadline=None, derandomize=True, database=None)


def text(spec):
    return TEXT[spec[0]].format(spec[1])


@st.composite
def problems(draw, least=2, most=25):
    n, m = draw(st.integers(least, most)), draw(st.integers(1, 6))
    p, d = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    seed = draw(st.integers(0, 10 ** 6))
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(n, p)), rng.normal(size=(n, d))
    if draw(st.booleans()) and n > 2:  # two equal pairs
        X[1], Y[1] = X[0], Y[0]
    return X, Y, rng.normal(size=(m, p)), rng.normal(size=(m, d))


LAMBDAS = st.sampled_from([1e-2, 0.1, 1.0, 30.0])


def near(a, b, tolerance, scale=None):
    scale = max(1.0, np.abs(b).max() if scale is None else scale)
    worst = np.abs(np.asarray(a) - np.asarray(b)).max() / scale
    assert worst <= tolerance, worst


# ---- comparisons ------------------------------------------------------------------------


@settings(**SETTINGS)
@given(problems(), KERNELS, KERNELS, LAMBDAS)
def test_iokr_is_twenty_lines_of_numpy(problem, kx, ky, lam):
    X, Y, T, U = problem
    K, L = gram(kx, X, X), gram(ky, Y, Y)
    W = ridge_weights(K, gram(kx, T, X), lam)
    model = IOKR(kx=text(kx), ky=text(ky), lam=lam).fit(X, Y)
    # The condition number is K's norm over lambda. Worst over these configurations, in
    # units of eps times it: weights 0.48, distances 1.3.
    condition = 1 + np.linalg.norm(K, 2) / lam
    eps = np.finfo(float).eps
    near(model.weights(T), W, 5 * eps * condition)
    D = distances(W, L, gram(ky, Y, U), np.diag(gram(ky, U, U)))
    index, distance = model.rank(T, U, top=1)
    scale = np.abs(D).max() + np.einsum("ri,ij,rj->r", W, L, W).max()
    near(distance[:, 0], D.min(axis=1), 13 * eps * condition, scale)
    chosen = np.take_along_axis(D, index, axis=1)[:, 0]
    near(chosen, D.min(axis=1), 13 * eps * condition, scale)
    assert np.array_equal(model.predict(T, candidates=U), U[index[:, 0]])


@settings(**SETTINGS)
@given(problems(), st.sampled_from([0.5, 1.0, 3.0]), LAMBDAS)
def test_linear_outputs_are_kernel_ridge(problem, sigma, lam):
    X, Y, T, _ = problem
    gamma = 1 / (2 * sigma ** 2)
    peer = KernelRidge(kernel="rbf", gamma=gamma, alpha=lam).fit(X, Y)
    model = IOKR(kx=f"rbf(gamma={gamma!r})", lam=lam).fit(X, Y)
    condition = 1 + len(X) / lam
    # Worst: 0.71 eps times the condition number.
    near(model.predict(T), peer.predict(T), 7 * np.finfo(float).eps * condition)


@settings(**SETTINGS)
@given(problems(least=3, most=12), KERNELS, KERNELS, LAMBDAS)
def test_leave_one_out_is_brute_force(problem, kx, ky, lam):
    X, Y, _, _ = problem
    model = IOKR(kx=text(kx), ky=text(ky), lam=lam).fit(X, Y)
    n, losses = len(X), []
    for i in range(n):
        rest = np.arange(n) != i
        w = ridge_weights(gram(kx, X[rest], X[rest]), gram(kx, X[i:i + 1], X[rest]), lam)
        losses.append(distances(w, gram(ky, Y[rest], Y[rest]),
                                gram(ky, Y[rest], Y[i:i + 1]),
                                gram(ky, Y[i:i + 1], Y[i:i + 1])[0])[0, 0])
    condition = 1 + np.linalg.norm(gram(kx, X, X), 2) / lam
    scale = max(1.0, np.abs(losses).max(), np.diag(gram(ky, Y, Y)).max())
    # Worst: 3.4 eps times the condition number.
    near(model.loo_losses_, losses, 34 * np.finfo(float).eps * condition, scale)


@settings(**SETTINGS)
@given(problems(least=2, most=9), st.sampled_from([0.7, 1.5, 4.0]),
       st.sampled_from([0.7, 1.5, 4.0]), st.sampled_from([1e-2, 0.1, 1.0]),
       st.sampled_from([None, 0.01, 1.0]))
def test_covariance_operators_are_the_kronecker_system(problem, sx, sy, lam, epsilon):
    X, Y, T, _ = problem
    kx, ky = ("rbf", sx), ("rbf", sy)
    W = covariance_weights(gram(kx, X, X), gram(ky, Y, Y), gram(kx, T, X), lam, epsilon)
    model = IOKR(kx=text(kx), ky=text(ky), lam=lam, epsilon=epsilon,
                 operator="cov" if epsilon is None else "ccov").fit(X, Y)
    near(model.weights(T), W, 4e-13)  # worst: 4.1e-14


@settings(**SETTINGS)
@given(problems(least=4), st.sampled_from([0.7, 1.5, 4.0]), LAMBDAS, st.integers(1, 3))
def test_kpca_is_ridge_on_the_scores_of_kernel_pca(problem, sigma, lam, components):
    """Regress scikit-learn's kernel PCA scores of the outputs, compare inner products."""
    X, Y, T, _ = problem
    gamma = 1 / (2 * sigma ** 2)
    values = np.linalg.eigvalsh(centred(rbf_kernel(Y, gamma=gamma)))[::-1]
    components = min(components, int((values > 1e-6).sum()))
    if components == 0 or (len(values) > components and values[components - 1] -
                           values[components] < 1e-3 * values[0]):
        return  # the leading space is not well determined
    peer = KernelPCA(n_components=components, kernel="rbf", gamma=gamma).fit(Y)
    K, k = gram(("rbf", sigma), X, X), gram(("rbf", sigma), T, X)
    want = ridge_weights(K, k, lam) @ peer.transform(Y)
    model = KDE(kx=f"rbf(sigma={sigma})", ky=f"rbf(sigma={sigma})", lam=lam,
                components=components).fit(X, Y)
    W = model.weights(T)
    near(W.sum(axis=1), np.ones(len(T)), 3e-13)  # the mean is restored; 2.7e-14
    near(np.abs(W @ peer.transform(Y)), np.abs(want), 4e-13)  # worst: 3.8e-14


def centred(L):
    H = np.eye(len(L)) - 1 / len(L)
    return H @ L @ H


@settings(**SETTINGS)
@given(problems(), st.sampled_from([2, 3]), st.sampled_from([0.3, 1.0]))
def test_gram_matrices_are_scikit_learns(problem, degree, gamma):
    X, _, T, _ = problem
    # Worst: 1.4e-15 and 5.9e-16.
    near(gram_matrix(f"rbf(gamma={gamma})", T, X), rbf_kernel(T, X, gamma=gamma), 1.5e-14)
    near(gram_matrix(f"poly(degree={degree},gamma={gamma},coef0=1)", T, X),
         polynomial_kernel(T, X, degree=degree, gamma=gamma, coef0=1), 6e-15)


@settings(**SETTINGS)
@given(st.integers(6, 14), st.integers(0, 10 ** 6), st.sampled_from([0.5, 1.5]),
       st.sampled_from([0.05, 0.5]), st.sampled_from([0.05, 0.5]), st.integers(1, 3))
def test_kcca_is_the_generalised_eigenproblem(n, seed, beta, lam, mu, d):
    """Kernel canonical correlations as SciPy solves them; the score is a cosine."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n + 4, 3))
    edges = np.array([(i, j) for j in range(n) for i in range(j)
                      if i == j - 1 or rng.random() < 0.2])
    A = np.zeros((n, n))
    A[edges[:, 0], edges[:, 1]] = A[edges[:, 1], edges[:, 0]] = 1
    H = np.eye(n) - 1 / n
    raw = gram(("rbf", 1.0), X, X[:n])
    K, L = H @ raw[:n] @ H, H @ expm(-beta * (np.diag(A.sum(1)) - A)) @ H
    new = (raw[n:] - raw[:n].mean(axis=0)) @ H
    Z = np.zeros((n, n))
    I = np.eye(n)
    right = np.block([[(K + lam * I) @ (K + lam * I), Z],
                      [Z, (L + mu * I) @ (L + mu * I)]])
    values, vectors = eigh(np.block([[Z, K @ L], [L @ K, Z]]), right)
    values = values[::-1]
    if values[d - 1] - values[d] < 1e-2 * values[0]:
        return  # the leading space is not well determined
    F = new @ vectors[:n, ::-1][:, :d]  # all directions have the same length
    F /= np.linalg.norm(F, axis=1, keepdims=True)
    model = LinkPredictor(kx="rbf(sigma=1)", beta=beta, method="kcca", lam=lam, options={
        "lambda_output": mu, "dimensions": d}).fit(X, edges, np.arange(n))
    pairs = np.array([(n + i, n + j) for j in range(4) for i in range(j)])
    # Worst: 3.3e-14.
    near(model.decision_function(pairs), (F @ F.T)[pairs[:, 0] - n, pairs[:, 1] - n], 4e-13)
