#!/bin/bash
# test_python.bash BUILD PYTHON: the package goes into the virtual environment that is active,
# never into the system's Python unless told to; the wheel carries what it needs.
set -euo pipefail
build=$1 python=$2
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
scratch=$(mktemp -d "${TMPDIR:-/tmp}/okra-python-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
trap 'echo "test_python.bash:$LINENO: failed: $BASH_COMMAND" >&2' ERR
unset VIRTUAL_ENV CONDA_PREFIX PIP_FLAGS SYSTEM_PYTHON OKRA_LIBRARY PYTHONPATH
export PYTHONDONTWRITEBYTECODE=1
# A copy of the sources: pip leaves its scratch folder beside setup.py.
mkdir "$scratch/source"
cp -r "$root"/{CMakeLists.txt,LICENSE,README.md,include,pyproject.toml,python,setup.py,tools} \
    "$scratch/source"
cd "$scratch"
install() { env "$@" source/tools/install_python.sh "$build" "$python" >out 2>err; }
packages() { "$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))'; }
listing() { ls -R "$(packages)" /usr/local/lib/python3* /usr/lib/python3/dist-packages 2>/dev/null; }

echo "== no environment"
listing >before || true
if install; then
    echo "installed without an environment" >&2
    exit 1
fi
grep -q "the system's Python is left alone" err
grep -q 'make install-python SYSTEM_PYTHON=1' err

echo "== a folder"
install PIP_FLAGS="--target $scratch/target"
PYTHONPATH=$scratch/target "$python" "$here/try_package.py" "$scratch/target"

echo "== an active environment"
"$python" -m venv --system-site-packages environment
install VIRTUAL_ENV="$scratch/environment"
grep -qF "$scratch/environment" out
environment/bin/python "$here/try_package.py" "$scratch/environment"
install VIRTUAL_ENV="$scratch/environment" # again, over itself

echo "== the system's, told so; a pip that notes how it is called"
mkdir fake
cat >fake/python <<END
#!/bin/bash
echo "\$PIP_BREAK_SYSTEM_PACKAGES \$*" >>"$scratch/calls"
END
chmod +x fake/python
SYSTEM_PYTHON=1 source/tools/install_python.sh "$build" "$scratch/fake/python"
grep -q '^1 -m pip install --no-deps --no-index' calls
listing >after || true
diff before after

echo "== the wheel"
"$python" source/tools/make_wheel.py "$build" dist
wheel=$(echo dist/okra-*.whl)
glibc=$("$python" -c 'import os; print(os.confstr("CS_GNU_LIBC_VERSION").split()[1])')
[ "${wheel##*-py3-none-}" = "manylinux_${glibc/./_}_$(uname -m).whl" ]
"$python" -m venv --system-site-packages other
other/bin/python -m pip install --no-index --quiet "$wheel"
other/bin/python "$here/try_package.py" "$scratch/other" alone "$root/README.md"

echo "== the program that the wheel brings"
[ "$(other/bin/okra version)" = "$("$build/okra" version)" ]
[ "$(other/bin/python -m okra version)" = "$("$build/okra" version)" ]
other/bin/okra demo --quiet >/dev/null
status=0
other/bin/okra fit --no-such-flag 2>err || status=$?
[ $status = 2 ]
grep -q -- --no-such-flag err
other/bin/okra convert --help | grep -q convert
unzip -p "$wheel" '*/METADATA' >metadata
for extra in all plot progress convert; do grep -qx "Provides-Extra: $extra" metadata; done
inside=$(echo other/lib/python3*/site-packages)
for file in "$inside"/okra/{libokra.so.*,okra} "$inside"/okra.libs/*; do
    path=$(readelf -d "$file" | sed -n 's/.*(\(RPATH\|RUNPATH\)).*\[\(.*\)\].*/\2/p')
    case $path in
    '$ORIGIN' | '$ORIGIN:$ORIGIN/../okra.libs') ;;
    *) echo "$file looks for libraries in '$path'" >&2 && exit 1 ;;
    esac
done
[ "$(ls "$inside"/okra.libs | grep -c '^libopenblas-')" = 1 ]
grep -q . "$inside"/okra-*.dist-info/licenses/libopenblas*.txt
# The bill lists each library that is carried, with its digest, and nothing else.
"$python" - "$inside" <<'END'
import glob, hashlib, json, os, sys
about, = glob.glob(sys.argv[1] + "/okra-*.dist-info")
bill = json.load(open(about + "/sboms/okra.spdx.json"))
carried = {p["packageFileName"]: p["checksums"][0]["checksumValue"] for p in bill["packages"][1:]}
there = {"okra.libs/" + name: hashlib.sha256(open(f"{sys.argv[1]}/okra.libs/{name}", "rb").read()).hexdigest()
         for name in os.listdir(sys.argv[1] + "/okra.libs")}
assert carried == there, (sorted(carried), sorted(there))
END
