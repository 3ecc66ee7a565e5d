#!/bin/bash
# test_symbols.bash LIBRARY HEADERS: the shared library exports what the public headers
# declare and nothing else, each with the version of the interface that the soname names.
set -euo pipefail
node=OKRA_$(readelf -d "$1" | sed -n 's/.*soname: \[libokra\.so\.\(.*\)\].*/\1/p')
all=$(nm -D --defined-only "$1" | awk '$2 != "A" { print $3 }')
exported=$(sed 's/@.*//' <<<"$all" | sort)
other=$(grep -v "@@$node\$" <<<"$all" || true)
if [ -n "$other" ]; then
    printf 'without the version %s:\n%s\n' "$node" "$other"
    exit 1
fi
declared=$(cat "$2"/*.h "$2"/more/*.h | tr '\n' ' ' | grep -oE 'OKRA_(API|EXPERIMENTAL) [^;{]*' |
    grep -oE '\bokra_[a-z0-9_]+ *\(' | tr -d ' (' | sort -u)
extra=$(comm -23 <(echo "$exported") <(echo "$declared"))
lacking=$(comm -13 <(echo "$exported") <(echo "$declared"))
if [ -n "$extra" ]; then
    printf 'exported, but not declared in a public header:\n%s\n' "$extra"
fi
if [ -n "$lacking" ]; then
    printf 'declared in a public header, but not exported:\n%s\n' "$lacking"
fi
[ -z "$extra$lacking" ]
echo "$(echo "$exported" | wc -l) symbols"
