/*
 * rules.c: kernels and decoders by the kind of objects; fill.c puts them where `auto`
 * stands.
 *
 *     inputs      a few kernels, as alternatives of a grid; widths from a quarter of the
 *                 median distance to four times it; scaled so that k(x,x) is about 1
 *     outputs     one kernel: numbers are compared by linear, classes by zero-one,
 *                 strings by their substrings, molecules by their surroundings, ...
 *     decode      label sets for rows of 0 and 1, characters for strings of the lengths
 *                 of the inputs, edits for strings that are inputs with a few letters
 *                 changed; else what predict takes by itself
 */
#include "select/select.h"
#include "okra/more/traits.h"
#include "decode/sets/counts.h"

bool okra_rule_auto_(const okra_options *o, const char *name)
{
    const char *value = okra_options_get(o, name);
    return value && strcmp(value, "auto") == 0;
}

bool okra_rule_open_(const okra_options *o, const char *name)
{
    const char *value = okra_options_get(o, name);
    return !okra_options_is_set(o, name) || strcmp(value, "auto") == 0;
}

bool okra_rule_apart_(const okra_method_ *method, const okra_options *o)
{
    okra_coupling_ how = okra_method_coupling_(method, o);
    return how == OKRA_OUTPUTS_ALIKE_ || how == OKRA_OUTPUTS_APART_;
}

bool okra_rule_relative_(const okra_method_ *method, const okra_options *o,
                         const okra_data *y)
{
    return y->kind == OKRA_DENSE && okra_rule_apart_(method, o) &&
           okra_kernel_has(okra_options_get(o, "ky"), OKRA_KERNEL_LINEAR) &&
           !okra_options_is_set(o, "twin") && !okra_options_is_set(o, "low-rank") &&
           !okra_options_is_set(o, "low-rank-y");
}

enum { LIST = 160, LONG = 20 /* characters */ };

/* A growing text of alternatives. */
typedef struct choices {
    okra_context *ctx;
    const okra_data *data;
    char *text; /* without the braces */
    int count;
} choices;

static okra_status add_text(choices *c, const char *one)
{
    char *longer =
        c->text ? okra_format_("%s, %s", c->text, one) : okra_format_("%s", one);
    GOT(longer);
    okra_free_(c->text);
    c->text = longer;
    c->count++;
    return OKRA_OK;
}

static okra_status add(choices *c, const char *format, ...) OKRA_PRINTF(2, 3);
static okra_status add(choices *c, const char *format, ...)
{
    char one[512];
    va_list args;
    va_start(args, format);
    vsnprintf(one, sizeof one, format, args);
    va_end(args);
    return add_text(c, one);
}

/* BEFORErbf(sigma={...})AFTER, widths about the median distance, of vectors of one or two
 * columns also far below it: many periods have room there; nothing where all objects are
 * equal. `inner`: the median is this, not asked of the kernel. */
static okra_status add_rbf(choices *c, const char *before, double inner,
                           const char *after)
{
    static const double factors[] = {0.25, 0.5, 1, 2, 4, 1.0 / 16, 1.0 / 64};
    bool line = c->data->kind == OKRA_DENSE && c->data->d == 1;
    bool plane = c->data->kind == OKRA_DENSE && c->data->d == 2;
    size_t count = line ? 7 : plane ? 6 : 5;
    OWNED char *text = okra_format_("%srbf(sigma=auto)", before);
    char list[LIST] = "";
    double median = inner;
    size_t used = 0;
    GOT(text);
    if (inner == 0) {
        CHK(okra_inspect_auto_(c->ctx, text, "sigma=", c->data, &median));
    }
    for (size_t k = 0; median > 0 && k < count; k++) {
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%.4g", k ? "," : "",
                                 median * factors[k]);
    }
    if (used > 0) {
        CHK(add(c, "%srbf(sigma={%s})%s", before, list, after));
    }
    return OKRA_OK;
}

