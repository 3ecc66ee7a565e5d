/*
 * demo.c: okra demo: learns two built-in tasks, beside k nearest neighbours.
 */
#include "commands.h"
#include "report/report.h"
#include "okra/program.h"

#include <errno.h>
#include <langinfo.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct demo_fields {
    const char *output, *save;
} demo_fields;

#define FIELDS demo_fields
static const okra_option rows[] = {
    ROW(WRITTEN, "output", output, "", "FILE.svg",
        "Draw the results into this file as well"),
    ROW(WRITTEN, "save", save, "", "DIR",
        "Write the data of the tasks there, to go on with"),
    {0}};

enum { DEMO_ROWS = 4, DEMO_REPEATS = 5 };

/* One way to solve a task: what is typed after "okra fit" and "okra predict". */
typedef struct demo_row {
    const char *label;
    const char *fit;    /* "name=value ..." between spaces                   */
    const char *decode; /* decoder                                           */
    const char *better; /* values of k tried, the best on the test set taken */
} demo_row;

typedef struct demo_task {
    const char *name, *title, *metric;
    okra_status (*make)(uint64_t seed, okra_int n, okra_data **x, okra_data **y);
    okra_int train, test;
    demo_row rows[DEMO_ROWS]; /* the first is the peer, the last is drawn as okra */
    int row_count;
} demo_task;

typedef struct demo_result {
    const demo_task *task;
    double value[DEMO_ROWS][DEMO_REPEATS];
    okra_data *train_x, *train_y; /* of the first repeat              */
    okra_data *test_x, *test_y;
    okra_data *predicted[DEMO_ROWS];
} demo_result;

static const demo_task demo_patterns = {
    .name = "patterns",
    .title = "lower half of a 16 x 16 pattern from its upper half",
    .metric = "mse",
    .make = okra_synthetic_patterns,
    .train = 400,
    .test = 100,
    .rows = {{"k-NN, best k of 1, 3, 5, 10", "method=knn kx=rbf(sigma=4)", "explicit",
              "1 3 5 10"},
             {"okra, operator identity", "kx=rbf(sigma=4) lambda=0.01", "explicit", NULL},
             {"okra, operator ccov",
              "kx=rbf(sigma=4) operator=ccov lambda=1e-5 epsilon=0.01", "explicit",
              NULL}},
    .row_count = 3,
};

static const demo_task demo_s_shape = {
    .name = "s-shape",
    .title = "t from r = t + 0.3 sin(2 pi t) + noise: three t fit one r",
    .metric = "mae",
    .make = okra_synthetic_s_shape,
    .train = 500,
    .test = 500,
    .rows = {{"k-NN, best k of 1, 3, 5, 10", "method=knn kx=rbf(sigma=0.1)", "explicit",
              "1 3 5 10"},
             {"okra, linear outputs (averages)", "kx=rbf(sigma=0.1) lambda=0.1",
              "explicit", NULL},
             {"okra, rbf outputs (chooses)",
              "kx=rbf(sigma=0.1) ky=rbf(sigma=0.1) lambda=0.1", "candidates", NULL}},
    .row_count = 3,
};

/* ---- one row of a table ---- */

static okra_status set_all(okra_options *options, const char *settings)
{
    while (*settings) {
        char name[32], value[96];
        size_t length = strcspn(settings, " "), equals = strcspn(settings, "=");
        snprintf(name, sizeof name, "%.*s", (int)equals, settings);
        snprintf(value, sizeof value, "%.*s", (int)(length - equals - 1),
                 settings + equals + 1);
        CHK(okra_options_set(options, name, value));
        settings += length + strspn(settings + length, " ");
    }
    return OKRA_OK;
}

