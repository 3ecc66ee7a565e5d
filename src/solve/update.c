/*
 * update.c: ridge with the operators identity and matrix when pairs come and go.
 *
 * The model keeps G of K + lambda I = G G' (n x n). m new rows of the kernel border it,
 *
 *     [ K + lambda I   B             ]   [ G  0 ] [ G'  S' ]    S = B'G'^-1
 *     [ B'             D + lambda I  ] = [ S  T ] [ 0   T' ],   T T' = D + lambda I - S
 * S'
 *
 * and rows that go are taken out by rotations (linalg/without.c), which subtract nothing.
 * Outputs with explicit features: C = (G G')^-1 Y anew, Y less its mean where centred;
 * G^-1 Y comes with S, in one pass over G. Pairs with weights w: lambda / w_i in the
 * place of lambda. Matrix operators: the same for each factor of below.
 * Cost: n^2 m + 2 n^2 d to add, 3 r n^2 to take out r rows; a fit takes n^3/3 and n^2/2
 * values of the kernel. Memory: the factor stands in a room (data/store.c) that it shares
 * with the one it grew from. Where it must move there is a second one.
 *
 * Accuracy: each step has a backward error of a few eps |K + lambda I|, so they add up.
 * The sum is measured: G G' less K + lambda I at a sample of entries, over the mean
 * diagonal (the drift). A factor of a fit shows 1e-15 or so; beyond 1e-12 there is a new
 * factor, and okra says so.
 */
#include "solve/ridge.h"

/* ---- the factors that a model keeps, one for each different eigenvalue of the operator
 *
 * A = sum_k g_k E_k'E_k, rows of E_k the eigenvectors of the eigenvalue g_k, turns the
 * solution of ridge.c into one problem for each of them,
 *
 *     C = sum_k (K + lambda / g_k I)^-1 Y E_k'E_k          (g_k > 0; others add nothing)
 *
 * so that a model that keeps the factors G_k G_k' = K + lambda / g_k I can be updated as
 * one with the operator identity is (below), k times. Cost: q n^3/3 and q n^2
 * doubles for q eigenvalues, against some 10 n^3 and n^2 of the eigendecomposition of K,
 * which keeps nothing that could be updated: a row more changes all eigenvectors, 2 n^3.
 */

/* The factor of K + shift I, for outputs along the rows of E. */
typedef struct direction {
    char name[24]; /* in a store */
    double shift;
    okra_mat_ E; /* p NULL: outputs as they are */
} direction;

typedef struct directions {
    direction of[OKRA_DIRECTIONS_MOST_];
    int count;
    okra_int different; /* eigenvalues above 0; more than `count`: too many */
    double *E;
} directions;

/* Eigenvalues this close, relative to the largest, are the same; below it, zero. */
static const double same = 1e-13;

static okra_status directions_open(okra_context *ctx, const double *A, okra_int d,
                                   double lambda, directions *out)
{
    directions o = {0};
    OWNS(&o.E);
    OWNED double *g = NULL;
    MAKE(g, d);
    CHK(okra_doubles_(ctx, d, d, "the eigenvectors of the operator", &o.E));
    CHK(okra_mat_copy_(okra_mat_view_(A, d, d, d), okra_mat_of_(o.E, d, d)));
    CHK(okra_operator_decompose_(ctx, okra_mat_of_(o.E, d, d), g));
    double least = same * g[d - 1];
    for (okra_int j = 0, next = 0; j < d; j = next) { /* ascending */
        for (next = j + 1; next < d && g[next] - g[j] <= least; next++) {
        }
        if (g[j] <= least) {
            continue;
        }
        o.different++;
        if (o.count < OKRA_DIRECTIONS_MOST_) {
            direction *v = &o.of[o.count];
            snprintf(v->name, sizeof v->name, "factor.%d", o.count);
            v->shift = lambda / g[j];
            v->E = okra_mat_of_(o.E + j * d, next - j, d);
            o.count++;
        }
    }
    *out = TAKE(o);
    return OKRA_OK;
}

OKRA_CLEARS_(directions_clear, directions, it->E)

