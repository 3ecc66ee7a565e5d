/*
 * align.c: weights of several input kernels learned from the pairs, where a kernel
 * expression says align(A, B, ...), align-each(...) or align-loo(...). The weights are
 * numbers in the expression that the model keeps, w1*(A) + w2*(B) + ...
 *
 * With K_k the n x n Gram matrices, L that of the outputs under ky, both centred (H K H),
 *     a_k = <K_k, L>,   M_kl = <K_k, K_l>     (Frobenius products off the diagonal)
 *
 * Diagonals are left out: under kernels of sparse objects (long strings, a sparse
 * network) most of |L| lies there, where any two kernels agree, and nothing is said of
 * pairs. On yeast's interactions the combination then ranks links better than the mean
 * and than ALIGNF with them, on activities of molecules too, elsewhere as good.
 *
 *     align: ALIGNF, min_(w >= 0) w'M w - 2 a'w, the combination whose alignment
 *         <K_w, L> / (|K_w| |L|) is largest   (Cortes et al. 2012, sec. 3.2, Prop. 9)
 *
 *     align-each: ALIGN, w_k = a_k / |K_k|, each kernel by itself         (its sec. 3.1)
 *
 *     align-loo: the least sum of left-out losses of ridge: align_loo.c
 *
 * Weights of pairs, u: S K S and S L S in their place, S = diag(u)^1/2, centred along s;
 * of a pair that stands for u equal ones the u^2 - u products off the diagonal count.
 *
 * The first two are scaled to sum to 1, as in mean(A, B, ...), so that lambda keeps its
 * size. The quadratic programme is that of boxqp.c in b_k = a_k w_k, with a bound above
 * that no solution reaches (entries of M are >= 0: sum(b) <= sum_k a_k^2 / M_kk), and
 * then solved on its support. Matrices are scaled by powers of 2 before all that, so that
 * no product of large ones overflows; nothing is rounded by it. Of more than SAMPLE pairs
 * okra looks at that number, evenly spaced. Cost: p n^2 numbers; p^2 n^2 operations.
 *
 * In the text of an expression align(A, B, ...) is found, its kernels are read, and
 * numbers take its place, w1*(A) + w2*(B) + ...
 */
#include "model/model.h"
#include "method/margin/margin.h"

/* ---- the weights ---- */

/* The programme on its support F: M_FF w_F = a_F; kept where w_F > 0. */
static okra_status polish(okra_context *ctx, okra_int p, const double *M, const double *a,
                          double *w)
{
    OWNED okra_int *at = NULL;
    okra_int f = 0;
    OWNED double *A = NULL, *x = NULL;
    bool done = false, good = true;
    MAKE(at, p);
    MAKE(A, p * p);
    MAKE(x, p);
    for (okra_int k = 0; k < p; k++) {
        at[f] = k;
        f += w[k] > 0;
    }
    for (okra_int r = 0; r < f; r++) {
        x[r] = a[at[r]];
        for (okra_int c = 0; c < f; c++) {
            A[r * f + c] = M[at[r] * p + at[c]];
        }
    }
    CHK(okra_cholesky_try_(ctx, okra_mat_of_(A, f, f), &done));
    if (done && f > 0) {
        CHK(okra_cholesky_solve_(ctx, okra_mat_of_(A, f, f), okra_mat_of_(x, f, 1)));
        for (okra_int r = 0; r < f; r++) {
            good = good && x[r] > 0;
        }
        for (okra_int r = 0; good && r < f; r++) {
            w[at[r]] = x[r];
        }
    }
    return OKRA_OK;
}

