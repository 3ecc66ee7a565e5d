/*
 * svm.c: support vector machines on the input kernel, one an output (libsvm.c).
 *
 *   svm   class labels: one machine a class against the rest (C-SVC), decision f_c(x)
 *   svr   dense vectors under a linear output kernel: one epsilon-SVR a coordinate
 *
 *     f(x) = sum_i a_i k(x_i, x) + b        a = 0 off the support
 *
 * The prediction of classes is h(x) = sum_c f_c(x) phi(c) with phi(c) the label's own
 * direction, written as weights: f_c(x) on the first training pair of class c, 0 on all
 * others. Under a zero-one output kernel the nearest candidate is then the class with the
 * largest f_c. A pair of weight u has u times the cost. Vectors are predicted as
 * embeddings. Machines are trained in parallel; a query takes n a machine.
 *
 * scale-output: a machine learns z = (y - m) / s, m and s the mean and the deviation of
 * its coordinate; s f(x) + m is what the model keeps.
 *
 * Machines whose pairs have a price each, which LIBSVM does not
 * know: the duals of libsvm.c with C_i = u_i C, u_i the weight of pair i.
 *
 * Both are  min_a 1/2 a'Qa + p'a,  y'a = 0,  0 <= a_i <= C_i,  Q_ij = y_i y_j K_ij:
 *   C-SVC        y the targets, p = -1;                              c_i = y_i a_i
 *   epsilon-SVR  a pair twice, y = +1 and -1, p = tube -+ target;    c_i = a_i - a_(n+i)
 *
 * Sequential minimal optimisation: the two variables of the largest second-order gain
 * (Fan, Chen and Lin, JMLR 6, 2005, WSS 2) go to their best together, until the largest
 * violation of the optimality conditions is below the tolerance. The bias is the mean of
 * -y_i G_i over the free variables, else the middle of what the others allow, as LIBSVM
 * has it.
 *
 * Cost: n a step; roughly n to n^2 steps. Memory beside K: 4 n doubles.
 */
#include "method/structured/libsvm.h"
#include "method/method.h"

static const double LEAST = 1e-12; /* curvature, where K is not positive definite */

typedef struct solver {
    okra_mat_ K;
    okra_int n, variables;    /* variables: n, or 2 n of a regression */
    double *a, *G, *y, *most; /* a each variable                      */
} solver;

static double kernel(const solver *s, okra_int i, okra_int j)
{
    return s->K.p[i % s->n * s->K.ld + j % s->n];
}

/* May y_i a_i rise, and may it fall? */
static bool rises(const solver *s, okra_int i)
{
    return s->y[i] > 0 ? s->a[i] < s->most[i] : s->a[i] > 0;
}

static bool falls(const solver *s, okra_int i)
{
    return s->y[i] > 0 ? s->a[i] > 0 : s->a[i] < s->most[i];
}

/* The pair to move; false: the violation is below the tolerance. */
static bool choose(const solver *s, double tolerance, okra_int *i, okra_int *j)
{
    double high = -(double)INFINITY, low = (double)INFINITY, best = (double)INFINITY;
    *i = *j = -1;
    for (okra_int t = 0; t < s->variables; t++) {
        if (rises(s, t) && -s->y[t] * s->G[t] > high) {
            high = -s->y[t] * s->G[t];
            *i = t;
        }
    }
    for (okra_int t = 0; *i >= 0 && t < s->variables; t++) {
        double value = -s->y[t] * s->G[t], b = high - value;
        if (!falls(s, t)) {
            continue;
        }
        low = fmin(low, value);
        if (b > 0) {
            double curve = kernel(s, *i, *i) + kernel(s, t, t) - 2 * kernel(s, *i, t);
            double gain = -b * b / fmax(curve, LEAST);
            if (gain < best) {
                best = gain;
                *j = t;
            }
        }
    }
    return *j >= 0 && high - low >= tolerance;
}

