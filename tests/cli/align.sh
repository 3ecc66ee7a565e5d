# align(...): weights of kernels are learned, told, kept, drawn; in selections each fold learns its own.
source "$ROOT/tests/cli/lib/small.bash"
cut -d, -f 1 x.csv >x1.csv
cut -d, -f 1 tx.csv >tx1.csv
okra fit --x x.csv --x x1.csv --y y.csv --kx 'align(rbf(sigma=2)@1, linear@2, linear@1)' --ky linear \
    --lambda 0.1 -o m.okra >out
expect_in "weights        " out
okra info m.okra >out
expect_in "linear@2" out
expect_in "align.value" out
okra predict m.okra --x tx.csv --x tx1.csv -q -o p.csv
# the kernel that the model keeps, written out, is the same model
kx=$(okra info m.okra | awk '$1 == "kx" { sub(/^kx */, ""); print }')
okra fit -q --x x.csv --x x1.csv --y y.csv --kx "$kx" --ky linear --lambda 0.1 -o w.okra
okra predict w.okra --x tx.csv --x tx1.csv -q -o q.csv
expect_same p.csv q.csv
okra fit --json --x x.csv --x x1.csv --y y.csv --kx 'align-loo(rbf(sigma=2)@1, linear@2)' --ky linear \
    --lambda 0.1 -o l.okra >l.json
okra report -q l.json -o l.html
expect_in "Learned weights of the kernels" l.html
okra select --x x.csv --x x1.csv --y y.csv --kx '{align(rbf(sigma={1,2})@1, linear@2),mean(linear@1,linear@2)}' \
    --ky linear --lambda 0.1,1 --cv kfold:4 -o s.okra >out 2>err
expect_in "6 cells" out
okra select --x x.csv --y y.csv --kx 'align-each(rbf(sigma=1..9), linear)' --ky linear --lambda 0.1..1 \
    --cv kfold:2 --budget 4 -o s.okra >out 2>err
expect_in "4 cells" out
grep -q "^weights .*rbf" out # of the model that is written
okra select --json --x x.csv --y y.csv --kx 'align(rbf(sigma=1..9), linear)' --ky linear --lambda 0.1..1 \
    --cv kfold:2 --budget 4 -o s.okra >s.json
okra report -q s.json -o s.html
expect_in "Learned weights of the kernels" s.html
# weights learned from the start that leaves less: never more than the mean leaves
loss() { okra select -q --x x.csv --x x1.csv --y y.csv --kx "$1" --ky linear --lambda 0.1 -o v.okra; }
mean=$(loss "mean(rbf(sigma=2)@1, linear@2)")
kx=$(okra info l.okra | awk '$1 == "kx" { sub(/^kx */, ""); print }')
learned=$(loss "$kx")
awk -v a="$learned" -v b="$mean" 'BEGIN { exit !(a <= b) }'
# lambda may be left open
okra fit --x x.csv --y y.csv --kx 'align(rbf(sigma=auto), linear)' --ky linear -o c.okra >out
expect_in "kfold:5 on 8 pairs" out
expect_fail 2 "okra gram: kernel expression: align learns weights from inputs and outputs: it stands in kx of okra fit and okra select
    align(linear)
    ^" okra gram --x x.csv --kernel 'align(linear)' -o g.npy
expect_fail 2 "okra fit: kx: align stands once in a kernel expression" \
    okra fit --x x.csv --y y.csv --kx 'align(linear)+align(linear)' --ky linear --lambda 1 -o e.okra
printf '1\n1\n1\n1\n1\n1\n1\n1\n' >same.csv
expect_fail 2 "okra fit: kx: align: no kernel is aligned with the outputs" \
    okra fit --x x.csv --y same.csv --kx 'align(linear,rbf(sigma=1))' --ky linear --lambda 1 -o e.okra

# kernels of any size: align gives the same combination, and nothing overflows
value() { okra info --json "$1" | tr -d '\n' | sed 's/.*"align.value": \([^,}]*\).*/\1/'; }
for how in align align-each align-loo; do
    for big in 1 1e80 1e-80 1e140; do
        okra fit -q --x x.csv --y y.csv --kx "$how(rbf(sigma=2), $big*linear)" --ky linear --lambda 0.1 -o $how$big.okra 2>err
        awk -v a="$(value $how$big.okra)" 'BEGIN { exit !(a > 0 && a <= 1.0000001) }'
    done
done
for big in 1e80 1e-80 1e140; do
    awk -v a="$(value align1.okra)" -v b="$(value align$big.okra)" 'BEGIN { d = a - b; exit !(d < 1e-9 && d > -1e-9) }'
done
# weights have a bound, and reaching it is told
seq 1 8 | awk '{ print $1 / 8 "," ($1 % 3) / 3 }' >xs.csv
seq 1 8 | awk '{ print $1 / 8 }' >ys.csv
weights() { okra info --json "$1" | tr -d '\n' | sed 's/.*"align.weights": "\([^"]*\)".*/\1/'; }
okra fit -q --x xs.csv --y ys.csv --kx 'align-loo(linear, rbf(sigma=1))' --ky linear --lambda 1 -o b.okra 2>err
[ ! -s err ]
awk -v a="$(weights b.okra)" 'BEGIN { split(a, w, ","); exit !(w[1] > 100 && w[1] < 1e6) }'
okra fit --x xs.csv --y ys.csv --kx 'align-loo(linear, rbf(sigma=1))' --ky linear --lambda 1e-12 -o b.okra >out 2>err
expect_in "align-loo: the weights grew to 1e+10 lambda over the size of the kernel, their bound: lambda hardly counts" err
awk -v a="$(weights b.okra)" 'BEGIN { split(a, w, ","); exit !(w[1] <= 0.02 && w[2] <= 0.02) }'
# once, and not for each fold
for i in 1 2 3; do cat xs.csv; done | awk -F, '{ print $1 + NR / 100 "," $2 - NR / 77 }' >xl.csv
awk -F, '{ print $1 + $2 }' xl.csv >yl.csv
okra select --x xl.csv --y yl.csv --kx 'align-loo(linear, rbf(sigma=1))' --ky linear --lambda 1e-9,1e-8,1e-7 \
    --cv kfold:4 -o b.okra >out 2>err
[ "$(grep -c 'the weights grew' err)" = 1 ]
