/*
 * twin_learn.c: twin kernel learning on collections: Gram matrices of the base kernels,
 * the coefficients (twin.c), and the learned kernels as expressions:
 *     one base kernel     EXPR | poly-series(0, alpha_1, alpha_2, ...)
 *     several             sum of alpha_t * (A | power(p=2)) * (B) ...
 * Memory: an n x n matrix a base kernel, or with low rank a thin factor, and what twin.c
 * needs, O(n (d1 + d2)). Of low rank, C is exactly that of the factors' products. An
 * engine that makes the values of a kernel by itself stores no n x n matrix.
 */
#include "kernel/expression/expr.h"
#include "kernel/lowrank/lowrank.h"
#include "method/twin/twin.h"
#include "okra/more/twin.h"

enum { SERIES_MOST = 16 }; /* the highest power of poly-series */

typedef struct learned {
    okra_twin_side_ shape; /* its Gram matrices are gone after learning */
    okra_int terms;
    double *coefficients;
    okra_kernel *kernel;
    double *owned[OKRA_TWIN_KERNELS_MOST]; /* Gram matrices that are not the user's */
    okra_trained_kernel_
        *bound[OKRA_TWIN_KERNELS_MOST]; /* what an engine makes them from  */
    okra_entries_ *entries[OKRA_TWIN_KERNELS_MOST];
} learned;

struct okra_twin {
    learned side[2];
    double *C, before, after;
};

/* What is of no use after learning. */
static void grams_clear(learned *l)
{
    for (int k = 0; k < OKRA_TWIN_KERNELS_MOST; k++) {
        okra_free_(l->owned[k]);
        okra_entries_free_(l->entries[k]);
        okra_trained_kernel_free_(l->bound[k]);
        l->owned[k] = NULL;
        l->entries[k] = NULL;
        l->bound[k] = NULL;
    }
}

void okra_twin_free(okra_twin *twin)
{
    if (twin) {
        for (int s = 0; s < 2; s++) {
            grams_clear(&twin->side[s]);
            okra_free_(twin->side[s].coefficients);
            okra_kernel_free(twin->side[s].kernel);
        }
        FREE(twin->C, twin);
    }
}

static void drop(okra_twin **twin)
{
    okra_twin_free(*twin);
}

/* ---- Gram matrices ---- */

static okra_status check(const okra_twin_base *base, const char *which)
{
    REFUSE_IF(base->count < 1 || base->count > OKRA_TWIN_KERNELS_MOST, OKRA_EARG,
              "twin: %zu kernels of %s, expected 1 to %d", base->count, which,
              OKRA_TWIN_KERNELS_MOST);
    REFUSE_IF(base->degree < 1 || (base->count == 1 && base->degree > SERIES_MOST),
              OKRA_EARG, "twin: the degree of %s is %d, expected 1 to %d", which,
              base->degree, SERIES_MOST);
    for (size_t k = 0; k < base->count; k++) {
        REFUSE_IF(!base->kernels || !base->kernels[k], OKRA_EARG,
                  "twin: kernel %zu of %s is NULL", k, which);
    }
    return OKRA_OK;
}

/* A Gram matrix of the user's is used where it lies. */
static bool given(const okra_kernel *kernel, const okra_data *data)
{
    return kernel->count == 1 && kernel->nodes[0].leaf->shape == OKRA_SHAPE_GIVEN_ &&
           data->kind == OKRA_GRAM && data->d == data->n;
}

/* *out (n x *rank): the features of every object under a map of low rank. */
static okra_status factor(okra_context *ctx, const okra_kernel *kernel,
                          const okra_data *data, const okra_low_ *low, uint64_t stream,
                          double **out, okra_int *rank)
{
    FREED_BY(okra_map_drop_) okra_map_ *map = NULL;
    FREED_BY(okra_mat_drop_) okra_mat_ V = {0};
    CHK(okra_map_create_(ctx, kernel, data, low, stream, NULL, &map));
    okra_int n = data->n, columns = map->columns;
    *rank = map->rank;
    CHK(okra_mat_room_(ctx, n, columns, "values of a low rank", &V));
    CHK(okra_map_values_(ctx, map, data, 0, V));
    if (map->sketch) {
        CHK(okra_doubles_(ctx, n, *rank, "features of low rank", out));
        CHK(okra_map_features_(ctx, map, V, okra_mat_of_(*out, n, *rank)));
    } else {
        CHK(okra_map_features_(ctx, map, V, V));
        *out = TAKE(V.p);
    }
    return OKRA_OK;
}

