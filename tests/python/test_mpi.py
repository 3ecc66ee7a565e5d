"""Estimators on the engine mpi: every process of a job under mpi4py fits the same, and one writes."""
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

import okra

SCRIPT = """
from mpi4py import MPI
import numpy as np, okra, sys
shard = np.load(f"{sys.argv[1]}/{MPI.COMM_WORLD.Get_rank()}.npy")
both = np.vstack(MPI.COMM_WORLD.allgather(shard))
model = okra.IOKR(kx="rbf(sigma=2)", lam=0.1, engine="mpi:4").fit(both[:, :3], both[:, 3:])
model.save(sys.argv[1] + "/m.okra")
np.save(f"{sys.argv[1]}/p{MPI.COMM_WORLD.Get_rank()}.npy", model.predict(both[:, :3]))
"""


def test_two_processes_with_a_shard_each(tmp_path):
    build = os.path.dirname(os.environ.get("OKRA_LIBRARY", "")) or os.environ.get("OKRA_BUILD", "")
    if not shutil.which("mpirun") or not os.path.exists(os.path.join(build, "libokra-mpi.so")):
        with pytest.raises(okra.OkraError, match="engine mpi: "):
            okra.IOKR(engine="mpi").fit(np.eye(3), np.eye(3))
        return
    values = np.random.default_rng(1).normal(size=(31, 5))
    np.save(tmp_path / "0.npy", values[:10])
    np.save(tmp_path / "1.npy", values[10:])
    (tmp_path / "job.py").write_text(SCRIPT)
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                       OMPI_MCA_plm="isolated", OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_btl="self,vader",
                       OMPI_MCA_btl_vader_single_copy_mechanism="none", PYTHONPATH=os.pathsep.join(sys.path))
    subprocess.run(["mpirun", "-q", "--oversubscribe", "-n", "2", sys.executable, "-m", "mpi4py",
                    str(tmp_path / "job.py"), str(tmp_path)], check=True, env=environment, timeout=100)
    here = okra.IOKR(kx="rbf(sigma=2)", lam=0.1).fit(values[:, :3], values[:, 3:]).predict(values[:, :3])
    for rank in "01":
        np.testing.assert_allclose(np.load(tmp_path / f"p{rank}.npy"), here, rtol=0, atol=1e-10)
    assert sorted(p.name for p in tmp_path.glob("m.okra*")) == ["m.okra"]
    np.testing.assert_allclose(okra.IOKR.load(str(tmp_path / "m.okra")).predict(values[:, :3]), here, rtol=0, atol=1e-10)
