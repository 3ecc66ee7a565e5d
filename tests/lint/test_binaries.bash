#!/bin/bash
# test_binaries.bash BUILD BUILD_TYPE FILE...: what the linker and the compiler put into the
# built files. The run path has no empty element (the current directory) and names no part
# of the build folder; position-independent, read-only relocations bound at once, a stack
# that is no code, guarded stacks and checked copies; no library that the list of
# dependencies leaves out.
set -euo pipefail
build=$1 type=$2
shift 2
failed=0
fault() {
    echo "$1: $2" >&2
    failed=1
}

python3 - "$build/okra.cdx.json" <<'END'
import json, sys
bom = json.load(open(sys.argv[1]))
assert bom["bomFormat"] == "CycloneDX" and bom["specVersion"] == "1.5"
for part in bom["components"]:
    assert part["version"] and part["licenses"][0]["license"]["id"], part
    assert not any(c in part["version"] for c in "@$"), part
END
# library -> its name in the list
known=' openblas:OpenBLAS lapacke:LAPACKE z:zlib jansson:jansson lbfgs:libLBFGS
 expat:expat svm:LIBSVM '

for file in "$@"; do
    dynamic=$(readelf -dW "$file")
    path=$(sed -n 's/.*\(RUNPATH\|RPATH\).*\[\(.*\)\]/\2/p' <<<"$dynamic")
    if grep -qE 'RUNPATH|RPATH' <<<"$dynamic"; then
        case ":$path:" in
        *::*) fault "$file" "the run path '$path' has an empty element" ;;
        esac
        IFS=: read -ra elements <<<"$path"
        for element in "${elements[@]}"; do
            case $element in
            '$ORIGIN'* | /*) ;;
            *) fault "$file" "the run path element '$element' is relative" ;;
            esac
            case $element in
            "$build"*) fault "$file" "the run path names the build folder: $path" ;;
            esac
        done
    fi
    readelf -hW "$file" | grep -q 'Type: *DYN' || fault "$file" "not position-independent"
    readelf -lW "$file" >"${TMPDIR:-/tmp}/okra-segments.$$"
    grep -q GNU_RELRO "${TMPDIR:-/tmp}/okra-segments.$$" || fault "$file" "no RELRO"
    grep -q 'GNU_STACK.* RWE' "${TMPDIR:-/tmp}/okra-segments.$$" &&
        fault "$file" "the stack is executable"
    rm -f "${TMPDIR:-/tmp}/okra-segments.$$"
    grep -qE 'BIND_NOW|FLAGS_1.*NOW' <<<"$dynamic" || fault "$file" "not bound at once"
    symbols=$(readelf --dyn-syms -W "$file")
    grep -q '__stack_chk_fail' <<<"$symbols" || fault "$file" "no stack protector"
    if [ "$type" != Debug ]; then
        grep -qE '__[a-z]+_chk(@|$)' <<<"$symbols" || fault "$file" "no FORTIFY"
    fi
    strings -a "$file" | grep -qF "$build" && fault "$file" "names the build folder"
    while read -r needed; do
        stem=${needed#lib} stem=${stem%%.so*}
        case $stem in
        c | m | okra | pthread | dl | ld-linux*) continue ;;
        esac
        name=$(grep -oE "(^| )$stem:[A-Za-z]+" <<<"$known" | cut -d : -f 2)
        if [ -z "$name" ] || ! grep -q "\"$name\"" "$build/okra.cdx.json"; then
            fault "$file" "$needed is not in okra.cdx.json"
        fi
    done < <(sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' <<<"$dynamic")
done
exit $failed
