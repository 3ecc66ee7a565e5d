# okra score: metrics of predictions, the loss of a model, values of every object.
source "$ROOT/tests/cli/lib/small.bash"
printf '1,1\n2,1\n4,3\n' >yhat.csv
expect_out "$(printf 'mse\t0.8333333333\nmae\t0.5')" \
    okra score --y ty.csv --yhat yhat.csv --metric mse,mae
expect_out "$(printf 'mse\t0.8333333333\nmae\t0.5')" \
    okra score --y ty.csv --yhat yhat.csv --metric mse --metric mae
expect_out 0.5 okra score --y ty.csv --yhat yhat.csv --metric mae --quiet
# commas inside a metric's parameters belong to it
expect 0 okra score --y ty.csv --yhat yhat.csv \
    --metric 'kernel-loss:kernel=rbf(gamma=0.5)+linear,mae,rbf-loss:sigma=1'
[ "$(cut -f 1 out | tr '\n' ' ')" = \
    "kernel-loss:kernel=rbf(gamma=0.5)+linear mae rbf-loss:sigma=1 " ]
okra score --y ty.csv --yhat yhat.csv --metric mae,mse --each each.csv -q >out
expect_out "$(printf '0,0\n0.5,0.5\n1,2')" cat each.csv

okra fit -q --x x.csv --y y.csv --kx 'rbf(sigma=2)' --lambda 0.01 -o m.okra
okra predict m.okra --x tx.csv --decode explicit -q -o e.csv
# under a linear output kernel the loss is d times the mean squared error
loss=$(okra score -q --y ty.csv --model m.okra --x tx.csv)
mse=$(okra score -q --y ty.csv --yhat e.csv --metric mse)
awk "BEGIN { d = $loss - 2 * $mse; exit !(d < 1e-8 && d > -1e-8) }"
expect 0 okra score --y ty.csv --model m.okra --x tx.csv --metric feature-loss
expect_in "feature-loss	" out

expect_fail 2 "okra score: there is no metric 'msee'; did you mean 'mse'?" \
    okra score --y ty.csv --yhat yhat.csv --metric msee
expect_fail 2 "okra score: --metric is 'mse,', expected names between commas" \
    okra score --y ty.csv --yhat yhat.csv --metric mse,
expect_fail 2 "okra score: give --yhat FILE, or --model MODEL and --x FILE" okra score --y ty.csv
expect_fail 2 "okra score: give --yhat FILE, or --model MODEL and --x FILE" \
    okra score --y ty.csv --model m.okra --yhat yhat.csv
expect_fail 2 "okra score: --model scores undecoded predictions by feature-loss, not 'mse'; for \
other metrics decode with 'okra predict' and give --yhat" \
    okra score --y ty.csv --model m.okra --x tx.csv --metric mse
expect_fail 2 "okra score: --metric SPEC is missing: Name:param=value,...; several between \
commas, or the flag again; 'okra help metrics' lists them" okra score --y ty.csv --yhat yhat.csv
expect_fail 1 "okra score: metric mse: the truth is 3 dense vectors of length 2, the prediction \
8 dense vectors of length 2" okra score --y ty.csv --yhat y.csv --metric mse
printf '0\n1\n1\n' >labels.csv
expect_fail 2 "okra score: metric f1 has no value an object: --each has no use" \
    okra score --y labels:labels.csv --yhat labels:labels.csv --metric f1 --each each.csv

need_python
okra score --y ty.csv --yhat yhat.csv --metric mae,mse --json >out
"$PYTHON" - <<'END'
import json
about = json.load(open("out"))
assert about["count"] == 3 and about["kind"] == "score", about
assert about["scores"] == [
    {"metric": "mae", "value": 0.5, "loss": True},
    {"metric": "mse", "value": 5 / 6, "loss": True}], about
END
