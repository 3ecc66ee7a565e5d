/* The short cut of an engine to the best of many rows of bits (okra_engine_top_) against
 * brute force, where the engine has one. */
#include "harness.h"

#include "engine/engine.h"

typedef struct case_ {
    okra_int rows, n, words, m, k;
    uint64_t *a, *b;
    double *u, *v, *W;
    bool *skip;
    okra_int *index;
    double *value, *score;
    bool done;
} case_;

static void *room(okra_int count, size_t size)
{
    void *p = calloc((size_t)count, size);
    if (!p) {
        abort();
    }
    return p;
}

static void count_bits(okra_int n, okra_int words, const uint64_t *a, double *out)
{
    for (okra_int i = 0; i < n; i++) {
        out[i] = 0;
        for (okra_int t = 0; t < words; t++) {
            out[i] += __builtin_popcountll(a[i * words + t]);
        }
    }
}

/* A quarter of the bits set. */
static void draw_bits(okra_random_ *r, okra_int count, uint64_t *out)
{
    for (okra_int i = 0; i < count; i++) {
        out[i] = okra_random_bits_(r) & okra_random_bits_(r);
    }
}

static case_ open_case(okra_int rows, okra_int n, okra_int words, okra_int m, okra_int k,
                       uint64_t seed)
{
    okra_random_ r = okra_random_create_(seed, 3);
    case_ c = {.rows = rows, .n = n, .words = words, .m = m, .k = k};
    c.a = room(rows * words, sizeof *c.a);
    c.b = room(n * words, sizeof *c.b);
    c.u = room(rows, sizeof *c.u);
    c.v = room(n, sizeof *c.v);
    c.W = room(m * n, sizeof *c.W);
    c.skip = room(rows, sizeof *c.skip);
    c.index = room(m * k, sizeof *c.index);
    c.value = room(m * k, sizeof *c.value);
    c.score = room(rows, sizeof *c.score);
    draw_bits(&r, rows * words, c.a);
    draw_bits(&r, n * words, c.b);
    harness_normals(&r, m * n, c.W);
    return c;
}

static void close_case(case_ *c)
{
    free(c->a);
    free(c->b);
    free(c->u);
    free(c->v);
    free(c->W);
    free(c->skip);
    free(c->index);
    free(c->value);
    free(c->score);
}

static void run(case_ *c, bool skip)
{
    count_bits(c->rows, c->words, c->a, c->u);
    count_bits(c->n, c->words, c->b, c->v);
    okra_step_ steps[2] = {{.code = OKRA_CODE_BITS_,
                            .a = c->a,
                            .b = c->b,
                            .width = c->words,
                            .a_ld = c->words,
                            .b_ld = c->words},
                           {.code = OKRA_CODE_TANIMOTO_, .u = c->u, .v = c->v}};
    okra_entries_ entries = {
        .rows = c->rows, .cols = c->n, .steps = steps, .count = 2, .depth = 1};
    CHECK_OK(okra_engine_top_(NULL, &entries, okra_mat_of_(c->W, c->m, c->n),
                              skip ? c->skip : NULL, c->k, c->index, c->value, &c->done));
}

static double score_of(const case_ *c, okra_int q, okra_int j)
{
    double sum = 0;
    for (okra_int i = 0; i < c->n; i++) {
        double common = 0;
        for (okra_int t = 0; t < c->words; t++) {
            common +=
                __builtin_popcountll(c->a[j * c->words + t] & c->b[i * c->words + t]);
        }
        double d = c->u[j] + c->v[i] - common;
        sum += c->W[q * c->n + i] * (d > 0 ? common / d : 1);
    }
    return sum;
}

