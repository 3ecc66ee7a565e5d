/*
 * zero_one.c: 1 if two objects are equal, else 0 (Weston et al. 2003, eq. 2).
 *
 * Labels are equal when their names are, or their codes where there are no names; vectors
 * when all components are, strings when all characters are. Stops at the first
 * difference, so that most pairs cost little.
 */
#include "data/strings.h"
#include "kernel/gram/trained_kernel.h"

typedef struct side {
    const okra_data *data;
    okra_int *codes; /* of labels, in the training set's numbering; -1: not in it */
} side;

OKRA_FREES_(free_side, side, it->codes)
OKRA_DROPS_(drop_side, side, free_side)

/* The training set's code of a class name, or -1. */
static okra_int code_of(const okra_data *train, const char *name)
{
    for (okra_int c = 0; c < train->d; c++) {
        if (strcmp(train->class_names[c], name) == 0) {
            return c;
        }
    }
    return -1;
}

static okra_status number_labels(side *s, const okra_data *train)
{
    const okra_data *data = s->data;
    OWNED okra_int *map = NULL;
    bool named = data->class_names && train->class_names;
    MAKE(map, named ? data->d : 0);
    MAKE(s->codes, data->n);
    for (okra_int c = 0; named && c < data->d; c++) {
        map[c] = code_of(train, data->class_names[c]);
    }
    for (okra_int i = 0; i < data->n; i++) {
        s->codes[i] = named ? map[data->codes[i]] : data->codes[i];
    }
    return OKRA_OK;
}

static okra_status make_side(okra_context *ctx, const void *params, const void *shared,
                             const okra_data *data, void **out)
{
    const okra_data *train = shared;
    FREED_BY(drop_side) side *s = NULL;
    ZMAKE(s, 1);
    s->data = data;
    if (data->kind == OKRA_LABELS && train->kind == OKRA_LABELS) {
        CHK(number_labels(s, train));
    } else if (data->kind == OKRA_LABELS || train->kind == OKRA_LABELS) {
        char found[128], expected[128];
        return okra_fail_(OKRA_EARG, "kernel zero-one: %s holds %s, the training set %s",
                          data->source, okra_data_describe_(data, found, sizeof found),
                          okra_data_describe_(train, expected, sizeof expected));
    } else if (data->kind != OKRA_STRINGS) {
        CHK(okra_widths_(ctx, "zero-one", data, train));
    }
    *out = TAKE(s);
    return OKRA_OK;
}

static bool equal_strings(const okra_data *a, okra_int i, const okra_data *b, okra_int j)
{
    okra_int n, m;
    const int32_t *x = okra_characters_(a, i, &n), *y = okra_characters_(b, j, &m);
    return n == m && memcmp(x, y, (size_t)n * sizeof *x) == 0;
}

static bool equal_rows(const double *x, const double *y, okra_int d)
{
    okra_int j = 0;
    while (j < d && x[j] == y[j]) {
        j++;
    }
    return j == d;
}

static double equal_wide_thin(const okra_wide_ *wide, const okra_thin_ *thin)
{
    okra_int nonzeros = 0;
    for (okra_int k = 0; k < thin->count; k++) {
        double value = okra_thin_value_(thin, k);
        if (value != wide->values[thin->indices[k]]) {
            return 0;
        }
        nonzeros += value != 0;
    }
    return nonzeros == wide->nonzeros;
}

static okra_status block(okra_context *ctx, const void *params, const void *pa,
                         okra_int i0, okra_int ni, const void *pb, okra_int j0,
                         okra_int nj, double *out, okra_int ld)
{
    const side *sa = pa, *sb = pb;
    const okra_data *a = sa->data, *b = sb->data;
    bool strings = a->kind == OKRA_STRINGS;
    if (!sa->codes && !strings && (a->kind != OKRA_DENSE || b->kind != OKRA_DENSE)) {
        return okra_rows_meet_(a, i0, ni, b, j0, nj, equal_wide_thin, out, ld);
    }
    for (okra_int r = 0; r < ni; r++) {
        for (okra_int c = 0; c < nj; c++) {
            out[r * ld + c] = sa->codes ? sa->codes[i0 + r] == sb->codes[j0 + c]
                              : strings ? equal_strings(a, i0 + r, b, j0 + c)
                                        : equal_rows(a->values + (i0 + r) * a->ld,
                                                     b->values + (j0 + c) * b->ld, a->d);
        }
    }
    return OKRA_OK;
}

const okra_kernel_class_ okra_zero_one_ = {.name = "zero-one",
                                           .help = "1 if the objects are equal, else 0",
                                           .params = {"zero-one", okra_no_params_, 0},
                                           .kinds = OKRA_VECTORS_ | 1u << OKRA_LABELS |
                                                    1u << OKRA_STRINGS,
                                           .shape = OKRA_SHAPE_EQUAL_,
                                           .side = make_side,
                                           .free_side = free_side,
                                           .block = block};
