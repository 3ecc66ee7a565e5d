/*
 * block_operator.c: ridge with an operator-valued kernel that is a function of the user
 * (okra/operator.h),
 *
 *     (K + lambda I) c = y,   K: n x n blocks K(x_i, x_j) of d x d,   c, y: nd
 *
 * (Kadri et al. 2013 eq. 2 and 3, without their separable form). Small systems are
 * written out and factored: (nd)^3 / 3. Larger ones are solved by conjugate gradients,
 * whose products K p are made block by block, each row of blocks in one thread and in
 * order, so that no more than n d^2 numbers are kept: the Cholesky factors G_i G_i' =
 * K(x_i, x_i) + lambda I of the block-diagonal preconditioner. A step costs n^2 blocks
 * and 2 n^2 d^2 operations. The steps grow with the square root of the condition of the
 * preconditioned system, at most 1 + n max_i |K(x_i, x_i)| / lambda.
 */
#include "data/data.h"
#include "okra/more/operator.h"

/* Blocks that differ from their transposes by more than this share of the largest value
 * are no kernel. */
static const double ASYMMETRY = 1e-8;

/* ---- products ---- */

typedef struct product {
    const okra_operator *K;
    const okra_data *a, *b;
    const double *v;
    double *out, *blocks; /* a d x d block a worker */
} product;

static okra_status multiply_rows(void *arg, okra_int begin, okra_int end, int worker)
{
    const product *p = arg;
    okra_int d = p->K->d;
    double *block = p->blocks + worker * d * d;
    for (okra_int i = begin; i < end; i++) {
        double *out = p->out + i * d;
        memset(out, 0, (size_t)d * sizeof *out);
        for (okra_int j = 0; j < p->b->n; j++) {
            CHK(p->K->block(p->K->user, p->a, i, p->b, j, block));
            for (okra_int r = 0; r < d; r++) {
                out[r] += okra_dot_(d, block + r * d, p->v + j * d);
            }
        }
    }
    return OKRA_OK;
}

/* out (objects of a x d) <- sum_j K(a_i, b_j) v_j */
static okra_status multiply(okra_context *ctx, const okra_operator *K, const okra_data *a,
                            const okra_data *b, const double *v, double *out)
{
    product p = {K, a, b, v, out, NULL};
    OWNS(&p.blocks);
    if (K->apply) {
        okra_callbacks_++;
        okra_status st = K->apply(K->user, a, 0, a->n, b, v, out);
        okra_callbacks_--;
        return st;
    }
    CHK(okra_doubles_(ctx, okra_workers_(ctx) * K->d, K->d, "blocks of the operator",
                      &p.blocks));
    return okra_parallel_(ctx, a->n, 1, NULL, multiply_rows, &p);
}

/* ---- the whole system ---- */

typedef struct solver {
    okra_context *ctx;
    const okra_operator *K;
    const okra_data *x;
    okra_int n, d, size; /* size = n d */
    okra_operator_settings o;
    double *S; /* dense: size x size; else n factors of d x d, or NULL: none */
} solver;

static okra_status fill_rows(void *arg, okra_int begin, okra_int end, int worker)
{
    const solver *z = arg;
    okra_int d = z->d;
    OWNED double *block = NULL;
    MAKE(block, d * d);
    for (okra_int i = begin; i < end; i++) {
        for (okra_int j = 0; j < z->n; j++) {
            CHK(z->K->block(z->K->user, z->x, i, z->x, j, block));
            okra_mat_ all = okra_mat_of_(z->S, z->size, z->size);
            CHK(okra_mat_copy_(okra_mat_of_(block, d, d),
                               okra_mat_part_(all, i * d, d, j * d, d)));
        }
    }
    return OKRA_OK;
}

static okra_status check_symmetric(const solver *z)
{
    double largest = okra_most_abs_(z->size * z->size, z->S);
    for (okra_int i = 0; i < z->size; i++) {
        for (okra_int j = 0; j < i; j++) {
            double a = z->S[i * z->size + j], b = z->S[j * z->size + i];
            REFUSE_IF(!(fabs(a - b) <= ASYMMETRY * largest), OKRA_EARG,
                      "operator: element (%lld, %lld) of K(x_%lld, x_%lld) is %.10g, but "
                      "its mirror image in K(x_%lld, x_%lld) is %.10g",
                      (long long)(i % z->d), (long long)(j % z->d), (long long)(i / z->d),
                      (long long)(j / z->d), a, (long long)(j / z->d),
                      (long long)(i / z->d), b);
        }
    }
    return OKRA_OK;
}

