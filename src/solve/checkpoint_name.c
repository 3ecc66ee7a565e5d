/*
 * checkpoint_name.c: the name of a fit of ridge, which its checkpoint begins with: a hash
 * of all pairs, kernels and options. Of rows that many processes share it is a sum over
 * rows, the same for any number of processes.
 */
#include "solve/cg.h"

#include "kernel/gram/bound.h"
#include "kernel/lowrank/lowrank.h"

#include <string.h>

/* h += a sum over rows, the same for any share of them. */
static okra_status mix_rows(okra_context *ctx, const okra_data *data, uint64_t *h)
{
    enum { ROWS = 4096, LIMBS = 4, BITS = 16 };
    okra_int first = 0, count = 0;
    uint64_t sum = 0;
    okra_engine_share_(ctx, data->n, &first, &count);
    for (okra_int at = first; at < first + count; at += ROWS) {
        okra_int some = OKRA_MIN_(ROWS, first + count - at);
        FREED_BY(okra_data_drop_) okra_data *rows = NULL;
        if (data->pieces) {
            CHK(okra_stack_slice_(data, at, some, &rows));
        }
        for (okra_int i = 0; i < some; i++) {
            const double *row =
                rows ? rows->values + i * rows->ld : data->values + (at + i) * data->ld;
            okra_int place = at + i;
            sum += okra_mix_(okra_mix_(OKRA_MIX_START_, &place, sizeof place), row,
                             (size_t)data->d * sizeof *row);
        }
    }
    double limbs[LIMBS]; /* sums of 16 bits are exact */
    for (int k = 0; k < LIMBS; k++) {
        limbs[k] = (double)(sum >> (BITS * k) & 0xffff);
    }
    CHK(okra_engine_sum_(ctx, LIMBS, limbs));
    for (int k = 0; k < LIMBS; k++) {
        *h += (uint64_t)limbs[k] << (BITS * k);
    }
    return OKRA_OK;
}

static okra_status mix_data(okra_context *ctx, const okra_data *data, uint64_t *h)
{
    if (data->kind != OKRA_DENSE) {
        *h = okra_data_mix_(*h, data);
        return OKRA_OK;
    }
    okra_int head[] = {(okra_int)data->kind, data->n, data->d};
    *h = okra_mix_(*h, head, sizeof head);
    return mix_rows(ctx, data, h);
}

static uint64_t mix_text(uint64_t h, const char *text)
{
    return okra_mix_(h, text, strlen(text) + 1);
}

static uint64_t mix_sketch(uint64_t h, const okra_sketch_ *S)
{
    h = okra_mix_(h, S->value, (size_t)S->entries * sizeof *S->value);
    if (S->start) {
        h = okra_mix_(h, S->start, (size_t)(S->rows + 1) * sizeof *S->start);
        h = okra_mix_(h, S->column, (size_t)S->entries * sizeof *S->column);
    }
    return h;
}

/* The factor follows from the objects, but for its last bits. */
static uint64_t mix_map(uint64_t h, const okra_map_ *map)
{
    h = mix_text(h, okra_kernel_text(map->bound->kernel));
    h = okra_data_mix_(okra_mix_(h, &map->scale, sizeof map->scale), map->objects);
    return map->sketch ? mix_sketch(h, map->sketch) : h;
}

okra_status okra_ridge_name_(const okra_ridge_ *r, uint64_t *out)
{
    const okra_problem_ *p = r->p;
    okra_int sizes[] = {p->n, p->unlabelled, p->d, r->center, (okra_int)r->count};
    double numbers[] = {r->epsilon, r->lambda2};
    uint64_t h = okra_mix_(OKRA_MIX_START_, sizes, sizeof sizes);
    h = okra_mix_(h, numbers, sizeof numbers);
    h = okra_mix_(h, r->lambda, r->count * sizeof *r->lambda);
    h = mix_text(mix_text(h, r->operator_text), r->graph);
    h = p->map_x ? mix_map(h, p->map_x)
                 : mix_text(h, okra_kernel_text(okra_bound_kernel_(p->kx)));
    h = p->map_y ? mix_map(h, p->map_y)
        : p->ky  ? mix_text(h, okra_kernel_text(okra_bound_kernel_(p->ky)))
                 : h;
    h = p->A ? okra_mix_(h, p->A, (size_t)(p->d * p->d) * sizeof *p->A) : h;
    CHK(mix_data(r->ctx, p->x, &h));
    CHK(mix_data(r->ctx, p->y, &h));
    h = p->weights ? okra_mix_(h, p->weights, (size_t)p->n * sizeof(double)) : h;
    *out = h;
    return OKRA_OK;
}
