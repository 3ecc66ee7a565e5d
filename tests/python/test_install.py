"""`pip install .` without network and without isolation gives a package that works."""
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_pip_install(tmp_path):
    for module in ("pip", "setuptools", "wheel"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"no Python module {module}")
    # A copy of the sources: an install leaves its scratch folder beside setup.py.
    source = tmp_path / "source"
    source.mkdir()
    for name in ("pyproject.toml", "setup.py", "CMakeLists.txt", "README.md", "python",
                 "include"):
        subprocess.check_call(["cp", "-r", str(ROOT / name), str(source)])
    environment = {**os.environ, "OKRA_BUILD": os.path.dirname(os.environ["OKRA_LIBRARY"])}
    target = tmp_path / "target"
    subprocess.run([sys.executable, "-m", "pip", "install", "--no-build-isolation",
                    "--no-deps", "--no-index", "--quiet", "--target", str(target),
                    str(source)], check=True, env=environment, capture_output=True)
    environment.pop("OKRA_LIBRARY")
    code = ("import numpy as np, okra; "
            "print(okra.__file__, okra._library.LIBRARY_PATH, okra._library.HEADERS_PATH, "
            "okra.IOKR().fit(np.eye(3), np.eye(3)).predict(np.eye(3)).shape)")
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True,
                         text=True, cwd=tmp_path,
                         env={**environment, "PYTHONPATH": str(target)}).stdout
    package = target / "okra"
    assert out.split(" ", 3)[:3] == [str(package / "__init__.py"),
                                     str(next(package.glob("libokra.so.*"))),
                                     str(package / "include")]
    assert out.endswith("(3, 3)\n")
    assert (package / "py.typed").exists()
    assert not (package / "include" / "version.h.in").exists()
    wheel = (next(target.glob("okra-*.dist-info")) / "WHEEL").read_text()
    assert "Tag: py3-none-" in wheel and "Root-Is-Purelib: false" in wheel


def test_a_missing_library_is_named():
    done = subprocess.run([sys.executable, "-c", "import okra"], capture_output=True,
                          text=True, env={**os.environ, "OKRA_LIBRARY": "/no/libokra.so"})
    assert done.returncode != 0 and "/no/libokra.so" in done.stderr


def test_the_library_alone_needs_no_scikit_learn():
    code = ("import sys; sys.modules['sklearn'] = None; import numpy, okra; "
            "print(okra.gram_matrix('linear', numpy.eye(1))[0, 0], hasattr(okra, 'IOKR'))")
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True,
                         text=True).stdout
    assert out == "1.0 False\n"
