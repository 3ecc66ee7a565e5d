/*
 * transcribe.c: strings written letter by letter, each letter of the input by what stands
 * around it: spelling to sounds, one alphabet to another, a label for every letter.
 *
 * 1. Every training pair is aligned: each letter of x becomes a segment of 0 to 3
 * letters of y, in order. P(segment | letter) is estimated by expectation maximisation;
 * where all pairs have equal lengths, each letter becomes one letter.
 * 2. Ridge regression of segments on contexts, one for every letter c:
 *        C_c = (K_c + lambda I)^-1 Y_c,   Y_c[q][s] = [training letter q became s],
 *        k(p, q) = e(before p, before q) e(behind p, behind q) / e(all equal)^2,
 *        e(a, b) = 1 + sum_k decay^k prod_{j<=k} (a_j = b_j ? 1 : share)
 *    over the WINDOW letters on a side; beyond a word stands an end.
 * 3. The result joins the segments whose sum of scores k(p, .)'C is largest. A list of
 * the K best strings so far, letter after letter, holds the K best: it is exact. share
 * and lambda have the fewest errors of left-out letters, in closed form, on at most TRIED
 * training letters of every kind.
 * Outputs of signs that blanks part (t ʃ iː) have a letter for each sign in all of this.
 *
 * A training pair with the weight 0 whose input is that of the test point was left out,
 * where another pair has a weight: the scores are then those of a fit without it, by
 *     y_S - (M_SS)^-1 (M Y)_S,   M = (K_c + lambda I)^-1, S the letters c of that pair.
 * The other weights serve the distances alone. Cost: sum_c n_c^3 / 3 once, n_c a letter.
 */
#include "decode/strings/segments.h"
#include "kernel/strings/string_kernels.h"
#include "linalg/linalg.h"

enum { WINDOW = 6, TRIED = 200, BEAM = 8, SIGNS = 0x110000 /* beyond all letters */ };

typedef struct transcribe_options {
    okra_int input, letters;
} transcribe_options;

static const okra_option option_rows[] = {
    {"from", OKRA_OPTION_INT, offsetof(transcribe_options, input), "0", 0, 1e6, NULL, "N",
     "which input is transcribed, from 1; 0: the first of strings"},
    {"letters", OKRA_OPTION_INT, offsetof(transcribe_options, letters), "2000", 1, 1e5,
     NULL, "N", "training letters of each kind at most, spread over the pairs"},
    {0},
};

/* The training letters of one kind. */
typedef struct group {
    okra_int n, classes, of; /* n of `of` letters are used */
    int32_t (*context)[2 * WINDOW];
    okra_int *pair;
    int32_t *class;
    const okra_segment_ **segments; /* classes */
    double *factor, *C;             /* n x n; n x classes */
} group;

typedef struct shape {
    double share, lambda;
} shape;

typedef struct state {
    okra_results_ results;
    const okra_data *inputs;
    okra_data *joined; /* outputs of signs that blanks part, a letter for each; or NULL */
    okra_word_ *signs; /* those of several characters: SIGNS + k stands for the k-th */
    okra_int sign_count, sign_room, widest; /* characters of a letter, and a blank */
    okra_segments_ aligned;
    group *groups;     /* one a letter of `aligned` */
    int32_t *alphabet; /* of the outputs */
    okra_int alphabet_count;
    okra_int most; /* training letters of a group */
    shape shape;
} state;

static void clear(void *arg)
{
    state *s = arg;
    for (okra_int g = 0; s->groups && g < s->aligned.letter_count; g++) {
        group *o = &s->groups[g];
        FREE(o->context, o->pair, o->class, o->segments, o->factor, o->C);
    }
    FREE(s->groups, s->alphabet, s->signs);
    okra_segments_clear_(&s->aligned);
    okra_data_free(s->joined);
    okra_results_clear_(&s->results);
}

/* ---- signs that blanks part ---- */

