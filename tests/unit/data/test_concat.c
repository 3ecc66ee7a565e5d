/* Two collections put together: every kind, and what is refused. */
#include "data/data.h"
#include "harness.h"

TEST(values)
{
    double a[] = {1, 2, -1, 3, 4, -1}, b[] = {5, 6}, self[] = {7, 8, 9};
    okra_data *first = NULL, *second = NULL, *all = NULL, *gram = NULL;
    okra_int ld;
    CHECK_OK(okra_data_dense(a, 2, 2, 3, &first));
    CHECK_OK(okra_data_dense(b, 1, 2, 2, &second));
    CHECK_OK(okra_data_concat(first, second, &all));
    const double want[] = {1, 2, 3, 4, 5, 6}, *v = okra_data_values(all, &ld);
    CHECK(all->n == 3 && all->d == 2 && ld == 2 && !all->borrowed);
    CHECK(memcmp(v, want, sizeof want) == 0);
    okra_data_free(all);
    CHECK_ALLOCATIONS(okra_data_concat(first, second, &all), okra_data_free(all));
    CHECK_OK(okra_data_gram(b, 1, 2, 2, self, &gram));
    CHECK_FAILS(okra_data_concat(first, gram, &all), OKRA_ESHAPE,
                "expected one kind and width");
    CHECK_FAILS(okra_data_concat(NULL, gram, &all), OKRA_EARG, "are NULL");
    okra_data_free(second);
    CHECK_OK(okra_data_gram(a, 2, 2, 3, self + 1, &second));
    CHECK_OK(okra_data_concat(gram, second, &all));
    CHECK(all->n == 3 && memcmp(all->diagonal, self, 2 * sizeof *self) == 0);
    CHECK(all->values[4] == 3 && all->diagonal[2] == 9);
    okra_data_free(all);
    CHECK_ALLOCATIONS(okra_data_concat(gram, second, &all), okra_data_free(all));
    okra_data_free(second);
    CHECK_OK(okra_data_gram(a, 2, 2, 3, NULL, &second));
    second->diagonal = NULL;
    CHECK_OK(okra_data_concat(gram, second, &all));
    CHECK(all->diagonal == NULL);
    okra_data_free(all);
    okra_data_free(first);
    CHECK_OK(okra_data_dense(a, 2, 1, 3, &first));
    okra_data_free(gram);
    CHECK_OK(okra_data_dense(NULL, 0, 1, 1, &gram));
    CHECK_OK(okra_data_concat(gram, first, &all));
    CHECK(all->n == 2 && all->values[1] == 3);
    okra_data_free(all);
    okra_data_free(first);
    okra_data_free(second);
    okra_data_free(gram);
}

TEST(sparse_and_bits)
{
    okra_int pa[] = {0, 2, 2}, ia[] = {0, 4}, pb[] = {0, 1}, ib[] = {1};
    double va[] = {1, 2}, vb[] = {3};
    okra_data *a = NULL, *b = NULL, *all = NULL;
    CHECK_OK(okra_data_sparse(pa, ia, va, 2, 5, &a));
    CHECK_OK(okra_data_sparse(pb, ib, vb, 1, 2, &b));
    CHECK_OK(okra_data_concat(a, b, &all));
    CHECK(all->n == 3 && all->d == 5);
    CHECK(all->csr.indptr[1] == 2 && all->csr.indptr[2] == 2 && all->csr.indptr[3] == 3);
    CHECK(all->csr.indices[2] == 1 && all->csr.values[2] == 3 && all->csr.values[1] == 2);
    okra_data_free(all);
    CHECK_ALLOCATIONS(okra_data_concat(b, a, &all), okra_data_free(all));
    okra_data_free(a);
    okra_data_free(b);
    unsigned char one[] = {5, 1}, two[] = {2, 0, 255, 1};
    CHECK_OK(okra_data_bits(one, 1, 9, 2, &a));
    CHECK_OK(okra_data_bits(two, 2, 9, 2, &b));
    CHECK_OK(okra_data_concat(a, b, &all));
    CHECK(all->n == 3 && all->words == 1);
    CHECK(all->bits[0] == 261 && all->bits[1] == 2 && all->bits[2] == 511);
    okra_data_free(all);
    CHECK_ALLOCATIONS(okra_data_concat(a, b, &all), okra_data_free(all));
    okra_data_free(a);
    okra_data_free(b);
}

TEST(labels)
{
    okra_int la[] = {0, 1, 0}, lb[] = {1, 0, 2};
    const char *na[] = {"cat", "dog"}, *nb[] = {"hen", "dog", "ant"};
    okra_data *a = NULL, *b = NULL, *all = NULL;
    CHECK_OK(okra_data_labels(la, 3, na, 2, &a));
    CHECK_OK(okra_data_labels(lb, 3, nb, 3, &b));
    CHECK_OK(okra_data_concat(a, b, &all));
    const okra_int want[] = {0, 1, 0, 1, 2, 3};
    CHECK(all->n == 6 && all->d == 4 && memcmp(all->codes, want, sizeof want) == 0);
    CHECK_TEXT(all->class_names[2], "hen");
    CHECK_TEXT(all->class_names[3], "ant");
    okra_data_free(all);
    CHECK_ALLOCATIONS(okra_data_concat(a, b, &all), okra_data_free(all));
    okra_data_free(b);
    CHECK_OK(okra_data_labels(lb, 3, NULL, 3, &b));
    CHECK_FAILS(okra_data_concat(a, b, &all), OKRA_EARG, "expected one sort");
    okra_data_free(a);
    CHECK_OK(okra_data_labels(la, 3, NULL, 2, &a));
    CHECK_OK(okra_data_concat(a, b, &all));
    CHECK(all->d == 3 && all->codes[5] == 2 && !all->class_names);
    okra_data_free(all);
    okra_data_free(a);
    okra_data_free(b);
}

