/*
 * Rows in several files: they are one collection, and a fit of low rank on them where
 * they lie is the fit on one array.
 */
#include "pairs.h"

enum { ROWS = 20000, WIDE = 3, PARTS = 5, FEW = 16384 };
/* Unequal ones, none a multiple of a block; the first row of each. */
static const okra_int begins_x[PARTS + 1] = {0, 1, 4101, 4500, 19999, ROWS};
static const okra_int begins_y[PARTS + 1] = {0, 7000, 7001, 12000, 15000, ROWS};

typedef struct tall {
    double *x, *y;
    okra_data *all_x, *all_y;
} tall;

static void write_rows(const double *values, okra_int d, const okra_int *begins,
                       const char *name)
{
    for (int k = 0; k < PARTS; k++) {
        char file[64];
        okra_data *part = NULL;
        okra_int first = begins[k];
        /* 2 before 10: names sort by number */
        snprintf(file, sizeof file, "%s-%d.npy", name, k < 2 ? k : k + 8);
        CHECK_OK(okra_data_dense(values + first * d, begins[k + 1] - first, d, d, &part));
        CHECK_OK(okra_data_write(NULL, part, files_path(file)));
        okra_data_free(part);
    }
}

static void tall_make(tall *t)
{
    okra_random_ r = okra_random_create_(7, 0);
    t->x = malloc(ROWS * WIDE * sizeof *t->x);
    t->y = malloc(ROWS * D * sizeof *t->y);
    harness_normals(&r, ROWS * WIDE, t->x);
    harness_normals(&r, ROWS * D, t->y);
    CHECK_OK(okra_data_dense(t->x, ROWS, WIDE, WIDE, &t->all_x));
    CHECK_OK(okra_data_dense(t->y, ROWS, D, D, &t->all_y));
    write_rows(t->x, WIDE, begins_x, "x");
    write_rows(t->y, D, begins_y, "y");
}

static void tall_free(tall *t)
{
    okra_data_free(t->all_x);
    okra_data_free(t->all_y);
    free(t->x);
    free(t->y);
}

enum { SPEC = 600 };

static const char *spec(const char *head, const char *tail, char text[SPEC])
{
    snprintf(text, SPEC, "%s%s", head, files_path(tail));
    return text;
}

static okra_status fit_files(const char *x, const char *y, const char *settings,
                             okra_model **model)
{
    okra_options *o = settings_of(okra_fit_options, settings);
    okra_status st = okra_fit_as(
        NULL, NULL, NULL, o,
        (&(okra_fit_request){OKRA_SIZED(okra_fit_request), .x_files = x, .y_files = y}),
        model);
    okra_options_free(o);
    return st;
}

TEST(are_one_collection)
{
    tall t;
    char text[SPEC], list[2 * SPEC];
    okra_data *x = NULL;
    tall_make(&t);
    CHECK_OK(okra_data_read(NULL, spec("shards:", "x-*.npy", text), &x));
    CHECK(x->n == ROWS && x->d == WIDE &&
          harness_relative(ROWS * WIDE, x->values, t.x) == 0);
    okra_data_free(x);
    x = NULL;
    char last[512];
    snprintf(last, sizeof last, "%s", files_path("x-12.npy"));
    int length = snprintf(list, sizeof list, "%s\n\n%s\n", last, files_path("x-0.npy"));
    files_make("names", list, (size_t)length);
    CHECK_OK(okra_data_read(NULL, spec("list:", "names", text), &x));
    CHECK(x->n == 2 && harness_relative(WIDE, x->values, t.x + 19999 * WIDE) == 0 &&
          harness_relative(WIDE, x->values + WIDE, t.x) == 0);
    okra_data_free(x);
    x = NULL;
    files_make("s-1.txt", "a\nb\n", 4);
    files_make("s-2.txt", "c\n", 2);
    files_make("s-3.txt", "d\ne\n", 4);
    CHECK_OK(okra_data_read(NULL, spec("shards:", "s-*.txt", text), &x));
    CHECK(x->kind == OKRA_STRINGS && x->n == 5);
    okra_data_free(x);
    x = NULL;
    files_make("l-1.csv", "red\nblue\n", 9);
    files_make("l-2.csv", "green\nred\n", 10);
    CHECK_OK(okra_data_read(NULL, spec("shards:labels:", "l-*.csv", text), &x));
    CHECK(x->kind == OKRA_LABELS && x->n == 4 && x->d == 3 && x->codes[0] == x->codes[3]);
    okra_data_free(x);
    tall_free(&t);
}