double okra_spaced_(const okra_data *x, const okra_data *y)
{
    enum { WIDEST = 4 /* characters of a sign */, PHRASES = 20 /* inputs for each */ };
    okra_int blanks[2] = {0, 0}, all = 0;
    for (okra_int k = 0; k < 2 * y->n; k++) {
        okra_word_ w = okra_word_of_(k % 2 ? y : x, k / 2);
        for (okra_int i = 0; i < w.length; i++) {
            blanks[k % 2] += w.code[i] == ' ';
        }
        all += k % 2 ? w.length + 1 : 0;
    }
    double each = (double)all / (double)(blanks[1] + y->n);
    bool parted = blanks[1] >= y->n && blanks[0] * PHRASES <= blanks[1];
    return parted && each <= WIDEST ? each : 1;
}

/* The letter that stands for a sign. */
static okra_status letter_for(state *s, okra_word_ sign, int32_t *out)
{
    okra_int k = 0;
    while (k < s->sign_count && (s->signs[k].length != sign.length ||
                                 memcmp(s->signs[k].code, sign.code,
                                        (size_t)sign.length * sizeof *out) != 0)) {
        k++;
    }
    *out = sign.length == 1 ? *sign.code : SIGNS + (int32_t)k;
    if (sign.length > 1 && k == s->sign_count) {
        EXTEND(s->signs, s->sign_count, s->sign_room, 64);
        s->signs[s->sign_count++] = sign;
        s->widest = OKRA_MAX_(s->widest, sign.length + 1);
    }
    return OKRA_OK;
}

static okra_status join(state *s, const okra_data *y)
{
    FREED_BY(okra_ragged_abandon_) okra_ragged_builder_ b = {0};
    int32_t letter;
    const void *const array[] = {&letter};
    s->widest = 2;
    CHK(okra_characters_begin_(&b));
    for (okra_int p = 0; p < y->n; p++) {
        okra_word_ w = okra_word_of_(y, p);
        for (okra_int i = 0, begin = 0; i <= w.length; i++) {
            bool end = i == w.length || w.code[i] == ' ';
            if (end && i > begin) {
                CHK(letter_for(s, (okra_word_){w.code + begin, i - begin}, &letter));
                CHK(okra_ragged_push_(&b, array));
            }
            begin = end ? i + 1 : begin;
        }
        CHK(okra_ragged_close_(&b));
    }
    return okra_strings_adopt_(&b, NULL, y->source, &s->joined);
}

/* Writes a letter, or the sign that it stands for, behind n codes; how many there are. */
static okra_int write_letter(const state *s, int32_t letter, int32_t *codes, okra_int n)
{
    okra_word_ sign =
        letter < SIGNS ? (okra_word_){&letter, 1} : s->signs[letter - SIGNS];
    codes[n] = ' ';
    n += s->joined && n > 0;
    OKRA_COPY_(codes + n, sign.code, sign.length);
    return n + sign.length;
}

/* ---- letters in context ---- */

static void look_around(okra_word_ x, okra_int i, int32_t *out)
{
    for (okra_int k = 1; k <= WINDOW; k++) {
        out[k - 1] = i - k >= 0 ? x.code[i - k] : OKRA_NO_LETTER_;
        out[WINDOW + k - 1] = i + k < x.length ? x.code[i + k] : OKRA_NO_LETTER_;
    }
}

static double alike(const int32_t *a, const int32_t *b, double share)
{
    static const double decay[WINDOW] = {0.6, 0.36, 0.216, 0.1296, 0.07776, 0.046656};
    double product = 1, whole = 1;
    for (int side = 0; side < 2; side++) {
        double sum = 1, all = 1, so_far = 1;
        for (int k = 0; k < WINDOW; k++) {
            so_far *= a[side * WINDOW + k] == b[side * WINDOW + k] ? 1 : share;
            sum += decay[k] * so_far;
            all += decay[k];
        }
        product *= sum;
        whole *= all;
    }
    return product / whole;
}

