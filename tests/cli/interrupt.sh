# An interrupt is heard at once, whatever the command does: the program ends, or says what it
# waits for; a second one ends it.
need_python
"$PYTHON" - <<'END'
import os, signal, subprocess, time
import numpy
r = numpy.random.default_rng(0)
numpy.save("x.npy", r.normal(size=(2500, 5)))
numpy.save("y.npy", r.normal(size=(2500, 3)))
with open("words.txt", "w") as f:
    for _ in range(3000):
        f.write("".join(r.choice(list("abcdefgh"), r.integers(8, 20))) + "\n")


def interrupted(wait, *command):
    """Status of the command that is interrupted after `wait` seconds, or 'waited'."""
    p = subprocess.Popen(["okra", command[0], "-q", "--threads", "1", *command[1:]],
                         stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                         env=dict(os.environ, OPENBLAS_NUM_THREADS="1"),
                         preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    os.set_blocking(p.stderr.fileno(), False)
    time.sleep(wait)
    begin, said = time.monotonic(), b""
    p.send_signal(signal.SIGINT)
    # A second and a half, and as long again for a busy machine.
    while p.poll() is None and b"at once\n" not in said and time.monotonic() - begin < 3:
        time.sleep(0.02)
        said += p.stderr.read() or b""
    if p.poll() is None and b"it ends when a step ends;" in said:
        p.wait(2)  # the step ended in that moment, and so does the program
    if p.poll() is None:
        assert b"okra: interrupted; it ends when a step ends (" in said, (command, said)
        assert b"); interrupt again to end at once\n" in said, said
        p.send_signal(signal.SIGINT)
        assert p.wait(3) in (-2, 130)
        return "waited"
    said += p.stderr.read() or b""
    assert p.returncode in (0, 130, -2), (command, p.returncode, said)
    # Who is told that it ended is not told afterwards to wait for it.
    assert b"at once" not in said.partition(b": interrupted\n")[2], (command, said)
    return p.returncode


two = ["--x", "x.npy", "--y", "y.npy"]
words = ["--x", "words.txt", "--y", "words.txt", "--ky", "ssk(length=3)"]
seen = set()
for wait in (0.3, 0.8, 1.6, 2.4, 3.2):
    how = interrupted(wait, "fit", *two, "--kx", "rbf(sigma=3)", "--ky", "rbf(sigma=3)",
                      "--operator", "cov", "-o", "m.okra")
    seen.add(how)
    assert how == 0 or not os.path.exists("m.okra")
    if how == 0:
        os.remove("m.okra")
assert seen - {0}, seen
# work of other kinds, all of it longer than the wait
for command in (["select", *two, "--kx", "rbf(sigma={1,2,3,4})", "--ky", "rbf(sigma=3)",
                 "--lambda", "0.1,1", "--operator", "cov", "--cv", "kfold:5"],
                ["select", *two, "--kx", "rbf(sigma={1,2,3,4})", "--ky", "linear",
                 "--method", "margin", "--lambda", "0.001,0.1", "--cv", "kfold:5"],
                ["select", *words, "--kx", "ssk(length={3,4,5})", "--lambda", "1"],
                ["fit", *words, "--kx", "ssk(length=5)", "--lambda", "1", "-o", "m.okra"]):
    assert interrupted(0.7, *command) != 0, command
    assert not os.path.exists("m.okra")
END
