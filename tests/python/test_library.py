"""Prototypes, exceptions, warnings, progress, interrupts, threads."""
import ctypes
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
import warnings

import numpy as np
import pytest

import okra
from okra import _library
from okra._errors import make_exceptions
from okra._progress import Progress, _Bar


def test_every_public_function_is_declared():
    text = "".join(path.read_text() for path in _library.HEADERS_PATH.rglob("*.h"))
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    names = set(re.findall(r"OKRA_(?:API|EXPERIMENTAL)[^;]*?(okra_\w+)\s*\(", text)) - {"okra_fail"}
    assert names == set(_library.interface.functions)
    for name in names:
        assert getattr(_library.lib, name).argtypes is not None


def test_structures_and_constants_come_from_the_headers():
    link = _library.structs["okra_link"]
    assert [name for name, _ in link._fields_] == ["a", "b", "value"]
    assert ctypes.sizeof(link) == 24
    assert _library.constants["OKRA_TUPLE"] == 9
    assert _library.constants["OKRA_LINK_ALL"] == 3


def test_each_status_code_is_an_exception():
    for code, cls in enumerate(_library.exceptions):
        if code == 0:
            assert cls is None
            continue
        assert issubclass(cls, okra.OkraError)
        assert getattr(okra, cls.__name__) is cls
        assert cls.symbol.encode() == _library.lib.okra_status_name(code)
    unknown = make_exceptions({"OKRA_OK": "ok", "OKRA_ENEW": "new"}, "okra")[1]
    assert issubclass(unknown, okra.OkraError)


@pytest.mark.parametrize("call, kind, also, text", [
    (lambda: okra.kernel_text("rfb(sigma=1)"), "ArgumentError", ValueError, "did you mean"),
    (lambda: okra.read("/no/such/file.npy"), "FileError", OSError, "/no/such/file.npy"),
    (lambda: okra.as_data(np.array([[np.nan]])), "FormatError", ValueError, "nan"),
    (lambda: okra.Model.fit(np.eye(3), np.eye(2), {"method": "knn"}), "ShapeError",
     ValueError, "expected as many"),
    (lambda: okra.Model.fit(np.eye(3), np.eye(3), {"lamda": 1}), "ArgumentError",
     ValueError, "lambda"),
    (lambda: okra.Model.fit(np.eye(300), np.eye(300), {"kx": "rbf(sigma=1)"},
                            _library.Context(memory="10k")),
     "MemoryBudgetError", MemoryError, "budget"),
])
def test_errors_carry_the_message(call, kind, also, text):
    with pytest.raises(getattr(okra, kind), match="(?i)" + text) as caught:
        call()
    assert isinstance(caught.value, also)


def empty_strings():
    return okra.gram_matrix("spectrum(k=3) | normalize", ["abcd", "a"])


def test_warnings_point_at_the_caller():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        empty_strings()
    assert [w.category for w in caught] == [okra.OkraWarning]
    assert "self-similarity 0" in str(caught[0].message)
    assert caught[0].filename == __file__


def test_a_warning_may_be_an_error():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(okra.OkraWarning):
            empty_strings()
    with pytest.warns(okra.OkraWarning):  # and the next call is not cancelled
        empty_strings()


def test_progress_is_shown_when_asked_for(capfd):
    X = np.random.default_rng(0).normal(size=(50, 3))
    okra.IOKR(kx="rbf(sigma=1)").fit(X, X).predict(X)
    assert capfd.readouterr().err == ""
    okra.IOKR(kx="rbf(sigma=1)", verbose=True).fit(X, X).predict(X)
    assert "%" in capfd.readouterr().err


def test_our_own_bar(capfd, monkeypatch):
    monkeypatch.setattr("okra._progress._new_bar", lambda total, what: _Bar(total, what))
    progress = Progress()
    progress.report("fit", 1, 2)
    progress.report("fit", 2, 2)
    progress.report("predict", 3, 3)
    progress.close()
    progress.close()
    text = capfd.readouterr().err
    assert "fit: |" + 15 * "#" in text and "predict: |" + 30 * "#" in text


def test_phases_within_phases(capfd, monkeypatch):
    monkeypatch.setattr("okra._progress._new_bar", lambda total, what: _Bar(total, what))
    monkeypatch.setattr("okra._progress.time.monotonic", iter(range(1000)).__next__)
    progress = Progress()
    progress.report("select", 0, 4)
    for share in (0, 500, 1000):
        progress.report("eigenvectors", share, 1000)
    progress.report("select", 1, 4)
    progress.report("gram", 1, 3)
    progress.report("select", 4, 4)
    progress.report("predict", 1, 2)
    progress.close()
    text = capfd.readouterr().err
    assert "select: |" in text and "(eigenvectors 50%, " in text and " left)" in text
    assert "eigenvectors: |" not in text and "gram: |" not in text  # they are of the selection
    assert "(gram 33%)" in text and "predict: |" in text


def test_what_a_callback_raises_is_raised(monkeypatch):
    def broken(self, what, done, total):
        raise RuntimeError("from the callback")
    monkeypatch.setattr(Progress, "report", broken)
    X = np.random.default_rng(0).normal(size=(50, 3))
    with pytest.raises(RuntimeError, match="from the callback"):
        okra.IOKR(kx="rbf(sigma=1)", verbose=True).fit(X, X).predict(X)


# A fit that takes many seconds if nobody stops it.
SLOW = """
    import numpy as np, okra, sys, time
    letters = np.random.default_rng(0).choice(list("abcd"), (2000, 300))
    texts = ["".join(row) for row in letters]
    print("begin", flush=True)
    try:
        okra.IOKR(kx="ssk(length=8,decay=0.5)").fit(texts, np.ones((2000, 1)))
        print("finished")
    except KeyboardInterrupt:
        print("stopped", okra.gram_matrix("linear", np.eye(1))[0, 0])
"""


