/*
 * solved.c: the matrices that conformal ridge works with, and test inputs bordered to
 * them.
 *
 * K + lambda I with one more input x is inverted by blocks. With B = (K + lambda I)^-1,
 * u = B k_x and s = k(x,x) + lambda - k_x'u, the inverse of the bordered matrix has
 *     B + u u' / s   over the training inputs,   -u / s   beside them,   1 / s   for x.
 * s is the predictive variance with noise, so at least lambda.
 *
 * Cost: one Cholesky factor and the inverse, n^3, once; n^2 for each test input. Memory:
 * 3 n^2 doubles, and as much as a block of test inputs takes. u comes from the factor,
 * not from B: s is a small difference where lambda is small, and keeps eps trace(K)
 * |u|^2.
 *
 * Centred outputs: every fit takes the mean of its own outputs away, and gives it back to
 * its predictions. Residuals do not change when all outputs, the candidates among them,
 * move by the same vector. So phi stands for phi(y) - m, m the mean of the n training
 * outputs, in all that follows: L and the candidates' products are centred, Y has mean 0.
 * The mean of n + 1 outputs is then phi(y) / (n + 1), that without the test pair is 0.
 */
#include "conformal/conformal.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { ROWS = 256 };
/* More than kernels in single precision are off. */
#define IMPOSSIBLE 1e-5

OKRA_SHARED_CLEARS_(okra_solved_clear_, okra_solved_, it->F, it->B, it->L, it->Y,
                    it->ones, it->mean)

/* |phi|^2 = norm2, rounded as differences of numbers up to given^2 are. */
static void grow(okra_solved_ *z, double norm2)
{
    double spare = z->ones ? 8 * DBL_EPSILON * z->given * z->given : 0;
    z->size = fmax(z->size, sqrt(fmax(norm2, 0) + spare));
}

/* Has the bordered system of the model a closed form? */
static okra_status check(const okra_conformal_job_ *job)
{
    const okra_model *m = job->model;
    const okra_training_ *t = m->training;
    const char *why = m->method->bordered ? m->method->bordered(m->bag)
                                          : "the method does not solve (K + lambda I)";
    if (why) {
        /* it says so */
    } else if (!t->bound_x || !t->bound_y || t->waves || t->x->n < t->y->n) {
        why = "the model is of low rank and does not keep its training inputs";
    } else if (t->x->n > t->y->n) {
        why = "there are inputs without outputs";
    } else if (t->y->missing) {
        why = "outputs have missing values";
    } else if (okra_kernel_centers_(t->kx) || okra_kernel_centers_(t->ky)) {
        why = "a kernel depends on the whole training set";
    }
    return why ? okra_fail_(
                     OKRA_EUNSUPPORTED,
                     "conformal %s: there is no closed form: %s; hold back pairs "
                     "when fitting (--calibration), or give pairs that the fit has "
                     "not seen, for split",
                     job->s.how, why)
               : OKRA_OK;
}

/* Y; centred, with mean 0, and the mean. */
static okra_status outputs(const okra_conformal_job_ *job, okra_solved_ *z)
{
    const okra_output_ *from = &job->model->training->output;
    okra_int n = z->n, d = z->d;
    CHK(okra_doubles_(job->ctx, n, d, "the outputs", &z->Y));
    ZMAKE(z->mean, d);
    for (okra_int i = 0; i < n; i++) {
        memcpy(z->Y + i * d, from->features + i * from->features_ld,
               (size_t)d * sizeof *z->Y);
        for (okra_int j = 0; z->ones && j < d; j++) {
            z->mean[j] += z->Y[i * d + j] / (double)n;
        }
    }
    for (okra_int k = 0; k < n * d; k++) {
        z->Y[k] -= z->mean[k % d];
    }
    return OKRA_OK;
}

/* Rows of vectors less the mean, m x d. */
static okra_status move_rows(okra_context *ctx, const okra_solved_ *z, okra_int m,
                             const double *from, okra_int ld, double **out)
{
    CHK(okra_doubles_(ctx, m, z->d, "outputs without their mean", out));
    for (okra_int k = 0; k < m * z->d; k++) {
        (*out)[k] = from[k / z->d * ld + k % z->d] - z->mean[k % z->d];
    }
    return OKRA_OK;
}

