#!/bin/bash
# make_wheels.bash [--twice] [--try] FOLDER [MACHINE...]: the wheels of a release, into FOLDER, for x86_64 and aarch64
# or those named. --twice: built in two folders, and the bytes compared. --try: each is tried.
#
# Library and program are built in bare Debian 11 systems, whose C library (2.31) is the oldest that is served: the wheels
# run on Debian 11, Ubuntu 20.04, RHEL 9 and everything newer. That for aarch64 is cross-compiled against Debian's
# libraries for arm64, as released: mirrors need not have security updates of Debian 11 for it. make_wheel.py packs.
#
# Tried are, of x86_64: `okra demo` in a bare Debian 11 with Python and nothing else, the package in a bare Debian 13 with
# scikit-learn. Of aarch64, by qemu-user: the unit tests; predictions of the same models as this machine's (OKRA, build/okra)
# within 1e-12; fits with every method against the values of tests/bits; the package under Debian 12's Python.
# The machine's own list of program loaders stays as it is: the one for ARM is registered in a namespace (Linux 6.7).
#
# Needs root and the packages of packages-release.txt. Only what is committed is built.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/tools/bare.bash"
bare_inside "$@"
twice=no try=no
while [[ ${1:-} == --* ]]; do
    case $1 in
    --twice) twice=yes ;;
    --try) try=yes ;;
    *) bare_fail "$1: the flags are --twice and --try" ;;
    esac
    shift
done
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- x86_64 aarch64
say() { echo "==== wheels: $* ($((SECONDS / 60)) min)"; }
quietly() { "$@" >"$scratch/log" 2>&1 || { tail -40 "$scratch/log"; bare_fail "$1 ${2:-} failed"; }; }
jobs=${JOBS:-$(nproc)}
python=${PYTHON:-/usr/bin/python3}
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct)}
export SOURCE_DATE_EPOCH TZ=UTC LC_ALL=C.UTF-8 PYTHONHASHSEED=0
umask 022
install='apt-get -qq update && apt-get -qq install --no-install-recommends'
tools=$(sed 's/#.*//' "$root/packages.txt" | xargs)
libraries=$(printf '%s\n' $tools | grep -- '-dev$')

prepare_x86_64() { enter x86_64 "$install $tools"; }
prepare_aarch64() {
    grep ' bullseye ' "$scratch/aarch64/etc/apt/sources.list" >"$scratch/frozen"
    cp "$scratch/frozen" "$scratch/aarch64/etc/apt/sources.list"
    enter aarch64 "dpkg --add-architecture arm64; $install $tools gcc-aarch64-linux-gnu libc6-dev-arm64-cross \
        $(printf '%s:arm64 ' $libraries)"
}

build() { # MACHINE PLACE FLAGS...: from PLACE/okra of its system into PLACE/b; the wheel into $scratch/PLACE
    local inside=$scratch/$1/$2
    mkdir -p "$inside/okra" "$scratch/$2"
    git -C "$root" archive HEAD | tar -C "$inside/okra" -x
    quietly enter "$1" "export SOURCE_DATE_EPOCH=$SOURCE_DATE_EPOCH
        cmake -S /$2/okra -B /$2/b -G Ninja -DCMAKE_BUILD_TYPE=Release -DOKRA_BENCH=OFF -DOKRA_CUDA=OFF -DOKRA_MPI=OFF \
            ${*:3}
        cmake --build /$2/b --target okra_program okra_shared -j $jobs"
    "$python" "$root/tools/make_wheel.py" "$inside/b" "$scratch/$2" "$scratch/$1"
}

