/*
 * transforms.c: what may follow a pipe, by name: transforms of Gram values, then factors
 * of low rank.
 */
#include "kernel/transforms.h"
#include "kernel/lowrank/lowrank.h"

const okra_transform_class_ *const okra_transform_classes_[] = {
    &okra_normalize_,   &okra_center_, &okra_rbf_,      &okra_poly_, &okra_power_,
    &okra_poly_series_, &okra_exp_,    &okra_tanimoto_, &okra_dice_, NULL};

const char *okra_transform_name(size_t index, const char **help,
                                const okra_option_table **parameters)
{
    size_t count = sizeof okra_transform_classes_ / sizeof *okra_transform_classes_ - 1;
    bool value = index < count;
    const okra_transform_class_ *t = value ? okra_transform_classes_[index] : NULL;
    const okra_kernel_class_ *low = NULL;
    for (size_t k = 0; !value && okra_low_classes_[k]; k++) {
        low = k == index - count ? okra_low_classes_[k] : low;
    }
    if (!value && !low) {
        return NULL;
    }
    if (help) {
        *help = value ? t->help : low->help;
    }
    if (parameters) {
        *parameters = value ? &t->params : &low->params;
    }
    return value ? t->name : low->name;
}
