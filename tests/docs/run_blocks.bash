#!/bin/bash
# run_blocks.bash OKRA FILE.md: runs, in one scratch folder, the shell blocks of a page that
# follow a line "<!-- run -->". A text block right after one is what it must print. A picture that the page
# shows as pictures/NAME is the file NAME that a block wrote; OKRA_PICTURES=DIR copies it there.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
script=$(mktemp "${TMPDIR:-/tmp}/okra-docs-XXXXXX")
trap 'rm -f "$script"' EXIT
cat >"$script" <<'END'
# python3 is the Python of the tests, with okra installed.
[ -z "$PYTHON" ] || { mkdir bin && printf '#!/bin/sh\nexec "%s" "$@"\n' "$PYTHON" >bin/python3 && chmod +x bin/python3; }
export PYTHONPATH=$ROOT/python OKRA_LIBRARY=$(dirname "$(readlink -f "$(command -v okra)")")/libokra.so PYTHONDONTWRITEBYTECODE=1
PATH=$PWD/bin:$PATH
END
awk '
    function close_here() { print "END_OF_BLOCK" }
    state == 0 && /^<!-- run -->$/ { state = 1; next }
    state == 1 && /^```sh$/ { state = 2; blocks++; print "cat >block <<\"END_OF_BLOCK\""; next }
    state == 1 { print "echo \"line " NR ": no shell block after <!-- run -->\"; exit 1"; state = 0 }
    state == 2 && /^```$/ { close_here(); print "expect 0 bash -eu block"; state = 3; next }
    state == 3 && /^$/ { next }
    state == 3 && /^```text$/ { state = 4; print "cat >want <<\"END_OF_BLOCK\""; next }
    state == 4 && /^```$/ { close_here(); print "expect_same want out"; state = 0; next }
    state == 3 { state = /^<!-- run -->$/ ? 1 : 0; next }
    state == 2 || state == 4 { print }
    END { if (!blocks) print "echo \"no shell block to run\"; exit 1" }
' "$2" >>"$script"
sed -n 's/.*](pictures\/\([^)]*\)).*/\1/p' "$2" | while read -r name; do
    echo "[ -s '$name' ] || complain 'no block wrote $name'"
    [ -z "${OKRA_PICTURES:-}" ] || echo "cp '$name' '$OKRA_PICTURES'"
done >>"$script"
"$here/../cli/lib/runner.bash" "$1" "$script"
