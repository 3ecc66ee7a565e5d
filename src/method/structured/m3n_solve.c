/*
 * m3n_solve.c: structural support vector machine of chains (max-margin Markov network,
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

#include <math.h>
#include <string.h>

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
        double *swap = now;
        now = next;
        next = swap;
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
    for (okra_int k = 0; k < T * S; k++) {
        m->C[e0 * S + k] += g * w->local[k];
    }
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
        for (okra_int k = 0; k < S * S; k++) {
            m->A[k] += w->a[i * S * S + k];
        }
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
