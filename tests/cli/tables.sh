# Tables as people have them: texts that are strings or classes, first lines that are names or rows.

# a list of words without names: every pair counts, and the words are strings
printf 'walk\twalked\ntalk\ttalked\njump\tjumped\nplay\tplayed\n' >v.tsv
expect 0 okra fit --x v.tsv:1 --y v.tsv:2 -o v.okra
expect_in "outputs        strings, 4" out
expect_in "the first line (walk, walked) is taken as a row; --header yes (in Python header=True)" err
expect_in "the column 2 holds texts that mostly differ, read as strings; labels:v.tsv:2 reads them as class labels" err
[ "$(grep -c 'first line' err)" = 1 ]
expect 0 okra fit --header yes --x v.tsv:1 --y v.tsv:2 -o v.okra
expect_in "the same       okra fit --header yes --x v.tsv:1" out
expect_in "outputs        strings, 3" out
expect 0 okra fit --header no --x labels:v.tsv:1 --y labels:v.tsv:2 -o v.okra
expect_in "outputs        labels, 4 of width 4" out

# names: by their kind, by what repeats below them, by what they usually are, by --header
count() { okra gram -q "$@" -o g.csv 2>err && grep -c . g.csv; }
printf 'age,height\n1,2\n3,4\n' >n.csv
[ "$(count --x n.csv --kernel linear)" = 2 ]
printf 'when,what\n2024-01-01,a\n2024-01-02,b\n' >d.csv
[ "$(count --x strings:d.csv:2 --kernel ssk)" = 2 ]
(echo 'animal,kind'; for i in 1 2 3 4 5 6; do echo "beast$i,cat"; echo "monster$i,dog"; done) >r.csv
[ "$(count --x strings:r.csv:1 --kernel ssk)" = 12 ]
expect 0 okra gram --x strings:r.csv:1 --kernel ssk -o g.csv
expect_in "the first line (animal, kind) is taken as names of columns; --header no" err
printf 'lemma\tform\ngo\twent\nsee\tsaw\n' >u.tsv
[ "$(count --x strings:u.tsv:1 --kernel ssk)" = 2 ]
printf 'cat\tdog\ncow\tdog\npig\then\n' >again.tsv
expect 0 okra gram --x strings:again.tsv:1 --kernel ssk -o g.csv
[ "$(grep -c . g.csv)" = 3 ]
[ ! -s err ]
printf '2019,2020\n1,2\n3,4\n' >years.csv
[ "$(count --x years.csv --kernel linear)" = 3 ]
[ "$(count --header yes --x years.csv --kernel linear)" = 2 ]
[ "$(count --header yes --x years.csv:2020 --kernel linear)" = 2 ]
expect_fail 2 "okra gram: n.csv: there is no column 'age' among the 2 columns, which have no names (header no)" \
    okra gram --header no --x n.csv:age --kernel linear -o g.csv
# a number that stands in the first line is no name: column 1 it is
printf '5,1\n6,2\n7,3\n' >plain.csv
[ "$(count --x plain.csv:1 --kernel linear)" = 3 ]

# classes or strings: few texts that repeat, many that do not; the model decides for new files
(echo 'x,sort,word'; for i in 1 2 3 4 5 6 7 8; do echo "$i,$([ $((i % 2)) = 0 ] && echo even || echo odd),w$i"; done) >t.csv
expect 0 okra fit --x t.csv:x --y t.csv:sort --lambda 0.1 -o c.okra
expect_in "outputs        labels, 8 of width 2" out
expect_in "okra: t.csv: the column sort holds texts that mostly repeat, read as class labels; strings:t.csv:sort" err
expect 0 okra fit --x t.csv:x --y t.csv:word --lambda 0.1 -o s.okra
expect_in "outputs        strings, 8" out
expect 0 okra fit --x t.csv:sort --y t.csv:x --lambda 0.1 -o l.okra
printf 'sort\neven\nodd\n' >two.csv
expect 0 okra predict l.okra --x two.csv:sort -o p.csv
printf 'x\n1\n2\n' >new.csv
expect 0 okra update l.okra --x two.csv:sort --y new.csv -o l2.okra
[ ! -s err ]

# paradigms: a lemma comes again and again, and is a string beside a class; in any form of --x
for lemma in kanta bileno sorpe mida furno telka; do
    for ending in pst:ta prs:m fut:vor cnd:lisi; do echo "$lemma,${ending%:*},$lemma${ending#*:}"; done
