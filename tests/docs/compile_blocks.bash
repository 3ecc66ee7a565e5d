#!/bin/bash
# compile_blocks.bash CC "FLAGS" FILE.md: the C programs of a page that follow a line
# "<!-- compile -->" compile, run, and print the text block after them.
set -euo pipefail
scratch=$(mktemp -d "${TMPDIR:-/tmp}/okra-docs-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
awk -v scratch="$scratch" '
    state == 0 && /^<!-- compile -->$/ { state = 1; n++; next }
    state == 1 && /^```c$/ { state = 2; next }
    state == 2 && /^```$/ { state = 3; next }
    state == 3 && /^```text$/ { state = 4; next }
    state == 4 && /^```$/ { state = 0; next }
    state == 2 { print > (scratch "/" n ".c") }
    state == 4 { print > (scratch "/" n ".want") }
' "$3"
count=0
for source in "$scratch"/*.c; do
    # shellcheck disable=SC2086
    "$1" -std=c11 -Wall -Wextra -Werror "$source" $2 -o "$scratch/program"
    "$scratch/program" | diff "${source%.c}.want" -
    count=$((count + 1))
done
[ "$count" -gt 0 ]
