#!/bin/bash
# run_cuda_tests.bash OKRA TEST...: runs test programs on the engine cuda, OKRA_TEST_JOBS (4) at a
# time, then, where there is a Python with NumPy, compares every method and operator with the
# host and asks for what does not fit. Without arguments those of the archive that
# test_cuda.bash packed and this file came with. Status 1 where one fails, or where okra has no such engine here.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
engine=${OKRA_TEST_ENGINE:-cuda}
if [ -d "$here/bin" ]; then
    root=$here library=$here/lib/libokra.so
    set -- "$here"/bin/okra "$here"/bin/unit-* "$here"/bin/cuda-plugin
    # CUDA's libraries where the machine has them, after those of the archive.
    cuda=$(ls -d /usr/local/cuda/lib64 /usr/local/cuda/targets/*/lib 2>/dev/null | paste -sd:)
    export LD_LIBRARY_PATH=$here/lib${cuda:+:$cuda}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export OKRA_ENGINE_PATH=$here/lib
else
    root=$(dirname "$here") library=$(dirname "$1")/libokra.so
fi
cd "$root/tests" || exit 1
# OpenBLAS does not know every new processor by name.
if [ -z "${OPENBLAS_CORETYPE:-}" ] && grep -q avx512f /proc/cpuinfo; then
    export OPENBLAS_CORETYPE=SkylakeX
fi
about=$("$1" version --build-info | grep "^engine ${engine%%:*}:")
echo "$about"
case $about in "" | *": not here: "*) exit 1 ;; esac
shift
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
export engine logs
one() { # TEST: its output and its status into $logs
    local name status=0
    name=$(basename "$1")
    local command=(env "OKRA_TEST_ENGINE=$engine" "$1")
    # It opens the engine by itself.
    [ "$name" != cuda-plugin ] || command=("$1" "$OKRA_ENGINE_PATH/libokra-cuda.so")
    timeout 300 "${command[@]}" >"$logs/$name" 2>&1 || status=$?
    echo $status >"$logs/$name.status"
}
export -f one
printf '%s\0' "$@" | xargs -0 -P "${OKRA_TEST_JOBS:-4}" -I{} bash -c 'one "$1"' - {}
passed=0 skipped=0 failed=()
for test in "$@"; do
    name=$(basename "$test")
    status=$(cat "$logs/$name.status" 2>/dev/null || echo 1)
    case $status in
    0) passed=$((passed + 1)) ;;
    77) skipped=$((skipped + 1)) ;;
    *) failed+=("$name"); printf '== %s: status %d\n%s\n' "$name" "$status" "$(tail -c 3000 "$logs/$name")" ;;
    esac
done
if python3 -c 'import numpy' 2>/dev/null; then
    export PYTHONPATH=$root/python OKRA_LIBRARY=$library
    python3 engine/compare.py "$engine" 300 || failed+=(compare.py)
    python3 cuda/limits.py "$engine" || failed+=(limits.py)
fi
echo "engine $engine: $passed passed, $skipped skipped, ${#failed[@]} failed${failed[0]:+: ${failed[*]}}"
[ ${#failed[@]} -eq 0 ] && [ $passed -gt 0 ]
