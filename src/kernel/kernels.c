/*
 * kernels.c: the kernels by name: classes, and names that stand for linear | transform.
 */
#include "kernel/expression/expr.h"
#include "okra/more/traits.h"

/* A kernel more is one line here: X(name) for the class okra_<name>_. */
/* clang-format off */
#define KERNELS(X) \
    X(linear) \
    X(standardize) \
    X(laplacian) \
    X(standardized_laplacian) \
    X(zero_one) \
    X(kendall) \
    X(spearman) \
    X(precomputed) \
    X(paths) \
    X(wl) \
    X(shortest_path) \
    X(ecfp) \
    X(composition) \
    X(diffusion) \
    X(regularized_laplacian) \
    X(p_step) \
    X(commute_time) \
    X(from_distance) \
    X(ssk) \
    X(spectrum) \
    X(mismatch) \
    X(weighted_degree) \
    X(edit) \
    X(ends) \
    X(alignment) \
    X(position) \
    X(patches) \
    X(bag) \
    X(jitter) \
    X(ic) \
    X(cost) \
    X(metric) \
    X(ppk) \
    X(mz_bins) \
    X(mz_match) \
    X(precursor) \
    X(of_field) \
    X(tasks)
/* clang-format on */
#define DECLARE(name) extern const okra_kernel_class_ okra_##name##_;
#define PLACE(name) &okra_##name##_,

KERNELS(DECLARE)
const okra_option okra_no_params_[] = {{.name = NULL}};

const okra_kernel_class_ *const okra_kernel_classes_[] = {KERNELS(PLACE) NULL};

const okra_sugar_ okra_sugar_names_[] = {
    {"rbf", "Gaussian, exp(-|x-y|^2/(2 sigma^2)) = exp(-gamma |x-y|^2)", &okra_rbf_},
    {"poly", "polynomial, (gamma <x,y> + coef0)^degree", &okra_poly_},
    {"cosine", "cosine of the angle, <x,y>/(|x||y|)", &okra_normalize_},
    {"tanimoto", "<x,y>/(|x|^2 + |y|^2 - <x,y>); shared bits over bits in either",
     &okra_tanimoto_},
    {"dice", "2<x,y>/(|x|^2 + |y|^2), the F1 of two label sets", &okra_dice_},
    {NULL, NULL, NULL}};

const char *okra_kernel_name(size_t index, const char **help,
                             const okra_option_table **parameters)
{
    size_t classes = sizeof okra_kernel_classes_ / sizeof *okra_kernel_classes_ - 1;
    size_t sugar = sizeof okra_sugar_names_ / sizeof *okra_sugar_names_ - 1;
    if (index >= classes + sugar) {
        return NULL;
    }
    bool class = index < classes;
    const okra_kernel_class_ *k = class ? okra_kernel_classes_[index] : NULL;
    const okra_sugar_ *s = class ? NULL : &okra_sugar_names_[index - classes];
    if (help) {
        *help = class ? k->help : s->help;
    }
    if (parameters) {
        *parameters = class ? &k->params : &s->transform->params;
    }
    return class ? k->name : s->name;
}

/* The class that `text` names, with parameters in brackets or not, and nothing else. */
static const okra_kernel_class_ *alone(const char *text)
{
    const char *name = text + strspn(text, " "), *p = name + strcspn(name, " (");
    size_t length = (size_t)(p - name);
    int depth = 0;
    for (p += strspn(p, " "); *p == '(' || (*p && depth > 0); p++) {
        depth += (*p == '(') - (*p == ')');
    }
    bool whole = depth == 0 && !p[strspn(p, " ")];
    for (size_t k = 0; whole && okra_kernel_classes_[k]; k++) {
        const char *own = okra_kernel_classes_[k]->name;
        if (strlen(own) == length && memcmp(own, name, length) == 0) {
            return okra_kernel_classes_[k];
        }
    }
    return NULL;
}

bool okra_kernel_has(const char *kernel, okra_kernel_trait trait)
{
    const okra_kernel_class_ *class = kernel ? alone(kernel) : NULL;
    okra_shape_ shape = class ? class->shape : OKRA_SHAPE_ANY_;
    switch (trait) {
    case OKRA_KERNEL_GIVEN:
        return shape == OKRA_SHAPE_GIVEN_;
    case OKRA_KERNEL_LINEAR:
        return shape == OKRA_SHAPE_INNER_;
    case OKRA_KERNEL_EQUALITY:
        return shape == OKRA_SHAPE_EQUAL_;
    }
    return false;
}