/* One group "characters" of one int32 field; object i has i + 1 elements of value i. */
static okra_data *strings(okra_int n, const char *field)
{
    okra_data *data = NULL;
    okra_ragged_builder_ b;
    okra_field_ f = {.name = field, .type = OKRA_FIELD_INT32, .width = 1};
    CHECK_OK(okra_data_new_(OKRA_STRINGS, n, 0, "test", &data));
    CHECK_OK(okra_ragged_begin_(&b, "characters", 1, &f));
    for (int32_t i = 0; i < n; i++) {
        const void *element[] = {&i};
        for (int32_t j = 0; j <= i; j++) {
            CHECK_OK(okra_ragged_push_(&b, element));
        }
        CHECK_OK(okra_ragged_close_(&b));
    }
    data->groups[0] = TAKE(b).group;
    data->group_count = 1;
    return data;
}

TEST(groups_and_tuples)
{
    okra_data *a = strings(3, "code"), *b = strings(20, "code"), *c = strings(1, "other");
    okra_data *all = NULL, *pair = NULL, *wide = NULL;
    CHECK_OK(okra_data_concat(a, b, &all));
    const okra_int *at = all->groups[0].offsets;
    const int32_t *code = all->groups[0].fields[0].values;
    CHECK(all->n == 23 && at[3] == 6 && at[4] == 7 && at[23] == 6 + 210);
    CHECK(code[5] == 2 && code[6] == 0 && code[7] == 1 && code[215] == 19);
    okra_data_free(all);
    CHECK_ALLOCATIONS(okra_data_concat(a, b, &all), okra_data_free(all));
    CHECK_FAILS(okra_data_concat(a, c, &all), OKRA_EARG, "different fields");
    c->group_count = 0;
    CHECK_FAILS(okra_data_concat(a, c, &all), OKRA_EARG, "described in different ways");
    c->group_count = 1;
    CHECK_OK(okra_data_new_(OKRA_TUPLE, 3, 0, "test", &pair));
    CHECK((pair->components = okra_zalloc_(2, sizeof *pair->components)) != NULL);
    pair->components[0] = a;
    pair->components[1] = okra_data_retain(a);
    pair->component_count = 2;
    CHECK_OK(okra_data_concat(pair, pair, &all));
    CHECK(all->n == 6 && all->components[1]->groups[0].offsets[6] == 12);
    okra_data_free(all);
    CHECK_ALLOCATIONS(okra_data_concat(pair, pair, &all), okra_data_free(all));
    CHECK_OK(okra_data_new_(OKRA_TUPLE, 3, 0, "test", &wide));
    CHECK_FAILS(okra_data_concat(pair, wide, &all), OKRA_ESHAPE, "have 2 parts");
    okra_data_free(wide);
    okra_data_free(pair);
    okra_data_free(b);
    okra_data_free(c);
}

/* Two nodes of an empty network of three. */
static okra_data *nodes(okra_network_ *network)
{
    okra_data *data = NULL;
    CHECK_OK(okra_data_new_(OKRA_NODES, 2, 0, "test", &data));
    okra_int *codes = okra_zalloc_(2, sizeof *codes);
    codes[1] = 2;
    data->codes = codes;
    okra_data_own_(data, codes);
    data->network = okra_network_retain_(network);
    return data;
}

TEST(networks)
{
    okra_network_ *net[2];
    for (int k = 0; k < 2; k++) {
        net[k] = okra_zalloc_(1, sizeof *net[k]);
        net[k]->nodes = 3 + k;
        net[k]->references = 1;
        net[k]->adjacency.indptr = okra_zalloc_(5, sizeof(okra_int));
    }
    okra_data *a = nodes(net[0]), *b = nodes(net[0]), *c = nodes(net[1]), *all = NULL;
    CHECK_OK(okra_data_concat(a, b, &all));
    CHECK(all->n == 4 && all->codes[1] == 2 && all->codes[3] == 2);
    okra_data_free(all);
    CHECK_ALLOCATIONS(okra_data_concat(a, b, &all), okra_data_free(all));
    CHECK_FAILS(okra_data_concat(a, c, &all), OKRA_EARG, "two networks");
    okra_data_free(a);
    okra_data_free(b);
    okra_data_free(c);
    okra_network_free_(net[0]);
    okra_network_free_(net[1]);
}

MAIN(RUN(values), RUN(sparse_and_bits), RUN(labels), RUN(groups_and_tuples),
     RUN(networks))
