/*
 * hopfield.c: an associative memory, the saturating linear network of Li, Michel and
 * Porod (1989), the comparison of Weston et al. 2003, sec. 4.3.
 *
 * A state is a whole object v = (x, y), D = d_x + d_y coordinates in [-1, 1]. With v_n
 * the last training pair, P the projector on the span of v_i - v_n (r directions, rows of
 * U), and the gains of the design, tau = 10 and h = 0.15,
 *     v <- sat(T v + b),   sat(u) = min(1, max(-1, u))
 *     T = e^h P + e^(-tau h) (I - P)
 *     b = (1 - e^(-tau h)) (1 + tau) / tau (I - P) v_n
 * differences within the span grow until they saturate and all else dies out. A test
 * point begins at (x, 0); when no coordinate moves any more, or after `steps` steps, its
 * last d_y coordinates are the prediction, an embedding; or, with recall = pair, the
 * training pair nearest to the whole state is recalled: weight 1 on it. Kernels of the
 * inputs play no part. Cost: an SVD of n x D, then 4 r D a step.
 */
#include "method/method.h"

static const double TAU = 10, STEP = 0.15;

typedef struct hopfield_options {
    okra_int steps;
    int recall; /* 0: state, 1: pair */
} hopfield_options;

static const okra_option rows[] = {
    {"steps", OKRA_OPTION_INT, offsetof(hopfield_options, steps), "1000", 1, 1e6, NULL,
     "N", "steps of the network at most"},
    {"recall", OKRA_OPTION_CHOICE, offsetof(hopfield_options, recall), "state", 1, 0,
     "state|pair", "WHAT",
     "the output's part of the final state, or the training pair nearest to all of it"},
    {0},
};

extern const okra_method_ okra_method_hopfield_;

static okra_status check(const okra_data *x, const double *values, okra_int n, okra_int d,
                         okra_int ld, const char *what)
{
    REFUSE_IF(!values || (x && x->kind != OKRA_DENSE), OKRA_EUNSUPPORTED,
              "hopfield needs dense %s%s", what, x ? "" : " under a linear kernel");
    for (okra_int i = 0; i < n * d; i++) {
        double v = values[i / d * ld + i % d];
        REFUSE_IF(!(fabs(v) <= 1), OKRA_EARG,
                  "hopfield: row %lld, column %lld of the %s is %g, expected values from "
                  "-1 to 1",
                  (long long)(i / d), (long long)(i % d), what, v);
    }
    return OKRA_OK;
}

/* U (r x D) from the differences to the last pair; tail = (I - P) v_n. */
static okra_status learn(okra_context *ctx, okra_mat_ V, okra_store_ *store)
{
    okra_int n = V.rows, D = V.cols, k = OKRA_MIN_(OKRA_MAX_(n - 1, 1), D), r = 0;
    OWNED double *A = NULL, *U = NULL, *s = NULL, *Vt = NULL, *tail = NULL, *a = NULL;
    const double *last = V.p + (n - 1) * V.ld;
    CHK(okra_doubles_(ctx, OKRA_MAX_(n - 1, 1), D, "differences of pairs", &A));
    CHK(okra_doubles_(ctx, OKRA_MAX_(n - 1, 1), k, "their directions", &U));
    CHK(okra_doubles_(ctx, k, D, "their directions", &Vt));
    MAKE(s, k);
    MAKE(a, k);
    MAKE(tail, D);
    memset(A, 0, (size_t)D * sizeof *A); /* n = 1: no difference */
    for (okra_int i = 0; i < n - 1; i++) {
        for (okra_int j = 0; j < D; j++) {
            A[i * D + j] = V.p[i * V.ld + j] - last[j];
        }
    }
    okra_int rows_count = OKRA_MAX_(n - 1, 1);
    CHK(okra_svd_(ctx, okra_mat_of_(A, rows_count, D), okra_mat_of_(U, rows_count, k), s,
                  okra_mat_of_(Vt, k, D)));
    while (r < k && s[r] > (double)OKRA_MAX_(n, D) * DBL_EPSILON * s[0]) {
        r++;
    }
    memcpy(tail, last, (size_t)D * sizeof *tail);
    for (okra_int i = 0; i < r; i++) {
        a[i] = okra_dot_(D, Vt + i * D, last);
    }
    for (okra_int i = 0; i < r; i++) {
        okra_axpy_(D, -a[i], Vt + i * D, tail);
    }
    CHK(okra_store_put_(store, "directions", &Vt, k, D));
    CHK(okra_store_put_(store, "tail", &tail, 1, D));
    return okra_store_put_number_(store, "rank", (double)r);
}

