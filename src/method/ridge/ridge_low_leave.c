/*
 * ridge_low_leave.c: what factored ridge predicts at each training input when it is left
 * out, the features phi being kept: for every lambda, from one decomposition.
 *
 * C = Phi'Phi, or with a graph Phi'P Phi (moments_graph.c: the output of a pair is left
 * out, its input stays in the graph); C = V' diag(v) V, F = Phi V'. A matrix operator
 * A = E' diag(g) E is a ridge a column of Psi E' (identity: g = 1, E = I), whose smoother
 * is G_j = F diag(x_j) F', x_kj = g_j / (g_j v_k + lambda). The formulas of ridge_leave.c
 * become, for rows y_i of Psi E' less the mean output,
 *     t_ij = sum_k F_ik^2 x_kj,   q_ij = sum_k F_ik x_kj (V Phi'Psi E')_kj,
 *     u_ij = sum_k F_ik x_kj (V Phi'1)_k,
 *     r_ij = (y_ij - q_ij - (1 - u_ij) m_ij) / (1 - t_ij),     H = Psi - r E,
 * m_i = -y_i / (n - 1), the mean of the centred outputs that stay; 0 if not centred.
 *
 * Why it stands beside ridge_leave.c: there all n eigenvectors give (B)_ii as a sum of
 * positive terms, good for any lambda, and weights over outputs without features. Of m <
 * n eigenvectors only 1 - t_ii is known. And the rows of Phi come in blocks that are made
 * again, where the dense form multiplies with V as a whole.
 *
 * Cost: one pass for the moments and m^3, then a pass of 2 n m^2 + 2 n m d (matrix: twice
 * that) a lambda. Parts of more than one input: ridge_low_parts.c.
 */
#include "method/ridge/ridge_leave.h"

#include "method/ridge/moments.h"

typedef struct leaving {
    const okra_ridge_ *r;
    const okra_moments_ *t;
    okra_mat_ V;                 /* m x m                                     */
    const double *E, *g;         /* d x d, d; NULL: identity                  */
    okra_int c;                  /* columns of t and u: d, identity: 1        */
    double *v, *B;               /* m; m x (d + c): V Phi'Psi E', V Phi'1     */
    double *X, *Z;               /* m x c: x; m x (d + c): x B                */
    double *F, *Q, *T, *Y, *out; /* blocks of rows: m, d + c, c, d, d         */
    okra_int rows;
    double *H, *slack;
} leaving;

/* Y <- (Psi - mean) E' */
static okra_status rotate(okra_context *ctx, const leaving *z, okra_int first,
                          okra_mat_ Psi, okra_mat_ Y)
{
    okra_int d = Psi.cols;
    okra_mat_ plain = z->E ? okra_mat_of_(z->out, Psi.rows, d) : Y;
    for (okra_int i = 0; i < Psi.rows; i++) {
        for (okra_int j = 0; j < d; j++) {
            double mean = okra_ridge_root_(z->r, first + i) * z->t->psi[j];
            plain.p[i * d + j] = Psi.p[i * Psi.ld + j] - (z->r->center ? mean : 0);
        }
    }
    if (z->E) {
        CHK(okra_gemm_(ctx, false, true, 1, plain, okra_mat_view_(z->E, d, d, d), 0, Y));
    }
    return OKRA_OK;
}

static okra_status some_rows(okra_context *ctx, void *user, okra_int first, okra_mat_ Phi,
                             okra_mat_ Psi)
{
    const leaving *z = user;
    okra_int m = Phi.cols, d = Psi.cols, c = z->c, rows = Phi.rows;
    okra_mat_ F = okra_mat_of_(z->F, rows, m), Q = okra_mat_of_(z->Q, rows, d + c);
    okra_mat_ T = okra_mat_of_(z->T, rows, c), Y = okra_mat_of_(z->Y, rows, d);
    okra_mat_ H = okra_mat_of_(z->H + first * d, rows, d);
    CHK(rotate(ctx, z, first, Psi, Y));
    CHK(okra_gemm_(ctx, false, true, 1, Phi, z->V, 0, F));
    CHK(okra_gemm_(ctx, false, false, 1, F, okra_mat_of_(z->Z, m, d + c), 0, Q));
    for (okra_int i = 0; i < rows * m; i++) {
        F.p[i] *= F.p[i];
    }
    CHK(okra_gemm_(ctx, false, false, 1, F, okra_mat_of_(z->X, m, c), 0, T));
    for (okra_int i = 0; i < rows; i++) {
        const double *q = Q.p + i * Q.ld, *u = q + d;
        double *y = Y.p + i * d;
        double s = okra_ridge_root_(z->r, first + i);
        z->slack[first + i] = 1 - T.p[i * c];
        for (okra_int j = 0; j < d; j++) {
            okra_int k = c > 1 ? j : 0;
            double mean = z->r->center ? -s * y[j] / (z->t->total - s * s) : 0;
            y[j] = (y[j] - q[j] - (s - u[k]) * mean) / (1 - T.p[i * c + k]);
        }
    }
    CHK(okra_mat_copy_(Psi, H));
    if (z->E) {
        CHK(okra_gemm_(ctx, false, false, -1, Y, okra_mat_view_(z->E, d, d, d), 1, H));
    }
    for (okra_int i = 0; !z->E && i < rows * d; i++) {
        H.p[i] -= Y.p[i];
    }
    return OKRA_OK;
}

