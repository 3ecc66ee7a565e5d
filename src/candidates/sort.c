/*
 * sort.c: the candidates of a shard by mass, their features and coordinates of low rank.
 */
#include "candidates/build.h"

#include <stdlib.h>
#include <string.h>

static int by_mass(const void *a, const void *b)
{
    const okra_entry_ *const *x = a, *const *y = b;
    if ((*x)->mass != (*y)->mass) {
        return (*x)->mass < (*y)->mass ? -1 : 1;
    }
    return ((*x)->place > (*y)->place) - ((*x)->place < (*y)->place);
}

typedef struct arrays {
    const okra_entry_ **order;
    double *mass, *values;
    uint64_t *key, *formula, *place, *end, *row, *where, *bits[OKRA_LEAVES_MOST_];
    okra_count_ *counts[OKRA_LEAVES_MOST_];
    float *low;
    char *text;
} arrays;

static void clear_arrays(arrays *a)
{
    FREE(a->order, a->mass, a->values, a->key, a->formula, a->place, a->end, a->row,
         a->where);
    for (int leaf = 0; leaf < OKRA_LEAVES_MOST_; leaf++) {
        FREE(a->bits[leaf], a->counts[leaf]);
    }
    FREE(a->low, a->text);
}

/* The SMILES, a blank, the name; where it ends. */
static uint64_t put_text(const okra_build_ *b, const okra_entry_ *e, char *text,
                         uint64_t at)
{
    if (e->smiles > 0) {
        memcpy(text + at, b->source.p + e->place, (size_t)e->smiles);
        at += (uint64_t)e->smiles;
    }
    if (e->named > 0) {
        if (!b->vectors) {
            text[at++] = ' ';
        }
        memcpy(text + at, b->source.p + e->name, (size_t)e->named);
        at += (uint64_t)e->named;
    }
    return at;
}

static okra_status sort_rows(const okra_build_ *b, okra_shard_ *s, arrays *a)
{
    okra_int rows = 0;
    uint64_t texts = 0;
    MAKE(a->order, b->count);
    for (okra_int k = 0; k < b->count; k++) {
        if (!b->entry[k].dropped) {
            a->order[rows++] = &b->entry[k];
            texts += (uint64_t)b->entry[k].smiles + (uint64_t)b->entry[k].named + 1;
        }
    }
    if (rows > 0) {
        qsort(a->order, (size_t)rows, sizeof *a->order, by_mass);
    }
    MAKE(a->mass, rows);
    MAKE(a->values, rows * b->columns);
    MAKE(a->key, rows);
    MAKE(a->formula, rows);
    MAKE(a->place, rows);
    MAKE(a->end, rows);
    MAKE(a->row, rows);
    ZMAKE(a->where, b->count);
    MAKE(a->text, (okra_int)texts);
    texts = 0;
    for (okra_int k = 0; k < rows; k++) {
        const okra_entry_ *e = a->order[k];
        texts = put_text(b, e, a->text, texts);
        a->mass[k] = e->mass;
        a->key[k] = e->key;
        a->formula[k] = e->formula;
        a->place[k] = e->place;
        a->end[k] = texts;
        a->row[k] = s->head.first + (uint64_t)(e - b->entry);
        a->where[e - b->entry] = (uint64_t)k + 1;
        for (int c = 0; c < b->columns; c++) {
            a->values[k * b->columns + c] = b->values[(e - b->entry) * b->columns + c];
        }
        s->head.massless += !(e->mass > 0);
    }
    s->head.columns = (uint64_t)b->columns;
    s->head.rows = (uint64_t)rows;
    s->head.texts = texts;
    return OKRA_OK;
}

static okra_status sort_bits(const okra_build_ *b, int leaf, okra_shard_ *s, arrays *a)
{
    okra_int rows = (okra_int)s->head.rows, words = okra_bit_words_(&b->kernel, leaf);
    MAKE(a->bits[leaf], rows * words);
    for (okra_int k = 0; k < rows; k++) {
        memcpy(a->bits[leaf] + k * words,
               b->rows[leaf] + (a->order[k] - b->entry) * words,
               (size_t)words * sizeof(uint64_t));
    }
    s->head.words[leaf] = (uint64_t)words;
    return OKRA_OK;
}

