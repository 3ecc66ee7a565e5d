# okra fit without kernels or lambda: what is chosen, for every kind of objects, and for data
# that leave nothing to choose.
source "$ROOT/tests/cli/lib/small.bash"

# The command that is told gives the same model, to the byte.
again() {
    expect 0 okra fit "$@" -o chosen.okra
    cp out told
    sed -n 's/^the same  *//p' told | sed 's/chosen\.okra$/again.okra/' >command
    bash -e command >out2
    if grep -q '^the same' out2; then
        echo "something was chosen again: $(cat command)" >&2
        exit 1
    fi
    expect_same chosen.okra again.okra
}

# numbers: the vector itself
again --x x.csv --y y.csv
expect_in "chosen         leave-one-out on 8 pairs: " told
expect_in "ky             linear" told
expect_in "standardize" told
expect_in "center-output  yes" told
expect 0 okra predict chosen.okra --x tx.csv -o p.csv
[ "$(grep -cxFf y.csv p.csv)" = 0 ]
expect 0 okra fit --x x.csv --y y.csv -o c.okra --json
expect_in '"command": "okra fit --x x.csv --y y.csv --kx ' out
expect_in '"chosen": "leave-one-out on 8 pairs: ' out
okra fit -q --x x.csv --y y.csv -o c.okra >out
[ ! -s out ]
expect_same c.okra chosen.okra

# lists of lambdas: the kernel is chosen, one model for each
expect 0 okra fit --x x.csv --y y.csv --lambda 0.1,1 -o 'm-{lambda}.okra'
expect_in "--lambda 0.1,1" out
[ -e m-0.1.okra ]
[ -e m-1.okra ]

# rows of 0 and 1: label sets
printf '1,0,0\n1,1,0\n0,1,0\n0,1,1\n1,0,0\n1,1,0\n0,1,0\n0,1,1\n' >sets.csv
again --x x.csv --y sets.csv
expect_in "decode         labels" told
okra predict -q chosen.okra --x tx.csv -o p.csv
if grep -q '[^01,]' p.csv; then exit 1; fi

# effort: how many pairs are looked at
awk 'BEGIN { srand(5); for (i = 0; i < 400; i++) { a = 6 * rand(); print a > "many_x.csv"; print sin(a) > "many_y.csv" } }'
for effort in quick:300 normal:400 thorough:400; do
    expect 0 okra fit --x many_x.csv --y many_y.csv --effort "${effort%:*}" -o e.okra
    expect_in "leave-one-out on ${effort#*:} " out
    if grep -q -- '--effort' out; then exit 1; fi
done

# one value far from the others
awk 'NR == 8 { print 90000; next } { print }' many_y.csv >outlier.csv
expect 0 okra fit --x many_x.csv --y outlier.csv --effort quick -o e.okra
expect_in "outputs: row 7 has 9e+04 in column 0, " err
awk 'NR == 8 { sub(/^[^,]*/, "1e9") } { print }' many_x.csv >outlier.csv
expect 0 okra fit --x outlier.csv --y many_y.csv --effort quick -o e.okra
expect_in "inputs: row 7 has 1e+09 in column 0, " err
expect 0 okra fit --x many_x.csv --y many_y.csv --effort quick -o e.okra
if grep -q 'deviations away' err; then exit 1; fi
# a column that is nearly all zeros has rare values, no outlier
awk '{ print $0 "," (NR == 8 ? 90000 : 0) }' many_y.csv >sparse.csv
expect 0 okra fit --x many_x.csv --y sparse.csv --effort quick -o e.okra
if grep -q 'deviations away' err; then exit 1; fi

# what was learned, beside an answer that needs no inputs; sparse sets: F1 of an expert or better
awk 'BEGIN { srand(3); for (i = 0; i < 240; i++) { f = i < 160 ? "tr" : "te";
    a = 2 * rand() - 1; b = 2 * rand() - 1; c = 2 * rand() - 1; print a "," b "," c > (f "_x.csv")
    s = ""; any = 0
    for (j = 0; j < 12; j++) {
        on = sin(3 * j) * a + cos(5 * j) * b + sin(7 * j) * c + 0.6 * (rand() - 0.5) > 0.75
        any += on; if (j == 11 && !any) on = 1
        s = s (j ? "," : "") on }
    print s > (f "_sets.csv"); print(a * b > 0 ? "p" : "m") > (f "_class.csv")
    print(rand() > 0.4 ? "p" : "m") > (f "_coin.csv") } }'
