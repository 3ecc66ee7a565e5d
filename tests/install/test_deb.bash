#!/bin/bash
# test_deb.bash BUILD: the folder debian/ packs what `cmake --install` installs, without what lintian
# calls an error or a warning; packages name what they need, and the Python package finds the library
# of the other one. What is compiled is taken from BUILD, whose libraries go to lib; `make deb`
# compiles for /usr, and tools/test_fresh.sh installs that.
set -euo pipefail
build=$(cd "$1" && pwd)
root=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d "${TMPDIR:-/tmp}/okra-deb-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
trap 'echo "test_deb.bash:$LINENO: failed: $BASH_COMMAND" >&2' ERR
for program in dpkg-buildpackage dh dh_python3 lintian; do
    command -v $program >/dev/null || { echo "skipped: no $program"; exit 77; }
done
cd "$scratch"

cmake --install "$build" --prefix "$scratch/stage/usr" >/dev/null
cmake --install "$build" --prefix "$scratch/stage/usr" --component python >/dev/null
mkdir okra
cp -a "$root/debian" okra
other=
if [ -e stage/usr/lib/libokra.so ]; then # not where Debian has it: tools/test_fresh.sh asks for that
    other=--suppress-tags=arch-dependent-file-not-in-arch-specific-directory,pkg-config-unavailable-for-cross-compilation
    sed -i 's|usr/lib/\*/|usr/lib/|' okra/debian/*.install okra/debian/not-installed
fi
(cd okra && OKRA_DEB_STAGE=$scratch/stage DEB_BUILD_OPTIONS="nocheck noautodbgsym" \
    dpkg-buildpackage -us -uc -b -d) >log 2>&1 || { tail -50 log; exit 1; }
mkdir dist && mv ./*.deb dist
names=$(for deb in dist/*.deb; do dpkg-deb -f "$deb" Package; done | sort | xargs)
[[ $names =~ ^libokra-dev\ libokra[0-9.]+\ okra\ python3-okra$ ]] || { echo "made: $names"; exit 1; }
library=$(echo "$names" | cut -d ' ' -f 2)

lintian --allow-root --fail-on error,warning $other dist/*.deb >lint.log 2>&1 || { cat lint.log; exit 1; }

# No file is left out, none is in two packages.
mkdir tree
for deb in dist/*.deb; do
    dpkg-deb -x "$deb" "tree/$(dpkg-deb -f "$deb" Package)"
done
# Engines are not packed; the licence is in `copyright`.
(cd stage/usr && find . ! -type d | grep -vE '/libokra-|/doc/okra/LICENSE$') | sort >installed
for name in $names; do
    (cd "tree/$name/usr" && find . ! -type d)
done | sed -E 's/(man.*\.[0-9])\.gz$/\1/; s/(CHANGELOG\.md)\.gz$/\1/' |
    grep -vE '/(copyright|changelog\.gz|changelog\.Debian\.gz)$|/runtime\.d/' | sort >packed
# Long texts among the documents are compressed, and long examples.
sed -E 's|(/doc/.*)\.gz$|\1|' packed | diff installed -
for name in $names; do
    [ -s "tree/$name/usr/share/doc/$name/copyright" ]
done

version=$(dpkg-deb -f dist/okra_*.deb Version)
for name in okra libokra-dev python3-okra; do
    dpkg-deb -f dist/"$name"_*.deb Depends | grep -qF "$library (= $version)"
done
dpkg-deb -f dist/"$library"_*.deb Depends | grep -q libopenblas0
dpkg-deb -f dist/libokra-dev_*.deb Depends | grep -q libopenblas-dev
dpkg-deb -f dist/python3-okra_*.deb Depends | grep -q python3-numpy
# Who builds on okra needs what okra was built on.
for need in $(grep -E '^[a-z0-9.+-]+-dev$' "$root/packages.txt"); do
    dpkg-deb -f dist/libokra-dev_*.deb Depends | grep -qw -- "$need"
    grep -qw -- "$need" "$root/debian/control"
done

cp -a "tree/python3-okra/usr" together
cp -a "tree/$library/usr/." together
link=together/lib/python3/dist-packages/okra/libokra.so
[ -L "$link" ]
[ "$(readlink -f "$link")" = "$(readlink -f together/lib/*/libokra.so.[0-9]* together/lib/libokra.so.[0-9]* | head -1)" ]
