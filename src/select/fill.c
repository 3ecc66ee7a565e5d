/*
 * fill.c: the options of a selection with rules in place of `auto`: kernels and decoders
 * of rules.c, and the rest by the method.
 *
 * Methods with leave-one-out in closed form have the whole grid of kernels. lambda has 17
 * values over eight decades about the mean of k(x,x): noise over signal does not depend
 * on the number of pairs. Where the least is best, search.c goes on below it.
 * Methods that are fitted anew for every fold have the likeliest kernel (or a few, see
 * okra_auto_), seven values of lambda or what stands for it, five folds, and a loss of
 * what is predicted; twin kernels and methods of links the lambda of their table.
 *
 * Strings are edited inputs where, of at most SAMPLE pairs, the input is like its own
 * output (1 - edits / the longer length) more, by a quarter on average, than like that of
 * another pair. Inputs are then compared from their ends, times what else there is.
 */
#include "data/strings.h"
#include "select/select.h"

/* ---- outputs that are edited inputs ---- */

enum { SAMPLE = 200, LONGEST = 200, MOST = 20000 /* pairs: beyond, of low rank */ };

static double likeness(const okra_data *x, okra_int i, const okra_data *y, okra_int k)
{
    okra_int n, m, row[LONGEST + 1];
    const int32_t *a = okra_characters_(x, i, &n), *b = okra_characters_(y, k, &m);
    if (n > LONGEST || m > LONGEST || n + m == 0) {
        return 0;
    }
    return 1 - (double)okra_edits_(a, n, b, m, row) / (double)OKRA_MAX_(n, m);
}

static bool like(const okra_data *x, const okra_data *y)
{
    okra_int count = OKRA_MIN_(SAMPLE, y->n);
    double own = 0, other = 0;
    for (okra_int s = 0; s < count; s++) {
        okra_int i = s * y->n / count;
        own += likeness(x, i, y, i) / (double)count;
        for (int k = 1; k <= 3; k++) { /* far away: neighbours may share a lemma */
            okra_int far = 1 + (okra_int)(fmod(0.618 * k, 1) * (double)(y->n - 1));
            other += likeness(x, i, y, (i + far) % y->n) / (double)(3 * count);
        }
    }
    return count > 1 && own >= other + 0.25;
}

int okra_rule_rewritten_(const okra_data *x, const okra_data *y)
{
    int parts = x->kind == OKRA_TUPLE ? x->component_count : 1;
    if (y->kind == OKRA_STRINGS &&
        (okra_inspect_aligned_(x, y) || okra_inspect_transcribed_(x, y))) {
        return 0; /* letter by letter */
    }
    for (int k = 0; k < parts && y->kind == OKRA_STRINGS && y->n <= MOST; k++) {
        const okra_data *part = x->kind == OKRA_TUPLE ? x->components[k] : x;
        if (part->kind == OKRA_STRINGS && like(part, y)) {
            return k + 1;
        }
    }
    return 0;
}

static okra_status rewriting_kernels(okra_context *ctx, const okra_data *x, int which,
                                     char **out)
{
    OWNED char *text = NULL, *middle = NULL;
    char *longer = NULL;
    text = x->kind == OKRA_TUPLE
               ? okra_format_("(ends(share={0.5,0.7})@%d + {0.1,0.2}*ends(start=1)@%d)",
                              which, which)
               : okra_format_("ends(share={0.5,0.7}) + {0.1,0.2}*ends(start=1)");
    for (int k = 0; text && x->kind == OKRA_TUPLE && k < x->component_count; k++) {
        const okra_data *part = x->components[k];
        bool classes = part->kind == OKRA_LABELS;
        if (k + 1 == which) {
            continue;
        }
        if (part->kind == OKRA_STRINGS) {
            CHK(okra_inspect_repeated_(part, &classes));
        }
        if (part->kind != OKRA_STRINGS && part->kind != OKRA_LABELS) {
            CHK(okra_rule_middle_(ctx, part, &middle));
        }
        longer = classes ? okra_format_("(zero-one@%d + 0.2)*%s", k + 1, text)
                 : part->kind == OKRA_STRINGS
                     ? okra_format_("(spectrum(k=2)@%d | normalize)*%s", k + 1, text)
                     : okra_format_("(%s)@%d*%s", middle, k + 1, text);
        FREE(middle, text);
        middle = NULL;
        text = longer;
    }
    okra_status st = text ? OKRA_OK : OKRA_EMEM;
    *out = TAKE(text);
    return st;
}

