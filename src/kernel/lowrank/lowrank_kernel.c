/*
 * lowrank_kernel.c: EXPR | chol(rank=N) and its like as kernels: k~(x, x') = <phi(x),
 * phi(x')>, phi a map of low rank (lowrank.c) made from the training set.
 *
 * A side holds Phi, a row an object, and blocks are those of `linear` on it: matrix
 * products, 2 m operations a pair. Any object costs m values of EXPR and m^2 operations
 * once, so that a query meets the basis and not the n training objects. A model keeps the
 * map and the Phi of its training set (n x m), which saves n m values of EXPR whenever it
 * is loaded. Self-similarities are |phi(x)|^2, so that the Gram matrix has rank m and
 * transforms see features; but a new object's own, in variances and distances, is k(x, x)
 * of EXPR: else what the basis does not span would count as known (the projected process
 * of Quinonero-Candela and Rasmussen 2005, sec. 5). Rows are mapped in blocks whose
 * height does not depend on the memory that is left: same bits.
 */
#include "kernel/lowrank/lowrank.h"

#include "kernel/gram/trained_kernel.h"

static okra_status apply(okra_context *ctx, const void *params, const void *state,
                         const okra_data *data, okra_data **out)
{
    enum { ROWS = 4096, DOUBLES = 1 << 23 };
    const okra_map_ *map = state;
    okra_int n = data->n, m = map->rank;
    okra_int height = OKRA_MIN_(ROWS, OKRA_MAX_(256, DOUBLES / map->columns));
    OWNED double *phi = NULL, *values = NULL;
    CHK(okra_doubles_(ctx, n, m, "features of low rank", &phi));
    if (map->sketch) {
        CHK(okra_doubles_(ctx, OKRA_MIN_(n, height), map->columns,
                          "objects against the basis", &values));
    }
    for (okra_int i = 0; i < n; i += height) {
        okra_int rows = OKRA_MIN_(height, n - i);
        okra_mat_ Phi = okra_mat_of_(phi + i * m, rows, m);
        okra_mat_ V = values ? okra_mat_of_(values, rows, map->columns) : Phi;
        CHK(okra_cancelled_(ctx));
        CHK(okra_map_values_(ctx, map, data, i, V));
        CHK(okra_map_features_(ctx, map, V, Phi));
    }
    return okra_data_adopt_dense_(&phi, n, m, data->source, out);
}

static void forget(void *state)
{
    okra_map_free_(state);
}

static okra_status fit(okra_context *ctx, const void *params, const okra_data *train,
                       const okra_store_ *store, const char *name, void **state,
                       okra_data **features)
{
    const okra_low_params_ *p = params;
    okra_int rows = 0, cols = 0;
    char key[128];
    OWNED double *copy = NULL;
    FREED_BY(okra_map_drop_) okra_map_ *map = NULL;
    if (store) {
        snprintf(key, sizeof key, "%s.features", name);
        const double *kept = okra_store_get_(store, key, &rows, &cols);
        CHK(okra_map_load_(ctx, p->inner, train, store, name, &map));
        CHK(okra_doubles_(ctx, rows, cols, "features of low rank", &copy));
        memcpy(copy, kept, (size_t)(rows * cols) * sizeof *copy);
        CHK(okra_data_adopt_dense_(&copy, rows, cols, train->source, features));
    } else {
        CHK(okra_map_create_(ctx, p->inner, train, &p->low, p->stream ? p->stream : 1,
                             NULL, &map));
    }
    *state = TAKE(map);
    return OKRA_OK;
}

static const okra_through_ how = {&okra_linear_, fit, forget, apply, NULL};

static okra_status save(const void *arg, okra_store_ *store, const char *name)
{
    const okra_through_shared_ *sh = arg;
    char key[128];
    snprintf(key, sizeof key, "%s.features", name);
    CHK(okra_map_save_(sh->state, store, name));
    return okra_store_put_copy_(store, key, sh->mapped->values, sh->mapped->n,
                                sh->mapped->d);
}

static okra_status check_kept(const void *params, const okra_data *train, okra_int n,
                              const char *name, okra_store_ *store)
{
    static const okra_schema_ kept[] = {OKRA_KEEPS_MATRIX_("features", 0, "n", "r"),
                                        OKRA_KEPT_END_};
    const okra_low_params_ *p = params;
    okra_int rank = 0;
    okra_sizes_ sizes = {0};
    CHK(okra_map_check_kept_(p->inner, train, n, store, name, &rank));
    okra_sizes_set_(&sizes, "n", n);
    okra_sizes_set_(&sizes, "r", rank);
    return okra_schema_check_(kept, name, store, &sizes);
}

static okra_status whole_diagonal(okra_context *ctx, const void *a, double *out)
{
    const okra_data *data;
    const okra_map_ *map = okra_through_of_(a, &data)->state;
    return okra_map_self_(ctx, map, data, out);
}

