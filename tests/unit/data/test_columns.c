/* Names of columns: kept, brought into order, refused. */
#include "data/data.h"
#include "harness.h"
#include "okra/more/objects.h"

#include <string.h>

enum { N = 3, D = 4 };
static const double values[N * D] = {1, 2, 3, 4, 0, 1, 0, 1, 5, 0, 7, 8};
static const char *const names[] = {"a", "b", "c", "d"}, *const other[] = {"c", "a", "d",
                                                                           "b"};
static const okra_int place[] = {2, 0, 3, 1}; /* of other among names */

/* The same rows as data of a kind, columns in the order of `other` or as they are. */
static okra_data *make(okra_kind kind, bool moved)
{
    double v[N * D] = {0}, dense[N * D] = {0};
    okra_int indptr[N + 1] = {0}, indices[N * D] = {0};
    unsigned char bytes[N] = {0};
    okra_data *data = NULL, *copy = NULL;
    okra_int count = 0;
    for (okra_int i = 0; i < N; i++) {
        for (okra_int j = 0; j < D; j++) {
            double x = values[i * D + (moved ? place[j] : j)];
            dense[i * D + j] = x;
            bytes[i] = (unsigned char)(bytes[i] | (x > 2) << j);
            if (x != 0) {
                indices[count] = j;
                v[count++] = x;
            }
        }
        indptr[i + 1] = count;
    }
    CHECK_OK(kind == OKRA_DENSE    ? okra_data_dense(dense, N, D, D, &data)
             : kind == OKRA_GRAM   ? okra_data_gram(dense, N, D, D, dense, &data)
             : kind == OKRA_SPARSE ? okra_data_sparse(indptr, indices, v, N, D, &data)
                                   : okra_data_bits(bytes, N, D, 1, &data));
    CHECK_OK(okra_data_set_columns(data, moved ? other : names));
    CHECK_OK(okra_data_copy(data, &copy));
    okra_data_free(data);
    return copy;
}

TEST(another_order_is_brought_into_this_one)
{
    const okra_kind kinds[] = {OKRA_DENSE, OKRA_GRAM, OKRA_SPARSE, OKRA_BITS};
    for (int k = 0; k < 4; k++) {
        okra_data *like = make(kinds[k], false), *x = make(kinds[k], true), *out = NULL,
                  *same = NULL;
        CHECK_OK(okra_data_align(NULL, x, like, &out));
        CHECK(okra_data_mix_(OKRA_MIX_START_, out) ==
              okra_data_mix_(OKRA_MIX_START_, like));
        CHECK(out->kind == kinds[k] && strcmp(okra_data_column(out, 1), "b") == 0);
        CHECK(!okra_data_column(out, D) && !okra_data_column(out, -1));
        CHECK_OK(okra_data_align(NULL, out, like, &same));
        CHECK(same == out);
        okra_data_free(same);
        okra_data_free(out);
        CHECK_ALLOCATIONS(okra_data_align(NULL, x, like, &out), okra_data_free(out));
        CHECK_ALLOCATIONS(okra_data_set_columns(x, other), (void)0);
        okra_data_free(x);
        okra_data_free(like);
    }
}

TEST(names_go_along)
{
    okra_data *like = make(OKRA_DENSE, false), *x = make(OKRA_DENSE, true), *out = NULL,
              *heavy = NULL, *part = NULL;
    const double weights[N] = {1, 2, 3};
    const okra_int index[] = {2, 0};
    CHECK_OK(okra_data_weigh(x, weights, N, &heavy));
    CHECK(strcmp(okra_data_column(heavy, 0), "c") == 0);
    CHECK_FAILS(okra_data_set_columns(heavy, names), OKRA_EARG, "before objects get");
    CHECK_OK(okra_data_align(NULL, heavy, like, &out));
    CHECK(okra_data_weights(out)[2] == 3 && okra_data_values(out, NULL)[1] == values[1]);
    okra_data_free(out);
    CHECK_OK(okra_data_take(like, index, 2, &part));
    CHECK(strcmp(okra_data_column(part, 3), "d") == 0);
    CHECK_OK(okra_data_concat(part, x, &out)); /* by name */
    CHECK(okra_data_values(out, NULL)[2 * D] == values[0]);
    CHECK(strcmp(okra_data_column(out, 0), "a") == 0);
    okra_data_free(out);
    CHECK_OK(okra_data_set_columns(part, NULL));
    CHECK(!okra_data_column(part, 0) && !okra_data_column(NULL, 0));
    CHECK_OK(okra_data_align(NULL, part, like, &out)); /* nothing to compare */
    CHECK(out == part);
    okra_data *all[] = {like, x, heavy, part, out};
    for (int i = 0; i < 5; i++) {
        okra_data_free(all[i]);
    }
}

