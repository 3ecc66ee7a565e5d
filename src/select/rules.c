/*
 * rules.c: three tables, by the kind of objects; fill.c puts them where `auto` stands.
 *
 *     inputs      a few kernels, as alternatives of a grid; widths from a quarter of the
 *                 median distance to four times it; scaled so that k(x,x) is about 1
 *     outputs     one kernel, and with it the decoder
 *     measures    the loss of what is predicted
 *
 *     decode      label sets for rows of 0 and 1, rankings for rows of ranks, characters
 *                 for strings of the lengths of the inputs, edits for strings that are
 *                 inputs with a few letters changed; else what predict takes by itself
 */
#include "select/select.h"
#include "okra/more/traits.h"
#include "data/strings.h"
#include "decode/sets/counts.h"
#include "kernel/strings/string_kernels.h"

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
    const char *text = c->text ? c->text : "";
    RENEW(c->text, okra_format_("%s%s%s", text, *text ? ", " : "", one));
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

/* ---- the table of inputs ---- */

enum { LARGE = 20000 /* pairs of low rank, which a Laplacian kernel hardly has */ };
#define KIND(name) (1u << OKRA_##name)

static bool counts(const okra_data *x)
{
    return x->kind == OKRA_SPARSE && !okra_inspect_zero_one_(x);
}
static bool numbers(const okra_data *x)
{
    return x->kind == OKRA_DENSE && !okra_inspect_zero_one_(x);
}
static bool columns(const okra_data *x)
{
    return numbers(x) && x->d > 1;
}
static bool smaller(const okra_data *x)
{
    return numbers(x) && x->n <= LARGE;
}
static bool smaller_columns(const okra_data *x)
{
    return columns(x) && x->n <= LARGE;
}
static bool words(const okra_data *x)
{
    return !okra_inspect_proteins_(x);
}
static bool texts(const okra_data *x) /* room for longer words, and for counts of them */
{
    return words(x) && okra_inspect_length_(x) >= LONG;
}
static bool short_words(const okra_data *x) /* ssk costs the square of the lengths */
{
    return words(x) && okra_inspect_length_(x) <= 64;
}
static bool spelled(const okra_data *x) /* of few letters: ends keeps them in pairs */
{
    OWNED int32_t *letters = NULL;
    okra_int count = 0;
    return short_words(x) && okra_alphabet_(x, &letters, &count) == OKRA_OK &&
           count <= 500;
}
static bool vectors(const okra_data *x)
{
    return x->d > 0 && okra_inspect_spread_(x) > 0;
}
static bool plain(const okra_data *x)
{
    return !vectors(x);
}
static bool precursors(const okra_data *x) /* all of them are known */
{
    const double *precursor = x->groups[1].fields[0].values;
    bool known = true;
    for (okra_int i = 0; i < x->n; i++) {
        known = known && precursor[i] > 0;
    }
    return known;
}

/* Alternatives for inputs of a kind, where the condition holds: in this order, the
 * likeliest first (of vectors the linear kernel, then widths). `~`: times a number, so
 * that the mean of k(x,x) is 1. `=*`: the numbers of `lists` about what auto says. */
