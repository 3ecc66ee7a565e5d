/*
 * gram.c: okra gram: the Gram matrix of a kernel expression.
 */
#include "commands.h"

#include <string.h>

typedef struct gram_fields {
    const char *x, *y, *kernel, *output;
} gram_fields;

static const okra_option rows[] = {
    {"x", OKRA_OPTION_READ, offsetof(gram_fields, x), NULL, 1, 0, NULL, "FILE",
     "The objects of the rows; repeat for several descriptions of them (linear@1, ...)"},
    {"y", OKRA_OPTION_READ, offsetof(gram_fields, y), "", 1, 0, NULL, "FILE",
     "The objects of the columns, whose statistics 'center' uses; those of --x if not "
     "given"},
    {"kernel", OKRA_OPTION_TEXT, offsetof(gram_fields, kernel), NULL, 1, 0, NULL, "EXPR",
     "The kernel, e.g. 'poly(degree=3) | normalize'; 'okra help kernels' lists them"},
    {"output", OKRA_OPTION_WRITTEN, offsetof(gram_fields, output), NULL, 1, 0, NULL,
     "FILE", "The matrix to write"},
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
    okra_kernel *kernel = NULL;
    okra_data *x = NULL, *y = NULL, *aligned = NULL;
    double seconds = 0;
    okra_status st = cli_fields(run, &f);
    st = st ? st : cli_read(run, f.x, &x);
    if (st == OKRA_OK && *f.y) {
        st = cli_read(run, f.y, &y);
        st = st == OKRA_OK ? okra_data_align(run->context, x, y, &aligned) : st;
        okra_data_free(aligned ? x : NULL);
        x = aligned ? aligned : x;
    }
    if (st == OKRA_OK) {
        st = okra_kernel_choose(run->context, f.kernel, y ? y : x, &kernel);
    }
    int status = cli_status(run, st);
    status = status ? status : cli_check_writable(run, f.output);
    if (status == CLI_DONE) {
        double begin = cli_now();
        status = cli_status(run, okra_gram_write(run->context, kernel, x, y, f.output));
        seconds = cli_now() - begin;
    }
    status = status ? status : summarise(run, &f, kernel, x, y, seconds);
    okra_kernel_free(kernel);
    okra_data_free(x);
    okra_data_free(y);
    return status;
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
    .own = {"gram", rows, sizeof(gram_fields)},
    .run = run_gram,
};
