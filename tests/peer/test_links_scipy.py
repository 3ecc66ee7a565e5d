"""Scores of links against the definitions written with NumPy and SciPy, local models against
scikit-learn's machines, and the splits of output-kernel trees against its squared error."""
import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile

try:
    import numpy as np
    import scipy.linalg as la
    from sklearn.svm import SVC
    from sklearn.tree import DecisionTreeRegressor
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

OKRA = pathlib.Path(os.environ["OKRA_BUILD"]) / "okra"
failures = 0


# Tolerances are ten times the worst of these cases.
def compare(what, got, want, tolerance):
    """Relative to the largest value."""
    global failures
    worst = np.max(np.abs(got - want)) / max(1e-300, np.max(np.abs(want)))
    print(f"{what}: worst {worst:.2g} of {tolerance:.0e}")
    if not worst <= tolerance:
        failures += 1
        print(f"{what}: differs")


def run(*words):
    subprocess.run([OKRA, *map(str, words)], check=True, stdout=subprocess.DEVNULL)


class Task:
    """n labelled nodes, then m new ones; L: diffusion kernel of the known network."""

    def __init__(self, seed, n=30, m=12):
        rng = np.random.default_rng(seed)
        self.n, self.N = n, n + m
        x = rng.normal(size=(self.N, 4))
        self.K = np.exp(-0.2 * ((x[:, None] - x[None]) ** 2).sum(-1))
        near = self.K > np.quantile(self.K, 0.8)
        known = np.triu(near[:n, :n] & (rng.random((n, n)) < 0.7), 1)
        known[0, 1] = True
        known[:, n - 1] = False  # a node without edges
        self.A = (known | known.T).astype(float)
        self.G = np.diag(self.A.sum(1)) - self.A
        self.L = la.expm(-0.7 * self.G)
        np.save("K.npy", self.K)
        np.savetxt("labelled.txt", np.arange(n), fmt="%d")
        np.savetxt("edges.tsv", np.argwhere(known), fmt="%d")
        self.Kv, self.Kh = self.K[:n, :n], self.K[:n, n:]

    def okra(self, *words, pairs="all"):
        """Scores as a matrix, NaN where there is none."""
        run("link", "--x", "K.npy", "--kx", "precomputed", "--edges", "edges.tsv", "--labelled",
            "labelled.txt", "--beta", 0.7, "--pairs", pairs, "-o", "ranked.tsv", "-q", *words)
        S = np.full((self.N, self.N), np.nan)
        for a, b, s in np.loadtxt("ranked.tsv", skiprows=1):
            S[int(a), int(b)] = S[int(b), int(a)] = s
        return S

    def check(self, what, S, want, tolerance):
        seen = ~np.isnan(S)
        compare(what, S[seen], want[seen], tolerance)

    def centred(self):
        """The Gram matrix of all nodes, centred by the labelled ones."""
        c = np.eye(self.N)
        c[:, :self.n] -= 1 / self.n
        return c @ self.K @ c.T


def completion(t):
    lam = 0.3
    M = t.K + lam * np.eye(t.N)
    D = np.full((t.N, t.N), np.nan)
    S = t.okra("--method", "em", "--lambda", lam)
    n = t.n
    D[:n, :n] = t.L
    D[:n, n:], D[n:, :n], D[n:, n:] = S[:n, n:], S[n:, :n], S[n:, n:]
    # the ranking has no pair of a node with itself
    W = la.solve(M[:n, :n], M[:n, n:])
    np.fill_diagonal(D[n:, n:], np.diag(M[n:, n:] - M[n:, :n] @ W + W.T @ t.L @ W))
    # the minimum of the divergence: off the known block the inverses agree
    X, Y = la.inv(D), la.inv(M)
    X[:n, :n] = Y[:n, :n] = 0
    compare("em: stationary", X, Y, 5e-12)
    eps, lam = 0.2, 0.05
    inverse = la.inv(t.Kv + eps * np.eye(n))
    w, V = la.eigh(t.L - lam / 2 * inverse)
    assert w[0] < 0 < w[-1]
    W = np.hstack([np.eye(n), inverse @ t.Kh])
    want = W.T @ (V * w.clip(0)) @ V.T @ W
    t.check("pkmr", t.okra("--method", "pkmr", "--lambda", lam, "--epsilon", eps), want, 2e-13)


