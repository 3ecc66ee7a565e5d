/*
 * The decoder transcribe: alignments against all of them, scores against dense solves and
 * against fits without what is left out, the K best against all strings that there are.
 */
#include "language.h"

enum { SHORT = 5, PAIRS = 12, NAIVE = 4096, LETTERS = 400 };

/* ---- alignments, by all of them ---- */

typedef struct naive_segment {
    char letter, text[4];
    double share, seen;
} naive_segment;

typedef struct naive_model {
    naive_segment all[NAIVE];
    int count;
    double total, best; /* of the pair: the sum and the most of the products */
    bool equal;
} naive_model;

static naive_segment *naive_find(naive_model *m, char letter, const char *y, size_t l)
{
    for (int k = 0; k < m->count; k++) {
        naive_segment *s = &m->all[k];
        if (s->letter == letter && strlen(s->text) == l && memcmp(s->text, y, l) == 0) {
            return s;
        }
    }
    naive_segment *s = &m->all[m->count++];
    *s = (naive_segment){.letter = letter, .share = l == 0 ? 0.5 : pow(2, 1 - (double)l)};
    memcpy(s->text, y, l);
    CHECK(m->count < NAIVE);
    return s;
}

/* Every way from letter i of x and j of y on; each adds its product to what it goes
 * through, divided by the total (0: the total is what is wanted). */
static void naive_ways(naive_model *m, const char *x, const char *y, size_t i, size_t j,
                       naive_segment **way, double product, double total)
{
    size_t n = strlen(x), k = strlen(y);
    if (i == n) {
        if (j == k && total > 0) {
            for (size_t q = 0; q < n; q++) {
                way[q]->seen += product / total;
            }
        } else if (j == k) {
            m->total += product;
            m->best = fmax(m->best, product);
        }
        return;
    }
    if (fabs((double)j - (double)(i * k) / (double)n) > 4) {
        return; /* the band */
    }
    for (size_t l = m->equal ? 1 : 0; l <= (m->equal ? 1u : 3u) && j + l <= k; l++) {
        way[i] = naive_find(m, x[i], y + j, l);
        if (way[i]->share > 0) {
            naive_ways(m, x, y, i + 1, j + l, way, product * way[i]->share, total);
        }
    }
}

static void naive_learn(naive_model *m, char x[][16], char y[][16], int n)
{
    naive_segment *way[16];
    m->equal = true;
    for (int p = 0; p < n; p++) {
        m->equal = m->equal && strlen(x[p]) == strlen(y[p]);
    }
    for (int round = 0; round < 8; round++) {
        for (int p = 0; p < n; p++) {
            m->total = 0;
            naive_ways(m, x[p], y[p], 0, 0, way, 1, 0);
            if (m->total > 0 && x[p][0]) {
                naive_ways(m, x[p], y[p], 0, 0, way, 1, m->total);
            }
        }
        for (char c = 'a'; c < 'e'; c++) {
            double sum = 0;
            for (int k = 0; k < m->count; k++) {
                sum += m->all[k].letter == c ? m->all[k].seen : 0;
            }
            for (int k = 0; k < m->count; k++) {
                naive_segment *s = &m->all[k];
                if (s->letter == c) {
                    s->share = sum > 0 && s->seen / sum >= 1e-9 ? s->seen / sum : 0;
                    s->seen = 0;
                }
            }
        }
    }
}

TEST(alignments_are_the_likeliest)
{
    okra_random_ r = okra_random_create_(5, 5);
    naive_model *m = okra_alloc_(1, sizeof *m);
    double worst = 0;
    for (int t = 0; t < SOME(60); t++) {
        char x[PAIRS][16] = {{0}}, y[PAIRS][16] = {{0}};
        const char *xs[PAIRS], *ys[PAIRS];
        int n = 1 + (int)okra_random_below_(&r, PAIRS), kept = 0;
        for (int p = 0; p < n; p++) {
            /* equal lengths; or from 0 letters to too many */
            int a = (int)okra_random_below_(&r, SHORT), b = a;
            b = t % 3 ? (int)okra_random_below_(&r, t % 3 == 1 ? SHORT : 14) : a;
            for (int k = 0; k < a; k++) {
                x[p][k] = (char)('a' + okra_random_below_(&r, 3));
            }
            for (int k = 0; k < b; k++) {
                y[p][k] = (char)('p' + okra_random_below_(&r, 2));
            }
            kept += a > 0 && b <= 3 * a;
            xs[p] = x[p];
            ys[p] = y[p];
        }
        if (kept == 0) {
            continue; /* refused */
        }
        okra_data *dx = words(xs, n), *dy = words(ys, n);
        okra_segments_ s;
        *m = (naive_model){0};
        naive_learn(m, x, y, n);
        CHECK_OK(okra_segments_align_(NULL, dx, dy, &s));
        for (int p = 0; p < n; p++) {
            naive_segment *way[16];
            double product = 1;
            char made[64] = "";
            m->total = m->best = 0;
            naive_ways(m, x[p], y[p], 0, 0, way, 1, 0);
            for (size_t i = 0; i < strlen(x[p]); i++) {
                const okra_segment_ *b = s.became[s.offsets[p] + (okra_int)i];
                CHECK((b != NULL) == (m->total > 0));
                for (int k = 0; b && k < b->length; k++) {
                    made[strlen(made)] = (char)b->codes[k];
                }
                if (b) {
                    naive_segment *same = naive_find(
                        m, x[p][i], made + strlen(made) - b->length, (size_t)b->length);
                    worst = fmax(worst, fabs(b->share - same->share));
                    product *= same->share;
                }
            }
            if (x[p][0] && m->total > 0) {
                CHECK_TEXT(made, y[p]);
                CHECK_NEAR(product, m->best, 1e-12 * m->best);
            }
        }
        okra_segments_clear_(&s);
        okra_data_free(dx);
        okra_data_free(dy);
    }
    CHECK_NEAR(worst, 0, 2e-14); /* 1.8e-15 at worst */
    okra_free_(m);
}

