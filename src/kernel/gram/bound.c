/*
 * bound.c: a kernel bound to its training set, and other collections prepared against it.
 */
#include "kernel/gram/bound.h"

#include <stdio.h>
#include <string.h>

/* ---- the training set ---- */

void okra_mean_name_(char name[128], const char *prefix, int place)
{
    snprintf(name, 128, "%s.center%d", prefix, place);
}

static bool centers(const okra_node_ *node)
{
    return node->kind == OKRA_NODE_TRANSFORM_ &&
           node->transform->uses == OKRA_USES_MEANS_;
}

void okra_leaf_name_(char name[128], const char *prefix, int place)
{
    snprintf(name, 128, "%s.leaf%d", prefix, place);
}

/* The means of `center`; leaves restore themselves when they are bound. */
static okra_status restore(okra_bound_ *bound)
{
    char name[128];

    for (int k = 0; k < bound->kernel->count; k++) {
        okra_int rows = 0, cols = 0;
        if (!centers(&bound->kernel->nodes[k])) {
            continue;
        }
        okra_mean_name_(name, bound->prefix, k);
        const double *mean = okra_bag_get_(bound->bag, name, &rows, &cols);
        REFUSE_IF(!mean || rows != bound->train.n || cols != 1 ||
                      !okra_bag_get_number_(bound->bag, name, &bound->grand[k]),
                  OKRA_EFORMAT, "the training means '%s' of kernel %s are missing", name,
                  bound->kernel->text);
        MAKE(bound->train.slots[k].mean, rows);
        memcpy(bound->train.slots[k].mean, mean, (size_t)rows * sizeof *mean);
    }
    return OKRA_OK;
}

/* like: what leaves share is taken from it; or NULL. */
static okra_status create(okra_context *ctx, const okra_kernel *kernel,
                          const okra_data *train, const okra_bag_ *bag,
                          const char *prefix, const okra_bound_ *like, okra_bound_ **out)
{
    FREED_BY(okra_bound_drop_) okra_bound_ *bound = NULL;

    ZMAKE(bound, 1);
    bound->kernel = kernel;
    CHK(okra_view_begin_(kernel, train, &bound->train));
    ZMAKE(bound->shared, kernel->count);
    ZMAKE(bound->grand, kernel->count);
    bound->bag = bag;
    bound->prefix = prefix;
    if (bag) {
        CHK(restore(bound));
    }
    for (int k = 0; like && k < kernel->count; k++) {
        const okra_kernel_class_ *leaf = kernel->nodes[k].leaf;
        bound->shared[k] = leaf && leaf->share ? leaf->share(like->shared[k]) : NULL;
    }
    CHK(okra_view_fill_(ctx, bound, &bound->train));
    bound->bag = NULL;
    bound->prefix = NULL;
    *out = TAKE(bound);
    return OKRA_OK;
}

okra_status okra_bound_create_(okra_context *ctx, const okra_kernel *kernel,
                               const okra_data *train, okra_bound_ **out)
{
    return create(ctx, kernel, train, NULL, NULL, NULL, out);
}

okra_status okra_bound_again_(okra_context *ctx, const okra_bound_ *bound,
                              const okra_data *data, okra_bound_ **out)
{
    return create(ctx, bound->kernel, data, NULL, NULL, bound, out);
}

okra_status okra_bound_load_(okra_context *ctx, const okra_kernel *kernel,
                             const okra_data *train, const okra_bag_ *bag,
                             const char *prefix, okra_bound_ **out)
{
    return create(ctx, kernel, train, bag, prefix, NULL, out);
}

void okra_bound_free_(okra_bound_ *bound)
{
    if (!bound) {
        return;
    }
    okra_view_clear_(bound->kernel, &bound->train);
    for (int k = 0; bound->shared && k < bound->kernel->count; k++) {
        if (bound->shared[k]) {
            bound->kernel->nodes[k].leaf->unbind(bound->shared[k]);
        }
    }
    FREE(bound->shared, bound->grand, bound);
}

okra_status okra_bound_save_(const okra_bound_ *bound, okra_bag_ *bag, const char *prefix)
{
    char name[128];
    okra_int n = bound->train.n;

    for (int k = 0; k < bound->kernel->count; k++) {
        const okra_kernel_class_ *leaf = bound->kernel->nodes[k].leaf;
        if (leaf && leaf->save) {
            okra_leaf_name_(name, prefix, k);
            CHK(leaf->save(bound->shared[k], bag, name));
        }
        if (centers(&bound->kernel->nodes[k])) {
            okra_mean_name_(name, prefix, k);
            CHK(okra_bag_put_copy_(bag, name, bound->train.slots[k].mean, n, 1));
            CHK(okra_bag_put_number_(bag, name, bound->grand[k]));
        }
    }
    return OKRA_OK;
}

