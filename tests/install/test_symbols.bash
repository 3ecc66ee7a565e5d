#!/bin/bash
# test_symbols.bash LIBRARY HEADERS: the shared library exports what the public headers
# declare and nothing else.
set -euo pipefail
exported=$(nm -D --defined-only "$1" | awk '{ print $3 }' | sed 's/@.*//' | sort)
declared=$(cat "$2"/*.h | tr '\n' ' ' | grep -oE 'OKRA_API [^;{]*' |
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
