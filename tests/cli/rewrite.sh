# Rewriting: forms of words from their lemmas, with tags as a second input.
printf '%s\n' walk stop beg try sing ring hope like fit plan cry play >x.txt
printf '%s\n' walked stopped begged tried sang rang hoped liked fitted planned cried played >y.txt
printf '%s\n' talk spring grin spy Ωμ z >new.txt
okra fit --x x.txt --y y.txt --kx ends --ky ends --lambda 0.01 -o m.okra --quiet
okra predict m.okra --x new.txt --decode rewrite -o p.txt --quiet
expect_out "$(printf 'talked\nsprang\ngrinned')" head -3 p.txt
for rank in both outputs edits; do
    okra predict m.okra --x new.txt --decode rewrite --rank $rank -o $rank.txt --quiet
    expect_out 6 sh -c "wc -l <$rank.txt | tr -d ' '"
done

# Ranked proposals, a report, distances.
okra predict m.okra --x new.txt --decode rewrite --top 3 --report r.tsv --confidence c.csv \
    -o top.tsv --quiet
expect_out "$(printf 'test\trank\tcandidate\tdistance\tobject')" head -1 top.tsv
expect_in "	talked" top.tsv
expect_out "$(printf 'test\tdistance\tproposals\trank\tinput')" head -1 r.tsv
expect_out 7 sh -c "wc -l <r.tsv | tr -d ' '"
expect_out 7 sh -c "wc -l <c.csv | tr -d ' '"
okra predict m.okra --x new.txt --decode rewrite --proposals 2 --top 200 -o many.tsv --quiet
expect 0 grep -P "^1\t8\t" many.tsv # at least as many as --top
okra predict m.okra --x new.txt --decode rewrite --top 2 -o top.json --quiet
expect_in '"object": "talked"' top.json

# Tags as labels beside the lemma; the decoder finds out what is rewritten.
printf '%s\n' walk stop beg try walk stop beg try >x2.txt
printf 'tags\n%s\n%s\n%s\n%s\n%s\n%s\n%s\n%s\n' PST PST PST PST GER GER GER GER >tags.tsv
printf '%s\n' walked stopped begged tried walking stopping begging trying >y2.txt
printf '%s\n' talk fry hop >new2.txt
printf 'tags\nGER\nPST\nGER\n' >newtags.tsv
okra fit --x x2.txt --x labels:tags.tsv:tags --y y2.txt --kx '(zero-one@2 + 0.1)*ends@1' --ky ends \
    --lambda 0.01 -o m2.okra --quiet
okra predict m2.okra --x new2.txt --x labels:newtags.tsv:tags --decode rewrite -o p2.txt --quiet
expect_out "$(printf 'talking\nfried\nhopping')" cat p2.txt
okra predict m2.okra --x new2.txt --x labels:newtags.tsv:tags --decode rewrite --report r2.csv -o p2.txt --quiet
expect_in ",1" r2.csv
expect_fail 2 "okra predict: decoder rewrite: input is 2, which does not hold strings" \
    okra predict m2.okra --x new2.txt --x labels:newtags.tsv:tags --decode rewrite --input 2 -o p2.txt

# Two inputs of strings: a warning says which one is rewritten.
cp tags.tsv tags.txt && sed -i 1d tags.txt
cp newtags.tsv newtags.txt && sed -i 1d newtags.txt
okra fit --x tags.txt --x x2.txt --y y2.txt --kx '(spectrum(k=2)@1 | normalize)*ends@2' --ky ends \
    --lambda 0.01 -o m3.okra --quiet
expect 0 okra predict m3.okra --x newtags.txt --x new2.txt --decode rewrite -o p3.txt
expect_in "input 2 (new2.txt) is rewritten" err
expect_out "$(printf 'talking\nfried\nhopping')" cat p3.txt

# Every method with weights; selection; what is refused.
for method in ridge knn kpca margin; do
    okra fit --x x.txt --y y.txt --kx ends --ky ends --method $method -o k.okra --quiet
    okra predict k.okra --x new.txt --decode rewrite -o k.txt --quiet
    expect_out 6 sh -c "wc -l <k.txt | tr -d ' '"
done
for cv in loo kfold:3; do
    expect 0 okra select --x x.txt --y y.txt --kx 'ends(share={0.5,0.7})' --ky ends --lambda 0.01,0.1 \
        --decode rewrite --metric exact-match --cv $cv
done
okra fit --x x.txt --y y.txt --kx ends --ky ends --lambda 0.01 --low-rank-x 'chol(rank=4)' -o low.okra --quiet
expect_fail 1 "okra predict: decoder rewrite needs all training inputs, which a model of low rank does not keep" \
    okra predict low.okra --x new.txt --decode rewrite -o p.txt
expect_fail 2 "okra predict: decoder rewrite takes no candidates" \
    okra predict m.okra --x new.txt --decode rewrite --candidates y.txt -o p.txt

# Without options: outputs that are edited inputs are rewritten, others are not.
expect 0 okra fit --x x.txt --y y.txt -o auto.okra
expect_in 'rewrite' out
expect 0 okra predict auto.okra --x new.txt -o auto.txt
expect_out 6 sh -c "wc -l <auto.txt | tr -d ' '"
expect 0 okra fit --x x2.txt --x labels:tags.tsv:tags --y y2.txt -o auto2.okra
expect_in 'zero-one@2 + 0.2' out
expect 0 okra predict auto2.okra --x new2.txt --x labels:newtags.tsv:tags -o auto2.txt
expect_out "$(printf 'talking\nfried\nhopping')" cat auto2.txt
tac y.txt >other.txt
expect 0 okra fit --x x.txt --y other.txt -o other.okra
! grep -q rewrite out || complain "outputs that are no edits are rewritten"
expect 0 okra fit --x x.txt --y y.txt --low-rank-x 'chol(rank=4)' -o autolow.okra
expect 0 okra predict autolow.okra --x new.txt -o autolow.txt