/* L of centred explicit outputs: inner products of what is left, so that outputs far from
 * 0 lose nothing. */
static okra_status explicit_gram(const okra_conformal_job_ *job, okra_solved_ *z)
{
    const okra_output_ *from = &job->model->training->output;
    okra_int n = z->n;
    CHK(outputs(job, z));
    okra_mat_ Y = okra_mat_of_(z->Y, n, z->d);
    CHK(okra_gemm_(job->ctx, false, true, from->feature_scale, Y, Y, 0,
                   okra_mat_of_(z->L, n, n)));
    for (okra_int i = 0; i < n; i++) {
        z->given = fmax(z->given, sqrt(fmax(z->L[i * n + i], 0)));
    }
    z->size = z->given;
    return OKRA_OK;
}

/* L, its largest |phi|, and, centred, what okra_solved_candidates_ needs: m'm and
 * m'phi_j.
 */
static okra_status output_gram(const okra_conformal_job_ *job, okra_solved_ *z)
{
    okra_int n = z->n;
    CHK(okra_doubles_(job->ctx, n, n, "the Gram matrix of the outputs", &z->L));
    if (z->ones && job->model->training->output.features) {
        return explicit_gram(job, z);
    }
    CHK(okra_bound_gram_(job->ctx, job->model->training->bound_y,
                         okra_mat_of_(z->L, n, n)));
    for (okra_int i = 0; i < n; i++) {
        z->given = fmax(z->given, sqrt(fmax(z->L[i * n + i], 0)));
    }
    z->size = z->given;
    if (!z->ones) {
        return OKRA_OK;
    }
    ZMAKE(z->mean, n + 1);
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < n; j++) {
            z->mean[i] += z->L[i * n + j] / (double)n;
        }
        z->mean[n] += z->mean[i] / (double)n;
    }
    z->size = 0;
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < n; j++) {
            z->L[i * n + j] += z->mean[n] - z->mean[i] - z->mean[j];
        }
        grow(z, z->L[i * n + i]);
    }
    return OKRA_OK;
}

/* The largest sum of absolute values in a row of a symmetric matrix: no eigenvalue is
 * larger. */
static double largest_row(okra_int n, const double *B)
{
    double largest = 0;
    for (okra_int i = 0; i < n; i++) {
        double sum = 0;
        for (okra_int j = 0; j < n; j++) {
            sum += fabs(B[i * n + j]);
        }
        largest = fmax(largest, sum);
    }
    return largest;
}

/* B from K, which becomes its factor; centred, B 1. */
static okra_status invert(const okra_conformal_job_ *job, okra_mat_ K, bool centered,
                          okra_solved_ *z)
{
    okra_int n = z->n;
    okra_mat_ B = okra_mat_of_(z->B, n, n);
    double added = 0;
    okra_mat_add_diagonal_(K, z->lambda);
    for (okra_int i = 0; i < n; i++) {
        z->trace += K.p[i * n + i]; /* above the largest eigenvalue */
    }
    CHK(okra_cholesky_(job->ctx, K, &added));
    REFUSE_IF(z->lambda == 0 && added != 0, OKRA_EUNSUPPORTED,
              "conformal %s: there is no closed form: lambda is 0 and the Gram matrix of "
              "the inputs is singular; fit with a lambda above 0",
              job->s.how);
    okra_mat_fill_(B, 0);
    okra_mat_add_diagonal_(B, 1);
    CHK(okra_cholesky_solve_(job->ctx, K, B));
    okra_mat_mirror_(B); /* symmetric to the last bit */
    z->condition = z->trace * fmin(1 / z->lambda, largest_row(n, z->B));
    if (centered) {
        ZMAKE(z->ones, n);
        for (okra_int k = 0; k < n * n; k++) {
            z->ones[k / n] += z->B[k];
        }
    }
    return OKRA_OK;
}