/* The leaf, scaled so that its mean self-similarity is 1. */
static okra_status add_scaled(choices *c, const char *leaf)
{
    double scale;
    CHK(okra_inspect_diagonal_(c->ctx, leaf, c->data, &scale));
    CHK(scale == 1 ? add(c, "%s", leaf) : add(c, "%.4g*%s", 1 / scale, leaf));
    return OKRA_OK;
}

/* ---- inputs ---- */

/* Sums of distances in the columns, where values are skewed: no width fits both the crowd
 * and the tail, and a Gaussian swings between far points. About 1 / (a typical sum). */
static okra_status add_laplacian(choices *c)
{
    double median = 0;
    CHK(okra_inspect_auto_(c->ctx, "rbf(sigma=auto)", "sigma=", c->data, &median));
    median *= sqrt((double)c->data->d);
    return median > 0 ? add(c, "laplacian(gamma={%.4g,%.4g,%.4g})", 0.1 / median,
                            0.5 / median, 2.5 / median)
                      : OKRA_OK;
}

static okra_status of_vectors(choices *c)
{
    enum { LARGE = 20000 }; /* pairs of low rank, which a Laplacian kernel hardly has */
    bool binary = okra_inspect_zero_one_(c->data), dense = c->data->kind == OKRA_DENSE;
    if (dense && !binary) {
        CHK(add_scaled(c, "standardize"));
        CHK(add_rbf(c, "standardize | ", 0, ""));
        if (c->data->d > 1) {
            CHK(add_rbf(c, "", 0, ""));
        }
        if (c->data->n <= LARGE) {
            CHK(add_laplacian(c));
        }
    } else {
        CHK(add_scaled(c, "linear"));
        CHK(add_rbf(c, "", 0, ""));
        CHK(add(c, binary ? "tanimoto" : "cosine"));
        CHK(add_rbf(c, binary ? "tanimoto | " : "cosine | ", 0, ""));
    }
    return OKRA_OK;
}

static okra_status of_strings(choices *c)
{
    double letters = okra_inspect_length_(c->data);
    if (letters >= LONG) { /* room for longer words, and for counts of them */
        CHK(add(c, "spectrum(k={4,5,6}) | normalize"));
        CHK(add_scaled(c, "spectrum(k=3)"));
        CHK(add_scaled(c, "spectrum(k=5)"));
    }
    CHK(add(c, "spectrum(k={1,2,3}) | normalize"));
    CHK(add(c, "spectrum(k=1) + spectrum(k=2) + spectrum(k=3) | normalize"));
    CHK(add_rbf(c, "spectrum(k=2) | normalize | ", 0, ""));
    if (letters <= 64) { /* its cost goes with the square of the lengths */
        CHK(add(c, "ssk(length={2,3},decay=0.5) | normalize"));
    }
    CHK(add(c, "position(zero-one)")); /* where the place of a letter counts */
    if (okra_inspect_one_length_(c->data)) {
        CHK(add(c, "weighted-degree(k={1,3}) | normalize"));
    }
    return OKRA_OK;
}

static okra_status of_sequences(choices *c)
{
    double middle = okra_inspect_spread_(c->data);
    if (c->data->d > 0 && middle > 0) {
        CHK(add(c, "position(linear) | normalize"));
        CHK(add_rbf(c, "position(", middle, ") | normalize"));
    } else {
        CHK(add(c, "position(zero-one) | normalize"));
    }
    return OKRA_OK;
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
    double beta;
    char list[LIST] = "";
    size_t used = 0;
    CHK(okra_inspect_auto_(c->ctx, "diffusion(beta=auto)", "beta=", c->data, &beta));
    beta = beta > 0 ? beta : 1;
    for (int k = 0; k < 5; k++) { /* its value is large where a few nodes are similar */
        static const double factors[] = {1.0 / 64, 1.0 / 16, 1.0 / 4, 1, 4};
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%.4g", k ? "," : "",
                                 beta * factors[k]);
    }
    CHK(add(c, "diffusion(beta={%s}) | normalize", list));
    return add(c, "regularized-laplacian(sigma2={%s}) | normalize", list);
}

