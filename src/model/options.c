/*
 * options.c: the option tables of fit, predict and selection: their own rows, then those
 * of every method and decoder; methods and decoders by name; and the options that a model
 * was fitted with, read from its description, so that it can be fitted again on other
 * pairs.
 */
#include "model/model.h"
#include "okra/select.h"
#include "okra/more/traits.h"
#include "okra/program.h"

#include <pthread.h>

static const okra_option fit_rows[] = {
    {"kx", OKRA_OPTION_TEXT, offsetof(okra_fit_fields_, kx), "linear", 1, 0, NULL, "EXPR",
     "Kernel of the inputs, e.g. 'rbf(sigma=4)'"},
    {"ky", OKRA_OPTION_TEXT, offsetof(okra_fit_fields_, ky), "linear", 1, 0, NULL, "EXPR",
     "Kernel of the outputs"},
    {"method", OKRA_OPTION_TEXT, offsetof(okra_fit_fields_, method), "ridge", 1, 0, NULL,
     "NAME", "How the mapping is learned; 'okra help methods' lists them"},
    {"twin", OKRA_OPTION_TEXT, offsetof(okra_fit_fields_, twin), "", 1, 0, NULL,
     "D1,D2[,unbiased]",
     "Replace kx and ky by polynomials in them, of degrees D1 and D2, that make inputs "
     "and outputs most dependent"},
    {"low-rank", OKRA_OPTION_TEXT, offsetof(okra_fit_fields_, low_rank), "", 1, 0, NULL,
     "SPEC",
     "Low rank of both kernels: chol(rank=N,tol=V), nystrom(rank=N,pivots=HOW), "
     "sketch(rank=N,kind=KIND,p=V) or rff(rank=N); `okra help kernels` tells HOW and "
     "KIND"},
    {"low-rank-x", OKRA_OPTION_TEXT, offsetof(okra_fit_fields_, low_rank_x), "", 1, 0,
     NULL, "SPEC", "Low rank of the input kernel alone, or unlike that of the outputs"},
    {"low-rank-y", OKRA_OPTION_TEXT, offsetof(okra_fit_fields_, low_rank_y), "", 1, 0,
     NULL, "SPEC", "Low rank of the output kernel; linear ones need none"},
    {"decode", OKRA_OPTION_TEXT, offsetof(okra_fit_fields_, decode), "", 1, 0, NULL,
     "NAME", "Default decoder of predictions, stored in the model"},
    {0}};

static const okra_option predict_rows[] = {
    {"decode", OKRA_OPTION_TEXT, offsetof(okra_predict_fields_, decode), "", 1, 0, NULL,
     "NAME",
     "How a predicted point becomes an object; 'okra help decoders' lists them. Not "
     "given: "
     "as the model says, the vector itself for linear kernels of dense outputs, else "
     "candidates"},
    {"top", OKRA_OPTION_INT, offsetof(okra_predict_fields_, top), "1", 1, 1e9, NULL, "K",
     "Keep the K best candidates with their distances; under labels, rankings, string, "
     "position, rewrite and a loss over all the K best of what the decoder makes up"},
    {0}};

const okra_option_table okra_fit_table_ = {"fit", fit_rows, sizeof(okra_fit_fields_)};
const okra_option_table okra_predict_table_ = {"predict", predict_rows,
                                               sizeof(okra_predict_fields_)};

/* The lists are made once from the tables of methods and decoders, then never change. */
static const okra_option_table *fit_tables[OKRA_NAMES_MOST_],
    *predict_tables[OKRA_NAMES_MOST_];
static size_t fit_count, predict_count;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_lists(void)
{
    fit_tables[fit_count++] = &okra_fit_table_;
    for (size_t i = 0; okra_methods_[i] && fit_count < OKRA_NAMES_MOST_; i++) {
        fit_tables[fit_count++] = &okra_methods_[i]->options;
    }
    predict_tables[predict_count++] = &okra_predict_table_;
    for (size_t i = 0; okra_decoders_[i] && predict_count < OKRA_NAMES_MOST_; i++) {
        predict_tables[predict_count++] = &okra_decoders_[i]->options;
    }
}

/* Those of "fit" and "predict"; NULL for another topic. */
static const okra_option_table *const *tables_of(const char *topic, size_t *count)
{
    pthread_once(&once, make_lists);
    bool fit = strcmp(topic, "fit") == 0, predict = strcmp(topic, "predict") == 0;
    *count = fit ? fit_count : predict ? predict_count : 0;
    return fit ? fit_tables : predict ? predict_tables : NULL;
}

