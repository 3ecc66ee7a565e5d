# Inputs without outputs, graphs over them, and margin.
source "$ROOT/tests/cli/lib/small.bash"
common="--x x.csv --y y.csv --kx rbf(sigma=2) --lambda 0.1"
head -n 3 tx.csv >u.csv

# lambda2 = 0 is what the labelled say alone, transductive or not
for method in ridge margin; do
    expect 0 okra fit $common --method $method -o plain.okra
    expect 0 okra fit $common --method $method --unlabelled u.csv --lambda2 0 -o semi.okra
    expect_in "inputs         dense, 11 of width 2" out
    expect_in "outputs        dense, 8 of width 2" out
    expect_in "lambda2        0" out
    okra predict plain.okra --x tx.csv --decode explicit -o a.csv
    okra predict semi.okra --x tx.csv --decode explicit -o b.csv
    okra score --y a.csv --yhat b.csv --metric mse --quiet >score
    awk '{ exit !($NF < 1e-12) }' score
done

# a graph smooths: the weights of the model file are 8 x 11
expect 0 okra fit $common --unlabelled u.csv --lambda2 1 --graph 'knn(k=2) | normalized' \
    -o semi.okra
expect_in "graph          knn(k=2) | normalized" out
okra info semi.okra >out
expect_in "8 x 11" out
okra predict semi.okra --x u.csv --weights w.npy --decode explicit -o b.csv

# the margin's gap is told, in the summary and by info
expect 0 okra fit $common --method margin --loss epsilon --tube 0.01 -o m.okra
grep -q '^gap' out
okra info m.okra >out
grep -q 'gap' out

expect_fail 1 "okra fit: ridge: there are 11 inputs and 8 outputs; \
expected as many of each, or lambda2 to use the inputs without outputs" \
    okra fit $common --unlabelled u.csv -o n.okra
expect_fail 1 "okra fit: x has 11 dense vectors of length 2, y has 8 dense vectors of length 2; \
expected as many of each: method knn does not use inputs without outputs" \
    okra fit --x x.csv --y y.csv --unlabelled u.csv --method knn -o n.okra
expect_fail 2 "okra fit: graph: knn with k = 11 among 11 inputs, expected at most 10" \
    okra fit $common --unlabelled u.csv --lambda2 1 --graph 'knn(k=11)' -o n.okra
[ ! -e n.okra ]

# of low rank: at full rank the same graph gives the same model
common="$common --unlabelled u.csv --lambda2 1"
okra fit $common --graph 'knn(k=2) | power(p=2)' -o dense.okra --quiet
okra fit $common --graph 'knn(k=2) | power(p=2)' --low-rank-x 'nystrom(rank=11)' -o low.okra --quiet
okra predict dense.okra --x tx.csv --decode explicit -o a.csv --quiet
okra predict low.okra --x tx.csv --decode explicit -o b.csv --quiet
okra score --y a.csv --yhat b.csv --metric mse --quiet >score
awk '{ exit !($NF < 1e-16) }' score
expect_fail 1 "okra fit: graph: 'gram|diffusion': diffusion needs a matrix of all pairs of inputs, \
which low-rank-x does not form" \
    okra fit $common --graph 'gram|diffusion' --low-rank-x 'nystrom(rank=11)' -o n.okra
[ ! -e n.okra ]
