/*
 * decoding.h: running a decoder by name on weights, and distances written out.
 */
#ifndef OKRA_TEST_DECODING_H
#define OKRA_TEST_DECODING_H

#include "decode/decode.h"
#include "harness.h"
#include "okra/more/objects.h"

#include <stdlib.h>

typedef struct outputs {
    okra_kernel *kernel;
    okra_data *y;
    okra_trained_kernel_ *bound;
    okra_output_ output;
} outputs;

/* Takes over y. */
static inline void outputs_open(outputs *o, const char *kernel, okra_data *y)
{
    *o = (outputs){.y = y};
    CHECK_OK(okra_kernel_parse(kernel, &o->kernel));
    CHECK_OK(okra_trained_kernel_create_(NULL, o->kernel, y, &o->bound));
    o->output =
        (okra_output_){.y = y, .ky = o->bound, .kernel = o->kernel, .feature_scale = 1};
    if (y->kind == OKRA_DENSE &&
        okra_kernel_is_linear_(o->kernel, &o->output.feature_scale)) {
        o->output.features = y->values;
        o->output.features_ld = y->ld;
        o->output.d = y->d;
    }
}

/* The n x d values, copied. */
static inline okra_data *dense_copy(const double *values, okra_int n, okra_int d)
{
    okra_data *view = NULL, *copy = NULL;
    CHECK_OK(okra_data_dense(values, n, d, d, &view));
    CHECK_OK(okra_data_copy(view, &copy));
    okra_data_free(view);
    return copy;
}

static inline void outputs_close(outputs *o)
{
    okra_trained_kernel_free_(o->bound);
    okra_data_free(o->y);
    okra_kernel_free(o->kernel);
}

/* Runs a decoder on weights W (tests x n) in blocks of `rows`. */
static inline okra_status decode_blocks(okra_context *ctx, const okra_decoder_ *d,
                                        const outputs *o, const okra_options *options,
                                        const okra_decode_request_ *q, double *W,
                                        okra_int rows, okra_decoded_ *out)
{
    okra_status st = OKRA_OK;
    okra_int n = o->y->n;
    void *state = NULL;
    TRY(okra_decoder_open_(ctx, d, &o->output, options, q, &state));
    for (okra_int first = 0; first < q->tests; first += rows) {
        okra_int m = OKRA_MIN_(rows, q->tests - first);
        okra_block_ b = {.first = first, .m = m, .W = okra_mat_of_(W + first * n, m, n)};
        TRY(d->block(ctx, state, &b));
    }
    TRY(d->finish(ctx, state, out));
done:
    okra_decoder_close_(d, state);
    return st;
}

/* settings: "name=value ...", `top` among them; W: tests x n; blocks of `rows`. */
static inline okra_status decode(okra_context *ctx, const outputs *o, const char *name,
                                 const char *settings, double *W, okra_int tests,
                                 const okra_int *lengths, okra_int rows,
                                 okra_decoded_ *out)
{
    okra_status st = OKRA_OK;
    const okra_decoder_ *d = okra_decoder_find_(name);
    const okra_option_table *table = &d->options;
    okra_options *options = NULL;
    okra_decode_request_ q = {.tests = tests, .top = 1, .lengths = lengths};
    q.argument = okra_decoder_argument_(name);
    TRY(okra_options_create(&table, 1, &options));
    while (*settings) {
        char key[40], value[80];
        size_t length = strcspn(settings, " "), equals = strcspn(settings, "=");
        snprintf(key, sizeof key, "%.*s", (int)equals, settings);
        snprintf(value, sizeof value, "%.*s", (int)(length - equals - 1),
                 settings + equals + 1);
        if (strcmp(key, "top") == 0) {
            q.top = atoi(value);
        } else {
            TRY(okra_options_set(options, key, value));
        }
        settings += length + strspn(settings + length, " ");
    }
    TRY(decode_blocks(ctx, d, o, options, &q, W, rows, out));
done:
    okra_options_free(options);
    return st;
}

/* distance[c] = |phi(candidate c) - h|^2 for one row of weights, by whole matrices. */
static inline void all_distances(const outputs *o, const okra_data *candidates,
                                 const double *w, double *distance)
{
    okra_int n = o->y->n, count = candidates->n;
    double *L = okra_alloc_(n * n, sizeof *L), *C = okra_alloc_(count * n, sizeof *C);
    okra_test_side_ *other = NULL;
    double norm = 0;
    CHECK_OK(okra_trained_kernel_gram_(NULL, o->bound, okra_mat_of_(L, n, n)));
    CHECK_OK(okra_test_side_create_(NULL, o->bound, candidates, &other));
    CHECK_OK(okra_test_side_cross_(NULL, o->bound, other, 0, okra_mat_of_(C, count, n)));
    CHECK_OK(okra_test_side_diagonal_(NULL, o->bound, other, distance));
    for (okra_int i = 0; i < n; i++) {
        norm += w[i] * okra_dot_(n, w, L + i * n);
    }
    for (okra_int c = 0; c < count; c++) {
        bool none = distance[c] <= 0;
        distance[c] += norm - 2 * okra_dot_(n, w, C + c * n);
        distance[c] = none ? (double)INFINITY : distance[c];
    }
    okra_test_side_free_(other);
    okra_free_(L);
    okra_free_(C);
}

static inline int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The best objects of test point t are those of the least of all `count` values, which
 * are sorted here, and no two are the same. least: values below are rounding. */
static inline void check_best(const okra_decoded_ *d, okra_int t, double *all,
                              okra_int count, double least, double room)
{
    okra_int where[64], found = 0, distinct = 0;
    okra_data *rows = NULL;
    CHECK(d->top <= 64 && d->proposals);
    qsort(all, (size_t)count, sizeof *all, ascending);
    for (okra_int k = t * d->top; k < (t + 1) * d->top; k++) {
        okra_int rank = k - t * d->top;
        if (rank < count && all[rank] < (double)INFINITY) {
            CHECK(d->index[k] >= 0);
            CHECK_NEAR(d->distance[k], fmax(all[rank], least), room);
            found++;
        } else {
            CHECK(d->index[k] == -1);
        }
    }
    CHECK_OK(okra_data_take(d->proposals, d->index + t * d->top, found, &rows));
    CHECK_OK(okra_data_distinct(rows, where, &distinct));
    CHECK(distinct == found);
    okra_data_free(rows);
}

/* Weights that mean something: a few training outputs mixed, and noise. */
static inline void random_weights(okra_random_ *r, okra_int tests, okra_int n, double *W)
{
    for (okra_int t = 0; t < tests; t++) {
        for (okra_int i = 0; i < n; i++) {
            W[t * n + i] = 0.1 * okra_random_normal_(r) / sqrt((double)n);
        }
        for (int k = 0; k < 3; k++) {
            W[t * n + okra_random_below_(r, n)] += 0.7 * okra_random_uniform_(r);
        }
    }
}

#endif
