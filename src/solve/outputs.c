/*
 * outputs.c: ridge whose lambda differs from one coordinate of explicit outputs to
 * the other, lambda_j = lambda m_j (option output-lambda: the m_j).
 *
 * Where the operator keeps coordinates apart (identity, diagonal), column j of the
 * coefficients is that of a ridge with lambda_j alone: all different lambda_j come from
 * the one decomposition of a path (ridge.c), and each gives the columns that are its own.
 * The same holds of left-out predictions. Cost: that of a path of so many lambdas.
 */
#include "solve/ridge.h"

#include <math.h>
#include <string.h>

OKRA_SHARED_CLEARS_(okra_outputs_clear_, okra_outputs_, it->times, it->which, it->lambda)

static okra_status read_times(const char *text, okra_int d, okra_outputs_ *o)
{
    const char *at = text;
    okra_int j = 0;
    for (; j < d && *at; j++) {
        char *end = NULL;
        o->times[j] = okra_strtod_(at, &end);
        REFUSE_IF(end == at || (*end && *end != ',') || !(o->times[j] >= 0) ||
                      !isfinite(o->times[j]),
                  OKRA_EARG,
                  "ridge: output-lambda holds '%.20s' for output %lld (counted from 0), "
                  "expected numbers of 0 or more between commas",
                  at, (long long)j);
        at = *end == ',' ? end + 1 : end;
    }
    REFUSE_IF(j < d || *at, OKRA_ESHAPE,
              "ridge: output-lambda has %s than %lld numbers, one for each coordinate of "
              "the outputs",
              j < d ? "fewer" : "more", (long long)d);
    return OKRA_OK;
}

okra_status okra_outputs_open_(const char *text, const okra_problem_ *p,
                               const double *lambda, size_t count, okra_outputs_ *out)
{
    FREED_BY(okra_outputs_clear_) okra_outputs_ o = {.d = p->d};
    OWNED double *all = NULL;
    REFUSE_IF(!p->features, OKRA_EARG,
              "ridge: output-lambda needs outputs with explicit features: dense vectors "
              "under a linear output kernel");
    MAKE(o.times, o.d);
    MAKE(o.which, o.d);
    MAKE(all, o.d);
    CHK(read_times(text, o.d, &o));
    for (okra_int j = 0; j < o.d; j++) { /* different ones, as they come */
        okra_int k = 0;
        while (k < o.distinct && all[k] != o.times[j]) {
            k++;
        }
        all[k] = o.times[j];
        o.which[j] = k;
        o.distinct = OKRA_MAX_(o.distinct, k + 1);
    }
    MAKE(o.lambda, (okra_int)count * o.distinct);
    for (okra_int i = 0; i < (okra_int)count * o.distinct; i++) {
        o.lambda[i] = lambda[i / o.distinct] * all[i % o.distinct];
    }
    *out = o;
    o = (okra_outputs_){0};
    return OKRA_OK;
}

/* ---- fits ---- */

/* Columns of the matrix `name`, each from the bag of its lambda, into `to`. */
static okra_status merge(const okra_outputs_ *o, okra_bag_ *const *from, const char *name,
                         okra_bag_ *to)
{
    okra_int rows = 0, cols = 0;
    OWNED double *out = NULL;
    if (!okra_bag_get_(from[0], name, &rows, &cols)) {
        return OKRA_OK;
    }
    MAKE(out, rows * cols);
    for (okra_int j = 0; j < cols; j++) {
        const double *C = okra_bag_get_(from[o->which[j]], name, &rows, &cols);
        for (okra_int i = 0; i < rows; i++) {
            out[i * cols + j] = C[i * cols + j];
        }
    }
    return okra_bag_put_(to, name, &out, rows, cols);
}

okra_status okra_outputs_merge_(const okra_outputs_ *o, double lambda,
                                okra_bag_ *const *from, okra_bag_ *to)
{
    const char *name, *text;
    okra_mat_ A = {0};
    double number;
    for (size_t i = 0; (name = okra_bag_each_(from[0], i, &A)); i++) {
        bool columns = strcmp(name, "coefficients") == 0 || strcmp(name, "slope") == 0;
        CHK(columns ? merge(o, from, name, to)
                    : okra_bag_put_copy_(to, name, A.p, A.rows, A.cols));
    }
    for (size_t i = 0; (name = okra_bag_each_number_(from[0], i, &number)); i++) {
        bool own = strcmp(name, "lambda") == 0;
        CHK(okra_bag_put_number_(to, name, own ? lambda : number));
    }
    for (size_t i = 0; (name = okra_bag_each_text_(from[0], i, &text)); i++) {
        CHK(okra_bag_put_text_(to, name, text));
    }
    return okra_bag_put_copy_(to, "output-lambda", o->times, 1, o->d);
}

/* ---- left out ---- */

okra_status okra_outputs_left_(okra_context *ctx, void *user, const okra_left_ *left)
{
    okra_outputs_sink_ *s = user;
    const okra_outputs_ *o = s->outputs;
    okra_int k = (okra_int)left->lambda % o->distinct, n = left->H.rows;
    REFUSE_IF(!left->H.p, OKRA_EUNSUPPORTED,
              "ridge: output-lambda leaves out explicit outputs alone");
    if (!s->H) {
        CHK(okra_doubles_(ctx, n, o->d, "the left-out predictions", &s->H));
    }
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < o->d; j++) {
            if (o->which[j] == k) {
                s->H[i * o->d + j] = left->H.p[i * left->H.ld + j];
            }
        }
    }
    if (k == o->distinct - 1) {
        okra_left_ all = {.lambda = left->lambda / (size_t)o->distinct,
                          .H = okra_mat_of_(s->H, n, o->d)};
        CHK(s->sink(ctx, s->user, &all));
    }
    return OKRA_OK;
}
