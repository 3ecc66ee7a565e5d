/*
 * knn.c: the k nearest training inputs, each with weight 1/k.
 *
 *     w_i(x) = 1/k  where x_i is among the k nearest of x in the input feature space,
 *     |phi(x) - phi(x_i)|^2 = k(x,x) - 2 k(x,x_i) + k(x_i,x_i),  ties by index;
 * h(x) is then the mean of the k outputs in the output feature space. k(x,x) is the same
 * for all i and is left out. Cost: O(n) a query while few neighbours change places,
 * O(nk) at worst; the model is the number k.
 */
#include "method/neighbours/neighbours.h"

typedef struct knn_options {
    okra_int k;
} knn_options;

static const okra_option rows[] = {
    {"k", OKRA_OPTION_INT, offsetof(knn_options, k), "1", 1, 9e15, NULL, "N",
     "nearest training inputs that are averaged"},
    {0},
};

extern const okra_method_ okra_method_knn_;

static okra_status fit(okra_context *ctx, const okra_problem_ *problem,
                       const okra_options *options, okra_bag_ *bag)
{
    (void)ctx;
    knn_options o;
    okra_status st = okra_options_read(options, &okra_method_knn_.options, &o);
    if (st != OKRA_OK) {
        return st;
    }
    if (o.k > problem->n) {
        return okra_fail_(OKRA_EARG,
                          "knn: k is %lld, expected at most %lld, the number "
                          "of training pairs",
                          (long long)o.k, (long long)problem->n);
    }
    return okra_bag_put_number_(bag, "k", (double)o.k);
}

static okra_form_ form(const okra_bag_ *bag)
{
    (void)bag;
    return OKRA_FORM_WEIGHTS;
}

typedef struct knn_arg {
    const okra_query_ *query;
    okra_int k;
    okra_int *nearest; /* k a worker */
    double *distance;  /* k a worker */
    okra_mat_ out;
} knn_arg;

static void weigh(const knn_arg *a, okra_int r, okra_int *nearest, double *distance)
{
    okra_int held =
        okra_nearest_inputs_(a->query->n, a->query->Kx.p + r * a->query->Kx.ld,
                             a->query->train_self, a->k, nearest, distance);
    double *w = a->out.p + r * a->out.ld;
    for (okra_int c = 0; c < a->query->n; c++) {
        w[c] = 0;
    }
    for (okra_int i = 0; i < held; i++) {
        w[nearest[i]] = 1 / (double)a->k;
    }
}

static okra_status body(void *arg, okra_int begin, okra_int end, int worker)
{
    const knn_arg *a = arg;
    for (okra_int r = begin; r < end; r++) {
        weigh(a, r, a->nearest + worker * a->k, a->distance + worker * a->k);
    }
    return OKRA_OK;
}

static okra_status predict(okra_context *ctx, const okra_bag_ *bag, okra_query_ *query,
                           okra_mat_ out)
{
    okra_status st = OKRA_OK;
    knn_arg a = {.query = query, .out = out};
    double k = 0;
    if (!okra_bag_get_number_(bag, "k", &k) || !(k >= 1 && k <= (double)query->n)) {
        FAIL(OKRA_EFORMAT, "knn: the model's k is %g, expected 1 to %lld", k,
             (long long)query->n);
    }
    a.k = (okra_int)k;
    ALLOC(a.nearest, okra_workers_(ctx) * a.k);
    ALLOC(a.distance, okra_workers_(ctx) * a.k);
    TRY(okra_parallel_(ctx, query->m, 16, "neighbours", body, &a));
done:
    okra_free_(a.nearest);
    okra_free_(a.distance);
    return st;
}

/* What a model keeps: see data/kept.h. */
/* clang-format off */
static const okra_kept_ kept_k[] = {
    OKRA_KEEPS_NUMBER_("k", OKRA_KEPT_WHOLE_, "1", "n"),
    OKRA_KEEPS_SAME_("inputs", "c", "n"),
    OKRA_KEPT_END_};
static const okra_kept_ *const kept[] = {kept_k, NULL};
/* clang-format on */

const okra_method_ okra_method_knn_ = {
    .name = "knn",
    .help = "k nearest neighbours: the mean of the outputs of the k nearest inputs",
    .options = {"knn", rows, sizeof(knn_options)},
    .needs_self = true,
    .fit = fit,
    .form = form,
    .predict = predict,
    .kept = kept,
};
