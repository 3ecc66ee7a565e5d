# Twin Gaussian processes: okra predict just works, and says how the searches went.
source "$ROOT/tests/cli/lib/small.bash"
for method in tgp-kl tgp-hsic; do
    for more in "" "--neighbours 8" "--neighbours 5 --twin 2,3"; do
        okra fit -q --x x.csv --y y.csv --kx 'rbf(sigma=2)' --ky 'rbf(sigma=3)' \
            --method $method $more -o m.okra
        expect 0 okra predict -q m.okra --x tx.csv -o p.csv --report r.tsv --weights w.npy
        [ "$(wc -l <p.csv)" = "$(wc -l <tx.csv)" ]
        if grep -qi -e nan -e inf p.csv r.tsv; then exit 1; fi
        awk 'NR == 1 { if ($0 != "test\tcriterion\tevaluations\tgradient\tconverged") exit 1 }
             NR > 1 && $5 != 1 { exit 1 }' r.tsv
        okra predict -q m.okra --x tx.csv -o again.csv --threads 1
        expect_same p.csv again.csv
        okra predict -q m.okra --x tx.csv --decode candidates -o c.csv
        okra predict -q m.okra --x tx.csv --top 2 -o ranked.tsv
    done
done
expect 0 okra predict m.okra --x tx.csv -o p.csv --iterations 1 --report r.tsv
expect_in "predictions did not converge; the lowest point found is given" err
expect_fail 2 "okra predict: --report is for --decode optimum and rewrite, not candidates" \
    okra predict -q m.okra --x tx.csv --decode candidates -o c2.csv --report r2.tsv
[ ! -e r2.tsv ]

# outputs that are no vectors: chosen by the criterion among the training outputs
printf 'a\nb\na\nb\na\nb\na\nb\n' >labels.csv
okra fit -q --x x.csv --y labels:labels.csv --kx 'rbf(sigma=2)' --ky zero-one --method tgp-kl \
    -o labels.okra
okra predict -q labels.okra --x tx.csv -o l.csv
expect 1 okra predict labels.okra --x tx.csv --decode optimum -o l2.csv
expect_in "decoder optimum: only dense vectors can be moved smoothly" err
okra fit -q --x x.csv --y y.csv -o ridge.okra
expect_fail 1 "okra predict: decoder optimum is for models of method tgp-kl and tgp-hsic, which \
minimise a criterion of their own" okra predict ridge.okra --x tx.csv --decode optimum -o l2.csv
[ ! -e l2.csv ]
