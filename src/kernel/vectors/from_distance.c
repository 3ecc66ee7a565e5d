/*
 * from_distance.c: a kernel from a matrix of distances, by classical scaling.
 *
 * Problem: distances D (n x n, symmetric, 0 on the diagonal), H = I - 11'/n. Then
 *     B = -1/2 H D^2 H   (D^2 elementwise)        (W. Torgerson, Psychometrika 17, 1952)
 * holds inner products about the mean if the distances are Euclidean. (Weston et al. 2003
 * print eq. 5 without the minus sign.) If they are not, B has negative eigenvalues; their
 * share sum |x < 0| / sum |x| is reported as a warning, and `repair` says what is done:
 *     clip    K = V+ diag(x+) V+', the negative eigenvalues set to 0
 *     shift   K = B + c H, c = -smallest eigenvalue: what D^2 + 2c off the diagonal gives
 *             (J. Lingoes, Psychometrika 36, 1971)
 *     none    K = B
 *
 * Another object, a row d of distances to the training objects, has (J. Gower, Biometrika
 * 55, 1968; r_j the row means and g the grand mean of D^2)
 *     b_j = -1/2 (d_j^2 - mean(d^2) - r_j + g),     self-similarity mean(d^2) - g/2;
 * `clip` projects b on V+, and the self-similarity is at least that of the projection;
 * `shift` adds c (1 + 1/n) to the self-similarity, for the object differs from all
 * others.
 *
 * Objects of weight u_j count u_j times: means weigh as they do, and eigenvectors are
 * those of S B S, S = diag(u)^1/2; V S^-1 takes the place of V and b diag(u) that of b in
 * products with it. (shift keeps an object apart from its copies; a weight does not.)
 *
 * Cost: O(n^3) once for the eigenvalues, O(n^2) a row with clip. Accuracy: a few eps
 * times the largest d^2, since centring cancels.
 */
#include "kernel/kernel.h"

#define MOST 1e150 /* its square, and sums of such, are finite */

typedef enum repair { CLIP, SHIFT, NONE } repair;

typedef struct distance_params {
    int repair;
} distance_params;

typedef struct shared {
    const okra_data *train;
    okra_int n, kept;    /* kept: rows of V, positive eigenvalues */
    double *mean;        /* n: r_j */
    double grand, total; /* total: of the weights */
    double *K;           /* n x n */
    double *V, *x;       /* clip: kept x n eigenvectors, their eigenvalues */
    double shift;
} shared;

typedef struct side {
    const double *K; /* rows against the training objects */
    okra_int n;
    double *own, *self;
} side;

OKRA_FREES_(unbind, shared, it->mean, it->K, it->V, it->x)
OKRA_DROPS_(drop_shared, shared, unbind)

static okra_status check_distances(const okra_data *data, bool square)
{
    double largest = 0;
    for (okra_int i = 0; i < data->n; i++) {
        for (okra_int j = 0; j < data->d; j++) {
            double d = data->values[i * data->ld + j];
            largest = fmax(largest, d);
            REFUSE_IF(!(d >= 0 && d <= MOST), OKRA_EARG,
                      "kernel from-distance: %s: %g at (%lld, %lld), counted "
                      "from 0; %s",
                      data->source, d, (long long)i, (long long)j,
                      d > MOST ? "distances are at most 1e150"
                               : "distances are not negative");
        }
    }
    /* Single precision leaves this much of asymmetry and on the diagonal. */
    double tolerance = 1e-6 * largest;
    for (okra_int i = 0; i < data->n && square; i++) {
        for (okra_int j = 0; j <= i; j++) {
            double a = data->values[i * data->ld + j], b = data->values[j * data->ld + i];
            REFUSE_IF(!(fabs(i == j ? a : a - b) <= tolerance), OKRA_EARG,
                      "kernel from-distance: %s: %g at (%lld, %lld), counted "
                      "from 0; expected %g",
                      data->source, a, (long long)i, (long long)j, i == j ? 0 : b);
        }
    }
    return OKRA_OK;
}

