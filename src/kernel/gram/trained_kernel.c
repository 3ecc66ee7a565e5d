/*
 * trained_kernel.c: a kernel bound to its training set, and other collections prepared
 * against it.
 *
 * Every node of the expression keeps, for each collection, the self-similarities of its
 * objects (where known) and what its transform needs. `center` (Schoelkopf, Smola and
 * Mueller 1998, appendix A) needs means over the training set: m_i of row i,
 * g of all training pairs; k - m_a - m_b + g is H K H on the training set and the right
 * formula for other rows, whose m is taken over the training set too. Objects of weight u
 * count u times in both. The means cost one more pass over the child's values, with no
 * memory beyond a tile.
 */
#include "kernel/gram/trained_kernel.h"
#include "kernel/graphs/graph_features.h"

/* Names in a store: of the means of a transform that centres, and of what a leaf keeps.
 * Means of values about a moved origin are called middle; true: the store has those of
 * 0.1.0 in their place, about 0, which are of no use. */
static bool mean_name(char name[128], const char *prefix, const okra_kernel *kernel,
                      int place, const okra_store_ *store)
{
    bool moved = kernel->nodes[place].moved;
    snprintf(name, 128, "%s.middle%d", prefix, place);
    bool old = moved && store && !okra_store_has_(store, name);
    if (old || !moved) {
        snprintf(name, 128, "%s.center%d", prefix, place);
    }
    return old;
}

static void leaf_name(char name[128], const char *prefix, int place)
{
    snprintf(name, 128, "%s.leaf%d", prefix, place);
}

/* ---- a collection seen through an expression ---- */