/* ---- scores, by dense solves ---- */

typedef struct seen_letter {
    const char *word;
    int at, pair, class;
} seen_letter;

/* The kernel of contexts, from its definition. */
static double naive_kernel(const char *a, int i, const char *b, int j, double share)
{
    double value = 1, whole = 1;
    for (int side = -1; side <= 1; side += 2) {
        double e = 1, all = 1;
        for (int k = 1; k <= 6; k++) {
            double product = pow(0.6, k);
            all += product;
            for (int l = 1; l <= k; l++) {
                int p = i + side * l, q = j + side * l;
                char c = p >= 0 && p < (int)strlen(a) ? a[p] : '#';
                char d = q >= 0 && q < (int)strlen(b) ? b[q] : '#';
                product *= c == d ? 1 : share;
            }
            e += product;
        }
        value *= e;
        whole *= all;
    }
    return value / whole;
}

/* A c = b by elimination with pivots; A and b are destroyed, b becomes c. */
static void naive_solve(int n, double *A, double *b)
{
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k; i < n; i++) {
            best = fabs(A[i * n + k]) > fabs(A[best * n + k]) ? i : best;
        }
        for (int j = 0; j < n; j++) {
            double t = A[k * n + j];
            A[k * n + j] = A[best * n + j];
            A[best * n + j] = t;
        }
        double t = b[k];
        b[k] = b[best];
        b[best] = t;
        for (int i = k + 1; i < n; i++) {
            double f = A[i * n + k] / A[k * n + k];
            for (int j = k; j < n; j++) {
                A[i * n + j] -= f * A[k * n + j];
            }
            b[i] -= f * b[k];
        }
    }
    for (int k = n; k-- > 0;) {
        for (int j = k + 1; j < n; j++) {
            b[k] -= A[k * n + j] * b[j];
        }
        b[k] /= A[k * n + k];
    }
}

/* The score of a class at letter i of a word, of a fit to the letters that are kept. */
static double naive_score(const seen_letter *all, int n, const bool *out, int class,
                          const char *word, int i, double share, double lambda)
{
    double *A = okra_alloc_(n * n, sizeof *A), *b = okra_alloc_(n, sizeof *b), score = 0;
    int kept[LETTERS], m = 0;
    for (int k = 0; k < n; k++) {
        if (!out || !out[all[k].pair]) {
            kept[m++] = k;
        }
    }
    for (int p = 0; p < m; p++) {
        const seen_letter *u = &all[kept[p]];
        for (int q = 0; q < m; q++) {
            const seen_letter *v = &all[kept[q]];
            A[p * m + q] = naive_kernel(u->word, u->at, v->word, v->at, share) +
                           (p == q ? lambda : 0);
        }
        b[p] = u->class == class;
    }
    naive_solve(m, A, b);
    for (int p = 0; p < m; p++) {
        const seen_letter *u = &all[kept[p]];
        score += b[p] * naive_kernel(word, i, u->word, u->at, share);
    }
    okra_free_(A);
    okra_free_(b);
    return score;
}

/* The letters c of all words that are aligned, with their classes. */
static int letters_of(const language *g, const state *s, const group *o, char c,
                      seen_letter *all)
{
    int n = 0;
    for (int p = 0; p < g->n; p++) {
        for (int i = 0; i < (int)strlen(g->x[p]); i++) {
            const okra_segment_ *b = s->aligned.became[s->aligned.offsets[p] + i];
            int class = 0;
            if (g->x[p][i] != c || !b) {
                continue;
            }
            while (class < o->classes && o->segments[class] != b) {
                class ++;
            }
            CHECK(class < o->classes);
            all[n++] = (seen_letter){g->x[p], i, p, class};
        }
    }
    return n;
}

