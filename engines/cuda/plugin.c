/*
 * plugin.c: the table of verbs, and the one symbol that libokra-cuda.so exports.
 */
#include "gpu.h"

static const okra_engine_class_ cuda_class = {
    .interface = OKRA_ENGINE_INTERFACE_,
    .name = "cuda",
    .help = "one NVIDIA GPU: cuda, or cuda:N for the N-th",
    .open = gpu_open_,
    .close = gpu_close_,
    .describe = gpu_describe_,
    .create = gpu_create_,
    .destroy = gpu_destroy_,
    .gram = gpu_gram_,
    .put = gpu_put_,
    .get = gpu_get_,
    .copy = gpu_copy_,
    .fill = gpu_fill_,
    .add_diagonal = gpu_add_diagonal_,
    .diagonal = gpu_diagonal_,
    .scale = gpu_scale_,
    .center = gpu_center_,
    .combine = gpu_combine_,
    .row_sums = gpu_row_sums_,
    .dot = gpu_dot_,
    .dots = gpu_dots_,
    .best = gpu_best_,
    .gemm = gpu_gemm_,
    .syrk = gpu_syrk_,
    .cholesky = gpu_cholesky_,
    .restore = gpu_restore_,
    .trsm = gpu_trsm_,
    .eigh = gpu_eigh_,
    .top = gpu_top_,
    .single = gpu_single_,
    .single_destroy = gpu_single_destroy_,
    .single_solve = gpu_single_solve_,
    .product = gpu_product_,
};

OKRA_API okra_engine_plugin_fn_ okra_engine_plugin;

const okra_engine_class_ *okra_engine_plugin(const okra_engine_host_ *host)
{
    return host->interface == OKRA_ENGINE_INTERFACE_ ? &cuda_class : NULL;
}