/* The n used of the letters of each group, with their contexts and segments. */
static okra_status gather(okra_context *ctx, state *s)
{
    OWNED okra_int *met = NULL;
    okra_int left_out = 0;
    ZMAKE(met, s->aligned.letter_count + 1);
    for (int pass = 0; pass < 2; pass++) {
        for (okra_int p = 0; p < s->aligned.x->n; p++) {
            okra_word_ x = okra_word_of_(s->aligned.x, p);
            for (okra_int i = 0; i < x.length; i++) {
                const okra_segment_ *b = s->aligned.became[s->aligned.offsets[p] + i];
                okra_int g =
                    okra_letter_(s->aligned.letters, s->aligned.letter_count, x.code[i]);
                group *o = &s->groups[g];
                if (b && pass == 0) {
                    o->of++;
                } else if (b) {
                    /* spread evenly: one whenever the share of those used steps on */
                    okra_int k = met[g] * o->n / o->of;
                    bool used = met[g] == 0 || (met[g] - 1) * o->n / o->of < k;
                    met[g]++;
                    if (used) {
                        look_around(x, i, o->context[k]);
                        o->pair[k] = p;
                        okra_int c = 0;
                        while (c < o->classes && o->segments[c] != b) {
                            c++;
                        }
                        o->segments[c] = b;
                        o->classes += c == o->classes;
                        o->class[k] = (int32_t)c;
                    }
                }
            }
        }
        for (okra_int g = 0; pass == 0 && g < s->aligned.letter_count; g++) {
            group *o = &s->groups[g];
            o->n = OKRA_MIN_(o->of, s->most);
            left_out += o->of - o->n;
            MAKE(o->context, o->n + 1);
            MAKE(o->pair, o->n + 1);
            MAKE(o->class, o->n + 1);
            MAKE(o->segments, o->n + 1);
        }
    }
    if (left_out > 0) {
        okra_warn_(
            ctx,
            "decoder transcribe: %lld training letters are not used, where one kind "
            "has more than %lld; --letters takes more, in time and memory",
            (long long)left_out, (long long)s->most);
    }
    return OKRA_OK;
}

/* The factor of K + lambda I of every step-th letter, and C where it is wanted. */
static okra_status solve(okra_context *ctx, const group *o, okra_int step, shape how,
                         double *L, double *C)
{
    okra_int n = (o->n + step - 1) / step;
    double jitter = 0;
    for (okra_int a = 0; a < n; a++) {
        for (okra_int b = 0; b <= a; b++) {
            double k = alike(o->context[a * step], o->context[b * step], how.share);
            L[a * n + b] = L[b * n + a] = k + (a == b ? how.lambda : 0);
        }
        for (okra_int c = 0; c < o->classes; c++) {
            C[a * o->classes + c] = o->class[a * step] == c;
        }
    }
    CHK(okra_cholesky_quiet_(ctx, okra_mat_of_(L, n, n), &jitter));
    return okra_cholesky_solve_(ctx, okra_mat_of_(L, n, n),
                                okra_mat_of_(C, n, o->classes));
}

typedef struct trial {
    const state *s;
    shape how;
    double *wrong; /* a group each: left-out letters that become something else */
} trial;

