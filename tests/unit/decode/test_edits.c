/*
 * Alignments against all of them, rules applied to their own pairs, votes against sums
 * over pairs, and what is proposed.
 */
#include "edits_kernel.h"
#include "data/strings.h"
#include "harness.h"

enum { MOST = 7, PAIRS = 40 };

static okra_word_ random_word(okra_random_ *r, okra_int most, int letters, int32_t *code)
{
    okra_int length = okra_random_below_(r, most + 1);
    for (okra_int i = 0; i < length; i++) {
        code[i] = (int32_t)('a' + okra_random_below_(r, letters));
    }
    return (okra_word_){code, length};
}

static bool same(okra_word_ a, okra_word_ b)
{
    return a.length == b.length &&
           (a.length == 0 ||
            memcmp(a.code, b.code, (size_t)a.length * sizeof *a.code) == 0);
}

/* The least cost from (i, j) on; `run`: the letters before were changed. */
static okra_int naive(okra_word_ x, okra_word_ y, okra_int i, okra_int j, bool run)
{
    okra_int best = 1 << 20;
    if (i == x.length && j == y.length) {
        return run ? -1 : 0; /* a run at the end costs one less */
    }
    okra_int open = run ? 0 : i == 0 && j == 0 ? 1 : 2;
    if (i < x.length && j < y.length) {
        if (x.code[i] == y.code[j]) {
            best = OKRA_MIN_(best, naive(x, y, i + 1, j + 1, false));
        }
        best = OKRA_MIN_(best, 2 + open + naive(x, y, i + 1, j + 1, true));
    }
    if (i < x.length) {
        best = OKRA_MIN_(best, 2 + open + naive(x, y, i + 1, j, true));
    }
    if (j < y.length) {
        best = OKRA_MIN_(best, 2 + open + naive(x, y, i, j + 1, true));
    }
    return best;
}

/* y again, from x and the script; what is kept must be equal. */
static bool replays(okra_word_ x, okra_word_ y, const okra_script_ *s)
{
    okra_int i = 0, j = 0;
    for (int c = 0; c <= s->count; c++) {
        okra_int to = c < s->count ? s->changes[c].x0 : x.length;
        okra_int also = c < s->count ? s->changes[c].y0 : y.length;
        if (to - i != also - j || to < i) {
            return false;
        }
        for (; i < to; i++, j++) {
            if (x.code[i] != y.code[j]) {
                return false;
            }
        }
        if (c < s->count) {
            i = s->changes[c].x1;
            j = s->changes[c].y1;
        }
    }
    return i == x.length && j == y.length;
}

TEST(alignments_are_the_cheapest)
{
    okra_random_ r = okra_random_create_(1, 1);
    okra_aligner_ a = {0};
    okra_script_ s;
    int32_t p[MOST], q[MOST];
    for (int t = 0; t < 2000; t++) {
        okra_word_ x = random_word(&r, MOST - 1, 2 + t % 2, p),
                   y = random_word(&r, MOST - 1, 2 + t % 2, q);
        CHECK_OK(okra_align_(&a, NULL, x, y, &s));
        CHECK(s.cost == 8 * naive(x, y, 0, 0, false));
        CHECK(replays(x, y, &s));
        for (int c = 0; c < s.count; c++) {
            const okra_alter_ *e = &s.changes[c];
            bool end = e->x1 == x.length && e->y1 == y.length;
            bool start = e->x0 == 0 && e->y0 == 0;
            CHECK(e->where == (end     ? OKRA_WHERE_END_
                               : start ? OKRA_WHERE_START_
                                       : OKRA_WHERE_INNER_));
        }
    }
    okra_aligner_clear_(&a);
}

/* More changes than a script holds become one. */
TEST(long_strings)
{
    enum { LONG = 6000 };
    okra_aligner_ a = {0};
    okra_script_ s;
    int32_t *p = okra_alloc_(LONG, sizeof *p), *q = okra_alloc_(LONG, sizeof *q);
    for (int i = 0; i < LONG; i++) {
        p[i] = 'a' + i % 7;
        q[i] = i % 5 == 2 ? 'z' : p[i];
    }
    CHECK_OK(okra_align_(&a, NULL, (okra_word_){p, 100}, (okra_word_){q, 100}, &s));
    CHECK(s.count == 1 && replays((okra_word_){p, 100}, (okra_word_){q, 100}, &s));
    CHECK_OK(okra_align_(&a, NULL, (okra_word_){p, LONG}, (okra_word_){q, LONG}, &s));
    CHECK(s.count == 1 && s.changes[0].x0 == 2 && s.changes[0].x1 == LONG - 2);
    CHECK(replays((okra_word_){p, LONG}, (okra_word_){q, LONG}, &s));
    CHECK_OK(okra_align_(&a, NULL, (okra_word_){p, LONG}, (okra_word_){p, LONG}, &s));
    CHECK(s.count == 0);
    okra_aligner_clear_(&a);
    okra_free_(p);
    okra_free_(q);
}

