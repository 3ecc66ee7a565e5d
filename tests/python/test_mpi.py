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


SHARDS = """
from mpi4py import MPI
import numpy as np, okra, sys
rank = MPI.COMM_WORLD.Get_rank()
shard = np.load(f"{sys.argv[1]}/{rank}.npy")
model = okra.IOKR(kx="rbf(sigma=2)", ky="linear", lam=0.1, low_rank_x="nystrom(rank=12)", engine="mpi:4")
if sys.argv[2] == "bad" and rank == 1:
    shard = shard[:, :4] * np.nan
model.fit_shard(shard[:, :3], shard[:, 3:])
tests = np.load(f"{sys.argv[1]}/t.npy")
np.save(f"{sys.argv[1]}/p{rank}.npy", model.predict(tests))
if sys.argv[2] == "flat":
    model.fit_shard(shard[:, :3], shard[:, 3])
    assert model.predict(tests).ndim == 1
model.save(sys.argv[1] + "/m.okra")
"""


def without_mpi():
    build = os.path.dirname(os.environ.get("OKRA_LIBRARY", "")) or os.environ.get("OKRA_BUILD", "")
    return not shutil.which("mpirun") or not os.path.exists(os.path.join(build, "libokra-mpi.so"))


def run(tmp_path, count, script, *words):
    (tmp_path / "job.py").write_text(script)
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                       OMPI_MCA_plm="isolated", OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_btl="self,vader",
                       OMPI_MCA_orte_execute_quiet="1",
                       OMPI_MCA_btl_vader_single_copy_mechanism="none", PYTHONPATH=os.pathsep.join(sys.path))
    return subprocess.run(["mpirun", "--oversubscribe", "-n", str(count), sys.executable, "-m", "mpi4py",
                           str(tmp_path / "job.py"), str(tmp_path), *words], env=environment, timeout=100,
                          capture_output=True, text=True)


def test_two_processes_with_a_shard_each(tmp_path):
    if without_mpi():
        with pytest.raises(okra.OkraError, match="engine mpi: "):
            okra.IOKR(engine="mpi").fit(np.eye(3), np.eye(3))
        return
    values = np.random.default_rng(1).normal(size=(31, 5))
    np.save(tmp_path / "0.npy", values[:10])
    np.save(tmp_path / "1.npy", values[10:])
    job = run(tmp_path, 2, SCRIPT)
    assert job.returncode == 0, job.stderr
    here = okra.IOKR(kx="rbf(sigma=2)", lam=0.1).fit(values[:, :3], values[:, 3:]).predict(values[:, :3])
    for rank in "01":
        np.testing.assert_allclose(np.load(tmp_path / f"p{rank}.npy"), here, rtol=0, atol=1e-10)
    assert sorted(p.name for p in tmp_path.glob("m.okra*")) == ["m.okra"]
    np.testing.assert_allclose(okra.IOKR.load(str(tmp_path / "m.okra")).predict(values[:, :3]), here, rtol=0, atol=1e-10)


@pytest.mark.skipif(without_mpi(), reason="no engine mpi")
@pytest.mark.parametrize("cuts", [(0, 31), (0, 10, 31), (0, 10, 10, 31), (0, 1, 2, 3, 4, 5, 31)])
def test_rows_stay_on_their_processes(tmp_path, cuts):
    values = np.random.default_rng(1).normal(size=(31, 5))
    np.save(tmp_path / "t.npy", values[:, :3])
    for rank, (a, b) in enumerate(zip(cuts, cuts[1:])):
        np.save(tmp_path / f"{rank}.npy", values[a:b])
    job = run(tmp_path, len(cuts) - 1, SHARDS, "flat")
    assert job.returncode == 0, job.stderr
    here = okra.IOKR(kx="rbf(sigma=2)", ky="linear", lam=0.1, low_rank_x="nystrom(rank=12)").fit(
        values[:, :3], values[:, 3:]).predict(values[:, :3])
    for rank in range(len(cuts) - 1):
        np.testing.assert_allclose(np.load(tmp_path / f"p{rank}.npy"), here, rtol=0, atol=1e-10)
    assert sorted(p.name for p in tmp_path.glob("m.okra*")) == ["m.okra"]


@pytest.mark.skipif(without_mpi(), reason="no engine mpi")
def test_a_bad_shard_ends_all(tmp_path):
    values = np.random.default_rng(1).normal(size=(31, 5))
    for rank, (a, b) in enumerate(((0, 10), (10, 20), (20, 31))):
        np.save(tmp_path / f"{rank}.npy", values[a:b])
    job = run(tmp_path, 3, SHARDS, "bad")
    assert job.returncode != 0
    assert "not finite" in job.stderr
    assert not list(tmp_path.glob("m.okra*"))
