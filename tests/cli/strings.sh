# Strings, sequences and several descriptions: as inputs and outputs, saved, written back.
printf 'abab\nabba\nbaba\ncccc\n' >x.txt
printf 'xy\nyx\nxx\nzz\n' >y.txt
okra gram --x x.txt --kernel 'ssk(length=1,decay=1)' -o K.csv --quiet
expect_out "$(printf '8,8,8,0\n8,8,8,0\n8,8,8,0\n0,0,0,16')" cat K.csv
kernel='ssk(length=2,decay=0.5,upto=1) | normalize'
okra fit --x x.txt --y y.txt --kx "$kernel" --ky "$kernel" --lambda 1e-6 -o m.okra --quiet
okra predict m.okra --x x.txt -o p.txt --quiet
cmp y.txt p.txt
okra predict m.okra --x x.txt -o p.fasta --quiet
expect_out "$(printf '>0\nxy\n>1\nyx\n>2\nxx\n>3\nzz')" cat p.fasta
okra info m.okra >out
expect_in "strings, 4" out

# Label sets, read sparse and written sparse, the empty one among them; bits too.
printf '%%%%MatrixMarket matrix coordinate real general\n4 3 4\n1 1 1\n1 3 1\n2 2 1\n4 2 1\n' >sets.mtx
for how in sparse bits; do
    okra fit --x x.txt --y $how:sets.mtx --kx "$kernel" --ky tanimoto --lambda 1e-6 -o l.okra --quiet
    okra predict l.okra --x x.txt --allow-empty-candidates -o p.mtx --quiet
    cmp sets.mtx p.mtx
done

# FASTA in, FASTA out, names kept, gzipped too.
printf '>first a\nACGT\n>second\nTTTT\n' >s.fasta
gzip -k s.fasta
okra fit --x s.fasta.gz --y s.fasta --kx 'spectrum(k=2)' --ky 'spectrum(k=2)' \
    --lambda 1e-6 -o f.okra --quiet
okra predict f.okra --x s.fasta -o p.fasta --quiet
cmp s.fasta p.fasta
expect 0 okra predict f.okra --x s.fasta --decode string --top 2 -o made.tsv
expect_in "candidates     4, made up by the decoder" out

# A column of a table; outputs as a table.
printf 'word,say,n\nab,x y,1\ncd,"p,q",2\n' >t.csv
okra fit --x strings:t.csv:word --y strings:t.csv:say --kx 'edit(sigma=1)' \
    --ky 'edit(sigma=1)' --lambda 1e-6 -o t.okra --quiet
okra predict t.okra --x strings:t.csv:1 -o p.csv --quiet
expect_out "$(printf 'x y\n"p,q"')" cat p.csv

# Two descriptions of the same inputs.
printf '0\n1\n2\n3\n' >v.csv
okra fit --x x.txt --x v.csv --y y.txt --kx 'mean(spectrum(k=2)@1 | normalize, rbf(sigma=1)@2)' \
    --ky "$kernel" --lambda 1e-6 -o two.okra --quiet
okra predict two.okra --x x.txt --x v.csv -o p.txt --quiet
cmp y.txt p.txt
expect_fail 1 "okra predict: x.txt: the model has 2 inputs, the first of them strings: give a file or column for each, \
in the order of the fit" \
    okra predict two.okra --x x.txt -o none.txt
[ ! -e none.txt ]

# Sequences of vectors in, their labels as strings out.
printf '1,0\n0,1\n1,1\n1,0\n' >pixels.csv
printf 'word_id\tposition\tletter\n0\t0\ta\n0\t1\tb\n1\t0\tc\n1\t1\ta\n' >letters.tsv
printf 'ab\nca\n' >words.txt
okra fit --x sequences:pixels.csv:letters.tsv --y words.txt \
    --kx 'position(poly(degree=3) | normalize)' --ky 'position(zero-one)' --lambda 1e-6 \
    -o w.okra --quiet
okra predict w.okra --x sequences:pixels.csv:letters.tsv -o p.txt --quiet
cmp words.txt p.txt
okra predict w.okra --x "sequences:$PWD/pixels.csv:$PWD/letters.tsv" -o p.txt --quiet
cmp words.txt p.txt

# Broken files are told by line and character; nothing is written.
printf 'ab\n\ncd\n' >bad.txt
expect_fail 1 "okra gram: bad.txt: line 2, character 1: the line is empty; expected one string per line" \
    okra gram --x bad.txt --kernel ssk -o none.npy
printf 'ab\nc\377\n' >bad.txt
expect_fail 1 "okra gram: bad.txt: line 2, character 2: not UTF-8 (byte 0xff)" \
    okra gram --x bad.txt --kernel ssk -o none.npy
[ ! -e none.npy ]