/* Fits, predicts and scores once; `k` > 0 sets the number of neighbours. */
static okra_status solve(cli_run *run, const demo_result *r, const demo_row *row, int k,
                         double *value, okra_data **predicted)
{
    FREED_BY(okra_options_free_at) okra_options *fit = NULL, *predict = NULL;
    OWNED_MODEL *model = NULL;
    FREED_BY(okra_prediction_free_at) okra_prediction *p = NULL;
    CHK(okra_fit_options(&fit));
    CHK(okra_predict_options(&predict));
    CHK(set_all(fit, row->fit));
    CHK(k > 0 ? okra_options_set_number(fit, "k", k) : OKRA_OK);
    CHK(okra_options_set(predict, "decode", row->decode));
    CHK(okra_fit(run->context, r->train_x, r->train_y, fit, &model));
    CHK(okra_predict(run->context, model, r->test_x, predict, NULL, &p));
    *predicted = okra_data_retain(okra_prediction_objects(p));
    return okra_score(run->context, r->task->metric, r->test_y, *predicted, value, NULL,
                      NULL);
}

/* The best k on the test set itself: in favour of the peer. */
static okra_status solve_best(cli_run *run, const demo_result *r, const demo_row *row,
                              double *value, okra_data **predicted)
{
    *value = HUGE_VAL;
    for (const char *at = row->better; *at;) {
        char *end;
        int k = (int)strtol(at, &end, 10);
        double now = 0;
        OWNED_DATA *objects = NULL;
        CHK(solve(run, r, row, k, &now, &objects));
        if (now < *value) {
            *value = now;
            okra_data_free(*predicted);
            *predicted = TAKE(objects);
        }
        at = end + strspn(end, " ");
    }
    return OKRA_OK;
}

/* ---- a task ---- */

static okra_status part(const okra_data *data, okra_int first, okra_int count,
                        okra_data **out)
{
    OWNED okra_int *index = malloc((size_t)count * sizeof *index);
    for (okra_int i = 0; index && i < count; i++) {
        index[i] = first + i;
    }
    return index ? okra_data_take(data, index, count, out) : OKRA_EMEM;
}

static okra_status make(const demo_task *task, uint64_t seed, demo_result *r)
{
    OWNED_DATA *x = NULL, *y = NULL;
    CHK(task->make(seed, task->train + task->test, &x, &y));
    CHK(part(x, 0, task->train, &r->train_x));
    CHK(part(y, 0, task->train, &r->train_y));
    CHK(part(x, task->train, task->test, &r->test_x));
    return part(y, task->train, task->test, &r->test_y);
}

static void clear(demo_result *r)
{
    okra_data_free(r->train_x);
    okra_data_free(r->train_y);
    okra_data_free(r->test_x);
    okra_data_free(r->test_y);
    for (int i = 0; i < DEMO_ROWS; i++) {
        okra_data_free(r->predicted[i]);
    }
}

/* The first repeat stays in `r` to be drawn and saved. */
static okra_status work(cli_run *run, const demo_task *task, demo_result *r)
{
    *r = (demo_result){.task = task};
    for (int repeat = 0; repeat < DEMO_REPEATS; repeat++) {
        FREED_BY(clear) demo_result other = {.task = task};
        demo_result *now = repeat ? &other : r;
        CHK(make(task, (uint64_t)run->common.seed + (uint64_t)repeat, now));
        for (int i = 0; i < task->row_count; i++) {
            const demo_row *row = &task->rows[i];
            double *value = &r->value[i][repeat];
            CHK(row->better ? solve_best(run, now, row, value, &now->predicted[i])
                            : solve(run, now, row, 0, value, &now->predicted[i]));
        }
        cli_on_progress(run, task->name, repeat + 1, DEMO_REPEATS);
    }
    return OKRA_OK;
}

/* ---- pictures, as text and as figures of a result ---- */

enum { SIDE = 16, HALF = SIDE * SIDE / 2, SHOWN = 3, PLOT_WIDTH = 60, PLOT_HEIGHT = 16 };

