#!/bin/bash
# pack_papers.bash BUILD DATA FOLDER: packs the program, what it links and the data of the papers into
# FOLDER/okra-papers.tar.xz, to be carried to another machine by hand. Unpacked there,
# ./run.bash RESULTS [SECONDS [ENTRY...]] runs all entries, one process a core, and goes on where it was
# stopped. That machine needs a C library at least as new as this one's, and nothing else.
# Back here: RESULTS/*-full.json into docs/results, then `make results-pages`.
set -euo pipefail
build=$(realpath "$1") data=$(realpath "$2")
mkdir -p "$3"
folder=$(realpath "$3")
root=$(cd "$(dirname "$0")/.." && pwd)
scratch=$(mktemp -d "${TMPDIR:-/tmp}/okra-papers-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
into=$scratch/okra-papers
mkdir -p "$into/bin" "$into/lib" "$into/data"
strip -o "$into/bin/okra" "$build/okra"
name=$(readelf -d "$build/libokra.so" | sed -n 's/.*soname: \[\(.*\)\]/\1/p')
strip -o "$into/lib/$name" "$build/libokra.so"
ln -s "$name" "$into/lib/libokra.so"
[ ! -e "$build/libokra-cuda.so" ] || strip -o "$into/lib/libokra-cuda.so" "$build/libokra-cuda.so"
# The C library and CUDA's are the other machine's own.
ldd "$build/okra" "$build/libokra.so" | awk '$2 == "=>" && $3 ~ /^\// {print $3}' | sort -u |
    grep -vE '/(libc|libm|libdl|librt|libpthread|libcu[a-zA-Z]*|libnv[a-zA-Z]*|libokra)\.so|ld-linux' |
    while read -r library; do
        strip -o "$into/lib/$(basename "$library")" "$library"
    done
"$build/okra" paper list --json --data "$data" | sed -n 's/^ *"files": "\(.*\)",$/\1/p' |
    tr ' ' '\n' | sort -u | while read -r file; do
    [ -z "$file" ] || (cd "$data" && cp --parents "$file" "$into/data/")
done
cp "$root/tools/run_papers.bash" "$into/run.bash"
tar -C "$scratch" -c okra-papers | xz -6 -T0 >"$folder/okra-papers.tar.xz"
du -h "$folder/okra-papers.tar.xz"