static const struct row {
    unsigned kinds;
    bool (*when)(const okra_data *);
    const char *kernel;
} inputs[] = {
    {KIND(DENSE), numbers, "~standardize"},
    {KIND(DENSE), numbers, "standardize | rbf(sigma=*)"},
    {KIND(DENSE), columns, "rbf(sigma=*)"},
    /* skewed values: no width fits crowd and tail, and a Gaussian swings between them */
    {KIND(DENSE), smaller, "laplacian(gamma=*)"},
    {KIND(DENSE), smaller_columns, "standardize | laplacian(gamma=*)"},
    {KIND(DENSE) | KIND(SPARSE) | KIND(BITS), okra_inspect_zero_one_, "~linear"},
    {KIND(DENSE) | KIND(SPARSE) | KIND(BITS), okra_inspect_zero_one_, "rbf(sigma=*)"},
    {KIND(DENSE) | KIND(SPARSE) | KIND(BITS), okra_inspect_zero_one_, "tanimoto"},
    {KIND(DENSE) | KIND(SPARSE) | KIND(BITS), okra_inspect_zero_one_,
     "tanimoto | rbf(sigma=*)"},
    {KIND(SPARSE), counts, "~linear"},
    {KIND(SPARSE), counts, "rbf(sigma=*)"},
    {KIND(SPARSE), counts, "cosine"},
    {KIND(SPARSE), counts, "cosine | rbf(sigma=*)"},
    {KIND(LABELS), NULL, "zero-one"},
    {KIND(GRAM), NULL, "precomputed"},
    {KIND(STRINGS), okra_inspect_proteins_, "spectrum(k={3,4,5}) | normalize"},
    {KIND(STRINGS), okra_inspect_proteins_, "spectrum(k=2) | normalize | rbf(sigma=*)"},
    {KIND(STRINGS), okra_inspect_proteins_, "alignment(anchors=*) | normalize"},
    {KIND(STRINGS), texts, "spectrum(k={4,5,6}) | normalize"},
    {KIND(STRINGS), texts, "~spectrum(k=3)"},
    {KIND(STRINGS), texts, "~spectrum(k=5)"},
    {KIND(STRINGS), words, "spectrum(k={2,1,3}) | normalize"},
    {KIND(STRINGS), words, "spectrum(k=1) + spectrum(k=2) + spectrum(k=3) | normalize"},
    {KIND(STRINGS), words, "spectrum(k=2) | normalize | rbf(sigma=*)"},
    {KIND(STRINGS), short_words, "ssk(length={2,3},decay=0.5) | normalize"},
    {KIND(STRINGS), spelled, "ends, ends + {0.2,1}*ends(start=1)"},
    {KIND(STRINGS), words, "position(zero-one)"}, /* where the place of a letter counts */
    {KIND(STRINGS), okra_inspect_one_length_, "weighted-degree(k={1,3}) | normalize"},
    {KIND(SEQUENCES), vectors, "position(linear) | normalize"},
    {KIND(SEQUENCES), vectors, "position(rbf(sigma=*)) | normalize"},
    {KIND(SEQUENCES), plain, "position(zero-one) | normalize"},
    {KIND(GRAPHS), okra_inspect_molecules_,
     "ecfp(radius={2,1,3},count={0,1}) | tanimoto"},
    {KIND(GRAPHS), okra_inspect_molecules_, "ecfp(radius={2,1},count=1) | normalize"},
    {KIND(GRAPHS), okra_inspect_molecules_, "ecfp | tanimoto | rbf(sigma=*)"},
    {KIND(GRAPHS), okra_inspect_molecules_, /* what adds up over atoms */
     "(ecfp(radius=1,count=1) | tanimoto) + 0.02*ecfp(radius=1,count=1)"},
    {KIND(GRAPHS), NULL, "wl(h={1,3}) | normalize"},
    {KIND(GRAPHS), NULL, "paths | tanimoto"},
    {KIND(SPECTRA), NULL, "ppk(power={0.25,0.5}) | normalize"},
    {KIND(SPECTRA), precursors,
     "(ppk(power={0.1,0.25}) | normalize) + (ppk(of=losses,power=0.25) | normalize)"},
    {KIND(NODES), NULL, "diffusion(beta=*) | normalize"},
    {KIND(NODES), NULL, "regularized-laplacian(sigma2=*) | normalize"},
};

/* Numbers in place of `*`: what auto says of the kernel (of nodes: of diffusion), times
 * these. sigma has more of one or two columns: many periods have room there. */
static const struct list {
    const char *parameter;
    int count;
    double factors[7];
} lists[] = {
    {"sigma=", 5, {0.25, 0.5, 1, 2, 4, 1.0 / 16, 1.0 / 64}},
    {"gamma=", 3, {0.1, 0.5, 2.5}},
    {"beta=", 5, {1.0 / 64, 1.0 / 16, 1.0 / 4, 1, 4}},
    {"sigma2=", 5, {1.0 / 64, 1.0 / 16, 1.0 / 4, 1, 4}},
    {"anchors=", 1, {1}},
};

/* The number in the middle; 0: all objects are equal, or it costs too much. */
static okra_status middle_number(choices *c, const struct list *l, const char *text,
                                 double *out)
{
    const char *star = strchr(text, '*');
    OWNED char *asked = okra_format_("%.*sauto%s", (int)(star - text), text, star + 1);
    bool nodes = c->data->kind == OKRA_NODES;
    GOT(asked);
    if (strcmp(l->parameter, "anchors=") == 0) {
        return okra_inspect_anchors_(c->data, out);
    }
    *out = c->data->kind == OKRA_SEQUENCES ? okra_inspect_spread_(c->data) : 0;
    if (*out == 0) {
        CHK(okra_inspect_auto_(c->ctx, nodes ? "diffusion(beta=auto)" : asked,
                               nodes ? "beta=" : l->parameter, c->data, out));
    }
    *out = nodes && !(*out > 0) ? 1 : *out;
    return OKRA_OK;
}