done >words.csv
(echo 'lemma,tag,form'; cat words.csv) >named.csv
printf 'lemma,tag\nbolra,fut\nkirpe,prs\n' >new.csv
printf 'bolravor\nkirpem\n' >want
for x in "words.csv:1 --x words.csv:2 --y words.csv:3" "words.csv --y :3" "named.csv --y :form" \
    "named.csv:!form --y named.csv:form"; do
    expect 0 okra fit --x $x -o words.okra
    if grep -q ':1 ' <<<"$x"; then
        expect_in "are strings, as if given by --x strings:words.csv:1 --x words.csv:2" err
        okra predict -q words.okra --x new.csv:lemma --x new.csv:tag -o made.txt
    else
        expect_in "okra fit: texts like the outputs are strings, as if given by --x" err
        okra predict -q words.okra --x new.csv:tag --x new.csv:lemma -o made.txt
    fi
    expect_same want made.txt
done
expect_in "are strings, as if given by --x named.csv:tag --x strings:named.csv:lemma" err
for other in xlsx parquet json; do
    expect_fail 2 "okra fit: new.$other: okra does not read .$other files; save the table as .csv" \
        okra fit --x new.$other --y new.csv:tag -o no.okra
done
expect_fail 1 "okra predict: new.csv: the model has 2 inputs, the first of them labels: give a file or column for \
each, in the order of the fit" okra predict words.okra --x new.csv -o made.txt
(echo 'lemma,count,tag,form'; awk -F, -v OFS=, '{ print $1, NR % 3 ? NR : "", $2, $3 }' words.csv) >gaps.csv
expect 0 okra fit --x gaps.csv --y :form -o words.okra
expect_in "strings, as if given by --x gaps.csv:2,tag --x strings:gaps.csv:lemma" err
# columns that are left out stay out, whatever they are called and have; none is lost
(echo 'word form,lemma,tag,söne'; awk -F, -v OFS=, '{ print $3, $1, $2, NR % 3 ? "x" : "" }' words.csv) >odd.csv
expect 0 okra fit --x odd.csv --y 'odd.csv:word form' -o words.okra
expect_in "strings, as if given by --x odd.csv:tag,4 --x strings:odd.csv:lemma" err
expect 0 okra fit --x 'odd.csv:!söne' --y 'odd.csv:word form' -o words.okra
expect_in "inputs         dense" out # nobody knows which column has gaps and is söne
(echo "form,lemma,$(seq -s, -f t%g 80)"; awk -F, '{ print $3 "," $1 "," sep NR % 2 }' sep="$(seq -s, 79 | sed 's/[0-9][0-9]*/1/g')," \
    words.csv) >wide.csv
expect 0 okra fit --x wide.csv --y :form --ky spectrum --lambda 0.1 -o words.okra
expect_in "inputs         dense" out
expect 0 okra fit --x named.csv --y :form --kx 'rbf(sigma=1)' --lambda 0.1 -o words.okra
expect_in "inputs         dense" out
# classes all of which are rare leave nothing, and that is said
(echo 'x,zip,y'; for i in $(seq 120); do echo "$i,Z$((i % 24)),$((i * i))"; done) >zip.csv
expect 0 okra fit --x zip.csv --y :y --kx linear --lambda 0.1 -o zip.okra
expect_in "okra: warning: zip.csv: left out: zip (each text is rare)" err

# a column of the same table; real numbers have no accuracy
printf 'age,price\n1,2.5\n3,4\n5,6\n' >p.csv
expect 0 okra fit --x p.csv --y :price --kx linear --lambda 0.1 -o p.okra
expect_in "x is p.csv without the column 'price', which is y" err
expect_in "inputs         dense, 3 of width 1" out
expect_fail 1 "okra fit: --y price: there is no such file; a column of --x is --y :price" \
    okra fit --x p.csv --y price -o no.okra
expect_fail 2 "okra score: metric accuracy: the truth holds 2.5; it compares classes, sets and texts: r2, rmse \
and mae are for numbers" okra score --y p.csv:price --yhat p.csv:price --metric accuracy

# numbers, classes, dates and gaps in one table of inputs; new tables are read by the model's names
need_python
"$PYTHON" - <<'END'
import csv, random
random.seed(1)
towns = {"Paris": 30, "Rome": 10, "Oslo": 20}
def write(name, n, price):
    with open(name, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["id", "size", "age", "town", "sold"] + (["price"] if price else []))
        for i in range(n):
            size, age, town, day = random.uniform(20, 90), random.randint(0, 50), random.choice(list(towns)), random.randint(1, 28)
            out.writerow([f"house{i}x", round(size, 2), "" if i % 9 == 4 else age, town, f"2024-0{1 + i % 6}-{day:02}"]
                         + ([round(size + towns[town] - 0.2 * age, 3)] if price else []))
