/*
 * mixed.c: ridge with the identity operator from a factor in single precision.
 *
 *     (K + lambda I) C = Y,   n x d,   M = L L' = K + lambda I to single precision
 *
 * by refinement, C <- C + M^-1 (Y - (K + lambda I) C), with K applied in double
 * precision, tile by tile as the kernel makes it, so that n^2/2 floats are all that is
 * kept of n^2 numbers. n^3/3 operations at the rate of single precision and 2 n^2 (d + a
 * kernel value) a step, which leaves about rho = 2^-24 |K|_F / lambda of the residual:
 * three steps where that is 1e-3. The norm is estimated from some rows. From the first
 * step that leaves much (the factor of another lambda, or a rougher one), conjugate
 * gradients with M^-1 as preconditioner go on. Their beta, -z'q / p'q, does not mind that
 * M^-1 is rounded (Notay 2000, flexible conjugate gradients).
 *
 * Proof: the residual r of every column y, computed in double precision from C, is at
 * most |r| <= min(1e-12 |y|, 1e-9 max|y| sqrt(lambda / max_i k(x_i, x_i))), so that a
 * prediction is wrong by at most |k_x'(K + lambda I)^-1 r| <= sqrt(k(x,x) / lambda) |r|,
 * 1e-9 of the largest output. Where rounding does not let it get there (a factor in
 * double precision does not, either) nothing is left behind, and dense.c goes on.
 *
 * Several lambdas share a factor where the steps that this costs are cheaper than another
 * one: the ratio of two lambdas bounds the condition of M^-1 (K + lambda I).
 */
#include "solve/ridge.h"

enum { SAMPLES = 64, STEPS = 40, WINDOW = 4 };

static const double FAST = 0.05; /* what a step leaves of the residual */
/* Of lambda: what rough factors may be wrong by (0.56 took 18 steps on an H200, 0.64 did
 * not arrive), and of n / 6: what they must save of the cost of a step. */
static const double ROUGH = 0.6, SAVED = 35;

static const double SINGLE = 0.02; /* the rho with which factors of 24 bits are tried */
static const double rounding = 1.0 / 16777216; /* of single precision */

/* K in the units of solvers, as entries: of the kernel, or of a matrix that is there. */
typedef struct scaled {
    okra_entries_ entries;
    okra_entries_ *plain;
    okra_mat_ given;
    const double *s;
    double *own; /* where given lies, or NULL */
} scaled;

static okra_status tile(okra_context *ctx, const void *self, okra_int i0, okra_int ni,
                        okra_int j0, okra_int nj, double *out, okra_int ld)
{
    const scaled *k = self;
    okra_mat_ to = {out, ni, nj, ld};
    CHK(k->given.p ? okra_mat_copy_(okra_mat_part_(k->given, i0, ni, j0, nj), to)
                   : k->plain->tile(ctx, k->plain->self, i0, ni, j0, nj, out, ld));
    for (okra_int i = 0; k->s && i < ni; i++) {
        for (okra_int j = 0; j < nj; j++) {
            out[i * ld + j] *= k->s[i0 + i] * k->s[j0 + j];
        }
    }
    return OKRA_OK;
}

typedef struct mixed {
    okra_ridge_ *r;
    okra_int n, d;
    scaled K;
    double norm, most; /* |K|_F and its largest diagonal entry, about */
    okra_single_ L;
    bool rough;
    double factored;                  /* the lambda of L */
    double *X, *R, *P, *Q, *Z;        /* n x d */
    double *bound, *norms, *pq, *dot; /* d; norms: y'y of a column */
} mixed;

static void mixed_clear(mixed *z)
{
    okra_entries_free_(z->K.plain);
    okra_single_clear_(&z->L);
    FREE(z->K.own, z->X, z->R, z->P, z->Q, z->Z, z->bound, z->norms, z->pq, z->dot);
}

static const okra_entries_ *entries_of(const mixed *z)
{
    return z->K.given.p || z->K.s ? &z->K.entries : z->K.plain;
}