static bool is_low(const okra_node_ *node)
{
    return node->leaf && node->leaf->through == &how;
}

bool okra_kernel_low_(const okra_kernel *kernel)
{
    bool low = false;
    for (int k = 0; k < kernel->count; k++) {
        low = low || is_low(&kernel->nodes[k]);
    }
    return low;
}

void okra_kernel_stream_(okra_kernel *kernel, uint64_t stream)
{
    for (int k = 0; k < kernel->count; k++) {
        if (is_low(&kernel->nodes[k])) {
            ((okra_low_params_ *)kernel->nodes[k].params)->stream = stream;
        }
    }
}

okra_status okra_trained_kernel_low_(okra_context *ctx, const okra_trained_kernel_ *bound,
                                     okra_int *rank, double *error)
{
    int root = bound->kernel->count - 1;
    const okra_through_shared_ *sh = bound->shared[root];
    const okra_map_ *map = NULL;
    OWNED double *self = NULL;
    double trace = 0, kept = 0;
    *rank = 0;
    *error = -1;
    if (!is_low(&bound->kernel->nodes[root])) {
        return OKRA_OK;
    }
    map = sh->state;
    *rank = map->rank;
    if (map->kernel) { /* waves keep the trace by themselves */
        return OKRA_OK;
    }
    MAKE(self, sh->train->n);
    CHK(okra_map_self_(ctx, map, sh->train, self));
    for (okra_int i = 0; i < sh->train->n; i++) {
        double u = okra_weight_(sh->train, i);
        trace += u * self[i];
        kept += u * bound->train.slots[root].self[i];
    }
    *error = trace > 0 ? fmax(trace - kept, 0) / trace : 0;
    return OKRA_OK;
}

/* ---- the classes ---- */

#define RANK_ROW                                                                      \
    {                                                                                 \
        "rank", OKRA_OPTION_INT, offsetof(okra_low_params_, low.rank), NULL, 1, 9e15, \
            NULL, "N", "features"                                                     \
    }

static const okra_option chol_rows[] = {
    RANK_ROW,
    {"tol", OKRA_OPTION_NUMBER, offsetof(okra_low_params_, low.tol), "1e-10", 0, 1, NULL,
     "V", "stop where the trace of the residual is this share of the trace"},
    {.name = NULL}};
static const okra_option nystrom_rows[] = {
    RANK_ROW,
    {"pivots", OKRA_OPTION_CHOICE, offsetof(okra_low_params_, low.pivots), "uniform", 1,
     0, "uniform|leverage|kmeans|greedy|centres", "HOW", "how the basis is chosen"},
    {.name = NULL}};
static const okra_option sketch_rows[] = {
    RANK_ROW,
    {"kind", OKRA_OPTION_CHOICE, offsetof(okra_low_params_, low.sparse), "sparse", 1, 0,
     "gaussian|sparse", "KIND", "entries of the sketch"},
    {"p", OKRA_OPTION_NUMBER, offsetof(okra_low_params_, low.p), "0", 0, 1, NULL, "V",
     "share of entries of a sparse sketch that are not 0; 0: 20/n"},
    {.name = NULL}};
static const okra_option rff_rows[] = {
    {"rank", OKRA_OPTION_INT, offsetof(okra_low_params_, low.rank), NULL, 1, 9e15, NULL,
     "N", "features, a cosine and a sine a wave: an odd number makes one more"},
    {.name = NULL}};

#define LOW(variable, text, rows, about)                  \
    static const okra_kernel_class_ variable = {          \
        .name = text,                                     \
        .help = about,                                    \
        .params = {text, rows, sizeof(okra_low_params_)}, \
        .kinds = ~0u,                                     \
        .nested = true,                                   \
        .whole = true,                                    \
        .check_kept = check_kept,                         \
        .save = save,                                     \
        .through = &how,                                  \
        .share = okra_through_share_,                     \
        OKRA_THROUGH_HOOKS_,                              \
        .whole_diagonal = whole_diagonal}

LOW(chol, "chol", chol_rows,
    "low rank by incomplete Cholesky: the objects that leave least of the trace");
LOW(nystrom, "nystrom", nystrom_rows, "low rank by Nystrom's method: a few objects");
LOW(sketch, "sketch", sketch_rows, "low rank by random combinations of objects");
LOW(rff, "rff", rff_rows, "random Fourier features of rbf on vectors");

const okra_kernel_class_ *const okra_low_classes_[] = {[OKRA_LOW_CHOL_] = &chol,
                                                       [OKRA_LOW_NYSTROM_] = &nystrom,
                                                       [OKRA_LOW_SKETCH_] = &sketch,
                                                       [OKRA_LOW_RFF_] = &rff,
                                                       NULL};
