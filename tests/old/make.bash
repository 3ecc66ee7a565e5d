#!/usr/bin/env bash
# Makes files of the version that OKRA is, to be read by later ones: models of most methods and kinds
# of data, an index, a basis, a checkpoint and a journal of a selection; and what OKRA predicts with
# each. Run once per version that was released; test_old.py reads all of them.
#
# Usage: make.bash OKRA FOLDER
set -euo pipefail
okra=$(realpath "$1")
mkdir -p "$2"
cd "$2"
flags=(--threads 1 --seed 7 --quiet)
awk 'BEGIN { for (i = 0; i < 24; i++) { a = (i * 0.7548777) % 1; b = (i * 0.5698403) % 1
    x = i < 20 ? "x.csv" : "t.csv"; print a "," b "," (i * 0.31) % 1 > x
    if (i < 20) { print sin(6 * a) "," cos(6 * b) "," a * b > "y.csv"
        p = (a > 0.5); q = (b > 0.5); r = (a + b > 1); print p "," q "," r > "sets.csv"
        c = (a > 0.6) ? 2 : q; print c > "classes.csv"
        e = (i % 4) ? cos(6 * b) : ""; print sin(6 * a) "," e "," a * b > "missing.csv" }
    print (i * 0.17) % 1 "," (i * 0.43) % 1 "," (i * 0.71) % 1 > "u.csv" } }'
printf '2,0.5,0.1\n0.5,1,0.2\n0.1,0.2,1.5\n' > A.csv
printf '%s\n' kitten sitting mitten bitten fitting knitting written smitten hitting sit > words.txt
printf '%s\n' k1tten s1tting m1tten b1tten f1tting kn1tting wr1tten sm1tten h1tting s1t > forms.txt
printf '%s\n' mittens hit > new.txt
printf '%s\n' CCO CCCO CCN CCCN c1ccccc1 c1ccccc1O CC=O CC\(=O\)O CCOC C1CCCCC1 CCCl OCCO > m.smi
awk '{ print length($1), gsub(/O/, "O"), gsub(/N/, "N") }' OFS=, m.smi > m.csv
printf '%s\n' CCCCO c1ccccc1N > n.smi

# name, flags of predict (files of this folder), then -- and the command that makes the model
case_() {
    local name=$1 predict=()
    shift
    while [ "$1" != -- ]; do predict+=("$1"); shift; done
    shift
    "$okra" "$@" "${flags[@]}" -o "$name.okra" > /dev/null
    "$okra" predict "$name.okra" "${predict[@]}" "${flags[@]}" -o "$name.expected.csv" > /dev/null
    printf '%s.okra\t%s\n' "$name" "${predict[*]}" >> cases.tsv
}
rm -f cases.tsv
k=(--kx 'rbf(sigma=1)')
xy=(fit --x x.csv --y y.csv "${k[@]}" --lambda 0.1)
t=(--x t.csv)
case_ ridge "${t[@]}" -- "${xy[@]}" --ky linear
case_ ridge-kernel "${t[@]}" --top 2 -- "${xy[@]}" --ky 'rbf(sigma=1)' --center-output
case_ ridge-compact "${t[@]}" -- "${xy[@]}" --ky linear --compact
case_ ridge-cov "${t[@]}" --top 2 -- "${xy[@]}" --ky 'rbf(sigma=1)' --operator cov
case_ ridge-ccov "${t[@]}" --top 2 -- "${xy[@]}" --ky 'rbf(sigma=1)' --operator ccov
case_ ridge-matrix "${t[@]}" -- "${xy[@]}" --ky linear --operator matrix:A.csv
case_ ridge-diagonal "${t[@]}" -- "${xy[@]}" --ky linear --operator 'diagonal(t=0.3)'
case_ ridge-missing "${t[@]}" -- fit --x x.csv --y missing:missing.csv "${k[@]}" --lambda 0.1
case_ ridge-weights "${t[@]}" -- "${xy[@]}" --ky linear --keep weights
case_ low-moments "${t[@]}" -- "${xy[@]}" --ky linear --low-rank 'nystrom(rank=6)' --keep-moments
case_ low-rff "${t[@]}" -- "${xy[@]}" --ky linear --low-rank 'rff(rank=8)'
case_ low-cg "${t[@]}" -- "${xy[@]}" --ky linear --low-rank 'chol(rank=6)' --solver cg
case_ semi "${t[@]}" -- "${xy[@]}" --ky linear --unlabelled u.csv --lambda2 0.5
case_ kpca "${t[@]}" --top 2 -- "${xy[@]}" --ky 'rbf(sigma=1)' --method kpca --components 3
case_ margin "${t[@]}" --top 2 -- "${xy[@]}" --ky 'rbf(sigma=1)' --method margin --loss huber
case_ knn "${t[@]}" --top 2 -- fit --x x.csv --y y.csv "${k[@]}" --method knn --k 3
case_ trees "${t[@]}" -- fit --x x.csv --y y.csv "${k[@]}" --ky linear --method ok3 --trees 5
case_ tgp "${t[@]}" --top 2 -- "${xy[@]}" --ky 'rbf(sigma=1)' --method tgp-kl
case_ soar "${t[@]}" --top 2 -- "${xy[@]}" --ky linear --method soar
case_ svm "${t[@]}" -- fit --x x.csv --y labels:classes.csv "${k[@]}" --ky zero-one --method svm --cost 1
case_ twin "${t[@]}" --top 2 -- "${xy[@]}" --ky 'rbf(sigma=1)' --twin 2,2
case_ label-sets "${t[@]}" --decode labels -- fit --x x.csv --y bits:sets.csv "${k[@]}" --ky linear --lambda 0.1
case_ strings --x new.txt --top 2 -- fit --x words.txt --y forms.txt --kx 'ssk' \
    --ky 'spectrum(k=2) | normalize' --lambda 0.1
case_ strings-decode --x new.txt --decode string --top 2 -- fit --x words.txt --y forms.txt --kx 'spectrum(k=2)' \
    --ky 'spectrum(k=2)' --lambda 0.1
case_ molecules --x n.smi -- fit --x m.smi --y m.csv --kx 'ecfp | tanimoto' --ky linear --lambda 0.1
case_ to-molecules --x t.csv --top 2 -- fit --x m.csv --y m.smi --kx 'rbf(sigma=2)' \
    --ky 'ecfp(bits=256) | tanimoto' --lambda 0.1

# an index with its candidates: the same ranking as that of the list
"$okra" index m.smi --ky 'ecfp(bits=256) | tanimoto' --threads 1 --quiet -o candidates.okx > /dev/null
"$okra" predict to-molecules.okra --x t.csv --candidates candidates.okx --top 3 "${flags[@]}" -o index.expected.tsv > /dev/null
# features that parts share, what a run keeps to go on: a later version reads them or says what to do
"$okra" basis --x x.csv "${k[@]}" --low-rank-x 'nystrom(rank=6)' --threads 1 --seed 7 --quiet -o basis.okra > /dev/null
cg=("${xy[@]}" --ky linear --low-rank-x 'nystrom(rank=6)' --solver cg --cg-iterations 2 --cg-tolerance 1e-15)
"$okra" "${cg[@]}" --checkpoint state "${flags[@]}" -o unused.okra > /dev/null
"$okra" select --x x.csv --y y.csv "${k[@]}" --ky linear --lambda 0.1,1 --cv kfold:2 --resume journal "${flags[@]}" \
    -o unused.okra > /dev/null
rm -f unused.okra
