# Indexes of candidates: made, checked, ranked by mass; what does not fit.
. "$ROOT/tests/cli/lib/spectra.bash"
{ ethanol; propanol; } >a.mgf
printf 'OCC alcohol\nCCCO\nC1CC\nCOC ether\nC(C)O again\nCC(C)O\nF/C=C\\F\n' >c.smi
expect 0 okra fit --quiet --x a.mgf --y a.mgf:smiles --kx 'ppk | normalize' --ky 'ecfp(bits=256) | tanimoto' \
    --lambda 0.01 -o m.okra
expect 0 okra index c.smi --model m.okra -o c.okx
expect_in "okra: warning: c.smi: line 3: character 2: ring is not closed '1': left out" err
expect_in "okra: warning: c.smi: 1 of 7 lines are broken and left out" err
expect_in "5 of 7 lines" out
expect 0 okra index c.okx --check
expect_in "checksums      right" out
expect_fail 1 "okra index: c.smi: line 3: character 2: ring is not closed '1'" \
    okra index c.smi --model m.okra --strict -o d.okx
[ ! -e d.okx.part ]
expect 0 okra predict m.okra --quiet --x a.mgf --candidates c.okx --within mass=10ppm --top 3 -o r.tsv
expect_in "$(printf 'test\trank\tcandidate\tdistance\tquery\tmass\tformula\tsmiles\tname')" r.tsv
cut -f 1,5,2,6,7,8,9 r.tsv >some
expect_out "$(printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' \
    test rank query mass formula smiles name \
    0 1 ethanol 46.041865 C2H6O OCC alcohol 0 2 ethanol 46.041865 C2H6O COC ether \
    1 1 propanol 60.057515 C3H8O CCCO '' 1 2 propanol 60.057515 C3H8O 'CC(C)O' '')" cat some
# the table of a list is that of an index of it, to the byte: columns, numbers, order
for ends in tsv csv json; do
    for how in '' '--within mass=10ppm' '--within formula,mass=40..60 --about f.tsv' --p-values; do
        printf 'formula\tmass\nC2H6O\t46\nC3H8O\t60\n' >f.tsv
        expect 0 okra predict m.okra --quiet --x a.mgf --candidates c.okx $how --top 5 -o all.$ends
        expect 0 okra predict m.okra --quiet --x a.mgf --candidates c.smi $how --top 5 -o list.$ends
        expect_same all.$ends list.$ends
    done
done
# a candidate's number is its row, broken and repeated lines counted
cut -f 3 all.tsv | tail -n +2 | sort -u >some
expect_out "$(printf '0\n1\n3\n5\n6')" cat some
printf 'OCC\nCCCO\nCOC\nCC(C)O\nF/C=C\\F\n' >plain.smi
expect 0 okra predict m.okra --quiet --x a.mgf --candidates plain.smi --top 5 -o plain.tsv
cut -f 4 all.tsv | tail -n +2 >x
cut -f 4 plain.tsv | tail -n +2 >y
expect_same x y
# a backslash stays what it is, with and without an index, in every table
for f in all.tsv list.tsv list.csv; do grep -q 'F/C=C\\F' $f; done
grep -q 'F/C=C\\\\F' list.json
# a broken line of a plain list is left out, too
printf 'OCC\nCCCO\n' >broken_truth.smi
printf 'OCC\n\nC1CC\nCCCO\n' >broken.smi
expect 0 okra predict m.okra --x a.mgf --candidates broken.smi --top 1 -o b.tsv
expect_in "okra: warning: broken.smi: line 3: character 2: ring is not closed '1': left out" err
expect_in "okra: warning: broken.smi: 2 of 4 lines are broken and left out" err
expect_in "$(printf '1\t1\t2\t')" b.tsv
expect_out "$(printf 'mrr\t1')" okra score --y broken_truth.smi --lists b.tsv --candidates broken.smi --metric mrr
# sets count the rows of the file, too, and the truth is found however it is written and named
printf 'C1CC\nOCC alcohol\nCCCO other\n' >named.smi
printf 'CCO\nC(C)CO\n' >truth.smi
for how in "--set 0.01:2" "--top 3:3"; do
    # shellcheck disable=SC2086
    expect 0 okra predict m.okra --quiet --x a.mgf --candidates named.smi ${how%:*} -o b.tsv
    expect_out "$(printf 'candidate\n1\n1\n2\n2')" sh -c "cut -f ${how#*:} b.tsv | sort -s -k 1,1r | sort -n"
    expect_out 1 okra score -q --y truth.smi --lists b.tsv --candidates named.smi --metric hit-rate:k=2 2>err