/* A kernel without a program is not made again in every step: its matrix is kept. */
static okra_status open_kernel(mixed *z)
{
    const okra_problem_ *p = z->r->p;
    scaled *k = &z->K;
    k->s = z->r->s;
    if (p->given_K) {
        k->given = okra_mat_view_(p->given_K, z->n, z->n, p->given_K_ld);
    } else {
        CHK(okra_entries_create_(z->r->ctx, p->kx, NULL, &k->plain));
        if (!k->plain->steps && okra_engine_is_host_(z->r->ctx)) {
            CHK(okra_problem_host_K_(z->r->ctx, p, &k->own));
            k->given = okra_mat_of_(k->own, z->n, z->n);
        }
    }
    k->entries = (okra_entries_){
        .rows = z->n, .cols = z->n, .symmetric = true, .tile = tile, .self = k};
    return OKRA_OK;
}

/* |K|_F and the diagonal by rows that lie evenly. */
static okra_status measure(mixed *z)
{
    const okra_entries_ *e = entries_of(z);
    okra_int count = OKRA_MIN_(SAMPLES, z->n);
    OWNED double *row = NULL;
    double sum = 0;
    MAKE(row, z->n);
    for (okra_int k = 0; k < count; k++) {
        okra_int i = k * z->n / count;
        CHK(e->tile(z->r->ctx, e->self, i, 1, 0, z->n, row, z->n));
        sum += okra_dot_(z->n, row, row);
        z->most = fmax(z->most, row[i]);
    }
    z->norm = sqrt(sum * (double)z->n / (double)count);
    return OKRA_OK;
}

/* ---- conjugate gradients ---- */

static okra_mat_ mat(const mixed *z, double *p)
{
    return okra_mat_of_(p, z->n, z->d);
}

/* A_ij += by_j B_ij */
static void add(const mixed *z, double sign, const double *by, const double *B, double *A)
{
    for (okra_int i = 0; i < z->n; i++) {
        for (okra_int j = 0; j < z->d; j++) {
            A[i * z->d + j] += sign * by[j] * B[i * z->d + j];
        }
    }
}

static void bounds(mixed *z, double lambda)
{
    const double *Y = z->r->Y;
    okra_column_dots_(z->n, z->d, Y, Y, z->norms);
    okra_fill_(z->d, 0, z->bound);
    for (okra_int i = 0; i < z->n * z->d; i++) {
        z->bound[i % z->d] = fmax(z->bound[i % z->d], fabs(Y[i]));
    }
    for (okra_int j = 0; j < z->d; j++) {
        z->bound[j] = fmin(1e-12 * sqrt(z->norms[j]),
                           1e-9 * z->bound[j] * sqrt(fmin(1, lambda / z->most)));
    }
}

/* The largest |r| / bound of all columns, and of |r| / |y|. */
static double worst(const mixed *z, double *relative)
{
    double most = 0;
    okra_column_dots_(z->n, z->d, z->R, z->R, z->dot);
    *relative = 0;
    for (okra_int j = 0; j < z->d; j++) {
        if (!(z->dot[j] == 0)) { /* NaN too */
            most = fmax(most, isnan(z->dot[j]) ? (double)INFINITY
                                               : sqrt(z->dot[j]) / z->bound[j]);
            *relative = fmax(*relative, sqrt(z->dot[j] / z->norms[j]));
        }
    }
    return most;
}

/* Q <- (K + lambda I) P */
static okra_status multiply(mixed *z, double lambda, const double *P)
{
    CHK(okra_engine_product_(z->r->ctx, entries_of(z),
                             okra_mat_view_(P, z->n, z->d, z->d), mat(z, z->Q)));
    okra_axpy_(z->n * z->d, lambda, P, z->Q);
    return OKRA_OK;
}