/* ---- rules ---- */

typedef struct wanted {
    okra_word_ y;
    bool found;
} wanted;

static okra_status look(void *user, okra_word_ y, bool *enough)
{
    wanted *w = user;
    w->found = w->found || same(y, w->y);
    *enough = false;
    return OKRA_OK;
}

/* Every form of every change of a pair makes its output of its input. */
TEST(rules_fit_their_own_pair)
{
    okra_random_ r = okra_random_create_(2, 1);
    okra_aligner_ a = {0};
    okra_maker_ maker = {0};
    okra_tokens_ tokens;
    okra_script_ s;
    int32_t p[MOST], q[2 * MOST];
    int tried[OKRA_FORMS_] = {0};
    for (int t = 0; t < 4000; t++) {
        okra_word_ x = random_word(&r, 5, 2, p), y = random_word(&r, 2 * MOST - 1, 2, q);
        CHECK_OK(okra_align_(&a, NULL, x, y, &s));
        for (int f = 0; f < OKRA_FORMS_; f++) {
            okra_rule_ rules[OKRA_CHANGES_MOST_];
            wanted w = {y, false};
            okra_made_ made = {&w, look};
            for (int c = 0; c < s.count; c++) {
                bool has = okra_change_form_(x, y, &s.changes[c], f, &tokens);
                tried[f] += has;
                rules[c] = (okra_rule_){x, y, s.changes[c], has ? f : 0};
            }
            CHECK_OK(okra_rules_apply_(&maker, x, rules, s.count, &made));
            CHECK(w.found);
        }
    }
    for (int f = 0; f < OKRA_FORMS_; f++) {
        CHECK(tried[f] > 0);
    }
    okra_aligner_clear_(&a);
    okra_maker_clear_(&maker);
}

/* ---- votes ---- */

static okra_data *words(const char *const *texts, okra_int n)
{
    okra_data *data = NULL;
    CHECK_OK(okra_data_strings(texts, n, &data));
    return data;
}

static okra_word_ word_of(const okra_data *data, okra_int i)
{
    okra_word_ w;
    w.code = okra_characters_(data, i, &w.length);
    return w;
}

static const char *const verbs[] = {"walk", "stop",    "beg",   "try",  "sing", "ring",
                                    "hope", "like",    "fit",   "plan", "cry",  "play",
                                    "go",   "undergo", "drink", "pat"};
static const char *const pasts[] = {
    "walked", "stopped", "begged", "tried",  "sang", "rang",      "hoped", "liked",
    "fitted", "planned", "cried",  "played", "went", "underwent", "drank", "patted"};
enum { VERBS = 16 };

TEST(votes_are_sums_over_pairs)
{
    okra_data *x = words(verbs, VERBS), *y = words(pasts, VERBS);
    okra_rulebook_ *book = NULL;
    okra_votes_ votes = {0};
    okra_random_ r = okra_random_create_(4, 1);
    double w[VERBS], norm = 0;
    CHECK_OK(okra_rulebook_create_(x, y, &book));
    CHECK_OK(okra_votes_create_(book, &votes));
    for (int i = 0; i < VERBS; i++) {
        w[i] = okra_random_normal_(&r);
    }
    okra_votes_count_(book, w, &votes);
    for (int j = 0; j < VERBS; j++) {
        double sum = 0, score = 0;
        for (int i = 0; i < VERBS; i++) {
            sum += w[i] * edits_kernel(book, i, j);
        }
        CHECK_OK(okra_votes_score_(book, &votes, word_of(x, j), word_of(y, j), &score));
        CHECK_NEAR(score, sum, 1e-13); /* 9e-16 at worst */
        CHECK_NEAR(edits_kernel(book, j, j), 1, 1e-15);
        norm += w[j] * sum;
    }
    CHECK_NEAR(votes.norm, norm, 1e-12); /* 2e-15 */
    /* A doubled letter is one edit whatever the letter, and so is i -> a. */
    CHECK_NEAR(edits_kernel(book, 1, 2), 1, 1e-15);
    CHECK_NEAR(edits_kernel(book, 1, 9), 1, 1e-15);
    CHECK_NEAR(edits_kernel(book, 3, 10), 1, 1e-15);
    CHECK_NEAR(edits_kernel(book, 12, 13), 1, 1e-15);
    CHECK(edits_kernel(book, 4, 5) > edits_kernel(book, 4, 0));
    CHECK(edits_kernel(book, 0, 1) < 1);
    okra_votes_clear_(&votes);
    okra_rulebook_free_(book);
    okra_data_free(x);
    okra_data_free(y);
}

