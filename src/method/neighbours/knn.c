/*
 * knn.c: the k nearest training inputs, each with weight 1/k.
 *
 *     w_i(x) = 1/k  where x_i is among the k nearest of x in the input feature space,
 *     |phi(x) - phi(x_i)|^2 = k(x,x) - 2 k(x,x_i) + k(x_i,x_i),  ties by index;
 * h(x) is then the mean of the k outputs in the output feature space. k(x,x) is the same
 * for all i and is left out.
 *
 * Weights of pairs: k counts weight, not pairs. The nearest inputs are taken until their
 * weights u_i reach k, the last one with what is left of k: w_i(x) = u_i / k. All of them
 * together may weigh less than k; their weights are then divided by their sum. Cost: O(n)
 * a query while few neighbours change places, O(nk) at worst; the model is the number k.
 */
#include "method/method.h"

okra_int okra_nearest_inputs_(okra_int n, const double *k_x, const double *train_self,
                              okra_int k, okra_int *nearest, double *distance)
{
    okra_int held = 0;
    for (okra_int c = 0; c < n; c++) {
        double d = train_self[c] - 2 * k_x[c];
        okra_int at = held;
        while (at > 0 && d < distance[at - 1]) {
            at--;
        }
        if (at == k) {
            continue;
        }
        held = OKRA_MIN_(held + 1, k);
        for (okra_int i = held - 1; i > at; i--) {
            nearest[i] = nearest[i - 1];
            distance[i] = distance[i - 1];
        }
        nearest[at] = c;
        distance[at] = d;
    }
    return held;
}

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
                       const okra_options *options, okra_store_ *store)
{
    knn_options o;
    CHK(okra_options_read(options, &okra_method_knn_.options, &o));
    REFUSE_IF(o.k > problem->n, OKRA_EARG,
              "knn: k is %lld, expected at most %lld, the number of training pairs",
              (long long)o.k, (long long)problem->n);
    CHK(okra_store_put_number_(store, "k", (double)o.k));
    return okra_problem_put_weights_(problem, store);
}

typedef struct knn_arg {
    const okra_query_ *query;
    okra_int k;
    okra_int *nearest;     /* k a worker */
    double *distance;      /* k a worker */
    const double *weights; /* n, or NULL */
    double total;          /* of weight that is averaged: k, or their sum */
    okra_mat_ out;
} knn_arg;

static void weigh(const knn_arg *a, okra_int r, okra_int *nearest, double *distance)
{
    okra_int held =
        okra_nearest_inputs_(a->query->n, a->query->Kx.p + r * a->query->Kx.ld,
                             a->query->train_self, a->k, nearest, distance);
    double *w = a->out.p + r * a->out.ld;
    okra_fill_(a->query->n, 0, w);
    double left = a->total;
    for (okra_int i = 0; i < held && left > 0; i++) {
        double share = a->weights ? fmin(a->weights[nearest[i]], left) : 1;
        w[nearest[i]] = share / a->total;
        left -= share;
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

/* How many neighbours always weigh k, if any do: as many as the lightest ones take. */
static okra_int enough(const double *weights, okra_int n, double k, double *total)
{
    double sum = 0, least = (double)INFINITY;
    for (okra_int i = 0; i < n; i++) {
        sum += weights[i];
        least = fmin(least, weights[i]);
    }
    *total = fmin(k, sum);
    double most = ceil(k / least) + 1;
    return most < (double)n ? (okra_int)most : n;
}

static okra_status predict(okra_context *ctx, const okra_store_ *store,
                           okra_query_ *query, okra_mat_ out)
{
    knn_arg a = {.query = query, .out = out};
    OWNS(&a.nearest, &a.distance);
    double k = okra_store_number_(store, "k", 0);
    a.k = (okra_int)k;
    a.total = k;
    a.weights = okra_store_mat_(store, "sample-weight").p;
    if (a.weights) {
        a.k = enough(a.weights, query->n, k, &a.total);
    }
    MAKE(a.nearest, okra_workers_(ctx) * a.k);
    MAKE(a.distance, okra_workers_(ctx) * a.k);
    return okra_parallel_(ctx, query->m, 16, "neighbours", body, &a);
}

static const okra_schema_ kept_k[] = {
    OKRA_KEEPS_NUMBER_("k", OKRA_KEPT_WHOLE_, "1", "n"),
    OKRA_KEEPS_SAME_("inputs", "c", "n"),
    OKRA_KEPT_END_,
};

const okra_method_ okra_method_knn_ = {
    .name = "knn",
    .help = "k nearest neighbours: the mean of the outputs of the k nearest inputs",
    .options = {"knn", rows, sizeof(knn_options)},
    .takes = OKRA_TAKES_WEIGHTS_ | OKRA_TAKES_SELF_,
    .automatic = &(const okra_auto_){.tries = "k=1,2,3,5,8,13,21"},
    .fit = fit,
    .predict = predict,
    .kept = (const okra_schema_ *const[]){kept_k, NULL},
};
