/*
 * twin.c: simultaneous twin kernel learning (Tonde and Elgammal).
 *
 * Problem: phi(K) = sum_s alpha_s K^(s), psi(G) = sum_t beta_t G^(t), elementwise powers,
 * alpha, beta >= 0 of unit norm, so that HSIC(phi(K), psi(G)) is largest (eq. 8-12).
 * With C_st = HSIC(K^(s), G^(t)) >= 0 the solution is its leading pair of singular
 * vectors (Theorem 4.2). Powers of several kernels and their products are further terms.
 *
 * HSIC is a sum over pairs of centred values. For a matrix A of one term,
 *     biased    A~_ab = A_ab - r_a/n - r_b/n + S/n^2,             all a, b
 *     unbiased  A~_ab = A_ab - r_a/(n-2) - r_b/(n-2) + S/((n-1)(n-2)),   a != b
 * with r, S the row sums and the sum (without the diagonal in the unbiased case), and
 * HSIC = sum A~_ab B~_ab / (n-1)^2, or / (n (n-3)). Centring before multiplying keeps the
 * digits that sum A_ab B_ab - (...) would cancel when kernels are nearly constant.
 *
 * Two passes over the lower triangles: row sums of every term, then centred terms of a
 * stretch of entries as the rows of two small matrices whose product is added to C. Work:
 * n^2 (d1 + d2) for the terms and n^2 d1 d2 multiplications in BLAS; memory beside the
 * Gram matrices: (d1 + d2) (n + a few stretches), whatever the degrees. Of a Gram matrix
 * in factors, K = F F' with m columns, each pass makes a few rows at a time: 3 n^2 m more
 * multiplications, and no n x n matrix.
 */
#include "method/twin/twin.h"
#include "core/simd.h"

/* From a term to the next: what is behind the last exponent that may pass one on goes
 * there with it; all in the last kernel: the next degree begins. */
static void next_term(int q, int *p)
{
    int rest = p[q - 1], k = q - 2;
    p[q - 1] = 0;
    while (k >= 0 && p[k] == 0) {
        k--;
    }
    if (k >= 0) {
        p[k]--;
    }
    p[k + 1] = rest + 1;
}

okra_int okra_twin_terms_(const okra_twin_side_ *side)
{
    int p[OKRA_TWIN_KERNELS_MOST] = {1};
    okra_int count = 0;
    while (p[0] <= side->degree && count <= OKRA_TWIN_TERMS_MOST) {
        next_term(side->kernels, p);
        count++;
    }
    return count > OKRA_TWIN_TERMS_MOST ? -1 : count;
}

void okra_twin_exponents_(const okra_twin_side_ *side, okra_int t, int *p)
{
    memset(p, 0, (size_t)side->kernels * sizeof *p);
    for (p[0] = 1; t > 0; t--) {
        next_term(side->kernels, p);
    }
}

void okra_twin_recipes_(const okra_twin_side_ *side, okra_twin_recipe_ *out)
{
    okra_int terms = okra_twin_terms_(side);
    int q = side->kernels, p[OKRA_TWIN_KERNELS_MOST] = {1};
    for (okra_int t = 0; t < terms; t++, next_term(q, p)) {
        int other[OKRA_TWIN_KERNELS_MOST] = {1}, k = q - 1;
        okra_int parent = t < q ? -1 : 0;
        while (p[k] == 0) {
            k--;
        }
        p[k]--;
        for (; parent >= 0 && memcmp(p, other, sizeof p) != 0; parent++) {
            next_term(q, other);
        }
        p[k]++;
        out[t] = (okra_twin_recipe_){parent, k};
    }
}

enum { STRETCH = 512, ROWS_A_CHUNK = 32 };

/* ---- terms ---- */

typedef struct side {
    const okra_twin_side_ *given;
    okra_int terms;
    okra_twin_recipe_ *recipes;
    double *sums;  /* terms x n row sums, then what centring subtracts a row */
    double *whole; /* terms: the constant that centring adds back            */
} side;

