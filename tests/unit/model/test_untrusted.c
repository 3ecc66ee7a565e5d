/*
 * Model files made to do harm: parts altered, then sealed again. Each is refused when it
 * is loaded, with a message that names the file and the part.
 */
#include "pairs.h"
#include "parts.h"

static char where[512];

static void take_apart(const okra_data *x, const okra_data *y, const char *settings,
                       parts *m)
{
    okra_model *model = pairs_fit(x, y, settings), *back = NULL;
    snprintf(where, sizeof where, "%s", files_path("m.okra"));
    CHECK_OK(okra_model_save(NULL, model, NULL, where));
    parts_read(where, m);
    parts_write(m, where); /* nothing altered: as good as before */
    CHECK_OK(okra_model_load(NULL, where, &back));
    okra_model_free(back);
    okra_model_free(model);
}

static void check_refused(parts *m, const char *message)
{
    okra_model *model = NULL;
    parts_write(m, where);
    CHECK_FAILS(okra_model_load(NULL, where, &model), OKRA_EFORMAT, message);
    CHECK(strncmp(okra_message(), where, strlen(where)) == 0);
    okra_model_free(model);
    parts_free(m);
}

/* A model of pairs with something else in it. */
#define ALTERED(settings, change, message)              \
    do {                                                \
        parts m;                                        \
        take_apart(p.train_x, p.train_y, settings, &m); \
        change;                                         \
        check_refused(&m, message);                     \
    } while (0)

TEST(widths_of_embeddings)
{
    pairs p;
    pairs_make(1, &p);
    ALTERED("method=svr",
            (parts_reshape(&m, "bag/coefficients", 200, N),
             parts_reshape(&m, "bag/bias", 1, 200)),
            "'coefficients' is 200 x 12, expected 2 x 12");
    ALTERED("method=svr", parts_reshape(&m, "bag/bias", 0, D),
            "'bias' is 0 x 2, expected 1 x 2");
    ALTERED("method=ridge low-rank-x=chol(rank=4)",
            (parts_reshape(&m, "bag/coefficients", 0, 300),
             parts_add(&m, "bag/mean", 1, 300, 1)),
            "'coefficients' is 0 x 300, expected 3 x 2");
    ALTERED("method=ridge low-rank-x=chol(rank=4)", parts_add(&m, "bag/slope", 1, 300, 1),
            "'slope' is 1 x 300, expected 1 x 2");
    ALTERED("method=kpca components=1", parts_set(&m, "bag/variances", 0, 0),
            "'variances' is or holds 0, expected a finite number above 0");
    ALTERED("method=margin", parts_reshape(&m, "bag/scale", 1, 3),
            "'scale' is 1 x 3, expected 1 x 12");
    pairs_free(&p);
}

TEST(more_inputs_than_outputs)
{
    pairs p;
    pairs_make(2, &p);
    ALTERED("kx=rbf(sigma=1)",
            (parts_reshape(&m, "x/values", 40, P), parts_about(&m, "x", "count", 40)),
            "there are 40 inputs, expected 12");
    ALTERED("kx=rbf(sigma=1) method=tgp-kl",
            (parts_reshape(&m, "x/values", 40, P), parts_about(&m, "x", "count", 40)),
            "there are 40 training inputs and 12 outputs");
    ALTERED("kx=rbf(sigma=1)",
            (parts_number(&m, "x.rank", 12), parts_number(&m, "x.waves", 1)),
            "there are 24 inputs, expected 12");
    ALTERED("kx=rbf(sigma=1) method=tgp-kl",
            (parts_number(&m, "x.rank", 12), parts_number(&m, "x.waves", 1)),
            "which method tgp-kl does not use");
    static const char *const others[] = {"method=knn", "method=ok3 trees=3",
                                         "method=tgp-hsic", "method=svr"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        ALTERED(others[i],
                (parts_reshape(&m, "x/values", 2, P), parts_about(&m, "x", "count", 2),
                 parts_number(&m, "x.rank", 2)),
                "the model keeps a basis of low rank");
    }
    pairs_free(&p);
}

