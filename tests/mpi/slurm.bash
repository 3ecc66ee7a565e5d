#!/bin/bash
# slurm.bash OKRA PAGE: runs the job script of docs/cluster.md under Slurm: a cluster of this one machine, made for the
# test in a scratch folder, as any user. Skipped (77) where Slurm is not installed.
set -u
okra=$(realpath "$1") page=$(realpath "$2")
for program in slurmctld slurmd sbatch srun; do
    command -v "$program" >/dev/null || PATH=$PATH:/usr/sbin:/sbin
    command -v "$program" >/dev/null || { echo "skipped: there is no $program"; exit 77; }
done
folder=$(mktemp -d /tmp/okra-slurm-XXXXXX) || exit 1
chmod 755 "$folder"
daemons=()
finish() {
    for pid in "${daemons[@]}"; do kill "$pid" 2>/dev/null; done
    for pid in "${daemons[@]}"; do wait "$pid" 2>/dev/null; done
    rm -rf "$folder"
}
trap finish EXIT
complain() {
    echo "slurm: $1" >&2
    tail -n 12 "$folder"/*.log "$folder"/job.out >&2 2>/dev/null
    exit 1
}
cd "$folder" || exit 1
mkdir state spool
host=$(hostname -s)
port=$((20000 + $$ % 10000 * 2))
cat >slurm.conf <<CONF
ClusterName=okra
SlurmctldHost=$host(127.0.0.1)
AuthType=auth/none
CredType=cred/none
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=pmix
ReturnToService=2
SlurmdParameters=config_overrides
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SchedulerParameters=batch_sched_delay=0,sched_interval=1
NodeName=$host NodeAddr=127.0.0.1 CPUs=4 RealMemory=1000 State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
CONF
echo CgroupPlugin=cgroup/v1 >cgroup.conf # none is used: where /sys has none, looking for their version fails
export SLURM_CONF=$folder/slurm.conf
until_true() { for _ in $(seq 200); do "$@" >/dev/null 2>&1 && return 0; sleep 0.1; done; return 1; }
slurmctld -D -f "$SLURM_CONF" >slurmctld.log 2>&1 &
daemons+=($!)
slurmd -D -f "$SLURM_CONF" -N "$host" >slurmd.log 2>&1 &
daemons+=($!)
idle() { sinfo -h -o %T | grep -q idle; }
until_true idle || complain "the machine does not join the cluster"

# The script as it stands on the page.
# shellcheck disable=SC2016
sed -n '/^## Under Slurm/,/^## /p' "$page" | sed -n '/^```sh$/,/^```$/p' | sed '1d;$d' >job.sh
grep -q '^srun okra fit' job.sh || complain "the page has no job script"
awk 'BEGIN { srand(1); for (i = 0; i < 60; i++) printf "%.6f,%.6f,%.6f\n", rand(), rand(), rand() }' >x.csv
python=${OKRA_PYTHON:-python3}
"$python" -c '
import numpy as np
x = np.loadtxt("x.csv", delimiter=",")
np.save("x.npy", x)
np.save("y.npy", np.column_stack([x.sum(1), np.sin(x[:, 0])]))' || complain "no data"
PATH=$(dirname "$okra"):$PATH
export PATH OMPI_MCA_btl=self,vader OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_mpi_yield_when_idle=1
# Four machines of sixteen processes are one of four here.
timeout 100 sbatch -W --nodes=1 --ntasks-per-node=4 --mem-per-cpu=100M --output=job.out job.sh \
    >sbatch.log 2>&1 || complain "the job failed"
[ -s model.okra ] || complain "the job wrote no model"
"$okra" predict -q model.okra --x x.npy --decode none --embedding many.csv || complain "the model does not predict"
"$okra" fit -q --x x.npy --y y.npy --kx 'rbf(sigma=4)' --ky linear --lambda 0.1 -o one.okra
"$okra" predict -q one.okra --x x.npy --decode none --embedding one.csv
paste -d, one.csv many.csv | awk -F, '{ for (i = 1; i <= NF / 2; i++) { d = $i - $(i + NF / 2); if (!(d * d <= 1e-20)) bad = 1 } }
    END { exit bad || NR != 60 }' || complain "other predictions than those of one process"
# One process fails: the job does, with its message, and there is no model.
rm -f model.okra
sed 's/--y y.npy/--y none.npy/' job.sh >bad.sh
timeout 100 sbatch -W --nodes=1 --ntasks-per-node=4 --mem-per-cpu=100M --output=job.out bad.sh \
    >sbatch.log 2>&1 && complain "a job without its outputs did not fail"
grep -q 'okra fit: none.npy: cannot be opened' job.out || complain "the job does not say why it failed"
[ ! -e model.okra ] || complain "a job that failed wrote a model"
echo "the job script of the page ran under Slurm with 4 processes"
