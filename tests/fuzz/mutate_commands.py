#!/usr/bin/env python3
"""mutate_commands.py OKRA COUNT [SEED]: COUNT commands get a file that somebody altered with intent.

Models, indexes, journals, checkpoints, results, tables, lines of a stream and data are taken apart, altered as
a whole (every size of one value made another one, any member of a JSON tree, any number of a text) and sealed
again; then one command of okra reads them: info, predict in its forms, update, merge, index, score, report, ...
It ends by itself within time and memory, says why where it fails, and prints nothing that a terminal obeys. What
predict says of a model, info says, too. Files that fail are kept in the current folder.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np

from alterations import R, alter_bytes, alter_index, alter_json, alter_lines, alter_model, alter_sealed, alter_text

OKRA = os.path.abspath(sys.argv[1])
COUNT = int(sys.argv[2])
R.seed(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
SECONDS, BUDGET, MORE = 10, 64 << 20, 64 << 20
SLOW = 3 if b"__asan_init" in pathlib.Path(OKRA).read_bytes() else 1  # a sanitizer takes its time
ENV = dict(os.environ, OPENBLAS_NUM_THREADS="1", LC_ALL="C.UTF-8",
           ASAN_OPTIONS="allocator_may_return_null=1:detect_leaks=0")
COMMON = ["--threads", "1", "--memory", str(BUDGET)]

RBF, LIN = ["--kx", "rbf(sigma=2)"], ["--ky", "linear"]
OUT = ["--ky", "rbf(sigma=1)"]
# name, fit arguments, test inputs, inputs and outputs that come, forms of predict beside the common ones
PLAIN = ("x.npy", "y.npy", "tx.npy", "ty.npy")
MODELS = {name: (files, arguments.split() if isinstance(arguments, str) else arguments) for name, files, arguments in [
    ("ridge", PLAIN, RBF + LIN),
    ("ridge-out", PLAIN, RBF + OUT),
    ("cov", PLAIN, RBF + OUT + ["--operator", "cov", "--center-output"]),
    ("ccov", PLAIN, ["--kx", "rbf(sigma=2) | center"] + OUT + ["--operator", "ccov"]),
    ("diagonal", ("y.npy", "y.npy", "ty.npy", "ty.npy"), LIN + ["--operator", "diagonal(t=0.5)"]),
    ("graph", PLAIN, RBF + LIN + ["--operator", "graph:estimate(gamma=1),mu=0.5", "--keep", "weights"]),
    ("semi", PLAIN, RBF + LIN + ["--unlabelled", "tx.npy", "--lambda2", "0.1", "--graph", "knn(k=2)"]),
    ("nystrom", PLAIN, RBF + LIN + ["--low-rank-x", "nystrom(rank=4)", "--keep-moments"]),
    ("rff", PLAIN, RBF + OUT + ["--low-rank", "rff(rank=4)", "--keep-moments"]),
    ("cg", PLAIN, RBF + LIN + ["--low-rank-x", "chol(rank=4)", "--solver", "cg"]),
    ("low", PLAIN, RBF + OUT + ["--low-rank", "chol(rank=4)"]),
    ("sketch", PLAIN, RBF + OUT + ["--low-rank", "sketch(rank=4)"]),
    ("margin", PLAIN, RBF + LIN + ["--method", "margin"]),
    ("kpca", PLAIN, RBF + OUT + ["--method", "kpca", "--components", "2"]),
    ("knn", PLAIN, RBF + LIN + ["--method", "knn", "--k", "2"]),
    ("tgp-kl", PLAIN, RBF + OUT + ["--method", "tgp-kl"]),
    ("tgp-hsic", PLAIN, RBF + OUT + ["--method", "tgp-hsic", "--neighbours", "4"]),
    ("soar", PLAIN, RBF + LIN + ["--method", "soar", "--associate", "rbf(sigma=1)"]),
    ("ok3", PLAIN, LIN + ["--method", "ok3", "--trees", "3", "--kx", "linear"]),
    ("svr", PLAIN, RBF + LIN + ["--method", "svr"]),
    ("align", PLAIN, ["--kx", "align(rbf(sigma=1),linear)"] + LIN),
    ("twin", PLAIN, RBF + OUT + ["--twin", "2,2"]),
    ("lambdas", PLAIN, RBF + LIN + ["--output-lambda", "0.1,0.5"]),
    ("calibrated", PLAIN, ["--kx", "standardize | rbf(sigma=1)"] + LIN + ["--calibration", "0.3"]),
    ("half", PLAIN, RBF + OUT + ["--compact"]),
    ("again", PLAIN, RBF + OUT + ["--compact=recompute"]),
    ("metric", PLAIN, RBF + ["--ky", "metric(file=metric.csv)"]),
    ("tasks", PLAIN, RBF + ["--ky", "tasks(mu=0.5)"]),
    ("labels", ("x.npy", "labels:l.txt", "tx.npy", "labels:tl.txt"), RBF + ["--ky", "zero-one"]),
    ("svm", ("x.npy", "labels:l.txt", "tx.npy", "labels:tl.txt"), RBF + ["--ky", "zero-one", "--method", "svm"]),
    ("strings", ("s.txt", "s.txt", "ts.txt", "ts.txt"), ["--kx", "spectrum(k=2)", "--ky", "ssk(length=2)|normalize"]),
    ("ends", ("s.txt", "s.txt", "ts.txt", "ts.txt"), ["--kx", "ends", "--ky", "ends"]),
    ("words", ("s.txt", "y.npy", "ts.txt", "ty.npy"), ["--kx", "mismatch(k=2,m=1)"] + LIN),
    ("wl", ("m.smi", "y.npy", "tm.smi", "ty.npy"), ["--kx", "wl"] + LIN),
    ("ecfp", ("m.smi", "m.smi", "tm.smi", "tm.smi"), ["--kx", "ecfp(bits=64)|tanimoto", "--ky", "paths(bits=64)|normalize"]),
    ("spectra", ("s.mgf", "s.mgf:smiles", "t.mgf", "t.mgf:smiles"), ["--kx", "ppk | normalize", "--ky", "ecfp(bits=64) | tanimoto"]),
    ("bins", ("s.mgf", "y.npy", "t.mgf", "ty.npy"), ["--kx", "mz-bins + precursor"] + LIN),
    ("sparse", ("b.svm", "y.npy", "tb.svm", "ty.npy"), ["--kx", "linear"] + LIN),
    ("bits", ("bits:bits.csv", "bits:bits.csv", "bits:tbits.csv", "bits:tbits.csv"), ["--kx", "tanimoto", "--ky", "tanimoto"]),
    ("gram", ("gram:g.npy", "y.npy", "gram:tg.npy", "ty.npy"), ["--kx", "precomputed"] + LIN),
    ("hopfield", ("signs.npy", "signs.npy", "signs.npy", "signs.npy"), ["--method", "hopfield"]),
    ("images", ("images.npy", "images.npy", "images.npy", "images.npy"),
     ["--method", "jkm", "--kx", "patches(rbf(sigma=1),width=4,patch=2,overlap=1)"]),
    ("bags", ("bag.csv", "bag.csv:y", "tbag.csv", "ty.npy"), ["--bag", "id", "--kx", "bag(standardize | rbf(sigma=1),match)"] + LIN),
    ("ranks", ("ranks.npy", "ranks.npy", "ranks.npy", "ranks.npy"), ["--kx", "spearman", "--ky", "kendall"]),
]}
# Models of pairs: their kernels and other arguments.
PAIRS = {"pairs": ["rbf(sigma=2) * linear"], "pairs-sum": ["0.5 * linear * linear + 2 * (linear|center) * (standardize|rbf(sigma=1))",
                                                           "--own", "0.5", "--calibration", "0.4"]}
DECODERS = ["candidates", "explicit", "none", "position", "labels", "fixed-point", "string", "gradient", "optimum",
            "rewrite", "loss"]


# ---- what is attacked ----

def make(base):
    r = np.random.default_rng(1)
    x, t = r.normal(size=(12, 3)), r.normal(size=(4, 3))
    y = np.sin(x[:, :2])
    for name, value in (("x", x), ("y", y), ("tx", t), ("ty", np.sin(t[:, :2])), ("signs", np.sign(x)),
                        ("images", r.normal(size=(6, 16))), ("g", x @ x.T), ("tg", t @ x.T),
                        ("ranks", np.argsort(r.normal(size=(9, 4))).argsort() + 1.0)):
        np.save(base / f"{name}.npy", value)
    words = "abba ab bca a cab bb acb ca abc b aab cc".split()
    smiles = "CCO C=C c1ccccc1 CN C#N CC(=O)O CCl OCC NCC CCC C1CC1 CS".split()
    spectrum = "BEGIN IONS\nTITLE=t%d\nPEPMASS=%g\nADDUCT=[M+H]+\nSMILES=%s\n%g 3\n%g 1\nEND IONS\n"
    text = {
        "s.txt": "\n".join(words), "ts.txt": "ab\nba\nccc\na", "m.smi": "\n".join(smiles), "tm.smi": "CO\nCC\nN\nC=O",
        "l.txt": "\n".join("abc"[i % 3] for i in range(12)), "tl.txt": "a\nb\nc\na",
        "s.mgf": "".join(spectrum % (i, 40 + i, s, 20 + i, 31 + i % 3) for i, s in enumerate(smiles)),
        "t.mgf": "".join(spectrum % (i, 41 + i, s, 21 + i, 32) for i, s in enumerate(smiles[:4])),
        "s.msp": "".join("Name: n%d\nPrecursorMZ: %d\nSMILES: %s\nNum Peaks: 2\n%d 10\n%d 5; \n\n" % (i, 50 + i, s, 20 + i, 30 + i)
                         for i, s in enumerate(smiles)),
        "b.svm": "".join("0 1:%g 4:%g\n" % tuple(v[:2]) for v in x), "tb.svm": "".join("0 2:%g\n" % v[0] for v in t),
        "bits.csv": "".join(",".join("%d" % (v > 0) for v in r.normal(size=9)) + "\n" for _ in range(12)),
        "tbits.csv": "".join(",".join("%d" % (v > 0) for v in r.normal(size=9)) + "\n" for _ in range(4)),
        "bag.csv": "id,a,b,y\n" + "".join("m%d,%g,%g,%g\n" % (i // 2, *v) for i, v in enumerate(x)), "tbag.csv": "id,a,b\nm1,1,2\nm2,2,3\n",
        "cells.csv": "".join(",".join("nan" if (i + j) % 5 == 0 else "%g" % (a @ b) for j, b in enumerate(t)) + "\n" for i, a in enumerate(x)),
        "lines.csv": "".join("%d,%d,%g\n" % (i % 12, i % 4, i % 7) for i in range(0, 48, 5)),
        "metric.csv": "2,0\n0,1\n", "rows.csv": "3\n7\n", "weights.csv": "\n".join(str(1 + i % 3) for i in range(12)),
        "table.csv": "a;b;c\n" + "".join("%s;%s;%d\n" % (str(v[0]).replace(".", ","), str(v[1]).replace(".", ","), v[2] > 0) for v in x),
        "ranges.csv": "0,3\n1,4\n2,9\n0,12\n", "about.tsv": "mass\tformula\n46.04\tC2H6O\n28\tC2H4\n78\tNA\n31\tCH5N\n",
        "c.tsv": "smiles\tname\tlogp\n" + "".join(f"{s}\tn{i}\t{i}\n" for i, s in enumerate(smiles)),
        "lines.json": '{"id": 7, "x": [1, 2, 3]}\n[0, 1, 0.5]\n{"x": [1, 1, 1], "top": 2}\n',
        "words.json": '"ab"\n{"x": "ba", "id": "q"}\n', "edges.tsv": "0\t1\n1\t2\n2\t3\n3\t4\n4\t5\n", "nodes.txt": "0\n1\n2\n3\n4\n5\n",
    }
    for name, value in text.items():
        (base / name).write_text(value + ("" if value.endswith("\n") else "\n"))
    for name, (files, arguments) in MODELS.items():
        fit = ["fit", "--x", files[0], "--y", files[1], *arguments, "-o", f"{name}.okra", "-q"]
        if run(base, fit + ["--lambda", "0.1"]).returncode != 0:  # not all methods have it
            run(base, fit, True)
    for name, arguments in PAIRS.items():
        run(base, PAIRS_FIT + ["--kx", *arguments, "-o", f"{name}.okra"], True)
    run(base, ["basis", "--x", "x.npy", *RBF, "--low-rank-x", "nystrom(rank=4)", "-o", "basis.okra", "-q"], True)
    run(base, ["index", "c.tsv", "--model", "spectra.okra", "--rank", "3", "--columns", "logp", "--shard", "5", "-o", "mol.okx", "-q"], True)
    run(base, ["index", "c.tsv", "--ky", "wl", "-o", "read.okx", "-q"], True)
    run(base, ["index", "y.npy", "--model", "ridge-out.okra", "--rank", "2", "-o", "vec.okx", "-q"], True)
    run(base, SELECT, True)
    run(base, CG, True)
    results = {"r-score": ["score", "--y", "y.npy", "--yhat", "y.npy", "--metric", "mse", "--json"],
               "r-select": [*[a for a in SELECT if a != "-q"], "--json"], "r-fit": ["fit", "--x", "x.npy", "--y", "y.npy", "-o", "auto.okra", "--json"],
               "r-rank": ["predict", "spectra.okra", "--x", "t.mgf", "--candidates", "mol.okx", "--top", "3", "-o", "ranked.tsv", "--json"],
               "r-link": ["link", "--x", "x.npy", "--edges", "edges.tsv", "--labelled", "nodes.txt", *RBF, "-o", "links.tsv", "--json"],
               "r-align": ["fit", "--x", "x.npy", "--y", "y.npy", "--kx", "align(rbf(sigma=1),linear)", "--lambda", "0.1", "-o", "a2.okra", "--json"]}
    for name, arguments in results.items():
        (base / f"{name}.json").write_bytes(run(base, arguments, True).stdout)
    run(base, ["predict", "ecfp.okra", "--x", "tm.smi", "--top", "3", "-o", "other.tsv", "-q"], True)
    return list(results)


PAIRS_FIT = ["fit", "--rows", "x.npy", "--columns", "tx.npy", "--y", "cells.csv", "--lambda", "0.1", "-q"]
SELECT = ["select", "--x", "x.npy", "--y", "y.npy", "--kx", "rbf(sigma={1,2})", *LIN, "--lambda", "0.1,1", "--cv", "kfold:3",
          "--resume", "state", "-o", "s.okra", "-q"]
CG = ["fit", "--x", "x.npy", "--y", "y.npy", *RBF, *LIN, "--lambda", "1e-3", "--low-rank-x", "nystrom(rank=5)", "--solver", "cg",
      "--checkpoint", "cg.state", "-o", "c.okra", "-q"]


def run(folder, arguments, must=False):
    """One command with its status, words, seconds of a processor and largest size."""
    given = None
    if "<" in arguments:
        given = open(folder / arguments[-1], "rb")
        arguments = arguments[:-2]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        common = [a for a in COMMON] if arguments[0] not in ("report", "fuse") else []
        p = subprocess.Popen([OKRA, *arguments, *common], cwd=folder, env=ENV, stdin=given or subprocess.DEVNULL, stdout=out, stderr=err)
        begin = os.times()
        try:
            p.wait(SECONDS * SLOW * 6)
        except subprocess.TimeoutExpired:
            p.kill()
            p.wait()
            p.returncode = 999
        end = os.times()
        out.seek(0)
        err.seek(0)
        p.stdout, p.stderr = out.read(), err.read()
        p.took = end.children_user + end.children_system - begin.children_user - begin.children_system
    if given:
        given.close()
    if must and p.returncode != 0:
        sys.exit(f"{' '.join(arguments)}: status {p.returncode}: {p.stderr.decode(errors='replace')}")
    return p


def uses(name):
    """Commands for a model, one of them."""
    if name in PAIRS:
        new = R.choice([[], ["--rows", "tx.npy"], ["--columns", "x.npy"], ["--rows", "tx.npy", "--columns", "x.npy"]])
        return R.choice([["info", "m.okra", "--json"], ["info", "m.okra"], ["predict", "m.okra", "--interval", "0.3", "-o", "p.tsv", "-q"],
                         ["predict", "m.okra", *new, "--top", "2", "-o", "p.tsv", "-q"]] + [["predict", "m.okra", *new, "-o", "p.csv", "-q"]] * 3)
    (x, y, tx, ty), _ = MODELS.get(name, (PLAIN, None))
    m = "m.okra"
    vectors, molecules = y.endswith(".npy"), y.endswith((".smi", ":smiles"))
    predict = ["predict", m, "--x", tx, "-q"] + (["--bag", "id"] if name == "bags" else [])
    forms = [["-o", "p.csv"], ["-o", "p.npy"], ["--top", "3", "-o", "p.json"], ["--decode", R.choice(DECODERS), "-o", "p.csv"],
             ["--weights", "w.npy", "--embedding", "e.npy"], ["--confidence", "c.csv", "-o", "p.csv"],
             ["--interval", "0.3", "-o", "p.tsv"], ["--set", "0.3", "-o", "p.tsv"], ["--top", "2", "--ranges", "ranges.csv", "-o", "p.tsv"],
             ["--set", "0.3", "--conformal", R.choice(["jackknife+", "full", "split"]), "-o", "p.tsv"],
             ["--candidates", ty, "--top", "2", "-o", "p.tsv"]]
    all_ = [predict + R.choice(forms) for _ in range(4)]
    all_ += [["info", m, "--json"], ["update", m, "--x", tx, "--y", ty, "-o", "u.okra", "-q"],
             ["update", m, "--remove", "rows.csv", "-o", "u.okra", "-q"],
             ["update", m, "--remove", "rows.csv", "--removed-x", R.choice([x, tx]), "--x", tx, "--y", ty, "-o", "u.okra", "-q"],
             ["merge", m, m, "-o", "u.okra", "-q"], ["merge", f"{name}.okra", m, "-o", "u.okra", "-q"],
             ["score", "--model", m, "--x", tx, "--y", ty, "--metric", R.choice(["mse", "zero-one", "feature-loss"])],
             ["fit", "--basis", m, "--x", x, "--y", y, "--lambda", "0.1", "-o", "u.okra", "-q"]]
    if tx == "tx.npy":
        all_ += [["predict", m, "--x", "-", "--stream", "-q", "<", "lines.json"]] * 2
    if tx == "ts.txt":
        all_ += [["predict", m, "--x", "-", "--stream", "-q", "<", "words.json"]] * 2
    if molecules or vectors:
        index, source = ("mol.okx", "c.tsv") if molecules else ("vec.okx", "y.npy")
        all_ += [["index", source, "--model", m, "--rank", "2", "-o", "u.okx", "-q"],
                 [*predict, "--candidates", index, "--top", "3", "-o", "p.tsv"]]
    return R.choice(all_)


def attack_model(work, results):
    name = R.choice([*MODELS, *PAIRS, *PAIRS, "basis"])
    shutil.copy(work / f"{name}.okra", work / "m.okra")
    alter_model(work / "m.okra", work / f"{R.choice([*MODELS, *PAIRS])}.okra")
    return ["m.okra"], uses(name)


def attack_index(work, results):
    name = R.choice(["mol", "read", "vec"])
    shutil.copytree(work / f"{name}.okx", work / "i.okx")
    alter_index(work / "i.okx")
    predict = ["predict", "ridge-out.okra" if name == "vec" else "spectra.okra", "--x", "tx.npy" if name == "vec" else "t.mgf", "--candidates",
               "i.okx", "--top", "3", "-q", "-o", R.choice(["p.tsv", "p.json", "p.csv"])]
    within = R.choice([[], [], ["--exact"], ["--within", "mass=10Da"], ["--within", "formula"], ["--within", "logp=1..5"],
                       ["--within", "mass=1..80", "--about", "about.tsv"]])
    return ["i.okx"], R.choice([predict + within] * 4 + [
        ["index", "i.okx", "--check"], ["score", "--y", "tm.smi", "--lists", "ranked.tsv", "--candidates", "i.okx", "--metric", "mrr"],
        ["fuse", "ranked.tsv", "ranked.tsv", "--y", "tm.smi", "--candidates", "i.okx", "-o", "p.tsv"]])


def attack_journal(work, results):
    alter_lines(work / "state")
    return ["state"], SELECT


def attack_checkpoint(work, results):
    alter_sealed(work / "cg.state")
    return ["cg.state"], CG


def attack_result(work, results):
    name = R.choice(results) + ".json"
    tree = json.loads((work / name).read_text())
    for _ in range(R.choice((1, 1, 2, 5))):
        tree = alter_json(tree)
    (work / "r.json").write_text(json.dumps(tree, ensure_ascii=R.random() < 0.5))
    return ["r.json"], ["report", "r.json", "-o", R.choice(["p.html", "p.md"]), "-q"]


KERNELS = {"s.txt": ["spectrum(k=3)", "ssk(length=3)|normalize", "mismatch(k=3,m=1)", "edit", "ends", "weighted-degree(k=3)", "position(zero-one)"],
           "m.smi": ["wl", "ecfp", "paths", "shortest-path", "composition", "ecfp(bits=64,count=1)|tanimoto"],
           "s.mgf": ["ppk", "ppk(of=losses)", "mz-bins", "mz-match", "precursor"], "s.msp": ["ppk|normalize", "mz-match"],
           "b.svm": ["linear", "rbf(sigma=1)"], "bits:bits.csv": ["tanimoto"], "table.csv": ["rbf(sigma=1)", "standardize|linear"],
           "x.npy": ["rbf(sigma=1)|center", "kendall"], "ranks.npy": ["kendall", "spearman"]}


def attack_data(work, results):
    spec = R.choice(list(KERNELS))
    name = spec.split(":")[-1]
    (alter_bytes if name.endswith(".npy") else alter_text)(work / name)
    kernel = R.choice(KERNELS[spec])
    return [name], R.choice([
        ["gram", "--x", spec, "--kernel", kernel, "-o", "p.csv", "-q"],
        ["gram", "--x", spec, "--y", spec, "--kernel", kernel, "-o", "p.npy", "-q"],
        ["fit", "--x", spec, "--y", "y.npy", "--kx", kernel, *LIN, "--lambda", "0.1", "-o", "u.okra", "-q"],
        ["fit", "--x", spec, "--y", "y.npy", "-o", "u.okra", "-q"],
        ["fit", "--x", "table.csv", "--y", R.choice(["table.csv:c", "table.csv:a", "table.csv:3"]), "-o", "u.okra", "-q"],
        ["score", "--y", spec, "--yhat", spec, "--metric", R.choice(["mse", "zero-one", "edit-distance", "character-accuracy"])]])


def attack_table(work, results):
    name, arguments = R.choice([
        ("ranked.tsv", ["score", "--y", "tm.smi", "--lists", "ranked.tsv", "--candidates", "mol.okx", "--metric", "hit-rate:k=1,mrr"]),
        ("ranked.tsv", ["fuse", "ranked.tsv", "ranked.tsv", "-o", "p.tsv"]),
        ("other.tsv", ["fuse", "other.tsv", "ranked.tsv", "--y", "tm.smi", "--candidates", "mol.okx", "-o", "p.tsv"]),
        ("c.tsv", ["index", "c.tsv", "--ky", "ecfp(bits=64) | tanimoto", "--columns", "logp", "-o", "u.okx", "-q"]),
        ("about.tsv", ["predict", "spectra.okra", "--x", "t.mgf", "--candidates", "mol.okx", "--within", "mass=10Da,formula", "--about",
                       "about.tsv", "--top", "2", "-o", "p.tsv", "-q"]),
        ("ranges.csv", ["predict", "ridge-out.okra", "--x", "tx.npy", "--ranges", "ranges.csv", "--candidates", "y.npy", "--top", "2", "-o", "p.tsv"]),
        ("rows.csv", ["update", "ridge.okra", "--remove", "rows.csv", "-o", "u.okra", "-q"]),
        ("weights.csv", ["fit", "--x", "x.npy", "--y", "y.npy", *RBF, *LIN, "--lambda", "0.1", "--sample-weight", "weights.csv", "-o", "u.okra", "-q"]),
        ("lines.json", ["predict", "ridge.okra", "--x", "-", "--stream", "-q", "<", "lines.json"]),
        ("words.json", ["predict", "strings.okra", "--x", "-", "--stream", "-q", "<", "words.json"]),
        ("metric.csv", ["fit", "--x", "x.npy", "--y", "y.npy", *RBF, "--ky", "metric(file=metric.csv)", "--lambda", "0.1", "-o", "u.okra", "-q"]),
        ("cells.csv", PAIRS_FIT + ["--kx", PAIRS["pairs-sum"][0], "-o", "u.okra"]),
        ("lines.csv", ["lines.csv" if a == "cells.csv" else a for a in PAIRS_FIT] + ["--kx", PAIRS["pairs"][0], "-o", "u.okra"]),
        ("bag.csv", ["fit", "--x", "bag.csv", "--y", "bag.csv:y", "--bag", "id", *LIN, "-o", "u.okra", "-q"]),
        ("edges.tsv", ["link", "--x", "x.npy", "--edges", "edges.tsv", "--labelled", "nodes.txt", *RBF, "-o", "p.tsv", "-q"]),
        ("nodes.txt", ["link", "--x", "x.npy", "--edges", "edges.tsv", "--labelled", "nodes.txt", *RBF, "-o", "p.tsv", "-q"])])
    alter_text(work / name)
    return [name], arguments


ATTACKS = [attack_model] * 12 + [attack_index] * 4 + [attack_journal, attack_checkpoint] + [attack_result] * 2 + [attack_data] * 3 + [attack_table] * 3


# ---- judging ----

def largest():
    """The largest size of a child so far, in bytes."""
    import resource
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024


def judge(p, work, arguments):
    err = p.stderr.decode(errors="replace")
    if p.returncode not in (0, 1, 2) or "Sanitizer" in err or "runtime error" in err:
        return f"status {p.returncode}: {err[-3000:]}"
    if p.took > SECONDS * SLOW:
        return f"{p.took:.1f} seconds"
    if p.returncode != 0 and not err.strip():
        return f"status {p.returncode} without a word"
    if re.search(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80\xae", p.stderr) or (
            arguments[0] in ("info", "index", "update", "merge") and b"\x1b" in p.stdout):
        return f"a terminal would obey: {p.stderr!r}"
    page = work / "p.html"
    if page.exists() and re.search(rb"<script>x|<svg onload", page.read_bytes()):
        return "a browser would obey"
    if p.returncode == 0 and "p.csv" in arguments and arguments[0] == "predict":
        text = (work / "p.csv").read_text(errors="replace")
        if re.search(r"\b(nan|inf)\b", text):
            return f"no numbers in the answer: {text[:200]}"
    return None


def attack(k, top, base, results, common):
    """One command with an altered file; its status, and whether something is wrong. common: the largest size so far."""
    work = pathlib.Path(top, f"work{k % 2}")
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(base, work)
    how = R.choice(ATTACKS)
    files, arguments = how(work, results)
    p = run(work, arguments)
    if p.returncode == 999 and p.took < SECONDS * SLOW:  # it waited: for a processor, or for ever
        p = run(work, arguments)
    fault = judge(p, work, arguments)
    if not fault and "m.okra" in arguments and arguments[0] != "info" and p.stderr.startswith(b"okra " + arguments[0].encode() + b": m.okra: "):
        q = run(work, ["info", "m.okra"])
        fault = judge(q, work, ["info"]) or (None if q.returncode == 1 else f"info accepts what {arguments[0]} refuses: {p.stderr.decode(errors='replace')}")
    if not fault and SLOW == 1 and largest() > common[0] + BUDGET + MORE:
        fault, common[0] = f"{largest() >> 20} MiB", largest()
    if fault:
        print(f"{k}: {how.__name__}: okra {' '.join(arguments)}: {fault}", flush=True)
        for name in files:
            to = pathlib.Path(f"fault-{os.getpid()}-{k}-{name}")
            shutil.copytree(work / name, to) if (work / name).is_dir() else shutil.copy(work / name, to)
    return p.returncode, bool(fault)


def main():
    faults = accepted = done = 0
    with tempfile.TemporaryDirectory(prefix="okra-commands-") as top:
        base = pathlib.Path(top, "base")
        base.mkdir()
        results = make(base)
        common = [largest()]
        try:
            for k in range(COUNT):
                status, fault = attack(k, top, base, results, common)
                done, accepted, faults = k + 1, accepted + (status == 0), faults + fault
        except KeyboardInterrupt:
            pass  # what was done counts
    print(f"{done} commands with altered files ({accepted} of them answered), {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
