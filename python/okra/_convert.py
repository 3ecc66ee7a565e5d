"""Files of other programs: MATLAB's, WEKA's (ARFF), graphs of the TU collection, spectra as mzML or MassBank records.

`okra.read` takes them, and ``python -m okra convert FILE -o OUT`` writes them in a form that
the program reads. SciPy reads MATLAB files (h5py those of version 7.3); liac-arff reads ARFF
files.
"""
from __future__ import annotations

import argparse
import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, BinaryIO, Callable, NamedTuple, Optional

import numpy as np

from okra_report.files import write
from okra_report.results import Refused

from . import _matlab, _spectra_files
from ._errors import OkraError
from ._library import check, exceptions, interface, lib, make

_STATUS = {name: k for k, name in enumerate(interface.statuses)}
_HOWS = ("dense", "sparse", "bits", "packed", "labels", "targets", "gram", "distances", "missing",
         "permutations", "strings", "sequences", "nodes")


def fail(status: str, message: str) -> Exception:
    """The exception that the library raises for such a file."""
    return exceptions[_STATUS[status]](message)


class Foreign(NamedTuple):
    """A file of another program: prefixes that say how to take it, its format, path and part."""
    hows: str
    kind: str
    path: str
    part: Optional[str]


def foreign(spec: str) -> Optional[Foreign]:
    """What a spec such as ``labels:iris.arff:class`` means; None where the library reads it."""
    kind, hows = None, ""
    while match := re.match(r"(\w+):", spec):
        word = match[1].lower()
        if word in ("mat", "arff", "tu", "mzml", "massbank") and kind is None:
            kind = word
        elif word in _HOWS:
            hows += match[0]
        else:
            break
        spec = spec[match.end():]
    if kind == "tu":
        return Foreign(hows, kind, spec, None)
    match = re.fullmatch(r"(.+?\.(mat|arff|mzml)(?:(?<=mzml)\.gz)?)(?::(.+))?" if kind is None else r"(.+?)()(?::([^/]+))?",
                         spec, re.I | re.S)
    return match and Foreign(hows, kind or match[2].lower(), match[1], match[3])


# ---- MATLAB ----

