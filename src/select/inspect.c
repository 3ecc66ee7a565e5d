/*
 * inspect.c: what the objects of a training set are like, as far as rules.c asks.
 */
#include "data/strings.h"
#include "select/select.h"

enum { SAMPLE = 1000 };

/* Are all values 0 or 1? */
bool okra_inspect_zero_one_(const okra_data *data)
{
    bool dense = data->kind == OKRA_DENSE && !data->missing,
         sparse = data->kind == OKRA_SPARSE;
    bool all = dense || sparse || data->kind == OKRA_BITS;
    for (okra_int i = 0; dense && i < data->n && all; i++) {
        const double *row = data->values + i * data->ld;
        for (okra_int j = 0; j < data->d && all; j++) {
            all = row[j] == 0 || row[j] == 1;
        }
    }
    for (okra_int k = 0; sparse && k < data->csr.indptr[data->n] && all; k++) {
        all = data->csr.values[k] == 0 || data->csr.values[k] == 1;
    }
    return all;
}

/* Elements of object i of strings or sequences, or -1. */
static okra_int length_of(const okra_data *data, okra_int i)
{
    bool has = data->kind == OKRA_STRINGS || data->kind == OKRA_SEQUENCES;
    const okra_ragged_ *group = has ? &data->groups[0] : NULL;
    return group ? group->offsets[i + 1] - group->offsets[i] : -1;
}

/* Have inputs and outputs the same lengths, pair by pair? */
bool okra_inspect_aligned_(const okra_data *x, const okra_data *y)
{
    bool same = y->n > 0;
    for (okra_int i = 0; i < y->n && same; i++) {
        okra_int a = length_of(x, i), b = length_of(y, i);
        same = a >= 0 && a == b;
    }
    return same;
}

/* The mean of column j without row `out` (-1: of all), each row with its weight; the sum
 * of squares about it, and the deviation. */
static double column(const okra_data *data, okra_int j, okra_int out, double *squares,
                     double *deviation)
{
    double mean = 0, count = 0;
    *squares = 0;
    for (okra_int i = 0; i < data->n; i++) { /* Welford: NaN is missing */
        double v = data->values[i * data->ld + j], before = v - mean;
        double u = okra_weight_(data, i);
        if (!isnan(v) && i != out) {
            count += u;
            mean += u * before / count;
            *squares += u * before * (v - mean);
        }
    }
    *deviation = count > 0 ? sqrt(*squares / count) : 0;
    return mean;
}

/* Does a column have one value in more than half of its rows, as sparse ones do? Then
 * any other value is far from it (the vote of Boyer and Moore 1981). */
static bool mostly_one(const okra_data *data, okra_int j)
{
    double held = 0;
    okra_int votes = 0, count = 0;
    for (okra_int i = 0; i < data->n; i++) {
        double v = data->values[i * data->ld + j];
        held = votes == 0 ? v : held;
        votes += v == held ? 1 : -1;
    }
    for (okra_int i = 0; i < data->n; i++) {
        count += data->values[i * data->ld + j] == held;
    }
    return 2 * count > data->n;
}

double okra_inspect_outlier_(const okra_data *data, okra_int *row, okra_int *col)
{
    enum { FEW = 20 };
    double most = 0, s, sum;
    for (okra_int j = 0; data->kind == OKRA_DENSE && data->n > FEW && j < data->d; j++) {
        const double *v = data->values + j;
        okra_int far = 0;
        double mean = column(data, j, -1, &sum, &s);
        for (okra_int i = 1; i < data->n; i++) {
            far = fabs(v[i * data->ld] - mean) > fabs(v[far * data->ld] - mean) ? i : far;
        }
        mean = column(data, j, far, &sum, &s);
        double off = fabs(v[far * data->ld] - mean), times = s > 0 ? off / s : 0;
        times = times > most && mostly_one(data, j) ? 0 : times;
        for (okra_int i = 0; i < data->n && times > most; i++) { /* rare, but not alone */
            times = i != far && fabs(v[i * data->ld] - mean) > off / 2 ? 0 : times;
        }
        if (times > most) {
            most = times;
            *row = far;
            *col = j;
        }
    }
    return most;
}

