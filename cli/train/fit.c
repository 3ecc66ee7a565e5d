/*
 * fit.c: okra fit: learns a mapping from pairs of objects and writes a model file, or one
 * a lambda.
 */
#include "train/choose.h"
#include "commands.h"
#include "train/pairs.h"
#include "train/select_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct fit_fields {
    const char *x, *y, *unlabelled, *basis, *output, *kx, *ky, *lambda;
    int compact, classes, effort;
    double calibration;
    cli_pairs pairs;
} fit_fields;

#define FIELDS fit_fields
static const okra_option rows[] = {
    ROW(READ, "x", x, "", "FILE", "Training inputs, one object per row"),
    ROW(READ, "y", y, NULL, "FILE", "Training outputs, in the same order"),
    ROW(READ, "unlabelled", unlabelled, "", "FILE",
        "More inputs, whose outputs are not known, for methods that can use them"),
    ROW(READ, "sample-weight", pairs.weight, "", "FILE",
        "Weights of the pairs: a number for each row of --y; with --rows, as --y is"),
    CHOICE("class-weight", classes, "none", "none|balanced", "HOW",
           "balanced: every class counts the same"),
    ROW(READ, "basis", basis, "", "MODEL",
        "Low rank with the basis of `okra basis`, or of a model with --keep-moments: kx "
        "and the low rank of the inputs come from it, moments are kept, --lambda must be "
        "given"),
    ROW(WRITTEN, "output", output, NULL, "FILE", "The model file to write"),
    COMPACT_ROW,
    RANGE(NUMBER, "calibration", calibration, "0", 0, 1, "SHARE",
          "Hold back this share of the pairs, drawn with --seed, in the model: okra "
          "predict --set and --interval calibrate with it"),
    CHOICE("effort", effort, "normal", "quick|normal|thorough", "HOW",
           "How long choosing may take: quick looks at 300 pairs at most, normal at "
           "1,000 and drops losers early, thorough at 2,000 and drops none"),
    /* What goes on to the library, where `auto` is not known. */
    ROW(TEXT, "kx", kx, "auto", "EXPR",
        "Kernel of the inputs, e.g. 'rbf(sigma=4)'; auto: chosen by leave-one-out from a "
        "few that fit the kind of objects"),
    ROW(TEXT, "ky", ky, "auto", "EXPR",
        "Kernel of the outputs; auto: by the kind of objects"),
    /* A list here; one value goes on to the method, whose table has the range. */
    ROW(TEXT, "lambda", lambda, "auto", "V[,V...]",
        "Regularisation; auto: by leave-one-out, or by five folds where that has no "
        "closed form; for a list one model each, {lambda} in the file name standing for "
        "the value"),
    ROW(READ, "rows", pairs.rows, "", "FILE",
        "Pairs: objects of the rows of --y, in place of --x; --y holds a number for each "
        "row and column, or lines of row, column (from 0), value"),
    ROW(READ, "columns", pairs.columns, "", "FILE",
        "Pairs: objects of the columns of --y; --kx is then 'E1 * E2', a kernel of rows "
        "times one of columns, or a sum of such products"),
    CHOICE(
        "setting", pairs.setting, "pair", "pair|row|column|both", "WHAT",
        "Pairs: what will be new: lambda is chosen, and --calibration holds back, by it"),
    ROW(TEXT, "own", pairs.own, "auto", "V",
        "Pairs: added to k(x, x) of each training object, for what it does not share "
        "with others; auto: 0 or a third, by left-out error"),
    {0}};

enum { LAMBDAS = 1000, PATH_MOST = 4096 };

typedef struct path {
    double value[LAMBDAS];
    char text[LAMBDAS][32]; /* as typed: it goes into the file name */
    size_t count;
} path;