static okra_status sort_vectors(const okra_build_ *b, okra_shard_ *s, arrays *a)
{
    const okra_data *v = b->vectors;
    okra_int rows = (okra_int)s->head.rows;
    MAKE(a->bits[0], rows * v->d);
    for (okra_int k = 0; k < rows; k++) {
        memcpy(a->bits[0] + k * v->d, v->values + (okra_int)a->order[k]->place * v->ld,
               (size_t)v->d * sizeof(double));
    }
    s->head.words[0] = (uint64_t)v->d;
    s->bits[0] = a->bits[0];
    return OKRA_OK;
}

static okra_status sort_counts(const okra_build_ *b, int leaf, okra_shard_ *s, arrays *a)
{
    okra_int rows = (okra_int)s->head.rows, used = 0;
    MAKE(a->bits[leaf], rows);
    for (int pass = 0; pass < 2; pass++) { /* how many, then which */
        for (okra_int k = 0; k < rows; k++) {
            const okra_entry_ *e = a->order[k];
            const okra_csr_ *list = &b->lists[leaf][e->lists];
            okra_int i = e - b->entry - e->lists;
            okra_int begin = list->indptr[i], end = list->indptr[i + 1];
            if (pass == 0) {
                used += end - begin;
                a->bits[leaf][k] = (uint64_t)used;
                continue;
            }
            okra_count_ *out = a->counts[leaf] + a->bits[leaf][k] - (end - begin);
            for (okra_int at = begin; at < end; at++) {
                *out++ = (okra_count_){(uint32_t)list->indices[at],
                                       (uint32_t)list->values[at]};
            }
        }
        if (pass == 0) {
            MAKE(a->counts[leaf], used);
        }
    }
    s->head.pairs[leaf] = (uint64_t)used;
    return OKRA_OK;
}

/* Features of the sorted rows, and their coordinates of low rank. */
static okra_status sort_features(const okra_build_ *b, okra_shard_ *s, arrays *a)
{
    enum { PANEL = 8192 };
    okra_int rows = (okra_int)s->head.rows;
    FREED_BY(okra_data_drop_) okra_data *data = NULL;
    s->head.leaves = b->bits ? (uint32_t)b->kernel.leaves : b->vectors ? 1 : 0;
    CHK(b->vectors ? sort_vectors(b, s, a) : OKRA_OK);
    for (int leaf = 0; b->bits && leaf < b->kernel.leaves; leaf++) {
        CHK(b->kernel.counts[leaf] ? sort_counts(b, leaf, s, a)
                                   : sort_bits(b, leaf, s, a));
        s->bits[leaf] = a->bits[leaf];
        s->counts[leaf] = a->counts[leaf];
    }
    s->head.rank = (uint64_t)b->rank;
    MAKE(a->low, rows * okra_low_width_(b->rank));
    for (okra_int first = 0; b->rank > 0 && first < rows; first += PANEL) {
        okra_int count = OKRA_MIN_(PANEL, rows - first);
        CHK(okra_shard_data_(b->ctx, b->bits ? &b->kernel : NULL, b->vectors != NULL, s,
                             NULL, first, count, &data));
        CHK(okra_index_low_(b->ctx, b->bound, data, b->basis, b->rank,
                            a->low + first * okra_low_width_(b->rank)));
        okra_data_free(data);
        data = NULL;
    }
    return OKRA_OK;
}

okra_status okra_build_shard_(const okra_build_ *b, const char *path, okra_shard_ *s)
{
    FREED_BY(clear_arrays) arrays a = {.order = NULL};
    CHK(sort_rows(b, s, &a));
    s->mass = a.mass;
    s->values = a.values;
    s->key = a.key;
    s->formula = a.formula;
    s->place = a.place;
    s->end = a.end;
    s->row = a.row;
    s->where = a.where;
    s->text = a.text;
    CHK(sort_features(b, s, &a));
    s->low = a.low;
    return okra_shard_write_(path, s);
}
