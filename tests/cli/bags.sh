# Several observations of one thing: --bag groups rows of tables and spectra.
cat > t.csv <<'END'
id,a,b,y
m1,1,2,3
m2,0,1,4
m1,3,4,3
m3,1,1,5
m4,2,0,1
END
expect 0 okra fit --x t.csv --y t.csv:y --bag id --kx 'bag(linear)' --lambda 1 -o mean.okra
expect_in 'bags, 4' out
# the mean of linear vectors is the vector of means
printf 'a,b,y\n2,3,3\n0,1,4\n1,1,5\n2,0,1\n' > means.csv
okra fit -q --x means.csv --y means.csv:y --kx linear --lambda 1 -o plain.okra
okra predict mean.okra --x t.csv:'!y' --bag id -o mean.csv
okra predict plain.okra --x means.csv:'!y' -o plain.csv
paste -d, mean.csv plain.csv | awk -F, '{ d = $1 - $2; exit !(d < 1e-12 && d > -1e-12) }'
[ "$(wc -l < mean.csv)" = 4 ]
# the command that repeats a choice names the bags
expect 0 okra fit --x t.csv --y t.csv:y --bag id -o chosen.okra
cp out told
sed -n 's/^the same  *//p' told | sed 's/chosen\.okra$/again.okra/' > command
expect_in ' --bag id ' command
bash -e command > /dev/null
expect_same chosen.okra again.okra
# every form is kept in the model; columns go by their names
for kx in 'bag(standardize | rbf(sigma=1))' 'bag(rbf(sigma=auto),max)' 'bag(laplacian(gamma=1),match) | normalize' \
    'bag(rbf(sigma=1)) | chol(rank=3)'; do
    okra fit -q --x t.csv --y t.csv:y --bag id --kx "$kx" --lambda 0.1 -o k.okra 2>/dev/null
    okra predict k.okra --x t.csv:'!y' --bag id -o one.csv
    printf 'b,id,a\n2,m1,1\n4,m1,3\n1,m2,0\n' > turned.csv
    okra predict -q k.okra --x turned.csv --bag id -o two.csv
    head -2 one.csv | expect_same - two.csv
done
expect 0 okra select --x t.csv --y t.csv:y --bag id --kx 'bag(rbf(sigma={1,2}))' -o sel.okra
expect_in ' --bag id ' out
# outputs that differ within a bag
sed 's/m1,3,4,3/m1,3,4,9/' t.csv > odd.csv
expect 0 okra fit --x odd.csv --y odd.csv:y --bag id --kx 'bag(linear)' --lambda 1 -o odd.okra
expect_in 'odd.csv: the outputs of 1 of 4 bags differ within the bag; the first of each is taken' err
# spectra by a field
mgf() { printf 'BEGIN IONS\nTITLE=%s\nINCHIKEY=%s\nPEPMASS=%s\n%s 10\n%s 5\nEND IONS\n' "$@"; }
{ mgf s1 AA 100 50 60; mgf s2 BB 120 50 70; mgf s3 AA 100 50 61; mgf s4 CC 90 40 70; } > s.mgf
printf '1\n2\n1\n3\n' > y.csv
expect 0 okra fit --x s.mgf --y y.csv --bag inchikey --kx 'bag(ppk | normalize)' --lambda 0.1 -o s.okra
expect_in 'bags, 3' out
expect 0 okra fit --x s.mgf --y y.csv --bag inchikey -o own.okra
expect_in "kx             bag(" out
expect_in ") | normalize' --ky linear" out
expect 0 okra fit --x s.mgf --y y.csv --bag inchikey --method knn -o own.okra # the likeliest alone
expect_in "bag(" out
okra predict s.okra --x s.mgf --bag inchikey -o s.csv
[ "$(wc -l < s.csv)" = 3 ]
# the first block of an InChIKey; what a field says, in a product; merged spectra
key() { mgf "$1" "$2" "$3" "$4" "$5" | sed "s/^TITLE/COLLISION_ENERGY=$6\n&/"; }
{ key s1 KWILGNNWGSNMPA-UHFFFAOYSA-N 100 50 60 '20 eV'; key s2 BBILGNNWGSNMPA-UHFFFAOYSA-N 120 50 70 40
  key s3 KWILGNNWGSNMPA-AAAAAAAASA-N 100 50 61 40V; } > keys.mgf
head -2 y.csv > two.csv
expect 0 okra fit --x keys.mgf --y two.csv --bag InChIKey14 --lambda 0.1 -o keys.okra \
    --kx '(bag(ppk * field(sigma=20,floor=0.5)) | normalize) + (bag(ppk,merge) | normalize)'
expect_in 'bags, 2' out
okra predict keys.okra --x keys.mgf --bag InChIKey14 -o keys.csv
[ "$(wc -l < keys.csv)" = 2 ]
expect_fail 2 "okra fit: kernel bag: the members of t.csv are dense, expected spectra to merge" \
    okra fit -q --x t.csv --y t.csv:y --bag id --kx 'bag(linear,merge)' -o no.okra
# errors
expect_fail 1 "okra fit: s.mgf: spectrum 0 (counted from 0) has no field 'energy', which is to tell its bag" \
    okra fit --x s.mgf --y y.csv --bag energy --kx 'bag(ppk)' -o no.okra
expect_fail 2 "okra fit: t.csv: there is no column 'molecule' among the 4 columns: id, a, b, y" \
    okra fit -q --x t.csv --y means.csv:y --bag molecule --kx 'bag(linear)' -o no.okra
printf 'id,a,b\nm1,1,2\nm2,x,3\nm2,4,5\n' > broken.csv
expect 1 okra predict mean.okra --x broken.csv --bag id -o no.csv
expect_in 'broken.csv: line 3' err
expect_fail 2 "okra predict: kernel bag: means.csv holds 4 dense vectors of length 2, expected bags" \
    okra predict mean.okra --x means.csv:"!y" -o no.csv

# commands that read no bags say so
for command in link gram twin basis merge paper score index info fuse demo report version; do
    expect_fail 2 "okra $command: --bag has no use here" okra $command --bag id
done
