"""A factor in single precision that is refined, against double precision and scikit-learn.

Each round fits with `precision=mixed`, `precision=double` and KernelRidge in turns, each in a process of its
own, which says its time and its peak memory. Ratios are medians over the rounds; each claim is one JSON line.
The sizes and rounds are arguments: bench_precision.py [N [ROUNDS]]. With OKRA_ENGINE=cuda the GPU fits, the
peer is left out and lambda is 0.1. OKRA_BENCH_OUTPUTS sets the number of outputs (64).
"""
import json
import os
import resource
import statistics
import subprocess
import sys
import time

INPUTS, OUTPUTS = 64, int(os.environ.get("OKRA_BENCH_OUTPUTS", "64"))


def one(way, n, lam):
    """Fits once; prints seconds, what was added to the peak memory, and the residual."""
    from common import BUILD, THREADS
    import numpy as np
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, INPUTS))
    Y = X @ rng.standard_normal((INPUTS, OUTPUTS)) / 8 + np.sin(X[:, np.arange(OUTPUTS) % INPUTS])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if way == "peer":
        from sklearn.kernel_ridge import KernelRidge
        begin = time.perf_counter()
        KernelRidge(alpha=float(lam), kernel="rbf", gamma=1 / INPUTS).fit(X, Y)
        steps = residual = None
    else:
        os.environ.setdefault("OKRA_LIBRARY", os.path.join(os.path.abspath(BUILD), "libokra.so"))
        sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
        import okra
        context = okra._library.Context(threads=THREADS, engine=os.environ.get("OKRA_ENGINE"))
        settings = {"kx": f"rbf(gamma={1 / INPUTS})", "keep": "coefficients", "precision": way}
        okra.Model.fit(X[:300], Y[:300], {**settings, "lambda": "0.1"}, context=context)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        begin = time.perf_counter()
        model = okra.Model.fit(X, Y, {**settings, "lambda": lam}, context=context)
        steps = model.info["numbers"].get("mixed.steps")
        residual = model.info["numbers"].get("mixed.residual")
    seconds = time.perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(json.dumps({"seconds": seconds, "mib": peak / 1024, "steps": steps, "residual": residual}))


def run(way, n, lam):
    done = subprocess.run([sys.executable, "-W", "ignore", __file__, way, str(n), lam], check=True,
                          capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def compare(n, lam, rounds, peers):
    """Medians of seconds and of memory of each way, rounds in turns; and what is worth telling."""
    all_runs = {way: [] for way in ("mixed", "double") + (("peer",) if peers else ())}
    for _ in range(rounds):
        for way, runs in all_runs.items():
            runs.append(run(way, n, lam))
    middle = {way: {key: statistics.median(r[key] for r in runs) for key in ("seconds", "mib")}
              for way, runs in all_runs.items()}
    ratios = [d["seconds"] / m["seconds"] for m, d in zip(all_runs["mixed"], all_runs["double"])]
    about = {f"{way}_{key}": value for way, found in middle.items() for key, value in found.items()}
    about["ratios"] = " ".join(f"{r:.2f}" for r in ratios)
    return middle, {**about, **{key: all_runs["mixed"][0][key] for key in ("steps", "residual") if all_runs["mixed"][0][key]}}


def main():
    from common import finish, report
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 8000
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    peers = not os.environ.get("OKRA_ENGINE")
    easy, about = compare(n, "0.1", rounds, peers)
    mixed, double = easy["mixed"], easy["double"]
    report(f"mixed against double, n = {n}", double["seconds"] / mixed["seconds"], 1.6, **about)
    if peers:
        report(f"mixed against KernelRidge, n = {n}", easy["peer"]["seconds"] / mixed["seconds"], 2.5)
        report(f"memory of double against mixed, n = {n}", double["mib"] / mixed["mib"], 1 / 0.6)
        hard, about = compare(n, "1e-8", rounds, False)
        report(f"double against a fall back, n = {n}", hard["double"]["seconds"] / hard["mixed"]["seconds"], 1 / 1.3, **about)
    finish()


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] in ("mixed", "double", "peer"):
        one(sys.argv[1], int(sys.argv[2]), sys.argv[3])
    else:
        main()
