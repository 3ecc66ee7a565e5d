"""The default number of threads against one thread, on two processors that this benchmark has to
itself and on two that it shares with a busy process, which it starts.

A claim is the mean time of fit + predict with the default number of threads over the mean with
one thread, many of both in turns: what a user waits for who sets nothing. `cpu` is the same ratio
of processor time (user and system), which tells of threads that spin. With the operator ccov half
of the time is that of an eigendecomposition.
"""
import os
import subprocess
import sys
import time

PROCESSORS = sorted(os.sched_getaffinity(0))[:2]
os.sched_setaffinity(0, PROCESSORS)  # before any thread is started

from common import context, dense, finish, fit, predict, report, skip  # noqa: E402

import numpy as np  # noqa: E402

SIZES = (100, 200, 400, 800, 1600, 3200)
EIGEN_SIZES = (400, 800, 1200, 1600)  # with an eigendecomposition
BUSY_LARGEST = 1600  # the largest size for which the busy machine has a target
QUIET_TARGET, BUSY_TARGET = 1.05, 1.2


def problem(n, operator, features=32, outputs=8):
    rng = np.random.default_rng(n)
    x, t = rng.normal(size=(n, features)), rng.normal(size=(n // 2, features))
    y = rng.normal(size=(n, outputs))
    data = [dense(v) for v in (x, y, t)]
    options = {"lambda": 0.1, "operator": operator}
    if operator != "identity":  # its outputs have a kernel, and the training ones are candidates
        options.update(ky="rbf(sigma=4)")
    decode = "explicit" if operator == "identity" else "candidates"

    def run(ctx):
        model = fit(ctx, data[0], data[1], kx="rbf(sigma=4)", **options)
        return predict(ctx, model, data[2], (n // 2, outputs), decode=decode)
    return run


def measure(n, operator, seconds):
    """Mean seconds and processor seconds by number of threads, for about so many seconds."""
    run, contexts = problem(n, operator), {"default": context(0), "one": context(1)}
    for ctx in contexts.values():
        run(ctx)
    wall, cpu, rounds = dict.fromkeys(contexts, 0.0), dict.fromkeys(contexts, 0.0), 0
    begin = time.perf_counter()
    while rounds < 5 or time.perf_counter() - begin < seconds:
        for name, ctx in contexts.items():
            # a batch, so that what threads do after a call counts as well
            count = max(1, round(0.02 / max(wall["one"] / max(rounds, 1), 1e-6))) if rounds else 1
            t, c = time.perf_counter(), time.process_time()
            for _ in range(count):
                run(ctx)
            wall[name] += (time.perf_counter() - t) / count
            cpu[name] += (time.process_time() - c) / count
        rounds += 1
    return wall, cpu, rounds


def claims(situation, sizes, target, seconds, operator="identity"):
    for n in sizes:
        wall, cpu, rounds = measure(n, operator, seconds)
        name = "fit + predict" if operator == "identity" else f"{operator}: fit + predict"
        report(f"{name}, n = {n}, {situation}", wall["default"] / wall["one"], target,
               better="lower", cpu=cpu["default"] / cpu["one"], rounds=rounds,
               default_s=wall["default"] / rounds, one_thread_s=wall["one"] / rounds)


def main():
    if len(PROCESSORS) < 2:
        skip("needs two processors")
    seconds = float(os.environ.get("OKRA_BENCH_SECONDS", "6"))
    claims("quiet", SIZES, QUIET_TARGET, seconds)
    claims("quiet", EIGEN_SIZES, QUIET_TARGET, seconds, "ccov")
    busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        claims("beside a busy process", [n for n in SIZES if n <= BUSY_LARGEST], BUSY_TARGET,
               seconds)
        claims("beside a busy process", EIGEN_SIZES, BUSY_TARGET, seconds, "ccov")
    finally:
        busy.kill()
        busy.wait()
    finish()


main()