static int parse_lambdas(const cli_run *run, const char *list, path *p)
{
    for (const char *at = list;; p->count++) {
        size_t length = strcspn(at, ",");
        char *end = NULL;
        REFUSE_IF(p->count == LAMBDAS || length == 0 || length > 31,
                  "--lambda is '%s', expected numbers between commas", list);
        snprintf(p->text[p->count], 32, "%.*s", (int)length, at);
        p->value[p->count] = strtod(p->text[p->count], &end);
        REFUSE_IF(*end || !isfinite(p->value[p->count]),
                  "--lambda holds '%s', expected a number", p->text[p->count]);
        if (!at[length]) {
            p->count++;
            return CLI_DONE;
        }
        at += length + 1;
    }
}

/* {lambda} replaced by the value as it was typed. */
static int model_path(const cli_run *run, const char *pattern, const char *text,
                      char *out)
{
    const char *place = strstr(pattern, "{lambda}");
    int length = place ? snprintf(out, PATH_MOST, "%.*s%s%s", (int)(place - pattern),
                                  pattern, text, place + strlen("{lambda}"))
                       : snprintf(out, PATH_MOST, "%s", pattern);
    return length < PATH_MOST ? CLI_DONE : cli_usage(run, "-o is too long");
}

/* ---- what is said afterwards ---- */

static double file_size(const char *name)
{
    struct stat found;
    return stat(name, &found) == 0 ? (double)found.st_size : 0;
}

typedef struct summary {
    const okra_model *model;
    const char *file;
    double seconds;
    const char *command; /* that chooses nothing, or NULL: nothing was chosen */
    const char *chosen;  /* how, or "" */
    const okra_selection *selection;
} summary;

/* A result that okra report draws: what was compared, if anything was, and weights of
 * kernels. */
static json_t *as_json(const cli_run *run, const summary *s)
{
    OWNED_JSON *about = json_loads(okra_model_json(s->model), 0, NULL);
    json_t *result = cli_result(run, "fit", "fit", "A fit");
    json_t *own = json_pack(
        "{s:s, s:I, s:I, s:f}", "model", s->file, "bytes", (json_int_t)file_size(s->file),
        "n", (json_int_t)okra_model_count(s->model), "seconds", s->seconds);
    json_t *figure = cli_align_figure(about);
    if (s->selection) {
        OWNED_JSON *selection = json_loads(okra_selection_json(s->selection), 0, NULL);
        OWNED_JSON *told = select_result(run, selection);
        json_object_set(own, "tables", json_object_get(told, "tables"));
        json_object_set(own, "figures", json_object_get(told, "figures"));
        json_object_set(own, "left_out", json_object_get(selection, "left_out"));
        json_object_set(own, "methods", json_object_get(selection, "methods"));
    }
    json_object_update_new(result, own);
    if (figure) {
        json_array_append_new(json_object_get(result, "figures"), figure);
    }
    json_object_update_missing(result, about);
    if (s->command) {
        json_object_set_new(result, "command", json_string(s->command));
        json_object_set_new(result, "chosen", json_string(s->chosen));
    }
    return result;
}