okra_status okra_solved_create_(const okra_conformal_job_ *job, okra_solved_ *out)
{
    const okra_training_ *t = job->model->training;
    FREED_BY(okra_solved_clear_) okra_solved_ z = {.n = t->y->n, .d = t->output.d};
    double centered = 0;
    okra_int n = z.n;
    CHK(check(job));
    REFUSE_IF(!okra_bag_get_number_(job->model->bag, "lambda", &z.lambda), OKRA_EFORMAT,
              "the model does not tell its lambda");
    (void)okra_bag_get_number_(job->model->bag, "center", &centered);
    CHK(okra_doubles_(job->ctx, n, n, "the Gram matrix of the inputs", &z.F));
    CHK(okra_doubles_(job->ctx, n, n, "its inverse", &z.B));
    CHK(okra_bound_gram_(job->ctx, t->bound_x, okra_mat_of_(z.F, n, n)));
    CHK(invert(job, okra_mat_of_(z.F, n, n), centered != 0, &z));
    CHK(job->candidates ? output_gram(job, &z) : outputs(job, &z));
    *out = z;
    z = (okra_solved_){0};
    return OKRA_OK;
}

double okra_solved_error_(const okra_solved_ *solved, double sum, double norm2)
{
    double eps = 8 * DBL_EPSILON, e = eps * solved->condition * sum * solved->size;
    return 2 * sqrt(fmax(norm2, 0)) * e + e * e +
           eps * sum * sum * solved->given * solved->given;
}

/* s of row r, whose k(x, x) is `own`. A kernel that is positive leaves k(x,x) - k_x'u at
 * 0 or above; at 0, with lambda = 0, the bordered matrix has no inverse. */
static okra_status border(const okra_conformal_job_ *job, const okra_solved_ *solved,
                          const double *k, double own, okra_int r, okra_bordered_ *b)
{
    okra_int n = solved->n;
    const double *u = b->U + r * n;
    double made = okra_dot_(n, k, u), s = own + solved->lambda - made;
    double sizes = fabs(own) + solved->trace * okra_dot_(n, u, u);
    for (okra_int i = 0; i < n; i++) {
        sizes += fabs(k[i] * u[i]);
    }
    REFUSE_IF(own - made < -IMPOSSIBLE * sizes, OKRA_EARG,
              "conformal %s: k(x, x) of test input %lld is %g, expected at least %g by "
              "its similarity to the training inputs",
              job->s.how, (long long)(b->first + r), own, made);
    bool divides =
        job->how == OKRA_CONFORMAL_FULL_ || job->score == OKRA_SCORE_NORMALIZED_;
    REFUSE_IF(divides && solved->lambda == 0 && s <= 8 * DBL_EPSILON * sizes,
              OKRA_EUNSUPPORTED,
              "conformal %s: there is no closed form: lambda is 0 and test input %lld "
              "adds nothing to the training inputs; fit with a lambda above 0",
              job->s.how, (long long)(b->first + r));
    b->s[r] = fmax(s, solved->lambda);
    b->off[r] = fmin(8 * DBL_EPSILON * sizes / b->s[r], 0.25);
    return OKRA_OK;
}

static okra_status one_block(const okra_conformal_job_ *job, const okra_solved_ *solved,
                             const okra_other_ *other, const double *self, double *K,
                             okra_bordered_ *b)
{
    okra_int n = solved->n, m = b->m;
    okra_mat_ Kx = okra_mat_of_(K, m, n), U = okra_mat_of_(b->U, m, n);
    CHK(okra_other_cross_(job->ctx, job->model->training->bound_x, other, b->first, Kx));
    CHK(okra_mat_copy_(Kx, U));
    CHK(okra_cholesky_solve_rows_(job->ctx, okra_mat_of_(solved->F, n, n), U));
    for (okra_int r = 0; r < m; r++) {
        CHK(border(job, solved, K + r * n, self[b->first + r], r, b));
    }
    if (solved->L) {
        CHK(okra_gemm_(job->ctx, false, false, 1, U, okra_mat_of_(solved->L, n, n), 0,
                       okra_mat_of_(b->UL, m, n)));
    }
    return OKRA_OK;
}