/* Left-out scores are y - (M Y)_q / M_qq. */
static okra_status try_groups(void *arg, okra_int begin, okra_int end, int worker)
{
    const trial *t = arg;
    for (okra_int g = begin; g < end; g++) {
        const group *o = &t->s->groups[g];
        okra_int step = (o->n + TRIED - 1) / TRIED, classes = o->classes;
        okra_int n = o->n ? (o->n + step - 1) / step : 0;
        OWNED double *L = NULL, *C = NULL, *M = NULL;
        t->wrong[g] = 0;
        if (n < 2 || classes < 2) {
            continue;
        }
        MAKE(L, n * n);
        ZMAKE(M, n * n);
        MAKE(C, n * classes);
        CHK(solve(NULL, o, step, t->how, L, C));
        for (okra_int q = 0; q < n; q++) {
            M[q * n + q] = 1;
        }
        CHK(okra_cholesky_solve_(NULL, okra_mat_of_(L, n, n), okra_mat_of_(M, n, n)));
        for (okra_int q = 0; q < n; q++) {
            double right = 0, other = -(double)INFINITY;
            for (okra_int c = 0; c < classes; c++) {
                bool own = o->class[q * step] == c;
                double score = own - C[q * classes + c] / M[q * n + q];
                right = own ? score : right;
                other = own ? other : fmax(other, score);
            }
            double gap = right - other;
            /* an error counts 1; what is nearly one breaks ties */
            t->wrong[g] +=
                ((gap <= 0) + 1e-3 * exp(-4 * gap)) * (double)o->of / (double)n;
        }
    }
    return OKRA_OK;
}

static okra_status choose_shape(okra_context *ctx, state *s)
{
    static const shape tried[] = {{0.5, 0.03}, {0.3, 0.03}, {0.7, 0.03},
                                  {0, 0.01},   {0, 0.1},    {0, 0.3}};
    OWNED double *wrong = NULL;
    double least = INFINITY;
    MAKE(wrong, s->aligned.letter_count + 1);
    for (size_t k = 0; k < sizeof tried / sizeof *tried; k++) {
        trial t = {s, tried[k], wrong};
        t.how.share = t.how.share > 0 ? t.how.share : s->shape.share;
        CHK(okra_parallel_(ctx, s->aligned.letter_count, 1, NULL, try_groups, &t));
        double sum = okra_total_(s->aligned.letter_count, wrong);
        if (sum < least) {
            least = sum;
            s->shape = t.how;
        }
    }
    return OKRA_OK;
}

static okra_status learn(okra_context *ctx, state *s)
{
    CHK(gather(ctx, s));
    CHK(choose_shape(ctx, s));
    for (okra_int g = 0; g < s->aligned.letter_count; g++) {
        group *o = &s->groups[g];
        if (o->n > 0) {
            CHK(okra_doubles_(ctx, o->n, o->n, "the contexts of a letter", &o->factor));
            CHK(okra_doubles_(ctx, o->n, o->classes, "the segments of a letter", &o->C));
            CHK(solve(ctx, o, 1, s->shape, o->factor, o->C));
        }
        okra_progress_(ctx, "letters in context", g + 1, s->aligned.letter_count);
    }
    return OKRA_OK;
}

/* ---- a test point ---- */

/* Is training pair p one whose input is x, without weight in this prediction? */
static bool is_left_out(const state *s, const double *w, okra_word_ x, okra_int p)
{
    okra_word_ own = okra_word_of_(s->aligned.x, p);
    return w[p] == 0 && own.length == x.length &&
           memcmp(own.code, x.code, (size_t)x.length * sizeof *x.code) == 0;
}

/* What the letters S of left-out pairs add to the scores at a context: with kappa its
 * kernel values, f_-S = kappa'C - (kappa'M)_S (M_SS)^-1 C_S. */
static okra_status leave_out(const group *o, const okra_int *S, okra_int count,
                             const double *kappa, double *scores)
{
    OWNED double *columns = NULL, *A = NULL, *B = NULL;
    okra_mat_ L = okra_mat_of_(o->factor, o->n, o->n);
    double jitter = 0;
    ZMAKE(columns, count * o->n);
    MAKE(A, count * count);
    MAKE(B, count * o->classes);
    for (okra_int a = 0; a < count; a++) {
        columns[a * o->n + S[a]] = 1;
        memcpy(B + a * o->classes, o->C + S[a] * o->classes,
               (size_t)o->classes * sizeof *B);
    }
    CHK(okra_cholesky_solve_rows_(NULL, L, okra_mat_of_(columns, count, o->n)));
    for (okra_int a = 0; a < count; a++) {
        for (okra_int b = 0; b < count; b++) {
            A[a * count + b] = columns[a * o->n + S[b]];
        }
    }
    CHK(okra_cholesky_quiet_(NULL, okra_mat_of_(A, count, count), &jitter));
    CHK(okra_cholesky_solve_(NULL, okra_mat_of_(A, count, count),
                             okra_mat_of_(B, count, o->classes)));
    for (okra_int a = 0; a < count; a++) {
        double share = okra_dot_(o->n, kappa, columns + a * o->n);
        okra_axpy_(o->classes, -share, B + a * o->classes, scores);
    }
    return OKRA_OK;
}

