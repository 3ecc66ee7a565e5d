/*
 * about.c: okra predict --about: what a table tells of the test points, for a window.
 */
#include "predict/ranked.h"
#include "predict/table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void clear_texts(char **texts, okra_int count)
{
    for (okra_int i = 0; texts && i < count; i++) {
        free(texts[i]);
    }
    free(texts);
}

void cli_about_clear(cli_about *t)
{
    clear_texts(t->formulas, t->tests);
    free(t->masses);
    free(t->values);
}

/* The number of a field; NaN: there is none. */
static double number_in(const char *text)
{
    char *end = NULL;
    double value = text ? strtod(text, &end) : 0;
    bool good = text && end != text && !end[strspn(end, " \t")] && isfinite(value);
    return good ? value : (double)NAN;
}

/* A column of a table, one text for each test point. */
static int read_column(const cli_run *run, const char *about, const char *heading,
                       const char *name, okra_int tests, char **texts)
{
    char separator = memchr(heading, '\t', strcspn(heading, "\n")) ? '\t' : ',';
    int column = cli_column(heading, separator, name);
    okra_int i = 0;
    if (column < 0) {
        return cli_failure(run, "%s: line 1: no column is called '%s'", about, name);
    }
    for (const char *line = heading + strcspn(heading, "\n"); *line;
         line += strcspn(line, "\n")) {
        const char *begin, *end;
        line++;
        if (cli_line_end(line) == line) {
            continue; /* an empty line is none */
        }
        if (i < tests && cli_field(line, separator, column, &begin, &end)) {
            texts[i] = strndup(begin, (size_t)(end - begin));
        }
        i++;
    }
    return i == tests ? CLI_DONE
                      : cli_failure(run,
                                    "%s has %lld lines below its header, there are %lld "
                                    "test points",
                                    about, (long long)i, (long long)tests);
}

/* Puts a column where the ranking looks for it. */
static void take_told(const char *name, const okra_index *index, char **texts,
                      cli_about *t, okra_window *request)
{
    int width = okra_index_columns(index), k = 0;
    bool mass = strcasecmp(name, "mass") == 0;
    while (k < width && strcasecmp(okra_index_column(index, k), name) != 0) {
        k++;
    }
    for (okra_int i = 0; i < t->tests; i++) {
        if (mass) {
            t->masses[i] = number_in(texts[i]);
        } else if (k < width) {
            t->values[i * width + k] = number_in(texts[i]);
        }
    }
    request->masses = mass ? t->masses : request->masses;
    request->values = !mass && k < width ? t->values : request->values;
}

/* What the parts of the window ask for: NAME=VALUE, not NAME=FROM..TO. */
int cli_about_read(cli_run *run, const char *file, const okra_index *index, cli_about *t,
                   okra_window *request)
{
    char buffer[4096];
    size_t tests = (size_t)t->tests;
    size_t numbers = tests * (size_t)okra_index_columns(index);
    int status = CLI_DONE;
    char *text = cli_slurp(run, cli_find(run, file, buffer, sizeof buffer));
    if (!text) {
        return cli_failure(run, "%s: cannot be read: %s", file, strerror(errno));
    }
    const char *heading = text + (strncmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0);
    t->masses = calloc(tests + 1, sizeof *t->masses);
    t->values = malloc(numbers * sizeof *t->values + 1);
    for (size_t i = 0; t->values && i < numbers; i++) {
        t->values[i] = (double)NAN;
    }
    for (const char *at = request->within; *at && status == CLI_DONE;) {
        size_t length = strcspn(at, ","), end = strcspn(at, ",=");
        const char *dots = strstr(at, "..");
        char name[64] = "", **texts = calloc(tests + 1, sizeof *texts);
        if (!t->masses || !t->values || !texts) {
            status = cli_failure(run, "out of memory");
        } else if (end < sizeof name && !(dots && dots < at + length)) {
            memcpy(name, at, end);
            status = read_column(run, file, heading, name, t->tests, texts);
            take_told(name, index, texts, t, request);
        }
        if (strcasecmp(name, "formula") == 0) {
            char **before = t->formulas;
            t->formulas = texts;
            texts = before;
            request->formulas = (const char *const *)t->formulas;
        }
        clear_texts(texts, t->tests);
        at += length + (at[length] == ',');
    }
    free(text);
    return status;
}
