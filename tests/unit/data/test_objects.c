/* Collections in memory: made, chosen from, copied, counted, refused. */
#include "data/data.h"
#include "harness.h"

TEST(dense)
{
    double x[] = {1, 2, -1, 3, 4, -1, 5, 6, -1};
    okra_data *data = NULL, *chosen = NULL, *copy = NULL;
    okra_int ld, index[] = {2, 0, 2};
    char text[80];
    CHECK_OK(okra_data_dense(x, 3, 2, 3, &data));
    CHECK(okra_data_kind(data) == OKRA_DENSE);
    CHECK(okra_data_count(data) == 3 && okra_data_width(data) == 2);
    CHECK(okra_data_values(data, &ld) == x && ld == 3);
    CHECK(okra_data_codes(data) == NULL);
    CHECK_TEXT(okra_data_describe_(data, text, sizeof text),
               "3 dense vectors of length 2");
    CHECK_OK(okra_data_take(data, index, 3, &chosen));
    const double *v = okra_data_values(chosen, &ld), want[] = {5, 6, 1, 2, 5, 6};
    CHECK(ld == 2 && memcmp(v, want, sizeof want) == 0 && !chosen->borrowed);
    CHECK_OK(okra_data_copy(data, &copy));
    x[0] = 100;
    v = okra_data_values(copy, &ld);
    CHECK(ld == 2 && v[0] == 1 && v[3] == 4);
    okra_data *again = NULL;
    CHECK_OK(okra_data_copy(copy, &again));
    CHECK(again == copy);
    CHECK(okra_data_retain(copy) == copy);
    okra_data_free(copy);
    okra_data_free(copy);
    okra_data_free(again);
    okra_data_free(chosen);
    okra_data_free(data);
    okra_data_free(NULL);
    CHECK(okra_data_retain(NULL) == NULL);
}

TEST(dense_refusals)
{
    double x[] = {1, 2, NAN, -INFINITY};
    okra_data *data = NULL;
    CHECK_FAILS(okra_data_dense(x, 2, 2, 2, &data), OKRA_EFORMAT,
                "dense data: row 1, column 0 (counted from 0) is nan; "
                "values must be finite");
    CHECK_FAILS(okra_data_dense(x + 3, 1, 1, 1, &data), OKRA_EFORMAT, "is -inf;");
    x[3] = INFINITY;
    CHECK_FAILS(okra_data_dense(x + 3, 1, 1, 1, &data), OKRA_EFORMAT, "is inf;");
    CHECK_FAILS(okra_data_dense(x, 1, 2, 1, &data), OKRA_ESHAPE,
                "dense data: the row stride is 1 but rows have 2 values");
    CHECK_FAILS(okra_data_dense(NULL, 1, 2, 2, &data), OKRA_EARG,
                "dense data: values are NULL");
    CHECK_FAILS(okra_data_dense(x, -1, 2, 2, &data), OKRA_ESHAPE,
                "-1 rows of 2: negative");
    CHECK_FAILS(
        okra_data_dense(x, INT64_C(1) << 32, INT64_C(1) << 32, INT64_C(1) << 32, &data),
        OKRA_ESHAPE, "4294967296 rows of 4294967296 are more than memory");
    CHECK(data == NULL);
    CHECK_OK(okra_data_dense(NULL, 0, 5, 5, &data));
    CHECK(data->n == 0 && data->d == 5);
    CHECK_FAILS(okra_data_take(NULL, NULL, 0, &data), OKRA_EARG, "is NULL");
    CHECK_FAILS(okra_data_take(data, NULL, 1, &data), OKRA_EARG, "are NULL");
    CHECK_FAILS(okra_data_take(data, NULL, -1, &data), OKRA_EARG, "is negative");
    okra_int index = 0;
    CHECK_FAILS(okra_data_take(data, &index, 1, &data), OKRA_EARG,
                "index 0 is 0; there are 0 objects (counted from 0)");
    okra_data *empty = NULL;
    CHECK_OK(okra_data_take(data, NULL, 0, &empty));
    CHECK(empty && empty->n == 0 && empty->d == 5);
    CHECK_FAILS(okra_data_copy(NULL, &data), OKRA_EARG, "is NULL");
    okra_data_free(empty);
    okra_data_free(data);
}

TEST(adopted)
{
    okra_data *data = NULL;
    double *x = okra_alloc_(2, sizeof *x), *given = x;
    x[0] = 3, x[1] = 4;
    CHECK_OK(okra_data_adopt_dense_(&x, 1, 2, "file.npy", &data));
    CHECK(!x && data->values == given && !data->borrowed && data->ld == 2);
    CHECK_TEXT(data->source, "file.npy");
    okra_data_free(data);
}

