/*
 * bag.c: kernels between bags of objects, by a kernel k of the objects inside.
 *
 *   bag(k), bag(k,how=mean):  1/(|A| |B|) sum over a in A, b in B of k(a,b), the inner
 *       product of mean embeddings (Gartner, Flach, Kowalczyk and Smola, Multi-instance
 *       kernels, ICML 2002, sec. 3; Muandet et al., Kernel mean embedding of
 *       distributions, 2017, sec. 3)
 *   bag(k,how=max):    the largest k(a,b)
 *   bag(k,how=match):  the mean over A of max_b k(a,b) and over B of max_a k(a,b), halved
 *       (Wallraven, Caputo and Graf, Recognition with local features, ICCV 2003, eq. 3)
 *   bag(k,how=merge):  spectra alone: k of all peaks of A and all of B, the largest peak
 *       of each spectrum taken as 1; the rest (precursor, ...) is that of the first
 *
 * mean is positive semidefinite where k is; max and match need not be: a warning says by
 * how much. mean of linear vectors is the product of their means, which are vectors
 * again (sparse ones stay sparse): cost of one bag a vector. Else the members of a bag
 * stand side by side, and a block of bags is a few blocks of k, up to PIECE members (one
 * bag at least) wide and high. Cost: |A| |B| values of k a pair. Sums in order of
 * members.
 */
#include "kernel/gram/trained_kernel.h"
#include "data/spectra/spectra.h"
#include "kernel/positions/position.h"
#include "kernel/strings/string_kernels.h"
#include "okra/more/objects.h"

enum { MEAN, MAX, MATCH, MERGE };
enum { PIECE = 512 };

typedef struct bag_params {
    okra_position_params_ base;
    int how;
} bag_params;

typedef struct shared {
    okra_trained_kernel_ *bound; /* the first: okra_position_save_ */
    const okra_data *train;
    okra_data *means; /* of linear vectors, or merged spectra; NULL: members are bound */
} shared;

typedef struct side {
    const shared *sh;
    const okra_int *offsets; /* NULL: means */
    okra_int n;
    okra_data *means;
    okra_test_side_ *other;    /* against the training set; NULL: it is that     */
    okra_trained_kernel_ *own; /* to the members of this side; NULL: it is bound */
} side;

static void unbind(void *arg)
{
    shared *sh = arg;
    if (sh) {
        okra_trained_kernel_free_(sh->bound);
        okra_data_free(sh->means);
        okra_free_(sh);
    }
}
OKRA_DROPS_(drop_shared, shared, unbind)

/* ---- the mean of each bag, of vectors ---- */

static okra_status dense_means(okra_context *ctx, const okra_data *bags, okra_data **out)
{
    const okra_data *members = bags->components[0];
    const okra_int *offsets = bags->groups[0].offsets;
    OWNED double *means = NULL;
    okra_int d = members->d;
    CHK(okra_doubles_(ctx, bags->n, d, "the means of bags", &means));
    memset(means, 0, (size_t)(bags->n * d) * sizeof *means);
    for (okra_int i = 0; i < bags->n; i++) {
        double share = 1 / (double)(offsets[i + 1] - offsets[i]);
        for (okra_int k = offsets[i]; k < offsets[i + 1]; k++) {
            okra_axpy_(d, share, members->values + k * members->ld, means + i * d);
        }
    }
    return okra_data_adopt_dense_(&means, bags->n, d, members->source, out);
}

typedef struct entry {
    okra_int column;
    double value;
} entry;

OKRA_ORDER_(by_column, entry, OKRA_UP_(column))

static okra_status sparse_means(const okra_data *bags, okra_data **out)
{
    const okra_data *members = bags->components[0];
    const okra_csr_ *from = &members->csr;
    const okra_int *offsets = bags->groups[0].offsets;
    FREED_BY(okra_csr_free_) okra_csr_ csr = {0};
    OWNED entry *row = NULL;
    okra_int total = from->indptr[members->n], at = 0;
    MAKE(csr.indptr, bags->n + 1);
    MAKE(csr.indices, total);
    MAKE(csr.values, total);
    MAKE(row, total);
    for (okra_int i = 0; i < bags->n; i++) {
        okra_int begin = from->indptr[offsets[i]], first = at;
        okra_int count = from->indptr[offsets[i + 1]] - begin;
        double share = 1 / (double)(offsets[i + 1] - offsets[i]);
        csr.indptr[i] = at;
        for (okra_int k = 0; k < count; k++) {
            row[k] = (entry){from->indices[begin + k], share * from->values[begin + k]};
        }
        OKRA_SORT_(row, count, by_column);
        for (okra_int k = 0; k < count; k++) {
            if (at > first && csr.indices[at - 1] == row[k].column) {
                csr.values[at - 1] += row[k].value;
            } else {
                csr.indices[at] = row[k].column;
                csr.values[at++] = row[k].value;
            }
        }
    }
    csr.indptr[bags->n] = at;
    return okra_data_adopt_sparse_(&csr, bags->n, members->d, members->source, out);
}