f1() { okra score --y te_sets.csv --yhat p.csv --metric f1:average=example | awk '{ print $NF }'; }
expect 0 okra fit --x tr_x.csv --y tr_sets.csv -o s.okra
expect_in "left out       F1 0." out
expect_in "; the most frequent set: 0." out
okra predict -q s.okra --x te_x.csv -o p.csv
own=$(f1)
cut -d, -f1-3 tr_sets.csv >few_sets.csv # some are empty: no fold that is thrown away warns
expect 0 okra fit --x tr_x.csv --y few_sets.csv --effort quick -o e.okra
refute grep -q 'nothing to compare' err
okra fit -q --x tr_x.csv --y tr_sets.csv --ky tanimoto --decode labels -o t.okra
okra predict -q t.okra --x te_x.csv -o p.csv
tanimoto=$(f1)
okra predict -q s.okra --x te_x.csv --decode labels -o p.csv # cut at 1/2
half=$(f1)
awk -v a="$own" -v b="$tanimoto" -v c="$half" 'BEGIN { exit !(a > b - 0.02 && a > c + 0.02) }' ||
    { echo "F1 of the choice $own, tanimoto $tanimoto, cut at 1/2 $half" >&2; exit 1; }
# no threshold serves both halves: tanimoto, but a kernel or a decoder that is given stays
awk 'BEGIN { srand(1); for (i = 0; i < 200; i++) { split("", on); u = rand(); print i % 2 "," rand() / 5 > "two_x.csv"
    if (i % 2 && u < 0.6) on[0] = 1
    else if (i % 2) for (j = 1; j < 13; j++) on[j] = 1
    else if (u < 0.4) for (j = 13; j < 17; j++) on[j] = 1
    else { k = int(6 * rand()); on[17 + k] = 1; on[17 + (k + 1) % 6] = 1 }
    s = on[0] + 0; for (j = 1; j < 23; j++) s = s "," on[j] + 0
    print s > "two_sets.csv" } }'
again --x two_x.csv --y two_sets.csv
expect_in "ky             tanimoto" told
grep '^chosen' told >of_tanimoto
again --x two_x.csv --y two_sets.csv --ky linear
expect_in "ky             linear" told
if grep '^chosen' told | cmp -s - of_tanimoto; then exit 1; fi # what is printed is that of the choice
again --x two_x.csv --y two_sets.csv --decode labels:threshold=auto
expect_in "ky             linear" told
expect_in "decode         labels:threshold=0." told

expect 0 okra fit --x tr_x.csv --y labels:tr_class.csv -o s.okra --json
expect_in '"measure": "error rate"' out
expect_in '"nothing": false' out
expect 0 okra fit --x tr_x.csv --y labels:tr_coin.csv -o s.okra
expect_in "the best setting is no better than the most frequent class (error rate 0." err

# classes, strings, strings to strings of their lengths, molecules, nodes, several inputs
printf 'a\nb\na\nb\na\nb\nb\na\n' >classes.csv
again --x x.csv --y labels:classes.csv
expect_in "ky             zero-one" told
printf 'abab\nbaba\nabba\nbbbb\naaaa\nabaa\nbabb\nbaab\n' >words.txt
tr ab xy <words.txt >other.txt
again --x words.txt --y other.txt
expect_in "ky             position(zero-one" told
expect_in "decode         position" told
expect_in "--kx 'position(zero-one)'" told # each letter depends on the one in its place
okra predict -q chosen.okra --x words.txt -o p.txt
[ "$(grep -c '^[xy][xy][xy][xy]$' p.txt)" = 8 ]
sed 's/^/n/' other.txt >longer.txt
again --x words.txt --y longer.txt
expect_in "ky             spectrum(k=1) + spectrum(k=2) + spectrum(k=3) | normalize" told
okra predict -q chosen.okra --x words.txt -o p.txt
[ "$(grep -cxFf longer.txt p.txt)" = 8 ]
# inputs with a few letters changed: edits
for w in kat kot bak dol fim gur lop mos nat pit rak sul tam vok wex zib; do
    echo $w
    echo ${w}a$w