def _variables(path: str) -> dict:
    """The variables of a MATLAB file: matrices; None for one that holds no real numbers."""
    with tempfile.TemporaryDirectory(prefix="okra-") as folder:
        done = subprocess.run([sys.executable, _matlab.__file__, os.path.abspath(path), folder],
                              stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        answer = Path(folder) / "variables.json"
        if done.returncode < 0:
            raise fail("OKRA_EFORMAT", f"{path}: damaged: SciPy, which reads it, crashed "
                       f"({signal.strsignal(-done.returncode)})")
        if done.returncode > 0 or not answer.exists():
            raise fail("OKRA_EIO", f"{path}: cannot be read: {done.stderr.strip()[-200:]}")
        said = json.loads(answer.read_text(encoding="utf-8"))
        if said["fault"]:
            raise fail(said["fault"][0], f"{path}: {said['fault'][1]}")
        return {name: _taken(os.path.join(folder, file)) if file else None
                for name, file in said["found"]}


def _taken(path: str) -> Any:
    if path.endswith(".npy"):
        return np.load(path)
    from scipy.sparse import load_npz
    return load_npz(path)


def _mat(source: Foreign) -> Any:
    """One variable of a MATLAB file: the named one, or the only one that holds numbers."""
    found = _variables(source.path)
    good = [name for name, value in found.items() if value is not None]
    names = ", ".join(found)
    if source.part is not None:
        if source.part not in found:
            raise fail("OKRA_EARG", f"{source.path}: there is no variable '{source.part}'; there "
                       f"is: {names}")
        if found[source.part] is None:
            raise fail("OKRA_EUNSUPPORTED", f"{source.path}: variable '{source.part}' holds no real "
                       "numbers")
        return found[source.part]
    if len(good) != 1:
        raise fail("OKRA_EARG", f"{source.path}: there are {len(good)} numeric variables among: "
                   f"{names}; choose one as FILE:NAME")
    return found[good[0]]


# ---- ARFF ----

class Table(NamedTuple):
    """An ARFF file: names of attributes, the values of nominal ones (None: numbers; "": texts),
    rows, and whether they are sparse."""
    names: list
    kinds: list
    rows: Any
    sparse: bool

    def is_number(self, k: int) -> bool:
        """Whether attribute k is numeric, or nominal with numbers for values ({0,1})."""
        return self.kinds[k] is None or bool(self.kinds[k]) and all(
            _number(v) is not None for v in self.kinds[k])

    def value(self, row: Any, k: int) -> Any:
        """Attribute k of a row: 0 or the first value where a sparse row leaves it out."""
        if not self.sparse:
            return row[k]
        return row.get(k, self.kinds[k][0] if self.kinds[k] else 0)

    def features(self, path: str) -> list:
        """The attributes that are features: all, but for a last one of texts, the class."""
        last = len(self.names) - 1
        keep = [k for k in range(last + 1) if k < last or self.is_number(k) or self.kinds[k] == ""]
        for k in keep:
            if not self.is_number(k):
                raise fail("OKRA_EUNSUPPORTED", f"{path}: attribute {k + 1} ('{self.names[k]}') is "
                           "text; features must be numbers (labels:FILE:NAME reads one attribute "
                           "as labels)")
        if not keep:
            raise fail("OKRA_EFORMAT", f"{path}: there are no features, only the class")
        return keep


def _number(text: Any) -> Optional[float]:
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


def _text(value: Any) -> str:
    return re.sub(r"\.0$", "", repr(value)) if isinstance(value, float) else str(value)


def _table(path: str) -> Table:
    try:
        import arff
    except ImportError:
        raise fail("OKRA_EUNSUPPORTED", f"{path}: liac-arff, which reads ARFF files, is not installed "
                   "(python3-liac-arff)") from None
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        sparse = re.search(r"(?im)^\s*@data\s*$\s*(?:%.*\s+)*\{", text) is not None
        # Rows as lists of indices and values, so that wide sparse files stay sparse.
        made = arff.loads(text, return_type=arff.LOD if sparse else arff.DENSE)
    except OSError as failure:
        raise fail("OKRA_EIO", f"{path}: cannot be opened: {failure.strerror or failure}") from None
    except Exception as failure:  # liac-arff's own, and others where a line is damaged
        raise fail("OKRA_EFORMAT", f"{path}: no ARFF file, or damaged: {failure}") from None
    names = [name for name, _ in made["attributes"]]
    kinds = [sort if isinstance(sort, list) else "" if sort.upper() == "STRING" else None
             for _, sort in made["attributes"]]
    if not names:
        raise fail("OKRA_EFORMAT", f"{path}: there is no @attribute before @data")
    return Table(names, kinds, made["data"], sparse)


def _features(source: Foreign) -> tuple:
    """The features of an ARFF file, an array or a sparse matrix, and their names."""
    if source.part is not None:
        raise fail("OKRA_EARG", f"{source.path}: '{source.part}' cannot be chosen from a file of "
                   "format arff but by labels:")
    table = _table(source.path)
    keep = table.features(source.path)
    names = [table.names[k] for k in keep]
    if not table.sparse:
        rows = [[np.nan if row[k] is None else float(row[k]) for k in keep] for row in table.rows]
        return np.array(rows, dtype=np.float64).reshape(-1, len(keep)), names
    from scipy.sparse import csr_matrix
    place = {k: j for j, k in enumerate(keep)}
    begin, columns, values = [0], [], []
    for row in table.rows:
        for k, value in sorted(row.items()):
            if k in place:
                columns.append(place[k])
                values.append(np.nan if value is None else float(value))
        begin.append(len(columns))
    made = csr_matrix((np.array(values, dtype=float), columns, begin),
                      shape=(len(table.rows), len(keep)))
    made.eliminate_zeros()
    return made, names


def _column(source: Foreign) -> tuple:
    """The texts of one attribute (the last, where none is named), and its values in the order
    of their declaration; no values where they are numbers or free."""
    table = _table(source.path)
    if source.part is not None and source.part not in table.names:
        raise fail("OKRA_EARG", f"{source.path}: there is no attribute '{source.part}'")
    k = len(table.names) - 1 if source.part is None else table.names.index(source.part)
    texts = []
    for i, row in enumerate(table.rows):
        value = table.value(row, k)
        if value is None:
            raise fail("OKRA_EFORMAT", f"{source.path}: row {i} (counted from 0): the value of "
                       f"'{table.names[k]}' is missing")
        texts.append(_text(value))
    return texts, [] if not table.kinds[k] or table.is_number(k) else table.kinds[k]


# ---- graphs ----

def _whole(path: Path, width: int, optional: bool = False) -> Optional[np.ndarray]:
    """The whole numbers of one file, so many a line."""
    if optional and not path.exists():
        return None
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as failure:
        raise fail("OKRA_EIO", f"{path}: cannot be opened: {failure.strerror}") from None
    except UnicodeDecodeError:
        lines = ["?"]
    made = np.empty((len(lines), width), dtype=np.int64)
    for i, line in enumerate(lines):
        words = [word.strip() for word in line.split(",")]
        if len(words) != width or not all(re.fullmatch(r"-?\d{1,18}", w, re.A) for w in words):
            raise fail("OKRA_EFORMAT", f"{path}: line {i + 1}: expected {width} whole "
                       f"number{'s' if width > 1 else ''}")
        made[i] = [int(word) for word in words]
    return made


def _tu(source: Foreign) -> str:
    """A folder of the TU collection as GraphML. Of folder NAME: NAME_graph_indicator.txt (the
    graph of each node, from 1), NAME_A.txt (edges "i, j", nodes from 1 over all graphs), and
    where they are there NAME_node_labels.txt and NAME_edge_labels.txt."""
    folder = Path(source.path).absolute()
    place = {part: folder / f"{folder.name}_{part}.txt"
             for part in ("graph_indicator", "node_labels", "A", "edge_labels")}
    graph = _whole(place["graph_indicator"], 1)[:, 0]
    labels, ends = _whole(place["node_labels"], 1, True), _whole(place["A"], 2) - 1
    kinds = _whole(place["edge_labels"], 1, True)

    def refuse(part: str, line: int, why: str) -> None:
        raise fail("OKRA_EFORMAT", f"{place[part]}: line {line + 1}: {why}")

    steps = np.diff(graph, prepend=1)
    wrong = np.flatnonzero((steps < 0) | (steps > 1) | (graph < 1))
    if wrong.size or (graph.size and graph[0] != 1):
        at = wrong[0] if wrong.size else 0
        refuse("graph_indicator", at, f"graph {graph[at]}; graphs are numbered from 1, one after "
               "another")
    for part, found, count, what in (("node_labels", labels, len(graph), "nodes"),
                                     ("edge_labels", kinds, len(ends), "edges")):
        if found is not None and len(found) != count:
            raise fail("OKRA_EFORMAT", f"{place[part]}: {len(found)} lines; there are {count} {what}")
    edges: dict = {}
    for k, (a, b) in enumerate(ends.tolist()):
        if not (0 <= a < len(graph) and 0 <= b < len(graph)):
            refuse("A", k, f"node {(a if not 0 <= a < len(graph) else b) + 1}; there are "
                   f"{len(graph)} nodes")
        if a == b or graph[a] != graph[b]:
            refuse("A", k, "an edge " + ("from a node to itself" if a == b else
                                         "between nodes of two graphs"))
        kind = 0 if kinds is None else int(kinds[k, 0])
        first = edges.setdefault((min(a, b), max(a, b)), (kind, k))  # both directions are there
        if first[0] != kind:
            refuse("A", k, f"the edge has another label on line {first[1] + 1}")
    of_graph: list = [[] for _ in range(int(graph[-1]) if graph.size else 0)]
    for (a, b), (kind, _) in sorted(edges.items()):
        of_graph[graph[a] - 1].append(f'<edge source="n{a}" target="n{b}"><data key="e">{kind}'
                                      "</data></edge>")
    nodes: list = [[] for _ in of_graph]
    for i, g in enumerate(graph.tolist()):
        nodes[g - 1].append(f'<node id="n{i}"><data key="n">{0 if labels is None else labels[i, 0]}'
                            "</data></node>")
    graphs = "".join(f'<graph id="{g + 1}" edgedefault="undirected">{"".join(nodes[g])}'
                     f'{"".join(of_graph[g])}</graph>\n' for g in range(len(nodes)))
    return ('<?xml version="1.0" encoding="UTF-8"?>\n'
            '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
            '<key id="n" for="node" attr.name="label" attr.type="string"/>\n'
            '<key id="e" for="edge" attr.name="label" attr.type="string"/>\n'
            f"{graphs}</graphml>\n")


def _spectra(source: Foreign) -> str:
    """Spectra as MGF."""
    return (_spectra_files.mzml if source.kind == "mzml" else _spectra_files.massbank)(source.path, fail)


# ---- both ways ----

def _write(value: Any, stem: str) -> str:
    """An array, a sparse matrix, GraphML or MGF in a file that the library reads; its path."""
    if isinstance(value, str):
        path = stem + (".mgf" if value.startswith("BEGIN IONS") else ".graphml")
        Path(path).write_text(value, encoding="utf-8")
    elif hasattr(value, "tocsr"):
        path = stem + ".mtx"
        _write_sparse(path, value)
    else:
        path = stem + ".npy"
        np.save(path, value)
    return path


def _write_sparse(file: Any, value: Any) -> None:
    from scipy.io import mmwrite
    mmwrite(file, value.astype(np.float64), symmetry="general")


def _write_rows(file: BinaryIO, path: str, rows: list) -> None:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    csv.writer(text, delimiter="\t" if path.endswith(".tsv") else ",", lineterminator="\n").writerows(rows)
    text.detach()


def read(source: Foreign, library: Callable) -> Any:
    """The data of such a file; `library` reads a spec of a file that the library knows."""
    from ._data import name_columns
    names = None
    with tempfile.TemporaryDirectory(prefix="okra-") as folder:
        stem = os.path.join(folder, "read")
        if source.kind == "arff" and re.search(r"(labels|strings):", source.hows, re.I):
            texts, values = _column(source)
            if values and "labels" in source.hows.lower():
                return _labels(source, texts, values)
            with open(stem + ".csv", "wb") as file:
                _write_rows(file, stem, [["value"]] + [[text] for text in texts])
            spec = f"{source.hows}{stem}.csv:value"
        else:
            value = {"mat": _mat, "arff": _features, "tu": _tu, "mzml": _spectra, "massbank": _spectra}[source.kind](source)
            if isinstance(value, tuple):
                value, names = value
            spec = source.hows + _write(value, stem)
            if source.kind in ("mzml", "massbank") and source.part is not None:
                spec += ":" + source.part
        try:
            data = library(spec)
        except OkraError as failure:  # which names the file in the folder
            text = re.sub(re.escape(stem) + r"\.\w+", lambda _: source.path, str(failure))
            raise type(failure)(text) from None
    check(lib.okra_data_name(data.pointer, source.path.encode()))
    return name_columns(data, names)


def _labels(source: Foreign, texts: list, values: list) -> Any:
    """Classes in the order in which the file declares them."""
    from ._collection import Data, c_texts
    codes = np.array([values.index(text) for text in texts], dtype=np.int64)
    return Data(make(lib.okra_data_labels, lib.okra_data_free, codes.ctypes.data, len(codes),
                     c_texts(values), len(values)))


def _convert_mat(source: Foreign, out: str) -> list:
    """The variables with numbers: arrays into one archive, sparse matrices each into a file."""
    found = _variables(source.path)
    if source.part is not None:
        found = {source.part: _mat(source)}
    arrays = {k: v for k, v in found.items() if isinstance(v, np.ndarray)}
    sparse = {k: v for k, v in found.items() if v is not None and k not in arrays}
    if not arrays and not sparse:
        raise fail("OKRA_EFORMAT", f"{source.path}: no variable holds real numbers")
    said = []
    if arrays:
        write(out, lambda file: np.savez(file, **arrays))
        said = [f"{out}:{k}  {v.shape[0]} x {v.shape[1]}" for k, v in arrays.items()]
    for name, value in sparse.items():
        path = f"{out[:-4]}.{name}.mtx"
        write(path, lambda file, value=value: _write_sparse(file, value))
        said.append(f"{path}  {value.shape[0]} x {value.shape[1]}, sparse")
    return said + [f"left out: {k}, which holds no real numbers" for k, v in found.items()
                   if v is None]


def _convert_arff(source: Foreign, out: str) -> list:
    """All attributes as columns of one table."""
    table = _table(source.path)

    def text(value: Any) -> str:
        return "?" if value is None else _text(value)

    # A first line without numbers is the line of names.
    names = ["x" + name if _number(name) is not None else name for name in table.names]
    rows = [[text(table.value(row, k)) for k in range(len(names))] for row in table.rows]
    write(out, lambda file: _write_rows(file, out, [names] + rows))
    last = len(names) - 1
    if table.kinds[last] and not table.is_number(last):
        return [f"{out}:!{names[last]}  the features", f"labels:{out}:{names[last]}  the classes"]
    return [out]


def convert(arguments: list) -> int:
    """``python -m okra convert FILE -o OUT``; the status to exit with."""
    from ._data import read as read_data
    parser = argparse.ArgumentParser(
        "python -m okra convert", description="Convert a MATLAB file (.mat), an ARFF file (.arff), "
        "a folder of the TU collection (tu:FOLDER) or spectra (.mzML, massbank:FILE or "
        "massbank:FOLDER) into files that okra reads.")
    parser.add_argument("file", metavar="FILE", help="the file; FILE.mat:NAME is one variable, "
                        "labels:FILE.arff:NAME one attribute")
    parser.add_argument("-o", required=True, metavar="OUT", dest="out",
                        help="what to write: .npz (all variables of a MATLAB file; sparse ones go "
                        "beside it as OUT.NAME.mtx), .csv (all of an ARFF file), .graphml, .mgf, or any "
                        "format that okra writes")
    given = parser.parse_args(arguments)
    source, out = foreign(given.file), given.out
    try:
        if source is None:
            raise fail("OKRA_EARG", f"{given.file}: not a file that convert reads; expected "
                       "FILE.mat, FILE.arff, FILE.mzML, massbank:FILE, massbank:FOLDER or tu:FOLDER")
        if os.path.exists(out) and os.path.exists(source.path) and os.path.samefile(
                out, source.path):
            raise fail("OKRA_EARG", f"{out}: is the file to convert")
        ending = os.path.splitext(out)[1].lower()
        if source.kind == "mat" and ending == ".npz":
            said = _convert_mat(source, out)
        elif source.kind == "arff" and ending in (".csv", ".tsv") and not source.hows:
            said = _convert_arff(source, out)
        else:
            read_data(given.file).write(out)
            said = [out]
    except (OkraError, OSError, Refused) as failure:
        print(f"okra convert: {failure}", file=sys.stderr)
        return 1
    print("\n".join(said))
    return 0
