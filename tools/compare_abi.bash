#!/bin/bash
# compare_abi.bash REF LIBRARY: what abidiff (abigail-tools) finds between the library of the commit REF, which
# is built, and LIBRARY. Where both have the same soname, VERSIONING.md promises that a program compiled with
# the one runs with the other: then an incompatible change is a failure. With another soname it is a list.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
new=$(realpath "$2")
command -v abidiff >/dev/null || { echo "compare_abi.bash: abidiff is missing: apt-get install abigail-tools" >&2; exit 1; }
scratch=$(mktemp -d "${TMPDIR:-/tmp}/okra-abi-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/source"
git -C "$root" archive "$1" | tar -C "$scratch/source" -x
{ cmake -S "$scratch/source" -B "$scratch/b" -G Ninja -DCMAKE_BUILD_TYPE=Release -DOKRA_TESTS=OFF -DOKRA_BENCH=OFF &&
    cmake --build "$scratch/b" --target okra_shared -j "${JOBS:-$(nproc)}"; } >"$scratch/log" 2>&1 ||
    { tail -20 "$scratch/log"; echo "compare_abi.bash: $1 does not build" >&2; exit 1; }
old=$scratch/b/libokra.so
soname() { readelf -d "$1" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p'; }
status=0
abidiff --no-added-syms "$old" "$new" >"$scratch/changes" || status=$?
sed -n '1,/^$/p' "$scratch/changes"
# 4: the interface changed; 8 on top: surely incompatibly.
[ $((status & 3)) = 0 ] || { echo "compare_abi.bash: abidiff failed" >&2; exit 1; }
if [ "$(soname "$old")" != "$(soname "$new")" ]; then
    echo "$(soname "$old") and $(soname "$new"): nothing is promised between them"
elif [ $status != 0 ]; then
    cat "$scratch/changes"
    echo "compare_abi.bash: both are $(soname "$new"), and the interface changed" >&2
    exit 1
else
    echo "both are $(soname "$new"): compatible"
fi
