#!/bin/bash
# test_reproducible.bash BUILD: the same source built in two folders gives the same bytes:
# Some objects of the library, configured as BUILD is. With ALL=1 in the
# environment the program and both libraries too.
set -euo pipefail
build=$(cd "$1" && pwd)
root=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d "${TMPDIR:-/tmp}/okra-reproducible-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
unset CMAKE_C_COMPILER_LAUNCHER
cached() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
objects=CMakeFiles/okra_objects.dir/src
files=("$objects/core/context.c.o" "$objects/data/files/zip.c.o" "$objects/model/file.c.o")
[ -z "${ALL:-}" ] || files+=(libokra.a libokra.so okra)
for place in one another/place/further; do
    mkdir -p "$scratch/$place"
    tar -C "$root" --exclude='./build*' --exclude=./.git --exclude=./docs --exclude=./tests \
        --exclude=./bench --exclude=./examples -c . | tar -C "$scratch/$place" -x
    cmake -S "$scratch/$place" -B "$scratch/$place/b-$(basename $place)" -G Ninja -DOKRA_TESTS=OFF \
        -DOKRA_BENCH=OFF -DCMAKE_BUILD_TYPE="$(cached CMAKE_BUILD_TYPE)" \
        -DCMAKE_C_COMPILER="$(cached CMAKE_C_COMPILER)" >"$scratch/log" 2>&1 ||
        { cat "$scratch/log"; exit 1; }
    cmake --build "$scratch/$place/b-$(basename $place)" --target "${files[@]}" >"$scratch/log" 2>&1 ||
        { tail "$scratch/log"; exit 1; }
done
for file in "${files[@]}"; do
    cmp "$scratch/one/b-one/$file" "$scratch/another/place/further/b-further/$file"
done
echo "${#files[@]} files are the same to the byte"
