/*
 * lowrank_use.c: maps of low rank applied to objects, blocks of rows at a time: the
 * kernel's values v(x) against the basis, features phi(x)' = c v(x)' S F^-T, and what
 * moves F and S to the other side of a product (lowrank.h). Cost: a kernel value a basis
 * object and row, 2 an entry of a sketch, rank^2 of F.
 */
#include "kernel/lowrank/lowrank.h"

#include "kernel/gram/trained_kernel.h"

okra_int okra_block_rows_(const okra_context *ctx, okra_int n, okra_int doubles)
{
    return okra_block_rows_of_(ctx, 64 << 20, n, doubles);
}

okra_int okra_block_rows_of_(const okra_context *ctx, okra_int most, okra_int n,
                             okra_int doubles)
{
    double row = 8.0 * (double)OKRA_MAX_(doubles, 1);
    double left = (double)okra_memory_left_(ctx) / 2;
    double rows = OKRA_MIN_(OKRA_MAX_((double)most / row, 256), left / row);
    return OKRA_MAX_(1, OKRA_MIN_(n, (okra_int)OKRA_MAX_(rows, 1)));
}

/* Objects first..first+count-1; dense ones are not copied. */
static okra_status slice(const okra_data *data, okra_int first, okra_int count,
                         okra_data **out)
{
    if (data->pieces) {
        return okra_stack_slice_(data, first, count, out);
    }
    if (first == 0 && count == data->n) {
        *out = okra_data_retain(data);
    } else if (data->kind == OKRA_DENSE) {
        CHK(okra_data_new_(OKRA_DENSE, count, data->d, data->source, out));
        (*out)->values = data->values + first * data->ld;
        (*out)->ld = data->ld;
        (*out)->borrowed = true;
    } else {
        CHK(okra_data_some_(data, first, count, count, out));
    }
    return OKRA_OK;
}

void okra_waves_(okra_mat_ V)
{
    okra_int half = V.cols / 2;
    for (okra_int i = 0; i < V.rows; i++) {
        double *v = V.p + i * V.ld;
        for (okra_int j = 0; j < half; j++) {
            v[half + j] = sin(v[j]);
            v[j] = cos(v[j]);
        }
    }
}

okra_status okra_map_other_(okra_context *ctx, const okra_map_ *map,
                            const okra_data *data, okra_int first, okra_int count,
                            okra_data **rows, okra_test_side_ **other)
{
    FREED_BY(okra_data_drop_) okra_data *some = NULL;
    CHK(slice(data, first, count, &some));
    CHK(okra_test_side_create_(ctx, map->bound, some, other));
    *rows = TAKE(some);
    return OKRA_OK;
}

static okra_status values(okra_context *ctx, const okra_map_ *map, const okra_data *data,
                          okra_int first, okra_mat_ V)
{
    FREED_BY(okra_data_drop_) okra_data *rows = NULL;
    FREED_BY(okra_test_side_drop_) okra_test_side_ *other = NULL;
    CHK(okra_map_other_(ctx, map, data, first, V.rows, &rows, &other));
    return okra_tiles_(ctx, map->bound, map->bound->kernel->count - 1, &other->view, 0,
                       V.rows, OKRA_TARGET_FULL_, NULL,
                       okra_mat_part_(V, 0, V.rows, 0, map->basis));
}

okra_status okra_map_values_(okra_context *ctx, const okra_map_ *map,
                             const okra_data *data, okra_int first, okra_mat_ V)
{
    enum { MOST = 4 << 20 }; /* bytes of vectors, of which a kernel may make a copy */
    okra_int step = OKRA_MAX_(256, MOST / (8 * OKRA_MAX_(data->d, 1)));
    for (okra_int i = 0; i < V.rows; i += step) {
        okra_int some = OKRA_MIN_(step, V.rows - i);
        CHK(values(ctx, map, data, first + i, okra_mat_part_(V, i, some, 0, V.cols)));
    }
    if (map->kernel) {
        okra_waves_(V);
    }
    return OKRA_OK;
}

/* k(x,x) = exp(0) of a Gaussian over whatever is inside. */
static bool self_is_one(const okra_kernel *kernel)
{
    const okra_node_ *root = &kernel->nodes[kernel->count - 1];
    return root->kind == OKRA_NODE_TRANSFORM_ && root->transform == &okra_rbf_;
}

okra_status okra_map_self_(okra_context *ctx, const okra_map_ *map, const okra_data *data,
                           double *self)
{
    return okra_map_self_rows_(ctx, map, data, 0, data->n, self);
}

okra_status okra_map_self_rows_(okra_context *ctx, const okra_map_ *map,
                                const okra_data *data, okra_int first, okra_int count,
                                double *self)
{
    enum { ROWS = 4096 };
    bool one = self_is_one(map->bound->kernel);
    for (okra_int i = 0; (map->kernel || one) && i < count; i++) {
        self[i] = one ? 1 : map->scale * map->scale * (double)map->basis;
    }
    for (okra_int i = 0; !map->kernel && !one && i < count; i += ROWS) {
        FREED_BY(okra_data_drop_) okra_data *rows = NULL;
        FREED_BY(okra_test_side_drop_) okra_test_side_ *other = NULL;
        CHK(okra_map_other_(ctx, map, data, first + i, OKRA_MIN_(ROWS, count - i), &rows,
                            &other));
        CHK(okra_test_side_diagonal_(ctx, map->bound, other, self + i));
    }
    return OKRA_OK;
}

static void scale_by(okra_mat_ A, double c)
{
    for (okra_int i = 0; c != 1 && i < A.rows; i++) {
        okra_scale_(A.cols, c, A.p + i * A.ld);
    }
}

okra_status okra_map_sketched_(okra_context *ctx, const okra_map_ *map, okra_mat_ V,
                               okra_mat_ U)
{
    if (map->sketch) {
        CHK(okra_sketch_right_(ctx, V, map->sketch, 0, false, U));
    } else if (U.p != V.p) {
        CHK(okra_mat_copy_(V, U));
    }
    scale_by(U, map->scale);
    return OKRA_OK;
}

/* A <- A op(F)^-1 */
static okra_status divide(okra_context *ctx, const okra_map_ *map, bool trans,
                          okra_mat_ A)
{
    okra_mat_ F = okra_mat_of_(map->factor, map->rank, map->rank);
    return map->factor ? okra_trsm_(ctx, false, trans, F, A) : OKRA_OK;
}

okra_status okra_map_meet_(okra_context *ctx, const okra_map_ *map, okra_mat_ H)
{
    return divide(ctx, map, false, H);
}

okra_status okra_map_features_(okra_context *ctx, const okra_map_ *map, okra_mat_ V,
                               okra_mat_ Phi)
{
    CHK(okra_map_sketched_(ctx, map, V, Phi));
    return divide(ctx, map, true, Phi);
}

okra_status okra_map_fold_(okra_context *ctx, const okra_map_ *map, okra_mat_ A,
                           okra_mat_ X)
{
    scale_by(A, map->scale);
    if (map->factor) {
        CHK(okra_trsm_(ctx, true, true, okra_mat_of_(map->factor, map->rank, map->rank),
                       A));
    }
    if (map->sketch) {
        CHK(okra_sketch_left_(ctx, map->sketch, A, X));
    } else if (X.p != A.p) {
        CHK(okra_mat_copy_(A, X));
    }
    return OKRA_OK;
}
