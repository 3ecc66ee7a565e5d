"""mzML files and records of MassBank: `okra.read`, and `python -m okra convert`."""
import base64
import gzip
import os
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

import okra

HERE = Path(__file__).resolve().parent
PEAKS = [(50.25, 3.5), (90.5, 0.0), (121.125, 1000.0)]
GROUP = ('<referenceableParamGroupList count="1"><referenceableParamGroup id="common">'
         '<cvParam accession="MS:1000130" name="positive scan"/></referenceableParamGroup></referenceableParamGroupList>')


def term(accession, value="", unit=""):
    return f'<cvParam cvRef="MS" accession="{accession}" value="{value}"' + (f' unitAccession="{unit}"' if unit else "") + "/>"


def array(values, kind, wide, packed):
    raw = struct.pack(f"<{len(values)}{'d' if wide else 'f'}", *values)
    text = base64.b64encode(zlib.compress(raw) if packed else raw).decode()
    return (f"<binaryDataArray>{term('MS:1000523' if wide else 'MS:1000521')}{term('MS:1000574' if packed else 'MS:1000576')}"
            f"{term(kind)}<binary>{text[:7]}\n{text[7:]}</binary></binaryDataArray>")


def spectrum(name, level=2, wide=True, packed=True, peaks=PEAKS, more=""):
    mz, height = zip(*peaks) if peaks else ((), ())
    return (f'<spectrum id="{name}" index="0"><referenceableParamGroupRef ref="common"/>{term("MS:1000511", level)}'
            f'<scanList><scan>{term("MS:1000016", "1.5", "UO:0000031")}</scan></scanList><precursorList><precursor>'
            f'<selectedIon>{term("MS:1000744", "180.5")}{term("MS:1000041", "1")}</selectedIon>'
            f'<activation>{term("MS:1000422")}{term("MS:1000045", "35")}</activation></precursor></precursorList>{more}'
            f'<binaryDataArrayList>{array(mz, "MS:1000514", wide, packed)}{array(height, "MS:1000515", wide, packed)}'
            "</binaryDataArrayList></spectrum>")


def mzml(*spectra):
    return ('<?xml version="1.0" encoding="utf-8"?><indexedmzML xmlns="http://psi.hupo.org/ms/mzml"><mzML>' + GROUP +
            f'<run><spectrumList count="{len(spectra)}">{"".join(spectra)}</spectrumList></run></mzML></indexedmzML>')


def test_spectra_of_mzml_files(tmp_path):
    path = tmp_path / "run.mzML"
    path.write_text(mzml(spectrum("scan=1"), spectrum("scan=2", level=1), spectrum("scan=3", wide=False),
                         spectrum("scan=4", packed=False), spectrum("empty", peaks=[])))
    data = okra.read(path)
    assert data.kind == "spectra" and len(data) == 3
    for peaks, about in data.objects:  # these values are the same in 32 bits
        assert np.array_equal(peaks, [PEAKS[0], PEAKS[2]])
        assert about["PEPMASS"] == "180.5" and about["CHARGE"] == "1+" and about["IONMODE"] == "POSITIVE"
        assert about["COLLISION_ENERGY"] == "35" and about["FRAGMENTATION"] == "HCD" and about["RTINSECONDS"] == "90.0"
    assert [about["TITLE"] for _, about in data.objects] == ["scan=1", "scan=3", "scan=4"]
    assert np.array_equal(okra.read(f"{path}:pepmass").objects, [[180.5]] * 3)
    assert len(okra.read(path, bag="PEPMASS")) == 1
    packed = tmp_path / "run.mzml.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert np.array_equal(okra.read(packed).objects[1][0], data.objects[1][0])


def test_mzml_files_that_are_refused(tmp_path):
    path = tmp_path / "run.mzML"
    for text, message in (
            ("no file of theirs", "no mzML file, or damaged: "),
            (mzml(spectrum("a"))[:-30], "no mzML file, or damaged: "),
            (mzml(spectrum("a")).replace("<binary>", "<binary>!"), "no mzML file, or damaged: "),
            (mzml(spectrum("a", packed=False)).replace(term("MS:1000576"), term("MS:1000574")), "no mzML file, or damaged: "),
            (mzml(spectrum("a", level=1)), "there is no tandem spectrum with peaks"),
            (mzml(spectrum("a", more=array([1.0], "MS:1000514", True, True)).replace(
                array([p[0] for p in PEAKS], "MS:1000514", True, True), "")), "spectrum a: 1 values of m/z and 3 intensities"),
            (mzml(spectrum("a", peaks=[(float("nan"), 1)])), "spectrum a: m/z and intensities are to be numbers"),
            (mzml(spectrum("a", packed=False)).replace(term("MS:1000576"), term("MS:1002312")), "are packed by MS-Numpress")):
        path.write_text(text)
        with pytest.raises(okra.OkraError, match=message) as failure:
            okra.read(path)
        assert str(failure.value).startswith(str(path))
    with pytest.raises(okra.OkraError, match="nowhere.mzML: cannot be read: No such file"):
        okra.read(tmp_path / "nowhere.mzML")