/* B, both triangles, and the means. */
static void centre(shared *s)
{
    okra_int n = s->n;
    const okra_data *D = s->train;
    for (okra_int i = 0; i < n; i++) {
        double sum = 0;
        for (okra_int j = 0; j < n; j++) {
            double d = 0.5 * (D->values[i * D->ld + j] + D->values[j * D->ld + i]);
            s->K[i * n + j] = i == j ? 0 : d * d;
            sum += okra_weight_(D, j) * s->K[i * n + j];
        }
        s->mean[i] = sum / s->total;
        s->grand += okra_weight_(D, i) * s->mean[i] / s->total;
    }
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < n; j++) {
            s->K[i * n + j] =
                -0.5 * (s->K[i * n + j] - (s->mean[i] + s->mean[j]) + s->grand);
        }
    }
}

static double root(const shared *s, okra_int j)
{
    return s->train->weights ? sqrt(s->train->weights[j]) : 1;
}

/* K <- V' diag(x) V over the positive eigenvalues, which are the last ones. */
static okra_status clip(okra_context *ctx, shared *s, const double *x)
{
    okra_int n = s->n;
    OWNED double *scaled = NULL;
    okra_int first = n - s->kept;
    CHK(okra_doubles_(ctx, s->kept, n, "coordinates from distances", &scaled));
    for (okra_int k = 0; k < s->kept; k++) {
        s->x[k] = x[first + k];
        for (okra_int j = 0; j < n; j++) {
            s->V[k * n + j] = s->V[(first + k) * n + j] / root(s, j);
            scaled[k * n + j] = s->V[k * n + j] * sqrt(s->x[k]);
        }
    }
    return okra_syrk_(ctx, true, 1, okra_mat_of_(scaled, s->kept, n), 0,
                      okra_mat_of_(s->K, n, n));
}

static okra_status mend(okra_context *ctx, const distance_params *p, shared *s)
{
    static const char *const what[] = {"set to 0", "shifted to 0", "left"};
    okra_int n = s->n, negative = 0;
    OWNED double *x = NULL;
    double below = 0, all = 0;
    MAKE(x, n);
    MAKE(s->x, n);
    CHK(okra_doubles_(ctx, n, n, "eigenvectors of distances", &s->V));
    for (okra_int i = 0; i < n * n; i++) {
        s->V[i] = root(s, i / n) * s->K[i] * root(s, i % n);
    }
    CHK(okra_eigh_(ctx, okra_mat_of_(s->V, n, n), x));
    /* Beside the largest, eigenvalues below this are rounding. */
    double floor = n > 0 ? 1e-12 * (double)n * fmax(x[n - 1], -x[0]) : 0;
    for (okra_int i = 0; i < n; i++) {
        all += fabs(x[i]);
        negative += x[i] < -floor;
        below += x[i] < -floor ? -x[i] : 0;
        s->kept += x[i] > floor;
    }
    if (negative > 0) {
        okra_warn_(
            ctx,
            "kernel from-distance: the distances of %s are not Euclidean: %lld of "
            "%lld eigenvalues are negative, %.3g %% of the sum of magnitudes; they "
            "are %s",
            s->train->source, (long long)negative, (long long)n, 100 * below / all,
            what[p->repair]);
    }
    if (p->repair == CLIP) {
        CHK(clip(ctx, s, x));
    } else if (p->repair == SHIFT && negative > 0) {
        s->shift = -x[0];
        for (okra_int i = 0; i < n; i++) {
            for (okra_int j = 0; j < n; j++) {
                s->K[i * n + j] += s->shift * ((i == j) - 1 / s->total);
            }
        }
    }
    return OKRA_OK;
}

static okra_status bind_training(okra_context *ctx, const void *params,
                                 const okra_data *train, void **out)
{
    FREED_BY(drop_shared) shared *s = NULL;
    REFUSE_IF(train->n != train->d, OKRA_ESHAPE,
              "kernel from-distance: %s is %lld x %lld, expected all pairs",
              train->source, (long long)train->n, (long long)train->d);
    CHK(check_distances(train, true));
    ZMAKE(s, 1);
    s->train = train;
    s->n = train->n;
    s->total = okra_weights_total_(train);
    MAKE(s->mean, s->n);
    CHK(okra_doubles_(ctx, s->n, s->n, "the kernel of distances", &s->K));
    centre(s);
    CHK(mend(ctx, params, s));
    *out = TAKE(s);
    return OKRA_OK;
}

OKRA_FREES_(free_side, side, it->own, it->self)
OKRA_DROPS_(drop_side, side, free_side)

