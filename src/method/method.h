/*
 * method.h: a method turns inputs into weights over the training outputs.
 *
 *     h(x) = sum_i w_i(x) phi(y_i)
 *
 * Given weights, decoding, links, losses and leave-one-out are shared by all methods. A
 * method whose prediction is not a combination of training outputs (a matrix operator)
 * gives the embedding h(x) in R^d instead, and says so.
 *
 * To add a method: one file with one okra_method_, and one line in methods.c. It declares
 * what it keeps in a model (`kept`): a model file is checked against that.
 */
#ifndef OKRA_METHOD_H_
#define OKRA_METHOD_H_

#include "solve/solution.h"

#include <float.h>
#include <math.h>

/* A method whose prediction is the y that minimises a criterion of its own, not the one
 * nearest to h(x): twin Gaussian processes. With l_y = (l(y_i, y))_i over the training
 * outputs and e the first extra column of the query,
 *
 *     kl      J(y) = l(y,y) - 2 w'l_y - e log v,
 *             v = l(y,y) + lambda - l_y'(L + lambda I)^-1 l_y
 *     else    J(y) = -e l(y,y) - 2 w'l_y
 *
 * Where neighbours > 0 the training set is local, a query each: extra columns 1.. are its
 * members in ascending order, and w is 0 elsewhere. */
typedef struct okra_criterion_ {
    bool kl;
    double lambda;
    okra_int neighbours;
} okra_criterion_;

/* p coordinates of the output feature space in which a prediction is decoded:
 *     object y:  diag(variances)^-1 scores' (l(y_i, y))_i - offset
 *     training output i: row i of scores;  weights that sum to 1: w' scores
 * Of low rank, psi the features of outputs:
 *     object y:  axes psi(y) - offset;  embedding h: axes h - offset */
typedef struct okra_components_ {
    okra_int p;
    const double *scores; /* n x p, or NULL: axes  */
    const double *duals; /* n x p: in the place of scores in the first line; NULL: they */
    const double *variances, *offset; /* p; no variances of axes */
    const double *axes;               /* p x width             */
    okra_int width;
    bool whole; /* objects are compared in the whole space none the less */
} okra_components_;

/* ---- scores of pairs of inputs ---- */

/* For methods that score links but have no weights: score(u, v) = <P_u, Q_v>, plus
 * k(u, v) where `kernel` says so. Scores are symmetric; u is new, or both are labelled.
 */
typedef struct okra_linker_ {
    enum { OKRA_LINKER_NO_KERNEL_, OKRA_LINKER_NEW_, OKRA_LINKER_ALWAYS_ } kernel;
    bool labelled_only; /* v must be labelled */
    okra_int (*width)(const okra_store_ *store);
    /* P and Q (m x width) of the queries; one of them may have p == NULL: not wanted.
     * `labelled`: which labelled input is the first query, the others follow; -1: the
     * queries are new. */
    okra_status (*factors)(okra_context *ctx, const okra_store_ *store,
                           okra_query_ *query, okra_int labelled, okra_mat_ P,
                           okra_mat_ Q);
} okra_linker_;
/* methods.c: the network whose nodes are the outputs; fails if they are none. */
okra_status okra_linker_network_(const char *who, const okra_problem_ *p,
                                 const okra_network_ **out);

/* ---- before a fit of low rank ---- */

typedef struct okra_fit_plan_ {
    double n, m, d;    /* inputs, features of inputs and of outputs                   */
    double value, map; /* operations of a kernel value, and of the features of a row   */
    double left;       /* bytes of the budget that are left                           */
    /* What the fit takes: passes over the data (`most`: at most), operations a row and
     * besides, doubles that are held, and of a row of a block beside its features. */
    double passes, row, once, doubles, width;
    bool most;
    bool rows_alone; /* it sees rows in passes alone, and nothing else of the data */
    char rounds[80], kept[80]; /* to be told after the blocks, and after the memory */
} okra_fit_plan_;

/* ---- fits that leave options open (select/fill.c) ---- */

/* How the coordinates of explicit outputs are learned. */
typedef enum okra_coupling_ {
    OKRA_OUTPUTS_BOUND_,  /* together, or nothing is known of it                     */
    OKRA_OUTPUTS_ALIKE_,  /* each by itself, all by the same kernel                  */
    OKRA_OUTPUTS_APART_,  /* each by itself, by a kernel of its own                  */
    OKRA_OUTPUTS_SHARED_, /* by their covariance, so that lambda counts once a pair  */
} okra_coupling_;

/* What is open, and what is known of the training set. */
typedef struct okra_open_ {
    const okra_data *x, *y;
    bool kx, ky, lambda; /* not given */
    bool ranked; /* for the rank of the truth: a mean added to every prediction draws the
                    candidates near it to the front */
    bool like;   /* they are set, by method `like` of okra_auto_             */
    double spread, offset; /* typical distance of outputs from their mean; its size  */
    double residual;       /* what method `like` leaves unexplained; 0: not known    */
} okra_open_;

