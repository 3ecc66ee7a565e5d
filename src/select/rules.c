/*
 * rules.c: what `auto` stands for in kx, ky, lambda and decode, by the kind of objects.
 *
 *     inputs      a few kernels, as alternatives of a grid; widths from a quarter of the
 *                 median distance to four times it; scaled so that k(x,x) is about 1
 *     outputs     one kernel: numbers are compared by linear, classes by zero-one,
 *                 strings by their substrings, molecules by their surroundings, ...
 *     lambda      17 values over eight decades about the mean of k(x,x): under (K +
 * lambda I) it is the variance of the noise over that of the signal, which does not
 * depend on the number of pairs decode      label sets for rows of 0 and 1, characters
 * for strings of the lengths of the inputs; else what predict takes by itself
 */
#include "model/align.h"
#include "select/select.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SAMPLE = 1000, LIST = 160, LONG = 20 /* characters */ };

/* ---- what the data are like ---- */

/* Are all values 0 or 1? */
static bool zero_one(const okra_data *data)
{
    bool all = data->kind == OKRA_BITS;
    if (data->kind == OKRA_DENSE && !data->missing) {
        all = true;
        for (okra_int i = 0; i < data->n && all; i++) {
            const double *row = data->values + i * data->ld;
            for (okra_int j = 0; j < data->d && all; j++) {
                all = row[j] == 0 || row[j] == 1;
            }
        }
    } else if (data->kind == OKRA_SPARSE) {
        all = true;
        for (okra_int k = 0; k < data->csr.indptr[data->n] && all; k++) {
            all = data->csr.values[k] == 0 || data->csr.values[k] == 1;
        }
    }
    return all;
}

/* Elements of object i of strings or sequences, or -1. */
static okra_int length_of(const okra_data *data, okra_int i)
{
    const char *name = data->kind == OKRA_STRINGS     ? "characters"
                       : data->kind == OKRA_SEQUENCES ? "positions"
                                                      : NULL;
    const okra_ragged_ *group = name ? okra_data_group_(data, name) : NULL;
    return group ? group->offsets[i + 1] - group->offsets[i] : -1;
}

/* Have inputs and outputs the same lengths, pair by pair? */
static bool aligned(const okra_data *x, const okra_data *y)
{
    bool same = y->n > 0;
    for (okra_int i = 0; i < y->n && same; i++) {
        okra_int a = length_of(x, i), b = length_of(y, i);
        same = a >= 0 && a == b;
    }
    return same;
}

static double mean_length(const okra_data *data)
{
    double sum = 0;
    for (okra_int i = 0; i < data->n; i++) {
        sum += (double)length_of(data, i) / (double)data->n;
    }
    return sum;
}

/* Is every object as long as the first? */
static bool one_length(const okra_data *data)
{
    bool same = data->n > 0;
    for (okra_int i = 1; i < data->n && same; i++) {
        same = length_of(data, i) == length_of(data, 0);
    }
    return same;
}

static okra_status sample(const okra_data *data, okra_data **out)
{
    okra_status st = OKRA_OK;
    okra_int index[SAMPLE], n = OKRA_MIN_(data->n, SAMPLE);
    if (data->kind == OKRA_GRAM || data->n <= SAMPLE) {
        *out = okra_data_retain(data);
        return OKRA_OK;
    }
    for (okra_int i = 0; i < n; i++) {
        index[i] = i * data->n / n;
    }
    TRY(okra_data_take(data, index, n, out));
done:
    return st;
}

/* The mean of k(x,x) over a sample; 1 where it is not positive. */
static okra_status mean_diagonal(okra_context *ctx, const char *text,
                                 const okra_data *data, double *out)
{
    okra_status st = OKRA_OK;
    okra_kernel *kernel = NULL;
    okra_bound_ *bound = NULL;
    okra_data *some = NULL;
    char *plain = NULL;
    double *diagonal = NULL, sum = 0;
    TRY(sample(data, &some));
    TRY(okra_align_mean_(text, &plain));
    TRY(okra_kernel_choose(ctx, plain, some, &kernel));
    TRY(okra_bound_create_(ctx, kernel, some, &bound));
    ALLOC(diagonal, some->n);
    TRY(okra_bound_diagonal_(ctx, bound, diagonal));
    for (okra_int i = 0; i < some->n; i++) {
        sum += diagonal[i] / (double)some->n;
    }
    *out = sum > 0 && isfinite(sum) ? sum : 1;
done:
    okra_free_(plain);
    okra_free_(diagonal);
    okra_bound_free_(bound);
    okra_kernel_free(kernel);
    okra_data_free(some);
    return st;
}

