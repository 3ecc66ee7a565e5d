/*
 * m3n.c: max-margin Markov networks, a structural support vector machine of chains
 * (Taskar et al. 2003), the comparison of Kadri et al. 2013, Table 2 (right).
 *
 * Inputs are sequences of vectors, outputs strings or labels of the same lengths. With kx
 * = position(k), k is the kernel of elements:
 *     F(x, y) = sum_t f_(y_t)(x_t) + sum_t A[y_(t-1)][y_t],
 * f_c in the space of k, learned with Hamming loss as below. The output kernel has
 * no part in it. The prediction is y(x) = argmax F(x, y) (Viterbi), given as the
 * embedding of y(x) in the space of position-wise features: 1 at column t S + c where
 * y_t is symbol c, which decoder position reads. Test sequences have at most `longest`
 * elements. Cost of a query: N kernel values and N S products an element, T S^2.
 *
 * Training: structural support vector machine of chains (max-margin Markov network,
 * Taskar et al. 2003) by block-coordinate Frank-Wolfe (Lacoste-Julien et al. 2013,
 * algorithm 4).
 *
 *     min_w  lambda/2 |w|^2 + 1/n sum_i max_y [ H(y_i, y) - <w, psi_i(y)> ]
 *     psi_i(y) = Psi(x_i, y_i) - Psi(x_i, y),  H the number of different symbols
 *     <w, Psi(x, y)> = sum_t f_(y_t)(x_t) + sum_t A[y_(t-1)][y_t]
 *
 * f_c lies in the space of the kernel k of elements: f_c(x) = sum_e C[e][c] k(x_e, x),
 * over the N elements of all training sequences; the transitions A are explicit. The dual
 * has a distribution over labellings a sequence; of it only w_i = E psi_i / (lambda n)
 * and l_i = E H / n are kept: w_i is the rows of C that belong to sequence i and an S x S
 * matrix a_i of transitions, and w = sum_i w_i. A step of block i finds the worst y by
 * loss-augmented Viterbi, w_s = psi_i(y) / (lambda n), l_s = H / n, and moves
 *     w_i <- w_i + g (w_s - w_i),  g = clip( [lambda <w_i - w_s, w> - l_i + l_s]
 *                                            / (lambda |w_i - w_s|^2) )   to 0..1,
 * the exact optimum on the line. The sum of the numerators over all blocks at one w is
 * the duality gap, measured every CHECK passes with all scores computed afresh. Blocks
 * come in an order drawn anew each pass. Cost of a pass: 2 N^2 S products and N S^2 for
 * the chains; memory N^2 + n S^2.
 */
#include "method/structured/m3n.h"
#include "data/strings.h"
#include "kernel/lowrank/lowrank.h"
#include "kernel/strings/string_kernels.h"

enum { CHECK = 5 };

okra_int okra_m3n_scratch_(okra_int T, okra_int S)
{
    return 2 * S + T * S; /* two columns of values, and where each came from */
}

double okra_m3n_best_(const double *score, okra_int T, okra_int S, const double *A,
                      double *scratch, okra_int *best)
{
    double *now = scratch, *next = now + S, *from = next + S;
    okra_int last = 0;
    for (okra_int t = 0; t < T; t++) {
        for (okra_int c = 0; c < S; c++) {
            okra_int p = 0;
            for (okra_int b = 1; t > 0 && b < S; b++) {
                p = now[b] + A[b * S + c] > now[p] + A[p * S + c] ? b : p;
            }
            next[c] = score[t * S + c] + (t > 0 ? now[p] + A[p * S + c] : 0);
            from[t * S + c] = (double)p;
        }
        OKRA_SWAP_(now, next);
    }
    for (okra_int c = 1; T > 0 && c < S; c++) {
        last = now[c] > now[last] ? c : last;
    }
    double value = T > 0 ? now[last] : 0;
    for (okra_int t = T; t-- > 0;) {
        best[t] = last;
        last = (okra_int)from[t * S + last];
    }
    return value;
}

typedef struct work {
    okra_m3n_ *m;
    double *a, *loss; /* n x S*S transitions of the blocks; n losses l_i           */
    double *score;    /* N x S: f_c of every element                              */
    double *local;    /* longest x S: scores of a block, then the step w_s - w_i  */
    double *step;     /* S x S: the step of the transitions                       */
    double *scratch;  /* of Viterbi                                               */
    okra_int *best, *order;
} work;