/* How many objects differ. */
static okra_status count_different(const okra_data *data, okra_int *out)
{
    OWNED okra_int *same = NULL;
    MAKE(same, data->n);
    CHK(okra_data_same_(&data, 1, same));
    *out = 0;
    for (okra_int i = 0; i < data->n; i++) {
        *out += same[i] == i;
    }
    return OKRA_OK;
}

/* ---- near copies
 *
 * Rows of one person lie close to one another, persons far apart: edges of the minimal
 * spanning tree of the standardised rows (Prim 1957) are of two sizes; sorted, at most
 * one in 25 lies between two of which one is GAP times the other. The shorter ones join
 * groups, of n rows FEWEST and n / 10 or more, 2 n / 3 or fewer. Cost: n^2 d.
 */

typedef struct edge {
    double length; /* squared */
    okra_int a, b;
} edge;

OKRA_ORDER_(by_length, edge, OKRA_UP_(length), OKRA_UP_(a))

/* The n - 1 edges of the tree, the shortest first. Z: n x d. */
static okra_status span(okra_int n, okra_int d, const double *Z, edge *tree)
{
    OWNED edge *next = NULL; /* from the row to the tree; a < 0: it is there */
    MAKE(next, n);
    okra_int last = 0;
    for (okra_int i = 0; i < n; i++) {
        next[i] = (edge){(double)INFINITY, i, 0};
    }
    next[0].a = -1;
    for (okra_int k = 0; k + 1 < n; k++) {
        okra_int nearest = -1;
        for (okra_int i = 0; i < n; i++) {
            double square = 0;
            for (okra_int j = 0; next[i].a >= 0 && j < d; j++) {
                double z = Z[i * d + j] - Z[last * d + j];
                square += z * z;
            }
            if (next[i].a >= 0 && square < next[i].length) {
                next[i].length = square;
                next[i].b = last;
            }
            if (next[i].a >= 0 &&
                (nearest < 0 || next[i].length < next[nearest].length)) {
                nearest = i;
            }
        }
        tree[k] = next[nearest];
        next[nearest].a = -1;
        last = nearest;
    }
    qsort(tree, (size_t)n - 1, sizeof *tree, by_length);
    return OKRA_OK;
}

okra_status okra_inspect_near_(const okra_data *x, okra_data **out, okra_int *units)
{
    enum { FEWEST = 20, MOST = 2000, GAP = 4 };
    okra_int n = x->n, d = x->d, cut = 0;
    OWNED double *Z = NULL;
    OWNED edge *tree = NULL;
    OWNED okra_int *group = NULL;
    *units = 0;
    if (x->kind != OKRA_DENSE || x->missing || n < 2 * FEWEST || n > MOST) {
        return OKRA_OK;
    }
    MAKE(Z, n * d);
    MAKE(tree, n);
    MAKE(group, n);
    for (okra_int j = 0; j < d; j++) {
        double s, sum, mean = column(x, j, -1, &sum, &s);
        for (okra_int i = 0; i < n; i++) {
            Z[i * d + j] = s > 0 ? (x->values[i * x->ld + j] - mean) / s : 0;
            group[i] = i;
        }
    }
    CHK(span(n, d, Z, tree));
    double widest = GAP * GAP;
    for (okra_int k = n / 3; k <= n - OKRA_MAX_(FEWEST, n / 10); k++) {
        double low = tree[k - 1 - n / 50].length,
               high = tree[OKRA_MIN_(k + n / 50, n - 2)].length;
        if (low > 0 && high > widest * low) {
            widest = high / low;
            cut = k;
        }
    }
    okra_int last = OKRA_MIN_(cut + n / 50, n - 2);
    for (okra_int k = cut - n / 50; cut > 0 && k <= last; k++) { /* where it is widest */
        bool wider =
            tree[k].length * tree[cut - 1].length > tree[cut].length * tree[k - 1].length;
        cut = wider ? k : cut;
    }
    for (okra_int k = 0; k < cut; k++) { /* the later number of two groups goes */
        okra_int a = group[tree[k].a], b = group[tree[k].b];
        for (okra_int i = 0; i < n && a != b; i++) {
            group[i] = group[i] == OKRA_MAX_(a, b) ? OKRA_MIN_(a, b) : group[i];
        }
    }
    if (cut > 0) {
        CHK(okra_data_labels(group, n, NULL, n, out));
        *units = n - cut;
    }
    return OKRA_OK;
}

