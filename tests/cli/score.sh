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

# lists, sets and intervals, as okra predict writes them
printf 'a\nb\na\nc\n' >c.txt
printf 'c\na\nd\n' >t.txt
printf 'test\trank\tcandidate\tdistance\n0\t1\t0\t0.1\n0\t2\t3\t0.2\n1\t1\t2\t0.1\n2\t1\t0\t0.3\n' >top.tsv
expect_out "$(printf 'hit-rate\t0.3333333333\nhit-rate:k=2\t0.6666666667\nmrr\t0.5\ncoverage\t0.6666666667\nset-size\t1.333333333')" \
    okra score --y t.txt --lists top.tsv --candidates c.txt \
    --metric hit-rate,hit-rate:k=2,mrr,coverage,set-size
okra score -q --y t.txt --lists top.tsv --candidates c.txt --metric mrr,set-size --each each.csv >out
expect_out "$(printf '0.5,2\n1,1\n0,1')" cat each.csv
printf 'test,output,lower,upper\n0,0,0,2\n0,1,0,0.5\n1,0,2,3\n1,1,0,1\n2,0,9,10\n2,1,-inf,inf\n' >i.csv
expect_out "$(printf 'coverage\t0.6666666667\nset-size\tinf')" \
    okra score --y ty.csv --lists i.csv --metric coverage,set-size
expect_fail 2 "okra score: metric mrr compares lists of candidates with the true one: okra score \
--lists, okra_score_lists" okra score --y ty.csv --yhat yhat.csv --metric mrr
expect_fail 2 "okra score: metric mae compares objects, not lists of candidates" \
    okra score --y t.txt --lists top.tsv --candidates c.txt --metric mae
printf 'test\tcandidate\n0\tx\n' >bad.tsv
expect_fail 1 "okra score: bad.tsv: line 2: candidate is 'x', expected a whole number" \
    okra score --y t.txt --lists bad.tsv --candidates c.txt --metric mrr
for bad in 1.5 nan ''; do
    printf 'test\tcandidate\n0\t%s\n' $bad >bad.tsv
    expect_fail 1 "okra score: bad.tsv: line 2: candidate is '$bad', expected a whole number" \
        okra score --y t.txt --lists bad.tsv --candidates c.txt --metric mrr
done
printf 'test\trank\tcandidate\n0\tnan\t1\n' >bad.tsv
expect_fail 1 "okra score: bad.tsv: line 2: rank is 'nan', expected a number" \
    okra score --y t.txt --lists bad.tsv --candidates c.txt --metric mrr
printf 'test\trank\tcandidate\n0\t2\t1\n1\t1\t1\n0\t1\t3\n' >bad.tsv # in another order
expect_fail 1 "okra score: bad.tsv: line 4: rank 1 after rank 2 of test 0, expected the best of each test first" \
    okra score --y t.txt --lists bad.tsv --candidates c.txt --metric mrr
printf 'test,output,lower,upper\n0,0,0,nan\n' >bad.csv
expect_fail 1 "okra score: bad.csv: line 2: upper is 'nan', expected a number" \
    okra score --y ty.csv --lists bad.csv --metric coverage
printf 'test\trank\tcandidate\n' >none.tsv
okra score --y t.txt --lists none.tsv --candidates c.txt --metric mrr >out 2>err
expect_in "okra: warning: none.tsv has no rows: no list holds anything" err
printf 'test\tcandidate\n7\t1\n' >bad.tsv
expect_fail 1 "okra score: bad.tsv: line 2: test 7 and candidate 1, expected tests 0 to 2" \
    okra score --y t.txt --lists bad.tsv --candidates c.txt --metric mrr
printf 'test\tcandidate\n0\t9\n' >bad.tsv
expect_fail 1 "okra score: bad.tsv: candidate 9, expected less than 4" \
    okra score --y t.txt --lists bad.tsv --candidates c.txt --metric mrr
