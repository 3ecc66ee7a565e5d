/*
 * methods.c: the table of methods, and what is the same for those in it.
 */
#include "method/method.h"

#include <string.h>

/* clang-format off */
extern const okra_method_
    okra_method_ridge_,
    okra_method_margin_,
    okra_method_knn_,
    okra_method_kpca_,
    okra_method_tgp_kl_,
    okra_method_tgp_hsic_,
    okra_method_soar_,
    okra_method_ok3_,
    okra_method_naive_,
    okra_method_kcca_,
    okra_method_kml_,
    okra_method_local_,
    okra_method_em_,
    okra_method_pkmr_,
    okra_method_svm_,
    okra_method_svr_,
    okra_method_hopfield_,
    okra_method_jkm_,
    okra_method_m3n_,
    okra_method_constrained_;

const okra_method_ *const okra_methods_[] = {
    &okra_method_ridge_,
    &okra_method_margin_,
    &okra_method_knn_,
    &okra_method_kpca_,
    &okra_method_tgp_kl_,
    &okra_method_tgp_hsic_,
    &okra_method_soar_,
    &okra_method_ok3_,
    &okra_method_naive_,
    &okra_method_kcca_,
    &okra_method_kml_,
    &okra_method_local_,
    &okra_method_em_,
    &okra_method_pkmr_,
    &okra_method_svm_,
    &okra_method_svr_,
    &okra_method_hopfield_,
    &okra_method_jkm_,
    &okra_method_m3n_,
    &okra_method_constrained_,
    NULL,
};
/* clang-format on */

const okra_method_ *okra_method_find_(const char *name)
{
    for (size_t i = 0; okra_methods_[i]; i++) {
        if (strcmp(okra_methods_[i]->name, name) == 0) {
            return okra_methods_[i];
        }
    }
    return NULL;
}

okra_status okra_method_fit_(okra_context *ctx, const okra_method_ *method,
                             const okra_problem_ *problem, const okra_options *options,
                             okra_bag_ *bag)
{
    if (method->fit) {
        return method->fit(ctx, problem, options, bag);
    }
    double lambda;
    okra_option rows[] = {*okra_option_find_(&method->options, "lambda", 6), {0}};
    rows[0].offset = 0;
    okra_option_table table = {method->options.owner, rows, sizeof lambda};
    okra_status st = okra_options_read(options, &table, &lambda);
    return st == OKRA_OK ? method->path(ctx, problem, options, &lambda, 1, &bag) : st;
}

bool okra_method_factored_(const okra_method_ *method, const okra_problem_ *problem,
                           const okra_options *options)
{
    return method->low_rank && (!method->factored || method->factored(problem, options));
}