/* "there is no method 'x'; did you mean 'y'?", among those that `next` lists. */
static okra_status unknown(const char *what, const char *name,
                           const char *(*next)(size_t, const char **,
                                               const okra_option_table **))
{
    const char *names[OKRA_NAMES_MOST_];
    size_t count = 0;
    while (count < OKRA_NAMES_MOST_ && (names[count] = next(count, NULL, NULL))) {
        count++;
    }
    const char *near = okra_nearest(name, names, count);
    return near ? okra_fail_(OKRA_EARG, "there is no %s '%s'; did you mean '%s'?", what,
                             name, near)
                : okra_fail_(OKRA_EARG, "there is no %s '%s'", what, name);
}

static okra_status create(const char *topic, okra_options **out)
{
    size_t count;
    const okra_option_table *const *tables = tables_of(topic, &count);
    return okra_options_create(tables, count, out);
}

okra_status okra_fit_options(okra_options **out)
{
    NOT_NULL(out);
    return create("fit", out);
}

okra_status okra_predict_options(okra_options **out)
{
    NOT_NULL(out);
    return create("predict", out);
}

const char *okra_method_name(size_t index, const char **help,
                             const okra_option_table **options)
{
    for (size_t i = 0; okra_methods_[i]; i++) {
        if (i == index) {
            GIVE(help, okra_methods_[i]->help);
            GIVE(options, &okra_methods_[i]->options);
            return okra_methods_[i]->name;
        }
    }
    return NULL;
}

const char *okra_decoder_name(size_t index, const char **help,
                              const okra_option_table **options)
{
    for (size_t i = 0; okra_decoders_[i]; i++) {
        if (i == index) {
            GIVE(help, okra_decoders_[i]->help);
            GIVE(options, &okra_decoders_[i]->options);
            return okra_decoders_[i]->name;
        }
    }
    return NULL;
}

bool okra_method_has(const char *method, okra_trait trait)
{
    const okra_method_ *m = method ? okra_method_find_(method) : NULL;
    if (!m) {
        return false;
    }
    switch (trait) {
    case OKRA_TRAIT_MISSING:
        return okra_method_takes_(m, OKRA_TAKES_MISSING_);
    case OKRA_TRAIT_UNLABELLED:
        return okra_method_takes_(m, OKRA_TAKES_UNLABELLED_);
    case OKRA_TRAIT_LOW_RANK:
        return m->low_rank != NULL;
    case OKRA_TRAIT_PATH:
        return m->path != NULL;
    case OKRA_TRAIT_LEAVE_OUT:
        return m->leave != NULL;
    case OKRA_TRAIT_VARIANCE:
        return m->solution != NULL;
    case OKRA_TRAIT_SELF:
        return okra_method_takes_(m, OKRA_TAKES_SELF_);
    case OKRA_TRAIT_LINKS:
        return m->linker != NULL;
    case OKRA_TRAIT_WEIGHTS:
        return okra_method_takes_(m, OKRA_TAKES_WEIGHTS_);
    }
    return false;
}

bool okra_decoder_has(const char *decoder, okra_decoder_trait trait)
{
    const okra_decoder_ *d = decoder ? okra_decoder_find_(decoder) : NULL;
    if (!d) {
        return false;
    }
    switch (trait) {
    case OKRA_DECODER_CHOOSES:
        return d->chooses;
    case OKRA_DECODER_MAKES_UP:
        return d->makes_up;
    case OKRA_DECODER_REPORTS:
        return d->reports;
    case OKRA_DECODER_NOTHING:
        return d->nothing;
    }
    return false;
}

/* ---- by name, and nothing set that it does not use ---- */

okra_status okra_method_choose_(const char *name, const okra_method_ **out)
{
    *out = okra_method_find_(name);
    return *out ? OKRA_OK : unknown("method", name, okra_method_name);
}

/* The one method that has an option; NULL: none or several have it. */
static const char *only_method(const char *option)
{
    const char *found = NULL;
    int count = 0;
    for (size_t i = 0; okra_methods_[i]; i++) {
        if (okra_option_find_(&okra_methods_[i]->options, option, strlen(option))) {
            found = okra_methods_[i]->name;
            count++;
        }
    }
    return count == 1 ? found : NULL;
}