done
expect 0 okra predict m.okra --x a.mgf --candidates named.smi --set 0.01 --truth truth.smi -o b.tsv
expect_in "coverage       1.0000" out
printf 'test\tcandidate\n0\t0\n' >b.tsv
expect 1 okra score --y truth.smi --lists b.tsv --candidates named.smi --metric mrr
expect_in "okra score: b.tsv: candidate 0, expected less than 3; that line was left out" err
printf 'OCC\nC1CC\nCCCO\n' >broken.smi
expect_fail 1 "okra predict: broken.smi: line 2: character 2: ring is not closed '1'" \
    okra predict m.okra --x a.mgf --candidates broken.smi --top 1 --strict -o b.tsv
printf '0,1\n0,1\n' >ranges.csv
expect_fail 1 "okra predict: broken.smi: line 2: character 2: ring is not closed '1'" \
    okra predict m.okra --x a.mgf --candidates broken.smi --ranges ranges.csv --top 1 -o b.tsv
expect_fail 1 "okra gram: broken.smi: line 2: character 2: ring is not closed '1'" \
    okra gram --x broken.smi --kernel wl -o K.csv
# low rank, measured exactly again
expect 0 okra index plain.smi --quiet --model m.okra --rank 2 -o low.okx
expect 0 okra predict m.okra --quiet --x a.mgf --candidates low.okx --top 5 -o low.tsv
cut -f 4 low.tsv | tail -n +2 >y
expect_same x y
expect 0 okra predict m.okra --x a.mgf --candidates low.okx --exact --top 2 -o low.json
expect_in '"formula": "C2H6O"' low.json

printf 'C(O)C\nC(C)CO\n' >truth.smi
expect_out "$(printf 'hit-rate:k=1\t1\nmrr\t1')" okra score --y truth.smi --lists r.tsv --candidates c.okx --metric hit-rate:k=1,mrr
sed 's/TITLE=/&1,2-/' a.mgf >comma.mgf
expect 0 okra predict m.okra --quiet --x comma.mgf --candidates c.okx --within mass=10ppm --top 3 -o r.csv
expect_in ',"1,2-ethanol",46.041865,' r.csv
expect_out "$(printf 'hit-rate:k=1\t1\nmrr\t1')" okra score --y truth.smi --lists r.csv --candidates c.okx --metric hit-rate:k=1,mrr
expect_fail 2 "okra score: a.mgf: expected molecules, found spectra" \
    okra score --y a.mgf --lists r.tsv --candidates c.okx --metric mrr

expect_fail 2 "okra predict: --within is for ranked candidates: give --top K" \
    okra predict m.okra --x a.mgf --within mass=10ppm -o r.smi
expect_fail 2 "okra predict: an index is ranked: give --top K and a table with -o" \
    okra predict m.okra --x a.mgf --candidates c.okx -o r.tsv
expect_fail 2 "okra predict: within is '10ppm', expected parts such as mass=10ppm, mass=0.5Da, formula, COLUMN=0.5 or COLUMN=1..3 between commas" \
    okra predict m.okra --x a.mgf --candidates c.okx --within 10ppm --top 2 -o r.tsv
expect_fail 2 "okra predict: --within is empty: leave it out to rank all candidates" \
    okra predict m.okra --x a.mgf --candidates c.okx --within '' --top 2 -o r.tsv
