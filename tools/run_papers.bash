#!/bin/bash
# run_papers.bash RESULTS [SECONDS [ENTRY...]]: runs every entry of `okra paper` (or those named) in
# full, OKRA_JOBS processes (one a core) of one thread each, until all are finished or SECONDS are
# over; started again with the same RESULTS it goes on. It is run.bash of the archive that pack_papers.bash makes, and works in
# the source tree with OKRA=build/okra OKRA_DATA=DIR. Where the engine cuda is there, it has the
# entry with the largest matrices. Status 1 while some are unfinished.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1" && results=$(cd "$1" && pwd) || exit 2
end=$(($(date +%s) + ${2:-1000000}))
jobs=${OKRA_JOBS:-$(nproc)}
if [ -x "$here/bin/okra" ]; then
    OKRA=$here/bin/okra OKRA_DATA=$here/data
    # CUDA's libraries where the machine has them, after those of the archive.
    cuda=$(ls -d /usr/local/cuda/lib64 /usr/local/cuda/targets/*/lib 2>/dev/null | paste -sd:)
    export LD_LIBRARY_PATH=$here/lib${cuda:+:$cuda}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export OKRA_ENGINE_PATH=$here/lib
fi
export OKRA OKRA_DATA OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 results end
entries=("${@:3}")
# OpenBLAS does not know every new processor by name.
if [ -z "${OPENBLAS_CORETYPE:-}" ] && grep -q avx512f /proc/cpuinfo; then
    export OPENBLAS_CORETYPE=SkylakeX
fi
large=""
if "$OKRA" version --build-info | grep '^engine cuda:' | grep -qv ': not here: '; then
    large="--engine cuda"
fi
export large

one() { # ENTRY: unless it is finished; processes of one entry share its steps
    local flags=(--threads 1) left=$((end - $(date +%s)))
    [ ! -e "$results/$1-full.json" ] && [ $left -gt 0 ] || return 0
    # shellcheck disable=SC2206 # two words, or none
    [ "$1" != stkl-usps ] || flags+=($large)
    timeout "$left" "$OKRA" paper "$1" --full --seed 0 "${flags[@]}" --data "$OKRA_DATA" \
        --results "$results" --quiet >>"$results/$1.log" 2>&1
}
export -f one

# The longest first, several processes for each of those; then the others.
mapfile -t all < <("$OKRA" paper list --json --data "$OKRA_DATA" | sed -n 's/^ *"name": "\(.*\)",$/\1/p')
long=(kadri-t2-right stkl-usps brouard-t9 brouard-t8 weston-t3 stkl-sshape brouard-drugs brouard-t4-go)
order=("${long[@]}" "${long[@]}" kadri-t2-right stkl-usps "${all[@]}" "${long[@]}" "${long[@]}")
if [ ${#entries[@]} -gt 0 ]; then
    all=("${entries[@]}") order=("${entries[@]}" "${entries[@]}")
fi
printf '%s\0' "${order[@]}" | xargs -0 -P "$jobs" -I{} bash -c 'one "$1"' - {}
unfinished=()
for entry in "${all[@]}"; do
    [ -e "$results/$entry-full.json" ] || unfinished+=("$entry")
done
echo "$((${#all[@]} - ${#unfinished[@]})) of ${#all[@]} entries finished${unfinished[0]:+; not: ${unfinished[*]}}"
[ ${#unfinished[@]} -eq 0 ]
