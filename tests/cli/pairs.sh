# Pairs of a row and a column: fit, predict, save, tables, what is refused.
refused() { # STATUS TEXT CMD...: fails so, TEXT in the message
    expect "$1" "${@:3}"
    expect_in "$2" err
}

printf '0\n1\n2\n3.5\n' > rows.csv
printf '0,1\n1,0\n2,2\n' > columns.csv
printf '1,2,3\n2,1,5\n3,4,nan\n5,nan,9\n' > y.csv
expect 0 okra fit --rows rows.csv --columns columns.csv --y y.csv --kx 'rbf(sigma=2) * rbf(sigma=2)' -o m.okra
expect_in "row " out
expect_in "both " out
expect 0 okra predict m.okra -o all.csv
[ "$(wc -l < all.csv)" -eq 4 ] || complain "four rows were expected"

# New rows that are old ones, and the columns by name, say the same; lines of row, column, value too.
expect 0 okra predict m.okra --rows rows.csv --columns columns.csv -o same.csv
cmp all.csv same.csv || complain "the training objects, given again, have other predictions"
printf '0,0,1\n0,1,2\n0,2,3\n1,0,2\n1,1,1\n1,2,5\n2,0,3\n2,1,4\n3,0,5\n3,2,9\n' > lines.csv
expect 0 okra fit -q --rows rows.csv --columns columns.csv --y lines.csv --kx 'rbf(sigma=2) * rbf(sigma=2)' -o l.okra
expect 0 okra predict l.okra -o lines_all.csv
cmp all.csv lines_all.csv || complain "lines and matrix differ"

printf '1.5\n' > new.csv
expect 0 okra predict m.okra --rows new.csv -o new_all.csv
[ "$(wc -l < new_all.csv)" -eq 1 ] || complain "one row was expected"
expect 0 okra predict m.okra --rows new.csv --top 2 -o top.tsv
[ "$(wc -l < top.tsv)" -eq 3 ] || complain "two best columns were expected"
expect 0 okra predict m.okra --columns columns.csv --top 1 -o best.tsv
[ "$(wc -l < best.tsv)" -eq 4 ] || complain "the best row of each of three columns was expected"

expect 0 okra fit -q --rows rows.csv --columns columns.csv --y y.csv --kx '0.5 * linear * linear + 2 * rbf(sigma=1) * (linear | poly(degree=2))' \
    --lambda 0.1 --own 0 --calibration 0.3 -o sum.okra
expect 0 okra predict sum.okra --interval 0.5 -o bounds.csv
head -1 bounds.csv | grep -q 'row,column,value,low,high' || complain "no intervals"

# A pair of weight 0 is as if not known; weights as a matrix or as lines; those of 2 twice count as 1 with half the lambda.
printf '1,1,1\n1,1,1\n1,1,0\n1,0,1\n' > weights.csv
sed 's/nan/7/' y.csv > full.csv
printf '0,0,2\n0,1,2\n0,2,2\n1,0,2\n1,1,2\n1,2,2\n2,0,2\n2,1,2\n3,0,2\n3,2,2\n' > twice.csv
for how in 'y.csv 1' 'full.csv 1 --sample-weight weights.csv' 'full.csv 2 --sample-weight twice.csv'; do
    set -- $how
    expect 0 okra fit -q --rows rows.csv --columns columns.csv --y "$1" --kx 'rbf(sigma=2) * rbf(sigma=2)' --own 0 --lambda "$2" \
        ${3:+"$3" "$4"} -o w.okra
    expect 0 okra predict w.okra --rows new.csv -o w.csv
    [ -e first.csv ] || cp w.csv first.csv
    paste -d, w.csv first.csv | awk -F, '{ for (k = 1; k <= 3; k++) if (($k - $(k + 3))^2 > 1e-20) exit 1 }' || complain "weights: $how"