done >stems.txt
sed 's/[ts]$/&e/; s/$/s/' stems.txt >forms.txt
again --x stems.txt --y forms.txt
expect_in "decode         rewrite" told
printf 'bat\nrol\n' >new.txt
okra predict -q chosen.okra --x new.txt -o p.txt
[ "$(tr '\n' ' ' <p.txt)" = "bates rols " ]
okra predict -q chosen.okra --x new.txt --candidates forms.txt -o p.txt # of a list all the same
[ "$(grep -cxFf forms.txt p.txt)" = 2 ]
# tags as texts: those that come again are classes
awk '{ print NR % 2 ? "V;PST" : "V;PRS" }' stems.txt >tags.txt
awk '{ print $0 (NR % 2 ? "ta" : "nin") }' stems.txt >tagged.txt
again --x stems.txt --x tags.txt --y tagged.txt
expect_in "(zero-one@2 + 0.2)*" told
printf 'V;PST\nV;PRS\n' >new_tags.txt
okra predict -q chosen.okra --x new.txt --x new_tags.txt -o p.txt
[ "$(tr '\n' ' ' <p.txt)" = "batta rolnin " ]
sort -R --random-source=stems.txt forms.txt >mixed.txt # not edits of their inputs
expect 0 okra fit --x stems.txt --y mixed.txt -o c.okra
if grep -q rewrite out; then exit 1; fi

# words in another alphabet that hardly come again: written letter by letter
awk 'BEGIN {
    s = 7
    for (i = 0; i < 90; i++) {
        w = ""
        for (k = 0; k < 3 + i % 3; k++) {
            s = (s * 1103 + 12345) % 65536
            w = w substr("abcdef", 1 + int(s / 97) % 6, 1)
        }
        print w
    }
}' | sort -u | awk '{ print NR * 7 % 31, $0 }' | sort -n | cut -d ' ' -f 2 >all_words.txt
tail -n +11 all_words.txt >wx.txt
tr a-e KLMNO <wx.txt | sed "s/f/PQ/g" >wy.txt
again --x wx.txt --y wy.txt
expect_in "decode         transcribe" told
expect_in "left out       exact matches" told
head -10 all_words.txt >new.txt
expect 0 okra predict chosen.okra --x new.txt -o p.txt
tr a-e KLMNO <new.txt | sed "s/f/PQ/g" >truth.txt
[ "$(paste -d = p.txt truth.txt | awk -F = '$1 == $2' | wc -l)" = 10 ]
[ "$(grep -cxFf wy.txt truth.txt)" = 0 ]
# signs of one character or two with blanks between them are letters, too: 3 signs at most for a letter, not 3 characters
spell() { tr a-e KLMNO <"$1" | sed 's/f/P:Q/g; s/K/R~K~/g; s/[A-Z][:~]*/ &/g; s/:/h/g; s/~/ː/g; s/^ //'; }
spell wx.txt >wy.txt
[ "$(wc -m <wy.txt)" -gt "$(($(wc -m <wx.txt) * 5 / 2))" ]
again --x wx.txt --y wy.txt
expect_in "decode         transcribe" told
expect 0 okra predict chosen.okra --x new.txt -o p.txt
spell new.txt | cmp - p.txt
expect 0 okra predict chosen.okra --x new.txt --top 2 -o top.tsv
grep -q "$(printf '\t%s$' "$(head -1 p.txt)")" top.tsv
# words whose class is their ending
awk '{ stem = substr($0 $0 $0, 1, 2 + NR % 9); print stem "abcd"; print stem "badc"; print stem "bcad" }' all_words.txt >ended.txt
sed 's/.*abcd$/one/; s/.*badc$/two/; s/.*bcad$/three/' ended.txt >classes.txt
again --x ended.txt --y labels:classes.txt
expect_in "kx             ends" told
printf 'CCO\nCCC\nc1ccccc1\nCO\nCN\nCCN\nCCCO\nCCCC\n' >m.smi
again --x m.smi --y y.csv
# a mass is a sum over atoms
awk 'BEGIN { srand(4); for (i = 0; i < 60; i++) { mass = 0; text = ""
    for (k = 3 + int(12 * rand()); k > 0; k--) { a = rand(); mass += a < 0.7 ? 12 : a < 0.85 ? 14 : 16; text = text (a < 0.7 ? "C" : a < 0.85 ? "N" : "O") }
    print text > "chains.smi"; print mass > "masses.csv" } }'
