/*
 * metrics.c: the table of metrics; a specification "name:key=value,..." is read, the two
 * collections are matched, and the metric is called.
 */
#include "metric/metric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A metric more is one line here: X(name) for okra_metric_<name>_. */
/* clang-format off */
#define EACH_METRIC(X) \
    X(mse) \
    X(rmse) \
    X(mae) \
    X(zero_one) \
    X(hamming) \
    X(f1) \
    X(rbf_loss) \
    X(kernel_loss) \
    X(auc_roc) \
    X(auc_pr) \
    X(characters) \
    X(edit) \
    X(accuracy) \
    X(exact_match) \
    X(subset_accuracy) \
    X(r2) \
    X(arrmse) \
    X(kendall) \
    X(spearman) \
    X(ndcg) \
    X(hit_rate) \
    X(mrr) \
    X(coverage) \
    X(set_size)
/* clang-format on */
#define DECLARE(name) extern const okra_metric_ okra_metric_##name##_;
#define PLACE(name) &okra_metric_##name##_,

EACH_METRIC(DECLARE)
static const okra_metric_ *const metrics[] = {EACH_METRIC(PLACE)};
enum { METRICS = sizeof metrics / sizeof *metrics };

const char *okra_metric_name(size_t index, const char **help,
                             const okra_option_table **parameters)
{
    if (index >= METRICS) {
        return NULL;
    }
    GIVE(help, metrics[index]->help);
    GIVE(parameters, &metrics[index]->params);
    return metrics[index]->name;
}

/* ---- the specification ---- */

static okra_status find(const char *spec, size_t length, const okra_metric_ **out)
{
    char name[64];
    const char *names[METRICS];
    for (size_t i = 0; i < METRICS; i++) {
        names[i] = metrics[i]->name;
        if (strlen(names[i]) == length && memcmp(names[i], spec, length) == 0) {
            *out = metrics[i];
            return OKRA_OK;
        }
    }
    size_t shown = OKRA_MIN_(length, sizeof name - 1);
    memcpy(name, spec, shown);
    name[shown] = '\0';
    const char *best = okra_nearest(name, names, METRICS);
    return best ? okra_fail_(OKRA_EARG, "there is no metric '%s'; did you mean '%s'?",
                             name, best)
                : okra_fail_(OKRA_EARG, "there is no metric '%s'", name);
}

/* Where the parameter at `p` ends: a comma outside of brackets, or the end. */
static const char *parameter_end(const char *p)
{
    int depth = 0;
    for (; *p && (depth > 0 || *p != ','); p++) {
        depth += (*p == '(' || *p == '{') - (*p == ')' || *p == '}');
    }
    return p;
}

static okra_status set_parameter(okra_options *options, const char *spec, const char *p,
                                 const char *end)
{
    OWNED char *key = okra_strndup_(p, (size_t)(end - p));
    GOT(key);
    char *equals = strchr(key, '=');
    REFUSE_IF(!equals || equals == key, OKRA_EARG,
              "metric '%s': found '%s', expected key=value", spec, key);
    *equals = '\0';
    REFUSE_IF(okra_options_is_set(options, key), OKRA_EARG,
              "metric '%s': %s is given twice", spec, key);
    return okra_options_set(options, key, equals + 1);
}

/* The metric and its parameters; texts in *params belong to *options. */
static okra_status parse(const char *spec, const okra_metric_ **metric,
                         okra_options **options, void **params)
{
    okra_status st = OKRA_OK;
    size_t length = strcspn(spec, ":");
    *options = NULL;
    *params = NULL;
    TRY(find(spec, length, metric));
    const okra_option_table *table = &(*metric)->params;
    TRY(okra_options_create(&table, 1, options));
    for (const char *p = spec + length; *p;) {
        const char *end = parameter_end(p + 1);
        TRY(set_parameter(*options, spec, p + 1, end));
        p = end;
    }
    *params = okra_zalloc_(1, table->size);
    if (!*params) {
        st = OKRA_EMEM;
        goto done;
    }
    TRY(okra_options_read(*options, table, *params));
    if ((*metric)->check) {
        TRY((*metric)->check(*params));
    }
done:
    if (st != OKRA_OK) {
        okra_options_free(*options);
        okra_free_(*params);
        *options = NULL;
        *params = NULL;
    }
    return st;
}

