"""Files of mass spectra as MGF: mzML, and records of MassBank.

Of an mzML file the spectra of level 2 and above, with m/z and charge of the ion, polarity, collision energy and
retention time; arrays of 32 or 64 bits, plain or packed by zlib. Of MassBank records (one file, or a folder of
them and its subfolders) those of tandem spectra, with what they say about molecule, ion and instrument.
"""
from __future__ import annotations

import base64
import gzip
import re
import zlib
from pathlib import Path
from typing import Any, Callable, Iterator, Tuple
from xml.etree import ElementTree

import numpy as np

Fail = Callable[[str, str], Exception]
MZ, INTENSITY = "MS:1000514", "MS:1000515"
KEYS = {"MS:1000744": "PEPMASS", "MS:1000041": "CHARGE", "MS:1000045": "COLLISION_ENERGY", "MS:1000016": "RTINSECONDS"}
NAMES = {"MS:1000129": ("IONMODE", "NEGATIVE"), "MS:1000130": ("IONMODE", "POSITIVE"), "MS:1000133": ("FRAGMENTATION", "CID"),
         "MS:1000422": ("FRAGMENTATION", "HCD"), "MS:1000598": ("FRAGMENTATION", "ETD")}
OTHER = {"MS:1002312": "MS-Numpress", "MS:1002313": "MS-Numpress", "MS:1002314": "MS-Numpress", "MS:1002746": "MS-Numpress",
         "MS:1002747": "MS-Numpress", "MS:1002748": "MS-Numpress"}


def _block(fields: dict, mz: Any, intensity: Any) -> str:
    """One spectrum as MGF."""
    about = "".join(f"{key}={' '.join(str(value).split())}\n" for key, value in fields.items() if str(value).strip())
    peaks = "".join(f"{a!r} {b!r}\n" for a, b in zip(mz, intensity))
    return f"BEGIN IONS\n{about}{peaks}END IONS\n\n"


def _kept(path: str, name: str, mz: np.ndarray, intensity: np.ndarray, fail: Fail) -> Tuple[list, list]:
    """The peaks of intensity above 0."""
    if len(mz) != len(intensity):
        raise fail("OKRA_EFORMAT", f"{path}: spectrum {name}: {len(mz)} values of m/z and {len(intensity)} intensities")
    if not (np.isfinite(mz).all() and np.isfinite(intensity).all() and (mz > 0).all()):
        raise fail("OKRA_EFORMAT", f"{path}: spectrum {name}: m/z and intensities are to be numbers, m/z above 0")
    some = intensity > 0
    return mz[some].tolist(), intensity[some].tolist()


# ---- mzML ----

def _array(found: dict, text: str) -> np.ndarray:
    """The numbers of a binaryDataArray, from its terms."""
    packed = base64.b64decode(text, validate=True)
    raw = zlib.decompress(packed) if "MS:1000574" in found else packed
    return np.frombuffer(raw, dtype="<f4" if "MS:1000521" in found else "<f8").astype(float)


def _terms(element: ElementTree.Element, groups: dict) -> dict:
    """All terms below an element, those of the groups that it names too: accession, (value, unit)."""
    found: dict = {}
    for part in element.iter():
        if part.tag.endswith("referenceableParamGroupRef"):
            found.update(groups.get(part.get("ref"), {}))
        elif part.tag.endswith("cvParam"):
            found[part.get("accession")] = (part.get("value", ""), part.get("unitAccession", ""))
    return found


def _mzml_spectrum(path: str, element: ElementTree.Element, groups: dict, fail: Fail) -> str:
    name = element.get("id", element.get("index", "?"))
    arrays, wide = {}, _terms(element, groups)
    for part in element.iter():
        if part.tag.endswith("binaryDataArray"):
            found = _terms(part, groups)
            other = [what for accession, what in OTHER.items() if accession in found]
            if other:
                raise fail("OKRA_EUNSUPPORTED", f"{path}: spectrum {name}: arrays are packed by {other[0]}, expected zlib or "
                           "none (msconvert --zlib writes it)")
            text = "".join("".join(child.itertext()) for child in part if child.tag.endswith("binary"))
            for kind in (MZ, INTENSITY):
                if kind in found:
                    arrays[kind] = _array(found, "".join(text.split()))
    mz, intensity = _kept(path, name, *(arrays.get(kind, np.empty(0)) for kind in (MZ, INTENSITY)), fail)
    fields = {"TITLE": name, **{key: wide[term][0] for term, key in KEYS.items() if term in wide},
              **dict(NAMES[term] for term in NAMES if term in wide)}
    if "RTINSECONDS" in fields:
        minutes = wide["MS:1000016"][1] == "UO:0000031"
        fields["RTINSECONDS"] = repr(float(fields["RTINSECONDS"]) * (60 if minutes else 1))
    if "CHARGE" in fields:
        fields["CHARGE"] += "-" if fields.get("IONMODE") == "NEGATIVE" else "+"
    return _block(fields, mz, intensity) if mz else ""