okra_status okra_align_weights_(okra_context *ctx, okra_int p, const double *M,
                                const double *a, bool each, double *w)
{
    OWNED double *Q = NULL, *most = NULL;
    double bound = 0, sum = 0;
    okra_boxqp_report_ report = {0};
    MAKE(Q, p * p);
    MAKE(most, p);
    for (okra_int k = 0; k < p; k++) {
        bool counts = a[k] > 0 && M[k * p + k] > 0;
        bound += counts ? a[k] * a[k] / M[k * p + k] : 0;
        w[k] = each && counts ? a[k] / sqrt(M[k * p + k]) : 0;
    }
    for (okra_int k = 0; k < p; k++) {
        most[k] = a[k] > 0 ? 2 * bound : 0;
        for (okra_int l = 0; l < p; l++) {
            bool counts = a[k] > 0 && a[l] > 0;
            Q[k * p + l] = counts ? M[k * p + l] / (a[k] * a[l]) : k == l;
        }
    }
    if (!each && bound > 0) {
        CHK(okra_boxqp_bounded_(ctx, okra_mat_of_(Q, p, p), most, 1e-13, w, &report));
        for (okra_int k = 0; k < p; k++) {
            w[k] = a[k] > 0 && w[k] > 1e-12 * bound ? w[k] / a[k] : 0;
        }
        CHK(polish(ctx, p, M, a, w));
    }
    sum = okra_total_(p, w);
    REFUSE_IF(!(sum > 0), OKRA_EARG, "%s: no kernel is aligned with the outputs",
              okra_align_names_[each ? OKRA_ALIGN_EACH_ : OKRA_ALIGN_]);
    okra_scale_down_(p, sum, w);
    return OKRA_OK;
}

/* ---- matrices ---- */

/* G <- S G S, and (center) less the mean. */
static okra_status prepare(const okra_learner_ *z, bool center, double *G)
{
    FREED_BY(okra_matrix_drop_) okra_matrix_ *A = NULL;
    okra_mat_ block = okra_mat_of_(G, z->n, z->n);
    CHK(okra_matrix_begin_(z->ctx, true, block, &A));
    if (z->s) {
        CHK(okra_matrix_scale_(z->ctx, z->s, z->s, A));
    }
    if (center) {
        CHK(z->s ? okra_center_weighted_(z->ctx, z->s, z->total, NULL, A)
                 : okra_matrix_center_(z->ctx, NULL, A));
    }
    return okra_matrix_end_(z->ctx, A, block);
}

/* The Gram matrix times the power of 2 (*scale) that brings its largest entry to 1..2. */
static okra_status gram(const okra_learner_ *z, const okra_kernel *kernel,
                        const okra_data *data, double *G, double *scale)
{
    FREED_BY(okra_trained_kernel_drop_) okra_trained_kernel_ *bound = NULL;
    double most = 0;
    CHK(okra_trained_kernel_create_(z->ctx, kernel, data, &bound));
    CHK(okra_trained_kernel_gram_(z->ctx, bound, okra_mat_of_(G, z->n, z->n)));
    for (okra_int i = 0; i < z->n * z->n; i++) {
        double size = fabs(G[i]);
        most = size > most || isnan(size) ? size : most;
    }
    REFUSE_IF(!isfinite(most), OKRA_ENUMERIC, "align: a value of the kernel %s is %g",
              okra_kernel_text(kernel), most);
    *scale = most > 0 ? ldexp(1, -OKRA_MIN_(OKRA_MAX_(ilogb(most), -1000), 1000)) : 1;
    for (okra_int i = 0; *scale != 1 && i < z->n * z->n; i++) {
        G[i] *= *scale;
    }
    return OKRA_OK;
}

/* F of few explicit outputs, s_i (y_i - mean) in its rows; else L. */
static okra_status features(const okra_learner_ *z, const okra_kernel *ky, bool center,
                            double **F)
{
    okra_int n = z->n, d = z->y->d;
    double scale = 1, level = 1;
    if (z->y->kind != OKRA_DENSE || 2 * d > n || !okra_kernel_is_linear_(ky, &scale)) {
        CHK(gram(z, ky, z->y, z->L, &level));
        return prepare(z, center, z->L);
    }
    CHK(okra_doubles_(z->ctx, n, d, "the output features", F));
    for (okra_int j = 0; j < d; j++) {
        double mean = 0;
        for (okra_int i = 0; i < n && center; i++) {
            double weight = z->s ? z->s[i] * z->s[i] : 1;
            mean += weight * z->y->values[i * z->y->ld + j] / z->total;
        }
        for (okra_int i = 0; i < n; i++) {
            (*F)[i * d + j] = sqrt(scale) * (z->s ? z->s[i] : 1) *
                              (z->y->values[i * z->y->ld + j] - mean);
        }
    }
    return OKRA_OK;
}

