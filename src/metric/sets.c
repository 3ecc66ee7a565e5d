/*
 * sets.c: agreement of labels and of sets of labels.
 *
 *   zero-one  share of objects that are not predicted exactly
 *   accuracy, exact-match, subset-accuracy
 *             share of objects that are: of labels, vectors, strings, labelled sequences
 *             and nodes; three names for what is usual of classes, of strings, of sets
 *   hamming   mean share of coordinates that differ; of labels, the same as zero-one;
 *             of strings and sequences, the number of places that differ and of those
 *             that only one has
 *   f1        F = 2 tp / (2 tp + fp + fn), tp, fp, fn the counts of right, extra and
 *             missed members, over
 *               micro    all objects and classes together
 *               macro    each class by itself, then the mean over classes
 *               example  each object by itself, then the mean over objects
 *
 * F is taken of 0/1 vectors (the members of a set) or of labels (sets of one). 0/0, the F
 * of nothing predicted where nothing was to be found, is the parameter `empty`: 0 as in
 * scikit-learn by default, or 1. The classes of a macro mean are all coordinates of
 * vectors, and of labels the classes that occur on either side, as in scikit-learn.
 */
#include "metric/metric.h"
#include "okra/more/objects.h"

/* The class predicted of object i, numbered by the truth's classes, and beyond them
 * (below scores->d) where the truth does not know the name. */
static okra_int predicted(const okra_scores_ *s, okra_int i)
{
    return s->codes[s->predicted->codes[i]];
}

static okra_int differing(okra_int d, const double *y, const double *z)
{
    okra_int count = 0;
    for (okra_int j = 0; j < d; j++) {
        count += y[j] != z[j];
    }
    return count;
}

static double any_differs(const void *params, okra_int d, const double *y,
                          const double *z)
{
    return differing(d, y, z) > 0;
}

static double share_differs(const void *params, okra_int d, const double *y,
                            const double *z)
{
    return (double)differing(d, y, z) / (double)d;
}

static okra_status wrong_labels(okra_scores_ *s)
{
    for (okra_int i = 0; i < s->n; i++) {
        s->each[i] = s->truth->codes[i] != predicted(s, i);
    }
    return OKRA_OK;
}

static okra_status zero_one(okra_context *ctx, const void *params, okra_scores_ *s)
{
    return s->codes ? wrong_labels(s) : okra_metric_pairs_(s, params, any_differs);
}

/* Places of strings or sequences that differ, and those that only one has. */
static okra_status wrong_places(okra_scores_ *s)
{
    for (okra_int i = 0; i < s->n; i++) {
        okra_int n = 0, m = 0, right = 0;
        const int32_t *y = okra_data_characters(s->truth, i, &n);
        const int32_t *z = okra_data_characters(s->predicted, i, &m);
        for (okra_int t = 0; t < OKRA_MIN_(n, m); t++) {
            right += y[t] == z[t];
        }
        s->each[i] = (double)(OKRA_MAX_(n, m) - right);
    }
    return OKRA_OK;
}

static okra_status hamming(okra_context *ctx, const void *params, okra_scores_ *s)
{
    bool strings = s->truth->kind == OKRA_STRINGS || s->truth->kind == OKRA_SEQUENCES;
    return strings    ? wrong_places(s)
           : s->codes ? wrong_labels(s)
                      : okra_metric_pairs_(s, params, share_differs);
}

/* Of nodes of one network their codes are compared. */
static okra_status exact(okra_context *ctx, const void *params, okra_scores_ *s)
{
    bool vectors = (unsigned)OKRA_METRIC_VECTORS_ >> s->truth->kind & 1u;
    bool nodes = s->truth->kind == OKRA_NODES;
    CHK(vectors || s->codes ? zero_one(ctx, params, s)
        : nodes             ? OKRA_OK
                            : wrong_places(s));
    for (okra_int i = 0; i < s->n; i++) {
        s->each[i] =
            nodes ? s->truth->codes[i] == s->predicted->codes[i] : s->each[i] == 0;
    }
    return OKRA_OK;
}

/* ---- f1 ---- */

enum { MICRO, MACRO, EXAMPLE };

typedef struct f1_params {
    int average;
    double empty;
} f1_params;

static const okra_option f1_rows[] = {
    {"average", OKRA_OPTION_CHOICE, offsetof(f1_params, average), "micro", 1, 0,
     "micro|macro|example", "HOW", "counts over all, a class, or an object"},
    {"empty", OKRA_OPTION_NUMBER, offsetof(f1_params, empty), "0", 0, 1, NULL, "V",
     "the value of 0/0"},
    {0},
};

typedef struct counts {
    double right, extra, missed;
} counts;

static void add(counts *to, double weight, counts c)
{
    to->right += weight * c.right;
    to->extra += weight * c.extra;
    to->missed += weight * c.missed;
}

static double f_of(counts c, double empty)
{
    double all = 2 * c.right + c.extra + c.missed;
    return all > 0 ? 2 * c.right / all : empty;
}

static okra_status check_members(const char *side, okra_int i, okra_int d,
                                 const double *row)
{
    for (okra_int j = 0; j < d; j++) {
        REFUSE_IF(row[j] != 0 && row[j] != 1, OKRA_EARG,
                  "metric f1: element (%lld, %lld) of the %s is %.10g, expected 0 or 1",
                  (long long)i, (long long)j, side, row[j]);
    }
    return OKRA_OK;
}

