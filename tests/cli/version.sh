# The version is that of the library; the build information names what is in.
expect 0 okra version
expect_in "$(sed -n 's/^project(okra VERSION \([0-9.]*\).*/\1/p' "$ROOT/CMakeLists.txt")" out
expect 0 okra version --build-info
for name in version compiler openblas; do
    expect_in "$name: " out
done
# Engines: host is there, others are told with the reason why they are not.
expect_in "engine host: " out
expect_in "engine cuda: " out
okra version --build-info --json >out
expect_in '"name": "host"' out
expect_fail 2 "okra version: --engine has no use here" \
    okra version --engine host

# The code that the matrix library runs: chosen by the user it stays; where it is that of a very
# old processor because the library does not know this one (the variable pretends that), the
# program starts itself again, once, with all of its arguments.
okra version --build-info >out
expect_in "kernels: OpenBLAS for " out
if grep -qw avx2 /proc/cpuinfo && [ -z "${OPENBLAS_CORETYPE:-}" ]; then
    export OPENBLAS_CORETYPE=Prescott
    expect 0 okra version --build-info
    expect_in "kernels: OpenBLAS for Prescott" out
    export OKRA_TEST_PROCESSOR=unknown
    expect 0 okra version --build-info --json
    if grep Prescott out; then false; fi
    expect_in '"kernels"' out
    OKRA_RESTARTED=1 expect 0 okra version --build-info
    expect_in "kernels: OpenBLAS for Prescott" out
    printf '1,2\n2,3\n4,1\n' > x.csv
    OKRA_RESTARTED=1 expect 0 okra fit --x x.csv --y x.csv -o m.okra
    expect_in "runs code for Prescott" err
    expect_in "set OPENBLAS_CORETYPE=" err
    expect 0 okra fit --x x.csv --y x.csv -o 'm two.okra'
    if grep Prescott err; then false; fi
    [ -s 'm two.okra' ]
    loader=/lib64/ld-linux-x86-64.so.2 # its arguments are not the program's: no second start
    if [ -x $loader ]; then
        expect 0 $loader "$(realpath "$(command -v okra)")" version --build-info
        expect_in "kernels: OpenBLAS for Prescott" out
    fi
    unset OPENBLAS_CORETYPE OKRA_TEST_PROCESSOR
fi