/* One step; columns that are exact rest, as p'q is 0. */
static okra_status step(mixed *z, double lambda, bool first)
{
    CHK(okra_mat_copy_(mat(z, z->R), mat(z, z->Z)));
    CHK(okra_single_apply_(z->r->ctx, &z->L, mat(z, z->Z)));
    if (first) {
        CHK(okra_mat_copy_(mat(z, z->Z), mat(z, z->P)));
    } else {
        okra_column_dots_(z->n, z->d, z->Z, z->Q, z->dot);
        for (okra_int j = 0; j < z->d; j++) {
            z->dot[j] = z->pq[j] > 0 ? -z->dot[j] / z->pq[j] : 0;
        }
        add(z, 1, z->dot, z->P, z->Z);
        OKRA_SWAP_(z->P, z->Z);
    }
    CHK(multiply(z, lambda, z->P));
    okra_column_dots_(z->n, z->d, z->P, z->Q, z->pq);
    okra_column_dots_(z->n, z->d, z->P, z->R, z->dot);
    for (okra_int j = 0; j < z->d; j++) {
        z->dot[j] = z->pq[j] > 0 ? z->dot[j] / z->pq[j] : 0;
    }
    add(z, 1, z->dot, z->P, z->X);
    add(z, -1, z->dot, z->Q, z->R);
    return OKRA_OK;
}

/* R <- Y - (K + lambda I) X */
static okra_status true_residual(mixed *z, double lambda)
{
    CHK(multiply(z, lambda, z->X));
    for (okra_int i = 0; i < z->n * z->d; i++) {
        z->R[i] = z->r->Y[i] - z->Q[i];
    }
    return OKRA_OK;
}

/* X <- X + M^-1 R */
static okra_status refine(mixed *z, double lambda)
{
    CHK(okra_single_apply_(z->r->ctx, &z->L, mat(z, z->R)));
    okra_axpy_(z->n * z->d, 1, z->R, z->X);
    return true_residual(z, lambda);
}

/* X of one lambda; *steps 0: the bounds were not reached. */
static okra_status iterate(mixed *z, double lambda, int *steps, double *residual)
{
    bounds(z, lambda);
    okra_mat_fill_(mat(z, z->X), 0);
    CHK(okra_mat_copy_(okra_mat_of_(z->r->Y, z->n, z->d), mat(z, z->R)));
    double now = worst(z, residual), past[WINDOW];
    int slow = 0; /* the step with which conjugate gradients begin */
    for (int k = 1; k <= STEPS && *steps == 0; k++) {
        double before = now;
        CHK(okra_cancelled_(z->r->ctx));
        okra_progress_(z->r->ctx, "refinement", k - 1, STEPS);
        CHK(slow ? step(z, lambda, k == slow) : refine(z, lambda));
        now = worst(z, residual);
        if (slow && now <= 1) {
            CHK(true_residual(z, lambda));
            now = worst(z, residual);
        }
        *steps = now <= 1 ? k : 0;
        /* At the end of what rounding allows, or as slow as that: what WINDOW steps left.
         */
        if (slow && k >= slow + WINDOW &&
            !(now * pow(now / past[k % WINDOW], (double)(STEPS - k) / WINDOW) <= 1)) {
            break;
        }
        past[k % WINDOW] = now;
        slow = !slow && now > FAST * before ? k + 1 : slow;
    }
    okra_progress_end_(z->r->ctx, "refinement");
    return OKRA_OK;
}

/* ---- factors ---- */

/* What a step takes of n^2 operations, and a factor of as many in double precision. */
static double step_cost(const mixed *z)
{
    return 3 * (double)z->d + 200;
}

static okra_status factor(mixed *z, double lambda, bool *done)
{
    double ratio = fmax(lambda, z->factored) / fmin(lambda, z->factored);
    double root = sqrt(ratio); /* steps of conjugate gradients with that factor */
    double steps = root - 1 < 1e-12 ? 1 : 28 / log((root + 1) / (root - 1));
    *done = z->L.body && steps * step_cost(z) < (double)z->n / 6 + 3 * step_cost(z);
    if (*done) {
        return OKRA_OK;
    }
    okra_single_clear_(&z->L);
    z->factored = lambda;
    return okra_single_create_(z->r->ctx, entries_of(z), lambda, z->rough, &z->L, done);
}

static okra_status open_mixed(mixed *z)
{
    double **blocks[] = {&z->X, &z->R, &z->P, &z->Q, &z->Z};
    double **rows[] = {&z->bound, &z->norms, &z->pq, &z->dot};
    for (int i = 0; i < 5; i++) {
        CHK(okra_doubles_(z->r->ctx, z->n, z->d, "conjugate gradients", blocks[i]));
    }
    for (int i = 0; i < 4; i++) {
        MAKE(*rows[i], z->d);
    }
    return OKRA_OK;
}