/* What method `like` tells: nothing, the kernel of the inputs, or that and lambda. */
typedef enum okra_likeness_ {
    OKRA_LIKE_NOTHING_,
    OKRA_LIKE_KERNEL_,
    OKRA_LIKE_WHOLE_
} okra_likeness_;

/* What a method wants there. Zeros and NULL: one kernel, the likeliest, and seven lambdas
 * (or `tries`), five folds. */
typedef struct okra_auto_ {
    const char *decoder; /* taken where none is asked for; NULL: candidates */
    /* Its main parameter where that is not lambda, and values that are compared where it
     * is left open: "k=1,2,4"; NULL: there is none. */
    const char *tries;
    /* Under these options; NULL: OKRA_OUTPUTS_BOUND_. */
    okra_coupling_ (*coupling)(const okra_options *options);
    bool few; /* some kernels are compared, and the best is refined */
    /* Dense outputs: lambda begins at `least` times the mean of k(x,x), `lambdas` of
     * them. */
    double least;
    int lambdas;
    const char *classes; /* ky of several classes */
    double width; /* dense outputs: ky is rbf, this times their median distance wide */
    const char *between; /* an option, a kernel of dense outputs: rbf likewise, once */
    const char *aligned; /* a warning, where outputs are written letter by letter */
    /* Options that go with what was chosen. */
    okra_status (*fill)(const okra_open_ *open, okra_options *options);
    okra_status (*tried)(okra_options *options); /* and with `tries` */
    /* A method that may be better on dense tables, where nobody names one; NULL: none. */
    const char *rival;
    /* A method with leave-one-out in closed form, and what it tells of this one. */
    const char *like;
    okra_likeness_ (*likeness)(const okra_open_ *open, const okra_options *options);
} okra_auto_;

/* ---- one interface ---- */

/* What a method can use; a problem has nothing else. */
typedef enum okra_takes_ {
    OKRA_TAKES_WEIGHTS_ = 1,    /* weights of pairs                                     */
    OKRA_TAKES_MISSING_ = 2,    /* explicit outputs in which NaN is a missing value     */
    OKRA_TAKES_UNLABELLED_ = 4, /* inputs without outputs                               */
    OKRA_TAKES_SELF_ = 8,       /* queries carry self and train_self                    */
    OKRA_TAKES_LARGE_ = 16, /* it predicts from query->K as well as from query->Kx   */
    /* Option `operator` may be KIND:FILE[,...], a file with problem->A that a model
     * keeps. */
    OKRA_TAKES_MATRIX_ = 32,
} okra_takes_;

/* How decoders compare objects. */
typedef struct okra_compares_ {
    /* The coordinates; NULL: the whole space. */
    okra_status (*components)(const okra_store_ *store, okra_int n,
                              okra_components_ *out);
    /* The criterion that they minimise; NULL: the distance to h(x). */
    okra_status (*criterion)(const okra_store_ *store, okra_int n, okra_criterion_ *out);
} okra_compares_;

