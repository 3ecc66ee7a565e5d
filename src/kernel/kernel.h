/*
 * kernel.h: how a kernel is written, and how it is evaluated.
 *
 * An expression is a tree. A leaf is a kernel class (linear, laplacian, zero-one,
 * precomputed, ...) that turns a collection of objects into a `side` (features) and
 * fills blocks of the Gram matrix from two sides. An inner node adds, multiplies,
 * scales, or applies a transform: a function of the Gram value k(a,b) and of the
 * self-similarities k(a,a), k(b,b). So
 *     rbf(sigma=s)  is  linear | rbf(sigma=s)        d^2 = k(a,a) + k(b,b) - 2 k(a,b)
 *     poly, cosine, tanimoto  are  linear | poly, linear | normalize, linear | tanimoto
 * and the same transforms serve strings, graphs and everything else.
 *
 * A kernel bound to a training set keeps the training side and the statistics that test
 * rows need (the mean that `center` subtracts, the shift that keeps d^2 accurate).
 */
#ifndef OKRA_KERNEL_H_
#define OKRA_KERNEL_H_

#include "data/data.h"
#include "okra/kernel.h"

/* ---- step ----
 * A kernel expression over vectors as a short program.
 *
 * The program is the expression tree in postfix order: a leaf pushes k(a_i, b_j), a
 * transform replaces the top, a sum or product replaces the two on top. On the diagonal
 * of a symmetric matrix the value after each step is self[i] exactly, so that distances
 * there are 0.
 */

typedef enum okra_code_ {
    OKRA_CODE_DOT_,       /* push <a_i, b_j>, rows of doubles                          */
    OKRA_CODE_BITS_,      /* push |a_i and b_j|, rows of 64-bit words                  */
    OKRA_CODE_DISTANCE1_, /* push sum_t |a_it - b_jt|, rows of doubles                 */
    OKRA_CODE_CONSTANT_,  /* push p                                                    */
    OKRA_CODE_SUM_,       /* k <- the sum of the two on top                            */
    OKRA_CODE_PRODUCT_,   /* k <- their product                                        */
    OKRA_CODE_SCALE_,     /* k <- p k                                                  */
    OKRA_CODE_RBF_,       /* k <- exp(-p max(0, u_i + v_j - 2k))                       */
    OKRA_CODE_EXP_,       /* k <- exp(p k)                                             */
    OKRA_CODE_POLY_,      /* k <- (p k + q)^degree                                     */
    OKRA_CODE_POWER_,     /* k <- k^degree                                             */
    OKRA_CODE_NORMALIZE_, /* k <- k / sqrt(u_i v_j), 0 where a factor is not above 0   */
    OKRA_CODE_TANIMOTO_,  /* k <- k / (u_i + v_j - k), 1 where the divisor is <= 0      */
    OKRA_CODE_CENTER_,    /* k <- k - u_i - v_j                                        */
    OKRA_CODE_SERIES_,    /* k <- sum_t list[t] k^t, t = 0..count-1                    */
} okra_code_;

typedef struct okra_step_ {
    okra_code_ code;
    double p, q;
    okra_int degree;
    const double *u, *v; /* of the rows and of the columns, where the code reads them */
    const double *self; /* of the rows: the value of this step on the diagonal, or NULL */
    /* Leaves: rows of `width` doubles (words of bits), row strides a_ld and b_ld. */
    const void *a, *b;
    okra_int width, a_ld, b_ld;
    const double *list; /* OKRA_CODE_SERIES_ */
    okra_int count;
} okra_step_;

OKRA_DROPS_(okra_kernel_drop_, okra_kernel, okra_kernel_free)

struct okra_graph_view_;
struct okra_collector_;

/* How `auto` finds a number in the parameters of a kernel. */
typedef enum okra_number_rule_ {
    OKRA_RULE_NONE_,
    OKRA_RULE_DISTANCE_,    /* a transform's sigma or gamma: distances of its child    */
    OKRA_RULE_EXPONENT_,    /* exp(-p d), p all of the parameters: about 1 over d      */
    OKRA_RULE_INFORMATION_, /* of nodes: the values tell most of them                  */
} okra_number_rule_;

