/*
 * lowrank.c: maps phi with k(x, x') ~ <phi(x), phi(x')>, K ~ Phi Phi' of rank m.
 *
 *   chol, nystrom   basis P of m training objects, K_PP + e I = F F' (Cholesky)
 *                   phi(x) = F^-1 k_P(x),   Phi Phi' = K_nP (K_PP + e I)^-1 K_Pn
 *                   chol: P by pivoted incomplete Cholesky (Kadri et al. 2013, sec. 4 and
 *                   appendix 8.3; Fine and Scheinberg 2001); nystrom: lowrank_pivots.c
 *   sketch          random S (n x m), S'KS + e I = F F',  phi(x) = F^-1 S' k(x);
 *                   gaussian: S_ij ~ N(0,1); sparse: each entry is kept with probability
 *                   p (p-sparsified, El Ahmad et al. 2023), and only objects with an
 *                   entry stay in the basis
 *   rff             waves w_j ~ N(0, 2 gamma I), j <= m/2 (Rahimi and Recht 2007):
 *                   phi(x) = (c cos w_j'x, c sin w_j'x)_j, c^2 = k(x,x) 2/m
 *
 * e = 10 m eps mean(diag) makes the factor exist when objects repeat; it moves Phi Phi'
 * by at most e. All but rff are exact where the basis spans the features of the data: at
 * full rank Phi Phi' = K to about e. Cost: choosing the basis, m^3/3, then m k() + m^2
 * operations an object; memory m^2 doubles beside a block. gaussian keeps all n objects
 * and takes n^2 values.
 */
#include "kernel/lowrank.h"

#include "kernel/bound.h"
#include "kernel/kernels.h"
#include "kernel/parse.h"
#include "kernel/transforms.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the text ------------------------------------------------------------------------
 */

okra_status okra_low_check_(const okra_low_ *low)
{
    return low->kind != OKRA_LOW_SKETCH_ || low->sparse || low->p == 0
               ? OKRA_OK
               : okra_fail_(
                     OKRA_EARG,
                     "sketch: p = %g is for kind=sparse; kind=gaussian keeps every "
                     "entry",
                     low->p);
}

okra_status okra_low_parse_(const char *text, okra_low_ *out)
{
    okra_status st = OKRA_OK;
    okra_parser_ p = {.text = text, .what = "low rank"};
    okra_parse_space_(&p);
    size_t at = p.at, length = okra_parse_name_(text + at);
    const okra_kernel_class_ *const *class = okra_low_classes_;
    while (*class && (strlen((*class)->name) != length ||
                      strncmp((*class)->name, text + at, length) != 0)) {
        class ++;
    }
    if (!*class) {
        return okra_parse_fail_(&p, OKRA_EARG, at,
                                "expected chol(rank=N,tol=V), nystrom(rank=N,pivots=HOW),"
                                " sketch(rank=N,kind=KIND,p=V) or rff(rank=N)");
    }
    okra_low_params_ params = {.inner = NULL};
    p.at += length;
    TRY(okra_parse_params_(&p, &(*class)->params, false, &params));
    okra_parse_space_(&p);
    if (text[p.at]) {
        return okra_parse_fail_(&p, OKRA_EARG, p.at, "expected the end");
    }
    params.low.kind = (okra_low_kind_)(class - okra_low_classes_);
    st = okra_low_check_(&params.low);
    if (st != OKRA_OK) {
        return okra_parse_point_(&p, st, at);
    }
    *out = params.low;
done:
    return st;
}

/* ---- making a map --------------------------------------------------------------------
 */

void okra_map_free_(okra_map_ *map)
{
    if (map) {
        okra_bound_free_(map->bound);
        okra_kernel_free(map->kernel);
        okra_data_free(map->objects);
        okra_free_(map->index);
        okra_free_(map->factor);
        okra_free_(map->sketch);
        okra_free_(map);
    }
}

/* Kernels whose values against a few objects say all there is. */
static okra_status check(const okra_kernel *kernel, const okra_data *train)
{
    if (train->kind == OKRA_GRAM) {
        return okra_fail_(OKRA_EUNSUPPORTED,
                          "low rank: %s is a Gram matrix already formed", train->source);
    }
    for (int k = 0; k < kernel->count; k++) {
        const okra_node_ *node = &kernel->nodes[k];
        if (node->kind == OKRA_NODE_TRANSFORM_ &&
            node->transform->uses == OKRA_USES_MEANS_) {
            return okra_fail_(OKRA_EUNSUPPORTED,
                              "low rank: kernel %s: `%s` needs the whole training set at "
                              "every query",
                              kernel->text, node->transform->name);
        }
    }
    if (okra_kernel_low_(kernel)) {
        return okra_fail_(OKRA_EUNSUPPORTED, "low rank: kernel %s is of low rank already",
                          kernel->text);
    }
    return OKRA_OK;
}

