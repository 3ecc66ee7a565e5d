# Sourced by tests of --engine mpi: leaves where it was not built.
okra version --build-info >out
case $(grep '^engine mpi: ' out) in
*": not here: "*) exit 0 ;; # tests/cli/mpi.sh looks at the message
esac
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
# A system without /sys has nothing to say about processors.
export HWLOC_HIDE_ERRORS=2 OMPI_MCA_hwloc_base_binding_policy=none PRTE_MCA_hwloc_default_binding_policy=none
export OMPI_MCA_plm=isolated OMPI_MCA_orte_execute_quiet=1 OMPI_MCA_btl=self,vader OMPI_MCA_btl_vader_single_copy_mechanism=none
# many P COMMAND...: as P processes, which are ended where they hang. Open MPI 5 adds a notice in a frame of
# dashes where one of them fails, which no setting silences, and on a busy machine a line of its server, which tells a
# process that is gone of the others' end: neither is a message of okra's.
many() {
    local count=$1 status=0
    shift
    timeout 100 mpirun --oversubscribe -n "$count" "$@" 2>launched || status=$?
    sed '/^\[[^]]*\] PMIX ERROR: PMIX_ERR_UNREACH in file /d
        /^-----*$/ { N; /\nprterun detected/! { P; D }; :more; N; /\n-----*$/! b more; d }' launched >&2
    return $status
}
