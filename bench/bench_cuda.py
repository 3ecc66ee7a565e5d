"""The engine cuda against the same algebra in PyTorch and CuPy, against GPyTorch, and against two
cores of the host, on one GPU.

Times of fits are from NumPy arrays to a fitted model, CUDA being up. Data: standard normal rows of
64 numbers, 16 outputs, rbf(gamma=1/64), lambda 0.1. PyTorch and CuPy hold their own Gram matrix,
factor it by cuSOLVER and solve. GPyTorch's exact GPs, one for each of the 16 outputs (a batch of them
would hold 16 kernel matrices), predict at fixed parameters in double precision, by Cholesky and as
GPyTorch does by default, by conjugate gradients whose predictions differ from okra's by what is told;
seconds of one output alone are told too. Best of the runs made."""
import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import types

os.environ.setdefault("OKRA_BENCH_THREADS", str(os.cpu_count()))
import common  # noqa: E402
from common import BUILD, cost, report, skip  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
os.environ.setdefault("OKRA_LIBRARY", os.path.join(os.path.abspath(BUILD), "libokra.so"))
sys.path.insert(0, os.path.join(HERE, "..", "python"))

import numpy as np  # noqa: E402
from peers_cuda import (GAMMA, LAMBDA, OUTPUTS, WIDTH, cupy_fit, gpytorch_fit,  # noqa: E402
                        problem, torch_fit, torch_gram)

BEGIN, LIMIT = time.time(), float(os.environ.get("OKRA_BENCH_SECONDS", "540"))
KX = f"rbf(gamma={GAMMA})"


def left():
    return LIMIT - (time.time() - BEGIN)


def best(f, runs):
    times = []
    for _ in range(runs):
        begin = time.perf_counter()
        f()
        times.append(time.perf_counter() - begin)
    return min(times)


def okra_fit(X, Y, engine="cuda", **more):
    import okra
    return okra.IOKR(kx=KX, ky="linear", lam=LAMBDA, engine=engine, **more).fit(X, Y)


# ---- parts that run in a process of their own ----

def cpu():
    """Two cores of the host: fits of n = 8,192."""
    X, Y = problem(8192)
    for name, more in (("identity", {}), ("ccov", {"operator": "ccov"})):
        begin = time.perf_counter()
        okra_fit(X, Y, "host", n_jobs=2, **more)
        print(json.dumps({name: time.perf_counter() - begin}), flush=True)


def verbs(what, *sizes):
    """Seconds of single verbs by size."""
    program = os.environ.get("OKRA_BENCH_VERBS", os.path.join(BUILD, "bench", "bench_engine_verbs"))
    out = subprocess.run([program, "cuda", what, *map(str, sizes)], check=True,
                         capture_output=True, text=True, env=dict(os.environ)).stdout
    return {item["n"]: item["seconds"] for item in map(json.loads, out.splitlines())}


def factorisations(torch):
    sizes = (16384, 32768, 65536)
    ours = verbs("cholesky", *sizes)
    for n in sizes:
        K = torch_gram(torch, torch.as_tensor(problem(n)[0]).cuda())
        K.diagonal().add_(LAMBDA)

        def once():
            torch.linalg.cholesky(K)
            torch.cuda.synchronize()
        once()
        theirs = best(once, 3)
        del K
        torch.cuda.empty_cache()
        report(f"Cholesky at n = {n:,}: rate, of PyTorch's", theirs / ours[n], 0.9,
               okra_seconds=ours[n], torch_seconds=theirs, tflops=n ** 3 / 3e12 / ours[n])