/* ---- options ---- */

enum { REFINE = 15, REFINE_LARGE = 9, LARGE = 300 /* pairs */, REFINE_FITS = 8 };

bool okra_rule_closed_(const okra_method_ *method, const okra_options *o,
                       const okra_data *y)
{
    return method->leave && okra_method_coupling_(method, o) != OKRA_OUTPUTS_SHARED_ &&
           !y->missing && !okra_align_asked_(okra_options_get(o, "kx")) &&
           !strstr(okra_options_get(o, "kx"), "center") &&
           !strstr(okra_options_get(o, "ky"), "center") &&
           !okra_options_is_set(o, "twin") && !okra_options_is_set(o, "low-rank") &&
           !okra_options_is_set(o, "low-rank-x") && !okra_options_is_set(o, "low-rank-y");
}

/* Can settings be compared by feature-loss, without a fit for each of many folds? */
static bool searched(const okra_method_ *method, const okra_options *o)
{
    return method->leave && !okra_options_is_set(o, "twin");
}

/* Is it fitted anew for every fold? */
static bool refitted(const okra_method_ *method, const okra_options *o)
{
    return !searched(method, o) && !method->linker && !okra_options_is_set(o, "twin");
}

/* ---- lambda and what stands for it ---- */

/* The mean of k(x,x) of the first kernel of a grid. */
static okra_status scale_of(okra_context *ctx, const char *kx, const okra_data *x,
                            double *out)
{
    FREED_BY(okra_grid_drop_) okra_grid_ *grid = NULL;
    OWNED char *first = NULL;
    okra_status st = okra_grid_parse_(kx, &grid);
    if (st != OKRA_OK) {
        okra_message_prefix_("kx");
        return st;
    }
    CHK(okra_grid_text_(grid, 0, &first));
    return okra_inspect_diagonal_(ctx, first, x, out);
}

static okra_status set_lambda(okra_context *ctx, const okra_method_ *method,
                              const okra_data *x, const okra_data *y, bool links,
                              okra_options *o)
{
    const okra_option *row = okra_option_find_(&method->options, "lambda", 6);
    bool shared = okra_method_coupling_(method, o) == OKRA_OUTPUTS_SHARED_;
    double scale = 1;
    char text[160];
    if (!searched(method, o) && !refitted(method, o)) {
        return okra_options_set(o, "lambda", row ? row->preset : "0.1");
    }
    CHK(scale_of(ctx, okra_options_get(o, "kx"), x, &scale));
    scale *= shared ? 1 / okra_weights_total_(y) : 1;
    if (refitted(method, o)) {
        const okra_auto_ *a = okra_method_auto_(method);
        bool own = a->lambdas > 0 && y->kind == OKRA_DENSE;
        snprintf(text, sizeof text, "%.3g..%.3g:%d", (own ? a->least : 1e-5) * scale,
                 10 * scale, own ? a->lambdas : 7);
    } else {
        snprintf(text, sizeof text, "%.3g..%.3g:%d", 1e-6 * scale, 1e2 * scale,
                 links || y->missing ? 9 : 17);
    }
    return okra_options_set(o, "lambda", text);
}