okra_status okra_metric_is_loss(const char *spec, bool *loss)
{
    NOT_NULL(spec);
    NOT_NULL(loss);
    const okra_metric_ *metric;
    okra_options *options;
    void *params;
    okra_status st = parse(spec, &metric, &options, &params);
    if (st == OKRA_OK) {
        *loss = metric->loss;
        okra_options_free(options);
        okra_free_(params);
    }
    return st;
}

/* ---- the pairs ---- */

const double *okra_metric_row_(const okra_data *data, okra_int i, double *buffer)
{
    if (data->kind == OKRA_DENSE) {
        return data->values + i * data->ld;
    }
    if (data->kind == OKRA_BITS) {
        const uint64_t *words = data->bits + i * data->words;
        for (okra_int j = 0; j < data->d; j++) {
            buffer[j] = (double)(words[j / 64] >> (j % 64) & 1);
        }
        return buffer;
    }
    for (okra_int j = 0; j < data->d; j++) {
        buffer[j] = 0;
    }
    for (okra_int k = data->csr.indptr[i]; k < data->csr.indptr[i + 1]; k++) {
        buffer[data->csr.indices[k]] = data->csr.values[k];
    }
    return buffer;
}

okra_status okra_metric_pairs_(okra_scores_ *scores, const void *params,
                               double (*f)(const void *params, okra_int d,
                                           const double *truth, const double *predicted))
{
    OWNED double *a = NULL, *b = NULL;
    MAKE(a, scores->d);
    MAKE(b, scores->d);
    for (okra_int i = 0; i < scores->n; i++) {
        scores->each[i] = f(params, scores->d, okra_metric_row_(scores->truth, i, a),
                            okra_metric_row_(scores->predicted, i, b));
    }
    return OKRA_OK;
}

/* Vectors of any kind may be compared with each other; other kinds with their own. */
static okra_status check_pairs(const okra_metric_ *metric, const okra_data *truth,
                               const okra_data *predicted)
{
    char a[120], b[120];
    const okra_data *sides[] = {truth, predicted};
    bool vectors = true;
    for (int i = 0; i < 2; i++) {
        REFUSE_IF(!(metric->kinds >> sides[i]->kind & 1u), OKRA_EUNSUPPORTED,
                  "metric %s: the %s is %s, which it does not compare", metric->name,
                  i ? "prediction" : "truth", okra_data_describe_(sides[i], a, sizeof a));
        vectors = vectors && ((unsigned)OKRA_METRIC_VECTORS_ >> sides[i]->kind & 1u);
    }
    REFUSE_IF(truth->n != predicted->n || (!vectors && truth->kind != predicted->kind) ||
                  (vectors && truth->d != predicted->d),
              OKRA_ESHAPE, "metric %s: the truth is %s, the prediction %s", metric->name,
              okra_data_describe_(truth, a, sizeof a),
              okra_data_describe_(predicted, b, sizeof b));
    REFUSE_IF(truth->n == 0 || (vectors && truth->d == 0), OKRA_ESHAPE,
              "metric %s: there is nothing to compare in %s", metric->name,
              okra_data_describe_(truth, a, sizeof a));
    return OKRA_OK;
}

/* How many values of object i of the truth are known; 1 of one without missing values. */
static okra_int known_values(const okra_scores_ *s, okra_int i)
{
    okra_int known = 0;
    for (okra_int j = 0; s->truth->missing && j < s->truth->d; j++) {
        known += !isnan(s->truth->values[i * s->truth->ld + j]);
    }
    return s->truth->missing ? known : 1;
}

static okra_status check_missing(const okra_metric_ *metric, const okra_data *truth,
                                 const okra_data *predicted)
{
    REFUSE_IF(predicted->missing, OKRA_EARG,
              "metric %s: the prediction has missing values", metric->name);
    return !truth->missing || metric->gaps
               ? OKRA_OK
               : okra_fail_(OKRA_EUNSUPPORTED,
                            "metric %s: the truth has missing values, which mse, mae, "
                            "rmse, arrmse and r2 leave out",
                            metric->name);
}

/* The mean of each, weighted; objects with missing values by how many are known. */
static void find_mean(okra_scores_ *s)
{
    double sum = 0, total = 0;
    for (okra_int i = 0; i < s->n; i++) {
        okra_int known = known_values(s, i);
        double w = okra_metric_weight_(s, i) * (double)known;
        sum += known > 0 ? w * s->each[i] : 0;
        total += w;
    }
    s->value = sum / total;
}

typedef struct named {
    const char *name;
    okra_int code;
} named;

