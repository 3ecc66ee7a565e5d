"""One prediction at a time from 4,000 training pairs, the nearest training output under several
output kernels: milliseconds of the 8 that one may take after the first.

The first prediction computes what the others need of the training outputs, the fifth the inverse
of the factor of the input kernel, which takes longest. The time is the median over 200 inputs, by
the library; `bytes_per_second` is what it reads: half of that inverse and half of the output
kernel's matrix."""
import ctypes
import statistics
import time

import numpy as np

from common import THREADS, Handle, bits, check, context, dense, finish, fit, lib, report

N, TESTS = 4000, 200


def main():
    rng, ctx = np.random.default_rng(0), context(THREADS)
    x, queries = rng.normal(size=(N, 64)), rng.normal(size=(TESTS, 64))
    packed = rng.integers(0, 256, (N, 32), dtype=np.uint8) & rng.integers(0, 256, (N, 32), dtype=np.uint8)
    outputs = {"tanimoto": bits(packed, 256), "rbf(sigma=4)": dense(rng.normal(size=(N, 20))),
               "laplacian(gamma=0.1)": dense(rng.normal(size=(N, 20)))}
    for kernel, y in outputs.items():
        model = fit(ctx, dense(x), y, kx="rbf(sigma=8)", ky=kernel, **{"lambda": 0.1})
        times = []
        for i in range(TESTS + 1):
            one, found = dense(queries[i % TESTS:i % TESTS + 1]), Handle("okra_prediction_free")
            begin = time.perf_counter()
            check(lib.okra_predict(ctx.p, model.p, one.p, None, None, ctypes.byref(found.p)))
            times.append(1e3 * (time.perf_counter() - begin))
        median = statistics.median(times[1:])
        report(f"one prediction, n=4,000, {kernel}: milliseconds after the first, of 8",
               median / 8, 1, better="lower", milliseconds=median, first=times[0],
               least=min(times[1:]), longest=max(times[1:]), bytes_per_second=1e3 * 8 * N * N / median)
    finish()


main()
