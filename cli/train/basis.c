/*
 * basis.c: okra basis: features of low rank that several fits share.
 */
#include "commands.h"

#include <string.h>

typedef struct basis_fields {
    const char *x, *kx, *low_rank, *output;
} basis_fields;

static const okra_option rows[] = {
    {"x", OKRA_OPTION_READ, offsetof(basis_fields, x), NULL, 1, 0, NULL, "FILE",
     "A sample of the inputs, one object per row"},
    {"kx", OKRA_OPTION_TEXT, offsetof(basis_fields, kx), NULL, 1, 0, NULL, "EXPR",
     "Kernel of the inputs, e.g. 'rbf(sigma=4)'"},
    {"low-rank-x", OKRA_OPTION_TEXT, offsetof(basis_fields, low_rank), NULL, 1, 0, NULL,
     "SPEC",
     "chol(rank=N,tol=V), nystrom(rank=N,pivots=HOW), sketch(rank=N,kind=KIND,p=V) or "
     "rff(rank=N); `okra help kernels` tells HOW and KIND"},
    {"output", OKRA_OPTION_WRITTEN, offsetof(basis_fields, output), NULL, 1, 0, NULL,
     "FILE", "The basis, a model file"},
    {0}};

static int write_basis(cli_run *run, const basis_fields *f, const okra_data *x)
{
    okra_options *options = NULL;
    okra_model *basis = NULL;
    double begin = cli_now();
    char buffer[64];
    okra_status st = okra_fit_options(&options);
    st = st ? st : okra_options_set(options, "kx", f->kx);
    st = st ? st : okra_options_set(options, "low-rank-x", f->low_rank);
    st = st ? st : okra_basis_create(run->context, x, options, &basis);
    st = st ? st : okra_model_save(run->context, basis, NULL, f->output);
    int status = cli_status(run, st);
    long long rank = basis ? (long long)okra_data_width(okra_model_outputs(basis)) : 0;
    double seconds = cli_now() - begin;
    if (status == CLI_DONE && run->common.json) {
        status =
            cli_print_json(run, json_pack("{s:s, s:I, s:I, s:f}", "model", f->output,
                                          "sample", (json_int_t)okra_data_count(x),
                                          "rank", (json_int_t)rank, "seconds", seconds));
    } else if (status == CLI_DONE && !run->common.quiet) {
        cli_line(stdout, "model", "%s", f->output);
        cli_line(stdout, "sample", "%lld", (long long)okra_data_count(x));
        cli_line(stdout, "rank", "%lld", rank);
        cli_line(stdout, "time", "%s", cli_seconds(seconds, buffer, sizeof buffer));
    }
    okra_model_free(basis);
    okra_options_free(options);
    return status;
}

static int run_basis(cli_run *run)
{
    basis_fields f;
    okra_data *x = NULL;
    int status = cli_status(run, cli_fields(run, &f));
    if (status == CLI_DONE && strcmp(f.output, "-") == 0) {
        status = cli_usage(run, "a model is mapped from its file: -o must name one");
    }
    status = status ? status : cli_check_writable(run, f.output);
    status = status ? status : cli_status(run, cli_read(run, f.x, &x));
    status = status ? status : write_basis(run, &f, x);
    okra_data_free(x);
    return status;
}

const cli_command cli_basis = {
    .name = "basis",
    .purpose = "Make features of low rank that fits on parts of the data share",
    .usage = "--x FILE --kx EXPR --low-rank-x SPEC -o MODEL [flags]",
    .about =
        "Fits with `okra fit --basis` on parts of the data, on one machine or many, "
        "then\nbecome one model by `okra merge`: what one fit on all of the data gives. "
        "A basis is a\nmodel itself: `okra predict` gives the features of its inputs.\n",
    .gathers = " x ",
    .examples =
        "okra basis --x sample.npy --kx 'rbf(sigma=4)' --low-rank-x 'nystrom(rank=500)' "
        "-o basis.okra\n"
        "okra fit --basis basis.okra --x x1.npy --y y1.npy --lambda 0.1 -o part1.okra\n"
        "okra merge part1.okra part2.okra -o all.okra\n",
    .own = {"basis", rows, sizeof(basis_fields)},
    .run = run_basis,
};
