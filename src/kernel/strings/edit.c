/*
 * edit.c: exp(-d(s,t)/sigma), d the edit distance (Levenshtein 1966): the fewest
 * insertions, deletions and replacements that turn s into t.
 *
 * Not positive semidefinite in general: the training set is looked at when the kernel is
 * bound, and a warning says how negative the spectrum is (string_kernels.h). A small
 * sigma makes it so: the Gram matrix tends to the identity.
 *
 * Method: the bit-parallel table of Myers (1999) in the form of Hyyroe (2003). A column
 * of the table is kept as differences between neighbours, +1 in P and -1 in M, 64 rows a
 * word; one column costs a few word operations. Cost: |t| ceil(|s|/64) steps a pair. d is
 * exact, the value has the error of exp.
 */
#include "kernel/strings/string_kernels.h"

enum { WORD = 64 };

typedef struct alphabet {
    int32_t *letters; /* of the training set */
    okra_int count;
} alphabet;

/* Characters by place in the training alphabet; all others are `count`, which no training
 * string has. */
typedef struct side {
    const alphabet *alphabet;
    const okra_int *offsets;
    int32_t *places;
} side;

OKRA_FREES_(unbind, alphabet, it->letters)
OKRA_DROPS_(drop_alphabet, alphabet, unbind)

OKRA_FREES_(free_side, side, it->places)
OKRA_DROPS_(drop_side, side, free_side)

static okra_status make_side(okra_context *ctx, const void *params, const void *shared,
                             const okra_data *data, void **out)
{
    const alphabet *a = shared;
    const int32_t *code = data->groups[0].fields[0].values;
    okra_int total = data->groups[0].offsets[data->n];
    FREED_BY(drop_side) side *s = NULL;
    ZMAKE(s, 1);
    s->alphabet = a;
    s->offsets = data->groups[0].offsets;
    MAKE(s->places, total);
    for (okra_int k = 0; k < total; k++) {
        s->places[k] = (int32_t)okra_letter_(a->letters, a->count, code[k]);
    }
    *out = TAKE(s);
    return OKRA_OK;
}

static okra_status bind_training(okra_context *ctx, const void *params,
                                 const okra_data *train, void **shared)
{
    FREED_BY(drop_alphabet) alphabet *a = NULL;
    ZMAKE(a, 1);
    CHK(okra_alphabet_(train, &a->letters, &a->count));
    CHK(okra_psd_check_(ctx, &okra_edit_, params, a, train));
    *shared = TAKE(a);
    return OKRA_OK;
}

typedef struct column {
    uint64_t P, M;
} column;

/* One column of 64 rows: `equal` marks the rows whose character is the column's; `in` is
 * the difference that comes in from the rows above; returns the one that goes out at bit
 * `last`. */
static int advance(column *c, uint64_t equal, int in, int last)
{
    uint64_t vertical = equal | c->M, negative = in < 0;
    equal |= negative;
    uint64_t horizontal = (((equal & c->P) + c->P) ^ c->P) | equal;
    uint64_t up = c->M | ~(horizontal | c->P), down = c->P & horizontal;
    int out = (int)(up >> last & 1) - (int)(down >> last & 1);
    up = up << 1 | (in > 0);
    down = down << 1 | negative;
    c->P = down | ~(vertical | up);
    c->M = up & vertical;
    return out;
}

/* equal: for each letter, the rows of s that hold it, `words` words. */
static okra_int distance(const uint64_t *equal, okra_int words, okra_int m,
                         const int32_t *t, okra_int n, column *columns)
{
    okra_int d = m;
    int last = (int)((m + WORD - 1) % WORD);
    for (okra_int w = 0; w < words; w++) {
        columns[w] = (column){~UINT64_C(0), 0};
    }
    for (okra_int j = 0; j < n; j++) {
        const uint64_t *rows = equal + t[j] * words;
        int carry = 1;
        for (okra_int w = 0; w < words; w++) {
            carry =
                advance(&columns[w], rows[w], carry, w == words - 1 ? last : WORD - 1);
        }
        d += carry;
    }
    return m == 0 ? n : d;
}

static okra_int words_of(const side *a, okra_int i)
{
    return (a->offsets[i + 1] - a->offsets[i] + WORD - 1) / WORD;
}

static okra_status block(okra_context *ctx, const void *params, const void *pa,
                         okra_int i0, okra_int ni, const void *pb, okra_int j0,
                         okra_int nj, double *out, okra_int ld)
{
    const side *a = pa, *b = pb;
    double sigma = ((const okra_edit_params_ *)params)->sigma;
    okra_int letters = a->alphabet->count + 1, most = 0;
    OWNED uint64_t *equal = NULL;
    OWNED column *columns = NULL;
    for (okra_int r = 0; r < ni; r++) {
        most = OKRA_MAX_(most, words_of(a, i0 + r));
    }
    CHK(okra_budget_ask_(ctx, (double)letters * (double)most * sizeof *equal,
                         "edit distances of %lld characters and an alphabet of %lld",
                         (long long)most * WORD, (long long)letters));
    ZMAKE(equal, letters * most);
    MAKE(columns, most);
    for (okra_int r = 0; r < ni; r++) {
        const int32_t *s = a->places + a->offsets[i0 + r];
        okra_int m = a->offsets[i0 + r + 1] - a->offsets[i0 + r],
                 words = words_of(a, i0 + r);
        for (okra_int k = 0; k < m; k++) {
            equal[s[k] * words + k / WORD] |= UINT64_C(1) << (k % WORD);
        }
        for (okra_int c = 0; c < nj; c++) {
            const int32_t *t = b->places + b->offsets[j0 + c];
            okra_int n = b->offsets[j0 + c + 1] - b->offsets[j0 + c];
            out[r * ld + c] =
                exp(-(double)distance(equal, words, m, t, n, columns) / sigma);
        }
        for (okra_int k = 0; k < m; k++) {
            equal[s[k] * words + k / WORD] = 0;
        }
    }
    return OKRA_OK;
}

static const okra_option rows[] = {
    {"sigma", OKRA_OPTION_NUMBER, offsetof(okra_edit_params_, sigma), "1", DBL_MIN,
     DBL_MAX, NULL, "V", "edits that lower the value by a factor e"},
    {.name = NULL}};

const okra_kernel_class_ okra_edit_ = {
    .name = "edit",
    .help = "strings: exp(-d/sigma), d the edit distance; may not be semidefinite",
    .params = {"edit", rows, sizeof(okra_edit_params_)},
    .kinds = 1u << OKRA_STRINGS,
    .bind = bind_training,
    .unbind = unbind,
    .side = make_side,
    .free_side = free_side,
    .block = block};
