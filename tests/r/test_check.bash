#!/bin/bash
# test_check.bash BUILD PYTHON: builds the R package against a build of okra, with its vignette,
# and passes it through R CMD check: no error, no warning, and every test has run. Then the R blocks
# of docs/r.md run, one after the other, and the flags that its text gives are taken.
set -euo pipefail
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")/../../r" && pwd)
missing=$(Rscript -e 'p <- c("testthat", "knitr", "rmarkdown", "Matrix", "kernlab")
    cat(p[!vapply(p, requireNamespace, TRUE, quietly = TRUE)])' 2>/dev/null) ||
    { echo "skipped: there is no Rscript"; exit 77; }
[ -z "$missing" ] || { echo "skipped: R has no $missing"; exit 77; }
scratch=$(mktemp -d "${TMPDIR:-/tmp}/okra-r-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cmake --install "$build" --prefix "$scratch/prefix" >/dev/null
cp -r "$here" "$scratch/okra"
cd "$scratch"
export OKRA_PREFIX=$scratch/prefix OKRA_PROGRAM=$build/okra OKRA_PYTHON=$2 OKRA_TEST_ALL=1 \
    NOT_CRAN=true PYTHONPATH=$here/../python OKRA_LIBRARY=$build/libokra.so PYTHONDONTWRITEBYTECODE=1
# Nothing outside is asked: no page is fetched, no other time.
export _R_CHECK_CRAN_INCOMING_=false _R_CHECK_CRAN_INCOMING_REMOTE_=false \
    _R_CHECK_SYSTEM_CLOCK_=false _R_CHECK_FORCE_SUGGESTS_=true LC_ALL=C.UTF-8
grep -q "^Version: $(sed -n 's/^#define OKRA_VERSION "\(.*\)"/\1/p' prefix/include/okra/version.h)\$" okra/DESCRIPTION ||
    { echo "r/DESCRIPTION has another version than the library"; exit 1; }
R CMD build okra >build.log 2>&1 || { cat build.log; exit 1; }
# A test interrupts itself, which a process in the background would ignore.
"$2" -c 'import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execvp(sys.argv[1], sys.argv[1:])' \
    R CMD check --as-cran --no-manual okra_*.tar.gz >check.log 2>&1 ||
    { cat check.log okra.Rcheck/tests/*.fail okra.Rcheck/00install.out 2>/dev/null || true; exit 1; }
cat check.log
if grep -qE '^Status: .*(ERROR|WARNING)' check.log; then
    exit 1
fi
grep -qE '\[ FAIL 0 \| WARN 0 \| SKIP 0 \| PASS [1-9][0-9]+ \]' okra.Rcheck/tests/testthat.Rout ||
    { tail -40 okra.Rcheck/tests/testthat.Rout; exit 1; }
grep -oE '\[ FAIL 0 .* \]' okra.Rcheck/tests/testthat.Rout | tail -1

awk '/^```r$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$here/../docs/r.md" >page.R
given=$(grep -oE '`low_rank_x = "[^"]*"`' "$here/../docs/r.md" | tr -d '`')
[ -n "$given" ]
echo "okra_fit(x, y, kx = \"rbf(sigma=0.5)\", ky = \"linear\", lambda = 1e-3, ${given/=500/=50})" >>page.R
R_LIBS=$scratch/okra.Rcheck Rscript page.R >page.log 2>&1 || { cat page.log; exit 1; }
