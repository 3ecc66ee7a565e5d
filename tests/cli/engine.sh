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
expect_in "okra fit: engine near: $PWD/libokra-near.so: file too short" err
# host is the default.
expect 0 okra fit -q --x x.csv --y x.csv --threads 1 --engine host -o host.okra
expect 0 okra fit -q --x x.csv --y x.csv --threads 1 -o plain.okra
expect_same host.okra plain.okra