/* Counts of each class, and each[] from those of each object. */
static okra_status count_vectors(const okra_scores_ *s, double empty, counts *classes)
{
    OWNED double *a = NULL, *b = NULL;
    MAKE(a, s->d);
    MAKE(b, s->d);
    for (okra_int i = 0; i < s->n; i++) {
        const double *y = okra_metric_row_(s->truth, i, a);
        const double *z = okra_metric_row_(s->predicted, i, b);
        CHK(check_members("truth", i, s->d, y));
        CHK(check_members("prediction", i, s->d, z));
        counts object = {0, 0, 0};
        for (okra_int j = 0; j < s->d; j++) {
            counts c = {y[j] != 0 && z[j] != 0, y[j] == 0 && z[j] != 0,
                        y[j] != 0 && z[j] == 0};
            add(&classes[j], okra_metric_weight_(s, i), c);
            add(&object, 1, c);
        }
        s->each[i] = f_of(object, empty);
    }
    return OKRA_OK;
}

static void count_labels(const okra_scores_ *s, counts *classes)
{
    for (okra_int i = 0; i < s->n; i++) {
        okra_int y = s->truth->codes[i], z = predicted(s, i);
        double w = okra_metric_weight_(s, i);
        s->each[i] = y == z;
        classes[y].right += y == z ? w : 0;
        classes[y].missed += y != z ? w : 0;
        classes[z].extra += y != z ? w : 0;
    }
}

static okra_status f1(okra_context *ctx, const void *params, okra_scores_ *s)
{
    const f1_params *p = params;
    OWNED counts *classes = NULL;
    counts all = {0, 0, 0};
    double sum = 0;
    okra_int present = 0;
    ZMAKE(classes, s->d);
    if (s->codes) {
        count_labels(s, classes);
    } else {
        CHK(count_vectors(s, p->empty, classes));
    }
    for (okra_int j = 0; j < s->d; j++) {
        counts c = classes[j];
        add(&all, 1, c);
        if (!s->codes || c.right + c.extra + c.missed > 0) {
            sum += f_of(c, p->empty);
            present++;
        }
    }
    s->has_each = p->average == EXAMPLE;
    s->value = p->average == MACRO ? sum / (double)present : f_of(all, p->empty);
    return OKRA_OK;
}

enum {
    ANY = OKRA_METRIC_VECTORS_ | OKRA_METRIC_LABELS_ | 1u << OKRA_STRINGS |
          1u << OKRA_SEQUENCES | 1u << OKRA_NODES
};

/* Real numbers are hardly ever equal: a share of 0 would tell nothing. */
static okra_status accuracy(okra_context *ctx, const void *params, okra_scores_ *s)
{
    const okra_data *t = s->truth;
    for (okra_int k = 0; t->kind == OKRA_DENSE && k < t->n * t->d; k++) {
        double v = t->values[k / t->d * t->ld + k % t->d];
        REFUSE_IF(!isnan(v) && v != floor(v), OKRA_EARG,
                  "metric accuracy: the truth holds %g; it compares classes, sets and "
                  "texts: r2, rmse and mae are for numbers",
                  v);
    }
    return exact(ctx, params, s);
}

const okra_metric_ okra_metric_accuracy_ = {
    .name = "accuracy",
    .help = "share of objects that are predicted exactly",
    .params = {"metric accuracy", NULL, 0},
    .kinds = ANY,
    .score = accuracy,
};

const okra_metric_ okra_metric_exact_match_ = {
    .name = "exact-match",
    .help = "the same: whole strings, sequences or sets that are right",
    .params = {"metric exact-match", NULL, 0},
    .kinds = ANY,
    .score = exact,
};

const okra_metric_ okra_metric_subset_accuracy_ = {
    .name = "subset-accuracy",
    .help = "the same of 0/1 vectors: label sets that are right as a whole",
    .params = {"metric subset-accuracy", NULL, 0},
    .kinds = OKRA_METRIC_VECTORS_,
    .score = exact,
};

const okra_metric_ okra_metric_zero_one_ = {
    .name = "zero-one",
    .help = "share of objects that are not predicted exactly",
    .params = {"metric zero-one", NULL, 0},
    .kinds = OKRA_METRIC_VECTORS_ | OKRA_METRIC_LABELS_,
    .loss = true,
    .score = zero_one,
};

const okra_metric_ okra_metric_hamming_ = {
    .name = "hamming",
    .help = "mean share of coordinates that differ; of strings, places that differ and "
            "those that only one has",
    .params = {"metric hamming", NULL, 0},
    .kinds = OKRA_METRIC_VECTORS_ | OKRA_METRIC_LABELS_ | 1u << OKRA_STRINGS |
             1u << OKRA_SEQUENCES,
    .loss = true,
    .shape = OKRA_SHAPE_PLACES_,
    .score = hamming,
};

const okra_metric_ okra_metric_f1_ = {
    .name = "f1",
    .help = "harmonic mean of precision and recall of labels or 0/1 vectors",
    .params = {"metric f1", f1_rows, sizeof(f1_params)},
    .kinds = OKRA_METRIC_VECTORS_ | OKRA_METRIC_LABELS_,
    .loss = false,
    .pair = "average=example",
    .score = f1,
};
