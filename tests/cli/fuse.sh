# Rankings of several models as one.
printf 'test\trank\tcandidate\tdistance\n0\t1\t0\t1\n0\t2\t1\t3\n1\t1\t2\t0.5\n' >a.tsv
printf 'test,rank,candidate,distance,object\n0,1,1,0,"a, b"\n0,2,2,2,c\n' >b.csv
# test 0: z of a is 1, -1 and -1 where it has none; of b 1, -1, and -1
expect 0 okra fuse a.tsv b.csv --weights 0.75,0.25 -o f.tsv
expect_out "$(printf 'test\trank\tcandidate\tscore\n0\t1\t0\t0.5\n0\t2\t1\t-0.5\n0\t3\t2\t-1\n1\t1\t2\t0')" cat f.tsv
expect 0 okra fuse a.tsv b.csv --top 1 -o -
expect_in "$(printf '1\t1\t2\t0')" out
# a byte-order mark, ends of lines and empty lines of other systems
printf '\xef\xbb\xbftest\tcandidate\tdistance\r\n0\t0\t1\r\n\r\n0\t1\t3\r\n\r\n' >odd.tsv
expect_out "$(printf 'test\trank\tcandidate\tscore\n0\t1\t0\t1\n0\t2\t1\t-1')" okra fuse odd.tsv -o -
# weights chosen by the truth
printf 'CCO\nCCC\nC\n' >c.smi
printf 'CCC\nC\n' >y.smi
expect 0 okra fuse a.tsv b.csv --y y.smi --candidates c.smi -o f.tsv
expect_in "weights 0.4,0.6, mrr 1" err
expect_out "$(printf 'hit-rate:k=1\t1\nmrr\t1')" okra score --y y.smi --lists f.tsv --candidates c.smi --metric hit-rate:k=1,mrr

expect_fail 2 "okra fuse: --weights is '1', expected 2 numbers between commas" \
    okra fuse a.tsv b.csv --weights 1 -o f.tsv
expect_fail 2 "okra fuse: --y and --candidates go together" okra fuse a.tsv --y y.smi -o f.tsv
expect_fail 2 "okra fuse: all weights are 0" okra fuse a.tsv b.csv --weights 0,0 -o f.tsv
printf 'test\tcandidate\n0\t1\n' >d.tsv
expect_fail 1 "okra fuse: d.tsv: line 1: expected the headings test, candidate and distance" \
    okra fuse d.tsv -o f.tsv
printf 'test\tcandidate\tdistance\n0\t1\tfar\n' >d.tsv
expect_fail 1 "okra fuse: d.tsv: line 2: expected test, candidate and distance" okra fuse d.tsv -o f.tsv
expect_fail 1 "okra fuse: none.tsv: cannot be read: No such file or directory" okra fuse none.tsv -o f.tsv
