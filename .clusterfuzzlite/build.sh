#!/bin/bash -eu
# The fuzz targets of tests/fuzz with the flags that ClusterFuzzLite gives, and their seeds. The libraries that they need go along.
cmake -S . -B build-cfl -G Ninja -DCMAKE_C_COMPILER="$CC" -DCMAKE_C_FLAGS="$CFLAGS" -DCMAKE_EXE_LINKER_FLAGS="$CFLAGS" \
    -DOKRA_FUZZ=ON -DOKRA_BENCH=OFF
ninja -C build-cfl fuzzers
mkdir -p "$OUT/lib"
for target in build-cfl/tests/fuzz/fuzz_*; do
    [ -f "$target" ] && [ -x "$target" ] || continue
    name=$(basename "$target")
    cp "$target" "$OUT/"
    ldd "$target" | awk '$3 ~ "^/" && $3 !~ "/lib(c|m|pthread|dl|rt)\\.so" { print $3 }' | xargs -r cp -n -L -t "$OUT/lib"
    # shellcheck disable=SC2016
    patchelf --set-rpath '$ORIGIN/lib' "$OUT/$name"
    (cd "tests/fuzz/corpus/$name" && zip -q -r "$OUT/${name}_seed_corpus.zip" .)
done
