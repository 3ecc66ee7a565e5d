/*
 * ends.c: strings compared letter by letter from their ends (or from their beginnings).
 *
 *     k(s, t) = prod_(j < reach) (1 - a_j + a_j S(s_j, t_j)),   a_j = share * decay^j
 *
 * s_j is letter j counted from the end, from 0; before its beginning a string has a mark
 * that equals itself alone. S compares letters: 1 where they are equal, else `similar`
 * times (1 + cos)/2 of the contexts of the two letters, so that letters that stand in
 * similar places (vowels, say) count as similar, whatever the language. The context of a
 * letter is F = sqrt(P(neighbours | letter)) - sqrt(P(neighbours)), neighbours on its
 * left and on its right in the training strings, ends of strings among them; every letter
 * has SEEN further neighbours of the overall shares, which steadies rare ones. A letter
 * that no training string has is like a context at right angles to all: cos = 0.
 *
 * S is a sum of kernels and each factor one, so that k is positive semidefinite, and
 * k(s, s) = 1. As the factors multiply out, all sets of places are compared: a longest
 * common ending counts most, and one differing letter costs a factor only.
 * Cost: `reach` products a pair; tables reach (A+2)^2 for an alphabet of A letters.
 * Accuracy: relative error about reach eps.
 */
#include "data/strings.h"
#include "kernel/strings/string_kernels.h"

enum { REACH_MOST = 64, LETTERS_MOST = 4096 };
static const double SEEN = 5;

typedef struct ends_params {
    okra_int reach;
    double share, decay, similar;
    bool start;
} ends_params;

/* Letters by place; `count` is a letter that is not there, count + 1 the mark. */
typedef struct tables {
    int32_t *letters;
    okra_int count, width; /* width = count + 2 */
    double *factor;        /* reach x width x width */
} tables;

typedef struct side {
    const tables *tables;
    uint16_t *places; /* n x reach */
} side;

OKRA_FREES_(unbind, tables, it->letters, it->factor)
OKRA_DROPS_(drop_tables, tables, unbind)

OKRA_FREES_(free_side, side, it->places)
OKRA_DROPS_(drop_side, side, free_side)

/* ---- contexts of letters ---- */

/* N (A x 2(A+1)): how often letter b stands left (first half) and right of letter a;
 * column A of a half: the end of the string. */
static void count_neighbours(const tables *t, const okra_data *train, double *N)
{
    okra_int A = t->count, half = A + 1, length;
    for (okra_int i = 0; i < train->n; i++) {
        const int32_t *s = okra_characters_(train, i, &length);
        okra_int before = A;
        double u = okra_weight_(train, i);
        for (okra_int j = 0; j < length; j++) {
            okra_int a = okra_letter_(t->letters, A, s[j]);
            N[a * 2 * half + before] += u;
            if (j > 0) {
                N[before * 2 * half + half + a] += u;
            }
            if (j == length - 1) {
                N[a * 2 * half + half + A] += u;
            }
            before = a;
        }
    }
}

/* Rows of N into contexts of length 1, or 0 where a letter has the overall shares. */
static void contexts(okra_int A, double *N, double *shares)
{
    okra_int width = 2 * (A + 1);
    double total = 0;
    for (okra_int f = 0; f < width; f++) {
        shares[f] = 0;
        for (okra_int a = 0; a < A; a++) {
            shares[f] += N[a * width + f];
        }
        total += shares[f];
    }
    for (okra_int a = 0; a < A; a++) {
        double *row = N + a * width, sum = okra_total_(width, row), square = 0;
        for (okra_int f = 0; f < width; f++) {
            double share = shares[f] / total;
            row[f] = sqrt((row[f] + SEEN * share) / (sum + SEEN)) - sqrt(share);
            square += row[f] * row[f];
        }
        for (okra_int f = 0; f < width; f++) {
            row[f] = square > 1e-20 ? row[f] / sqrt(square) : 0;
        }
    }
}

/* S(a, b) of two places, both letters, from the contexts C. */
static double similarity(const tables *t, const double *C, double similar, okra_int a,
                         okra_int b)
{
    okra_int width = 2 * (t->count + 1);
    if (a == b) {
        return a == t->count ? similar / 2 : 1; /* no two unknown letters meet */
    }
    if (a > t->count || b > t->count) {
        return 0; /* the mark and a letter */
    }
    double cosine =
        a < t->count && b < t->count ? okra_dot_(width, C + a * width, C + b * width) : 0;
    return similar * 0.5 * (1 + OKRA_MAX_(-1, OKRA_MIN_(1, cosine)));
}

