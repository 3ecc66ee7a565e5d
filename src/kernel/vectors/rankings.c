/*
 * rankings.c: kernels of rankings, and of the order of any values.
 *
 *     kendall   sum_{a < b} sign(x_a - x_b) sign(y_a - y_b) / (d (d - 1) / 2), the pairs
 * of items in one order less those in two (Kendall's tau a); without ties |phi(x) -
 * phi(y)|^2 is 4 times the share of pairs in two orders, so that kendall | rbf(...) is a
 * Mallows kernel (Jiao and Vert 2015) spearman  the correlation of the ranks, ties at
 * their mean rank; 0 where all values are equal
 *
 * Both are inner products of what a side holds: the signs of all pairs in bytes, d (d -
 * 1) / 2 a row, exactly; centred ranks of length 1, d doubles per row.
 */
#include "kernel/gram/trained_kernel.h"

typedef struct side {
    okra_int width; /* of a row */
    int8_t *signs;
} side;

OKRA_FREES_(free_side, side, it->signs)
OKRA_DROPS_(drop_side, side, free_side)

/* ---- kendall ---- */

static okra_status kendall_side(okra_context *ctx, const void *params, const void *shared,
                                const okra_data *data, void **out)
{
    FREED_BY(drop_side) side *s = NULL;
    okra_int d = data->d, at = 0;
    CHK(okra_widths_(ctx, "kendall", data, shared));
    ZMAKE(s, 1);
    s->width = d * (d - 1) / 2;
    CHK(okra_budget_ask_(ctx, (double)data->n * (double)s->width,
                         "the pairs of items of rankings"));
    MAKE(s->signs, data->n * s->width);
    for (okra_int i = 0; i < data->n; i++) {
        const double *x = data->values + i * data->ld;
        for (okra_int a = 0; a < d; a++) {
            for (okra_int b = a + 1; b < d; b++) {
                s->signs[at++] = (int8_t)((x[a] > x[b]) - (x[a] < x[b]));
            }
        }
    }
    *out = TAKE(s);
    return OKRA_OK;
}

static double agreement(const int8_t *x, const int8_t *y, okra_int width)
{
    int64_t sum = 0;
    for (okra_int first = 0; first < width; first += 1 << 20) {
        okra_int end = OKRA_MIN_(width, first + (1 << 20));
        int32_t part = 0;
        for (okra_int k = first; k < end; k++) {
            part += (int32_t)x[k] * y[k];
        }
        sum += part;
    }
    return width > 0 ? (double)sum / (double)width : 0;
}

static double kendall(const void *params, const void *pa, okra_int i, const void *pb,
                      okra_int j)
{
    const side *a = pa, *b = pb;
    return agreement(a->signs + i * a->width, b->signs + j * b->width, a->width);
}

/* ---- spearman ---- */

typedef struct placed {
    double value;
    okra_int item;
} placed;

OKRA_ORDER_(by_value, placed, OKRA_UP_(value), OKRA_UP_(item))

/* Centred ranks of length 1; without ties their squares sum to d (d^2 - 1) / 12. */
static void to_ranks(const double *x, okra_int d, placed *items, double *out)
{
    double square = 0, middle = (double)(d - 1) / 2;
    for (okra_int j = 0; j < d; j++) {
        items[j] = (placed){x[j], j};
    }
    qsort(items, (size_t)d, sizeof *items, by_value);
    for (okra_int first = 0, end; first < d; first = end) {
        for (end = first + 1; end < d && items[end].value == items[first].value; end++) {
        }
        for (okra_int k = first; k < end; k++) {
            double rank = (double)(first + end - 1) / 2 - middle;
            out[items[k].item] = rank;
            square += rank * rank;
        }
    }
    for (okra_int j = 0; j < d && square > 0; j++) {
        out[j] /= sqrt(square);
    }
}

static okra_status map(okra_context *ctx, const void *params, const void *state,
                       const okra_data *data, okra_data **out)
{
    OWNED double *ranks = NULL;
    OWNED placed *items = NULL;
    MAKE(items, data->d);
    CHK(okra_doubles_(ctx, data->n, data->d, "the ranks of values", &ranks));
    for (okra_int i = 0; i < data->n; i++) {
        to_ranks(data->values + i * data->ld, data->d, items, ranks + i * data->d);
    }
    return okra_data_adopt_dense_(&ranks, data->n, data->d, data->source, out);
}

static const okra_through_ spearman = {&okra_linear_, NULL, NULL, map, NULL};

extern const okra_kernel_class_ okra_kendall_, okra_spearman_;

const okra_kernel_class_ okra_kendall_ = {.name = "kendall",
                                          .help =
                                              "share of pairs of items in the same order "
                                              "in two rankings, less the share of the "
                                              "others (Kendall's tau)",
                                          .params = {"kendall", okra_no_params_, 0},
                                          .kinds = 1u << OKRA_DENSE,
                                          .shape = OKRA_SHAPE_PAIRS_,
                                          .side = kendall_side,
                                          .free_side = free_side,
                                          .pair = kendall};

const okra_kernel_class_ okra_spearman_ = {.name = "spearman",
                                           .help = "correlation of the ranks of values",
                                           .params = {"spearman", okra_no_params_, 0},
                                           .kinds = 1u << OKRA_DENSE,
                                           .shape = OKRA_SHAPE_RANKS_,
                                           .through = &spearman,
                                           OKRA_THROUGH_HOOKS_};