/* What a value of two objects is, of a kernel or a metric: a decoder may find the best
 * object in parts, and `precomputed` needs no objects at all. */
typedef enum okra_shape_ {
    OKRA_SHAPE_ANY_,
    OKRA_SHAPE_GIVEN_,  /* an entry of a Gram matrix that is the object                */
    OKRA_SHAPE_EQUAL_,  /* 1 of equal objects, else 0                                  */
    OKRA_SHAPE_INNER_,  /* the inner product of the vectors themselves                 */
    OKRA_SHAPE_RANKS_,  /* of rankings: a constant and a multiple of it                */
    OKRA_SHAPE_PAIRS_,  /* of rankings: a sum over pairs of items, by their order      */
    OKRA_SHAPE_PLACES_, /* a sum over places: of letters that differ, or see `power`   */
    OKRA_SHAPE_EDITS_,  /* of strings: the least number of edits                       */
    OKRA_SHAPE_GAINS_,  /* gains of items, each times a discount of its place          */
} okra_shape_;

/* A leaf. To add a kernel: write one of these in a file of its own, and one line in
 * kernels.c. */
typedef struct okra_kernel_class_ {
    const char *name, *help;
    okra_option_table params;
    unsigned kinds; /* bit (1u << okra_kind) for each kind of data it takes */
    /* name(EXPR, param=value, ...): params begin with a const okra_kernel *, the nested
     * expression, which belongs to the node. */
    bool nested;
    bool whole; /* takes tuples as they are, where no part is chosen */
    okra_shape_ shape;
    okra_number_rule_ automatic;
    /* Values depend on all training objects, and a model keeps no statistics of them:
     * the kernel is bound to them anew. */
    bool follows;
    /* A class of the same distances k(a,a) + k(b,b) - 2 k(a,b), computed more accurately;
     * NULL: none. Used under a transform that depends on distances alone. */
    const struct okra_kernel_class_ *distances;
    /* Also written FROM | AS, FROM a leaf alone without parameters; NULL: not. */
    const struct okra_kernel_class_ *from;
    const char *as;
    /* Statistics of the training set that both sides use; NULL: what is shared is the
     * training set itself. */
    okra_status (*bind)(okra_context *ctx, const void *params, const okra_data *train,
                        void **shared);
    void (*unbind)(void *shared); /* NULL: nothing is to be freed; free_side too */
    /* What a model must keep because the training set does not tell it (a file that was
     * read, random choices): `save` puts it into the store under that name, `load` makes
     * `shared` of it in place of bind (store == NULL: there is none, where bind is NULL).
     * Both may be NULL. */
    okra_status (*save)(const void *shared, okra_store_ *store, const char *name);
    okra_status (*load)(okra_context *ctx, const void *params, const okra_data *train,
                        const okra_store_ *store, const char *name, void **shared);
    /* What save puts into the store, names after that of the leaf (data/store.h; sizes:
     * n training objects, d their width), or a function that checks it: a class with save
     * has one of the two. */
    const okra_schema_ *kept;
    okra_status (*check_kept)(const void *params, const okra_data *train, okra_int n,
                              const char *name, okra_store_ *store);
    /* One more owner of `shared`, for okra_trained_kernel_again_; NULL: it is bound anew.
     */
    void *(*share)(void *shared);
    /* Features of one collection (the training set too). The data outlives the side.
     * The kind has been checked; widths have not. */
    okra_status (*side)(okra_context *ctx, const void *params, const void *shared,
                        const okra_data *data, void **side);
    void (*free_side)(void *side);
    /* out[r*ld + c] = k(a_(i0+r), b_(j0+c)), r < ni, c < nj; b is the training side, a
     * it too or another collection's; called from many threads. */
    okra_status (*block)(okra_context *ctx, const void *params, const void *a,
                         okra_int i0, okra_int ni, const void *b, okra_int j0,
                         okra_int nj, double *out, okra_int ld);
    /* Or one value at a time. */
    double (*pair)(const void *params, const void *a, okra_int i, const void *b,
                   okra_int j);
    /* out[r] = k(a_r, a_r) for all rows, exactly as `block` would compute it if it can;
     * OKRA_EUNSUPPORTED if the data do not tell. NULL: by `pair`, by `block` (of a side
     * with itself) where self_by_block says so, or 1 each. */
    okra_status (*diagonal)(okra_context *ctx, const void *params, const void *a,
                            okra_int n, double *out);
    bool self_by_block;
    /* |a_i - b_j|^2 by differences, for pairs far from the origin, whose kernel values
     * keep too few digits of it; NULL: not known, or never needed. */
    double (*distance2)(const void *a, okra_int i, const void *b, okra_int j);
    /* For low rank: the values before it that `diagonal` falls short of, told of objects
     * that are not of the training set; NULL: there are none. */
    okra_status (*whole_diagonal)(okra_context *ctx, const void *a, double *out);
    /* What `block` computes of these sides as at most two steps of a program, 0: it is
     * none. NULL: never. */
    int (*steps)(const void *params, const void *a, const void *b, okra_step_ steps[2]);
    /* By way of another collection (gram/trained_kernel.h), in the place of `bind`. */
    const struct okra_through_ *through;
    /* The features of one graph (graphs/graph_features.h), params beginning with an
     * okra_feature_params_; NULL: the kernel counts no such features. */
    okra_status (*extract)(const void *params, const struct okra_graph_view_ *graph,
                           struct okra_collector_ *c);
    bool counted; /* how often each is there matters, whatever params say */
} okra_kernel_class_;

