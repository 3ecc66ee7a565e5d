/*
 * The model file: every kind of data comes back and predicts the same bits; no part of a
 * file, no altered byte and no file of another make is taken for a model.
 */
#include "pairs.h"

#include "data/files/archive.h"
#include "okra/version.h"

static unsigned char *read_whole(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        abort();
    }
    fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f);
    rewind(f);
    unsigned char *bytes = malloc(*size + 1);
    if (!bytes || fread(bytes, 1, *size, f) != *size) {
        abort();
    }
    fclose(f);
    return bytes;
}

/* Saves, loads, predicts with both: the same bits, the same description but for arrays.
 */
static void check_round_trip(const okra_model *model, const okra_data *x,
                             const char *decode)
{
    okra_model *back = NULL;
    okra_int rows, cols, top;
    CHECK_OK(okra_model_save(NULL, model, NULL, files_path("m.okra")));
    CHECK(files_count() == 1);
    CHECK_OK(okra_model_load(NULL, files_path("m.okra"), &back));
    if (!back) {
        return;
    }
    CHECK(okra_model_count(back) == okra_model_count(model));
    okra_prediction *a = pairs_predict(model, x, decode, true, false);
    okra_prediction *b = pairs_predict(back, x, decode, true, false);
    if (a && b) {
        const double *W = okra_prediction_weights(a, &rows, &cols);
        CHECK(memcmp(W, okra_prediction_weights(b, &rows, &cols),
                     (size_t)(rows * cols) * sizeof *W) == 0);
        const okra_int *index = okra_prediction_index(a, &top);
        CHECK(memcmp(index, okra_prediction_index(b, &top),
                     (size_t)(rows * top) * sizeof *index) == 0);
        CHECK(okra_data_kind(okra_prediction_objects(a)) ==
              okra_data_kind(okra_prediction_objects(b)));
    }
    /* a loaded model can be saved again: the same bytes */
    size_t first, second;
    CHECK_OK(okra_model_save(NULL, back, NULL, files_path("again.okra")));
    unsigned char *p = read_whole(files_path("m.okra"), &first);
    unsigned char *q = read_whole(files_path("again.okra"), &second);
    CHECK(first == second && memcmp(p, q, first) == 0);
    free(p);
    free(q);
    remove(files_path("again.okra"));
    okra_prediction_free(a);
    okra_prediction_free(b);
    okra_model_free(back);
}

TEST(dense_vectors)
{
    pairs p;
    pairs_make(1, &p);
    static const char *const settings[] = {
        "kx=rbf(sigma=1)", "kx=rbf(sigma=1)|center ky=rbf(sigma=1)|center|normalize",
        "kx=poly(degree=2)+0.5*linear ky=laplacian(gamma=0.5) operator=ccov",
        "method=knn k=2 kx=laplacian(gamma=1)", "center-output=yes kx=rbf(gamma=0.3)"};
    for (size_t s = 0; s < sizeof settings / sizeof *settings; s++) {
        okra_model *model = pairs_fit(p.train_x, p.train_y, settings[s]);
        check_round_trip(model, p.test_x, "top=3");
        okra_model_free(model);
    }
    files_clean();
    pairs_free(&p);
}

TEST(sparse_vectors_and_labels)
{
    static const okra_int indptr[] = {0, 2, 2, 3, 5}, indices[] = {0, 4, 1, 2, 3};
    static const double values[] = {1, -2, 0.5, 3, 1e-300};
    static const okra_int codes[] = {2, 0, 1, 2};
    static const char *const names[] = {"cat", "", "d\xc3\xb6g \xff"};
    okra_data *x = NULL, *y = NULL, *plain = NULL;
    CHECK_OK(okra_data_sparse(indptr, indices, values, 4, 5, &x));
    CHECK_OK(okra_data_labels(codes, 4, names, 3, &y));
    CHECK_OK(okra_data_labels(codes, 4, NULL, 3, &plain));
    okra_model *model = pairs_fit(x, y, "kx=rbf(sigma=1) ky=zero-one");
    check_round_trip(model, x, "top=2");
    okra_model *back = NULL;
    CHECK_OK(okra_model_load(NULL, files_path("m.okra"), &back));
    for (int c = 0; back && c < 3; c++) {
        CHECK_TEXT(back->training->y->class_names[c], names[c]);
    }
    okra_model_free(back);
    okra_model_free(model);
    model = pairs_fit(x, plain, "kx=linear ky=zero-one");
    check_round_trip(model, x, "");
    okra_model_free(model);
    okra_data_free(x);
    okra_data_free(y);
    okra_data_free(plain);
    files_clean();
}