static okra_status factors(okra_context *ctx, const okra_data *data,
                           const okra_twin_base *base, uint64_t stream, learned *l)
{
    okra_low_ low;
    l->shape.factored = true;
    CHK(okra_low_parse_(base->low_rank, &low));
    for (size_t k = 0; k < base->count; k++) {
        okra_int rank = 0;
        CHK(factor(ctx, base->kernels[k], data, &low, stream, &l->owned[k], &rank));
        l->shape.gram[k] = okra_mat_of_(l->owned[k], data->n, rank);
    }
    return OKRA_OK;
}

/* Kernel k: in the place where it lies, from the engine, or made here. */
static okra_status gram(okra_context *ctx, const okra_kernel *kernel,
                        const okra_data *data, size_t k, learned *l)
{
    okra_int n = data->n;
    CHK(okra_trained_kernel_create_(ctx, kernel, data, &l->bound[k]));
    if (given(kernel, data)) {
        l->shape.gram[k] = okra_mat_view_(data->values, n, n, data->ld);
        return OKRA_OK;
    }
    if (!okra_engine_is_host_(ctx)) {
        CHK(okra_entries_create_(ctx, l->bound[k], NULL, &l->entries[k]));
        if (l->entries[k]->steps) {
            l->shape.gram[k] = okra_mat_of_(NULL, n, n);
            l->shape.entries[k] = l->entries[k];
            return OKRA_OK;
        }
    }
    CHK(okra_doubles_(ctx, n, n, "the Gram matrix of a base kernel", &l->owned[k]));
    l->shape.gram[k] = okra_mat_of_(l->owned[k], n, n);
    return okra_trained_kernel_gram_(ctx, l->bound[k], l->shape.gram[k]);
}

static okra_status grams(okra_context *ctx, const okra_data *data,
                         const okra_twin_base *base, uint64_t stream, learned *l)
{
    l->shape.degree = base->degree;
    l->shape.kernels = (int)base->count;
    if (base->low_rank) {
        return factors(ctx, data, base, stream, l);
    }
    for (size_t k = 0; k < base->count; k++) {
        CHK(gram(ctx, base->kernels[k], data, k, l));
    }
    return OKRA_OK;
}

/* Row i of the Gram matrix of kernel k, up to the diagonal or all of it. */
static okra_status row_of(okra_context *ctx, const okra_twin_side_ *shape, int k,
                          okra_int i, double *row)
{
    okra_mat_ K = shape->gram[k];
    if (shape->entries[k]) {
        return okra_matrix_gram_host_(ctx, shape->entries[k], i,
                                      okra_mat_of_(row, 1, K.rows));
    }
    for (okra_int j = 0; j < (i == 0 ? K.rows : i + 1); j++) {
        row[j] = shape->factored ? okra_dot_(K.cols, K.p + i * K.ld, K.p + j * K.ld)
                                 : K.p[i * K.ld + j];
    }
    return OKRA_OK;
}

/* Whether centring leaves nothing of the Gram matrices, K_ij = K_i0 + K_0j - K_00 but
 * for rounding. Found false at the first rows, unless it is true. */
static okra_status constant(okra_context *ctx, const okra_twin_side_ *shape, bool *out)
{
    const double rounding = 1e-14; /* kernel values: some 10 eps of the largest */
    okra_int n = shape->gram[0].rows;
    OWNED double *top = NULL, *row = NULL;
    MAKE(top, n);
    MAKE(row, n);
    *out = n > 1;
    for (int k = 0; *out && k < shape->kernels; k++) {
        CHK(row_of(ctx, shape, k, 0, top));
        for (okra_int i = 0; *out && i < n; i++) {
            CHK(row_of(ctx, shape, k, i, row));
            double most = fmax(fmax(fabs(top[0]), fabs(row[0])), fabs(row[i]));
            for (okra_int j = 0; *out && j <= i; j++) {
                *out = !(fabs(row[j] - row[0] - top[j] + top[0]) > rounding * most);
            }
        }
    }
    return OKRA_OK;
}