/* y_i a_i up and y_j a_j down by the same, as far as is best and the bounds allow. */
static void move(solver *s, okra_int i, okra_int j)
{
    double curve = kernel(s, i, i) + kernel(s, j, j) - 2 * kernel(s, i, j);
    double step = (s->y[j] * s->G[j] - s->y[i] * s->G[i]) / fmax(curve, LEAST);
    double room_i = s->y[i] > 0 ? s->most[i] - s->a[i] : s->a[i];
    double room_j = s->y[j] > 0 ? s->a[j] : s->most[j] - s->a[j];
    bool end_i = room_i <= step && room_i <= room_j, end_j = room_j <= step && !end_i;
    step = fmin(step, fmin(room_i, room_j));
    s->a[i] = !end_i ? s->a[i] + s->y[i] * step : s->y[i] > 0 ? s->most[i] : 0;
    s->a[j] = !end_j ? s->a[j] - s->y[j] * step : s->y[j] > 0 ? 0 : s->most[j];
    for (okra_int t = 0; t < s->variables; t++) {
        s->G[t] += s->y[t] * step * (kernel(s, t, i) - kernel(s, t, j));
    }
}

static double bias(const solver *s)
{
    double sum = 0, high = -(double)INFINITY, low = (double)INFINITY;
    okra_int count = 0;
    for (okra_int t = 0; t < s->variables; t++) {
        double value = -s->y[t] * s->G[t];
        bool up = rises(s, t), down = falls(s, t);
        if (up && down) {
            sum += value;
            count++;
        }
        high = up ? fmax(high, value) : high;
        low = down ? fmin(low, value) : low;
    }
    return count > 0     ? sum / (double)count
           : isinf(high) ? low
           : isinf(low)  ? high
                         : (high + low) / 2;
}

static okra_status train_weighted(okra_context *ctx, okra_mat_ K, const okra_svm_ *svm,
                                  const double *weights, const double *target, double *c,
                                  double *out)
{
    okra_int n = K.rows, i, j;
    solver s = {.K = K, .n = n, .variables = svm->regression ? 2 * n : n};
    OWNS(&s.a, &s.G, &s.y, &s.most);
    okra_mat_fill_(okra_mat_of_(c, 1, n), 0);
    if (okra_svm_constant_(n, target)) {
        *out = n > 0 ? target[0] : 0;
        return OKRA_OK;
    }
    ZMAKE(s.a, s.variables);
    MAKE(s.G, s.variables);
    MAKE(s.y, s.variables);
    MAKE(s.most, s.variables);
    for (okra_int t = 0; t < s.variables; t++) {
        double z = target[t % n];
        s.y[t] = svm->regression ? (t < n ? 1 : -1) : z;
        s.most[t] = svm->cost * weights[t % n];
        s.most[t] *= !svm->regression && z > 0 ? svm->positive : 1;
        s.G[t] = svm->regression ? svm->tube - s.y[t] * z : -1;
    }
    for (okra_int steps = 0; choose(&s, svm->tolerance, &i, &j); steps++) {
        if (steps % 1000 == 0) {
            CHK(okra_cancelled_(ctx));
        }
        move(&s, i, j);
    }
    for (okra_int t = 0; t < s.variables; t++) {
        c[t % n] += s.y[t] * s.a[t];
    }
    *out = bias(&s);
    return OKRA_OK;
}

typedef struct svm_options {
    double cost, tolerance, tube; /* tube, scale: svr only */
    int scale;
} svm_options;

#define SHARED                                                                          \
    {"cost",                                                                            \
     OKRA_OPTION_NUMBER,                                                                \
     offsetof(svm_options, cost),                                                       \
     "1",                                                                               \
     1e-300,                                                                            \
     1e300,                                                                             \
     NULL,                                                                              \
     "V",                                                                               \
     "price of errors, the C of a support vector machine"},                             \
    {                                                                                   \
        "svm-tolerance", OKRA_OPTION_NUMBER, offsetof(svm_options, tolerance), "0.001", \
            1e-12, 1, NULL, "V", "optimality at which LIBSVM stops"                     \
    }

static const okra_option svm_rows[] = {SHARED, {0}};

static const okra_option svr_rows[] = {
    SHARED,
    {"tube", OKRA_OPTION_NUMBER, offsetof(svm_options, tube), "0.1", 0, 1e300, NULL, "V",
     "half width of the tube within which a regression counts no error"},
    {"scale-output", OKRA_OPTION_BOOL, offsetof(svm_options, scale), "no", 1, 0, NULL, "",
     "learn outputs less their means and over their deviations, which are then the units "
     "of cost and tube"},
    {0},
};

/* ---- fit ---- */

typedef struct job {
    okra_int n, machines;
    okra_svm_ svm;
    okra_svm_gram_ gram;
    okra_context *ctx;
    okra_mat_ K;           /* where pairs have weights: smo.c */
    const double *weights; /* n, or NULL: libsvm.c            */
    double *target;        /* machines x n           */
    double *mean,
        *spread;      /* machines: as the targets were scaled, or NULL: they are not */
    double *C, *bias; /* machines x n, machines */
} job;

