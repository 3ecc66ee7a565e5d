/*
 * position.c: kernels between sequences, position by position (Kadri et al. 2013,
 * sec. 6.2).
 *
 *   position(k):        sum over p of k(x_p, z_p), over the positions that both have
 *   position(k,map=1):  <F(x), F(z)>,  F(x) = (k(c_1, x_v(c_1)), ..., k(c_N, x_v(c_N))),
 *                       c_m the elements of all training sequences, v(c_m) their
 *                       positions, 0 where x has no such position: the paper's map;
 *                       products weigh place m as its training sequence counts
 *
 * The elements of a collection are put in order of position, then of sequence, so that
 * the sequences of a block have their p-th elements in one run: at each position the
 * block is one block of k (map=1: two blocks against all N_p training elements there and
 * their product). The N-dimensional features are never stored.
 *
 * Vectors of sequences are met by kernels of vectors, their labels and the characters of
 * strings by kernels of labels. Cost of a block of n x m: sum over p of n_p m_p values of
 * k (map=1: (n_p + m_p) N_p values and n_p m_p N_p products). Sums in order of position.
 */
#include "data/strings.h"
#include "kernel/positions/position.h"

typedef okra_position_params_ position_params;

/* Elements in order of position, then of sequence. */
typedef struct elements {
    okra_data *data;
    okra_int positions; /* longest sequence                                  */
    okra_int *first;    /* positions + 1: elements first[p]..first[p+1]-1     */
    okra_int *sequence; /* of each element                                   */
} elements;

typedef struct shared {
    okra_trained_kernel_ *bound; /* the first: okra_position_save_ */
    const okra_data *train;
    elements e;
    bool labels;
} shared;

typedef struct side {
    const shared *sh;
    elements own; /* of other collections */
    const elements *e;
    okra_test_side_ *other; /* NULL: the training set */
} side;

static void elements_clear(elements *e)
{
    okra_data_free(e->data);
    FREE(e->first, e->sequence);
}

/* The elements as label data: codes are code points, one more for a missing label. */
static okra_status label_data(const okra_data *from, const okra_int *order,
                              okra_int count, okra_data **out)
{
    OWNED okra_int *codes = NULL;
    okra_int classes = 1, length;
    const int32_t *code = from->n ? okra_characters_(from, 0, &length) : NULL;
    MAKE(codes, count);
    for (okra_int k = 0; k < count; k++) {
        codes[k] = (okra_int)code[order[k]] + 1;
        classes = OKRA_MAX_(classes, codes[k] + 1);
    }
    return okra_data_labels(codes, count, NULL, classes, out);
}

static okra_status vector_data(okra_context *ctx, const okra_data *from,
                               const okra_int *order, okra_int count, okra_data **out)
{
    const double *vector = okra_ragged_field_(&from->groups[0], "vector")->values;
    okra_int d = from->d;
    OWNED double *values = NULL;
    CHK(okra_doubles_(ctx, count, d, "the elements of sequences", &values));
    for (okra_int k = 0; k < count; k++) {
        memcpy(values + k * d, vector + order[k] * d, (size_t)d * sizeof *values);
    }
    return okra_data_adopt_dense_(&values, count, d, from->source, out);
}

okra_status okra_position_elements_(okra_context *ctx, const okra_data *from, bool labels,
                                    const okra_int *order, okra_int count,
                                    okra_data **out)
{
    return labels ? label_data(from, order, count, out)
                  : vector_data(ctx, from, order, count, out);
}