TEST(sparse)
{
    okra_int indptr[] = {0, 3, 3, 4}, indices[] = {4, 0, 2, 1}, index[] = {2, 0, 1, 0};
    double values[] = {40, 0.5, 20, 10};
    okra_data *data = NULL, *chosen = NULL;
    CHECK_OK(okra_data_sparse(indptr, indices, values, 3, 5, &data));
    okra_int sorted[] = {0, 2, 4, 1};
    double with[] = {0.5, 20, 40, 10};
    CHECK(memcmp(data->csr.indices, sorted, sizeof sorted) == 0);
    CHECK(memcmp(data->csr.values, with, sizeof with) == 0);
    CHECK(okra_data_values(data, NULL) == NULL);
    CHECK_OK(okra_data_take(data, index, 4, &chosen));
    okra_int ptr[] = {0, 1, 4, 4, 7}, ind[] = {1, 0, 2, 4, 0, 2, 4};
    CHECK(memcmp(chosen->csr.indptr, ptr, sizeof ptr) == 0);
    CHECK(memcmp(chosen->csr.indices, ind, sizeof ind) == 0);
    okra_data_free(chosen);
    okra_data_free(data);
    chosen = data = NULL;
    indices[0] = 2;
    CHECK_FAILS(okra_data_sparse(indptr, indices, values, 3, 5, &data), OKRA_EARG,
                "sparse data: row 0 has index 2 twice");
    indices[0] = 5;
    CHECK_FAILS(okra_data_sparse(indptr, indices, values, 3, 5, &data), OKRA_EARG,
                "sparse data: row 0 has index 5; expected 0..4");
    indices[0] = -1;
    CHECK_FAILS(okra_data_sparse(indptr, indices, values, 3, 5, &data), OKRA_EARG,
                "has index -1");
    indices[0] = 4;
    values[3] = NAN;
    CHECK_FAILS(okra_data_sparse(indptr, indices, values, 3, 5, &data), OKRA_EFORMAT,
                "sparse data: row 2, column 1 (counted from 0) is nan");
    CHECK_FAILS(okra_data_sparse(indptr, NULL, values, 3, 5, &data), OKRA_EARG,
                "indices are NULL");
    CHECK_FAILS(okra_data_sparse(indptr, indices, NULL, 3, 5, &data), OKRA_EARG,
                "values are NULL");
    CHECK_FAILS(okra_data_sparse(NULL, indices, values, 3, 5, &data), OKRA_EARG,
                "indptr is NULL");
    CHECK_FAILS(okra_data_sparse(indptr, indices, values, -3, 5, &data), OKRA_ESHAPE,
                "negative");
    indptr[2] = 2;
    CHECK_FAILS(okra_data_sparse(indptr, indices, values, 3, 5, &data), OKRA_EARG,
                "indptr[2] is 2; it must begin at 0 and never fall");
    okra_int none = 0;
    CHECK_OK(okra_data_sparse(&none, NULL, NULL, 0, 7, &data));
    CHECK(data->n == 0 && data->d == 7);
    okra_data_free(data);
}

TEST(bits)
{
    /* 70 bits: the last byte has 6 used bits; stray ones must not survive. */
    unsigned char packed[2][10] = {{1, 0, 0, 0, 0, 0, 0, 128, 3, 0}, {0}};
    okra_data *data = NULL, *chosen = NULL;
    packed[1][8] = 0xff;
    okra_int one = 1;
    CHECK_OK(okra_data_bits(packed[0], 2, 70, 10, &data));
    CHECK(data->words == 2 && data->bits[0] == (UINT64_C(1) << 63 | 1));
    CHECK(data->bits[1] == 3 && data->bits[2] == 0 && data->bits[3] == 0x3f);
    CHECK_OK(okra_data_take(data, &one, 1, &chosen));
    CHECK(chosen->bits[0] == 0 && chosen->bits[1] == 0x3f && chosen->words == 2);
    okra_data_free(chosen);
    okra_data_free(data);
    CHECK_FAILS(okra_data_bits(packed[0], 2, 70, 8, &data), OKRA_ESHAPE,
                "bits data: 8 bytes a row are too few for 70 bits");
    CHECK_FAILS(okra_data_bits(NULL, 2, 70, 9, &data), OKRA_EARG, "packed is NULL");
    CHECK_FAILS(okra_data_bits(packed[0], -2, 70, 9, &data), OKRA_ESHAPE, "negative");
}