TEST(bits_and_gram_matrices)
{
    enum { BITS = 70, BYTES = 9 };
    unsigned char packed[5 * BYTES];
    double gram[5 * 5], diagonal[5];
    okra_random_ r = okra_random_create_(3, 0);
    for (size_t i = 0; i < sizeof packed; i++) {
        packed[i] =
            (unsigned char)(okra_random_bits_(&r) & (i % BYTES == 8 ? 0x3f : 0xff));
    }
    for (int i = 0; i < 25; i++) {
        gram[i] = i / 5 == i % 5 ? 2 : 0.1 * (double)(i / 5 + i % 5);
        diagonal[i / 5] = 2;
    }
    okra_data *x = NULL, *y = NULL, *g = NULL, *plain = NULL;
    CHECK_OK(okra_data_bits(packed, 5, BITS, BYTES, &x));
    CHECK_OK(okra_data_bits(packed, 5, BITS, BYTES, &y));
    CHECK_OK(okra_data_gram(gram, 5, 5, 5, diagonal, &g));
    CHECK_OK(okra_data_gram(gram, 5, 5, 5, NULL, &plain));
    okra_model *model = pairs_fit(x, y, "kx=tanimoto ky=tanimoto");
    check_round_trip(model, x, "top=2");
    okra_model_free(model);
    model = pairs_fit(g, y, "kx=precomputed ky=linear");
    check_round_trip(model, g, "");
    okra_model_free(model);
    model = pairs_fit(plain, g, "kx=precomputed|center ky=precomputed");
    check_round_trip(model, plain, "");
    okra_model_free(model);
    okra_data_free(x);
    okra_data_free(y);
    okra_data_free(g);
    okra_data_free(plain);
    files_clean();
}

/* Objects of a loaded model lie in the mapped file and may outlive the model. */
TEST(data_keeps_the_file_mapped)
{
    pairs p;
    okra_model *back = NULL;
    pairs_make(4, &p);
    okra_model *model = pairs_fit(p.train_x, p.train_y, "");
    CHECK_OK(okra_model_save(NULL, model, NULL, files_path("m.okra")));
    CHECK_OK(okra_model_load(NULL, files_path("m.okra"), &back));
    okra_data *y = back ? okra_data_retain(back->training->y) : NULL;
    okra_model_free(back);
    CHECK(y && memcmp(y->values, p.y, sizeof p.y) == 0);
    CHECK(y && (uintptr_t)y->values % 64 == 0);
    okra_data_free(y);
    okra_model_free(model);
    files_clean();
    pairs_free(&p);
}

/* A small model: every cut and every altered byte is found out. */
static okra_model *tiny(okra_data **x, okra_data **y)
{
    static const double v[] = {1, 2}, w[] = {3, 5};
    CHECK_OK(okra_data_dense(v, 2, 1, 1, x));
    CHECK_OK(okra_data_dense(w, 2, 1, 1, y));
    return pairs_fit(*x, *y, "lambda=1");
}

TEST(altered_and_truncated_files)
{
    okra_data *x = NULL, *y = NULL;
    size_t size;
    okra_model *model = tiny(&x, &y);
    CHECK_OK(okra_model_save(NULL, model, NULL, files_path("m.okra")));
    unsigned char *bytes = read_whole(files_path("m.okra"), &size);
    int accepted = 0, other = 0;
    for (size_t i = 0; i < 2 * size; i++) {
        okra_model *back = NULL;
        size_t at = i % size;
        unsigned char kept = bytes[at];
        bytes[at] ^= (unsigned char)(i < size ? 1u << (at % 8) : 0xff);
        okra_status st = okra_model_load(NULL, files_make("a.okra", bytes, size), &back);
        accepted += st == OKRA_OK;
        /* what a flag or a method of the archive says may have become another one */
        other += st != OKRA_EFORMAT && st != OKRA_EUNSUPPORTED && st != OKRA_EVERSION;
        bytes[at] = kept;
        okra_model_free(back);
    }
    CHECK(accepted == 0);
    CHECK(other == 0);
    for (size_t length = 0; length < size; length++) {
        okra_model *back = NULL;
        okra_status st =
            okra_model_load(NULL, files_make("a.okra", bytes, length), &back);
        accepted += st == OKRA_OK;
        other += st != OKRA_EFORMAT;
        okra_model_free(back);
    }
    CHECK(accepted == 0);
    CHECK(other == 0);
    free(bytes);
    okra_model_free(model);
    okra_data_free(x);
    okra_data_free(y);
    files_clean();
}