static void clear_view(const okra_kernel *kernel, okra_slots_ *view)
{
    for (int k = 0; view->slots && k < view->count; k++) {
        okra_slot_ *slot = &view->slots[k];
        if (slot->side && kernel->nodes[k].leaf->free_side) {
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

/* The part of a tuple that a leaf reads, or the data themselves. */
static okra_status part_of(const okra_node_ *node, const okra_data *data,
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

static okra_status bind_leaf(okra_context *ctx, const okra_trained_kernel_ *bound,
                             int place, const okra_data *train)
{
    const okra_node_ *node = &bound->kernel->nodes[place];
    const okra_kernel_class_ *leaf = node->leaf;
    const void *params = node->params;
    void **shared = &bound->shared[place];
    char name[128];
    leaf_name(name, bound->prefix ? bound->prefix : "", place);
    if (leaf->through) {
        return okra_through_load_(ctx, leaf->through, params, train, bound->store, name,
                                  shared);
    }
    if (bound->store && leaf->load) {
        return leaf->load(ctx, params, train, bound->store, name, shared);
    }
    REFUSE_IF(bound->kernel->closed && okra_option_find_(&leaf->params, "file", 4),
              OKRA_EFORMAT,
              "kernel %s: the model names a file, which is not read: what "
              "the kernel needs must be in the model itself",
              leaf->name);
    if (leaf->extract) {
        return okra_features_bind_(ctx, leaf, params, train, shared);
    }
    if (leaf->bind || leaf->load) {
        return leaf->bind ? leaf->bind(ctx, params, train, shared)
                          : leaf->load(ctx, params, train, NULL, NULL, shared);
    }
    *shared = (okra_data *)(uintptr_t)train; /* there is nothing else to know */
    return OKRA_OK;
}

static okra_status leaf_slot(okra_context *ctx, const okra_trained_kernel_ *bound,
                             int place, okra_slots_ *view)
{
    const okra_node_ *node = &bound->kernel->nodes[place];
    okra_slot_ *slot = &view->slots[place];
    const okra_data *data = NULL;
    CHK(part_of(node, view->data, &data));
    CHK(check_kind(node->leaf, data));
    if (view == &bound->train && !bound->shared[place]) {
        CHK(bind_leaf(ctx, bound, place, data));
    }
    CHK(node->leaf->side(ctx, node->params, bound->shared[place], data, &slot->side));
    MAKE(slot->self, view->n);
    for (okra_int i = 0; !node->leaf->diagonal && i < view->n; i++) {
        const void *a = slot->side;
        slot->self[i] = node->leaf->pair ? node->leaf->pair(node->params, a, i, a, i) : 1;
        CHK(node->leaf->self_by_block ? node->leaf->block(ctx, node->params, a, i, 1, a,
                                                          i, 1, &slot->self[i], 1)
                                      : OKRA_OK);
    }
    if (!node->leaf->diagonal) {
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

/* m_i - g/2 of every object; of the training set g first. */
static okra_status center_means(okra_context *ctx, const okra_trained_kernel_ *bound,
                                int place, okra_slots_ *view)
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
    for (okra_int i = begin; i < end; i++) {
        double d = slot->mean ? slot->mean[i] : s->child[i];
        slot->self[i] = s->child[i];
        s->node->transform->apply(s->node->params, &d, &d, 1, 1, &slot->self[i], 1);
    }
    return OKRA_OK;
}

static okra_status transform_slot(okra_context *ctx, const okra_trained_kernel_ *bound,
                                  int place, okra_slots_ *view)
{
    const okra_node_ *node = &bound->kernel->nodes[place];
    const double *child = view->slots[node->a].self;
    okra_slot_ *slot = &view->slots[place];
    if (node->transform->uses == OKRA_USES_SELF_) {
        CHK(okra_check_self_(ctx, bound->kernel, node, view, child));
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

static okra_status fill_view(okra_context *ctx, const okra_trained_kernel_ *bound,
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

/* Begin, then fill: the training view first, then any other. Fill keeps means that were
 * put in the training view's slots in between. After failure too a view is cleared. */
static okra_status begin_view(const okra_kernel *kernel, const okra_data *data,
                              okra_slots_ *view)
{
    view->data = data;
    view->n = data->n;
    view->count = kernel->count;
    ZMAKE(view->slots, kernel->count);
    return OKRA_OK;
}

/* ---- the training set ---- */

/* The means of `center`; leaves restore themselves when they are bound. */
static okra_status restore(okra_trained_kernel_ *bound)
{
    char name[128];
    for (int k = 0; k < bound->kernel->count; k++) {
        okra_int rows = 0, cols = 0;
        if (!okra_node_centers_(&bound->kernel->nodes[k])) {
            continue;
        }
        if (mean_name(name, bound->prefix, bound->kernel, k, bound->store)) {
            continue;
        }
        const double *mean = okra_store_get_(bound->store, name, &rows, &cols);
        REFUSE_IF(!mean || rows != bound->train.n || cols != 1 ||
                      !okra_store_get_number_(bound->store, name, &bound->grand[k]),
                  OKRA_EFORMAT, "the training means '%s' of kernel %s are missing", name,
                  bound->kernel->text);
        MAKE(bound->train.slots[k].mean, rows);
        memcpy(bound->train.slots[k].mean, mean, (size_t)rows * sizeof *mean);
    }
    return OKRA_OK;
}

/* like: what leaves share is taken from it; or NULL. */
static okra_status create(okra_context *ctx, const okra_kernel *kernel,
                          const okra_data *train, const okra_store_ *store,
                          const char *prefix, const okra_trained_kernel_ *like,
                          okra_trained_kernel_ **out)
{
    FREED_BY(okra_trained_kernel_drop_) okra_trained_kernel_ *bound = NULL;
    ZMAKE(bound, 1);
    bound->kernel = kernel;
    CHK(begin_view(kernel, train, &bound->train));
    ZMAKE(bound->shared, kernel->count);
    ZMAKE(bound->grand, kernel->count);
    bound->store = store;
    bound->prefix = prefix;
    if (store) {
        CHK(restore(bound));
    }
    for (int k = 0; like && k < kernel->count; k++) {
        const okra_kernel_class_ *leaf = kernel->nodes[k].leaf;
        bound->shared[k] = leaf && leaf->share ? leaf->share(like->shared[k]) : NULL;
    }
    CHK(fill_view(ctx, bound, &bound->train));
    bound->store = NULL;
    bound->prefix = NULL;
    *out = TAKE(bound);
    return OKRA_OK;
}

okra_status okra_trained_kernel_create_(okra_context *ctx, const okra_kernel *kernel,
                                        const okra_data *train,
                                        okra_trained_kernel_ **out)
{
    return create(ctx, kernel, train, NULL, NULL, NULL, out);
}

okra_status okra_trained_kernel_again_(okra_context *ctx,
                                       const okra_trained_kernel_ *bound,
                                       const okra_data *data, okra_trained_kernel_ **out)
{
    return create(ctx, bound->kernel, data, NULL, NULL, bound, out);
}

okra_status okra_trained_kernel_load_(okra_context *ctx, const okra_kernel *kernel,
                                      const okra_data *train, const okra_store_ *store,
                                      const char *prefix, okra_trained_kernel_ **out)
{
    return create(ctx, kernel, train, store, prefix, NULL, out);
}

void okra_trained_kernel_free_(okra_trained_kernel_ *bound)
{
    if (!bound) {
        return;
    }
    clear_view(bound->kernel, &bound->train);
    for (int k = 0; bound->shared && k < bound->kernel->count; k++) {
        const okra_kernel_class_ *leaf = bound->kernel->nodes[k].leaf;
        if (bound->shared[k] && leaf->unbind) {
            leaf->unbind(bound->shared[k]);
        }
    }
    FREE(bound->shared, bound->grand, bound);
}

okra_status okra_trained_kernel_save_(const okra_trained_kernel_ *bound,
                                      okra_store_ *store, const char *prefix)
{
    char name[128];
    okra_int n = bound->train.n;
    for (int k = 0; k < bound->kernel->count; k++) {
        const okra_kernel_class_ *leaf = bound->kernel->nodes[k].leaf;
        if (leaf && leaf->save) {
            leaf_name(name, prefix, k);
            CHK(leaf->save(bound->shared[k], store, name));
        }
        if (okra_node_centers_(&bound->kernel->nodes[k])) {
            mean_name(name, prefix, bound->kernel, k, NULL);
            CHK(okra_store_put_copy_(store, name, bound->train.slots[k].mean, n, 1));
            CHK(okra_store_put_number_(store, name, bound->grand[k]));
        }
    }
    return OKRA_OK;
}

okra_status okra_trained_kernel_gram_(okra_context *ctx,
                                      const okra_trained_kernel_ *bound, okra_mat_ K)
{
    return okra_tiles_(ctx, bound, bound->kernel->count - 1, &bound->train, 0,
                       bound->train.n, OKRA_TARGET_SYMMETRIC_, "gram", K);
}

static okra_status self(const okra_trained_kernel_ *bound, const okra_slots_ *view,
                        double *d)
{
    const double *own = view->slots[bound->kernel->count - 1].self;
    REFUSE_IF(!own, OKRA_EARG,
              "%s: the self-similarities of these rows of a Gram matrix are needed: give "
              "the diagonal too (okra predict --x-diagonal)",
              view->data->source);
    for (okra_int i = 0; i < view->n; i++) {
        REFUSE_IF(
            !isfinite(own[i]), OKRA_ENUMERIC,
            "kernel %s: the value of object %lld (from 0) with itself is %g: scale the "
            "data or the parameters down",
            bound->kernel->text, (long long)i, own[i]);
        d[i] = own[i];
    }
    return OKRA_OK;
}

okra_status okra_trained_kernel_diagonal_(okra_context *ctx,
                                          const okra_trained_kernel_ *bound, double *d)
{
    return self(bound, &bound->train, d);
}

/* ---- other collections ---- */

okra_status okra_test_side_create_(okra_context *ctx, const okra_trained_kernel_ *bound,
                                   const okra_data *data, okra_test_side_ **out)
{
    FREED_BY(okra_test_side_drop_) okra_test_side_ *other = NULL;
    ZMAKE(other, 1);
    other->kernel = bound->kernel;
    CHK(begin_view(bound->kernel, data, &other->view));
    CHK(fill_view(ctx, bound, &other->view));
    *out = TAKE(other);
    return OKRA_OK;
}

void okra_test_side_free_(okra_test_side_ *other)
{
    if (other) {
        clear_view(other->kernel, &other->view);
        okra_free_(other);
    }
}

okra_status okra_test_side_cross_(okra_context *ctx, const okra_trained_kernel_ *bound,
                                  const okra_test_side_ *other, okra_int i0, okra_mat_ K)
{
    return okra_tiles_(ctx, bound, bound->kernel->count - 1, &other->view, i0, K.rows,
                       OKRA_TARGET_FULL_, "gram", K);
}

okra_status okra_test_side_cross_t_(okra_context *ctx, const okra_trained_kernel_ *bound,
                                    const okra_test_side_ *other, okra_int j0,
                                    okra_mat_ K)
{
    return okra_tiles_(ctx, bound, bound->kernel->count - 1, &other->view, j0, K.cols,
                       OKRA_TARGET_TRANSPOSED_, "gram", K);
}

okra_status okra_test_side_diagonal_(okra_context *ctx, const okra_trained_kernel_ *bound,
                                     const okra_test_side_ *other, double *d)
{
    int root = bound->kernel->count - 1;
    const okra_kernel_class_ *leaf = bound->kernel->nodes[root].leaf;
    return leaf && leaf->whole_diagonal
               ? leaf->whole_diagonal(ctx, other->view.slots[root].side, d)
               : self(bound, &other->view, d);
}

/* ---- what a kernel keeps in a model, checked ---- */

/* The means of `center`. */
static const okra_schema_ means[] = {OKRA_KEEPS_MATRIX_("", 0, "n", "1"),
                                     OKRA_KEEPS_NUMBER_("", 0, NULL, NULL),
                                     OKRA_KEPT_END_};

static okra_status check_leaf(const okra_node_ *node, const okra_data *train, okra_int n,
                              const char *name, okra_store_ *store)
{
    const okra_data *part = NULL;
    okra_sizes_ sizes = {0};
    CHK(part_of(node, train, &part));
    if (node->leaf->check_kept) {
        CHK(node->leaf->check_kept(node->params, part, n, name, store));
    } else if (node->leaf->kept) {
        okra_sizes_set_(&sizes, "n", n);
        okra_sizes_set_(&sizes, "d", part->d);
        CHK(okra_schema_check_(node->leaf->kept, name, store, &sizes));
    } else {
        return okra_fail_(OKRA_EINTERNAL, "kernel %s does not declare what it keeps",
                          node->leaf->name);
    }
    return OKRA_OK;
}

okra_status okra_trained_kernel_check_kept_(const okra_kernel *kernel,
                                            const okra_data *train, okra_int n,
                                            const char *prefix, okra_store_ *store)
{
    char name[128];
    for (int k = 0; k < kernel->count; k++) {
        const okra_node_ *node = &kernel->nodes[k];
        okra_sizes_ sizes = {0};
        if (node->kind == OKRA_NODE_LEAF_ && node->leaf->save) {
            leaf_name(name, prefix, k);
            CHK(check_leaf(node, train, n, name, store));
        }
        if (okra_node_centers_(node)) {
            mean_name(name, prefix, kernel, k, store);
            okra_sizes_set_(&sizes, "n", n);
            CHK(okra_schema_check_(means, name, store, &sizes));
        }
    }
    return OKRA_OK;
}