/* One factor into the store, and what its outputs add to C. */
static okra_status fit_one(okra_ridge_ *r, const okra_matrix_ *K, const direction *v,
                           double *jitter, double *C)
{
    okra_int n = r->p->n, d = r->p->d, e = v->E.rows;
    FREED_BY(okra_matrix_drop_) okra_matrix_ *G = NULL;
    FREED_BY(okra_mat_drop_) okra_mat_ F = {0};
    double added = 0;
    CHK(okra_matrix_create_(r->ctx, n, n, "a factor of the Gram matrix", &G));
    CHK(okra_matrix_copy_(r->ctx, false, K, G));
    CHK(okra_matrix_add_diagonal_(r->ctx, v->shift, G));
    CHK(okra_matrix_cholesky_(r->ctx, G, &added));
    *jitter = OKRA_MAX_(*jitter, added);
    CHK(okra_mat_room_(r->ctx, n, e, "the outputs of a factor", &F));
    CHK(okra_gemm_(r->ctx, false, true, 1, okra_mat_of_(r->Y, n, d), v->E, 0, F));
    CHK(okra_matrix_solve_host_(r->ctx, true, G, F));
    CHK(okra_gemm_(r->ctx, false, false, 1, F, v->E, 1, okra_mat_of_(C, n, d)));
    return okra_matrix_keep_(r->ctx, &G, true, "a factor of the Gram matrix", v->name,
                             r->stores[0]);
}

okra_status okra_ridge_factors_(okra_ridge_ *r, const double *A)
{
    okra_int n = r->p->n, d = r->p->d;
    FREED_BY(directions_clear) directions o = {0};
    FREED_BY(okra_matrix_drop_) okra_matrix_ *K = NULL;
    OWNED double *C = NULL;
    double jitter = 0;
    CHK(directions_open(r->ctx, A, d, r->lambda[0], &o));
    REFUSE_IF(o.different > OKRA_DIRECTIONS_MOST_, OKRA_EUNSUPPORTED,
              "ridge: keep weights keeps a factor for each different eigenvalue of the "
              "operator: there are %lld, expected %d at most",
              (long long)o.different, OKRA_DIRECTIONS_MOST_);
    CHK(okra_doubles_(r->ctx, n, d, "the ridge coefficients", &C));
    okra_mat_fill_(okra_mat_of_(C, n, d), 0);
    CHK(okra_ridge_K_(r, &K));
    for (int k = 0; k < o.count; k++) {
        CHK(okra_cancelled_(r->ctx));
        CHK(fit_one(r, K, &o.of[k], &jitter, C));
    }
    CHK(okra_store_put_number_(r->stores[0], "jitter", jitter));
    return okra_store_put_(r->stores[0], "coefficients", &C, n, d);
}

okra_status okra_ridge_keep_operator_(const okra_ridge_ *r, const double *A)
{
    okra_int d = r->p->d;
    bool kept = !r->p->map_x && d <= r->p->n; /* no larger than coefficients */
    for (size_t l = 0; kept && l < r->count; l++) {
        CHK(okra_store_put_copy_(r->stores[l], "operator.A", A, d, d));
    }
    return OKRA_OK;
}

static const double drift_most = 1e-12;

/* Rotations run at about a fifth of a factorisation's speed (measured, n = 6,000). */
static bool dear(okra_int n, okra_int first, okra_int count)
{
    double t = (double)(n - first - count), left = (double)(n - count);
    return 5 * 3 * (double)count * t * t > left * left * left / 3 && count > 8;
}

/* What is added to the diagonal for a pair: lambda, or its share of a weight. */
static double noise(const okra_problem_ *p, double lambda, okra_int i)
{
    return p->weights ? lambda / p->weights[i] : lambda;
}

/* What stands against new factors from the old ones; NULL: nothing. */
static const char *obstacle(const okra_change_ *c, const directions *o)
{
    const okra_problem_ *p = c->problem;
    okra_int old = p->n - c->added + c->removed_count;
    bool kept = o->count > 0;
    for (int k = 0; k < o->count; k++) {
        kept = kept && okra_store_mat_(c->old, o->of[k].name).rows == old;
    }
    const char *why = NULL;
    if (okra_store_get_text_(c->old, "graph") || p->unlabelled > 0) {
        why = "it has a smoothness penalty or inputs without outputs";
    } else if (!kept) {
        why = "the model does not keep its factor";
    } else if (p->y->missing) {
        why = "outputs have missing values";
    } else if (okra_store_number_(c->old, "jitter", 0) != 0) {
        why = "the Gram matrix is singular to rounding";
    } else if (c->removed_count > 0 && dear(old, c->removed[0], c->removed_count)) {
        why = "a new factor takes less time than removing this many rows";
    }
    return why;
}

