# An engine that is asked for and cannot run is an error, never another engine.
printf '1,2\n3,4\n5,7\n' >x.csv
folder=$(dirname "$(realpath "$(command -v okra)")")
expect_fail 1 "okra fit: engine absent: there is no libokra-absent.so in $folder or OKRA_ENGINE_PATH" \
    okra fit --x x.csv --y x.csv --engine absent -o m.okra
[ ! -e m.okra ] || complain "a model was written"
expect_fail 2 "okra fit: engine is '../evil', expected NAME or NAME:DEVICE, NAME in small letters, digits, - and _" \
    okra fit --x x.csv --y x.csv --engine ../evil -o m.okra
# Nothing is loaded from the current directory or by a relative path.
touch libokra-near.so
expect 1 okra fit --x x.csv --y x.csv --engine near -o m.okra
OKRA_ENGINE_PATH=. expect_fail 2 "okra fit: OKRA_ENGINE_PATH: '.' is not an absolute path" \
    okra fit --x x.csv --y x.csv --engine near -o m.okra
OKRA_ENGINE_PATH=$PWD expect 1 okra fit --x x.csv --y x.csv --engine near -o m.okra
expect_in "okra fit: engine near: $PWD/libokra-near.so: " err
# host is the default.
expect 0 okra fit -q --x x.csv --y x.csv --threads 1 --engine host -o host.okra
expect 0 okra fit -q --x x.csv --y x.csv --threads 1 -o plain.okra
expect_same host.okra plain.okra
# On the test engine the same comes out, but for rounding.
plugins=$folder/tests/engine/plugins
if [ -e "$plugins/libokra-test.so" ]; then
    # A relative folder hides no other, an engine in two folders is told of once, and a file that no
    # --engine can name not at all.
    mkdir broken
    touch "broken/libokra-$(printf '\033')red.so"
    cp "$plugins/libokra-test.so" broken
    OKRA_ENGINE_PATH=.:$PWD/broken:$plugins:$plugins expect 0 okra version --build-info
    [ "$(grep -c '^engine test: ' out)" = 1 ] || complain "$(grep '^engine' out)"
    ! grep -q red out || complain "a file with an escape in its name is listed"
    OKRA_ENGINE_PATH=.:$plugins expect 0 okra fit -q --x x.csv --y x.csv --engine test -o m.okra
    awk 'BEGIN { for (i = 0; i < 40; i++) printf "%.6f,%.6f\n", sin(i), cos(3 * i) }' >x.csv
    awk -F, '{ printf "%.6f,%.6f\n", $1 * $2, $1 - $2 }' x.csv >y.csv
    for flags in "" "--operator ccov" "--method margin" "--method margin --lambda 0.1" "--method kpca" "--low-rank chol(rank=9)"; do
        for engine in host test; do
            # shellcheck disable=SC2086
            OKRA_ENGINE_PATH=$plugins expect 0 okra fit -q --x x.csv --y y.csv --kx 'rbf(sigma=1)' $flags \
                --engine $engine -o $engine.okra
            OKRA_ENGINE_PATH=$plugins expect 0 okra predict -q $engine.okra --x x.csv --engine $engine \
                --embedding $engine.csv
        done
        # margin goes on to a duality gap of 1e-8, and so to 1e-4 of the solution, where the
        # lambda that it chooses for these outputs without noise is small.
        limit=1e-16; [ "$flags" != "--method margin" ] || limit=1e-8
        paste -d, host.csv test.csv | awk -F, -v limit=$limit '{ d = $1 - $3; e = $2 - $4 }
            d * d + e * e > limit { print "row " NR ": " $0; bad = 1 } END { exit bad }' ||
            complain "engines differ: $flags"
    done
    # What computes on the host in part says so.
    expect 0 okra fit -q --x x.csv --y y.csv --kx 'rbf(sigma=1)' --lambda 0.1 -o c.okra
    OKRA_ENGINE_PATH=$plugins expect 0 okra predict c.okra --x x.csv --interval 0.1 --conformal full --engine test -o p.tsv
    expect_in "conformal full solves on the engine and computes the rest on the host" err
    OKRA_ENGINE_PATH=$plugins expect 0 okra predict c.okra --x x.csv --interval 0.1 --conformal full --engine host -o q.tsv
    paste p.tsv q.tsv | awk 'NR > 1 { for (j = 1; j <= 5; j++) { d = $j - $(j + 5); bad += d * d > 1e-20 } }
        END { exit bad > 0 || NR < 2 }' || complain "engines give other intervals"
    ! grep -q "on the host" err || complain "the host warns of itself"
    for engine in host test; do
        OKRA_ENGINE_PATH=$plugins expect 0 okra twin -q --x x.csv --y y.csv --kx 'rbf(sigma=1)' --kx linear \
            --ky 'rbf(sigma=2)' --degrees 2,3 --unbiased --engine $engine
        grep '^HSIC' out >$engine.txt
    done
    paste host.txt test.txt | awk '{ d = $3 / $6 - 1; if (d * d > 1e-16 || NF != 6) bad = 1 } END { exit bad || NR != 2 }' ||
        complain "engines learn other twins: $(paste host.txt test.txt)"
    OKRA_ENGINE_PATH=$plugins expect 1 okra fit --x x.csv --y y.csv --engine later -o m.okra
    expect_in "okra fit: engine later: $plugins/libokra-later.so is for interface 6 of engines, this library has 5" err
    OKRA_ENGINE_PATH=$plugins expect 1 okra fit --x x.csv --y y.csv --engine test:fail -o m.okra
    expect_in "okra fit: engine test: there is no device 'fail'" err
fi