static okra_status add_listed(choices *c, const char *text)
{
    const char *star = strchr(text, '*');
    const struct list *l = lists;
    char values[LIST] = "";
    double middle = 0;
    size_t used = 0;
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
        size_t length = strlen(lists[k].parameter);
        bool here = (size_t)(star - text) > length &&
                    memcmp(star - length, lists[k].parameter, length) == 0;
        l = here ? &lists[k] : l;
    }
    bool narrow = l == lists && c->data->kind == OKRA_DENSE && c->data->d <= 2;
    int count = l->count + (narrow ? 3 - (int)c->data->d : 0);
    CHK(middle_number(c, l, text, &middle));
    for (int k = 0; middle > 0 && k < count; k++) {
        used += (size_t)snprintf(values + used, sizeof values - used, "%s%.4g",
                                 k ? "," : "", middle * l->factors[k]);
    }
    if (used == 0) {
        return OKRA_OK;
    }
    return add(c, count > 1 ? "%.*s{%s}%s" : "%.*s%s%s", (int)(star - text), text, values,
               star + 1);
}

/* The kernel, scaled so that its mean self-similarity is 1. */
static okra_status add_scaled(choices *c, const char *leaf)
{
    double scale;
    CHK(okra_inspect_diagonal_(c->ctx, leaf, c->data, &scale));
    return scale == 1 ? add(c, "%s", leaf) : add(c, "%.4g*%s", 1 / scale, leaf);
}

static okra_status of_parts(choices *c);

static okra_status of_one(choices *c)
{
    for (size_t k = 0; k < sizeof inputs / sizeof *inputs; k++) {
        const struct row *r = &inputs[k];
        if (!(r->kinds & 1u << c->data->kind) || (r->when && !r->when(c->data))) {
            continue;
        }
        CHK(strstr(r->kernel, "=*") ? add_listed(c, r->kernel)
            : r->kernel[0] == '~'   ? add_scaled(c, r->kernel + 1)
                                    : add(c, "%s", r->kernel));
    }
    return c->data->kind == OKRA_TUPLE ? of_parts(c) : OKRA_OK;
}

/* The text with a few numbers about that of sigma, which the search refines. */
static okra_status around(const char *middle, char **out)
{
    const char *at = strstr(middle, "sigma=");
    char *end = NULL;
    double sigma = at ? okra_strtod_(at + 6, &end) : 0;
    *out = sigma > 0 ? okra_format_("%.*s{%.4g,%.4g,%.4g}%s", (int)(at + 6 - middle),
                                    middle, sigma / 2, sigma, 2 * sigma, end)
                     : okra_strdup_(middle);
    return *out ? OKRA_OK : OKRA_EMEM;
}

static okra_status append(char **text, const char *between, const char *kernel, int part)
{
    RENEW(*text, *text ? okra_format_("%s%s(%s)@%d", *text, between, kernel, part)
                       : okra_format_("(%s)@%d", kernel, part));
    return OKRA_OK;
}

static bool has_widths(const okra_data *x)
{
    return x->kind == OKRA_BAGS
               ? has_widths(x->components[0])
               : x->kind == OKRA_DENSE || x->kind == OKRA_SPARSE ||
                     x->kind == OKRA_BITS || (x->kind == OKRA_SEQUENCES && x->d > 0);
}

/* Several descriptions: each alone, as a product (what they say of a pair together), as a
 * sum of two with other weights and as a mean. Of two there is room for their widths, or
 * for what stands in the place of widths: all kernels of the kind alone, a few with the
 * other. */
static okra_status of_parts(choices *c)
{
    OWNED char *all = NULL, *middle = NULL, *product = NULL, *near = NULL, *sum = NULL,
               *alone = NULL;
    int count = c->data->component_count;
    okra_data *const *parts = c->data->components;
    bool both = count == 2 && has_widths(parts[0]) && has_widths(parts[1]);
    for (int k = 0; k < count; k++) {
        const okra_data *part = parts[k];
        bool few = count == 2 && !has_widths(part);
        CHK(okra_rule_middle_(c->ctx, part, &middle));
        CHK(few ? okra_rule_few_(c->ctx, part, &near) : around(middle, &near));
        CHK(few ? okra_rule_kx_(c->ctx, part, &alone) : OKRA_OK);
        CHK(append(&all, ", ", middle, k + 1));
        CHK(append(&product, "*", count > 2 ? middle : near, k + 1));
        CHK(append(&sum, both ? " + {0.3,3}*" : " + {0.3,1,3}*", few ? near : middle,
                   k + 1));
        RENEW(near, okra_format_("(%s)@%d", few ? alone : near, k + 1));
        CHK(add_text(c, near));
        FREE(middle, near, alone);
        middle = near = alone = NULL;
    }
    CHK(count > 1 ? add_text(c, product) : OKRA_OK);
    if (count == 2) {
        CHK(add_text(c, sum));
    }
    GOT(middle = okra_format_("mean(%s)", all));
    return add_text(c, middle);
}

