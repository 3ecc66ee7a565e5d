"""okra's own threads over BLAS (src/linalg: tiles.c, tridiagonal.c, eigh.c) against what well-kept libraries
do in their place: OpenBLAS with its own threads, OpenBLAS's OpenMP build with passive waiting, BLIS with
LAPACK and with libflame.

Everything runs on two processors, with two threads, first alone and then beside a busy process that this
benchmark starts. All take turns in each round; a ratio is the median over the
rounds of the library's time over okra's in the same round. A claim is the larger of the two situations'
ratios: above 1, the library is slower than okra's own code in one of them. Where it is 1 or less for a
library, that library should take the place of okra's code. A call that takes more than LIMIT seconds is ended and
counts as LIMIT, so that its ratio is a lower bound.
"""
import ctypes
import glob
import os
import select
import statistics
import subprocess
import sys
import time

PROCESSORS = sorted(os.sched_getaffinity(0))[:2]
SIZES = {"product": 1000, "factor": 1500, "eigenvectors": 1000}
LIMIT = 10  # seconds: what takes longer is ended and counts as so many
FOLDERS = os.environ.get("OKRA_BENCH_LIBRARIES", "/usr/lib/*/")  # where Debian puts them
# name: files that are loaded in this order
LIBRARIES = {
    "OpenBLAS, its own threads": ("openblas-pthread/libopenblas.so.0",),
    "OpenBLAS on OpenMP, passive waiting": ("openblas-openmp/libopenblas.so.0",),
    "BLIS and LAPACK": ("blis-pthread/libblas.so.3", "lapack/liblapack.so.3"),
    "BLIS and libflame": ("blis-pthread/libblas.so.3", "libflame.so.1"),
}


def answer(files):
    """A process that answers lines WHAT N by seconds, with the libraries of these files."""
    import random
    loaded = [ctypes.CDLL(file, mode=ctypes.RTLD_GLOBAL) for file in files]
    blas, lapack = loaded[0], loaded[-1]
    draw = random.Random(1)
    made = {}

    def matrices(n):
        if n not in made:
            values = (ctypes.c_double * (n * n))(*(draw.gauss(0, 1) for _ in range(n * n)))
            for i in range(n):
                for j in range(i):
                    values[i * n + j] = values[j * n + i]
                values[i * n + i] += 3 * n
            made[n] = values
        return made[n]

    def integer(n):
        return ctypes.byref(ctypes.c_int(n))

    for line in sys.stdin:
        what, n = line.split()[0], int(line.split()[1])
        source = matrices(n)  # the limit covers this: some tenths of a second
        a, w = (ctypes.c_double * (n * n))(), (ctypes.c_double * n)()
        ctypes.memmove(a, source, 8 * n * n)
        size, info = integer(n), ctypes.c_int()
        if what == "product":
            c, one, zero = (ctypes.c_double * (n * n))(), ctypes.byref(ctypes.c_double(1)), ctypes.byref(ctypes.c_double(0))
            ctypes.memset(c, 1, 8 * n * n)
            arguments = (b"T", b"N", size, size, size, one, a, size, source, size, zero, c, size)
            function = blas.dgemm_
        elif what == "factor":
            arguments, function = (b"U", size, a, size, ctypes.byref(info)), lapack.dpotrf_
        else:
            real, whole = 1 + 6 * n + 2 * n * n, 3 + 5 * n
            arguments = (b"V", b"U", size, a, size, w, (ctypes.c_double * real)(), integer(real),
                         (ctypes.c_int * whole)(), integer(whole), ctypes.byref(info))
            function = lapack.dsyevd_
        begin = time.perf_counter()
        function(*arguments)
        seconds = time.perf_counter() - begin
        if info.value != 0:
            sys.exit(f"{what}: info {info.value}")
        print(f"{seconds:.6f}", flush=True)


class Worker:
    def __init__(self, command, **environment):
        self.command, self.environment, self.process = command, {**os.environ, **environment}, None

    def seconds(self, what, n):
        """Of one run. The first one of a process loads libraries and makes the matrix."""
        if not self.process:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                            env=self.environment)
            print("product", 2, file=self.process.stdin, flush=True)
            self.process.stdout.readline()
        print(what, n, file=self.process.stdin, flush=True)
        if select.select([self.process.stdout], [], [], LIMIT)[0]:
            return min(float(self.process.stdout.readline()), LIMIT)
        self.close()
        return LIMIT

    def close(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None


def workers():
    """Those that can run here, okra first."""
    from common import BUILD
    threads = dict(OPENBLAS_NUM_THREADS="2", OMP_NUM_THREADS="2", BLIS_NUM_THREADS="2", OMP_WAIT_POLICY="passive")
    found = {"okra": Worker([os.path.join(BUILD, "bench", "bench_libraries"), "2"])}
    for name, files in LIBRARIES.items():
        paths = [path for file in files for path in glob.glob(FOLDERS + file)[:1]]
        if len(paths) < len(files):
            print(f"left out: {name} is not installed", file=sys.stderr)
            continue
        found[name] = Worker([sys.executable, __file__, "--answer", *paths], **threads)
    return found


def measure(found, rounds):
    """{(name, what): ratio to okra}, medians over the rounds, and okra's median seconds."""
    ratios, own = {}, {}
    for k in range(rounds + 1):
        times = {(name, what): worker.seconds(what, n) for what, n in SIZES.items() for name, worker in found.items()}
        if k == 0:
            continue  # threads have started, memory was touched
        for (name, what), value in times.items():
            if name == "okra":
                own.setdefault(what, []).append(value)
            else:
                ratios.setdefault((name, what), []).append(value / times["okra", what])
    return ({key: statistics.median(values) for key, values in ratios.items()},
            {what: statistics.median(values) for what, values in own.items()})


def main():
    if len(PROCESSORS) < 2:
        from common import skip
        skip("needs two processors")
    os.sched_setaffinity(0, PROCESSORS)
    from common import finish, lib, report
    better = ctypes.c_char_p()
    lib.okra_blas_core(ctypes.byref(better))
    if better.value:  # OpenBLAS does not know this processor: the program starts itself again with this, too
        os.environ["OPENBLAS_CORETYPE"] = better.value.decode()
    rounds = int(os.environ.get("OKRA_BENCH_ROUNDS", "9"))
    found = workers()
    quiet, quiet_s = measure(found, rounds)
    busy_process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        busy, busy_s = measure(found, rounds)
    finally:
        busy_process.kill()
        busy_process.wait()
    for worker in found.values():
        worker.close()
    for name, what in quiet:
        report(f"{what}, n = {SIZES[what]}: {name} against okra's own, the worse of both situations",
               max(quiet[name, what], busy[name, what]), 1, quiet=quiet[name, what],
               beside_a_busy_process=busy[name, what], okra_quiet_s=quiet_s[what], okra_busy_s=busy_s[what])
    finish()


if len(sys.argv) > 2 and sys.argv[1] == "--answer":
    answer(sys.argv[2:])
else:
    main()