okra_status okra_rule_tries_(const okra_method_ *method, okra_int n, okra_options *o)
{
    char name[32], list[160] = "";
    if (!okra_method_auto_(method)->tries || !refitted(method, o)) {
        return OKRA_OK;
    }
    const char *at = strchr(okra_method_auto_(method)->tries, '=') + 1;
    size_t length = (size_t)(at - okra_method_auto_(method)->tries - 1), used = 0;
    snprintf(name, sizeof name, "%.*s", (int)length, okra_method_auto_(method)->tries);
    const okra_option *row = okra_option_find_(&method->options, name, length);
    bool counts = row && row->type == OKRA_OPTION_INT;
    for (; *at; at += strcspn(at, ","), at += *at == ',') {
        if (used == 0 || !counts || okra_strtod_(at, NULL) <= 0.8 * (double)n - 1) {
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%.*s",
                                     used ? "," : "", (int)strcspn(at, ","), at);
        }
    }
    if (!okra_rule_open_(o, name)) {
        return OKRA_OK;
    }
    const okra_auto_ *a = okra_method_auto_(method);
    CHK(a->tried ? a->tried(o) : OKRA_OK);
    return okra_options_set(o, name, list);
}

/* ---- the rest ---- */

/* Outputs in units of their deviations, at `factor` times their median distance. */
static okra_status rbf_of_outputs(okra_context *ctx, const okra_data *y, double factor,
                                  char **out)
{
    double median = 0;
    CHK(okra_inspect_auto_(ctx, "standardize | rbf(sigma=auto)", "sigma=", y, &median));
    *out =
        okra_format_("standardize | rbf(sigma=%.4g)", factor * (median > 0 ? median : 1));
    return *out ? OKRA_OK : OKRA_EMEM;
}

/* w1*A + w2*B + ... of what was learned, with four digits; NULL: of one kernel alone. */
static okra_status write_sum(const okra_align_ *learned, char **out)
{
    const char *kernel = learned->kernels, *weight = learned->weights;
    OWNED char *sum = NULL;
    int terms = 0;
    while (*kernel) {
        char *end = NULL;
        double w = okra_strtod_(weight, &end);
        size_t length = strcspn(kernel, "\n");
        if (w > 1e-4) {
            RENEW(sum, okra_format_("%s%s%.4g*(%.*s)", sum ? sum : "", sum ? " + " : "",
                                    w, (int)length, kernel));
            terms++;
        }
        kernel += length + (kernel[length] == '\n');
        weight = *end == ',' ? end + 1 : end;
    }
    *out = terms > 1 ? TAKE(sum) : NULL;
    return OKRA_OK;
}

/* Of several descriptions {A, B, ..., mean(A, B)} gets the combination that is aligned
 * with the outputs (model/align.c), of at most LEARNED pairs, as one more. */
static okra_status add_learned(okra_context *ctx, const okra_data *x, const okra_data *y,
                               const char *ky, char **text)
{
    enum { FEW_PAIRS = 30, LEARNED = 1000 };
    const char *mean = strstr(*text, "mean(");
    FREED_BY(okra_align_clear_) okra_align_ learned = {0};
    FREED_BY(okra_kernel_drop_) okra_kernel *of_y = NULL;
    FREED_BY(okra_data_drop_) okra_data *some_x = NULL, *some_y = NULL;
    OWNED char *call = NULL, *sum = NULL;
    okra_int n = OKRA_MIN_(y->n, LEARNED);
    if (x->kind != OKRA_TUPLE || !mean || y->n < FEW_PAIRS || y->missing ||
        x->n != y->n || strpbrk(ky, "{}") || okra_data_holds_gram_(x) ||
        okra_data_holds_gram_(y)) {
        return OKRA_OK;
    }
    CHK(okra_data_some_(x, 0, y->n, n, &some_x));
    CHK(okra_data_some_(y, 0, y->n, n, &some_y));
    GOT(call = okra_format_("align(%.*s", (int)strlen(mean + 5) - 1, mean + 5));
    CHK(okra_kernel_choose(ctx, ky, some_y, &of_y));
    okra_status st = okra_align_learn_(ctx, some_x, some_y, call, of_y,
                                       &(okra_align_options_){.lambda = 1}, &learned);
    if (st == OKRA_EARG) {
        return OKRA_OK; /* no kernel is aligned with the outputs */
    }
    CHK(st);
    CHK(write_sum(&learned, &sum));
    if (sum) {
        RENEW(*text, okra_format_("%.*s, %s}", (int)strlen(*text) - 1, *text, sum));
    }
    return OKRA_OK;
}

