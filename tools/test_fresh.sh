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

if [ "${1:-}" != --inside ]; then
    quick=no
    if [ "${1:-}" = --quick ]; then
        quick=yes
        shift
    fi
    release=${1:-$(. /etc/os-release && echo "$VERSION_CODENAME")}
    [ "$(id -u)" = 0 ] || fail "needs root, to make a Debian system (debootstrap, chroot)"
    for program in debootstrap unshare chroot git; do
        command -v $program >/dev/null || fail "$program is not installed"
    done
    [ -z "$(git -C "$root" status --porcelain)" ] ||
        echo "note: changes that are not committed are not tested"
    scratch=$(mktemp -d "${TMPDIR:-/tmp}/okra-fresh-XXXXXX")
    clean() {
        kill -KILL "$inside" 2>/dev/null && wait "$inside" || true # and all that it started
        rm -rf --one-file-system "$scratch"
    }
    trap clean EXIT
    trap 'exit 130' INT TERM
    unshare --mount --pid --fork --kill-child --propagation private \
        "$0" --inside "$scratch" "$release" $quick &
    inside=$!
    wait $inside
    exit
fi
scratch=$2 release=$3 quick=$4

# Where this machine gets Debian from, for that release: "SITE RELEASE COMPONENT" lines.
sources() {
    apt-get indextargets --format '$(SITE) $(RELEASE) $(COMPONENT)' \
        'Created-By: Packages' 'Origin: Debian' |
        sed -E "s/^(\S+) $here(-\S+)? /\1 $release\2 /" | sort -u
}
here=$(. /etc/os-release && echo "$VERSION_CODENAME")
[ -n "$(sources)" ] || apt-get update
mirror=$(sources | awk -v release="$release" '$2 == release { print $1; exit }')
[ -n "$mirror" ] || fail "apt names no mirror of Debian $release"

# enter SYSTEM COMMAND...: as after a login as root there.
enter() {
    chroot "$scratch/$1" /usr/bin/env -i HOME=/root TERM=dumb LANG=C.UTF-8 \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        /bin/bash -euo pipefail -c 'cd; '"$2"
}
open_system() {
    local system=$scratch/$1 device
    mount -t proc proc "$system/proc"
    for device in null zero full random urandom tty; do
        rm -f "$system/dev/$device" && touch "$system/dev/$device"
        mount --bind "/dev/$device" "$system/dev/$device"
    done
    mkdir -p "$system/dev/pts" "$system/dev/shm"
    mount -t devpts -o newinstance,ptmxmode=0666 devpts "$system/dev/pts"
    rm -f "$system/dev/ptmx" && ln -s pts/ptmx "$system/dev/ptmx"
    mount -t tmpfs tmpfs "$system/dev/shm"
    cp /etc/resolv.conf /etc/hosts "$system/etc"
}

say "a bare Debian $release"
debootstrap --variant=minbase "$release" "$scratch/first" "$mirror" >"$scratch/log" 2>&1 ||
    { tail -20 "$scratch/log"; fail "debootstrap failed"; }
sources | sed 's/^/deb /' >"$scratch/first/etc/apt/sources.list"
apt-config dump | grep -E '^Acquire::(https?::Proxy|Check-Valid-Until|Retries)' \
    >"$scratch/first/etc/apt/apt.conf.d/90mirror" || true
# Packages are of no use after they are installed, and no power cut need be survived.
echo 'APT::Keep-Downloaded-Packages "false";' >>"$scratch/first/etc/apt/apt.conf.d/90mirror"
echo force-unsafe-io >"$scratch/first/etc/dpkg/dpkg.cfg.d/unsafe-io"
cp -a "$scratch/first" "$scratch/second"
open_system first
open_system second

say "make and git"
git clone --quiet --bare "file://$root" "$scratch/first/root/okra.git"
data=${OKRA_DATA:-$root/../shared/data}
if [ -d "$data" ]; then
    mkdir -p "$scratch/first/root/shared/data"
    mount --bind "$data" "$scratch/first/root/shared/data"
    mount -o remount,bind,ro "$scratch/first/root/shared/data"
fi
enter first 'apt-get -qq update
    DEBIAN_FRONTEND=noninteractive apt-get -qq install --no-install-recommends make git >/dev/null
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
    DEBIAN_FRONTEND=noninteractive apt-get -qq install --no-install-recommends \
        python3-venv python3-sklearn >/dev/null
    python3 -m venv --system-site-packages environment
    environment/bin/pip install --quiet --no-index made/okra-*.whl
    environment/bin/python made/try_package.py /root/environment alone made/README.md
    environment/bin/okra demo --quiet'

say "the Debian packages"
enter second 'export DEBIAN_FRONTEND=noninteractive
    apt-get -qq install --no-install-recommends ./made/libokra[0-9]*.deb ./made/okra_*.deb \
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