again --x chains.smi --y masses.csv
expect_in " + 0.02*ecfp(radius=1,count=" told
again --x x.csv --y m.smi
expect_in "--ky '(ecfp(radius=1,bits=2048) | tanimoto) + (composition(bits=512) | tanimoto)'" told
# of 50 molecules or more: by the rank of the truth among those left out together
"$PYTHON" - <<'END'
import random
random.seed(3)
with open("ranked.smi", "w") as y, open("ranked.csv", "w") as x:
    for i in range(60):
        carbons, oxygens = 1 + i % 15, i // 15
        y.write("C" * carbons + "OC" * oxygens + "\n")
        x.write(f"{carbons + random.gauss(0, 0.2)},{oxygens + random.gauss(0, 0.2)}\n")
END
again --x ranked.csv --y ranked.smi
expect_in "chosen         kfold:5 on 60 pairs" told
expect_in "the best with mrr" told
if grep -q center-output told; then exit 1; fi
expect 0 okra select --x ranked.csv --y ranked.smi --kx 'rbf(sigma=1)' --lambda 0.01,1 --metric hit-rate:k=3 --cv kfold:4
expect_in "hit-rate:k=3" out
# a window: the truth alone is left of each mass, so that it is found
expect 0 okra select --x ranked.smi --y ranked.smi --kx 'ecfp | tanimoto' --lambda 0.1 --metric mrr --cv loo --within mass=1ppm
expect_in "mrr            1 +- 0" out
expect_fail 2 "okra select: a window says which candidates are put in order, and metric mse puts none: expected mrr or hit-rate" \
    okra select --x x.csv --y y.csv --lambda 1 --metric mse --within mass=1ppm
printf '0 1\n1 2\n2 3\n3 4\n4 5\n5 6\n6 7\n' >n.edges
again --x n.edges --y y.csv
again --x x.csv --y n.edges
expect_in "ky             diffusion(beta=" told
again --x x.csv --x words.txt --y y.csv
expect_in "@" told
# of three descriptions, one of which says more and one nothing: a sum with learned weights; of
# two also the widths within their product are refined, which tells sums, too, and what they
# say only together
"$PYTHON" - <<'END'
import random
random.seed(1)
with open("a.csv", "w") as a, open("b.csv", "w") as b, open("s.csv", "w") as s, open("p.csv", "w") as p, \
        open("c.csv", "w") as c:
    for _ in range(80):
        u, v, w = (random.gauss(0, 1) for _ in range(3))
        a.write(f"{u}\n")
        b.write(f"{v},{w}\n")
        s.write(f"{3 * u + 0.5 * v + 0.2 * random.gauss(0, 1)}\n")
        p.write(f"{(u > 0) * v + (u < 0) * w}\n")
    random.seed(2)
    c.writelines(f"{random.gauss(0, 1)},{random.gauss(0, 1)}\n" for _ in range(80))
END
again --x a.csv --x b.csv --x c.csv --y s.csv
grep -q '^kx  *0\.9[0-9]*\*(standardize@1 | rbf(sigma=.*)) + 0\.0[0-9]*\*(standardize@2 | rbf(sigma=' told
again --x a.csv --x b.csv --y s.csv
grep -q '^kx  *(standardize@1 | rbf(sigma=[0-9.]*))\*(standardize@2 | rbf(sigma=[0-9.]*))$' told
again --x a.csv --x b.csv --y p.csv
grep -q '^kx  *(standardize@1 | rbf(sigma=[0-9.]*))\*(standardize@2 | rbf(sigma=[0-9.]*))$' told

# another method: the likeliest kernel; lambda, or what stands for it, by folds
"$PYTHON" - <<'END'
import random
random.seed(5)
with open("mx.csv", "w") as x, open("my.csv", "w") as y, open("mc.csv", "w") as c:
    for _ in range(60):
        a, b = random.gauss(0, 1), random.gauss(0, 100)
        x.write(f"{a},{b}\n")
        y.write(f"{a * a + random.gauss(0, 0.3)},{b / 50 + random.gauss(0, 0.3)}\n")
        c.write("ab"[a > 0] + "\n")