static void print(const cli_run *run, const summary *s, bool shared)
{
    char buffer[64];
    OWNED_JSON *about = json_loads(okra_model_json(s->model), 0, NULL);
    const json_t *kernels = json_object_get(about, "kernels");
    json_t *options = json_object_get(about, "options");
    const char *key;
    json_t *value;
    cli_line(stdout, "model", "%s, %s", s->file,
             cli_bytes(file_size(s->file), buffer, sizeof buffer));
    cli_line_data(stdout, "inputs", json_object_get(about, "x"));
    cli_line_data(stdout, "outputs", json_object_get(about, "y"));
    cli_line_calibration(stdout, about);
    cli_line(stdout, "kx", "%s", json_string_value(json_object_get(kernels, "x")));
    cli_line(stdout, "ky", "%s", json_string_value(json_object_get(kernels, "y")));
    cli_line_align(stdout, about);
    json_object_foreach(options, key, value)
    {
        if (strcmp(key, "method") == 0 || strcmp(key, "lambda") == 0 ||
            (okra_options_is_set(run->library, key) && strcmp(key, "kx") != 0 &&
             strcmp(key, "ky") != 0)) {
            cli_line(stdout, key, "%s", json_string_value(value));
        }
    }
    static const char *const numbers[] = {
        "pairs",    "blend",         "jitter",      "gap",
        "x.rank",   "x.trace-error", "y.rank",      "y.trace-error",
        "cg.steps", "cg.residual",   "mixed.steps", "mixed.residual"};
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
        const json_t *found =
            json_object_get(json_object_get(about, "numbers"), numbers[k]);
        if (found) {
            cli_line(stdout, numbers[k], "%g", json_number_value(found));
        }
    }
    cli_line(stdout, "time", "%s%s", cli_seconds(s->seconds, buffer, sizeof buffer),
             shared ? ", all models together" : "");
    if (s->command && *s->chosen) {
        cli_line(stdout, "chosen", "%s", s->chosen);
    }
    if (s->selection) {
        char verdict[160];
        choose_verdict(s->selection, verdict, sizeof verdict);
        if (*verdict) {
            cli_line(stdout, "left out", "%s", verdict);
        }
    }
    if (s->command) {
        cli_line(stdout, "the same", "%s", s->command);
    }
}

/* ---- the command ---- */

/* What was learned, and how it was chosen. */
typedef struct learned {
    okra_model *models[LAMBDAS];
    okra_data *held[2]; /* back, to calibrate with */
    okra_selection *selection;
    char *command;
    char chosen[200];
    double seconds;
} learned;

static int save(cli_run *run, const fit_fields *f, const path *p, const learned *l)
{
    size_t count = p->count > 1 ? p->count : 1;
    OWNED_JSON *list = json_array();
    for (size_t i = 0; i < count; i++) {
        char name[PATH_MOST];
        CHK(model_path(run, f->output, p->count ? p->text[i] : "", name));
        TRY(cli_save_model(run, l->models[i], (okra_compact)f->compact, name));
        summary s = {l->models[i], name, l->seconds, l->command, l->chosen, l->selection};
        if (run->common.json) {
            json_array_append_new(list, as_json(run, &s));
        } else if (!run->common.quiet) {
            fputs(i > 0 ? "\n" : "", stdout);
            print(run, &s, count > 1);
        }
    }
    return !run->common.json ? CLI_DONE
           : count > 1       ? cli_print_json(run, TAKE(list))
                             : cli_print_json(run, json_incref(json_array_get(list, 0)));
}

/* Work that will take a while is announced. */
static okra_status say_plan(cli_run *run, const okra_data *x, const okra_data *y)
{
    enum { LONG = 10 }; /* seconds */
    char text[400];
    double seconds = 0;
    okra_status st =
        okra_fit_plan(run->context, x, y, run->library, text, sizeof text, &seconds);
    if (st == OKRA_OK && seconds >= LONG) {
        fprintf(stderr, "okra fit: plan: %s\n", text);
    }
    return st;
}

/* What is left open is chosen. */
static okra_status choose(cli_run *run, const fit_fields *f, const path *p,
                          const okra_data *x, const okra_data *y, learned *l)
{
    choose_open open = {f->kx, f->ky, f->lambda,
                        okra_options_get(run->options, "effort")};
    if (!choose_needed(run, &open)) {
        return OKRA_OK;
    }
    CHK(choose_options(run, &open, x, y, &l->selection));
    l->command = choose_command(run, p->count > 1 ? f->lambda : NULL);
    if (l->selection) {
        choose_summary(l->selection, okra_data_count(y), l->chosen, sizeof l->chosen);
    }
    return l->command ? OKRA_OK : OKRA_EMEM;
}

/* A share of the pairs goes from *x and *y to held. */
static okra_status hold(cli_run *run, const fit_fields *f, okra_data **x, okra_data **y,
                        okra_data *held[2])
{
    okra_data *parts[4] = {NULL};
    if (f->calibration == 0) {
        return OKRA_OK;
    }
    CHK(okra_pairs_split(run->context, *x, *y, f->calibration, parts));
    okra_data_free(*x);
    okra_data_free(*y);
    *x = parts[0];
    *y = parts[1];
    held[0] = parts[2];
    OWNED_DATA *weighted = parts[3];
    return okra_data_weigh(weighted, NULL, 0, &held[1]); /* these count the same */
}

