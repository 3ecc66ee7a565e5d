"""Where OpenBLAS runs code for a very old processor, one warning says what to set."""
import os
import subprocess
import sys

import pytest

PROGRAM = """
import warnings
import numpy as np
import okra
x = np.arange(12.0).reshape(6, 2)
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    for _ in range(2):
        okra.IOKR(kx="rbf(sigma=1)", lam=0.1).fit(x, x)
print(sum("OPENBLAS_CORETYPE=" in str(w.message) for w in told))
"""


def count(**more):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **more}
    return subprocess.run([sys.executable, "-c", PROGRAM], env=environment, check=True,
                          capture_output=True, text=True).stdout.strip()


@pytest.mark.skipif("avx2" not in open("/proc/cpuinfo").read(), reason="an old processor")
def test_old_code_is_told_once():
    pretend = {"OPENBLAS_CORETYPE": "Prescott", "OKRA_TEST_PROCESSOR": "unknown"}
    assert count(**pretend) == "1"
    assert count(OPENBLAS_CORETYPE="Prescott") == "0"  # the user's own choice
