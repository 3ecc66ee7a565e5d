#!/bin/bash
# An unknown OKRA_ switch is refused by name, and forgotten; so is a value nobody knows.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d "${TMPDIR:-/tmp}/okra-switch-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
if cmake -S "$root" -B "$scratch" -G Ninja -DOKRA_NO_SUCH=ON >"$scratch/log" 2>&1; then
    echo "-DOKRA_NO_SUCH=ON was accepted"
    exit 1
fi
grep 'unknown switch OKRA_NO_SUCH' "$scratch/log"
if grep OKRA_NO_SUCH "$scratch/CMakeCache.txt"; then
    echo "OKRA_NO_SUCH is not forgotten"
    exit 1
fi
if cmake -S "$root" -B "$scratch" -G Ninja -DOKRA_CUDA=maybe >"$scratch/log" 2>&1; then
    echo "-DOKRA_CUDA=maybe was accepted"
    exit 1
fi
grep 'OKRA_CUDA=maybe: it is AUTO, ON or OFF' "$scratch/log"