/* What a transform reads beside the child's values, and so what `da` and `db` hold. */
typedef enum okra_uses_ {
    OKRA_USES_VALUES_, /* nothing; da and db are NULL                                  */
    OKRA_USES_SELF_,   /* the child's self-similarities k(a,a), k(b,b)                 */
    OKRA_USES_MEANS_,  /* m - g/2: mean over the training set, less half the grand mean */
} okra_uses_;

/* A transform. apply works in place on a tile of child values, given da of the tile's
 * rows and db of its columns. Self-similarities go through it as tiles of one value. To
 * add one: a file and one line in transforms.c. */
typedef struct okra_transform_class_ {
    const char *name, *help;
    okra_option_table params;
    okra_uses_ uses;
    okra_number_rule_ automatic;
    bool distances;  /* depends on k only through k(a,a) + k(b,b) - 2 k(a,b)           */
    bool positional; /* parameters may be given without their names, in order          */
    const char *degenerate; /* what becomes of objects with k(a,a) <= 0; NULL: nothing */
    /* Message and OKRA_EARG if the parameters do not fit together; may be NULL. */
    okra_status (*check)(const void *params);
    void (*apply)(const void *params, const double *da, const double *db, okra_int ni,
                  okra_int nj, double *tile, okra_int ld);
    /* One object a, k(a,a) = `self`, against n: k holds the child's values and gets the
     * transform's; by_k, by_self (n each, zeroed by the caller) get its derivatives by
     * the child's k(a,b) and by k(a,a). NULL: not smooth, or not known. */
    void (*derive)(const void *params, double self, const double *db, okra_int n,
                   double *k, double *by_k, double *by_self);
    bool bounds; /* values are bounded whatever the child's */
    /* The same as a step of a program: its code, 0 where there is none, and what puts in
     * its numbers (not u, v and self), NULL where it has none. */
    okra_code_ code;
    void (*step)(const void *params, okra_step_ *step);
} okra_transform_class_;

extern const okra_option okra_no_params_[];                    /* the end alone */
extern const okra_kernel_class_ *const okra_kernel_classes_[]; /* ends at NULL */
extern const char *const okra_align_names_[]; /* means whose weights a fit learns; NULL */
extern const okra_transform_class_ *const okra_transform_classes_[]; /* ends at NULL */

