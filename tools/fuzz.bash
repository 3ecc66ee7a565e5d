#!/bin/bash
# Fuzzes every reader, here or on another machine.
#   fuzz.bash BUILD TIME               TIME seconds here; the results are in BUILD/fuzz
#   fuzz.bash BUILD TIME HOST          on another machine, through ssh
#   fuzz.bash BUILD TIME pack FOLDER   into FOLDER/okra-fuzz.tar.xz, to be carried by hand;
#                                      unpacked, ./run OUT [TIME] fuzzes
# The other machine needs a C library at least as new as that of this machine and nothing else:
# what the targets link is in the archive. OUT/results.jsonl is added to the page by
#   python3 tests/fuzz/page.py docs/reports/fuzzing.json results.jsonl >docs/reports/fuzzing.md
set -euo pipefail
build=$(realpath "$1") time=$2 what=${3:-here}
root=$(cd "$(dirname "$0")/.." && pwd)
COMMIT=$(python3 "$root/tests/fuzz/page.py" --commit)
export COMMIT

pack() { # FOLDER
    local into=$1 library
    mkdir -p "$into/bin" "$into/lib"
    for target in "$build"/tests/fuzz/fuzz_*; do
        [ ! -f "$target" ] || [ ! -x "$target" ] || strip -o "$into/bin/$(basename "$target")" "$target"
    done
    ldd "$into"/bin/* | awk '$2 == "=>" && $3 ~ /^\// {print $3}' | sort -u |
        grep -vE '/(libc|libm|libdl|librt|libpthread)\.so|ld-linux' |
        while read -r library; do
            strip -o "$into/lib/$(basename "$library")" "$library"
        done
    cp -r "$root/tests/fuzz/corpus" "$root/tests/fuzz/run.bash" "$into/"
    cat >"$into/run" <<END
#!/bin/bash
# run OUT [TIME]: fuzzes on all processors; see run.bash.
here=\$(cd "\$(dirname "\$0")" && pwd)
COMMIT=$COMMIT RUNS=${RUNS:-0} LD_LIBRARY_PATH=\$here/lib exec "\$here/run.bash" "\$here/bin" "\$here/corpus" "\$1" "\${2:-$time}"
END
    chmod +x "$into/run"
}

case $what in
here)
    rm -rf "$build/fuzz"
    "$root/tests/fuzz/run.bash" "$build/tests/fuzz" "$root/tests/fuzz/corpus" "$build/fuzz" "$time"
    ;;
*)
    scratch=$(mktemp -d "${TMPDIR:-/tmp}/okra-fuzz-XXXXXX")
    trap 'rm -rf "$scratch"' EXIT
    pack "$scratch/okra-fuzz"
    if [ "$what" = pack ]; then
        mkdir -p "$4"
        tar -C "$scratch" -c okra-fuzz | xz -0 --lzma2=preset=1,dict=32MiB >"$4/okra-fuzz.tar.xz" # the targets have much in common
        du -h "$4/okra-fuzz.tar.xz"
    else
        rm -rf "$build/fuzz"
        mkdir -p "$build/fuzz"
        # What it says goes to standard error, what it made to standard output.
        tar -C "$scratch" -cz okra-fuzz | ssh "$what" 'd=$(mktemp -d) && tar -C "$d" -xz &&
            { "$d/okra-fuzz/run" "$d/out" >&2; s=$?; tar -C "$d/out" -cz results.jsonl found; rm -rf "$d"; exit $s; }' |
            tar -C "$build/fuzz" -xz
    fi
    ;;
esac
