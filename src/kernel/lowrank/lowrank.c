/*
 * lowrank.c: maps phi with k(x, x') ~ <phi(x), phi(x')>, K ~ Phi Phi' of rank m.
 *
 *   chol, nystrom   basis P of m training objects, K_PP + e I = F F' (Cholesky)
 *                   phi(x) = F^-1 k_P(x),   Phi Phi' = K_nP (K_PP + e I)^-1 K_Pn
 *                   chol: P by pivoted incomplete Cholesky (Kadri et al. 2013, sec. 4 and
 *                   appendix 8.3; Fine and Scheinberg 2001); nystrom: lowrank_pivots.c
 *   sketch          random S (n x m), S'KS + e I = F F',  phi(x) = F^-1 S' k(x); only
 *                   objects with an entry of S stay in the basis (lowrank_sketch.c)
 *   rff             waves w_j ~ N(0, 2 gamma I), j <= m/2 (Rahimi and Recht 2007):
 *                   phi(x) = (c cos w_j'x, c sin w_j'x)_j, c^2 = k(x,x) 2/m
 *
 * e = 10 m eps mean(diag) makes the factor exist when objects repeat; it moves Phi Phi'
 * by at most e. All but rff are exact where the basis spans the features of the data: at
 * full rank Phi Phi' = K to about e. Cost: choosing the basis, m^3/3, then m k() + m^2
 * operations an object; memory m^2 doubles beside a block. gaussian keeps all n objects
 * and takes n^2 values.
 */
#include "kernel/lowrank/lowrank.h"

#include "kernel/expression/expr.h"

/* ---- the text ---- */

okra_status okra_low_check_(const okra_low_ *low)
{
    REFUSE_IF(low->kind == OKRA_LOW_SKETCH_ && !low->sparse && low->p != 0, OKRA_EARG,
              "sketch: p = %g is for kind=sparse; kind=gaussian keeps every entry",
              low->p);
    return OKRA_OK;
}

okra_status okra_low_parse_(const char *text, okra_low_ *out)
{
    okra_parser_ p = {.text = text, .what = "low rank"};
    okra_parse_next_(&p);
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
    CHK(okra_parse_params_(&p, &(*class)->params, false, &params));
    okra_parse_next_(&p);
    if (text[p.at]) {
        return okra_parse_fail_(&p, OKRA_EARG, p.at, "expected the end");
    }
    params.low.kind = (okra_low_kind_)(class - okra_low_classes_);
    okra_status st = okra_low_check_(&params.low);
    *out = st == OKRA_OK ? params.low : *out;
    return st == OKRA_OK ? st : okra_parse_point_(&p, st, at);
}

/* ---- making a map ---- */

void okra_map_free_(okra_map_ *map)
{
    if (map) {
        okra_trained_kernel_free_(map->bound);
        okra_kernel_free(map->kernel);
        okra_data_free(map->objects);
        FREE(map->index, map->factor);
        okra_sketch_free_(map->sketch);
        okra_free_(map);
    }
}

/* Kernels whose values against a few objects say all there is. */
static okra_status check(const okra_kernel *kernel, const okra_data *train)
{
    REFUSE_IF(train->kind == OKRA_GRAM, OKRA_EUNSUPPORTED,
              "low rank: %s is a Gram matrix already formed", train->source);
    REFUSE_IF(okra_kernel_means_(kernel), OKRA_EUNSUPPORTED,
              "low rank: kernel %s: `center` needs the whole training set at every query",
              kernel->text);
    REFUSE_IF(okra_kernel_low_(kernel), OKRA_EUNSUPPORTED,
              "low rank: kernel %s is of low rank already", kernel->text);
    return OKRA_OK;
}

okra_status okra_low_mean_(const okra_kernel *kernel, double mean)
{
    REFUSE_IF(
        !isfinite(mean) || mean <= 0, OKRA_ENUMERIC,
        "low rank: the mean diagonal of the Gram matrix of kernel %s is %g, expected "
        "a finite number above 0",
        okra_kernel_text(kernel), mean);
    return OKRA_OK;
}

okra_status okra_low_shift_(const okra_kernel *kernel, okra_int n, const double *d,
                            double *shift)
{
    double mean = 0;
    for (okra_int i = 0; i < n; i++) {
        mean += d[i] / (double)n;
    }
    *shift = 10 * (double)n * DBL_EPSILON * mean;
    return okra_low_mean_(kernel, mean);
}

static okra_status factor_host(okra_context *ctx, const okra_kernel *kernel, okra_mat_ F)
{
    OWNED double *d = NULL;
    double shift = 0;
    MAKE(d, F.rows);
    for (okra_int i = 0; i < F.rows; i++) {
        d[i] = F.p[i * F.ld + i];
    }
    CHK(okra_low_shift_(kernel, F.rows, d, &shift));
    okra_mat_add_diagonal_(F, shift);
    CHK(okra_cholesky_(ctx, F, NULL));
    for (okra_int i = 0; i < F.rows; i++) {
        okra_mat_fill_(okra_mat_part_(F, i, 1, i + 1, F.rows - i - 1), 0);
    }
    return OKRA_OK;
}

