"""try_package.py FOLDER [alone] [README.md]: the package okra that Python finds comes from FOLDER
and computes; so does the program, by `python -m okra`. With `alone`: every library that both need
is in FOLDER, or part of any Linux system. With a page: its first example in Python runs."""
import re
import subprocess
import sys
import tempfile

import numpy as np

import okra

folder = sys.argv[1]
assert okra.__file__.startswith(folder), f"okra is {okra.__file__}, not in {folder}"

# A Gram matrix, a factorisation and a solution (OpenBLAS, LAPACKE) against NumPy's.
rng = np.random.default_rng(0)
X, new = rng.normal(size=(300, 3)), rng.normal(size=(20, 3))
Y = np.c_[np.sin(X[:, 0]), X[:, 1] * X[:, 2]]


def kernel(a, b):
    return np.exp(-((a[:, None] - b[None]) ** 2).sum(axis=2) / 8)


model = okra.Model.fit(X, Y, {"kx": "rbf(sigma=2)", "ky": "linear", "lambda": 0.1})
with tempfile.TemporaryDirectory() as scratch:  # through a model file (zlib, jansson)
    model.save(scratch + "/m.okra")
    found = okra.Model.load(scratch + "/m.okra").predict(new, embedding=True).embedding()
wanted = kernel(new, X) @ np.linalg.solve(kernel(X, X) + 0.1 * np.eye(len(X)), Y)
worst = np.abs(found - wanted).max()
assert worst < 1e-10, f"predictions differ from NumPy's by {worst}"

with open("/proc/self/maps") as maps:
    assert "openblas" in maps.read(), "no OpenBLAS is loaded"
if "alone" in sys.argv[2:]:
    library = okra._library.LIBRARY_PATH
    asked = subprocess.run(["ldd", library, library.parent / "okra"], check=True,
                           text=True, stdout=subprocess.PIPE).stdout
    asked = re.sub(r"(?m)^/.*:$", "", asked)
    system = re.compile(r"/(ld-linux[^/]*|lib(c|dl|m|pthread|resolv|rt|util|gcc_s|stdc\+\+)\.so\.\d+)$")
    paths = re.findall(r"(/\S+)", asked)
    own = [p for p in paths if p.startswith(folder)]
    foreign = [p for p in paths if p not in own and not system.search(p)]
    assert len(own) > 5 and not foreign and "not found" not in asked, asked
said = subprocess.run([sys.executable, "-m", "okra", "version"], check=True, text=True,
                      stdout=subprocess.PIPE).stdout
assert said.split()[:2] == ["okra", okra.__version__], said
for page in sys.argv[2:]:
    if page.endswith(".md"):
        with open(page, encoding="utf-8") as text:
            exec(re.search(r"(?ms)^```python\n(.*?)^```$", text.read()).group(1))
        assert completed.shape == (797, 32)  # noqa: F821: made by the example
print(f"okra {okra.__version__} of {okra.__path__[0]} works")
