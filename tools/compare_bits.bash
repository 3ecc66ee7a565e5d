#!/usr/bin/env bash
# Does the working tree keep the bits of a commit? Builds both and compares what every
# method, operator and form of low rank stores and predicts (tests/bits/bits.bash).
#
# What differs from 74d90642b760, the last commit without engines, and why (?: by the
# history of the code, not by building the commits around it):
#   top           distances of candidates: of linear outputs they come from h and the
#                 outputs, not from weights and Gram values (? 95bff01). Last digits; weights
#                 and embeddings are the same.
#   operator.A    models of matrix and graph operators keep the matrix, so that none opens
#                 a file (an array more; the others are the same).
#   kpca          outputs are centred by the engine's verb (? 60a29b6): 1e-15. Of all
#                 components the last have variances near rounding; weights move by 1e-10.
#   diagonal      of low rank under a kernel that is not linear: another message.
#   tgp, soar     by the verbs of engines (? 9d1f0e9), searches from more starts; a model
#                 keeps what its output kernel learned.
#   margin        stops at a gap that is small beside values below 1 (src/method/method.h).
#   lambda2       of one lambda by a Cholesky factor (206ee55).
#   select        the table of cells has a column ky; left-out folds decompose once (? 2dc262b).
#
# Usage: compare_bits.bash [COMMIT] [BUILD]   [default: HEAD~1, build]; exit status 1: bits differ
set -euo pipefail
top=$(git -C "$(dirname "$0")" rev-parse --show-toplevel)
commit=${1:-HEAD~1}
build=${2:-$top/build}
scratch=$(mktemp -d); trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/base"
git -C "$top" archive "$commit" | tar -x -C "$scratch/base"
cmake -S "$scratch/base" -B "$scratch/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DOKRA_TESTS=OFF \
    -DOKRA_BENCH=OFF > "$scratch/log"
cmake --build "$scratch/build" --target okra_program >> "$scratch/log" || { tail "$scratch/log"; exit 2; }
cmake --build "$build" --target okra_program >> "$scratch/log" || { tail "$scratch/log"; exit 2; }
"$top/tests/bits/bits.bash" "$scratch/build/okra" > "$scratch/before"
"$top/tests/bits/bits.bash" "$build/okra" > "$scratch/after"
if diff "$scratch/before" "$scratch/after"; then
    echo "$(grep -vc failed "$scratch/after") results of $(git -C "$top" rev-parse --short "$commit") keep their bits"
else
    echo "bits differ from those of $(git -C "$top" rev-parse --short "$commit") (< before, > after)"
    exit 1
fi