static okra_status solve_dense(solver *z, double *c)
{
    CHK(okra_doubles_(z->ctx, z->size, z->size, "the operator's Gram matrix", &z->S));
    CHK(okra_parallel_(z->ctx, z->n, 1, NULL, fill_rows, z));
    CHK(check_symmetric(z));
    okra_mat_ S = okra_mat_of_(z->S, z->size, z->size);
    okra_mat_add_diagonal_(S, z->o.lambda);
    CHK(okra_cholesky_(z->ctx, S, NULL));
    return okra_cholesky_solve_(z->ctx, S, okra_mat_of_(c, z->size, 1));
}

/* ---- conjugate gradients ---- */

/* S_i <- the Cholesky factor of K(x_i, x_i) + lambda I. */
static okra_status factor_blocks(solver *z)
{
    okra_int d = z->d;
    CHK(okra_doubles_(z->ctx, z->n * d, d, "the preconditioner", &z->S));
    for (okra_int i = 0; i < z->n; i++) {
        okra_mat_ B = okra_mat_of_(z->S + i * d * d, d, d);
        CHK(okra_cancelled_(z->ctx));
        CHK(z->K->block(z->K->user, z->x, i, z->x, i, B.p));
        okra_mat_add_diagonal_(B, z->o.lambda);
        CHK(okra_cholesky_(z->ctx, B, NULL));
    }
    return OKRA_OK;
}

/* z <- M^-1 r */
static okra_status precondition(const solver *z, const double *r, double *out)
{
    okra_int d = z->d;
    memcpy(out, r, (size_t)z->size * sizeof *out);
    for (okra_int i = 0; z->S && i < z->n; i++) {
        CHK(okra_cholesky_solve_(z->ctx, okra_mat_of_(z->S + i * d * d, d, d),
                                 okra_mat_of_(out + i * d, d, 1)));
    }
    return OKRA_OK;
}

/* Ap <- (K + lambda I) p */
static okra_status system_times(const solver *z, const double *p, double *Ap)
{
    okra_status st = multiply(z->ctx, z->K, z->x, z->x, p, Ap);
    for (okra_int i = 0; st == OKRA_OK && i < z->size; i++) {
        Ap[i] += z->o.lambda * p[i];
    }
    return st;
}

/* c: y before, the solution after. work: 4 size. */
static okra_status iterate(solver *z, double *c, double *work, okra_int *steps)
{
    okra_int size = z->size;
    double *r = work, *p = r + size, *q = p + size, *s = q + size;
    memcpy(r, c, (size_t)size * sizeof *r);
    memset(c, 0, (size_t)size * sizeof *c);
    double goal = z->o.tolerance * sqrt(okra_dot_(size, r, r));
    CHK(precondition(z, r, s));
    memcpy(p, s, (size_t)size * sizeof *p);
    double rho = okra_dot_(size, r, s);
    while (*steps < z->o.iterations && sqrt(okra_dot_(size, r, r)) > goal) {
        CHK(okra_cancelled_(z->ctx));
        CHK(system_times(z, p, q));
        double bend = okra_dot_(size, p, q);
        REFUSE_IF(!(bend > 0), OKRA_ENUMERIC,
                  "operator: p'(K + lambda I)p is %g in step %lld, so that K is not "
                  "positive semi-definite",
                  bend, (long long)*steps);
        for (okra_int i = 0; i < size; i++) {
            c[i] += rho / bend * p[i];
            r[i] -= rho / bend * q[i];
        }
        CHK(precondition(z, r, s));
        double before = rho;
        rho = okra_dot_(size, r, s);
        for (okra_int i = 0; i < size; i++) {
            p[i] = s[i] + rho / before * p[i];
        }
        ++*steps;
        okra_progress_(z->ctx, "conjugate gradients", *steps, z->o.iterations);
    }
    okra_progress_end_(z->ctx, "conjugate gradients");
    return OKRA_OK;
}

static okra_status solve_cg(solver *z, double *c, okra_int *steps)
{
    OWNED double *work = NULL;
    if (z->K->block) {
        CHK(factor_blocks(z));
    }
    CHK(okra_doubles_(z->ctx, 4, z->size, "conjugate gradients", &work));
    return iterate(z, c, work, steps);
}

/* ---- the interface ---- */

