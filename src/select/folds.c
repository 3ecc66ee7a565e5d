/*
 * folds.c: which pairs are left out together.
 *
 * Drawn folds: the units (pairs, or groups of pairs) are shuffled, sorted by stratum
 * (stable, so that the order within one stays random) and dealt out in turn: fold sizes
 * differ by one unit at most, and so does each stratum's share of a fold. Groups of
 * unequal size are dealt to the fold that has the fewest pairs so far, largest group
 * first.
 */
#include "select/select.h"

#include <stdlib.h>
#include <string.h>

/* A whole positive number, or 0; *end is where it stops. */
static okra_int whole(const char *text, const char **end)
{
    char *stop = NULL;
    long long value = *text >= '0' && *text <= '9' ? strtoll(text, &stop, 10) : 0;
    *end = stop ? stop : text;
    return value > 0 && value < (1ll << 40) ? (okra_int)value : 0;
}

okra_status okra_cv_parse_(const char *text, okra_cv_ *out)
{
    okra_cv_ cv = {OKRA_CV_KFOLD_, 0, 0};
    const char *end = text;
    bool good = true;
    if (strcmp(text, "loo") == 0 || strcmp(text, "gcv") == 0) {
        cv.kind = *text == 'l' ? OKRA_CV_LOO_ : OKRA_CV_GCV_;
    } else if (strncmp(text, "kfold:", 6) == 0) {
        cv.parts = whole(text + 6, &end);
        good = cv.parts >= 2 && !*end;
    } else if (strncmp(text, "nested:", 7) == 0) {
        cv.outer = whole(text + 7, &end);
        good = cv.outer >= 2 && *end == ',';
        if (good && strcmp(end + 1, "loo") == 0) {
            cv.kind = OKRA_CV_LOO_;
        } else if (good) {
            cv.parts = whole(end + 1, &end);
            good = cv.parts >= 2 && !*end;
        }
    } else {
        good = false;
    }
    REFUSE_IF(!good, OKRA_EARG,
              "cv is '%s', expected loo, gcv, kfold:K, nested:K,K2 or nested:K,loo with "
              "K, K2 of 2 or more",
              text);
    *out = cv;
    return OKRA_OK;
}

/* ---- drawing ---- */

typedef struct unit {
    okra_int key, size, stratum, place; /* place: in the shuffled order */
} unit;

static int by_key(const void *a, const void *b)
{
    const unit *x = a, *y = b;
    return x->key != y->key ? (x->key < y->key ? -1 : 1) : 0;
}

/* By stratum, larger units first, then as shuffled. */
static int by_stratum(const void *a, const void *b)
{
    const unit *x = a, *y = b;
    return x->stratum != y->stratum ? (x->stratum < y->stratum ? -1 : 1)
           : x->size != y->size     ? (x->size > y->size ? -1 : 1)
           : x->place != y->place   ? (x->place < y->place ? -1 : 1)
                                    : 0;
}

static okra_int code(const okra_int *codes, const okra_int *index, okra_int i)
{
    return codes[index ? index[i] : i];
}

/* Units in ascending order of their key: groups by code, single pairs by position. */
static okra_status make_units(const okra_keys_ *keys, const okra_int *index, okra_int n,
                              unit **out, okra_int *count)
{
    OWNED unit *units = NULL;
    MAKE(units, n);
    for (okra_int i = 0; i < n; i++) {
        units[i] = (unit){.key = keys->groups ? code(keys->groups, index, i) : i,
                          .size = 1,
                          .stratum = keys->strata ? code(keys->strata, index, i) : 0};
    }
    qsort(units, (size_t)n, sizeof *units, by_key);
    okra_int kept = 0;
    for (okra_int i = 0; i < n; i++) {
        if (kept > 0 && units[kept - 1].key == units[i].key) {
            REFUSE_IF(units[kept - 1].stratum != units[i].stratum, OKRA_EARG,
                      "a group holds pairs of two strata: folds cannot be grouped and "
                      "stratified by these labels");
            units[kept - 1].size++;
        } else {
            units[kept++] = units[i];
        }
    }
    *out = units;
    *count = kept;
    units = NULL;
    return OKRA_OK;
}