/* Of bags: means over their members, of the members' kernels (spectra: merged, too); all
 * bags weigh the same, but for numbers, whose size counts. */
okra_status okra_rule_kx_(okra_context *ctx, const okra_data *x, char **out)
{
    bool bags = x->kind == OKRA_BAGS;
    choices c = {.ctx = ctx, .data = bags ? x->components[0] : x};
    OWNS(&c.text);
    CHK(of_one(&c));
    bool several = c.count > 1, weighed = bags && !has_widths(x);
    GOT(*out = okra_format_("%s%s%s%s%s%s", bags ? "bag(" : "", several ? "{" : "",
                            c.text, several ? "}" : "",
                            !bags                          ? ""
                            : c.data->kind == OKRA_SPECTRA ? ",how={mean,merge})"
                                                           : ")",
                            weighed ? " | normalize" : ""));
    return OKRA_OK;
}

/* Cells of the grid of okra_rule_kx_: of vectors, and of sequences of them, the linear
 * kernel and then five widths, of which these are the middle ones; else the first. */
static okra_status choose_cells(okra_context *ctx, const okra_data *x,
                                const okra_int *cells, int count, char **out)
{
    FREED_BY(okra_grid_drop_) okra_grid_ *grid = NULL;
    choices c = {.ctx = ctx, .data = x};
    OWNED char *text = NULL, *one = NULL;
    OWNS(&c.text);
    CHK(okra_rule_kx_(ctx, x, &text));
    CHK(okra_grid_parse_(text, &grid));
    okra_int most = okra_grid_count_(grid) - 1, last = -1;
    for (int k = 0; k < count; k++) {
        okra_int cell = OKRA_MIN_(cells[k], most);
        if (cell > last) {
            CHK(okra_grid_text_(grid, cell, &one));
            CHK(add(&c, "%s", one));
            okra_free_at_(&one);
            last = cell;
        }
    }
    GOT(*out = c.count > 1 ? okra_format_("{%s}", c.text) : okra_strdup_(c.text));
    return OKRA_OK;
}

okra_status okra_rule_middle_(okra_context *ctx, const okra_data *x, char **out)
{
    okra_int cell = has_widths(x) ? 3 : 0;
    return choose_cells(ctx, x, &cell, 1, out);
}

okra_status okra_rule_few_(okra_context *ctx, const okra_data *x, char **out)
{
    static const okra_int widths[] = {0, 2, 3, 4}, first[] = {0, 1, 2};
    return has_widths(x) ? choose_cells(ctx, x, widths, 4, out)
                         : choose_cells(ctx, x, first, 3, out);
}

/* ---- outputs ---- */

static bool molecules(const okra_data *x, const okra_data *y)
{
    return okra_inspect_molecules_(y);
}
static bool rewritten(const okra_data *x, const okra_data *y)
{
    return okra_rule_rewritten_(x, y) > 0;
}

static bool ranked(const okra_data *x, const okra_data *y)
{
    enum { FEWEST = 10, MOST = 40 /* items: kendall compares their pairs */ };
    return y->kind == OKRA_DENSE && y->n >= FEWEST && y->d > 2 && y->d <= MOST &&
           !y->missing && okra_data_check_rankings_(y) == OKRA_OK;
}

/* The kernel of outputs: the first row that holds. Decoders say themselves which of these
 * they follow (.automatic and .suits): label sets with `linear`, rankings with `kendall`,
 * characters with `position(zero-one)`, edits with `ends`, words that hardly come again
 * with `ssk`. */