/* To the bit: blocks of rows are the same, wherever the rows lie. An engine with memory
 * of its own gets them joined. */
TEST(a_fit_is_that_of_one_array)
{
    static const char *const settings[] = {
        "kx=rbf(sigma=2) ky=linear low-rank-x=nystrom(rank=20) lambda=0.1",
        "kx=rbf(sigma=auto) ky=linear low-rank-x=nystrom(rank=20,pivots=centres)",
        ("kx=rbf(sigma=2) ky=linear low-rank-x=rff(rank=20) operator=cov "
         "center-output=yes"),
        "kx=linear ky=2*linear low-rank-x=sketch(rank=4) operator=ccov",
        "kx=rbf(sigma=2) ky=linear low-rank-x=chol(rank=6) lambda=0.1",
        "kx=rbf(sigma=2) ky=linear low-rank-x=nystrom(rank=9) keep-moments=yes",
        "kx=rbf(sigma=2) ky=rbf(sigma=1) low-rank=nystrom(rank=9)",
    };
    tall t;
    char x[SPEC], y[SPEC];
    tall_make(&t);
    spec("shards:", "x-*.npy", x);
    spec("shards:", "y-*.npy", y);
    for (int c = 0; c < 7; c++) {
        okra_model *whole = pairs_fit(t.all_x, t.all_y, settings[c]), *parts = NULL;
        okra_int m = 0, d = 0, n = 0;
        double told = 0;
        CHECK_OK(fit_files(x, y, settings[c], &parts));
        const okra_data *a = whole->training->x, *b = parts->training->x;
        CHECK(a->n == b->n && okra_data_mix_(1, a) == okra_data_mix_(1, b));
        const double *A = okra_store_get_(whole->store, "coefficients", &m, &d);
        const double *B = okra_store_get_(parts->store, "coefficients", &n, &d);
        CHECK(A && B && m == n);
        CHECK_NEAR(harness_relative(m * d, B, A), 0, 0);
        bool apart =
            c < 4 && (okra_engine_is_host_(NULL) || okra_context_processes_(NULL));
        CHECK(okra_model_count(parts) == (apart ? FEW : ROWS));
        CHECK(okra_store_get_number_(parts->store, "pairs", &told) == apart);
        CHECK(!apart || told == ROWS);
        CHECK_OK(okra_model_save(NULL, parts, NULL, files_path("m.okra")));
        okra_model_free(parts);
        parts = NULL;
        CHECK_OK(okra_model_load(NULL, files_path("m.okra"), &parts));
        okra_model_free(parts);
        okra_model_free(whole);
    }
    tall_free(&t);
}

/* The second last number of a file. */
static void poke(const char *name, double value)
{
    FILE *file = fopen(files_path(name), "r+b");
    CHECK(file && fseek(file, -2 * (long)sizeof value, SEEK_END) == 0 &&
          fwrite(&value, sizeof value, 1, file) == 1 && fclose(file) == 0);
}

/* An array file whose elements are `size` zeros. */
static void make_array(const char *name, const char *type, const char *shape, size_t size)
{
    char bytes[128] = "\x93NUMPY\x01";
    int length =
        snprintf(bytes + 10, 100,
                 "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", type, shape);
    bytes[8] = (char)length;
    files_make(name, bytes, 10 + (size_t)length + size);
}