def kcca(t, d=5, lam=0.4, mu=0.3):
    n, H = t.n, np.eye(t.n) - 1 / t.n
    Kc, Lc = H @ t.Kv @ H, H @ t.L @ H
    Z = np.zeros((n, n))
    left = np.block([[Z, Kc @ Lc], [Lc @ Kc, Z]])
    rk, rl = Kc + lam * np.eye(n), Lc + mu * np.eye(n)
    w, V = la.eigh(left, la.block_diag(rk @ rk, rl @ rl))
    F = t.centred()[:, :n] @ V[:n, ::-1][:, :d]
    # both halves of a generalised vector have length 1/2: cosines do not see it
    F /= np.linalg.norm(F, axis=1)[:, None]
    t.check("kcca", t.okra("--method", "kcca", "--lambda", lam, "--lambda-output", mu,
                           "--dimensions", d), F @ F.T, 5e-14)


def kml(t, d=4, lam=0.2):
    n, H = t.n, np.eye(t.n) - 1 / t.n
    Kc = H @ t.Kv @ H
    U = la.null_space(np.ones((1, n)))  # centred combinations
    w, V = la.eigh(U.T @ (Kc @ t.G @ Kc + lam * Kc) @ U, U.T @ Kc @ Kc @ U)
    F = t.centred()[:, :n] @ U @ V[:, :d]
    want = -((F[:, None] - F[None]) ** 2).sum(-1)
    t.check("kml", t.okra("--method", "kml", "--lambda", lam, "--dimensions", d), want, 2e-12)


def local(t):
    """Both solvers stop within 1e-3 of their conditions: worst 1.2e-3."""
    n = t.n
    F = np.full((t.N, n), -1.0)  # F[u, v] = f_v(u)
    for v in range(n):
        y, others = t.A[v], np.arange(n) != v
        if y.any():
            positive = y[others].sum()
            machine = SVC(C=2, kernel="precomputed", tol=1e-3,
                          class_weight={1: (n - 1 - positive) / positive})
            machine.fit(t.Kv[np.ix_(others, others)], y[others])
            F[:, v] = machine.decision_function(t.K[:, :n][:, others])
    want = np.full((t.N, t.N), np.nan)
    want[n:, :n], want[:n, n:] = F[n:], F[n:].T
    t.check("local", t.okra("--method", "local", "--C", 2, pairs="lu"), want, 1e-2)
    pairs = np.array([(i, j) for i in range(n) for j in range(i)])
    np.savetxt("pairs.tsv", pairs, fmt="%d")
    S = t.okra("--method", "local", "--C", 2, pairs="pairs.tsv")
    t.check("local, labelled pairs", S, np.pad((F[:n] + F[:n].T) / 2, ((0, t.N - n),) * 2), 1e-2)


def trees(seed):
    """Every split of every tree: the reduction of the squared error by scikit-learn."""
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(60, 3)), rng.normal(size=(60, 4))
    np.save("x.npy", X)
    np.save("y.npy", Y)
    run("fit", "--x", "x.npy", "--y", "y.npy", "--kx", "rbf(sigma=1)", "--ky", "linear", "--method",
        "ok3", "--trees", 5, "--leaf", 2, "-o", "m.okra", "-q", "--seed", seed)
    K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(-1))
    with zipfile.ZipFile("m.okra") as z:
        names = {pathlib.Path(n).name: n for n in z.namelist()}
        nodes, roots, items = (np.load(z.open(names[f"{k}.npy"])).reshape(-1, w)
                               for k, w in (("nodes", 7), ("roots", 5), ("items", 60)))
    tree = np.repeat(np.arange(5), np.diff(np.append(roots.ravel(), len(nodes))).astype(int))
    got, want = [], []
    for t, (feature, cut, _, _, begin, end, reduction) in zip(tree, nodes):
        if feature >= 0:
            S = items[t, int(begin):int(end)].astype(int)
            side = (K[S, int(feature)] >= cut).astype(float)[:, None]
            stump = DecisionTreeRegressor(max_depth=1).fit(side, Y[S]).tree_
            squares = stump.impurity * stump.n_node_samples * Y.shape[1]
            got.append(reduction)
            want.append(squares[0] - squares[1] - squares[2])
    assert len(got) > 50
    # 60 sums of at most 60 products
    compare(f"ok3: {len(got)} reductions", np.array(got), np.array(want), 6e-14)


def main():
    for seed in range(3):
        t = Task(seed)
        t.check("naive", t.okra("--method", "naive"), t.K, 1e-15)
        completion(t)
        kcca(t)
        kml(t)
        local(t)
        trees(seed)
    return 1 if failures else 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        sys.exit(main())