typedef struct opened {
    outputs o;
    okra_data *x, *test;
    state *s;
    okra_options *options;
    const okra_decoder_ *decoder;
} opened;

static okra_status open_state(opened *w, const char *const *tests, okra_int count,
                              okra_int top)
{
    const okra_option_table *table = &okra_decoder_transcribe_.options;
    okra_decode_request_ q = {.tests = count, .top = top};
    void *arg = NULL;
    w->test = words(tests, count);
    w->decoder = &okra_decoder_transcribe_;
    q.inputs = w->test;
    CHECK_OK(okra_options_create(&table, 1, &w->options));
    okra_status st =
        okra_decoder_open_(NULL, w->decoder, &w->o.output, w->options, &q, &arg);
    w->s = arg;
    return st;
}

static void open_language(opened *w, const language *g, okra_int top)
{
    *w = (opened){0};
    w->x = words(g->xs, g->n);
    outputs_open(&w->o, "spectrum(k=2) | normalize", words(g->ys, g->n));
    w->o.output.x = w->x;
    CHECK_OK(open_state(w, g->xs, g->n, top));
}

static void opened_close(opened *w)
{
    okra_decoder_close_(w->decoder, w->s);
    okra_options_free(w->options);
    outputs_close(&w->o);
    okra_data_free(w->x);
    okra_data_free(w->test);
}

TEST(scores_are_those_of_ridge_and_of_refits)
{
    double worst = 0, moved = 0;
    for (int t = 0; t < SOME(8); t++) {
        language g;
        opened w;
        seen_letter all[LETTERS];
        language_make(&g, t < 2 ? 3 : 40, (uint64_t)t, t % 2 == 1);
        open_language(&w, &g, 1);
        for (okra_int k = 0; k < w.s->aligned.letter_count; k++) {
            const group *o = &w.s->groups[k];
            char c = (char)w.s->aligned.letters[k];
            int n = letters_of(&g, w.s, o, c, all);
            CHECK(n == o->n && n < LETTERS);
            for (int p = 0; p < n; p += 1 + n / 4) {
                double scores[64];
                bool out[60] = {false};
                okra_word_ x = okra_word_of_(w.x, all[p].pair);
                for (int left = 0; left < 3; left++) {
                    /* nothing; the pair of that letter; and another pair with it */
                    out[all[p].pair] = left > 0;
                    out[all[(p + 1) % n].pair] |= left > 1;
                    CHECK_OK(
                        score_letter(w.s, o, left ? out : NULL, x, all[p].at, scores));
                    for (int class = 0; class < o->classes; class ++) {
                        double want =
                            naive_score(all, n, out, class, all[p].word, all[p].at,
                                        w.s->shape.share, w.s->shape.lambda);
                        worst = fmax(worst, fabs(scores[class] - want));
                        moved = fmax(moved, left ? 0 : fabs(want));
                    }
                }
            }
        }
        opened_close(&w);
    }
    CHECK_NEAR(worst, 0, 5e-14); /* 4.3e-15 at worst */
    CHECK(moved > 0.5);
}

/* Errors of letters that are left out one by one, by as many fits. */
TEST(the_shape_has_the_fewest_left_out_errors)
{
    static const double shares[] = {0.5, 0.3, 0.7, 0, 0, 0},
                        lambdas[] = {0.03, 0.03, 0.03, 0.01, 0.1, 0.3};
    int others = 0;
    for (int t = 0; t < SOME(6); t++) {
        language g;
        opened w;
        double least = INFINITY, share = 0, lambda = 0;
        language_make(&g, 12 + 2 * t, (uint64_t)(50 + t), t % 2 == 1);
        open_language(&w, &g, 1);
        for (int k = 0; k < 6; k++) {
            double sum = 0, here = shares[k] > 0 ? shares[k] : share;
            for (okra_int l = 0; l < w.s->aligned.letter_count; l++) {
                const group *o = &w.s->groups[l];
                seen_letter all[LETTERS];
                int n = letters_of(&g, w.s, o, (char)w.s->aligned.letters[l], all);
                for (int p = 0; p < n && o->classes > 1; p++) {
                    bool out[LETTERS] = {false};
                    double right = 0, other = -(double)INFINITY;
                    seen_letter one[LETTERS];
                    memcpy(one, all, sizeof one);
                    for (int q = 0; q < n; q++) {
                        one[q].pair = q; /* each letter by itself */
                    }
                    out[p] = true;
                    for (int class = 0; class < o->classes; class ++) {
                        double f = naive_score(one, n, out, class, all[p].word, all[p].at,
                                               here, lambdas[k]);
                        right = class == all[p].class ? f : right;
                        other = class == all[p].class ? other : fmax(other, f);
                    }
                    sum += (right <= other) + 1e-3 * exp(-4 * (right - other));
                }
            }
            if (sum < least) {
                least = sum;
                share = here;
                lambda = lambdas[k];
            }
        }
        CHECK_NEAR(w.s->shape.share, share, 0);
        CHECK_NEAR(w.s->shape.lambda, lambda, 0);
        others += share != 0.5 || lambda != 0.03;
        opened_close(&w);
    }
    CHECK(others > 0);
}

