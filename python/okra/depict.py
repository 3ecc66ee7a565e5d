"""Places of atoms for the molecules of a result, so that ``okra report`` can draw them.

    okra predict model.okra --x new.mgf --candidates c.okx --top 6 -o ranked.tsv --json >ranked.json
    python3 -m okra.depict ranked.json -o drawn.json
    okra report drawn.json -o ranked.html

RDKit lays the molecules out; without it ``okra report`` writes SMILES.
"""
from __future__ import annotations

import argparse
import json
import sys
from typing import Any, Optional

__all__ = ["molecule", "result"]


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
    """Atoms with their places and bonds of a molecule.

    Parameters
    ----------
    smiles : str

    Returns
    -------
    dict or None
        ``atoms``: lists of x, y and what is written there; ``bonds``: lists of two atoms and
        1, 2 or 3. None where RDKit does not understand the SMILES.
    """
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


def result(value: Any) -> int:
    """Adds places to every molecule of a result, or of a list of them; how many.

    Parameters
    ----------
    value : dict or list
        What ``--json`` wrote, read by the module json. It is changed.

    Returns
    -------
    int
    """
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
    with open(a.output, "w", encoding="utf-8") as file:
        json.dump(value, file)
    print(f"okra.depict: {count} molecules", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
