/*
 * segments.c: the alignment of letters with segments, by expectation maximisation: counts
 * by the forward and backward sums of every pair, within a band about the diagonal.
 */
#include "decode/strings/segments.h"
#include "kernel/strings/string_kernels.h"
#include "linalg/linalg.h"

enum { BAND = 4, ROUNDS = 8 };

static okra_segment_ make_key(int32_t letter, const int32_t *y, okra_int length)
{
    okra_segment_ b = {letter,
                       (int32_t)length,
                       {OKRA_NO_LETTER_, OKRA_NO_LETTER_, OKRA_NO_LETTER_},
                       0,
                       0};
    for (okra_int k = 0; k < length; k++) {
        b.codes[k] = y[k];
    }
    return b;
}

static uint64_t hash_of(const okra_segment_ *key)
{
    const int32_t parts[] = {key->letter, key->codes[0], key->codes[1], key->codes[2]};
    uint64_t h = OKRA_MIX_START_;
    for (int k = 0; k < 4; k++) {
        h = (h ^ (uint32_t)parts[k]) * UINT64_C(0x100000001b3);
    }
    return h;
}

/* The segment of that letter and these codes, or NULL. */
static okra_segment_ *find(const okra_segments_ *s, const okra_segment_ *key)
{
    uint64_t hash = hash_of(key);
    for (okra_int at = 0, k; (k = okra_hashed_next_(&s->places, hash, &at)) >= 0;) {
        okra_segment_ *b = &s->segments[k];
        if (b->letter == key->letter &&
            memcmp(b->codes, key->codes, sizeof b->codes) == 0) {
            return b;
        }
    }
    return NULL;
}

/* May letter i of x begin its segment at letter j of y? */
static bool near(okra_word_ x, okra_word_ y, okra_int i, okra_int j)
{
    double ideal = (double)i * (double)y.length / (double)x.length;
    return fabs((double)j - ideal) <= BAND;
}

/* Every segment that some letter may become, at first by its length alone. */
static okra_status list_segments(okra_segments_ *s)
{
    for (okra_int p = 0; p < s->x->n; p++) {
        okra_word_ x = okra_word_of_(s->x, p), y = okra_word_of_(s->y, p);
        for (okra_int i = 0; i < x.length; i++) {
            for (okra_int j = 0; j <= y.length; j++) {
                okra_int most =
                    near(x, y, i, j) ? OKRA_MIN_(OKRA_SEGMENT_MOST_, y.length - j) : -1;
                for (okra_int l = s->equal; l <= (s->equal ? 1 : most); l++) {
                    okra_segment_ key =
                        make_key(x.code[i], y.code + j, OKRA_MIN_(l, most));
                    if (s->equal && (i != j || most < 1)) {
                        continue;
                    }
                    if (!find(s, &key)) {
                        key.share = l == 1 ? 1 : l == 0 ? 0.5 : pow(0.5, (double)l - 1);
                        CHK(okra_hashed_put_(&s->places, hash_of(&key), s->count));
                        EXTEND(s->segments, s->count, s->room, 1024);
                        s->segments[s->count++] = key;
                    }
                }
            }
        }
    }
    return OKRA_OK;
}

/* Scratch of a pair: tables of (length of x + 1) x (length of y + 1). */
typedef struct lattice {
    double *forward, *backward;
    okra_int room;
} lattice;

OKRA_CLEARS_(lattice_clear, lattice, it->forward, it->backward)

static okra_segment_ *step(const okra_segments_ *s, okra_word_ x, okra_word_ y,
                           okra_int i, okra_int j, okra_int l)
{
    if (j + l > y.length || !near(x, y, i, j) || (s->equal && (i != j || l != 1))) {
        return NULL;
    }
    okra_segment_ key = make_key(x.code[i], y.code + j, l), *b = find(s, &key);
    return b && b->share > 0 ? b : NULL;
}

/* forward[i][j]: P of the first i and j letters, each row with the sum 1 (the path alone:
 * of the best way, in logs). False: there is no way. */
static bool go_forward(const okra_segments_ *s, okra_word_ x, okra_word_ y, bool best,
                       double *F)
{
    okra_int width = y.length + 1;
    okra_fill_((x.length + 1) * width, best ? -(double)INFINITY : 0, F);
    F[0] = best ? 0 : 1;
    for (okra_int i = 0; i < x.length; i++) {
        double *to = F + (i + 1) * width, sum = 0;
        for (okra_int j = 0; j < width; j++) {
            double from = F[i * width + j];
            for (okra_int l = 0;
                 l <= OKRA_SEGMENT_MOST_ && (best ? from > -(double)INFINITY : from > 0);
                 l++) {
                const okra_segment_ *b = step(s, x, y, i, j, l);
                if (b && best) {
                    to[j + l] = fmax(to[j + l], from + log(b->share));
                } else if (b) {
                    to[j + l] += from * b->share;
                }
            }
        }
        for (okra_int j = 0; j < width && !best; j++) {
            sum += to[j];
        }
        for (okra_int j = 0; j < width && sum > 0; j++) {
            to[j] /= sum;
        }
    }
    double end = F[x.length * width + y.length];
    return best ? end > -(double)INFINITY : end > 0;
}