okra_status okra_method_check_(const okra_options *options, const okra_method_ *method)
{
    char who[80];
    const char *value, *name;
    const okra_option_table *tables[] = {&okra_fit_table_, &method->options};
    snprintf(who, sizeof who, "method %s", method->name);
    okra_status st = okra_options_check_used_(options, tables, 2, who);
    for (size_t i = 0; st == OKRA_EARG && (name = okra_options_each_(options, i, &value));
         i++) { /* a method that does use it */
        const char *other = only_method(name);
        REFUSE_IF(other && strcmp(other, method->name) != 0 &&
                      !okra_option_find_(&okra_fit_table_, name, strlen(name)),
                  OKRA_EARG, "method %s does not use the option '%s'; method %s does",
                  method->name, name, other);
    }
    return st;
}

okra_status okra_decoder_choose_(const char *name, const okra_decoder_ **out)
{
    *out = okra_decoder_find_(name);
    return *out ? OKRA_OK : unknown("decoder", name, okra_decoder_name);
}

okra_status okra_decoder_check_(const okra_options *options, const okra_decoder_ *decoder)
{
    char who[80];
    snprintf(who, sizeof who, "decoder %s", decoder->name);
    const okra_option_table *tables[] = {&okra_predict_table_, &decoder->options};
    return okra_options_check_used_(options, tables, 2, who);
}

/* ---- selection: the same, every number a text that may hold a grid ---- */

static const okra_option select_rows[] = {
    {"cv", OKRA_OPTION_TEXT, offsetof(okra_select_fields_, cv), "loo", 1, 0, NULL, "HOW",
     "loo, gcv, kfold:K, nested:K,INNER (INNER: a number of folds, or loo)"},
    {"metric", OKRA_OPTION_TEXT, offsetof(okra_select_fields_, metric), "feature-loss", 1,
     0, NULL, "SPEC",
     "What is measured of left-out pairs: feature-loss (undecoded, in the feature space "
     "of ky), relative-loss (the same, each output over its variance) or a metric of the "
     "decoded objects; 'okra help metrics' lists them"},
    {"repeats", OKRA_OPTION_INT, offsetof(okra_select_fields_, repeats), "1", 1, 10000,
     NULL, "N", "Draw the folds N times"},
    {"train-on-one", OKRA_OPTION_BOOL, offsetof(okra_select_fields_, train_on_one), "no",
     1, 0, NULL, "", "Train on one fold and test on the others, not the other way round"},
    {"per-output", OKRA_OPTION_BOOL, offsetof(okra_select_fields_, per_output), "no", 1,
     0, NULL, "",
     "A lambda for each coordinate of vector outputs (ridge), from the same "
     "decompositions; the model is fitted with output-lambda"},
    {"budget", OKRA_OPTION_INT, offsetof(okra_select_fields_, budget), "0", 0, 1e6, NULL,
     "N",
     "Evaluate N settings drawn at random: from lists their values, from lo..hi any "
     "number, log-uniform; 0: the whole grid"},
    {"refine", OKRA_OPTION_INT, offsetof(okra_select_fields_, refine), "0", 0, 1e5, NULL,
     "N",
     "Then up to N more evaluations around the best cell (Nelder-Mead in the "
     "logarithms of its numbers)"},
    {"effort", OKRA_OPTION_CHOICE, offsetof(okra_select_fields_, effort), "normal", 1, 0,
     "quick|normal|thorough", "HOW",
     "Of a fit that chooses: quick looks at 300 pairs at most, normal at 1,000 and drops "
     "losers early, thorough at 2,000 and drops none"},
    {0}};

const okra_option_table okra_select_table_ = {"select", select_rows,
                                              sizeof(okra_select_fields_)};

enum { ROWS_MOST = 1024 };
static okra_option select_copies[ROWS_MOST];
static okra_option_table select_tables[2 * OKRA_NAMES_MOST_ + 1];
static const okra_option_table *select_list[2 * OKRA_NAMES_MOST_ + 1];
static size_t select_count;
static pthread_once_t select_once = PTHREAD_ONCE_INIT;

/* Texts in place of numbers; select_rows that do not fit are left out with their table.
 */
static void add_tables(const char *topic, size_t *used)
{
    size_t count;
    const okra_option_table *const *from = tables_of(topic, &count);
    for (size_t t = 0;
         t < count && select_count < sizeof select_list / sizeof *select_list; t++) {
        size_t first = *used, size = 0;
        while (from[t]->rows && from[t]->rows[size].name) {
            size++;
        }
        if (first + size + 1 > ROWS_MOST) {
            return;
        }
        for (size_t k = 0; k <= size; k++) {
            select_copies[first + k] = size ? from[t]->rows[k] : (okra_option){0};
            okra_option *row = &select_copies[first + k];
            if (row->type == OKRA_OPTION_NUMBER || row->type == OKRA_OPTION_INT) {
                row->type = OKRA_OPTION_TEXT;
                row->metavar = row->name ? "GRID" : NULL;
            }
        }
        *used += size + 1;
        select_tables[select_count] =
            (okra_option_table){from[t]->owner, select_copies + first, 0};
        select_list[select_count] = &select_tables[select_count];
        select_count++;
    }
}

