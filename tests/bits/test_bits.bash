#!/usr/bin/env bash
# Do results with one thread keep their bits? Compares what bits.bash prints with bits.tsv, which
# is kept in the tree: a line for each fit, selection and prediction of links, with the beginnings
# of the hashes of its arrays.
#
# Bits depend on more than the source, so that the first line of bits.tsv says what they belong
# to. What of it can be chosen is chosen: OpenBLAS runs its code for Haswell, which every processor
# with AVX2 and FMA has, and small products do not depend on the size of caches. okra's own loops
# for AVX-512 add in the order of those for AVX2. Elsewhere (another compiler, C library, OpenBLAS
# or build type) two runs are compared with one another.
#
# Usage: test_bits.bash OKRA [--write]     --write: these are the right bits from now on
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
okra=$(realpath "$1")
kept=$here/bits.tsv
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
        $2 ~ /^[xy]\// { next }
        $1 != name { if (name != "") print name "\t" line; name = $1; line = "" }
        { sub(/^bag\//, "", $2); sub(/\.npy$/, "", $2); sub(/:.*/, "", $3)
          line = line (line == "" ? "" : " ") $2 "=" substr($3, 1, 6) }
        END { print name "\t" line }'
}

"$here/bits.bash" "$okra" | condense > "$scratch/now"
if [ "${2:-}" = --write ]; then
    { belongs_to; cat "$scratch/now"; } > "$kept"
    echo "$(wc -l < "$scratch/now") results written to $kept"
    exit
fi
if [ "$(head -1 "$kept")" = "$(belongs_to)" ]; then
    tail -n +2 "$kept" > "$scratch/before"
else
    printf 'kept:  %s\nhere:  %s\nThese have other bits: a second run is compared with the first.\n' \
        "$(head -1 "$kept")" "$(belongs_to)"
    "$here/bits.bash" "$okra" | condense > "$scratch/before"
fi
if cmp -s "$scratch/before" "$scratch/now"; then
    echo "$(wc -l < "$scratch/now") results keep their bits"
    exit
fi
awk -F'\t' '
    NR == FNR { before[$1] = $2; next }
    { now[$1] = 1 }
    !($1 in before) { print "  " $1 ": new"; next }
    before[$1] != $2 {
        count = split(before[$1], old, " ")
        delete known
        for (k = 1; k <= count; k++) known[old[k]] = 1
        text = ""
        count = split($2, fresh, " ")
        for (k = 1; k <= count; k++) if (!(fresh[k] in known)) text = text " " fresh[k]
        print "  " $1 ": now" (text == "" ? " without an array" : text)
    }
    END { for (name in before) if (!(name in now)) print "  " name ": gone" }
' "$scratch/before" "$scratch/now" > "$scratch/changed"
echo "$(wc -l < "$scratch/changed") of $(wc -l < "$scratch/now") results have other bits:"
head -40 "$scratch/changed"
echo "tools/compare_bits.bash COMMIT compares with an older commit. Where other bits are meant, write them:"
echo "tests/bits/test_bits.bash build/okra --write"
exit 1
