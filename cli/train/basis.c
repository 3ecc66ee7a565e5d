/*
 * basis.c: okra basis: features of low rank that several fits share.
 */
#include "commands.h"

#include <string.h>

typedef struct basis_fields {
    const char *x, *kx, *low_rank, *output;
} basis_fields;

#define FIELDS basis_fields
static const okra_option rows[] = {
    ROW(READ, "x", x, NULL, "FILE", "A sample of the inputs, one object per row"),
    ROW(TEXT, "kx", kx, NULL, "EXPR", "Kernel of the inputs, e.g. 'rbf(sigma=4)'"),
    ROW(TEXT, "low-rank-x", low_rank, NULL, "SPEC",
        "chol(rank=N,tol=V), nystrom(rank=N,pivots=HOW), sketch(rank=N,kind=KIND,p=V) or "
        "rff(rank=N); `okra help kernels` tells HOW and KIND"),
    ROW(WRITTEN, "output", output, NULL, "FILE", "The basis, a model file"),
    {0}};

static int run_basis(cli_run *run)
{
    basis_fields f;
    FREED_BY(okra_options_free_at) okra_options *options = NULL;
    OWNED_MODEL *basis = NULL;
    OWNED_DATA *x = NULL;
    char buffer[64];
    TRY(cli_fields(run, &f));
    CHK(cli_check_model_file(run, f.output));
    TRY(cli_read(run, f.x, &x));
    double begin = cli_now();
    TRY(okra_fit_options(&options));
    TRY(okra_options_set(options, "kx", f.kx));
    TRY(okra_options_set(options, "low-rank-x", f.low_rank));
    TRY(okra_basis_create(run->context, x, options, &basis));
    TRY(okra_model_save(run->context, basis, NULL, f.output));
    long long rank = (long long)okra_data_width(okra_model_outputs(basis));
    double seconds = cli_now() - begin;
    if (run->common.json) {
        return cli_print_json(run,
                              json_pack("{s:s, s:I, s:I, s:f}", "model", f.output,
                                        "sample", (json_int_t)okra_data_count(x), "rank",
                                        (json_int_t)rank, "seconds", seconds));
    }
    if (!run->common.quiet) {
        cli_line(stdout, "model", "%s", f.output);
        cli_line(stdout, "sample", "%lld", (long long)okra_data_count(x));
        cli_line(stdout, "rank", "%lld", rank);
        cli_line(stdout, "time", "%s", cli_seconds(seconds, buffer, sizeof buffer));
    }
    return CLI_DONE;
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
    .refuses = "bag",
    .own = {"basis", rows, sizeof(basis_fields)},
    .run = run_basis,
};