TEST(parts_of_tuples)
{
    okra_data *a = make(OKRA_DENSE, false), *b = make(OKRA_SPARSE, true),
              *c = make(OKRA_SPARSE, false), *like = NULL, *x = NULL, *out = NULL,
              *heavy = NULL, *same = NULL;
    const double weights[N] = {1, 2, 3};
    CHECK_OK(okra_data_tuple((okra_data *const[]){a, c}, 2, &like));
    CHECK_OK(okra_data_tuple((okra_data *const[]){a, b}, 2, &x));
    CHECK_OK(okra_data_align(NULL, x, like, &out));
    CHECK(okra_data_mix_(OKRA_MIX_START_, out) == okra_data_mix_(OKRA_MIX_START_, like));
    okra_data_free(out);
    CHECK_ALLOCATIONS(okra_data_align(NULL, x, like, &out), okra_data_free(out));
    CHECK_ALLOCATIONS(okra_data_weigh(x, weights, N, &heavy), okra_data_free(heavy));
    CHECK_OK(okra_data_weigh(x, weights, N, &heavy));
    CHECK(heavy->components[1]->weights[1] == 2 && !x->components[1]->weights);
    CHECK_OK(okra_data_align(NULL, heavy, like, &out));
    CHECK(okra_data_weights(out)[1] == 2 && out->components[0]->weights[2] == 3);
    CHECK_OK(okra_data_weigh(heavy, NULL, 0, &same));
    CHECK(!same->weights && !same->components[1]->weights);
    okra_data *all[] = {a, b, c, x, like, out, heavy, same};
    for (int i = 0; i < 8; i++) {
        okra_data_free(all[i]);
    }
}

TEST(what_is_refused)
{
    const char *const bad[][D] = {{"a", "a", "c", "d"},        {"a", "", "c", "d"},
                                  {"a", "b\n", "c", "d"},      {"a", "\xff", "c", "d"},
                                  {"a", "\xc2\x85", "c", "d"}, {"a", NULL, "c", "d"}};
    okra_data *x = make(OKRA_DENSE, true), *like = make(OKRA_DENSE, false), *out = NULL,
              *labels = NULL;
    char text[300];
    memset(text, 'x', sizeof text);
    text[256] = '\0';
    const char *const longer[D] = {"a", text, "c", "d"};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        CHECK_FAILS(okra_data_set_columns(x, bad[k]), OKRA_EARG, "the name of column 1");
        CHECK(strcmp(okra_data_column(x, 0), "c") == 0);
    }
    CHECK_FAILS(okra_data_set_columns(x, longer), OKRA_EARG, "1 to 255 bytes");
    text[255] = '\0';
    CHECK_OK(okra_data_set_columns(x, longer));
    CHECK_FAILS(okra_data_align(NULL, x, like, &out), OKRA_ESHAPE, "expected 'b' or");
    CHECK_OK(okra_data_labels((const okra_int[]){0, 1}, 2, NULL, 2, &labels));
    CHECK_FAILS(okra_data_set_columns(labels, names), OKRA_EARG, "have no columns");
    CHECK_FAILS(okra_data_concat(like, x, &out), OKRA_ESHAPE, "expected 'b' or");
    okra_data_free(x);
    okra_data_free(like);
    okra_data_free(labels);
}

MAIN(RUN(another_order_is_brought_into_this_one), RUN(names_go_along),
     RUN(parts_of_tuples), RUN(what_is_refused))
