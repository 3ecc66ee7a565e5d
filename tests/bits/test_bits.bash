#!/usr/bin/env bash
# Do results with one thread keep their bits, or their values within 1e-10? Compares what bits.bash
# prints with bits.tsv, which is kept in the tree: a line for each fit, selection and prediction of
# links, with the beginnings of the hashes of its arrays. Where hashes differ, values.py compares the
# arrays themselves with values.tsv. Three answers: the same bits; other bits, but values within
# 1e-10 of each array's scale (passes, and says what moved); something else (fails).
#
# Bits depend on more than the source, so that the first line of bits.tsv says what they belong
# to. What of it can be chosen is chosen: OpenBLAS runs its code for Haswell, which every processor
# with AVX2 and FMA has, and small products do not depend on the size of caches. okra's own loops
# for AVX-512 add in the order of those for AVX2. Elsewhere (another compiler, C library, OpenBLAS
# or build type) two runs are compared with one another to the bit, and what they predict with the
# kept values to 1e-7.
#
# Usage: test_bits.bash OKRA              the test
#        test_bits.bash OKRA --write      these are the right bits and values from now on. Kept values
#                                         that are within tolerance stay as they are: no drift.
#        test_bits.bash OKRA --spread     the same, and measures anew by how much rounding alone
#                                         moves each array (a run with other code of OpenBLAS)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
okra=$(realpath "$1")
kept=$here/bits.tsv
values=$here/values.tsv
scratch=$(mktemp -d); trap 'rm -rf "$scratch"' EXIT
export OPENBLAS_CORETYPE=Haswell LC_ALL=C

info() { "$okra" version --build-info | sed -n "s/^$1: //p"; }
library() { readlink -f "$(ldd "$okra" | awk -v name="$1" 'index($1, name) == 1 { print $3 }')"; }
belongs_to() {
    local set="other instructions" lapack
    if grep -qw avx2 /proc/cpuinfo && grep -qw fma /proc/cpuinfo; then
        set="AVX2 and FMA"
    fi
    lapack=$(library liblapack.so)
    echo "# $(uname -m) with $set, $(info compiler) $(info flags), $(getconf GNU_LIBC_VERSION)," \
        "$(basename "$(library libopenblas)")," \
        "LAPACK of $(basename "$(dirname "$lapack")")"
}
# name <tab> array=hash ...; the data that a model keeps is no result
condense() {
    awk -F'\t' '
        $2 ~ /(^|\/)[xy]\// { next }
        $1 != name { if (name != "") print name "\t" line; name = $1; line = "" }
        { sub(/bag\//, "", $2); sub(/\.npy$/, "", $2); sub(/:.*/, "", $3)
          line = line (line == "" ? "" : " ") $2 "=" substr($3, 1, 6) }
        END { print name "\t" line }'
}

# folder for the arrays
run() { mkdir -p "$1"; BITS_KEEP=$1 "$here/bits.bash" "$okra" | condense; }

run "$scratch/arrays" > "$scratch/now"
count=$(wc -l < "$scratch/now")
case "${2:-}" in
--write | --spread)
    spread=()
    if [ "$2" = --spread ]; then
        OPENBLAS_CORETYPE=Sandybridge run "$scratch/other" > "$scratch/unused"
        spread=(--spread "$scratch/other")
    fi
    { belongs_to; cat "$scratch/now"; } > "$kept"
    echo "$count results written to $kept"
    python3 "$here/values.py" "$scratch/arrays" "$values" --write "${spread[@]}"
    exit
    ;;
esac
if [ "$(head -1 "$kept")" != "$(belongs_to)" ]; then
    printf 'kept:  %s\nhere:  %s\nThese have other bits: a second run is compared with the first.\n' \
        "$(head -1 "$kept")" "$(belongs_to)"
    run "$scratch/again" > "$scratch/before"
    if ! cmp -s "$scratch/before" "$scratch/now"; then
        echo "Two runs of the same program have other bits:"
        diff "$scratch/before" "$scratch/now" | head -40
        exit 1
    fi
    echo "$count results keep their bits from run to run; with the kept values:"
    exec python3 "$here/values.py" "$scratch/arrays" "$values" --elsewhere
fi
tail -n +2 "$kept" > "$scratch/before"
if cmp -s "$scratch/before" "$scratch/now"; then
    echo "$count results keep their bits"
    exit
fi
# results that fail or are gone have no arrays; the lists of both must be the same
failures() { grep -o "^[^	]*	\|[a-z]*=failed" "$1" | awk '/\t/ { name = $0; next } { print name $0 }'; }
echo "$(diff "$scratch/before" "$scratch/now" | grep -c '^>') of $count results have other bits"
if diff <(failures "$scratch/before") <(failures "$scratch/now") > "$scratch/failures" &&
    python3 "$here/values.py" "$scratch/arrays" "$values"; then
    exit
fi
sed 's/^/  what fails (< before, > now): /' "$scratch/failures"
echo "tools/compare_bits.bash COMMIT compares with an older commit. Where this is meant, write it:"
echo "tests/bits/test_bits.bash build/okra --write"
exit 1