END
for method in tgp-kl soar kpca; do
    again --x mx.csv --y my.csv --method $method
    grep -qE '^chosen         kfold:5 on 60 pairs: [0-9]+ settings, the best with (loss|r2)' told
    expect_in "standardize | rbf(sigma=" told
done
for method in knn svr; do
    again --x mx.csv --y my.csv --method $method
    expect_in "chosen         kfold:5 on 60 pairs" told
done
again --x mx.csv --y my.csv --method knn
expect_in " --k " told
again --x mx.csv --y labels:mc.csv --method svm
expect_in " --cost " told
expect 0 okra fit --x mx.csv --y my.csv --method knn --k 4 -o c.okra
expect_in " --k 4 " out
expect 0 okra fit --x mx.csv --y my.csv --kx linear --method knn --k 4 -o c.okra
if grep -q chosen out; then exit 1; fi
# margin: Huber's loss for numbers and classes; under the hinge classes know of one another
again --x mx.csv --y my.csv --method margin
expect_in " --loss huber --delta " told
awk -F, '{ print 1e6 + 1e-3 * $1 "," -5e3 + 10 * $2 }' my.csv >far.csv
again --x mx.csv --y my.csv --method margin
again --x mx.csv --y my.csv --method margin --loss epsilon
expect_in " --tube " told
# numbers far from 0 are fitted as the same numbers near it, a constant as a constant
awk -F, '{ printf "%.17g\n", $1 }' my.csv >near.csv
awk -F, '{ printf "%.17g\n", 1e5 + $1 }' my.csv >far.csv
awk '{ print 3.5 }' my.csv >level.csv
for name in near far level; do
    okra fit -q --x mx.csv --y $name.csv --method margin -o c.okra
    okra predict -q c.okra --x mx.csv -o $name.p.csv
    okra score -q --y $name.csv --yhat $name.p.csv --metric mse >$name.mse
done
awk 'NR == FNR { a = $1; next } { exit !($1 < 1.5 * a + 1e-6) }' near.mse far.mse
awk '{ exit !($1 < 1e-8) }' level.mse
again --x mx.csv --y labels:mc.csv --method margin --loss hinge
expect_in "--ky 'zero-one | center'" told
again --x mx.csv --y labels:mc.csv --method margin
expect_in " --loss huber --delta " told
okra predict -q chosen.okra --x mx.csv -o p.csv
[ "$(paste p.csv mc.csv | awk '$1 == $2' | wc -l)" -ge 55 ]
# a learned kernel keeps the default
expect 0 okra fit --x x.csv --y y.csv --twin 1,2 -o c.okra
expect_in "lambda         0.1" out
expect 0 okra fit --x x.csv --y y.csv --method knn -o c.okra
# an operator without a closed form: folds
expect 0 okra fit --x x.csv --y y.csv --ky 'rbf(sigma=2)' --operator cov -o c.okra
expect_in "chosen         kfold:5 on 8 pairs: " out

# constant columns, all inputs alike, all outputs alike, one class, one pair, two pairs
awk -F, '{ print $1 ",7," $2 ",0.1" }' x.csv >constant.csv
again --x constant.csv --y y.csv
awk '{ print "3,4" }' x.csv >alike.csv
again --x alike.csv --y y.csv
again --x x.csv --y alike.csv
okra predict -q chosen.okra --x tx.csv -o p.csv
awk -F, '{ d = $1 - 3; e = $2 - 4; if (d * d + e * e > 1e-20) exit 1 }' p.csv
awk '{ print "a" }' x.csv >one.csv
again --x x.csv --y labels:one.csv
head -1 x.csv >x1.csv
head -1 y.csv >y1.csv
again --x x1.csv --y y1.csv
expect_in "okra: warning: fit: nothing can be left out of 1 pair, so that kernel and lambda are a \
guess" err
head -2 x.csv >x2.csv
head -2 y.csv >y2.csv
again --x x2.csv --y y2.csv
expect_in "okra: warning: fit: nothing can be left out of 2 pairs" err

# missing outputs: their means stand in while choosing, or the pairs without them
sed '3s/,.*/,nan/; 5s/^[^,]*,/nan,/' y.csv >holes.csv
again --x x.csv --y missing:holes.csv
okra predict -q chosen.okra --x tx.csv -o p.csv
if grep -qi nan p.csv; then exit 1; fi