/* Writes the archive `from` again with one text of model.json replaced, or without an
 * entry: sound as an archive, wrong as a model. */
static void rewrite(const char *from, const char *to, const char *text,
                    const char *replacement, const char *without)
{
    okra_zip_ *zip = NULL;
    okra_writer_ *file = NULL;
    okra_zip_writer_ *out = NULL;
    char source[512];
    snprintf(source, sizeof source, "%s", files_path(from));
    CHECK_OK(okra_zip_open_(NULL, source, &zip));
    CHECK_OK(okra_writer_open_(files_path(to), &file));
    CHECK_OK(okra_zip_writer_create_(file, &out));
    const char *name;
    for (size_t k = 0; (name = okra_zip_each_(zip, k)); k++) {
        const unsigned char *bytes = NULL;
        okra_int size = 0;
        void *owned = NULL;
        CHECK_OK(okra_zip_entry_(NULL, zip, (okra_int)k, &bytes, &size, &owned));
        if (without && strcmp(name, without) == 0) {
            continue;
        }
        char json[8192];
        if (text && strcmp(name, "model.json") == 0) {
            snprintf(json, sizeof json, "%.*s", (int)size, (const char *)bytes);
            char *at = strstr(json, text);
            CHECK(at != NULL);
            if (at) {
                char rest[8192];
                snprintf(rest, sizeof rest, "%s", at + strlen(text));
                snprintf(at, sizeof json - (size_t)(at - json), "%s%s", replacement,
                         rest);
            }
            bytes = (const unsigned char *)json;
            size = (okra_int)strlen(json);
        }
        CHECK_OK(okra_zip_add_(out, name, bytes, (size_t)size, NULL, 0, 0, 0, NULL));
    }
    CHECK_OK(okra_zip_finish_(out));
    CHECK_OK(okra_writer_commit_(file));
    okra_zip_writer_free_(out);
    okra_zip_close_(zip);
}

