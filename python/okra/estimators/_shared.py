"""What estimators are made of: checks, contexts, tags, callable kernels."""
from __future__ import annotations

import numbers
import os
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from .._data import Data
from .._library import Context, kernel_has


def seed_of(random_state: Any) -> int:
    """The library's seed; None is 0, as on the command line."""
    if random_state is None:
        return 0
    if isinstance(random_state, numbers.Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def validate(estimator: Any, *arguments: Any, **keywords: Any) -> Any:
    """scikit-learn's check of numbers, whichever way this version has it."""
    try:
        from sklearn.utils.validation import validate_data
        check = partial(validate_data, estimator)
    except ImportError:
        check = estimator._validate_data
    try:
        return check(*arguments, **keywords)
    except ValueError as error:
        text = str(error).split("\n")[0]
        if "could not convert string to float" in text:
            text += ". A pandas frame may have columns of texts and dates"
        elif "Input X contains NaN" in text and not hasattr(arguments[0], "tocsr"):
            rows, columns = np.nonzero(np.isnan(np.asarray(arguments[0], dtype=float)))
            text += (f" The first is in row {rows[0]}, column {columns[0]} (from 0). The inputs of a "
                     "pandas frame may have gaps; sklearn.impute.SimpleImputer fills those of an array")
        else:
            raise
        raise ValueError(text + ".") from None


def number(text: str) -> Any:
    """A text of an option as a number or a truth value if it is one."""
    if text in ("yes", "no"):
        return text == "yes"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def dtype_of(y: Any) -> Any:
    """The type of numbers that predictions come back in, None: float64."""
    kind = getattr(np.asarray(y), "dtype", None)
    return kind if kind.kind in "biu" or kind.kind == "f" and kind.itemsize < 8 else None


def shaped(objects: Any, dtype: Any) -> Any:
    """Numbers in the type of the training outputs; whole numbers where they are such."""
    if dtype is None or not isinstance(objects, np.ndarray) or objects.dtype.kind != "f":
        return objects
    if dtype.kind in "biu":
        made = objects.astype(dtype)
        return made if (made == objects).all() else objects
    return objects.astype(dtype)


class ContextMixin:
    """`n_jobs`, `random_state`, `memory`, `verbose` and `engine` as a context."""

    def _context(self) -> Context:
        jobs = self.n_jobs
        if jobs is not None and (not isinstance(jobs, numbers.Integral) or jobs == 0):
            raise ValueError(f"n_jobs is {jobs!r}, expected None, a number of threads, or "
                             "-1 for every core")
        threads = 0 if jobs is None or jobs == -1 else (
            jobs if jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + jobs))
        return Context(threads=threads, seed=seed_of(self.random_state),
                       memory=self.memory, verbose=bool(self.verbose),
                       engine=getattr(self, "engine", None))


class TagsMixin:
    """Both tag protocols of scikit-learn from one description."""

    _pairwise_parameter = "kx"

    def _more_tags(self) -> dict:  # scikit-learn before 1.6
        return {"pairwise": self._is_pairwise(), **self._own_tags()}

    def __sklearn_tags__(self) -> Any:  # scikit-learn from 1.6
        tags = super().__sklearn_tags__()
        own = self._own_tags()
        if getattr(self, "_estimator_type", None) == "classifier":
            from sklearn.utils import ClassifierTags
            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
            tags.regressor_tags = None
        tags.input_tags.pairwise = self._is_pairwise()
        tags.input_tags.sparse = True
        if tags.target_tags is not None:
            tags.target_tags.multi_output = own.get("multioutput", False)
            tags.target_tags.required = own.get("requires_y", False)
        if tags.regressor_tags is not None:
            tags.regressor_tags.poor_score = own.get("poor_score", False)
        return tags

    def _is_pairwise(self) -> bool:
        return kernel_has(getattr(self, self._pairwise_parameter, None), "GIVEN")

    def _own_tags(self) -> dict:
        return {}


def self_values(kernel: Any, objects: Any) -> np.ndarray:
    """k(o, o) of every object under a callable."""
    return np.array([np.asarray(kernel(objects[i:i + 1], objects[i:i + 1]))[0, 0]
                     for i in range(len(objects))], dtype=np.float64)


def kernel_values(kernel: Any, a: Any, b: Any, name: str) -> np.ndarray:
    out = np.asarray(kernel(a, b), dtype=np.float64)
    if out.shape != (len(a), len(b)):
        raise ValueError(f"{name} gave an array of shape {out.shape}, expected "
                         f"({len(a)}, {len(b)})")
    return out


def as_sequence(values: Any) -> Any:
    """Something that can be sliced, for callables."""
    ready = hasattr(values, "shape") or isinstance(values, list)
    return values if ready else list(values)


def take(values: Any, index: np.ndarray) -> Any:
    """Objects by number, of any Python form."""
    if isinstance(values, Data):
        return values[index].objects
    if hasattr(values, "iloc"):
        return values.iloc[index]
    if hasattr(values, "shape"):
        return values[index]
    return [values[i] for i in index]


def join(a: Any, b: Any) -> Any:
    """Objects after one another, of any Python form."""
    if isinstance(a, Data) or isinstance(b, Data):
        raise ValueError("okra.Data of two fits cannot be joined: fit anew on all pairs")
    if hasattr(a, "tocsr") or hasattr(b, "tocsr"):
        from scipy.sparse import vstack
        return vstack([a, b]).tocsr()
    if hasattr(a, "shape") or hasattr(b, "shape"):
        return np.concatenate([np.asarray(a), np.asarray(b)])
    return [*a, *b]
