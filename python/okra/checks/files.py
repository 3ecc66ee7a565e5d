"""What the commands share: files as the program okra reads them, results, messages."""
from __future__ import annotations

import datetime
import json
import math
import os
import subprocess
import sys
import tempfile
from typing import Any, Optional

import numpy as np

from okra_report.results import Refused

from .._convert import foreign
from .._data import Data, as_data, edited, read
from .._library import Context, lib, version


def find(spec: str, folder: Optional[str]) -> str:
    """The path itself, or in the data folder if only there it exists; types before it stay."""
    folder = folder or os.environ.get("OKRA_DATA")
    types, path = "", spec
    while ":" in path and not os.path.exists(path) and path.split(":", 1)[0].isalnum():
        head, path = path.split(":", 1)
        types += head + ":"
    if folder and not os.path.exists(path) and os.path.exists(os.path.join(folder, path)):
        return types + os.path.join(folder, path)
    return spec


def load(spec: str, a: Any, like: Optional[Data] = None) -> Data:
    """A data file; `like`: as these objects where the file leaves open what it holds."""
    spec = find(spec, a.data)
    header = None if a.header == "auto" else a.header == "yes"
    if like is None:
        return read(spec, header=header)
    made = Data(Context(header=header).make(lib.okra_data_read_like, lib.okra_data_free, spec, like.pointer))
    if like.kind == "labels" and made.kind == "strings":
        return read("labels:" + spec, header=header)
    return made


def load_inputs(specs: str, a: Any, like: Optional[Data] = None, y: Optional[Data] = None) -> Data:
    """The files of --x, a line each, as `okra fit` and `okra predict` read them."""
    header, parts, lines = None if a.header == "auto" else a.header == "yes", [], specs.split("\n")
    for k, line in enumerate(lines):
        spec = find(line, a.data)
        if foreign(spec) is not None:
            parts.append(read(spec, header=header))
            continue
        known = like.pointer if like is not None else None
        known = lib.okra_data_part(known, k) if known and len(lines) > 1 else known
        made = Data(Context(header=header).make(lib.okra_data_read_inputs, lib.okra_data_free, spec, known))
        if like is None and y is not None and y.kind == "strings" and made.kind == "labels" and not (
                spec.startswith("labels:")) and edited(made.objects, y.objects):
            made = read("strings:" + spec, header=header)
        parts.append(made)
    return parts[0] if len(parts) == 1 else as_data(tuple(parts))


def column(spec: str, a: Any, n: int, name: str) -> np.ndarray:
    """One value per row of a file: numbers, or texts."""
    try:
        data = load(spec if ":" in spec else "labels:" + spec, a).objects
    except (ValueError, OSError) as error:
        raise Refused(f"--{name}: {error}") from error
    values = np.asarray(data)
    if values.ndim > 1 and values.shape[-1] == 1:
        values = values.ravel()
    if values.shape != (n,):
        raise Refused(f"--{name} {spec}: {values.shape[0]} rows, expected one value for each of {n} rows")
    return values


def numbers(spec: str, a: Any, n: int, name: str) -> np.ndarray:
    """One number per row of a file."""
    try:
        return column(spec, a, n, name).astype(float)
    except ValueError as error:
        raise Refused(f"--{name} {spec}: expected one number per row ({error})") from error


def result(kind: str, title: str, a: Any, **more: Any) -> dict:
    """The head of a result as docs/results-format.md has it."""
    return {"okra": version(), "format": 1, "kind": kind, "name": kind, "title": title,
            "command": "okra " + " ".join(a.typed), "date": datetime.date.today().isoformat(), "seed": a.seed,
            "tables": [], "figures": [], "readings": [], "deviations": [], "remarks": [], **more}


def tidy(value: Any) -> Any:
    """What JSON has: no NumPy types, None for numbers that do not exist."""
    if isinstance(value, dict):
        return {str(k): tidy(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [tidy(v) for v in value]
    if isinstance(value, (np.bool_, bool)):
        return bool(value)
    if isinstance(value, (np.integer,)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else None
    return value


def show(made: dict, text: str, a: Any) -> dict:
    """Prints the text or the JSON; quiet where a file was asked for: no text."""
    made = tidy(made)
    if a.json:
        print(json.dumps(made))
    elif text and not (a.quiet and getattr(a, "output", "")):
        print(text)
    return made


def finish(made: dict, text: str, a: Any) -> None:
    """Shows what was made, and draws the page that is asked for."""
    made = show(made, text, a)
    if not getattr(a, "output", ""):
        return
    sys.stdout.flush()
    from okra.__main__ import program
    command = [program() or "okra", "report", "--quiet"]
    with tempfile.TemporaryDirectory(prefix="okra-") as folder:
        path = os.path.join(folder, "result.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(made, file)
        done = subprocess.run([*command, path, "-o", a.output], check=False)
    if done.returncode:
        raise Refused(f"{a.output} could not be written")