TEST(labels)
{
    okra_int codes[] = {1, 0, 1, 2}, index[] = {3, 0};
    const char *names[] = {"ash", "beech", "oak"};
    okra_data *data = NULL, *chosen = NULL;
    char text[80];
    CHECK_OK(okra_data_labels(codes, 4, names, 3, &data));
    CHECK(okra_data_width(data) == 3 && okra_data_codes(data)[3] == 2);
    CHECK_TEXT(okra_data_describe_(data, text, sizeof text), "4 labels of 3 classes");
    CHECK_OK(okra_data_take(data, index, 2, &chosen));
    CHECK(chosen->codes[0] == 2 && chosen->codes[1] == 1 && chosen->d == 3);
    CHECK_TEXT(chosen->class_names[chosen->codes[0]], "oak");
    okra_data_free(chosen);
    okra_data_free(data);
    CHECK_FAILS(okra_data_labels(codes, 4, NULL, 2, &data), OKRA_EARG,
                "labels data: label 3 is 2; expected 0..1");
    codes[1] = -1;
    CHECK_FAILS(okra_data_labels(codes, 4, NULL, 3, &data), OKRA_EARG, "label 1 is -1");
    names[1] = NULL;
    CHECK_FAILS(okra_data_labels(codes, 1, names, 3, &data), OKRA_EARG,
                "labels data: the name of class 1 is NULL");
    CHECK_FAILS(okra_data_labels(NULL, 1, NULL, 3, &data), OKRA_EARG, "are NULL");
    CHECK_FAILS(okra_data_labels(codes, 1, NULL, -3, &data), OKRA_ESHAPE, "-3 classes");
}

TEST(gram)
{
    double k[] = {2, 1, 0, 1, 3, 0}, diagonal[] = {7, 8};
    okra_int one = 1;
    okra_data *data = NULL, *chosen = NULL;
    CHECK_OK(okra_data_gram(k, 2, 2, 3, diagonal, &data));
    CHECK(data->diagonal == diagonal && okra_data_values(data, NULL) == k);
    CHECK_OK(okra_data_take(data, &one, 1, &chosen));
    CHECK(chosen->n == 1 && chosen->d == 2 && chosen->ld == 2);
    CHECK(chosen->values[0] == 1 && chosen->values[1] == 3 && chosen->diagonal[0] == 8);
    okra_data_free(chosen);
    okra_data_free(data);
    diagonal[1] = NAN;
    CHECK_FAILS(okra_data_gram(k, 2, 2, 3, diagonal, &data), OKRA_EFORMAT,
                "gram data: diagonal element 1 (counted from 0) is nan");
    k[1] = INFINITY;
    CHECK_FAILS(okra_data_gram(k, 2, 2, 3, NULL, &data), OKRA_EFORMAT,
                "gram data: row 0, column 1 (counted from 0) is inf");
}

TEST(names)
{
    CHECK_TEXT(okra_kind_name(OKRA_SPARSE), "sparse");
    CHECK_TEXT(okra_kind_name((okra_kind)99), "unknown");
}

TEST(allocations)
{
    double x[] = {1, 2, 3, 4}, diagonal[] = {1, 2};
    okra_int indptr[] = {0, 2, 2}, indices[] = {1, 0}, codes[] = {1, 0}, index[] = {1, 0};
    unsigned char packed[] = {1, 2};
    const char *names[] = {"a", "b"};
    okra_data *data = NULL, *made[5] = {0};
    CHECK_ALLOCATIONS(okra_data_dense(x, 2, 2, 2, &data), okra_data_free(data));
    CHECK_ALLOCATIONS(okra_data_gram(x, 2, 2, 2, diagonal, &data), okra_data_free(data));
    CHECK_ALLOCATIONS(okra_data_sparse(indptr, indices, x, 2, 2, &data),
                      okra_data_free(data));
    CHECK_ALLOCATIONS(okra_data_bits(packed, 2, 8, 1, &data), okra_data_free(data));
    CHECK_ALLOCATIONS(okra_data_labels(codes, 2, names, 2, &data), okra_data_free(data));
    CHECK_OK(okra_data_dense(x, 2, 2, 2, &made[0]));
    CHECK_OK(okra_data_gram(x, 2, 2, 2, diagonal, &made[1]));
    CHECK_OK(okra_data_sparse(indptr, indices, x, 2, 2, &made[2]));
    CHECK_OK(okra_data_bits(packed, 2, 8, 1, &made[3]));
    CHECK_OK(okra_data_labels(codes, 2, names, 2, &made[4]));
    for (int i = 0; i < 5; i++) {
        CHECK_ALLOCATIONS(okra_data_take(made[i], index, 2, &data), okra_data_free(data));
        CHECK_ALLOCATIONS(okra_data_copy(made[i], &data), okra_data_free(data));
        okra_data_free(made[i]);
    }
}

MAIN(RUN(dense), RUN(dense_refusals), RUN(adopted), RUN(sparse), RUN(bits), RUN(labels),
     RUN(gram), RUN(names), RUN(allocations))