typedef struct okra_method_ {
    const char *name, *help;
    okra_option_table options;
    unsigned takes;              /* of okra_takes_                               */
    const char *unweighted;      /* why no weights, after "method NAME", or NULL */
    const okra_auto_ *automatic; /* NULL: zeros                                 */
    /* Can it use maps of low rank with these options and this problem, of which n,
     * unlabelled, x, y and the features are set, kernels and maps are not? NULL: never;
     * a problem then has none. */
    bool (*low_rank)(const okra_problem_ *problem, const okra_options *options);
    /* Fills the store with whatever predict needs: arrays, numbers, texts. NULL: the path
     * at the lambda in `options`. Called by okra_method_fit_. */
    okra_status (*fit)(okra_context *ctx, const okra_problem_ *problem,
                       const okra_options *options, okra_store_ *store);
    /* One store (created by the caller) a lambda, from shared decompositions; the lambda
     * in `options` is not looked at. NULL: a method without a lambda. */
    okra_status (*path)(okra_context *ctx, const okra_problem_ *problem,
                        const okra_options *options, const double *lambda, size_t count,
                        okra_store_ *const *stores);
    /* Which the fitted store predicts; NULL: links with a linker, else an embedding with
     * a width, else weights. */
    okra_form_ (*form)(const okra_store_ *store);
    /* Columns of an embedding (d), or of what embed gives; 0: it gives none. */
    okra_int (*width)(const okra_store_ *store);
    /* out: m x n weights, or m x d embedding in the units of the features as they stand,
     * that is without sqrt(feature_scale). */
    okra_status (*predict)(okra_context *ctx, const okra_store_ *store,
                           okra_query_ *query, okra_mat_ out);
    /* A cheap way to the explicit h(x) (m x d) where features exist and the method stored
     * coefficients for it; NULL or OKRA_EUNSUPPORTED if not. */
    okra_status (*embed)(okra_context *ctx, const okra_store_ *store, okra_query_ *query,
                         okra_mat_ out);
    const okra_linker_ *linker; /* form OKRA_FORM_LINKS: predict is NULL */
    /* Left-out predictions for every lambda from one decomposition, handed to `sink` in
     * order; as embeddings where `explicitly` and there are features. They equal those of
     * models fitted without the part, whatever the outputs; OKRA_EUNSUPPORTED (before the
     * sink is called) where no such shortcut exists: the caller then refits. May be NULL.
     */
    okra_status (*leave)(okra_context *ctx, const okra_problem_ *problem,
                         const okra_options *options, const double *lambda, size_t count,
                         const okra_parts_ *parts, bool explicitly, okra_left_fn_ sink,
                         void *user);
    /* Of low rank: what it is going to do beyond, or in place of, one pass for moments,
     * a decomposition of them and coefficients, which `plan` holds. NULL: nothing. */
    okra_status (*plan)(const okra_options *options, okra_fit_plan_ *plan);
    const okra_compares_ *compares; /* NULL: objects by their distance to h(x) */
    /* The store as a solution of squared loss (solve/solution.h); NULL: it is none. */
    void (*solution)(const okra_store_ *store, okra_int n, okra_solution_ *out);
    /* What fit leaves in the store, a table a form (data/store.h); never NULL. Sizes: n
     * training outputs, N inputs (all of them, or a basis), c columns of a query's Kx (N,
     * twice that for waves), x and y the widths of both, d the width of an embedding
     * (none where the output kernel has no explicit features). */
    const okra_schema_ *const *kept;
    /* What else must hold of a store that agrees with `kept`; NULL: nothing. */
    okra_status (*check)(const okra_store_ *store, const okra_facts_ *facts);
} okra_method_;

extern const okra_method_ *const okra_methods_[]; /* ends at NULL */
const okra_method_ *okra_method_find_(const char *name);
okra_status okra_method_fit_(okra_context *ctx, const okra_method_ *method,
                             const okra_problem_ *problem, const okra_options *options,
                             okra_store_ *store);
/* Does the method use maps of low rank for this? As the hook `low_rank` is given. */
bool okra_method_factored_(const okra_method_ *method, const okra_problem_ *problem,
                           const okra_options *options);
/* A hook `low_rank` that always can. */
bool okra_method_always_(const okra_problem_ *problem, const okra_options *options);
okra_form_ okra_method_form_(const okra_method_ *method, const okra_store_ *store);
/* Of okra_takes_; can embed give h(x) of this model? */
bool okra_method_takes_(const okra_method_ *method, okra_takes_ what);
bool okra_method_embeds_(const okra_method_ *method, const okra_store_ *store);
/* How decoders compare objects, zeros where nothing is said. */
const okra_compares_ *okra_method_compares_(const okra_method_ *method);
/* The method's wishes, zeros where it has none; its hook `coupling`. */
const okra_auto_ *okra_method_auto_(const okra_method_ *method);
okra_coupling_ okra_method_coupling_(const okra_method_ *method,
                                     const okra_options *options);

/* knn.c, for others too. The k nearest of n by k(c,c) - 2 k(x,c), the squared distance
 * without k(x,x). `nearest` and `distance` (k each) are sorted by distance, ties by
 * index. How many: min(k, n). */
okra_int okra_nearest_inputs_(okra_int n, const double *k_x, const double *train_self,
                              okra_int k, okra_int *nearest, double *distance);

/* ---- gap ----
 * When a solver that knows its duality gap stops.
 *
 * The gap P - D bounds how far the value found is from the best one. It is small enough
 * at `tolerance` times |D|: a problem in other units, or with a tiny lambda whose best
 * value is 1e-11, then stops equally late. P is a sum of losses of differences (1 - <y,
 * h>, or y - h), which rounding leaves uncertain. `scale` is the sum of the sizes of what
 * is subtracted and, where h is a sum, of its terms, each times the slope of the loss: a
 * gap below ROUNDING times it means nothing. That serves values below 1 alone, so that no
 * gap above the tolerance itself is ever enough.
 */

#define OKRA_GAP_ROUNDING_ (16 * DBL_EPSILON)

/* The gap that is small enough. */
static inline double okra_gap_goal_(double tolerance, double dual, double scale)
{
    return fmax(tolerance * fabs(dual), fmin(tolerance, OKRA_GAP_ROUNDING_ * scale));
}

/* What the next round of a solver works for: the tolerance itself, then the goal. */
static inline double okra_gap_aim_(double tolerance, double gap, double dual, double goal)
{
    double first = tolerance * fmax(1, fabs(dual));
    return gap > first ? first : goal;
}

#endif