/* ---- expressions ---- */

/* text += more, in a fresh block. */
static okra_status append(char **text, char *more)
{
    char *longer = more ? okra_format_("%s%s", *text ? *text : "", more) : NULL;
    okra_free_(more);
    RENEW(*text, longer);
    return OKRA_OK;
}

static okra_status series(const okra_twin_base *base, const learned *l, char **text)
{
    char number[OKRA_NUMBER_TEXT_];
    CHK(append(text, okra_format_("%s", okra_kernel_text(base->kernels[0]))));
    if (l->terms > 1) {
        CHK(append(text, okra_format_(" | poly-series(0")));
        for (okra_int t = 0; t < l->terms; t++) {
            CHK(append(text, okra_format_(
                                 ",%s", okra_double_text_(l->coefficients[t], number))));
        }
        CHK(append(text, okra_format_(")")));
    }
    return OKRA_OK;
}

static okra_status products(const okra_twin_base *base, const learned *l, char **text)
{
    char number[OKRA_NUMBER_TEXT_];
    for (okra_int t = 0; t < l->terms; t++) {
        int p[OKRA_TWIN_KERNELS_MOST];
        okra_twin_exponents_(&l->shape, t, p);
        if (l->coefficients[t] == 0) {
            continue;
        }
        CHK(append(text, okra_format_("%s%s", *text ? " + " : "",
                                      okra_double_text_(l->coefficients[t], number))));
        for (size_t k = 0; k < base->count; k++) {
            const char *name = okra_kernel_text(base->kernels[k]);
            if (p[k] == 1) {
                CHK(append(text, okra_format_("*(%s)", name)));
            } else if (p[k] > 1) {
                CHK(append(text, okra_format_("*(%s | power(p=%d))", name, p[k])));
            }
        }
    }
    return OKRA_OK;
}

static okra_status express(const okra_twin_base *base, learned *l)
{
    OWNED char *text = NULL;
    CHK(base->count == 1 ? series(base, l, &text) : products(base, l, &text));
    okra_status st = okra_kernel_parse(text, &l->kernel);
    if (st == OKRA_EARG) { /* the base kernels are valid: only their number is left */
        return okra_fail_(OKRA_EARG,
                          "twin: %lld terms are more than a kernel expression can hold",
                          (long long)l->terms);
    }
    return st;
}

/* ---- learning ---- */

/* The entries are finite, and not negative where the Gram matrices are what they should
 * be. `before` gets the best pair of base kernels. */
static okra_status look_at(okra_context *ctx, okra_twin *twin, bool unbiased)
{
    okra_int rows = twin->side[0].terms, cols = twin->side[1].terms;
    double least = 0, most = 0;
    twin->before = -INFINITY;
    for (okra_int i = 0; i < rows * cols; i++) {
        double value = twin->C[i];
        REFUSE_IF(!isfinite(value), OKRA_ENUMERIC,
                  "twin: the HSIC of term %lld of the inputs and term %lld of the "
                  "outputs (from 1) is not finite: powers of so large kernel values "
                  "overflow; 'normalize' or a bounded kernel helps",
                  (long long)(i / cols + 1), (long long)(i % cols + 1));
        least = fmin(least, value);
        most = fmax(most, value);
        if (i / cols < twin->side[0].shape.kernels &&
            i % cols < twin->side[1].shape.kernels) {
            twin->before = fmax(twin->before, value);
        }
    }
    if (!unbiased && least < -1e-9 * most) {
        okra_warn_(ctx,
                   "twin: an HSIC value is %.3g below 0, the largest is %.3g: a Gram "
                   "matrix is not positive semi-definite; negative values count as 0",
                   -least, most);
    }
    return OKRA_OK;
}