/* G <- S' K_BB S a block of rows at a time. */
static okra_status sketched_gram(okra_context *ctx, const okra_bound_ *bound, okra_mat_ S,
                                 okra_mat_ G)
{
    okra_status st = OKRA_OK;
    double *K = NULL, *KS = NULL;
    okra_int rows = okra_block_rows_(ctx, S.rows, S.rows + S.cols);
    TRY(okra_doubles_(ctx, rows, S.rows, "rows of a Gram matrix", &K));
    TRY(okra_doubles_(ctx, rows, S.cols, "rows of a sketch", &KS));
    for (okra_int i = 0; i < S.rows; i += rows) {
        okra_int m = OKRA_MIN_(rows, S.rows - i);
        okra_mat_ Km = okra_mat_of_(K, m, S.rows), KSm = okra_mat_of_(KS, m, S.cols);
        TRY(okra_cancelled_(ctx));
        TRY(okra_tiles_(ctx, bound, bound->kernel->count - 1, &bound->train, i, m,
                        OKRA_TARGET_FULL_, NULL, Km));
        TRY(okra_gemm_(ctx, false, false, 1, Km, S, 0, KSm));
        TRY(okra_gemm_(ctx, true, false, 1, okra_mat_part_(S, i, m, 0, S.cols), KSm,
                       i > 0, G));
    }
    for (okra_int i = 0; i < G.rows; i++) { /* symmetric to the last bit */
        for (okra_int j = 0; j < i; j++) {
            G.p[i * G.ld + j] = (G.p[i * G.ld + j] + G.p[j * G.ld + i]) / 2;
        }
    }
    okra_mat_mirror_(G);
done:
    okra_free_(K);
    okra_free_(KS);
    return st;
}

okra_status okra_low_mean_(const okra_kernel *kernel, double mean)
{
    return isfinite(mean) && mean > 0
               ? OKRA_OK
               : okra_fail_(OKRA_ENUMERIC,
                            "low rank: the mean diagonal of the Gram matrix of kernel %s "
                            "is %g, expected a finite number above 0",
                            okra_kernel_text(kernel), mean);
}

okra_status okra_map_of_(okra_context *ctx, const okra_kernel *kernel,
                         const okra_data *train, const okra_int *index, okra_int count,
                         double *S, okra_int rank, okra_map_ **out)
{
    okra_status st = OKRA_OK;
    okra_map_ *map = NULL;
    double mean = 0;
    ZALLOC(map, 1);
    map->basis = map->columns = count;
    map->rank = rank;
    map->scale = 1;
    if (index) {
        ALLOC(map->index, count);
        memcpy(map->index, index, (size_t)count * sizeof *index);
        TRY(okra_data_take(train, index, count, &map->objects));
    } else {
        map->objects = okra_data_retain(train);
    }
    TRY(okra_bound_create_(ctx, kernel, map->objects, &map->bound));
    TRY(okra_doubles_(ctx, rank, rank, "the Gram matrix of the basis", &map->factor));
    okra_mat_ F = okra_mat_of_(map->factor, rank, rank);
    if (S) {
        TRY(sketched_gram(ctx, map->bound, okra_mat_of_(S, count, rank), F));
    } else {
        TRY(okra_bound_gram_(ctx, map->bound, F));
    }
    for (okra_int i = 0; i < rank; i++) {
        mean += F.p[i * rank + i] / (double)rank;
    }
    TRY(okra_low_mean_(kernel, mean));
    okra_mat_add_diagonal_(F, 10 * (double)rank * DBL_EPSILON * mean);
    TRY(okra_cholesky_(ctx, F, NULL));
    for (okra_int i = 0; i < rank; i++) {
        okra_mat_fill_(okra_mat_part_(F, i, 1, i + 1, rank - i - 1), 0);
    }
    map->sketch = S;
    *out = map;
    map = NULL;
done:
    okra_map_free_(map);
    return st;
}

/* A random S without its empty rows, and which rows these are not. */
static okra_status draw_sketch(okra_context *ctx, const okra_low_ *low, okra_int n,
                               okra_int rank, okra_random_ *random, okra_int *index,
                               okra_int *count, double **out)
{
    okra_status st = OKRA_OK;
    double p = !low->sparse ? 1 : low->p > 0 ? low->p : fmin(1, 20 / (double)n);
    double *row = NULL, *S = NULL;
    okra_int room = 0;
    ALLOC(row, rank);
    *count = 0;
    for (okra_int i = 0; i < n; i++) {
        bool any = false;
        for (okra_int j = 0; j < rank; j++) {
            bool kept = p >= 1 || okra_random_uniform_(random) < p;
            row[j] = kept ? okra_random_normal_(random) : 0;
            any = any || kept;
        }
        if (!any) {
            continue;
        }
        if (*count == room) {
            room = OKRA_MIN_(n, 2 * room + 64);
            TRY(okra_budget_ask_(ctx, 8.0 * (double)room * (double)rank, "a sketch"));
            double *grown = okra_realloc_(S, room * rank, sizeof *grown);
            if (!grown) {
                st = OKRA_EMEM;
                goto done;
            }
            S = grown;
        }
        memcpy(S + *count * rank, row, (size_t)rank * sizeof *row);
        index[(*count)++] = i;
    }
    if (*count == 0) {
        FAIL(OKRA_EARG, "sketch: no entry of %lld x %lld was kept at p = %g",
             (long long)n, (long long)rank, p);
    }
    *out = S;
    S = NULL;
done:
    okra_free_(row);
    okra_free_(S);
    return st;
}

