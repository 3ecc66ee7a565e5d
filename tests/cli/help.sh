# Help teaches every command and lists what there is; pages come from the same tables.
expect 0 okra help
cp out general
for flag in --help -h; do
    expect 0 okra $flag
    expect_same general out
done
for command in fit predict score gram info demo version help; do
    expect_in "  $command " general
    if [ $command != fit ] && [ $command != predict ]; then
        expect 0 okra $command --help
        cp out by-flag
        expect 0 okra help $command
        expect_same by-flag out
    fi
    expect 0 okra help $command
    expect_in "Usage: okra $command" out
    expect_in "Examples:" out
    expect_in "Flags of every command:" out
    if grep -nE '.{91}| $' out; then
        echo "okra $command --help: a line is too long or ends with a space" >&2
        exit 1
    fi
done
# large commands: --help fits a screen, okra help COMMAND tells all
for command in fit select predict link; do
    expect 0 okra $command --help
    [ "$(wc -l <out)" -le 40 ]
    expect_in "Usage: okra $command" out
    expect_in "More flags: --" out
    expect_in "'okra help $command' tells all of them" out
    if grep -nE '.{91}| $' out; then exit 1; fi
    # every flag of the command is told or named
    cp out screen
    okra help $command | sed -n '/^Flags:/,/^$/p' | grep -oE '^  (-., )?--[a-z0-9-]+' >flags
    [ -s flags ]
    grep -oE -e '--[a-z0-9-]+' flags | while read -r flag; do expect_in " $flag" screen; done
done
expect 0 okra fit --help
for text in "--x FILE" "-o, --output FILE" "--kx EXPR" "--ky EXPR" "--lambda V" "[default: ridge]" \
    "--calibration" "--low-rank-x"; do
    expect_in "$text" out
done
if grep -e "--operator OP" out; then exit 1; fi
expect 0 okra fit --help --method ridge
expect_in "Flags of method ridge:" out
expect_in "--operator OP" out
# one kernel, transformation, method, decoder or metric by its name
for pair in margin:--loss rbf:sigma= labels:--beam normalize:Transformation mse:Metric \
    "rbf:Transformation of a kernel, as in 'KERNEL | rbf'" "knn:Method, as in 'okra fit --method"; do
    expect 0 okra help "${pair%%:*}"
    expect_in "${pair#*:}" out
done
expect_fail 2 "okra help: there is no topic 'marginn'; did you mean 'margin'?" okra help marginn
expect 0 okra help fit
for text in "-o, --output FILE" "--kx EXPR" "[default: ridge]" "Flags of method ridge:" \
    "--operator OP" "--threads N" "--memory SIZE" "--seed N" "--data DIR" \
    "Flags of other methods, by --help --method NAME: margin knn kpca" "okra help low-rank"; do
    expect_in "$text" out
done
if grep -e "--loss NAME" -e "--low-rank-x SPEC" out; then exit 1; fi
expect_fail 2 "okra fit: there is no method 'mrgin'; 'okra help methods' lists them" \
    okra fit --help --method mrgin
expect 0 okra fit --help --method margin
expect_in "Flags of method margin:" out
expect_in "--loss NAME" out
expect 0 okra help predict
expect_in "Flags of decoders, by --help --decode NAME: candidates" out
expect 0 okra predict --help --decode labels
expect_in "Flags of decoder labels:" out
expect_in "--beam N" out
expect 0 okra help select
expect_in "Flags of method ridge:" out
expect_in "Flags of decoders, by --help --decode NAME: candidates" out
if grep "Flags of decoder ridge" out; then exit 1; fi
expect 0 okra help low-rank
expect_in "help kernels\` tells HOW and KIND" out
for flag in low-rank low-rank-x low-rank-y solver cg-tolerance checkpoint twin; do
    expect_in "--$flag " out
done
expect 0 okra help flags
expect_in "--threads N" out
for pair in kernels:rbf kernels:center methods:ridge methods:knn decoders:candidates \
    metrics:rbf-loss formats:npy; do
    expect 0 okra help "${pair%:*}"
    expect_in "${pair#*:}" out
done

expect 0 okra help --completion bash
bash -n out
cp out complete.okra
# okra(1) leads to a page per command; each has all of its flags
expect 0 okra help --man
cp out okra.1
expect_in ".TH OKRA 1" okra.1
[ "$(wc -l <okra.1)" -le 200 ]
sed -n 's/^  \([a-z]*\) .*/\1/p' general | sort >commands
sed -n '/^.SH COMMANDS/,/^.SH "FLAGS/s/^.BR okra\\-\([a-z]*\) (1)$/\1/p' okra.1 | sort >named
expect_same commands named
sed -n '/foreach(command/,/)/p' "$ROOT/cmake/OkraDocs.cmake" | tr -s ' \n' '\n\n' |
    sed 's/.*(//; s/)//' | grep -v '^command$\|^foreach$\|^$' | sort >installed
expect_same commands installed
while read -r command; do
    expect 0 okra help "$command" --man
    expect_in ".TH OKRA\\-${command^^} 1" out
    expect_in ".BR okra (1)" out
    cp out page.1
    sed -n "s/^    $command) flags='\(.*\)' ;;/\1/p" complete.okra | tr ' ' '\n' | sort -u >flags
    [ "$(wc -l <flags)" -gt 1 ]
    grep -o '\\fB[^ ]*\\fR' page.1 | sed 's/\\f.//g; s/\\//g' | sort -u >described
    [ -z "$(comm -23 flags described)" ]
    if command -v groff >/dev/null; then
        groff -man -Tutf8 -ww page.1 2>warnings >/dev/null
        [ ! -s warnings ]
    fi
done <commands
expect_fail 2 "okra help: there is no command 'kernels'; pages are of commands" \
    okra help kernels --man
# completion of commands, flags, names that a flag takes, and files of the kind
mkdir -p files/folder
touch files/m.okra files/r.json files/t.csv
cat >complete.bash <<'END'
source ./complete.okra
cd files
try() {
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _okra; printf '%s\n' "${COMPREPLY[@]}" | sort | xargs
}
try okra pre
try okra predict --wei
try okra fit t
try okra fit --kx lin
try okra fit --ky = tanim
try okra fit --method kp
try okra predict --decode lab
try okra score --metric mse,ma
try okra fit --header ''
try okra info ''
try okra predict --quiet ''
try okra report ''
try okra score --model ''
try okra predict m.okra --x ''
try okra predict m.okra --x labels : t
try okra fit --data ''
try okra fit --lambda ''
try okra help margi
END
bash complete.bash >got
cat >want <<'END'
predict
--weights --weights-in
t.csv
linear
tanimoto
kpca
labels
mse,mae
auto no yes
folder m.okra
folder m.okra
folder r.json
folder m.okra
folder m.okra r.json t.csv
t.csv
folder

margin
END
expect_same want got
expect 0 okra help --completion zsh
expect_in "#compdef okra" out
expect_in "'--weights[" out
expect_in ':EXPR:compadd - ${=kernels}' out
expect_in 'header:(auto yes no)' out
expect_in "'*:MODEL:_files -g \"*.okra\"'" out
if command -v zsh >/dev/null; then zsh -n out; fi
# a flag that two tables share is listed once
expect 0 okra select --help
[ "$(grep -o -e '--decode\b' out | wc -l)" = 1 ]
