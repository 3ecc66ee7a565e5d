#!/bin/bash
# install_python.sh BUILD PYTHON: installs the Python package, made by PYTHON (which has
# setuptools and wheel) from the library in BUILD, into the virtual environment that is
# active, or where PIP_FLAGS says (--target DIR, --prefix DIR, --root DIR). Into the system's
# Python only if SYSTEM_PYTHON=1 says so.
set -euo pipefail
build=$(cd "$1" && pwd) maker=$2
root=$(cd "$(dirname "$0")/.." && pwd)
read -ra flags <<<"${PIP_FLAGS:-}"

environment=${VIRTUAL_ENV:-${CONDA_PREFIX:-}}
if [ -n "$environment" ]; then
    python=$environment/bin/python3
    "$python" -m pip --version >/dev/null || {
        echo "install-python: $environment has no pip" >&2
        exit 1
    }
    # The environment's Python is the one that runs okra, and pip takes no orders but ours.
    unset PIP_TARGET PIP_PREFIX PIP_USER
elif [[ " ${flags[*]} " =~ \ (-t|--target|--prefix|--root)[\ =] ]]; then
    python=$maker
    export PIP_BREAK_SYSTEM_PACKAGES=1 # pip asks even where it writes elsewhere
elif [ "${SYSTEM_PYTHON:-0}" = 1 ]; then
    python=$maker
    export PIP_BREAK_SYSTEM_PACKAGES=1 PIP_ROOT_USER_ACTION=ignore
else
    cat >&2 <<END
install-python: no virtual environment is active, and the system's Python is left alone.
  python3 -m venv --system-site-packages DIR && . DIR/bin/activate && make install-python
  make install-python PIP_FLAGS='--target DIR'
  make install-python SYSTEM_PYTHON=1        into the system's Python all the same
END
    exit 1
fi

scratch=$(mktemp -d "${TMPDIR:-/tmp}/okra-python-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
OKRA_BUILD=$build "$maker" -m pip wheel --no-build-isolation --no-deps --no-index --quiet \
    --wheel-dir "$scratch" "$root"
"$python" -m pip install --no-deps --no-index --quiet --force-reinstall "${flags[@]}" \
    "$scratch"/okra-*.whl
if [ -n "$environment" ]; then
    (cd / && "$python" -c 'import okra; print("okra", okra.__version__, "is in", okra.__path__[0])')
fi
