# Files and links that others put where a command writes: no writer follows a stranger's link in a
# folder that all may write to, none widens permissions, and killed writers leave nothing for ever.
for i in 1 2 3 4 5 6 7 8; do echo "$i,$((i * i % 5))"; done >x.csv
cp x.csv y.csv
okra fit -q --x x.csv --y y.csv --lambda 0.1 -o m.okra
printf 'smiles\nCCO\nCCN\nCCC\n' >list.smi
head -4 x.csv >half.csv
okra basis -q --x x.csv --kx linear --low-rank-x 'nystrom(rank=2)' -o b.okra
okra fit -q --x x.csv --y y.csv --basis b.okra --lambda 0.1 -o one.okra
okra fit -q --x half.csv --y half.csv --basis b.okra --lambda 0.1 -o two.okra
printf '0\t1\n1\t2\n2\t3\n3\t4\n5\t6\n' >edges.tsv
okra predict -q m.okra --x x.csv --candidates y.csv --top 2 -o ranked.tsv
echo secret >victim
chmod 600 victim

# Each writer: a model, data, a table of the program, cells, a plot and finished work of a choice.
writers() { # TARGET
    cat <<END
okra fit -q --x x.csv --y y.csv --lambda 0.1 -o $1.okra
okra predict -q m.okra --x x.csv -o $1.npy
okra predict -q m.okra --x x.csv -o $1.csv
okra select -q --x x.csv --y y.csv --lambda 0.1,1 --cv kfold:2 --cells $1.cells
okra select -q --x x.csv --y y.csv --lambda 0.1,1 --cv kfold:2 --plot $1.svg
okra select -q --x x.csv --y y.csv --lambda 0.1,1 --cv kfold:2 --resume $1.journal
okra gram -q --x x.csv --kernel linear -o $1.npy
okra update -q m.okra --x x.csv --y y.csv -o $1.okra
okra merge -q one.okra two.okra -o $1.okra
okra basis -q --x x.csv --kx linear --low-rank-x 'nystrom(rank=2)' -o $1.okra
okra twin -q --x x.csv --y y.csv --kx linear --ky linear -o $1.json
okra link -q --x x.csv --edges edges.tsv -o $1.tsv
okra fuse -q ranked.tsv ranked.tsv -o $1.tsv
END
    ! okra_in_python || cat <<END
okra split -q --by random --x x.csv --folds 2 -o $1.csv
okra explain -q m.okra --x x.csv --rows 0 -o $1.html
$PYTHON -m okra convert m.mat -o $1.npz
END
}
export PYTHONPATH=$ROOT/python OKRA_LIBRARY=$(dirname "$(realpath "$(command -v okra)")")/libokra.so
[ -z "$PYTHON" ] || "$PYTHON" -c 'import scipy.io; scipy.io.savemat("m.mat", {"x": [[1.0, 2.0]]})'
same() { # the victim is as it was
    [ "$(cat victim)" = secret ] || complain "the victim was written: $1"
    [ "$(stat -c %a victim)" = 600 ] || complain "its permissions were widened: $1"
}

mkdir sticky
chmod 1777 sticky
if [ "$(id -u)" = 0 ]; then
    writers sticky/t | while read -r line; do
        target=$(grep -o 'sticky/t[a-z.]*' <<<"$line")
        ln -sf "$PWD/victim" "$target"
        chown -h 65534 "$target"
        chown 65533 sticky
        run_ bash -c "$line"
        [ "$status" != 0 ] || complain "a stranger's link was followed: $line"
        grep -qE "another user put a symbolic link there|Permission denied|not the finished work" err ||
            { cat err >&2; complain "no word of the link: $line"; }
        [ -L "$target" ] || complain "the link was replaced: $line"
        same "$line"
        rm "$target"
        mkfifo "$target"
        chown 65534 "$target"
        run_ timeout 20 bash -c "$line"
        [ "$status" != 0 ] && [ "$status" != 124 ] || complain "a stranger's pipe: status $status: $line"
        rm -f "$target"
    done
    # Folders on the way that are links, to the folder or to such a link; a run of a paper's table that goes on.
    mkdir inner
    ln -s "$PWD/inner" sticky/folder
    ln -s sticky/folder led
    chown -h 65534 sticky/folder
    for folder in sticky/folder led sticky/folder/../inner; do
        writers $folder/t | while read -r line; do
            run_ bash -c "$line"
            [ "$status" != 0 ] || complain "a stranger's folder was entered: $line"
            expect_in "another user put a symbolic link there" err
            [ -z "$(ls inner)" ] || complain "in the folder of a stranger's link: $line: $(ls inner)"
        done
    done
    expect 1 okra paper -q brouard-fig3 --quick --results sticky/folder
    expect_in "another user put a symbolic link there" err
    [ -z "$(ls inner)" ] || complain "results in the folder of a stranger's link: $(ls inner)"
    for end in claims partial; do
        file=sticky/brouard-fig3-quick-seed0.$end
        ln -s "$PWD/victim" $file
        expect 1 okra paper -q brouard-fig3 --quick --results sticky
        expect_in "$file: Too many levels of symbolic links" err
        same "$file"
        rm $file
        mkfifo $file
        expect 1 timeout 20 okra paper -q brouard-fig3 --quick --results sticky
        expect_in "$file: File exists" err
        rm $file
    done
    # What root updates stays the user's.
    cp m.okra theirs.okra
    chown 65534:65533 theirs.okra
    chmod 640 theirs.okra
    okra fit -q --x x.csv --y y.csv --lambda 0.2 -o theirs.okra
    [ "$(stat -c %u:%g:%a theirs.okra)" = 65534:65533:640 ] || complain "$(stat -c %u:%g:%a theirs.okra)"