static okra_status sort_elements(okra_context *ctx, const okra_data *from, bool labels,
                                 elements *e)
{
    const okra_int *offsets = from->groups[0].offsets;
    OWNED okra_int *order = NULL;
    okra_int count = offsets[from->n], place = 0;
    for (okra_int i = 0; i < from->n; i++) {
        e->positions = OKRA_MAX_(e->positions, offsets[i + 1] - offsets[i]);
    }
    ZMAKE(e->first, e->positions + 1);
    MAKE(e->sequence, count);
    MAKE(order, count);
    for (okra_int i = 0; i < from->n; i++) {
        for (okra_int p = 0; p < offsets[i + 1] - offsets[i]; p++) {
            e->first[p]++;
        }
    }
    for (okra_int p = 0; p <= e->positions; p++) {
        okra_int here = p < e->positions ? e->first[p] : 0;
        e->first[p] = place;
        place += here;
    }
    for (okra_int i = 0; i < from->n; i++) {
        for (okra_int p = 0; p < offsets[i + 1] - offsets[i]; p++) {
            e->sequence[e->first[p]] = i;
            order[e->first[p]++] = offsets[i] + p;
        }
    }
    /* Filling moved every start to the next one's place: move them back. */
    memmove(e->first + 1, e->first, (size_t)e->positions * sizeof *e->first);
    e->first[0] = 0;
    return okra_position_elements_(ctx, from, labels, order, count, &e->data);
}

static void unbind(void *arg)
{
    shared *sh = arg;
    if (sh) {
        okra_trained_kernel_free_(sh->bound);
        elements_clear(&sh->e);
        okra_free_(sh);
    }
}
OKRA_DROPS_(drop_shared, shared, unbind)

okra_status okra_position_labels_(const okra_kernel *inner, const okra_data *data,
                                  bool *labels)
{
    unsigned kinds = okra_kernel_kinds_(inner);
    bool vectors = data->kind == OKRA_SEQUENCES && data->d > 0;
    *labels = kinds >> OKRA_LABELS & 1;
    REFUSE_IF(!*labels && !(vectors && (kinds >> OKRA_DENSE & 1)), OKRA_EARG,
              "kernel position: %s is no kernel of the %s that %s has at each position",
              okra_kernel_text(inner), vectors ? "vectors and labels" : "labels",
              data->source);
    return OKRA_OK;
}

okra_status okra_position_bind_(okra_context *ctx, const okra_kernel *inner,
                                const okra_data *members, const okra_store_ *store,
                                const char *name, okra_trained_kernel_ **bound)
{
    char key[128];
    if (!store || !okra_kernel_files_(inner)) {
        return okra_trained_kernel_create_(ctx, inner, members, bound);
    }
    snprintf(key, sizeof key, "%s.inner", name);
    return okra_trained_kernel_load_(ctx, inner, members, store, key, bound);
}

okra_status okra_position_save_(const void *arg, okra_store_ *store, const char *name)
{
    okra_trained_kernel_ *const *bound = arg;
    char key[128];
    snprintf(key, sizeof key, "%s.inner", name);
    return okra_kernel_files_((*bound)->kernel)
               ? okra_trained_kernel_save_(*bound, store, key)
               : OKRA_OK;
}

static okra_status make(okra_context *ctx, const void *params, const okra_data *train,
                        const okra_store_ *store, const char *name, void **out)
{
    const position_params *p = params;
    FREED_BY(drop_shared) shared *sh = NULL;
    ZMAKE(sh, 1);
    sh->train = train;
    CHK(okra_position_labels_(p->inner, train, &sh->labels));
    CHK(sort_elements(ctx, train, sh->labels, &sh->e));
    CHK(okra_weights_take_(&train, 1, sh->e.sequence, sh->e.data->n, sh->e.data));
    CHK(okra_position_bind_(ctx, p->inner, sh->e.data, store, name, &sh->bound));
    *out = TAKE(sh);
    return OKRA_OK;
}

okra_status okra_position_check_kept_(const void *params, const okra_data *train,
                                      okra_int elements_count, const char *name,
                                      okra_store_ *store)
{
    const position_params *p = params;
    char inner[128];
    snprintf(inner, sizeof inner, "%s.inner", name);
    return okra_kernel_files_(p->inner)
               ? okra_trained_kernel_check_kept_(p->inner, train, elements_count, inner,
                                                 store)
               : OKRA_OK;
}

