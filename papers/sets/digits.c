/*
 * digits.c: the first 100 of each digit of USPS, in stratified folds.
 */
#include "digits.h"

#include <math.h>
#include <stdlib.h>

enum { OF_EACH = 100, PIXELS = 2 * DIGITS_HALF, FOLDS = 5 };

void digits_clear(digits_set *set)
{
    free(set->pixels);
    free(set->classes);
    *set = (digits_set){NULL, NULL};
}

okra_status digits_read(paper_run *run, digits_set *out)
{
    okra_data *images = NULL, *labels = NULL;
    okra_int seen[10] = {0}, found = 0, ld = 0;
    char buffer[4096], spec[4200];
    digits_set set = {malloc(sizeof(double) * DIGITS_COUNT * PIXELS),
                      malloc(sizeof(okra_int) * DIGITS_COUNT)};
    okra_status st = set.pixels && set.classes
                         ? paper_read(run, "usps/train_x.npy", &images)
                         : okra_fail(OKRA_EMEM, "no memory for digits");
    if (st == OKRA_OK) {
        snprintf(spec, sizeof spec, "labels:%s",
                 paper_path(run, "usps/train_y.npy", buffer, sizeof buffer));
        st = okra_data_read(paper_context(run), spec, &labels);
    }
    const double *v = st == OKRA_OK ? okra_data_values(images, &ld) : NULL;
    for (okra_int i = 0; v && i < okra_data_count(labels); i++) {
        okra_int c = okra_data_codes(labels)[i];
        if (c < 10 && seen[c] < OF_EACH && found < DIGITS_COUNT) {
            seen[c]++;
            set.classes[found] = c;
            for (okra_int j = 0; j < PIXELS; j++) { /* stored as 1000 x [-1, 1] */
                set.pixels[found * PIXELS + j] = (v[i * ld + j] / 1000 + 1) / 2;
            }
            found++;
        }
    }
    if (st == OKRA_OK && found != DIGITS_COUNT) {
        st = okra_fail(OKRA_EFORMAT, "usps/train_y.npy has fewer than 100 of a digit");
    }
    okra_data_free(images);
    okra_data_free(labels);
    if (st == OKRA_OK) {
        *out = set;
    } else {
        digits_clear(&set);
    }
    return st;
}

/* splitmix64 */
static okra_int below(uint64_t *state, okra_int n)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (okra_int)((z ^ (z >> 31)) % (uint64_t)n);
}

static void shuffle(uint64_t *state, okra_int n, okra_int *items)
{
    for (okra_int i = n - 1; i > 0; i--) {
        okra_int j = below(state, i + 1), item = items[i];
        items[i] = items[j];
        items[j] = item;
    }
}

void digits_order(paper_run *run, const digits_set *set, int number, okra_int *order)
{
    enum { SIZE = DIGITS_COUNT / FOLDS };
    uint64_t state = paper_seed(run) + 7001 + (uint64_t)number;
    okra_int filled[FOLDS] = {0};
    for (okra_int c = 0; c < 10; c++) { /* a digit's images, dealt out in turn */
        okra_int own[OF_EACH], count = 0;
        for (okra_int i = 0; i < DIGITS_COUNT; i++) {
            if (set->classes[i] == c) {
                own[count++] = i;
            }
        }
        shuffle(&state, count, own);
        for (okra_int i = 0; i < count; i++) {
            order[i % FOLDS * SIZE + filled[i % FOLDS]++] = own[i];
        }
    }
    for (okra_int f = 0; f < FOLDS; f++) {
        shuffle(&state, SIZE, order + f * SIZE);
    }
}

okra_status digits_unit(const digits_set *set, const okra_int *order, okra_int begin,
                        okra_int end, okra_data **out)
{
    okra_int width = end - begin;
    double *rows = malloc(sizeof *rows * (size_t)(DIGITS_COUNT * width));
    if (!rows) {
        return okra_fail(OKRA_EMEM, "no memory for digits");
    }
    for (okra_int i = 0; i < DIGITS_COUNT; i++) {
        const double *v = set->pixels + order[i] * PIXELS + begin;
        double square = 0;
        for (okra_int j = 0; j < width; j++) {
            square += v[j] * v[j];
        }
        for (okra_int j = 0; j < width; j++) {
            rows[i * width + j] = square > 0 ? v[j] / sqrt(square) : 0;
        }
    }
    okra_status st = paper_dense(rows, DIGITS_COUNT, width, out);
    free(rows);
    return st;
}
