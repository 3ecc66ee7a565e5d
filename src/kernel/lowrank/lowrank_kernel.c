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

typedef struct shared {
    atomic_int owners;
    okra_map_ *map;
    const okra_data *train;
    okra_data *features; /* of the training set */
    void *linear;        /* what okra_linear_ shares */
} shared;

typedef struct side {
    const shared *sh;
    const okra_data *data;
    okra_data *features;
    void *linear;
} side;

static okra_status map_all(okra_context *ctx, const okra_map_ *map, const okra_data *data,
                           okra_data **out)
{
    enum { ROWS = 4096, DOUBLES = 1 << 23 };
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

static void unbind(void *arg)
{
    shared *sh = arg;
    if (sh && atomic_fetch_sub(&sh->owners, 1) == 1) {
        if (sh->linear) {
            okra_linear_.unbind(sh->linear);
        }
        okra_data_free(sh->features);
        okra_map_free_(sh->map);
        okra_free_(sh);
    }
}
OKRA_DROPS_(drop_shared, shared, unbind)

static void *share(void *arg)
{
    shared *sh = arg;
    atomic_fetch_add(&sh->owners, 1);
    return sh;
}

/* store == NULL: the map is made from the training set. */
static okra_status make(okra_context *ctx, const void *params, const okra_data *train,
                        const okra_store_ *store, const char *name, void **out)
{
    const okra_low_params_ *p = params;
    okra_int rows = 0, cols = 0;
    char key[128];
    OWNED double *copy = NULL;
    FREED_BY(drop_shared) shared *sh = NULL;
    ZMAKE(sh, 1);
    atomic_init(&sh->owners, 1);
    sh->train = train;
    if (store) {
        snprintf(key, sizeof key, "%s.features", name);
        const double *kept = okra_store_get_(store, key, &rows, &cols);
        CHK(okra_map_load_(ctx, p->inner, train, store, name, &sh->map));
        REFUSE_IF(!kept || rows != train->n || cols != sh->map->rank, OKRA_EFORMAT,
                  "the features '%s' of kernel %s are missing", key,
                  okra_kernel_text(p->inner));
        CHK(okra_doubles_(ctx, rows, cols, "features of low rank", &copy));
        memcpy(copy, kept, (size_t)(rows * cols) * sizeof *copy);
        CHK(okra_data_adopt_dense_(&copy, rows, cols, train->source, &sh->features));
    } else {
        CHK(okra_map_create_(ctx, p->inner, train, &p->low, p->stream ? p->stream : 1,
                             &sh->map));
        CHK(map_all(ctx, sh->map, train, &sh->features));
    }
    CHK(okra_linear_.bind(ctx, NULL, sh->features, &sh->linear));
    *out = TAKE(sh);
    return OKRA_OK;
}

static okra_status save(const void *arg, okra_store_ *store, const char *name)
{
    const shared *sh = arg;
    char key[128];
    snprintf(key, sizeof key, "%s.features", name);
    CHK(okra_map_save_(sh->map, store, name));
    return okra_store_put_copy_(store, key, sh->features->values, sh->features->n,
                                sh->features->d);
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

static void free_side(void *arg)
{
    side *s = arg;
    if (s) {
        if (s->linear) {
            okra_linear_.free_side(s->linear);
        }
        okra_data_free(s->features);
        okra_free_(s);
    }
}
OKRA_DROPS_(drop_side, side, free_side)

static okra_status make_side(okra_context *ctx, const void *params, const void *arg,
                             const okra_data *data, void **out)
{
    const shared *sh = arg;
    FREED_BY(drop_side) side *s = NULL;
    ZMAKE(s, 1);
    s->sh = sh;
    s->data = data;
    if (data == sh->train) {
        s->features = okra_data_retain(sh->features);
    } else {
        CHK(map_all(ctx, sh->map, data, &s->features));
    }
    CHK(okra_linear_.side(ctx, NULL, sh->linear, s->features, &s->linear));
    *out = TAKE(s);
    return OKRA_OK;
}

static okra_status block(okra_context *ctx, const void *params, const void *a,
                         okra_int i0, okra_int ni, const void *b, okra_int j0,
                         okra_int nj, double *out, okra_int ld)
{
    return okra_linear_.block(ctx, NULL, ((const side *)a)->linear, i0, ni,
                              ((const side *)b)->linear, j0, nj, out, ld);
}

static okra_status diagonal(okra_context *ctx, const void *params, const void *a,
                            okra_int n, double *out)
{
    return okra_linear_.diagonal(ctx, NULL, ((const side *)a)->linear, n, out);
}

static okra_status whole_diagonal(okra_context *ctx, const void *a, double *out)
{
    const side *s = a;
    return okra_map_self_(ctx, s->sh->map, s->data, out);
}

static bool is_low(const okra_node_ *node)
{
    return node->leaf && node->leaf->load == make;
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
    const shared *sh = bound->shared[root];
    OWNED double *self = NULL;
    double trace = 0, kept = 0;
    *rank = 0;
    *error = -1;
    if (!is_low(&bound->kernel->nodes[root])) {
        return OKRA_OK;
    }
    *rank = sh->map->rank;
    if (sh->map->kernel) { /* waves keep the trace by themselves */
        return OKRA_OK;
    }
    MAKE(self, sh->train->n);
    CHK(okra_map_self_(ctx, sh->map, sh->train, self));
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
        .unbind = unbind,                                 \
        .check_kept = check_kept,                         \
        .save = save,                                     \
        .load = make,                                     \
        .share = share,                                   \
        .side = make_side,                                \
        .free_side = free_side,                           \
        .block = block,                                   \
        .diagonal = diagonal,                             \
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
