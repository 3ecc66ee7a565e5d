/*
 * ridge_update.c: ridge with the operator identity when pairs come and go.
 *
 * The model keeps G of K + lambda I = G G' (n x n). m new rows of the kernel border it,
 *
 *     [ K + lambda I   B             ]   [ G  0 ] [ G'  S' ]    S = B'G'^-1
 *     [ B'             D + lambda I  ] = [ S  T ] [ 0   T' ],   T T' = D + lambda I - S
 * S'
 *
 * and rows that go are taken out by rotations (linalg/without.c), which subtract nothing.
 * Outputs with explicit features: C = (G G')^-1 Y anew, Y less its mean where centred.
 * Pairs with weights w: lambda / w_i in the place of lambda.
 * Cost: n^2 m + 2 n^2 d to add, 3 r n^2 to take out r rows; a fit takes n^3/3 and n^2/2
 * values of the kernel. Memory: a second factor while the first one lives.
 *
 * Accuracy: each step has a backward error of a few eps |K + lambda I|, so they add up.
 * The sum is measured: G G' less K + lambda I at a sample of entries, over the mean
 * diagonal (the drift). A factor of a fit shows 1e-15 or so; beyond 1e-12 there is a new
 * factor, and that is told.
 */
#include "method/ridge/ridge.h"

#include <math.h>
#include <string.h>

static const double drift_most = 1e-12;

/* Rotations run at about a fifth of the speed of a factorisation (measured, n = 6,000).
 */
static bool dear(okra_int n, okra_int first, okra_int count)
{
    double t = (double)(n - first - count), left = (double)(n - count);
    return 5 * 3 * (double)count * t * t > left * left * left / 3 && count > 8;
}

/* What is added to the diagonal for a pair: lambda, or its share of a weight. */
static double noise(const okra_problem_ *p, double lambda, okra_int i)
{
    return p->weights ? lambda / p->weights[i] : lambda;
}

/* What stands against a new factor from the old one; NULL: nothing. */
static const char *obstacle(const okra_change_ *c)
{
    const okra_problem_ *p = c->problem;
    okra_int rows = 0, cols = 0, old = p->n - c->added + c->removed_count;
    double jitter = 0;
    const char *text = okra_bag_get_text_(c->old, "operator");
    bool identity =
        text && (strcmp(text, "identity") == 0 || strcmp(text, "tensor") == 0);
    const char *why = NULL;
    if (!identity) {
        why = "the operator is not identity";
    } else if (okra_bag_get_text_(c->old, "graph") || p->unlabelled > 0) {
        why = "it has a smoothness penalty or inputs without outputs";
    } else if (!okra_bag_get_(c->old, "factor", &rows, &cols) || rows != old) {
        why = "the model does not keep its factor";
    } else if (p->y->missing) {
        why = "outputs have missing values";
    } else if (okra_bag_get_number_(c->old, "jitter", &jitter) && jitter != 0) {
        why = "the Gram matrix is singular to rounding";
    } else if (c->removed_count > 0 && dear(old, c->removed[0], c->removed_count)) {
        why = "so many rows go that a new factor takes less time";
    }
    return why;
}

/* Rows n.. of G from those of the kernel; *done false: the matrix is not positive
 * definite to rounding. */
static okra_status border(okra_context *ctx, const okra_change_ *c, double lambda,
                          okra_mat_ G, bool *done)
{
    okra_status st = OKRA_OK;
    okra_int m = c->added, n = G.rows - m;
    okra_data *fresh = NULL;
    okra_other_ *other = NULL;
    okra_entries_ *entries = NULL;
    okra_int *index = NULL;
    double *K = NULL;
    *done = true;
    if (m == 0) {
        return OKRA_OK;
    }
    for (okra_int i = 0; i < G.rows; i++) {
        okra_int from = OKRA_MAX_(n, i + 1);
        okra_mat_fill_(okra_mat_part_(G, i, 1, from, G.rows - from), 0);
    }
    ALLOC(index, m);
    for (okra_int i = 0; i < m; i++) {
        index[i] = n + i;
    }
    TRY(okra_data_take(c->problem->x, index, m, &fresh));
    TRY(okra_other_create_(ctx, c->problem->kx, fresh, &other));
    TRY(okra_entries_create_(ctx, c->problem->kx, other, &entries));
    TRY(okra_doubles_(ctx, m, G.rows, "the rows of the new inputs", &K));
    okra_mat_ rows = okra_mat_of_(K, m, G.rows);
    TRY(okra_large_gram_host_(ctx, entries, 0, rows));
    okra_mat_ S = okra_mat_part_(rows, 0, m, 0, n), T = okra_mat_part_(rows, 0, m, n, m);
    if (n > 0) {
        TRY(okra_engine_trsm_(ctx, false, true, okra_mat_part_(G, 0, n, 0, n), S));
        TRY(okra_engine_gemm_(ctx, false, true, -1, S, S, 1, T));
    }
    for (okra_int i = 0; i < m; i++) {
        T.p[i * T.ld + i] += noise(c->problem, lambda, n + i);
    }
    okra_mat_mirror_(T);
    TRY(okra_engine_cholesky_try_(ctx, T, done));
    for (okra_int i = 0; i < m; i++) {
        memcpy(G.p + (n + i) * G.ld, K + i * G.rows, (size_t)(n + i + 1) * sizeof *K);
    }
done:
    okra_entries_free_(entries);
    okra_other_free_(other);
    okra_data_free(fresh);
    okra_free_(index);
    okra_free_(K);
    return st;
}

