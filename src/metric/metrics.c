/*
 * metrics.c: the table of metrics; a specification "name:key=value,..." is read, the two
 * collections are matched, and the metric is called.
 */
#include "metric/metric.h"
#include "okra/more/score.h"
#include "okra/more/traits.h"
#include "okra/program.h"

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

/* Of predictions that are not decoded: they need the model, and so selection computes
 * them (select/score.c, prepare.c). */
static const okra_metric_ undecoded[] = {
    {.name = "feature-loss", /* |phi(y) - h(x)|^2 */
     .help = "squared distance in the feature space of the output kernel",
     .params = {"metric feature-loss", NULL, 0},
     .loss = true,
     .undecoded = true},
    {.name = "relative-loss",
     .help = "the same, each output over its variance",
     .params = {"metric relative-loss", NULL, 0},
     .loss = true,
     .undecoded = true,
     .relative = true},
};
enum {
    METRICS = sizeof metrics / sizeof *metrics,
    UNDECODED = sizeof undecoded / sizeof *undecoded
};

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

const okra_metric_ *okra_metric_find_(const char *spec)
{
    size_t length = strcspn(spec, ":");
    for (size_t i = 0; i < METRICS + UNDECODED; i++) {
        const okra_metric_ *one = i < METRICS ? metrics[i] : &undecoded[i - METRICS];
        if (strlen(one->name) == length && memcmp(one->name, spec, length) == 0) {
            return one;
        }
    }
    return NULL;
}

bool okra_metric_has(const char *spec, okra_metric_trait trait)
{
    const okra_metric_ *m = spec ? okra_metric_find_(spec) : NULL;
    if (!m) {
        return false;
    }
    switch (trait) {
    case OKRA_METRIC_UNDECODED:
        return m->undecoded;
    case OKRA_METRIC_RELATIVE:
        return m->relative;
    case OKRA_METRIC_LINKS:
        return m->links != NULL;
    case OKRA_METRIC_LISTS:
        return m->list != NULL;
    case OKRA_METRIC_INTERVALS:
        return m->interval != NULL;
    }
    return false;
}

