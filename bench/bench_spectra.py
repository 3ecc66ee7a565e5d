"""Kernels of spectra: Gram matrices of 4,000 spectra of 60 peaks, beside plain loops over all pairs of peaks in
NumPy on a part of them."""
import ctypes
import time

import numpy as np

from common import THREADS, Handle, check, context, finish, lib, report

N, PEAKS, PART = 4000, 60, 60


def spectra(rng, n):
    """Peaks of random formulas: multiples of atom masses, so that many coincide."""
    mz, height = [], []
    for _ in range(n):
        atoms = rng.integers(0, 12, (PEAKS, 4))
        m = 15 + atoms @ np.array([12.0, 1.0078250, 14.003074, 15.994915]) * (1 + 2e-6 * rng.normal())
        mz.append(np.sort(m + 1e-4 * np.arange(PEAKS)))
        height.append(rng.exponential(size=PEAKS) + 1e-3)
    return np.concatenate(mz), np.concatenate(height)


def data(mz, height, n):
    h, offsets = Handle("okra_data_free"), np.arange(0, (n + 1) * PEAKS, PEAKS, dtype=np.int64)
    about = (ctypes.c_char_p * n)(*[b"PEPMASS=700\nCHARGE=1+\n"] * n)
    check(lib.okra_data_spectra(offsets.ctypes.data_as(ctypes.c_void_p), mz.ctypes.data_as(ctypes.c_void_p),
                                height.ctypes.data_as(ctypes.c_void_p), about, ctypes.c_int64(n),
                                ctypes.byref(h.p)))
    return h


def gram(ctx, text, x, n):
    k, out = Handle("okra_kernel_free"), np.empty((n, n))
    check(lib.okra_kernel_parse(text.encode(), ctypes.byref(k.p)))
    begin = time.perf_counter()
    check(lib.okra_gram(ctx.p, k.p, x.p, None, out.ctypes.data_as(ctypes.c_void_p), ctypes.c_int64(n)))
    return time.perf_counter() - begin, out


def plain(mz, height, n):
    """The same by all pairs of peaks."""
    mz, height = mz.reshape(n, PEAKS), height.reshape(n, PEAKS)
    weight = np.sqrt(height / height.max(axis=1, keepdims=True))
    width = np.maximum(1e-5 * mz, 0.001)
    out, begin = np.empty((n, n)), time.perf_counter()
    for i in range(n):
        square = width[i][None, :, None] ** 2 + width[:, None, :] ** 2
        far = (mz[i][None, :, None] - mz[:, None, :]) ** 2 / (2 * square)
        value = np.sqrt(2 * width[i][None, :, None] * width[:, None, :] / square) * np.exp(-far)
        out[i] = np.einsum("p,jpq,jq->j", weight[i], value, weight)
    return time.perf_counter() - begin, out


def main():
    rng, ctx = np.random.default_rng(0), context(THREADS)
    mz, height = spectra(rng, N)
    whole, part = data(mz, height, N), data(mz, height, PART)
    slow, want = plain(mz[:PART * PEAKS], height[:PART * PEAKS], PART)
    fast, got = gram(ctx, "ppk", part, PART)
    worst = float(np.abs(got - want).max() / want.max())
    report("ppk equals all pairs of peaks: largest difference, of 1e-12", worst / 1e-12, 1, better="lower")
    for text, target in (("ppk", 10), ("ppk(of=losses)", 10), ("mz-bins", 10), ("mz-match", 60)):
        spent = min(gram(ctx, text, whole, N)[0] for _ in range(2))
        report(f"{text}: Gram matrix of 4,000 spectra of 60 peaks, seconds of {target}", spent / target, 1,
               better="lower", seconds=spent)
        if text == "ppk":
            report("the same beside NumPy over all pairs of peaks, times faster per value",
                   slow / PART**2 / (spent / N**2), 1)


main()
finish()
