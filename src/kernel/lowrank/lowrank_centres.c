/*
 * lowrank_centres.c: the centres of k-means as the basis of a low-rank kernel on dense
 * vectors: points between the training objects, whose Nystrom error is below that of as
 * many training objects (Zhang, Tsang and Kwok 2008, sec. 3).
 *
 * Lloyd's iteration from m objects at random, STEPS times, on at most SHARE m objects
 * (drawn at random; means weigh as objects do). An empty centre stays where it is. Cost:
 * 2 s m d a step for s = min(n, SHARE m) vectors of d coordinates, memory s d and a block
 * of distances. Coordinates are seen from their origin (okra_origin_), so that neither a
 * common offset nor a row far out drowns |c|^2 / 2 - <x, c>, by which the nearest centre
 * is found.
 */
#include "kernel/lowrank/lowrank.h"

enum {
    STEPS = 5,  /* the trace error falls little after: 0.0764 at 5, USPS, m = 1000 */
    SHARE = 32, /* objects a centre: beyond that means move little                 */
    CHUNK = 64
};

typedef struct lloyd {
    okra_mat_ X, C, G; /* s x d objects, m x d centres, rows x m products of a block */
    okra_int first;    /* of the block                                               */
    double *half;      /* m: |c|^2 / 2                                               */
    okra_int *nearest; /* s                                                          */
    double *u;         /* s: weights                                                 */
} lloyd;

static okra_status assign(void *arg, okra_int begin, okra_int end, int worker)
{
    const lloyd *z = arg;
    for (okra_int i = begin; i < end; i++) {
        const double *g = z->G.p + i * z->G.ld;
        okra_int at = 0;
        for (okra_int c = 1; c < z->C.rows; c++) {
            at = z->half[c] - g[c] < z->half[at] - g[at] ? c : at;
        }
        z->nearest[z->first + i] = at;
    }
    return OKRA_OK;
}

/* nearest <- the centre of each object. */
static okra_status assign_all(okra_context *ctx, lloyd *z, double *G, okra_int rows)
{
    okra_int m = z->C.rows, d = z->C.cols;
    for (okra_int c = 0; c < m; c++) {
        z->half[c] = okra_dot_(d, z->C.p + c * d, z->C.p + c * d) / 2;
    }
    for (z->first = 0; z->first < z->X.rows; z->first += rows) {
        okra_int some = OKRA_MIN_(rows, z->X.rows - z->first);
        z->G = okra_mat_of_(G, some, m);
        CHK(okra_cancelled_(ctx));
        CHK(okra_gemm_(ctx, false, true, 1, okra_mat_part_(z->X, z->first, some, 0, d),
                       z->C, 0, z->G));
        CHK(okra_parallel_(ctx, some, CHUNK, NULL, assign, z));
    }
    return OKRA_OK;
}

/* C <- the means of the objects of each centre. */
static void move(lloyd *z, double *members)
{
    okra_int m = z->C.rows, d = z->C.cols;
    okra_fill_(m, 0, members);
    for (okra_int i = 0; i < z->X.rows; i++) {
        members[z->nearest[i]] += z->u[i];
    }
    for (okra_int c = 0; c < m; c++) {
        if (members[c] > 0) {
            okra_mat_fill_(okra_mat_part_(z->C, c, 1, 0, d), 0);
        }
    }
    for (okra_int i = 0; i < z->X.rows; i++) {
        okra_int c = z->nearest[i];
        for (okra_int j = 0; j < d; j++) {
            z->C.p[c * d + j] += z->u[i] * z->X.p[i * d + j] / members[c];
        }
    }
}

/* A <- A - mean, or back */
static void shift(okra_mat_ A, const double *mean, double times)
{
    for (okra_int i = 0; i < A.rows; i++) {
        okra_axpy_(A.cols, times, mean, A.p + i * A.ld);
    }
}

okra_status okra_centres_(okra_context *ctx, const okra_data *train, okra_random_ *random,
                          okra_int m, okra_data **out)
{
    okra_int s = m > train->n / SHARE ? train->n : SHARE * m, d = train->d;
    okra_int rows = okra_block_rows_(ctx, s, m);
    OWNED okra_int *index = NULL, *nearest = NULL;
    OWNED double *X = NULL, *C = NULL, *G = NULL, *mean = NULL, *small = NULL;
    FREED_BY(okra_data_drop_) okra_data *some = NULL;
    REFUSE_IF(train->kind != OKRA_DENSE, OKRA_EUNSUPPORTED,
              "pivots=centres: means are of dense vectors; expected pivots=kmeans here");
    MAKE(index, s);
    MAKE(nearest, s);
    MAKE(small, 2 * m + s);
    ZMAKE(mean, d);
    CHK(okra_doubles_(ctx, s, d, "the objects that have centres", &X));
    CHK(okra_doubles_(ctx, m, d, "the centres", &C));
    CHK(okra_doubles_(ctx, rows, m, "products with the centres", &G));
    CHK(okra_pivots_uniform_(random, train->n, s, index));
    CHK(okra_data_take(train, index, s, &some));
    lloyd z = {.X = okra_mat_of_(X, s, d),
               .C = okra_mat_of_(C, m, d),
               .half = small,
               .nearest = nearest,
               .u = small + 2 * m};
    for (okra_int i = 0; i < s; i++) {
        z.u[i] = okra_weight_(train, index[i]);
        for (okra_int j = 0; j < d; j++) {
            X[i * d + j] = some->values[i * d + j];
        }
    }
    okra_origin_(some, mean);
    shift(z.X, mean, -1);
    CHK(okra_mat_copy_(okra_mat_part_(z.X, 0, m, 0, d), z.C));
    for (int step = 0; step < STEPS; step++) {
        CHK(assign_all(ctx, &z, G, rows));
        move(&z, small + m);
        okra_progress_(ctx, "centres", step + 1, STEPS);
    }
    shift(z.C, mean, 1);
    return okra_data_adopt_dense_(&C, m, d, "centres", out);
}
