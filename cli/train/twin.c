/*
 * twin.c: okra twin: transformations of an input and an output kernel that make the two
 * most dependent.
 */
#include "commands.h"

#include <stdlib.h>
#include <string.h>

typedef struct twin_fields {
    const char *x, *y, *kx, *ky, *degrees, *low_rank, *output;
    bool unbiased;
} twin_fields;

#define FIELDS twin_fields
static const okra_option rows[] = {
    ROW(READ, "x", x, NULL, "FILE", "Training inputs, one object per row"),
    ROW(READ, "y", y, NULL, "FILE", "Training outputs, in the same order"),
    ROW(TEXT, "kx", kx, NULL, "EXPR",
        "Kernel of the inputs; repeated, a combination of products of powers is learned"),
    ROW(TEXT, "ky", ky, NULL, "EXPR", "Kernel of the outputs; likewise"),
    ROW(TEXT, "degrees", degrees, "11,11", "D1,D2",
        "Degrees of the two polynomials; 1 leaves a side as it is"),
    ROW(BOOL, "unbiased", unbiased, "no", "",
        "The unbiased estimator of HSIC instead of the paper's"),
    ROW(TEXT, "low-rank", low_rank, "", "SPEC",
        "Low rank of the base kernels, as of 'okra fit': no n x n matrix is stored"),
    ROW(WRITTEN, "output", output, "", "FILE", "What was learned, as JSON"),
    {0}};

enum { KERNELS = 9 }; /* one more than the library takes, so that it can say so */

typedef struct side {
    okra_kernel *kernels[KERNELS];
    size_t count;
} side;

/* One kernel a line. */
static okra_status parse_side(const char *which, const char *lines, side *s)
{
    for (const char *at = lines; at && s->count < KERNELS; s->count++) {
        const char *end = strchr(at, '\n');
        OWNED char *text = strndup(at, end ? (size_t)(end - at) : strlen(at));
        okra_status st = text ? okra_kernel_parse(text, &s->kernels[s->count])
                              : okra_fail(OKRA_EMEM, "out of memory");
        if (st != OKRA_OK) {
            OWNED char *message = strdup(okra_message());
            return message ? okra_fail(st, "%s: %s", which, message) : st;
        }
        at = end ? end + 1 : NULL;
    }
    return OKRA_OK;
}

static int parse_degrees(const cli_run *run, const char *text, int degree[2])
{
    int used = 0;
    REFUSE_IF(sscanf(text, "%9d,%9d%n", &degree[0], &degree[1], &used) != 2 || text[used],
              "--degrees is '%s', expected two numbers such as 1,11", text);
    return CLI_DONE;
}

/* ---- what is said afterwards ---- */

static json_t *side_json(const okra_twin *twin, okra_side which, const side *s)
{
    okra_int terms;
    const double *c = okra_twin_coefficients(twin, which, &terms);
    json_t *base = json_array(), *exponents = json_array(), *list = json_array();
    for (size_t k = 0; k < s->count; k++) {
        json_array_append_new(base, json_string(okra_kernel_text(s->kernels[k])));
    }
    for (okra_int t = 0; t < terms; t++) {
        json_t *p = json_array();
        for (size_t k = 0; k < s->count; k++) {
            json_array_append_new(p, json_integer(okra_twin_exponent(twin, which, t, k)));
        }
        json_array_append_new(exponents, p);
        json_array_append_new(list, json_real(c[t]));
    }
    return json_pack("{s:o, s:o, s:o, s:s}", "base", base, "exponents", exponents,
                     "coefficients", list, "kernel", okra_twin_kernel(twin, which));
}

static json_t *as_json(const okra_twin *twin, const side *x, const side *y, bool unbiased,
                       double seconds)
{
    okra_int n_rows, n_cols;
    const double *C = okra_twin_matrix(twin, &n_rows, &n_cols);
    json_t *matrix = json_array();
    for (okra_int i = 0; i < n_rows; i++) {
        json_t *row = json_array();
        for (okra_int j = 0; j < n_cols; j++) {
            json_array_append_new(row, json_real(C[i * n_cols + j]));
        }
        json_array_append_new(matrix, row);
    }
    return json_pack(
        "{s:s, s:o, s:o, s:o, s:f, s:f, s:f}", "estimator",
        unbiased ? "unbiased" : "biased", "x", side_json(twin, OKRA_SIDE_X, x), "y",
        side_json(twin, OKRA_SIDE_Y, y), "matrix", matrix, "hsic-before",
        okra_twin_before(twin), "hsic-after", okra_twin_after(twin), "seconds", seconds);
}

static void print_matrix(const okra_twin *twin)
{
    enum { SHOWN = 16 };
    okra_int n_rows, n_cols;
    const double *C = okra_twin_matrix(twin, &n_rows, &n_cols);
    printf("C, HSIC of terms of the inputs (rows) and of the outputs%s\n",
           n_rows > SHOWN || n_cols > SHOWN ? ", its first 16 rows and columns" : "");
    for (okra_int i = 0; i < n_rows && i < SHOWN; i++) {
        for (okra_int j = 0; j < n_cols && j < SHOWN; j++) {
            printf("%s%10.3e", j ? " " : "", C[i * n_cols + j]);
        }
        putchar('\n');
    }
}

