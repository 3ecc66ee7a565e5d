# bare.bash: bare Debian systems for the scripts of this folder, which source it. Needs root.
#
#   bare_inside "$@"         runs the script again in namespaces of its own: mounts and processes end with it
#   bare_make NAME RELEASE   a minimal Debian of RELEASE in $scratch/NAME, made by debootstrap
#   bare_open NAME           its /proc and /dev
#   enter NAME COMMAND       as after a login as root there
#
# A script begins with bare_inside; after it $scratch is a folder that is removed in the end, and $1 ... are the
# script's own arguments again. The systems live in TMPDIR.
bare_fail() {
    echo "$(basename "$0"): $*" >&2
    exit 1
}

bare_inside() {
    if [ "${OKRA_BARE_SCRATCH:-}" ]; then
        scratch=$OKRA_BARE_SCRATCH
        unset OKRA_BARE_SCRATCH
        return
    fi
    [ "$(id -u)" = 0 ] || bare_fail "needs root, to make a Debian system (debootstrap, chroot)"
    for program in debootstrap unshare chroot git; do
        command -v $program >/dev/null || bare_fail "$program is not installed"
    done
    local place
    place=$(mktemp -d "${TMPDIR:-/tmp}/okra-bare-XXXXXX")
    # shellcheck disable=SC2064
    trap "kill -KILL \$! 2>/dev/null && wait \$! || true; rm -rf --one-file-system '$place'" EXIT
    trap 'exit 130' INT TERM
    OKRA_BARE_SCRATCH=$place unshare --mount --pid --fork --kill-child --propagation private "$0" "$@" &
    wait $!
    exit
}

# Where this machine gets Debian from, for that release: "SITE RELEASE COMPONENT" lines.
bare_sources() {
    local here
    here=$(. /etc/os-release && echo "$VERSION_CODENAME")
    apt-get indextargets --format '$(SITE) $(RELEASE) $(COMPONENT)' \
        'Created-By: Packages' 'Origin: Debian' |
        sed -E "s/^(\S+) $here(-\S+)? /\1 $1\2 /" | sort -u
}

bare_make() {
    local system=$scratch/$1 mirror
    [ -n "$(bare_sources "$2")" ] || apt-get update
    mirror=$(bare_sources "$2" | awk -v release="$2" '$2 == release { print $1; exit }')
    [ -n "$mirror" ] || bare_fail "apt names no mirror of Debian $2"
    debootstrap --variant=minbase "$2" "$system" "$mirror" >"$scratch/log" 2>&1 ||
        { tail -20 "$scratch/log"; bare_fail "debootstrap failed"; }
    bare_sources "$2" | sed 's/^/deb /' >"$system/etc/apt/sources.list"
    apt-config dump | grep -E '^Acquire::(https?::Proxy|Check-Valid-Until|Retries)' \
        >"$system/etc/apt/apt.conf.d/90mirror" || true
    # Packages are of no use after they are installed, and no power cut need be survived.
    echo 'APT::Keep-Downloaded-Packages "false";' >>"$system/etc/apt/apt.conf.d/90mirror"
    echo force-unsafe-io >"$system/etc/dpkg/dpkg.cfg.d/unsafe-io"
}

bare_open() {
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

enter() {
    chroot "$scratch/$1" /usr/bin/env -i HOME=/root TERM=dumb LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        /bin/bash -euo pipefail -c 'cd; '"$2"
}
