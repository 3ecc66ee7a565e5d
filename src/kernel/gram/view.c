/*
 * view.c: a collection seen through a kernel expression.
 *
 * Every node of the expression keeps, for each collection, the self-similarities of its
 * objects (where known) and what its transform needs. `center` (Schoelkopf, Smola and
 * Mueller 1998, appendix A) needs means over the training set: m_i of row i,
 * g of all training pairs; k - m_a - m_b + g is H K H on the training set and the right
 * formula for other rows, whose m is taken over the training set too. Objects of weight u
 * count u times in both. The means cost one
 * more pass over the child's values, with no memory beyond a tile.
 */
#include "kernel/gram/bound.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

void okra_view_clear_(const okra_kernel *kernel, okra_slots_ *view)
{
    for (int k = 0; view->slots && k < view->count; k++) {
        okra_slot_ *slot = &view->slots[k];
        if (slot->side) {
            kernel->nodes[k].leaf->free_side(slot->side);
        }
        FREE(slot->self, slot->mean);
    }
    okra_free_(view->slots);
}

static okra_status check_kind(const okra_kernel_class_ *leaf, const okra_data *data)
{
    if (leaf->kinds & (1u << data->kind)) {
        return OKRA_OK;
    }
    char found[128], kinds[256] = "";
    for (int k = 0; leaf->kinds >> k; k++) {
        if (leaf->kinds >> k & 1) {
            size_t used = strlen(kinds);
            snprintf(kinds + used, sizeof kinds - used, "%s%s", used ? ", " : "",
                     okra_kind_name((okra_kind)k));
        }
    }
    return okra_fail_(OKRA_EARG, "kernel %s: %s holds %s, expected %s", leaf->name,
                      data->source, okra_data_describe_(data, found, sizeof found),
                      kinds);
}

okra_status okra_view_part_(const okra_node_ *node, const okra_data *data,
                            const okra_data **out)
{
    bool tuple = data->kind == OKRA_TUPLE && !(node->leaf->whole && !node->component);
    int parts = tuple ? data->component_count : 1;
    REFUSE_IF(node->component > parts, OKRA_EARG,
              "kernel %s@%d: %s has %d description%s of each object, there is "
              "no part %d",
              node->leaf->name, node->component, data->source, parts,
              parts == 1 ? "" : "s", node->component);
    REFUSE_IF(parts > 1 && node->component == 0, OKRA_EARG,
              "kernel %s: %s has %d descriptions of each object; expected "
              "%s@1 to %s@%d",
              node->leaf->name, data->source, parts, node->leaf->name, node->leaf->name,
              parts);
    *out = tuple ? data->components[OKRA_MAX_(node->component, 1) - 1] : data;
    return OKRA_OK;
}

static okra_status bind_leaf(okra_context *ctx, const okra_bound_ *bound, int place,
                             const okra_data *train)
{
    const okra_node_ *node = &bound->kernel->nodes[place];
    void **shared = &bound->shared[place];
    char name[128];
    if (bound->bag && node->leaf->load) {
        okra_leaf_name_(name, bound->prefix, place);
        return node->leaf->load(ctx, node->params, train, bound->bag, name, shared);
    }
    REFUSE_IF(bound->kernel->closed && okra_option_find_(&node->leaf->params, "file", 4),
              OKRA_EFORMAT,
              "kernel %s: the model names a file, which is not read: what "
              "the kernel needs must be in the model itself",
              node->leaf->name);
    return node->leaf->bind ? node->leaf->bind(ctx, node->params, train, shared)
           : node->leaf->load
               ? node->leaf->load(ctx, node->params, train, NULL, NULL, shared)
               : OKRA_OK;
}

static okra_status leaf_slot(okra_context *ctx, const okra_bound_ *bound, int place,
                             okra_slots_ *view)
{
    const okra_node_ *node = &bound->kernel->nodes[place];
    okra_slot_ *slot = &view->slots[place];
    const okra_data *data = NULL;

    CHK(okra_view_part_(node, view->data, &data));
    CHK(check_kind(node->leaf, data));
    if (view == &bound->train && !bound->shared[place]) {
        CHK(bind_leaf(ctx, bound, place, data));
    }
    CHK(node->leaf->side(ctx, node->params, bound->shared[place], data, &slot->side));
    MAKE(slot->self, view->n);
    if (!node->leaf->diagonal) {
        for (okra_int i = 0; i < view->n; i++) {
            slot->self[i] = 1;
        }
        return OKRA_OK;
    }
    okra_status st =
        node->leaf->diagonal(ctx, node->params, slot->side, view->n, slot->self);
    if (st == OKRA_EUNSUPPORTED) {
        st = OKRA_OK;
        okra_free_(slot->self);
        slot->self = NULL;
    }
    return st;
}

/* Objects of a large collection that are looked at together. */
enum { GRAIN = 65536 };

typedef struct degenerates {
    const double *self;
    atomic_llong count;
} degenerates;

static okra_status count_degenerate(void *arg, okra_int begin, okra_int end, int worker)
{
    degenerates *d = arg;
    long long count = 0;
    (void)worker;
    for (okra_int i = begin; i < end; i++) {
        count += !(d->self[i] > 0);
    }
    atomic_fetch_add(&d->count, count);
    return OKRA_OK;
}