def fits(torch):
    import cupy
    okra_fit(*problem(2000))
    for n, target, runs in ((32768, 1.0, 3), (65536, 4.5, 2), (100000, 14.0, 1)):
        X, Y = problem(n)
        ours = best(lambda: okra_fit(X, Y), runs)
        report(f"fit at n = {n:,}, identity: seconds", ours, target, better="lower")
        if n == 100000:
            continue
        torch_fit(torch, X[:2000], Y[:2000])
        theirs = best(lambda: torch_fit(torch, X, Y), runs)
        torch.cuda.empty_cache()
        report(f"the same: against PyTorch at n = {n:,}", theirs / ours, 1.0, okra_seconds=ours,
               torch_seconds=theirs)
        cupy_fit(cupy, X[:2000], Y[:2000])
        theirs = best(lambda: cupy_fit(cupy, X, Y), runs)
        cupy.get_default_memory_pool().free_all_blocks()
        report(f"the same: against CuPy at n = {n:,}", theirs / ours, 1.0, okra_seconds=ours,
               cupy_seconds=theirs)
    X, Y = problem(4096)
    mine = okra_fit(X, Y)
    host = okra_fit(X, Y, "host")
    difference = np.abs(mine.predict(X[:512]) - host.predict(X[:512])).max()
    report("predictions at n = 4,096: largest difference from the host's", float(difference), 1e-9,
           better="lower")


def gpytorch():
    n = 50000
    X, Y = problem(n)
    ours = best(lambda: okra_fit(X, Y), 2)
    mine = okra_fit(X, Y).predict(X[:16])
    for how, name in (("cholesky", "by Cholesky"), ("default", "as it does by default")):
        done = subprocess.run([sys.executable, __file__, "gpytorch", how, str(n)],
                              capture_output=True, text=True,
                              timeout=max(20, min(120, left() - 150)))
        sys.stderr.write(done.stderr[-600:])
        found = {item["way"]: item for item in map(json.loads, done.stdout.splitlines())}
        if "all" not in found:
            print(f"gpytorch {how}: status {done.returncode}", file=sys.stderr)
            continue
        theirs = found["all"]
        difference = np.abs(np.array(theirs["mean"]) - mine.T).max()
        report(f"fit of 16 outputs at n = {n:,}: against GPyTorch's exact GPs, {name}",
               theirs["seconds"] / ours, 3.0, okra_seconds=ours,
               gpytorch_seconds=theirs["seconds"], of_one_output=found["one"]["seconds"],
               largest_difference=float(difference))


def operators(host):
    n = 8192
    X, Y = problem(n)
    syevd = verbs("eigh", n)[n]
    okra_fit(X[:500], Y[:500], operator="ccov")
    ccov = best(lambda: okra_fit(X, Y, operator="ccov"), 2)
    report("ccov at n = 8,192: in units of two eigendecompositions", ccov / (2 * syevd), 2.0,
           better="lower", seconds=ccov, eigendecomposition_seconds=syevd)
    import okra
    import torch
    A = torch.rand(n, n, dtype=torch.float64, device="cuda")

    def product():
        A @ A
        torch.cuda.synchronize()
    product()
    one = best(product, 3)
    del A
    torch.cuda.empty_cache()
    leave = best(lambda: okra.IOKRCV(kx=KX, ky="linear", lam=np.logspace(-6, 1, 50), cv="loo",
                                     engine="cuda").fit(X, Y), 2)
    report("leave-one-out of 50 lambda at n = 8,192, with the last fit: in units of one "
           "eigendecomposition and one product", leave / (syevd + one), 1.5, better="lower",
           seconds=leave, product_seconds=one)
    few = best(lambda: okra.IOKRCV(kx=KX, ky="linear", lam=np.logspace(-3, 1, 8), cv="loo",
                                   engine="cuda").fit(X, Y), 2)
    report("leave-one-out of 8 lambda at n = 8,192, with the last fit: in units of one "
           "eigendecomposition", few / syevd, 1.0, better="lower", seconds=few)
    sizes = (1024, 2048, 4096, 8192, 16384)
    whole, one_lambda = verbs("eigh", *sizes), verbs("leave", *sizes)
    for size in sizes:
        cost(f"leave-one-out at n = {size:,}: factors in the time of one eigendecomposition",
             count=whole[size] / one_lambda[size], eigendecomposition_seconds=whole[size],
             factor_seconds=one_lambda[size])
    identity = best(lambda: okra_fit(X, Y), 3)
    host.wait(timeout=max(1, left() - 20))
    for line in host.stdout.read().splitlines():
        for name, seconds in json.loads(line).items():
            mine = {"identity": identity, "ccov": ccov}[name]
            report(f"fit at n = 8,192, {name}: against two cores of the host", seconds / mine, 30,
                   okra_seconds=mine, host_seconds=seconds)


