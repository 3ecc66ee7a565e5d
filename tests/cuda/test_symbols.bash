#!/bin/bash
# libokra-cuda.so exports one symbol, and of CUDA's libraries needs cuBLAS and cuSOLVER alone.
set -euo pipefail
exported=$(nm -D --defined-only "$1" | awk '{print $NF}')
[ "$exported" = okra_engine_plugin ] || { echo "exports: $exported"; exit 1; }
needed=$(readelf -d "$1" | sed -n 's/.*NEEDED.*\[lib\(cu[a-z]*\|okra\)\.so.*/\1/p' | sort | tr '\n' ' ')
[ "$needed" = "cublas cusolver " ] || { echo "needs: $needed"; exit 1; }
