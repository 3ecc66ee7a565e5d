"""Places of atoms, by RDKit where it is there.

``okra report`` lays molecules out by itself. For machines without RDKit one that has it adds the
places to a result: ``python3 -m okra.depict ranked.json -o drawn.json``.
"""
from __future__ import annotations

import argparse
import json
import sys
from typing import Any, Optional

from .files import write
from .results import Refused


class Undrawable(ValueError):
    """The figure is not one of docs/results-format.md."""


def _symbol(atom: Any) -> str:
    """What stands at an atom; carbons within a molecule are not written."""
    charge, hydrogens = atom.GetFormalCharge(), atom.GetTotalNumHs()
    if atom.GetAtomicNum() == 6 and not charge and not atom.GetIsotope() and atom.GetDegree():
        return ""
    isotope = str(atom.GetIsotope() or "")
    tail = "H" + (str(hydrogens) if hydrogens > 1 else "") if hydrogens else ""
    sign = ("+" if charge > 0 else "-") * abs(charge) if abs(charge) < 3 else f"{charge:+d}"
    return isotope + atom.GetSymbol() + tail + sign


def molecule(smiles: str) -> Optional[dict]:
    """``atoms``: lists of x, y and what is written there; ``bonds``: lists of two atoms and 1, 2 or
    3. None where RDKit does not understand the SMILES."""
    from rdkit import Chem, RDLogger
    from rdkit.Chem import AllChem
    RDLogger.DisableLog("rdApp.*")
    m = Chem.MolFromSmiles(smiles)
    if m is None or m.GetNumAtoms() == 0:
        return None
    Chem.Kekulize(m, clearAromaticFlags=True)
    AllChem.Compute2DCoords(m)
    place = m.GetConformer().GetPositions()
    return {"atoms": [[round(float(place[a.GetIdx()][0]), 3),
                       round(float(place[a.GetIdx()][1]), 3), _symbol(a)]
                      for a in m.GetAtoms()],
            "bonds": [[b.GetBeginAtomIdx(), b.GetEndAtomIdx(),
                       min(3, max(1, int(b.GetBondTypeAsDouble())))] for b in m.GetBonds()]}


def places(item: dict) -> tuple:
    """Atoms and bonds of an item of a figure: its own, else RDKit's, else none. Checked."""
    try:
        found = item if item.get("atoms") else molecule(str(item.get("smiles", ""))[:2000]) or {}
    except (ImportError, RuntimeError):
        found = {}
    atoms, bonds = found.get("atoms") or [], found.get("bonds") or []
    good = all(isinstance(part, list) and all(isinstance(p, list) and len(p) == 3 for p in part)
               for part in (atoms, bonds))
    good = good and all(isinstance(v, (int, float)) and abs(v) < 1e6 for a in atoms for v in a[:2])
    if not good or not all(type(v) is int and 0 <= v < len(atoms) and b[2] in (1, 2, 3)
                           for b in bonds for v in b[:2]):
        raise Undrawable("a molecule has bonds or places that do not fit")
    return atoms, bonds


def result(value: Any) -> int:
    """Adds places to every molecule of a result that the module json read, or of a list of them;
    how many."""
    count = 0
    for one in value if isinstance(value, list) else [value]:
        for figure in one.get("figures", []):
            for item in figure.get("items", []) if figure.get("type") == "molecules" else []:
                found = molecule(item.get("smiles", ""))
                item.update(found or {})
                count += found is not None
    return count


def main() -> int:
    parser = argparse.ArgumentParser(prog="python3 -m okra.depict", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("result")
    parser.add_argument("-o", "--output", required=True)
    a = parser.parse_args()
    try:
        with open(a.result, encoding="utf-8") as file:
            value = json.load(file)
        count = result(value)
    except ImportError:
        print("okra.depict: RDKit is not installed; okra report writes SMILES without it",
              file=sys.stderr)
        return 1
    except (OSError, ValueError, AttributeError) as error:
        print(f"okra.depict: {a.result}: {error}", file=sys.stderr)
        return 1
    try:
        write(a.output, json.dumps(value))
    except Refused as error:
        print(f"okra.depict: {error}", file=sys.stderr)
        return 1
    print(f"okra.depict: {count} molecules", file=sys.stderr)
    return 0