static okra_status set_kx(okra_context *ctx, const okra_method_ *method,
                          const okra_data *x, const okra_data *y, okra_options *o)
{
    OWNED char *text = NULL;
    int which = searched(method, o) ? okra_rule_rewritten_(x, y) : 0;
    if (which == 0 && okra_inspect_transcribed_(x, y)) {
        /* the decoder compares contexts by itself; weights serve distances alone */
        CHK(okra_rule_auto_(o, "lambda") ? okra_options_set(o, "lambda", "0.01..1:3")
                                         : OKRA_OK);
        CHK(okra_options_is_set(o, "refine") ? OKRA_OK
                                             : okra_options_set(o, "refine", "0"));
        return okra_options_set(o, "kx", "spectrum(k=1) + spectrum(k=2) | normalize");
    }
    CHK(which > 0             ? rewriting_kernels(ctx, x, which, &text)
        : searched(method, o) ? okra_rule_kx_(ctx, x, &text)
        : refitted(method, o) && okra_method_auto_(method)->few
            ? okra_rule_few_(ctx, x, &text)
            : okra_rule_middle_(ctx, x, &text));
    if (searched(method, o) && which == 0 && okra_options_is_set(o, "ky")) {
        CHK(add_learned(ctx, x, y, okra_options_get(o, "ky"), &text));
    }
    return okra_options_set(o, "kx", text);
}

okra_status okra_rule_fill_(const okra_method_ *method, const okra_open_ *open,
                            okra_options *o)
{
    okra_open_ known = *open;
    const okra_auto_ *a = okra_method_auto_(method);
    if (!a->fill) {
        return OKRA_OK;
    }
    known.spread = okra_inspect_deviation_(open->y);
    known.offset = okra_inspect_offset_(open->y);
    return a->fill(&known, o);
}

bool okra_rule_ranked_(const okra_data *y, const okra_options *o)
{
    enum { FEW = 50 }; /* pairs: folds of fewer have no candidates to speak of */
    const okra_method_ *method = okra_method_find_(okra_options_get(o, "method"));
    const char *decode = okra_options_get(o, "decode");
    return y->kind == OKRA_GRAPHS && y->n >= FEW && okra_inspect_molecules_(y) &&
           method && okra_rule_closed_(method, o, y) &&
           !okra_options_is_set(o, "metric") && !okra_options_is_set(o, "cv") &&
           (okra_rule_open_(o, "decode") || strcmp(decode, "candidates") == 0);
}

/* What goes with what was chosen for the user: the kernel (kx), or lambda alone. */
static okra_status set_rest(okra_context *ctx, const okra_method_ *method,
                            const okra_data *x, const okra_data *y, bool kx,
                            okra_options *o)
{
    OWNED char *text = NULL;
    const char *between = okra_method_auto_(method)->between;
    okra_open_ open = {.x = x, .y = y, .kx = kx, .ranked = okra_rule_ranked_(y, o)};
    CHK(okra_rule_fill_(method, &open, o));
    if (kx && between && y->kind == OKRA_DENSE && !okra_options_is_set(o, between)) {
        CHK(rbf_of_outputs(ctx, y, 1, &text));
        CHK(okra_options_set(o, between, text));
    }
    return kx ? okra_rule_tries_(method, y->n, o) : OKRA_OK;
}

