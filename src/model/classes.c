/*
 * classes.c: scores and probabilities of classes.
 *
 *     h_c(x) = sum over i with y_i = c of w_i(x)          the score of class c
 *     p_c(x) = exp(a h_c(x) + b_c) / sum over k of exp(a h_k(x) + b_k)
 *
 * a and b minimise the log-loss of left-out scores: those of each training input under
 * the model that has not seen its pair, in closed form, or by FOLDS folds where there is
 * none. Targets are those of Platt (1999): class c of n_c pairs has the target
 * (n_c + 1) / (n_c + 2) where it is the truth, the others share the rest, so that a stays
 * finite where the classes are apart. Newton's method on the 1 + C parameters of a convex
 * function, halving steps that do not descend; n C^2 operations a step. With more than
 * MOST classes b is 0.
 */
#include "model/model.h"
#include "okra/more/classes.h"
#include "okra/more/leave.h"
#include "okra/more/prediction.h"

enum { FOLDS = 5, MOST = 100, STEPS = 60, BLOCK = 1024 };

/* Adds the weights (m x n) of one row of training outputs y after another. */
static void add_up(const double *W, okra_int m, const okra_data *y, double *H)
{
    memset(H, 0, (size_t)(m * y->d) * sizeof *H);
    for (okra_int r = 0; r < m; r++) {
        for (okra_int i = 0; i < y->n; i++) {
            H[r * y->d + y->codes[i]] += W[r * y->n + i];
        }
    }
}

static okra_status take_scores(const okra_prediction *p, const okra_data *y, double *H)
{
    okra_int rows = 0, cols = 0;
    const double *W = okra_prediction_weights(p, &rows, &cols);
    if (W) {
        add_up(W, rows, y, H);
        return OKRA_OK;
    }
    W = okra_prediction_embedding(p, &rows, &cols);
    REFUSE_IF(!W || cols != y->d, OKRA_EUNSUPPORTED,
              "this model has neither weights of its training outputs nor scores of "
              "their classes");
    memcpy(H, W, (size_t)(rows * cols) * sizeof *H);
    return OKRA_OK;
}

static okra_status score(okra_context *ctx, const okra_model *model, const okra_data *x,
                         double *H)
{
    const okra_data *y = model->training->y;
    FREED_BY(okra_options_drop_) okra_options *none = NULL;
    bool embeds = okra_model_form_(model) == OKRA_FORM_EMBEDDING && !model->dropped;
    okra_predict_request request = {OKRA_SIZED(okra_predict_request), .weights = !embeds,
                                    .embedding = embeds};
    CHK(okra_predict_options(&none));
    CHK(okra_options_set(none, "decode", "none"));
    for (okra_int first = 0; first < x->n; first += BLOCK) {
        FREED_BY(okra_prediction_drop_) okra_prediction *p = NULL;
        FREED_BY(okra_data_drop_) okra_data *some = NULL;
        okra_int count = OKRA_MIN_(BLOCK, x->n - first);
        CHK(okra_data_some_(x, first, count, count, &some));
        CHK(okra_predict(ctx, model, some, none, &request, &p));
        CHK(take_scores(p, y, H + first * y->d));
    }
    return OKRA_OK;
}

/* ---- scores of training inputs whose pairs were left out ---- */

/* Of the pairs first, first + FOLDS, ... by a fit of the others. */
static okra_status leave_fold(okra_context *ctx, const okra_model *model,
                              const okra_options *options, okra_int first, double *H)
{
    const okra_data *x = model->training->x, *y = model->training->y;
    FREED_BY(okra_data_drop_)
    okra_data *xs = NULL, *ys = NULL, *left = NULL;
    FREED_BY(okra_model_drop_) okra_model *part = NULL;
    OWNED okra_int *in = NULL, *out = NULL;
    OWNED double *some = NULL;
    okra_int ins = 0, outs = 0;
    MAKE(in, y->n);
    MAKE(out, y->n);
    for (okra_int i = 0; i < y->n; i++) {
        if (i % FOLDS == first) {
            out[outs++] = i;
        } else {
            in[ins++] = i;
        }
    }
    CHK(okra_data_take(x, in, ins, &xs));
    CHK(okra_data_take(y, in, ins, &ys));
    CHK(okra_data_take(x, out, outs, &left));
    CHK(okra_fit(ctx, xs, ys, options, &part));
    MAKE(some, outs * y->d);
    CHK(score(ctx, part, left, some));
    for (okra_int k = 0; k < outs; k++) {
        memcpy(H + out[k] * y->d, some + k * y->d, (size_t)y->d * sizeof *H);
    }
    return OKRA_OK;
}