static okra_status side_create(const okra_twin_side_ *given, okra_int n, side *s)
{
    s->given = given;
    s->terms = okra_twin_terms_(given);
    MAKE(s->recipes, s->terms);
    ZMAKE(s->sums, s->terms * n);
    ZMAKE(s->whole, s->terms);
    okra_twin_recipes_(given, s->recipes);
    return OKRA_OK;
}

OKRA_CLEARS_(side_clear, side, it->recipes, it->sums, it->whole)

static inline OKRA_INLINE_ void times_body(okra_int n, const double *restrict a,
                                           const double *restrict b, double *restrict to,
                                           bool fused)
{
    for (okra_int e = 0; e < n; e++) {
        to[e] = a[e] * b[e];
    }
}

static inline OKRA_INLINE_ void shift_body(okra_int n, double by,
                                           const double *restrict mean,
                                           double *restrict to, bool fused)
{
    for (okra_int e = 0; e < n; e++) {
        to[e] += by - mean[e];
    }
}

/* Eight sums in a fixed order: one alone would wait for each addition in turn. */
static inline OKRA_INLINE_ void total_body(okra_int n, const double *restrict x,
                                           double *restrict sum, bool fused)
{
    double s[8] = {0};
    okra_int i = 0;
    for (; i + 8 <= n; i += 8) {
        for (int k = 0; k < 8; k++) {
            s[k] += x[i + k];
        }
    }
    for (; i < n; i++) {
        s[0] += x[i];
    }
    *sum = ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
}

/* Of four powers at a time, p f^0..p f^3, the sums; then p <- p f^4.
 */
static inline OKRA_INLINE_ void powers_body(okra_int n, const double *restrict f,
                                            double *restrict p, double *restrict sum,
                                            bool fused)
{
    okra_lane_ s[4] = {{0}}, x, g;
    okra_int i = 0;
    for (; i + OKRA_LANES_ <= n; i += OKRA_LANES_) {
        memcpy(&x, p + i, sizeof x);
        memcpy(&g, f + i, sizeof g);
        for (int q = 0; q < 4; q++) {
            s[q] += x;
            x *= g;
        }
        memcpy(p + i, &x, sizeof x);
    }
    for (; i < n; i++) {
        for (int q = 0; q < 4; q++) {
            s[q][0] += p[i];
            p[i] *= f[i];
        }
    }
    for (int q = 0; q < 4; q++) {
        sum[q] = 0;
        for (int k = 0; k < OKRA_LANES_; k++) {
            sum[q] += s[q][k];
        }
    }
}

OKRA_VARIANTS_(times, times_body,
               (okra_int n, const double *a, const double *b, double *to), (n, a, b, to))
OKRA_VARIANTS_(shift, shift_body, (okra_int n, double by, const double *mean, double *to),
               (n, by, mean, to))
OKRA_VARIANTS_(total, total_body, (okra_int n, const double *x, double *sum), (n, x, sum))
OKRA_VARIANTS_(powers, powers_body, (okra_int n, const double *f, double *p, double *sum),
               (n, f, p, sum))

/* Rows first, first + 1, ... of the Gram matrices of a side. */
typedef struct slab {
    okra_int first;
    okra_mat_ K[OKRA_TWIN_KERNELS_MOST];
} slab;

/* rows[t*STRETCH + e]: term t of entries (a, b0 + e), e < count. */
static void stretch(const side *s, const slab *of, okra_int a, okra_int b0,
                    okra_int count, double *rows)
{
    for (okra_int t = 0; t < s->terms; t++) {
        const okra_mat_ *K = &of->K[s->recipes[t].kernel];
        const double *entry = K->p + (a - of->first) * K->ld + b0;
        double *to = rows + t * STRETCH;
        if (s->recipes[t].parent < 0) {
            memcpy(to, entry, (size_t)count * sizeof *to);
        } else {
            times(count, rows + s->recipes[t].parent * STRETCH, entry, to);
        }
    }
}