write("houses.csv", 150, True)
write("new.csv", 5, False)
write("truth.csv", 40, True)
END
expect 0 okra fit --x houses.csv --y :price -o h.okra
expect_in "inputs         dense, 150 of width 7" out
expect_in "5 columns become 7 numbers; dates are days; a class is 0 or 1 for each of its texts; gaps are the mean, \
and 1 in a column of their own" err
expect_in "okra: warning: houses.csv: left out: id, whose texts mostly differ; FILE:COLUMN beside it reads" err
expect 0 okra predict h.okra --x new.csv -o new_price.csv
[ "$(grep -c . new_price.csv)" = 5 ]
okra predict -q h.okra --x truth.csv -o guessed.csv
expect 0 okra score --y truth.csv:price --yhat guessed.csv --metric r2
awk '{ exit !($2 > 0.9) }' out
expect 0 okra info h.okra --json
for name in size age '"age missing"' town=Oslo town=Paris town=Rome sold; do
    expect_in "$name" out
done
# a text among numbers is still a fault, with its place
sed '3s/,[0-9.]*,/,big,/' houses.csv >fault.csv
expect 1 okra fit --x fault.csv --y :price -o f.okra
expect_in "fault.csv: line 3, column 2: 'big' is not a number" err

# a column with gaps alone, a table of numbers with gaps and without names, a file of one column of texts
expect 0 okra fit --x houses.csv:age --x houses.csv:town --x houses.csv:size --y houses.csv:price -o f.okra
expect_in "houses.csv: 1 columns become 2 numbers; gaps are the mean" err
okra predict -q f.okra --x truth.csv:age --x truth.csv:town --x truth.csv:size -o guessed.csv
expect 0 okra score --y truth.csv:price --yhat guessed.csv --metric r2
awk '{ exit !($2 > 0.9) }' out
tail -n +2 houses.csv | cut -d, -f2,3 >bare.csv
expect 0 okra fit --x bare.csv --y houses.csv:price -o f.okra
expect_in "inputs         dense, 150 of width 3" out
okra predict -q f.okra --x bare.csv -o guessed.csv
[ "$(grep -c . guessed.csv)" = 150 ]
cut -d, -f4 houses.csv | tail -n +2 >towns.csv
expect 0 okra fit --x bare.csv --y towns.csv -o f.okra
expect_in "outputs        labels, 150 of width 3" out
expect_in "labels; strings:towns.csv:1 reads them as strings" err
okra predict -q f.okra --x bare.csv -o guessed.csv
expect 0 okra score --y towns.csv --yhat guessed.csv --metric accuracy
# the one column that is left is read as if it had been named
expect 0 okra fit --x v.tsv --y v.tsv:2 -o f.okra
expect_in "inputs         strings, 4" out
printf '1\n2\nbig\n4\n' >typo.csv
expect 1 okra fit --x typo.csv --y typo.csv -o f.okra
expect_in "typo.csv: line 3, column 1: 'big' is not a number" err

# molecules: a column of SMILES, alone and beside others; of a list of words nothing is a molecule
"$PYTHON" - <<'END'
import random
random.seed(2)
def write(name, n):
    with open(name, "w") as file:
        print("id,structure,town,heavy", file=file)
        for i in range(n):
            parts = random.choices(["C", "O", "C(F)", "CC(=O)", "N"], k=random.randint(3, 9))
            town = random.choice(["Paris", "Rome"])
            print(f"m{i},C{''.join(parts)}C,{town},{len(parts) + 3 * (town == 'Rome')}", file=file)
write("drugs.csv", 120)
write("more.csv", 40)
END
expect 0 okra fit --x drugs.csv --y :heavy -o f.okra
expect_in "inputs         tuple, 120 of width 2" out
expect_in "3 columns become 2 numbers; a class is 0 or 1 for each of its texts; structure: molecules" err
okra predict -q f.okra --x more.csv -o guessed.csv
expect 0 okra score --y more.csv:heavy --yhat guessed.csv --metric r2
awk '{ exit !($2 > 0.5) }' out
head -2 more.csv >one.csv
okra predict -q f.okra --x one.csv -o one_guess.csv
# one row as many: OpenBLAS's code for AVX-512 sums them in another order (3e-15 of the value)
paste one_guess.csv <(head -1 guessed.csv) | awk '{ d = $1 / $2 - 1; exit !(d < 1e-13 && d > -1e-13) }'
cut -d, -f1,3 more.csv >none.csv
expect_fail 2 "okra predict: none.csv: columns of molecules (SMILES): 1 in the model, found 0" \
    okra predict f.okra --x none.csv -o p.csv
