#!/usr/bin/env python3
"""same.py MPIRUN: weights, embeddings, leave-one-out, selection and ranked candidates by 1, 2, 3, 4 and 6 processes are
those of the engine host, to 1e-10: every operator, kernel PCA, low rank; vectors, strings and molecules; fewer rows than
processes.
same.py --inside: what each process runs.
"""
import os
import subprocess
import sys
import tempfile
import warnings

import numpy as np

TOLERANCE = 1e-10
RBF = {"kx": "rbf(sigma=1)", "ky": "rbf(sigma=1)", "lambda": 0.1}
LINEAR = {"kx": "rbf(sigma=1)", "ky": "linear", "lambda": 0.1}


def objects():
    """(name, x, y, test inputs) of every kind and size."""
    import okra
    random = np.random.default_rng(1)
    vectors, outputs = random.normal(size=(41, 3)), random.normal(size=(41, 4))
    words = np.array("abra cadabra bar cab abracadabra da rab braca card".split())
    molecules = np.array("CCO c1ccccc1 CC(=O)O CCN CCCC OCC(O)CO CC#N".split())
    yield "vectors", vectors, outputs, random.normal(size=(7, 3))
    yield "even", vectors[:16], outputs[:16], vectors[16:18]
    yield "three", vectors[:3], outputs[:3], vectors[:5]
    yield "two", vectors[:2], outputs[:2], vectors[:1]
    yield "one", vectors[:1], outputs[:1], vectors[:2]
    yield "copies", vectors[[0, 0, 1, 1, 2, 2, 2]], outputs[[0, 0, 1, 1, 2, 2, 3]], vectors[:3]
    yield "strings", words, words, words[::-1]
    yield "molecules", okra.smiles(molecules), okra.smiles(molecules), okra.smiles(molecules[::2])


def settings(name, folder):
    """Options of fits for objects of that name."""
    if name in ("strings", "molecules"):
        kernel = "spectrum(k=2) | normalize" if name == "strings" else "wl | normalize"
        both = {"kx": kernel, "ky": kernel, "lambda": 0.1}
        for operator in ("identity", "cov", "ccov"):
            yield dict(both, operator=operator)
        yield dict(both, method="kpca")
        yield {**both, "method": "kpca", "components": "2"}
        yield {**both, "low-rank-x": "chol(rank=4)"}
        yield {**both, "low-rank-x": "nystrom(rank=4)", "low-rank-y": "chol(rank=5)"}
        return
    for operator in ("identity", "cov", "ccov"):
        yield dict(RBF, operator=operator)
        yield dict(LINEAR, operator=operator)
        yield {**RBF, "operator": operator, "center-output": "yes"}
    yield {**LINEAR, "keep": "coefficients"}
    for operator in (f"matrix:{folder}/A.npy", f"graph:{folder}/W.npy,mu=0.5"):
        yield dict(LINEAR, operator=operator)
        yield {**LINEAR, "operator": operator, "keep": "coefficients"}
        yield {**LINEAR, "operator": operator, "center-output": "yes"}
    yield {**RBF, "method": "kpca"}
    yield {**RBF, "method": "kpca", "components": "0.9"}
    yield {**RBF, "method": "kpca", "rank-output": "2"}
    for low in ("chol(rank=2)", "nystrom(rank=2)", "rff(rank=8)"):
        for operator in ("identity", "ccov", f"matrix:{folder}/A.npy"):
            yield {**LINEAR, "low-rank-x": low, "operator": operator}


def far(a, b):
    """The largest difference; infinity where the shapes differ or one of them is missing."""
    if a is None or b is None:
        return 0.0 if a is b else np.inf
    a, b = np.asarray(a, float), np.asarray(b, float)
    return np.inf if a.shape != b.shape else np.max(np.abs(a - b), initial=0.0)


def results(x, y, test, values, weights, engine):
    """What a fit with these options gives, by name."""
    import okra
    from okra._library import Context
    from okra._model import Model
    context = Context(threads=1, engine=engine)
    outputs = okra._data.as_data(y)
    if weights is not None:
        outputs = outputs.weigh(weights)
    model = Model.fit(x, outputs, values, context)
    top = min(3, len(y))
    found = {"candidates": model.predict(test, {"decode": "candidates", "top": top}, context=context)}
    low, linear = "low-rank-x" in values, values["ky"] == "linear"
    kinds = {"embedding": linear, "weights": not low and not values.get("operator", "").startswith(("matrix", "graph"))
             and values.get("keep") != "coefficients"}
    out = {"distance": found["candidates"].distance()}
    for kind, asked in kinds.items():
        if asked:
            p = model.predict(test, {"decode": "none"}, context=context, **{kind: True})
            out[kind] = getattr(p, kind)()
    leaves = values.get("operator", "identity") not in ("cov", "ccov") and values.get("method") != "kpca"
    if leaves and len(y) > 1 and weights is None and not low:
        out["losses"] = model.leave(values, context)[1]
    return out


