#!/bin/bash
# test_fresh.sh [--quick] [RELEASE]: the commands of the README in a bare Debian, so that no
# need of okra can hide.
#
# Makes a minimal Debian of RELEASE (this machine's, where none is named) by debootstrap,
# twice. In the first, which then has only make and git, the repository is cloned, `make demo`
# and `make test-all` run, and every test must run and pass; then `make wheel` and `make deb`.
# The second has no compiler: the wheel runs there with only python3-venv and scikit-learn, and then
# the Debian packages do. --quick: `make demo` and the unit tests alone.
#
# Needs root. What is committed is tested. CMAKE_FLAGS goes on to make. Data that lie in
# ../shared/data beside the repository are shown to it, read only. The systems live in TMPDIR
# (about 6 GiB), in namespaces of their own: mounts and processes end with this script.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
say() { echo "==== fresh: $* ($((SECONDS / 60)) min)"; }
fail() {
    echo "test-fresh: $*" >&2
    exit 1
}

. "$root/tools/bare.bash"
bare_inside "$@"
quick=no
if [ "${1:-}" = --quick ]; then
    quick=yes
    shift
fi
release=${1:-$(. /etc/os-release && echo "$VERSION_CODENAME")}
[ -z "$(git -C "$root" status --porcelain)" ] ||
    echo "note: changes that are not committed are not tested"

say "a bare Debian $release"
bare_make first "$release"
cp -a "$scratch/first" "$scratch/second"
bare_open first
bare_open second

say "make and git"
git clone --quiet --bare "file://$root" "$scratch/first/root/okra.git"
data=${OKRA_DATA:-$root/../shared/data}
if [ -d "$data" ]; then
    mkdir -p "$scratch/first/root/shared/data"
    mount --bind "$data" "$scratch/first/root/shared/data"
    mount -o remount,bind,ro "$scratch/first/root/shared/data"
fi
enter first 'apt-get -qq update
    apt-get -qq install --no-install-recommends make git >/dev/null
    git clone --quiet okra.git okra'

say "make demo"
flags=$(printf '%q' "CMAKE_FLAGS=${CMAKE_FLAGS:-}")
enter first "cd okra && make demo $flags 2>&1" >"$scratch/demo.log" ||
    { tail -100 "$scratch/demo.log"; fail "make demo failed"; }
tail -5 "$scratch/demo.log"

# check COMMAND TIMES: it ends well, and CTest says so many times that every test passed.
check() {
    say "$1"
    enter first "cd okra && $1 2>&1" | tee "$scratch/test.log" |
        grep -vE '^(Get|Selecting|Preparing|Unpacking|Setting up)' || fail "$1 failed"
    [ "$(grep -cE '^100% tests passed, 0 tests failed out of [1-9]' "$scratch/test.log")" = "$2" ] ||
        fail "$1 did not say that every test passed"
    ! grep -qE '\*\*\*(Skipped|Not Run)|\((Skipped|Not Run|Disabled)\)' "$scratch/test.log" ||
        fail "tests were skipped"
}
if [ $quick = yes ]; then
    enter first "cd okra && make packages-test everything $flags" >"$scratch/log" 2>&1 ||
        { tail -50 "$scratch/log"; fail "make everything failed"; }
    check "ctest --test-dir build -L unit -LE 'heavy|twin' -j$(nproc) --output-on-failure" 1
    say "all is well"
    exit
fi
check "make test-all $flags" 2

say "make wheel deb"
enter first "cd okra && make wheel deb DEB_BUILD=build $flags &&
    lintian --allow-root --fail-on error,warning build/dist/*.deb" >"$scratch/log" 2>&1 ||
    { tail -50 "$scratch/log"; fail "make wheel deb failed"; }
mkdir "$scratch/second/root/made"
cp "$scratch"/first/root/okra/build/dist/* "$root"/tests/install/try_package.py \
    "$root"/tests/install/consumer/main.c "$root"/README.md "$scratch/second/root/made"
ls -l "$scratch/second/root/made"

say "the wheel where there is only python3-venv and scikit-learn"
enter second 'apt-get -qq update
    apt-get -qq install --no-install-recommends \
        python3-venv python3-sklearn >/dev/null
    python3 -m venv --system-site-packages environment
    environment/bin/pip install --quiet --no-index made/okra-*.whl
    environment/bin/python made/try_package.py /root/environment alone made/README.md
    environment/bin/okra demo --quiet'

say "the Debian packages"
enter second 'apt-get -qq install --no-install-recommends ./made/libokra[0-9]*.deb ./made/okra_*.deb \
        ./made/python3-okra_*.deb >/dev/null
    okra version
    okra demo --quiet
    python3 made/try_package.py /usr/lib/python3/dist-packages
    apt-get -qq install --no-install-recommends ./made/libokra-dev_*.deb gcc libc6-dev \
        pkg-config >/dev/null
    cc made/main.c -o consumer $(pkg-config --cflags --libs okra)
    ./consumer
    apt-get -qq purge python3-okra libokra-dev okra "libokra[0-9]*" >/dev/null
    ! find /usr /etc -name "*okra*" | grep .'
say "all is well"
