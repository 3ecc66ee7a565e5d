/*
 * methods.c: the table of methods.
 */
#include "method/method.h"

#include <string.h>

extern const okra_method_ okra_method_ridge_, okra_method_margin_, okra_method_knn_,
    okra_method_kpca_, okra_method_tgp_kl_, okra_method_tgp_hsic_, okra_method_soar_;

const okra_method_ *const okra_methods_[] = {
    &okra_method_ridge_,  &okra_method_margin_,   &okra_method_knn_,  &okra_method_kpca_,
    &okra_method_tgp_kl_, &okra_method_tgp_hsic_, &okra_method_soar_, NULL,
};

const okra_method_ *okra_method_find_(const char *name)
{
    for (size_t i = 0; okra_methods_[i]; i++) {
        if (strcmp(okra_methods_[i]->name, name) == 0) {
            return okra_methods_[i];
        }
    }
    return NULL;
}
