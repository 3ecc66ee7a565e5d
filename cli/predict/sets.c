/*
 * sets.c: prediction sets, intervals and rejections of okra predict.
 */
#include "okra/program.h"
#include "predict/sets_job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool cli_sets_wanted(const cli_sets *f)
{
    return f->set > 0 || f->interval > 0 || f->reject > 0 || *f->p_values;
}

int cli_sets_check(const cli_run *run, const cli_sets *f)
{
    static const char *const levels[] = {"set", "interval", "reject"};
    static const char *const others[] = {
        "bounds",      "conformal",     "conformal-score", "conformal-folds",
        "calibrate-x", "calibrate-y",   "groups",          "test-groups",
        "group-cuts",  "shift-weights", "truth",           "test-shift-weights"};
    const double values[] = {f->set, f->interval, f->reject};
    for (int i = 0; i < 3; i++) {
        REFUSE_IF(okra_options_is_set(run->options, levels[i]) &&
                      !(values[i] > 0 && values[i] < 1),
                  "--%s is %g, expected a number between 0 and 1", levels[i], values[i]);
    }
    for (size_t i = 0; !cli_sets_wanted(f) && i < sizeof others / sizeof *others; i++) {
        REFUSE_IF(okra_options_is_set(run->options, others[i]),
                  "--%s has no use without --set, --interval, --reject or "
                  "--set-p-values; okra score judges predictions, and lists by --lists",
                  others[i]);
    }
    return CLI_DONE;
}

/* Each different candidate once. */
static int choose_candidates(cli_run *run, cli_sets_job *j, const okra_data *given)
{
    const okra_data *from = given ? given : okra_model_outputs(j->model);
    MAKE(j->row, okra_data_count(from));
    TRY(okra_data_distinct(from, j->row, &j->count));
    TRY(okra_data_take(from, j->row, j->count, &j->candidates));
    for (okra_int k = 0; k < j->count; k++) {
        j->row[k] = okra_data_row(from, j->row[k]); /* lines left out count */
    }
    return CLI_DONE;
}

/* ---- the two kinds ---- */

/* What is said in the end; with the truth, how often it was held. */
static int say(const cli_run *run, const cli_sets_job *j, const cli_sets_result *r,
               const char *name, double value)
{
    const char *how = r->how;
    if (strcmp(j->f->bounds, "-") == 0 || strcmp(j->f->p_values, "-") == 0) {
        return CLI_DONE; /* what is on standard output already is data */
    }
    if (run->common.json && j->truth) {
        return cli_print_json(run, cli_sets_json(run, r));
    }
    if (run->common.json) {
        return cli_print_json(
            run, json_pack("{s:I, s:s, s:o}", "tests", (json_int_t)j->tests, "conformal",
                           how, name, isfinite(value) ? json_real(value) : json_null()));
    }
    if (!run->common.quiet) {
        cli_line(stdout, "tests", "%lld", (long long)j->tests);
        cli_line(stdout, "conformal", "%s, score %s", how, j->s.score);
        cli_line(stdout, name, "%.4g", value);
        if (j->truth) {
            cli_line(stdout, "coverage", "%.4f", cli_sets_coverage(r));
        }
    }
    return CLI_DONE;
}

/* The candidate that is the truth of each test input. */
static int find_truth(cli_run *run, const cli_sets_job *j, okra_int **out)
{
    if (!j->truth) {
        return CLI_DONE;
    }
    MAKE(*out, j->tests);
    return cli_status(run, okra_candidates_match(j->truth, j->candidates, *out));
}

/* What is easily meant otherwise; truth: the candidate of each test input, -1: none. */
static void warn(cli_run *run, const cli_sets_job *j, const okra_int *truth, bool given,
                 double mean)
{
    bool numbers = !given && okra_data_values(j->candidates, NULL) &&
                   okra_data_width(j->candidates) == 1 &&
                   2 * j->count > okra_data_count(okra_model_outputs(j->model));
    double alpha = j->f->reject > 0 ? j->f->reject : j->f->set;
    okra_int strange = 0;
    for (okra_int i = 0; truth && i < j->tests; i++) {
        strange += truth[i] < 0;
    }
    if (alpha > 0.5) {
        cli_warn(run,
                 "%g is the share of sets that may miss the truth; %g makes sets that "
                 "hold it with probability %g",
                 alpha, 1 - alpha, alpha);
    }
    if (2 * strange > j->tests || (numbers && !truth)) {
        cli_warn(run,
                 "%s true outputs are no candidates, so that no set holds them; "
                 "--candidates FILE lists more, --interval is for numbers",
                 truth ? "most" : "of numbers most");
    }
    if (mean > 1.5 && 3 * mean > 2 * (double)j->count) {
        cli_warn(
            run,
            "sets hold %.3g of %lld candidates on average: the model hardly tells them "
            "apart; more pairs, other kernels or a larger alpha make them smaller",
            mean, (long long)j->count);
    }
}