static int by_name(const void *a, const void *b)
{
    const named *x = a, *y = b;
    return strcmp(x->name, y->name);
}

/* codes[c]: the truth's class with the name of the prediction's class c, or a class of
 * its own, truth->d + c. Without names on both sides classes are compared by number. */
static okra_status match_classes(const okra_data *truth, const okra_data *predicted,
                                 okra_int **out)
{
    OWNED named *known = NULL;
    OWNED okra_int *codes = NULL;
    MAKE(known, truth->d);
    MAKE(codes, predicted->d);
    bool names = truth->class_names && predicted->class_names;
    for (okra_int c = 0; names && c < truth->d; c++) {
        known[c] = (named){truth->class_names[c], c};
    }
    if (names) {
        qsort(known, (size_t)truth->d, sizeof *known, by_name);
    }
    for (okra_int c = 0; c < predicted->d; c++) {
        codes[c] = names || c >= truth->d ? truth->d + c : c;
        if (names) {
            named key = {predicted->class_names[c], 0};
            const named *hit =
                bsearch(&key, known, (size_t)truth->d, sizeof *known, by_name);
            codes[c] = hit ? hit->code : codes[c];
        }
    }
    *out = TAKE(codes);
    return OKRA_OK;
}

okra_status okra_score(okra_context *context, const char *spec, const okra_data *truth,
                       const okra_data *predicted, double *value, double *each,
                       bool *has_each)
{
    okra_status st = OKRA_OK;
    const okra_metric_ *metric = NULL;
    okra_options *options = NULL;
    void *params = NULL;
    okra_int *codes = NULL, known = 0;
    okra_data *aligned = NULL;
    okra_scores_ s = {.truth = truth, .has_each = true};
    NOT_NULL(spec);
    NOT_NULL(truth);
    NOT_NULL(predicted);
    NOT_NULL(value);
    TRY(okra_columns_align_(context, predicted, truth, false, &aligned));
    s.predicted = predicted = aligned;
    TRY(parse(spec, &metric, &options, &params));
    if (metric->list) {
        FAIL(OKRA_EARG,
             "metric %s compares lists of candidates with the true one: okra score "
             "--lists, okra_score_lists",
             metric->name);
    }
    TRY(check_pairs(metric, truth, predicted));
    TRY(check_missing(metric, truth, predicted));
    s.n = truth->n;
    s.d = truth->d;
    for (okra_int i = 0; i < s.n; i++) {
        s.total += okra_metric_weight_(&s, i);
        known += okra_metric_weight_(&s, i) > 0 ? known_values(&s, i) : 0;
    }
    if (!(s.total > 0)) {
        FAIL(OKRA_EARG, "metric %s: all weights are 0", metric->name);
    }
    if (truth->missing && known == 0) {
        FAIL(OKRA_EARG, "metric %s: no value of the truth is known", metric->name);
    }
    if (truth->kind == OKRA_LABELS) {
        TRY(match_classes(truth, predicted, &codes));
        s.codes = codes;
        s.d += predicted->d;
    }
    ALLOC(s.each, s.n);
    TRY(metric->score(context, params, &s));
    if (s.has_each) {
        find_mean(&s);
        if (each) {
            memcpy(each, s.each, (size_t)s.n * sizeof *each);
        }
    }
    *value = s.value;
    GIVE(has_each, s.has_each);
done:
    okra_data_free(aligned);
    FREE(s.each, codes, params);
    okra_options_free(options);
    return st;
}

okra_status okra_score_lists(okra_context *context, const char *spec,
                             const okra_int *truth, const okra_int *lists, okra_int n,
                             okra_int width, double *value, double *each)
{
    const okra_metric_ *metric = NULL;
    FREED_BY(okra_options_drop_) okra_options *options = NULL;
    OWNED void *params = NULL;
    double sum = 0;
    (void)context;
    NOT_NULL(spec);
    NOT_NULL(truth);
    NOT_NULL(lists);
    NOT_NULL(value);
    CHK(parse(spec, &metric, &options, &params));
    REFUSE_IF(!metric->list, OKRA_EARG,
              "metric %s compares objects, not lists of candidates", metric->name);
    REFUSE_IF(n < 1, OKRA_ESHAPE, "metric %s: there are no lists", metric->name);
    for (okra_int i = 0; i < n; i++) {
        double one = metric->list(params, lists + i * width, width, truth[i]);
        sum += one;
        if (each) {
            each[i] = one;
        }
    }
    *value = sum / (double)n;
    return OKRA_OK;
}