static const struct output_row {
    unsigned kinds;
    bool (*when)(const okra_data *x, const okra_data *y);
    const char *kernel;
} outputs[] = {
    {KIND(DENSE), ranked, "kendall"},
    {KIND(DENSE) | KIND(SPARSE) | KIND(BITS), NULL, "linear"},
    {KIND(LABELS), NULL, "zero-one"},
    {KIND(GRAM), NULL, "precomputed"},
    {KIND(STRINGS), okra_inspect_transcribed_,
     "spectrum(k=1) + spectrum(k=2) | normalize"},
    {KIND(STRINGS), okra_inspect_aligned_, "position(zero-one)"},
    {KIND(STRINGS), rewritten, "ends"},
    {KIND(STRINGS), okra_inspect_written_, "ssk(length=3,decay=0.5,upto=1) | normalize"},
    {KIND(STRINGS), NULL, "spectrum(k=1) + spectrum(k=2) + spectrum(k=3) | normalize"},
    {KIND(SEQUENCES), NULL, "position(zero-one)"},
    {KIND(GRAPHS), molecules,
     "(ecfp(radius=1,bits=2048) | tanimoto) + (composition(bits=512) | tanimoto)"},
    {KIND(GRAPHS), NULL, "wl | normalize"},
    {KIND(SPECTRA), NULL, "ppk | normalize"},
    {KIND(NODES), NULL, "diffusion(beta=%.4g) | normalize"},
};

static bool unlettered(const okra_data *y) /* sequences of vectors without labels */
{
    return y->kind == OKRA_SEQUENCES && vectors(y) &&
           *okra_characters_(y, 0, &(okra_int){0}) == OKRA_NO_LABEL_;
}

okra_status okra_rule_ky_(okra_context *ctx, const okra_data *x, const okra_data *y,
                          char **out)
{
    const struct output_row *r = outputs;
    double beta = 0;
    if (y->kind == OKRA_TUPLE || unlettered(y)) {
        return okra_rule_middle_(ctx, y, out);
    }
    while (!(r->kinds & 1u << y->kind) || (r->when && !r->when(x, y))) {
        r++; /* every kind has a row without a condition */
    }
    if (y->kind == OKRA_NODES) {
        CHK(okra_inspect_auto_(ctx, "diffusion(beta=auto)", "beta=", y, &beta));
        *out = okra_format_("diffusion(beta=%.4g) | normalize", beta > 0 ? beta : 1);
    } else {
        *out = okra_strdup_(r->kernel);
    }
    return *out ? OKRA_OK : OKRA_EMEM;
}

static bool suits(okra_suits_ what, const okra_data *x, const okra_data *y)
{
    switch (what) {
    case OKRA_SUITS_ZERO_ONE_:
        return y->d > 0 && okra_inspect_zero_one_(y);
    case OKRA_SUITS_RANKED_:
        return ranked(x, y);
    case OKRA_SUITS_ALIGNED_:
        return y->kind == OKRA_STRINGS && okra_inspect_aligned_(x, y);
    case OKRA_SUITS_REWRITTEN_:
        return okra_rule_rewritten_(x, y) > 0;
    case OKRA_SUITS_TRANSCRIBED_:
        return okra_inspect_transcribed_(x, y);
    case OKRA_SUITS_WRITTEN_:
        return okra_inspect_written_(x, y);
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

static bool missing(const okra_data *y)
{
    return y->kind == OKRA_DENSE && y->missing;
}
static bool sets(const okra_data *y)
{
    return y->d > 0 && !y->missing && okra_inspect_zero_one_(y);
}
static bool sets_with_empty(const okra_data *y)
{
    return sets(y) && has_empty(y);
}
static bool several_numbers(const okra_data *y) /* a fold tells the unit of an output */
{
    return y->d > 1 && y->n >= 30;
}

/* The loss of what is predicted: the first row that holds. */
static const struct measure_row {
    unsigned kinds;
    bool (*when)(const okra_data *y);
    const char *metric;
} measures[] = {
    {KIND(LABELS), NULL, "zero-one"},
    {KIND(STRINGS), NULL, "edit"},
    {KIND(DENSE), missing, NULL},
    {KIND(DENSE) | KIND(SPARSE) | KIND(BITS), sets_with_empty,
     "f1:average=example,empty=1"},
    {KIND(DENSE) | KIND(SPARSE) | KIND(BITS), sets, "f1:average=example"},
    {KIND(DENSE), several_numbers, "r2"},
    {KIND(DENSE), NULL, "mse"},
    {~0u, NULL, NULL},
};

const char *okra_rule_metric_(const okra_data *y)
{
    const struct measure_row *r = measures;
    while (!(r->kinds & 1u << y->kind) || (r->when && !r->when(y))) {
        r++;
    }
    return r->metric;
}
