/*
 * select.c: okra select: chooses kernels and options by leave-one-out or
 * cross-validation, shows what it found, and fits the best on all pairs.
 */
#include "train/choose.h"
#include "commands.h"
#include "predict/nodes.h"
#include "report/report.h"
#include "train/select_report.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct select_fields {
    const char *x, *y, *unlabelled, *candidates, *folds, *groups, *stratify;
    const char *output, *cells, *plot, *resume;
    const char *within, *edges, *labelled, *nodes, *beta, *norm, *weight, *output_groups;
    const char *kx, *ky, *lambda;
    int compact, classes;
} select_fields;

#define FIELDS select_fields
static const okra_option rows[] = {
    ROW(READ, "x", x, NULL, "FILE", "Training inputs, one object per row"),
    ROW(READ, "y", y, "", "FILE", "Training outputs, in the same order"),
    ROW(READ, "unlabelled", unlabelled, "", "FILE",
        "More inputs, whose outputs are not known, for methods that can use them"),
    ROW(READ, "candidates", candidates, "", "FILE",
        "Objects to decode to; the training outputs of each fold if not given"),
    ROW(TEXT, "within", within, "", "WINDOW",
        "With --metric mrr or hit-rate: only candidates that fit the pair are put in "
        "order, as in okra predict: mass=10ppm, formula"),
    ROW(READ, "folds", folds, "", "FILE",
        "The fold of every pair, in place of drawn ones"),
    ROW(READ, "groups", groups, "", "FILE",
        "The group of every pair: groups are not split"),
    ROW(READ, "stratify", stratify, "", "FILE",
        "The stratum of every pair: its share is the same in every fold"),
    ROW(READ, "output-groups", output_groups, "", "FILE",
        "With --per-output: the group of every coordinate of the outputs, one label a "
        "line; coordinates of a group share a lambda"),
    ROW(READ, "sample-weight", weight, "", "FILE",
        "How much each pair counts, in fits and in what is measured: one number of 0 or "
        "more per row of --y"),
    CHOICE("class-weight", classes, "none", "none|balanced", "HOW",
           "balanced: every class counts the same"),
    ROW(WRITTEN, "output", output, "", "FILE",
        "The model of the best cell, fitted on all pairs"),
    COMPACT_ROW,
    ROW(WRITTEN, "cells", cells, "", "FILE",
        "Every cell with mean and standard error, as CSV"),
    ROW(WRITTEN, "plot", plot, "", "FILE", "A curve or heat map of the grid, as SVG"),
    ROW(WRITTEN, "resume", resume, "", "FILE",
        "Finished work: read if there, and kept up to date; goes on after an interrupt "
        "with the same results"),
    ROW(READ, "edges", edges, "", "FILE",
        "For links (metric auc-roc or auc-pr), in place of --y: known edges between "
        "labelled nodes, as in okra link; --x describes all nodes, --y may be the Gram "
        "matrix of the labelled ones"),
    ROW(READ, "labelled", labelled, "", "FILE",
        "Nodes whose edges with one another are all known, one per line; without it the "
        "nodes of --edges"),
    ROW(READ, "nodes", nodes, "", "FILE",
        "Names of the nodes, one per line in the order of --x, or TABLE:COLUMN"),
    ROW(TEXT, "beta", beta, "1", "V|auto",
        "Time of the diffusion on the known network where --ky is not given"),
    ROW(TEXT, "norm", norm, "auto", "V|auto",
        "Links: norm of the score, as in okra link; auto: 0.75 while settings are "
        "compared"),
    ROW(TEXT, "kx", kx, "auto", "EXPR",
        "Kernel of the inputs, with grids; auto: a few that fit the kind of objects"),
    ROW(TEXT, "ky", ky, "auto", "EXPR",
        "Kernel of the outputs, with grids; auto: by the kind of objects"),
    ROW(TEXT, "lambda", lambda, "auto", "GRID",
        "Regularisation; auto: a list about the scale of the kernel, refined"),
    {0}};

typedef struct inputs {
    okra_data *x, *y, *candidates, *folds, *groups, *strata, *output_groups;
    cli_nodes nodes;
    cli_known known;
} inputs;

static void free_inputs(inputs *in)
{
    okra_data *all[] = {in->x,      in->y,      in->candidates,   in->folds,
                        in->groups, in->strata, in->output_groups};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        okra_data_free(all[i]);
    }
    cli_nodes_clear(&in->nodes);
    cli_known_clear(&in->known);
}

/* A column of labels, whatever the file holds. */
static okra_status read_labels(cli_run *run, const char *spec, okra_data **out)
{
    char typed[4096];
    bool plain = strncmp(spec, "labels:", 7) != 0;
    snprintf(typed, sizeof typed, "%s%s", plain ? "labels:" : "", spec);
    return *spec ? cli_read(run, typed, out) : OKRA_OK;
}