/* max |G G' - K - lambda I| over the mean diagonal, at pairs of a few groups of rows that
 * are spread over all, the last ones among them. */
static okra_status measure(okra_context *ctx, const okra_problem_ *p, double lambda,
                           okra_mat_ G, double *drift)
{
    enum { GROUPS = 8, TALL = 4 };
    okra_status st = OKRA_OK;
    okra_int n = G.rows, tall = OKRA_MIN_(TALL, n), at[GROUPS];
    double K[TALL * TALL], worst = 0, mean = 0;
    for (okra_int g = 0; g < GROUPS; g++) {
        at[g] = (n - tall) * g / (GROUPS - 1);
    }
    for (int a = 0; a < GROUPS; a++) {
        for (int b = 0; b <= a; b++) {
            TRY(okra_bound_block_(ctx, p->kx, NULL, at[a], tall, at[b], tall, K, TALL));
            for (okra_int i = 0; i < tall; i++) {
                for (okra_int j = 0; j < tall; j++) {
                    okra_int r = at[a] + i, c = at[b] + j;
                    double k = K[i * TALL + j] + (r == c ? noise(p, lambda, r) : 0);
                    double off =
                        okra_dot_(OKRA_MIN_(r, c) + 1, G.p + r * G.ld, G.p + c * G.ld) -
                        k;
                    worst = fabs(off) <= worst ? worst : fabs(off); /* NaN too */
                    mean += r == c && a == b ? k / (GROUPS * (double)tall) : 0;
                }
            }
        }
    }
    *drift = worst / mean;
done:
    return st;
}

/* What is left of the old factor, bordered; *done false: there is none. */
static okra_status new_factor(okra_context *ctx, okra_change_ *c, double lambda,
                              okra_mat_ G, bool *done)
{
    okra_status st = OKRA_OK;
    okra_int rows = 0, cols = 0, kept = G.rows - c->added;
    const double *old = okra_bag_get_(c->old, "factor", &rows, &cols);
    TRY(okra_factor_without_(ctx, okra_mat_view_(old, rows, cols, cols), c->removed,
                             c->removed_count, okra_mat_part_(G, 0, kept, 0, kept)));
    TRY(border(ctx, c, lambda, G, done));
    if (*done) {
        TRY(measure(ctx, c->problem, lambda, G, &c->drift));
        *done = c->drift <= drift_most;
        c->why = *done ? NULL : "rounding had added up in the factor";
    } else {
        c->why = "the Gram matrix is singular to rounding";
    }
done:
    return st;
}

okra_status okra_ridge_update_(okra_context *ctx, okra_change_ *c,
                               const okra_options *options, okra_bag_ *bag)
{
    okra_status st = OKRA_OK;
    const okra_problem_ *p = c->problem;
    okra_int n = p->n;
    okra_ridge_ r = {.ctx = ctx, .p = p};
    double lambda = 0, center = 0, *factor = NULL;
    bool done = false;
    (void)options;
    if ((c->why = obstacle(c))) {
        return OKRA_OK;
    }
    okra_bag_get_number_(c->old, "lambda", &lambda);
    okra_bag_get_number_(c->old, "center", &center);
    r.center = center != 0;
    TRY(okra_doubles_(ctx, n, n, "the new factor", &factor));
    okra_mat_ G = okra_mat_of_(factor, n, n);
    TRY(new_factor(ctx, c, lambda, G, &done));
    if (!done) {
        goto done;
    }
    TRY(okra_bag_put_number_(bag, "jitter", 0));
    if (p->features) {
        TRY(okra_problem_roots_(p, &r.s, &r.total));
        TRY(okra_ridge_features_(&r));
        for (okra_int i = 0; r.s && i < n * p->d; i++) { /* C is of K + noise itself */
            r.Y[i] /= r.s[i / p->d];
        }
        TRY(okra_engine_cholesky_solve_(ctx, G, okra_mat_of_(r.Y, n, p->d)));
        TRY(okra_ridge_put_(bag, "coefficients", &r.Y, n, p->d));
    }
    if (r.mean) {
        TRY(okra_ridge_put_mean_(bag, r.mean, p->d));
    }
    TRY(okra_ridge_put_(bag, "factor", &factor, n, n));
    TRY(okra_bag_put_text_(bag, "operator", okra_bag_get_text_(c->old, "operator")));
    TRY(okra_bag_put_number_(bag, "lambda", lambda));
    TRY(okra_bag_put_number_(bag, "center", center));
    TRY(okra_bag_put_number_(bag, "drift", c->drift));
    TRY(okra_problem_put_weights_(p, bag));
    c->done = true;
done:
    okra_free_(factor);
    okra_free_(r.Y);
    okra_free_(r.s);
    okra_free_(r.mean);
    return st;
}
