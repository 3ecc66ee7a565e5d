/*
 * libsvm.c: the one place that calls LIBSVM (Chang and Lin, ACM TIST 2, 2011), always
 * with a precomputed kernel:
 *
 *   C-SVC        min_a  1/2 a'Qa - 1'a,  Q_ij = y_i y_j K_ij,  y'a = 0,  0 <= a_i <= C_i;
 *                c_i = y_i a_i
 *   epsilon-SVR  min_c  1/2 c'Kc - y'c + tube |c|_1,  1'c = 0,  |c_i| <= C
 *
 * The bias is -rho, the multiplier of the equality. LIBSVM's decisions favour the class
 * that it met first: signs are turned so that they favour +1. Its print function is a
 * global of LIBSVM's and is set to silence once.
 *
 * Memory: 16 n^2 bytes for its form of K, and a cache of floats for each machine that is
 * being trained, 4 n^2 bytes but at most CACHE_MOST MiB. Time: roughly n^2 to n^3.
 */
#include "method/structured/libsvm.h"

#include <libsvm/svm.h>
#include <pthread.h>

enum { CACHE_MOST = 256 };

static void silent(const char *text)
{
}

static void silence(void)
{
    svm_set_print_string_function(silent);
}

static double cache_of(okra_int n)
{
    return OKRA_MIN_(CACHE_MOST, 1 + 4 * (double)n * (double)n / 1048576);
}

okra_status okra_svm_gram_create_(okra_context *ctx, const char *who, okra_mat_ K,
                                  okra_svm_gram_ *out)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    okra_int n = K.rows;
    struct svm_node *nodes = NULL;
    pthread_once(&once, silence);
    REFUSE_IF(n > INT32_MAX - 2, OKRA_EUNSUPPORTED,
              "%s: %lld training pairs are more than LIBSVM can count", who,
              (long long)n);
    CHK(okra_budget_ask_(ctx,
                         (double)n * (double)(n + 2) * sizeof *nodes +
                             1048576 * cache_of(n) * okra_workers_(ctx),
                         "LIBSVM's copy of the Gram matrix and its caches"));
    MAKE(nodes, n * (n + 2));
    for (okra_int i = 0; i < n; i++) {
        struct svm_node *row = nodes + i * (n + 2);
        row[0] = (struct svm_node){0, (double)(i + 1)};
        for (okra_int j = 0; j < n; j++) {
            row[j + 1] = (struct svm_node){(int)(j + 1), K.p[i * K.ld + j]};
        }
        row[n + 1] = (struct svm_node){-1, 0};
    }
    *out = (okra_svm_gram_){n, nodes};
    return OKRA_OK;
}

void okra_svm_gram_clear_(okra_svm_gram_ *gram)
{
    okra_free_(gram->nodes);
    *gram = (okra_svm_gram_){0, NULL};
}

bool okra_svm_constant_(okra_int count, const double *target)
{
    for (okra_int i = 1; i < count; i++) {
        if (target[i] != target[0]) {
            return false;
        }
    }
    return true;
}

okra_status okra_svm_train_(const okra_svm_gram_ *gram, const okra_svm_ *svm,
                            const okra_int *index, okra_int count, double *target,
                            double *c, double *bias)
{
    OWNED struct svm_node **x = NULL;
    struct svm_model *model = NULL;
    int plus = 1;
    double positive = svm->positive;
    struct svm_parameter parameter = {
        .svm_type = svm->regression ? EPSILON_SVR : C_SVC,
        .kernel_type = PRECOMPUTED,
        .cache_size = cache_of(count),
        .eps = svm->tolerance,
        .C = svm->cost,
        .nr_weight = svm->regression ? 0 : 1,
        .weight_label = &plus,
        .weight = &positive,
        .p = svm->tube,
        .shrinking = 1,
    };
    okra_mat_fill_(okra_mat_of_(c, 1, gram->n), 0);
    if (okra_svm_constant_(count, target)) {
        *bias = count > 0 ? target[0] : 0;
        return OKRA_OK;
    }
    MAKE(x, count);
    for (okra_int i = 0; i < count; i++) {
        x[i] = gram->nodes + (index ? index[i] : i) * (gram->n + 2);
    }
    struct svm_problem problem = {(int)count, target, x};
    const char *wrong = svm_check_parameter(&problem, &parameter);
    REFUSE_IF(wrong, OKRA_EARG, "LIBSVM refuses its settings: %s", wrong);
    model = svm_train(&problem, &parameter);
    double sign = svm->regression || model->label[0] == 1 ? 1 : -1;
    for (int s = 0; s < model->l; s++) {
        c[(okra_int)model->SV[s][0].value - 1] = sign * model->sv_coef[0][s];
    }
    *bias = -sign * model->rho[0];
    svm_free_and_destroy_model(&model);
    return OKRA_OK;
}