/* The number that auto gives a parameter; 0: all objects are alike. */
static okra_status automatic(okra_context *ctx, const char *text, const char *parameter,
                             const okra_data *data, double *out)
{
    okra_status st = OKRA_OK;
    char *found = NULL;
    *out = 0;
    st = okra_kernel_auto_(ctx, text, data, &found);
    if (st == OKRA_EARG) { /* no width fits them */
        return OKRA_OK;
    }
    TRY(st);
    const char *at = strstr(found, parameter);
    *out = at ? okra_strtod_(at + strlen(parameter), NULL) : 0;
done:
    okra_free_(found);
    return st;
}

/* A growing text of alternatives. */
typedef struct choices {
    okra_context *ctx;
    const okra_data *data;
    char *text; /* without the braces */
    int count;
} choices;

static okra_status add(choices *c, const char *format, ...) OKRA_PRINTF(2, 3);
static okra_status add(choices *c, const char *format, ...)
{
    char one[512];
    va_list args;
    va_start(args, format);
    vsnprintf(one, sizeof one, format, args);
    va_end(args);
    char *longer =
        c->text ? okra_format_("%s, %s", c->text, one) : okra_format_("%s", one);
    if (!longer) {
        return OKRA_EMEM;
    }
    okra_free_(c->text);
    c->text = longer;
    c->count++;
    return OKRA_OK;
}

/* BEFORErbf(sigma={...})AFTER, widths about the median distance; nothing where all
 * objects are alike. `inner`: the median is this, not asked of the kernel. */
static okra_status add_rbf(choices *c, const char *before, double inner,
                           const char *after)
{
    okra_status st = OKRA_OK;
    static const double factors[] = {0.25, 0.5, 1, 2, 4};
    char list[LIST] = "", *text = okra_format_("%srbf(sigma=auto)", before);
    double median = inner;
    size_t used = 0;
    if (!text) {
        return OKRA_EMEM;
    }
    if (inner == 0) {
        TRY(automatic(c->ctx, text, "sigma=", c->data, &median));
    }
    for (size_t k = 0; median > 0 && k < sizeof factors / sizeof *factors; k++) {
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%.4g", k ? "," : "",
                                 median * factors[k]);
    }
    if (used > 0) {
        TRY(add(c, "%srbf(sigma={%s})%s", before, list, after));
    }
done:
    okra_free_(text);
    return st;
}

/* The leaf, scaled so that its mean self-similarity is 1. */
static okra_status add_scaled(choices *c, const char *leaf)
{
    okra_status st = OKRA_OK;
    double scale;
    TRY(mean_diagonal(c->ctx, leaf, c->data, &scale));
    if (scale == 1) {
        TRY(add(c, "%s", leaf));
    } else {
        TRY(add(c, "%.4g*%s", 1 / scale, leaf));
    }
done:
    return st;
}

/* ---- inputs ---- */

static okra_status of_vectors(choices *c)
{
    okra_status st = OKRA_OK;
    bool binary = zero_one(c->data), dense = c->data->kind == OKRA_DENSE;
    if (dense && !binary) {
        TRY(add_scaled(c, "standardize"));
        TRY(add_rbf(c, "standardize | ", 0, ""));
        if (c->data->d > 1) {
            TRY(add_rbf(c, "", 0, ""));
        }
    } else {
        TRY(add_scaled(c, "linear"));
        TRY(add_rbf(c, "", 0, ""));
        TRY(add(c, binary ? "tanimoto" : "cosine"));
        TRY(add_rbf(c, binary ? "tanimoto | " : "cosine | ", 0, ""));
    }
done:
    return st;
}

