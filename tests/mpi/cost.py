#!/usr/bin/env python3
"""cost.py OKRA MPIRUN COUNTER: bytes that processes send each other, counted, against the model of docs/cluster.md.
cost.py --paper: what the model says of two jobs that no test can run.
"""
import math
import os
import pathlib
import subprocess
import sys
import tempfile

ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_plm="isolated",
           OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_btl="self,vader", OMPI_MCA_btl_vader_single_copy_mechanism="none")


def grid(processes):
    """The grid nearest to a square: rows, columns."""
    rows = max(r for r in range(1, math.isqrt(processes) + 1) if processes % r == 0)
    return rows, processes // rows


def dense_bytes(n, processes):
    """One lambda, operator identity: the mirror image of the Gram matrix, and the panels of its factor."""
    r, c = grid(processes)
    return 4 * n * n * (1 - 1 / math.lcm(r, c)) + 4 * n * n * (r - 1 + c - 1)


def low_bytes(m, d, processes):
    """Moments, summed and told to all; the factor of the basis and the solved moments, to all."""
    return 8 * (processes - 1) * (2 * (m * m + m * d + m + d + 1) + 2 * m * m)


def counted(folder, processes, *flags):
    okra, mpirun, counter = sys.argv[1:4]
    file = folder / "count"
    file.unlink(missing_ok=True)
    subprocess.run([mpirun, "-q", "--oversubscribe", "-n", str(processes), "-x", f"LD_PRELOAD={counter}",
                    "-x", f"OKRA_COUNT_FILE={file}", os.path.abspath(okra), "fit", "-q", "--threads", "1", *flags,
                    "--kx", "rbf(sigma=2)", "--lambda", "0.1", "--engine", "mpi:32", "-o", "m.okra"],
                   cwd=folder, env=ENV, check=True, timeout=60)
    lines = [list(map(int, line.split())) for line in file.read_text().splitlines()]
    assert len(lines) == processes, lines
    return [sum(column) for column in zip(*lines)]


def main():
    import numpy as np
    with tempfile.TemporaryDirectory() as scratch:
        folder, random = pathlib.Path(scratch), np.random.default_rng(1)
        n, rows, m, d = 640, 1000, 128, 4
        for name, count in (("a", n), ("b", rows)):
            np.save(folder / f"{name}x.npy", random.normal(size=(count, 5)))
            np.save(folder / f"{name}y.npy", random.normal(size=(count, d)))
        for processes in range(1, 7):
            for what, model, flags in (
                    ("dense", dense_bytes(n, processes), ("--x", "ax.npy", "--y", "ay.npy", "--keep", "coefficients")),
                    ("low rank", low_bytes(m, d, processes),
                     ("--x", "bx.npy", "--y", "by.npy", "--low-rank-x", f"nystrom(rank={m})"))):
                messages, moved = counted(folder, processes, *flags)
                print(f"{what}, {processes} processes: {moved} bytes in {messages} messages; model {model:.0f}")
                assert moved == 0 if processes == 1 else 0.9 * model <= moved <= 1.3 * model, "not as the model says"


def paper():
    """Per process: 20 GFlop/s, and 1 GB/s of what it sends and receives."""
    rate, wire = 2e10, 1e9
    n, p = 500_000, 128
    work, wait = n**3 / 3 / p / rate, dense_bytes(n, p) / p / wire
    print(f"n = {n:,} dense on {p} processes: {8 * n * n / p / 2**30:.1f} GiB of the matrix in each, "
          f"{work / 60:.0f} min of Cholesky, {wait / 60:.1f} min of messages: efficiency {work / (work + wait):.2f}")
    n, m, d, p = 10**9, 2000, 10, 1024
    work = n * (m * m + 2 * m * d) / p / rate
    wait = low_bytes(m, d, p) / p / wire * math.log2(p)
    once = m**3 / rate
    print(f"n = {n:,} of rank {m:,} on {p:,} processes: {work / 60:.0f} min of moments, {wait:.1f} s of messages, "
          f"{once:.1f} s that all do: efficiency {work / (work + wait + once):.3f}")


paper() if sys.argv[1:] == ["--paper"] else main()
