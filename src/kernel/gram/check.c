/*
 * check.c: what a kernel keeps in a model, checked against what its parts declare.
 */
#include "kernel/gram/bound.h"

/* The means of `center`. */
static const okra_kept_ means[] = {OKRA_KEEPS_MATRIX_("", 0, "n", "1"),
                                   OKRA_KEEPS_NUMBER_("", 0, NULL, NULL), OKRA_KEPT_END_};

static okra_status check_leaf(const okra_node_ *node, const okra_data *train, okra_int n,
                              const char *name, okra_bag_ *bag)
{
    const okra_data *part = NULL;
    okra_sizes_ sizes = {0};
    CHK(okra_view_part_(node, train, &part));
    if (node->leaf->check_kept) {
        CHK(node->leaf->check_kept(node->params, part, n, name, bag));
    } else if (node->leaf->kept) {
        okra_sizes_set_(&sizes, "n", n);
        okra_sizes_set_(&sizes, "d", part->d);
        CHK(okra_kept_check_(node->leaf->kept, name, bag, &sizes));
    } else {
        return okra_fail_(OKRA_EINTERNAL, "kernel %s does not declare what it keeps",
                          node->leaf->name);
    }
    return OKRA_OK;
}

okra_status okra_bound_check_kept_(const okra_kernel *kernel, const okra_data *train,
                                   okra_int n, const char *prefix, okra_bag_ *bag)
{
    char name[128];
    for (int k = 0; k < kernel->count; k++) {
        const okra_node_ *node = &kernel->nodes[k];
        okra_sizes_ sizes = {0};
        if (node->kind == OKRA_NODE_LEAF_ && node->leaf->save) {
            okra_leaf_name_(name, prefix, k);
            CHK(check_leaf(node, train, n, name, bag));
        }
        if (node->kind == OKRA_NODE_TRANSFORM_ &&
            node->transform->uses == OKRA_USES_MEANS_) {
            okra_mean_name_(name, prefix, k);
            okra_sizes_set_(&sizes, "n", n);
            CHK(okra_kept_check_(means, name, bag, &sizes));
        }
    }
    return OKRA_OK;
}