static void clear(job *j)
{
    okra_svm_gram_clear_(&j->gram);
    FREE(j->C, j->bias, j->mean, j->spread, j->target);
}

static okra_status body(void *arg, okra_int begin, okra_int end, int worker)
{
    const job *j = arg;
    for (okra_int m = begin; m < end; m++) {
        okra_int at = m * j->n;
        CHK(j->weights ? train_weighted(j->ctx, j->K, &j->svm, j->weights, j->target + at,
                                        j->C + at, j->bias + m)
                       : okra_svm_train_(&j->gram, &j->svm, NULL, j->n, j->target + at,
                                         j->C + at, j->bias + m));
    }
    return OKRA_OK;
}

/* Machines of the targets, into the store. */
static okra_status train(okra_context *ctx, const okra_problem_ *problem, const char *who,
                         job *j, okra_store_ *store)
{
    okra_int n = j->n;
    OWNED double *K = NULL;
    CHK(okra_problem_host_K_(ctx, problem, &K));
    j->ctx = ctx;
    j->K = okra_mat_of_(K, n, n);
    j->weights = problem->weights;
    if (!j->weights) {
        CHK(okra_svm_gram_create_(ctx, who, j->K, &j->gram));
    }
    CHK(okra_problem_put_weights_(problem, store));
    CHK(okra_doubles_(ctx, j->machines, n, "the coefficients of machines", &j->C));
    MAKE(j->bias, j->machines);
    CHK(okra_parallel_(ctx, j->machines, 1, "machines", body, j));
    for (okra_int i = 0; j->spread && i < j->machines * n; i++) {
        j->C[i] *= j->spread[i / n];
    }
    for (okra_int m = 0; j->spread && m < j->machines; m++) {
        j->bias[m] = j->bias[m] * j->spread[m] + j->mean[m];
    }
    CHK(okra_store_put_(store, "coefficients", &j->C, j->machines, n));
    return okra_store_put_(store, "bias", &j->bias, 1, j->machines);
}

extern const okra_method_ okra_method_svm_, okra_method_svr_;

static okra_status svm_fit(okra_context *ctx, const okra_problem_ *problem,
                           const okra_options *options, okra_store_ *store)
{
    svm_options o;
    okra_int n = problem->n;
    OWNED double *first = NULL; /* of every class: its first training pair, or -1 */
    FREED_BY(clear) job j = {.n = n};
    CHK(okra_options_read(options, &okra_method_svm_.options, &o));
    REFUSE_IF(!problem->y || problem->y->kind != OKRA_LABELS, OKRA_EUNSUPPORTED,
              "svm needs class labels as outputs; method svr takes vectors");
    j.svm = (okra_svm_){.cost = o.cost, .positive = 1, .tolerance = o.tolerance};
    j.machines = problem->y->d;
    MAKE(j.target, j.machines * n);
    MAKE(first, j.machines);
    for (okra_int m = 0; m < j.machines; m++) {
        first[m] = -1;
        for (okra_int i = n; i-- > 0;) {
            bool in = problem->y->codes[i] == m;
            j.target[m * n + i] = in ? 1 : -1;
            first[m] = in ? (double)i : first[m];
        }
    }
    CHK(okra_store_put_(store, "representatives", &first, 1, j.machines));
    return train(ctx, problem, "svm", &j, store);
}

/* Targets less their mean, over their deviation; 1 where they do not vary. */
static okra_status scale_targets(job *j)
{
    ZMAKE(j->mean, j->machines);
    MAKE(j->spread, j->machines);
    for (okra_int m = 0; m < j->machines; m++) {
        double *t = j->target + m * j->n, square = 0, n = (double)j->n;
        for (okra_int i = 0; i < j->n; i++) {
            j->mean[m] += t[i] / n;
        }
        for (okra_int i = 0; i < j->n; i++) {
            t[i] -= j->mean[m];
            square += t[i] * t[i] / n;
        }
        double s = sqrt(square), rounding = n * DBL_EPSILON * fabs(j->mean[m]);
        j->spread[m] = s > rounding && isfinite(s) ? s : 1;
        okra_scale_down_(j->n, j->spread[m], t);
    }
    return OKRA_OK;
}