def mzml(path: str, fail: Fail) -> str:
    """An mzML file, perhaps .gz, as MGF."""
    groups: dict = {}
    found = []
    try:
        with (gzip.open if path.lower().endswith(".gz") else open)(path, "rb") as file:
            for _, element in ElementTree.iterparse(file):
                if element.tag.endswith("}referenceableParamGroup") or element.tag == "referenceableParamGroup":
                    groups[element.get("id")] = _terms(element, {})
                elif element.tag.endswith("}spectrum") or element.tag == "spectrum":
                    if int(_terms(element, groups).get("MS:1000511", ("2", ""))[0]) > 1:
                        found.append(_mzml_spectrum(path, element, groups, fail))
                    element.clear()
    except OSError as failure:
        raise fail("OKRA_EIO", f"{path}: cannot be read: {failure.strerror or failure}") from None
    except (ElementTree.ParseError, ValueError, EOFError, zlib.error) as failure:
        raise fail("OKRA_EFORMAT", f"{path}: no mzML file, or damaged: {failure}") from None
    return _whole(path, found, fail)


# ---- MassBank ----

ABOUT = {"ACCESSION": "TITLE", "CH$FORMULA": "FORMULA", "CH$SMILES": "SMILES", "AC$INSTRUMENT": "INSTRUMENT",
         "AC$INSTRUMENT_TYPE": "INSTRUMENT_TYPE", "LICENSE": "LICENSE"}
BELOW = {"INCHIKEY": "INCHIKEY", "PRECURSOR_M/Z": "PEPMASS", "PRECURSOR_TYPE": "ADDUCT", "ION_MODE": "IONMODE",
         "COLLISION_ENERGY": "COLLISION_ENERGY", "FRAGMENTATION_MODE": "FRAGMENTATION", "MS_TYPE": "MS_TYPE"}


def _records(path: str, fail: Fail) -> Iterator[Tuple[str, int, list]]:
    """File, line and lines of each record."""
    root = Path(path)
    files = sorted(p for p in root.rglob("*.txt") if p.is_file()) if root.is_dir() else [root]
    for file in files:
        try:
            lines = file.read_text(encoding="utf-8").splitlines()
        except OSError as failure:
            raise fail("OKRA_EIO", f"{file}: cannot be opened: {failure.strerror}") from None
        except UnicodeDecodeError:
            raise fail("OKRA_EFORMAT", f"{file}: no record of MassBank: it is not UTF-8") from None
        begin = 0
        for k, line in enumerate(lines):
            if line.rstrip() == "//":
                yield str(file), begin, lines[begin:k]
                begin = k + 1
        rest = next((k for k in range(begin, len(lines)) if lines[k].strip()), None)
        if rest is not None:
            raise fail("OKRA_EFORMAT", f"{file}: line {rest + 1}: no record of MassBank, or its end, '//', is missing")


def _record(file: str, begin: int, lines: list, fail: Fail) -> str:
    fields: dict = {}
    peaks: list = []
    inside = False
    for k, line in enumerate(lines):
        if inside and line.startswith(" "):
            words = line.split()
            try:
                peaks.append((float(words[0]), float(words[1])))
            except (ValueError, IndexError):
                raise fail("OKRA_EFORMAT", f"{file}: line {begin + k + 1}: expected a peak, m/z and intensity") from None
            continue
        key, colon, value = line.partition(": ")
        inside = key.rstrip(":") == "PK$PEAK"
        if key in ABOUT:
            fields.setdefault(ABOUT[key], value)
        elif key in ("CH$LINK", "AC$MASS_SPECTROMETRY", "MS$FOCUSED_ION"):
            name, _, rest = value.partition(" ")
            if name in BELOW:
                fields.setdefault(BELOW[name], rest)
    if "TITLE" not in fields:
        raise fail("OKRA_EFORMAT", f"{file}: line {begin + 1}: no record of MassBank: it has no ACCESSION")
    if fields.pop("MS_TYPE", "MS2") == "MS":
        return ""
    fields = {key: value for key, value in fields.items() if value.strip() not in ("N/A", "NA", "")}
    number = r"\d+(?:\.\d*)?(?:[eE][-+]?\d+)?"
    if "PEPMASS" in fields and not re.fullmatch(number, fields["PEPMASS"]):
        words = [float(word) for word in re.findall(number, fields.pop("PEPMASS"))]
        fields.update({"PEPMASS": repr(words[-1])} if words else {})
    mz, intensity = np.array(peaks, dtype=float).reshape(-1, 2).T
    kept = _kept(file, fields["TITLE"], mz, intensity, fail)
    return _block(fields, *kept) if kept[0] else ""


def massbank(path: str, fail: Fail) -> str:
    """A file of records, or a folder of such files, as MGF."""
    return _whole(path, [_record(*record, fail) for record in _records(path, fail)], fail)


def _whole(path: str, found: list, fail: Fail) -> str:
    if not any(found):
        raise fail("OKRA_EFORMAT", f"{path}: there is no tandem spectrum with peaks")
    return "".join(found)