static okra_status leave(okra_context *ctx, const okra_model *model, double *H)
{
    FREED_BY(okra_prediction_drop_) okra_prediction *p = NULL;
    FREED_BY(okra_options_drop_) okra_options *options = NULL;
    const char *file = NULL;
    okra_status st = okra_model_leave(ctx, model, NULL, NULL, &p);
    if (st != OKRA_EUNSUPPORTED) {
        CHK(st);
        return take_scores(p, model->training->y, H);
    }
    CHK(okra_model_options_(model, &options, &file));
    REFUSE_IF(file || okra_model_low_(model) || model->training->y->n < FOLDS ||
                  model->training->x->n != model->training->y->n ||
                  model->training->x->kind == OKRA_GRAM,
              OKRA_EUNSUPPORTED,
              "probabilities need predictions of training inputs whose pairs are left "
              "out, which this model (method %s) has not in closed form, and fits of its "
              "parts cannot be made from it",
              model->method->name);
    for (okra_int k = 0; k < FOLDS; k++) {
        CHK(leave_fold(ctx, model, options, k, H));
    }
    return OKRA_OK;
}

/* ---- a and b ---- */

typedef struct softmax {
    okra_int n, C;
    const double *H;    /* n x C scores                           */
    const okra_data *y; /* their classes, and perhaps weights     */
    okra_int *count;    /* of the pairs of each class             */
    bool biases;        /* else b is 0                            */
    double *p;          /* 1 + C: a, then b                       */
} softmax;

/* P (C) <- the probabilities of one row of scores; a class without pairs has none.
 * Returns the logarithm of the sum that they were divided by. */
static double probabilities(const softmax *s, const double *p, const double *h, double *P)
{
    double most = -(double)INFINITY, sum = 0;
    for (okra_int c = 0; c < s->C; c++) {
        P[c] = s->count[c] > 0 ? p[0] * h[c] + p[1 + c] : -(double)INFINITY;
        most = fmax(most, P[c]);
    }
    for (okra_int c = 0; c < s->C; c++) {
        P[c] = exp(P[c] - most);
        sum += P[c];
    }
    okra_scale_down_(s->C, sum, P);
    return most + log(sum);
}

static const double PRIOR = 1e-3; /* of b; a is held by the targets alone */

/* The target of class c where the truth is t, of `classes` that have pairs. */
static double target(const softmax *s, okra_int t, okra_int c, okra_int classes)
{
    double rest = 1 / ((double)s->count[t] + 2);
    return c == t ? 1 - rest : s->count[c] > 0 ? rest / (double)(classes - 1) : 0;
}

/* The function; with g (1 + C) and A (1 + C by 1 + C) its gradient and Hessian, too. */
static okra_status evaluate(const softmax *s, const double *p, double *P, double *g,
                            okra_mat_ A, double *value)
{
    okra_int classes = 0, C = s->C;
    for (okra_int c = 0; c < C; c++) {
        classes += s->count[c] > 0;
    }
    *value = 0;
    if (g) {
        memset(g, 0, (size_t)(1 + C) * sizeof *g);
        okra_mat_fill_(A, 0);
    }
    for (okra_int i = 0; i < s->n; i++) {
        const double *h = s->H + i * C;
        double u = s->y->weights ? s->y->weights[i] : 1, mean = 0, square = 0;
        double log_sum = probabilities(s, p, h, P);
        for (okra_int c = 0; c < C; c++) {
            double q = target(s, s->y->codes[i], c, classes);
            *value += q > 0 ? u * q * (log_sum - p[0] * h[c] - p[1 + c]) : 0;
            mean += P[c] * h[c];
            square += P[c] * h[c] * h[c];
            if (g) {
                g[0] += u * (P[c] - q) * h[c];
                g[1 + c] += u * (P[c] - q);
            }
        }
        if (!g) {
            continue;
        }
        A.p[0] += u * (square - mean * mean);
        for (okra_int c = 0; s->biases && c < C; c++) {
            double *row = A.p + (1 + c) * A.ld;
            row[0] += u * P[c] * (h[c] - mean);
            row[1 + c] += u * P[c];
            for (okra_int k = 0; k <= c; k++) {
                row[1 + k] -= u * P[c] * P[k];
            }
        }
    }
    for (okra_int c = 0; c < C; c++) {
        *value += PRIOR / 2 * p[1 + c] * p[1 + c];
        if (g) {
            g[1 + c] += PRIOR * p[1 + c];
            A.p[(1 + c) * A.ld + 1 + c] += PRIOR;
        }
    }
    return isfinite(*value) ? OKRA_OK
                            : okra_fail_(OKRA_EINTERNAL, "scores are not finite");
}