/* A transform of self-similarities needs those of the child; objects where they are 0
 * are degenerate. */
static okra_status check_self(okra_context *ctx, const okra_transform_class_ *t,
                              const okra_slots_ *view, const double *self)
{
    degenerates d = {.self = self};
    REFUSE_IF(!self, OKRA_EARG,
              "%s: `%s` needs the self-similarities of its objects, which "
              "rows of a Gram matrix do not tell: give the diagonal too",
              view->data->source, t->name);
    if (t->degenerate) {
        CHK(okra_parallel_(ctx, view->n, GRAIN, NULL, count_degenerate, &d));
    }
    if (atomic_load(&d.count)) {
        okra_warn_(ctx, "%s: %lld of %lld objects have self-similarity 0 before `%s`: %s",
                   view->data->source, atomic_load(&d.count), (long long)view->n, t->name,
                   t->degenerate);
    }
    return OKRA_OK;
}

/* m_i - g/2 of every object; of the training set g first. */
static okra_status center_means(okra_context *ctx, const okra_bound_ *bound, int place,
                                okra_slots_ *view)
{
    okra_slot_ *slot = &view->slots[place];

    if (view == &bound->train && slot->mean) { /* restored from a model */
        return OKRA_OK;
    }
    MAKE(slot->mean, view->n);
    CHK(okra_tiles_(ctx, bound, bound->kernel->nodes[place].a, view, 0, view->n,
                    OKRA_TARGET_MEANS_, NULL, okra_mat_of_(slot->mean, view->n, 1)));
    if (view == &bound->train) {
        double grand = 0, total = okra_weights_total_(view->data);
        for (okra_int i = 0; i < view->n; i++) {
            grand += okra_weight_(view->data, i) * slot->mean[i] / total;
        }
        bound->grand[place] = grand;
    }
    for (okra_int i = 0; i < view->n; i++) {
        slot->mean[i] -= bound->grand[place] / 2;
    }
    return OKRA_OK;
}

typedef struct selves {
    const okra_node_ *node;
    const okra_slot_ *slot;
    const double *child;
} selves;

static okra_status transform_self(void *arg, okra_int begin, okra_int end, int worker)
{
    const selves *s = arg;
    const okra_slot_ *slot = s->slot;
    (void)worker;
    for (okra_int i = begin; i < end; i++) {
        double d = slot->mean ? slot->mean[i] : s->child[i];
        slot->self[i] = s->child[i];
        s->node->transform->apply(s->node->params, &d, &d, 1, 1, &slot->self[i], 1);
    }
    return OKRA_OK;
}

static okra_status transform_slot(okra_context *ctx, const okra_bound_ *bound, int place,
                                  okra_slots_ *view)
{
    const okra_node_ *node = &bound->kernel->nodes[place];
    const double *child = view->slots[node->a].self;
    okra_slot_ *slot = &view->slots[place];

    if (node->transform->uses == OKRA_USES_SELF_) {
        CHK(check_self(ctx, node->transform, view, child));
    } else if (node->transform->uses == OKRA_USES_MEANS_) {
        CHK(center_means(ctx, bound, place, view));
    }
    if (child) {
        selves s = {node, slot, child};
        MAKE(slot->self, view->n);
        CHK(okra_parallel_(ctx, view->n, GRAIN, NULL, transform_self, &s));
    }
    return OKRA_OK;
}

static okra_status inner_slot(const okra_node_ *node, int place, okra_slots_ *view)
{
    okra_node_kind_ kind = node->kind;
    bool constant = kind == OKRA_NODE_CONSTANT_;
    bool pair = kind == OKRA_NODE_SUM_ || kind == OKRA_NODE_PRODUCT_;
    const double *a = constant ? NULL : view->slots[node->a].self;
    const double *b = pair ? view->slots[node->b].self : NULL;
    double *self = NULL;

    if ((!a && !constant) || (pair && !b)) {
        return OKRA_OK; /* not told */
    }
    MAKE(self, view->n);
    for (okra_int i = 0; i < view->n; i++) {
        self[i] = constant                   ? node->scale
                  : kind == OKRA_NODE_SCALE_ ? node->scale * a[i]
                  : kind == OKRA_NODE_SUM_   ? a[i] + b[i]
                                             : a[i] * b[i];
    }
    view->slots[place].self = self;
    return OKRA_OK;
}

okra_status okra_view_fill_(okra_context *ctx, const okra_bound_ *bound,
                            okra_slots_ *view)
{
    for (int k = 0; k < bound->kernel->count; k++) {
        const okra_node_ *node = &bound->kernel->nodes[k];
        if (node->kind == OKRA_NODE_LEAF_) {
            CHK(leaf_slot(ctx, bound, k, view));
        } else if (node->kind == OKRA_NODE_TRANSFORM_) {
            CHK(transform_slot(ctx, bound, k, view));
        } else {
            CHK(inner_slot(node, k, view));
        }
    }
    return OKRA_OK;
}

okra_status okra_view_begin_(const okra_kernel *kernel, const okra_data *data,
                             okra_slots_ *view)
{
    view->data = data;
    view->n = data->n;
    view->count = kernel->count;
    ZMAKE(view->slots, kernel->count);
    return OKRA_OK;
}
