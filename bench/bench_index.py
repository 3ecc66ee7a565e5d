"""Candidates at scale, by the program: an index of ten million SMILES, one query over all of them by low rank with
exact re-ranking, the recall of the exact top ten; decoding of 3,000 queries with 300 candidates each over 7,000
training outputs of 2,048 bits; Tanimoto evaluations of 1,024 bits beside the popcount bound; a million vectors.

OKRA_BENCH_CANDIDATES and OKRA_BENCH_FOLDER change the number and the place of the files (about 9 GB)."""
import ctypes
import json
import os
import shutil
import subprocess
import tempfile
import threading
import time

import numpy as np

from common import BUILD, THREADS, Handle, bits, check, context, finish, fit, lib, options, report

COUNT = int(os.environ.get("OKRA_BENCH_CANDIDATES", "10000000"))
OUTPUTS, QUERIES, RANK = 500, 20, 128


def pieces():
    """Three lists whose products are molecules of 15 to 35 atoms."""
    rings = ["c1ccccc1", "c1ccncc1", "C1CCCCC1", "c1ccsc1", "c1cc[nH]c1", "C1CCNCC1", "c1ccoc1", "C1CCOCC1"]
    chains = ["C", "CC", "CCC", "O", "N", "CO", "CN", "S", "C(=O)", "C(=O)N", "NC(=O)", "OC", "CCO", "C(C)", "C(F)",
              "C(O)", "C=C", "C#C", "C(C)(C)", "S(=O)(=O)", "CS", "NC", "C(=O)O", "CNC", "COC", "C(Cl)", "CCN",
              "C(N)"]
    ends = ["C", "O", "N", "F", "Cl", "Br", "CC", "C(C)C", "C(=O)O", "C#N", "OC", "NC", "C(F)(F)F", "S", "CO", "CN",
            "C(=O)N", "CCC", "CCO", "OCC", "N(C)C", "C(C)(C)C", "SC", "C=C", "CCl", "CF", "I"]
    inner = ["c{0}ccc(cc{0})", "c{0}cccc(c{0})", "C{0}CCC(CC{0})", "c{0}cnc(cn{0})", "C{0}CCN(CC{0})", "c{0}ccc(nc{0})",
             "c{0}ccc(s{0})", "c{0}ccc(o{0})", "C{0}CC(C{0})"]
    left = [e + c for e in ends for c in chains]
    middle = [a.format(1) + c + b.format(2) for a in inner for c in chains for b in inner]
    right = [c + r.replace("1", "3") for c in chains for r in rings]
    return left, middle, right


def write(path, count, seed):
    rng = np.random.default_rng(seed)
    left, middle, right = (np.array(p, dtype=object) for p in pieces())
    with open(path, "w") as f:
        for begin in range(0, count, 200_000):
            k = min(200_000, count - begin)
            parts = [p[rng.integers(len(p), size=k)] for p in (left, middle, right)]
            f.write("\n".join(parts[0] + parts[1] + parts[2]) + "\n")


def okra(*args):
    """The JSON that the program prints, its seconds, and its peak memory: all of it, and without pages of files.

    As the kernel tells them of the process itself: what wait4 says begins at the peak of the process that started it."""
    peak = {"VmHWM": 0, "RssAnon": 0}

    def watch():
        try:
            while True:
                with open(f"/proc/{p.pid}/status") as f:
                    for line in f:
                        name, value = line.split(":", 1)
                        if name in peak:
                            peak[name] = max(peak[name], 1024 * int(value.split()[0]))
                time.sleep(0.02)
        except (OSError, ProcessLookupError):
            pass  # it has ended

    before = time.perf_counter()
    p = subprocess.Popen([os.path.join(BUILD, "okra"), *map(str, args), "--threads", str(THREADS), "--json"],
                         stdout=subprocess.PIPE, text=True)
    watcher = threading.Thread(target=watch)
    watcher.start()
    said = p.stdout.read()
    if p.wait():
        raise subprocess.CalledProcessError(p.returncode, p.args)
    spent = time.perf_counter() - before
    watcher.join()
    return json.loads(said), spent, peak


