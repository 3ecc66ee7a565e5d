/*
 * methods.c: the table of methods.
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