TEST(numbers_out_of_range)
{
    static const double x[] = {1, -1, 1, 1, -1, 1, -1, -1}, y[] = {1, -1, 1, -1};
    okra_data *a = NULL, *b = NULL;
    pairs p;
    parts net;
    pairs_make(3, &p);
    CHECK_OK(okra_data_dense(x, 4, 2, 2, &a));
    CHECK_OK(okra_data_dense(y, 4, 1, 1, &b));
    static const double widths[] = {-1, -1e300, 2, 0.5, 1e18};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        take_apart(a, b, "method=hopfield", &net);
        parts_number(&net, "width", widths[i]);
        check_refused(&net, "'width' is or holds");
    }
    take_apart(a, b, "method=hopfield", &net);
    parts_number(&net, "steps", 1e300);
    check_refused(&net, "'steps' is or holds 1e+300");
    ALTERED("method=soar", parts_number(&m, "sweeps", 1e300),
            "'sweeps' is or holds 1e+300, expected an integer from 0 to 10000");
    ALTERED("method=knn k=2", parts_number(&m, "k", 13), "an integer from 1 to 12");
    ALTERED("method=knn k=2", parts_number(&m, "k", 2.5), "an integer from 1 to 12");
    ALTERED("method=ok3 trees=2", parts_set(&m, "bag/items", 3, -1), "'items'");
    ALTERED("method=ok3 trees=2", parts_set(&m, "bag/nodes", 2, 0), "ok3: the trees");
    /* half a child is the node itself, for ever */
    ALTERED("method=ok3 trees=2", parts_set(&m, "bag/nodes", 2, 0.5), "ok3: the trees");
    static const char *const on_columns[] = {"method=ok3 trees=2 splits=columns",
                                             "method=blend trees=2 kx=rbf(sigma=1)"};
    for (size_t i = 0; i < 2; i++) { /* P columns, of which the last is P - 1 */
        ALTERED(on_columns[i], parts_set(&m, "bag/nodes", 0, P), "ok3: the trees");
        ALTERED(on_columns[i], parts_set(&m, "bag/nodes", 2, 0.5), "ok3: the trees");
        ALTERED(on_columns[i], parts_set(&m, "bag/items", 3, 12), "'items'");
    }
    ALTERED(on_columns[0], parts_number(&m, "columns", P + 1), "'columns'");
    ALTERED(on_columns[1], parts_number(&m, "blend", 1.5), "'blend' is or holds 1.5");
    ALTERED("kx=rbf(sigma=1)", parts_set(&m, "bag/factor", 13, -1),
            "has -1 on its diagonal");
    ALTERED("", parts_set(&m, "bag/coefficients", 0, (double)NAN), "'coefficients'");
    okra_data_free(a);
    okra_data_free(b);
    pairs_free(&p);
}

TEST(names_that_nothing_declares)
{
    pairs p;
    pairs_make(4, &p);
    ALTERED("", parts_add(&m, "bag/other", 1, 1, 0),
            "'other' is nothing that a model of this method and these kernels keeps");
    ALTERED("", parts_number(&m, "other", 1), "'other' is nothing");
    ALTERED("", parts_text(&m, "other", "x"), "'other' is nothing");
    ALTERED("", parts_add(&m, "x/other", 1, 1, 0), "the array 'x/other' is nothing");
    ALTERED("method=svr", parts_drop(&m, "bag/bias"), "the matrix 'bias' is missing");
    ALTERED("kx=rbf(sigma=1)", parts_kernel(&m, "x", "rbf(sigma=1) | center"),
            "the matrix 'kx.center2' is missing");
    ALTERED(
        "kx=rbf(sigma=1) low-rank-x=chol(rank=3) low-rank-y=chol(rank=3) ky=rbf(sigma=1)",
        parts_set(&m, "bag/y.basis", 0, 12), "'y.basis' is or holds 12");
    pairs_free(&p);
}

/* D x 0 arrays have no bytes that would bound D. */
TEST(counts_without_bytes)
{
    pairs p;
    pairs_make(5, &p);
    ALTERED("",
            (parts_reshape(&m, "x/values", 0, 0),
             parts_find(&m, "x/values")->rows = (okra_int)1 << 40,
             parts_about(&m, "x", "count", (json_int_t)1 << 40),
             parts_about(&m, "x", "width", 0)),
            "bytes cannot hold");
    ALTERED("", (parts_about(&m, "y", "count", INT64_MAX)), "bytes cannot hold");
    ALTERED("", (parts_about(&m, "y", "width", INT64_MAX)), "bytes cannot hold");
    pairs_free(&p);
}

TEST(files_that_a_model_names)
{
    pairs p;
    char kernel[600];
    pairs_make(6, &p);
    snprintf(kernel, sizeof kernel, "metric(file=%s)", files_path("secret.csv"));
    files_make("secret.csv", "1,0\n0,1\n", 8);
    ALTERED("method=soar", parts_text(&m, "associate", kernel),
            "expected a kernel of vectors without files");
    ALTERED("", parts_kernel(&m, "x", kernel), "the matrix 'kx.leaf0' is missing");
    ALTERED(
        "",
        parts_kernel(&m, "y", "patches(metric(file=a.csv),width=1,patch=1,overlap=0)"),
        "is missing");
    pairs_free(&p);
}

/* A model of strings, sequences or graphs with something else in it. */
#define RAGGED(x, y, settings, change, message) \
    do {                                        \
        parts m;                                \
        take_apart(x, y, settings, &m);         \
        change;                                 \
        check_refused(&m, message);             \
    } while (0)

static void put_int32(parts *m, const char *name, size_t at, int32_t value)
{
    part *a = parts_find(m, name);
    CHECK(a && (at + 1) * 4 <= a->size);
    memcpy(a->bytes + at * 4, &value, 4);
}