def index(folder):
    f = lambda name: os.path.join(folder, name)
    write(f("all.smi"), COUNT, 1)
    write(f("train.smi"), OUTPUTS, 2)
    with open(f("all.smi")) as lines:
        some = [next(lines) for _ in range(QUERIES * 50)][::50]
    with open(f("new.smi"), "w") as out:
        out.writelines(some)
    okra("fit", "--x", f("train.smi"), "--y", f("train.smi"), "--kx", "wl | normalize", "--ky",
         "ecfp(bits=2048) | tanimoto", "--lambda", "0.1", "-o", f("m.okra"))
    made, spent, memory = okra("index", f("all.smi"), "--model", f("m.okra"), "--rank", RANK, "-o", f("all.okx"))
    report(f"index of {COUNT:,} SMILES: lines a second, of 20,000", made["lines"] / spent / 20_000, 1,
           seconds=spent, kept=made["kept"], repeated=made["repeated"])
    report("the same: peak memory with pages of files, of 2 GiB", memory["VmHWM"] / 2**31, 1, better="lower",
           resident_bytes=memory["VmHWM"], anonymous_bytes=memory["RssAnon"])
    rank = lambda queries, name, *more: okra("predict", f("m.okra"), "--x", f(queries), "--candidates", f("all.okx"),
                                             "--top", 10, "-o", f(name), *more)
    with open(f("one.smi"), "w") as out:
        out.write(some[0])
    rank("one.smi", "warm.tsv")
    one = min(rank("one.smi", "one.tsv")[1] for _ in range(3))
    report(f"one query over {made['kept']:,} candidates by low rank, whole program: seconds, of 2", one / 2, 1,
           better="lower", seconds=one)
    said, _, _ = rank("new.smi", "low.tsv")
    _, exact, _ = rank("new.smi", "exact.tsv", "--exact")
    low, want = top_of(f("low.tsv")), top_of(f("exact.tsv"))
    hits = sum(sum(d <= want[q][9] + 1e-12 for d in low[q]) for q in want)
    report(f"recall of the exact top 10 of {QUERIES} queries, rank {RANK}", hits / (10 * len(want)), 0.99,
           error_of_distances=said["error"], exact_seconds=exact)


def top_of(path):
    """The distances of each query, in order."""
    found = {}
    for line in open(path).read().splitlines()[1:]:
        row = line.split("\t")
        found.setdefault(row[0], []).append(float(row[4]))
    return found


def vectors(folder, count=1_000_000, width=64):
    """Candidates that are vectors: one query over all of them, and the recall of low rank."""
    f = lambda name: os.path.join(folder, name)  # noqa: E731
    rng = np.random.default_rng(3)
    mix = rng.normal(size=(8, width))
    # near a plane of 8 dimensions, as learned features are; nothing is low rank for independent numbers
    draw = lambda n: (z := rng.normal(size=(n, 8)), z @ mix + 0.1 * rng.normal(size=(n, width)))  # noqa: E731
    np.save(f("v.npy"), draw(count)[1])
    for name, n in (("train", 500), ("new", QUERIES)):
        z, y = draw(n)
        np.save(f(name + "-x.npy"), z)
        np.save(f(name + "-y.npy"), y)
    np.save(f("one-x.npy"), np.load(f("new-x.npy"))[:1])
    okra("fit", "--x", f("train-x.npy"), "--y", f("train-y.npy"), "--kx", "rbf(sigma=2)", "--ky", "rbf(sigma=20)",
         "--lambda", "0.01", "-o", f("v.okra"))
    made, spent, memory = okra("index", f("v.npy"), "--model", f("v.okra"), "--rank", 32, "-o", f("v.okx"))
    report(f"index of {count:,} vectors of {width} numbers: vectors a second, of 20,000", made["lines"] / spent / 20_000, 1,
           seconds=spent, resident_bytes=memory["VmHWM"])
    rank = lambda x, name, *more: okra("predict", f("v.okra"), "--x", f(x + "-x.npy"), "--candidates",  # noqa: E731
                                       f("v.okx"), "--top", 10, "-o", f(name), *more)
    rank("one", "warm.tsv")
    one = min(rank("one", "one.tsv")[1] for _ in range(3))
    report("one query over these by low rank, whole program: seconds, of 2", one / 2, 1, better="lower", seconds=one)
    said, _, _ = rank("new", "low.tsv")
    _, exact, _ = rank("new", "exact.tsv", "--exact")
    low, want = top_of(f("low.tsv")), top_of(f("exact.tsv"))
    hits = sum(sum(d <= want[q][9] + 1e-12 for d in low[q]) for q in want)
    report(f"the same: recall of the exact top 10 of {QUERIES} queries, rank 32", hits / (10 * len(want)), 0.99,
           error_of_distances=said["error"], exact_seconds=exact)