static okra_status fill(const ends_params *p, const okra_data *train, tables *t)
{
    okra_int A = t->count, width = t->width;
    OWNED double *C = NULL, *shares = NULL;
    ZMAKE(C, A * 2 * (A + 1));
    MAKE(shares, 2 * (A + 1));
    MAKE(t->factor, p->reach * width * width);
    count_neighbours(t, train, C);
    contexts(A, C, shares);
    for (okra_int a = 0; a < width; a++) {
        for (okra_int b = 0; b < width; b++) {
            double S = similarity(t, C, p->similar, a, b), weight = p->share;
            for (okra_int j = 0; j < p->reach; j++) {
                t->factor[(j * width + a) * width + b] = 1 - weight + weight * S;
                weight *= p->decay;
            }
        }
    }
    return OKRA_OK;
}

static okra_status bind_training(okra_context *ctx, const void *params,
                                 const okra_data *train, void **shared)
{
    FREED_BY(drop_tables) tables *t = NULL;
    const ends_params *p = params;
    ZMAKE(t, 1);
    CHK(okra_alphabet_(train, &t->letters, &t->count));
    t->width = t->count + 2;
    REFUSE_IF(t->count > LETTERS_MOST, OKRA_EUNSUPPORTED,
              "kernel ends: %s has %lld different characters, at most %d are compared",
              train->source, (long long)t->count, LETTERS_MOST);
    CHK(okra_budget_ask_(
        ctx, 8.0 * (double)(p->reach + 2) * (double)t->width * (double)t->width,
        "kernel ends: tables of %lld letters", (long long)t->count));
    CHK(fill(p, train, t));
    *shared = TAKE(t);
    return OKRA_OK;
}

/* ---- collections ---- */

static okra_status make_side(okra_context *ctx, const void *params, const void *shared,
                             const okra_data *data, void **out)
{
    const ends_params *p = params;
    const tables *t = shared;
    FREED_BY(drop_side) side *s = NULL;
    okra_int length;
    ZMAKE(s, 1);
    s->tables = t;
    MAKE(s->places, data->n * p->reach);
    for (okra_int i = 0; i < data->n; i++) {
        const int32_t *code = okra_characters_(data, i, &length);
        uint16_t *row = s->places + i * p->reach;
        for (okra_int j = 0; j < p->reach; j++) {
            okra_int at = p->start ? j : length - 1 - j;
            row[j] = (uint16_t)(j < length ? okra_letter_(t->letters, t->count, code[at])
                                           : t->count + 1);
        }
    }
    *out = TAKE(s);
    return OKRA_OK;
}

static okra_status block(okra_context *ctx, const void *params, const void *pa,
                         okra_int i0, okra_int ni, const void *pb, okra_int j0,
                         okra_int nj, double *out, okra_int ld)
{
    const side *a = pa, *b = pb;
    const tables *t = a->tables;
    okra_int reach = ((const ends_params *)params)->reach, width = t->width;
    const double *rows[REACH_MOST];
    for (okra_int r = 0; r < ni; r++) {
        const uint16_t *x = a->places + (i0 + r) * reach;
        for (okra_int j = 0; j < reach; j++) {
            rows[j] = t->factor + (j * width + x[j]) * width;
        }
        for (okra_int c = 0; c < nj; c++) {
            const uint16_t *y = b->places + (j0 + c) * reach;
            double value = 1;
            for (okra_int j = 0; j < reach; j++) {
                value *= rows[j][y[j]];
            }
            out[r * ld + c] = value;
        }
    }
    return OKRA_OK;
}

static const okra_option rows[] = {
    {"reach", OKRA_OPTION_INT, offsetof(ends_params, reach), "12", 1, REACH_MOST, NULL,
     "N", "letters that are compared"},
    {"share", OKRA_OPTION_NUMBER, offsetof(ends_params, share), "0.5", 0, 1, NULL, "V",
     "what a differing last letter costs of the value"},
    {"decay", OKRA_OPTION_NUMBER, offsetof(ends_params, decay), "0.6", 0, 1, NULL, "V",
     "how much less each further letter costs"},
    {"similar", OKRA_OPTION_NUMBER, offsetof(ends_params, similar), "0.5", 0, 1, NULL,
     "V", "how much letters of like contexts count as equal"},
    {"start", OKRA_OPTION_BOOL, offsetof(ends_params, start), "0", 0, 1, NULL, "0|1",
     "compare from the first letters instead"},
    {.name = NULL}};

const okra_kernel_class_ okra_ends_ = {
    .name = "ends",
    .help = "strings: letters compared one by one from the end; learned likeness",
    .params = {"ends", rows, sizeof(ends_params)},
    .kinds = 1u << OKRA_STRINGS,
    .follows = true,
    .bind = bind_training,
    .unbind = unbind,
    .side = make_side,
    .free_side = free_side,
    .block = block};
