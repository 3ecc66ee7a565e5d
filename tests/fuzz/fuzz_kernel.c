/*
 * Kernel expressions: any text is parsed or refused with a message; a canonical text
 * parses to itself; the cells of a grid parse; what parses can be evaluated.
 */
#include "kernel/kernel.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void demand(bool condition)
{
    if (!condition) {
        abort();
    }
}

static void round_trip(const okra_kernel *kernel)
{
    okra_kernel *again = NULL;
    demand(okra_kernel_parse(okra_kernel_text(kernel), &again) == OKRA_OK);
    demand(strcmp(okra_kernel_text(again), okra_kernel_text(kernel)) == 0);
    okra_kernel_free(again);
}

/* Values may overflow, which is refused, as are some kernels before low rank and ranks
 * beyond memory; nothing else may go wrong on vectors. */
static void evaluate(const okra_kernel *kernel)
{
    static okra_context *ctx;
    const double x[] = {0, 0, 1, -2, 0.5, 3};
    double K[9];
    okra_data *data = NULL;
    demand(okra_data_dense(x, 3, 2, 2, &data) == OKRA_OK);
    if (!ctx) {
        demand(okra_context_create(&ctx) == OKRA_OK);
        demand(okra_context_set_memory(ctx, 1 << 24) == OKRA_OK);
        demand(okra_context_set_threads(ctx, 1) == OKRA_OK);
    }
    okra_status st = okra_gram(ctx, kernel, data, NULL, K, 3);
    bool low = okra_kernel_low_(kernel);
    demand(st == OKRA_OK || st == OKRA_ENUMERIC || st == OKRA_EARG ||
           (low && (st == OKRA_EUNSUPPORTED || st == OKRA_EBUDGET)));
    okra_data_free(data);
}

/* The first and the last cell. */
static void cells(const okra_grid_ *grid)
{
    okra_int count = okra_grid_count_(grid);
    for (int last = 0; last < 2 && count > 0; last++) {
        char *text = NULL;
        okra_grid_ *cell = NULL;
        demand(okra_grid_text_(grid, last ? count - 1 : 0, &text) == OKRA_OK);
        /* A cell may fail where the values do not fit together, with a message. */
        demand(okra_grid_parse_(text, &cell) == OKRA_OK || okra_message()[0]);
        demand(!cell || okra_grid_count_(cell) == 1);
        okra_grid_free_(cell);
        okra_free_(text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    okra_kernel *kernel = NULL;
    okra_grid_ *grid = NULL;
    char *text = malloc(size + 1);
    if (!text) {
        return 0;
    }
    memcpy(text, data, size);
    text[size] = 0;
    if (okra_kernel_parse(text, &kernel) == OKRA_OK) {
        round_trip(kernel);
        evaluate(kernel);
    } else {
        demand(okra_message()[0] != 0 && !kernel);
    }
    if (okra_grid_parse_(text, &grid) == OKRA_OK) {
        cells(grid);
    }
    demand(!kernel || grid); /* a grid may be a single kernel */
    okra_grid_free_(grid);
    okra_kernel_free(kernel);
    free(text);
    return 0;
}
