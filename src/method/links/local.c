/*
 * local.c: one classifier a labelled node, which tells its neighbours from the others (K.
 * Bleakley, G. Biau, J.-P. Vert, Bioinformatics 23, 2007). Links only, and only pairs
 * with a labelled node.
 *
 * For the labelled node v a support vector machine (libsvm.c) is trained on the other
 * labelled nodes, +1 for neighbours of v, -1 for the rest:
 *     f_v(u) = sum_i c_vi k(u, u_i) + b_v.
 * score(u, v) = f_v(u) for a new u, and (f_v(u) + f_u(v)) / 2 for two labelled nodes. A
 * node without edges has f_v = -1, the only node f_v = 0. Errors on neighbours cost C
 * times (others / neighbours) with `balance`, else C.
 *
 * With P_u = [k_u, 1, 0, 0], or half of [k_u, 1, c_u, b_u] for a labelled u, and
 * Q_v = [c_v, b_v, k_v, 1], scores are <P_u, Q_v>. Cost: n small quadratic programmes, in
 * parallel, beside LIBSVM's form of the Gram matrix.
 */
#include "method/structured/libsvm.h"
#include "method/method.h"

typedef struct local_options {
    double C;
    bool balance;
} local_options;

static const okra_option rows[] = {
    {"C", OKRA_OPTION_NUMBER, offsetof(local_options, C), "1", 1e-300, 1e300, NULL, "V",
     "cost of an error of a classifier"},
    {"balance", OKRA_OPTION_BOOL, offsetof(local_options, balance), "yes", 1, 0, NULL, "",
     "an error on a neighbour costs as many times more as neighbours are fewer"},
    {0},
};

extern const okra_method_ okra_method_local_;

typedef struct training {
    okra_int n;
    local_options o;
    const okra_network_ *network;
    okra_svm_gram_ gram;
    okra_int *others; /* n a worker: the nodes of one problem, */
    double *label;    /* n a worker: and what they are         */
    okra_mat_ C;      /* n x (n + 1): c_v, b_v                 */
} training;

static okra_status train(const training *t, okra_int v, int worker)
{
    const okra_csr_ *w = &t->network->adjacency;
    okra_int n = t->n, next = w->indptr[v], count = 0;
    okra_int neighbours = w->indptr[v + 1] - next;
    okra_int *others = t->others + worker * n;
    double *label = t->label + worker * n, *c = t->C.p + v * t->C.ld;
    for (okra_int i = 0; i < n; i++) {
        bool near = next < w->indptr[v + 1] && w->indices[next] == i;
        next += near;
        if (i != v) {
            others[count] = i;
            label[count++] = near ? 1 : -1;
        }
    }
    okra_svm_ svm = {
        .cost = t->o.C,
        .positive = t->o.balance && neighbours > 0
                        ? (double)(n - 1 - neighbours) / (double)neighbours
                        : 1,
        .tolerance = 1e-3,
    };
    return okra_svm_train_(&t->gram, &svm, others, count, label, c, c + n);
}

static okra_status body(void *arg, okra_int begin, okra_int end, int worker)
{
    for (okra_int v = begin; v < end; v++) {
        CHK(train(arg, v, worker));
    }
    return OKRA_OK;
}

static void training_clear(training *t)
{
    okra_svm_gram_clear_(&t->gram);
    FREE(t->others, t->label);
}

static okra_status fit(okra_context *ctx, const okra_problem_ *p,
                       const okra_options *options, okra_store_ *store)
{
    okra_int n = p->n, workers = okra_workers_(ctx);
    FREED_BY(training_clear) training t = {.n = n};
    OWNED double *K = NULL, *C = NULL;
    CHK(okra_options_read(options, &okra_method_local_.options, &t.o));
    CHK(okra_linker_network_("local", p, &t.network));
    CHK(okra_problem_host_K_(ctx, p, &K));
    CHK(okra_svm_gram_create_(ctx, "local", okra_mat_of_(K, n, n), &t.gram));
    MAKE(t.others, n * workers);
    MAKE(t.label, n * workers);
    CHK(okra_doubles_(ctx, n, n + 1, "the classifiers", &C));
    t.C = okra_mat_of_(C, n, n + 1);
    CHK(okra_parallel_(ctx, n, 1, "local models", body, &t));
    return okra_store_put_(store, "classifiers", &C, n, n + 1);
}

static okra_int width(const okra_store_ *store)
{
    return 2 * okra_store_mat_(store, "classifiers").cols;
}

static okra_status factors(okra_context *ctx, const okra_store_ *store, okra_query_ *q,
                           okra_int labelled, okra_mat_ P, okra_mat_ Q)
{
    okra_mat_ C = okra_store_mat_(store, "classifiers");
    okra_int h = q->n + 1;
    double share = labelled >= 0 ? 0.5 : 1;
    for (okra_int i = 0; i < q->m; i++) {
        const double *k = q->Kx.p + i * q->Kx.ld;
        const double *c = labelled >= 0 ? C.p + (labelled + i) * C.ld : NULL;
        for (okra_int j = 0; j < h; j++) {
            double k_j = j < q->n ? k[j] : 1, c_j = c ? c[j] : 0;
            if (P.p) {
                P.p[i * P.ld + j] = share * k_j;
                P.p[i * P.ld + h + j] = share * c_j;
            }
            if (Q.p) {
                Q.p[i * Q.ld + j] = c_j;
                Q.p[i * Q.ld + h + j] = k_j;
            }
        }
    }
    return OKRA_OK;
}

static const okra_linker_ linker = {
    .labelled_only = true, .width = width, .factors = factors};

static const okra_schema_ kept_classifiers[] = {
    OKRA_KEEPS_MATRIX_("classifiers", 0, "n", "n+1"),
    OKRA_KEEPS_SAME_("inputs", "c", "n"),
    OKRA_KEPT_END_,
};

const okra_method_ okra_method_local_ = {
    .name = "local",
    .unweighted =
        "learns one classifier per node of a network: weights of pairs have no meaning",
    .help = "links only: a support vector machine for each labelled node",
    .options = {"local", rows, sizeof(local_options)},
    .fit = fit,
    .linker = &linker,
    .kept = (const okra_schema_ *const[]){kept_classifiers, NULL},
};
