"""The Cholesky factor of the engine mpi (engines/mpi/cholesky.c) against pdpotrf of ScaLAPACK in its place.

Two processes of one thread each, first alone and then beside a busy process that this benchmark starts. Both take turns;
a ratio is the median over the rounds of pdpotrf's time over that of okra's own in the same round. The claim is
the larger of the two situations' ratios: at 1 or less, pdpotrf should take the place of okra's code.
"""
import json
import os
import shutil
import statistics
import subprocess
import sys

os.environ["OKRA_BENCH_THREADS"] = "1"

from common import BUILD, finish, report, skip  # noqa: E402

SIZE = 1500
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   OPENBLAS_NUM_THREADS="1", OKRA_ENGINE_PATH=os.path.abspath(BUILD))


def seconds(engine):
    """The best of three factors of one start of two processes."""
    out = subprocess.run(["mpirun", "-q", "--oversubscribe", "-n", "2", os.path.join(BUILD, "bench", "bench_engine_verbs"),
                          engine, "cholesky", str(SIZE)], env=ENVIRONMENT, check=True, capture_output=True, text=True).stdout
    return min(json.loads(line)["seconds"] for line in out.splitlines() if line.startswith("{"))


def measure(rounds):
    pairs = [(seconds("mpi:64"), seconds("mpi:64,scalapack")) for _ in range(rounds)]
    return statistics.median(b / a for a, b in pairs), statistics.median(a for a, _ in pairs)


def main():
    if not shutil.which("mpirun") or not os.path.exists(os.path.join(BUILD, "libokra-mpi.so")):
        skip("needs mpirun and the engine mpi")
    rounds = int(os.environ.get("OKRA_BENCH_ROUNDS", "9"))
    quiet, quiet_s = measure(rounds)
    busy_process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        busy, busy_s = measure(rounds)
    finally:
        busy_process.kill()
        busy_process.wait()
    report(f"factor, n = {SIZE}: pdpotrf of ScaLAPACK against okra's own, the worse of both situations", max(quiet, busy), 1,
           quiet=quiet, beside_a_busy_process=busy, okra_quiet_s=quiet_s, okra_busy_s=busy_s)
    finish()


main()
