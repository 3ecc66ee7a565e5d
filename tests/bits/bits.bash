#!/usr/bin/env bash
# Prints a line "NAME <tab> ARRAY <tab> HASH" for each array that every method, operator and form
# of low rank stores and predicts on fixed small problems with one thread. Two builds keep their
# bits when this prints the same for both. Every setting that okra would choose itself is given:
# these are tests of arithmetic, not of choices. OpenBLAS has other code for other processors,
# and with it other bits: test_bits.bash says when they can be compared with kept ones.
#
# Usage: bits.bash OKRA [FLAG...]     flags go to every `okra fit` and `okra predict`
# With BITS_KEEP=FOLDER it also leaves every array there, and FOLDER/list says which is which:
# values.py compares them.
set -euo pipefail
okra=$(realpath "$1"); shift
keep=${BITS_KEEP:+$(realpath "$BITS_KEEP")}
kept=0
flags=(--threads 1 --seed 7 --quiet "$@")
scratch=$(mktemp -d); trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

# rows columns seed kind: numbers of a linear congruential generator
numbers() {
    awk -v rows="$1" -v cols="$2" -v seed="$3" -v kind="$4" 'BEGIN {
        s = seed
        for (i = 0; i < rows; i++) {
            line = ""
            for (j = 0; j < cols; j++) {
                s = (s * 1103515245 + 12345) % 2147483648
                v = s / 2147483648 * 2 - 1
                line = line (j ? "," : "") sprintf(kind, v)
            }
            print line
        }
    }'
}
numbers 53 4 1 %.17g > x.csv
numbers 17 4 2 %.17g > u.csv
numbers 11 4 3 %.17g > t.csv
numbers 53 3 4 %.17g > y.csv
awk -F, '{ printf "%.17g,%.17g,%.17g\n", sin(3*$1)+$2, $2*$3, cos($4)-$1 }' x.csv > ys.csv
awk -F, '{ printf "%.17g,%.17g,%.17g,%.17g\n", $1+$2, $2*$3, cos($4)-$1, $3 }' x.csv > y4.csv
awk -F, 'NR % 5 == 0 { $2 = "" } NR % 7 == 0 { $3 = "" } { print $1 "," $2 "," $3 }' ys.csv > ym.csv
awk -F, '{ print ($1 > 0 ? 0 : $2 > 0 ? 1 : 2) }' x.csv > labels.csv
printf '2,0.5,0.1\n0.5,1,0.2\n0.1,0.2,1.5\n' > A.csv
printf '0,1,0\n1,0,1\n0,1,0\n' > G.csv
awk 'BEGIN { for (i = 0; i < 53; i++) { print i, (i + 1) % 53; print i, (i * 7 + 3) % 53 } }' | awk '$1 != $2' OFS='\t' > edges.tsv