okra_status okra_map_of_(okra_context *ctx, const okra_kernel *kernel,
                         const okra_data *train, const okra_int *index, okra_int count,
                         okra_sketch_ *S, okra_int rank, okra_factor_fn_ factor,
                         okra_map_ **out)
{
    FREED_BY(okra_map_drop_) okra_map_ *map = NULL;
    ZMAKE(map, 1);
    map->basis = map->columns = count;
    map->rank = rank;
    map->scale = 1;
    if (index) {
        MAKE(map->index, count);
        memcpy(map->index, index, (size_t)count * sizeof *index);
        CHK(okra_data_take(train, index, count, &map->objects));
        okra_weights_forget_(map->objects); /* a basis holds each object once */
    } else {
        map->objects = okra_data_retain(train);
    }
    CHK(okra_trained_kernel_create_(ctx, kernel, map->objects, &map->bound));
    CHK(okra_doubles_(ctx, rank, rank, "the Gram matrix of the basis", &map->factor));
    okra_mat_ F = okra_mat_of_(map->factor, rank, rank);
    if (factor && !S) {
        CHK(factor(ctx, map->bound, F));
    } else {
        CHK(S ? okra_sketch_gram_(ctx, map->bound, S, F)
              : okra_trained_kernel_gram_(ctx, map->bound, F));
        CHK(factor_host(ctx, kernel, F));
    }
    map->sketch = S;
    *out = TAKE(map);
    return OKRA_OK;
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
    map->basis = map->objects->n;
    map->columns = map->rank = 2 * map->basis;
    CHK(okra_kernel_parse("linear", &map->kernel));
    return okra_trained_kernel_create_(ctx, map->kernel, map->objects, &map->bound);
}

static okra_status make_waves(okra_context *ctx, const okra_kernel *kernel,
                              const okra_data *train, okra_int rank, okra_random_ *random,
                              okra_map_ **out)
{
    OWNED double *w = NULL;
    double gamma = 0, scale = 1;
    FREED_BY(okra_map_drop_) okra_map_ *map = NULL;
    okra_int waves = (rank + 1) / 2, d = train->d;
    REFUSE_IF(!is_rbf(kernel, &gamma, &scale) ||
                  (train->kind != OKRA_DENSE && train->kind != OKRA_SPARSE),
              OKRA_EUNSUPPORTED,
              "rff: the kernel is %s, expected rbf(...) on vectors, scaled or not",
              kernel->text);
    ZMAKE(map, 1);
    CHK(okra_doubles_(ctx, waves, d, "random frequencies", &w));
    for (okra_int i = 0; i < waves * d; i++) {
        w[i] = sqrt(2 * gamma) * okra_random_normal_(random);
    }
    CHK(okra_data_adopt_dense_(&w, waves, d, "random frequencies", &map->objects));
    okra_columns_pass_(train, map->objects);
    CHK(bind_waves(ctx, map));
    map->scale = sqrt(scale / (double)waves);
    *out = TAKE(map);
    return OKRA_OK;
}

okra_status okra_map_create_(okra_context *ctx, const okra_kernel *kernel,
                             const okra_data *train, const okra_low_ *low,
                             uint64_t stream, okra_factor_fn_ factor, okra_map_ **out)
{
    okra_random_ random = okra_random_create_(okra_context_seed(ctx), stream);
    okra_int n = train->n, rank = OKRA_MIN_(low->rank, n), count = rank;
    OWNED okra_int *index = NULL;
    FREED_BY(okra_data_drop_) okra_data *centres = NULL;
    FREED_BY(okra_sketch_drop_) okra_sketch_ *S = NULL;
    CHK(check(kernel, train));
    if (low->kind == OKRA_LOW_RFF_) {
        return make_waves(ctx, kernel, train, low->rank, &random, out);
    }
    if (low->kind == OKRA_LOW_NYSTROM_ && low->pivots == OKRA_PIVOTS_CENTRES_) {
        CHK(okra_centres_(ctx, train, &random, rank, &centres));
        okra_columns_pass_(train, centres);
        return okra_map_of_(ctx, kernel, centres, NULL, rank, NULL, rank, factor, out);
    }
    if (low->kind == OKRA_LOW_SKETCH_) {
        CHK(okra_sketch_draw_(ctx, low, n, rank, &random, &index, &S));
        count = S->rows;
    } else {
        MAKE(index, rank);
        CHK(okra_pivots_choose_(ctx, kernel, train, low, &random, index, &count));
        rank = count;
    }
    CHK(okra_map_of_(ctx, kernel, train, index, count, S, rank, factor, out));
    S = NULL;
    return OKRA_OK;
}