/* Scores of what letter i of x becomes, one a class. */
static okra_status score_letter(const state *s, const group *o, const bool *without,
                                okra_word_ x, okra_int i, double *scores)
{
    OWNED double *kappa = NULL;
    OWNED okra_int *S = NULL;
    int32_t around[2 * WINDOW];
    okra_int count = 0;
    look_around(x, i, around);
    MAKE(kappa, o->n);
    MAKE(S, o->n);
    okra_fill_(o->classes, 0, scores);
    for (okra_int q = 0; q < o->n; q++) {
        kappa[q] = alike(around, o->context[q], s->shape.share);
        okra_axpy_(o->classes, kappa[q], o->C + q * o->classes, scores);
        if (without && without[o->pair[q]]) {
            S[count++] = q;
        }
    }
    return count > 0 ? leave_out(o, S, count, kappa, scores) : OKRA_OK;
}

/* Every string of `list` goes on with the segment, into `next`. */
static okra_status extend(const state *s, const okra_shortlist_ *list,
                          const int32_t *segment, okra_int length, double score,
                          int32_t *codes, okra_shortlist_ *next)
{
    for (okra_int k = 0; k < list->count; k++) {
        const okra_item_ *it = &list->items[k];
        OKRA_COPY_(codes, it->codes, it->length);
        okra_int n = it->length;
        for (okra_int j = 0; j < length; j++) {
            n = write_letter(s, segment[j], codes, n);
        }
        CHK(okra_shortlist_put_(next, codes, n, (okra_key_){it->rank.key.high - score, 0},
                                0));
    }
    return OKRA_OK;
}

typedef struct work {
    state *s;
    const okra_block_ *block;
} work;

static okra_status write_row(const work *k, okra_int r, okra_shortlist_ *list,
                             okra_shortlist_ *next)
{
    state *s = k->s;
    okra_word_ x = okra_word_of_(s->inputs, k->block->first + r);
    const double *w = k->block->W.p + r * k->block->W.ld;
    OWNED bool *without = NULL;
    OWNED int32_t *codes = NULL;
    bool some = false, weighed = false;
    MAKE(without, s->aligned.x->n);
    MAKE(codes, (x.length + 1) * OKRA_SEGMENT_MOST_ * OKRA_MAX_(1, s->widest));
    for (okra_int p = 0; p < s->aligned.x->n; p++) {
        without[p] = is_left_out(s, w, x, p);
        some = some || without[p];
        weighed = weighed || w[p] != 0;
    }
    okra_shortlist_empty_(list);
    CHK(okra_shortlist_put_(list, codes, 0, (okra_key_){0, 0}, 0));
    for (okra_int i = 0; i < x.length; i++) {
        okra_int g = okra_letter_(s->aligned.letters, s->aligned.letter_count, x.code[i]);
        const group *o = g < s->aligned.letter_count ? &s->groups[g] : NULL;
        okra_shortlist_empty_(next);
        if (o && o->n > 0) {
            OWNED double *scores = NULL;
            MAKE(scores, o->classes);
            CHK(score_letter(s, o, some && weighed ? without : NULL, x, i, scores));
            for (okra_int c = 0; c < o->classes; c++) {
                CHK(extend(s, list, o->segments[c]->codes, o->segments[c]->length,
                           scores[c], codes, next));
            }
        } else { /* a new letter stays where outputs have it, and else goes */
            bool known = okra_letter_(s->alphabet, s->alphabet_count, x.code[i]) <
                         s->alphabet_count;
            CHK(extend(s, list, x.code + i, known || s->aligned.equal, 0, codes, next));
        }
        OKRA_SWAP_(*list, *next);
    }
    list->count = OKRA_MIN_(list->count, s->results.top);
    return okra_results_list_(&s->results, k->block->first + r, list);
}