hash() { sha256sum < "$1" | cut -c1-32; }
# name, what, hash
say() { printf '%s\t%s\t%s\n' "$@"; }
# name, what, file: its hash; and the file itself where it is kept
result() {
    say "$1" "$2" "$(hash "$3")"
    if [ -n "$keep" ]; then
        kept=$((kept + 1))
        cp "$3" "$keep/$kept"
        printf '%s\t%s\t%s\n' "$1" "$2" $kept >> "$keep/list"
    fi
}
# why a command failed, as one word
why() { head -c 60 error | tr '\n\t ' '___'; }
say inputs all "$(cat ./*.csv ./*.tsv | sha256sum | cut -c1-32)"
# name, then flags of fit
fit() {
    local name=$1; shift
    rm -rf m model.okra w.npy h.npy p.csv
    if ! "$okra" fit "${flags[@]}" "$@" -o model.okra >/dev/null 2>error; then
        say "$name" fit "failed:$(why)"; return
    fi
    unzip -qq -o model.okra -d m
    for array in $(cd m && find . -name '*.npy' | LC_ALL=C sort); do
        result "$name" "${array#./}" "m/$array"
    done
    for what in weights embedding; do
        if "$okra" predict model.okra "${flags[@]}" --x t.csv --$what w.npy >/dev/null 2>error; then
            result "$name" $what w.npy
        else
            say "$name" $what failed
        fi
    done
    if "$okra" predict model.okra "${flags[@]}" --x t.csv --top 3 -o p.csv --confidence c.csv >/dev/null 2>error; then
        result "$name" top p.csv
        result "$name" confidence c.csv
    else
        say "$name" top failed
    fi
}
# the same for three lambdas from shared decompositions: what the models store
path() {
    local name=$1; shift
    rm -rf path-*.okra
    if ! "$okra" fit "${flags[@]}" "$@" --lambda 0.01,0.1,3 -o 'path-{lambda}.okra' >/dev/null 2>error; then
        say "$name" fit "failed:$(why)"; return
    fi
    for model in path-*.okra; do
        rm -rf m; unzip -qq -o "$model" -d m
        for array in $(cd m && find . -name '*.npy' | LC_ALL=C sort); do
            result "$name" "$model/${array#./}" "m/$array"
        done
    done
}
choose() {
    local name=$1; shift
    if "$okra" select "${flags[@]}" "$@" -o model.okra --cells cells.csv >/dev/null 2>error; then
        result "$name" cells cells.csv
    else
        say "$name" cells "failed:$(why)"
    fi
}

lows=('' 'chol(rank=9)' 'nystrom(rank=9)' 'sketch(rank=9)' 'rff(rank=10)')
for low in "${lows[@]}"; do
    l=(); [ -z "$low" ] || l=(--low-rank "$low")
    for ky in linear 'rbf(sigma=1)'; do
        base=(--x x.csv --y ys.csv --kx 'rbf(sigma=1)' --ky "$ky" "${l[@]}")
        one=("${base[@]}" --lambda 0.1)
        for c in '' --center-output; do
            for op in identity cov ccov 'diagonal(t=0.3)' matrix:A.csv graph:G.csv,mu=0.5; do
                [[ $op == diagonal* ]] && { base[3]=y4.csv; } || base[3]=ys.csv
                fit "ridge $op low=$low ky=$ky $c" "${base[@]}" --operator "$op" $c --lambda 0.1
            done
            for op in identity matrix:A.csv ccov; do
                path "ridge path $op low=$low ky=$ky $c" "${base[@]}" $c --operator $op
            done
        done
        fit "ridge lambda2 low=$low ky=$ky" "${one[@]}" --unlabelled u.csv --lambda2 0.5 --graph gram
        fit "ridge knn-graph low=$low ky=$ky" "${one[@]}" --unlabelled u.csv --lambda2 0.5 --graph 'knn(k=4)'
        fit "ridge lambda2 matrix low=$low ky=$ky" "${one[@]}" --unlabelled u.csv --lambda2 0.5 --operator matrix:A.csv
        fit "kpca low=$low ky=$ky" "${one[@]}" --method kpca --components 2
        path "kpca path low=$low ky=$ky" "${base[@]}" --method kpca
        path "ridge path lambda2 low=$low ky=$ky" "${base[@]}" --unlabelled u.csv --lambda2 0.5
        fit "kpca all low=$low ky=$ky" "${base[@]}" --method kpca --lambda 0.01
        for loss in hinge epsilon huber; do
            for op in identity matrix:A.csv; do
                fit "margin $loss $op low=$low ky=$ky" "${one[@]}" --method margin --loss $loss --operator "$op"
            done
        done
        fit "margin lambda2 low=$low ky=$ky" "${one[@]}" --method margin --unlabelled u.csv --lambda2 0.5
        fit "margin huber lambda2 low=$low ky=$ky" "${one[@]}" --method margin --loss huber --unlabelled u.csv --lambda2 0.5
    done
    [ -z "$low" ] || fit "cg low=$low" --x x.csv --y ys.csv --kx 'rbf(sigma=1)' "${l[@]}" --solver cg --lambda 0.1
