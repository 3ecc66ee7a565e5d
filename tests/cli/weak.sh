# Predictions that are weak, strings of free length, matrices that are nearly singular.
# Two far outputs and a weak prediction: the nearer one by weight, not the first one.
printf '0\n20\n' >far_x.csv
printf '0,0\n5,5\n' >far_y.csv
printf '11\n' >far_t.csv
expect 0 okra fit --x far_x.csv --y far_y.csv --kx 'rbf(sigma=1)' --ky 'rbf(sigma=1)' --lambda 0.01 -o far.okra
expect 0 okra predict far.okra --x far_t.csv --decode candidates -o far.csv
expect_out '5,5' cat far.csv
# Weights alone, decoding switched off by name or not.
expect 0 okra predict far.okra --x far_t.csv --weights far_w.csv
expect 0 okra predict far.okra --x far_t.csv --weights far_w2.csv --decode none
expect_same far_w.csv far_w2.csv
[ "$(wc -l <far_w.csv)" = 2 ] || complain "expected two weights"

# Strings of free length are never farther than a training output.
printf '0\n1\n2\n3\n4\n' >five.csv
printf 'ab\nabc\nabc\nabd\nabe\n' >five.txt
printf '2\n' >two.csv
expect 0 okra fit --x five.csv --y strings:five.txt --ky 'position(zero-one)' --method knn --k 5 -o five.okra
expect_out ab okra predict five.okra --x two.csv --decode position -o -

# Copies of rows and a lambda that rounding swallows: a warning with the condition number.
printf '0\n1\n1\n3\n' >copies.csv
expect 0 okra fit --x copies.csv --y copies.csv --kx 'rbf(sigma=1)' --lambda 1e-14 -o copies.okra
expect_in 'the condition number of the 4 x 4 matrix is' err
expect 0 okra fit --x copies.csv --y copies.csv --kx 'rbf(sigma=1)' --lambda 1e-3 -o copies.okra
[ ! -s err ] || complain "a warning where none is due"
printf '1,0.5\n0.5,2\n' >copies_A.csv
paste -d, copies.csv copies.csv >copies_y.csv
for operator in cov ccov matrix:copies_A.csv; do
    expect 0 okra fit --x copies.csv --y copies_y.csv --kx 'rbf(sigma=1)' --operator $operator --lambda 1e-15 -o copies.okra
    expect_in 'ridge: with lambda 1e-15 the condition number is' err
    expect 0 okra fit --x copies.csv --y copies_y.csv --kx 'rbf(sigma=1)' --operator $operator --lambda 1e-3 -o copies.okra
    [ ! -s err ] || complain "a warning where none is due"
done
printf '2\n5\n' >copies_u.csv
for lambdas in 1e-15 1e-3,1e-15; do # one lambda and several are solved in two ways
    expect 0 okra fit --x copies.csv --y copies.csv --unlabelled copies_u.csv --lambda2 0.1 --kx 'rbf(sigma=1)' \
        --lambda $lambdas -o 'copies-{lambda}.okra'
    expect_in 'ridge: with lambda 1e-15 the condition number is' err
done
expect 0 okra fit --x copies.csv --y copies.csv --unlabelled copies_u.csv --lambda2 0.1 --kx 'rbf(sigma=1)' \
    --lambda 1e-3 -o copies.okra
[ ! -s err ] || complain "a warning where none is due"