/* ---- the two passes ---- */

typedef struct pass {
    okra_context *ctx;
    side x, y;
    okra_int n;
    bool unbiased;
    double *scratch; /* a worker: both sides' stretches                            */
    double *panels;  /* a worker: rows of the Gram matrices that come in factors    */
    double *parts;   /* a chunk: its share of C, added up in order at the end       */
} pass;

static double *scratch_of(const pass *p, int worker)
{
    return p->scratch + (okra_int)worker * (p->x.terms + p->y.terms) * (STRETCH + 1);
}

static okra_int panels_of(const side *s)
{
    return s->given->factored ? s->given->kernels : 0;
}

/* Rows begin..end-1, columns 0..cols-1; `panel` holds those that have to be made. */
static okra_status slab_set(const pass *p, const side *s, okra_int begin, okra_int end,
                            okra_int cols, double *panel, slab *out)
{
    out->first = begin;
    for (int k = 0; k < s->given->kernels; k++) {
        okra_mat_ given = s->given->gram[k];
        okra_mat_ part = okra_mat_part_(given, begin, end - begin, 0, given.cols);
        if (!s->given->factored) {
            out->K[k] = part;
            continue;
        }
        out->K[k] = (okra_mat_){panel + k * ROWS_A_CHUNK * p->n, end - begin, cols, p->n};
        CHK(okra_gemm_(p->ctx, false, true, 1, part,
                       okra_mat_part_(given, 0, cols, 0, given.cols), 0, out->K[k]));
    }
    return OKRA_OK;
}

/* Both sides' rows of a chunk. */
static okra_status slabs(const pass *p, okra_int begin, okra_int end, okra_int cols,
                         int worker, slab *x, slab *y)
{
    okra_int size = ROWS_A_CHUNK * p->n, in_x = panels_of(&p->x);
    double *panel = p->panels;
    if (panel) {
        panel += (okra_int)worker * (in_x + panels_of(&p->y)) * size;
    }
    CHK(slab_set(p, &p->x, begin, end, cols, panel, x));
    return slab_set(p, &p->y, begin, end, cols, panel ? panel + in_x * size : NULL, y);
}

/* sums[t] of the terms of count entries (a, b0), (a, b0 + 1), ... */
static void sum_stretch(const side *s, const slab *of, okra_int a, okra_int b0,
                        okra_int count, double *rows, double *sums)
{
    if (s->given->kernels > 1) {
        stretch(s, of, a, b0, count, rows);
        for (okra_int t = 0; t < s->terms; t++) {
            total(count, rows + t * STRETCH, &sums[t]);
        }
        return;
    }
    const double *entry = of->K[0].p + (a - of->first) * of->K[0].ld + b0;
    memcpy(rows, entry, (size_t)count * sizeof *rows);
    for (okra_int t = 0; t < s->terms; t += 4) {
        double four[4];
        powers(count, entry, rows, four);
        memcpy(sums + t, four, (size_t)OKRA_MIN_(4, s->terms - t) * sizeof *sums);
    }
}

/* Row sums: entry (a, b) counts for row a. Rows are read whole, so that each row belongs
 * to one chunk and needs no lock. */
static void sum_row(const pass *p, const side *s, const slab *of, okra_int a,
                    double *rows, double *sums)
{
    for (okra_int b0 = 0; b0 < p->n; b0 += STRETCH) {
        sum_stretch(s, of, a, b0, OKRA_MIN_(STRETCH, p->n - b0), rows, sums);
        for (okra_int t = 0; t < s->terms; t++) {
            s->sums[t * p->n + a] += sums[t];
        }
    }
    if (p->unbiased) { /* the diagonal does not count */
        stretch(s, of, a, a, 1, rows);
        for (okra_int t = 0; t < s->terms; t++) {
            s->sums[t * p->n + a] -= rows[t * STRETCH];
        }
    }
}