TEST(files_that_are_no_models)
{
    static const struct {
        const char *text, *replacement, *without;
        okra_status status;
        const char *message;
    } cases[] = {
        {"\"version\": 1", "\"version\": 2", NULL, OKRA_EVERSION,
         "the model has format version 2 (written by okra " OKRA_VERSION
         "), expected 1 to 1; a newer okra may read it"},
        {"\"version\": 1", "\"version\": 0", NULL, OKRA_EFORMAT, "format version 0"},
        {"\"version\": 1", "\"version\": \"1\"", NULL, OKRA_EFORMAT, "format version 0"},
        {"okra-model", "other", NULL, OKRA_EFORMAT,
         "model.json is not the description of a model"},
        {"{", "[", NULL, OKRA_EFORMAT, "model.json is not the description of a model: "},
        {NULL, NULL, "model.json", OKRA_EFORMAT,
         "a zip archive without model.json is not a model"},
        {"\"method\": \"ridge\"", "\"method\": \"magic\"", NULL, OKRA_EFORMAT,
         "there is no method 'magic'"},
        {"\"method\": \"ridge\"", "\"method\": 5", NULL, OKRA_EFORMAT,
         "there is no method ''"},
        {NULL, NULL, "x/values.npy", OKRA_EFORMAT, "the array x/values.npy is missing"},
        {NULL, NULL, "bag/factor.npy", OKRA_EFORMAT,
         "the array bag/factor.npy is missing"},
        {"\"x/values\"", "\"z/values\"", NULL, OKRA_EFORMAT,
         "model.json does not list the array x/values of type <f8"},
        {"\"dtype\": \"<f8\"", "\"dtype\": \"<f4\"", NULL, OKRA_EFORMAT,
         "model.json does not list the array"},
        {"\"shape\": [\n        2,", "\"shape\": [\n        3,", NULL, OKRA_EFORMAT,
         "is not what model.json says"},
        {"\"shape\": [\n        2,", "\"shape\": [\n        -2,", NULL, OKRA_EFORMAT,
         "the shape of the array x/values is not one"},
        {"\"count\": 2", "\"count\": 1", NULL, OKRA_EFORMAT,
         "the array x/values has a shape that does not fit"},
        {"\"kind\": \"dense\"", "\"kind\": \"dance\"", NULL, OKRA_EFORMAT,
         "model.json does not describe the objects 'x'"},
        {"\"kind\": \"dense\"", "\"kind\": \"sparse\"", NULL, OKRA_EFORMAT,
         "model.json does not list the array x/indptr"},
        {"\"kind\": \"dense\"", "\"kind\": \"bits\"", NULL, OKRA_EFORMAT,
         "model.json does not list the array x/bits"},
        {"\"kind\": \"dense\"", "\"kind\": \"labels\"", NULL, OKRA_EFORMAT,
         "model.json does not list the array x/codes"},
        {"\"x\": \"linear\"", "\"x\": \"linea(\"", NULL, OKRA_EFORMAT, "model.json: "},
        {"\"x\": \"linear\"", "\"z\": \"linear\"", NULL, OKRA_EFORMAT,
         "there is no kernel 'x'"},
        {"\"x\": \"linear\"", "\"x\": \"precomputed\"", NULL, OKRA_EFORMAT, "kx: "},
        {"\"x\": \"linear\"", "\"x\": \"linear|center\"", NULL, OKRA_EFORMAT,
         "'kx.center1' is missing"},
    };
    okra_data *x = NULL, *y = NULL;
    okra_model *model = tiny(&x, &y), *back = NULL;
    CHECK_OK(okra_model_save(NULL, model, NULL, files_path("m.okra")));
    rewrite("m.okra", "same.okra", NULL, NULL, NULL);
    CHECK_OK(okra_model_load(NULL, files_path("same.okra"), &back));
    okra_model_free(back);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        back = NULL;
        rewrite("m.okra", "other.okra", cases[i].text, cases[i].replacement,
                cases[i].without);
        CHECK_FAILS(okra_model_load(NULL, files_path("other.okra"), &back),
                    cases[i].status, cases[i].message);
        CHECK(strstr(okra_message(), "other.okra") != NULL);
        okra_model_free(back);
    }
    CHECK_FAILS(okra_model_load(NULL, files_path("nothing.okra"), &back), OKRA_EIO,
                "nothing.okra");
    CHECK_FAILS(okra_model_load(NULL, "/", &back), OKRA_EIO, "/");
    CHECK_FAILS(okra_model_save(NULL, model, NULL, "/nonexistent/m.okra"), OKRA_EIO,
                "/nonexistent/m.okra");
    okra_model_free(model);
    okra_data_free(x);
    okra_data_free(y);
    files_clean();
}

TEST(failing_allocations)
{
    static const okra_int codes[] = {1, 0};
    static const char *const names[] = {"a", "b"};
    okra_data *x = NULL, *y = NULL, *labels = NULL;
    okra_model *model = tiny(&x, &y), *back = NULL;
    char path[512];
    snprintf(path, sizeof path, "%s", files_path("m.okra"));
    CHECK_ALLOCATIONS(okra_model_save(NULL, model, NULL, path), (void)0);
    CHECK(files_count() == 1);
    CHECK_ALLOCATIONS(okra_model_load(NULL, path, &back), okra_model_free(back));
    okra_model_free(model);
    CHECK_OK(okra_data_labels(codes, 2, names, 2, &labels));
    model = pairs_fit(x, labels, "kx=rbf(sigma=1)|center ky=zero-one");
    CHECK_ALLOCATIONS(okra_model_save(NULL, model, NULL, path), (void)0);
    CHECK_ALLOCATIONS(okra_model_load(NULL, path, &back), okra_model_free(back));
    okra_model_free(model);
    okra_data_free(x);
    okra_data_free(y);
    okra_data_free(labels);
    files_clean();
}

MAIN(RUN(dense_vectors), RUN(sparse_vectors_and_labels), RUN(bits_and_gram_matrices),
     RUN(data_keeps_the_file_mapped), RUN(altered_and_truncated_files),
     RUN(files_that_are_no_models), RUN(failing_allocations))