/* Products of all matrices with one another and with L, centred. */
static okra_status products(const okra_learner_ *z, double *M, double *a, double *own)
{
    okra_int area = z->n * z->n;
    okra_mat_ K = okra_mat_of_(z->K, z->p, area), L = okra_mat_of_(z->L, 1, area);
    CHK(okra_syrk_(z->ctx, false, 1, K, 0, okra_mat_of_(M, z->p, z->p)));
    CHK(okra_gemm_(z->ctx, false, true, 1, K, L, 0, okra_mat_of_(a, z->p, 1)));
    *own = okra_dot_(area, z->L, z->L);
    return OKRA_OK;
}

/* The share 1/u of products on the diagonal is that of u equal pairs with themselves. */
static double diagonal(const okra_learner_ *z, const double *A, const double *B)
{
    double sum = 0;
    for (okra_int i = 0; i < z->n; i++) {
        okra_int at = i * (z->n + 1);
        double u = z->s ? z->s[i] * z->s[i] : 1;
        sum += u > 1 ? A[at] * B[at] / u : A[at] * B[at];
    }
    return sum;
}

/* The same off the diagonal; as they are where no kernel is aligned with L there. */
static okra_status leave_diagonals(const okra_learner_ *z, double *M, double *a,
                                   double *own)
{
    OWNED double *off = NULL;
    bool aligned = false;
    okra_int area = z->n * z->n;
    MAKE(off, z->p);
    for (okra_int k = 0; k < z->p; k++) {
        off[k] = a[k] - diagonal(z, z->K + k * area, z->L);
        aligned = aligned || off[k] > 0;
    }
    if (!aligned) {
        return OKRA_OK;
    }
    for (okra_int k = 0; k < z->p; k++) {
        a[k] = off[k];
        for (okra_int l = 0; l < z->p; l++) {
            M[k * z->p + l] -= diagonal(z, z->K + k * area, z->K + l * area);
        }
    }
    *own -= diagonal(z, z->L, z->L);
    return OKRA_OK;
}

/* <K_w, L> / (|K_w| |L|), which does not change with the size of w */
static double alignment(okra_int p, const double *M, const double *a, double own,
                        const double *w)
{
    double top = 0, square = 0, most = okra_most_(p, w);
    for (okra_int k = 0; k < p; k++) {
        top += w[k] / most * a[k];
        for (okra_int l = 0; l < p; l++) {
            square += w[k] / most * (w[l] / most) * M[k * p + l];
        }
    }
    return top / sqrt(square * own);
}

/* Weights of the matrices as they were: w of those that are scaled, and of sum 1 where
 * they are no matter of lambda. */
static void unscale(const okra_learner_ *z, bool whole, double *w)
{
    double sum = 0;
    for (okra_int k = 0; k < z->p; k++) {
        w[k] *= z->scale[k];
        sum += w[k];
    }
    for (okra_int k = 0; whole && k < z->p; k++) {
        w[k] /= sum;
    }
}

static okra_status leave(okra_learner_ *z, okra_kernel *const *kernels,
                         const okra_kernel *ky, const okra_align_options_ *o, double *w)
{
    OWNED double *F = NULL, *mean = NULL;
    MAKE(mean, z->p);
    for (okra_int k = 0; k < z->p; k++) {
        CHK(gram(z, kernels[k], z->x, z->K + k * z->n * z->n, &z->scale[k]));
        CHK(prepare(z, false, z->K + k * z->n * z->n));
        mean[k] = 1 / (double)z->p / z->scale[k];
        w[k] = w[k] / z->scale[k];
    }
    CHK(features(z, ky, o->center, &F));
    return okra_align_loo_(z, o->lambda, F, F ? z->y->d : 0, mean, w);
}