printf 'one\ttwo\n' >bad.tsv
expect_fail 1 "okra score: bad.tsv: line 1: expected the headings test and candidate, or test, \
output, lower and upper" okra score --y t.txt --lists bad.tsv --candidates c.txt --metric mrr
# exact strings, classes and sets; outputs one by one
printf 'a\nb\nb\nb\n' >g.txt
expect_out "$(printf 'exact-match\t0.5\naccuracy\t0.5')" \
    okra score --y c.txt --yhat g.txt --metric exact-match,accuracy
expect_out "$(printf 'rmse:output=0\t0\nrmse:output=1\t1.290994449\nrmse:average=outputs\t0.6454972244')" \
    okra score --y ty.csv --yhat yhat.csv --metric rmse:output=0,rmse:output=1,rmse:average=outputs
expect_fail 2 "okra score: metric rmse: output 2 is asked of 2, counted from 0" \
    okra score --y ty.csv --yhat yhat.csv --metric rmse:output=2
# values of the truth that are not known are left out, and counted
printf 'nan,1\nnan,nan\n3,4\n' >gaps.csv
printf '9,1\n9,9\n5,5\n' >filled.csv
expect_out "$(printf 'mse\t1.666666667\nmae\t1\nrmse\t1.290994449\nrmse:output=0\t2\nr2\t0.3888888889')" \
    okra score --y missing:gaps.csv --yhat filled.csv --metric mse,mae,rmse,rmse:output=0,r2
okra score --y missing:gaps.csv --yhat filled.csv --metric mse >out 2>err
expect_in "okra score: 3 missing values of --y are left out" err
expect_fail 1 "okra score: object 1 of --y (counted from 0) has no known value: --each has no \
number for it" okra score --y missing:gaps.csv --yhat filled.csv --metric mae --each each.csv
expect 0 okra score --y missing:gaps.csv --yhat filled.csv --metric mae,r2 --json
expect_in '"missing": 3' out
expect_fail 1 "okra score: metric rbf-loss: the truth has missing values, which mse, mae, rmse, \
arrmse and r2 leave out" okra score --y missing:gaps.csv --yhat filled.csv --metric rbf-loss:sigma=1
expect_fail 2 "okra score: metric mse: the prediction has missing values" \
    okra score --y filled.csv --yhat missing:gaps.csv --metric mse
printf 'nan\nnan\n' >none.csv
printf '1\n2\n' >two.csv
expect_fail 2 "okra score: metric r2: no value of the truth is known" \
    okra score --y missing:none.csv --yhat two.csv --metric r2

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
# One table from fit to score: names that predict wrote are classes where the truth is.
awk 'BEGIN { print "a,b,class"; for (i = 0; i < 30; i++) printf "%.3f,%.3f,%s\n", i % 3 + sin(i) / 9, cos(i) / 9, substr("lowmidtop", 1 + 3 * (i % 3), 3) }' >table.csv
expect 0 okra fit -q --x table.csv --y table.csv:class -o table.okra
expect 0 okra predict -q table.okra --x table.csv -o whole.txt
expect 0 okra predict -q table.okra --x 'table.csv:!class' -o names.txt
cmp whole.txt names.txt # the model takes the columns that it learned from
expect 0 okra score --y table.csv:class --yhat names.txt --metric accuracy
expect_in "accuracy	1" out

# molecules have no accuracy, and the message says what they have
printf 'CCO\nCCN\n' >two.smi
expect_fail 1 "okra score: metric accuracy: the truth is 2 graphs, which it does not compare; 'kernel-loss:kernel=ecfp | \
tanimoto' does, and okra score --lists counts molecules that were found" \
    okra score --y two.smi --yhat two.smi --metric accuracy
expect_out "$(printf 'kernel-loss:kernel=ecfp | tanimoto\t0')" \
    okra score --y two.smi --yhat two.smi --metric 'kernel-loss:kernel=ecfp | tanimoto'
