/*
 * lowrank.h: thin factors of a Gram matrix, K ~ Phi Phi', Phi = (phi(x_i)')_i of n x
 * rank.
 *
 * A map phi is made from a training set without forming its Gram matrix, and applies to
 * any object: phi(x)' = c v(x)' S F^-T, where v(x) are the kernel's values against a few
 * basis objects (or waves, for random Fourier features), F is lower triangular and S, the
 * sketch, often the identity.
 */
#ifndef OKRA_LOWRANK_H_
#define OKRA_LOWRANK_H_

#include "kernel/kernel.h"

typedef enum okra_low_kind_ {
    OKRA_LOW_CHOL_,
    OKRA_LOW_NYSTROM_,
    OKRA_LOW_SKETCH_,
    OKRA_LOW_RFF_,
} okra_low_kind_;

typedef enum okra_pivots_ {
    OKRA_PIVOTS_UNIFORM_,
    OKRA_PIVOTS_LEVERAGE_,
    OKRA_PIVOTS_KMEANS_,
    OKRA_PIVOTS_GREEDY_,
    OKRA_PIVOTS_CENTRES_, /* not among the objects: lowrank_centres.c */
} okra_pivots_;

/* chol(rank=500,tol=1e-6), nystrom(rank=500,pivots=uniform), sketch(rank=500,
 * kind=sparse,p=0), rff(rank=500) */
typedef struct okra_low_ {
    okra_low_kind_ kind;
    okra_int rank;
    double tol; /* chol: stop where tr(K - Phi Phi') <= tol tr(K)               */
    int pivots; /* nystrom: an okra_pivots_                                      */
    int sparse; /* sketch: 0 gaussian, 1 sparse                                  */
    double p;   /* sparse sketch: share of entries that are not 0; 0: 20 / n     */
} okra_low_;

okra_status okra_low_parse_(const char *text, okra_low_ *out);
/* Parameters that do not go together are refused. */
okra_status okra_low_check_(const okra_low_ *low);
/* The mean of a Gram matrix's diagonal must be finite and above 0. */
okra_status okra_low_mean_(const okra_kernel *kernel, double mean);

/* EXPR | chol(...) and the others are kernels: leaves that hold EXPR, by kind
 * (lowrank_kernel.c). */
typedef struct okra_low_params_ {
    const okra_kernel *inner;
    okra_low_ low;
    uint64_t stream; /* of random choices */
} okra_low_params_;
extern const okra_kernel_class_ *const okra_low_classes_[]; /* ends at NULL */

/* Rank of a kernel EXPR | chol(...) and tr(K - Phi Phi') / tr(K) on its training set, -1
 * for rff, which keeps the trace; *rank == 0: it is another kernel. */
okra_status okra_trained_kernel_low_(okra_context *ctx, const okra_trained_kernel_ *bound,
                                     okra_int *rank, double *error);

/* lowrank_sketch.c: S of a sketch, rows x cols. Row k of a sparse one has the entries
 * start[k]..start[k+1]-1; start and column are NULL where S is dense. */
typedef struct okra_sketch_ {
    okra_int rows, cols, entries;
    okra_int *start, *column;
    double *value;
} okra_sketch_;

/* A random S of n objects without its empty rows, and which objects the others are. */
okra_status okra_sketch_draw_(okra_context *ctx, const okra_low_ *low, okra_int n,
                              okra_int rank, okra_random_ *random, okra_int **index,
                              okra_sketch_ **out);
void okra_sketch_free_(okra_sketch_ *S); /* accepts NULL */
OKRA_DROPS_(okra_sketch_drop_, okra_sketch_, okra_sketch_free_)
/* U <- V S', S' the rows of S from `first` on, V.cols of them; `add`: U += V S'. */
okra_status okra_sketch_right_(okra_context *ctx, okra_mat_ V, const okra_sketch_ *S,
                               okra_int first, bool add, okra_mat_ U);
/* X <- S A */
okra_status okra_sketch_left_(okra_context *ctx, const okra_sketch_ *S, okra_mat_ A,
                              okra_mat_ X);
/* G <- S'KS, K the Gram matrix of the training set, a block of its rows at a time. */
okra_status okra_sketch_gram_(okra_context *ctx, const okra_trained_kernel_ *bound,
                              const okra_sketch_ *S, okra_mat_ G);

typedef struct okra_map_ {
    okra_int basis, columns, rank; /* objects; values v(x) (2 a wave); features    */
    okra_data *objects;            /* the basis; the frequencies of waves          */
    okra_kernel *kernel;           /* waves: linear, owned; else NULL              */
    okra_trained_kernel_ *bound;   /* to the objects                               */
    okra_int *index;               /* of the objects in the training set, or NULL  */
    double *factor;                /* F, rank x rank, lower; NULL for waves        */
    okra_sketch_ *sketch;          /* S, columns x rank; NULL: the identity        */
    double scale;                  /* c: 1, or sqrt(k(x,x) / basis) of waves       */
} okra_map_;

/* F (rank x rank, lower, 0 above) of the basis that is bound: the Gram matrix with
 * okra_low_shift_ added to its diagonal, factored. */
typedef okra_status (*okra_factor_fn_)(okra_context *ctx,
                                       const okra_trained_kernel_ *bound, okra_mat_ F);
/* e of lowrank.c, from the diagonal d (n) of the Gram matrix; fails where that is not
 * above 0. */
okra_status okra_low_shift_(const okra_kernel *kernel, okra_int n, const double *d,
                            double *shift);

/* Random choices follow the context's seed and `stream`. The kernel must outlive the map.
 * A rank above the number of training objects is cut to it. factor: what makes F in the
 * place of the host (NULL). */
