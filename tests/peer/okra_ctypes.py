"""The few calls of libokra that the comparisons need, through ctypes."""
import ctypes as c
import os
import pathlib

import numpy as np

INT, TEXT, OUT = c.c_int64, c.c_char_p, c.c_void_p
LIB = c.CDLL(str(pathlib.Path(os.environ["OKRA_BUILD"]) / "libokra.so"))
LIB.okra_message.restype = TEXT
for _name in ("okra_prediction_objects", "okra_prediction_weights", "okra_data_values"):
    getattr(LIB, _name).restype = c.c_void_p
LIB.okra_data_count.restype = LIB.okra_data_width.restype = INT
for _name in ("data", "model", "options", "prediction"):
    getattr(LIB, f"okra_{_name}_free").argtypes = [c.c_void_p]


def check(status):
    if status:
        raise RuntimeError(LIB.okra_message().decode())


class Handle:
    """An okra object: freed with Python's; keeps the arrays it borrows."""

    def __init__(self, kind, call, *arguments, keep=()):
        self.kind, self.keep, self.pointer = kind, keep, c.c_void_p()
        check(getattr(LIB, call)(*arguments, c.byref(self.pointer)))

    def __del__(self):
        getattr(LIB, f"okra_{self.kind}_free")(self.pointer)


def pointer(array):
    return array.ctypes.data_as(c.c_void_p)


def dense(values):
    values = np.ascontiguousarray(values, dtype=float)
    n, d = values.shape
    return Handle("data", "okra_data_dense", pointer(values), INT(n), INT(d), INT(d),
                  keep=values)


def sparse(matrix):
    matrix = matrix.tocsr().sorted_indices()
    indptr, indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)
    values = matrix.data.astype(float)
    return Handle("data", "okra_data_sparse", pointer(indptr), pointer(indices),
                  pointer(values), INT(matrix.shape[0]), INT(matrix.shape[1]))


def labels(codes, classes):
    codes = np.ascontiguousarray(codes, dtype=np.int64)
    return Handle("data", "okra_data_labels", pointer(codes), INT(len(codes)), None,
                  INT(classes))


def score(spec, truth, predicted):
    value = c.c_double()
    check(LIB.okra_score(None, spec.encode(), truth.pointer, predicted.pointer,
                         c.byref(value), None, None))
    return value.value


def options(call, **values):
    handle = Handle("options", call)
    for name, value in values.items():
        check(LIB.okra_options_set(handle.pointer, name.replace("_", "-").encode(),
                                   str(value).encode()))
    return handle


def fit(x, y, **values):
    chosen = options("okra_fit_options", **values)
    return Handle("model", "okra_fit", None, x.pointer, y.pointer, chosen.pointer)


class Request(c.Structure):
    """okra_predict_request."""
    _fields_ = [("size", c.c_size_t), ("candidates", c.c_void_p), ("ranges", c.c_void_p),
                ("weights", c.c_bool), ("embedding", c.c_bool),
                ("confidence", c.c_bool)]


def prediction(model, x, values, **request):
    chosen = options("okra_predict_options", **values)
    return Handle("prediction", "okra_predict", None, model.pointer, x.pointer,
                  chosen.pointer, c.byref(Request(size=c.sizeof(Request), **request)))


def weights(model, x):
    """The weights of the test points, n_test x n_train."""
    p, m, n = prediction(model, x, {"decode": "none"}, weights=True), INT(), INT()
    values = LIB.okra_prediction_weights(p.pointer, c.byref(m), c.byref(n))
    values = c.cast(values, c.POINTER(c.c_double))
    return np.ctypeslib.as_array(values, (m.value, n.value)).copy()


def predict(model, x, candidates=None, **values):
    """The decoded vectors, n_test x d."""
    p = prediction(model, x, values, candidates=candidates and candidates.pointer)
    objects = c.c_void_p(LIB.okra_prediction_objects(p.pointer))
    n, d, ld = LIB.okra_data_count(objects), LIB.okra_data_width(objects), INT()
    values = c.cast(LIB.okra_data_values(objects, c.byref(ld)), c.POINTER(c.c_double))
    return np.ctypeslib.as_array(values, (n, ld.value))[:, :d].copy()