static int sets(cli_run *run, cli_sets_job *j, const okra_data *given, const char *output)
{
    okra_int size = 0, single = 0;
    OWNED okra_int *truth = NULL;
    CHK(choose_candidates(run, j, given));
    MAKE(j->p, j->tests * j->count);
    TRY(okra_conformal_p_values(run->context, j->model, j->x, j->candidates, &j->s,
                                j->p));
    if (*j->f->p_values) {
        TRY(cli_write(run, j->p, j->tests, j->count, j->f->p_values));
    }
    if (!*output) {
        return CLI_DONE;
    }
    CHK(cli_sets_write_members(run, j, output, &size, &single));
    CHK(find_truth(run, j, &truth));
    double tests = j->tests > 0 ? (double)j->tests : 1;
    warn(run, j, truth, given != NULL, (double)size / tests);
    cli_sets_result r = {.tests = j->tests,
                         .count = j->count,
                         .alpha = j->f->reject > 0 ? j->f->reject : j->f->set,
                         .p = j->p,
                         .truth = truth,
                         .groups = j->s.by_class ? j->truth : j->s.test_groups,
                         .how = j->s.how};
    return strcmp(output, "-") == 0
               ? CLI_DONE
               : say(run, j, &r, j->f->reject > 0 ? "answered" : "set size",
                     (double)(j->f->reject > 0 ? single : size) / tests);
}

static int intervals(cli_run *run, cli_sets_job *j, const char *output)
{
    okra_int d = okra_data_width(okra_model_outputs(j->model)), count = j->tests * d;
    OWNED double *bounds = NULL, *radius = NULL;
    double sum = 0;
    MAKE(bounds, 2 * count);
    MAKE(radius, j->tests);
    TRY(okra_conformal_intervals(run->context, j->model, j->x, j->f->interval, &j->s,
                                 bounds, radius));
    if (*j->f->bounds) {
        CHK(cli_sets_write_cube(run, bounds, j->tests, d, j->f->bounds));
    }
    if (*output) {
        CHK(cli_sets_write_intervals(run, j, output, bounds, radius, d));
    }
    if (strcmp(output, "-") == 0) {
        return CLI_DONE;
    }
    for (okra_int k = 0; k < count; k++) {
        sum += bounds[2 * k + 1] - bounds[2 * k];
    }
    cli_sets_result r = {.tests = j->tests,
                         .d = d,
                         .alpha = j->f->interval,
                         .bounds = bounds,
                         .groups = j->s.test_groups,
                         .how = j->s.how};
    r.values = j->truth ? okra_data_values(j->truth, &r.values_ld) : NULL;
    return j->truth && (!r.values || okra_data_width(j->truth) != d)
               ? cli_failure(run, "%s: expected vectors of length %lld", j->f->truth,
                             (long long)d)
               : say(run, j, &r, "mean width", count > 0 ? sum / (double)count : 0);
}

static int check(const cli_run *run, const cli_sets *f, const char *output, bool given)
{
    int kinds = (f->set > 0) + (f->interval > 0) + (f->reject > 0);
    const char *files[] = {output, f->bounds, f->p_values};
    REFUSE_IF(kinds > 1, "--set, --interval and --reject exclude one another");
    REFUSE_IF(f->interval > 0 ? !*output && !*f->bounds : kinds > 0 && !*output,
              "nothing to write: give -o%s", f->interval > 0 ? " or --bounds" : "");
    REFUSE_IF(kinds == 0 && *f->truth,
              "--truth has no use with --set-p-values alone: give --set ALPHA");
    REFUSE_IF(f->interval > 0 && given, "--candidates has no use with --interval");
    REFUSE_IF(okra_options_is_set(run->options, "conformal-folds") &&
                  strcmp(f->conformal, "cv+") != 0,
              "--conformal-folds is for --conformal cv+");
    REFUSE_IF(strcmp(output, "-") == 0 && (*f->truth || strcmp(f->p_values, "-") == 0),
              "-o - takes standard output: --truth and --set-p-values - have "
              "no use");
    REFUSE_IF(kinds == 0 && *output,
              "--set-p-values alone writes no objects: -o has no use; give --set ALPHA");
    REFUSE_IF((*f->bounds && f->interval == 0) || (*f->p_values && f->interval > 0),
              "--bounds goes with --interval, --set-p-values with --set");
    REFUSE_IF(*output && strcmp(output, "-") != 0 && !cli_ends(output, ".tsv") &&
                  !cli_ends(output, ".csv"),
              "-o is '%s', expected a table: a name in .tsv or .csv", output);
    for (int i = 0; i < 3; i++) {
        CHK(cli_check_writable(run, files[i]));
    }
    return CLI_DONE;
}

static void clear(cli_sets_job *j)
{
    while (j->owned_count > 0) {
        okra_data_free(j->owned[--j->owned_count]);
    }
    okra_data_free(j->candidates);
    free(j->row);
    free(j->p);
}

int cli_sets_write(cli_run *run, const cli_sets *f, const okra_model *model,
                   const okra_data *x, const okra_data *candidates, const char *output)
{
    FREED_BY(clear)
    cli_sets_job j = {.f = f, .model = model, .x = x, .tests = okra_data_count(x)};
    CHK(check(run, f, output, candidates != NULL));
    CHK(cli_sets_read(run, &j));
    return f->interval > 0 ? intervals(run, &j, output)
                           : sets(run, &j, candidates, output);
}