/* Gray levels need colours, colours a terminal. */
static bool has_blocks(FILE *out)
{
    const char *term = getenv("TERM");
    return isatty(fileno(out)) && !getenv("NO_COLOR") && term &&
           strcmp(term, "dumb") != 0 && strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

/* A whole pattern: the upper half as given, the lower half as told. */
static void join(const okra_data *upper, const okra_data *lower, okra_int i,
                 double *image)
{
    okra_int ld;
    const double *u = okra_data_values(upper, &ld);
    memcpy(image, u + i * ld, HALF * sizeof *image);
    const double *l = okra_data_values(lower, &ld);
    memcpy(image + HALF, l + i * ld, HALF * sizeof *image);
}

static double share(double value)
{
    double s = (value + 1) / 2;
    return s < 0 ? 0 : s > 1 ? 1 : s;
}

/* Two rows of pixels as one row of characters. */
static void draw_line(FILE *out, const double *image, int row, bool blocks)
{
    static const char levels[] = " .:-=+*#%@";
    for (int c = 0; c < SIDE; c++) {
        double top = share(image[row * SIDE + c]),
               low = share(image[(row + 1) * SIDE + c]);
        if (blocks) {
            /* 232..255 are the grays of a terminal with 256 colours */
            fprintf(out, "\033[38;5;%d;48;5;%dm\xe2\x96\x80", 232 + (int)(23 * top),
                    232 + (int)(23 * low));
        } else {
            fputc(levels[(int)(9 * (top + low) / 2 + 0.5)], out);
        }
    }
    fputs(blocks ? "\033[0m" : "", out);
}

static void demo_draw_patterns(FILE *out, const demo_result *r)
{
    bool blocks = has_blocks(out);
    double image[3][SIDE * SIDE];
    const okra_data *lower[] = {r->test_y, r->predicted[r->task->row_count - 1],
                                r->predicted[0]};
    fprintf(out, "  %-18s%-18s%-18s\n", "truth", "okra", "k-NN");
    for (okra_int i = 0; i < SHOWN; i++) {
        for (int k = 0; k < 3; k++) {
            join(r->test_x, lower[k], i, image[k]);
        }
        for (int row = 0; row < SIDE; row += 2) {
            for (int k = 0; k < 3; k++) {
                fputs("  ", out);
                draw_line(out, image[k], row, blocks);
            }
            fputs(row == SIDE / 2 - 2 ? "  given above, predicted below\n" : "\n", out);
        }
        fputc('\n', out);
    }
}

/* ---- the curve ---- */

static double at(const okra_data *data, okra_int i)
{
    okra_int ld;
    return okra_data_values(data, &ld)[i * ld];
}

/* r runs from about -0.2 to 1.2, t from 0 to 1. */
static void demo_draw_s_shape(FILE *out, const demo_result *r)
{
    char plot[PLOT_HEIGHT][PLOT_WIDTH + 1];
    const okra_data *sets[] = {r->test_y, r->predicted[r->task->row_count - 1]};
    const char marks[] = ".o";
    for (int row = 0; row < PLOT_HEIGHT; row++) {
        memset(plot[row], ' ', PLOT_WIDTH);
        plot[row][PLOT_WIDTH] = '\0';
    }
    for (int k = 0; k < 2; k++) {
        for (okra_int i = 0; i < okra_data_count(r->test_x); i++) {
            double x = fmin(1, fmax(0, (at(r->test_x, i) + 0.25) / 1.5));
            double t = fmin(1, fmax(0, at(sets[k], i)));
            plot[(int)((1 - t) * (PLOT_HEIGHT - 1) + 0.5)][(int)(x * (PLOT_WIDTH - 1))] =
                marks[k];
        }
    }
    for (int row = 0; row < PLOT_HEIGHT; row++) {
        fprintf(out, "  |%s\n", plot[row]);
    }
    fprintf(out, "  +%.*s\n  t over r: . truth, o okra\n\n", PLOT_WIDTH,
            "------------------------------------------------------------");
}

/* ---- as figures of a result, for okra-report ---- */

static json_t *numbers(const double *values, okra_int count)
{
    json_t *list = json_array();
    for (okra_int i = 0; i < count; i++) {
        json_array_append_new(list, json_real(values[i]));
    }
    return list;
}

static json_t *patterns_figure(const demo_result *r)
{
    const okra_data *lower[] = {r->test_y, r->predicted[r->task->row_count - 1],
                                r->predicted[0]};
    json_t *lines = json_array();
    for (int i = 0; i < SHOWN; i++) {
        json_t *row = json_array();
        for (int k = 0; k < 3; k++) {
            double image[SIDE * SIDE];
            join(r->test_x, lower[k], i, image);
            json_array_append_new(row, numbers(image, SIDE * SIDE));
        }
        json_array_append_new(lines, row);
    }
    return json_pack("{s:s,s:s,s:s,s:i,s:i,s:f,s:f,s:[s,s,s],s:o}", "id", "patterns",
                     "type", "images", "title",
                     "The upper half is given, the lower half is predicted", "rows", SIDE,
                     "cols", SIDE, "low", -1.0, "high", 1.0, "columns", "truth", "okra",
                     "k-NN", "images", lines);
}

static json_t *points(const char *name, const okra_data *x, const okra_data *y)
{
    json_t *right = json_array(), *up = json_array();
    for (okra_int i = 0; i < okra_data_count(x); i++) {
        json_array_append_new(right, json_real(at(x, i)));
        json_array_append_new(up, json_real(at(y, i)));
    }
    return json_pack("{s:s,s:o,s:o}", "name", name, "x", right, "y", up);
}

static json_t *demo_figures(const demo_result *patterns, const demo_result *s_shape)
{
    const demo_result *s = s_shape;
    return json_pack("[o,{s:s,s:s,s:s,s:s,s:s,s:[o,o,o]}]", patterns_figure(patterns),
                     "id", "s-shape", "type", "scatter", "title",
                     "Three t fit one r: okra chooses, k-NN averages", "x_label", "r",
                     "y_label", "t", "series", points("truth", s->test_x, s->test_y),
                     points("k-NN", s->test_x, s->predicted[0]),
                     points("okra", s->test_x, s->predicted[s->task->row_count - 1]));
}

/* ---- what is shown ---- */

static void mean_sd(const double *v, double *mean, double *sd)
{
    double sum = 0, squares = 0;
    for (int i = 0; i < DEMO_REPEATS; i++) {
        sum += v[i];
    }
    *mean = sum / DEMO_REPEATS;
    for (int i = 0; i < DEMO_REPEATS; i++) {
        squares += (v[i] - *mean) * (v[i] - *mean);
    }
    *sd = sqrt(squares / (DEMO_REPEATS - 1));
}

static void print_table(const demo_result *r)
{
    const demo_task *t = r->task;
    printf(
        "%s: %s\n%lld training pairs, %lld test pairs, %s, mean +- sd of %d repeats\n\n",
        t->name, t->title, (long long)t->train, (long long)t->test, t->metric,
        DEMO_REPEATS);
    for (int i = 0; i < t->row_count; i++) {
        double mean, sd;
        mean_sd(r->value[i], &mean, &sd);
        printf("  %-34s %.4f +- %.4f\n", t->rows[i].label, mean, sd);
    }
    puts("");
}

static json_t *as_json(const demo_result *r)
{
    json_t *list = json_array();
    for (int i = 0; i < r->task->row_count; i++) {
        double mean, sd;
        mean_sd(r->value[i], &mean, &sd);
        json_t *values = json_array();
        for (int k = 0; k < DEMO_REPEATS; k++) {
            json_array_append_new(values, json_real(r->value[i][k]));
        }
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:f, s:f, s:o}", "label",
                                              r->task->rows[i].label, "fit",
                                              r->task->rows[i].fit, "decode",
                                              r->task->rows[i].decode, "mean", mean, "sd",
                                              sd, "values", values));
    }
    return json_pack("{s:s, s:s, s:I, s:I, s:o}", "task", r->task->name, "metric",
                     r->task->metric, "train", (json_int_t)r->task->train, "test",
                     (json_int_t)r->task->test, "rows", list);
}