static okra_status sums_body(void *arg, okra_int begin, okra_int end, int worker)
{
    const pass *p = arg;
    slab x, y;
    CHK(slabs(p, begin, end, p->n, worker, &x, &y));
    for (okra_int a = begin; a < end; a++) {
        double *rows = scratch_of(p, worker);
        double *sums = rows + (p->x.terms + p->y.terms) * STRETCH;
        sum_row(p, &p->x, &x, a, rows, sums);
        sum_row(p, &p->y, &y, a, rows, sums);
    }
    return OKRA_OK;
}

void okra_twin_means_(okra_int n, bool unbiased, okra_int terms, double *sums,
                      double *whole)
{
    double count = (double)n, rows = unbiased ? count - 2 : count;
    double all = unbiased ? (count - 1) * (count - 2) : count * count;
    for (okra_int t = 0; t < terms; t++) {
        double total = 0;
        for (okra_int a = 0; a < n; a++) {
            total += sums[t * n + a];
            sums[t * n + a] /= rows;
        }
        whole[t] = total / all;
    }
}

static void centre_stretch(const pass *p, const side *s, okra_int a, okra_int b0,
                           okra_int count, double *rows)
{
    for (okra_int t = 0; t < s->terms; t++) {
        const double *mean = s->sums + t * p->n;
        shift(count, s->whole[t] - mean[a], mean + b0, rows + t * STRETCH);
    }
}

static okra_status products_body(void *arg, okra_int begin, okra_int end, int worker)
{
    const pass *p = arg;
    slab x, y;
    double *X = scratch_of(p, worker), *Y = X + p->x.terms * STRETCH;
    okra_mat_ part =
        okra_mat_of_(p->parts + begin / ROWS_A_CHUNK * p->x.terms * p->y.terms,
                     p->x.terms, p->y.terms);
    CHK(slabs(p, begin, end, end, worker, &x, &y));
    for (okra_int a = begin; a < end; a++) {
        for (okra_int b0 = 0; b0 <= a; b0 += STRETCH) {
            okra_int count = OKRA_MIN_(STRETCH, a + 1 - b0);
            stretch(&p->x, &x, a, b0, count, X);
            stretch(&p->y, &y, a, b0, count, Y);
            centre_stretch(p, &p->x, a, b0, count, X);
            centre_stretch(p, &p->y, a, b0, count, Y);
            /* Pairs below the diagonal stand for two; the diagonal for one, or none. */
            for (okra_int t = 0; b0 + count == a + 1 && t < p->x.terms; t++) {
                X[t * STRETCH + count - 1] *= p->unbiased ? 0 : 0.5;
            }
            okra_mat_ A = {X, p->x.terms, count, STRETCH};
            okra_mat_ B = {Y, p->y.terms, count, STRETCH};
            CHK(okra_gemm_(p->ctx, false, true, 2, A, B, 1, part));
        }
    }
    return OKRA_OK;
}

static void pass_clear(pass *p)
{
    side_clear(&p->x);
    side_clear(&p->y);
    FREE(p->scratch, p->panels, p->parts);
}