/* The step w_s - w_i of block i (nodes: T x S, edges: S x S) from its scores: to `nodes`
 * and w->step. Gives <w_i - w_s, w> lambda - l_i + l_s, and l_s - l_i. */
static double towards(work *w, okra_int i, const double *score, double *nodes,
                      double *loss)
{
    okra_m3n_ *m = w->m;
    okra_int S = m->S, e0 = m->offsets[i], T = m->offsets[i + 1] - e0;
    const okra_int *y = m->symbol + e0;
    double unit = 1 / (m->lambda * (double)m->n), slope = 0, errors = 0;
    for (okra_int k = 0; k < T * S; k++) {
        nodes[k] = score[k] + (k % S != y[k / S]);
    }
    okra_m3n_best_(nodes, T, S, m->A, w->scratch, w->best);
    for (okra_int k = 0; k < T * S; k++) {
        nodes[k] = -m->C[e0 * S + k];
    }
    for (okra_int k = 0; k < S * S; k++) {
        w->step[k] = -w->a[i * S * S + k];
    }
    for (okra_int t = 0; t < T; t++) {
        errors += w->best[t] != y[t];
        nodes[t * S + y[t]] += unit;
        nodes[t * S + w->best[t]] -= unit;
        if (t > 0) {
            w->step[y[t - 1] * S + y[t]] += unit;
            w->step[w->best[t - 1] * S + w->best[t]] -= unit;
        }
    }
    for (okra_int k = 0; k < T * S; k++) {
        slope -= nodes[k] * score[k];
    }
    slope -= okra_dot_(S * S, w->step, m->A);
    *loss = errors / (double)m->n - w->loss[i];
    return m->lambda * slope + *loss;
}

/* |w_s - w_i|^2 = sum_tu k(x_t, x_u) <step_t, step_u> + |edges|^2. */
static double squared(const work *w, okra_int i, const double *nodes)
{
    const okra_m3n_ *m = w->m;
    okra_int S = m->S, e0 = m->offsets[i], T = m->offsets[i + 1] - e0;
    double sum = okra_dot_(S * S, w->step, w->step);
    for (okra_int t = 0; t < T; t++) {
        const double *row = m->K + (e0 + t) * m->N + e0;
        for (okra_int u = 0; u < T; u++) {
            sum += row[u] * okra_dot_(S, nodes + t * S, nodes + u * S);
        }
    }
    return sum;
}

static okra_status move(okra_context *ctx, work *w, okra_int i)
{
    okra_m3n_ *m = w->m;
    okra_int S = m->S, e0 = m->offsets[i], T = m->offsets[i + 1] - e0;
    double loss, *score = w->score + e0 * S;
    CHK(okra_gemm_(ctx, false, false, 1, okra_mat_view_(m->K + e0 * m->N, T, m->N, m->N),
                   okra_mat_of_(m->C, m->N, S), 0, okra_mat_of_(score, T, S)));
    double rise = towards(w, i, score, w->local, &loss);
    double bend = m->lambda * squared(w, i, w->local);
    double g = rise <= 0 ? 0 : rise >= bend ? 1 : rise / bend;
    okra_axpy_(T * S, g, w->local, m->C + e0 * S);
    for (okra_int k = 0; k < S * S; k++) {
        w->a[i * S * S + k] += g * w->step[k];
        m->A[k] += g * w->step[k];
    }
    w->loss[i] += g * loss;
    return OKRA_OK;
}

/* Primal and dual values at w, from scores and transitions computed afresh. */
static okra_status measure(okra_context *ctx, work *w)
{
    okra_m3n_ *m = w->m;
    okra_int S = m->S;
    double gap = 0, loss, losses = 0;
    memset(m->A, 0, (size_t)(S * S) * sizeof *m->A);
    for (okra_int i = 0; i < m->n; i++) {
        okra_axpy_(S * S, 1, w->a + i * S * S, m->A);
        losses += w->loss[i];
    }
    CHK(okra_gemm_(ctx, false, false, 1, okra_mat_view_(m->K, m->N, m->N, m->N),
                   okra_mat_of_(m->C, m->N, S), 0, okra_mat_of_(w->score, m->N, S)));
    double norm = okra_dot_(m->N * S, m->C, w->score) + okra_dot_(S * S, m->A, m->A);
    for (okra_int i = 0; i < m->n; i++) {
        gap += towards(w, i, w->score + m->offsets[i] * S, w->local, &loss);
    }
    m->dual = losses - m->lambda / 2 * norm;
    m->primal = m->dual + gap;
    /* Losses count letters, so that 1 is their unit; steps of Frank and Wolfe take many
     * thousands of passes to what is small beside a value below it. */
    m->goal = m->tolerance * fmax(1, fabs(m->dual));
    m->converged = gap <= m->goal;
    return OKRA_OK;
}