static int read_pairs(cli_run *run, const select_fields *f, inputs *in)
{
    TRY(cli_read_pairs(run, f->x, f->y, f->unlabelled, NULL, &in->x, &in->y));
    TRY(cli_weigh(run, f->weight, f->classes ? "balanced" : "none", &in->y));
    TRY(*f->candidates ? cli_read_like(run, f->candidates, in->y, &in->candidates)
                       : OKRA_OK);
    return CLI_DONE;
}

/* A network in place of outputs. */
static int read_network(cli_run *run, const select_fields *f, inputs *in)
{
    bool gram = okra_kernel_has(okra_options_get(run->library, "kx"), OKRA_KERNEL_GIVEN);
    REFUSE_IF(*f->weight || f->classes,
              "links of a network have no weights of pairs: leave out "
              "--sample-weight and --class-weight");
    CHK(cli_read_gram(run, f->x, gram, &in->x));
    CHK(*f->y ? cli_read_gram(run, f->y, true, &in->y) : CLI_DONE);
    CHK(cli_nodes_read(run, f->nodes, okra_data_count(in->x), &in->nodes));
    return cli_known_read(run, &in->nodes, f->labelled, f->edges, &in->known);
}

static int read_inputs(cli_run *run, const select_fields *f, inputs *in)
{
    CHK(*f->edges ? read_network(run, f, in) : read_pairs(run, f, in));
    TRY(read_labels(run, f->folds, &in->folds));
    TRY(read_labels(run, f->groups, &in->groups));
    TRY(read_labels(run, f->output_groups, &in->output_groups));
    return cli_status(run, read_labels(run, f->stratify, &in->strata));
}

/* The command that fits the best cell goes into the result; where -o names a file it is
 * fitted on all pairs, and what it learned (align) goes there too. */
static int fit_best(cli_run *run, const inputs *in, const okra_selection *s,
                    const select_fields *f, json_t *result)
{
    FREED_BY(okra_options_free_at) okra_options *options = NULL;
    OWNED_MODEL *model = NULL;
    TRY(okra_selection_options(s, okra_selection_best(s), &options, NULL));
    OWNED char *command = choose_fit_command(run, options);
    if (command) {
        json_object_set_new(result, "command", json_string(command));
    }
    if (!*f->output) {
        return CLI_DONE;
    }
    TRY(okra_fit(run->context, in->x, in->y, options, &model));
    TRY(cli_save_model(run, model, (okra_compact)f->compact, f->output));
    OWNED_JSON *about = json_loads(okra_model_json(model), 0, NULL);
    json_object_set(result, "texts", json_object_get(about, "texts"));
    return CLI_DONE;
}

/* What goes with a network, and what with pairs of objects. */
static int check_kind(const cli_run *run, const select_fields *f)
{
    static const char *const of_links[] = {"labelled", "nodes", "beta", "norm"};
    static const char *const of_pairs[] = {"unlabelled", "candidates", "output",
                                           "within"};
    for (size_t i = 0; i < 4; i++) {
        REFUSE_IF(!*f->edges && okra_options_is_set(run->options, of_links[i]),
                  "--%s has no use without --edges", of_links[i]);
        REFUSE_IF(*f->edges && okra_options_is_set(run->options, of_pairs[i]),
                  "--%s has no use with --edges%s", of_pairs[i],
                  i == 2 ? ": give the settings found to okra link" : "");
    }
    REFUSE_IF(*f->edges && (strchr(f->x, '\n') || strchr(f->y, '\n')),
              "--x and --y are given once with --edges");
    return *f->edges || *f->y
               ? CLI_DONE
               : cli_usage(run, "--y FILE is missing: training outputs (or --edges FILE: "
                                "a network)");
}

static int check_outputs(const cli_run *run, const select_fields *f)
{
    const char *files[] = {f->cells, f->plot, f->resume};
    for (size_t i = 0; i < 3; i++) {
        CHK(cli_check_writable(run, files[i]));
    }
    CHK(cli_check_model_file(run, f->output));
    REFUSE_IF(*f->plot && !cli_ends(f->plot, ".svg"),
              "--plot is '%s', expected a name that ends in .svg", f->plot);
    return *f->plot ? report_check(run) : CLI_DONE;
}

static const char *const kept = "okra-select.resume";

/* Kernels and lambda that nobody gave are searched for. */
static okra_status leave_open(cli_run *run, bool links)
{
    static const char *const names[] = {"kx", "ky", "lambda"};
    for (int i = 0; i < 3; i++) {
        bool has = i == 0 || (i == 1 ? !links : choose_has_lambda(run));
        if (has && !okra_options_is_set(run->library, names[i])) {
            CHK(okra_options_set(run->library, names[i], "auto"));
        }
    }
    return OKRA_OK;
}

