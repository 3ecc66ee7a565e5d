# okra fit --method constrained and jkm: sequences by near positions, images by patches.
printf 'sequence\tposition\tletter\n' >t.tsv
printf '1,0\n0,1\n1,0\n0,1\n0,1\n1,0\n' >v.csv
printf 'ab\nab\nba\n' >y.txt
for w in 0 1 2; do
    for p in 0 1; do printf '%s\t%s\tx\n' $w $p; done
done >>t.tsv
common=(--x sequences:v.csv:t.tsv --y y.txt --ky 'position(zero-one)' --method constrained)
okra fit -q "${common[@]}" --kx 'position(linear)' --reach 0 --lambda 0.01 -o m.okra
okra predict -q m.okra --x sequences:v.csv:t.tsv --decode position -o p.txt
expect_same y.txt p.txt
expect 0 okra info m.okra
expect_in "method         constrained" out
expect 0 okra select "${common[@]}" --kx 'position(linear)' --reach '{0,1}' --leak '{0,0.5}' \
    --lambda 0.01,0.1 --decode position --metric characters --cv kfold:3
expect_in "8 cells; the best:" out
expect_fail 1 "okra predict: decoder candidates: this model predicts embeddings that its output \
kernel does not measure" \
    okra predict m.okra --x sequences:v.csv:t.tsv --decode candidates -o no.txt

# images of 2 x 3: the output is the input, patch by patch
printf '1,0,0,0,1,0\n0,1,0,0,0,1\n0,0,1,1,0,0\n1,1,0,0,1,1\n' >images.csv
okra fit -q --x images.csv --y images.csv --method jkm --lambda 1e-9 \
    --kx 'patches(linear,width=3,patch=2,overlap=1)' -o j.okra
okra predict -q j.okra --x images.csv --decode candidates -o j.csv
expect_same images.csv j.csv
expect 0 okra select --x images.csv --y images.csv --method jkm --lambda 0.01,0.1 \
    --kx 'patches(rbf(sigma={1,2}),width=3,patch=2,overlap=1)' --decode explicit --metric mse
expect_in "loo of 4 pairs, in closed form" out
