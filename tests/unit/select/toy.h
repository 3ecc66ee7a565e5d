/*
 * toy.h: small training sets, and selections on them.
 */
#ifndef OKRA_TEST_SELECT_TOY_H
#define OKRA_TEST_SELECT_TOY_H

#include "harness.h"
#include "select/select.h"

enum { INPUTS = 26, PAIRS = 20, WIDTH = 3, OUTPUTS = 2 };

typedef struct toy {
    double x[INPUTS * WIDTH], y[PAIRS * OUTPUTS];
    okra_data *inputs, *outputs; /* n pairs, and more inputs if asked for */
} toy;

/* duplicates: every other pair repeats the one before; flat: inputs on a line. */
static inline toy *make_toy(okra_int n, okra_int unlabelled, bool duplicates, bool flat,
                            uint64_t seed)
{
    toy *t = malloc(sizeof *t);
    okra_random_ r = okra_random_create_(seed, 7);
    harness_normals(&r, INPUTS * WIDTH, t->x);
    harness_normals(&r, PAIRS * OUTPUTS, t->y);
    for (okra_int i = 0; i < n; i++) {
        double *x = t->x + i * WIDTH, *y = t->y + i * OUTPUTS;
        for (int j = 1; flat && j < WIDTH; j++) {
            x[j] = 0;
        }
        y[0] = sin(x[0]) + 0.1 * y[0];
        y[1] = x[0] * x[1] + 0.1 * y[1];
        if (duplicates && i % 2) {
            memcpy(x, x - WIDTH, WIDTH * sizeof *x);
            memcpy(y, y - OUTPUTS, OUTPUTS * sizeof *y);
        }
    }
    CHECK_OK(okra_data_dense(t->x, n + unlabelled, WIDTH, WIDTH, &t->inputs));
    CHECK_OK(okra_data_dense(t->y, n, OUTPUTS, OUTPUTS, &t->outputs));
    return t;
}

static inline void free_toy(toy *t)
{
    okra_data_free(t->inputs);
    okra_data_free(t->outputs);
    free(t);
}

/* "name", "value", ..., NULL */
static inline okra_options *select_options(const char *const *pairs)
{
    okra_options *o = NULL;
    CHECK_OK(okra_select_options(&o));
    for (; *pairs; pairs += 2) {
        CHECK_OK(okra_options_set(o, pairs[0], pairs[1]));
    }
    return o;
}

static inline okra_context *context_of(int threads)
{
    okra_context *c = NULL;
    CHECK_OK(okra_context_create(&c));
    CHECK_OK(okra_context_set_threads(c, threads));
    okra_context_set_seed(c, 3);
    return c;
}

/* The result without its time. */
static inline char *untimed(const okra_selection *s)
{
    char *text = strdup(okra_selection_json(s));
    char *seconds = strstr(text, "\"seconds\"");
    if (seconds) {
        *seconds = '\0';
    }
    return text;
}

#endif