static okra_status find_weights(okra_learner_ *z, okra_kernel *const *kernels,
                                const okra_kernel *ky, okra_align_how_ how,
                                const okra_align_options_ *o, double *w, double *value)
{
    OWNS(&z->K, &z->L, &z->s, &z->scale);
    OWNED double *M = NULL, *a = NULL;
    double own = 0, scale = 1;
    okra_int n = z->n;
    bool each = how == OKRA_ALIGN_EACH_;
    CHK(okra_doubles_(z->ctx, z->p, n * n, "the Gram matrices to align", &z->K));
    CHK(okra_doubles_(z->ctx, n, n, "the Gram matrix of the outputs", &z->L));
    MAKE(M, z->p * z->p);
    MAKE(a, z->p);
    MAKE(z->scale, z->p);
    okra_problem_ pairs = {.n = n, .weights = z->y->weights};
    CHK(okra_problem_roots_(&pairs, &z->s, &z->total));
    CHK(gram(z, ky, z->y, z->L, &scale));
    CHK(prepare(z, true, z->L));
    for (okra_int k = 0; k < z->p; k++) {
        CHK(okra_cancelled_(z->ctx));
        CHK(gram(z, kernels[k], z->x, z->K + k * n * n, &z->scale[k]));
        CHK(prepare(z, true, z->K + k * n * n));
        okra_progress_(z->ctx, "align", k + 1, z->p);
    }
    CHK(products(z, M, a, &own));
    CHK(leave_diagonals(z, M, a, &own));
    CHK(okra_align_weights_(z->ctx, z->p, M, a, each, w));
    for (okra_int k = 0; each && k < z->p; k++) {
        w[k] /= z->scale[k]; /* a_k / |K_k| is the same whatever the scale */
    }
    if (how == OKRA_ALIGN_LOO_) {
        unscale(z, true, w);
        CHK(leave(z, kernels, ky, o, w));
    }
    *value = alignment(z->p, M, a, own, w);
    unscale(z, how != OKRA_ALIGN_LOO_, w);
    return OKRA_OK;
}

enum { SAMPLE = 4000, SAMPLE_LOO = 1000, KERNELS_MOST = 200 };

/* ---- the text ---- */

/* The first align( of the text, its arguments and its end; false: there is none. */
typedef struct call {
    okra_align_how_ how;
    size_t begin, end; /* of the whole of it */
    size_t from[KERNELS_MOST], to[KERNELS_MOST];
    int count;
} call;

static bool name_ends(const char *text, size_t at, size_t length)
{
    bool before = at > 0 && (strchr("-_", text[at - 1]) ||
                             (text[at - 1] >= '0' && text[at - 1] <= '9') ||
                             ((text[at - 1] | 32) >= 'a' && (text[at - 1] | 32) <= 'z'));
    return !before && text[at + length] == '(';
}

static bool find_name(const char *text, call *c)
{
    for (size_t at = 0; text[at]; at++) {
        for (int k = 0; okra_align_names_[k]; k++) {
            size_t length = strlen(okra_align_names_[k]);
            if (strncmp(text + at, okra_align_names_[k], length) == 0 &&
                name_ends(text, at, length)) {
                c->how = (okra_align_how_)k;
                c->begin = at;
                c->from[0] = at + length + 1;
                return true;
            }
        }
    }
    return false;
}

bool okra_align_asked_(const char *text)
{
    call c = {0};
    return find_name(text, &c);
}

okra_status okra_align_mean_(const char *text, char **out)
{
    call c = {0};
    char *mean = NULL;
    size_t size = strlen(text) + 1;
    MAKE(mean, (okra_int)size);
    if (find_name(text, &c)) {
        snprintf(mean, size, "%.*smean(%s", (int)c.begin, text, text + c.from[0]);
    } else {
        snprintf(mean, size, "%s", text);
    }
    *out = mean;
    return OKRA_OK;
}

/* Arguments between commas outside brackets. */
static okra_status read_call(const char *text, call *c)
{
    int depth = 0;
    size_t at = c->from[0];
    for (; text[at] && (depth > 0 || text[at] != ')'); at++) {
        depth +=
            (text[at] == '(' || text[at] == '{') - (text[at] == ')' || text[at] == '}');
        if (text[at] == ',' && depth == 0) {
            REFUSE_IF(c->count + 1 == KERNELS_MOST, OKRA_EARG, "%s: more than %d kernels",
                      okra_align_names_[c->how], KERNELS_MOST);
            c->to[c->count++] = at;
            c->from[c->count] = at + 1;
        }
    }
    REFUSE_IF(!text[at], OKRA_EARG, "%s( has no end", okra_align_names_[c->how]);
    c->to[c->count++] = at;
    c->end = at + 1;
    return OKRA_OK;
}

/* ---- all together ---- */