static okra_status merged(const okra_data *bags, okra_data **out)
{
    const okra_data *members = bags->components[0];
    const okra_int *offsets = bags->groups[0].offsets;
    FREED_BY(okra_spectra_abandon_) okra_spectra_builder_ b = {0};
    REFUSE_IF(members->kind != OKRA_SPECTRA, OKRA_EARG,
              "kernel bag: the members of %s are %s, expected spectra to merge",
              bags->source, okra_kind_name(members->kind));
    CHK(okra_spectra_begin_(&b));
    for (okra_int i = 0; i < bags->n; i++) {
        okra_int length = 0;
        const char *about = okra_data_about(members, offsets[i], NULL, &length);
        CHK(okra_spectra_text_(&b, about, (size_t)length));
        for (okra_int k = offsets[i]; k < offsets[i + 1]; k++) {
            okra_spectrum_view_ v = okra_spectrum_view_of_(members, k);
            double most = okra_most_(v.count, v.intensity);
            for (okra_int q = 0; q < v.count; q++) {
                CHK(okra_spectra_peak_(&b, v.mz[q], v.intensity[q] / most));
            }
        }
        CHK(okra_spectra_close_(&b));
    }
    return okra_spectra_finish_(&b, members->source, out);
}

/* NULL: no vectors of a linear kernel, whose mean is all that counts. */
static okra_status means_of(okra_context *ctx, const bag_params *p, const okra_data *bags,
                            okra_data **out)
{
    double scale;
    okra_kind kind = bags->components[0]->kind;
    bool vectors = p->how == MEAN && okra_kernel_is_linear_(p->base.inner, &scale);
    return p->how == MERGE       ? merged(bags, out)
           : !vectors            ? OKRA_OK
           : kind == OKRA_SPARSE ? sparse_means(bags, out)
           : kind == OKRA_DENSE && !bags->components[0]->missing
               ? dense_means(ctx, bags, out)
               : OKRA_OK;
}

/* ---- bound ---- */

static okra_status make(okra_context *ctx, const void *params, const okra_data *train,
                        const okra_store_ *store, const char *name, void **out)
{
    const bag_params *p = params;
    FREED_BY(drop_shared) shared *sh = NULL;
    REFUSE_IF(okra_kernel_means_(p->base.inner), OKRA_EARG,
              "kernel bag: 'center' stands behind it, as in bag(%s) | center", "linear");
    ZMAKE(sh, 1);
    sh->train = train;
    CHK(means_of(ctx, p, train, &sh->means));
    const okra_data *members = sh->means ? sh->means : train->components[0];
    CHK(okra_position_bind_(ctx, p->base.inner, members, store, name, &sh->bound));
    if ((p->how == MAX || p->how == MATCH) && !store) {
        CHK(okra_psd_check_(ctx, &okra_bag_, params, sh, train));
    }
    *out = TAKE(sh);
    return OKRA_OK;
}

static okra_status check_kept(const void *params, const okra_data *train, okra_int n,
                              const char *name, okra_store_ *store)
{
    return train->kind == OKRA_BAGS
               ? okra_position_check_kept_(params, train->components[0],
                                           train->components[0]->n, name, store)
               : OKRA_OK;
}

