# MATLAB files: read by okra-mat, a program beside the library, in a process of its own;
# what happens to that process is an error of okra, never its end.
here=$(dirname "$(realpath "$(command -v okra)")")
[ -x "$here/okra-mat" ] || skip "matio is not installed"

# the program itself maps none of the libraries of HDF5
ldd "$here/okra" "$(realpath "$here/libokra.so")" >maps
refute grep -iE 'hdf5|matio|curl|gnutls|ldap|krb5|nghttp' maps
okra version >/dev/null

corpus=$ROOT/tests/fuzz/corpus/fuzz_mat
expect 0 okra gram --x "$corpus/dense.mat" --kernel linear -o k.csv --quiet
# version 7.3 is HDF5
expect 0 okra gram --x "$corpus/version73.mat:x" --kernel linear -o k73.csv --quiet
expect_same k.csv k73.csv

# a copy of okra whose okra-mat is something else
mkdir copy
cp "$here/okra" copy
cp -L "$here/libokra.so" "copy/$(readelf -d "$here/libokra.so" | sed -n 's/.*soname: \[\(.*\)\].*/\1/p')"
gram() {
    copy/okra gram --x "$corpus/version73.mat:x" --kernel linear -o none.csv --quiet
}
fake() {
    printf '#!/bin/sh\n%s\n' "$1" >copy/okra-mat
    chmod +x copy/okra-mat
}
what="okra gram: $corpus/version73.mat"
expect_fail 1 "$what: MATLAB files are read by a program that is not installed: there is no \
okra-mat in $PWD/copy or in its subfolder okra" gram
# neither the current directory nor PATH has a say
fake 'touch was-here'
mv copy/okra-mat .
PATH="$PWD:$PATH" expect 1 gram
[ ! -e was-here ]
fake 'kill -SEGV $$'
expect_fail 1 "$what: damaged: okra-mat, which reads it, crashed (signal 11, Segmentation fault)" gram
fake 'exit 7'
expect_fail 1 "$what: okra-mat, which reads it, ended with status 7" gram
fake 'printf "%0200d" 0'
expect_fail 1 "$what: okra-mat said something absurd" gram
fake 'kill -KILL $$'
expect_fail 1 "$what: okra-mat, which reads it, was killed: it needs more than 60 s of processor \
time, or somebody ended it" gram
# it gets the file, the pipe and nothing else
exec 7<"$corpus/dense.mat"
fake "env >'$PWD/environment'"
expect 1 gram
printf 'HDF5_PLUGIN_PRELOAD=::\nHDF5_USE_FILE_LOCKING=FALSE\n' >wanted
grep -E '^HDF5|^OKRA|^LD_|^HOME|^PATH' environment | sort >found || true
grep -v '^PATH' found >others || true
expect_same wanted others
[ ! -e none.csv ]

# cut and altered files of version 7.3 never end okra itself
need_python
"$PYTHON" - "$corpus/version73.mat" <<'END'
import random, subprocess, sys
whole = open(sys.argv[1], "rb").read()
r = random.Random(5)
ended = {}
for k in range(60):
    b = bytearray(whole)
    if k % 4 == 0:
        del b[r.randrange(600, len(b)):]
    for _ in range(r.randrange(1, 6)):
        b[r.randrange(512, len(b))] = r.choice((0, 1, 255, r.randrange(256)))
    open("altered.mat", "wb").write(b)
    p = subprocess.run(["okra", "gram", "--x", "altered.mat:x", "--kernel", "linear", "-o", "a.csv",
                        "--quiet", "--memory", "256M"], capture_output=True, text=True, timeout=60)
    assert p.returncode in (0, 1, 2), p
    assert p.returncode == 0 or p.stderr.startswith("okra gram: altered.mat: "), p
    ended[p.returncode] = ended.get(p.returncode, 0) + 1
print(ended)
END