/* At most `most` pairs, evenly spaced; Gram matrices stay whole. */
static okra_status sample(const okra_data *x, const okra_data *y, okra_int most,
                          okra_data **some_x, okra_data **some_y)
{
    bool whole = okra_data_holds_gram_(x) || okra_data_holds_gram_(y);
    okra_int n = whole ? y->n : OKRA_MIN_(y->n, most);
    REFUSE_IF(okra_data_holds_gram_(x) && x->n > y->n, OKRA_EUNSUPPORTED,
              "align: Gram matrices of inputs without outputs cannot be aligned");
    CHK(okra_data_some_(x, 0, y->n, n, some_x));
    return okra_data_some_(y, 0, y->n, n, some_y);
}

OKRA_SHARED_CLEARS_(okra_align_clear_, okra_align_, it->text, it->kernels, it->weights)

/* The texts: of the kernel, and for whoever reads the model. */
static okra_status write_texts(const char *text, const call *c,
                               okra_kernel *const *kernels, const double *w,
                               okra_align_ *out)
{
    size_t size = strlen(text) + 64;
    for (int k = 0; k < c->count; k++) {
        size += strlen(okra_kernel_text(kernels[k])) + 64;
    }
    MAKE(out->text, (okra_int)size);
    MAKE(out->kernels, (okra_int)size);
    MAKE(out->weights, (okra_int)size);
    out->kernels[0] = out->weights[0] = '\0';
    int at = snprintf(out->text, size, "%.*s(", (int)c->begin, text), names_at = 0,
        weights_at = 0, terms = 0;
    for (int k = 0; k < c->count; k++) {
        char number[40];
        const char *kernel = okra_kernel_text(kernels[k]);
        okra_number_format_(number, sizeof number, 17, w[k]);
        weights_at += snprintf(out->weights + weights_at, size - (size_t)weights_at,
                               "%s%s", k ? "," : "", number);
        names_at += snprintf(out->kernels + names_at, size - (size_t)names_at, "%s%s",
                             k ? "\n" : "", kernel);
        if (w[k] > 0) {
            at += snprintf(out->text + at, size - (size_t)at, "%s%s*(%s)",
                           terms++ ? " + " : "", number, kernel);
        }
    }
    snprintf(out->text + at, size - (size_t)at, ")%s", text + c->end);
    return OKRA_OK;
}

static void free_kernels(okra_kernel ***kernels)
{
    for (okra_int k = 0; *kernels && (*kernels)[k]; k++) {
        okra_kernel_free((*kernels)[k]);
    }
    okra_free_(*kernels);
}

okra_status okra_align_learn_(okra_context *ctx, const okra_data *x, const okra_data *y,
                              const char *text, const okra_kernel *ky,
                              const okra_align_options_ *o, okra_align_ *out)
{
    call c = {0};
    FREED_BY(free_kernels) okra_kernel **kernels = NULL; /* ends at NULL */
    OWNED double *w = NULL;
    FREED_BY(okra_data_drop_) okra_data *some_x = NULL, *some_y = NULL;
    FREED_BY(okra_align_clear_) okra_align_ made = {0};
    REFUSE_IF(!find_name(text, &c), OKRA_EINTERNAL, "there is nothing to align in '%s'",
              text);
    REFUSE_IF(y->missing, OKRA_EARG,
              "%s: y has missing values, with which nothing can be aligned",
              okra_align_names_[c.how]);
    CHK(read_call(text, &c));
    ZMAKE(kernels, c.count + 1);
    MAKE(w, c.count);
    for (int k = 0; k < c.count; k++) {
        OWNED char *one = okra_strndup_(text + c.from[k], c.to[k] - c.from[k]);
        CHK(okra_at_(one ? okra_kernel_choose(ctx, one, x, &kernels[k]) : OKRA_EMEM,
                     "kernel %d of %s", k + 1, okra_align_names_[c.how]));
    }
    CHK(sample(x, y, c.how == OKRA_ALIGN_LOO_ ? SAMPLE_LOO : SAMPLE, &some_x, &some_y));
    okra_learner_ z = {
        .ctx = ctx, .x = some_x, .y = some_y, .n = some_y->n, .p = c.count};
    CHK(find_weights(&z, kernels, ky, c.how, o, w, &made.value));
    CHK(write_texts(text, &c, kernels, w, &made));
    REFUSE_IF(okra_align_asked_(made.text), OKRA_EARG,
              "align stands once in a kernel expression");
    *out = TAKE(made);
    return OKRA_OK;
}
