/*
 * merge.c: okra merge: models of parts of the data become one.
 */
#include "commands.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct merge_fields {
    const char *list, *output;
    double lambda;
} merge_fields;

#define FIELDS merge_fields
static const okra_option rows[] = {
    ROW(READ, "list", list, "", "FILE",
        "Names of more models, one per line, after those on the command line"),
    RANGE(NUMBER, "lambda", lambda, "0", 0, 1e300, "V",
          "Another lambda than that of the models; 0: theirs"),
    ROW(WRITTEN, "output", output, NULL, "FILE", "The model file to write"),
    {0}};

/* The models, mapped from their files. */
typedef struct pile {
    okra_model **models;
    char **names;
    size_t count, room;
} pile;

static int push(cli_run *run, pile *p, const char *name)
{
    REFUSE_IF(strcmp(name, "-") == 0,
              "a model is mapped from its file: '-' is none; --list - reads the names of "
              "models from standard input");
    if (p->count == p->room) {
        char **names = realloc(p->names, (2 * p->room + 16) * sizeof *names);
        GOT(names);
        p->names = names;
        p->room = 2 * p->room + 16;
    }
    GOT(p->names[p->count] = strdup(name));
    p->count++;
    return CLI_DONE;
}

static int read_list(cli_run *run, const char *file, pile *p)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    int status = CLI_DONE;
    FILE *in = strcmp(file, "-") == 0 ? stdin : fopen(file, "r");
    if (!in) {
        return cli_failure(run, "%s: cannot be read", file);
    }
    while (status == CLI_DONE && (length = getline(&line, &room, in)) >= 0) {
        while (length > 0 && (line[length - 1] == '\n' || line[length - 1] == '\r')) {
            line[--length] = '\0';
        }
        status = length > 0 ? push(run, p, line) : CLI_DONE;
    }
    free(line);
    if (in != stdin) {
        fclose(in);
    }
    return status;
}

static int load_all(cli_run *run, pile *p, const char *output)
{
    char buffer[4096];
    OWNED struct stat *file = NULL;
    MAKE(file, p->count);
    MAKE(p->models, p->count);
    for (size_t i = 0; i < p->count; i++) {
        const char *path = cli_find(run, p->names[i], buffer, sizeof buffer);
        REFUSE_IF(cli_same_file(output, path),
                  "-o %s is also one of the models: name another", output);
        CHK(cli_load_model(run, path, &p->models[i]));
        bool there = stat(path, &file[i]) == 0;
        for (size_t k = 0; k < i && there; k++) {
            REFUSE_IF(file[k].st_ino == file[i].st_ino &&
                          file[k].st_dev == file[i].st_dev,
                      "%s is given twice: its pairs would count twice", p->names[i]);
        }
    }
    return CLI_DONE;
}

static int summarise(const cli_run *run, const merge_fields *f, size_t count,
                     const okra_model *merged, double seconds)
{
    char buffer[64];
    if (run->common.json) {
        return cli_print_json(run, json_pack("{s:s, s:I, s:I, s:f}", "model", f->output,
                                             "models", (json_int_t)count, "n",
                                             (json_int_t)okra_model_count(merged),
                                             "seconds", seconds));
    }
    if (!run->common.quiet) {
        cli_line(stdout, "model", "%s", f->output);
        cli_line(stdout, "models", "%zu", count);
        cli_line(stdout, "pairs", "%lld", (long long)okra_model_count(merged));
        cli_line(stdout, "time", "%s", cli_seconds(seconds, buffer, sizeof buffer));
    }
    return CLI_DONE;
}

/* The library counts models; a person knows files. */
static int merge_all(cli_run *run, const pile *p, double lambda, okra_model **merged)
{
    okra_status st = okra_model_merge(run->context, (const okra_model *const *)p->models,
                                      p->count, lambda, merged);
    size_t a = 0, b = 0;
    const char *at = st == OKRA_OK ? NULL : strstr(okra_message(), "model");
    if (at && sscanf(at, "models %zu and %zu", &a, &b) < 1) {
        sscanf(at, "model %zu", &a);
    }
    if (a > 0 && a <= p->count && b <= p->count) {
        char message[1024];
        snprintf(message, sizeof message, "%s", okra_message());
        st = okra_fail(st, "%s (%s%s%s)", message, p->names[a - 1], b ? ", " : "",
                       b ? p->names[b - 1] : "");
    }
    return cli_status(run, st);
}

static void clear(pile *p)
{
    for (size_t i = 0; i < p->count; i++) {
        okra_model_free(p->models ? p->models[i] : NULL);
        free(p->names[i]);
    }
    free(p->models);
    free(p->names);
}

static int run_merge(cli_run *run)
{
    merge_fields f;
    FREED_BY(clear) pile p = {0};
    OWNED_MODEL *merged = NULL;
    double begin = cli_now();
    TRY(cli_fields(run, &f));
    CHK(cli_check_model_file(run, f.output));
    for (int i = 0; i < run->operand_count; i++) {
        CHK(push(run, &p, run->operands[i]));
    }
    CHK(*f.list ? read_list(run, f.list, &p) : CLI_DONE);
    REFUSE_IF(p.count == 0, "there are no models: name them, or give --list");
    CHK(load_all(run, &p, f.output));
    CHK(merge_all(run, &p, f.lambda, &merged));
    TRY(okra_model_save(run->context, merged, NULL, f.output));
    return summarise(run, &f, p.count, merged, cli_now() - begin);
}

const cli_command cli_merge = {
    .name = "merge",
    .purpose = "Make one model of models that were fitted on parts of the data",
    .usage = "MODEL... -o MODEL [flags]",
    .about = "For models of low rank that keep their moments and have one basis: `okra "
             "fit --basis`.\nThe result is what one fit on all pairs gives, to rounding. "
             "Sums run in the order of\nthe models: the same ones in the same order give "
             "the same bits, also where the first\nof them were merged before.\n",
    .examples = "okra merge part1.okra part2.okra part3.okra -o all.okra\n"
                "ls parts/*.okra | okra merge --list - -o all.okra\n",
    .refuses = "bag",
    .own = {"merge", rows, sizeof(merge_fields)},
    .operands_least = 0,
    .operands_most = 64,
    .operand = "MODEL",
    .run = run_merge,
};