expect_fail 2 "okra predict: --shortlist has no use with --within: all candidates that fit are measured exactly" \
    okra predict m.okra --x a.mgf --candidates c.okx --within mass=10ppm --shortlist 5 --top 2 -o r.tsv
expect_fail 2 "okra predict: --set and --interval do not take an index: --top K ranks it, --p-values with p-values" \
    okra predict m.okra --x a.mgf --candidates c.okx --set 0.1 -o r.tsv
# adducts without brackets, and one that nobody knows
sed 's/^ADDUCT=.*/ADDUCT=M+H/' a.mgf >plain.mgf
expect 0 okra predict m.okra --quiet --x plain.mgf --candidates c.okx --within mass=10ppm --top 3 -o bare.tsv
expect_same r.tsv bare.tsv
sed '0,/^ADDUCT=.*/s//ADDUCT=[M+Xy]+/' a.mgf >odd.mgf
expect 0 okra predict m.okra --x odd.mgf --candidates c.okx --within mass=10ppm --top 3 -o odd.tsv
expect_in "1 of 2 objects do not tell their mass, which a window needs: they get no candidates (the adduct '[M+Xy]+' is not known)" err
expect_fail 2 "okra index: --ky or --model is missing: which features to keep" \
    okra index c.smi -o d.okx
expect_fail 1 "okra index: c.okx is there already" \
    okra index c.smi --model m.okra --quiet -o c.okx
expect_fail 2 "okra index: --rank needs --model" okra index c.smi --ky ecfp --rank 2 -o d.okx
expect 0 okra fit --quiet --x a.mgf --y a.mgf:smiles --kx 'ppk | normalize' --ky 'ecfp(bits=256) | tanimoto' \
    --method kpca --components 1 -o k.okra
expect_fail 1 "okra predict: an index is ranked by distances to weighted sums of training outputs; this model has another measure: give its candidates as a list" \
    okra predict k.okra --x a.mgf --candidates c.okx --top 2 -o r.tsv
# p-values, where they are asked for: by training pairs left out, or pairs that the model keeps
expect 0 okra predict m.okra --quiet --x a.mgf --candidates c.okx --within mass=10ppm --top 3 --p-values -o p.tsv
cut -f 1,2,5 p.tsv >some
expect_out "$(printf 'test\trank\tp_value\n0\t1\t1\n0\t2\t0.333333\n1\t1\t1\n1\t2\t0.333333')" cat some
expect 0 okra predict m.okra --x a.mgf --candidates c.okx/ --within mass=10ppm --top 2 -o n.tsv
! grep -q p_value n.tsv
expect_fail 2 "okra predict: the model keeps no pairs to calibrate with" \
    okra predict -q m.okra --x a.mgf --candidates c.okx --top 2 --p-values --known-pairs kept -o n.tsv
expect_fail 2 "okra predict: --known-pairs is for ranked candidates: give --top K" \
    okra predict m.okra --x a.mgf --known-pairs kept -o r.smi
expect_fail 2 "okra predict: --known-pairs has no use without --p-values" \
    okra predict m.okra --x a.mgf --top 2 --known-pairs kept -o r.tsv
# a name with a tab is one field
printf 'CCO a\tb\n' >tab.smi
expect 0 okra index tab.smi --quiet --model m.okra -o tab.okx
expect 0 okra predict m.okra --quiet --x a.mgf --candidates tab.okx --top 1 -o tab.tsv
expect_in "$(printf 'CCO\ta\\x09b')" tab.tsv
printf 'x' | dd of=c.okx/shard-00000 bs=1 seek=1030 conv=notrunc 2>dd
expect_fail 1 "okra index: c.okx/shard-00000: a checksum is wrong" okra index c.okx --check
printf 'x' | dd of=c.okx/shard-00000 bs=1 seek=40 conv=notrunc 2>dd
expect_fail 1 "okra index: c.okx/shard-00000: the checksum of its head is wrong" okra index c.okx --check

