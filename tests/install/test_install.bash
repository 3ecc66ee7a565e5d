#!/bin/bash
# test_install.bash BUILD LIBDIR CC: okra as another project meets it.
set -euo pipefail
build=$1 libdir=$2 cc=$3
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d "${TMPDIR:-/tmp}/okra-install-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
trap 'echo "test_install.bash:$LINENO: failed: $BASH_COMMAND" >&2' ERR

# What is found must be found by moving the tree, so install and then move it.
cmake --install "$build" --prefix "$scratch/first" >"$scratch/log"
mv "$scratch/first" "$scratch/prefix"
prefix=$scratch/prefix
want=$(sed -n 's/^#define OKRA_VERSION "\(.*\)"/\1/p' "$prefix/include/okra/version.h")
export PKG_CONFIG_PATH=$prefix/$libdir/pkgconfig

echo "== pkg-config"
[ "$(pkg-config --modversion okra)" = "$want" ]
$cc -std=c11 -Wall -Wextra -Werror "$here/consumer/main.c" -o "$scratch/by-pkg-config" \
    $(pkg-config --cflags --libs okra) -Wl,-rpath,"$prefix/$libdir"
[ "$("$scratch/by-pkg-config")" = "okra $want" ]
if pkg-config --exists 'okra >= 99'; then
    echo "pkg-config accepts a version that is not there" >&2
    exit 1
fi

echo "== pkg-config --static"
libs=$(pkg-config --libs --static okra | sed 's/-lokra\b//')
$cc "$here/consumer/main.c" -o "$scratch/by-static" $(pkg-config --cflags okra) \
    "$prefix/$libdir/libokra.a" $libs
[ "$("$scratch/by-static")" = "okra $want" ]

echo "== find_package"
configure() {
    cmake -S "$here/consumer" -B "$scratch/$1" -G Ninja -DCMAKE_C_COMPILER="$cc" \
        -DCMAKE_PREFIX_PATH="$prefix" -DWANT="$2" >"$scratch/log" 2>&1
}
configure consumer "$want" || { cat "$scratch/log"; exit 1; }
cmake --build "$scratch/consumer" >"$scratch/log" || { cat "$scratch/log"; exit 1; }
[ "$("$scratch/consumer/with_shared")" = "okra $want" ]
[ "$("$scratch/consumer/with_static")" = "okra $want" ]
if ldd "$scratch/consumer/with_static" | grep -q libokra; then
    echo "okra::okra_static links the shared library" >&2
    exit 1
fi
for version in 99 "${want%%.*}.99"; do
    if configure refused "$version"; then
        echo "find_package accepts version $version, there is $want" >&2
        exit 1
    fi
    tr -s ' \n' ' ' <"$scratch/log" | grep -q 'compatible with requested version'
done

if [ -x "$prefix/bin/okra" ]; then
    echo "== program"
    "$prefix/bin/okra" version | grep -F "$want"
    for page in man/man1/okra.1 man/man1/okra-fit.1 man/man1/okra-help.1 bash-completion/completions/okra zsh/site-functions/_okra; do
        grep -q okra "$prefix/share/$page"
    done
    bash -n "$prefix/share/bash-completion/completions/okra"
fi

echo "== C++"
[ ! -e "$prefix/include/okra/program.h" ]
for header in "$prefix"/include/okra/*.h "$prefix"/include/okra/more/*.h; do
    echo "#include <${header#"$prefix"/include/}>"
done >"$scratch/all.cpp"
if command -v c++ >/dev/null; then
    c++ -Wall -Wextra -Werror -fsyntax-only -I"$prefix/include" "$scratch/all.cpp"
fi