static okra_status fit(okra_context *ctx, const okra_problem_ *problem,
                       const okra_options *options, okra_store_ *store)
{
    hopfield_options o;
    FREED_BY(okra_mat_drop_) okra_mat_ V = {0};
    okra_int n = problem->n, p = problem->x ? problem->x->d : 0, d = problem->d;
    CHK(okra_options_read(options, &okra_method_hopfield_.options, &o));
    REFUSE_IF(problem->kx && okra_kernel_low_(problem->kx->kernel), OKRA_EUNSUPPORTED,
              "hopfield has no kernel of the inputs, so that low rank of it would do "
              "nothing: leave it out");
    CHK(check(problem->x, problem->x ? problem->x->values : NULL, n, p,
              problem->x ? problem->x->ld : 0, "inputs"));
    CHK(check(NULL, problem->features, n, d, problem->features_ld, "outputs"));
    CHK(okra_mat_room_(ctx, n, p + d, "the pairs side by side", &V));
    CHK(okra_mat_copy_(okra_mat_view_(problem->x->values, n, p, problem->x->ld),
                       okra_mat_part_(V, 0, n, 0, p)));
    CHK(okra_mat_copy_(okra_mat_view_(problem->features, n, d, problem->features_ld),
                       okra_mat_part_(V, 0, n, p, d)));
    CHK(learn(ctx, V, store));
    CHK(okra_store_put_number_(store, "width", (double)d));
    CHK(okra_store_put_number_(store, "steps", (double)o.steps));
    return o.recall ? okra_store_put_(store, "pairs", &V.p, n, p + d) : OKRA_OK;
}

static okra_form_ form(const okra_store_ *store)
{
    return okra_store_has_(store, "pairs") ? OKRA_FORM_WEIGHTS : OKRA_FORM_EMBEDDING;
}

static okra_int width(const okra_store_ *store)
{
    return (okra_int)okra_store_number_(store, "width", 0);
}

/* One step of all rows of V; the largest change of a coordinate. */
static okra_status step(okra_context *ctx, okra_mat_ U, const double *tail, okra_mat_ A,
                        okra_mat_ V, okra_mat_ next, double *moved)
{
    double in = exp(STEP), out = exp(-TAU * STEP), b = (1 - out) * (1 + TAU) / TAU;
    *moved = 0;
    if (U.rows > 0) {
        CHK(okra_gemm_(ctx, false, true, in - out, V, U, 0, A));
        CHK(okra_gemm_(ctx, false, false, 1, A, U, 0, next));
    } else {
        okra_mat_fill_(next, 0);
    }
    for (okra_int r = 0; r < V.rows; r++) {
        for (okra_int j = 0; j < V.cols; j++) {
            double *v = V.p + r * V.ld + j;
            double u = next.p[r * next.ld + j] + out * *v + b * tail[j];
            u = fmin(1, fmax(-1, u));
            *moved = fmax(*moved, fabs(u - *v));
            *v = u;
        }
    }
    return OKRA_OK;
}