# what may be meant as classes is told, once, and never of numbers with a fraction
"$PYTHON" - <<'END'
for i in range(30):
    print(i % 7, 30 - i, sep=",", file=open("hx.csv", "a"))
    print(i % 3 + 1, file=open("h1.csv", "a"))
    print(["red", "blue", "dark red"][i % 3], file=open("h2.txt", "a"))
    print(i % 3 + 0.5, file=open("h3.csv", "a"))
END
expect 0 okra fit --x hx.csv --y h1.csv -o c.okra
expect_in "okra fit: y holds 3 different whole numbers, learned as numbers; --y labels:h1.csv makes them classes" err
expect 0 okra fit --x hx.csv --y h2.txt -o c.okra
expect_in "okra fit: y holds 3 different strings, learned as strings; --y labels:h2.txt makes them classes" err
for y in h3.csv labels:h1.csv labels:h2.txt; do
    expect 0 okra fit --x hx.csv --y $y -o c.okra
    if grep -q "makes them classes" err; then exit 1; fi
done
expect 0 okra fit --x hx.csv --y h1.csv --ky linear -o c.okra
if grep -q "makes them classes" err; then exit 1; fi

# methods of links alone have nothing to predict
for method in kcca em pkmr naive kml local; do
    expect_fail 2 "okra fit: method $method scores links of a network and predicts no outputs: okra link \
--method $method --x FILE --edges FILE" okra fit --x x.csv --y y.csv --method $method -o c.okra
done

# kernel given: lambda is chosen of centred outputs all the same
again --x x.csv --y y.csv --kx 'rbf(sigma=1)'
expect_in "center-output  yes" told

# units, origin and copies
"$PYTHON" - <<'END'
import math, random
random.seed(3)
with open("ux.csv", "w") as x, open("uy.csv", "w") as y, open("vy.csv", "w") as v:
    for _ in range(60):
        a, b = random.uniform(-1, 1), random.uniform(-1, 1)
        p, q = a + b + random.gauss(0, 0.1), math.sin(4 * a)
        x.write(f"{a},{b}\n")
        y.write(f"{p},{q}\n")
        v.write(f"{1e4 + 1e3 * p},{1e-3 * q}\n")
END
expect 0 okra fit --x ux.csv --y uy.csv -o c.okra
sed -n 's/.*--kx \(.*\) --ky.*/\1/p' out >kernel
expect_in " of the outputs' variances" out
expect 0 okra fit --x ux.csv --y vy.csv -o c.okra
sed -n 's/.*--kx \(.*\) --ky.*/\1/p' out >kernel2
expect_same kernel kernel2
cat ux.csv ux.csv >dx.csv
cat uy.csv uy.csv >dy.csv
expect 0 okra fit --x dx.csv --y dy.csv -o c.okra
expect_in "chosen         kfold:10 on 120 pairs" out
expect 0 okra select --x dx.csv --y dy.csv --kx 'rbf(sigma={0.5,1})' --lambda 0.01,0.1 --cv loo
expect_in "of 120 pairs only 60 have different inputs" err

# select tells the fit that does the same
expect 0 okra select --x ux.csv --y uy.csv --kx 'rbf(sigma={0.5,1})' --lambda 0.01,0.1 -o s.okra
sed -n 's/^the same  *//p' out | sed 's/s\.okra$/again.okra/' >command
grep -q '^okra fit --x ux.csv --y uy.csv --kx ' command
bash -e command >out
expect_same s.okra again.okra
expect 0 okra select --x ux.csv --y uy.csv --json
expect_in '"command": "okra fit --x ux.csv --y uy.csv --kx ' out

# intervals that no pair bounds are told
head -4 ux.csv >fx.csv
head -4 uy.csv >fy.csv
okra fit -q --x fx.csv --y fy.csv --kx linear --lambda 0.1 -o c.okra
expect 0 okra predict c.okra --x ux.csv --interval 0.1 -o i.csv
expect_in "intervals are infinite: 4 pairs calibrate, and alpha = 0.1 needs 9 or more" err

# with two pairs nothing is compared
head -2 ux.csv >fx.csv
head -2 uy.csv >fy.csv
expect 0 okra select --x fx.csv --y fy.csv
expect_in "without one of 2 pairs there is nothing to compare settings by" err