class Request(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("candidates", ctypes.c_void_p), ("ranges", ctypes.c_void_p),
                ("weights", ctypes.c_bool), ("embedding", ctypes.c_bool), ("confidence", ctypes.c_bool)]


def random_bits(rng, rows, width):
    part = rng.integers(0, 256, (rows, width // 8), dtype=np.uint8)
    return part & rng.integers(0, 256, part.shape, dtype=np.uint8)


def decoding():
    n, m, each, width = 7000, 3000, 300, 2048
    rng, ctx = np.random.default_rng(0), context(THREADS)
    train, tests = random_bits(rng, n, width), random_bits(rng, m, width)
    x, queries, every = bits(train, width), bits(tests, width), bits(random_bits(rng, m * each, width), width)
    model = fit(ctx, x, x, kx="tanimoto", ky="tanimoto", **{"lambda": 0.1})
    ranges = np.arange(0, m * each, each, dtype=np.int64)
    ranges = np.ascontiguousarray(np.stack([ranges, ranges + each], axis=1))
    how, found = options("okra_predict_options", {"top": 10}), Handle("okra_prediction_free")
    request = Request(ctypes.sizeof(Request), every.p, ranges.ctypes.data)
    begin = time.perf_counter()
    check(lib.okra_predict(ctx.p, model.p, queries.p, how.p, ctypes.byref(request), ctypes.byref(found.p)))
    spent = time.perf_counter() - begin
    report("7,000 outputs of 2,048 bits, 3,000 queries with 300 candidates each: seconds, of 60", spent / 60, 1,
           better="lower", seconds=spent)


def popcount():
    """Rows of 1,024 bits that one core can count in a second, all of it in registers; None: there is no compiler."""
    cc = os.environ.get("CC") or shutil.which("cc")
    if not cc:
        print("left out: the processor's bound needs a C compiler")
        return None
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "popcount")
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "popcount.c")
        subprocess.run([cc, "-O3", "-march=native", source, "-o", program], check=True)
        said = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    return float(said.split()[0]) / 16


def tanimoto():
    """Values a second and core, beside what the processor can count."""
    rng, ctx = np.random.default_rng(0), context(1)
    a, b = bits(random_bits(rng, 4000, 1024), 1024), bits(random_bits(rng, 4000, 1024), 1024)
    out = np.empty((4000, 4000))
    rates = {}
    for name in ("tanimoto", "linear"):
        k = Handle("okra_kernel_free")
        check(lib.okra_kernel_parse(name.encode(), ctypes.byref(k.p)))
        best = float("inf")
        for _ in range(5):
            begin = time.perf_counter()
            check(lib.okra_gram(ctx.p, k.p, a.p, b.p, out.ctypes.data_as(ctypes.c_void_p), ctypes.c_int64(4000)))
            best = min(best, time.perf_counter() - begin)
        rates[name] = out.size / best
    report("Tanimoto of 1,024 bits, one core: values a second, of 100 million", rates["tanimoto"] / 1e8, 1,
           per_second=rates["tanimoto"])
    bound = popcount()
    if bound:
        report("the same, as a share of the processor's bound of counting 1,024 bits", rates["tanimoto"] / bound, 0.1,
               bound_per_second=bound, shared_bits_alone_per_second=rates["linear"])


if __name__ == "__main__":
    tanimoto()
    decoding()
    with tempfile.TemporaryDirectory(dir=os.environ.get("OKRA_BENCH_FOLDER")) as where:
        vectors(where)
        index(where)
    finish()