static okra_status of_parts(choices *c);

static okra_status of_one(choices *c)
{
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
        if (okra_inspect_molecules_(c->data)) {
            CHK(add(c, "ecfp(radius={2,1,3},count={0,1}) | tanimoto"));
            CHK(add(c, "ecfp(radius={2,1},count=1) | normalize"));
            CHK(add_rbf(c, "ecfp | tanimoto | ", 0, ""));
        }
        CHK(add(c, "wl(h={1,3}) | normalize"));
        return add(c, "paths | tanimoto");
    case OKRA_SPECTRA:
        return of_spectra(c);
    case OKRA_NODES:
        return of_nodes(c);
    case OKRA_TUPLE:
        return of_parts(c);
    }
    return OKRA_OK;
}

/* Several descriptions: each by the middle of its alternatives, alone, as a product (what
 * they say of a pair together) and as a mean. */
static okra_status of_parts(choices *c)
{
    OWNED char *all = NULL, *middle = NULL, *product = NULL;
    for (int k = 0; k < c->data->component_count; k++) {
        CHK(okra_rule_middle_(c->ctx, c->data->components[k], &middle));
        char *longer = all ? okra_format_("%s, (%s)@%d", all, middle, k + 1)
                           : okra_format_("(%s)@%d", middle, k + 1);
        GOT(longer);
        okra_free_(all);
        all = longer;
        longer = product ? okra_format_("%s*(%s)@%d", product, middle, k + 1)
                         : okra_format_("(%s)@%d", middle, k + 1);
        GOT(longer);
        okra_free_(product);
        product = longer;
        CHK(add(c, "(%s)@%d", middle, k + 1));
        okra_free_(middle);
        middle = NULL;
    }
    if (c->data->component_count > 1) {
        CHK(add_text(c, product));
    }
    GOT(middle = okra_format_("mean(%s)", all));
    return add_text(c, middle);
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

/* Cells of the grid of okra_rule_kx_: of vectors, and of sequences of them, the linear
 * kernel and then five widths, of which these are the middle ones; else the first. */
static okra_status choose_cells(okra_context *ctx, const okra_data *x,
                                const okra_int *cells, int count, choices *c)
{
    FREED_BY(okra_grid_drop_) okra_grid_ *grid = NULL;
    OWNED char *text = NULL, *one = NULL;
    CHK(okra_rule_kx_(ctx, x, &text));
    CHK(okra_grid_parse_(text, &grid));
    okra_int most = okra_grid_count_(grid) - 1, last = -1;
    for (int k = 0; k < count; k++) {
        okra_int cell = OKRA_MIN_(cells[k], most);
        if (cell > last) {
            CHK(okra_grid_text_(grid, cell, &one));
            CHK(add(c, "%s", one));
            okra_free_(one);
            one = NULL;
            last = cell;
        }
    }
    return OKRA_OK;
}

static bool has_widths(const okra_data *x)
{
    return x->kind == OKRA_DENSE || x->kind == OKRA_SPARSE || x->kind == OKRA_BITS ||
           (x->kind == OKRA_SEQUENCES && x->d > 0);
}

okra_status okra_rule_middle_(okra_context *ctx, const okra_data *x, char **out)
{
    choices c = {.ctx = ctx, .data = x};
    okra_int cell = has_widths(x) ? 3 : 0;
    okra_status st = choose_cells(ctx, x, &cell, 1, &c);
    if (st == OKRA_OK) {
        *out = c.text;
    } else {
        okra_free_(c.text);
    }
    return st;
}

okra_status okra_rule_few_(okra_context *ctx, const okra_data *x, char **out)
{
    static const okra_int widths[] = {0, 2, 3, 4}, first[] = {0, 1, 2};
    choices c = {.ctx = ctx, .data = x};
    OWNS(&c.text);
    CHK(has_widths(x) ? choose_cells(ctx, x, widths, 4, &c)
                      : choose_cells(ctx, x, first, 3, &c));
    *out = c.count > 1 ? okra_format_("{%s}", c.text) : okra_strdup_(c.text);
    return *out ? OKRA_OK : OKRA_EMEM;
}

/* ---- outputs ---- */

okra_status okra_rule_ky_(okra_context *ctx, const okra_data *x, const okra_data *y,
                          char **out)
{
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
        text = okra_inspect_aligned_(x, y) || y->kind == OKRA_SEQUENCES
                   ? okra_format_("position(zero-one)")
               : okra_rule_rewritten_(x, y)
                   ? okra_format_("ends")
                   : okra_format_("spectrum(k=1) + spectrum(k=2) + spectrum(k=3) | "
                                  "normalize");
        break;
    case OKRA_GRAPHS:
        text = okra_format_(okra_inspect_molecules_(y)
                                ? "(ecfp(radius=1,bits=2048) | tanimoto) + "
                                  "(composition(bits=512) | tanimoto)"
                                : "wl | normalize");
        break;
    case OKRA_SPECTRA:
        text = okra_format_("ppk | normalize");
        break;
    case OKRA_NODES:
        CHK(okra_inspect_auto_(ctx, "diffusion(beta=auto)", "beta=", y, &beta));
        text = okra_format_("diffusion(beta=%.4g) | normalize", beta > 0 ? beta : 1);
        break;
    case OKRA_TUPLE:
        CHK(okra_rule_middle_(ctx, y, &text));
        break;
    }
    okra_status st = text ? OKRA_OK : OKRA_EMEM;
    *out = text;
    return st;
}