TEST(a_bad_shard_is_named)
{
    tall t;
    char x[SPEC], y[SPEC];
    okra_model *model = NULL;
    okra_data *data = NULL;
    static const double one[4] = {1, 2, 3, 4};
    const char *low = "kx=rbf(sigma=2) ky=linear low-rank-x=nystrom(rank=20) lambda=0.1";
    tall_make(&t);
    spec("shards:", "x-*.npy", x);
    spec("shards:", "y-*.npy", y);
    /* the last row of x-1, read late and not in the basis */
    poke("x-1.npy", (double)NAN);
    CHECK_FAILS(fit_files(x, y, low, &model), OKRA_EFORMAT,
                "x-1.npy: row 4099, column 1 (counted from 0) is nan");
    CHECK_FAILS(okra_data_read(NULL, x, &data), OKRA_EFORMAT, "x-1.npy: row 4099");
    poke("x-1.npy", 1);
    CHECK_OK(okra_data_dense(one, 1, 4, 4, &data));
    CHECK_OK(okra_data_write(NULL, data, files_path("x-11.npy")));
    okra_data_free(data);
    data = NULL;
    CHECK_FAILS(fit_files(x, y, low, &model), OKRA_ESHAPE,
                "x-11.npy: 1 dense vector of length 4; expected the kind and width of ");
    make_array("x-11.npy", "<f8", "(0, 3)", 0);
    CHECK_FAILS(fit_files(x, y, low, &model), OKRA_EFORMAT,
                "x-11.npy: a shard without rows");
    CHECK_FAILS(okra_data_read(NULL, x, &data), OKRA_EFORMAT, "x-11.npy: a shard");
    make_array("x-11.npy", "<f4", "(1, 3)", 12);
    CHECK_FAILS(fit_files(x, y, low, &model), OKRA_EFORMAT,
                "x-11.npy: its elements are f4; expected f8, as in ");
    CHECK_FAILS(okra_data_read(NULL, x, &data), OKRA_EFORMAT, "x-11.npy: its elements");
    make_array("x-11.npy", "<f8", "(1, 3)", 12);
    CHECK_FAILS(fit_files(x, y, low, &model), OKRA_EFORMAT, "x-11.npy: an array of ");
    CHECK_FAILS(okra_data_read(NULL, "shards:/no/such-*.npy", &data), OKRA_EIO,
                "no file of such a name");
    files_make("empty", "\n", 1);
    CHECK_FAILS(okra_data_read(NULL, spec("list:", "empty", x), &data), OKRA_EFORMAT,
                "names no file");
    files_make("zero", "x-0.npy\nx-0.npy\0x-1.npy\n", 24);
    CHECK_FAILS(okra_data_read(NULL, spec("list:", "zero", x), &data), OKRA_EFORMAT,
                "zero: line 2 has a byte 0");
    files_make("inside", "shards:x\n", 9);
    CHECK_FAILS(okra_data_read(NULL, spec("list:", "inside", x), &data), OKRA_EARG,
                "shards hold no shards");
    spec("shards:", "y-1[01].npy", x);
    CHECK_FAILS(fit_files(x, y, low, &model), OKRA_ESHAPE, "expected as many of each");
    tall_free(&t);
}

static okra_status try_fit(const char *x, const char *y, const char *low)
{
    okra_model *model = NULL;
    okra_options *o = NULL;
    okra_status st = okra_fit_options(&o);
    const char *const names[] = {"kx", "ky", "lambda", "low-rank-x"};
    const char *const values[] = {"rbf(sigma=1)", "linear", "0.1", low};
    for (int i = 0; st == OKRA_OK && i < 4; i++) {
        st = okra_options_set(o, names[i], values[i]);
    }
    st = st ? st
            : okra_fit_as(NULL, NULL, NULL, o,
                          (&(okra_fit_request){OKRA_SIZED(okra_fit_request), .x_files = x,
                                               .y_files = y}),
                          &model);
    okra_model_free(model);
    okra_options_free(o);
    return st;
}

TEST(allocations)
{
    tall t;
    char x[SPEC], y[SPEC];
    tall_make(&t);
    spec("shards:", "x-*.npy", x);
    spec("shards:", "y-*.npy", y);
    CHECK_ALLOCATIONS(try_fit(x, y, "nystrom(rank=3)"), (void)0);
    CHECK_ALLOCATIONS(try_fit(x, y, "chol(rank=2)"), (void)0);
    tall_free(&t);
    files_clean();
}

MAIN(RUN(are_one_collection), RUN(a_fit_is_that_of_one_array), RUN(a_bad_shard_is_named),
     RUN(allocations))