static okra_status find(const char *spec, const okra_metric_ **out)
{
    char name[64];
    const char *names[METRICS];
    const okra_metric_ *found = okra_metric_find_(spec);
    if (found && !found->undecoded) {
        *out = found;
        return OKRA_OK;
    }
    for (size_t i = 0; i < METRICS; i++) {
        names[i] = metrics[i]->name;
    }
    snprintf(name, sizeof name, "%.*s", (int)OKRA_MIN_(strcspn(spec, ":"), sizeof name),
             spec);
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

static okra_status set_parameter(okra_options *options, const char *what,
                                 const char *spec, const char *p, const char *end)
{
    OWNED char *key = okra_strndup_(p, (size_t)(end - p));
    GOT(key);
    char *equals = strchr(key, '=');
    REFUSE_IF(!equals || equals == key, OKRA_EARG,
              "%s '%s': found '%s', expected key=value", what, spec, key);
    *equals = '\0';
    REFUSE_IF(okra_options_is_set(options, key), OKRA_EARG, "%s '%s': %s is given twice",
              what, spec, key);
    return okra_options_set(options, key, equals + 1);
}

okra_status okra_spec_set_(const char *what, const char *spec, okra_options *options)
{
    for (const char *p = spec + strcspn(spec, ":"); *p;) {
        const char *end = parameter_end(p + 1);
        CHK(set_parameter(options, what, spec, p + 1, end));
        p = end;
    }
    return OKRA_OK;
}

void okra_spec_clear_(okra_spec_ *spec)
{
    okra_options_free(spec->options);
    okra_free_(spec->params);
    *spec = (okra_spec_){NULL, NULL, NULL};
}

okra_status okra_spec_read_(const char *text, okra_spec_ *out)
{
    FREED_BY(okra_spec_clear_) okra_spec_ s = {NULL, NULL, NULL};
    CHK(find(text, &s.metric));
    const okra_option_table *table = &s.metric->params;
    CHK(okra_options_create(&table, 1, &s.options));
    CHK(okra_spec_set_("metric", text, s.options));
    GOT(s.params = okra_zalloc_(1, table->size));
    CHK(okra_options_read(s.options, table, s.params));
    CHK(s.metric->check ? s.metric->check(s.params) : OKRA_OK);
    *out = s;
    s = (okra_spec_){NULL, NULL, NULL};
    return OKRA_OK;
}

okra_status okra_metric_is_loss(const char *spec, bool *loss)
{
    FREED_BY(okra_spec_clear_) okra_spec_ s = {NULL, NULL, NULL};
    NOT_NULL(spec, loss);
    CHK(okra_spec_read_(spec, &s));
    *loss = s.metric->loss;
    return OKRA_OK;
}

okra_status okra_metric_kernel_(const char *spec, okra_kernel **out)
{
    FREED_BY(okra_spec_clear_) okra_spec_ s = {NULL, NULL, NULL};
    CHK(okra_spec_read_(spec, &s));
    *out = NULL;
    return s.metric->kernel ? okra_kernel_parse_kept_(s.metric->kernel(s.params), out)
                            : OKRA_OK;
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
    okra_fill_(data->d, 0, buffer);
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
                  "metric %s: the %s is %s, which it does not compare%s", metric->name,
                  i ? "prediction" : "truth", okra_data_describe_(sides[i], a, sizeof a),
                  sides[i]->kind == OKRA_GRAPHS
                      ? "; 'kernel-loss:kernel=ecfp | tanimoto' does, and okra score "
                        "--lists counts molecules that were found"
                      : "");
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
    const okra_metric_ *metric = NULL;
    FREED_BY(okra_spec_clear_) okra_spec_ read = {NULL, NULL, NULL};
    OWNED okra_int *codes = NULL;
    okra_int known = 0;
    FREED_BY(okra_data_drop_) okra_data *aligned = NULL;
    okra_scores_ s = {.truth = truth, .has_each = true};
    OWNS(&s.each);
    NOT_NULL(spec, truth, predicted, value);
    CHK(okra_columns_align_(context, predicted, truth, false, &aligned));
    s.predicted = predicted = aligned;
    CHK(okra_spec_read_(spec, &read));
    metric = read.metric;
    REFUSE_IF(metric->list, OKRA_EARG,
              "metric %s compares lists of candidates with the true one: okra score "
              "--lists, okra_score_lists",
              metric->name);
    REFUSE_IF(!metric->score && !metric->vectors, OKRA_EARG,
              "metric %s does not compare objects", metric->name);
    CHK(check_pairs(metric, truth, predicted));
    CHK(check_missing(metric, truth, predicted));
    s.n = truth->n;
    s.d = truth->d;
    for (okra_int i = 0; i < s.n; i++) {
        s.total += okra_metric_weight_(&s, i);
        known += okra_metric_weight_(&s, i) > 0 ? known_values(&s, i) : 0;
    }
    REFUSE_IF(!(s.total > 0), OKRA_EARG, "metric %s: all weights are 0", metric->name);
    REFUSE_IF(truth->missing && known == 0, OKRA_EARG,
              "metric %s: no value of the truth is known", metric->name);
    if (truth->kind == OKRA_LABELS) {
        CHK(match_classes(truth, predicted, &codes));
        s.codes = codes;
        s.d += predicted->d;
    }
    MAKE(s.each, s.n);
    CHK(metric->vectors ? okra_metric_pairs_(&s, read.params, metric->vectors)
                        : metric->score(context, read.params, &s));
    if (s.has_each) {
        find_mean(&s);
        if (each) {
            memcpy(each, s.each, (size_t)s.n * sizeof *each);
        }
    }
    *value = s.value;
    GIVE(has_each, s.has_each);
    return OKRA_OK;
}
