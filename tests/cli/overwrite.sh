# A file that a command reads, or writes otherwise, is not written over: refused before any
# work, whatever the way to name it. okra update may replace its own model.
for i in 1 2 3 4 5 6 7 8; do echo "$i,$((i * i % 5))"; done >x.csv
cp x.csv y.csv
for i in 1 2 3 4 5 6 7 8; do echo a b; done | tr ' ' '\n' | head -8 >l.txt
okra fit -q --x x.csv --y y.csv -o m.okra
mkdir folder
cp x.csv folder/z.csv
ln -s ../x.csv folder/link.csv
sha256sum x.csv y.csv l.txt m.okra folder/z.csv >sums

no() { # TEXT COMMAND...
    local text=$1
    shift
    expect_fail 2 "okra $2: $text" "$@"
    sha256sum --quiet -c sums
}
no "-o x.csv is also the file of --x: name another" okra fit --x x.csv --y y.csv -o x.csv
no "-o y.csv is also the file of --y: name another" okra fit --x x.csv --y y.csv -o y.csv
no "-o csv:x.csv is also the file of --x: name another" okra predict m.okra --x x.csv -o csv:x.csv
no "-o ./y.csv is also the file of --y: name another" okra fit --x x.csv --y "$PWD/y.csv" -o ./y.csv
no "-o folder/link.csv is also the file of --x: name another" okra fit --x x.csv --y y.csv -o folder/link.csv
no "-o x.csv is also the file of --x: name another" okra fit --x folder/link.csv --y y.csv -o x.csv
no "-o y.csv is also the file of --y: name another" okra fit --x x.csv --y labels:csv:y.csv:1 -o y.csv
no "-o l.txt is also the file of --sample-weight: name another" okra fit --x x.csv --y y.csv --sample-weight l.txt -o l.txt
no "-o folder/z.csv is also the file of --x: name another" okra fit --x z.csv --data folder --y y.csv -o folder/z.csv
no "-o y.csv is also the file of --ky: name another" okra fit --x x.csv --y y.csv.gone --ky 'metric(file=y.csv)' -o y.csv
no "-o y.csv is also the file of --operator: name another" \
    okra fit --x x.csv --y y.csv.gone --operator matrix:y.csv -o y.csv
no "-o y.csv is also the file of --operator: name another" \
    okra fit --x x.csv --y y.csv.gone --operator graph:y.csv,mu=1 -o y.csv
no "-o y.csv is also the file of --graph: name another" \
    okra fit --x x.csv --y y.csv.gone --lambda2 1 --graph 'file(y.csv) | normalized' -o y.csv
no "-o x.csv is also the file of --x: name another" okra fit --x 'shards:?.csv' --y l.txt -o x.csv
printf 'x.csv\ny.csv\n' >names
no "-o y.csv is also the file of --x: name another" okra fit --x list:names --y l.txt -o y.csv
no "-o and --checkpoint both name 'new.okra'" \
    okra fit --x x.csv --y y.csv --solver cg --checkpoint new.okra -o new.okra
no "-o and --checkpoint both name './new.okra'" \
    okra fit --x x.csv --y y.csv --solver cg --checkpoint "$PWD/new.okra" -o ./new.okra