fi

# An own link stays one, in any folder; so does one that names nothing yet.
chown "$(id -u)" sticky
writers sticky/own | while read -r line; do
    target=$(grep -o 'sticky/own[a-z.]*' <<<"$line")
    case $target in *journal) continue ;; esac
    : >real
    chmod 600 real
    ln -s ../real "$target"
    bash -c "$line" >/dev/null
    [ -L "$target" ] && [ -s real ] && [ "$(stat -c %a real)" = 600 ] || complain "own link: $line"
    rm "$target" real
    ln -s ../real "$target"
    bash -c "$line" >/dev/null
    [ -L "$target" ] && [ -s real ] || complain "own link to nothing: $line"
    rm "$target" real
done

# The unfinished work of an index is a folder of the caller's own that holds plain files.
unfinished() { # COMMAND that plants something in i.okx.part
    mkdir i.okx.part
    eval "$1"
    expect 1 timeout 20 okra index -q list.smi -o i.okx --ky ecfp
    expect_in "remove it" err
    [ ! -e i.okx ] || complain "an index in spite of: $1"
    same "$1"
    rm -rf i.okx.part
}
unfinished 'mkfifo i.okx.part/shard-00000'
unfinished 'ln -s ../victim i.okx.part/shard-00000'
unfinished 'ln -s /dev/zero i.okx.part/shard-00000'
unfinished 'ln -s ../victim i.okx.part/index.json'
unfinished 'rmdir i.okx.part; mkdir else; ln -s else i.okx.part'
unfinished 'rmdir i.okx.part; mkfifo i.okx.part'
[ "$(id -u)" != 0 ] || unfinished 'chown 65534 i.okx.part'
okra index -q list.smi -o i.okx --ky ecfp
rm -r i.okx

# Left-overs of killed writers go with the next one of that name, but none of a living writer, of
# another name, or that is no plain file.
touch m2.okra.0123abcd.tmp other.okra.0123abcd.tmp m2.okra.0123abcx.tmp m2.okra.11111111.tmp
mkfifo m2.okra.22222222.tmp
ln -s victim m2.okra.33333333.tmp
exec 7>>m2.okra.11111111.tmp
flock 7
okra fit -q --x x.csv --y y.csv --lambda 0.1 -o m2.okra
[ ! -e m2.okra.0123abcd.tmp ] || complain "a left-over stays"
for file in other.okra.0123abcd.tmp m2.okra.0123abcx.tmp m2.okra.11111111.tmp m2.okra.22222222.tmp m2.okra.33333333.tmp; do
    [ -e "$file" ] || complain "$file is gone"
done
exec 7>&-
touch m2.svg.tmpabcd_123 m2.svg.tmpzzzz_999
exec 7>>m2.svg.tmpzzzz_999
flock 7
okra select -q --x x.csv --y y.csv --lambda 0.1,1 --cv kfold:2 --plot m2.svg
[ ! -e m2.svg.tmpabcd_123 ] || complain "a left-over of a page stays"
[ -e m2.svg.tmpzzzz_999 ] || complain "the file of a living writer of a page is gone"
exec 7>&-
same "left-overs"

# Names up to the system's limit.
long=$(printf 'n%.0s' {1..250}).okra
okra fit -q --x x.csv --y y.csv --lambda 0.1 -o "$long"
cmp "$long" m2.okra
expect 1 okra fit -q --x x.csv --y y.csv --lambda 0.1 -o "n$long"
expect_in "File name too long" err