static void make_select(void)
{
    size_t used = 0;
    select_tables[0] = okra_select_table_;
    select_list[0] = &select_tables[0];
    select_count = 1;
    add_tables("fit", &used);
    add_tables("predict", &used);
}

const okra_option_table *const *okra_option_tables(const char *topic, size_t *count)
{
    GIVE(count, 0);
    if (!topic || !count) {
        return NULL;
    }
    if (strcmp(topic, "select") != 0) {
        return tables_of(topic, count);
    }
    pthread_once(&select_once, make_select);
    *count = select_count;
    return select_list;
}

okra_status okra_select_options(okra_options **out)
{
    NOT_NULL(out);
    size_t count;
    const okra_option_table *const *all = okra_option_tables("select", &count);
    return okra_options_create(all, count, out);
}

/* ---- the options that a model was fitted with ---- */

bool okra_model_keeps_(const okra_method_ *method, const char *name)
{
    return okra_method_takes_(method, OKRA_TAKES_MATRIX_) &&
           strcmp(name, "operator") == 0;
}

/* A text that may make a fit open a file; spaces may stand around names in it. */
static bool names_file(const okra_method_ *method, const okra_option *row,
                       const char *text)
{
    bool file = row->type == OKRA_OPTION_READ || row->type == OKRA_OPTION_WRITTEN;
    return (file && *text) || strstr(text, "file") ||
           (okra_model_keeps_(method, row->name) && strchr(text, ':'));
}

/* The input kernel of a model: of waves the one that they are for. */
static okra_status set_kernels(const okra_model *model, okra_options *o)
{
    OWNED char *kx = okra_strdup_(okra_model_option(model, "kx"));
    GOT(kx);
    if (model->training->waves) { /* EXPR | rff(...) */
        char *last = NULL;
        for (char *at = kx; (at = strstr(at, " | rff")); at++) {
            last = at;
        }
        if (last) {
            *last = '\0';
        }
    }
    CHK(okra_options_set(o, "kx", kx));
    return okra_options_set(o, "ky", okra_kernel_text(model->training->ky));
}

okra_status okra_model_check_values_(const okra_method_ *method, const json_t *fitted)
{
    const okra_option_table *tables[] = {&okra_fit_table_, &method->options};
    const char *said = json_string_value(json_object_get(fitted, "method"));
    for (int t = 0; t < 2; t++) {
        for (const okra_option *row = tables[t]->rows; row && row->name; row++) {
            const char *had = json_string_value(json_object_get(fitted, row->name));
            union {
                double number;
                okra_int integer;
                const char *text;
            } parsed;
            if (had && !(row->preset && strcmp(row->preset, had) == 0)) {
                CHK(okra_option_parse_(tables[t]->owner, row, had, &parsed));
            }
        }
    }
    REFUSE_IF(said && strcmp(said, method->name) != 0, OKRA_EARG,
              "its options name the method '%s', it is of %s", said, method->name);
    return OKRA_OK;
}

okra_status okra_model_options_(const okra_model *model, okra_options **out,
                                const char **file)
{
    const okra_option_table *tables[] = {&okra_fit_table_, &model->method->options};
    const json_t *fitted = json_object_get(model->about, "options");
    FREED_BY(okra_options_drop_) okra_options *o = NULL;
    *file = NULL;
    CHK(okra_fit_options(&o));
    for (int t = 0; t < 2; t++) {
        for (const okra_option *row = tables[t]->rows; row && row->name; row++) {
            const char *had = json_string_value(json_object_get(fitted, row->name));
            bool kernel = strcmp(row->name, "kx") == 0 || strcmp(row->name, "ky") == 0;
            if (kernel || strcmp(row->name, "twin") == 0 || !had ||
                (row->preset && strcmp(row->preset, had) == 0)) {
                continue;
            }
            bool kept = *file && okra_model_keeps_(model->method, row->name);
            if (names_file(model->method, row, had) && !kept) {
                *file = row->name;
            }
            CHK(okra_options_set(o, row->name, had));
        }
    }
    CHK(set_kernels(model, o));
    *out = TAKE(o);
    return OKRA_OK;
}