# windows by formula and by columns of a table; what a query has under a name is its own
printf 'smiles\tname\tlogp\nCCO\tethanol\t-0.3\nCOC\tether\t0.1\nCCCO\tpropanol\t0.3\nCC(C)O\t\t\nC\tmethane\tlow\n' >t.tsv
expect 0 okra index t.tsv --model m.okra --columns logp -o t.okx
expect_in "okra: warning: t.tsv: line 6: column logp holds no number: left out" err
expect 0 okra index t.okx --check
expect_in "column         logp" out
sed 's/^TITLE=ethanol/&\nLOGP=0\nFORMULA=C2OH6/; s/^TITLE=propanol/&\nLOGP=0.3\nFORMULA=C3H8O/' a.mgf >with.mgf
ranked() { # WINDOW: the names that fit
    expect 0 okra predict m.okra --quiet --x with.mgf --candidates t.okx --within "$1" --top 9 -o w.tsv
    cut -f 1,8,9 w.tsv | tail -n +2 | sort | tr '\t\n' ' ;'
}
[ "$(ranked formula)" = "0 CCO ethanol;0 COC ether;1 CC(C)O ;1 CCCO propanol;" ]
[ "$(ranked formula,logp=0.2)" = "0 COC ether;1 CCCO propanol;" ]
[ "$(ranked logp=0..1)" = "0 CCCO propanol;0 COC ether;1 CCCO propanol;1 COC ether;" ]
[ "$(ranked mass=0.1Da,logp=-1..-0.1)" = "0 CCO ethanol;" ]
expect 0 okra predict m.okra --x with.mgf --candidates t.okx --within mass=0.1Da,logp=-1..-0.1 --top 9 -o w.tsv
expect_in "without        1 tests fit no candidate" out
# spectra of which some do not tell: they get nothing, and that is said
{ cat with.mgf; spectrum bare 47.0491 '' '29.04 1'; } >bare.mgf
expect 0 okra predict m.okra --x bare.mgf --candidates t.okx --within formula --top 9 -o w.tsv
expect_in "okra: warning: bare.mgf: 1 of 3 objects do not tell their formula, which a window needs: they get no candidates" err
expect_fail 2 "okra predict: bare.mgf: object 2 (counted from 0) does not tell its formula, which a window needs" \
    okra predict m.okra --quiet --x bare.mgf --candidates t.okx --within formula --top 9 --strict -o w.tsv
expect_fail 2 "okra predict: within is 'rt=1', but the index has no column 'rt'" \
    okra predict m.okra --x a.mgf --candidates t.okx --within rt=1 --top 9 -o w.tsv
expect_fail 1 "okra index: t.tsv: line 1: no column is called 'rt'" \
    okra index t.tsv --model m.okra --columns rt -o u.okx

# counts are kept, too, and low rank of kernels that are not hashed: the same distances
expect 0 okra fit --quiet --x a.mgf --y a.mgf:smiles --kx 'ppk | normalize' --ky 'wl(bits=128) | normalize' \
    --lambda 0.01 -o counts.okra
expect 0 okra fit --quiet --x a.mgf --y a.mgf:smiles --kx 'ppk | normalize' --ky 'wl | normalize' --lambda 0.01 -o wl.okra
for m in counts wl; do
    expect 0 okra index plain.smi --quiet --model $m.okra --rank 2 -o $m.okx
    expect 0 okra predict $m.okra --quiet --x a.mgf --candidates $m.okx --top 5 -o $m.tsv
    expect 0 okra predict $m.okra --quiet --x a.mgf --candidates plain.smi --top 5 -o plain.tsv
    cut -f 4 $m.tsv | tail -n +2 | cut -c 1-10 >x
    cut -f 4 plain.tsv | tail -n +2 | cut -c 1-10 >y
    expect_same x y
done

