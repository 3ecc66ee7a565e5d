/*
 * local.c: one classifier a labelled node, which tells its neighbours from the others (K.
 * Bleakley, G. Biau, J.-P. Vert, Bioinformatics 23, 2007). Links only, and only pairs
 * with a labelled node.
 *
 * For the labelled node v a support vector machine (LIBSVM) is trained on the other
 * labelled nodes, +1 for neighbours of v, -1 for the rest:
 *     f_v(u) = sum_i c_vi k(u, u_i) + b_v.
 * score(u, v) = f_v(u) for a new u, and (f_v(u) + f_u(v)) / 2 for two labelled nodes. A
 * node without edges has f_v = -1. Errors on neighbours cost C times (others /
 * neighbours) with `balance`, else C.
 *
 * With P_u = [k_u, 1, 0, 0], or half of [k_u, 1, c_u, b_u] for a labelled u, and
 * Q_v = [c_v, b_v, k_v, 1], scores are <P_u, Q_v>. Cost: n small quadratic programmes, in
 * parallel; 16 n^2 bytes of LIBSVM's own form of the Gram matrix.
 */
#include "method/linker.h"

#include <libsvm/svm.h>
#include <pthread.h>

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
    struct svm_node **row;    /* n rows in LIBSVM's form: number, values, end */
    struct svm_node **chosen; /* n a worker: the rows of one problem          */
    double *label;            /* n a worker                                   */
    int *place;               /* n a worker: which node a row is              */
    okra_mat_ C;              /* n x (n + 1): c_v, b_v                        */
} training;

static void silent(const char *text)
{
    (void)text;
}

static void silence(void)
{
    svm_set_print_string_function(silent);
}

/* c_v and b_v from the machine; the sign is that of the class +1. */
static void keep(const struct svm_model *model, const int *place, double *c, okra_int n)
{
    double sign = model->label[0] == 1 ? 1 : -1;
    for (int k = 0; k < model->l; k++) {
        c[place[model->sv_indices[k] - 1]] = sign * model->sv_coef[0][k];
    }
    c[n] = -sign * model->rho[0];
}

static okra_status train(const training *t, okra_int v, int worker)
{
    const okra_csr_ *w = &t->network->adjacency;
    okra_int n = t->n, neighbours = w->indptr[v + 1] - w->indptr[v];
    double *label = t->label + worker * n, *c = t->C.p + v * t->C.ld;
    int *place = t->place + worker * n;
    struct svm_node **chosen = t->chosen + worker * n;
    okra_mat_fill_(okra_mat_part_(t->C, v, 1, 0, n + 1), 0);
    if (neighbours == 0 || neighbours == n - 1) {
        c[n] = neighbours == 0 ? -1 : 1;
        return OKRA_OK;
    }
    int count = 0;
    okra_int next = w->indptr[v];
    for (okra_int i = 0; i < n; i++) {
        bool near = next < w->indptr[v + 1] && w->indices[next] == i;
        next += near;
        if (i != v) {
            chosen[count] = t->row[i];
            place[count] = (int)i;
            label[count++] = near ? 1 : -1;
        }
    }
    int weight_label[] = {1};
    double weight[] = {(double)(n - 1 - neighbours) / (double)neighbours};
    struct svm_problem problem = {.l = count, .y = label, .x = chosen};
    struct svm_parameter parameter = {.svm_type = C_SVC,
                                      .kernel_type = PRECOMPUTED,
                                      .cache_size = 64,
                                      .eps = 1e-3,
                                      .C = t->o.C,
                                      .nr_weight = t->o.balance ? 1 : 0,
                                      .weight_label = weight_label,
                                      .weight = weight,
                                      .shrinking = 1};
    struct svm_model *model = svm_train(&problem, &parameter);
    if (!model) {
        return okra_fail_(OKRA_EMEM, "local: no memory for a classifier");
    }
    keep(model, place, c, n);
    svm_free_and_destroy_model(&model);
    return OKRA_OK;
}

static okra_status body(void *arg, okra_int begin, okra_int end, int worker)
{
    okra_status st = OKRA_OK;
    for (okra_int v = begin; v < end && st == OKRA_OK; v++) {
        st = train(arg, v, worker);
    }
    return st;
}

/* The Gram matrix in LIBSVM's form: row i is (0: i + 1), (1: k_i1), ..., (-1: end). */
static void copy_gram(okra_int n, const double *K, struct svm_node *space,
                      struct svm_node **row)
{
    for (okra_int i = 0; i < n; i++) {
        row[i] = space + i * (n + 2);
        row[i][0] = (struct svm_node){0, (double)(i + 1)};
        for (okra_int j = 0; j < n; j++) {
            row[i][j + 1] = (struct svm_node){(int)(j + 1), K[i * n + j]};
        }
        row[i][n + 1] = (struct svm_node){-1, 0};
    }
}

static okra_status fit(okra_context *ctx, const okra_problem_ *p,
                       const okra_options *options, okra_bag_ *bag)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    okra_status st = OKRA_OK;
    okra_int n = p->n, workers = okra_workers_(ctx);
    training t = {.n = n};
    struct svm_node *space = NULL;
    double *K = NULL, *C = NULL;
    pthread_once(&once, silence);
    TRY(okra_options_read(options, &okra_method_local_.options, &t.o));
    TRY(okra_linker_network_("local", p, &t.network));
    TRY(okra_problem_K_(ctx, p, &K));
    TRY(okra_budget_ask_(ctx, 16.0 * (double)n * (double)(n + 2),
                         "the Gram matrix in the form of LIBSVM"));
    ALLOC(space, n * (n + 2));
    ALLOC(t.row, n);
    ALLOC(t.chosen, n * workers);
    ALLOC(t.label, n * workers);
    ALLOC(t.place, n * workers);
    TRY(okra_doubles_(ctx, n, n + 1, "the classifiers", &C));
    t.C = okra_mat_of_(C, n, n + 1);
    copy_gram(n, K, space, t.row);
    TRY(okra_parallel_(ctx, n, 1, "local models", body, &t));
    TRY(okra_linker_put_(bag, "classifiers", &C, n, n + 1));
done:
    okra_free_(K);
    okra_free_(C);
    okra_free_(space);
    okra_free_(t.row);
    okra_free_(t.chosen);
    okra_free_(t.label);
    okra_free_(t.place);
    return st;
}

static okra_int width(const okra_bag_ *bag)
{
    return 2 * okra_linker_get_(bag, "classifiers").cols;
}

static okra_status factors(okra_context *ctx, const okra_bag_ *bag, okra_query_ *q,
                           okra_int labelled, okra_mat_ P, okra_mat_ Q)
{
    okra_mat_ C = okra_linker_get_(bag, "classifiers");
    okra_int h = q->n + 1;
    double share = labelled >= 0 ? 0.5 : 1;
    (void)ctx;
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

const okra_method_ okra_method_local_ = {
    .name = "local",
    .help = "links only: a support vector machine for each labelled node",
    .options = {"local", rows, sizeof(local_options)},
    .fit = fit,
    .form = okra_linker_form_,
    .linker = &linker,
};
