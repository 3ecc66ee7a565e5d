/*
 * entries.c: the entries of a Gram matrix, as host tiles and, where the expression is
 * over vectors, as a program (kernel/kernel.h).
 */
#include "engine/engine.h"

#include "kernel/gram/trained_kernel.h"
#include "okra/more/features.h"

typedef struct owner {
    okra_entries_ entries; /* first */
    const okra_trained_kernel_ *bound;
    const okra_test_side_ *other;
    okra_step_ *steps;
} owner;

static okra_status tile(okra_context *ctx, const void *self, okra_int i0, okra_int ni,
                        okra_int j0, okra_int nj, double *out, okra_int ld)
{
    const owner *o = self;
    return okra_trained_kernel_block_(ctx, o->bound, o->other, i0, ni, j0, nj, out, ld);
}

const okra_trained_kernel_ *okra_entries_bound_(const okra_entries_ *entries,
                                                const okra_test_side_ **other)
{
    if (entries->tile != tile) {
        return NULL;
    }
    const owner *o = entries->self;
    *other = o->other;
    return o->bound;
}

/* ---- programs ---- */

typedef struct writer {
    const okra_kernel *kernel;
    const okra_slots_ *a, *b;
    okra_step_ *steps;
    int count, height, depth; /* values on the stack, and the most there were */
} writer;

/* The steps of the subtree at `place`; false: there are none. */
static bool write_node(writer *w, int place)
{
    const okra_node_ *node = &w->kernel->nodes[place];
    const okra_slot_ *a = w->a->slots, *b = w->b->slots;
    okra_step_ step = {.p = node->scale}, leaf[2];
    int grows = 0;
    switch (node->kind) {
    case OKRA_NODE_LEAF_: {
        int count = node->leaf->steps ? node->leaf->steps(node->params, a[place].side,
                                                          b[place].side, leaf)
                                      : 0;
        if (count == 0) {
            return false;
        }
        for (int k = 0; k + 1 < count; k++) {
            w->steps[w->count++] = leaf[k];
        }
        step = leaf[count - 1];
        grows = 1;
        break;
    }
    case OKRA_NODE_TRANSFORM_:
        if (!node->transform->code || !write_node(w, node->a) ||
            (node->transform->distances &&
             okra_far_(w->kernel, node, okra_most_(w->a->n, a[node->a].self),
                       okra_most_(w->b->n, b[node->a].self)))) {
            return false;
        }
        step.code = node->transform->code;
        if (node->transform->step) {
            node->transform->step(node->params, &step);
        }
        bool means = node->transform->uses == OKRA_USES_MEANS_;
        if (node->transform->uses != OKRA_USES_VALUES_) {
            step.u = means ? a[place].mean : a[node->a].self;
            step.v = means ? b[place].mean : b[node->a].self;
        }
        break;
    case OKRA_NODE_SCALE_:
        if (!write_node(w, node->a)) {
            return false;
        }
        step.code = OKRA_CODE_SCALE_;
        break;
    case OKRA_NODE_CONSTANT_:
        step.code = OKRA_CODE_CONSTANT_;
        grows = 1;
        break;
    case OKRA_NODE_SUM_:
    case OKRA_NODE_PRODUCT_:
        if (!write_node(w, node->a) || !write_node(w, node->b)) {
            return false;
        }
        step.code = node->kind == OKRA_NODE_SUM_ ? OKRA_CODE_SUM_ : OKRA_CODE_PRODUCT_;
        grows = -1;
        break;
    }
    step.self = a[place].self;
    w->steps[w->count++] = step;
    w->height += grows;
    w->depth = OKRA_MAX_(w->depth, w->height);
    return true;
}

okra_status okra_entries_create_(okra_context *ctx, const okra_trained_kernel_ *bound,
                                 const okra_test_side_ *other, okra_entries_ **out)
{
    OWNED owner *o = NULL;
    ZMAKE(o, 1);
    o->bound = bound;
    o->other = other;
    o->entries = (okra_entries_){.rows = other ? other->view.n : bound->train.n,
                                 .cols = bound->train.n,
                                 .symmetric = !other,
                                 .tile = tile,
                                 .self = o};
    writer w = {.kernel = bound->kernel,
                .a = other ? &other->view : &bound->train,
                .b = &bound->train};
    MAKE(o->steps, 2 * bound->kernel->count);
    w.steps = o->steps;
    if (write_node(&w, bound->kernel->count - 1)) {
        o->entries.steps = o->steps;
        o->entries.count = w.count;
        o->entries.depth = w.depth;
    }
    *out = &TAKE(o)->entries;
    return OKRA_OK;
}

/* A kernel with the objects that it meets. */
typedef struct meeting {
    okra_trained_kernel_ *bound;
    okra_test_side_ *other;
    okra_entries_ *entries;
} meeting;

static void part(meeting *m)
{
    okra_entries_free_(m->entries);
    okra_test_side_free_(m->other);
    okra_trained_kernel_free_(m->bound);
}

static okra_status meet(okra_context *ctx, const okra_kernel *kernel, const okra_data *a,
                        const okra_data *b, meeting *m)
{
    CHK(okra_trained_kernel_create_(ctx, kernel, b ? b : a, &m->bound));
    if (b) {
        CHK(okra_test_side_create_(ctx, m->bound, a, &m->other));
    }
    return okra_entries_create_(ctx, m->bound, m->other, &m->entries);
}

okra_status okra_gram(okra_context *context, const okra_kernel *kernel,
                      const okra_data *a, const okra_data *b, double *out, okra_int ld)
{
    FREED_BY(part) meeting m = {0};
    NOT_NULL(kernel, a, out);
    okra_int cols = b ? b->n : a->n;
    CHK(meet(context, kernel, a, b, &m));
    REFUSE_IF(ld < cols, OKRA_ESHAPE, "gram: %lld columns with row stride %lld",
              (long long)cols, (long long)ld);
    return okra_matrix_gram_host_(context, m.entries, 0,
                                  okra_mat_view_(out, a->n, cols, ld));
}

static okra_status get_rows(okra_context *ctx, const void *A, okra_int first,
                            okra_mat_ block)
{
    return okra_matrix_get_(ctx, A, first, 0, block);
}

okra_status okra_gram_write(okra_context *context, const okra_kernel *kernel,
                            const okra_data *a, const okra_data *b, const char *path)
{
    FREED_BY(part) meeting m = {0};
    FREED_BY(okra_matrix_drop_) okra_matrix_ *A = NULL;
    OWNED double *K = NULL;
    FREED_BY(okra_data_drop_) okra_data *all = NULL;
    NOT_NULL(kernel, a, path);
    okra_int cols = b ? b->n : a->n;
    if (okra_engine_is_host_(context)) { /* it is written from where it is computed */
        CHK(okra_doubles_(context, a->n, cols, "the Gram matrix", &K));
        CHK(okra_gram(context, kernel, a, b, K, cols));
        CHK(okra_data_dense(K, a->n, cols, cols, &all));
        return okra_data_write(context, all, path);
    }
    CHK(okra_matrix_create_(context, a->n, cols, "the Gram matrix", &A));
    CHK(meet(context, kernel, a, b, &m));
    CHK(okra_matrix_gram_(context, m.entries, 0, A));
    okra_rows_ rows = {get_rows, NULL, A};
    return okra_rows_write_(context, &rows, a->n, cols, path);
}

void okra_entries_free_(okra_entries_ *entries)
{
    if (entries) {
        owner *o = (owner *)(uintptr_t)entries->self;
        FREE(o->steps, o);
    }
}