/* The expected counts of a pair. */
static void count_pair(const okra_segments_ *s, okra_word_ x, okra_word_ y,
                       const double *F, double *B)
{
    okra_int width = y.length + 1;
    okra_fill_((x.length + 1) * width, 0, B);
    B[x.length * width + y.length] = 1;
    for (okra_int i = x.length; i-- > 0;) {
        double total = 0, sum = 0;
        for (int pass = 0; pass < 2; pass++) {
            for (okra_int j = 0; j < width; j++) {
                for (okra_int l = 0; l <= OKRA_SEGMENT_MOST_; l++) {
                    okra_segment_ *b = step(s, x, y, i, j, l);
                    double on = b ? b->share * B[(i + 1) * width + j + l] : 0;
                    double way = F[i * width + j] * on;
                    if (pass == 0) {
                        B[i * width + j] += on;
                        total += way;
                    } else if (way > 0) {
                        b->seen += way / total;
                    }
                }
            }
        }
        sum += okra_total_(width, B + i * width);
        for (okra_int j = 0; j < width && sum > 0; j++) {
            B[i * width + j] /= sum;
        }
    }
}

/* What the letters of pair p became on the best way. */
static void follow(okra_segments_ *s, okra_int p, okra_word_ x, okra_word_ y,
                   const double *F)
{
    okra_int width = y.length + 1, j = y.length;
    for (okra_int i = x.length; i-- > 0;) {
        const okra_segment_ *taken = NULL;
        double most = -(double)INFINITY;
        for (okra_int l = 0; l <= OKRA_MIN_(OKRA_SEGMENT_MOST_, j); l++) {
            const okra_segment_ *b = step(s, x, y, i, j - l, l);
            double value = b ? F[i * width + j - l] + log(b->share) : most;
            if (value > most) {
                most = value;
                taken = b;
            }
        }
        s->became[s->offsets[p] + i] = taken;
        j -= taken->length;
    }
}

/* P(segment | letter) from expected counts. `sums`: by letter, of the groups. */
static void normalise(const okra_segments_ *s, double *sums)
{
    for (int pass = 0; pass < 2; pass++) {
        for (okra_int k = 0; k < s->count; k++) {
            okra_segment_ *b = &s->segments[k];
            okra_int g = okra_letter_(s->letters, s->letter_count, b->letter);
            if (pass == 0) {
                sums[g] += b->seen;
            } else {
                b->share = sums[g] > 0 ? b->seen / sums[g] : 0;
                b->share = b->share < 1e-9 ? 0 : b->share;
                b->seen = 0;
            }
        }
    }
}

static okra_status align(okra_context *ctx, okra_segments_ *s)
{
    FREED_BY(lattice_clear) lattice a = {0};
    OWNED double *sums = NULL;
    okra_int n = s->x->n, skipped = 0;
    for (okra_int p = 0; p < n; p++) {
        okra_int cells =
            (okra_word_of_(s->x, p).length + 1) * (okra_word_of_(s->y, p).length + 1);
        a.room = OKRA_MAX_(a.room, cells);
    }
    CHK(okra_doubles_(ctx, a.room, 1, "an alignment", &a.forward));
    CHK(okra_doubles_(ctx, a.room, 1, "an alignment", &a.backward));
    MAKE(sums, s->letter_count + 1);
    for (int round = 0; round <= ROUNDS; round++) {
        bool last = round == ROUNDS;
        CHK(okra_cancelled_(ctx));
        for (okra_int p = 0; p < n; p++) {
            okra_word_ x = okra_word_of_(s->x, p), y = okra_word_of_(s->y, p);
            bool way = x.length > 0 && go_forward(s, x, y, last, a.forward);
            if (way && last) {
                follow(s, p, x, y, a.forward);
            } else if (way) {
                count_pair(s, x, y, a.forward, a.backward);
            }
            skipped += last && !way && y.length > 0;
        }
        okra_fill_(s->letter_count, 0, sums);
        if (!last) {
            normalise(s, sums);
        }
    }
    REFUSE_IF(
        skipped == n, OKRA_EARG,
        "decoder transcribe: no output can be written letter by letter: each letter "
        "of an input becomes at most %d",
        OKRA_SEGMENT_MOST_);
    if (skipped > 0) {
        okra_warn_(ctx,
                   "decoder transcribe: %lld of %lld training pairs are not used: "
                   "their outputs cannot be aligned with their inputs",
                   (long long)skipped, (long long)n);
    }
    return OKRA_OK;
}

void okra_segments_clear_(okra_segments_ *s)
{
    FREE(s->letters, s->offsets, s->became, s->segments, s->places.slots);
}

okra_status okra_segments_align_(okra_context *ctx, const okra_data *x,
                                 const okra_data *y, okra_segments_ *s)
{
    okra_int total = 0, n = y->n;
    *s = (okra_segments_){.x = x, .y = y, .equal = true};
    CHK(okra_alphabet_(x, &s->letters, &s->letter_count));
    REFUSE_IF(s->letter_count == 0, OKRA_EARG,
              "decoder transcribe: the training inputs have no letters");
    MAKE(s->offsets, n + 1);
    for (okra_int p = 0; p < n; p++) {
        okra_int length = okra_word_of_(x, p).length;
        s->offsets[p] = total;
        total += length;
        s->equal = s->equal && length == okra_word_of_(y, p).length;
    }
    s->offsets[n] = total;
    ZMAKE(s->became, total + 1);
    CHK(list_segments(s));
    return align(ctx, s);
}
