#!/bin/bash
# run.bash PROGRAMS CORPORA OUT TIME [TARGET...]: fuzzes TIME seconds on all processors.
#
# Every target gets its share of the time (see share). OUT gets
#   results.jsonl  a line for the run and one for each target: executions, seconds of a
#                  processor, coverage, findings; page.py adds them to docs/reports/fuzzing.json
#   found/         inputs that fail      corpus/, logs/   what the fuzzers kept and said
# Settings: JOBS (processors to use), RUNS (so many executions of each target with one seed,
# TIME at most for each: runs that repeat), COMMIT (what was built). Status 1: something was found.
#
# It needs bash and coreutils alone: tools/fuzz.bash carries it to other machines.
set -uo pipefail
programs=$1 corpora=$2 out=$3 time=$4
shift 4
jobs=${JOBS:-$(nproc)} runs=${RUNS:-0}
targets=("$@")
[ $# -gt 0 ] || mapfile -t targets < <(cd "$programs" && ls | grep -E '^fuzz_[a-z0-9]+$')
[ ${#targets[@]} -gt 0 ] || { echo "run.bash: there are no targets in $programs" >&2; exit 2; }
mkdir -p "$out/found" "$out/logs"
stamp=$(date -u +%Y%m%dT%H%M%SZ)-$$

# Parts of the time: models and indexes are the most intricate.
share() {
    case $1 in
    fuzz_sealed) echo 20 ;;
    fuzz_index | fuzz_model | fuzz_lines) echo 6 ;;
    *) echo 3 ;;
    esac
}

# Longest input: more is slower and finds no more.
longest() {
    case $1 in
    fuzz_sealed | fuzz_index) echo 64 ;;
    fuzz_mat | fuzz_npz | fuzz_model | fuzz_result) echo 4096 ;;
    *) echo 512 ;;
    esac
}

# The commands tell on standard error what is wrong with an input.
talks() { [ "$1" = fuzz_result ] || [ "$1" = fuzz_lines ]; }

# An allocation that is too large fails, as it does without the sanitizer.
export ASAN_OPTIONS=allocator_may_return_null=1:quarantine_size_mb=32:malloc_context_size=6
export OPENBLAS_NUM_THREADS=1
# Old sanitizers do not bear the random addresses of some new systems.
still=()
if ! "$programs/${targets[0]}" -runs=1 >/dev/null 2>&1 &&
    setarch -R "$programs/${targets[0]}" -runs=1 >/dev/null 2>&1; then
    still=(setarch -R)
fi

# TARGET for so many seconds; begun anew when it found something.
fuzz() { # TARGET SECONDS NAME
    local target=$1 name=$3 left=$2 end=$((SECONDS + $2)) try
    if [ "$runs" = 0 ] && [ $end -gt $((begin + time)) ]; then # what came before took longer
        end=$((begin + time)) left=$((begin + time - SECONDS))
        [ $left -gt 0 ] || return 0
    fi
    mkdir -p "$out/corpus/$name"
    for try in {1..20}; do
        timeout -k 5 $((left + 20)) "${still[@]}" "$programs/$target" -max_total_time="$left" \
            $([ "$runs" = 0 ] || echo "-runs=$runs -seed=1") -max_len="$(longest "$target")" \
            $(talks "$target" && echo -close_fd_mask=2) -rss_limit_mb=4096 -malloc_limit_mb=0 -timeout=10 -reload=0 -print_final_stats=1 \
            -artifact_prefix="$out/found/$target-" "$out/corpus/$name" "$corpora/$target" \
            >"$out/logs/$name.$try" 2>&1 && break
        echo "ended with status $?" >>"$out/logs/$name.$try"
        left=$((end - SECONDS))
        [ "$runs" = 0 ] && [ $left -gt 1 ] || break
    done
}

# Lines "TARGET SECONDS ..." that fill each processor.
divide() {
    for target in "${targets[@]}"; do
        echo "$target $(share "$target")"
    done | awk -v time="$time" -v jobs="$jobs" '
        { name[NR] = $1; part[NR] = $2; sum += $2 }
        END {
            for (i = 1; i <= NR; i++) {
                left = time * jobs * part[i] / sum
                while (left >= 1) {
                    use = left < time - at ? left : time - at
                    line = line " " name[i] " " int(use + 0.5)
                    at += use; left -= use
                    if (time - at < 2) { print line; line = ""; at = 0 }
                }
            }
            if (line != "") print line
        }'
}

begin=$SECONDS
if [ "$runs" = 0 ]; then
    number=0
    while read -ra line; do
        number=$((number + 1))
        (for ((i = 0; i < ${#line[@]}; i += 2)); do
            fuzz "${line[i]}" "${line[i + 1]}" "${line[i]}.$number"
        done) &
    done < <(divide)
    wait
else
    for target in "${targets[@]}"; do
        while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
        fuzz "$target" "$time" "$target" &
    done
    wait
fi

# ---- what came of it ----
sum() { # TARGET WHAT: over all its logs
    cat "$out/logs/$1".* 2>/dev/null | grep -a "^stat::$2:" | awk '{ n += $2 } END { print n + 0 }'
}
failed=0
{
    printf '{"run": "%s", "commit": "%s", "processors": %d, "seconds": %d}\n' \
        "$stamp" "${COMMIT:-unknown}" "$jobs" $((SECONDS - begin))
    for target in "${targets[@]}"; do
        executions=$(sum "$target" number_of_executed_units)
        seconds=$(cat "$out/logs/$target".* 2>/dev/null | sed -n 's/^Done [0-9]* runs in \([0-9]*\) second.*/\1/p' |
            awk '{ n += $1 } END { print n + 0 }')
        coverage=$(cat "$out/logs/$target".* 2>/dev/null | grep -aoE 'cov: [0-9]+' | awk '$2 > n { n = $2 } END { print n + 0 }')
        findings=$(find "$out/found" -name "$target-*" ! -name '*-slow-unit-*' | wc -l)
        ended=$(cat "$out/logs/$target".* 2>/dev/null | grep -ac '^ended with status')
        printf '{"run": "%s", "target": "%s", "executions": %d, "seconds": %d, "coverage": %d, "findings": %d}\n' \
            "$stamp" "$target" "$executions" "$seconds" "$coverage" "$findings"
        [ "$findings" -eq 0 ] && [ "$ended" -eq 0 ] && [ "$executions" -gt 0 ] || failed=1
    done
} >"$out/results.jsonl"
sed -n 's/.*"target": "\([a-z0-9_]*\)", "executions": \([0-9]*\), "seconds": \([0-9]*\), "coverage": \([0-9]*\), "findings": \([0-9]*\).*/\1 \2 \3 \4 \5/p' \
    "$out/results.jsonl" | awk '{ printf "%-16s %12d executions %6d s %8d per second  coverage %6d%s\n", $1, $2, $3, $3 ? $2 / $3 : 0, $4,
        $5 ? "   FOUND SOMETHING" : ""; all += $2 } END { print all " executions of " NR " targets" }'
if [ $failed -ne 0 ]; then
    for log in $(grep -lE '^ended with status' "$out"/logs/*); do
        echo "==== $log"
        tail -n 60 "$log"
    done
fi
exit $failed
