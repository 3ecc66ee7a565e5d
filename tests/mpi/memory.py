#!/usr/bin/env python3
"""memory.py OKRA MPIRUN [TIMES [P]]: the largest peak of memory of P processes, beside that of the same command on few rows,
in matrices of n x n / P numbers. No process may hold a whole matrix of n x n.
TIMES (1) multiplies the numbers of rows.
memory.py --child COMMAND...: runs it and writes its peak to a file, since mpirun mixes what processes print.
"""
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

BUFFERS = 32 * 2**20  # blocks on their way between processes and to the file
FEW = 48
SMALL, LARGE = 2304, 3072  # rows, with eigenvectors and without
# Command, its rows, and how many matrices its processes share at most: docs/cluster.md.
COMMANDS = [
    ("gram --kernel rbf(sigma=2) -o K.npy", LARGE, 1),
    ("fit --ky linear --keep coefficients -o m.okra", LARGE, 1),
    ("fit --ky rbf(sigma=2) -o w.okra", LARGE, 1),
    ("fit --ky rbf(sigma=2) --compact -o m.okra", LARGE, 1),
    ("fit --ky linear --operator matrix:A.npy --keep weights -o m.okra", LARGE, 3),
    ("fit --ky linear --operator matrix:A.npy --keep coefficients -o m.okra", SMALL, 4),
    ("fit --ky linear --operator graph:W.npy,mu=0.5 --keep coefficients -o m.okra", SMALL, 4),
    ("fit --ky rbf(sigma=2) --operator cov -o m.okra", SMALL, 8),
    ("fit --ky rbf(sigma=2) --operator ccov -o m.okra", SMALL, 8),
    ("fit --ky rbf(sigma=2) --method kpca -o m.okra", SMALL, 5),
    ("select --ky linear --lambda 1e-3..1e0 --cv loo --keep coefficients -o m.okra", SMALL, 4)]


def peak(folder, okra, mpirun, processes, x, command):
    flags = ["--x", x, "--threads", "1", "-q", "--engine", "mpi"]
    if not command.startswith("gram"):
        flags += ["--y", x.replace("x", "y"), "--kx", "rbf(sigma=2)"]
        flags += [] if "--lambda" in command else ["--lambda", "0.1"]
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_plm="isolated",
                       OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_orte_execute_quiet="1", OMPI_MCA_btl="self,vader", HWLOC_HIDE_ERRORS="2",
                       OMPI_MCA_btl_vader_single_copy_mechanism="none", OPENBLAS_NUM_THREADS="1",
                       OMPI_MCA_hwloc_base_binding_policy="none")
    subprocess.run([mpirun, "--oversubscribe", "-n", str(processes), sys.executable, os.path.abspath(__file__),
                    "--child", okra, *command.split(), *flags], cwd=folder, env=environment, check=True,
                   stdout=subprocess.DEVNULL, timeout=500)
    peaks = list(folder.glob("peak.*"))
    assert len(peaks) == processes, peaks
    return max(int(p.read_text()) for p in peaks)


def main(okra, mpirun, times=1, processes=4):
    import numpy as np
    failed = []
    with tempfile.TemporaryDirectory() as scratch:
        folder, random = pathlib.Path(scratch), np.random.default_rng(1)
        for name, rows in (("few", FEW), ("2304", times * SMALL), ("3072", times * LARGE)):
            np.save(folder / f"x{name}.npy", random.normal(size=(rows, 6)))
            np.save(folder / f"y{name}.npy", random.normal(size=(rows, 3)))
        np.save(folder / "A.npy", np.diag([1.0, 1.0, 2.0]))
        np.save(folder / "W.npy", np.ones((3, 3)) - np.eye(3))
        for command, rows, matrices in COMMANDS:
            few = peak(folder, okra, mpirun, processes, "xfew.npy", command)
            many = peak(folder, okra, mpirun, processes, f"x{rows}.npy", command)
            n = times * rows
            share, more = 8 * n * n / processes, many - few
            good = more <= matrices * share + BUFFERS
            print(f"{command}: {more / 2**20:.0f} MiB more than {few / 2**20:.0f}; a share {share / 2**20:.1f} MiB: "
                  f"{(more - BUFFERS) / share:.1f} to {more / share:.1f} of them, {matrices} allowed"
                  f"{'' if good else ' FAILED'}", flush=True)
            failed += [] if good else [command]
    assert not failed, failed


if sys.argv[1] == "--child":
    subprocess.run(sys.argv[2:], check=True)
    bytes_used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    pathlib.Path("peak." + os.environ["OMPI_COMM_WORLD_RANK"]).write_text(str(bytes_used))
else:
    main(os.path.abspath(sys.argv[1]), sys.argv[2], *map(int, sys.argv[3:]))
