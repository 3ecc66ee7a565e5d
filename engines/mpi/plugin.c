/*
 * plugin.c: the table of verbs, and the one symbol that libokra-mpi.so exports.
 */
#include "ranks.h"

static const okra_engine_class_ mpi_class = {
    .interface = OKRA_ENGINE_INTERFACE_,
    .name = "mpi",
    .help = "many processes, started by mpirun: mpi, or mpi:B for blocks of B x B",
    .open = ranks_open_,
    .close = ranks_close_,
    .describe = ranks_describe_,
    .create = ranks_create_,
    .destroy = ranks_destroy_,
    .gram = ranks_gram_,
    .put = ranks_put_,
    .get = ranks_get_,
    .copy = ranks_copy_,
    .fill = ranks_fill_,
    .add_diagonal = ranks_add_diagonal_,
    .diagonal = ranks_diagonal_,
    .scale = ranks_scale_,
    .center = ranks_center_,
    .combine = ranks_combine_,
    .row_sums = ranks_row_sums_,
    .dot = ranks_dot_,
    .best = ranks_best_,
    .gemm = ranks_gemm_,
    .syrk = ranks_syrk_,
    .cholesky = ranks_cholesky_,
    .restore = ranks_restore_,
    .trsm = ranks_trsm_,
    .eigh = ranks_eigh_,
    .share = ranks_share_,
    .sum = ranks_sum_,
    .join = ranks_join_,
    .agree = ranks_end_,
};

OKRA_API okra_engine_plugin_fn_ okra_engine_plugin;

const okra_engine_class_ *okra_engine_plugin(const okra_engine_host_ *host)
{
    return host->interface == OKRA_ENGINE_INTERFACE_ ? &mpi_class : NULL;
}
