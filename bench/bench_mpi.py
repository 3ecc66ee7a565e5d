"""The engine mpi: what a second process gains, one process against the engine host, and memory per process.

One thread per process; times are those of the fit, without the start of the processes. Efficiency is the time of one
process over twice that of two. Without arguments: all; --only NAME (dense, strings, low, memory) one; --small N divides
the sizes by N.
"""
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile

os.environ["OKRA_BENCH_THREADS"] = "1"

import common  # noqa: E402
import numpy as np  # noqa: E402
from common import BUILD, report  # noqa: E402

OKRA = os.path.join(BUILD, "okra")
ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
ENV.pop("OPENBLAS_NUM_THREADS", None)
SMALL = int(sys.argv[sys.argv.index("--small") + 1]) if "--small" in sys.argv else 1


def fit(folder, processes, *flags):
    """Seconds of a fit by so many processes; 0: by the engine host."""
    command = [OKRA, "fit", "--json", "--threads", "1", *flags, "-o", os.path.join(folder, "m.okra")]
    if processes:
        command = ["mpirun", "-q", "--oversubscribe", "-n", str(processes)] + command + ["--engine", "mpi"]
    out = subprocess.run(command, cwd=folder, env=ENV, check=True, capture_output=True, text=True).stdout
    return json.loads(out)["seconds"]


def best(runs, **jobs):
    """The least of several times of each job, taken in turns."""
    times = {name: [] for name in jobs}
    for _ in range(runs):
        for name, job in jobs.items():
            times[name].append(job())
    return {name: min(values) for name, values in times.items()}


def vectors(folder, n, width, d, name=""):
    random = np.random.default_rng(1)
    np.save(os.path.join(folder, f"x{name}.npy"), random.standard_normal((n, width)))
    np.save(os.path.join(folder, f"y{name}.npy"), random.standard_normal((n, d)))


def dense(folder, n=6000 // SMALL):
    vectors(folder, n, 20, 4)
    flags = ("--x", "x.npy", "--y", "y.npy", "--kx", "rbf(sigma=4)", "--lambda", "0.1", "--keep", "coefficients")
    t = best(3, host=lambda: fit(folder, 0, *flags), one=lambda: fit(folder, 1, *flags),
             two=lambda: fit(folder, 2, *flags))
    report(f"dense fit n={n}, parallel efficiency of two processes", t["one"] / (2 * t["two"]), 0.85, **t)
    report(f"dense fit n={n}, the engine host against one process", t["host"] / t["one"], 0.8)


def strings(folder, n=1200 // SMALL, length=60):
    letters = np.random.default_rng(1).integers(ord("a"), ord("z") + 1, (n, length))
    with open(os.path.join(folder, "s.txt"), "w") as f:
        f.writelines("".join(map(chr, row)) + "\n" for row in letters)
    np.save(os.path.join(folder, "y.npy"), np.random.default_rng(2).standard_normal((n, 2)))
    flags = ("--x", "s.txt", "--y", "y.npy", "--kx", "ssk(length=4,decay=0.5) | normalize", "--lambda", "0.1",
             "--keep", "coefficients")
    t = best(3, one=lambda: fit(folder, 1, *flags), two=lambda: fit(folder, 2, *flags))
    report(f"{n} strings of {length} letters, parallel efficiency of two processes", t["one"] / (2 * t["two"]), 0.9, **t)


def low(folder, n=400000 // SMALL, rank=500):
    vectors(folder, n, 20, 4, "2")
    vectors(folder, n // 2, 20, 4, "1")
    flags = ("--kx", "rbf(sigma=4)", "--low-rank-x", f"nystrom(rank={rank})", "--lambda", "0.1")
    t = best(3, **{w: lambda p=p: fit(folder, p, "--x", f"x{p}.npy", "--y", f"y{p}.npy", *flags)
                   for w, p in (("one", 1), ("two", 2))})
    report(f"low rank {rank}, n={n}: two processes against one with half of the rows", t["one"] / t["two"], 0.9, **t)


def memory(folder, n=8000 // SMALL, processes=4):
    """Beside an n x n matrix that is dealt out there are the program, MPI and the inputs. A model of vectors keeps
    coefficients; one of other outputs keeps its factor, which is written from blocks of rows."""
    vectors(folder, n, 10, 2)
    for what, flags in (("coefficients", ("--keep", "coefficients")), ("a factor", ("--ky", "rbf(sigma=2)"))):
        command = ["mpirun", "-q", "--oversubscribe", "-n", str(processes), sys.executable, os.path.abspath(__file__),
                   "--child", OKRA, "fit", "-q", "--threads", "1", "--x", "x.npy", "--y", "y.npy", "--kx", "rbf(sigma=2)",
                   "--lambda", "0.1", *flags, "--engine", "mpi", "-o", "m.okra"]
        out = subprocess.run(command, cwd=folder, env=ENV, check=True, capture_output=True, text=True).stdout
        peak = max(map(int, out.split()))
        bound = 2.5 * 8 * n * n / processes + 8 * n * 12 + 64 * 2**20
        report(f"n={n}, {processes} processes, a model that keeps {what}: the largest peak over 2.5 n^2/P doubles + inputs "
               "+ 64 MiB", peak / bound, 1.0, "lower", peak_MiB=peak / 2**20, bound_MiB=bound / 2**20)


if __name__ == "__main__":
    if "--child" in sys.argv:
        subprocess.run(sys.argv[2:], check=True)
        print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024, flush=True)
        sys.exit(0)
    if not shutil.which("mpirun") or not os.path.exists(os.path.join(BUILD, "libokra-mpi.so")):
        print("skipped: the engine mpi is not built")
        sys.exit(77)
    chosen = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else None
    for job in (dense, strings, low, memory):
        if chosen in (None, job.__name__):
            with tempfile.TemporaryDirectory() as scratch:
                job(scratch)
    common.finish()
