/*
 * gram.c: okra gram: the Gram matrix of a kernel expression.
 */
#include "commands.h"

#include <string.h>

typedef struct gram_fields {
    const char *x, *y, *kernel, *output;
} gram_fields;

#define FIELDS gram_fields
static const okra_option rows[] = {
    ROW(READ, "x", x, NULL, "FILE",
        "The objects of the rows; repeat for several descriptions of them (linear@1, "
        "...)"),
    ROW(READ, "y", y, "", "FILE",
        "The objects of the columns, whose statistics 'center' uses; those of --x if not "
        "given"),
    ROW(TEXT, "kernel", kernel, NULL, "EXPR",
        "The kernel, e.g. 'poly(degree=3) | normalize'; 'okra help kernels' lists them"),
    ROW(WRITTEN, "output", output, NULL, "FILE", "The matrix to write"),
    {0}};

static int summarise(const cli_run *run, const gram_fields *f, const okra_kernel *kernel,
                     const okra_data *x, const okra_data *y, double seconds)
{
    char buffer[32];
    long long n = okra_data_count(x), m = okra_data_count(y ? y : x);
    if (strcmp(f->output, "-") == 0) {
        return CLI_DONE; /* the matrix is there */
    }
    if (run->common.json) {
        return cli_print_json(
            run, json_pack("{s:s, s:s, s:[I, I], s:f}", "output", f->output, "kernel",
                           okra_kernel_text(kernel), "shape", (json_int_t)n,
                           (json_int_t)m, "seconds", seconds));
    }
    if (!run->common.quiet) {
        cli_line(stdout, "kernel", "%s", okra_kernel_text(kernel));
        cli_line(stdout, "output", "%s, %lld x %lld", f->output, n, m);
        cli_line(stdout, "time", "%s", cli_seconds(seconds, buffer, sizeof buffer));
    }
    return CLI_DONE;
}

static int run_gram(cli_run *run)
{
    gram_fields f;
    FREED_BY(okra_kernel_free_at) okra_kernel *kernel = NULL;
    OWNED_DATA *read = NULL, *y = NULL, *aligned = NULL;
    TRY(cli_fields(run, &f));
    TRY(cli_read(run, f.x, &read));
    if (*f.y) {
        TRY(cli_read(run, f.y, &y));
        TRY(okra_data_align(run->context, read, y, &aligned));
    }
    const okra_data *x = aligned ? aligned : read;
    TRY(okra_kernel_choose(run->context, f.kernel, y ? y : x, &kernel));
    CHK(cli_check_writable(run, f.output));
    double begin = cli_now();
    TRY(okra_gram_write(run->context, kernel, x, y, f.output));
    return summarise(run, &f, kernel, x, y, cli_now() - begin);
}

const cli_command cli_gram = {
    .name = "gram",
    .purpose = "Compute the Gram matrix of a kernel",
    .usage = "--x FILE --kernel EXPR -o FILE [--y FILE] [flags]",
    .about = "Entry (i, j) is k(x_i, y_j).\n",
    .gathers = " x y ",
    .examples =
        "okra gram --x x.npy --kernel 'rbf(sigma=4)' -o K.npy\n"
        "okra gram --x test.npy --y train.npy --kernel 'linear | center' -o K.csv\n",
    .refuses = "bag",
    .own = {"gram", rows, sizeof(gram_fields)},
    .run = run_gram,
};