static okra_status write_rows(void *arg, okra_int begin, okra_int end, int worker)
{
    const work *k = arg;
    FREED_BY(okra_shortlist_clear_) okra_shortlist_ list = {0};
    FREED_BY(okra_shortlist_clear_) okra_shortlist_ next = {0};
    okra_int most = OKRA_MAX_(k->s->results.top, BEAM);
    CHK(okra_shortlist_open_(most, false, &list));
    CHK(okra_shortlist_open_(most, false, &next));
    for (okra_int r = begin; r < end; r++) {
        CHK(write_row(k, r, &list, &next));
    }
    return OKRA_OK;
}

static okra_status block_in(okra_context *ctx, void *arg, const okra_block_ *block)
{
    work k = {arg, block};
    CHK(okra_block_weights_(block, "decoder transcribe"));
    CHK(okra_parallel_(ctx, block->m, 8, "decode", write_rows, &k));
    return okra_results_measure_(ctx, &k.s->results, block);
}

/* ---- the decoder ---- */

static const okra_data *strings_of(const okra_data *x, okra_int which)
{
    okra_int parts = x->kind == OKRA_TUPLE ? x->component_count : 1;
    for (okra_int p = 0; p < parts; p++) {
        const okra_data *part = x->kind == OKRA_TUPLE ? x->components[p] : x;
        if ((which == 0 || which == p + 1) && part->kind == OKRA_STRINGS) {
            return part;
        }
    }
    return NULL;
}

static okra_status open(okra_context *ctx, void *arg, const okra_output_ *output,
                        const void *options, const okra_decode_request_ *request)
{
    state *s = arg;
    const transcribe_options *o = options;
    CHK(okra_results_open_(ctx, "transcribe", (double)OKRA_MAX_(request->top, BEAM),
                           output, request, okra_objects_letters_, output->y,
                           &s->results));
    const okra_data *x = strings_of(output->x, o->input);
    s->inputs = strings_of(request->inputs, o->input);
    REFUSE_IF(!x || !s->inputs, OKRA_EUNSUPPORTED,
              "decoder transcribe needs an input of strings; %s",
              o->input ? "the one that --from names is none" : "there is none");
    s->most = o->letters;
    CHK(okra_spaced_(x, output->y) > 1 ? join(s, output->y) : OKRA_OK);
    const okra_data *y = s->joined ? s->joined : output->y;
    CHK(okra_alphabet_(y, &s->alphabet, &s->alphabet_count));
    CHK(okra_segments_align_(ctx, x, y, &s->aligned));
    ZMAKE(s->groups, s->aligned.letter_count);
    return learn(ctx, s);
}

const okra_decoder_ okra_decoder_transcribe_ = {
    .name = "transcribe",
    .automatic = "spectrum(k=1) + spectrum(k=2) | normalize",
    .suits = OKRA_SUITS_TRANSCRIBED_,
    .makes_up = true,
    .weights = true,
    .inputs = true,
    .kinds = 1u << OKRA_STRINGS,
    .needs = "strings",
    .help = "strings written letter by letter, each by what stands around it",
    .options = {"decoder transcribe", option_rows, sizeof(transcribe_options)},
    .state = sizeof(state),
    .open = open,
    .block = block_in,
    .finish = okra_results_give_,
    .clear = clear,
};