# several shards, a run that was stopped, and what repeats across them
for k in 1 2 3 4 5 6 7; do printf 'C%.0s' $(seq $k); printf '\nO'; printf 'C%.0s' $(seq $k); printf '\n'; done >many.smi
printf 'CCCO twice\n' >>many.smi
expect 0 okra index many.smi --model m.okra --shard 4 --json -o many.okx
expect_in '"kept": 14' out
expect_in '"repeated": 1' out
expect_in '"shards": 4' out
mkdir rest.okx.part
cp many.okx/shard-00000 many.okx/shard-00002 rest.okx.part
expect 0 okra index many.smi --model m.okra --shard 4 -o rest.okx
expect_in "4, 2 of them from an earlier run" out
for f in many.okx/shard-*; do expect_same "$f" "rest.okx/${f##*/}"; done

# files of a stranger
mkfifo pipe
rm t.okx/shard-00000
ln -s ../pipe t.okx/shard-00000
expect_fail 1 "okra index: t.okx/shard-00000 is no ordinary file" okra index t.okx --check
ln -sf /dev/zero t.okx/shard-00000
expect_fail 1 "okra index: t.okx/shard-00000 is no ordinary file" okra index t.okx --check
rm t.okx/shard-00000
expect_fail 1 "okra index: t.okx/shard-00000: cannot be opened: No such file or directory" okra index t.okx --check
sed -i 's/"repeated": 1/"repeated": 2/' many.okx/index.json
expect_fail 1 "okra index: many.okx: the checksum of index.json is wrong" okra index many.okx --check
sed -i 's/"version": 4/"version": 3/' many.okx/index.json
expect_fail 1 "okra index: many.okx is an index of version 3, expected 4: make it again with 'okra index'" okra index many.okx --check
printf 'x' | dd of=rest.okx/shard-00000 bs=1 seek=1000 conv=notrunc 2>dd
expect_fail 1 "okra index: rest.okx/shard-00000: the checksum of its head is wrong" okra index rest.okx --check
printf 'x' | dd of=low.okx/basis.npy bs=1 seek=135 conv=notrunc 2>dd
expect_fail 1 "okra predict: low.okx/basis.npy: the checksum is wrong" \
    okra predict m.okra --x a.mgf --candidates low.okx --top 1 -o low.tsv

# a shard that is cut short while candidates are ranked: the answer of before, or an error, no signal
awk 'BEGIN { srand(3); split("C N O C(C) C(=O) S C(F) c1ccccc1 C1CC1 C(Cl)", p, " ");
    for (i = 0; i < 9000; i++) { s = "C"; for (k = 4 + int(8 * rand()); k > 0; k--) s = s p[1 + int(10 * rand())]; print s } }' >cut.smi
head -40 cut.smi >cut_y.smi
awk 'BEGIN { srand(4); for (i = 0; i < 40; i++) print rand() "," rand() }' >cut_x.csv
for i in 1 2 3 4 5 6 7 8; do cat cut_x.csv; done >cut_t.csv
okra fit -q --x cut_x.csv --y cut_y.smi --kx 'rbf(sigma=1)' --ky 'ecfp(bits=1024)' --lambda 0.1 -o cut.okra
okra index -q cut.smi -o cut.okx --ky 'ecfp(bits=1024)'
[ "$(stat -c %s cut.okx/shard-00000)" -gt 1048576 ] || complain "the shard is too small to be mapped"
cp cut.okx/shard-00000 whole
okra predict -q cut.okra --x cut_t.csv --candidates cut.okx --top 3 -o want.tsv
for delay in 0.02 0.05 0.1 0.15 0.2 0.3 0.4; do
    cp whole cut.okx/shard-00000
    { sleep $delay; truncate -s 4096 cut.okx/shard-00000; } &
    run_ okra predict -q cut.okra --x cut_t.csv --candidates cut.okx --top 3 -o got.tsv
    wait
    if [ "$status" = 0 ]; then
        expect_same want.tsv got.tsv
    else
        [ "$status" = 1 ] || complain "status $status of a shard that is cut short after $delay s"
        grep -qE 'cut short while it was read|has 4096 bytes|changed while it was read' err || complain "$(cat err)"
    fi
done