okra_int okra_bound_count_(const okra_bound_ *bound)
{
    return bound->train.n;
}

const okra_kernel *okra_bound_kernel_(const okra_bound_ *bound)
{
    return bound->kernel;
}

const okra_data *okra_bound_data_(const okra_bound_ *bound)
{
    return bound->train.data;
}

static okra_status check_shape(okra_mat_ K, okra_int rows, okra_int cols)
{
    if (K.rows == rows && K.cols == cols && K.ld >= cols) {
        return OKRA_OK;
    }
    return okra_fail_(OKRA_ESHAPE,
                      "gram: the matrix is %lld x %lld with row stride %lld, expected "
                      "%lld x %lld",
                      (long long)K.rows, (long long)K.cols, (long long)K.ld,
                      (long long)rows, (long long)cols);
}

okra_status okra_bound_gram_(okra_context *ctx, const okra_bound_ *bound, okra_mat_ K)
{
    CHK(check_shape(K, bound->train.n, bound->train.n));
    return okra_tiles_(ctx, bound, bound->kernel->count - 1, &bound->train, 0,
                       bound->train.n, OKRA_TARGET_SYMMETRIC_, "gram", K);
}

typedef struct copying {
    const okra_kernel *kernel;
    const double *from;
    double *to;
} copying;

static okra_status copy_self(void *arg, okra_int begin, okra_int end, int worker)
{
    const copying *c = arg;
    (void)worker;
    memcpy(c->to + begin, c->from + begin, (size_t)(end - begin) * sizeof *c->to);
    return okra_finite_self_(c->kernel, begin, end, c->from);
}

static okra_status self(okra_context *ctx, const okra_bound_ *bound,
                        const okra_slots_ *view, double *d)
{
    const double *own = view->slots[bound->kernel->count - 1].self;

    REFUSE_IF(!own, OKRA_EARG,
              "%s: the self-similarities of these rows of a Gram matrix are needed: give "
              "the diagonal too (okra predict --x-diagonal)",
              view->data->source);
    copying c = {bound->kernel, own, d};
    return okra_parallel_(ctx, view->n, 65536, NULL, copy_self, &c);
}

okra_status okra_bound_diagonal_(okra_context *ctx, const okra_bound_ *bound, double *d)
{
    return self(ctx, bound, &bound->train, d);
}

/* ---- other collections ---- */

okra_status okra_other_create_(okra_context *ctx, const okra_bound_ *bound,
                               const okra_data *data, okra_other_ **out)
{
    FREED_BY(okra_other_drop_) okra_other_ *other = NULL;

    ZMAKE(other, 1);
    other->kernel = bound->kernel;
    CHK(okra_view_begin_(bound->kernel, data, &other->view));
    CHK(okra_view_fill_(ctx, bound, &other->view));
    *out = TAKE(other);
    return OKRA_OK;
}

void okra_other_free_(okra_other_ *other)
{
    if (other) {
        okra_view_clear_(other->kernel, &other->view);
        okra_free_(other);
    }
}

okra_int okra_other_count_(const okra_other_ *other)
{
    return other->view.n;
}

static okra_status check_range(const okra_other_ *other, okra_int first, okra_int count)
{
    if (first >= 0 && count >= 0 && first <= other->view.n - count) {
        return OKRA_OK;
    }
    return okra_fail_(OKRA_EARG, "gram: rows %lld to %lld are asked of %lld objects",
                      (long long)first, (long long)(first + count - 1),
                      (long long)other->view.n);
}

okra_status okra_other_cross_(okra_context *ctx, const okra_bound_ *bound,
                              const okra_other_ *other, okra_int i0, okra_mat_ K)
{
    CHK(check_range(other, i0, K.rows));
    CHK(check_shape(K, K.rows, bound->train.n));
    return okra_tiles_(ctx, bound, bound->kernel->count - 1, &other->view, i0, K.rows,
                       OKRA_TARGET_FULL_, "gram", K);
}

okra_status okra_other_cross_t_(okra_context *ctx, const okra_bound_ *bound,
                                const okra_other_ *other, okra_int j0, okra_mat_ K)
{
    CHK(check_range(other, j0, K.cols));
    CHK(check_shape(K, bound->train.n, K.cols));
    return okra_tiles_(ctx, bound, bound->kernel->count - 1, &other->view, j0, K.cols,
                       OKRA_TARGET_TRANSPOSED_, "gram", K);
}

okra_status okra_other_diagonal_(okra_context *ctx, const okra_bound_ *bound,
                                 const okra_other_ *other, double *d)
{
    int root = bound->kernel->count - 1;
    const okra_kernel_class_ *leaf = bound->kernel->nodes[root].leaf;
    return leaf && leaf->whole_diagonal
               ? leaf->whole_diagonal(ctx, other->view.slots[root].side, d)
               : self(ctx, bound, &other->view, d);
}