static okra_status reserve(okra_context *ctx, work *w)
{
    okra_m3n_ *m = w->m;
    okra_int S = m->S, longest = 0;
    for (okra_int i = 0; i < m->n; i++) {
        longest = OKRA_MAX_(longest, m->offsets[i + 1] - m->offsets[i]);
    }
    CHK(okra_doubles_(ctx, m->n, S * S, "the transitions of all sequences", &w->a));
    CHK(okra_doubles_(ctx, m->N, S, "the scores of all elements", &w->score));
    ZMAKE(w->loss, m->n);
    MAKE(w->local, longest * S);
    MAKE(w->step, S * S);
    MAKE(w->scratch, okra_m3n_scratch_(longest, S));
    MAKE(w->best, longest);
    MAKE(w->order, m->n);
    memset(w->a, 0, (size_t)(m->n * S * S) * sizeof *w->a);
    memset(m->C, 0, (size_t)(m->N * S) * sizeof *m->C);
    memset(m->A, 0, (size_t)(S * S) * sizeof *m->A);
    okra_iota_(m->n, w->order);
    return OKRA_OK;
}

okra_status okra_m3n_solve_(okra_context *ctx, okra_m3n_ *m)
{
    work w = {.m = m};
    OWNS(&w.a, &w.loss, &w.score, &w.local, &w.step, &w.scratch, &w.best, &w.order);
    okra_random_ random = okra_random_create_(m->seed, 0x0333);
    CHK(reserve(ctx, &w));
    for (m->done = 0; m->done < m->passes && !m->converged;) {
        okra_random_shuffle_(&random, m->n, w.order);
        for (okra_int k = 0; k < m->n; k++) {
            CHK(move(ctx, &w, w.order[k]));
        }
        m->done++;
        CHK(okra_cancelled_(ctx));
        okra_progress_(ctx, "passes", m->done, m->passes);
        if (m->done % CHECK == 0 || m->done == m->passes) {
            CHK(measure(ctx, &w));
        }
    }
    okra_progress_end_(ctx, "passes");
    return OKRA_OK;
}

typedef struct m3n_options {
    double lambda, tolerance;
    okra_int passes, longest;
} m3n_options;

static const okra_option rows[] = {
    {"lambda", OKRA_OPTION_NUMBER, offsetof(m3n_options, lambda), "0.01", 1e-300, 1e300,
     NULL, "V", "half of it times |w|^2 is added to the mean structured hinge loss"},
    {"tolerance", OKRA_OPTION_NUMBER, offsetof(m3n_options, tolerance), "0.01", 0, 1,
     NULL, "V", "stop when the duality gap is below this times max(1, |dual|)"},
    {"passes", OKRA_OPTION_INT, offsetof(m3n_options, passes), "200", 1, 1e9, NULL, "N",
     "passes over the training sequences at most"},
    {"longest", OKRA_OPTION_INT, offsetof(m3n_options, longest), "0", 0, 1e6, NULL, "N",
     "elements of a test sequence at most; 0: as many as the longest training one has"},
    {0},
};

extern const okra_method_ okra_method_m3n_;

/* The kernel of elements, and whether the pairs are sequences of equal lengths. */
static okra_status check(const okra_problem_ *p, const okra_kernel **inner)
{
    *inner = p->kx ? okra_kernel_inner_(p->kx->kernel) : NULL;
    REFUSE_IF(!p->x || p->x->kind != OKRA_SEQUENCES || p->x->d == 0 || !p->y ||
                  (p->y->kind != OKRA_STRINGS && p->y->kind != OKRA_SEQUENCES),
              OKRA_EUNSUPPORTED,
              "m3n needs sequences of vectors as inputs and strings or sequences as "
              "outputs; these are %s and %s",
              okra_kind_name(p->x ? p->x->kind : OKRA_GRAM),
              okra_kind_name(p->y ? p->y->kind : OKRA_GRAM));
    REFUSE_IF(!*inner || !(okra_kernel_kinds_(*inner) >> OKRA_DENSE & 1) ||
                  okra_kernel_centers_(*inner) || okra_kernel_files_(*inner),
              OKRA_EUNSUPPORTED,
              "m3n needs kx = position(k), k a kernel of vectors that is not centred and "
              "reads no file; it is %s",
              p->kx ? okra_kernel_text(p->kx->kernel) : "none");
    for (okra_int i = 0; i < p->n; i++) {
        okra_int a, b;
        okra_characters_(p->x, i, &a);
        okra_characters_(p->y, i, &b);
        REFUSE_IF(a != b, OKRA_ESHAPE,
                  "m3n: input %lld has %lld elements and its output %lld", (long long)i,
                  (long long)a, (long long)b);
    }
    return OKRA_OK;
}