/* Deals the units to the parts; of_key[key's position] gets the part. */
static void deal(unit *units, okra_int count, okra_int parts, okra_int *load)
{
    okra_int next = 0;
    for (okra_int p = 0; p < parts; p++) {
        load[p] = 0;
    }
    for (okra_int u = 0; u < count; u++) {
        okra_int best = next; /* the first in turn among those with the fewest pairs */
        for (okra_int k = 1; k < parts; k++) {
            okra_int p = (next + k) % parts;
            best = load[p] < load[best] ? p : best;
        }
        load[best] += units[u].size;
        units[u].place = best;
        next = (best + 1) % parts;
    }
}

static okra_status draw(const okra_keys_ *keys, const okra_int *index, okra_int n,
                        okra_int parts, okra_random_ *random, okra_int *part)
{
    OWNED unit *units = NULL;
    OWNED okra_int *order = NULL, *load = NULL;
    okra_int count = 0;
    CHK(make_units(keys, index, n, &units, &count));
    REFUSE_IF(count < parts, OKRA_EARG, "%lld folds are asked of %lld %s",
              (long long)parts, (long long)count, keys->groups ? "groups" : "pairs");
    MAKE(order, count);
    MAKE(load, parts);
    okra_iota_(count, order);
    okra_random_shuffle_(random, count, order);
    for (okra_int i = 0; i < count; i++) {
        units[order[i]].place = i;
    }
    qsort(units, (size_t)count, sizeof *units, by_stratum);
    deal(units, count, parts, load);
    qsort(units, (size_t)count, sizeof *units, by_key);
    for (okra_int i = 0; i < n; i++) {
        unit key = {.key = keys->groups ? code(keys->groups, index, i) : i};
        const unit *found = bsearch(&key, units, (size_t)count, sizeof *units, by_key);
        part[i] = found->place;
    }
    return OKRA_OK;
}

/* Folds as given: codes that occur, in ascending order. */
static okra_status given(const okra_int *codes, const okra_int *index, okra_int n,
                         okra_folds_ *f)
{
    OWNED okra_int *number = NULL;
    okra_int most = -1;
    for (okra_int i = 0; i < n; i++) {
        most = OKRA_MAX_(most, code(codes, index, i));
    }
    ZMAKE(number, most + 1);
    for (okra_int i = 0; i < n; i++) {
        number[code(codes, index, i)] = 1;
    }
    for (okra_int c = 0; c <= most; c++) {
        number[c] = number[c] ? f->parts++ : -1;
    }
    for (okra_int i = 0; i < n; i++) {
        f->part[i] = number[code(codes, index, i)];
    }
    REFUSE_IF(f->parts < 2, OKRA_EARG, "the folds given are %lld, expected two or more",
              (long long)f->parts);
    return OKRA_OK;
}

okra_status okra_folds_create_(const okra_keys_ *keys, const okra_int *index, okra_int n,
                               okra_int parts, okra_int repeats, uint64_t seed,
                               okra_folds_ *out)
{
    okra_folds_ f = {.n = n, .parts = parts, .repeats = repeats};
    OWNS(&f.part);
    REFUSE_IF(n < 2, OKRA_EARG, "there %s %lld training pair%s, expected two or more",
              n == 1 ? "is" : "are", (long long)n, n == 1 ? "" : "s");
    if (parts == n && !keys->folds && !keys->groups) { /* leave-one-out */
        f.repeats = 1;
    } else {
        MAKE(f.part, repeats * n);
        if (keys->folds) {
            f.parts = 0;
            f.repeats = 1;
            CHK(given(keys->folds, index, n, &f));
        }
        for (okra_int r = 0; !keys->folds && r < repeats; r++) {
            okra_random_ random = okra_random_create_(seed, (uint64_t)r);
            CHK(draw(keys, index, n, parts, &random, f.part + r * n));
        }
    }
    *out = TAKE(f);
    return OKRA_OK;
}

void okra_folds_free_(okra_folds_ *folds)
{
    okra_free_(folds->part);
    folds->part = NULL;
}

okra_int okra_folds_count_(const okra_folds_ *folds)
{
    return folds->parts * folds->repeats;
}

void okra_folds_get_(const okra_folds_ *folds, okra_int fold, okra_int *train,
                     okra_int *trained, okra_int *test, okra_int *tested)
{
    const okra_int *part =
        folds->part ? folds->part + fold / folds->parts * folds->n : NULL;
    okra_int wanted = fold % folds->parts;
    *trained = *tested = 0;
    for (okra_int i = 0; i < folds->n; i++) {
        bool in = (part ? part[i] : i) == wanted;
        if (in != folds->train_on_one) {
            test[(*tested)++] = i;
        } else {
            train[(*trained)++] = i;
        }
    }
}
