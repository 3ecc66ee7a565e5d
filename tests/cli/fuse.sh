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

# distances of any size
printf 'test\tcandidate\tdistance\n0\t0\t1e308\n0\t1\t1.7e308\n0\t2\t-1.7e308\n1\t0\t1e-320\n' >huge.tsv
expect 0 okra fuse huge.tsv a.tsv -o f.tsv
awk -F'\t' 'NR > 1 && !($4 > -4 && $4 < 4) { exit 1 }' f.tsv
printf 'test\tcandidate\tdistance\n0\t0\t1e309\n' >inf.tsv
expect_fail 2 "okra fuse: list 0 (counted from 0): entry 0 has a negative number or no finite distance" \
    okra fuse inf.tsv -o f.tsv

# what the tables tell of tests and candidates stays; it must be the same
head='test\tquery\trank\tcandidate\tdistance\tp_value\tmass\tformula\tsmiles\tname\n'
printf "$head"'0\tone\t1\t0\t1\t0.5\t46.0\tC2H6O\tCCO\tethanol, pure\n0\tone\t2\t1\t2\t0.4\t44.0\tC3H8\tCCC\t\n' >p.tsv
printf "$head"'0\tone\t1\t1\t0\t\t44.0\tC3H8\tCCC\t\r\n2\ttwo\t1\t0\t2\t\t46.0\tC2H6O\tCCO\tethanol, pure\r\n' >q.tsv
expect 0 okra fuse p.tsv q.tsv --weights 0.75,0.25 -o f.tsv
expect_out "$(printf 'test\trank\tcandidate\tscore\tquery\tmass\tformula\tsmiles\tname\n0\t1\t0\t0.75\tone\t46.0\tC2H6O\tCCO\tethanol, pure\n0\t2\t1\t-0.75\tone\t44.0\tC3H8\tCCC\t\n2\t1\t0\t0\ttwo\t46.0\tC2H6O\tCCO\tethanol, pure')" cat f.tsv
expect 0 okra fuse p.tsv q.tsv -o f.csv
expect_in "0,1,0,0.5" f.csv
sed 's/CCC/CC/' q.tsv >other.tsv
tab=$'\t'
expect_fail 1 "okra fuse: p.tsv and other.tsv are of different candidates: number 1 is '44.0${tab}C3H8${tab}CCC$tab' and '44.0${tab}C3H8${tab}CC$tab'" \
    okra fuse p.tsv other.tsv -o f.tsv
sed 's/one/uno/' q.tsv >other.tsv
expect_fail 1 "okra fuse: p.tsv and other.tsv are of different tests: number 0 is 'one' and 'uno'" \
    okra fuse p.tsv other.tsv -o f.tsv
# tests without candidates, and truths that are not there
printf "$head" >empty.tsv
expect 0 okra fuse empty.tsv empty.tsv -o f.tsv
[ "$(wc -l <f.tsv)" = 1 ]
expect 0 okra fuse empty.tsv p.tsv -o f.tsv
[ "$(wc -l <f.tsv)" = 3 ]
printf 'CCCCC\nN\n' >away.smi
expect_fail 2 "okra fuse: weights cannot be chosen: none of the 2 true outputs is among the candidates" \
    okra fuse a.tsv b.csv --y away.smi --candidates c.smi -o f.tsv
expect_fail 2 "okra fuse: a list has test 2 (counted from 0), but there are 2 true outputs" \
    okra fuse p.tsv q.tsv --y y.smi --candidates c.smi -o f.tsv

expect_fail 2 "okra fuse: --weights is '1', expected 2 numbers between commas" \
    okra fuse a.tsv b.csv --weights 1 -o f.tsv
expect_fail 2 "okra fuse: --y and --candidates go together" okra fuse a.tsv --y y.smi -o f.tsv
expect_fail 2 "okra fuse: all weights are 0" okra fuse a.tsv b.csv --weights 0,0 -o f.tsv
printf 'test\tcandidate\n0\t1\n' >d.tsv
expect_fail 1 "okra fuse: d.tsv: line 1: expected the headings test, candidate and distance" \
    okra fuse d.tsv -o f.tsv
printf 'test\tcandidate\tdistance\n0\t1\tfar\n' >d.tsv
expect_fail 1 "okra fuse: d.tsv: line 2: distance is 'far', expected a number" okra fuse d.tsv -o f.tsv
printf 'test\tcandidate\tdistance\n0\t1\t\n5\r\n' >d.tsv # the next line is no distance
expect_fail 1 "okra fuse: d.tsv: line 2: distance is '', expected a number" okra fuse d.tsv -o f.tsv
printf 'test\tcandidate\tdistance\n0\t1\tnan\n' >d.tsv
expect_fail 1 "okra fuse: d.tsv: line 2: distance is 'nan', expected a number" okra fuse d.tsv -o f.tsv
expect_fail 1 "okra fuse: none.tsv: cannot be read: No such file or directory" okra fuse none.tsv -o f.tsv