/* The factors that the old model has or should have; none: its operator has none. */
static okra_status find_directions(okra_context *ctx, const okra_change_ *c,
                                   double lambda, directions *out)
{
    const char *text = okra_store_get_text_(c->old, "operator");
    okra_mat_ A = okra_store_mat_(c->old, "operator.A");
    if (text && (strcmp(text, "identity") == 0 || strcmp(text, "tensor") == 0)) {
        *out = (directions){.count = 1};
        out->of[0] = (direction){.name = "factor", .shift = lambda};
    } else if (A.p) {
        return directions_open(ctx, A.p, A.rows, lambda, out);
    }
    return OKRA_OK;
}

/* ---- one factor ---- */

typedef struct update {
    okra_context *ctx;
    okra_change_ *c;
    okra_int n, m; /* pairs that stay, pairs that come */
    double *K;     /* m x (n + m): rows of the new inputs */
    double *Y, *C; /* (n + m) x d: outputs, coefficients; or NULL */
    okra_store_ *store;
} update;

static okra_status new_rows(update *u)
{
    okra_context *ctx = u->ctx;
    FREED_BY(okra_data_drop_) okra_data *fresh = NULL;
    FREED_BY(okra_test_side_drop_) okra_test_side_ *other = NULL;
    FREED_BY(okra_entries_drop_) okra_entries_ *entries = NULL;
    if (u->m == 0) {
        return OKRA_OK;
    }
    CHK(okra_data_some_(u->c->problem->x, u->n, u->m, u->m, &fresh));
    CHK(okra_test_side_create_(ctx, u->c->problem->kx, fresh, &other));
    CHK(okra_entries_create_(ctx, u->c->problem->kx, other, &entries));
    CHK(okra_doubles_(ctx, u->m, u->n + u->m, "the rows of the new inputs", &u->K));
    return okra_matrix_gram_host_(ctx, entries, 0, okra_mat_of_(u->K, u->m, u->n + u->m));
}

/* Rows n.. of G from those of the kernel, the first m of R; rows of R after these are
 * right-hand sides b', of which G^-1 b becomes (G G')^-1 b. *done false: the matrix is
 * not positive definite to rounding. */
static okra_status border(const update *u, double shift, okra_mat_ G, okra_mat_ R,
                          bool *done)
{
    okra_context *ctx = u->ctx;
    okra_int n = u->n, m = u->m, e = R.rows - m;
    okra_mat_ before = okra_mat_part_(R, 0, R.rows, 0, n);
    okra_mat_ S = okra_mat_part_(R, 0, m, 0, n), T = okra_mat_part_(R, 0, m, n, m);
    *done = true;
    if (n > 0) {
        CHK(okra_engine_trsm_(ctx, false, true, okra_mat_part_(G, 0, n, 0, n), before));
    }
    if (n > 0 && m > 0) {
        CHK(okra_engine_gemm_(ctx, false, true, -1, before, S, 1,
                              okra_mat_part_(R, 0, R.rows, n, m)));
    }
    for (okra_int i = 0; i < m; i++) {
        T.p[i * T.ld + i] += noise(u->c->problem, shift, n + i);
    }
    okra_mat_mirror_(T);
    CHK(okra_engine_cholesky_try_(ctx, T, done));
    for (okra_int i = 0; i < m; i++) {
        memcpy(G.p + (n + i) * G.ld, R.p + i * R.ld, (size_t)(n + i + 1) * sizeof *R.p);
    }
    if (*done && e > 0) {
        CHK(okra_engine_trsm_(ctx, false, true, T, okra_mat_part_(R, m, e, n, m)));
        CHK(okra_engine_trsm_(ctx, false, false, G, okra_mat_part_(R, m, e, 0, n + m)));
    }
    return OKRA_OK;
}

