"""The SMILES parser against RDKit: atoms, bonds, rings, aromaticity; rewritten molecules.

Every molecule of nci60 (found through OKRA_DATA or ../shared/data beside the source tree)
and a list of awkward ones. Molecules that RDKit refuses for their valences are compared
with that check off; where it finds no Kekule structure, aromaticity is compared as
written. Disagreements are listed; 0.2 % of the molecules may disagree.
"""
import json
import os
import subprocess
import sys

try:
    from rdkit import Chem, RDLogger
except ImportError:
    print("skipped: RDKit is not installed")
    sys.exit(77)
RDLogger.DisableLog("rdApp.*")

BUILD = os.environ.get("OKRA_BUILD", "build")
DUMP = os.path.join(BUILD, "tests", "peer", "molecules_dump")
HERE = os.path.dirname(os.path.abspath(__file__))
AWKWARD = """c1ccccc1 C1=CC=CC=C1 c1ccc2ccccc2c1 c1ccc2cccc2cc1 C1=CC=C2C=CC=C2C=C1 c1cc[nH]c1 c1ccoc1
c1ccsc1 c1cc[se]c1 O=c1cc[nH]cc1 O=C1C=CC(=O)C=C1 [cH-]1cccc1 [cH+]1cccccc1 c1cc[n+](C)cc1 c1cc[o+]cc1
Cn1cnc2c1c(=O)n(C)c(=O)n2C CN1C=NC2=C1C(=O)N(C)C(=O)N2C C1=CC=CC=CC=C1 C1=CCCCC1 S1(=O)(=O)C=CC=C1
O=S1C=CC=C1 c1ccc2c(c1)c1ccccc21 C1=CC2=CC=CC2=C1 c1cc2cccc3ccc4cccc1c4c23 N(=O)(=O)c1ccccc1
[O-][N+](=O)c1ccccc1 CN=N#N C[N-][N+]#N [2H]C([2H])[2H] [H]C([H])([H])[H] [H][H] [13CH4] C/C=C/C F/C=C\\F
N[C@@H](C)C(=O)O [Na+].[Cl-] C1CC1C2CC2 C%12CCCCC%12 C12C3C4C1C5C2C3C45 b1ccccc1 C1=CB(O)OC1 *c1ccccc1
[nH]1c2ccccc2c2ccccc12 c1ccc(cc1)-c1ccccc1 C#CC#N N1C=CC=C1 O1C=CC=C1 C=C1C=CC=CC1=C C1=CC(=C)C=C1
c1cnc2[nH]cnc2n1 Cc1c[nH]c(=O)[nH]c1=O OCl(=O)(=O)=O P(=O)(O)(O)O CS(=O)(=O)C c1ccc2[nH]ccc2c1
C1=CC2=CC3=CC=C(N3)C=C4C=CC(=N4)C=C5C=CC(=CC1=N2)N5 [Fe+2] C1=CN=CN1 c1ncc[nH]1 c1c[nH]nn1 c1nnn[nH]1 n1nnnc1C
c1ccp[cH]c1 C1=CC=PC=C1 O=c1occc2ccccc12 c1cc2ccc3cccc4ccc(c1)c2c34 C1=CC=C[CH]1 c1ccc2nc3ccccc3nc2c1
C12=CC=CC=C1C=CC=C2 O=C1c2ccccc2C(=O)c2ccccc21 c1cc2cc3ccccc3cc2cc1 [cH-]1[cH-]ccc1""".split()


def dump(smiles):
    run = subprocess.run([DUMP], input="".join(s + "\n" for s in smiles), text=True,
                         capture_output=True, check=True)
    return [json.loads(line) for line in run.stdout.splitlines()]


def peer(smiles):
    """(molecule, how it was read) or (None, why not)."""
    mol = Chem.MolFromSmiles(smiles)
    if mol is not None:
        return mol, "sanitised"
    mol = Chem.MolFromSmiles(smiles, sanitize=False)
    if mol is None:
        return None, "syntax"
    mol.UpdatePropertyCache(strict=False)
    flags = Chem.SANITIZE_ALL ^ Chem.SANITIZE_PROPERTIES
    if Chem.SanitizeMol(mol, flags, catchErrors=True) == Chem.SANITIZE_NONE:
        return Chem.RemoveHs(mol, sanitize=False), "valence"
    mol = Chem.MolFromSmiles(smiles, sanitize=False)
    mol.UpdatePropertyCache(strict=False)
    Chem.FastFindRings(mol)
    return mol, "as written"


ORDER = {Chem.BondType.SINGLE: 1, Chem.BondType.DOUBLE: 2, Chem.BondType.TRIPLE: 3,
         Chem.BondType.QUADRUPLE: 4}


def smallest_rings(mol):
    """The smallest set of smallest rings; ring information of a sanitised molecule holds a
    larger, symmetrised set."""
    fresh = Chem.MolFromSmiles(Chem.MolToSmiles(mol), sanitize=False)
    return len(Chem.GetSSSR(fresh))


