/*
 * options.c: the option tables of fit and predict: their own rows, then those of every
 * method and decoder.
 */
#include "model/options.h"

#include "decode/decode.h"
#include "okra/model.h"

#include <pthread.h>
#include <string.h>

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
     "NAME", "The decoder that the model's predictions take where they are told none"},
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

const okra_option_table *const *okra_model_tables_(const char *topic, size_t *count)
{
    pthread_once(&once, make_lists);
    bool fit = strcmp(topic, "fit") == 0, predict = strcmp(topic, "predict") == 0;
    *count = fit ? fit_count : predict ? predict_count : 0;
    return fit ? fit_tables : predict ? predict_tables : NULL;
}

okra_status okra_unknown_(const char *what, const char *name, const char *const *names,
                          size_t count)
{
    const char *near = okra_nearest(name, names, count);
    return near ? okra_fail_(OKRA_EARG, "there is no %s '%s'; did you mean '%s'?", what,
                             name, near)
                : okra_fail_(OKRA_EARG, "there is no %s '%s'", what, name);
}

static okra_status create(const char *topic, okra_options **out)
{
    size_t count;
    const okra_option_table *const *tables = okra_model_tables_(topic, &count);
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
        return m->missing;
    case OKRA_TRAIT_UNLABELLED:
        return m->unlabelled;
    case OKRA_TRAIT_LOW_RANK:
        return m->low_rank;
    case OKRA_TRAIT_PATH:
        return m->path != NULL;
    case OKRA_TRAIT_LEAVE_OUT:
        return m->leave != NULL;
    case OKRA_TRAIT_VARIANCE:
        return m->noise != NULL;
    case OKRA_TRAIT_SELF:
        return m->needs_self;
    case OKRA_TRAIT_LINKS:
        return m->linker != NULL;
    case OKRA_TRAIT_WEIGHTS:
        return m->weights;
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