static okra_status svr_fit(okra_context *ctx, const okra_problem_ *problem,
                           const okra_options *options, okra_store_ *store)
{
    svm_options o;
    okra_int n = problem->n;
    FREED_BY(clear) job j = {.n = n, .machines = problem->d};
    CHK(okra_options_read(options, &okra_method_svr_.options, &o));
    REFUSE_IF(!problem->features, OKRA_EUNSUPPORTED,
              "svr needs dense vectors under a linear output kernel as outputs; method "
              "svm takes class labels");
    j.svm = (okra_svm_){
        .regression = true, .cost = o.cost, .tube = o.tube, .tolerance = o.tolerance};
    MAKE(j.target, j.machines * n);
    for (okra_int i = 0; i < j.machines * n; i++) {
        j.target[i] = problem->features[i % n * problem->features_ld + i / n];
    }
    if (o.scale) {
        CHK(scale_targets(&j));
    }
    return train(ctx, problem, "svr", &j, store);
}

/* ---- prediction ---- */

static okra_int width(const okra_store_ *store)
{
    return okra_store_mat_(store, "coefficients").rows;
}

/* F (m x machines): the decisions. */
static okra_status decide(okra_context *ctx, const okra_store_ *store, okra_query_ *query,
                          okra_mat_ F)
{
    const double *bias = okra_store_mat_(store, "bias").p;
    CHK(okra_gemm_(ctx, false, true, 1, query->Kx, okra_store_mat_(store, "coefficients"),
                   0, F));
    for (okra_int r = 0; r < F.rows; r++) {
        okra_axpy_(F.cols, 1, bias, F.p + r * F.ld);
    }
    return OKRA_OK;
}

static okra_status svm_predict(okra_context *ctx, const okra_store_ *store,
                               okra_query_ *query, okra_mat_ out)
{
    OWNED double *F = NULL;
    const double *first = okra_store_mat_(store, "representatives").p;
    okra_int machines = width(store);
    CHK(okra_doubles_(ctx, query->m, machines, "the decisions of machines", &F));
    CHK(decide(ctx, store, query, okra_mat_of_(F, query->m, machines)));
    okra_mat_fill_(out, 0);
    for (okra_int m = 0; m < machines; m++) {
        okra_int i = (okra_int)first[m];
        for (okra_int r = 0; i >= 0 && r < query->m; r++) {
            out.p[r * out.ld + i] = F[r * machines + m];
        }
    }
    return OKRA_OK;
}

/* clang-format off */
static const okra_schema_ kept_classes[] = {
    OKRA_KEEPS_MATRIX_("coefficients", 0, "y", "n"),
    OKRA_KEEPS_MATRIX_("bias", 0, "1", "y"),
    OKRA_KEEPS_VALUES_("representatives", OKRA_KEPT_WHOLE_, "1", "y", "-1", "n-1"),
    OKRA_KEEPS_SAME_("inputs", "c", "n"),
    OKRA_KEPT_END_};
static const okra_schema_ kept_vectors[] = {
    OKRA_KEEPS_MATRIX_("coefficients", 0, "d", "n"),
    OKRA_KEEPS_MATRIX_("bias", 0, "1", "d"),
    OKRA_KEEPS_SAME_("inputs", "c", "n"),
    OKRA_KEPT_END_};
/* clang-format on */

#define COSTS "cost=0.01,0.1,1,10,100,1000"

const okra_method_ okra_method_svm_ = {
    .name = "svm",
    .help = "support vector machines of class labels: one class against the rest "
            "(LIBSVM)",
    .options = {"svm", svm_rows, sizeof(svm_options)},
    .takes = OKRA_TAKES_WEIGHTS_,
    .automatic = &(const okra_auto_){.tries = COSTS},
    .fit = svm_fit,
    .predict = svm_predict,
    .kept = (const okra_schema_ *const[]){kept_classes, NULL},
};

/* Costs have the unit of outputs. */
static okra_status scale_outputs(okra_options *o)
{
    return okra_options_is_set(o, "tube") || okra_options_is_set(o, "scale-output")
               ? OKRA_OK
               : okra_options_set(o, "scale-output", "yes");
}

const okra_method_ okra_method_svr_ = {
    .name = "svr",
    .help = "support vector regression of vectors, one a coordinate (LIBSVM)",
    .options = {"svr", svr_rows, sizeof(svm_options)},
    .takes = OKRA_TAKES_WEIGHTS_,
    .automatic = &(const okra_auto_){.tried = scale_outputs, .tries = COSTS},
    .fit = svr_fit,
    .width = width,
    .predict = decide,
    .kept = (const okra_schema_ *const[]){kept_vectors, NULL},
};
