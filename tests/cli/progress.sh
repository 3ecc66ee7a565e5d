# Progress is shown on a terminal, wiped when done, and neither when piped nor when quiet.
need_python
"$PYTHON" - <<'END'
import os, pty, re, subprocess, numpy
r = numpy.random.default_rng(1)
numpy.save("x.npy", r.normal(size=(2500, 20)))
numpy.save("y.npy", r.normal(size=(2500, 5)))
fit = ["okra", "fit", "--x", "x.npy", "--y", "y.npy", "--kx", "rbf(sigma=4)", "--lambda", "0.1",
       "-o", "m.okra"]

def on_terminal(command):
    master, slave = pty.openpty()
    p = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=slave)
    os.close(slave)
    shown = b""
    try:
        while piece := os.read(master, 4096):
            shown += piece
    except OSError:  # the other end is closed
        pass
    assert p.wait() == 0
    return shown

shown = on_terminal(fit)
assert b"gram [" in shown and b" %" in shown and shown.endswith(b"\r\x1b[K"), shown
assert b"factor [" not in shown, shown  # too short to be told
assert on_terminal(fit + ["--quiet"]) == b""
# a choice is shown as a whole, with the time that is left; so are predictions
numpy.save("x.npy", r.normal(size=(700, 20)))
numpy.save("y.npy", r.normal(size=(700, 5)))
shown = on_terminal(["okra", "fit", "--x", "x.npy", "--y", "y.npy", "-o", "m.okra"])
assert b"select [" in shown and b" left" in shown and b"gram [" not in (
    shown[shown.index(b"select ["):shown.rindex(b"select [")]), shown
# a decomposition tells its progress and the time it has left, within the selection it is of
numpy.save("x.npy", r.normal(size=(2400, 20)))
numpy.save("y.npy", r.normal(size=(2400, 2)))
shown = on_terminal(["okra", "select", "--x", "x.npy", "--y", "y.npy", "--kx", "rbf(sigma={3,5})",
                     "--lambda", "0.1,1", "-o", "m.okra"])
inner = re.findall(rb"select \[[#.]+\] +\d+ %[^(\r]*\(eigenvectors (\d+) %(, [0-9.]+ m?s left)?", shown)
shares = [int(share) for share, left in inner]
assert len(set(shares)) >= 4 and any(left for share, left in inner), shown
# predictions and their decoding
numpy.save("x.npy", r.normal(size=(300, 5)))
numpy.save("y.npy", r.normal(size=(300, 2)))
shown = on_terminal(["okra", "fit", "--x", "x.npy", "--y", "y.npy", "--method", "tgp-kl", "--kx",
                     "rbf(sigma=4)", "--ky", "rbf(sigma=1)", "-o", "m.okra"])
shown = on_terminal(["okra", "predict", "m.okra", "--x", "x.npy", "-o", "p.npy"])
assert b"predict [" in shown and b" left" in shown, shown
# files: molecules by the line; a table by the bytes, where it is large
open("m.smi", "w").write("CC(=O)Oc1ccccc1C(=O)O\n" * 20000)
shown = on_terminal(["okra", "score", "--y", "m.smi", "--yhat", "m.smi", "--metric", "kernel-loss:kernel=ecfp"])
assert b"read [" in shown, shown
numpy.save("x.npy", r.normal(size=(2500, 20)))
numpy.save("y.npy", r.normal(size=(2500, 5)))
assert subprocess.run(fit, capture_output=True).stderr == b""
END
