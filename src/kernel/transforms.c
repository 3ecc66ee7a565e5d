/*
 * transforms.c: the transforms of Gram values, by name.
 */
#include "kernel/transforms.h"

const okra_transform_class_ *const okra_transform_classes_[] = {
    &okra_normalize_,   &okra_center_, &okra_rbf_,      &okra_poly_, &okra_power_,
    &okra_poly_series_, &okra_exp_,    &okra_tanimoto_, &okra_dice_, NULL};

const char *okra_transform_name(size_t index, const char **help,
                                const okra_option_table **parameters)
{
    size_t count = sizeof okra_transform_classes_ / sizeof *okra_transform_classes_ - 1;
    if (index >= count) {
        return NULL;
    }
    const okra_transform_class_ *t = okra_transform_classes_[index];
    if (help) {
        *help = t->help;
    }
    if (parameters) {
        *parameters = &t->params;
    }
    return t->name;
}
