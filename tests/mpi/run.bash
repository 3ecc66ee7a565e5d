#!/bin/bash
# run.bash MPIRUN P PROGRAM: runs a test program as P processes; each runs all checks.
set -u
mpirun=$1 processes=$2
shift 2
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# The processes share few cores: one that waits gives way. No network is needed.
export OMPI_MCA_plm=isolated OMPI_MCA_orte_execute_quiet=1 HWLOC_HIDE_ERRORS=2
exec timeout 380 "$mpirun" --oversubscribe --mca mpi_yield_when_idle 1 --mca btl self,vader \
    --mca btl_vader_single_copy_mechanism none -n "$processes" "$@"
