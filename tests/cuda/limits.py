"""What does not fit on a GPU, and what is wrong: one sentence that says what would do, and the
engine works on after it. Needs a GPU; tools/run_cuda_tests.bash runs it.

Usage: limits.py ENGINE
"""
import subprocess
import sys
import warnings

import numpy as np
import okra
from okra._library import Context

ENGINE = sys.argv[1]
faults = []
rng = np.random.default_rng(1)
X = rng.standard_normal((4000, 5))
Y = np.tanh(X[:, :2])


def fit(n, memory=None, x=None, y=None, **values):
    values = {"kx": "rbf(sigma=1)", "ky": "linear", "lambda": 0.1,
              **{key.replace("_", "-"): value for key, value in values.items()}}
    x, y = X[:n] if x is None else x, Y[:n] if y is None else y
    return okra.Model.fit(x, y, values, Context(engine=ENGINE, memory=memory, seed=1))


def answer(n=300):
    model = fit(n, ky="rbf(sigma=1)")
    return model.predict(X[:7], {"decode": "none"}, weights=True,
                         context=Context(engine=ENGINE)).weights()


def refused(name, words, work):
    """`work` fails with all of `words`; then a small fit has the bits that it had before."""
    try:
        work()
        text = None
    except okra.OkraError as error:
        text = str(error)
    print(f"{name}: {text}", flush=True)
    missing = [word for word in words if text is None or word not in text]
    if missing:
        faults.append(f"{name}: no {missing} in {text!r}")
    if answer().tobytes() != WANT.tobytes():
        faults.append(f"{name}: the next fit has other bits")


# Takes all but some GiB of the GPU, says so, and waits for the end of its input.
HOG = """
import sys, torch
free, _ = torch.cuda.mem_get_info()
held = torch.empty(free - (int(sys.argv[1]) << 30), dtype=torch.uint8, device="cuda")
print("held", flush=True)
sys.stdin.read()
"""


def beside_another():
    """Another program holds the memory of the GPU."""
    try:
        import torch  # noqa: F401
    except ImportError:
        print("no PyTorch: nobody else takes the memory of the GPU")
        return
    hog = subprocess.Popen([sys.executable, "-c", HOG, "2"], stdin=subprocess.PIPE,
                           stdout=subprocess.PIPE, text=True)
    try:
        if hog.stdout.readline() != "held\n":
            faults.append("nobody held the memory of the GPU")
            return
        n = 20000
        x = rng.standard_normal((n, 3))
        refused("a full GPU", ["GiB on GPU", "are free", "--engine host"],
                lambda: fit(n, x=x, y=x))
    finally:
        hog.communicate("")


def no_room_to_decompose():
    """From too little for the second matrix to enough: each refusal says what needs the
    memory, and one of them is of the eigendecomposition."""
    words, texts = ["an eigendecomposition, beside the matrix, needs", "one value of lambda"], []
    for megabytes in range(70, 800, 10):
        try:
            fit(2000, f"{megabytes}M", operator="ccov", ky="rbf(sigma=1)")
            break
        except okra.OkraError as error:
            texts.append(str(error))
    else:
        faults.append("no room to decompose: 800 MB are not enough")
    for text in dict.fromkeys(text.split(" needs ")[0] for text in texts):
        print(f"no room to decompose: {text}")
    for text in texts:
        if "on GPU" in text and not ("may be used (--memory)" in text and "--low-rank-x" in text):
            faults.append(f"no room to decompose: {text!r}")
    if not any(all(word in text for word in words) for text in texts):
        faults.append(f"no room to decompose: no {words} in {texts}")
    if answer().tobytes() != WANT.tobytes():
        faults.append("no room to decompose: the next fit has other bits")


def main():
    many = rng.standard_normal((300_000, 2))
    refused("no such GPU", ["engine cuda:99: there is no such GPU, the last is cuda:"],
            lambda: Context(engine="cuda:99"))
    refused("no number", ["engine cuda:x: expected the number of a GPU"],
            lambda: Context(engine="cuda:x"))
    refused("too many rows", ["300000 x 300000 doubles needs 670.55 GiB on GPU", "are free",
                              "--low-rank-x"], lambda: fit(0, x=many, y=many))
    low = fit(0, x=many, y=many, low_rank_x="nystrom(rank=50)")
    print(f"of low rank it fits: {len(low)} pairs")
    refused("a budget", ["4000 x 4000 doubles needs 0.12 GiB on GPU", "may be used (--memory)"],
            lambda: fit(4000, "100M"))
    no_room_to_decompose()
    holes, far = X[:300].copy(), X[:300] * 1e200
    holes[7, 2] = np.nan
    refused("not a number", ["nan"], lambda: fit(300, x=holes))
    refused("an overflow", ["is inf: scale the data"], lambda: fit(300, x=far, kx="linear"))
    refused("no rows", [], lambda: fit(0))
    beside_another()
    for text in faults:
        print("FAULT", text)
    print(f"limits of engine {ENGINE}: {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    WANT = answer()
    sys.exit(main())