/* Every line can be pasted into a shell as it stands. */
static void print_next(const char *folder)
{
    const char *dir = *folder ? folder : "demo-data";
    puts("What to type next:\n");
    if (!*folder) {
        printf("  okra demo --quiet --save %s\n", dir);
    }
    printf(
        "  okra fit --x %s/patterns_train_x.npy --y %s/patterns_train_y.npy \\\n"
        "      --kx 'rbf(sigma=4)' --lambda 0.01 -o patterns.okra\n"
        "  okra predict patterns.okra --x %s/patterns_test_x.npy --decode explicit \\\n"
        "      -o predicted.npy\n"
        "  okra score --y %s/patterns_test_y.npy --yhat predicted.npy --metric mse\n"
        "  okra info patterns.okra\n"
        "  okra help fit\n",
        dir, dir, dir, dir);
}

/* ---- files ---- */

static int save(cli_run *run, const char *folder, const demo_result *r)
{
    const okra_data *const all[] = {r->train_x, r->train_y, r->test_x, r->test_y};
    static const char *const which[] = {"train_x", "train_y", "test_x", "test_y"};
    char path[4096];
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        return cli_failure(run, "%s: %s", folder, strerror(errno));
    }
    for (int k = 0; k < 4; k++) {
        int begin = snprintf(path, sizeof path, "%s/", folder);
        snprintf(path + begin, sizeof path - (size_t)begin, "%s_%s.npy", r->task->name,
                 which[k]);
        for (char *at = path + begin; *at; at++) {
            *at = *at == '-' ? '_' : *at;
        }
        TRY(okra_data_write(run->context, all[k], path));
    }
    return CLI_DONE;
}