/* Newton's method from a = 1, b = 0. */
static okra_status minimise(okra_context *ctx, softmax *s)
{
    okra_int size = 1 + s->C, used = s->biases ? size : 1;
    OWNED double *work = NULL, *matrix = NULL;
    MAKE(work, 3 * size);
    MAKE(matrix, size * size);
    double *g = work, *trial = work + size, *P = work + 2 * size, value, next, jitter;
    okra_mat_ A = okra_mat_of_(matrix, size, size);
    s->p[0] = 1;
    for (int step = 0; step < STEPS; step++) {
        double t = 1;
        CHK(evaluate(s, s->p, P, g, A, &value));
        memcpy(trial, g, (size_t)size * sizeof *g);
        matrix[0] += 1e-9 * (double)s->n; /* scores that are all equal */
        okra_mat_ part = okra_mat_part_(A, 0, used, 0, used);
        CHK(okra_cholesky_quiet_(ctx, part, &jitter));
        CHK(okra_cholesky_solve_(ctx, part, okra_mat_of_(trial, used, 1)));
        double slope = okra_dot_(used, g, trial);
        if (slope <= 1e-12 * (1 + fabs(value))) {
            break;
        }
        for (next = (double)INFINITY; t > 1e-6;
             t /= 2) { /* g <- the point that is tried */
            for (okra_int k = 0; k < size; k++) {
                g[k] = s->p[k] - (k < used ? t * trial[k] : 0);
            }
            CHK(evaluate(s, g, P, NULL, A, &next));
            if (next <= value - 1e-4 * t * slope) {
                break;
            }
        }
        memcpy(s->p, g, (size_t)size * sizeof *g);
    }
    return OKRA_OK;
}

okra_status okra_predict_classes(okra_context *context, const okra_model *model,
                                 const okra_data *x, double *scores, double *probability)
{
    NOT_NULL(model, x);
    const okra_data *y = model->training->y;
    REFUSE_IF(y->kind != OKRA_LABELS, OKRA_EUNSUPPORTED,
              "the model predicts %s; probabilities are of class labels",
              okra_kind_name(y->kind));
    OWNED double *H = NULL, *left = NULL, *p = NULL;
    OWNED okra_int *count = NULL;
    CHK(okra_doubles_(context, x->n, y->d, "the scores of classes", &H));
    CHK(score(context, model, x, H));
    if (scores) {
        memcpy(scores, H, (size_t)(x->n * y->d) * sizeof *H);
    }
    if (!probability) {
        return OKRA_OK;
    }
    CHK(okra_doubles_(context, y->n, y->d, "the scores of classes", &left));
    ZMAKE(p, 1 + y->d);
    ZMAKE(count, y->d);
    softmax s = {y->n, y->d, left, y, count, y->d <= MOST, p};
    okra_int classes = 0;
    for (okra_int i = 0; i < y->n; i++) {
        classes += count[y->codes[i]]++ == 0;
    }
    if (classes > 1) { /* else its probability is 1 */
        CHK(leave(context, model, left));
        CHK(minimise(context, &s));
    }
    for (okra_int r = 0; r < x->n; r++) {
        probabilities(&s, p, H + r * y->d, probability + r * y->d);
    }
    return OKRA_OK;
}