/* The vectors of all elements, a view; rows of width d. */
static okra_status elements(const okra_data *x, okra_data **out)
{
    const okra_ragged_ *group = &x->groups[0];
    return okra_data_dense(okra_ragged_field_(group, "vector")->values,
                           group->offsets[x->n], x->d, x->d, out);
}

/* Elements whose coefficients are not all 0 (the first one at least), and the rest of the
 * network. */
static okra_status put(const okra_m3n_ *m, const okra_data *vectors,
                       const int32_t *alphabet, okra_store_ *store)
{
    okra_int S = m->S, d = vectors->d, kept = 0;
    OWNED double *C = NULL, *V = NULL, *letters = NULL;
    MAKE(C, m->N * S);
    MAKE(V, m->N * d);
    MAKE(letters, S);
    for (okra_int e = 0; e < m->N; e++) {
        bool used = false;
        for (okra_int c = 0; c < S; c++) {
            used |= m->C[e * S + c] != 0;
        }
        if (used || (e == m->N - 1 && kept == 0)) {
            memcpy(C + kept * S, m->C + e * S, (size_t)S * sizeof *C);
            memcpy(V + kept++ * d, vectors->values + e * d, (size_t)d * sizeof *V);
        }
    }
    for (okra_int c = 0; c < S; c++) {
        letters[c] = alphabet[c];
    }
    CHK(okra_store_put_(store, "coefficients", &C, kept, S));
    CHK(okra_store_put_(store, "elements", &V, kept, d));
    CHK(okra_store_put_(store, "alphabet", &letters, 1, S));
    CHK(okra_store_put_copy_(store, "transitions", m->A, S, S));
    CHK(okra_store_put_number_(store, "primal", m->primal));
    CHK(okra_store_put_number_(store, "dual", m->dual));
    CHK(okra_store_put_number_(store, "gap", m->primal - m->dual));
    CHK(okra_store_put_number_(store, "passes", (double)m->done));
    return okra_store_put_number_(store, "converged", m->converged);
}

static okra_status solve(okra_context *ctx, okra_m3n_ *m, const okra_kernel *inner,
                         const okra_data *vectors)
{
    FREED_BY(okra_trained_kernel_drop_) okra_trained_kernel_ *bound = NULL;
    OWNED double *K = NULL;
    CHK(okra_doubles_(ctx, m->N, m->N, "the kernel of all elements", &K));
    CHK(okra_doubles_(ctx, m->N, m->S, "the coefficients of all elements", &m->C));
    MAKE(m->A, m->S * m->S);
    CHK(okra_trained_kernel_create_(ctx, inner, vectors, &bound));
    CHK(okra_trained_kernel_gram_(ctx, bound, okra_mat_of_(K, m->N, m->N)));
    m->K = K;
    okra_status st = okra_m3n_solve_(ctx, m);
    m->K = NULL;
    CHK(st);
    if (!m->converged) {
        okra_warn_(
            ctx,
            "m3n: stopped after %lld passes with a duality gap of %.3g (dual value "
            "%.6g), expected %.3g",
            (long long)m->done, m->primal - m->dual, m->dual, m->goal);
    }
    return OKRA_OK;
}

