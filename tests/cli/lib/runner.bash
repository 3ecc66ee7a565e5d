#!/bin/bash
# Runs one test of the command line: runner.bash OKRA SCRIPT
#
# The script is sourced under `set -eu` in an empty folder that is removed afterwards, with
# this okra first in PATH. It has
#   $ROOT                              the source tree
#   $PYTHON                            a Python with NumPy; need_python skips without one
#   okra_in_python                     whether that Python can load okra
#   expect STATUS CMD...               runs CMD; its output is in the files out and err
#   expect_fail STATUS TEXT CMD...     CMD fails so, with exactly TEXT on standard error
#   expect_out TEXT CMD...             CMD succeeds with exactly TEXT on standard output
#   expect_in TEXT FILE                FILE contains TEXT
#   expect_same FILE FILE              the files are equal
#   refute CMD...                      CMD fails ("! CMD" alone ends no script, nor does "CMD && CMD")
#   until_saved PID FILE               waits until FILE is there, however slow, or PID has ended
#   skip REASON                        leaves; CTest shows the test as skipped
set -eu -o pipefail

okra=$(realpath "$1") script=$(realpath "$2")
ROOT=$(cd "$(dirname "$0")/../../.." && pwd)
PYTHON=${OKRA_PYTHON:-}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/okra-cli-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
# Only okra itself, not what else lies in the build folder.
mkdir "$scratch/bin" "$scratch/work"
ln -s "$okra" "$scratch/bin/okra"
export PATH="$scratch/bin:$PATH" LC_ALL=C ROOT PYTHON
cd "$scratch/work"

complain() {
    # The line of the script, not of a helper.
    echo "$script:${BASH_LINENO[1]}: $1" >&2
    exit 1
}

run_() {
    status=0
    "$@" >out 2>err || status=$?
}

show_() {
    echo "--- standard output"; head -c 4000 out; echo "--- standard error"; head -c 4000 err
} >&2

expect() {
    local want=$1
    shift
    run_ "$@"
    [ "$status" = "$want" ] || { show_; complain "status $status, not $want: $*"; }
}

expect_fail() {
    local want=$1 text=$2
    shift 2
    run_ "$@"
    [ "$status" = "$want" ] || { show_; complain "status $status, not $want: $*"; }
    printf '%s\n' "$text" | diff - err >&2 ||
        complain "other text on standard error (<: wanted, >: got): $*"
}

expect_out() {
    local text=$1
    shift
    run_ "$@"
    [ "$status" = 0 ] || { show_; complain "status $status, not 0: $*"; }
    printf '%s\n' "$text" | diff - out >&2 ||
        complain "other text on standard output (<: wanted, >: got): $*"
}

expect_in() {
    grep -qF -e "$1" "$2" || { head -c 4000 "$2" >&2; complain "'$1' is not in $2"; }
}

expect_same() {
    diff "$1" "$2" >&2 || complain "$1 and $2 differ"
}

refute() {
    if "$@"; then complain "succeeded: $*"; fi
}

until_saved() {
    for _ in $(seq 3000); do
        if [ -e "$2" ] || ! kill -0 "$1" 2>/dev/null; then
            break
        fi
        sleep 0.02
    done
}

skip() {
    echo "skipped: $1"
    exit 77
}

# Python takes no library with a sanitizer.
okra_in_python() {
    [ -n "$PYTHON" ] && okra --build-info | grep -q '^sanitizers: none$'
}

need_python() {
    [ -n "$PYTHON" ] || skip "no Python with NumPy"
}

trap 'echo "$script:$LINENO: failed: $BASH_COMMAND" >&2' ERR
source "$script"