def again():
    """The same fit twice: the same bits."""
    X, Y = problem(6000)
    for name, more in (("identity", {}), ("ccov", {"operator": "ccov"}),
                       ("low rank", {"low_rank_x": "nystrom(rank=500)"})):
        twice = [okra_fit(X, Y, **more).predict(X[:512]) for _ in range(2)]
        report(f"two fits at n = 6,000, {name}: predictions that differ in a bit",
               float((twice[0].view(np.int64) != twice[1].view(np.int64)).sum()), 0,
               better="lower")


def streamed():
    """Rows from a memory-mapped file, under a budget, by the program."""
    n, rank, budget = 10_000_000, 10000, 16
    if left() < 120:
        raise RuntimeError("no time left")
    rng, folder = np.random.default_rng(1), tempfile.mkdtemp()
    names = [os.path.join(folder, name) for name in ("x.npy", "y.npy", "model.okra")]
    X = np.lib.format.open_memmap(names[0], "w+", float, (n, WIDTH))
    Y = np.lib.format.open_memmap(names[1], "w+", float, (n, OUTPUTS))
    for i in range(0, n, 1_000_000):
        some = rng.standard_normal((1_000_000, WIDTH))
        X[i:i + 1_000_000], Y[i:i + 1_000_000] = some, np.tanh(some[:, :OUTPUTS])
    del X, Y
    program = os.path.join(os.environ.get("OKRA_BIN", BUILD), "okra")
    begin = time.perf_counter()
    try:
        fit = subprocess.Popen([program, "fit", "--x", names[0], "--y", names[1], "--kx", KX, "--ky",
                        "linear", "--lambda", str(LAMBDA), "--low-rank-x", f"nystrom(rank={rank})",
                        "--engine", "cuda", "--memory", f"{budget}G", "-o", names[2], "--quiet"])
        own = resident = 0
        while fit.poll() is None:
            with open(f"/proc/{fit.pid}/status") as f:
                sizes = dict(line.split(":", 1) for line in f if line.startswith("Rss"))
            if sizes:
                now = {name: int(text.split()[0]) * 1024 for name, text in sizes.items()}
                own, resident = max(own, now["RssAnon"]), max(resident, sum(now.values()))
            time.sleep(0.1)
    finally:
        shutil.rmtree(folder)
    if fit.returncode != 0:
        raise RuntimeError(f"okra fit: status {fit.returncode}")
    cost(f"Nyström ridge at n = {n:,}, rank {rank:,}, from a file of {n * WIDTH * 8 / 2**30:.1f} "
         f"GiB, --memory {budget}G", seconds=time.perf_counter() - begin,
         host_bytes=own, host_bytes_with_mapped_files=resident)


def nystrom():
    import okra
    rng = np.random.default_rng(1)
    for n, rank, target in ((1_000_000, 1000, 0.5), (1_000_000, 10000, 7.0)):
        X = np.empty((n, WIDTH))
        for i in range(0, n, 1_000_000):
            rng.standard_normal(out=X[i:i + 1_000_000])
        Y = np.tanh(X[:, :OUTPUTS])
        x, y, low = okra.as_data(X), okra.as_data(Y), f"nystrom(rank={rank})"
        seconds = best(lambda: okra_fit(x, y, low_rank_x=low), 3)
        arrays = best(lambda: okra_fit(X, Y, low_rank_x=low), 2)
        report(f"Nyström ridge at n = {n:,}, rank {rank:,}, beyond reading the data: seconds",
               seconds, target, better="lower", from_arrays_seconds=arrays)
        del x, y
        del X, Y


# ---- twin kernel learning, kernels of the host ----

class Base(ctypes.Structure):
    """okra_twin_base"""
    _fields_ = [("kernels", ctypes.POINTER(ctypes.c_void_p)), ("count", ctypes.c_size_t),
                ("degree", ctypes.c_int), ("low_rank", ctypes.c_char_p)]


