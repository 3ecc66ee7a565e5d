"""Kernels of molecules and graphs: path-Tanimoto of nci60 beside RDKit, WL on 1,000 graphs.

okra's times are of one command, `okra gram`, from SMILES to the matrix on disk. RDKit's are
of parsing, path fingerprints (linear paths of up to 6 bonds, 2048 bits) and
BulkTanimotoSimilarity in a process that has been started already. RDKit hashes paths;
okra keeps every path apart unless bits= is given, so both are timed.
"""
import os
import subprocess
import sys
import tempfile

import numpy as np
from common import BUILD, THREADS, finish, report, seconds, skip

HERE = os.path.dirname(os.path.abspath(__file__))
OKRA = os.path.join(BUILD, "okra")


def gram(x, kernel, folder):
    out = os.path.join(folder, "K.npy")
    subprocess.run([OKRA, "gram", "--x", x, "--kernel", kernel, "-o", out, "--quiet",
                    "--threads", str(THREADS)], check=True, stderr=subprocess.DEVNULL)
    return out


def nci60(folder):
    """The molecules that are active somewhere, have a SMILES, and RDKit reads."""
    from rdkit import Chem, RDLogger
    RDLogger.DisableLog("rdApp.*")
    base = os.environ.get("OKRA_DATA", os.path.join(HERE, "../../shared/data"))
    table = os.path.join(base, "nci60", "molecules.tsv")
    if not os.path.exists(table):
        print(f"skipped: no {table}", file=sys.stderr)
        sys.exit(77)
    with open(table) as file:
        rows = [line.rstrip("\n").split("\t") for line in file][1:]
    smiles = [r[6] for r in rows if r[2] == "1" and r[6] != "-"]
    smiles = [s for s in smiles if Chem.MolFromSmiles(s) is not None]
    path = os.path.join(folder, "nci60.smi")
    with open(path, "w") as file:
        file.writelines(s + "\n" for s in smiles)
    return path, smiles


def molecules(folder):
    from rdkit import Chem, DataStructs
    path, smiles = nci60(folder)
    n, out = len(smiles), {}

    def theirs():
        prints = [Chem.RDKFingerprint(Chem.MolFromSmiles(s), maxPath=6, branchedPaths=False)
                  for s in smiles]
        out["rdkit"] = np.array([DataStructs.BulkTanimotoSimilarity(p, prints)
                                 for p in prints])

    def exact():
        out["okra"] = np.load(gram(path, "paths(m=6) | tanimoto", folder))

    def hashed():
        gram(path, "paths(m=6,bits=2048) | tanimoto", folder)

    s = seconds({"exact": exact, "hashed": hashed, "rdkit": theirs}, 3)
    upper = np.triu_indices(n, 1)
    agree = float(np.corrcoef(out["okra"][upper], out["rdkit"][upper])[0, 1])
    report(f"path-Tanimoto {n} x {n} from SMILES, all paths kept, against RDKit",
           s["rdkit"] / s["exact"], 1.0, okra=s["exact"], rdkit=s["rdkit"], correlation=agree)
    report(f"path-Tanimoto {n} x {n} from SMILES, 2048 bits, against RDKit",
           s["rdkit"] / s["hashed"], 1.0, okra=s["hashed"], rdkit=s["rdkit"])
    first = os.path.join(folder, "first.smi")
    with open(first, "w") as file:
        file.writelines(x + "\n" for x in smiles[:1000])
    for kernel in ("wl(h=3)", "wl(h=5)", "ecfp(radius=2)", "shortest-path"):
        t = seconds({"okra": lambda: gram(first, kernel, folder)}, 3)["okra"]
        report(f"{kernel} on 1,000 molecules, seconds", t, 10.0, "lower")


def main():
    try:
        import rdkit  # noqa: F401
    except ImportError:
        skip("RDKit is not installed")
    with tempfile.TemporaryDirectory() as folder:
        molecules(folder)
    finish()


main()