done
printf '1,1,1\n1,-1,1\n1,1,0\n1,0,1\n' > below.csv
refused 2 "its weight -1, expected numbers, the weight not below 0" okra fit --rows rows.csv --columns columns.csv --y full.csv \
    --sample-weight below.csv -o e.okra

expect 0 okra info sum.okra
expect_in "lambda         0.1" out
expect_in "+ 2 * (rbf(sigma=1))" out
expect_in "concordance" out
expect 0 okra info sum.okra --json
expect_in '"okra-pairs"' out
head -c 900 sum.okra > cut.okra
refused 1 "cut.okra" okra info cut.okra

refused 1 "no pairs were held back to calibrate with" okra predict m.okra --interval 0.1 -o e.csv
refused 2 "pairs need both --rows and --columns" okra fit --rows rows.csv --y y.csv -o e.okra
refused 2 "are for a model of pairs" okra predict m.okra --x rows.csv --rows rows.csv -o e.csv
refused 2 "has one kernel, expected 'E1 * E2'" okra fit --rows rows.csv --columns columns.csv --y y.csv --kx linear -o e.okra
refused 2 "is a third kernel in one product" okra fit --rows rows.csv --columns columns.csv --y y.csv --kx 'linear * linear * linear' -o e.okra
refused 2 "has a pipe outside parentheses" okra fit --rows rows.csv --columns columns.csv --y y.csv --kx 'linear * linear | normalize' -o e.okra
refused 1 "expected the values of 4 rows x 3 columns" okra fit --rows rows.csv --columns columns.csv --y rows.csv -o e.okra
printf '0,9,1\n' > far.csv
refused 2 "row 0 and column 9, expected whole numbers" okra fit --rows rows.csv --columns columns.csv --y far.csv -o e.okra
head -c 900 m.okra > part.okra
refused 1 "part.okra" okra predict part.okra --rows rows.csv -o e.csv

# What is shown of a model is what a fit can say, and matrices of pairs are within --memory.
need_python
PYTHONPATH="$ROOT/tests/cli/lib" "$PYTHON" - <<'END'
import seal
entries, about = seal.read("m.okra")
for name, value in (("setting", "\x1b[31mpair"), ("how", None)):
    line = dict(about["scores"][0], **{name: value})
    seal.write(f"{name}.okra", entries, dict(about, scores=[line]), "pairs.json")
END
refused 1 "setting.okra: 'scores' of pairs.json are not what they must be" okra info setting.okra
refused 1 "how.okra: 'scores' of pairs.json are not what they must be" okra predict how.okra -o e.csv
seq 2000 > many.csv
refused 1 "more than the memory budget of 16 MiB" okra fit --rows many.csv --columns many.csv --y lines.csv --kx 'linear * linear' -o e.okra --memory 16M
awk '{ print $1 ",0" }' many.csv > wide.csv
refused 1 "more than the memory budget of 16 MiB" okra predict m.okra --rows many.csv --columns wide.csv -o e.npy --memory 16M

# a lambda that is lost in rounding would divide rounding by rounding
awk 'BEGIN { for (i = 0; i < 20; i++) print i % 7 "," i * i % 11 >"flat.csv"
    for (i = 0; i < 20; i++) for (j = 0; j < 20; j++) printf "%d%s", i * j % 13, j == 19 ? "\n" : "," >"products.csv" }'
expect 2 okra fit --rows flat.csv --columns flat.csv --y products.csv --kx 'linear * linear' --own 0 --lambda 1e-16 -o none.okra
expect_in "lambda is 1e-16, which rounding loses: expected" err
okra fit -q --rows flat.csv --columns flat.csv --y products.csv --kx 'linear * linear' --lambda 1e-3 -o flat.okra
okra fit -q --rows flat.csv --columns flat.csv --y products.csv --kx 'rbf(sigma=1) * rbf(sigma=1)' --own 1 --lambda 1e-16 -o own.okra