/* ---- a kernel bound to its training set ---- */

/* What one node keeps of one collection of n objects. */
typedef struct okra_slot_ {
    void *side;   /* of a leaf                                                     */
    double *self; /* n self-similarities, or NULL where the data do not tell them  */
    double *mean; /* of `center`: m_i - g/2, m_i the mean of the child against the
                     training set, g that of all training pairs; else NULL         */
} okra_slot_;

/* A collection seen through the tree: a slot a node. */
typedef struct okra_slots_ {
    const okra_data *data;
    okra_int n;
    int count;
    okra_slot_ *slots;
} okra_slots_;

typedef struct okra_trained_kernel_ {
    const okra_kernel *kernel;
    okra_slots_ train;
    void **shared;            /* a place a node: statistics of a leaf                 */
    double *grand;            /* a place a node: g of `center`                        */
    const okra_store_ *store; /* while it is made, where `shared` comes from, or NULL */
    const char *prefix;
} okra_trained_kernel_;

/* A second collection (test inputs, candidates) prepared against the bound kernel. */
typedef struct okra_test_side_ {
    const okra_kernel *kernel;
    okra_slots_ view;
} okra_test_side_;

/* The kernel and the data are borrowed and must outlive the bound kernel. */
okra_status okra_trained_kernel_create_(okra_context *ctx, const okra_kernel *kernel,
                                        const okra_data *train,
                                        okra_trained_kernel_ **out);
void okra_trained_kernel_free_(okra_trained_kernel_ *bound);
OKRA_DROPS_(okra_trained_kernel_drop_, okra_trained_kernel_, okra_trained_kernel_free_)
/* Training Gram matrix, both triangles. */
okra_status okra_trained_kernel_gram_(okra_context *ctx,
                                      const okra_trained_kernel_ *bound, okra_mat_ K);
/* k(train_i, train_i). */
okra_status okra_trained_kernel_diagonal_(okra_context *ctx,
                                          const okra_trained_kernel_ *bound, double *d);
/* Statistics that `center` needs are saved in and restored from a model's store. */
okra_status okra_trained_kernel_save_(const okra_trained_kernel_ *bound,
                                      okra_store_ *store, const char *prefix);
okra_status okra_trained_kernel_load_(okra_context *ctx, const okra_kernel *kernel,
                                      const okra_data *train, const okra_store_ *store,
                                      const char *prefix, okra_trained_kernel_ **out);

/* OKRA_EFORMAT unless the store of a model file holds what okra_trained_kernel_save_ of
 * this kernel, bound to n objects like those of `train`, puts there. */
okra_status okra_trained_kernel_check_kept_(const okra_kernel *kernel,
                                            const okra_data *train, okra_int n,
                                            const char *prefix, okra_store_ *store);

/* The kernel on other objects in place of the training set: `center` takes its means from
 * them, but the features of low rank are those of `bound`, which must outlive it. */
okra_status okra_trained_kernel_again_(okra_context *ctx,
                                       const okra_trained_kernel_ *bound,
                                       const okra_data *data, okra_trained_kernel_ **out);

/* The serial evaluation of one block, for kernels made of kernels: out[r*ld + c] =
 * k(a_(i0+r), train_(j0+c)), a the other collection or (NULL) the training set. Safe in
 * many threads. */
okra_status okra_trained_kernel_block_(okra_context *ctx,
                                       const okra_trained_kernel_ *bound,
                                       const okra_test_side_ *other, okra_int i0,
                                       okra_int ni, okra_int j0, okra_int nj, double *out,
                                       okra_int ld);
/* The kinds of data that every leaf of the expression takes. */
unsigned okra_kernel_kinds_(const okra_kernel *kernel);

okra_status okra_test_side_create_(okra_context *ctx, const okra_trained_kernel_ *bound,
                                   const okra_data *data, okra_test_side_ **out);
