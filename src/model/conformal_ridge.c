/*
 * conformal_ridge.c: the matrices that conformal ridge works with, and test inputs
 * bordered to them.
 *
 * K + lambda I with one more input x is inverted by blocks. With B = (K + lambda I)^-1,
 * u = B k_x and s = k(x,x) + lambda - k_x'u, the inverse of the bordered matrix has
 *     B + u u' / s   over the training inputs,   -u / s   beside them,   1 / s   for x.
 * s is the predictive variance with noise, so at least lambda.
 *
 * Cost: the inverse, or its diagonal, from the factor that the model keeps, n^3, once;
 * n^2 for each test input. Memory: 2 n^2 doubles, n^2 more where the model keeps no
 * factor, and as much as a block of test inputs takes. u comes from the factor,
 * not from B: s is a small difference where lambda is small, and keeps eps trace(K)
 * |u|^2.
 *
 * Centred outputs: every fit takes the mean of its own outputs away, and gives it back to
 * its predictions. Residuals do not change when all outputs, the candidates among them,
 * move by the same vector. So phi stands for phi(y) - m, m the mean of the n training
 * outputs, in all that follows: L and the candidates' products are centred, Y has mean 0.
 * The mean of n + 1 outputs is then phi(y) / (n + 1), that without the test pair is 0.
 */
#include "model/conformal.h"

/* More than kernels in single precision are off. */
#define IMPOSSIBLE 1e-5

void okra_solved_clear_(okra_solved_ *z)
{
    okra_solution_clear_(&z->fitted);
    FREE(z->diagonal, z->B.p, z->L.p, z->Y.p, z->ones, z->mean, z->cross.p, z->Mc.p,
         z->self);
}

/* |phi|^2 = norm2, rounded as differences of numbers up to given^2 are. */
static void grow(okra_solved_ *z, double norm2)
{
    double spare = z->ones ? 8 * DBL_EPSILON * z->given * z->given : 0;
    z->size = fmax(z->size, sqrt(fmax(norm2, 0) + spare));
}

/* Has the bordered system of the model a closed form? */
static okra_status check(const okra_conformal_ *job, const okra_solution_ *fitted)
{
    const okra_training_ *t = job->model->training;
    const char *why = fitted->no_closed_form;
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
static okra_status outputs(const okra_conformal_ *job, okra_solved_ *z)
{
    const okra_output_ *from = &job->model->training->output;
    okra_int n = z->n, d = z->d;
    CHK(okra_mat_room_(job->ctx, n, d, "the outputs", &z->Y));
    ZMAKE(z->mean, d);
    for (okra_int i = 0; i < n; i++) {
        memcpy(z->Y.p + i * d, from->features + i * from->features_ld,
               (size_t)d * sizeof *z->Y.p);
        for (okra_int j = 0; z->ones && j < d; j++) {
            z->mean[j] += z->Y.p[i * d + j] / (double)n;
        }
    }
    for (okra_int k = 0; k < n * d; k++) {
        z->Y.p[k] -= z->mean[k % d];
    }
    return OKRA_OK;
}

/* What rounding is measured by: the largest |phi(y)| as it was given. */
static void note(okra_solved_ *z, double self)
{
    z->given = fmax(z->given, sqrt(fmax(self, 0)));
}

/* L, its largest |phi|, and, centred, what okra_solved_candidates_ needs: m'm and
 * m'phi_j. Explicit outputs are centred first: inner products of what is left lose
 * nothing where outputs are far from 0. */
static okra_status output_gram(const okra_conformal_ *job, okra_solved_ *z)
{
    const okra_output_ *from = &job->model->training->output;
    okra_int n = z->n;
    bool explicitly = z->ones && from->features;
    CHK(okra_mat_room_(job->ctx, n, n, "the Gram matrix of the outputs", &z->L));
    CHK(explicitly ? outputs(job, z) : OKRA_OK);
    CHK(explicitly
            ? okra_gemm_(job->ctx, false, true, from->feature_scale, z->Y, z->Y, 0, z->L)
            : okra_trained_kernel_gram_(job->ctx, job->model->training->bound_y, z->L));
    for (okra_int i = 0; i < n; i++) {
        note(z, z->L.p[i * n + i]);
    }
    z->size = z->given;
    if (!z->ones || explicitly) {
        return OKRA_OK;
    }
    ZMAKE(z->mean, n + 1);
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < n; j++) {
            z->mean[i] += z->L.p[i * n + j] / (double)n;
        }
        z->mean[n] += z->mean[i] / (double)n;
    }
    z->size = 0;
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < n; j++) {
            z->L.p[i * n + j] += z->mean[n] - z->mean[i] - z->mean[j];
        }
        grow(z, z->L.p[i * n + i]);
    }
    return OKRA_OK;
}

/* The largest sum of absolute values in a row of a symmetric matrix: no eigenvalue is
 * larger. */
static double largest_row(okra_int n, const double *B)
{
    double largest = 0;
    for (okra_int i = 0; i < n; i++) {
        double sum = okra_total_abs_(n, B + i * n);
        largest = fmax(largest, sum);
    }
    return largest;
}