def selections(folder):
    """Pairs, and what is selected from: lambda by leave-one-out of explicit outputs and of others, and by folds."""
    for name, x, y, test in objects():
        kernel = {"strings": "spectrum(k={1,2}) | normalize", "molecules": "wl | normalize"}.get(name)
        grid = {"kx": kernel or "rbf(sigma={0.5,2})", "lam": "1e-3..1e1:5", "cv": "loo"}
        for ky in ["linear", "rbf(sigma=1)"] if kernel is None else ["spectrum(k=2)" if name == "strings" else "wl"]:
            yield name, x, y, {**grid, "ky": ky}
        if name == "vectors":
            yield name, x, y, {**grid, "ky": "linear", "operator": f"matrix:{folder}/A.npy"}
            yield name, x, y, {**grid, "ky": "linear", "per_output": True}
            yield name, x, y, {**grid, "ky": "linear", "cv": "gcv"}
            yield name, x, y, {**grid, "ky": "rbf(sigma=1)", "cv": "kfold:3"}
            yield name, x, y, {**grid, "ky": "rbf(sigma=1)", "operator": "ccov", "cv": "kfold:3"}


def select(folder):
    """How far the losses of every cell are at most from those of the engine host (over what exceeds 1), and of how many cells."""
    import okra
    worst, count = 0.0, 0
    for name, x, y, values in selections(folder):
        both = []
        for engine in ("host", "mpi:4"):
            try:
                found = okra.IOKRCV(engine=engine, n_jobs=1, random_state=0, **values).fit(x, y).selection_
                both.append([[cell.get(key) for key in ("mean", "error", "gcv")] for cell in found["cells"]] +
                            [[float(v) for v in found["best"]["settings"]["lambda"].strip("{}").split(",")]])
            except (okra.OkraError, ValueError) as failure:
                both.append(str(failure))
        if isinstance(both[0], str):
            assert both[0] == both[1] and len(y) < 3, (name, values, both)
            continue
        assert len(both[0]) == len(both[1]), (name, values, both[1])
        for a, b in zip(*both):
            distance = max(far(p, q) / max(1.0, abs(p or 0)) for p, q in zip(a, b))
            assert distance <= TOLERANCE, (name, values, a, b)
            worst, count = max(worst, distance), count + 1
    assert count > 100, count
    return worst, count


def inside(folder):
    from mpi4py import MPI
    rank, worst, cases = MPI.COMM_WORLD.Get_rank(), 0.0, 0
    warnings.simplefilter("ignore")
    for name, x, y, test in objects():
        for values in settings(name, folder):
            for weigh in (False, True):
                weights = np.linspace(0.5, 2, len(y)) if weigh else None
                if weigh and ("low-rank-x" in values or name not in ("vectors", "three")):
                    continue
                both = [results(x, y, test, values, weights, engine) for engine in ("host", "mpi:4")]
                for key, value in both[0].items():
                    distance = far(value, both[1][key])
                    assert distance <= TOLERANCE, (name, values, weigh, key, distance)
                    worst = max(worst, distance)
                cases += 1
    selected, cells = select(folder)
    if rank == 0:
        print(f"{MPI.COMM_WORLD.Get_size()} processes: {cases} fits, the largest difference {worst:.1e}; "
              f"{cells} cells of selections, {selected:.1e}", flush=True)
    assert cases > 200, cases


def main(mpirun):
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                       OMPI_MCA_plm="isolated", OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_orte_execute_quiet="1", OMPI_MCA_btl="self,vader",
                       OMPI_MCA_btl_vader_single_copy_mechanism="none", HWLOC_HIDE_ERRORS="2",
                       OMPI_MCA_hwloc_base_binding_policy="none", OPENBLAS_NUM_THREADS="1")
    with tempfile.TemporaryDirectory() as folder:
        B = np.random.default_rng(2).normal(size=(4, 4))
        np.save(f"{folder}/A.npy", B @ B.T)
        np.save(f"{folder}/W.npy", np.ones((4, 4)) - np.eye(4))
        for processes in (1, 2, 3, 4, 6):
            subprocess.run([mpirun, "--oversubscribe", "-n", str(processes), sys.executable, "-m", "mpi4py",
                            os.path.abspath(__file__), "--inside", folder], check=True, env=environment, timeout=300)


inside(sys.argv[2]) if sys.argv[1] == "--inside" else main(sys.argv[1])