static okra_status check_operator(const okra_operator *K)
{
    return K->d < 1 || (!K->block && !K->apply)
               ? okra_fail_(OKRA_EARG,
                            "operator: d is %lld and %s, expected d of 1 or more and a "
                            "function",
                            (long long)K->d,
                            K->block || K->apply ? "there is a function"
                                                 : "both functions are NULL")
               : OKRA_OK;
}

static okra_status check(const okra_operator *K, const okra_data *x, const okra_data *y,
                         const okra_operator_settings *o)
{
    char text[96];
    REFUSE_IF(
        x->n != y->n || y->n < 1 || y->kind != OKRA_DENSE || y->d != K->d || y->missing,
        OKRA_ESHAPE,
        "operator: y has %s%s, expected %lld dense vectors of length %lld, one per input",
        okra_data_describe_(y, text, sizeof text),
        y->missing ? " with missing values" : "", (long long)x->n, (long long)K->d);
    REFUSE_IF(!(o->lambda > 0 && isfinite(o->lambda)) || !(o->tolerance >= 0) ||
                  o->iterations < 0,
              OKRA_EARG,
              "operator: lambda is %g, tolerance %g, iterations %lld; expected lambda > "
              "0, the others 0 or more",
              o->lambda, o->tolerance, (long long)o->iterations);
    return OKRA_OK;
}

/* |y - (K + lambda I) c| / |y| */
static okra_status residual(const solver *z, const okra_data *y, const double *c,
                            double *out)
{
    OWNED double *r = NULL;
    double rr = 0, yy = 0;
    MAKE(r, z->size);
    CHK(system_times(z, c, r));
    for (okra_int i = 0; i < z->size; i++) {
        double target = y->values[i / z->d * y->ld + i % z->d];
        rr += (r[i] - target) * (r[i] - target);
        yy += target * target;
    }
    *out = yy > 0 ? sqrt(rr / yy) : sqrt(rr);
    return OKRA_OK;
}

okra_status okra_operator_fit(okra_context *context, const okra_operator *K,
                              const okra_data *x, const okra_data *y,
                              const okra_operator_settings *settings,
                              double *coefficients, okra_operator_report *report)
{
    okra_operator_report told = {0};
    solver z = {.ctx = context, .K = K, .x = x};
    OWNS(&z.S);
    FREED_BY(okra_mat_drop_) okra_mat_ c = {0};
    NOT_NULL(K, x, y, coefficients);
    SIZED(settings, &z.o);
    z.o.lambda = z.o.lambda != 0 ? z.o.lambda : 0.1;
    z.o.tolerance = z.o.tolerance != 0 ? z.o.tolerance : 1e-10;
    z.o.iterations = z.o.iterations ? z.o.iterations : 1000;
    z.o.dense = z.o.dense ? z.o.dense : 2048;
    CHK(check_operator(K));
    CHK(check(K, x, y, &z.o));
    z.n = x->n;
    z.d = K->d;
    CHK(okra_area_(z.n, z.d, sizeof(double), &z.size));
    CHK(okra_mat_room_(context, z.n, z.d, "the coefficients", &c));
    CHK(okra_mat_copy_(okra_mat_view_(y->values, z.n, z.d, y->ld), c));
    told.dense = K->block && z.size <= z.o.dense;
    told.bytes = 8.0 * (double)z.size *
                 (told.dense ? (double)z.size : 4 + (K->block ? (double)z.d : 0));
    CHK(told.dense ? solve_dense(&z, c.p) : solve_cg(&z, c.p, &told.iterations));
    okra_free_at_(&z.S);
    CHK(residual(&z, y, c.p, &told.residual));
    if (!told.dense && !(told.residual <= 10 * z.o.tolerance + 1e-14)) {
        okra_warn_(context,
                   "operator: conjugate gradients stopped after %lld steps with a "
                   "residual of %.3g, above %.3g",
                   (long long)told.iterations, told.residual, z.o.tolerance);
    }
    memcpy(coefficients, c.p, (size_t)z.size * sizeof *c.p);
    GIVE(report, told);
    return OKRA_OK;
}

okra_status okra_operator_predict(okra_context *context, const okra_operator *K,
                                  const okra_data *x, const double *coefficients,
                                  const okra_data *test, double *out)
{
    NOT_NULL(K, x, coefficients, test, out);
    CHK(check_operator(K));
    return multiply(context, K, test, x, coefficients, out);
}