static void print_side(const char *name, const okra_twin *twin, okra_side which)
{
    okra_int terms;
    const double *c = okra_twin_coefficients(twin, which, &terms);
    printf("%-15s", name);
    for (okra_int t = 0; t < terms; t++) {
        printf("%s%.4g", t ? " " : "", c[t]);
    }
    putchar('\n');
}

static void print(const okra_twin *twin, double seconds)
{
    char buffer[32];
    print_matrix(twin);
    print_side("coefficients x", twin, OKRA_SIDE_X);
    print_side("coefficients y", twin, OKRA_SIDE_Y);
    cli_line(stdout, "HSIC before", "%.6g", okra_twin_before(twin));
    cli_line(stdout, "HSIC after", "%.6g", okra_twin_after(twin));
    cli_line(stdout, "kx", "%s", okra_twin_kernel(twin, OKRA_SIDE_X));
    cli_line(stdout, "ky", "%s", okra_twin_kernel(twin, OKRA_SIDE_Y));
    cli_line(stdout, "time", "%s", cli_seconds(seconds, buffer, sizeof buffer));
}

static int tell(cli_run *run, const twin_fields *f, const okra_twin *twin, const side *x,
                const side *y, double seconds)
{
    OWNED_JSON *result = as_json(twin, x, y, f->unbiased, seconds);
    cli_table t;
    bool taken = strcmp(f->output, "-") == 0;
    if (*f->output) {
        CHK(cli_table_open(run, f->output, "", &t));
        json_dumpf(result, t.out, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
        fputc('\n', t.out);
        CHK(cli_file_close(run, t.file, CLI_DONE));
    }
    if (run->common.json && !taken) {
        return cli_print_json(run, TAKE(result));
    }
    bool summary = *f->output; /* else what is printed is all that was asked for */
    if (!(run->common.quiet && summary) && !run->common.json && !taken) {
        print(twin, seconds);
    }
    return CLI_DONE;
}

static int learn(cli_run *run, const twin_fields *f, side *sx, side *sy, okra_twin **twin)
{
    OWNED_DATA *x = NULL, *y = NULL;
    int degree[2];
    const char *low_rank = *f->low_rank ? f->low_rank : NULL;
    CHK(parse_degrees(run, f->degrees, degree));
    CHK(cli_check_writable(run, f->output));
    TRY(parse_side("kx", f->kx, sx));
    TRY(parse_side("ky", f->ky, sy));
    TRY(cli_read(run, f->x, &x));
    TRY(cli_read(run, f->y, &y));
    okra_twin_base base_x = {(const okra_kernel *const *)sx->kernels, sx->count,
                             degree[0], low_rank};
    okra_twin_base base_y = {(const okra_kernel *const *)sy->kernels, sy->count,
                             degree[1], low_rank};
    return cli_status(
        run, okra_twin_learn(run->context, x, y, &base_x, &base_y, f->unbiased, twin));
}

static void clear(side *s)
{
    for (size_t k = 0; k < KERNELS; k++) {
        okra_kernel_free(s->kernels[k]);
    }
}

FREED_AT(okra_twin, okra_twin_free)

static int run_twin(cli_run *run)
{
    twin_fields f;
    FREED_BY(clear) side x = {.count = 0}, y = {.count = 0};
    FREED_BY(okra_twin_free_at) okra_twin *twin = NULL;
    double begin = cli_now();
    TRY(cli_fields(run, &f));
    CHK(learn(run, &f, &x, &y, &twin));
    return tell(run, &f, twin, &x, &y, cli_now() - begin);
}

const cli_command cli_twin = {
    .name = "twin",
    .purpose = "Learn transformations of two kernels that make them most dependent",
    .usage = "--x FILE --y FILE --kx EXPR --ky EXPR [--degrees D1,D2] [flags]",
    .about = "Polynomials with coefficients that are not negative, of unit norm, which "
             "maximise\nthe Hilbert-Schmidt independence criterion between inputs and "
             "outputs. The two\nkernels printed last can be given to any command; 'okra "
             "fit --twin D1,D2' does both\nat once.\n",
    .examples = "okra twin --x x.npy --y y.npy --kx 'rbf(gamma=0.2)' --ky "
                "'rbf(gamma=20)' \\\n    --degrees 1,11 -o transforms.json\n"
                "okra twin --x x.npy --y y.npy --kx 'rbf(sigma=1)' --kx 'cosine' \\\n"
                "    --ky 'rbf(sigma=2)' --degrees 3,1\n",
    .refuses = "bag",
    .own = {"twin", rows, sizeof(twin_fields)},
    .gathers = " kx ky ",
    .run = run_twin,
};
