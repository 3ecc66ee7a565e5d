/*
 * margin.h: what margin.c (the method), margin_low.c, dual.c and dual_solve.c
 * share.
 */
#ifndef OKRA_MARGIN_H_
#define OKRA_MARGIN_H_

#include "method/method.h"
#include "solve/moments.h"
#include "solve/graph.h"

extern const okra_auto_ okra_margin_auto_; /* margin_open.c */

typedef enum okra_loss_ {
    OKRA_LOSS_HINGE_,
    OKRA_LOSS_TUBE_,
    OKRA_LOSS_HUBER_
} okra_loss_;

typedef struct okra_dual_ {
    okra_int n, q;
    const double *Y; /* n x q: outputs in coordinates in which the operator is diagonal */
    const double *g; /* q: its eigenvalues; NULL: all 1                                 */
    /* J K (lambda_1 I + 2 lambda_2 g P K)^-1 J', n x n: one for all coordinates (count =
     * 1) or one a coordinate. */
    const double *const *S;
    okra_int count;
    okra_loss_ loss; /* TUBE or HUBER */
    double width;    /* epsilon, or delta */
    double tolerance;
    double ridge;          /* added to the diagonal of every form g S / 2 */
    const double *weights; /* n: the loss of i counts this many times; NULL: 1 */
} okra_dual_;

static inline double okra_dual_weight_(const okra_dual_ *d, okra_int i)
{
    return d->weights ? d->weights[i] : 1;
}
/* The largest |alpha_i|. */
static inline double okra_dual_most_(const okra_dual_ *d, okra_int i)
{
    double most = d->loss == OKRA_LOSS_HUBER_ ? 2 * d->width : 1;
    return most * okra_dual_weight_(d, i);
}

typedef struct okra_dual_report_ {
    double primal, dual, gap; /* of the alpha returned, recomputed from S */
    okra_int sweeps, newtons; /* of blocks, and Newton steps tried */
    double goal;              /* the gap that is small enough, by method.h */
    bool converged;           /* gap <= goal */
} okra_dual_report_;

/* alpha (n x q) holds a start and becomes the solution; H (n x q) becomes the predictions
 * of the training inputs. Not converging within the limits is no error. */
okra_status okra_dual_solve_(okra_context *ctx, const okra_dual_ *dual, double *alpha,
                             double *H, okra_dual_report_ *report);
/* Block i alone is best at v / (D + rho), v and D (q values each) and rho written here;
 * rho = infinity: at 0. */
void okra_dual_shrinkage_(const okra_dual_ *dual, const double *alpha, const double *H,
                          okra_int i, double *v, double *D, double *rho);
/* alpha_i <- its best, block after block; H follows. v, D: q numbers each, step: q for
 * each block of a group. */
enum { OKRA_DUAL_GROUP_ = 64 };
okra_status okra_dual_sweep_(okra_context *ctx, const okra_dual_ *dual, double *alpha,
                             double *H, double *v, double *D, double *step);
/* g_j S^(j) / 2 of coordinate j: *form times the returned number, the ridge apart. */
double okra_dual_form_(const okra_dual_ *dual, okra_int j, const double **form);
/* H and the report of a given alpha; `sweeps` and `newtons` stay. */
okra_status okra_dual_measure_(okra_context *ctx, const okra_dual_ *dual,
                               const double *alpha, double *H, okra_dual_report_ *report);

/* Newton's method for all blocks together. */
typedef struct okra_dual_newton_ okra_dual_newton_;
okra_status okra_dual_newton_create_(okra_context *ctx, okra_int n, okra_int q,
                                     okra_dual_newton_ **out);
void okra_dual_newton_free_(okra_dual_newton_ *newton);
/* step (n x q): where Newton's method would go from alpha, less alpha. *found = false:
 * its system is singular. */
okra_status okra_dual_newton_step_(okra_context *ctx, okra_dual_newton_ *newton,
                                   const okra_dual_ *dual, const double *alpha,
                                   const double *H, double *step, bool *found);

/* ---- the method ---- */

/* margin_low.c: as the hook of okra_method_. */
okra_status okra_margin_plan_(const okra_options *options, okra_fit_plan_ *plan);

typedef struct okra_margin_options_ {
    double lambda, lambda2, tube, delta, tolerance;
    const char *operator_text, *graph;
    int loss;
} okra_margin_options_;

