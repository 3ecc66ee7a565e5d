#!/bin/bash
# The installing step: silent and quick when all is there; without the right to install it
# names what is missing and fails; as root it installs just that, without extras.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d "${TMPDIR:-/tmp}/okra-packages-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
trap 'echo "test_packages.bash:$LINENO: failed: $BASH_COMMAND" >&2' ERR
mkdir "$scratch/bin"
cd "$scratch"
printf '# a comment\nhere-1\nhere-2 # why\n\n' >present.txt
printf 'here-1\nabsent-b\nabsent-a\n' >lacking.txt

# A dpkg-query that knows two packages, an apt-get that notes how it was called and fails
# until its lists are fetched, and an id that says who we are.
cat >bin/dpkg-query <<'END'
#!/bin/bash
for name in "${@:4}"; do
    case $name in
    here-*) echo "ii $name" ;;
    absent-a) echo "rc $name" ;;
    *) status=1 ;;
    esac
done
exit ${status:-0}
END
cat >bin/apt-get <<'END'
#!/bin/bash
echo "$DEBIAN_FRONTEND $*" >>calls
[ "$1" = update ] && touch updated
[ -e updated ]
END
printf '#!/bin/sh\necho $FAKE_USER\n' >bin/id
chmod +x bin/*
export PATH=$scratch/bin:$PATH

[ -z "$(FAKE_USER=1000 "$root/tools/install_packages.sh" present.txt 2>&1)" ]
status=0
FAKE_USER=1000 "$root/tools/install_packages.sh" present.txt lacking.txt 2>err || status=$?
[ $status = 1 ]
[ ! -e calls ]
grep -qx '  sudo apt-get install --no-install-recommends absent-a absent-b' err

FAKE_USER=0 "$root/tools/install_packages.sh" present.txt lacking.txt >/dev/null
install='noninteractive install -y --no-install-recommends absent-a absent-b'
printf '%s\n' "$install" 'noninteractive update' "$install" | diff - calls

# Every list names packages only, one per line.
for list in "$root"/packages*.txt; do
    sed 's/#.*//' "$list" | grep -vE '^[a-z0-9.+-]*\s*$' && exit 1
done
exit 0
