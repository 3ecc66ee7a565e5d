#!/bin/bash
# test_deb.bash BUILD: the Debian packages hold together what `cmake --install` installs, name
# what they need, and the Python package finds the library of the other one.
set -euo pipefail
build=$1
scratch=$(mktemp -d "${TMPDIR:-/tmp}/okra-deb-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
trap 'echo "test_deb.bash:$LINENO: failed: $BASH_COMMAND" >&2' ERR
command -v dpkg-deb >/dev/null || { echo "skipped: no dpkg-deb"; exit 77; }
cd "$scratch"

cpack --config "$build/CPackConfig.cmake" -G DEB -B "$scratch/dist" >log 2>&1 ||
    { cat log; exit 1; }
names=$(for deb in dist/*.deb; do dpkg-deb -f "$deb" Package; done | sort | xargs)
[[ $names =~ ^libokra-dev\ libokra[0-9.]+\ okra\ python3-okra$ ]] || { echo "made: $names"; exit 1; }
library=$(echo "$names" | cut -d ' ' -f 2)

# No file is left out, none is in two packages.
cmake --install "$build" --prefix "$scratch/usr" >/dev/null
mkdir root
for deb in dist/*.deb; do
    dpkg-deb -x "$deb" "root/$(dpkg-deb -f "$deb" Package)"
done
(cd usr && find . ! -type d | grep -v '/libokra-' | sort) >installed # engines are not packed
for name in okra libokra-dev "$library"; do
    (cd "root/$name/usr" && find . ! -type d)
done | grep -v '/copyright$' | sort >packed
diff installed packed
for name in $names; do
    [ -s "root/$name/usr/share/doc/$name/copyright" ]
done

version=$(dpkg-deb -f dist/okra_*.deb Version)
for name in okra libokra-dev python3-okra; do
    dpkg-deb -f dist/"$name"_*.deb Depends | grep -qF "$library (= $version)"
done
dpkg-deb -f dist/"$library"_*.deb Depends | grep -q libopenblas0
dpkg-deb -f dist/libokra-dev_*.deb Depends | grep -q libopenblas-dev
dpkg-deb -f dist/python3-okra_*.deb Depends | grep -q python3-numpy

cp -a "root/python3-okra/usr" together
cp -a "root/$library/usr/." together
link=together/lib/python3/dist-packages/okra/libokra.so
[ -L "$link" ]
[ "$(readlink -f "$link")" = "$(readlink -f together/lib/*/libokra.so.[0-9]* together/lib/libokra.so.[0-9]* | head -1)" ]
