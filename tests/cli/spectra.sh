# Spectra from the command line: MGF and MSP, fields, broken records, kernels.
. "$ROOT/tests/cli/lib/spectra.bash"
{ ethanol; printf 'BEGIN IONS\nTITLE=broken\n29.04 high\nEND IONS\n'; propanol; } >a.mgf
expect 0 okra gram --x a.mgf --kernel 'ppk(power=1)' -o K.csv
expect_in "okra: warning: a.mgf: line 11: expected a peak, m/z and intensity; found 'high': left out" err
expect_in "okra: warning: a.mgf: 1 of 3 spectra are broken and left out" err
expect_out "$(printf '1.0625,0.25\n0.25,1.0625')" cat K.csv
expect_fail 1 "okra gram: a.mgf: line 11: expected a peak, m/z and intensity; found 'high'" \
    okra gram --x a.mgf --kernel ppk --strict -o K.csv
expect 0 okra gram --quiet --x a.mgf --kernel 'ppk | normalize' -o K.csv
[ ! -s err ]

# from spectra to molecules, the same spectra left out on both sides
expect 0 okra fit --quiet --x a.mgf --y a.mgf:smiles --kx 'ppk | normalize' --ky 'ecfp | tanimoto' \
    --lambda 0.01 -o m.okra
expect 0 okra predict m.okra --quiet --x a.mgf -o out.smi
expect_out "$(printf 'CCO\nCCCO')" cat out.smi
expect 0 okra predict m.okra --quiet --x a.mgf --top 1 -o ranked.tsv
expect_in "$(printf '1\t1\t1\t')" ranked.tsv
expect 0 okra info m.okra
expect_in "spectra, 2" out

# molecules that cannot be read are told and left out; known are the spectra of the others
{ ethanol; spectrum odd 47.0491 N/A '29.04 10'; propanol; spectrum none 47.0491 '' '29.04 10'; } >b.mgf
expect 0 okra fit --x b.mgf:known --y b.mgf:known-smiles --kx 'ppk | normalize' --ky 'ecfp | tanimoto' --lambda 0.01 -o b.okra
expect_in "okra: warning: b.mgf: 2 of 4 spectra tell no molecule and are left out" err
expect_in "okra: warning: b.mgf: line 9: the SMILES of the spectrum: character 3: " err
expect_in "okra: warning: b.mgf: line 24: the spectrum has no field 'smiles': left out" err
expect_in "okra: warning: b.mgf: 2 of 4 molecules are broken and left out" err
expect 0 okra predict b.okra --quiet --x a.mgf -o out.smi
expect_out "$(printf 'CCO\nCCCO')" cat out.smi
expect_fail 1 "okra fit: b.mgf: line 9: the SMILES of the spectrum: character 3: expected an atom, bond, branch or ring closure, found 'A'" \
    okra fit --strict --x b.mgf:known --y b.mgf:known-smiles --kx ppk --ky ecfp --lambda 0.01 -o b.okra
expect_fail 1 "okra fit: b.mgf: line 9: the SMILES of the spectrum: character 3: expected an atom, bond, branch or ring closure, found 'A'" \
    okra fit --x b.mgf --y b.mgf:smiles --kx ppk --ky ecfp --lambda 0.01 -o b.okra

# MSP, and a kernel of the wrong kind
printf 'Name: one\nPrecursorMZ: 47.0491\nNum Peaks: 2\n29.04 10; 31.02 40\n' >b.msp
expect 0 okra predict m.okra --quiet --x b.msp -o out.smi
expect_out "CCO" cat out.smi
expect_fail 1 "okra gram: b.msp: line 1: the spectrum has no field 'smiles'" \
    okra gram --x b.msp:smiles --kernel wl -o K.csv
printf '\n' >none.mgf
expect_fail 1 "okra gram: none.mgf: there is no spectrum in the file" \
    okra gram --x none.mgf --kernel ppk -o K.csv

# Candidates that are training outputs are favoured: that is told, and --as-new compares them as if they were new.
printf 'OCC\nCCCO\nCCCCO\nCCN\n' >c.smi
expect 0 okra predict m.okra --x a.mgf --candidates c.smi --top 3 -o plain.tsv
expect_in "okra: warning: candidates: 2 of 4 are training outputs, which the model favours; option as-new compares them as if they had not been learned" err
expect 0 okra predict -q m.okra --x a.mgf --candidates c.smi --top 4 -o plain.tsv
expect 0 okra predict m.okra --x a.mgf --candidates c.smi --top 4 --as-new -o new.tsv
refute grep -q favours err
okra index -q c.smi --model m.okra -o c.okx
expect 0 okra predict -q m.okra --x a.mgf --candidates c.okx --top 4 --as-new -o index.tsv
expect_same new.tsv index.tsv
# A molecule that the spectrum was learned with is far where it is new, as far as before where it is not.
awk -F'\t' 'NR > 1 { d[FILENAME, $1, $3] = $4 }
    END { exit !(d["new.tsv", 0, 0] > d["plain.tsv", 0, 0] + 0.1 && d["new.tsv", 0, 3] == d["plain.tsv", 0, 3]) }' plain.tsv new.tsv ||
    complain "as-new does not take away what was learned"
head -2 c.smi >known.smi # all of them are: nothing to tell
expect 0 okra predict m.okra --x a.mgf --candidates known.smi --top 2 -o plain.tsv
refute grep -q favours err

# outputs that are spectra are seldom meant
expect 0 okra fit --x a.mgf --y a.mgf --kx 'ppk | normalize' --ky 'ppk | normalize' --lambda 1 -o same.okra
expect_in "the outputs are the spectra of a.mgf; FILE:smiles reads their molecules" err