try_x86_64() {
    say "a bare Debian 11 with Python alone"
    cp -a "$scratch/bullseye" "$scratch/eleven"
    bare_open eleven
    cp "$scratch"/one/*_x86_64.whl "$scratch/eleven/root"
    quietly enter eleven "$install python3-venv"
    enter eleven 'python3 -m venv here
        here/bin/pip install --quiet --no-index --no-deps okra-*.whl
        here/bin/okra version
        here/bin/okra demo --quiet'
    say "a bare Debian 13 with scikit-learn"
    bare_make thirteen trixie
    bare_open thirteen
    cp "$scratch"/one/*_x86_64.whl "$root/tests/install/try_package.py" "$root/README.md" "$scratch/thirteen/root"
    quietly enter thirteen "$install python3-venv python3-sklearn"
    enter thirteen 'python3 -m venv --system-site-packages here
        here/bin/pip install --quiet --no-index okra-*.whl
        here/bin/python try_package.py /root/here alone README.md'
}

# as enter, in a system for arm64
enter_arm() {
    # shellcheck disable=SC2016
    unshare --user --map-root-user --mount bash -euc '
        mount -t binfmt_misc none /proc/sys/fs/binfmt_misc
        magic="\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00"
        mask="\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff"
        echo ":okra-arm:M::$magic:$mask:$(command -v qemu-aarch64-static):F" >/proc/sys/fs/binfmt_misc/register
        mount --rbind /proc "$1/proc"
        mount --rbind /dev "$1/dev"
        exec chroot "$1" /usr/bin/env -i HOME=/root LANG=C.UTF-8 PATH=/usr/bin:/bin bash -euo pipefail -c "cd; $2"' \
        _ "$scratch/$1" "$2"
}

# Debian 12 for arm64, unpacked and not configured: that needs no emulation.
unpack_arm() { # NAME PACKAGE...
    local place=$scratch/$1-apt system=$scratch/$1 flags
    mkdir -p "$place"/{lists,cache/archives}/partial "$system/root"
    : >"$place/status"
    bare_sources bookworm | awk '$2 == "bookworm" { print "deb", $0 }' >"$place/sources.list"
    flags=(-qq -o Dir::State="$place" -o Dir::State::status="$place/status" -o Dir::Cache="$place/cache"
        -o Dir::Etc::SourceList="$place/sources.list" -o Dir::Etc::SourceParts=/nonexistent
        -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User=root)
    quietly apt-get "${flags[@]}" update
    quietly apt-get "${flags[@]}" install -y --no-install-recommends --download-only "${@:2}"
    find "$place/cache/archives" -name '*.deb' -exec dpkg -x {} "$system" \;
    rm -rf "$place"
}

try_aarch64() {
    local okra=${OKRA:-$root/build/okra} arm=$scratch/okra-arm
    [ -x "$okra" ] || bare_fail "$okra: no such program: make it first, or name another by OKRA"
    say "unit tests for arm64"
    quietly enter aarch64 "cmake --build /one/b --target unit-tests -j $jobs"
    enter_arm aarch64 "cd /one/b && ctest -L unit -LE 'heavy|twin' -j $jobs --timeout 1200 --output-on-failure" |
        tee "$scratch/tests" | grep -E '^[0-9]+%|\(Failed|\(Timeout|Not Run' || true
    grep -q '^100% tests passed, 0 tests failed out of [1-9]' "$scratch/tests" || bare_fail "unit tests failed"

    say "the same numbers"
    "$python" -m zipfile -e "$scratch"/one/*_aarch64.whl "$scratch/wheel"
    chmod +x "$scratch/wheel/okra/okra"
    cat >"$arm" <<END
#!/bin/sh
exec qemu-aarch64-static $scratch/aarch64/lib/ld-linux-aarch64.so.1 \
    --library-path $scratch/aarch64/lib/aarch64-linux-gnu $scratch/wheel/okra/okra "\$@"
END
    chmod +x "$arm"
    "$python" "$root/tests/arm/same.py" "$okra" "$arm"
    mkdir "$scratch/arrays"
    quietly env BITS_KEEP="$scratch/arrays" "$root/tests/bits/bits.bash" "$arm"
    "$python" "$root/tests/bits/values.py" "$scratch/arrays" "$root/tests/bits/values.tsv" --elsewhere

    say "the package under Python for arm64"
    unpack_arm python bash coreutils libc6 python3-sklearn
    "$python" -m zipfile -e "$scratch"/one/*_aarch64.whl "$scratch/python/root/here"
    chmod +x "$scratch/python/root/here/okra/okra"
    cp "$root/tests/install/try_package.py" "$scratch/python/root"
    enter_arm python 'export PYTHONPATH=/root/here LD_LIBRARY_PATH=/usr/lib/aarch64-linux-gnu/blas:/usr/lib/aarch64-linux-gnu/lapack
        python3 try_package.py /root/here'
}

say "a bare Debian 11"
bare_make bullseye bullseye
for machine; do
    [[ $machine == x86_64 || $machine == aarch64 ]] || bare_fail "$machine: the machines are x86_64 and aarch64"
    say "build for $machine"
    cp -a "$scratch/bullseye" "$scratch/$machine"
    bare_open "$machine"
    quietly "prepare_$machine"
    # Debian 11 has no pkg-config file of this library.
    printf 'Name: liblbfgs\nDescription: L-BFGS\nVersion: 1.10\nLibs: -llbfgs\n' \
        >"$scratch/$machine/usr/share/pkgconfig/liblbfgs.pc"
    flags=(-DOKRA_TESTS=OFF)
    [ "$machine" = x86_64 ] || flags=("-DOKRA_TESTS=$([ $try = yes ] && echo ON || echo OFF)" -DCMAKE_TOOLCHAIN_FILE=/one/okra/cmake/aarch64.cmake)
    build "$machine" one "${flags[@]}"
    if [ $twice = yes ]; then
        build "$machine" another/longer/folder "${flags[@]}"
        cmp "$scratch"/{one,another/longer/folder}/*"_$machine.whl" || bare_fail "two builds for $machine differ"
        echo "two builds gave the same bytes"
    fi
    [ $try = no ] || "try_$machine"
    rm -f "$out"/okra-*"_$machine.whl"
    cp "$scratch"/one/*"_$machine.whl" "$out"
done
say "done"
