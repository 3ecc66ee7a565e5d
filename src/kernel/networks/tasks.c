/*
 * tasks.c: graphs between tasks, the coordinates of vector outputs (Brouard et al. 2016,
 * sec. 5.2 and 6.2.2).
 *
 * Estimated: M_ij = exp(-gamma d_ij), d_ij = |Y^i - Y^j|^2. The paper takes the gamma
 * that maximises "an information criterion" without its formula. Here, as for the time of
 * diffusion in link prediction, it is the entropy of the histogram of the similarities
 * M_ij, i < j, in 50 equal bins, here from 0 to 1: for small gamma all tasks look the
 * same, for large gamma none do, and neither tells anything. Candidates are 41 values,
 * log-spaced from 0.01 to 100, over the mean of d_ij. Cost: n d^2.
 */
#include "kernel/networks/network.h"
#include "okra/more/features.h"

enum { CANDIDATES = 41 };

/* Entries may differ across the diagonal by what a file's last digits lose. */
static const double SYMMETRY = 1e-9;

static okra_status check_symmetric(const char *who, const char *file, okra_mat_ A)
{
    double scale = 0;
    for (okra_int i = 0; i < A.rows; i++) {
        scale = fmax(scale, okra_most_abs_(A.cols, A.p + i * A.ld));
    }
    for (okra_int i = 0; i < A.rows; i++) {
        for (okra_int j = 0; j < i; j++) {
            double lower = A.p[i * A.ld + j], upper = A.p[j * A.ld + i];
            REFUSE_IF(fabs(lower - upper) > SYMMETRY * scale, OKRA_EARG,
                      "%s: %s: element (%lld, %lld) is %.10g but (%lld, "
                      "%lld) is %.10g, expected a symmetric matrix",
                      who, file, (long long)i, (long long)j, lower, (long long)j,
                      (long long)i, upper);
        }
    }
    return OKRA_OK;
}

okra_status okra_tasks_read_(okra_context *ctx, const char *who, const char *file,
                             okra_int d, double **out)
{
    FREED_BY(okra_data_drop_) okra_data *data = NULL;
    OWNED double *A = NULL;
    char found[120];
    okra_int ld = 0;
    CHK(okra_data_read(ctx, file, &data));
    const double *values = okra_data_values(data, &ld);
    REFUSE_IF(!values || okra_data_count(data) != d || okra_data_width(data) != d,
              OKRA_ESHAPE,
              "%s: %s holds %s, expected a matrix of %lld x %lld, one row per output "
              "coordinate",
              who, file, okra_data_describe_(data, found, sizeof found), (long long)d,
              (long long)d);
    CHK(okra_doubles_(ctx, d, d, "a matrix of tasks", &A));
    CHK(okra_mat_copy_(okra_mat_view_(values, d, d, ld), okra_mat_of_(A, d, d)));
    CHK(check_symmetric(who, file, okra_mat_of_(A, d, d)));
    *out = TAKE(A);
    return OKRA_OK;
}

/* d_ij, rows counting as u says (NULL: once); infinity where no row has both. */
static void distances(okra_mat_ Y, const double *u, double *M)
{
    okra_int n = Y.rows, d = Y.cols;
    double total = u ? 0 : (double)n;
    for (okra_int k = 0; u && k < n; k++) {
        total += u[k];
    }
    for (okra_int i = 0; i < d; i++) {
        for (okra_int j = 0; j < d; j++) {
            double sum = 0, both = 0;
            for (okra_int k = 0; k < n; k++) {
                double e = Y.p[k * Y.ld + i] - Y.p[k * Y.ld + j];
                double times = isnan(e) ? 0 : u ? u[k] : 1;
                both += times;
                sum += times > 0 ? times * (e * e) : 0;
            }
            M[i * d + j] = both > 0 ? sum * total / both : (double)INFINITY;
        }
    }
}

/* Of distances M (d x d). 1 where no two tasks differ. */
static okra_status choose(okra_int d, const double *M, double *gamma)
{
    okra_int pairs = 0;
    OWNED double *distance = NULL, *similar = NULL;
    double mean = 0, best = -1;
    MAKE(distance, d * d);
    MAKE(similar, d * d);
    for (okra_int i = 0; i < d * d; i++) {
        if (i / d < i % d && isfinite(M[i])) {
            distance[pairs++] = M[i];
        }
    }
    for (okra_int i = 0; i < pairs; i++) {
        mean += distance[i] / (double)pairs;
    }
    *gamma = 1;
    for (int c = 0; mean > 0 && c < CANDIDATES; c++) {
        double candidate = pow(10, -2 + 0.1 * c) / mean;
        for (okra_int i = 0; i < pairs; i++) {
            similar[i] = exp(-candidate * distance[i]);
        }
        double information = okra_entropy_(OKRA_BINS_, pairs, similar, NULL, 0, 1);
        if (information > best) {
            best = information;
            *gamma = candidate;
        }
    }
    return OKRA_OK;
}

okra_status okra_tasks_estimate_(okra_context *ctx, okra_mat_ Y, const double *weights,
                                 double gamma, double **out)
{
    okra_int d = Y.cols;
    OWNED double *M = NULL;
    CHK(okra_doubles_(ctx, d, d, "the graph of tasks", &M));
    distances(Y, weights, M);
    if (gamma == 0) {
        CHK(choose(d, M, &gamma));
    }
    for (okra_int i = 0; i < d * d; i++) {
        M[i] = exp(-gamma * M[i]); /* nothing in common: no edge */
    }
    *out = TAKE(M);
    return OKRA_OK;
}

okra_status okra_task_graph(okra_context *context, const okra_data *y, double gamma,
                            double *M)
{
    NOT_NULL(y, M);
    OWNED double *own = NULL;
    REFUSE_IF(y->kind != OKRA_DENSE || y->n < 1, OKRA_EARG,
              "%s holds %lld objects that are %s, expected dense outputs", y->source,
              (long long)y->n, okra_kind_name(y->kind));
    REFUSE_IF(!(gamma >= 0 && gamma <= 1e300), OKRA_EARG,
              "gamma is %g, expected a number that is not negative", gamma);
    CHK(okra_tasks_estimate_(context, okra_mat_view_(y->values, y->n, y->d, y->ld),
                             y->weights, gamma, &own));
    return okra_mat_copy_(okra_mat_of_(own, y->d, y->d), okra_mat_of_(M, y->d, y->d));
}
