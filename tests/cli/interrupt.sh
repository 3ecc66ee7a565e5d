# An interrupt is heard at once: the program ends, or says what it waits for; a second one
# ends it.
need_python
"$PYTHON" - <<'END'
import os, signal, subprocess, time
import numpy
r = numpy.random.default_rng(0)
numpy.save("x.npy", r.normal(size=(2500, 5)))
numpy.save("y.npy", r.normal(size=(2500, 3)))
seen = set()
for wait in (0.3, 0.8, 1.6, 2.4, 3.2):
    p = subprocess.Popen(["okra", "fit", "-q", "--x", "x.npy", "--y", "y.npy", "--kx", "rbf(sigma=3)", "--ky",
                          "rbf(sigma=3)", "--operator", "cov", "--threads", "1", "-o", "m.okra"],
                         stderr=subprocess.PIPE, env=dict(os.environ, OPENBLAS_NUM_THREADS="1"),
                         preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    os.set_blocking(p.stderr.fileno(), False)
    time.sleep(wait)
    begin, said = time.monotonic(), b""
    p.send_signal(signal.SIGINT)
    # A second and a half, and as long again for a busy machine.
    while p.poll() is None and b"at once\n" not in said and time.monotonic() - begin < 3:
        time.sleep(0.02)
        said += p.stderr.read() or b""
    if p.poll() is None:
        assert b"okra: interrupted; it ends when a step ends (" in said, said
        assert b" rows); interrupt again to end at once\n" in said, said
        p.send_signal(signal.SIGINT)
        assert p.wait(3) in (-2, 130)
        seen.add("waited")
    else:
        assert p.returncode in (0, 130, -2), p.returncode
        seen.add(p.returncode)
    assert p.returncode == 0 or not os.path.exists("m.okra")
    if p.returncode == 0:
        os.remove("m.okra")
print(seen)
assert seen - {0}
END
