"""A million candidates of 1,024 bits under a Tanimoto output kernel: the ten nearest of each
of 1,000 queries, streamed, in a process of its own whose memory is measured.

An evaluation is one candidate's distance to one query's prediction, a combination of all
training outputs. The popcount bound is what this machine counts in this run when every query
meets every candidate once and nothing else is done: shared bits of packed rows."""
import ctypes
import os
import subprocess
import sys
import time

import numpy as np

if __name__ == "__main__" and len(sys.argv) == 1:
    # The candidates are made on disk first, so that the measured process never holds more.
    import tempfile

    import common
    with tempfile.TemporaryDirectory() as folder:
        rng = np.random.default_rng(0)
        for name, rows in (("candidates", 1_000_000), ("train", 256), ("tests", 1000)):
            bytes_ = np.lib.format.open_memmap(f"{folder}/{name}.npy", mode="w+",
                                               dtype=np.uint8, shape=(rows, 128))
            for i in range(0, rows, 50_000):
                part = rng.integers(0, 256, (min(50_000, rows - i), 128), dtype=np.uint8)
                bytes_[i:i + 50_000] = part & rng.integers(0, 256, part.shape, dtype=np.uint8)
            bytes_.flush()
            del bytes_
        out = subprocess.run([sys.executable, __file__, folder], check=True,
                             capture_output=True, text=True).stdout.split()
    decode, bound, memory = float(out[0]), float(out[1]), int(out[2])
    common.report("a million candidates of 1,024 bits, 1,000 queries, top 10: memory, of 2 GiB",
                  memory / 2**31, 1, better="lower", bytes=memory)
    common.report("the same: evaluations a second, of the machine's popcount bound",
                  decode / bound, 0.1, evaluations_per_second=decode,
                  popcount_bound_per_second=bound)
    common.finish()

from common import THREADS, Handle, bits, check, context, fit, lib, options, peak_bytes

QUERIES, TOP = 1000, 10


class Request(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("candidates", ctypes.c_void_p), ("ranges", ctypes.c_void_p),
                ("weights", ctypes.c_bool), ("embedding", ctypes.c_bool),
                ("confidence", ctypes.c_bool)]


def bound(ctx, candidates, queries):
    """Shared bits of every query with the candidates, in blocks that stay in memory."""
    k, rows = Handle("okra_kernel_free"), 20_000
    check(lib.okra_kernel_parse(b"linear", ctypes.byref(k.p)))
    out, counted, spent = np.empty((rows, len(queries))), 0, 0
    held = bits(queries, 1024)
    for i in range(0, 100_000, rows):
        block = bits(np.ascontiguousarray(candidates[i:i + rows]), 1024)
        begin = time.perf_counter()
        check(lib.okra_gram(ctx.p, k.p, block.p, held.p, out.ctypes.data_as(ctypes.c_void_p),
                            ctypes.c_int64(len(queries))))
        spent += time.perf_counter() - begin
        counted += out.size
    return counted / spent


def main(folder):
    load = lambda name, mode=None: np.load(f"{folder}/{name}.npy", mmap_mode=mode)
    ctx, train, tests = context(THREADS), load("train"), load("tests")
    candidates = load("candidates", "r")
    x = bits(train, 1024)
    model = fit(ctx, x, x, kx="tanimoto", ky="tanimoto", **{"lambda": 0.1})
    every, queries = bits(candidates, 1024), bits(tests, 1024)
    how = options("okra_predict_options", {"top": TOP})
    request, found = Request(ctypes.sizeof(Request), every.p), Handle("okra_prediction_free")
    begin = time.perf_counter()
    check(lib.okra_predict(ctx.p, model.p, queries.p, how.p, ctypes.byref(request),
                           ctypes.byref(found.p)))
    spent = time.perf_counter() - begin
    memory = peak_bytes()
    print(QUERIES * len(candidates) / spent, bound(ctx, candidates, tests), memory)


main(sys.argv[1])