static bool suits(okra_suits_ what, const okra_data *x, const okra_data *y)
{
    switch (what) {
    case OKRA_SUITS_ZERO_ONE_:
        return y->d > 0 && okra_inspect_zero_one_(y);
    case OKRA_SUITS_ALIGNED_:
        return y->kind == OKRA_STRINGS && okra_inspect_aligned_(x, y);
    case OKRA_SUITS_REWRITTEN_:
        return okra_rule_rewritten_(x, y) > 0;
    }
    return false;
}

const okra_decoder_ *okra_rule_decoder_(const okra_data *x, const okra_data *y,
                                        const char *ky)
{
    for (size_t k = 0; okra_decoders_[k]; k++) {
        const okra_decoder_ *d = okra_decoders_[k];
        if (d->automatic && strcmp(d->automatic, ky) == 0 && suits(d->suits, x, y)) {
            return d;
        }
    }
    return NULL;
}

/* Is one of the sets empty? */
static bool has_empty(const okra_data *y)
{
    bool found = false;
    for (okra_int i = 0; i < y->n && !found; i++) {
        found = okra_sets_members_(y, i, NULL) == 0;
    }
    return found;
}

okra_status okra_rule_decode_(const okra_decoder_ *decoder, const okra_data *y,
                              char **out)
{
    bool sets =
        decoder->automatic && decoder->argument && decoder->suits == OKRA_SUITS_ZERO_ONE_;
    *out = sets ? okra_format_("%s:threshold=auto%s", decoder->name,
                               has_empty(y) ? "" : ",nonempty=yes")
                : okra_strdup_(decoder->name);
    return *out ? OKRA_OK : OKRA_EMEM;
}

const char *okra_rule_metric_(const okra_data *y)
{
    enum { FOLDED = 30 }; /* pairs: the variance of a fold tells the unit of an output */
    bool sets = y->d > 0 && !y->missing && okra_inspect_zero_one_(y);
    return y->kind == OKRA_LABELS                ? "zero-one"
           : y->kind == OKRA_STRINGS             ? "edit"
           : y->kind == OKRA_DENSE && y->missing ? NULL
           : sets ? has_empty(y) ? "f1:average=example,empty=1" : "f1:average=example"
           : y->kind == OKRA_DENSE && y->d > 1 && y->n >= FOLDED ? "r2"
           : y->kind == OKRA_DENSE                               ? "mse"
                                                                 : NULL;
}