static okra_status of_strings(choices *c)
{
    okra_status st = OKRA_OK;
    double letters = mean_length(c->data);
    if (letters >= LONG) { /* room for longer words, and for counts of them */
        TRY(add(c, "spectrum(k={4,5,6}) | normalize"));
        TRY(add_scaled(c, "spectrum(k=3)"));
        TRY(add_scaled(c, "spectrum(k=5)"));
    }
    TRY(add(c, "spectrum(k={1,2,3}) | normalize"));
    TRY(add(c, "spectrum(k=1) + spectrum(k=2) + spectrum(k=3) | normalize"));
    TRY(add_rbf(c, "spectrum(k=2) | normalize | ", 0, ""));
    if (letters <= 64) { /* its cost goes with the square of the lengths */
        TRY(add(c, "ssk(length={2,3},decay=0.5) | normalize"));
    }
    TRY(add(c, "position(zero-one)")); /* where the place of a letter counts */
    if (one_length(c->data)) {
        TRY(add(c, "weighted-degree(k={1,3}) | normalize"));
    }
done:
    return st;
}

/* The spread of the elements, sqrt(2 sum of variances): their typical distance. */
static double element_distance(const okra_data *data)
{
    const okra_ragged_ *group = okra_data_group_(data, "positions");
    const okra_field_ *field = group ? okra_ragged_field_(group, "vector") : NULL;
    double total = 0;
    okra_int count = group ? group->offsets[data->n] : 0;
    for (okra_int j = 0; field && j < field->width; j++) {
        const double *v = field->values;
        double mean = 0, variance = 0;
        for (okra_int k = 0; k < count; k++) {
            mean += v[k * field->width + j] / (double)count;
        }
        for (okra_int k = 0; k < count; k++) {
            double z = v[k * field->width + j] - mean;
            variance += z * z / (double)count;
        }
        total += variance;
    }
    return sqrt(2 * total);
}

static okra_status of_sequences(choices *c)
{
    okra_status st = OKRA_OK;
    double middle = element_distance(c->data);
    if (c->data->d > 0 && middle > 0) {
        TRY(add(c, "position(linear) | normalize"));
        TRY(add_rbf(c, "position(", middle, ") | normalize"));
    } else {
        TRY(add(c, "position(zero-one) | normalize"));
    }
done:
    return st;
}

static okra_status of_spectra(choices *c)
{
    const double *precursor = c->data->groups[1].fields[0].values;
    bool known = true;
    for (okra_int i = 0; i < c->data->n; i++) {
        known = known && precursor[i] > 0;
    }
    okra_status st = add(c, "ppk(power={0.25,0.5}) | normalize");
    return st == OKRA_OK && known
               ? add(c, "(ppk(power={0.1,0.25}) | normalize) + (ppk(of=losses,"
                        "power=0.25) | normalize)")
               : st;
}

static okra_status of_nodes(choices *c)
{
    okra_status st = OKRA_OK;
    double beta;
    char list[LIST] = "";
    size_t used = 0;
    TRY(automatic(c->ctx, "diffusion(beta=auto)", "beta=", c->data, &beta));
    beta = beta > 0 ? beta : 1;
    for (int k = 0; k < 5; k++) { /* its value is large where a few nodes are alike */
        static const double factors[] = {1.0 / 64, 1.0 / 16, 1.0 / 4, 1, 4};
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%.4g", k ? "," : "",
                                 beta * factors[k]);
    }
    TRY(add(c, "diffusion(beta={%s}) | normalize", list));
    TRY(add(c, "regularized-laplacian(sigma2={%s}) | normalize", list));
done:
    return st;
}

static bool molecules(const okra_data *data)
{
    const okra_ragged_ *nodes = okra_data_group_(data, "nodes");
    return nodes && okra_ragged_field_(nodes, "atom");
}

static okra_status of_parts(choices *c);