/* Each rank by a pass over all: the best after the last. */
static void check(const case_ *c, bool skip)
{
    for (okra_int q = 0; q < c->m; q++) {
        double scale = 0, last = (double)INFINITY;
        okra_int before = -1;
        for (okra_int j = 0; j < c->rows; j++) {
            c->score[j] = score_of(c, q, j);
            scale = fmax(scale, fabs(c->score[j]));
        }
        for (okra_int t = 0; t < c->k; t++) {
            okra_int best = -1;
            for (okra_int j = 0; j < c->rows; j++) {
                double s = c->score[j];
                bool after = s < last || (s == last && j > before);
                if (!(skip && c->skip[j]) && after && (best < 0 || s > c->score[best])) {
                    best = j;
                }
            }
            CHECK(c->index[q * c->k + t] == best);
            if (best < 0) {
                break;
            }
            CHECK(fabs(c->value[q * c->k + t] - c->score[best]) <=
                  1e-13 * (double)c->n * scale);
            last = c->score[best];
            before = best;
        }
    }
}

/* An engine without a short cut says so. */
static bool absent(case_ *c)
{
    run(c, false);
    if (okra_engine_is_host_(NULL)) {
        CHECK(!c->done);
    }
    return !c->done;
}

TEST(random_bits)
{
    static const okra_int shapes[][5] = {
        {8192, 100, 16, 7, 10},  {30001, 256, 16, 5, 1},  {9000, 33, 1, 3, 20},
        {8200, 300, 17, 4, 256}, {12345, 129, 32, 17, 3}, {200000, 64, 16, 3, 10}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        const okra_int *z = shapes[s];
        case_ c = open_case(z[0], z[1], z[2], z[3], z[4], s);
        if (!absent(&c)) {
            check(&c, false);
        }
        close_case(&c);
    }
}

/* Equal rows, rows that are training outputs, rows without bits, rows left out. */
TEST(odd_rows)
{
    case_ c = open_case(10000, 150, 16, 6, 25, 11);
    okra_int w = c.words;
    for (okra_int j = 0; j < 2000; j += 5) {
        memcpy(c.a + (j + 1) * w, c.a + j * w, (size_t)w * sizeof *c.a);
        memcpy(c.a + (j + 2) * w, c.b + j % 150 * w, (size_t)w * sizeof *c.a);
    }
    memset(c.a + 7777 * w, 0, (size_t)w * sizeof *c.a);
    for (okra_int j = 0; j < c.rows; j += 3) {
        c.skip[j] = true;
    }
    if (!absent(&c)) {
        check(&c, false);
        run(&c, true);
        CHECK(c.done);
        check(&c, true);
    }
    close_case(&c);
}

/* Weights of very different sizes, as of a query that is a training input. */
TEST(a_few_large_weights)
{
    case_ c = open_case(20000, 500, 16, 8, 10, 12);
    for (okra_int q = 0; q < c.m; q++) {
        for (okra_int i = 0; i < c.n; i++) {
            c.W[q * c.n + i] *= i == 3 * q ? 1 : i % 7 == q ? 1e-3 : 1e-5;
        }
    }
    if (!absent(&c)) {
        check(&c, false);
    }
    close_case(&c);
}

TEST(what_it_declines)
{
    case_ c = open_case(100000, 64, 16, 3, 10, 13);
    if (!absent(&c)) {
        for (okra_int i = 0; i < c.n; i++) {
            c.W[i] = 0; /* all are equal */
        }
        run(&c, false);
        CHECK(!c.done);
        c.W[5] = (double)NAN;
        run(&c, false);
        CHECK(!c.done);
    }
    close_case(&c);
}

TEST(same_bits_again)
{
    case_ c = open_case(16384, 200, 16, 9, 12, 14),
          d = open_case(16384, 200, 16, 9, 12, 14);
    if (!absent(&c)) {
        run(&d, false);
        CHECK(memcmp(c.index, d.index, (size_t)(c.m * c.k) * sizeof *c.index) == 0);
        CHECK(memcmp(c.value, d.value, (size_t)(c.m * c.k) * sizeof *c.value) == 0);
    }
    close_case(&c);
    close_case(&d);
}

MAIN(RUN(random_bits), RUN(odd_rows), RUN(a_few_large_weights), RUN(what_it_declines),
     RUN(same_bits_again))