typedef struct okra_margin_ {
    okra_context *ctx;
    const okra_problem_ *p;
    okra_margin_options_ o;
    okra_int n, N, d, q; /* q: coordinates of Y */
    bool semi;
    okra_matrix_ *K; /* supervised: n x n                             */
    okra_semi_ s;    /* semi-supervised                                */
    double *A, *g;   /* matrix operator: rows e_j, and d eigenvalues   */
    okra_matrix_ *L; /* hinge: <y_i, A y_k> where it serves, n x n    */
    double *Y;       /* n x q: outputs, rotated by E, in true units    */
    double **S;      /* 1, or d for a semi-supervised matrix operator  */
    okra_int count;
    double *alpha; /* the solution so far: n (hinge) or n x q        */
    double *H;     /* n x q                                          */
} okra_margin_;

/* margin_low.c: the method in factored form, and whether it has one for this. */
okra_status okra_margin_low_(okra_margin_ *m, const double *lambda, size_t count,
                             okra_store_ *const *stores);
bool okra_margin_factored_(const okra_problem_ *problem, const okra_options *options);
/* dual, gap and converged into the store; a warning if not converged. */
okra_status okra_margin_report_(const okra_margin_ *m, double lambda, double dual,
                                double gap, double goal, okra_store_ *store);

/* ---- boxqp.c: the box programme of the hinge loss ---- */

typedef struct okra_boxqp_report_ {
    double dual;      /* sum(a) - a'Qa/2                                  */
    double gap;       /* primal - dual, recomputed from Q and a at the end */
    okra_int steps;   /* coordinate steps                                 */
    okra_int newtons; /* Newton steps on the free variables               */
    double goal;      /* the gap that is small enough, by method.h           */
    bool converged;   /* gap <= goal                                      */
} okra_boxqp_report_;

/* min a'Qa/2 - sum(a), 0 <= a_i <= most_i (NULL: 1; the loss of i counts most_i times),
 * for symmetric positive semi-definite Q (both triangles). `a` holds a start (clipped to
 * the box) and becomes the solution. Not reaching `tolerance` within the limits is no
 * error: the report says so. */
okra_status okra_boxqp_bounded_(okra_context *ctx, okra_mat_ Q, const double *most,
                                double tolerance, double *a, okra_boxqp_report_ *report);

/* `passes` over the coordinates in turn, each put at its best; a within the box, g = Qa
 * less anything that is constant, both kept up to date. */
void okra_boxqp_sweep_(okra_mat_ Q, int passes, double *a, double *g);

/* How far the gradient g - 1 of a variable up to `most` is from optimal, by size. */
static inline double okra_boxqp_violation_(double a, double g, double most)
{
    double slope = g - 1;
    return a <= 0      ? (slope < 0 ? -slope : 0)
           : a >= most ? (slope > 0 ? slope : 0)
           : slope < 0 ? -slope
                       : slope;
}

/* ---- boxqp_low.c: the same for a quadratic form of thin factors ---- */

/* Q = (Phi Phi') o (Psi Psi') / (2 lambda). `a` (n) holds a start and becomes the
 * solution, A (m x d) becomes Phi' diag(a) Psi / (2 lambda). In the report `steps` are
 * rounds, `newtons` steps of conjugate gradients. */
okra_status okra_boxqp_low_(okra_factors_ *f, double lambda, double tolerance, double *a,
                            double *A, okra_boxqp_report_ *report);
/* Doubles that it takes beside the factors, their kept faces apart. */
double okra_boxqp_low_doubles_(const okra_context *ctx, okra_int n, okra_int m,
                               okra_int d);

/* ---- dual_low.c: losses of the distance on thin factors ---- */

typedef struct okra_dual_low_ {
    const double *g; /* d: eigenvalues of the operator, in whose coordinates Psi is; NULL:
                        all 1 */
    okra_loss_ loss; /* TUBE or HUBER */
    double width;    /* epsilon, or delta */
    double lambda, tolerance;
} okra_dual_low_;

/* alpha (n x d) and X (m x d) hold a start and become dual variables and solution:
 * predictions of the rows are Phi X diag(g)^1/2, in the coordinates of Psi. In the report
 * `sweeps` are proximal steps. */
okra_status okra_dual_low_solve_(okra_factors_ *f, const okra_dual_low_ *dual,
                                 double *alpha, double *X, okra_dual_report_ *report);
/* Doubles that it takes beside the factors. */
double okra_dual_low_doubles_(okra_int n, okra_int m, okra_int d);

#endif