okra_status okra_map_create_(okra_context *ctx, const okra_kernel *kernel,
                             const okra_data *train, const okra_low_ *low,
                             uint64_t stream, okra_factor_fn_ factor, okra_map_ **out);
void okra_map_free_(okra_map_ *map); /* accepts NULL */
OKRA_DROPS_(okra_map_drop_, okra_map_, okra_map_free_)

/* What a map needs later besides the kernel, as arrays PREFIX.* of a store; `train` is
 * the collection that `index` refers to. */
okra_status okra_map_save_(const okra_map_ *map, okra_store_ *store, const char *prefix);
bool okra_map_saved_(const okra_store_ *store, const char *prefix);
/* OKRA_EFORMAT unless the store of a model file holds such arrays of a map whose training
 * set has n objects like those of `train`; *rank: its features. */
okra_status okra_map_check_kept_(const okra_kernel *kernel, const okra_data *train,
                                 okra_int n, okra_store_ *store, const char *prefix,
                                 okra_int *rank);
okra_status okra_map_load_(okra_context *ctx, const okra_kernel *kernel,
                           const okra_data *train, const okra_store_ *store,
                           const char *prefix, okra_map_ **out);

/* The same of a map whose objects, and what the kernel keeps of them (STATISTICS.*),
 * the model keeps already: as the training inputs of a model of low rank. Names:
 * PREFIX.factor, PREFIX.sketch and so on, or PREFIX.scale of waves. */
okra_status okra_map_save_over_(const okra_map_ *map, okra_store_ *store,
                                const char *prefix);
bool okra_map_saved_over_(const okra_store_ *store, const char *prefix);
okra_status okra_map_load_over_(okra_context *ctx, const okra_kernel *kernel,
                                const okra_data *objects, const okra_store_ *store,
                                const char *prefix, const char *statistics,
                                okra_map_ **out);

/* Rows first..first+V.rows-1 of data: V <- v(x)', V.cols == columns. */
okra_status okra_map_values_(okra_context *ctx, const okra_map_ *map,
                             const okra_data *data, okra_int first, okra_mat_ V);
/* The same rows of data as a collection before the basis; both are the caller's to free,
 * `other` first. */
okra_status okra_map_other_(okra_context *ctx, const okra_map_ *map,
                            const okra_data *data, okra_int first, okra_int count,
                            okra_data **rows, okra_test_side_ **other);
/* self[i] = k(x_i, x_i) of all objects of data. */
okra_status okra_map_self_(okra_context *ctx, const okra_map_ *map, const okra_data *data,
                           double *self);
/* The same of the objects first..first+count-1. */
okra_status okra_map_self_rows_(okra_context *ctx, const okra_map_ *map,
                                const okra_data *data, okra_int first, okra_int count,
                                double *self);
/* U <- c V S: phi(x)' = u(x)' F^-T; V is destroyed. Without a sketch U may be V. */
okra_status okra_map_sketched_(okra_context *ctx, const okra_map_ *map, okra_mat_ V,
                               okra_mat_ U);
/* H <- H F^-1 (rows of `rank` coefficients): <phi(x), h> becomes <u(x), h>. */
okra_status okra_map_meet_(okra_context *ctx, const okra_map_ *map, okra_mat_ H);
/* Phi <- c V S F^-T; V is destroyed. Without a sketch Phi may be V. */
okra_status okra_map_features_(okra_context *ctx, const okra_map_ *map, okra_mat_ V,
                               okra_mat_ Phi);
/* Coefficients of features become coefficients of values: X <- c S F^-T A, A: rank x d,
 * destroyed; X: columns x d. Without a sketch X may be A. */
okra_status okra_map_fold_(okra_context *ctx, const okra_map_ *map, okra_mat_ A,
                           okra_mat_ X);
/* The left half of V (angles) becomes cosines, the right half sines. */
void okra_waves_(okra_mat_ V);

/* Rows of a block when each takes `doubles`: what fits half of the memory that is left,
 * no more than 64 MiB, at least 1 and at most n. */
okra_int okra_block_rows_(const okra_context *ctx, okra_int n, okra_int doubles);
/* The same for blocks of at most `most` bytes. */
okra_int okra_block_rows_of_(const okra_context *ctx, okra_int most, okra_int n,
                             okra_int doubles);

/* lowrank_pivots.c: `*count` distinct objects of the training set, in the order chosen;
 * *count is lowered where the kernel is exhausted. */
okra_status okra_pivots_choose_(okra_context *ctx, const okra_kernel *kernel,
                                const okra_data *train, const okra_low_ *low,
                                okra_random_ *random, okra_int *index, okra_int *count);
/* The same by pivoted incomplete Cholesky; *error (may be NULL): tr(K - Phi Phi'). */
okra_status okra_pivots_greedy_(okra_context *ctx, const okra_kernel *kernel,
                                const okra_data *train, double tol, okra_int *index,
                                okra_int *count, double *error);

/* m of n without replacement, in random order. */
okra_status okra_pivots_uniform_(okra_random_ *random, okra_int n, okra_int m,
                                 okra_int *index);
/* lowrank_centres.c: m centres of k-means on dense vectors. */
okra_status okra_centres_(okra_context *ctx, const okra_data *train, okra_random_ *random,
                          okra_int m, okra_data **out);

/* A map whose basis are these objects (index == NULL: all of train, which then is no
 * training set but the basis itself), seen through S (count x rank, taken over on
 * success; NULL: the identity). */
okra_status okra_map_of_(okra_context *ctx, const okra_kernel *kernel,
                         const okra_data *train, const okra_int *index, okra_int count,
                         okra_sketch_ *S, okra_int rank, okra_factor_fn_ factor,
                         okra_map_ **out);

#endif