/* gamma and scale of c * rbf(...) on vectors; false for any other kernel. */
static bool is_rbf(const okra_kernel *kernel, double *gamma, double *scale)
{
    const okra_node_ *node = &kernel->nodes[kernel->count - 1];
    *scale = 1;
    if (node->kind == OKRA_NODE_SCALE_) {
        *scale = node->scale;
        node = &kernel->nodes[node->a];
    }
    const okra_node_ *child = &kernel->nodes[node->a];
    if (node->kind != OKRA_NODE_TRANSFORM_ || node->transform != &okra_rbf_ ||
        child->kind != OKRA_NODE_LEAF_ ||
        (child->leaf != &okra_linear_ && child->leaf != okra_linear_.distances)) {
        return false;
    }
    *gamma = okra_rbf_gamma_(node->params);
    return true;
}

static okra_status bind_waves(okra_context *ctx, okra_map_ *map)
{
    okra_status st = OKRA_OK;
    map->basis = map->objects->n;
    map->columns = map->rank = 2 * map->basis;
    TRY(okra_kernel_parse("linear", &map->kernel));
    TRY(okra_bound_create_(ctx, map->kernel, map->objects, &map->bound));
done:
    return st;
}

static okra_status make_waves(okra_context *ctx, const okra_kernel *kernel,
                              const okra_data *train, okra_int rank, okra_random_ *random,
                              okra_map_ **out)
{
    okra_status st = OKRA_OK;
    double gamma = 0, scale = 1, *w = NULL;
    okra_map_ *map = NULL;
    okra_int waves = (rank + 1) / 2, d = train->d;
    if (!is_rbf(kernel, &gamma, &scale) ||
        (train->kind != OKRA_DENSE && train->kind != OKRA_SPARSE)) {
        FAIL(OKRA_EUNSUPPORTED,
             "rff: the kernel is %s, expected rbf(...) on vectors, scaled or not",
             kernel->text);
    }
    ZALLOC(map, 1);
    TRY(okra_doubles_(ctx, waves, d, "random frequencies", &w));
    for (okra_int i = 0; i < waves * d; i++) {
        w[i] = sqrt(2 * gamma) * okra_random_normal_(random);
    }
    TRY(okra_data_adopt_dense_(w, waves, d, "random frequencies", &map->objects));
    w = NULL;
    TRY(bind_waves(ctx, map));
    map->scale = sqrt(scale / (double)waves);
    *out = map;
    map = NULL;
done:
    okra_free_(w);
    okra_map_free_(map);
    return st;
}

okra_status okra_map_create_(okra_context *ctx, const okra_kernel *kernel,
                             const okra_data *train, const okra_low_ *low,
                             uint64_t stream, okra_map_ **out)
{
    okra_status st = OKRA_OK;
    okra_random_ random = okra_random_create_(okra_context_seed(ctx), stream);
    okra_int n = train->n, rank = OKRA_MIN_(low->rank, n), count = rank;
    okra_int *index = NULL;
    okra_data *centres = NULL;
    double *S = NULL;
    TRY(check(kernel, train));
    if (low->kind == OKRA_LOW_RFF_) {
        return make_waves(ctx, kernel, train, low->rank, &random, out);
    }
    if (low->kind == OKRA_LOW_NYSTROM_ && low->pivots == OKRA_PIVOTS_CENTRES_) {
        TRY(okra_centres_(ctx, train, &random, rank, &centres));
        TRY(okra_map_of_(ctx, kernel, centres, NULL, rank, NULL, rank, out));
        goto done;
    }
    ALLOC(index, low->kind == OKRA_LOW_SKETCH_ ? n : rank);
    if (low->kind == OKRA_LOW_SKETCH_) {
        TRY(draw_sketch(ctx, low, n, rank, &random, index, &count, &S));
    } else {
        TRY(okra_pivots_choose_(ctx, kernel, train, low, &random, index, &count));
        rank = count;
    }
    TRY(okra_map_of_(ctx, kernel, train, index, count, S, rank, out));
    S = NULL;
done:
    okra_data_free(centres);
    okra_free_(index);
    okra_free_(S);
    return st;
}
