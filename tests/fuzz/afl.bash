#!/bin/bash
# afl.bash PROGRAMS JUDGES CORPORA OUT SECONDS TARGET...: AFL++ beside libFuzzer: another engine
# mutates in other ways. Each TARGET of PROGRAMS runs SECONDS on one processor, without sanitizers
# and so the faster; its namesake of JUDGES, which has them, then runs all that AFL++ kept.
# Status 1: an input fails or hangs, or nothing was run.
set -uo pipefail
programs=$1 judges=$2 corpora=$3 out=$4 seconds=$5
shift 5
# Any machine will do: no core patterns, governors or processors of its own.
export AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 AFL_SKIP_CPUFREQ=1 AFL_NO_AFFINITY=1 AFL_NO_UI=1
export OPENBLAS_NUM_THREADS=1
rm -rf "$out"
mkdir -p "$out"
failed=0
for target in "$@"; do
    timeout -k 5 $((seconds + 120)) afl-fuzz -i "$corpora/$target" -o "$out/$target" -V "$seconds" -G 4096 -m none -t 10000 \
        -- "$programs/$target" >"$out/$target.log" 2>&1
    kept=$out/$target/default
    of() { sed -n "s/^$1 *: *\([0-9]*\).*/\1/p" "$kept/fuzzer_stats" 2>/dev/null; }
    runs=$(of execs_done) crashes=$(of saved_crashes) hangs=$(of saved_hangs) verdict=ok
    ASAN_OPTIONS=allocator_may_return_null=1 timeout 300 "$judges/$target" -runs=0 -rss_limit_mb=4096 -malloc_limit_mb=0 -timeout=10 \
        -artifact_prefix="$out/$target-" "$kept/queue" >>"$out/$target.log" 2>&1 || verdict=bad
    echo "$target: ${runs:-0} executions by AFL++, ${crashes:-?} crashes, ${hangs:-?} hangs," \
        "$(find "$kept/queue" -type f -name 'id*' 2>/dev/null | wc -l) kept; the sanitizers say $verdict"
    if [ "${runs:-0}" -eq 0 ] || [ "${crashes:-1}" -ne 0 ] || [ "${hangs:-1}" -ne 0 ] || [ $verdict = bad ]; then
        failed=1
        tail -n 30 "$out/$target.log"
        find "$kept/crashes" "$kept/hangs" -name 'id*' 2>/dev/null
    fi
done
exit $failed