/* Weight 1 on the pair nearest to each final state; ties go to the first. */
static void recall(const double *pairs, okra_mat_ V, okra_mat_ out)
{
    okra_mat_fill_(out, 0);
    for (okra_int r = 0; r < V.rows; r++) {
        okra_int best = 0;
        double least = (double)INFINITY;
        for (okra_int i = 0; i < out.cols; i++) {
            double sum = 0;
            for (okra_int j = 0; j < V.cols; j++) {
                double e = V.p[r * V.ld + j] - pairs[i * V.cols + j];
                sum += e * e;
            }
            best = sum < least ? i : best;
            least = fmin(least, sum);
        }
        out.p[r * out.ld + best] = 1;
    }
}

static okra_status predict(okra_context *ctx, const okra_store_ *store,
                           okra_query_ *query, okra_mat_ out)
{
    okra_mat_ directions = okra_store_mat_(store, "directions");
    okra_int k = directions.rows, D = directions.cols, d = width(store), m = query->m;
    const double *pairs = okra_store_mat_(store, "pairs").p;
    const double *tail = okra_store_mat_(store, "tail").p;
    OWNED double *A = NULL;
    FREED_BY(okra_mat_drop_) okra_mat_ V = {0}, next = {0};
    double steps = okra_store_number_(store, "steps", 0), moved = 1;
    const okra_data *x = query->x;
    REFUSE_IF(!x || x->kind != OKRA_DENSE || x->d != D - d, OKRA_ESHAPE,
              "hopfield: the test inputs must be dense vectors of length %lld",
              (long long)(D - d));
    CHK(okra_mat_room_(ctx, m, D, "the states of the network", &V));
    CHK(okra_mat_room_(ctx, m, D, "the states of the network", &next));
    CHK(okra_doubles_(ctx, m, k, "the states of the network", &A));
    okra_mat_ U = okra_mat_part_(directions, 0,
                                 (okra_int)okra_store_number_(store, "rank", 0), 0, D);
    okra_mat_fill_(V, 0);
    CHK(okra_mat_copy_(okra_mat_view_(x->values + query->first * x->ld, m, D - d, x->ld),
                       okra_mat_part_(V, 0, m, 0, D - d)));
    for (double t = 0; t < steps && moved > 1e-9; t++) {
        CHK(okra_cancelled_(ctx));
        CHK(step(ctx, U, tail, okra_mat_of_(A, m, U.rows), V, next, &moved));
    }
    if (pairs) {
        recall(pairs, V, out);
    } else {
        CHK(okra_mat_copy_(okra_mat_part_(V, 0, m, D - d, d), out));
    }
    return OKRA_OK;
}

/* clang-format off */
#define NETWORK                                                 \
    OKRA_KEEPS_MATRIX_("directions", 0, "k", "x+d"),            \
    OKRA_KEEPS_MATRIX_("tail", 0, "1", "x+d"),                  \
    OKRA_KEEPS_NUMBER_("rank", OKRA_KEPT_WHOLE_, "0", "k"),     \
    OKRA_KEEPS_NUMBER_("width", OKRA_KEPT_WHOLE_, "d", "d"),    \
    OKRA_KEEPS_NUMBER_("steps", OKRA_KEPT_WHOLE_, "1", "1e6"),  \
    OKRA_KEEPS_SAME_("inputs", "c", "n"), OKRA_KEPT_END_
static const okra_schema_ kept_pairs[] = {OKRA_KEEPS_MATRIX_("pairs", 0, "n", "x+d"), NETWORK};
static const okra_schema_ kept_network[] = {NETWORK};
/* clang-format on */

const okra_method_ okra_method_hopfield_ = {
    .name = "hopfield",
    .unweighted = "stores every pair in one memory, each once: it does not use weights",
    .help = "an associative memory of whole pairs (Li, Michel and Porod)",
    .options = {"hopfield", rows, sizeof(hopfield_options)},
    .fit = fit,
    .form = form,
    .width = width,
    .predict = predict,
    .kept = (const okra_schema_ *const[]){kept_pairs, kept_network, NULL},
};