static okra_word_ at(const okra_shortlist_ *list, okra_int k)
{
    return (okra_word_){list->items[k].codes, list->items[k].length};
}

static bool proposed(const okra_shortlist_ *list, const char *text)
{
    okra_data *one = words(&text, 1);
    bool found = false;
    for (okra_int k = 0; k < list->count; k++) {
        found = found || same(at(list, k), word_of(one, 0));
    }
    okra_data_free(one);
    return found;
}

/* What languages do to words: each example is made of others of its kind. */
TEST(proposals_of_many_kinds)
{
    static const struct {
        const char *x[3], *y[3], *input, *output;
    } kinds[] = {
        {{"stop", "beg", "plan"}, {"stopped", "begged", "planned"}, "hum", "hummed"},
        {{"sagen", "machen", "leben"},
         {"gesagt", "gemacht", "gelebt"},
         "loben",
         "gelobt"},
        {{"Haus", "Maus", "Laus"}, {"Häuser", "Mäuse", "Läuse"}, "Strauß", "Sträuße"},
        {{"sulat", "takbo", "bili"}, {"sumulat", "tumakbo", "bumili"}, "kain", "kumain"},
        {{"sulat", "takbo", "bili"}, {"susulat", "tatakbo", "bibili"}, "kain", "kakain"},
        {{"orang", "buku", "anak"},
         {"orang-orang", "buku-buku", "anak-anak"},
         "rumah",
         "rumah-rumah"},
        {{"дом", "стол", "сад"}, {"дома", "стола", "сада"}, "лес", "леса"},
        {{"", "", ""}, {"a", "a", "a"}, "", "a"},
    };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        okra_data *x = words(kinds[k].x, 3), *y = words(kinds[k].y, 3),
                  *test = words(&kinds[k].input, 1);
        okra_rulebook_ *book = NULL;
        okra_votes_ votes = {0};
        okra_shortlist_ list = {0};
        double w[3] = {0.5, 0.3, 0.2};
        CHECK_OK(okra_rulebook_create_(x, y, &book));
        CHECK_OK(okra_votes_create_(book, &votes));
        CHECK_OK(okra_shortlist_open_(128, true, &list));
        okra_votes_count_(book, w, &votes);
        CHECK_OK(okra_rulebook_propose_(book, &votes, word_of(test, 0), 48, &list));
        CHECK(proposed(&list, kinds[k].output));
        CHECK(proposed(&list, kinds[k].input)); /* as it is */
        for (okra_int i = 1; i < list.count; i++) {
            CHECK(list.items[i - 1].rank.key.high <= list.items[i].rank.key.high);
        }
        okra_shortlist_clear_(&list);
        okra_votes_clear_(&votes);
        okra_rulebook_free_(book);
        okra_data_free(x);
        okra_data_free(y);
        okra_data_free(test);
    }
}

/* Letters that no pair has, and room for one proposal: the input itself. */
TEST(nothing_fits)
{
    okra_data *x = words(verbs + 12, 1), *y = words(pasts + 12, 1);
    static const char *const other[] = {"ξένος"};
    okra_data *test = words(other, 1);
    okra_rulebook_ *book = NULL;
    okra_votes_ votes = {0};
    okra_shortlist_ list = {0};
    double w[1] = {0};
    CHECK_OK(okra_rulebook_create_(x, y, &book));
    CHECK(book->by_count[OKRA_ASPECT_WHOLE_] == 1);
    CHECK_OK(okra_votes_create_(book, &votes));
    CHECK_OK(okra_shortlist_open_(1, true, &list));
    okra_votes_count_(book, w, &votes);
    CHECK(votes.norm == 0);
    CHECK_OK(okra_rulebook_propose_(book, &votes, word_of(test, 0), 48, &list));
    CHECK(list.count == 1 && same(at(&list, 0), word_of(test, 0)));
    okra_shortlist_clear_(&list);
    okra_votes_clear_(&votes);
    okra_rulebook_free_(book);
    okra_data_free(x);
    okra_data_free(y);
    okra_data_free(test);
}

/* CaCaCa -> maCCuC: the cheapest alignment by letters keeps an a and puts the first
 * consonant of each word anew; all pairs share one that keeps the three consonants. */
