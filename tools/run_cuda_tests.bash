#!/bin/bash
# run_cuda_tests.bash OKRA TEST...: runs test programs on the engine cuda; without arguments
# those of the archive that test_cuda.bash packed and this file came with. Status 1 where one
# fails, or where okra has no such engine here.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
engine=${OKRA_TEST_ENGINE:-cuda}
if [ -d "$here/bin" ]; then
    set -- "$here"/bin/okra "$here"/bin/unit-* "$here"/bin/cuda-plugin
    # CUDA's libraries where the machine has them, after those of the archive.
    cuda=$(ls -d /usr/local/cuda/lib64 /usr/local/cuda/targets/*/lib 2>/dev/null | paste -sd:)
    export LD_LIBRARY_PATH=$here/lib${cuda:+:$cuda}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export OKRA_ENGINE_PATH=$here/lib
    cd "$here/tests" || exit 1
fi
# OpenBLAS does not know every new processor by name.
if [ -z "${OPENBLAS_CORETYPE:-}" ] && grep -q avx512f /proc/cpuinfo; then
    export OPENBLAS_CORETYPE=SkylakeX
fi
about=$("$1" version --build-info | grep "^engine ${engine%%:*}:")
echo "$about"
case $about in "" | *": not here: "*) exit 1 ;; esac
shift
passed=0 skipped=0 failed=()
for test in "$@"; do
    name=$(basename "$test") status=0
    command=(env "OKRA_TEST_ENGINE=$engine" "$test")
    # It opens the engine by itself.
    [ "$name" != cuda-plugin ] || command=("$test" "$OKRA_ENGINE_PATH/libokra-cuda.so")
    log=$(timeout 300 "${command[@]}" 2>&1) || status=$?
    case $status in
    0) passed=$((passed + 1)) ;;
    77) skipped=$((skipped + 1)) ;;
    *) failed+=("$name"); printf '== %s: status %d\n%s\n' "$name" "$status" "$(tail -c 3000 <<<"$log")" ;;
    esac
done
echo "engine $engine: $passed passed, $skipped skipped, ${#failed[@]} failed${failed[0]:+: ${failed[*]}}"
[ ${#failed[@]} -eq 0 ] && [ $passed -gt 0 ]