TEST(ragged_objects)
{
    static const char *const texts[] = {"abab", "ba", "b"};
    static const okra_int offsets[] = {0, 4, 6, 7};
    static const double vectors[14] = {1, 2, 3};
    static const int32_t letters[] = {'a', 'b', 'a', 'b', 'b', 'a', 'b'};
    const char *spectrum = "kx=spectrum(k=1) ky=spectrum(k=1)";
    const char *positions = "kx=position(linear) ky=edit";
    okra_data *s = NULL, *q = NULL, *g = NULL;
    CHECK_OK(okra_data_strings(texts, 3, &s));
    CHECK_OK(okra_data_sequences(offsets, vectors, letters, 3, 2, &q));
    files_make("m.smi", "CCO\nC=C\nc1ccccc1\n", 17);
    CHECK_OK(okra_data_read(NULL, files_path("m.smi"), &g));
    const char *fit = "arrays of x do not make strings";
    RAGGED(s, s, spectrum, parts_reshape(&m, "x/characters/code", 7, 0), fit);
    RAGGED(s, s, spectrum, parts_drop(&m, "x/characters/code"), fit);
    RAGGED(s, s, spectrum, put_int32(&m, "x/characters/code", 0, -2), fit);
    RAGGED(s, s, spectrum, put_int32(&m, "x/characters/code", 6, 0x110000), fit);
    RAGGED(s, s, spectrum, parts_drop(&m, "x/characters/offsets"), "no arrays of x");
    RAGGED(s, s, spectrum, parts_about(&m, "x", "width", 3), fit);
    fit = "arrays of x do not make sequences";
    RAGGED(q, s, positions, parts_reshape(&m, "x/positions/label", 7, 0), fit);
    RAGGED(q, s, positions, parts_reshape(&m, "x/positions/vector", 7, 1), fit);
    RAGGED(q, s, positions, parts_set(&m, "x/positions/vector", 3, (double)NAN), "x: ");
    RAGGED(q, s, positions, put_int32(&m, "x/positions/label", 0, INT32_MAX), fit);
    fit = "arrays of x do not make graphs";
    RAGGED(g, s, "kx=wl ky=edit", put_int32(&m, "x/nodes/label", 0, -9), fit);
    RAGGED(g, s, "kx=wl ky=edit", put_int32(&m, "x/edges/label", 0, INT32_MIN), fit);
    RAGGED(g, s, "kx=wl ky=edit", put_int32(&m, "x/edges/ends", 0, 3), fit);
    RAGGED(g, s, "kx=wl ky=edit", parts_reshape(&m, "x/nodes/atom", 11, 3), fit);
    okra_data_free(s);
    okra_data_free(q);
    okra_data_free(g);
}

/* Whoever adds a method, or a kernel that keeps something, declares what it keeps. */
TEST(everything_is_declared)
{
    for (size_t i = 0; okra_methods_[i]; i++) {
        CHECK(okra_methods_[i]->kept && okra_methods_[i]->kept[0]);
    }
    for (size_t i = 0; okra_kernel_classes_[i]; i++) {
        const okra_kernel_class_ *k = okra_kernel_classes_[i];
        CHECK(k->through || !k->save == !k->load); /* through: the inner kernel loads */
        CHECK(!k->save == !(k->kept || k->check_kept));
    }
}

/* A kernel inside another keeps what it read: the model does not need the file. */
TEST(files_are_read_once)
{
    static const char *const texts[] = {"ab", "ba", "bb"};
    char settings[800];
    okra_data *s = NULL;
    okra_model *model = NULL, *back = NULL;
    okra_prediction *before = NULL, *after = NULL;
    parts m;
    CHECK_OK(okra_data_strings(texts, 3, &s));
    FILE *file = fopen(files_path("cost.csv"), "w");
    for (int i = 0; i < 100; i++) {
        for (int j = 0; j < 100; j++) {
            fprintf(file, "%d%c", i != j, j < 99 ? ',' : '\n');
        }
    }
    fclose(file);
    snprintf(settings, sizeof settings, "kx=position(cost(file=%s)) ky=edit lambda=1e-6",
             files_path("cost.csv"));
    take_apart(s, s, settings, &m);
    model = pairs_fit(s, s, settings);
    CHECK_OK(okra_predict(NULL, model, s, NULL, NULL, &before));
    remove(files_path("cost.csv"));
    CHECK_OK(okra_model_load(NULL, where, &back));
    CHECK_OK(okra_predict(NULL, back, s, NULL, NULL, &after));
    okra_int top;
    const double *a = okra_prediction_distance(before, &top);
    const double *b = okra_prediction_distance(after, &top);
    CHECK(memcmp(a, b, 3 * sizeof *a) == 0);
    parts_reshape(&m, "bag/kx.leaf0.inner.leaf0", 3, 3);
    check_refused(&m, "class 98");
    okra_prediction_free(before);
    okra_prediction_free(after);
    okra_model_free(model);
    okra_model_free(back);
    okra_data_free(s);
    files_clean();
}

MAIN(RUN(widths_of_embeddings), RUN(more_inputs_than_outputs), RUN(numbers_out_of_range),
     RUN(names_that_nothing_declares), RUN(counts_without_bytes),
     RUN(files_that_a_model_names), RUN(ragged_objects), RUN(everything_is_declared),
     RUN(files_are_read_once))