def learned(ctx, x, y, degree):
    """The HSIC of all pairs of powers of two kernels."""
    lib, bases = common.lib, []
    lib.okra_twin_matrix.restype = ctypes.POINTER(ctypes.c_double)
    for text in (KX, "rbf(sigma=4)"):
        kernel = common.Handle("okra_kernel_free")
        common.check(lib.okra_kernel_parse(text.encode(), ctypes.byref(kernel.p)))
        base = Base((ctypes.c_void_p * 1)(kernel.p), 1, degree, None)
        bases.append((kernel, base))
    twin, rows, cols = common.Handle("okra_twin_free"), ctypes.c_int64(), ctypes.c_int64()
    common.check(lib.okra_twin_learn(ctx.p, x.p, y.p, ctypes.byref(bases[0][1]),
                                     ctypes.byref(bases[1][1]), False, ctypes.byref(twin.p)))
    C = lib.okra_twin_matrix(twin.p, ctypes.byref(rows), ctypes.byref(cols))
    return np.ctypeslib.as_array(C, shape=(rows.value, cols.value)).copy()


def on(engine, threads=0):
    ctx = common.context(threads)
    common.check(common.lib.okra_context_set_engine(ctx.p, engine.encode()))
    return ctx


def twin():
    n, degree = 20000, 11
    X, Y = problem(n)
    x, y = common.dense(X), common.dense(Y)
    gpu, host = on("cuda"), on("host", 2)
    mine = learned(gpu, x, y, degree)
    ours = best(lambda: learned(gpu, x, y, degree), 3)
    begin = time.perf_counter()
    theirs = learned(host, x, y, degree)
    two_cores = time.perf_counter() - begin
    report(f"twin kernels at n = {n:,}, degrees {degree} and {degree}: against two cores of the host",
           two_cores / ours, 10, okra_seconds=ours, host_seconds=two_cores)
    report(f"twin kernels at n = {n:,}: largest difference from the host's, of the largest value",
           float(np.abs(mine - theirs).max() / np.abs(theirs).max()), 1e-9, better="lower")


def strings():
    """Kernel values that only the host computes, copied to the GPU meanwhile. Coefficients
    alone come back, not n x n weights."""
    import okra
    from okra._library import Context
    n, kernel, rng = 16384, "spectrum(k=3) | normalize", np.random.default_rng(4)
    letters, lengths = np.array(list("acgt")), rng.integers(40, 80, n)
    texts = ["".join(rng.choice(letters, length)) for length in lengths]
    x, (_, Y) = okra.as_data(texts), problem(n)
    out = np.empty((n, n))

    def fit():
        okra.Model.fit(x, Y, {"kx": kernel, "ky": "linear", "lambda": LAMBDA, "keep": "coefficients"},
                       Context(engine="cuda"))

    fit()
    ours = best(fit, 2)
    ctx, same = common.context(0), types.SimpleNamespace(p=ctypes.c_void_p(x.pointer))
    common.gram(ctx, kernel, same, n, out)
    alone = best(lambda: common.gram(ctx, kernel, same, n, out), 2)
    report(f"fit of strings at n = {n:,}: in units of the host's kernel values alone", ours / alone,
           1.5, better="lower", okra_seconds=ours, kernel_values_seconds=alone)


# ---- candidates ----

POPCOUNT = r"""
extern "C" __global__ void count(int *out, int reps) {
    int s[8] = {0};
    unsigned a = threadIdx.x * 2654435761u;
    for (int r = 0; r < reps; r++) {
        #pragma unroll
        for (int t = 0; t < 8; t++) s[t] += __popc(a & (a * t + r));
        a += r;
    }
    int z = 0;
    for (int t = 0; t < 8; t++) z += s[t];
    out[blockIdx.x * blockDim.x + threadIdx.x] = z;
}"""


def popcount_bound():
    """Pairs of 1,024 bits that the device counts a second: 32 instructions each."""
    import cupy
    blocks, reps = cupy.cuda.Device().attributes["MultiProcessorCount"] * 8, 20000
    out = cupy.zeros(blocks * 256, dtype=cupy.int32)
    kernel = cupy.RawKernel(POPCOUNT, "count")

    def once():
        kernel((blocks,), (256,), (out, np.int32(reps)))
        cupy.cuda.Device().synchronize()
    once()
    return blocks * 256 * reps * 8 / 32 / best(once, 3)