no "--checkpoint x.csv is also the file of --x: name another" okra fit --x x.csv --y y.csv --checkpoint x.csv -o new.okra
no "-o x.csv is also the file of --x: name another" okra select --x x.csv --y y.csv -o x.csv
no "-o and --resume both name 'new.okra'" okra select --x x.csv --y y.csv -o new.okra --resume new.okra
no "--cells and --plot both name 'new'" okra select --x x.csv --y y.csv --cells new --plot new
no "-o m.okra is also the file of MODEL: name another" okra predict m.okra --x x.csv -o m.okra
no "-o x.csv is also the file of --x: name another" okra predict m.okra --x x.csv -o x.csv
no "-o y.csv is also the file of --candidates: name another" okra predict m.okra --x x.csv --candidates y.csv -o y.csv
no "-o and --weights both name 'new.csv'" okra predict m.okra --x x.csv -o new.csv --weights new.csv
no "--confidence x.csv is also the file of --x: name another" okra predict m.okra --x x.csv -o new.csv --confidence x.csv
no "-o x.csv is also the file of --x: name another" okra update m.okra --x x.csv --y y.csv -o x.csv
no "-o x.csv is also the file of --x: name another" okra basis --x x.csv --kx linear --low-rank-x 'nystrom(rank=2)' -o x.csv
no "-o m.okra is also the file of MODEL: name another" okra merge m.okra m.okra -o m.okra
echo m.okra >models
expect_fail 2 "okra merge: -o m.okra is also one of the models: name another" okra merge --list models -o m.okra
no "--each y.csv is also the file of --y: name another" okra score --y y.csv --yhat x.csv --metric mse --each y.csv
no "-o y.csv is also the file of --edges: name another" okra link --x x.csv --edges y.csv -o y.csv
no "--network y.csv is also the file of --edges: name another" okra link --x x.csv --edges y.csv -o new.tsv --network y.csv
no "-o x.csv is also the file of RANKED.tsv: name another" okra fuse x.csv y.csv -o x.csv
no "-o x.csv is also the file of --x: name another" okra gram --x x.csv --kernel linear -o x.csv
no "-o x.csv is also the file of --x: name another" okra twin --x x.csv --y y.csv --kx linear --ky linear -o x.csv
no "-o x.csv is also the file of FILE.smi: name another" okra index x.csv --ky linear -o x.csv
no "-o m.okra is also the file of --model: name another" okra index x.csv --model m.okra -o m.okra
no "-o m.okra is also the file of RESULT: name another" okra report m.okra -o m.okra
for flag in "--interval 0.1 --bounds" "--set 0.1 --set-p-values"; do
    no "${flag##* } x.csv is also the file of --x: name another" okra predict m.okra --x x.csv $flag x.csv -o new.csv
    no "-o and ${flag##* } both name 'new.csv'" okra predict m.okra --x x.csv $flag new.csv -o new.csv
done
for flag in calibrate-x calibrate-y groups test-groups shift-weights test-shift-weights truth; do
    no "-o y.csv is also the file of --$flag: name another" okra predict m.okra --x x.csv --set 0.1 --$flag y.csv -o y.csv
done
# The commands that Python does: whatever way the flags are typed.
no "-o m.okra is also the file of MODEL: name another" okra explain m.okra --x x.csv -o m.okra
no "-o x.csv is also the file of --x: name another" okra explain -q -ox.csv --x=x.csv m.okra
no "-o folder/z.csv is also the file of --x: name another" okra next --data folder m.okra --x z.csv --output=folder/z.csv
no "-o x.csv is also the file of --x: name another" okra split --by random --x x.csv --folds 4 -o x.csv
no "-o ./folder/../y.csv is also the file of --key: name another" okra split --by groups --key y.csv:1 --folds 4 -o ./folder/../y.csv
no "-o y.csv is also the file of --sample-weight: name another" \
    okra audit --x x.csv --y l.txt --lambda 1 --sample-weight y.csv -o y.csv
no "-o y.csv is also the file of --ky: name another" okra audit --x x.csv --y l.txt --ky 'metric(file=y.csv)' -o y.csv
no "-o m.okra is also the file of --model: name another" okra audit --json --model m.okra -o m.okra
[ ! -e new.okra ]
[ ! -e new.csv ]

# Of every command: a flag whose value is a FILE, DIR or MODEL has a type that says so.
okra help --completion zsh >zsh
[ "$(grep -cE ':[^:]*\b(FILE|DIR|MODEL)\b[^:]*:_files' zsh)" -ge 60 ]
! grep -E ':[^:]*\b(FILE|DIR|MODEL)\b[^:]*:'"'" zsh

# What may be: devices twice, standard output, a model that is updated, a name in another folder.
okra predict -q m.okra --x x.csv -o csv:/dev/null --confidence /dev/null
expect 0 okra predict -q m.okra --x x.csv -o -
expect 0 okra update -q m.okra --x x.csv --y y.csv -o m.okra
expect 0 okra fit -q --x x.csv --y y.csv -o folder/x.csv
# The name of a column or a method is no file.
cp x.csv ridge
expect 0 okra fit -q --x x.csv --y y.csv --method ridge -o ridge

# What is asked for alone: -q prints nothing where a file was asked for, -o - the file.
if okra_in_python; then
    expect 0 okra split -q --by random --x x.csv --folds 4 -o folds.csv
    [ ! -s out ] && [ "$(wc -l <folds.csv)" = 8 ]
    okra split --by random --x x.csv --folds 4 -o - >shown
    expect_same shown folds.csv
    expect 0 okra explain -q m.okra --x x.csv -o explained.html
    [ ! -s out ]
    expect_in "<html" explained.html
fi