/* The sums, not yet divided, where the host has the matrices. */
static okra_status on_host(okra_context *ctx, const okra_twin_side_ *x,
                           const okra_twin_side_ *y, bool unbiased, okra_mat_ C)
{
    FREED_BY(pass_clear)
    pass p = {.ctx = ctx, .unbiased = unbiased, .n = x->gram[0].rows};
    CHK(side_create(x, p.n, &p.x));
    CHK(side_create(y, p.n, &p.y));
    okra_int size = p.x.terms * p.y.terms, chunks = (p.n - 1) / ROWS_A_CHUNK + 1;
    MAKE(p.scratch,
         (okra_int)okra_workers_(ctx) * (p.x.terms + p.y.terms) * (STRETCH + 1));
    okra_int panels = panels_of(&p.x) + panels_of(&p.y);
    if (panels > 0) {
        CHK(okra_doubles_(ctx, (okra_int)okra_workers_(ctx) * panels * ROWS_A_CHUNK, p.n,
                          "rows of Gram matrices", &p.panels));
    }
    CHK(okra_doubles_(ctx, chunks, size, "partial sums of HSIC", &p.parts));
    okra_mat_fill_(okra_mat_of_(p.parts, chunks, size), 0);
    CHK(okra_parallel_(ctx, p.n, ROWS_A_CHUNK, "twin sums", sums_body, &p));
    okra_twin_means_(p.n, unbiased, p.x.terms, p.x.sums, p.x.whole);
    okra_twin_means_(p.n, unbiased, p.y.terms, p.y.sums, p.y.whole);
    CHK(okra_parallel_(ctx, p.n, ROWS_A_CHUNK, "twin kernels", products_body, &p));
    for (okra_int i = 0; i < size; i++) {
        double sum = 0;
        for (okra_int c = 0; c < chunks; c++) {
            sum += p.parts[c * size + i];
        }
        C.p[i / C.cols * C.ld + i % C.cols] = sum;
    }
    return OKRA_OK;
}

okra_status okra_twin_matrix_(okra_context *ctx, const okra_twin_side_ *x,
                              const okra_twin_side_ *y, bool unbiased, okra_mat_ C)
{
    CHK((okra_engine_is_host_(ctx) ? on_host : okra_twin_engine_)(ctx, x, y, unbiased,
                                                                  C));
    double n = (double)x->gram[0].rows;
    double scale = unbiased ? n * (n - 3) : (n - 1) * (n - 1);
    for (okra_int i = 0; i < C.rows * C.cols; i++) {
        C.p[i / C.cols * C.ld + i % C.cols] /= scale;
    }
    return OKRA_OK;
}

/* The sign that makes the vector's sum positive; then what is below 0 is rounding. */
static void non_negative(okra_int n, double *v)
{
    double sum = okra_total_(n, v), norm = 0;
    for (okra_int i = 0; i < n; i++) {
        v[i] = fmax(0, sum < 0 ? -v[i] : v[i]);
        norm += v[i] * v[i];
    }
    for (okra_int i = 0; norm > 0 && i < n; i++) {
        v[i] /= sqrt(norm);
    }
}

okra_status okra_twin_solve_(okra_context *ctx, okra_mat_ C, double *alpha, double *beta,
                             double *value)
{
    okra_int k = OKRA_MIN_(C.rows, C.cols);
    OWNED double *A = NULL, *U = NULL, *V = NULL, *s = NULL;
    MAKE(A, C.rows * C.cols);
    MAKE(U, C.rows * k);
    MAKE(V, k * C.cols);
    MAKE(s, k);
    for (okra_int i = 0; i < C.rows * C.cols; i++) {
        /* HSIC is not negative, the unbiased estimate of it can be. */
        A[i] = fmax(0, C.p[i / C.cols * C.ld + i % C.cols]);
    }
    CHK(okra_svd_(ctx, okra_mat_of_(A, C.rows, C.cols), okra_mat_of_(U, C.rows, k), s,
                  okra_mat_of_(V, k, C.cols)));
    REFUSE_IF(!(s[0] > 0), OKRA_ENUMERIC,
              "twin: inputs and outputs show no dependence: no HSIC is above 0");
    for (okra_int i = 0; i < C.rows; i++) {
        alpha[i] = U[i * k];
    }
    memcpy(beta, V, (size_t)C.cols * sizeof *beta);
    non_negative(C.rows, alpha);
    non_negative(C.cols, beta);
    *value = s[0];
    return OKRA_OK;
}
