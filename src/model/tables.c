/*
 * tables.c: the options of selection: its own, and those of fit and predict, where every
 * number becomes a text that may hold a grid.
 */
#include "model/options.h"

#include "okra/model.h"
#include "okra/select.h"

#include <pthread.h>
#include <string.h>

static const okra_option rows[] = {
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
    {0}};

const okra_option_table okra_select_table_ = {"select", rows,
                                              sizeof(okra_select_fields_)};

enum { ROWS_MOST = 1024 };
static okra_option copies[ROWS_MOST];
static okra_option_table tables[2 * OKRA_NAMES_MOST_ + 1];
static const okra_option_table *list[2 * OKRA_NAMES_MOST_ + 1];
static size_t table_count;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Texts in place of numbers; rows that do not fit are left out with their table. */
static void add_tables(const char *topic, size_t *used)
{
    size_t count;
    const okra_option_table *const *from = okra_model_tables_(topic, &count);
    for (size_t t = 0; t < count && table_count < sizeof list / sizeof *list; t++) {
        size_t first = *used, size = 0;
        while (from[t]->rows && from[t]->rows[size].name) {
            size++;
        }
        if (first + size + 1 > ROWS_MOST) {
            return;
        }
        for (size_t k = 0; k <= size; k++) {
            copies[first + k] = size ? from[t]->rows[k] : (okra_option){0};
            okra_option *row = &copies[first + k];
            if (row->type == OKRA_OPTION_NUMBER || row->type == OKRA_OPTION_INT) {
                row->type = OKRA_OPTION_TEXT;
                row->metavar = row->name ? "GRID" : NULL;
            }
        }
        *used += size + 1;
        tables[table_count] = (okra_option_table){from[t]->owner, copies + first, 0};
        list[table_count] = &tables[table_count];
        table_count++;
    }
}

static void make(void)
{
    size_t used = 0;
    tables[0] = okra_select_table_;
    list[0] = &tables[0];
    table_count = 1;
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
        return okra_model_tables_(topic, count);
    }
    pthread_once(&once, make);
    *count = table_count;
    return list;
}

okra_status okra_select_options(okra_options **out)
{
    NOT_NULL(out);
    size_t count;
    const okra_option_table *const *all = okra_option_tables("select", &count);
    return okra_options_create(all, count, out);
}
