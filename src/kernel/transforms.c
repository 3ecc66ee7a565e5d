/*
 * transforms.c: what may follow a pipe, by name: transforms of Gram values, then factors
 * of low rank.
 */
#include "kernel/lowrank/lowrank.h"

/* A transform more is one line here. */
/* clang-format off */
#define TRANSFORMS(X) \
    X(normalize) \
    X(center) \
    X(rbf) \
    X(poly) \
    X(power) \
    X(poly_series) \
    X(exp) \
    X(tanimoto) \
    X(dice)
/* clang-format on */
#define DECLARE(name) extern const okra_transform_class_ okra_##name##_;
#define PLACE(name) &okra_##name##_,

TRANSFORMS(DECLARE)
const okra_transform_class_ *const okra_transform_classes_[] = {TRANSFORMS(PLACE) NULL};

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