static void free_side(void *arg)
{
    side *s = arg;
    if (s) {
        okra_test_side_free_(s->other);
        okra_trained_kernel_free_(s->own);
        okra_data_free(s->means);
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
    s->n = data->n;
    s->offsets = sh->means ? NULL : data->groups[0].offsets;
    if (data != sh->train) {
        CHK(means_of(ctx, params, data, &s->means));
        REFUSE_IF(!s->means != !sh->means, OKRA_EARG,
                  "kernel bag: %s has bags of %s, the training set has bags of %s",
                  data->source, okra_kind_name(data->components[0]->kind),
                  okra_kind_name(sh->train->components[0]->kind));
        const okra_data *members = s->means ? s->means : data->components[0];
        CHK(okra_test_side_create_(ctx, sh->bound, members, &s->other));
        CHK(okra_trained_kernel_again_(ctx, sh->bound, members, &s->own));
    }
    *out = TAKE(s);
    return OKRA_OK;
}

/* ---- values ---- */

/* One pair of bags: `rows` x `cols` values of k. */
static double join(int how, const double *k, okra_int rows, okra_int cols, okra_int ld)
{
    double sum = 0, most = k[0], by_rows = 0, by_cols = 0;
    for (okra_int r = 0; r < rows; r++) {
        double best = k[r * ld];
        for (okra_int c = 0; c < cols; c++) {
            sum += k[r * ld + c];
            best = fmax(best, k[r * ld + c]);
        }
        most = fmax(most, best);
        by_rows += best;
    }
    for (okra_int c = 0; how == MATCH && c < cols; c++) {
        double best = k[c];
        for (okra_int r = 1; r < rows; r++) {
            best = fmax(best, k[r * ld + c]);
        }
        by_cols += best;
    }
    return how == MEAN  ? sum / ((double)rows * (double)cols)
           : how == MAX ? most
                        : (by_rows / (double)rows + by_cols / (double)cols) / 2;
}

/* How many bags from i on, at most `most`, have PIECE members together; 1 at least. */
static okra_int piece(const okra_int *offsets, okra_int i, okra_int most)
{
    okra_int count = 1;
    while (count < most && offsets[i + count + 1] - offsets[i] <= PIECE) {
        count++;
    }
    return count;
}

static okra_status block(okra_context *ctx, const void *params, const void *pa,
                         okra_int i0, okra_int ni, const void *pb, okra_int j0,
                         okra_int nj, double *out, okra_int ld)
{
    const side *a = pa, *b = pb;
    int how = ((const bag_params *)params)->how;
    bool same = pa == pb && a->own; /* else b is the training set */
    const okra_trained_kernel_ *bound = same ? a->own : a->sh->bound;
    const okra_test_side_ *other = same ? NULL : a->other;
    const okra_int *p = a->offsets, *q = b->offsets;
    if (!p) {
        return okra_trained_kernel_block_(ctx, bound, other, i0, ni, j0, nj, out, ld);
    }
    for (okra_int i = i0, rows; i < i0 + ni; i += rows) {
        rows = piece(p, i, i0 + ni - i);
        for (okra_int j = j0, cols; j < j0 + nj; j += cols) {
            OWNED double *values = NULL;
            cols = piece(q, j, j0 + nj - j);
            okra_int high = p[i + rows] - p[i], wide = q[j + cols] - q[j];
            CHK(okra_doubles_(ctx, high, wide, "the values between two bags", &values));
            CHK(okra_trained_kernel_block_(ctx, bound, other, p[i], high, q[j], wide,
                                           values, wide));
            for (okra_int r = i; r < i + rows; r++) {
                for (okra_int c = j; c < j + cols; c++) {
                    const double *first = values + (p[r] - p[i]) * wide + q[c] - q[j];
                    out[(r - i0) * ld + c - j0] =
                        join(how, first, p[r + 1] - p[r], q[c + 1] - q[c], wide);
                }
            }
        }
    }
    return OKRA_OK;
}

static const okra_option rows_of_bag[] = {
    {"how", OKRA_OPTION_CHOICE, offsetof(bag_params, how), "mean", 1, 0,
     "mean|max|match|merge", "HOW",
     "mean of all pairs, the best pair, the mean of each one's best; spectra: merged"},
    {.name = NULL}};

const okra_kernel_class_ okra_bag_ = {
    .name = "bag",
    .help = "bags: bag(k), the mean of a kernel over all pairs of the objects inside",
    .params = {"bag", rows_of_bag, sizeof(bag_params)},
    .kinds = 1u << OKRA_BAGS,
    .nested = true,
    .unbind = unbind,
    .save = okra_position_save_,
    .load = make,
    .check_kept = check_kept,
    .side = make_side,
    .free_side = free_side,
    .block = block,
    .self_by_block = true};