/* max |G G' - K - lambda I| over the mean diagonal, at pairs of a few groups of rows that
 * are spread over all, the last ones among them. */
static okra_status measure(okra_context *ctx, const okra_problem_ *p, double lambda,
                           okra_mat_ G, double *drift)
{
    enum { GROUPS = 8, TALL = 4 };
    okra_int n = G.rows, tall = OKRA_MIN_(TALL, n), at[GROUPS];
    double K[TALL * TALL], worst = 0, mean = 0;
    for (okra_int g = 0; g < GROUPS; g++) {
        at[g] = (n - tall) * g / (GROUPS - 1);
    }
    for (int a = 0; a < GROUPS; a++) {
        for (int b = 0; b <= a; b++) {
            CHK(okra_trained_kernel_block_(ctx, p->kx, NULL, at[a], tall, at[b], tall, K,
                                           TALL));
            for (okra_int i = 0; i < tall; i++) {
                for (okra_int j = 0; j < tall; j++) {
                    okra_int r = at[a] + i, c = at[b] + j;
                    double k = K[i * TALL + j] + (r == c ? noise(p, lambda, r) : 0);
                    double off =
                        okra_dot_(OKRA_MIN_(r, c) + 1, G.p + r * G.ld, G.p + c * G.ld) -
                        k;
                    worst = fabs(off) <= worst ? worst : fabs(off); /* NaN too */
                    mean += r == c && a == b ? k / (GROUPS * (double)tall) : 0;
                }
            }
        }
    }
    *drift = worst / mean;
    return OKRA_OK;
}

/* What is left of the old factor, with room for m more rows. *before: rows of the room
 * that others see. */
static okra_status find_room(const update *u, const char *name, okra_growing_ **room,
                             okra_int *before)
{
    okra_int n = u->n, all = u->n + u->m;
    okra_mat_ old = okra_store_mat_(u->c->old, name);
    *before = n;
    *room = u->c->removed_count == 0 ? okra_store_enter_(u->c->old, name, all) : NULL;
    if (!*room) {
        CHK(okra_growing_create_(u->ctx, all, "the new factor", room));
        *before = all;
        CHK(okra_factor_without_(
            u->ctx, old, u->c->removed, u->c->removed_count,
            okra_mat_part_(okra_growing_mat_(*room, all), 0, n, 0, n)));
    }
    return OKRA_OK;
}

/* Rows of the kernel, then the outputs along the rows of E. */
static okra_status fill(const update *u, okra_mat_ E, okra_mat_ R)
{
    okra_int N = R.cols, d = u->c->problem->d;
    okra_mat_ outputs = okra_mat_part_(R, u->m, R.rows - u->m, 0, N);
    for (okra_int i = 0; i < u->m; i++) {
        memcpy(R.p + i * R.ld, u->K + i * N, (size_t)N * sizeof *u->K);
    }
    return !u->Y ? OKRA_OK
           : E.p ? okra_gemm_(u->ctx, false, true, 1, E, okra_mat_of_(u->Y, N, d), 0,
                              outputs)
                 : okra_mat_transpose_(okra_mat_of_(u->Y, N, d), outputs);
}

/* What a factor grows in, given back where it does not go into the store. */
typedef struct grown {
    okra_growing_ *room;
    okra_int n, before;
} grown;

static void leave_room(grown *g)
{
    okra_growing_leave_(g->room, g->n, g->before);
}

