#!/bin/bash
# Installs the Debian packages named in the given lists, where they are missing. Without
# the right to, it prints the command that would. Quick when everything is there.
set -euo pipefail

if ! command -v dpkg-query >/dev/null; then
    echo "note: not a Debian system; okra needs what $* name" >&2
    exit 0
fi
wanted=$(sed 's/#.*//' "$@" | xargs -n1 | sort -u)
present=$(dpkg-query -W -f '${db:Status-Abbrev}${Package}\n' $wanted 2>/dev/null |
    sed -n 's/^ii //p' | sort -u || true)
missing=$(comm -23 <(echo "$wanted") <(echo "$present") | xargs)
[ -n "$missing" ] || exit 0

if [ "$(id -u)" != 0 ]; then
    echo "these packages are missing; please run, then try again:" >&2
    echo "  sudo apt-get install --no-install-recommends $missing" >&2
    exit 1
fi
export DEBIAN_FRONTEND=noninteractive
install() { apt-get install -y --no-install-recommends $missing; }
echo "installing $missing"
# The lists of packages are fetched only if what there is does not do.
install || { apt-get update && install; }
