#!/bin/bash
# make_deb.bash FOLDER [BUILD]: Debian packages by dpkg-buildpackage, into FOLDER. With BUILD, a build
# folder: out of what is compiled there, which is then configured for /usr. SOURCE=yes: the source
# package as well. JOBS: how many things at once.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
built=${2:+$(cd "$2" && pwd)}
version=$(dpkg-parsechangelog -l "$root/debian/changelog" -S Version)
known=$(sed -n 's/^project(okra VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
[ "$version" = "$known" ] || { echo "debian/changelog says $version, CMakeLists.txt $known" >&2; exit 1; }
scratch=$(mktemp -d "${TMPDIR:-/tmp}/okra-deb-XXXXXX")
trap 'rm -rf "$scratch"' EXIT

# What git knows; in a tree without git (an unpacked tarball) all but build folders.
mkdir "$scratch/okra-$version"
cd "$root"
if [ -e .git ]; then
    git ls-files -z -co --exclude-standard
else
    find . -path './build*' -prune -o ! -type d -print0
fi | tar -c --null -T - --ignore-failed-read 2>/dev/null | tar -x -C "$scratch/okra-$version"
cd "$scratch/okra-$version"
parts=-b
[ "${SOURCE:-no}" = no ] || parts=-F
OKRA_DEB_BUILD=$built DEB_BUILD_OPTIONS="nocheck noautodbgsym parallel=${JOBS:-2}" \
    dpkg-buildpackage -us -uc "$parts" >"$scratch/log" 2>&1 || { tail -60 "$scratch/log"; exit 1; }
cd "$scratch"
cp ./*.deb "$out"
[ "${SOURCE:-no}" = no ] || cp ./*.dsc ./*.tar.xz "$out"