okra_status okra_rule_how_(const okra_method_ *method, const okra_data *y, okra_int n,
                           okra_int units, okra_options *o)
{
    bool closed = okra_rule_closed_(method, o, y);
    bool ranked = okra_rule_ranked_(y, o) && units >= 5;
    okra_int most = (closed && !ranked) || y->missing ? 10 : 5;
    okra_int folds = OKRA_MIN_(units > 0 ? units : n, most);
    char text[32];
    if (!okra_options_is_set(o, "cv")) {
        snprintf(text, sizeof text, "kfold:%lld", (long long)folds);
        CHK(okra_options_set(o, "cv", closed && units == 0 ? "loo" : text));
    }
    bool units_differ =
        y->d > 1 && okra_rule_relative_(method, o, y) && !okra_inspect_zero_one_(y);
    bool sets = strstr(okra_options_get(o, "decode"), "threshold=auto") != NULL;
    const char *metric = ranked                   ? "mrr"
                         : !method->leave || sets ? okra_rule_metric_(y)
                         : units_differ           ? "relative-loss"
                                                  : NULL;
    if (metric && !okra_options_is_set(o, "metric")) {
        CHK(okra_options_set(o, "metric", metric));
    }
    if (!okra_options_is_set(o, "refine") && !okra_options_is_set(o, "per-output") &&
        (method->leave || okra_method_auto_(method)->few)) {
        const char *effort = okra_options_get(o, "effort");
        bool large = n > LARGE && strcmp(effort, "thorough") != 0;
        snprintf(text, sizeof text, "%d",
                 strcmp(effort, "quick") == 0 ? 0
                 : !method->leave             ? REFINE_FITS
                 : large                      ? REFINE_LARGE
                                              : REFINE);
        CHK(okra_options_set(o, "refine", text));
    }
    return OKRA_OK;
}

static bool low_rank(const okra_options *o)
{
    return okra_options_is_set(o, "low-rank") || okra_options_is_set(o, "low-rank-x");
}

/* Are there two classes or more? */
static bool several(const okra_data *y)
{
    bool found = false;
    for (okra_int i = 1; y->kind == OKRA_LABELS && i < y->n && !found; i++) {
        found = y->codes[i] != y->codes[0];
    }
    return found;
}

okra_status okra_rules_fill_(okra_context *ctx, const okra_data *x, const okra_data *y,
                             const okra_options *options, bool links, okra_options **out)
{
    const okra_method_ *method = NULL;
    FREED_BY(okra_options_drop_) okra_options *filled = NULL;
    OWNED char *ky = NULL, *decode = NULL;
    bool kx_open = okra_rule_auto_(options, "kx"),
         ky_open = okra_rule_auto_(options, "ky"),
         lambda_open = okra_rule_auto_(options, "lambda");
    CHK(okra_options_copy(options, &filled));
    CHK(okra_method_choose_(okra_options_get(options, "method"), &method));
    if (ky_open) {
        const okra_auto_ *a = okra_method_auto_(method);
        CHK(a->width > 0 && y->kind == OKRA_DENSE ? rbf_of_outputs(ctx, y, a->width, &ky)
                                                  : okra_rule_ky_(ctx, x, y, &ky));
        CHK(okra_options_set(filled, "ky", a->classes && several(y) ? a->classes : ky));
    }
    CHK(kx_open ? set_kx(ctx, method, x, y, filled) : OKRA_OK);
    if (okra_rule_auto_(filled, "lambda")) {
        CHK(set_lambda(ctx, method, x, y, links, filled));
    }
    if ((kx_open || lambda_open) && !links) {
        CHK(set_rest(ctx, method, x, y, kx_open, filled));
    }
    const okra_decoder_ *decoder =
        okra_rule_decoder_(x, y, okra_options_get(filled, "ky"));
    if (decoder && decoder->inputs && low_rank(options)) {
        decoder = NULL; /* a basis has some of them alone */
    }
    if ((kx_open || ky_open || lambda_open) && !links && decoder &&
        !okra_method_auto_(method)->decoder &&
        !okra_method_compares_(method)->criterion && okra_rule_open_(options, "decode")) {
        CHK(okra_rule_decode_(decoder, y, &decode));
        CHK(okra_options_set(filled, "decode", decode));
    }
    *out = TAKE(filled);
    return OKRA_OK;
}
