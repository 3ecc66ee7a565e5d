/*
 * The factor of a matrix without some rows against what it must multiply to: A without
 * these rows and columns, summed in long double. Rows before the first that goes keep
 * their bits; threads change none.
 */
#include "matrices.h"

#include <pthread.h>

/* Ten times the worst over 40 seeds of every size, in units of the largest entry. */
static const double TOLERANCE = 2e-14; /* 1.3e-15 */

static okra_mat_ random_factor(okra_random_ *r, okra_int n)
{
    okra_mat_ L = mat_random(r, n, n);
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < n; j++) {
            L.p[i * L.ld + j] = j > i ? 0 : L.p[i * L.ld + j] / sqrt((double)n);
        }
        L.p[i * L.ld + i] = 0.1 + fabs(L.p[i * L.ld + i]);
    }
    return L;
}

static double product(okra_mat_ L, okra_int i, okra_int j)
{
    long double sum = 0;
    for (okra_int k = 0; k <= OKRA_MIN_(i, j); k++) {
        sum += (long double)L.p[i * L.ld + k] * (long double)L.p[j * L.ld + k];
    }
    return (double)sum;
}

/* `count` of n rows, ascending; how 0: the last ones, 1: the first, else here and there.
 */
static void choose(okra_random_ *r, int how, okra_int n, okra_int count, okra_int *rows)
{
    okra_int at = 0;
    for (okra_int i = 0; i < n && at < count; i++) {
        okra_int left = n - i, need = count - at;
        bool take = how == 0   ? left <= need
                    : how == 1 ? true
                               : okra_random_below_(r, left) < need;
        if (take) {
            rows[at++] = i;
        }
    }
}

static double worst_error(okra_mat_ L, okra_mat_ G, const okra_int *gone, okra_int count)
{
    okra_int n = L.rows, from[300] = {0}, kept = 0, q = 0;
    double worst = 0, scale = 0;
    for (okra_int i = 0; i < n; i++) {
        if (q < count && gone[q] == i) {
            q++;
        } else {
            from[kept++] = i;
        }
    }
    for (okra_int i = 0; i < kept; i++) {
        for (okra_int j = 0; j <= i; j++) {
            double want = product(L, from[i], from[j]);
            double off = fabs(product(G, i, j) - want);
            worst = off <= worst ? worst : off;
            scale = fmax(scale, fabs(want));
        }
        CHECK(G.p[i * G.ld + i] > 0);
    }
    return scale > 0 ? worst / scale : worst;
}

TEST(product_is_the_matrix_without_the_rows)
{
    static const okra_int ns[] = {1, 2, 3, 17, 130, 259}, counts[] = {0, 1, 2, 5, 40};
    okra_random_ r = okra_random_create_(1, 0);
    for (int c = 0; c < 6 * 5 * 3; c++) {
        int rest = c, how = pick(&rest, 3);
        okra_int n = ns[pick(&rest, 6)], count = OKRA_MIN_(counts[pick(&rest, 5)], n);
        okra_int rows[40] = {0};
        okra_mat_ L = random_factor(&r, n), G = mat_random(&r, n - count, n - count);
        choose(&r, how, n, count, rows);
        CHECK_OK(okra_factor_without_(NULL, L, rows, count, G));
        CHECK_NEAR(worst_error(L, G, rows, count), 0, TOLERANCE);
        okra_int same = count > 0 ? rows[0] : n;
        for (okra_int i = 0; i < OKRA_MIN_(same, n - count); i++) {
            CHECK(memcmp(L.p + i * L.ld, G.p + i * G.ld, (size_t)(i + 1) * 8) == 0);
        }
        mat_free(L);
        mat_free(G);
    }
}

/* A row that repeats another leaves a pivot of rounding; when it goes, the rest is good.
 */
TEST(nearly_singular_factor_recovers)
{
    okra_random_ r = okra_random_create_(2, 0);
    okra_mat_ L = random_factor(&r, 20), G = mat_random(&r, 19, 19);
    okra_int gone = 7;
    L.p[7 * L.ld + 7] = 1e-9;
    CHECK_OK(okra_factor_without_(NULL, L, &gone, 1, G));
    CHECK_NEAR(worst_error(L, G, &gone, 1), 0, TOLERANCE);
    mat_free(L);
    mat_free(G);
}

TEST(threads_change_no_bits)
{
    okra_random_ r = okra_random_create_(3, 0);
    okra_mat_ L = random_factor(&r, 900), one = mat_random(&r, 890, 890),
              four = mat_random(&r, 890, 890);
    okra_int rows[10] = {3, 4, 100, 101, 350, 351, 352, 500, 777, 899};
    okra_context *a = new_context(), *b = new_context();
    CHECK_OK(okra_context_set_threads(a, 1));
    CHECK_OK(okra_context_set_threads(b, 4));
    CHECK_OK(okra_factor_without_(a, L, rows, 10, one));
    CHECK_OK(okra_factor_without_(b, L, rows, 10, four));
    for (okra_int i = 0; i < 890; i++) {
        CHECK(memcmp(one.p + i * one.ld, four.p + i * four.ld, (size_t)(i + 1) * 8) == 0);
    }
    mat_free(L);
    mat_free(one);
    mat_free(four);
    okra_context_free(a);
    okra_context_free(b);
}

TEST(wrong_rows_and_shapes)
{
    okra_random_ r = okra_random_create_(4, 0);
    okra_mat_ L = random_factor(&r, 5), G = mat_random(&r, 3, 3),
              H = mat_random(&r, 4, 4);
    okra_int twice[2] = {1, 1}, back[2] = {2, 1}, out[2] = {0, 5}, good[2] = {0, 4};
    CHECK_FAILS(okra_factor_without_(NULL, L, twice, 2, G), OKRA_EARG, "row 1 of 5");
    CHECK_FAILS(okra_factor_without_(NULL, L, back, 2, G), OKRA_EARG, "row 1 of 5");
    CHECK_FAILS(okra_factor_without_(NULL, L, out, 2, G), OKRA_EARG, "row 5 of 5");
    CHECK_FAILS(okra_factor_without_(NULL, L, good, 2, H), OKRA_ESHAPE, "room for 4");
    CHECK_ALLOCATIONS(okra_factor_without_(NULL, L, good, 2, G), (void)0);
    mat_free(L);
    mat_free(G);
    mat_free(H);
}

MAIN(RUN(product_is_the_matrix_without_the_rows), RUN(nearly_singular_factor_recovers),
     RUN(threads_change_no_bits), RUN(wrong_rows_and_shapes))