okra_status okra_solved_walk_(const okra_conformal_job_ *job, const okra_solved_ *solved,
                              okra_bordered_fn_ each, void *user)
{
    okra_int n = solved->n, rows = OKRA_MIN_(ROWS, job->tests);
    FREED_BY(okra_other_drop_) okra_other_ *other = NULL;
    okra_bordered_ b = {0};
    OWNS(&b.U, &b.UL, &b.s, &b.off);
    OWNED double *self = NULL, *K = NULL;
    const okra_bound_ *kx = job->model->training->bound_x;
    CHK(okra_other_create_(job->ctx, kx, job->x, &other));
    MAKE(self, job->tests);
    CHK(okra_other_diagonal_(job->ctx, kx, other, self));
    CHK(okra_doubles_(job->ctx, rows, n, "a block of test rows", &K));
    CHK(okra_doubles_(job->ctx, rows, n, "a block of test rows", &b.U));
    if (solved->L) {
        CHK(okra_doubles_(job->ctx, rows, n, "a block of test rows", &b.UL));
    }
    MAKE(b.s, rows);
    MAKE(b.off, rows);
    for (b.first = 0; b.first < job->tests; b.first += rows) {
        CHK(okra_cancelled_(job->ctx));
        b.m = OKRA_MIN_(rows, job->tests - b.first);
        CHK(one_block(job, solved, other, self, K, &b));
        CHK(each(user, &b));
        okra_progress_(job->ctx, "prediction sets", b.first + b.m, job->tests);
    }
    return OKRA_OK;
}

/* l(c, y_i) and l(c, c) of centred explicit outputs. */
static okra_status explicit_candidates(const okra_conformal_job_ *job,
                                       okra_solved_ *solved, double *l, double *own)
{
    okra_int ld = 0, count = job->count, d = solved->d;
    OWNED double *C = NULL;
    double scale = job->model->training->output.feature_scale;
    const double *values = okra_data_values(job->candidates, &ld);
    CHK(move_rows(job->ctx, solved, count, values, ld, &C));
    CHK(okra_gemm_(job->ctx, false, true, scale, okra_mat_of_(C, count, d),
                   okra_mat_of_(solved->Y, solved->n, d), 0,
                   okra_mat_of_(l, count, solved->n)));
    for (okra_int c = 0; c < count; c++) {
        own[c] = scale * okra_dot_(d, C + c * d, C + c * d);
        solved->given = fmax(solved->given, sqrt(fmax(own[c], 0)));
    }
    solved->size = fmax(solved->size, solved->given);
    return OKRA_OK;
}

/* The same by the output kernel; centred by means. */
static okra_status implicit_candidates(const okra_conformal_job_ *job,
                                       okra_solved_ *solved, double *l, double *own)
{
    const okra_bound_ *ky = job->model->training->bound_y;
    okra_int n = solved->n;
    FREED_BY(okra_other_drop_) okra_other_ *other = NULL;
    CHK(okra_other_create_(job->ctx, ky, job->candidates, &other));
    CHK(okra_other_diagonal_(job->ctx, ky, other, own));
    CHK(okra_other_cross_(job->ctx, ky, other, 0, okra_mat_of_(l, job->count, n)));
    for (okra_int c = 0; c < job->count; c++) {
        solved->given = fmax(solved->given, sqrt(fmax(own[c], 0)));
    }
    for (okra_int c = 0; c < job->count; c++) {
        double *row = l + c * n, mean = 0; /* m'phi(c) */
        for (okra_int j = 0; solved->ones && j < n; j++) {
            mean += row[j] / (double)n;
        }
        for (okra_int j = 0; solved->ones && j < n; j++) {
            row[j] += solved->mean[n] - mean - solved->mean[j];
        }
        own[c] += solved->ones ? solved->mean[n] - 2 * mean : 0;
        grow(solved, own[c]);
    }
    return OKRA_OK;
}

okra_status okra_solved_candidates_(const okra_conformal_job_ *job, okra_solved_ *solved,
                                    double **cross, double **self)
{
    OWNED double *l = NULL, *own = NULL;
    MAKE(own, job->count);
    CHK(okra_doubles_(job->ctx, job->count, solved->n,
                      "the output kernel of the candidates", &l));
    CHK(solved->Y ? explicit_candidates(job, solved, l, own)
                  : implicit_candidates(job, solved, l, own));
    *cross = l;
    *self = own;
    l = own = NULL;
    return OKRA_OK;
}