void okra_test_side_free_(okra_test_side_ *other);
OKRA_DROPS_(okra_test_side_drop_, okra_test_side_, okra_test_side_free_)
/* K_rc = k(other_(i0+r), train_c): rows i0..i0+K.rows-1 against all training objects. */
okra_status okra_test_side_cross_(okra_context *ctx, const okra_trained_kernel_ *bound,
                                  const okra_test_side_ *other, okra_int i0, okra_mat_ K);
/* K_rc = k(train_r, other_(j0+c)): the transpose, for candidate blocks. */
okra_status okra_test_side_cross_t_(okra_context *ctx, const okra_trained_kernel_ *bound,
                                    const okra_test_side_ *other, okra_int j0,
                                    okra_mat_ K);
/* k(other_i, other_i) of all rows; OKRA_EARG where the user's Gram rows lack it. Of EXPR
 * | chol(...) it is that of EXPR: the features of a new object miss what the basis does
 * not span, but variances and distances must not. */
okra_status okra_test_side_diagonal_(okra_context *ctx, const okra_trained_kernel_ *bound,
                                     const okra_test_side_ *other, double *d);

/* Of a kernel that is one class times *scale; else OKRA_SHAPE_ANY_. */
okra_shape_ okra_kernel_shape_(const okra_kernel *kernel, double *scale);
/* If the kernel is linear on dense vectors, scaled by a constant or not, there is an
 * explicit feature map sqrt(*scale) * y: true and the scale. */
bool okra_kernel_is_linear_(const okra_kernel *kernel, double *scale);
/* Is it made of linear kernels alone, so that of 0/1 vectors it sees |a & b|, |a| and |b|
 * and nothing else? */
bool okra_kernel_by_counts_(const okra_kernel *kernel);
/* Is it metric or tasks, scaled or not? Then sum_i w_i y_i has the features sum_i w_i
 * phi(y_i), and needs no search. */
bool okra_kernel_is_metric_(const okra_kernel *kernel);
/* The kernel k of an expression that is position(k) and nothing else; else NULL. */
const okra_kernel *okra_kernel_inner_(const okra_kernel *kernel);
/* Does a value depend on more training objects than the two compared (`center`, low
 * rank)? If not, the Gram matrix of a subset is a part of the whole one. */
bool okra_kernel_centers_(const okra_kernel *kernel);
/* Are there means over the training set in it (`center`)? */
bool okra_kernel_means_(const okra_kernel *kernel);
/* Would its values change with the training set, whatever a model keeps of the one it was
 * bound to (`center`, ic, ends, from-distance, learned kernels of elements)? */
bool okra_kernel_follows_(const okra_kernel *kernel);
/* Is there a factor of low rank in it, EXPR | chol(...) or its like? */
bool okra_kernel_low_(const okra_kernel *kernel);
/* Is there a parameter `file` in it, at any depth? */
bool okra_kernel_files_(const okra_kernel *kernel);
/* From now on no file is read because this kernel, or one inside it, names it: what such
 * a leaf needs comes from a store, or binding fails. */
void okra_kernel_close_(okra_kernel *kernel);
/* Parses an expression that a model keeps: closed, and OKRA_EFORMAT in place of
 * OKRA_EARG. */
okra_status okra_kernel_parse_kept_(const char *text, okra_kernel **out);
/* The stream of its random choices, 1 where nothing is said; outputs have 2. */
void okra_kernel_stream_(okra_kernel *kernel, uint64_t stream);

/* ---- grids: the parser keeps {a,b,c}, lo..hi and auto for selection ---- */

/* Values where a grid stood, and the place in the text. */
typedef struct okra_grid_axis_ {
    size_t begin, end;
    char **values;
    okra_int count;
    const char *owner, *param;    /* whose parameter, NULL: not known */
    int node;                     /* of the kernel: its serial number */
    struct okra_grid_ **branches; /* alternatives that the values are cells of, or NULL */
    okra_int branch_count;
} okra_grid_axis_;
typedef struct okra_grid_ {
    char *text;
    okra_grid_axis_ *axes;
    okra_int count;
} okra_grid_;
/* Parses an expression that may hold grids. lo..hi is log-spaced with `steps` values
 * (lo..hi:7 gives 7; 10 by default; for an integer parameter every integer from lo to
 * hi); a single number is a grid of one. `auto` is a grid of one whose text stays
 * "auto": whoever has the data puts a number there. */