static okra_status fit(okra_context *ctx, const okra_problem_ *p,
                       const okra_options *options, okra_store_ *store)
{
    m3n_options o;
    const okra_kernel *inner = NULL;
    FREED_BY(okra_data_drop_) okra_data *vectors = NULL;
    OWNED int32_t *alphabet = NULL;
    OWNED okra_int *symbol = NULL;
    okra_int longest = 0;
    okra_m3n_ m = {.n = p->n, .seed = okra_context_seed(ctx)};
    OWNS(&m.C, &m.A);
    CHK(okra_options_read(options, &okra_method_m3n_.options, &o));
    CHK(check(p, &inner));
    CHK(okra_alphabet_(p->y, &alphabet, &m.S));
    CHK(elements(p->x, &vectors));
    m.offsets = p->x->groups[0].offsets;
    m.N = vectors->n;
    m.lambda = o.lambda;
    m.tolerance = o.tolerance;
    m.passes = o.passes;
    REFUSE_IF(m.S == 0, OKRA_EARG, "m3n: the training outputs have no characters");
    MAKE(symbol, m.N);
    for (okra_int i = 0; i < p->n; i++) {
        okra_int T;
        const int32_t *codes = okra_characters_(p->y, i, &T);
        for (okra_int t = 0; t < T; t++) {
            symbol[m.offsets[i] + t] = okra_letter_(alphabet, m.S, codes[t]);
        }
        longest = OKRA_MAX_(longest, T);
    }
    m.symbol = symbol;
    CHK(solve(ctx, &m, inner, vectors));
    CHK(put(&m, vectors, alphabet, store));
    CHK(okra_store_put_number_(store, "longest", (double)OKRA_MAX_(longest, o.longest)));
    return okra_store_put_text_(store, "kernel", okra_kernel_text(inner));
}

/* ---- prediction ---- */

static okra_int width(const okra_store_ *store)
{
    return (okra_int)okra_store_number_(store, "longest", 0) *
           okra_store_mat_(store, "transitions").cols;
}

typedef struct reading {
    okra_int S;     /* symbols */
    okra_mat_ C, V; /* coefficients and vectors of the elements kept */
    const double *A;
    okra_kernel *kernel;
    okra_data *kept;
    okra_trained_kernel_ *bound;
} reading;

static void close_reading(reading *r)
{
    okra_trained_kernel_free_(r->bound);
    okra_data_free(r->kept);
    okra_kernel_free(r->kernel);
}

static okra_status open_reading(okra_context *ctx, const okra_store_ *store, reading *r)
{
    r->A = okra_store_mat_(store, "transitions").p;
    r->C = okra_store_mat_(store, "coefficients");
    r->V = okra_store_mat_(store, "elements");
    r->S = r->C.cols;
    CHK(okra_kernel_parse_kept_(okra_store_get_text_(store, "kernel"), &r->kernel));
    CHK(okra_data_dense(r->V.p, r->V.rows, r->V.cols, r->V.cols, &r->kept));
    return okra_trained_kernel_create_(ctx, r->kernel, r->kept, &r->bound);
}

/* The embedding of the best sequence of each query, from the scores of all elements. */
static okra_status write_words(const reading *r, const okra_query_ *query,
                               const double *score, okra_mat_ out)
{
    const okra_int *offsets = query->x->groups[0].offsets + query->first;
    OWNED okra_int *best = NULL;
    okra_int most = out.cols / r->S;
    OWNED double *scratch = NULL;
    MAKE(best, most);
    MAKE(scratch, okra_m3n_scratch_(most, r->S));
    okra_mat_fill_(out, 0);
    for (okra_int q = 0; q < query->m; q++) {
        okra_int T = offsets[q + 1] - offsets[q];
        REFUSE_IF(T > most, OKRA_ESHAPE,
                  "m3n: test sequence %lld has %lld elements, this model takes at most "
                  "%lld (fit with longest=%lld)",
                  (long long)(query->first + q), (long long)T, (long long)most,
                  (long long)T);
        okra_m3n_best_(score + (offsets[q] - offsets[0]) * r->S, T, r->S, r->A, scratch,
                       best);
        for (okra_int t = 0; t < T; t++) {
            out.p[q * out.ld + t * r->S + best[t]] = 1;
        }
    }
    return OKRA_OK;
}