done
for op in identity matrix:A.csv; do
    fit "missing $op" --x x.csv --y missing:ym.csv --kx 'rbf(sigma=1)' --operator $op --lambda 0.1
    fit "missing $op lambda2" --x x.csv --y missing:ym.csv --kx 'rbf(sigma=1)' --operator $op --unlabelled u.csv --lambda2 0.2 --lambda 0.1
done
for kx in linear 'rbf(sigma=1)' 'laplacian(gamma=0.5)' 'poly(degree=3)' 'linear | center | poly(degree=2)' \
    'rbf(sigma=1) + 0.5*linear' 'cosine * rbf(sigma=2)' 'tanimoto'; do
    fit "kernel $kx" --x x.csv --y ys.csv --kx "$kx" --ky 'rbf(sigma=1)' --lambda 0.1
    fit "kernel ccov $kx" --x x.csv --y ys.csv --kx "$kx" --ky "$kx" --operator ccov --lambda 0.1
done
for own in '--method knn --k 5' '--method tgp-kl --lambda 0.1' '--method tgp-hsic' \
    '--method soar --lambda 0.1' '--method ok3 --features 7'; do
    fit "$own" --x x.csv --y ys.csv --kx 'rbf(sigma=1)' --ky 'rbf(sigma=1)' $own
    fit "$own linear" --x x.csv --y ys.csv --kx 'rbf(sigma=1)' $own
done
fit "tgp local" --x x.csv --y ys.csv --kx 'rbf(sigma=1)' --ky 'rbf(sigma=1)' --method tgp-kl --neighbours 9 --lambda 0.1
fit "svm" --x x.csv --y labels:labels.csv --kx 'rbf(sigma=1)' --ky zero-one --method svm --cost 1
fit "twin" --x x.csv --y ys.csv --kx 'rbf(sigma=1)' --ky 'rbf(sigma=1)' --twin 3,3 --lambda 0.1
fit "twin low" --x x.csv --y ys.csv --kx 'rbf(sigma=1)' --ky 'rbf(sigma=1)' --twin 3,3 --low-rank 'chol(rank=9)' --lambda 0.1
for method in ridge margin kcca kml local em pkmr naive ok3; do
    if "$okra" link "${flags[@]}" --x x.csv --edges edges.tsv --kx 'rbf(sigma=1)' --method $method -o links.tsv >/dev/null 2>error; then
        result "link $method" links links.tsv
    else
        say "link $method" links "failed:$(why)"
    fi
done
for low in "${lows[@]}"; do
    l=(); [ -z "$low" ] || l=(--low-rank "$low")
    for cv in loo kfold:4 gcv; do
        for op in identity cov matrix:A.csv; do
            for ky in linear 'rbf(sigma=1)'; do
                choose "select $op cv=$cv low=$low ky=$ky" --x x.csv --y ys.csv --kx 'rbf(sigma={0.5,1})' --ky "$ky" \
                    --lambda 0.01,0.1,1 --operator $op --cv $cv "${l[@]}"
                choose "select center $op cv=$cv low=$low ky=$ky" --x x.csv --y ys.csv --kx 'rbf(sigma={0.5,1})' --ky "$ky" \
                    --lambda 0.01,0.1,1 --operator $op --cv $cv --center-output "${l[@]}"
            done
        done
        choose "select diagonal cv=$cv low=$low" --x x.csv --y y4.csv --kx 'rbf(sigma=1)' --lambda 0.1,1 \
            --operator 'diagonal(t=0.3)' --cv $cv "${l[@]}"
        choose "select margin cv=$cv low=$low" --x x.csv --y ys.csv --kx 'rbf(sigma=1)' --lambda 0.1,1 --method margin --cv $cv "${l[@]}"
        choose "select kpca cv=$cv low=$low" --x x.csv --y ys.csv --kx 'rbf(sigma=1)' --lambda 0.1,1 --method kpca --cv $cv "${l[@]}"
        choose "select lambda2 cv=$cv low=$low" --x x.csv --y ys.csv --unlabelled u.csv --kx 'rbf(sigma=1)' --lambda 0.1,1 --lambda2 0.5 --cv $cv "${l[@]}"
    done
done