static okra_status of_one(choices *c)
{
    okra_status st = OKRA_OK;
    switch (c->data->kind) {
    case OKRA_DENSE:
    case OKRA_SPARSE:
    case OKRA_BITS:
        return of_vectors(c);
    case OKRA_LABELS:
        return add(c, "zero-one");
    case OKRA_GRAM:
        return add(c, "precomputed");
    case OKRA_STRINGS:
        return of_strings(c);
    case OKRA_SEQUENCES:
        return of_sequences(c);
    case OKRA_GRAPHS:
        if (molecules(c->data)) {
            TRY(add(c, "ecfp(radius={1,2,3},count={0,1}) | tanimoto"));
            TRY(add(c, "ecfp(radius={1,2},count=1) | normalize"));
            TRY(add_rbf(c, "ecfp | tanimoto | ", 0, ""));
        }
        TRY(add(c, "wl(h={1,3}) | normalize"));
        return add(c, "paths | tanimoto");
    case OKRA_SPECTRA:
        return of_spectra(c);
    case OKRA_NODES:
        return of_nodes(c);
    case OKRA_TUPLE:
        return of_parts(c);
    }
done:
    return st;
}

/* Several descriptions: each by the middle of its own alternatives, together and alone.
 */
static okra_status of_parts(choices *c)
{
    okra_status st = OKRA_OK;
    char *all = NULL, *middle = NULL;
    for (int k = 0; k < c->data->component_count; k++) {
        TRY(okra_rule_middle_(c->ctx, c->data->components[k], &middle));
        char *longer = all ? okra_format_("%s, (%s)@%d", all, middle, k + 1)
                           : okra_format_("(%s)@%d", middle, k + 1);
        if (!longer) {
            st = OKRA_EMEM;
            goto done;
        }
        okra_free_(all);
        all = longer;
        TRY(add(c, "(%s)@%d", middle, k + 1));
        okra_free_(middle);
        middle = NULL;
    }
    TRY(add(c, "mean(%s)", all));
done:
    okra_free_(all);
    okra_free_(middle);
    return st;
}

okra_status okra_rule_kx_(okra_context *ctx, const okra_data *x, char **out)
{
    okra_status st = OKRA_OK;
    choices c = {.ctx = ctx, .data = x};
    char *text = NULL;
    TRY(of_one(&c));
    text = c.count > 1 ? okra_format_("{%s}", c.text) : okra_format_("%s", c.text);
    st = text ? OKRA_OK : OKRA_EMEM;
    *out = text;
done:
    okra_free_(c.text);
    return st;
}

okra_status okra_rule_middle_(okra_context *ctx, const okra_data *x, char **out)
{
    okra_status st = OKRA_OK;
    okra_grid_ *grid = NULL;
    char *text = NULL;
    TRY(okra_rule_kx_(ctx, x, &text));
    TRY(okra_grid_parse_(text, &grid));
    /* of vectors: the scaled linear kernel, then five widths of which this is the third
     */
    okra_int cells = okra_grid_count_(grid);
    bool vectors =
        x->kind == OKRA_DENSE || x->kind == OKRA_SPARSE || x->kind == OKRA_BITS;
    TRY(okra_grid_text_(grid, vectors ? OKRA_MIN_(3, cells - 1) : 0, out));
done:
    okra_grid_free_(grid);
    okra_free_(text);
    return st;
}

/* ---- outputs ---- */

okra_status okra_rule_ky_(okra_context *ctx, const okra_data *x, const okra_data *y,
                          char **out)
{
    okra_status st = OKRA_OK;
    double beta = 0;
    char *text = NULL;
    switch (y->kind) {
    case OKRA_DENSE:
    case OKRA_SPARSE:
    case OKRA_BITS:
        text = okra_format_("linear");
        break;
    case OKRA_LABELS:
        text = okra_format_("zero-one");
        break;
    case OKRA_GRAM:
        text = okra_format_("precomputed");
        break;
    case OKRA_STRINGS:
    case OKRA_SEQUENCES:
        text = aligned(x, y) || y->kind == OKRA_SEQUENCES
                   ? okra_format_("position(zero-one)")
                   : okra_format_("spectrum(k=1) + spectrum(k=2) + spectrum(k=3) | "
                                  "normalize");
        break;
    case OKRA_GRAPHS:
        text = okra_format_(molecules(y) ? "ecfp | tanimoto" : "wl | normalize");
        break;
    case OKRA_SPECTRA:
        text = okra_format_("ppk | normalize");
        break;
    case OKRA_NODES:
        TRY(automatic(ctx, "diffusion(beta=auto)", "beta=", y, &beta));
        text = okra_format_("diffusion(beta=%.4g) | normalize", beta > 0 ? beta : 1);
        break;
    case OKRA_TUPLE:
        TRY(okra_rule_middle_(ctx, y, &text));
        break;
    }
    st = text ? OKRA_OK : OKRA_EMEM;
    *out = text;
done:
    return st;
}

