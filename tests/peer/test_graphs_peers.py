"""SDF written by RDKit, GraphML and networks by networkx, exp(-beta L) by SciPy.

Molecules read from SDF must have the features of the same molecules read from SMILES;
network kernels must equal SciPy's functions of networkx's Laplacians.
"""
import os
import subprocess
import sys
import tempfile

import numpy as np

try:
    import networkx as nx
    from rdkit import Chem, RDLogger
    from scipy.linalg import expm, pinv
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
RDLogger.DisableLog("rdApp.*")

OKRA = os.path.join(os.environ.get("OKRA_BUILD", "build"), "okra")
HERE = os.path.dirname(os.path.abspath(__file__))
FEW = ["CC(=O)Oc1ccccc1C(=O)O", "Cn1cnc2c1c(=O)n(C)c(=O)n2C", "C[N+](C)(C)CC(=O)[O-]",
       "[O-][N+](=O)c1ccccc1", "[13CH3]C([2H])O", "c1cc[nH]c1", "[CH2]C", "C#N", "[Na+].[Cl-]",
       "CS(=O)(=O)N", "c1ccc2c(c1)[nH]c1ccccc12", "OP(=O)(O)O", "C[Si](C)(C)C", "[Se]1C=CC=C1"]
failures = 0


def check(name, good, detail=""):
    global failures
    failures += not good
    print(f"{'ok  ' if good else 'FAIL'} {name} {detail}")


def gram(x, kernel, y=None):
    with tempfile.NamedTemporaryFile(suffix=".npy") as out:
        command = [OKRA, "gram", "--x", x, "--kernel", kernel, "-o", out.name, "--quiet"]
        subprocess.run(command + (["--y", y] if y else []), check=True,
                       stderr=subprocess.DEVNULL)
        return np.load(out.name)


def molecules():
    for base in (os.environ.get("OKRA_DATA"), os.path.join(HERE, "../../../shared/data"),
                 os.path.join(HERE, "../../../../shared/data")):
        path = base and os.path.join(base, "nci60", "molecules.tsv")
        if path and os.path.exists(path):
            with open(path) as file:
                rows = [line.rstrip("\n").split("\t")[6] for line in file]
            return FEW + [r for r in rows[1:] if r != "-"][::6]
    return FEW


def sdf(folder):
    mols = [m for m in map(Chem.MolFromSmiles, molecules()) if m is not None]
    # Newer RDKits write molecules with dative bonds as V3000, which okra does not read.
    old = [m for m in mols if "V2000" in Chem.MolToMolBlock(m)]
    check("molecules as V2000", len(old) > 0.95 * len(mols), f"{len(old)} of {len(mols)}")
    mols = old
    smi, plain, full = (os.path.join(folder, n) for n in ("a.smi", "a.sdf", "h.sdf"))
    with open(smi, "w") as file:
        file.writelines(Chem.MolToSmiles(m) + "\n" for m in mols)
    for path, change in ((plain, lambda m: m), (full, Chem.AddHs)):
        with open(path, "w") as file:
            for m in mols:
                file.write(Chem.MolToMolBlock(change(m)) + "$$$$\n")
    for path, name in ((plain, "SDF"), (full, "SDF with hydrogens")):
        for kernel in ("ecfp(radius=3,count=1) | normalize", "paths(m=5,count=1) | normalize"):
            d = np.diag(gram(path, kernel, smi))
            bad = [Chem.MolToSmiles(mols[i]) for i in np.flatnonzero(np.abs(d - 1) > 1e-12)]
            check(f"{name} equals SMILES, {kernel.split('(')[0]}", not bad,
                  f"{len(mols)} molecules, {len(bad)} differ {bad[:3]}")


def networks(folder):
    g = nx.disjoint_union(nx.erdos_renyi_graph(40, 0.1, seed=1), nx.path_graph(10))
    rng = np.random.default_rng(0)
    for u, v in g.edges:
        g[u][v]["weight"] = float(rng.uniform(0.5, 2))
    path = os.path.join(folder, "n.edges")
    with open(path, "w") as file:
        file.writelines(f"{u} {v} {d['weight']!r}\n" for u, v, d in g.edges(data=True))
        file.writelines(f"{u}\n" for u in nx.isolates(g))
    L = nx.laplacian_matrix(g).toarray()
    N = nx.normalized_laplacian_matrix(g).toarray()
    for kernel, want in (("diffusion(beta=0.8)", expm(-0.8 * L)),
                         ("diffusion(beta=3,normalized=1)", expm(-3 * N)),
                         ("commute-time", pinv(L)),
                         ("regularized-laplacian(sigma2=2)",
                          np.linalg.inv(np.eye(len(L)) + 2 * L)),
                         ("p-step(a=2,p=4)",
                          np.linalg.matrix_power(2 * np.eye(len(N)) - N, 4))):
        error = np.abs(gram(path, kernel) - want).max() / np.abs(want).max()
        # measured: 3.4e-15 at most
        check(kernel, error < 4e-14, f"{error:.1e}")
    np.save(os.path.join(folder, "W.npy"), nx.to_numpy_array(g))
    same = gram("nodes:" + os.path.join(folder, "W.npy"), "diffusion")
    check("matrix equals edge list", np.array_equal(same, gram(path, "diffusion")))


def graphml(folder):
    path = os.path.join(folder, "g.graphml")
    g = nx.erdos_renyi_graph(12, 0.3, seed=2)
    nx.set_node_attributes(g, {i: "CNO"[i % 3] for i in g}, "label")
    nx.write_graphml(g, path)
    # networkx's hash is of the same refinement: its histogram gives wl
    rounds = nx.weisfeiler_lehman_subgraph_hashes(g, node_attr="label", iterations=3)
    total = sum(n * n for k in range(3)
                for n in np.unique([h[k] for h in rounds.values()], return_counts=True)[1])
    labels = np.unique([g.nodes[i]["label"] for i in g], return_counts=True)[1]
    check("wl of GraphML equals networkx",
          gram(path, "wl(h=3)")[0, 0] == total + (labels ** 2).sum())


with tempfile.TemporaryDirectory() as folder:
    sdf(folder)
    networks(folder)
    graphml(folder)
sys.exit(1 if failures else 0)