/* ---- the K best strings ---- */

typedef struct made_up {
    char text[40];
    double score;
} made_up;

static void put_made(made_up *all, int *count, const char *text, double score)
{
    for (int k = 0; k < *count; k++) {
        if (strcmp(all[k].text, text) == 0) {
            all[k].score = fmax(all[k].score, score);
            return;
        }
    }
    CHECK(*count < NAIVE);
    snprintf(all[*count].text, sizeof all->text, "%s", text);
    all[(*count)++].score = score;
}

static void make_all(const state *s, okra_word_ x, okra_int i, char *so_far, double score,
                     made_up *all, int *count)
{
    double scores[64];
    if (i == x.length) {
        put_made(all, count, so_far, score);
        return;
    }
    okra_int g = okra_letter_(s->aligned.letters, s->aligned.letter_count, x.code[i]);
    CHECK_OK(score_letter(s, &s->groups[g], NULL, x, i, scores));
    for (okra_int c = 0; c < s->groups[g].classes; c++) {
        const okra_segment_ *b = s->groups[g].segments[c];
        size_t length = strlen(so_far);
        for (int k = 0; k < b->length; k++) {
            so_far[length + (size_t)k] = (char)b->codes[k];
        }
        so_far[length + (size_t)b->length] = 0;
        make_all(s, x, i + 1, so_far, score + scores[c], all, count);
        so_far[length] = 0;
    }
}

static int by_score(const void *a, const void *b)
{
    double x = ((const made_up *)a)->score, y = ((const made_up *)b)->score;
    return (x < y) - (x > y);
}

TEST(the_best_of_all_strings)
{
    static const char *const fresh[] = {"cex", "xhic", "tacen", "x", "hh", "ccc"};
    enum { FRESH = 6, TOP = 12 };
    made_up *all = okra_alloc_(NAIVE, sizeof *all);
    language g;
    okra_random_ r = okra_random_create_(9, 9);
    double W[FRESH * 40], far[FRESH * TOP];
    int right = 0;
    language_make(&g, 40, 3, false);
    random_weights(&r, FRESH, g.n, W);
    for (int top = 1; top <= TOP; top += TOP - 1) {
        okra_decoded_ d = {0};
        opened w = {0};
        w.x = words(g.xs, g.n);
        outputs_open(&w.o, "spectrum(k=1) | normalize", words(g.ys, g.n));
        w.o.output.x = w.x;
        CHECK_OK(open_state(&w, fresh, FRESH, top));
        for (okra_int first = 0; first < FRESH; first += 4) {
            okra_int m = OKRA_MIN_(4, FRESH - first);
            okra_block_ b = {
                .first = first, .m = m, .W = okra_mat_of_(W + first * g.n, m, g.n)};
            CHECK_OK(w.decoder->block(NULL, w.s, &b));
        }
        CHECK_OK(w.decoder->finish(NULL, w.s, &d));
        for (int t = 0; t < FRESH; t++) {
            char so_far[40] = "", found[40], said[40];
            int count = 0;
            make_all(w.s, okra_word_of_(w.test, t), 0, so_far, 0, all, &count);
            qsort(all, (size_t)count, sizeof *all, by_score);
            all_distances(&w.o, d.proposals, W + t * g.n, far);
            for (int k = 0; k < top; k++) {
                okra_int at = d.index[t * top + k];
                CHECK((at >= 0) == (k < count));
                if (at >= 0) {
                    text_of(d.proposals, at, found);
                    CHECK_TEXT(found, all[k].text);
                    if (far[at] < (double)INFINITY) {
                        CHECK_NEAR(d.distance[t * top + k], far[at], 1e-12);
                    }
                }
            }
            text_of(d.objects, t, found);
            say(fresh[t], said);
            right += strcmp(found, said) == 0;
        }
        okra_decoded_clear_(&d);
        opened_close(&w);
    }
    CHECK(right >= 8); /* 10 of 12 */
    okra_free_(all);
}

MAIN(RUN(alignments_are_the_likeliest), RUN(scores_are_those_of_ridge_and_of_refits),
     RUN(the_shape_has_the_fewest_left_out_errors), RUN(the_best_of_all_strings))
