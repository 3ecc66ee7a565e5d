#!/usr/bin/env python3
"""kill.py OKRA MPIRUN COUNT [SEED]: one of three processes killed (SIGKILL) at COUNT random moments.

The job ends within seconds, with a status that is not 0 and nobody left; the model is not there or whole; and the
job started again gives the model of an undisturbed one, to the byte.
"""
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np

OKRA, MPIRUN, COUNT = os.path.abspath(sys.argv[1]), sys.argv[2], int(sys.argv[3])
R = random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_plm="isolated",
           OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_btl="self,vader", OMPI_MCA_btl_vader_single_copy_mechanism="none")
PROCESSES, SECONDS = 3, 20


def start(folder):
    flags = "--x x.npy --y y.npy --kx rbf(sigma=4) --ky rbf(sigma=4) --operator cov --lambda 0.1 --threads 1".split()
    return subprocess.Popen([MPIRUN, "-q", "--oversubscribe", "-n", str(PROCESSES), OKRA, "fit", "-q", *flags,
                             "--engine", "mpi:32", "-o", "m.okra"], cwd=folder, env=ENV, start_new_session=True,
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def ranks(job):
    """The processes of okra whose parent is mpirun."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            name, rest = (entry / "stat").read_text().rsplit(")", 1)
        except OSError:
            continue
        if rest.split()[1] == str(job.pid) and rest.split()[0] != "Z" and name.endswith("(okra"):
            found.append(int(entry.name))
    return found


def alive_still(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def ended(job):
    """The status of a job that must end by itself; None: its processes have, but mpirun, which was killed then."""
    try:
        job.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        left = ranks(job)
        os.killpg(job.pid, signal.SIGKILL)
        job.communicate()
        assert not left, f"processes {left} did not end within {SECONDS} s"
        return None
    return job.returncode


def main():
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        random_ = np.random.default_rng(1)
        for name in "xy":
            np.save(folder / f"{name}.npy", random_.normal(size=(300, 8)))
        model = folder / "m.okra"
        begin = time.monotonic()
        assert ended(start(folder)) == 0
        took, whole = time.monotonic() - begin, model.read_bytes()
        model.unlink()
        killed, slowest, hung = 0, 0, 0
        for _ in range(COUNT):
            job = start(folder)
            time.sleep(R.uniform(0, took))
            alive = ranks(job)
            victim = R.choice(alive) if alive else 0
            if victim:
                os.kill(victim, signal.SIGKILL)
            begin = time.monotonic()
            status = ended(job)
            assert status == 0 or victim, status
            killed += status != 0
            hung += status is None
            left, until = alive, time.monotonic() + SECONDS
            while left and time.monotonic() < until:
                time.sleep(0.05)
                left = [p for p in left if alive_still(p)]
            slowest = max(slowest, time.monotonic() - begin)
            assert not left, f"processes {left} are left"
            assert not model.exists() or model.read_bytes() == whole, "half a model"
            model.unlink(missing_ok=True)
        assert ended(start(folder)) == 0 and model.read_bytes() == whole, "another model"
        assert killed > 0 or COUNT < 3
        print(f"{COUNT} jobs, {killed} of them killed; after {slowest:.1f} s nobody was left; "
              f"{hung} times mpirun itself did not end")


main()