static okra_status block(okra_context *ctx, void *user, okra_int first, okra_mat_ Phi,
                         okra_mat_ Psi)
{
    const leaving *z = user;
    return okra_moments_pieces_(ctx, z->rows, first, Phi, Psi, some_rows, user);
}

/* B = V [Phi'Psi E', Phi'1 for each of the c columns] */
static okra_status rotate_moments(leaving *z)
{
    okra_context *ctx = z->r->ctx;
    const okra_moments_ *t = z->t;
    okra_int m = t->m, d = t->d, c = z->c;
    okra_mat_ right = okra_mat_of_(z->Z, m, d + c), R = okra_mat_of_(t->R, m, d);
    CHK(z->E ? okra_gemm_(ctx, false, true, 1, R, okra_mat_view_(z->E, d, d, d), 0,
                          okra_mat_part_(right, 0, m, 0, d))
             : okra_mat_copy_(R, okra_mat_part_(right, 0, m, 0, d)));
    for (okra_int i = 0; i < m; i++) {
        for (okra_int j = 0; j < c; j++) {
            right.p[i * (d + c) + d + j] = t->total * t->phi[i];
        }
    }
    return okra_gemm_(ctx, false, false, 1, z->V, right, 0, okra_mat_of_(z->B, m, d + c));
}

/* x and x B of this lambda */
static void spectra(leaving *z, double lambda)
{
    okra_int m = z->t->m, d = z->t->d, c = z->c, width = d + c;
    for (okra_int k = 0; k < m; k++) {
        for (okra_int j = 0; j < c; j++) {
            double g = z->g ? z->g[j] : 1;
            z->X[k * c + j] = g / (g * z->v[k] + lambda);
        }
        for (okra_int j = 0; j < width; j++) {
            okra_int column = c == 1 ? 0 : j % d; /* u has a column a column of Psi E' */
            z->Z[k * width + j] = z->B[k * width + j] * z->X[k * c + column];
        }
    }
}

static okra_status single(okra_ridge_ *r, const okra_moments_ *t, double *A,
                          const okra_leave_ *leave)
{
    enum { ROWS = 1024 };
    okra_context *ctx = r->ctx;
    okra_int m = t->m, d = t->d;
    leaving z = {.r = r, .t = t, .E = A, .c = A ? d : 1, .V = okra_mat_of_(t->C, m, m)};
    OWNS(&z.v, &z.B, &z.X, &z.Z, &z.F, &z.Q, &z.T, &z.Y, &z.out, &z.H, &z.slack);
    OWNED double *g = NULL;
    z.rows = OKRA_MIN_(ROWS, t->n);
    if (A) {
        MAKE(g, d);
        CHK(okra_operator_decompose_(ctx, okra_mat_of_(A, d, d), g));
        z.g = g;
    }
    MAKE(z.v, m);
    MAKE(z.slack, t->n);
    CHK(okra_ridge_decompose_host_(ctx, z.V, z.v));
    CHK(okra_doubles_(ctx, m, d + z.c, "the rotated moments", &z.B));
    CHK(okra_doubles_(ctx, m, d + z.c, "the coefficients", &z.Z));
    CHK(okra_doubles_(ctx, m, z.c, "the spectra", &z.X));
    CHK(okra_doubles_(ctx, z.rows, m, "a block of features", &z.F));
    CHK(okra_doubles_(ctx, z.rows, d + z.c, "a block of predictions", &z.Q));
    CHK(okra_doubles_(ctx, z.rows, z.c, "a block of predictions", &z.T));
    CHK(okra_doubles_(ctx, z.rows, d, "a block of outputs", &z.Y));
    CHK(okra_doubles_(ctx, z.rows, d, "a block of outputs", &z.out));
    CHK(okra_doubles_(ctx, t->n, d, "the left-out predictions", &z.H));
    CHK(rotate_moments(&z));
    for (size_t l = 0; l < r->count; l++) {
        spectra(&z, r->lambda[l]);
        CHK(okra_moments_pass_(ctx, r->p, "leaving out", 0, block, &z));
        okra_left_ left = {
            .lambda = l, .H = okra_mat_of_(z.H, t->n, d), .slack = A ? NULL : z.slack};
        CHK(leave->sink(ctx, leave->user, &left));
    }
    return OKRA_OK;
}

okra_status okra_ridge_low_leave_(okra_ridge_ *r, double *A, const okra_leave_ *leave)
{
    FREED_BY(okra_moments_clear_) okra_moments_ t = {0};
    FREED_BY(okra_sorted_clear_) okra_sorted_ parts = {0};
    REFUSE_IF(okra_problem_features_(r->p) == 0 || (!leave->explicitly && !r->p->map_y),
              OKRA_EUNSUPPORTED,
              "ridge: low rank has a closed form of leaving out with explicit outputs or "
              "outputs of low rank alone");
    CHK(okra_parts_sort_(leave->parts, r->p->n, &parts));
    REFUSE_IF(A && parts.largest > 1, OKRA_EUNSUPPORTED,
              "ridge: parts of a matrix operator have no closed form");
    CHK(okra_moments_create_(r->ctx, r->p, false, 0, &t));
    if (r->center) {
        okra_moments_center_(&t);
    }
    if (r->lambda2 > 0) {
        CHK(okra_moments_smooth_(r->ctx, r->p, r->graph, r->lambda2, &t));
    }
    return parts.largest > 1 ? okra_ridge_low_parts_(r, &t, &parts, leave)
                             : single(r, &t, A, leave);
}
