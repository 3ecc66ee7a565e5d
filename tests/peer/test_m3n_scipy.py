"""Max-margin Markov networks against SciPy: the dual over every labelling of every word,
written out with explicit features, as a quadratic programme on a product of simplices
(SLSQP). Its optimum lies between the dual and the primal value of okra, whose gap closes."""
import itertools
import json
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    from scipy.optimize import minimize
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

OKRA = os.path.join(os.environ["OKRA_BUILD"], "okra")
SYMBOLS, WIDTH = 3, 2
SLACK = 1e-7  # of SciPy's optimum; worst excess found 3e-9


def features(x, y):
    nodes, edges = np.zeros((SYMBOLS, WIDTH)), np.zeros((SYMBOLS, SYMBOLS))
    for t, c in enumerate(y):
        nodes[c] += x[t]
        if t:
            edges[y[t - 1], c] += 1
    return np.concatenate([nodes.ravel(), edges.ravel()])


def optimum(words, lam):
    """The maximum of sum_i <alpha_i, H_i>/n - lam/2 |sum_i E psi_i/(lam n)|^2."""
    n, psi, loss, owner = len(words), [], [], []
    for i, (x, y) in enumerate(words):
        for z in itertools.product(range(SYMBOLS), repeat=len(y)):
            psi.append((features(x, y) - features(x, z)) / (lam * n))
            loss.append(sum(a != b for a, b in zip(y, z)) / n)
            owner.append(i)
    psi, loss = np.array(psi), np.array(loss)
    sums = (np.array(owner) == np.arange(n)[:, None]).astype(float)
    start = (sums / sums.sum(1, keepdims=True)).sum(0)

    def value(a):
        w = a @ psi
        return lam / 2 * w @ w - a @ loss, lam * psi @ w - loss

    best = minimize(value, start, jac=True, method="SLSQP", bounds=[(0, 1)] * len(loss),
                    constraints=dict(type="eq", fun=lambda a: sums @ a - 1,
                                     jac=lambda a: sums),
                    options=dict(maxiter=2000, ftol=1e-14))
    assert best.success, best.message
    return -best.fun


def fitted(folder, words, lam, tolerance):
    x = np.vstack([w[0] for w in words])
    np.save(os.path.join(folder, "x.npy"), x)
    with open(os.path.join(folder, "x.tsv"), "w") as table:
        table.write("row\tletter\tword_id\tposition\n")
        row = 0
        for i, (_, y) in enumerate(words):
            for t, c in enumerate(y):
                table.write(f"{row}\t{'pqr'[c]}\t{i}\t{t}\n")
                row += 1
    with open(os.path.join(folder, "y.txt"), "w") as lines:
        lines.writelines("".join("pqr"[c] for c in y) + "\n" for _, y in words)
    model = os.path.join(folder, "m.okra")
    subprocess.run([OKRA, "fit", "--x", f"sequences:{folder}/x.npy:x.tsv", "--y",
                    f"{folder}/y.txt", "--kx", "position(linear)", "--ky",
                    "position(zero-one)", "--method", "m3n", "--lambda", str(lam),
                    "--tolerance", str(tolerance), "--passes", "20000", "-o", model,
                    "--quiet"], check=True)
    told = subprocess.run([OKRA, "info", model, "--json"], check=True,
                          capture_output=True).stdout
    numbers = json.loads(told)
    numbers = numbers.get("numbers", numbers)
    return numbers["primal"], numbers["dual"]


def main():
    rng = np.random.default_rng(0)
    worst = 0
    for trial in range(12):
        words = []
        for _ in range(4):
            length = rng.integers(1, 4)
            words.append((rng.normal(size=(length, WIDTH)),
                          tuple(rng.integers(SYMBOLS, size=length))))
        lam = [0.05, 0.3, 2][trial % 3]
        best = optimum(words, lam)
        with tempfile.TemporaryDirectory() as folder:
            primal, dual = fitted(folder, words, lam, 1e-3)
        assert dual <= best + SLACK and best <= primal + SLACK, (dual, best, primal)
        assert primal - dual <= 1e-3 * max(1, dual), (dual, primal)
        worst = max(worst, primal - best, best - dual)
    print(f"optimum within {worst:.1e} of both values")


main()
