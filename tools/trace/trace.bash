#!/usr/bin/env bash
# How long are the corridors? Counts the distinct functions that a command enters, their files, and how
# often the folder changes from one newly entered function to the next. Builds the working tree once more
# (in build-trace, without optimisation, with -finstrument-functions) and runs small commands.
#
# What FREED_BY and OWNED call at the end of a block (okra_..._drop_, okra_free_at_) is counted apart: it is
# no part of the way.
#
# Usage: trace.bash [NAME...]          all commands below, or those named
#        trace.bash --list NAME        the functions of one, file by file, in the order of entry
#        trace.bash --folders NAME     functions per folder and file
#        trace.bash --check            fails where the small fit is longer than limits.txt allows
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
build=${BUILD:-$top/build-trace}
how=--count
case "${1:-}" in --list | --folders | --check) how=$1; shift ;; esac

mkdir -p "$build"
gcc -O1 -fPIC -c "$here/trace.c" -o "$build/trace.o"
if [ ! -e "$build/build.ninja" ]; then
    cmake -S "$top" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DOKRA_TESTS=OFF -DOKRA_BENCH=OFF \
        -DCMAKE_C_FLAGS="-O0 -g1 -w -finstrument-functions" -DCMAKE_EXE_LINKER_FLAGS="$build/trace.o -rdynamic" \
        -DCMAKE_SHARED_LINKER_FLAGS="-Wl,--unresolved-symbols=ignore-all" > "$build/log"
fi
cmake --build "$build" --target okra_program -j "${JOBS:-2}" >> "$build/log" || { tail "$build/log"; exit 2; }

scratch=$(mktemp -d); trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
export OPENBLAS_NUM_THREADS=1 OKRA_RESTARTED=1
awk 'BEGIN { for (i = 0; i < 120; i++) {
    a = (i * 0.7548777) % 1; b = (i * 0.5698403) % 1; p = i < 80 ? "a" : "c"; q = i < 80 ? "b" : "d"
    print a "," b > (p ".csv")
    print sin(6 * a) + ((i * 0.37) % 1) * 0.3 "," cos(6 * b) + ((i * 0.61) % 1) * 0.3 > (q ".csv") } }'
printf '%s\n' kitten sitting mitten bitten fitting knitting written smitten hitting sit > words.txt
printf '%s\n' k1tten s1tting m1tten b1tten f1tting kn1tting wr1tten sm1tten h1tting s1t > forms.txt
printf '%s\n' CCO CCCO CCN CCCN c1ccccc1 c1ccccc1O CC=O 'CC(=O)O' CCOC C1CCCCC1 CCCl OCCO > c.smi
awk '{ print length($1) "," NR }' c.smi > c_x.csv
head -3 c_x.csv > t_x.csv

wanted=" $* "
# name, command. Every one is run: later ones read what earlier ones made.
one() {
    local name=$1; shift
    TRACE_OUT=$scratch/$name.trace "$build/okra" "$@" --threads 1 --quiet > out 2> err || { cat err; exit 2; }
    if [ "$wanted" = "  " ] || [[ $wanted == *" $name "* ]]; then
        python3 "$here/show.py" "$how" "$name" "$scratch/$name.trace" "$here/limits.txt"
    fi
}
one fit fit --x a.csv --y b.csv --kx 'rbf(sigma=1)' --ky linear --lambda 0.1 -o g.okra
[ "$how" = --check ] && exit
one predict predict g.okra --x c.csv -o out.csv
one strings-fit fit --x words.txt --y forms.txt --kx 'spectrum(k=2)' --ky 'spectrum(k=2)' --lambda 0.1 -o s.okra
one strings predict s.okra --x words.txt --decode string -o out.txt
one chosen fit --x a.csv --y b.csv -o m.okra
one set predict s.okra --x words.txt --set 0.1 -o set.csv
one index index c.smi --ky 'ecfp(bits=256) | tanimoto' -o c.okx
one molecules-fit fit --x c_x.csv --y c.smi --kx 'rbf(sigma=2)' --ky 'ecfp(bits=256) | tanimoto' --lambda 0.1 -o k.okra
one ranked-index predict k.okra --x t_x.csv --candidates c.okx --top 3 -o r.tsv
one ranked-list predict k.okra --x t_x.csv --candidates c.smi --top 3 -o r.tsv
