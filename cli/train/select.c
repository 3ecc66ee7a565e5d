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

#define FILE_ROW(does, flag, field, preset, help)                                     \
    {                                                                                 \
        flag, OKRA_OPTION_##does, offsetof(select_fields, field), preset, 1, 0, NULL, \
            "FILE", help                                                              \
    }

static const okra_option rows[] = {
    FILE_ROW(READ, "x", x, NULL, "Training inputs, one object per row"),
    FILE_ROW(READ, "y", y, "", "Training outputs, in the same order"),
    FILE_ROW(READ, "unlabelled", unlabelled, "",
             "More inputs, whose outputs are not known, for methods that can use them"),
    FILE_ROW(READ, "candidates", candidates, "",
             "Objects to decode to; the training outputs of each fold if not given"),
    {"within", OKRA_OPTION_TEXT, offsetof(select_fields, within), "", 1, 0, NULL,
     "WINDOW",
     "With --metric mrr or hit-rate: only candidates that fit the pair are put in order, "
     "as in okra predict: mass=10ppm, formula"},
    FILE_ROW(READ, "folds", folds, "", "The fold of every pair, in place of drawn ones"),
    FILE_ROW(READ, "groups", groups, "", "The group of every pair: groups are not split"),
    FILE_ROW(READ, "stratify", stratify, "",
             "The stratum of every pair: its share is the same in every fold"),
    FILE_ROW(
        READ, "output-groups", output_groups, "",
        "With --per-output: the group of every coordinate of the outputs, one label a "
        "line; coordinates of a group share a lambda"),
    FILE_ROW(READ, "sample-weight", weight, "",
             "How much each pair counts, in fits and in what is measured: one number of "
             "0 or more per row of --y"),
    {"class-weight", OKRA_OPTION_CHOICE, offsetof(select_fields, classes), "none", 1, 0,
     "none|balanced", "HOW", "balanced: every class counts the same"},
    FILE_ROW(WRITTEN, "output", output, "",
             "The model of the best cell, fitted on all pairs"),
    CLI_COMPACT_ROW(select_fields),
    FILE_ROW(WRITTEN, "cells", cells, "",
             "Every cell with mean and standard error, as CSV"),
    FILE_ROW(WRITTEN, "plot", plot, "", "A curve or heat map of the grid, as SVG"),
    FILE_ROW(WRITTEN, "resume", resume, "",
             "Finished work: read if there, and kept up to date; goes on after an "
             "interrupt with the same results"),
    FILE_ROW(READ, "edges", edges, "",
             "For links (metric auc-roc or auc-pr), in place of --y: known edges between "
             "labelled nodes, as in okra link; --x describes all nodes, --y may be the "
             "Gram matrix of the labelled ones"),
    FILE_ROW(READ, "labelled", labelled, "",
             "Nodes whose edges with one another are all known, one per line; without it "
             "the nodes of --edges"),
    FILE_ROW(READ, "nodes", nodes, "",
             "Names of the nodes, one per line in the order of --x"),
    {"beta", OKRA_OPTION_TEXT, offsetof(select_fields, beta), "1", 1, 0, NULL, "V|auto",
     "Time of the diffusion on the known network where --ky is not given"},
    {"norm", OKRA_OPTION_TEXT, offsetof(select_fields, norm), "auto", 1, 0, NULL,
     "V|auto",
     "Links: norm of the score, as in okra link; auto: 0.75 while settings are compared"},
    {"kx", OKRA_OPTION_TEXT, offsetof(select_fields, kx), "auto", 1, 0, NULL, "EXPR",
     "Kernel of the inputs, with grids; auto: a few that fit the kind of objects"},
    {"ky", OKRA_OPTION_TEXT, offsetof(select_fields, ky), "auto", 1, 0, NULL, "EXPR",
     "Kernel of the outputs, with grids; auto: by the kind of objects"},
    {"lambda", OKRA_OPTION_TEXT, offsetof(select_fields, lambda), "auto", 1, 0, NULL,
     "GRID", "Regularisation; auto: a list about the scale of the kernel, refined"},
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

static okra_status read_pairs(cli_run *run, const select_fields *f, inputs *in)
{
    okra_status st = cli_read_pairs(run, f->x, f->y, f->unlabelled, NULL, &in->x, &in->y);
    if (st == OKRA_OK) {
        st = cli_weigh(run, f->weight, f->classes ? "balanced" : "none", &in->y);
    }
    if (st == OKRA_OK && *f->candidates) {
        st = cli_read_like(run, f->candidates, in->y, &in->candidates);
    }
    return st;
}

/* A network in place of outputs. */
static int read_network(cli_run *run, const select_fields *f, inputs *in)
{
    bool gram = okra_kernel_has(okra_options_get(run->library, "kx"), OKRA_KERNEL_GIVEN);
    REFUSE_IF(*f->weight || f->classes,
              "links of a network have no weights of pairs: leave out "
              "--sample-weight and --class-weight");
    int status = cli_read_gram(run, f->x, gram, &in->x);
    if (status == CLI_DONE && *f->y) {
        status = cli_read_gram(run, f->y, true, &in->y);
    }
    status = status ? status
                    : cli_nodes_read(run, f->nodes, okra_data_count(in->x), &in->nodes);
    status = status ? status
                    : cli_known_read(run, &in->nodes, f->labelled, f->edges, &in->known);
    return status;
}

static int read_inputs(cli_run *run, const select_fields *f, inputs *in)
{
    int status =
        *f->edges ? read_network(run, f, in) : cli_status(run, read_pairs(run, f, in));
    status = status ? status : cli_status(run, read_labels(run, f->folds, &in->folds));
    status = status ? status : cli_status(run, read_labels(run, f->groups, &in->groups));
    status =
        status ? status
               : cli_status(run, read_labels(run, f->output_groups, &in->output_groups));
    return status ? status : cli_status(run, read_labels(run, f->stratify, &in->strata));
}

/* The command that fits the best cell goes into the result; where -o names a file it is
 * fitted on all pairs, and what it learned (align) goes there too. */
static int fit_best(cli_run *run, const inputs *in, const okra_selection *s,
                    const select_fields *f, json_t *result)
{
    okra_options *options = NULL;
    okra_model *model = NULL;
    okra_status st = okra_selection_options(s, okra_selection_best(s), &options, NULL);
    char *command = st == OKRA_OK ? choose_fit_command(run, options) : NULL;
    if (command) {
        json_object_set_new(result, "command", json_string(command));
    }
    free(command);
    if (st == OKRA_OK && *f->output) {
        st = okra_fit(run->context, in->x, in->y, options, &model);
    }
    if (st == OKRA_OK && model) {
        st = cli_save_model(run, model, (okra_compact)f->compact, f->output);
        json_t *about = json_loads(okra_model_json(model), 0, NULL);
        json_object_set(result, "texts", json_object_get(about, "texts"));
        json_decref(about);
    }
    okra_model_free(model);
    okra_options_free(options);
    return cli_status(run, st);
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
    const char *files[] = {f->output, f->cells, f->plot, f->resume};
    int status = CLI_DONE;
    for (size_t i = 0; i < 4 && status == CLI_DONE; i++) {
        status = cli_check_writable(run, files[i]);
    }
    if (status == CLI_DONE && strcmp(f->output, "-") == 0) {
        status = cli_usage(run, "a model is mapped from its file: -o must name one");
    }
    if (status == CLI_DONE && *f->plot && !cli_ends(f->plot, ".svg")) {
        status =
            cli_usage(run, "--plot is '%s', expected a name that ends in .svg", f->plot);
    }
    return status || !*f->plot ? status : report_check(run);
}

static const char *const kept = "okra-select.resume";

/* Kernels and lambda that nobody gave are searched for. */
static okra_status leave_open(cli_run *run, bool links)
{
    static const char *const names[] = {"kx", "ky", "lambda"};
    okra_status st = OKRA_OK;
    for (int i = 0; i < 3 && st == OKRA_OK; i++) {
        bool has = i == 0 || (i == 1 ? !links : choose_has_lambda(run));
        if (has && !okra_options_is_set(run->library, names[i])) {
            st = okra_options_set(run->library, names[i], "auto");
        }
    }
    return st;
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
    int status = cli_beta(run, f->beta, &settings.beta);
    status = status ? status : cli_norm(run, f->norm, &settings.norm);
    if (status != CLI_DONE) {
        return status;
    }
    okra_status st =
        *f->edges ? okra_select_links(run->context, &task, &settings, run->library,
                                      &request, out)
                  : okra_select(run->context, in->x, in->y, run->library, &request, out);
    status = cli_status(run, st);
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
    inputs in = {0};
    okra_selection *s = NULL;
    int status = cli_status(run, cli_fields(run, &f));
    if (status == CLI_DONE) {
        choose_open typed = {f.kx, f.ky, f.lambda, NULL};
        status = cli_status(run, choose_pass_on(run, &typed));
    }
    status = status ? status : check_kind(run, &f);
    status = status ? status : check_outputs(run, &f);
    status = status ? status : read_inputs(run, &f, &in);
    status = status ? status : cli_status(run, leave_open(run, *f.edges));
    status = status ? status : choose(run, &f, &in, &s);
    json_t *result =
        status == CLI_DONE ? json_loads(okra_selection_json(s), 0, NULL) : NULL;
    if (status == CLI_DONE && !result) {
        status = cli_failure(run, "out of memory");
    }
    if (status == CLI_DONE && *f.cells) {
        status = select_cells(run, result, f.cells);
    }
    if (status == CLI_DONE && *f.plot) {
        status = select_plot(run, result, f.plot);
    }
    if (status == CLI_DONE && !*f.edges) {
        status = fit_best(run, &in, s, &f, result);
    }
    if (status == CLI_DONE && run->common.json) {
        status = cli_print_json(run, select_result(run, result));
    } else if (status == CLI_DONE) {
        select_print(run, result, f.output);
    }
    json_decref(result);
    okra_selection_free(s);
    free_inputs(&in);
    return status;
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