okra_status okra_grid_parse_(const char *text, okra_grid_ **out);
void okra_grid_free_(okra_grid_ *grid);
OKRA_DROPS_(okra_grid_drop_, okra_grid_, okra_grid_free_)
okra_int okra_grid_count_(const okra_grid_ *grid); /* product of all lists; -1 overflow */
/* The cell-th expression as text, numbers in place of grids. Free with okra_free_. */
okra_status okra_grid_text_(const okra_grid_ *grid, okra_int cell, char **text);

/* The same for a text that is no kernel (an option of a method): lists and ranges stand
 * at its beginning and after each '='; `numeric`: it is one number (`whole`: an integer),
 * a list of them, with or without braces, or a range. `what` opens the messages. */
okra_status okra_grid_plain_(const char *what, const char *text, bool numeric, bool whole,
                             okra_grid_ **out);
/* Is the place a range lo..hi of real numbers, without a number of steps? */
bool okra_grid_range_(const okra_grid_ *grid, okra_int place, double *low, double *high);
/* Are there alternatives of whole kernels? Then the text with the alternatives that a
 * cell is of, other lists as they stand, and which cell of that grid it is. */
bool okra_grid_branched_(const okra_grid_ *grid);
okra_status okra_grid_narrow_(const okra_grid_ *grid, okra_int cell, char **text,
                              okra_int *within);
/* The text with these values in its places, NULL: what stands there. Free with
 * okra_free_. */
okra_status okra_grid_build_(const okra_grid_ *grid, const char *const *chosen,
                             char **text);

/* The expression with numbers chosen from the data where auto stands; auto.c. */
okra_status okra_kernel_auto_(okra_context *ctx, const char *text, const okra_data *data,
                              char **out);

/* exp of n doubles in place, vectorised; error under 2 ulp; exp(-inf) = 0. */
void okra_vexp_(okra_int n, double *x);

/* ---- the kernel classes, each defined in a file of its own ---- */

extern const okra_kernel_class_ okra_linear_, okra_laplacian_, okra_zero_one_,
    okra_precomputed_, okra_standardize_;
extern const okra_kernel_class_ okra_paths_, okra_wl_, okra_shortest_path_, okra_ecfp_;
extern const okra_kernel_class_ okra_diffusion_, okra_regularized_laplacian_,
    okra_p_step_, okra_commute_time_, okra_from_distance_;

/* The point that distances of dense vectors are computed about (d places, 0 before): the
 * mean, or where few rows are far from all others the medians of the columns. */
void okra_origin_(const okra_data *train, double *mean);
/* Means and deviations of the columns of dense vectors, 1 where they do not vary; both (d
 * places) are 0 before. */
okra_status okra_standardize_measure_(const okra_data *train, double *mean,
                                      double *spread);
/* Those of a bound kernel whose leaves are `standardize`; false: there are none. */
bool okra_standardize_stats_(const okra_trained_kernel_ *bound, double *mean,
                             double *spread);

/* The kinds that are vectors. */
#define OKRA_VECTORS_ (1u << OKRA_DENSE | 1u << OKRA_SPARSE | 1u << OKRA_BITS)

/* ---- transforms ----
 * The transforms of Gram values, each defined in a file of its own or with
 * its relatives.
 */

extern const okra_transform_class_ okra_normalize_, okra_center_, okra_rbf_, okra_poly_,
    okra_power_, okra_poly_series_, okra_exp_, okra_tanimoto_, okra_dice_;

/* gamma of exp(-gamma d^2), from the parameters of `rbf`. */
double okra_rbf_gamma_(const void *params);

#endif
