"""What RDKit finds: scaffolds of okra.split, tautomers of okra.audit."""
import pytest

import okra
from okra.checks import audit as checks
from okra.checks.split import split


def test_scaffolds():
    pytest.importorskip("rdkit")
    x = okra.smiles(["c1ccccc1C", "c1ccccc1CC", "C1CCCCC1O", "C1CCCCC1", "CCO", "CCN"])
    folds = split(x, "scaffold", 3, kernel="wl(h=1)")["folds"]
    assert folds[0] == folds[1] and folds[2] == folds[3] and folds[4] == folds[5] and len(set(folds)) == 3


def test_tautomers():
    pytest.importorskip("rdkit")
    assert checks.tautomers(["Oc1ccccn1", "C[C@H](N)C(=O)O", "CCO"], ["O=c1cccc[nH]1", "C[C@@H](N)C(=O)O", "CCC", "broken("]) == 2