static okra_status learn(okra_context *ctx, okra_twin *twin, bool unbiased)
{
    learned *x = &twin->side[0], *y = &twin->side[1];
    x->terms = okra_twin_terms_(&x->shape);
    y->terms = okra_twin_terms_(&y->shape);
    REFUSE_IF(x->terms < 0 || y->terms < 0, OKRA_EARG,
              "twin: degrees %d and %d of %d and %d kernels have too many terms",
              x->shape.degree, y->shape.degree, x->shape.kernels, y->shape.kernels);
    for (int k = 0; k < 2; k++) {
        bool same = false;
        CHK(constant(ctx, &twin->side[k].shape, &same));
        REFUSE_IF(same, OKRA_ENUMERIC,
                  "twin: the %s are all the same to their kernel, to rounding: nothing "
                  "can depend on them",
                  k == 0 ? "inputs" : "outputs");
    }
    CHK(okra_doubles_(ctx, x->terms, y->terms, "the matrix of HSIC values", &twin->C));
    MAKE(x->coefficients, x->terms);
    MAKE(y->coefficients, y->terms);
    okra_mat_ C = okra_mat_of_(twin->C, x->terms, y->terms);
    CHK(okra_twin_matrix_(ctx, &x->shape, &y->shape, unbiased, C));
    CHK(look_at(ctx, twin, unbiased));
    return okra_twin_solve_(ctx, C, x->coefficients, y->coefficients, &twin->after);
}

okra_status okra_twin_learn(okra_context *context, const okra_data *x, const okra_data *y,
                            const okra_twin_base *base_x, const okra_twin_base *base_y,
                            bool unbiased, okra_twin **out)
{
    NOT_NULL(x, y, base_x, base_y, out);
    FREED_BY(drop) okra_twin *twin = NULL;
    char a[96], b[96];
    okra_int least = unbiased ? 4 : 2;
    REFUSE_IF(x->n != y->n, OKRA_ESHAPE,
              "twin: x has %s, y has %s; expected as many of each",
              okra_data_describe_(x, a, sizeof a), okra_data_describe_(y, b, sizeof b));
    CHK(check(base_x, "the inputs"));
    CHK(check(base_y, "the outputs"));
    REFUSE_IF(x->n < least, OKRA_ESHAPE, "twin: %lld examples, expected at least %lld",
              (long long)x->n, (long long)least);
    ZMAKE(twin, 1);
    CHK(grams(context, x, base_x, 0, &twin->side[0]));
    CHK(grams(context, y, base_y, 1, &twin->side[1]));
    CHK(learn(context, twin, unbiased));
    CHK(express(base_x, &twin->side[0]));
    CHK(express(base_y, &twin->side[1]));
    grams_clear(&twin->side[0]);
    grams_clear(&twin->side[1]);
    *out = TAKE(twin);
    return OKRA_OK;
}

/* ---- what was learned ---- */

const double *okra_twin_matrix(const okra_twin *twin, okra_int *rows, okra_int *cols)
{
    GIVE(rows, twin ? twin->side[0].terms : 0);
    GIVE(cols, twin ? twin->side[1].terms : 0);
    return twin ? twin->C : NULL;
}

/* A side, or NULL: there is none. */
static const learned *side_of(const okra_twin *twin, okra_side side)
{
    return twin && (side == OKRA_SIDE_X || side == OKRA_SIDE_Y) ? &twin->side[side]
                                                                : NULL;
}

const double *okra_twin_coefficients(const okra_twin *twin, okra_side side,
                                     okra_int *terms)
{
    const learned *l = side_of(twin, side);
    GIVE(terms, l ? l->terms : 0);
    return l ? l->coefficients : NULL;
}

int okra_twin_exponent(const okra_twin *twin, okra_side side, okra_int term,
                       size_t kernel)
{
    const learned *l = side_of(twin, side);
    int p[OKRA_TWIN_KERNELS_MOST];
    if (!l || term < 0 || term >= l->terms || kernel >= (size_t)l->shape.kernels) {
        return 0;
    }
    okra_twin_exponents_(&l->shape, term, p);
    return p[kernel];
}

double okra_twin_before(const okra_twin *twin)
{
    return twin ? twin->before : (double)NAN;
}

double okra_twin_after(const okra_twin *twin)
{
    return twin ? twin->after : (double)NAN;
}

const char *okra_twin_kernel(const okra_twin *twin, okra_side side)
{
    const learned *l = side_of(twin, side);
    return l ? okra_kernel_text(l->kernel) : NULL;
}