static okra_status predict(okra_context *ctx, const okra_store_ *store,
                           okra_query_ *query, okra_mat_ out)
{
    const okra_data *x = query->x;
    FREED_BY(close_reading) reading r = {0};
    FREED_BY(okra_data_drop_) okra_data *vectors = NULL;
    FREED_BY(okra_test_side_drop_) okra_test_side_ *other = NULL;
    OWNED double *K = NULL, *score = NULL;
    CHK(open_reading(ctx, store, &r));
    okra_int d = r.V.cols, used = r.V.rows;
    REFUSE_IF(!x || x->kind != OKRA_SEQUENCES || x->d != d, OKRA_ESHAPE,
              "m3n: the test inputs must be sequences of vectors of length "
              "%lld",
              (long long)d);
    const okra_int *offsets = x->groups[0].offsets + query->first;
    const double *values = okra_ragged_field_(&x->groups[0], "vector")->values;
    okra_int N = offsets[query->m] - offsets[0];
    CHK(okra_data_dense(values + offsets[0] * d, N, d, d, &vectors));
    CHK(okra_test_side_create_(ctx, r.bound, vectors, &other));
    okra_int rows_of = okra_block_rows_(ctx, N, used + r.S);
    CHK(okra_doubles_(ctx, rows_of, used, "a block of elements", &K));
    CHK(okra_doubles_(ctx, N, r.S, "the scores of elements", &score));
    for (okra_int e = 0; e < N; e += rows_of) {
        okra_mat_ block = okra_mat_of_(K, OKRA_MIN_(rows_of, N - e), used);
        CHK(okra_test_side_cross_(ctx, r.bound, other, e, block));
        CHK(okra_gemm_(ctx, false, false, 1, block, r.C, 0,
                       okra_mat_of_(score + e * r.S, block.rows, r.S)));
    }
    return write_words(&r, query, score, out);
}

/* Sequences as m3n needs them, the alphabet of the outputs, the kernel of kx. */
static okra_status check_chain(const okra_store_ *store, const okra_facts_ *f)
{
    FREED_BY(okra_kernel_drop_) okra_kernel *kernel = NULL;
    OWNED int32_t *alphabet = NULL;
    okra_int one, S = 0, count = 0;
    const okra_kernel *inner = okra_kernel_inner_(f->kx);
    const double *letters = okra_store_get_(store, "alphabet", &one, &S);
    bool good = f->x->kind == OKRA_SEQUENCES && f->x->d > 0 && inner &&
                (f->y->kind == OKRA_STRINGS || f->y->kind == OKRA_SEQUENCES);
    CHK(okra_kernel_parse_kept_(okra_store_get_text_(store, "kernel"), &kernel));
    good = good && strcmp(okra_kernel_text(kernel), okra_kernel_text(inner)) == 0 &&
           !okra_kernel_files_(kernel) && !okra_kernel_centers_(kernel) &&
           (okra_kernel_kinds_(kernel) >> OKRA_DENSE & 1);
    if (good) {
        CHK(okra_alphabet_(f->y, &alphabet, &count));
    }
    good = good && S > 0 && S == count;
    for (okra_int c = 0; good && c < S; c++) {
        good = letters[c] == (double)alphabet[c];
    }
    REFUSE_IF(!good, OKRA_EFORMAT,
              "m3n: kernels, letters and sequences do not fit together");
    return OKRA_OK;
}

static const okra_schema_ kept_chain[] = {
    OKRA_KEEPS_MATRIX_("transitions", 0, "S", "S"),
    OKRA_KEEPS_MATRIX_("coefficients", 0, "e", "S"),
    OKRA_KEEPS_MATRIX_("elements", 0, "e", "x"),
    OKRA_KEEPS_VALUES_("alphabet", OKRA_KEPT_WHOLE_, "1", "S", "-1", "1114111"),
    OKRA_KEEPS_NUMBER_("longest", OKRA_KEPT_WHOLE_, "0", "1e6"),
    OKRA_KEEPS_TEXT_("kernel", 0),
    OKRA_KEEPS_SAME_("inputs", "c", "n"),
    OKRA_KEEPS_TOLD_("primal"),
    OKRA_KEEPS_TOLD_("dual"),
    OKRA_KEEPS_TOLD_("gap"),
    OKRA_KEEPS_TOLD_("passes"),
    OKRA_KEEPS_TOLD_("converged"),
    OKRA_KEPT_END_,
};

const okra_method_ okra_method_m3n_ = {
    .name = "m3n",
    .unweighted = "takes its steps over chains of equal weight: it does not use weights",
    .help = "max-margin Markov network: chains of letters from sequences of vectors",
    .options = {"m3n", rows, sizeof(m3n_options)},
    .automatic = &(const okra_auto_){.decoder = "position"},
    .fit = fit,
    .width = width,
    .predict = predict,
    .kept = (const okra_schema_ *const[]){kept_chain, NULL},
    .check = check_chain,
};
