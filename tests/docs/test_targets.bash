#!/bin/bash
# Every `make` target that a page names is one that `make help` lists.
set -euo pipefail
cd "$(dirname "$0")/../.."
known=$(make -s help | awk '{ print $2 }' | sort)
named=$(find . -maxdepth 3 -name '*.md' -not -path './build*' -print0 |
    xargs -0 grep -ohE '(`|^ +|^)make [a-z-]+' | awk '{ print $NF }' | sort -u)
unknown=$(comm -13 <(echo "$known") <(echo "$named"))
[ -n "$named" ]
if [ -n "$unknown" ]; then
    echo "pages name targets that make help does not list:" $unknown
    exit 1
fi