/* Gower's b and self-similarity of every row. */
static void gower(const shared *sh, const okra_data *data, side *s)
{
    okra_int n = sh->n;
    for (okra_int i = 0; i < data->n; i++) {
        double mean = 0;
        for (okra_int j = 0; j < n; j++) {
            double d = data->values[i * data->ld + j];
            s->own[i * n + j] = d * d;
            mean += okra_weight_(sh->train, j) * (d * d) / sh->total;
        }
        for (okra_int j = 0; j < n; j++) {
            s->own[i * n + j] =
                -0.5 * (s->own[i * n + j] - (mean + sh->mean[j]) + sh->grand);
        }
        s->self[i] = mean - 0.5 * sh->grand;
        if (sh->shift > 0) {
            s->self[i] += sh->shift * (1 + 1 / sh->total);
        }
    }
}

/* b <- b V+' V+, and |coordinates|^2 = sum (b v_k)^2 / x_k. */
static okra_status project(okra_context *ctx, const shared *sh, okra_int m, side *s)
{
    OWNED double *c = NULL;
    okra_mat_ b = okra_mat_of_(s->own, m, sh->n);
    okra_mat_ V = okra_mat_of_(sh->V, sh->kept, sh->n);
    CHK(okra_doubles_(ctx, m, sh->kept, "coordinates from distances", &c));
    for (okra_int k = 0; sh->train->weights && k < m * sh->n; k++) {
        s->own[k] *= sh->train->weights[k % sh->n];
    }
    CHK(okra_gemm_(ctx, false, true, 1, b, V, 0, okra_mat_of_(c, m, sh->kept)));
    for (okra_int i = 0; i < m; i++) {
        double square = 0;
        for (okra_int k = 0; k < sh->kept; k++) {
            square += c[i * sh->kept + k] * c[i * sh->kept + k] / sh->x[k];
        }
        s->self[i] = fmax(s->self[i], square);
    }
    return okra_gemm_(ctx, false, false, 1, okra_mat_of_(c, m, sh->kept), V, 0, b);
}

static okra_status make_side(okra_context *ctx, const void *params, const void *arg,
                             const okra_data *data, void **out)
{
    const distance_params *p = params;
    const shared *sh = arg;
    FREED_BY(drop_side) side *s = NULL;
    ZMAKE(s, 1);
    s->n = sh->n;
    s->K = sh->K;
    MAKE(s->self, data->n);
    if (data == sh->train) {
        for (okra_int i = 0; i < sh->n; i++) {
            s->self[i] = sh->K[i * sh->n + i];
        }
    } else {
        REFUSE_IF(data->d != sh->n, OKRA_ESHAPE,
                  "kernel from-distance: %s has %lld columns, expected one for each of "
                  "the %lld training objects",
                  data->source, (long long)data->d, (long long)sh->n);
        CHK(check_distances(data, false));
        CHK(okra_doubles_(ctx, data->n, sh->n, "the kernel of distances", &s->own));
        s->K = s->own;
        gower(sh, data, s);
        if (p->repair == CLIP) {
            CHK(project(ctx, sh, data->n, s));
        }
    }
    *out = TAKE(s);
    return OKRA_OK;
}

static okra_status block(okra_context *ctx, const void *params, const void *pa,
                         okra_int i0, okra_int ni, const void *pb, okra_int j0,
                         okra_int nj, double *out, okra_int ld)
{
    const side *a = pa;
    return okra_mat_copy_(okra_mat_view_(a->K + i0 * a->n + j0, ni, nj, a->n),
                          (okra_mat_){out, ni, nj, ld});
}

static okra_status diagonal(okra_context *ctx, const void *params, const void *pa,
                            okra_int n, double *out)
{
    const side *s = pa;
    for (okra_int i = 0; i < n; i++) {
        out[i] = s->self[i];
    }
    return OKRA_OK;
}

static const okra_option rows[] = {
    {"repair", OKRA_OPTION_CHOICE, offsetof(distance_params, repair), "clip", 1, 0,
     "clip|shift|none", NULL, "what becomes of negative eigenvalues"},
    {.name = NULL}};

const okra_kernel_class_ okra_from_distance_ = {
    .name = "from-distance",
    .help = "classical scaling of a matrix of distances",
    .params = {"from-distance", rows, sizeof(distance_params)},
    .kinds = 1u << OKRA_GRAM,
    .follows = true,
    .bind = bind_training,
    .unbind = unbind,
    .side = make_side,
    .free_side = free_side,
    .block = block,
    .diagonal = diagonal};
