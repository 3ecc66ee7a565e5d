# Killed at any moment, fit leaves no file that predict accepts, unless it had finished;
# interrupted, it leaves no file at all and says so.
need_python
"$PYTHON" -c "
import numpy
r = numpy.random.default_rng(1)
numpy.save('x.npy', r.normal(size=(450, 20)))
numpy.save('y.npy', r.normal(size=(450, 20)))
numpy.save('tx.npy', r.normal(size=(5, 20)))"
fit=(okra fit -q --x x.npy --y y.npy --kx 'rbf(sigma=4)' --ky 'rbf(sigma=4)' --operator cov --lambda 0.1)
start=$(date +%s%N)
"${fit[@]}" -o whole.okra
took=$((($(date +%s%N) - start) / 1000000))
finished=0 killed=0
for i in $(seq 0 16); do
    mkdir "run$i"
    "${fit[@]}" -o "run$i/m.okra" &
    pid=$!
    # from the very start to past the end, more near the end, when the file is written
    sleep "$(awk "BEGIN { printf \"%.3f\", $took / 1000 * 1.6 * sqrt($i / 16) }")"
    kill -9 $pid 2>/dev/null || true
    wait $pid 2>/dev/null && finished=$((finished + 1)) || killed=$((killed + 1))
    for file in "run$i"/*; do
        [ -e "$file" ] || continue
        if okra predict "$file" --x tx.npy -q -o p.csv 2>err; then
            expect_same "$file" whole.okra
        else
            [ "$file" != "run$i/m.okra" ]
        fi
    done
done
echo "$finished runs finished, $killed were killed"
[ $killed -gt 0 ]

# an interrupt is heard between steps of the work
mkdir interrupted
# background jobs of a script ignore SIGINT unless they say otherwise
"$PYTHON" - "${fit[@]}" -o interrupted/m.okra >status <<'END'
import signal, subprocess, sys, time
p = subprocess.Popen(sys.argv[1:], stderr=subprocess.PIPE, text=True,
                     preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
time.sleep(0.15)
p.send_signal(signal.SIGINT)
print(p.wait(), p.stderr.read().strip())
END
case $(cat status) in
"130 okra fit: interrupted") [ -z "$(ls interrupted)" ] ;;
"0 ") expect_same interrupted/m.okra whole.okra ;; # it had finished
"-2 ") [ -z "$(ls interrupted)" ] ;;               # the program had not begun to listen
*) cat status >&2; exit 1 ;;
esac

# a job that was started with interrupts ignored goes on
"$PYTHON" - "${fit[@]}" -o ignored.okra >status <<'END'
import signal, subprocess, sys, time
p = subprocess.Popen(sys.argv[1:], stderr=subprocess.PIPE, text=True,
                     preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
for _ in range(20):
    time.sleep(0.02)
    p.send_signal(signal.SIGINT)
print(p.wait(), p.stderr.read().strip())
END
[ "$(cat status)" = "0 " ] || { cat status >&2; exit 1; }
expect_same ignored.okra whole.okra
