"""sshape_range.py: what twin Gaussian processes gain on S-shape where the target is sought in [0, 1], as
its values are, or anywhere. Run by hand (NumPy, half a minute); docs/reports/independent.md has what it prints of
the widths exchanged, where okra, which seeks anywhere, and the second implementation part."""
import numpy as np

DRAWS, PAIRS, LAMBDA = 20, 250, 1e-3
RANGES = {"in [0, 1]": np.linspace(0, 1, 201), "anywhere": np.linspace(-5, 6, 1101)}


def draw(rng):
    """Targets and inputs."""
    y = rng.random(PAIRS)
    return y, y + 0.3 * np.sin(2 * np.pi * y) + rng.normal(0, 0.05, PAIRS)


def gram(a, b, gamma):
    return np.exp(-gamma * (a[:, None] - b[None, :]) ** 2)


def powers(matrix, weights):
    return sum(w * matrix ** (s + 1) for s, w in enumerate(weights))


def learned(K, L, degrees):
    """The coefficients of both polynomials: the leading singular vectors of HSIC of powers."""
    H = np.eye(PAIRS) - 1 / PAIRS
    centred = [H @ K ** (s + 1) @ H for s in range(degrees[0])]
    left, _, right = np.linalg.svd([[np.sum(k * L ** (t + 1)) for t in range(degrees[1])] for k in centred])
    return abs(left[:, 0]), abs(right[0])


def kl(K, L, k, to, peak):
    """Kullback-Leibler divergence of each test input (rows) at each target (columns)."""
    u = np.linalg.solve(K + LAMBDA * np.eye(PAIRS), k)
    e = peak[0] + LAMBDA - np.sum(k * u, 0)
    v = peak[1] + LAMBDA - np.sum(to * np.linalg.solve(L + LAMBDA * np.eye(PAIRS), to), 0)
    return peak[1] - 2 * u.T @ to - e[:, None] * np.log(v)


def hsic(K, L, k, to, peak):
    """Minus HSIC with the test pair among the others."""
    del L
    rows, own, n = K.sum(1), k.sum(0) + peak[0], PAIRS + 1
    total = rows.sum() + k.sum(0) + own
    return -2 * (k - (rows[:, None] + k) / n - own / n + total / n ** 2).T @ to


def gains(rng, criterion, degrees, widths):
    """Gain of the mapping in per cent, for each range."""
    (y, x), (truth, test), errors = draw(rng), draw(rng), {}
    K, L = gram(x, x, widths[0]), gram(y, y, widths[1])
    for a, b in (np.ones(1), np.ones(1)), learned(K, L, degrees):
        k, peak = powers(gram(x, test, widths[0]), a), (a.sum(), b.sum())
        for name, places in RANGES.items():
            value = criterion(powers(K, a), powers(L, b), k, powers(gram(y, places, widths[1]), b), peak)
            errors.setdefault(name, []).append(abs(places[value.argmin(1)] - truth).mean())
    return [100 * (1 - mapped / plain) for plain, mapped in errors.values()]


for order, widths in (("printed", (0.2, 20)), ("exchanged", (20, 0.2))):
    for criterion, degrees in (kl, (1, 11)), (kl, (11, 1)), (hsic, (11, 11)):
        generator = np.random.default_rng(1)
        all_gains = np.array([gains(generator, criterion, degrees, widths) for _ in range(DRAWS)])
        for where, values in zip(RANGES, all_gains.T):
            print(f"{criterion.__name__} {degrees}, widths {order}, {where}: "
                  f"{values.mean():.1f} +- {values.std(ddof=1) / DRAWS ** 0.5:.1f} %")
