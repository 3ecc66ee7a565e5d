/*
 * conformal.h: what the ways to prediction sets share.
 *
 * A way turns each pair (test input, candidate) into a comparison with pairs that
 * calibrate. Those with a score at least as large count, each with its weight, and so
 * does the pair itself:
 *
 *     p = (v + sum_{i: s_i >= s} w_i) / (v + sum_i w_i)
 *
 * over the i of its own group; w = v = 1 without covariate shift. Scores within SLACK of
 * each other, relatively, count as equal, which can only make p larger.
 */
#ifndef OKRA_CONFORMAL_H_
#define OKRA_CONFORMAL_H_

#include "model/model.h"
#include "okra/more/conformal.h"

/* Scores that differ by less are rounding: 1e-9 of the larger one. */
#define OKRA_CONFORMAL_SLACK_ 1e-9

typedef enum okra_conformal_score_ {
    OKRA_SCORE_DISTANCE_,
    OKRA_SCORE_NORMALIZED_,
    OKRA_SCORE_RESIDUAL_,
    OKRA_SCORE_RANK_,
    OKRA_SCORE_METRIC_,
} okra_conformal_score_;

typedef enum okra_conformal_how_ {
    OKRA_CONFORMAL_SPLIT_,
    OKRA_CONFORMAL_FULL_,
    OKRA_CONFORMAL_FOLDS_, /* jackknife+ and cv+ */
} okra_conformal_how_;

typedef struct okra_conformal_ {
    okra_context *ctx;
    const okra_model *model;
    okra_data *x, *candidates; /* columns as the model has them; NULL: intervals */
    okra_conformal_settings s;
    okra_conformal_how_ how;
    okra_conformal_score_ score;
    okra_int folds;                     /* 0: each pair is one                        */
    okra_data *cal_x, *cal_y;           /* split, columns as the model has them       */
    okra_int pairs, tests, count;       /* that calibrate; test inputs; candidates    */
    okra_int *group;                    /* of each pair, or NULL: one group           */
    okra_int *test_group, *class_group; /* of test inputs, or of candidates, or NULL  */
} okra_conformal_;

/* The group of test t and candidate c; pairs of another one are not compared. */
static inline okra_int okra_conformal_group_(const okra_conformal_ *job, okra_int t,
                                             okra_int c)
{
    return job->test_group    ? job->test_group[t]
           : job->class_group ? job->class_group[c]
                              : 0;
}
static inline bool okra_conformal_in_(const okra_conformal_ *job, okra_int i,
                                      okra_int group)
{
    return !job->group || job->group[i] == group;
}
static inline double okra_conformal_weight_(const okra_conformal_ *job, okra_int i)
{
    return job->s.weights ? job->s.weights[i] : 1;
}
static inline double okra_conformal_test_weight_(const okra_conformal_ *job, okra_int t)
{
    return job->s.weights ? job->s.test_weights[t] : 1;
}
/* Is a at least b, to rounding? */
static inline bool okra_conformal_least_(double a, double b)
{
    return a >= b - OKRA_CONFORMAL_SLACK_ * (b < 0 ? -b : b);
}
/* conformal_split.c */
okra_status okra_conformal_split_(const okra_conformal_ *job, double *p);
okra_status okra_conformal_split_intervals_(const okra_conformal_ *job, double alpha,
                                            double *bounds, double *radius);

/* ---- ridge with the operator identity, conformal_ridge.c ---- */

typedef struct okra_solved_ {
    okra_int n, d;
    okra_solution_ fitted; /* lambda, and the factor of K + lambda I         */
    double *diagonal;      /* n: of B = (K + lambda I)^-1                    */
    okra_mat_ B;           /* n x n; none of intervals by full               */
    okra_mat_ L;           /* n x n: the output Gram matrix; none of intervals */
    okra_mat_ Y;           /* n x d: explicit outputs: intervals, or centred   */
    double *ones;          /* n: B 1 where outputs are centred, else NULL      */
    double *mean;          /* d: what was taken from Y; without Y, centred: n + 1 */
    double trace;          /* of K + lambda I                           */
    double condition;      /* at least that of K + lambda I             */
    double size;           /* the largest |phi(y)|, for sets            */
    double given;          /* the same before centring                  */
    /* Sets: l(c, y_i) of the candidates, count x n, and l(c, c), centred like L; M (n x
     * n) or M' (turned) makes residuals, and M' l_c, or M l_c, of the candidates. */
    okra_mat_ cross, M, Mc;
    bool turned;
    double *self;
} okra_solved_;

/* A block of m test inputs: u = B k_x and s = k(x,x) + lambda - k_x'u. */
enum { OKRA_BORDERED_ROWS_ = 256 };
typedef struct okra_bordered_ {
    okra_int first, m;
    okra_mat_ U, UL; /* m x n; U L of sets                  */
    okra_mat_ UY;    /* m x d: predictions, of intervals    */
    okra_mat_ Uc;    /* m x count: u'l_c, of sets           */
    okra_mat_ MLu;   /* m x n: U L M, or U L M', of sets    */
    double *s;       /* m                                   */
    double *off;     /* m: how far s may be off, relatively */
} okra_bordered_;

/* whole: with B. */
okra_status okra_solved_create_(const okra_conformal_ *job, bool whole,
                                okra_solved_ *out);
void okra_solved_clear_(okra_solved_ *solved);
/* body(arg, ...) of the rows of test inputs, block by block; *block is the one at work.
 */
okra_status okra_solved_walk_(const okra_conformal_ *job, okra_solved_ *solved,
                              const okra_bordered_ **block, okra_body_ body, void *arg);
/* solved->cross, self and Mc; size grows to the largest |phi(c)|. */
okra_status okra_solved_candidates_(const okra_conformal_ *job, okra_mat_ M, bool turned,
                                    okra_solved_ *solved);
/* How far |sum_j a_j phi_j|^2, computed as norm2 from inner products, may be off, given
 * sum = sum_j |a_j|, a a row of the inverse or made of it. */
double okra_solved_error_(const okra_solved_ *solved, double sum, double norm2);

/* conformal_full.c */
okra_status okra_conformal_full_(const okra_conformal_ *job, double *p);
okra_status okra_conformal_full_intervals_(const okra_conformal_ *job, double alpha,
                                           double *bounds, double *radius);
/* conformal_folds.c: jackknife+ and cv+ */
okra_status okra_conformal_folds_(const okra_conformal_ *job, double *p);
okra_status okra_conformal_folds_intervals_(const okra_conformal_ *job, double alpha,
                                            double *bounds, double *radius);

#endif