expect 0 okra fit --x drugs.csv:structure --y drugs.csv:heavy -o f.okra
expect_in "inputs         graphs, 120" out
expect_in "the column structure holds SMILES, read as molecules; strings:drugs.csv:structure reads them as strings" err
okra predict -q f.okra --x more.csv:structure -o guessed.csv
[ "$(grep -c . guessed.csv)" = 40 ]
expect 0 okra fit --x v.tsv:1 --y v.tsv:2 -o f.okra
expect_in "inputs         strings, 4" out

# a column without a name that counts rows (pandas, R), and one that is empty, are left out; others are not
for line in ',a,b' '"","a","b"' 'a,b,'; do
    (echo "$line"; for i in 1 2 3 4 5 6; do [ "$line" = a,b, ] && echo "$i,7," || echo "$i,$i,7"; done) >index.csv
    [ "$(count --x index.csv --kernel linear)" = 6 ]
    expect 0 okra fit --x index.csv --y :a --lambda 1 -o f.okra
    expect_in "which has no name and" err
    expect_in "inputs         dense, 6 of width 1" out
done
printf ',a\n3,1\n9,2\n4,5\n' >index.csv
okra gram --x index.csv --kernel linear -o g.csv
[ "$(head -n 1 g.csv | cut -d, -f1)" = 10 ]

# categories alone: the first line is a row where its texts come again
for i in 1 2 3 4 5; do printf 'red,S\nblue,M\n'; done >kinds.csv
seq 1 10 >ten.csv
expect 0 okra fit --x kinds.csv --y ten.csv --lambda 1 -o f.okra
expect_in "inputs         dense, 10 of width 4" out

# fields between something else than commas or tabs
seq 1 9 | sed 's/.*/& &/' >blanks.csv
expect_fail 1 "okra gram: blanks.csv: line 1: '1 1' are several numbers; fields stand between commas in .csv files, \
between tabs in .tsv files" okra gram --x blanks.csv --kernel ssk -o g.csv

# another encoding
printf '\377\376a\000,\000b\000\n\000' >wide.csv
expect_fail 1 "okra gram: wide.csv: text in UTF-16; expected UTF-8: iconv -f UTF-16 -t UTF-8 makes it" \
    okra gram --x wide.csv --kernel linear -o g.csv

# one broken SMILES does not make strings of a column of them
sed '9s/,C[^,]*,/,C(,/; 1s/structure/Smiles/' drugs.csv >broken.csv
for x in broken.csv broken.csv:Smiles; do
    expect 1 okra fit --x $x --y broken.csv:heavy -o f.okra
    expect_in "SMILES 7 (counted from 0): character 2: branch is not closed '('" err
done

# what a model does not know: a column that is not there, a text, a class, one input of two
awk 'BEGIN { print "town,kind,n"; for (i = 0; i < 40; i++) print (i % 2 ? "Paris" : "Rome") "," (i % 3 ? "u" : "v") "," i }' >two.csv
okra fit -q --x two.csv --y :n --lambda 1 -o f.okra
expect 2 okra predict f.okra --x 'two.csv:!town' -o g.csv
expect_in "there is no column 'town', which the model has" err
sed 's/Paris/paris/' two.csv | sed 's/Rome/rome/' >lower.csv
expect 0 okra predict f.okra --x lower.csv -o g.csv
expect_in "column 'town': 40 of 40 texts are none of the model's, such as 'rome' of row 0 (from 0)" err
expect 0 okra predict f.okra --x two.csv -o g.csv
refute grep -q "none of the model's" err
okra fit -q --x two.csv:town --x two.csv:n --y two.csv:kind --kx 'zero-one@1 + linear@2' --lambda 1 -o f.okra
expect 0 okra predict f.okra --x lower.csv:town --x two.csv:n -o g.csv
expect_in "40 of 40 class labels are none of the model's, such as 'rome' of row 0 (from 0)" err
expect 1 okra predict f.okra --x two.csv -o g.csv
expect_in "the model has 2 inputs, the first of them labels: give a file or column for each, in the order of the fit" err
