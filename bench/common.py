"""What the benchmarks share: libokra through ctypes, interleaved timing, JSON lines.

A claim is a ratio of two times taken in turns in one run, best of several each, because
machines are shared and noisy. Both sides use the same number of threads.
"""
import ctypes
import datetime
import json
import os
import platform
import subprocess
import sys
import time

THREADS = int(os.environ.get("OKRA_BENCH_THREADS", "2"))
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(name, str(THREADS))

import numpy as np  # noqa: E402  (after the thread counts)

BUILD = os.environ.get(
    "OKRA_BUILD", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "build"))
lib = ctypes.CDLL(os.path.join(BUILD, "libokra.so"))
lib.okra_message.restype = ctypes.c_char_p
lib.okra_prediction_objects.restype = ctypes.c_void_p
lib.okra_data_values.restype = ctypes.POINTER(ctypes.c_double)
_int = ctypes.c_int64


def check(status):
    if status != 0:
        raise RuntimeError(lib.okra_message().decode())


class Handle:
    """An opaque pointer, freed with the function of that name."""

    def __init__(self, free):
        self.p, self._free = ctypes.c_void_p(), free

    def __del__(self):
        if self.p:
            getattr(lib, self._free)(self.p)


def context(threads=THREADS):
    h = Handle("okra_context_free")
    check(lib.okra_context_create(ctypes.byref(h.p)))
    check(lib.okra_context_set_threads(h.p, threads))
    return h


def dense(x):
    assert x.dtype == np.float64 and x.flags.c_contiguous
    h = Handle("okra_data_free")
    h.keep = x
    check(lib.okra_data_dense(x.ctypes.data_as(ctypes.c_void_p), _int(x.shape[0]),
                              _int(x.shape[1]), _int(x.shape[1]), ctypes.byref(h.p)))
    return h


def bits(packed, d):
    h = Handle("okra_data_free")
    check(lib.okra_data_bits(packed.ctypes.data_as(ctypes.c_void_p), _int(packed.shape[0]),
                             _int(d), _int(packed.shape[1]), ctypes.byref(h.p)))
    return h


def gram(ctx, expression, data, n, out):
    k = Handle("okra_kernel_free")
    check(lib.okra_kernel_parse(expression.encode(), ctypes.byref(k.p)))
    check(lib.okra_gram(ctx.p, k.p, data.p, None, out.ctypes.data_as(ctypes.c_void_p),
                        _int(n)))


def options(create, values):
    o = Handle("okra_options_free")
    check(getattr(lib, create)(ctypes.byref(o.p)))
    for name, value in values.items():
        check(lib.okra_options_set(o.p, name.encode(), str(value).encode()))
    return o


def fit(ctx, x, y, **values):
    m, o = Handle("okra_model_free"), options("okra_fit_options", values)
    check(lib.okra_fit(ctx.p, x.p, y.p, o.p, ctypes.byref(m.p)))
    return m


def predict(ctx, model, x, shape, **values):
    """The decoded dense outputs, as an array of that shape."""
    p, o = Handle("okra_prediction_free"), options("okra_predict_options", values)
    check(lib.okra_predict(ctx.p, model.p, x.p, o.p, None, ctypes.byref(p.p)))
    ld = _int()
    values = lib.okra_data_values(ctypes.c_void_p(lib.okra_prediction_objects(p.p)),
                                  ctypes.byref(ld))
    return np.ctypeslib.as_array(values, shape=shape).copy()


def seconds(functions, runs=5):
    """Best time of each function, the functions taken in turns."""
    best = {name: float("inf") for name in functions}
    for _ in range(runs):
        for name, f in functions.items():
            begin = time.perf_counter()
            f()
            best[name] = min(best[name], time.perf_counter() - begin)
    return best


missed = []  # names of the claims that did not hold
_said = []   # whether the origin was printed


def machine():
    """The class of machine: processor, cores, memory."""
    name = platform.processor() or platform.machine()
    with open("/proc/cpuinfo") as f:
        for line in f:
            if line.startswith("model name"):
                name = line.split(":", 1)[1].strip()
                break
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    return f"{name}, {os.cpu_count()} cores, {memory:.0f} GiB"


def origin():
    """One JSON line before the first claim: which benchmark, when, of what, on what."""
    if not _said:
        _said.append(True)
        root = os.path.dirname(os.path.abspath(__file__))
        commit = os.environ.get("OKRA_COMMIT") or subprocess.run(
            ["git", "-C", root, "rev-parse", "--short=12", "HEAD"],
            capture_output=True, text=True).stdout.strip() or "unknown"
        print(json.dumps({"run": os.path.splitext(os.path.basename(sys.argv[0]))[0],
                          "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
                          "commit": commit, "machine": machine(), "threads": THREADS,
                          "load": round(os.getloadavg()[0], 1)}), flush=True)


def report(name, ratio, target, better="higher", **more):
    """One JSON line a claim: the measured ratio, its target, whether it is met."""
    origin()
    met = ratio >= target if better == "higher" else ratio <= target
    if not met:
        missed.append(name)
    print(json.dumps({"bench": name, "ratio": float(f"{ratio:.5g}"), "target": target,
                      "better": better, "met": bool(met), "threads": THREADS,
                      **{k: float(f"{v:.5g}") if isinstance(v, float) else v
                         for k, v in more.items()}}), flush=True)
    return met


def cost(name, **values):
    """One line of what was measured without a target."""
    origin()
    print(json.dumps({"cost": name, **{k: float(f"{v:.4g}") if isinstance(v, float) else v
                                       for k, v in values.items()}}), flush=True)


def finish():
    """Ends the benchmark: status 1 where a claim did not hold."""
    raise SystemExit(f"missed: {'; '.join(missed)}" if missed else 0)


def skip(reason):
    print(f"skipped: {reason}")
    raise SystemExit(77)


def peak_bytes():
    """The largest resident size of this process so far."""
    with open("/proc/self/status") as f:
        for line in f:
            if line.startswith("VmHWM"):
                return int(line.split()[1]) * 1024