static okra_status check_kept(const void *params, const okra_data *train, okra_int n,
                              const char *name, okra_store_ *store)
{
    okra_int count = train->group_count > 0 ? train->groups[0].offsets[train->n] : 0;
    return okra_position_check_kept_(params, train, count, name, store);
}

static void free_side(void *arg)
{
    side *s = arg;
    if (s) {
        okra_test_side_free_(s->other);
        elements_clear(&s->own);
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
    s->e = &sh->e;
    if (data != sh->train) {
        REFUSE_IF(!sh->labels &&
                      (data->kind != OKRA_SEQUENCES || data->d != sh->train->d),
                  OKRA_ESHAPE,
                  "kernel position: %s has vectors of length %lld, the training set's "
                  "have length %lld",
                  data->source, (long long)data->d, (long long)sh->train->d);
        CHK(sort_elements(ctx, data, sh->labels, &s->own));
        CHK(okra_test_side_create_(ctx, sh->bound, s->own.data, &s->other));
        s->e = &s->own;
    }
    *out = TAKE(s);
    return OKRA_OK;
}

typedef struct run {
    okra_int begin, count;
} run;

/* The elements at position p of sequences i0..i0+n-1. */
static run elements_at(const elements *e, okra_int p, okra_int i0, okra_int n)
{
    okra_int low = e->first[p], end = e->first[p + 1];
    okra_int bounds[2] = {i0, i0 + n}, found[2];
    for (int k = 0; k < 2; k++) {
        okra_int a = low, b = end; /* the first element of a sequence >= bounds[k] */
        while (a < b) {
            okra_int middle = (a + b) / 2;
            if (e->sequence[middle] < bounds[k]) {
                a = middle + 1;
            } else {
                b = middle;
            }
        }
        found[k] = a;
    }
    return (run){found[0], found[1] - found[0]};
}

/* f (rows x N): each times how often the training element from `first` on counts. */
static void weigh(const elements *train, okra_int first, okra_int rows, okra_int N,
                  double *f)
{
    const double *u = train->data->weights ? train->data->weights + first : NULL;
    for (okra_int k = 0; u && k < rows * N; k++) {
        f[k] *= u[k % N];
    }
}

/* values (ra.count x rb.count) <- k, or the product of both features over position p. */
static okra_status meet(okra_context *ctx, bool map, const side *a, run ra, const side *b,
                        run rb, okra_int p, double *values)
{
    const okra_trained_kernel_ *bound = a->sh->bound;
    OWNED double *fa = NULL, *fb = NULL;
    if (!map) {
        return okra_trained_kernel_block_(ctx, bound, a->other, ra.begin, ra.count,
                                          rb.begin, rb.count, values, rb.count);
    }
    const elements *train = &a->sh->e;
    okra_int first = train->first[p], N = train->first[p + 1] - first;
    CHK(okra_doubles_(ctx, ra.count, N, "position-wise features", &fa));
    CHK(okra_doubles_(ctx, rb.count, N, "position-wise features", &fb));
    CHK(okra_trained_kernel_block_(ctx, bound, a->other, ra.begin, ra.count, first, N, fa,
                                   N));
    CHK(okra_trained_kernel_block_(ctx, bound, b->other, rb.begin, rb.count, first, N, fb,
                                   N));
    weigh(train, first, ra.count, N, fa);
    return okra_gemm_(ctx, false, true, 1, okra_mat_of_(fa, ra.count, N),
                      okra_mat_of_(fb, rb.count, N), 0,
                      okra_mat_of_(values, ra.count, rb.count));
}

static okra_status block(okra_context *ctx, const void *params, const void *pa,
                         okra_int i0, okra_int ni, const void *pb, okra_int j0,
                         okra_int nj, double *out, okra_int ld)
{
    const side *a = pa, *b = pb;
    bool map = ((const position_params *)params)->map;
    okra_int positions = OKRA_MIN_(a->e->positions, b->e->positions);
    OWNED double *values = NULL;
    okra_mat_fill_((okra_mat_){out, ni, nj, ld}, 0);
    MAKE(values, ni * nj);
    for (okra_int p = 0; p < positions; p++) {
        run ra = elements_at(a->e, p, i0, ni), rb = elements_at(b->e, p, j0, nj);
        if (ra.count == 0 || rb.count == 0) {
            continue;
        }
        CHK(meet(ctx, map, a, ra, b, rb, p, values));
        for (okra_int r = 0; r < ra.count; r++) {
            double *row = out + (a->e->sequence[ra.begin + r] - i0) * ld;
            for (okra_int c = 0; c < rb.count; c++) {
                row[b->e->sequence[rb.begin + c] - j0] += values[r * rb.count + c];
            }
        }
    }
    return OKRA_OK;
}

/* Adds |F_p(x)|^2 of the elements begin..end-1 of position p to their sequences. */
static okra_status add_norms(okra_context *ctx, const side *a, okra_int p, double *out)
{
    enum { CHUNK = 64 };
    const elements *e = a->e, *train = &a->sh->e;
    okra_int first = train->first[p], N = train->first[p + 1] - first;
    OWNED double *f = NULL, *h = NULL;
    CHK(okra_doubles_(ctx, CHUNK, N, "position-wise features", &f));
    CHK(okra_doubles_(ctx, CHUNK, N, "position-wise features", &h));
    for (okra_int k = e->first[p]; k < e->first[p + 1]; k += CHUNK) {
        okra_int rows = OKRA_MIN_(CHUNK, e->first[p + 1] - k);
        CHK(okra_trained_kernel_block_(ctx, a->sh->bound, a->other, k, rows, first, N, f,
                                       N));
        memcpy(h, f, (size_t)(rows * N) * sizeof *h);
        weigh(train, first, rows, N, h);
        for (okra_int r = 0; r < rows; r++) {
            out[e->sequence[k + r]] += okra_dot_(N, f + r * N, h + r * N);
        }
    }
    return OKRA_OK;
}

static okra_status diagonal(okra_context *ctx, const void *params, const void *pa,
                            okra_int n, double *out)
{
    const side *a = pa;
    const elements *e = a->e;
    OWNED double *self = NULL;
    memset(out, 0, (size_t)n * sizeof *out);
    if (((const position_params *)params)->map) {
        for (okra_int p = 0; p < OKRA_MIN_(e->positions, a->sh->e.positions); p++) {
            CHK(add_norms(ctx, a, p, out));
        }
        return OKRA_OK;
    }
    MAKE(self, e->data->n);
    CHK(a->other ? okra_test_side_diagonal_(ctx, a->sh->bound, a->other, self)
                 : okra_trained_kernel_diagonal_(ctx, a->sh->bound, self));
    for (okra_int k = 0; k < e->data->n; k++) {
        out[e->sequence[k]] += self[k];
    }
    return OKRA_OK;
}

static const okra_option rows[] = {
    {"map", OKRA_OPTION_BOOL, offsetof(position_params, map), "0", 0, 1, NULL, "0|1",
     "values of the kernel against every training element as features"},
    {.name = NULL}};

const okra_kernel_class_ okra_position_ = {
    .name = "position",
    .help = "sequences and strings: position(k), the sum of a kernel over the positions",
    .params = {"position", rows, sizeof(position_params)},
    .kinds = 1u << OKRA_SEQUENCES | 1u << OKRA_STRINGS,
    .nested = true,
    .unbind = unbind,
    .save = okra_position_save_,
    .load = make,
    .check_kept = check_kept,
    .side = make_side,
    .free_side = free_side,
    .block = block,
    .diagonal = diagonal};