const char *okra_rule_decoder_(const okra_data *x, const okra_data *y, const char *ky)
{
    bool linear = strcmp(ky, "linear") == 0;
    if (linear && y->d > 0 && zero_one(y)) {
        return "labels";
    }
    bool characters = strcmp(ky, "position(zero-one)") == 0;
    return characters && y->kind == OKRA_STRINGS && aligned(x, y) ? "position" : NULL;
}

const char *okra_rule_metric_(const okra_data *y)
{
    return y->kind == OKRA_LABELS                 ? "zero-one"
           : y->kind == OKRA_STRINGS              ? "edit"
           : y->kind == OKRA_DENSE && y->missing  ? NULL
           : y->kind == OKRA_DENSE && zero_one(y) ? "hamming"
           : y->kind == OKRA_DENSE                ? "mse"
                                                  : NULL;
}

/* ---- lambda ---- */

okra_status okra_rule_scale_(okra_context *ctx, const char *kx, const okra_data *x,
                             double *out)
{
    okra_status st = OKRA_OK;
    okra_grid_ *grid = NULL;
    char *first = NULL;
    st = okra_grid_parse_(kx, &grid);
    if (st != OKRA_OK) {
        okra_message_prefix_("kx");
        goto done;
    }
    TRY(okra_grid_text_(grid, 0, &first));
    TRY(mean_diagonal(ctx, first, x, out));
done:
    okra_grid_free_(grid);
    okra_free_(first);
    return st;
}

okra_status okra_rule_lambda_(okra_context *ctx, const char *kx, const okra_data *x,
                              double share, char **out)
{
    okra_status st = OKRA_OK;
    double scale = 1;
    TRY(okra_rule_scale_(ctx, kx, x, &scale));
    scale *= share;
    *out = okra_format_("%.3g..%.3g:17", 1e-6 * scale, 1e2 * scale);
    st = *out ? OKRA_OK : OKRA_EMEM;
done:
    return st;
}

okra_status okra_rules_fill_(okra_context *ctx, const okra_data *x, const okra_data *y,
                             const okra_options *options, okra_options **out)
{
    okra_status st = OKRA_OK;
    okra_options *filled = NULL;
    char *kx = NULL, *ky = NULL, *lambda = NULL;
    TRY(okra_options_copy(options, &filled));
    if (strcmp(okra_options_get(options, "kx"), "auto") == 0) {
        TRY(okra_rule_kx_(ctx, x, &kx));
        TRY(okra_options_set(filled, "kx", kx));
    }
    if (strcmp(okra_options_get(options, "ky"), "auto") == 0) {
        TRY(okra_rule_ky_(ctx, x, y, &ky));
        TRY(okra_options_set(filled, "ky", ky));
    }
    const char *given = okra_options_get(options, "lambda");
    if (given && strcmp(given, "auto") == 0) {
        const char *op = okra_options_get(options, "operator");
        bool shared = op && (strcmp(op, "cov") == 0 || strcmp(op, "ccov") == 0);
        TRY(okra_rule_lambda_(ctx, okra_options_get(filled, "kx"), x,
                              shared ? 1 / (double)y->n : 1, &lambda));
        TRY(okra_options_set(filled, "lambda", lambda));
    }
    *out = filled;
    filled = NULL;
done:
    okra_free_(kx);
    okra_free_(ky);
    okra_free_(lambda);
    okra_options_free(filled);
    return st;
}
