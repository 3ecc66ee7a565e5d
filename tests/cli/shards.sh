# The examples of docs/updates.md that fit parts: a shell loop, and a Slurm array under a stand-in for sbatch.
need_python
"$PYTHON" - <<'P'
import os
import numpy as np
r = np.random.default_rng(1)
x = r.normal(size=(400, 3))
y = np.sin(x @ r.normal(size=(3, 2)))
np.save("all_x.npy", x)
np.save("all_y.npy", y)
os.mkdir("parts")
for k in range(100):
    np.save(f"x{k}.npy", x[4 * k:4 * k + 4])
    np.save(f"y{k}.npy", y[4 * k:4 * k + 4])
for k in range(4):
    np.save(f"parts/x{k}.npy", x[100 * k:100 * k + 100])
    np.save(f"parts/y{k}.npy", y[100 * k:100 * k + 100])
np.save("t.npy", r.normal(size=(5, 3)))
P
okra basis -q --x all_x.npy --kx 'rbf(sigma=2)' --low-rank-x 'nystrom(rank=20)' -o basis.okra
okra fit -q --basis basis.okra --x all_x.npy --y all_y.npy --ky linear --lambda 0.1 -o whole.okra
okra predict -q whole.okra --x t.npy -o whole.npy
block() { # the shell block of the page that holds this text
    awk -v text="$1" '/^```sh/ { inside = 1; block = ""; next }
        /^```/ { if (inside && index(block, text)) printf "%s", block; inside = 0 }
        inside { block = block $0 "\n" }' "$ROOT/docs/updates.md"
}
same() {
    okra predict -q all.okra --x t.npy -o all.npy
    "$PYTHON" -c "
import numpy as np
a, b = np.load('all.npy'), np.load('whole.npy')
assert a.shape == (5, 2) and abs(a - b).max() < 1e-12 * abs(b).max(), abs(a - b).max()"
    rm all.okra all.npy
}

block 'for part in parts/' >loop.sh
[ -s loop.sh ]
bash -eu loop.sh >out
same

# jobs run at once, one after the other; their number is printed as sbatch --parsable does
cat >"$scratch/bin/sbatch" <<'S2'
#!/bin/bash
set -eu
first=0 last=0
for word; do
    case $word in
    --array=*) range=${word#--array=} first=${range%-*} last=${range#*-} ;;
    --dependency=afterok:*) [ "${word##*:}" = 7 ] ;;
    esac
done
for ((i = first; i <= last; i++)); do
    SLURM_ARRAY_TASK_ID=$i bash -euc "${@: -1}" >/dev/null
done
echo 7
S2
chmod +x "$scratch/bin/sbatch"
block 'sbatch --parsable' >array.sh
[ -s array.sh ]
bash -eu array.sh >out
same
