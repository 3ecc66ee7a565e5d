"""The additions of this folder in the program and in Python, neither of which knows of them.

usage: outside.py PROGRAM; OKRA_LIBRARY and LD_LIBRARY_PATH name the library with the additions.
"""
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import numpy as np
    import okra
    from sklearn.model_selection import cross_val_predict
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

program = sys.argv[1]
folder = Path(tempfile.mkdtemp())


def run(*arguments, fails=False):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, cwd=folder)
    assert (done.returncode != 0) == fails, done.stderr
    return done.stderr if fails else done.stdout


random = np.random.default_rng(5)
X, T = 3 * random.random((40, 4)), 3 * random.random((9, 4))
Y = np.round(X[:, :2])
for name, values in (("x", X), ("y", Y), ("t", T), ("K", X @ X.T)):
    np.save(folder / f"{name}.npy", values)

# Each is listed, and its options are flags.
for topic, name in (("kernels", "smaller"), ("kernels", "table"), ("methods", "plain"), ("decoders", "whole"),
                    ("metrics", "worst"), ("metrics", "first")):
    assert name in run("help", topic), (topic, name)

# Its parameter has a row: the expression, its range, help and grids know it.
run("gram", "--x", "x.npy", "--kernel", "smaller(power=2)", "-o", "G.npy")
assert np.allclose(np.load(folder / "G.npy"), (np.minimum(X[:, None], X[None]) ** 2).sum(2), rtol=1e-14)
assert "0.1 to 10" in run(
    "gram", "--x", "x.npy", "--kernel", "smaller(power=99)", "-o", "G.npy", fails=True)
assert "power=P" in run("help", "smaller")
grid = okra.IOKRCV(kx="smaller(power={1,2})", ky="linear", lam=[0.1], cv=4).fit(X, Y)
assert len(grid.selection_["cells"]) == 2

# A method with its own option, a kernel, a decoder and a metric: the same in both.
run("fit", "--x", "x.npy", "--y", "y.npy", "--kx", "smaller", "--ky", "linear", "--method", "share", "--power", "3",
    "-o", "m.okra")
run("predict", "m.okra", "--x", "t.npy", "--decode", "whole", "-o", "p.npy")
fit = okra.IOKRCV(kx="smaller", ky="linear", lam=None, method="share", options={"power": [3]}, decode="whole",
                  metric="worst", cv=4)
assert np.array_equal(fit.fit(X, Y).predict(T), np.load(folder / "p.npy"))
assert "worst" in run("score", "--y", "y.npy", "--yhat", "y.npy", "--metric", "worst")

# A method that another one chooses for, by its hooks.
run("fit", "--x", "x.npy", "--y", "y.npy", "--method", "plain", "-o", "n.okra")
chosen = okra.IOKRCV(kx="auto", lam="auto", method="plain").fit(X, Y)
assert chosen.predict(T).shape == (9, 2)

# A kernel whose objects are rows of a matrix: where `precomputed` is asked for, this one is meant too.
models = [okra.IOKR(kx=kernel, ky="linear", lam=0.1) for kernel in ("precomputed", "table")]
assert all(model._more_tags()["pairwise"] for model in models)
assert np.array_equal(*(cross_val_predict(model, X @ X.T, Y, cv=4) for model in models))

# Links: the matrix is read as one, and the metric ranks them.
(folder / "edges.tsv").write_text("".join(
    f"{i}\t{j}\n" for i in range(30) for j in range(i) if X[i] @ X[j] > np.quantile(X @ X.T, 0.8)))
answers = [run("select", "--x", "K.npy", "--edges", "edges.tsv", "--kx", kernel, "--lambda", "{0.1,1}",
               "--metric", metric, "--cv", "kfold:3").split("the best:")[1] for kernel in ("precomputed", "table")
           for metric in ("first", "auc-pr")]
assert answers[0] == answers[2] and answers[1] == answers[3] and answers[0] != answers[1], answers

# What is wrong is told by name, and nothing crashes.
text = run("predict", "m.okra", "--x", "t.npy", "--decode", "nowhere", "-o", "q.npy", fails=True)
assert "decoder nowhere gave candidate 40 of 40 to test input 0" in text, text
print("ok")