/* ---- strings and other objects ---- */

okra_status okra_inspect_repeated_(const okra_data *data, bool *out)
{
    enum { TIMES = 2 };
    okra_int different = 0;
    CHK(count_different(data, &different));
    *out = different * TIMES <= data->n;
    return OKRA_OK;
}

bool okra_inspect_written_(const okra_data *x, const okra_data *y)
{
    enum {
        LONGEST = 30 /* characters on average */,
        LEAST = 20,
        MOST = 20000 /* pairs */
    };
    okra_int different = 0;
    return x->kind == OKRA_STRINGS && y->kind == OKRA_STRINGS && y->n >= LEAST &&
           y->n <= MOST && okra_inspect_length_(x) <= LONGEST &&
           okra_inspect_length_(y) <= LONGEST * okra_spaced_(x, y) &&
           !okra_inspect_proteins_(x) && count_different(y, &different) == OKRA_OK &&
           different >= y->n / 10 * 9;
}

bool okra_inspect_transcribed_(const okra_data *x, const okra_data *y)
{
    enum { LEAST = 20, MOST = 20000, TIMES = 2 };
    bool strings = x->kind == OKRA_STRINGS && y->kind == OKRA_STRINGS && y->n >= LEAST &&
                   y->n <= MOST;
    return strings && okra_inspect_length_(x) > 0 &&
           (okra_inspect_aligned_(x, y) ||
            (okra_inspect_written_(x, y) && okra_edits_within_(x, y) &&
             okra_inspect_length_(y) <=
                 TIMES * okra_spaced_(x, y) * okra_inspect_length_(x)));
}

bool okra_inspect_proteins_(const okra_data *data)
{
    enum { LEAST = 30, LETTERS = 10 }; /* characters of a string; different ones of all */
    okra_int total = 0, good = 0, length;
    bool seen[128] = {false};
    int different = 0;
    for (okra_int i = 0; data->kind == OKRA_STRINGS && i < data->n; i++) {
        const int32_t *code = okra_characters_(data, i, &length);
        for (okra_int k = 0; k < length; k++) {
            bool amino = code[k] >= 'A' && code[k] <= 'Z' && !strchr("BJOUXZ", code[k]);
            if (amino && !seen[code[k]]) {
                seen[code[k]] = true;
                different++;
            }
            good += amino;
        }
        total += length;
    }
    return different >= LETTERS && total >= LEAST * data->n &&
           (double)good >= 0.95 * (double)total;
}

okra_status okra_inspect_anchors_(const okra_data *data, double *out)
{
    enum { MOST = 256, FEWEST = 32 };
    const double steps = 4e9;
    okra_int different = 0;
    double length = okra_inspect_length_(data);
    CHK(count_different(data, &different));
    double room = floor(steps / (length * length * (double)OKRA_MAX_(different, 1)));
    *out = room < FEWEST ? 0 : fmin(room, MOST);
    return OKRA_OK;
}

double okra_inspect_length_(const okra_data *data)
{
    double sum = 0, total = okra_weights_total_(data);
    for (okra_int i = 0; i < data->n; i++) {
        sum += okra_weight_(data, i) * (double)length_of(data, i) / total;
    }
    return sum;
}

/* Is every object as long as the first? */
bool okra_inspect_one_length_(const okra_data *data)
{
    bool same = data->n > 0;
    for (okra_int i = 1; i < data->n && same; i++) {
        same = length_of(data, i) == length_of(data, 0);
    }
    return same;
}

static okra_status sample(const okra_data *data, okra_data **out)
{
    if (data->kind == OKRA_GRAM || data->n <= SAMPLE) {
        *out = okra_data_retain(data);
        return OKRA_OK;
    }
    return okra_data_some_(data, 0, data->n, SAMPLE, out);
}