def random_bits(torch, rows, seed):
    """Rows of 1,024 bits, a quarter of them set, made on the device."""
    generator = torch.Generator(device="cuda").manual_seed(seed)
    out = np.empty((rows, 128), dtype=np.uint8)
    for i in range(0, rows, 5_000_000):
        some = min(5_000_000, rows - i)
        part = [torch.randint(0, 256, (some, 128), dtype=torch.uint8, device="cuda",
                              generator=generator) for _ in range(2)]
        out[i:i + some] = (part[0] & part[1]).cpu().numpy()
    torch.cuda.empty_cache()
    return out


class Request(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("candidates", ctypes.c_void_p),
                ("ranges", ctypes.c_void_p), ("weights", ctypes.c_bool), ("embedding", ctypes.c_bool),
                ("confidence", ctypes.c_bool)]


def candidates(torch):
    rows = int(os.environ.get("OKRA_BENCH_CANDIDATES", "100000000"))
    bound, lib, check = popcount_bound(), common.lib, common.check
    ctx = common.context(0)
    check(lib.okra_context_set_engine(ctx.p, b"cuda"))
    every = common.bits(random_bits(torch, rows, 1), 1024)
    queries = common.bits(random_bits(torch, 1000, 2), 1024)
    for n in (256, 7000):
        x = common.bits(random_bits(torch, n, 3), 1024)
        model = common.fit(ctx, x, x, kx="tanimoto", ky="tanimoto", **{"lambda": 0.1})
        how = common.options("okra_predict_options", {"top": 10})
        request = Request(ctypes.sizeof(Request), every.p)
        found = common.Handle("okra_prediction_free")
        begin = time.perf_counter()
        check(lib.okra_predict(ctx.p, model.p, queries.p, how.p, ctypes.byref(request),
                               ctypes.byref(found.p)))
        seconds = time.perf_counter() - begin
        report(f"{rows:,} candidates of 1,024 bits, 1,000 queries, top 10, {n:,} training outputs: "
               "evaluations a second, of the popcount bound", rows * 1000 / seconds / bound, 0.3,
               seconds=seconds, evaluations_per_second=rows * 1000 / seconds,
               kernel_values_per_second=rows * n / seconds, popcount_bound_per_second=bound)


def main():
    try:
        import torch
    except ImportError:
        skip("PyTorch is not installed")
    if not torch.cuda.is_available():
        skip("there is no GPU")
    driver = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"],
                            capture_output=True, text=True).stdout.strip()
    host = common.machine()
    common.machine = lambda: (f"{torch.cuda.get_device_name()}, driver {driver}, PyTorch "
                              f"{torch.__version__}; {host}")
    common.origin()
    env = dict(os.environ, OPENBLAS_NUM_THREADS="2", OMP_NUM_THREADS="2")
    cores = subprocess.Popen([sys.executable, __file__, "cpu"], stdout=subprocess.PIPE, text=True,
                             env=env)
    wanted = os.environ.get("OKRA_BENCH_PARTS", "factorisations,fits,gpytorch,again,nystrom,"
                                                "candidates,twin,strings,operators,streamed").split(",")
    parts = {"factorisations": lambda: factorisations(torch), "fits": lambda: fits(torch),
             "gpytorch": gpytorch, "nystrom": nystrom, "candidates": lambda: candidates(torch),
             "operators": lambda: operators(cores), "again": again, "streamed": streamed, "twin": twin,
             "strings": strings}
    broken = []
    for name in wanted:
        begin = time.time()
        try:
            parts[name]()
        except Exception as error:  # the other parts still count
            print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr)
            broken.append(name)
        print(f"{name}: {time.time() - begin:.0f} s", file=sys.stderr)
        torch.cuda.empty_cache()
    cores.kill()
    if broken:
        raise SystemExit(f"did not finish: {', '.join(broken)}")
    common.finish()


if __name__ == "__main__":
    if sys.argv[1:2] == ["cpu"]:
        cpu()
    elif sys.argv[1:2] == ["gpytorch"]:
        gpytorch_fit(sys.argv[2], int(sys.argv[3]))
    else:
        main()