static int draw(cli_run *run, const char *path, const demo_result *a,
                const demo_result *b)
{
    OWNED_JSON *result = cli_result(run, "demo", "demo", "Two built-in tasks");
    json_object_set_new(result, "figures", demo_figures(a, b));
    return report_draw(run, result, path, "", "all");
}

static int show(cli_run *run, const demo_fields *f, const demo_result *a,
                const demo_result *b)
{
    if (run->common.json) {
        return cli_print_json(run,
                              json_pack("{s:[o, o]}", "tasks", as_json(a), as_json(b)));
    }
    print_table(a);
    if (!run->common.quiet) {
        demo_draw_patterns(stdout, a);
    }
    print_table(b);
    if (!run->common.quiet) {
        demo_draw_s_shape(stdout, b);
        print_next(f->save);
    }
    return CLI_DONE;
}

static int run_demo(cli_run *run)
{
    demo_fields f;
    FREED_BY(clear) demo_result a = {.task = NULL}, b = {.task = NULL};
    TRY(cli_fields(run, &f));
    REFUSE_IF(*f.output && !cli_ends(f.output, ".svg"),
              "-o is '%s', expected a name in .svg", f.output);
    CHK(*f.output ? report_check(run) : CLI_DONE);
    TRY(work(run, &demo_patterns, &a));
    TRY(work(run, &demo_s_shape, &b));
    if (*f.save) {
        CHK(save(run, f.save, &a));
        CHK(save(run, f.save, &b));
    }
    CHK(*f.output ? draw(run, f.output, &a, &b) : CLI_DONE);
    return show(run, &f, &a, &b);
}

const cli_command cli_demo = {
    .name = "demo",
    .purpose = "Learn two built-in tasks and draw what was predicted",
    .usage = "[-o FILE.svg] [--save DIR] [flags]",
    .about = "Half-patterns and the S-shape are made by a seeded generator: no file is "
             "read.\nk-NN is given the k that is best on the test set.\n",
    .refuses = "data strict header bag",
    .examples = "okra demo\n"
                "okra demo --save demo-data -o demo.svg\n",
    .own = {"demo", rows, sizeof(demo_fields)},
    .run = run_demo,
};