RECORD = """ACCESSION: MSBNK-Test-{number}
RECORD_TITLE: Something; LC-ESI-QTOF; MS2
LICENSE: CC0
CH$NAME: Something
CH$FORMULA: C2H6O
CH$SMILES: CCO
CH$LINK: CAS 64-17-5
CH$LINK: INCHIKEY LFQSCWFLJHTTHZ-UHFFFAOYSA-N
AC$INSTRUMENT: TripleTOF 5600 SCIEX
AC$INSTRUMENT_TYPE: LC-ESI-QTOF
AC$MASS_SPECTROMETRY: MS_TYPE {level}
AC$MASS_SPECTROMETRY: ION_MODE POSITIVE
AC$MASS_SPECTROMETRY: COLLISION_ENERGY 20 eV
MS$FOCUSED_ION: PRECURSOR_M/Z 47.0491
MS$FOCUSED_ION: PRECURSOR_TYPE [M+H]+
PK$ANNOTATION: m/z tentative_formula
  29.0386 C2H5+
PK$NUM_PEAK: 2
PK$PEAK: m/z int. rel.int.
  29.0386 120.5 121
  47.0491 990 999
//
"""


def test_records_of_massbank(tmp_path):
    folder = tmp_path / "records" / "lab"
    folder.mkdir(parents=True)
    for k, level in enumerate(("MS2", "MS", "MS2")):
        (folder / f"{k}.txt").write_text(RECORD.format(number=k, level=level))
    data = okra.read(f"massbank:{tmp_path}/records")
    assert len(data) == 2
    peaks, about = data.objects[1]
    assert np.array_equal(peaks, [[29.0386, 120.5], [47.0491, 990]])
    assert about == {"TITLE": "MSBNK-Test-2", "LICENSE": "CC0", "FORMULA": "C2H6O", "SMILES": "CCO",
                     "INCHIKEY": "LFQSCWFLJHTTHZ-UHFFFAOYSA-N", "INSTRUMENT": "TripleTOF 5600 SCIEX",
                     "INSTRUMENT_TYPE": "LC-ESI-QTOF", "IONMODE": "POSITIVE", "COLLISION_ENERGY": "20 eV",
                     "PEPMASS": "47.0491", "ADDUCT": "[M+H]+"}
    assert okra.read(f"massbank:{folder}/0.txt:smiles").objects == ["CCO"]
    (folder / "all.txt").write_text(RECORD.format(number=7, level="MS2") * 3)
    assert len(okra.read(f"massbank:{folder}/all.txt")) == 3
    for text, mass in (("1.0e2", "1.0e2"), ("100.5/200.5", "200.5"), ("[M] 1.5e+2", "150.0")):
        (folder / "mass.txt").write_text(RECORD.format(number=8, level="MS2").replace("47.0491\nMS$", f"{text}\nMS$"))
        assert okra.read(f"massbank:{folder}/mass.txt").objects[0][1]["PEPMASS"] == mass


def test_records_that_are_refused(tmp_path):
    path = tmp_path / "r.txt"
    whole = RECORD.format(number=1, level="MS2")
    for text, message in ((whole[:-3], "line 1: no record of MassBank, or its end, '//', is missing"),
                          (whole.replace("  47.0491 990 999", "  47.0491"), "line 21: expected a peak, m/z and intensity"),
                          (whole.replace("  47.0491 990 999", "  47.0491 nan 1"), "m/z and intensities are to be numbers"),
                          (whole.replace("ACCESSION", "ACCESS"), "line 1: no record of MassBank: it has no ACCESSION"),
                          ("", "there is no tandem spectrum with peaks")):
        path.write_text(text)
        with pytest.raises(okra.OkraError, match=message) as failure:
            okra.read(f"massbank:{path}")
        assert str(failure.value).startswith(str(path))
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(okra.OkraError, match="it is not UTF-8"):
        okra.read(f"massbank:{path}")


def test_converts_them_to_mgf(tmp_path):
    (tmp_path / "run.mzML").write_text(mzml(spectrum("scan=1"), spectrum("scan=2")))
    environment = {"PYTHONPATH": str(HERE.parent.parent / "python"), "OKRA_LIBRARY": str(okra._library.LIBRARY_PATH),
                   "PATH": os.environ["PATH"]}
    done = subprocess.run([sys.executable, "-m", "okra", "convert", "run.mzML", "-o", "run.mgf"], cwd=tmp_path, env=environment,
                          text=True, capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "run.mgf\n", "")
    assert okra.read(tmp_path / "run.mgf").objects[1][1]["COLLISION_ENERGY"] == "35"
