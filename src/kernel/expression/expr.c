/*
 * expr.c: parsed kernels.
 */
#include "kernel/expression/expr.h"
#include "kernel/kernels.h"
#include "kernel/positions/position.h"

/* ---- kernels ---- */

/* Text parameters that are not defaults belong to the node. */
static void free_texts(const okra_option_table *table, char *params)
{
    for (const okra_option *row = table->rows; row->name; row++) {
        char **field = (char **)(void *)(params + row->offset);
        if (okra_option_is_text_(row) && *field != row->preset) {
            okra_free_(*field);
        }
    }
}

void okra_expr_clear_(okra_kernel *kernel)
{
    for (int k = 0; k < kernel->count; k++) {
        okra_node_ *node = &kernel->nodes[k];
        if (node->leaf && node->leaf->nested && node->params) {
            okra_kernel_free(*(okra_kernel **)node->params);
        }
        if (node->params) {
            free_texts(node->leaf ? &node->leaf->params : &node->transform->params,
                       node->params);
            okra_free_(node->params);
        }
    }
    FREE(kernel->nodes, kernel->text);
}

okra_status okra_kernel_parse(const char *text, okra_kernel **out)
{
    FREED_BY(okra_kernel_drop_) okra_kernel *kernel = NULL;

    NOT_NULL(text);
    NOT_NULL(out);
    ZMAKE(kernel, 1);
    CHK(okra_expr_parse_(text, NULL, kernel));
    CHK(okra_expr_text_(kernel, &kernel->text));
    *out = TAKE(kernel);
    return OKRA_OK;
}

void okra_kernel_free(okra_kernel *kernel)
{
    if (kernel) {
        okra_expr_clear_(kernel);
        okra_free_(kernel);
    }
}

/* The kernel inside a nested leaf, or NULL. */
static okra_kernel *inside(const okra_node_ *node)
{
    return node->kind == OKRA_NODE_LEAF_ && node->leaf->nested
               ? *(okra_kernel *const *)node->params
               : NULL;
}

bool okra_kernel_files_(const okra_kernel *kernel)
{
    bool files = false;
    for (int k = 0; k < kernel->count && !files; k++) {
        const okra_node_ *node = &kernel->nodes[k];
        const okra_kernel *inner = inside(node);
        files = (node->kind == OKRA_NODE_LEAF_ &&
                 okra_option_find_(&node->leaf->params, "file", 4)) ||
                (inner && okra_kernel_files_(inner));
    }
    return files;
}

void okra_kernel_close_(okra_kernel *kernel)
{
    kernel->closed = true;
    for (int k = 0; k < kernel->count; k++) {
        okra_kernel *inner = inside(&kernel->nodes[k]);
        if (inner) {
            okra_kernel_close_(inner);
        }
    }
}

okra_status okra_kernel_parse_kept_(const char *text, okra_kernel **out)
{
    okra_status st = okra_kernel_parse(text, out);
    if (st == OKRA_OK) {
        okra_kernel_close_(*out);
    }
    return st == OKRA_EARG ? OKRA_EFORMAT : st;
}

const char *okra_kernel_text(const okra_kernel *kernel)
{
    return kernel ? kernel->text : NULL;
}

/* The leaf of the kernel, where it is one leaf times a constant. */
static const okra_kernel_class_ *only_leaf(const okra_kernel *kernel, double *scale)
{
    const okra_node_ *node = &kernel->nodes[kernel->count - 1];
    for (*scale = 1; node->kind == OKRA_NODE_SCALE_; node = &kernel->nodes[node->a]) {
        *scale *= node->scale;
    }
    return node->kind == OKRA_NODE_LEAF_ && node->component == 0 ? node->leaf : NULL;
}

okra_shape_ okra_kernel_shape_(const okra_kernel *kernel, double *scale)
{
    const okra_kernel_class_ *leaf = only_leaf(kernel, scale);
    return leaf ? leaf->shape : OKRA_SHAPE_ANY_;
}

bool okra_kernel_is_linear_(const okra_kernel *kernel, double *scale)
{
    return okra_kernel_shape_(kernel, scale) == OKRA_SHAPE_INNER_;
}

bool okra_kernel_by_counts_(const okra_kernel *kernel)
{
    bool yes = !okra_kernel_centers_(kernel);
    for (int k = 0; k < kernel->count; k++) {
        const okra_node_ *node = &kernel->nodes[k];
        bool linear = node->leaf == &okra_linear_ ||
                      node->leaf == okra_linear_.distances; /* below rbf */
        yes = yes && (node->kind != OKRA_NODE_LEAF_ || (linear && node->component == 0));
    }
    return yes;
}

bool okra_kernel_is_metric_(const okra_kernel *kernel)
{
    double scale;
    const okra_kernel_class_ *leaf = only_leaf(kernel, &scale);
    return leaf == &okra_metric_ || leaf == &okra_tasks_;
}

const okra_kernel *okra_kernel_inner_(const okra_kernel *kernel)
{
    double scale;
    const okra_position_params_ *params = kernel->nodes[kernel->count - 1].params;
    return only_leaf(kernel, &scale) == &okra_position_ && kernel->count == 1 &&
                   !params->map
               ? params->inner
               : NULL;
}

unsigned okra_kernel_kinds_(const okra_kernel *kernel)
{
    unsigned kinds = ~0u;
    for (int k = 0; k < kernel->count; k++) {
        const okra_node_ *node = &kernel->nodes[k];
        bool leaf = node->kind == OKRA_NODE_LEAF_;
        kinds &= !leaf               ? ~0u
                 : node->leaf->whole ? okra_kernel_kinds_(*(okra_kernel **)node->params)
                                     : node->leaf->kinds;
    }
    return kinds;
}

bool okra_kernel_means_(const okra_kernel *kernel)
{
    for (int k = 0; k < kernel->count; k++) {
        const okra_node_ *node = &kernel->nodes[k];
        if (node->kind == OKRA_NODE_TRANSFORM_ &&
            node->transform->uses == OKRA_USES_MEANS_) {
            return true;
        }
    }
    return false;
}

/* Does a kernel of elements learn from them? It is bound to them anew. */
static bool learns(const okra_kernel *inner)
{
    bool yes = okra_kernel_follows_(inner);
    for (int k = 0; k < inner->count; k++) {
        const okra_kernel_class_ *leaf = inner->nodes[k].leaf;
        yes = yes || leaf == &okra_standardize_ || leaf == &okra_tasks_;
    }
    return yes;
}

bool okra_kernel_follows_(const okra_kernel *kernel)
{
    bool yes = okra_kernel_means_(kernel);
    for (int k = 0; k < kernel->count && !yes; k++) {
        const okra_node_ *node = &kernel->nodes[k];
        const okra_position_params_ *p = node->params;
        yes = node->leaf && (node->leaf->follows || ((node->leaf == &okra_position_ ||
                                                      node->leaf == &okra_patches_) &&
                                                     (p->map || learns(p->inner))));
    }
    return yes;
}

bool okra_kernel_centers_(const okra_kernel *kernel)
{
    return okra_kernel_means_(kernel) || okra_kernel_low_(kernel);
}