/* Is it worth it, and likely to succeed? rho: what rounding of 2^-24 leaves at most. A
 * rough factor multiplies numbers of `bits` bits, whose errors have random signs: the
 * norm of their matrix is about 2^-bits 2 |K|_F / sqrt(n). It pays on GPUs, where other
 * factors in single precision are no faster than those in double precision, and only half
 * as large. */
static bool promises(mixed *z, double least, double rho)
{
    const okra_ridge_ *r = z->r;
    int bits;
    bool made = okra_single_there_(r->ctx, &bits),
         asked = r->precision == OKRA_PRECISION_MIXED_;
    double random = ldexp(2 * z->norm / sqrt((double)z->n), -bits) / least;
    z->rough = made && bits < 24 && random <= ROUGH;
    bool large = made && entries_of(z)->steps &&
                 (double)z->n / 6 > (z->rough ? SAVED : 3) * step_cost(z);
    return made && (z->rough ? asked || large
                    : asked  ? rho <= SINGLE
                             : large && bits == 24 && r->count == 1 && rho <= 3e-3);
}

/* The coefficients of each lambda, and how they were got: all of them, or nothing. */
typedef struct found {
    double *C, residual;
    int steps;
} found;

static okra_status try_lambdas(mixed *z, found *all, bool *done)
{
    okra_ridge_ *r = z->r;
    for (size_t l = 0; l < r->count; l++) {
        found *f = &all[l];
        okra_free_(f->C);
        *f = (found){0};
        CHK(factor(z, r->lambda[l], done));
        CHK(*done ? iterate(z, r->lambda[l], &f->steps, &f->residual) : OKRA_OK);
        *done = f->steps > 0;
        if (!*done) {
            break;
        }
        CHK(okra_doubles_(r->ctx, z->n, z->d, "the ridge coefficients", &f->C));
        CHK(okra_mat_copy_(mat(z, z->X), mat(z, f->C)));
    }
    return OKRA_OK;
}

static okra_status put_all(const mixed *z, found *all)
{
    for (size_t l = 0; l < z->r->count; l++) {
        okra_store_ *store = z->r->stores[l];
        CHK(okra_store_put_(store, "coefficients", &all[l].C, z->n, z->d));
        CHK(okra_store_put_number_(store, "mixed.steps", all[l].steps));
        CHK(okra_store_put_number_(store, "mixed.residual", all[l].residual));
    }
    return OKRA_OK;
}

okra_status okra_ridge_mixed_(okra_ridge_ *r, bool *done)
{
    FREED_BY(mixed_clear) mixed z = {.r = r, .n = r->p->n, .d = r->p->d};
    OWNED found *all = NULL;
    double least = okra_ridge_least_lambda_(r);
    int bits;
    bool asked = r->precision == OKRA_PRECISION_MIXED_;
    *done = false;
    if (!okra_single_there_(r->ctx, &bits)) {
        if (asked) {
            okra_warn_(r->ctx, "ridge: this engine has no factors in single precision: "
                               "double precision is taken");
        }
        return OKRA_OK;
    }
    CHK(open_kernel(&z));
    CHK(measure(&z));
    double rho = least > 0 ? rounding * z.norm / least : (double)INFINITY;
    bool tried = promises(&z, least, rho);
    if (tried) {
        ZMAKE(all, (okra_int)r->count);
        CHK(open_mixed(&z));
        okra_status st = try_lambdas(&z, all, done);
        if (st == OKRA_OK && !*done && z.rough && r->precision == OKRA_PRECISION_MIXED_ &&
            rho <= SINGLE) {
            z.rough = false;
            okra_single_clear_(&z.L);
            st = try_lambdas(&z, all, done);
        }
        st = st == OKRA_OK && *done ? put_all(&z, all) : st;
        for (size_t l = 0; l < r->count; l++) {
            okra_free_(all[l].C);
        }
        CHK(st);
    }
    if (!*done && (tried || asked)) {
        okra_warn_(r->ctx,
                   "ridge: lambda = %g is too near the rounding of single precision "
                   "(2^-24 of the norm of K is %.2g): double precision is taken",
                   least, rounding * z.norm);
    }
    return OKRA_OK;
}