okra_status okra_inspect_diagonal_(okra_context *ctx, const char *text,
                                   const okra_data *data, double *out)
{
    FREED_BY(okra_kernel_drop_) okra_kernel *kernel = NULL;
    FREED_BY(okra_trained_kernel_drop_) okra_trained_kernel_ *bound = NULL;
    FREED_BY(okra_data_drop_) okra_data *some = NULL;
    OWNED char *plain = NULL;
    OWNED double *diagonal = NULL;
    double sum = 0;
    CHK(sample(data, &some));
    CHK(okra_align_mean_(text, &plain));
    CHK(okra_kernel_choose(ctx, plain, some, &kernel));
    CHK(okra_trained_kernel_create_(ctx, kernel, some, &bound));
    MAKE(diagonal, some->n);
    CHK(okra_trained_kernel_diagonal_(ctx, bound, diagonal));
    double total_weight = okra_weights_total_(some);
    for (okra_int i = 0; i < some->n; i++) {
        sum += okra_weight_(some, i) * diagonal[i] / total_weight;
    }
    *out = sum > 0 && isfinite(sum) ? sum : 1;
    return OKRA_OK;
}

okra_status okra_inspect_auto_(okra_context *ctx, const char *text, const char *parameter,
                               const okra_data *data, double *out)
{
    OWNED char *found = NULL;
    *out = 0;
    okra_status st = okra_kernel_auto_(ctx, text, data, &found);
    if (st == OKRA_EARG) { /* no width fits them */
        return OKRA_OK;
    }
    CHK(st);
    const char *at = strstr(found, parameter);
    *out = at ? okra_strtod_(at + strlen(parameter), NULL) : 0;
    return OKRA_OK;
}

/* The spread of the elements, sqrt(2 sum of variances): their typical distance. */
double okra_inspect_spread_(const okra_data *data)
{
    const okra_ragged_ *group = okra_data_group_(data, "positions");
    const okra_field_ *field = group ? okra_ragged_field_(group, "vector") : NULL;
    double total = 0, count = 0;
    for (okra_int i = 0; field && i < data->n; i++) {
        count += okra_weight_(data, i) * (double)length_of(data, i);
    }
    for (okra_int j = 0; field && j < field->width; j++) {
        const double *v = (const double *)field->values + j;
        double mean = 0, variance = 0, seen = 0;
        for (okra_int i = 0; i < data->n; i++) {
            double u = okra_weight_(data, i);
            for (okra_int k = group->offsets[i]; k < group->offsets[i + 1]; k++) {
                double z = v[k * field->width], before = z - mean;
                seen += u;
                mean += u * before / seen;
                variance += u * before * (z - mean) / count;
            }
        }
        total += variance;
    }
    return sqrt(2 * total);
}

/* Labels, each a direction of its own: 1 - sum of squared shares. */
static double spread_of_classes(const okra_data *data)
{
    double left = 1, total = okra_weights_total_(data);
    for (okra_int c = 0; c < data->d; c++) {
        double share = 0;
        for (okra_int i = 0; i < data->n; i++) {
            share += data->codes[i] == c ? okra_weight_(data, i) / total : 0;
        }
        left -= share * share;
    }
    return left > 0 ? sqrt(left) : 0;
}

double okra_inspect_deviation_(const okra_data *data)
{
    double total = 0, rows = okra_weights_total_(data), squares, s;
    if (data->kind == OKRA_LABELS) {
        return spread_of_classes(data);
    }
    for (okra_int j = 0; data->kind == OKRA_DENSE && j < data->d; j++) {
        column(data, j, -1, &squares, &s);
        total += squares / rows;
    }
    return sqrt(total);
}

double okra_inspect_offset_(const okra_data *data)
{
    double total = 0, squares, s;
    for (okra_int j = 0; data->kind == OKRA_DENSE && j < data->d; j++) {
        double mean = column(data, j, -1, &squares, &s);
        total += mean * mean;
    }
    return sqrt(total);
}

bool okra_inspect_molecules_(const okra_data *data)
{
    const okra_ragged_ *nodes = okra_data_group_(data, "nodes");
    return nodes && okra_ragged_field_(nodes, "atom");
}
