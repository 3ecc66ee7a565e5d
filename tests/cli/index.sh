# Indexes of candidates: made, checked, ranked by mass; what does not fit.
cat >a.mgf <<'END'
BEGIN IONS
TITLE=ethanol
PEPMASS=47.0491
ADDUCT=[M+H]+
SMILES=CCO
29.04 10
31.02 40
END IONS
BEGIN IONS
TITLE=propanol
PEPMASS=61.0648
ADDUCT=[M+H]+
SMILES=CCCO
31.02 20
43.05 80
END IONS
END
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
rm -r d.okx.part
expect 0 okra predict m.okra --quiet --x a.mgf --candidates c.okx --within mass=10ppm --top 3 -o r.tsv
cut -f 1,2,3,6,7,8,9 r.tsv >some
expect_out "$(printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' \
    test query rank mass formula smiles name \
    0 ethanol 1 46.041865 C2H6O OCC alcohol 0 ethanol 2 46.041865 C2H6O COC ether \
    1 propanol 1 60.057515 C3H8O CCCO '' 1 propanol 2 60.057515 C3H8O 'CC(C)O' '')" cat some
# the distances are those of a plain list of candidates
printf 'OCC\nCCCO\nCOC\nCC(C)O\nF/C=C\\F\n' >plain.smi
expect 0 okra predict m.okra --quiet --x a.mgf --candidates c.okx --top 5 -o all.tsv
expect 0 okra predict m.okra --quiet --x a.mgf --candidates plain.smi --top 5 -o plain.tsv
cut -f 5 all.tsv | tail -n +2 | cut -c 1-12 >x
cut -f 4 plain.tsv | tail -n +2 | cut -c 1-12 >y
expect_same x y
grep -q 'F/C=C\\F' all.tsv
# a broken line of a plain list is left out, too, and numbers stay those of what is kept
printf 'OCC\nC1CC\nCCCO\n' >broken.smi
expect 0 okra predict m.okra --x a.mgf --candidates broken.smi --top 1 -o b.tsv
expect_in "okra: warning: broken.smi: line 2: character 2: ring is not closed '1': left out" err
expect_in "okra: warning: broken.smi: 1 of 3 lines are broken and left out" err
expect_in "$(printf '1\t1\t1\t')" b.tsv
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
cut -f 5 low.tsv | tail -n +2 | cut -c 1-12 >y
expect_same x y
expect 0 okra predict m.okra --x a.mgf --candidates low.okx --exact --top 2 -o low.json
expect_in '"formula": "C2H6O"' low.json

printf 'C(O)C\nC(C)CO\n' >truth.smi
expect_out "$(printf 'hit-rate:k=1\t1\nmrr\t1')" okra score --y truth.smi --lists r.tsv --candidates c.okx --metric hit-rate:k=1,mrr
expect_fail 2 "okra score: a.mgf: expected molecules, found spectra" \
    okra score --y a.mgf --lists r.tsv --candidates c.okx --metric mrr

expect_fail 2 "okra predict: --within is for candidates of an index, NAME.okx" \
    okra predict m.okra --x a.mgf --within mass=10ppm -o r.smi
expect_fail 2 "okra predict: an index is ranked: give --top K and a table with -o" \
    okra predict m.okra --x a.mgf --candidates c.okx -o r.tsv
expect_fail 2 "okra predict: within is '10ppm', expected mass=10ppm or mass=0.5Da, say" \
    okra predict m.okra --x a.mgf --candidates c.okx --within 10ppm --top 2 -o r.tsv
expect_fail 2 "okra index: --ky or --model is missing: which features to keep" \
    okra index c.smi -o d.okx
expect_fail 1 "okra index: c.okx is there already" \
    okra index c.smi --model m.okra --quiet -o c.okx
expect_fail 2 "okra index: --rank needs --model" okra index c.smi --ky ecfp --rank 2 -o d.okx
expect 0 okra fit --quiet --x a.mgf --y a.mgf:smiles --kx 'ppk | normalize' --ky 'ecfp(bits=256) | tanimoto' \
    --method kpca --components 1 -o k.okra
expect_fail 1 "okra predict: an index is ranked by distances to weighted sums of training outputs; method kpca has another measure" \
    okra predict k.okra --x a.mgf --candidates c.okx --top 2 -o r.tsv
# a name with a tab is one field
printf 'CCO a\tb\n' >tab.smi
expect 0 okra index tab.smi --quiet --model m.okra -o tab.okx
expect 0 okra predict m.okra --quiet --x a.mgf --candidates tab.okx --top 1 -o tab.tsv
expect_in "$(printf 'CCO\ta b')" tab.tsv
printf 'x' | dd of=c.okx/shard-00000 bs=1 seek=1030 conv=notrunc 2>dd
expect_fail 1 "okra index: c.okx/shard-00000: a checksum is wrong" okra index c.okx --check
printf 'x' | dd of=c.okx/shard-00000 bs=1 seek=40 conv=notrunc 2>dd
expect_fail 1 "okra index: c.okx/shard-00000: the checksum of its head is wrong" okra index c.okx --check