/* A fit on the basis of another model. */
static okra_status learn_shard(cli_run *run, const fit_fields *f, const okra_data *x,
                               const okra_data *y, learned *l)
{
    char buffer[PATH_MOST];
    OWNED_MODEL *basis = NULL;
    CHK(okra_model_load(run->context, cli_find(run, f->basis, buffer, sizeof buffer),
                        &basis));
    CHK(okra_options_set(run->library, "keep-moments", "yes"));
    return okra_fit_as(
        run->context, x, y, run->library,
        (&(okra_fit_request){OKRA_SIZED(okra_fit_request), .basis = basis}), l->models);
}

/* Rows in several files, with nothing to be done to them before the fit. */
static bool from_files(cli_run *run, const fit_fields *f, const path *p)
{
    choose_open open = {f->kx, f->ky, f->lambda, NULL};
    const char *specs[] = {f->x, f->y};
    bool parts = false;
    for (int k = 0; k < 2; k++) {
        parts = parts || strncmp(specs[k], "shards:", 7) == 0 ||
                strncmp(specs[k], "list:", 5) == 0;
    }
    return parts && !strchr(f->x, '\n') && !strchr(f->y, '\n') && p->count == 1 &&
           !*f->unlabelled && !*f->pairs.weight && !*f->basis && !f->classes &&
           f->calibration == 0 && !choose_needed(run, &open);
}

static okra_status learn(cli_run *run, const fit_fields *f, const path *p, learned *l)
{
    OWNED_DATA *x = NULL, *y = NULL;
    if (from_files(run, f, p)) {
        char in[PATH_MOST], out[PATH_MOST];
        return okra_fit_as(
            run->context, NULL, NULL, run->library,
            (&(okra_fit_request){OKRA_SIZED(okra_fit_request),
                                 .x_files = cli_find(run, f->x, in, sizeof in),
                                 .y_files = cli_find(run, f->y, out, sizeof out)}),
            l->models);
    }
    CHK(cli_read_pairs(run, f->x, f->y, f->unlabelled, NULL, &x, &y));
    CHK(cli_weigh(run, f->pairs.weight, f->classes ? "balanced" : "none", &y));
    CHK(hold(run, f, &x, &y, l->held));
    if (*f->basis) {
        CHK(learn_shard(run, f, x, y, l));
    } else {
        CHK(choose(run, f, p, x, y, l));
        CHK(run->common.quiet ? OKRA_OK : say_plan(run, x, y));
        okra_fit_request whole = {OKRA_SIZED(okra_fit_request), .lambda = p->value,
                                  .count = p->count};
        CHK(p->count > 1
                ? okra_fit_as(run->context, x, y, run->library, &whole, l->models)
                : okra_fit(run->context, x, y, run->library, l->models));
    }
    for (size_t i = 0; l->held[0] && i < (p->count ? p->count : 1); i++) {
        CHK(okra_model_set_calibration(l->models[i], l->held[0], l->held[1]));
    }
    return OKRA_OK;
}

static int check_output(const cli_run *run, const fit_fields *f, const path *p)
{
    const char *method = okra_options_get(run->library, "method");
    REFUSE_IF(!*f->x, "--x FILE is missing: Training inputs, one object per row");
    REFUSE_IF(strcmp(f->output, "-") == 0,
              "a model is mapped from its file: -o must name one");
    REFUSE_IF(okra_method_has(method, OKRA_TRAIT_LINKS),
              "method %s scores links of a network and predicts no outputs: "
              "okra link --method %s --x FILE --edges FILE",
              method, method);
    REFUSE_IF(p->count > 1 && !strstr(f->output, "{lambda}"),
              "--lambda lists %zu values, so that -o must hold {lambda}, e.g. -o "
              "'model-{lambda}.okra'",
              p->count);
    REFUSE_IF(*f->basis && (p->count != 1 || *f->unlabelled),
              p->count != 1 ? "--basis needs one --lambda: shards that are "
                              "to be merged have the same"
                            : "--unlabelled has no use with --basis");
    return cli_check_writable(run, f->output);
}

