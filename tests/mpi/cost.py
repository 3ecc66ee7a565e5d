#!/usr/bin/env python3
"""cost.py OKRA MPIRUN COUNTER: operations, messages and bytes of fits, counted, against the model of docs/cluster.md;
and what becomes of a job whose one process a library ends.
cost.py --paper: what the model says of two jobs that no test can run.

Sums over all processes. n pairs, p input and d output coordinates, rank m, blocks of b x b, a grid of r x c processes.
"""
import math
import os
import pathlib
import subprocess
import sys
import tempfile

ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_plm="isolated",
           OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_orte_execute_quiet="1", OMPI_MCA_btl="self,vader", OMPI_MCA_btl_vader_single_copy_mechanism="none")


def grid(processes):
    """The grid nearest to a square: rows, columns."""
    rows = max(r for r in range(1, math.isqrt(processes) + 1) if processes % r == 0)
    return rows, processes // rows


def dense_work(n, p, d):
    """Inner products of the Gram matrix's half, its Cholesky factor, two triangular solves for d right-hand sides."""
    return n * n * p + n**3 / 3 + 2 * n * n * d


def uneven(n, block, processes):
    """How much more than its share one process has to do, at most."""
    return 1 + 2 * block * max(grid(processes)) / n if processes > 1 else 1


def dense_bytes(n, block, processes):
    """The mirror image of the Gram matrix, the panels of its factor along rows and columns of the grid, and of the solves."""
    r, c = grid(processes)
    return 4 * n * n * (1 - 1 / math.lcm(r, c) + r + c - 2) + 8 * n * block * (r + c - 2)


def step_messages(processes):
    """One column of blocks: its diagonal block along the side of the grid, itself to all, and two solves."""
    r, c = grid(processes)
    return r - 1 + r * (c - 1) + processes * (r - 1) + processes


def dense_messages(n, block, processes):
    """The steps, and processes that agree."""
    return 0 if processes == 1 else step_messages(processes) * n / block + 55 * (processes - 1)


def low_work(n, p, m, d, solved=True):
    """Kernel values and moments. Solved: every row meets the factor of the basis, which a well-conditioned basis saves."""
    return n * (2 * m * p + (2 if solved else 1) * m * m + 2 * m * d) + m**3


def low_bytes(m, d, processes):
    """Moments, summed and told to all; the factor of the basis and the solved moments, to all."""
    return 8 * (processes - 1) * (2 * (m * m + m * d + m + d + 1) + 2 * m * m)


def low_messages(m, block, processes):
    """Two factors and their solves, and processes that agree."""
    return 0 if processes == 1 else 2 * step_messages(processes) * m / block + 128 * (processes - 1)


def counted(folder, processes, *flags):
    okra, mpirun, counter = sys.argv[1:4]
    file = folder / "count"
    file.unlink(missing_ok=True)
    subprocess.run([mpirun, "--oversubscribe", "-n", str(processes), "-x", f"LD_PRELOAD={counter}",
                    "-x", f"OKRA_COUNT_FILE={file}", os.path.abspath(okra), "fit", "-q", "--threads", "1", *flags,
                    "--kx", "rbf(sigma=2)", "--lambda", "0.1", "--engine", "mpi:32", "-o", "m.okra"],
                   cwd=folder, env=ENV, check=True, timeout=60)
    lines = [list(map(int, line.split())) for line in file.read_text().splitlines()]
    assert len(lines) == processes, lines
    return [sum(column) for column in zip(*lines)] + [max(line[2] for line in lines)]


def left_inside(folder):
    """A library that ends one process ends the job, with a message and no file."""
    okra, mpirun, counter = sys.argv[1:4]
    out = subprocess.run([mpirun, "--oversubscribe", "-n", "3", "-x", f"LD_PRELOAD={counter}", "-x", "OKRA_COUNT_EXIT=1",
                          os.path.abspath(okra), "fit", "-q", "--threads", "1", "--x", "ax.npy", "--y", "ay.npy", "--kx",
                          "rbf(sigma=2)", "--lambda", "0.1", "--engine", "mpi:32", "-o", "left.okra"],
                         cwd=folder, env=ENV, capture_output=True, text=True, timeout=60)
    assert out.returncode != 0 and "rank 1 was ended by a library" in out.stderr, out
    assert not list(folder.glob("left.okra*"))