/* A factor into the store, its outputs into C; *done false: there must be a fit. */
static okra_status change_one(update *u, const direction *v, bool *done)
{
    const okra_problem_ *p = u->c->problem;
    okra_int N = u->n + u->m;
    okra_int e = !u->Y ? 0 : v->E.p ? v->E.rows : p->d;
    FREED_BY(leave_room) grown g = {.n = N};
    OWNED double *rows = NULL;
    double drift = 0;
    CHK(find_room(u, v->name, &g.room, &g.before));
    CHK(okra_doubles_(u->ctx, u->m + e, N, "the rows of the new inputs", &rows));
    okra_mat_ G = okra_growing_mat_(g.room, N), R = okra_mat_of_(rows, u->m + e, N);
    okra_mat_ solved = okra_mat_part_(R, u->m, e, 0, N);
    CHK(fill(u, v->E, R));
    CHK(border(u, v->shift, G, R, done));
    u->c->why = *done ? NULL : "the Gram matrix is singular to rounding";
    if (!*done) {
        return OKRA_OK;
    }
    CHK(measure(u->ctx, p, v->shift, G, &drift));
    u->c->drift = OKRA_MAX_(u->c->drift, drift);
    *done = drift <= drift_most;
    u->c->why = *done ? NULL : "rounding had added up in the factor";
    if (!*done) {
        return OKRA_OK;
    }
    if (e > 0) {
        okra_mat_ C = okra_mat_of_(u->C, N, p->d);
        CHK(v->E.p ? okra_gemm_(u->ctx, true, false, 1, solved, v->E, 1, C)
                   : okra_mat_transpose_(solved, C));
    }
    okra_store_item_ item = {.A = G, .room = g.room, .before = g.before};
    CHK(okra_store_add_(u->store, v->name, item));
    g.room = NULL;
    return OKRA_OK;
}

/* ---- all together ---- */

/* Y less its mean, in the units of C: that of K + noise itself. */
static okra_status outputs(okra_ridge_ *r, update *u)
{
    okra_int n = r->p->n, d = r->p->d;
    if (!r->p->features) {
        return OKRA_OK;
    }
    CHK(okra_problem_roots_(r->p, &r->s, &r->total));
    CHK(okra_ridge_features_(r));
    for (okra_int i = 0; r->s && i < n * d; i++) {
        r->Y[i] /= r->s[i / d];
    }
    u->Y = r->Y;
    CHK(okra_doubles_(r->ctx, n, d, "the ridge coefficients", &u->C));
    okra_mat_fill_(okra_mat_of_(u->C, n, d), 0);
    return OKRA_OK;
}

static okra_status put_rest(const okra_ridge_ *r, update *u, double lambda)
{
    const okra_change_ *c = u->c;
    okra_store_ *store = u->store;
    okra_mat_ A = okra_store_mat_(c->old, "operator.A");
    CHK(okra_store_put_number_(store, "jitter", 0));
    if (u->C) {
        CHK(okra_store_put_(store, "coefficients", &u->C, r->p->n, r->p->d));
    }
    if (r->mean) {
        CHK(okra_store_put_copy_(store, "mean", r->mean, 1, r->p->d));
    }
    if (A.p) {
        CHK(okra_store_put_copy_(store, "operator.A", A.p, A.rows, A.cols));
    }
    CHK(okra_store_put_text_(store, "operator",
                             okra_store_get_text_(c->old, "operator")));
    CHK(okra_store_put_number_(store, "lambda", lambda));
    CHK(okra_store_put_number_(store, "center", r->center));
    CHK(okra_store_put_number_(store, "drift", c->drift));
    return okra_problem_put_weights_(r->p, store);
}

okra_status okra_solution_update_(okra_context *ctx, okra_change_ *c, okra_store_ *store)
{
    okra_ridge_ r = {.ctx = ctx, .p = c->problem};
    update u = {
        .ctx = ctx, .c = c, .m = c->added, .n = r.p->n - c->added, .store = store};
    OWNS(&u.K, &u.C, &r.Y, &r.s, &r.mean);
    FREED_BY(directions_clear) directions o = {0};
    double lambda = okra_store_number_(c->old, "lambda", 0);
    bool done = true;
    r.center = okra_store_number_(c->old, "center", 0) != 0;
    CHK(find_directions(ctx, c, lambda, &o));
    if ((c->why = o.count > 0 ? obstacle(c, &o)
                              : "the operator is neither identity nor a matrix")) {
        return OKRA_OK;
    }
    CHK(outputs(&r, &u));
    CHK(new_rows(&u));
    for (int k = 0; k < o.count && done; k++) {
        CHK(okra_cancelled_(ctx));
        CHK(change_one(&u, &o.of[k], &done));
    }
    if (done) {
        CHK(put_rest(&r, &u, lambda));
    }
    c->done = done;
    return OKRA_OK;
}