static int fit_pairs(cli_run *run, const fit_fields *f, const path *p)
{
    REFUSE_IF(
        *f->x || *f->unlabelled || *f->basis || f->classes || p->count > 1 ||
            strcmp(f->ky, "auto") != 0 || okra_options_is_set(run->library, "method"),
        "--rows and --columns take --y, --kx, one --lambda, --setting, --own, "
        "--sample-weight and --calibration; --x, --ky, --method and others have no use");
    REFUSE_IF(p->count && !(p->value[0] > 0), "--lambda is '%s', expected more than 0",
              p->text[0]);
    CHK(cli_check_writable(run, f->output));
    return cli_pairs_fit(run, &f->pairs, f->y, f->kx, p->count ? p->value[0] : 0,
                         f->calibration, f->output);
}

static void clear(learned **at)
{
    learned *l = *at;
    for (size_t i = 0; i < LAMBDAS; i++) {
        okra_model_free(l->models[i]);
    }
    okra_selection_free(l->selection);
    okra_data_free(l->held[0]);
    okra_data_free(l->held[1]);
    free(l->command);
}

static int run_fit(cli_run *run)
{
    static path p;        /* large */
    static learned found; /* too */
    FREED_BY(clear) learned *l = &found;
    fit_fields f;
    TRY(cli_fields(run, &f));
    CHK(strcmp(f.lambda, "auto") != 0 ? parse_lambdas(run, f.lambda, &p) : CLI_DONE);
    if (*f.pairs.rows || *f.pairs.columns) {
        return fit_pairs(run, &f, &p);
    }
    CHK(check_output(run, &f, &p));
    choose_open typed = {f.kx, f.ky, p.count == 1 ? p.text[0] : "auto", NULL};
    TRY(choose_pass_on(run, &typed));
    double begin = cli_now();
    TRY(learn(run, &f, &p, l));
    l->seconds = cli_now() - begin;
    return save(run, &f, &p, l);
}

const cli_command cli_fit = {
    .name = "fit",
    .purpose = "Learn a mapping from pairs of objects and write a model file",
    .usage = "--x FILE --y FILE -o MODEL [flags]",
    .about = "okra chooses what you do not give: kernels that fit the kind of objects, "
             "and lambda,\nby leave-one-out. It prints the full command, so that you can "
             "repeat the fit without\nthe search.\n\nEvery method turns an input into "
             "weights over the training outputs,\nh(x) = sum_i w_i(x) phi(y_i), phi "
             "being the feature map of the "
             "output kernel.\n--lambda is the lambda of (K + lambda I) for the operators "
             "identity and matrix,\nof n lambda for cov and ccov.\n--x given several "
             "times describes the same inputs in several ways: kernels choose\nas in "
             "rbf(sigma=1)@1 + ssk@2.\n--rows and --columns in place of --x learn a "
             "number for each "
             "pair of two objects.\n",
    .gathers = " x y unlabelled ",
    .examples =
        "okra fit --x train_x.npy --y train_y.npy -o model.okra\n"
        "okra fit --x train_x.npy --y train_y.npy --kx 'rbf(sigma=4)' \\\n"
        "    --ky 'rbf(sigma=12)' --operator ccov --lambda 0.1 --epsilon 0.01 "
        "-o digits.okra\n"
        "okra fit --x x.csv --y y.csv --kx 'rbf(sigma=1)' --lambda 0.01,0.1,1 \\\n"
        "    -o 'model-{lambda}.okra'\n",
    .own = {"fit", rows, sizeof(fit_fields)},
    .topic = "fit",
    .common = " x y output kx ky lambda method decode ",
    .run = run_fit,
};
