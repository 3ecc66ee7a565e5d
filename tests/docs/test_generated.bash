#!/bin/bash
# test_generated.bash OKRA PYTHON: the pages that commands write are what the committed results
# give, to the byte: nobody has changed a number by hand. A picture says what data it was drawn
# from and by which versions: the data must be those of the results; where the versions are those
# of this machine, the bytes must be the same too.
set -euo pipefail
okra=$(realpath "$1") python=$2
cd "$(dirname "$0")/../.."
scratch=$(mktemp -d "${TMPDIR:-/tmp}/okra-docs-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
shopt -s nullglob
checked=0

page() { # NAME TITLE FLAG... RESULT...: docs/reports/NAME.md is what these results give
    local name=$1 title=$2
    shift 2
    mkdir -p "$scratch/docs/results" "$scratch/docs/reports"
    "$okra" report "$@" -o "$scratch/docs/reports/$name.md" --title "$title" --quiet
    diff "docs/reports/$name.md" "$scratch/docs/reports/$name.md" ||
        { echo "docs/reports/$name.md is not what docs/results gives: make results-pages or results-quick writes it"; exit 1; }
    checked=$((checked + 1))
}

full=(docs/results/*-full.json) quick=(docs/results/*-quick.json)
if [ ${#full[@]} -gt 0 ] || [ -e docs/reports/results.md ]; then
    page results "The papers again" --claims first --figures "$scratch/docs/results" "${full[@]}"
    page claims "What the papers claim" --claims alone --figures "$scratch/docs/results" "${full[@]}"
    for picture in docs/results/*.svg "$scratch"/docs/results/*.svg; do
        kept=docs/results/${picture##*/} drawn=$scratch/docs/results/${picture##*/}
        stamp() { sed -n 's/.*<desc>\(.*\)<\/desc>.*/\1/p' "$1"; }
        if [ "$(stamp "$kept")" = "$(stamp "$drawn")" ]; then
            cmp "$kept" "$drawn"
        else # other versions: what is drawn must still be these data
            [[ $(stamp "$kept") == data\ * && $(stamp "$kept" | cut -d, -f1) == "$(stamp "$drawn" | cut -d, -f1)" ]] ||
                { echo "$kept is not drawn from docs/results: make results-pages draws it"; exit 1; }
        fi
    done
fi
if [ ${#quick[@]} -gt 0 ] || [ -e docs/reports/results-quick.md ]; then
    page results-quick "The papers again, quick runs" "${quick[@]}"
fi
if [ -n "$python" ] && [ -e docs/reports/benchmarks.md ]; then
    "$python" bench/page.py --check
    checked=$((checked + 1))
fi
if [ -e docs/reports/audits.json ]; then
    ${python:-python3} bench/bench_audit.py --check
    checked=$((checked + 1))
fi
if [ -e docs/reports/fuzzing.json ]; then
    ${python:-python3} tests/fuzz/page.py docs/reports/fuzzing.json --verify | diff docs/reports/fuzzing.md - ||
        { echo "docs/reports/fuzzing.md is not what docs/reports/fuzzing.json gives: make fuzz writes both"; exit 1; }
    checked=$((checked + 1))
fi
${python:-python3} tools/docs/paper.py --check
checked=$((checked + 1))
[ $checked -gt 0 ] || { echo "skipped: no page of results is committed"; exit 77; }
echo "$checked pages are what their results give"
