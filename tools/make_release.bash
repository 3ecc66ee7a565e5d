#!/bin/bash
# make_release.bash FOLDER: what a release consists of, into FOLDER: the source as a tarball, the wheels, the
# Debian packages, lists of what the wheels carry (SPDX), and checksums of all of them.
#
# Everything is built from the tarball, twice, in two folders of different names and lengths: both must give
# the same bytes. ONCE=yes builds once, and says so. The wheels for x86_64 and aarch64 are built in bare Debian 11
# systems (make_wheels.bash), which takes root; else there is one wheel, for C libraries as new as this machine's. ABI=REF also compares the library with that of the
# commit REF by abidiff, and fails where VERSIONING.md promises that it is compatible and it is not.
# PYTHON: the Python that makes the wheel (/usr/bin/python3).
# Only what is committed is released. Needs what `make wheel` and `make deb` need.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$root"
say() { echo "==== release: $* ($((SECONDS / 60)) min)"; }
fail() {
    echo "make release: $*" >&2
    exit 1
}
[ -z "$(git status --porcelain --untracked-files=no)" ] || fail "commit or stash your changes first"
version=$(sed -n 's/^project(okra VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
[ "$(sed -n 's/^version: //p' CITATION.cff)" = "$version" ] || fail "CITATION.cff does not say version: $version"
grep -q "^## $version" CHANGELOG.md || fail "CHANGELOG.md has no section for $version"
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH TZ=UTC LC_ALL=C.UTF-8 PYTHONHASHSEED=0
jobs=${JOBS:-$(nproc)}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/okra-release-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
umask 022

say "source"
source=okra-$version.tar.gz
git archive --format=tar --prefix="okra-$version/" HEAD | gzip -9n >"$scratch/$source"

build() { # PLACE: everything from the tarball, into PLACE/dist
    local place=$scratch/$1
    mkdir -p "$place/dist"
    tar -C "$place" -xzf "$scratch/$source"
    cd "$place/okra-$version"
    {
        cmake -S . -B "$place/b" -G Ninja -DCMAKE_BUILD_TYPE=Release -DOKRA_TESTS=OFF -DOKRA_BENCH=OFF \
            -DOKRA_CUDA=OFF -DOKRA_MPI=OFF
        cmake --build "$place/b" --target program -j "$jobs"
        [ "$(id -u)" = 0 ] || "${PYTHON:-/usr/bin/python3}" tools/make_wheel.py "$place/b" "$place/dist"
        JOBS=$jobs tools/make_deb.bash "$place/dist"
    } >"$place/log" 2>&1 || { tail -40 "$place/log"; fail "the build in $1 failed"; }
    cd "$root"
}
places=(one another/folder/with/a/longer/name)
[ -z "${ONCE:-}" ] || { places=(one); echo "built once: whether the bytes come out again was not tried"; }
for place in "${places[@]}"; do
    say "build in $place"
    build "$place"
done
if [ ${#places[@]} = 2 ]; then
    say "compare"
    for file in "$scratch/one/dist"/*; do
        cmp "$file" "$scratch/${places[1]}/dist/$(basename "$file")" || fail "two builds differ"
    done
fi

if [ -n "${ABI:-}" ]; then
    say "the library beside that of $ABI"
    tools/compare_abi.bash "$ABI" "$scratch/one/b/libokra.so"
fi

if [ "$(id -u)" = 0 ]; then
    say "wheels for x86_64 and aarch64"
    flags=(--twice)
    [ ${#places[@]} = 2 ] || flags=()
    JOBS=$jobs tools/make_wheels.bash "${flags[@]}" "$scratch/one/dist"
else
    echo "without root: one wheel, for the C library of this machine"
fi
for wheel in "$scratch"/one/dist/*.whl; do
    python3 -c 'import sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
bill, = [name for name in wheel.namelist() if name.endswith("/sboms/okra.spdx.json")]
sys.stdout.buffer.write(wheel.read(bill))' "$wheel" >"${wheel%.whl}.spdx.json"
done

rm -f "$out"/okra* "$out"/libokra* "$out"/python3-okra* "$out"/SHA256SUMS
cp "$scratch/$source" "$scratch"/one/dist/* "$out"
cd "$out"
sha256sum -- *okra* >SHA256SUMS
ls -l
say "version $version, commit $(git -C "$root" rev-parse --short=12 HEAD)$([ ${#places[@]} = 2 ] && echo ', two builds gave the same bytes')"