def compare(what, found, model, low, high):
    print(f"  {what}: {found}, model {model:.0f}" + (f", ratio {found / model:.3f}" if model else ""))
    assert low * model <= found <= high * model, f"{what}: {found}, not as the model says: {model:.0f}"


def main():
    import numpy as np
    with tempfile.TemporaryDirectory() as scratch:
        folder, random = pathlib.Path(scratch), np.random.default_rng(1)
        n, rows, m, p, d, block = 640, 4000, 128, 5, 4, 32
        for name, count in (("a", n), ("b", rows)):
            np.save(folder / f"{name}x.npy", random.normal(size=(count, p)))
            np.save(folder / f"{name}y.npy", random.normal(size=(count, d)))
        left_inside(folder)
        for processes in range(1, 7):
            print(f"dense, {processes} processes")
            messages, moved, work, most = counted(folder, processes, "--x", "ax.npy", "--y", "ay.npy", "--keep",
                                                  "coefficients")
            compare("operations", work, dense_work(n, p, d), 0.98, 1.02)
            compare("operations of the busiest", most, dense_work(n, p, d) / processes, 1 if processes > 1 else 0.98,
                    1.02 * uneven(n, block, processes))
            compare("messages", messages, dense_messages(n, block, processes), 0.85, 1.15)
            compare("bytes", moved, dense_bytes(n, block, processes), 0.9, 1.1)
            print(f"low rank, {processes} processes")
            messages, moved, work, most = counted(folder, processes, "--x", "shards:bx.npy", "--y", "by.npy",
                                                  "--low-rank-x", f"nystrom(rank={m})")
            compare("operations", work, low_work(rows, p, m, d), 0.98, 1.03)
            compare("operations of the busiest", most, low_work(rows, p, m, d) / processes, 0.98, 1.06)
            compare("messages", messages, low_messages(m, block, processes), 0.85, 1.15)
            compare("bytes", moved, low_bytes(m, d, processes), 0.9, 1.1)


def paper():
    """Per process: 20 GFlop/s, 1 GB/s of what it sends and receives, 5 us a message, 100 MB/s of files."""
    rate, wire, wait, disk = 2e10, 1e9, 5e-6, 1e8
    n, p, d, block, processes = 500_000, 100, 10, 128, 128
    r, c = grid(processes)
    entries = math.ceil(n / block / r) * math.ceil(n / block / c) * block**2
    work = dense_work(n, p, d) / processes / rate
    longest = work * uneven(n, block, processes)
    sent = dense_bytes(n, block, processes) / processes / wire
    asked = dense_messages(n, block, processes) / processes * wait
    print(f"n = {n:,} dense on {processes} processes, a grid of {r} x {c}: {8 * entries / 2**30:.1f} GiB of the matrix in "
          f"each ({entries / 2**31:.2f} of the entries that ScaLAPACK can count) and {8 * n * (p + d) / 2**30:.2f} GiB of "
          f"inputs; {work / 60:.0f} min of arithmetic, {longest / 60:.0f} for the busiest, {sent / 60:.1f} min of bytes, "
          f"{asked:.1f} s of waiting: efficiency {work / (longest + sent + asked):.3f}")
    n, p, m, d, processes = 10**9, 10, 2000, 10, 1024
    for solved in (True, False):
        work = low_work(n, p, m, d, solved) / processes / rate
        read = 8 * n * (p + d) / processes / disk
        sent = low_bytes(m, d, processes) / processes / wire * math.log2(processes)
        asked = low_messages(m, block, processes) / processes * math.log2(processes) * wait
        once = m**3 / rate
        print(f"n = {n:,} of rank {m:,} on {processes:,} processes, rows {'' if solved else 'not '}solved: "
              f"{8 * (2 * m * m + 2 * m * d + d * d) / 2**20 + 64:.0f} MiB in each; {work / 60:.1f} min of moments, "
              f"{read:.1f} s of files, {sent:.1f} s of bytes, {asked:.2f} s of waiting, {once:.1f} s that all do: efficiency "
              f"{work / (work + read + sent + asked + once):.3f}")


paper() if sys.argv[1:] == ["--paper"] else main()
