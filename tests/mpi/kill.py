#!/usr/bin/env python3
"""kill.py OKRA MPIRUN COUNT [SEED]: one of three processes killed (SIGKILL) at COUNT random moments of a fit, a selection and
a prediction each. The three commands are attacked at the same time: mpirun sleeps a second before it ends after a kill.

The job ends within seconds, with a status that is not 0 and nobody left; the result is not there or whole; and the
job started again gives that of an undisturbed one, to the byte.
"""
import concurrent.futures
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
SEED = int(sys.argv[4]) if len(sys.argv) > 4 else 1
ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_plm="isolated",
           OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_orte_execute_quiet="1", OMPI_MCA_btl="self,vader", OMPI_MCA_btl_vader_single_copy_mechanism="none")
PROCESSES, SECONDS, ALONE = 3, 20, 5


# Each command, and the file that it writes.
FLAGS = "--threads 1 --engine mpi:32".split()
COMMANDS = [
    ("fit --x x.npy --y y.npy --kx rbf(sigma=4) --ky rbf(sigma=4) --operator cov --lambda 0.1 -o m.okra", "m.okra"),
    ("select --x x.npy --y y.npy --kx rbf(sigma={2,4}) --lambda 1e-3..1e0 --cv loo -o s.okra", "s.okra"),
    ("predict w.okra --x x.npy --candidates y.npy --top 3 -o p.tsv", "p.tsv")]


def start(folder, command):
    return subprocess.Popen([MPIRUN, "--oversubscribe", "-n", str(PROCESSES), OKRA, *command.split(), "-q", *FLAGS],
                            cwd=folder, env=ENV, start_new_session=True, stdin=subprocess.DEVNULL,
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


def ended(job, killed=False):
    """The status of a job that must end by itself; None: its processes have, but not mpirun, which was killed then. After the
    kill of a process mpirun may be alone for ALONE seconds; else it has perhaps not started any, and gets all SECONDS."""
    until, last = time.monotonic() + SECONDS, time.monotonic()
    while time.monotonic() < until and not (killed and time.monotonic() - last > ALONE):
        try:
            job.communicate(timeout=0.1)
            return job.returncode
        except subprocess.TimeoutExpired:
            left = ranks(job)
            last = time.monotonic() if left else last
    left = ranks(job)
    os.killpg(job.pid, signal.SIGKILL)
    job.communicate()
    assert not left, f"processes {left} did not end within {SECONDS} s"
    return None


def left_over(folder, before):
    return sorted(set(os.listdir(folder)) - before)


def kill_one(folder, command, took, chance):
    """Kills one process at a random moment; whether the job ended by that, and after how long nobody was left."""
    job = start(folder, command)
    time.sleep(chance.uniform(0, took))
    alive = ranks(job)
    victim = chance.choice(alive) if alive else 0
    try:
        os.kill(victim or 2**22 + 1, signal.SIGKILL)
    except ProcessLookupError:  # it had ended
        victim = 0
    begin = time.monotonic()
    status = ended(job, bool(victim))
    assert status == 0 or victim, status
    left, until = alive, time.monotonic() + SECONDS
    while left and time.monotonic() < until:  # mpirun does not wait for those that it has killed
        left = [p for p in left if alive_still(p)]
        time.sleep(0.01)
    assert not left, f"processes {left} are left"
    return status, time.monotonic() - begin


def attack(folder, command, name):
    """COUNT kills of one command: (how many ended a job, how many mpirun survived, the slowest end)."""
    output, before, chance = folder / name, set(os.listdir(folder)), random.Random(f"{SEED} {name}")
    begin = time.monotonic()
    assert ended(start(folder, command)) == 0
    took, whole = time.monotonic() - begin, output.read_bytes()
    output.unlink()
    killed, hung, slowest = 0, 0, 0
    for _ in range(COUNT):
        status, seconds = kill_one(folder, command, took, chance)
        killed, hung, slowest = killed + (status != 0), hung + (status is None), max(slowest, seconds)
        assert not output.exists() or output.read_bytes() == whole, f"half of {name}"
        output.unlink(missing_ok=True)
        for path in left_over(folder, before):  # a temporary file of rank 0, when it was the victim
            assert path.startswith(name + ".") and ".tmp" in path, path
            (folder / path).unlink()
    assert ended(start(folder, command)) == 0 and output.read_bytes() == whole, f"another {name}"
    output.unlink()
    return killed, hung, slowest


def prepare(folder):
    """The data, and a model for the prediction."""
    folder.mkdir()
    random_ = np.random.default_rng(1)
    for name in "xy":
        np.save(folder / f"{name}.npy", random_.normal(size=(300, 8)))
    subprocess.run([OKRA, "fit", "-q", "--x", "x.npy", "--y", "y.npy", "--kx", "rbf(sigma=4)", "--ky", "rbf(sigma=4)",
                    "--lambda", "0.1", "-o", "w.okra"], cwd=folder, check=True)
    return folder


def main():
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(len(COMMANDS)) as pool:
        attacks = [(command, pool.submit(attack, prepare(pathlib.Path(scratch) / name), command, name))
                   for command, name in COMMANDS]
        total = 0
        for command, future in attacks:
            killed, hung, slowest = future.result()
            total += killed
            print(f"{command.split()[0]}: {COUNT} jobs, {killed} of them killed; after {slowest:.1f} s nobody was left; "
                  f"{hung} times mpirun itself did not end", flush=True)
        assert total > 0 or COUNT < 3


main()