TEST(rare_letters_are_kept)
{
    enum { ROOTS = 40 };
    static const char consonants[] = "ktbdrslnfhqzj";
    char text[2 * ROOTS][8];
    const char *tx[ROOTS], *ty[ROOTS];
    okra_rulebook_ *book = NULL;
    for (int i = 0; i < ROOTS; i++) {
        char a = consonants[i % 13], b = consonants[(i * 5 + 3) % 13],
             c = consonants[(i * 7 + 1 + i / 13) % 13];
        snprintf(text[2 * i], sizeof *text, "%ca%ca%ca", a, b, c);
        snprintf(text[2 * i + 1], sizeof *text, "ma%c%cu%c", a, b, c);
        tx[i] = text[2 * i];
        ty[i] = text[2 * i + 1];
    }
    okra_data *x = words(tx, ROOTS), *y = words(ty, ROOTS);
    CHECK_OK(okra_rulebook_create_(x, y, &book));
    int alike = 0;
    for (int i = 1; book && i < ROOTS; i++) { /* the same edit, in the same places */
        alike += edits_kernel(book, 0, i) > 0.8;
    }
    CHECK(alike >= ROOTS - 4); /* words of which two consonants are the same may differ */
    okra_rulebook_free_(book);
    okra_data_free(x);
    okra_data_free(y);
}

/* Random pairs over two letters: votes of every proposal are sums over pairs, whatever
 * forms were chosen. */
TEST(random_books)
{
    okra_random_ r = okra_random_create_(9, 1);
    int same_script = 0;
    for (int t = 0; t < 30; t++) {
        char text[2 * PAIRS][MOST + 1];
        const char *tx[PAIRS], *ty[PAIRS];
        double w[PAIRS], score = 0;
        okra_rulebook_ *book = NULL;
        okra_votes_ votes = {0};
        okra_shortlist_ list = {0};
        for (int i = 0; i < 2 * PAIRS; i++) {
            okra_int length = okra_random_below_(&r, MOST + 1);
            for (okra_int k = 0; k < length; k++) {
                text[i][k] = (char)('a' + okra_random_below_(&r, 2));
            }
            text[i][length] = '\0';
        }
        for (int i = 0; i < PAIRS; i++) {
            tx[i] = text[2 * i];
            ty[i] = text[2 * i + 1];
            w[i] = okra_random_normal_(&r);
        }
        okra_data *x = words(tx, PAIRS), *y = words(ty, PAIRS);
        CHECK_OK(okra_rulebook_create_(x, y, &book));
        CHECK_OK(okra_votes_create_(book, &votes));
        CHECK_OK(okra_shortlist_open_(128, true, &list));
        okra_votes_count_(book, w, &votes);
        for (int i = 0; i < PAIRS; i++) {
            double sum = 0;
            for (int k = 0; k < PAIRS; k++) {
                sum += w[k] * edits_kernel(book, k, i);
            }
            CHECK_OK(
                okra_votes_score_(book, &votes, word_of(x, i), word_of(y, i), &score));
            /* that of the pair's own script, or of its other alignment if it has more */
            CHECK(score >= sum - 1e-12);
            same_script += score <= sum + 1e-12;
            CHECK_OK(okra_rulebook_propose_(book, &votes, word_of(x, i), 1024, &list));
            CHECK(list.count == 128 || proposed(&list, ty[i]));
        }
        okra_shortlist_clear_(&list);
        okra_votes_clear_(&votes);
        okra_rulebook_free_(book);
        okra_data_free(x);
        okra_data_free(y);
    }
    CHECK(same_script > 30 * PAIRS / 2);
}

static okra_status sweep(const okra_data *x, const okra_data *y)
{
    okra_status st = OKRA_OK;
    okra_rulebook_ *book = NULL;
    okra_votes_ votes = {0};
    okra_shortlist_ list = {0};
    double w[VERBS] = {1, 0.5};
    TRY(okra_rulebook_create_(x, y, &book));
    TRY(okra_votes_create_(book, &votes));
    TRY(okra_shortlist_open_(20, true, &list));
    okra_votes_count_(book, w, &votes);
    TRY(okra_rulebook_propose_(book, &votes, word_of(x, 3), 10, &list));
done:
    okra_shortlist_clear_(&list);
    okra_votes_clear_(&votes);
    okra_rulebook_free_(book);
    return st;
}

TEST(allocations)
{
    okra_data *x = words(verbs, VERBS), *y = words(pasts, VERBS);
    CHECK_ALLOCATIONS(sweep(x, y), (void)0);
    okra_data_free(x);
    okra_data_free(y);
}

MAIN(RUN(alignments_are_the_cheapest), RUN(long_strings), RUN(rules_fit_their_own_pair),
     RUN(votes_are_sums_over_pairs), RUN(proposals_of_many_kinds), RUN(nothing_fits),
     RUN(rare_letters_are_kept), RUN(random_books), RUN(allocations))
