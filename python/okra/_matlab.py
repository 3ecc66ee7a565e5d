"""_matlab.py FILE FOLDER: the variables of a MATLAB file, each as a file in FOLDER.

`okra.read` runs this as a process of its own: SciPy and HDF5 can crash on a damaged file.
variables.json lists name and file (null: no real numbers), or says what is wrong: status and
message.
"""
import json
import os
import sys

import numpy as np


def matrix(value):
    """A real numeric variable as rows: an array of more dimensions is A(:,:). None: no numbers."""
    if hasattr(value, "tocsr"):
        made = value.tocsr()
        made.check_format()
        return made if made.dtype.kind in "biuf" else None
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "biuf" or value.ndim < 1:
        return None
    return value.reshape(value.shape[0], -1, order="F") if value.size else np.empty(
        (value.shape[0], int(np.prod(value.shape[1:]))))


RATIO = 1100  # of deflate, at most; HDF5 keeps no more with fewer bytes


def inside(group, name):
    """A member of an HDF5 file. Others than MATLAB's may name other files of the reader's, whose bytes
    would be taken for numbers, or claim numbers that are nowhere."""
    import h5py
    if isinstance(group.get(name, getlink=True), h5py.ExternalLink):
        raise ValueError(f"'{name}' lies in another file")
    item = group[name]
    if isinstance(item, h5py.Dataset):
        if item.external or item.is_virtual:
            raise ValueError(f"the numbers of '{name}' lie in another file")
        if item.nbytes > RATIO * os.path.getsize(group.file.filename):
            raise ValueError(f"'{name}' claims {item.nbytes} bytes, absurd for a file of this size")
    return item


def from_hdf5(item):
    """A variable of version 7.3, which is HDF5 with columns first."""
    if "MATLAB_sparse" in item.attrs:
        from scipy.sparse import csc_matrix
        begin = inside(item, "jc")[()]
        values = inside(item, "data")[()] if "data" in item else np.empty(0)
        index = inside(item, "ir")[()] if "ir" in item else np.empty(0, dtype=np.int64)
        return matrix(csc_matrix((values, index, begin),
                                 shape=(int(item.attrs["MATLAB_sparse"]), len(begin) - 1)))
    if item.attrs.get("MATLAB_class") in (b"char", b"cell", b"struct") or not hasattr(item, "shape"):
        return None
    if item.attrs.get("MATLAB_empty"):
        return np.empty(tuple(int(n) for n in item[()])[:2])
    return matrix(item[()].T)


def variables(path):
    """Name and matrix (None: no real numbers) of each variable, one after the other."""
    try:
        from scipy.io import loadmat
    except ImportError:
        raise NotImplementedError("SciPy, which reads MATLAB files, is not installed (python3-scipy)")
    try:
        for name, value in loadmat(path, appendmat=False).items():
            if not name.startswith("__"):
                yield name, matrix(value)
        return
    except NotImplementedError:
        pass
    try:
        import h5py
    except ImportError:
        raise NotImplementedError(
            "a MATLAB file of version 7.3; h5py, which reads those, is not installed "
            "(python3-h5py); or save it by save(..., '-v7')")
    with h5py.File(path, "r") as file:
        for name in file:
            if not name.startswith("#"):
                yield name, from_hdf5(inside(file, name))


def main(path, folder):
    found, fault = [], None
    try:
        open(path, "rb").close()
    except OSError as failure:
        fault = ["OKRA_EIO", f"cannot be opened: {failure.strerror}"]
    try:
        for name, value in [] if fault else variables(path):
            file = None
            if hasattr(value, "tocsr"):
                from scipy.sparse import save_npz
                file = f"{len(found)}.npz"
                save_npz(os.path.join(folder, file), value, compressed=False)
            elif value is not None:
                file = f"{len(found)}.npy"
                np.save(os.path.join(folder, file), value)
            found.append([name, file])
    except NotImplementedError as failure:
        fault = ["OKRA_EUNSUPPORTED", str(failure)]
    except MemoryError:
        fault = ["OKRA_EMEM", "not enough memory to read it"]
    except Exception as failure:  # what a damaged file makes SciPy and h5py raise
        fault = ["OKRA_EFORMAT", f"no MATLAB file, or damaged: {failure}"]
    with open(os.path.join(folder, "variables.json"), "w") as file:
        json.dump({"fault": fault, "found": found}, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
