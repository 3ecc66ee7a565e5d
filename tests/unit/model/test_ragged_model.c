/* Models of strings, sequences and tuples: saved, loaded, the same predictions. */
#include "pairs.h"
#include "okra/more/objects.h"

static okra_data *words(void)
{
    static const char *const texts[] = {"abab", "ba", "\303\251bb"};
    okra_data *data = NULL;
    CHECK_OK(okra_data_strings(texts, 3, &data));
    return data;
}

static okra_data *sequences(void)
{
    static const okra_int offsets[] = {0, 2, 2, 3};
    static const double x[] = {1, 2, 3, 4, 5, 6};
    static const int32_t labels[] = {'a', 'b', 'c'};
    okra_data *data = NULL;
    CHECK_OK(okra_data_sequences(offsets, x, labels, 3, 2, &data));
    return data;
}

static void check_same(const okra_data *a, const okra_data *b)
{
    CHECK(a->n == b->n && a->kind == b->kind);
    for (okra_int i = 0; i < a->n; i++) {
        okra_int m = 0, n = 0;
        const int32_t *s = okra_data_characters(a, i, &m);
        const int32_t *t = okra_data_characters(b, i, &n);
        CHECK(m == n && memcmp(s, t, (size_t)m * sizeof *s) == 0);
    }
}

static void check_round_trip(const okra_data *x, const okra_data *y, const char *settings)
{
    okra_model *model = pairs_fit(x, y, settings), *back = NULL;
    okra_prediction *before = NULL, *after = NULL;
    char path[512];
    snprintf(path, sizeof path, "%s", files_path("m.okra"));
    CHECK_ALLOCATIONS(okra_model_save(NULL, model, NULL, path), (void)0);
    CHECK_ALLOCATIONS(okra_model_load(NULL, path, &back), okra_model_free(back));
    CHECK_OK(okra_model_load(NULL, path, &back));
    CHECK_OK(okra_predict(NULL, model, x, NULL, NULL, &before));
    CHECK_OK(okra_predict(NULL, back, x, NULL, NULL, &after));
    check_same(okra_prediction_objects(before), okra_prediction_objects(after));
    check_same(okra_prediction_objects(after), y); /* lambda is small: learned by heart */
    okra_prediction_free(before);
    okra_prediction_free(after);
    okra_model_free(model);
    okra_model_free(back);
}

TEST(models_of_ragged_objects)
{
    okra_data *s = words(), *q = sequences(), *t = NULL;
    okra_data *parts[] = {q, s};
    CHECK_OK(okra_data_tuple(parts, 2, &t));
    check_round_trip(s, s, "kx=ssk(length=1) ky=ssk(length=1) lambda=1e-9");
    check_round_trip(t, s, "kx=position(linear)@1+spectrum(k=1)@2 ky=edit lambda=1e-9");
    check_round_trip(s, q, "kx=edit ky=position(zero-one)+1 lambda=1e-9");
    okra_data_free(s);
    okra_data_free(q);
    okra_data_free(t);
    files_clean();
}

MAIN(RUN(models_of_ragged_objects))