def differences(ours, mol, how):
    """What differs, as texts; atoms are in the same order in both."""
    atoms, bonds = ours["atoms"], ours["bonds"]
    found = []
    if len(atoms) != mol.GetNumAtoms() or len(bonds) != mol.GetNumBonds():
        return [f"{len(atoms)} atoms, {len(bonds)} bonds; "
                f"RDKit {mol.GetNumAtoms()}, {mol.GetNumBonds()}"]
    if how != "sanitised":
        Chem.FastFindRings(mol)  # newer RDKits look for rings only when they sanitise
    rings = mol.GetRingInfo()
    for i, (element, charge, isotope, hydrogens, aromatic, ring) in enumerate(atoms):
        a = mol.GetAtomWithIdx(i)
        want = [a.GetAtomicNum(), a.GetFormalCharge(), a.GetIsotope(), int(a.GetIsAromatic()),
                int(rings.NumAtomRings(i) > 0)]
        got = [element, charge, isotope, aromatic, ring]
        if how == "sanitised":
            want.append(a.GetTotalNumHs())
            got.append(hydrogens)
        if got != want:
            found.append(f"atom {i} ({a.GetSymbol()}): {got}, RDKit {want}")
    for a, b, order, aromatic, ring in bonds:
        bond = mol.GetBondBetweenAtoms(a, b)
        if bond is None:
            found.append(f"bond {a}-{b}: not in RDKit")
            continue
        ring_there = int(rings.NumBondRings(bond.GetIdx()) > 0)
        got = [aromatic, ring] + ([0] if aromatic else [order])
        aromatic_there = int(bond.GetIsAromatic() and (how != "as written" or ring_there))
        order_there = 1 if bond.GetIsAromatic() else ORDER.get(bond.GetBondType(), -1)
        want = [aromatic_there, ring_there] + ([0] if aromatic_there else [order_there])
        if got != want:
            found.append(f"bond {a}-{b}: {got}, RDKit {want}")
    if how == "sanitised" and not found:
        components = len(Chem.GetMolFrags(mol))
        count = len(bonds) - len(atoms) + components
        if smallest_rings(mol) != count:
            found.append(f"{count} rings, RDKit {smallest_rings(mol)}")
    return found


def dative(mol):
    """Newer RDKits make bonds to metals dative, and look for no rings through them."""
    return any(b.GetBondType() == Chem.BondType.DATIVE for b in mol.GetBonds())


def compare(smiles):
    wrong, counts = [], {}
    for text, ours in zip(smiles, dump(smiles)):
        mol, how = peer(text)
        how = "dative" if mol is not None and dative(mol) else how
        counts[how] = counts.get(how, 0) + 1
        if mol is None or "error" in ours:
            if (mol is None) != ("error" in ours):
                wrong.append((text, ["refused by " + ("RDKit" if mol is None else "okra")]))
            continue
        if how == "dative":
            continue
        if how == "as written" and ours["kekule"]:
            wrong.append((text, ["RDKit finds no Kekule structure"]))
            continue
        found = differences(ours, mol, how)
        if found:
            wrong.append((text, found))
    return wrong, counts


def nci60():
    for base in (os.environ.get("OKRA_DATA"), os.path.join(HERE, "../../../shared/data"),
                 os.path.join(HERE, "../../../../shared/data")):
        path = base and os.path.join(base, "nci60", "molecules.tsv")
        if path and os.path.exists(path):
            with open(path) as file:
                rows = [line.rstrip("\n").split("\t") for line in file]
            return [row[6] for row in rows[1:] if row[6] != "-"]
    return []


def rewritten(smiles, ways=10):
    """Counts molecules whose atoms and bonds, as a sorted list with each atom's class and
    neighbours' classes, change when RDKit writes the molecule in another way."""
    def signature(ours):
        labels = [tuple(a) for a in ours["atoms"]]
        for _ in range(4):
            around = [[] for _ in labels]
            for a, b, order, aromatic, ring in ours["bonds"]:
                kind = 0 if aromatic else order
                around[a].append((kind, ring, labels[b]))
                around[b].append((kind, ring, labels[a]))
            labels = [hash((labels[i], tuple(sorted(around[i])))) for i in range(len(labels))]
        return tuple(sorted(labels))

    texts, owner = [], []
    for k, text in enumerate(smiles):
        mol = Chem.MolFromSmiles(text)
        if mol is None or dative(mol):
            continue
        forms = [Chem.MolToSmiles(mol, doRandom=True) for _ in range(ways - 2)]
        forms.append(Chem.MolToSmiles(mol))
        plain = Chem.Mol(mol)
        Chem.Kekulize(plain, clearAromaticFlags=True)
        forms.append(Chem.MolToSmiles(plain, kekuleSmiles=True))
        texts += forms
        owner += [k] * len(forms)
    first, changed = {}, set()
    for text, k, ours in zip(texts, owner, dump(texts)):
        s = signature(ours) if "error" not in ours else text
        if first.setdefault(k, s) != s:
            changed.add(k)
    return [smiles[k] for k in sorted(changed)], len(texts)


def main():
    status = 0
    molecules = nci60()
    for name, smiles, share in (("awkward", AWKWARD, 0), ("nci60", molecules, 0.002)):
        wrong, counts = compare(smiles)
        print(f"{name}: {len(smiles)} molecules {counts}, {len(wrong)} disagree")
        for text, found in wrong:
            print(f"  {text}\n    " + "\n    ".join(found[:4]))
        if len(wrong) > share * len(smiles) or counts.get("dative", 0) > 0.02 * len(smiles):
            status = 1
    changed, count = rewritten(AWKWARD + molecules[::8])
    print(f"rewritten: {count} texts, {len(changed)} molecules change")
    for text in changed:
        print("  " + text)
    if not molecules:
        print("nci60 was not found; only the list of awkward molecules was compared")
    return 1 if changed else status


sys.exit(main())