static int choose(cli_run *run, const select_fields *f, const inputs *in,
                  okra_selection **out)
{
    okra_window window = {OKRA_SIZED(okra_window), .within = f->within};
    okra_select_request request = {OKRA_SIZED(okra_select_request),
                                   .candidates = in->candidates,
                                   .folds = in->folds,
                                   .groups = in->groups,
                                   .strata = in->strata,
                                   .output_groups = in->output_groups,
                                   .window = *f->within ? &window : NULL,
                                   .resume = *f->resume ? f->resume : NULL,
                                   .keep = *f->resume ? NULL : kept};
    okra_link_task task = cli_known_task(&in->known, in->x, in->y);
    okra_link_settings settings = {OKRA_SIZED(okra_link_settings)};
    CHK(cli_beta(run, f->beta, &settings.beta));
    CHK(cli_norm(run, f->norm, &settings.norm));
    okra_status st =
        *f->edges ? okra_select_links(run->context, &task, &settings, run->library,
                                      &request, out)
                  : okra_select(run->context, in->x, in->y, run->library, &request, out);
    int status = cli_status(run, st);
    const char *file = *f->resume ? f->resume : kept;
    if (st == OKRA_ECANCELLED && access(file, R_OK) == 0) {
        fprintf(stderr, "okra select: what is finished is kept; go on with --resume %s\n",
                file);
    }
    return status;
}

static int run_select(cli_run *run)
{
    select_fields f;
    FREED_BY(free_inputs) inputs in = {.x = NULL};
    FREED_BY(okra_selection_free_at) okra_selection *s = NULL;
    TRY(cli_fields(run, &f));
    choose_open typed = {f.kx, f.ky, f.lambda, NULL};
    TRY(choose_pass_on(run, &typed));
    CHK(check_kind(run, &f));
    CHK(check_outputs(run, &f));
    CHK(read_inputs(run, &f, &in));
    TRY(leave_open(run, *f.edges));
    CHK(choose(run, &f, &in, &s));
    OWNED_JSON *result = json_loads(okra_selection_json(s), 0, NULL);
    GOT(result);
    CHK(*f.cells ? select_cells(run, result, f.cells) : CLI_DONE);
    CHK(*f.plot ? select_plot(run, result, f.plot) : CLI_DONE);
    CHK(*f.edges ? CLI_DONE : fit_best(run, &in, s, &f, result));
    if (run->common.json) {
        return cli_print_json(run, select_result(run, result));
    }
    select_print(run, result, f.output);
    return CLI_DONE;
}

const cli_command cli_select = {
    .name = "select",
    .purpose = "Choose kernels and options by leave-one-out or cross-validation",
    .usage =
        "--x FILE --y FILE | --edges FILE [--cv HOW] [--metric SPEC]\n        [-o MODEL] "
        "[flags]",
    .about = "Kernels and lambda that are not given are chosen from a few, as okra fit "
             "does.\nAny number may be a grid: {a,b,c}, lo..hi (10 values, log-spaced; "
             "whole numbers: all) or\nlo..hi:steps, within kernels and for other flags. "
             "All combinations are evaluated.\n\nLeave-one-out and k-fold of ridge with "
             "the operators identity, matrix and graph (these\ntwo: leave-one-out) come "
             "from one decomposition for all lambdas; cov and ccov, kernels\nwith "
             "'center', and other methods are fitted anew for every fold: their operator "
             "or\nstatistics hold the pairs left out.\n",
    .examples =
        "okra select --x x.npy --y y.npy --kx 'rbf(sigma={1,2,4,8})' --lambda 1e-4..1e1 "
        "\\\n    -o best.okra\n"
        "okra select --x x.npy --y y.npy --kx 'rbf(sigma=1..32)' --ky 'rbf(sigma={4,8})' "
        "\\\n    --metric rbf-loss:sigma=7 --lambda 1e-6..1 --cv nested:5,5 --json\n"
        "okra select --x x.npy --y y.npy --method knn --k 1..20 --cv kfold:10 --metric "
        "mse \\\n    --plot k.svg\n"
        "okra select --x features.npy --edges known.tsv --labelled nodes.txt \\\n"
        "    --kx 'rbf(sigma={2,4,8})' --lambda 1e-3..1 --metric auc-pr\n",
    .gathers = " x y unlabelled candidates ",
    .own = {"select", rows, sizeof(select_fields)},
    .topic = "select",
    .common = " x y output kx ky lambda cv metric method ",
    .run = run_select,
};
