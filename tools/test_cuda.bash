#!/bin/bash
# Tests of the engine cuda on a machine with a GPU.
#   test_cuda.bash BUILD               here
#   test_cuda.bash BUILD HOST          on another machine, through ssh
#   test_cuda.bash BUILD pack FOLDER   into FOLDER/okra-cuda.tar.xz, to be carried by hand;
#                                      unpacked, ./run.bash runs them
# The other machine needs CUDA's own libraries (cuBLAS, cuSOLVER), a driver and a C library at
# least as new as that of this machine, and nothing else: what okra links is in the archive.
set -euo pipefail
build=$(realpath "$1")
what=${2:-here}
root=$(cd "$(dirname "$0")/.." && pwd)
[ -e "$build/libokra-cuda.so" ] ||
    { echo "$build has no libokra-cuda.so: configure with -DOKRA_CUDA=ON" >&2; exit 1; }

# Whoever works with large matrices, and the tests of the engine itself.
shopt -s nullglob
tests=()
for test in "$build"/tests/unit-{engine,method,decode,model,select,link}-* \
    "$build"/tests/cuda/cuda-plugin; do
    # These are of the loader, and of the source tree.
    case $test in *-test_loader) ;; *) tests+=("$test") ;; esac
done

pack() { # FOLDER
    local into=$1 file library name
    mkdir -p "$into/bin" "$into/lib" "$into/tests"
    for file in "$build"/{okra,bench/bench_engine_verbs} "${tests[@]}"; do
        [ ! -x "$file" ] || strip -o "$into/bin/$(basename "$file")" "$file"
    done
    name=$(readelf -d "$build/libokra.so" | sed -n 's/.*soname: \[\(.*\)\]/\1/p')
    strip -o "$into/lib/$name" "$build/libokra.so"
    ln -s "$name" "$into/lib/libokra.so"
    strip -o "$into/lib/libokra-cuda.so" "$build/libokra-cuda.so"
    # The C library and CUDA's are the other machine's own.
    ldd "$into"/bin/* | awk '$2 == "=>" && $3 ~ /^\// {print $3}' | sort -u |
        grep -vE '/(libc|libm|libdl|librt|libpthread|libcu[a-zA-Z]*|libnv[a-zA-Z]*|libokra)\.so|ld-linux' |
        while read -r library; do
            strip -o "$into/lib/$(basename "$library")" "$library"
        done
    mkdir "$into/tests/engine" "$into/tests/cuda"
    cp "$root/tests/engine/compare.py" "$into/tests/engine/"
    cp "$root/tests/cuda/limits.py" "$into/tests/cuda/"
    mkdir "$into/python"
    cp -r "$root/python/okra" "$into/python/"
    cp -r "$root/include" "$root/bench" "$into/"
    cp "$build"/include/okra/*.h "$into/include/okra/"
    git -C "$root" rev-parse --short=12 HEAD >"$into/commit" 2>/dev/null || true
    cp "$root/tools/run_cuda_tests.bash" "$into/run.bash"
}

case $what in
here)
    OKRA_ENGINE_PATH=$build "$root/tools/run_cuda_tests.bash" "$build/okra" "${tests[@]}"
    ;;
pack)
    folder=$3 scratch=$(mktemp -d "${TMPDIR:-/tmp}/okra-cuda-XXXXXX")
    trap 'rm -rf "$scratch"' EXIT
    pack "$scratch/okra-cuda"
    mkdir -p "$folder"
    # The tests have most of their code in common, megabytes apart.
    tar -C "$scratch" -c okra-cuda | xz --lzma2=preset=1,dict=256MiB >"$folder/okra-cuda.tar.xz"
    du -h "$folder/okra-cuda.tar.xz"
    ;;
*)
    scratch=$(mktemp -d "${TMPDIR:-/tmp}/okra-cuda-XXXXXX")
    trap 'rm -rf "$scratch"' EXIT
    pack "$scratch/okra-cuda"
    tar -C "$scratch" -cz okra-cuda |
        ssh "$what" 'd=$(mktemp -d) && tar -C "$d" -xz && "$d/okra-cuda/run.bash"; s=$?; rm -rf "$d"; exit $s'
    ;;
esac