/* The diagonal of B, or all of it, from the factor, which is the model's where it keeps
 * one; centred, B 1. */
static okra_status invert(const okra_conformal_ *job, bool whole, okra_solved_ *z)
{
    const okra_trained_kernel_ *kx = job->model->training->bound_x;
    okra_int n = z->n;
    double lambda = z->fitted.lambda;
    MAKE(z->diagonal, n);
    CHK(okra_trained_kernel_diagonal_(job->ctx, kx, z->diagonal));
    for (okra_int i = 0; i < n; i++) {
        z->trace += z->diagonal[i] + lambda; /* above the largest eigenvalue */
    }
    if (whole) {
        CHK(okra_mat_room_(job->ctx, n, n, "the inverse of the Gram matrix", &z->B));
        CHK(okra_solution_inverse_(job->ctx, &z->fitted, kx, z->B));
        z->condition = z->trace * fmin(1 / lambda, largest_row(n, z->B.p));
        for (okra_int i = 0; i < n; i++) {
            z->diagonal[i] = z->B.p[i * n + i];
        }
    } else {
        CHK(okra_solution_diagonal_(job->ctx, &z->fitted, kx, z->diagonal));
    }
    REFUSE_IF(lambda == 0 && z->fitted.jitter != 0, OKRA_EUNSUPPORTED,
              "conformal %s: there is no closed form: lambda is 0 and the Gram matrix of "
              "the inputs is singular; fit with a lambda above 0",
              job->s.how);
    if (z->fitted.center) {
        MAKE(z->ones, n);
        okra_mat_fill_(okra_mat_of_(z->ones, n, 1), 1);
        CHK(okra_solution_solve_(job->ctx, &z->fitted, kx, okra_mat_of_(z->ones, n, 1)));
    }
    return OKRA_OK;
}

okra_status okra_solved_create_(const okra_conformal_ *job, bool whole, okra_solved_ *z)
{
    const okra_training_ *t = job->model->training;
    z->n = t->y->n;
    z->d = t->output.d;
    okra_model_solution_(job->model, &z->fitted);
    CHK(check(job, &z->fitted));
    CHK(invert(job, whole, z));
    return job->candidates ? output_gram(job, z) : outputs(job, z);
}

double okra_solved_error_(const okra_solved_ *solved, double sum, double norm2)
{
    double eps = 8 * DBL_EPSILON, e = eps * solved->condition * sum * solved->size;
    return 2 * sqrt(fmax(norm2, 0)) * e + e * e +
           eps * sum * sum * solved->given * solved->given;
}

/* s of row r, whose k(x, x) is `own`. A kernel that is positive leaves k(x,x) - k_x'u at
 * 0 or above; at 0, with lambda = 0, the bordered matrix has no inverse. */
static okra_status border(const okra_conformal_ *job, const okra_solved_ *solved,
                          const double *k, double own, okra_int r, okra_bordered_ *b)
{
    okra_int n = solved->n;
    const double *u = b->U.p + r * n;
    double made = okra_dot_(n, k, u), s = own + solved->fitted.lambda - made;
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
    REFUSE_IF(divides && solved->fitted.lambda == 0 && s <= 8 * DBL_EPSILON * sizes,
              OKRA_EUNSUPPORTED,
              "conformal %s: there is no closed form: lambda is 0 and test input %lld "
              "adds nothing to the training inputs; fit with a lambda above 0",
              job->s.how, (long long)(b->first + r));
    b->s[r] = fmax(s, solved->fitted.lambda);
    b->off[r] = fmin(8 * DBL_EPSILON * sizes / b->s[r], 0.25);
    return OKRA_OK;
}