def listen():
    """A shell's background jobs, and what they start, ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def interrupted(code):
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               preexec_fn=listen)
    try:
        assert process.stdout.readline() == "begin\n"
        time.sleep(0.3)
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        return out, err, time.monotonic() - begin
    finally:
        process.kill()


def test_ctrl_c_stops_a_running_fit():
    out, err, seconds = interrupted(SLOW)
    assert out == "stopped 1.0\n", err
    assert err == ""
    assert seconds < 30  # 0.1 to 1.1 on two busy cores; the whole fit takes half an hour


def test_a_handler_of_the_user_is_respected():
    code = SLOW.replace("    print(\"begin\"", "    import signal\n"
                        "    signal.signal(signal.SIGINT, lambda *_: print('handled'))\n"
                        "    print(\"begin\"", 1)
    out, err, _ = interrupted(code)
    assert out.splitlines()[0] == "handled" and "stopped" in out, err


def test_other_signals_do_not_stop_a_call():
    rung = []
    former = signal.signal(signal.SIGALRM, lambda *_: rung.append(1))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.001)
        texts = ["".join(row) for row in
                 np.random.default_rng(0).choice(list("ab"), (200, 100))]
        K = okra.gram_matrix("ssk(length=3,decay=0.5)", texts)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)
    assert rung and K.shape == (200, 200)


def test_whoever_else_watches_signals_is_told():
    """As an event loop does: a socket that gets the number of every signal."""
    ours, theirs = socket.socketpair()
    ours.settimeout(10)
    theirs.setblocking(False)
    former_handler = signal.signal(signal.SIGALRM, lambda *_: None)
    former = signal.set_wakeup_fd(theirs.fileno())
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        texts = ["".join(row) for row in
                 np.random.default_rng(0).choice(list("ab"), (200, 100))]
        okra.gram_matrix("ssk(length=3,decay=0.5)", texts,
                         context=_library.Context(threads=1))
        assert ours.recv(16)[0] == signal.SIGALRM
        assert signal.set_wakeup_fd(theirs.fileno()) == theirs.fileno()
    finally:
        signal.set_wakeup_fd(former)
        signal.signal(signal.SIGALRM, former_handler)


def test_a_callback_may_call_again(monkeypatch):
    seen = []

    def again(self, what, done, total):
        seen.append(okra.gram_matrix("linear", np.eye(1))[0, 0])
    monkeypatch.setattr(Progress, "report", again)
    X = np.random.default_rng(0).normal(size=(50, 3))
    model = okra.IOKR(kx="rbf(sigma=1)", verbose=True).fit(X, X)
    assert model.predict(X).shape == (50, 3) and set(seen) == {1.0}


def test_other_threads_run_meanwhile():
    """The interpreter's lock is free while the library works."""
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    begin = time.monotonic()
    texts = ["".join(row) for row in np.random.default_rng(0).choice(list("ab"),
                                                                     (300, 200))]
    context = _library.Context(threads=1)
    begin = time.monotonic()
    okra.gram_matrix("ssk(length=4,decay=0.5)", texts, context=context)
    end = time.monotonic()
    done.set()
    thread.join()
    assert end - begin > 0.05
    assert sum(begin < t < end for t in ticks) >= 5


def test_calls_from_other_threads_and_forked_processes():
    results = []
    thread = threading.Thread(target=lambda: results.append(
        okra.gram_matrix("linear", np.eye(2))[0, 0]))
    thread.start()
    thread.join()
    assert results == [1.0]
    okra.gram_matrix("linear", np.eye(2))
    pid = os.fork()
    if pid == 0:
        good = okra.gram_matrix("linear", np.eye(2), context=_library.Context(
            threads=1))[0, 0] == 1.0
        os._exit(0 if good else 1)
    assert os.waitpid(pid, 0)[1] == 0


def test_build_info_and_version():
    assert okra.__version__ == _library.version()
    assert "blas" in okra.build_info().lower()


@pytest.mark.parametrize("call, told", [
    (lambda: okra.read("x.csv\0.npy"), "zero character"),
    (lambda: okra.gram_matrix("rbf(sigma=1)\0 + linear", np.eye(2)), "zero character"),
    (lambda: okra.Index("a\0.okx"), "zero character"),
    (lambda: okra.Index.build("c.smi\0", "c.okx", ky="ecfp | tanimoto"), "zero character"),
    (lambda: _library.Context(memory=2 ** 64), "out of range"),
    (lambda: _library.Context(seed=2 ** 64), "out of range"),
    (lambda: _library.Context(threads=2 ** 40), "out of range"),
    (lambda: okra.Index.build("c.smi", "c.okx", ky="ecfp", shard=2 ** 70), "out of range"),
])
def test_texts_are_not_cut_and_numbers_do_not_wrap(call, told):
    with pytest.raises(ValueError, match=told):
        call()


@pytest.mark.parametrize("name", ["plain.csv", "n\udcffme.csv"])
@pytest.mark.parametrize("form", [str, os.fsencode, pathlib.Path])
def test_paths_of_every_form(tmp_path, name, form):
    path = form(os.path.join(str(tmp_path), name))
    okra.as_data(np.eye(3)).write(path)
    assert np.array_equal(okra.read(path).objects, np.eye(3))
    model = okra.Model.fit(np.eye(3), np.eye(3), {"kx": "linear", "lambda": 1})
    model.save(path)
    assert len(okra.Model.load(path)) == 3