okra_status okra_solved_walk_(const okra_conformal_ *job, okra_solved_ *z,
                              const okra_bordered_ **block, okra_body_ body, void *arg)
{
    okra_int n = z->n, rows = OKRA_MIN_(OKRA_BORDERED_ROWS_, job->tests);
    const okra_trained_kernel_ *kx = job->model->training->bound_x;
    FREED_BY(okra_test_side_drop_) okra_test_side_ *other = NULL;
    FREED_BY(okra_entries_drop_) okra_entries_ *entries = NULL;
    OWNED double *self = NULL, *K = NULL, *U = NULL, *UL = NULL, *s = NULL, *off = NULL;
    OWNED double *UY = NULL, *Uc = NULL, *MLu = NULL;
    CHK(okra_test_side_create_(job->ctx, kx, job->x, &other));
    MAKE(self, job->tests);
    CHK(okra_test_side_diagonal_(job->ctx, kx, other, self));
    CHK(okra_entries_create_(job->ctx, kx, other, &entries));
    CHK(okra_doubles_(job->ctx, rows, n, "a block of test rows", &K));
    CHK(okra_doubles_(job->ctx, rows, n, "a block of test rows", &U));
    if (job->candidates) {
        CHK(okra_doubles_(job->ctx, rows, n, "a block of test rows", &UL));
        CHK(okra_doubles_(job->ctx, rows, n, "a block of products", &MLu));
        CHK(okra_doubles_(job->ctx, rows, job->count, "a block of products", &Uc));
    } else {
        CHK(okra_doubles_(job->ctx, rows, z->d, "predictions", &UY));
    }
    MAKE(s, rows);
    MAKE(off, rows);
    for (okra_int first = 0; first < job->tests; first += rows) {
        okra_int m = OKRA_MIN_(rows, job->tests - first);
        okra_bordered_ b = {.first = first, .m = m, .s = s, .off = off};
        b.U = okra_mat_of_(U, m, n);
        b.UL = okra_mat_of_(UL, m, n);
        b.UY = okra_mat_of_(UY, m, z->d);
        b.Uc = okra_mat_of_(Uc, m, job->count);
        b.MLu = okra_mat_of_(MLu, m, n);
        CHK(okra_cancelled_(job->ctx));
        CHK(okra_solution_border_(job->ctx, &z->fitted, kx, entries, first,
                                  okra_mat_of_(K, m, n), b.U));
        for (okra_int r = 0; r < m; r++) {
            CHK(border(job, z, K + r * n, self[first + r], r, &b));
        }
        if (UY) {
            CHK(okra_gemm_(job->ctx, false, false, 1, b.U, z->Y, 0, b.UY));
        } else {
            CHK(okra_gemm_(job->ctx, false, false, 1, b.U, z->L, 0, b.UL));
            CHK(okra_gemm_(job->ctx, false, z->turned, 1, b.UL, z->M, 0, b.MLu));
            CHK(okra_gemm_(job->ctx, false, true, 1, b.U, z->cross, 0, b.Uc));
        }
        *block = &b;
        CHK(okra_parallel_(job->ctx, m, 1, NULL, body, arg));
        okra_progress_(job->ctx, "prediction sets", first + m, job->tests);
    }
    return OKRA_OK;
}

/* l(c, y_i) and l(c, c) of centred explicit outputs. */
static okra_status explicit_candidates(const okra_conformal_ *job, okra_solved_ *z,
                                       okra_mat_ l, double *own)
{
    okra_int ld = 0, d = z->d;
    OWNED double *C = NULL;
    double scale = job->model->training->output.feature_scale;
    const double *values = okra_data_values(job->candidates, &ld);
    CHK(okra_doubles_(job->ctx, l.rows, d, "outputs without their mean", &C));
    for (okra_int k = 0; k < l.rows * d; k++) {
        C[k] = values[k / d * ld + k % d] - z->mean[k % d];
    }
    CHK(okra_gemm_(job->ctx, false, true, scale, okra_mat_of_(C, l.rows, d), z->Y, 0, l));
    for (okra_int c = 0; c < l.rows; c++) {
        own[c] = scale * okra_dot_(d, C + c * d, C + c * d);
        note(z, own[c]);
    }
    z->size = fmax(z->size, z->given);
    return OKRA_OK;
}

/* The same by the output kernel; centred by means. */
static okra_status implicit_candidates(const okra_conformal_ *job, okra_solved_ *z,
                                       okra_mat_ l, double *own)
{
    const okra_trained_kernel_ *ky = job->model->training->bound_y;
    okra_int n = z->n;
    FREED_BY(okra_test_side_drop_) okra_test_side_ *other = NULL;
    CHK(okra_test_side_create_(job->ctx, ky, job->candidates, &other));
    CHK(okra_test_side_diagonal_(job->ctx, ky, other, own));
    CHK(okra_test_side_cross_(job->ctx, ky, other, 0, l));
    for (okra_int c = 0; c < l.rows; c++) {
        note(z, own[c]);
    }
    for (okra_int c = 0; c < l.rows; c++) {
        double *row = l.p + c * n, mean = 0; /* m'phi(c) */
        for (okra_int j = 0; z->ones && j < n; j++) {
            mean += row[j] / (double)n;
        }
        for (okra_int j = 0; z->ones && j < n; j++) {
            row[j] += z->mean[n] - mean - z->mean[j];
        }
        own[c] += z->ones ? z->mean[n] - 2 * mean : 0;
        grow(z, own[c]);
    }
    return OKRA_OK;
}

okra_status okra_solved_candidates_(const okra_conformal_ *job, okra_mat_ M, bool turned,
                                    okra_solved_ *z)
{
    okra_int count = job->count, n = z->n;
    z->M = M;
    z->turned = turned;
    CHK(okra_mat_room_(job->ctx, count, n, "the output kernel of the candidates",
                       &z->cross));
    MAKE(z->self, count);
    CHK(z->Y.p ? explicit_candidates(job, z, z->cross, z->self)
               : implicit_candidates(job, z, z->cross, z->self));
    CHK(okra_mat_room_(job->ctx, count, n, "the candidates' products", &z->Mc));
    return okra_gemm_(job->ctx, false, turned, 1, z->cross, M, 0, z->Mc);
}
