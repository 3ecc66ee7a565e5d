/*
 * table.c: tables with a header, field by field.
 */
#include "predict/table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

char *cli_slurp(const cli_run *run, const char *path)
{
    FILE *f = fopen(path, "r");
    char *text = NULL;
    size_t used = 0, room = 1 << 16, got = 1;
    while (f && got > 0) {
        bool fits = (double)room <= 2 * (double)okra_context_memory(run->context);
        char *grown = fits ? realloc(text, room + 1) : NULL;
        if (!grown) { /* a pipe, or a device without an end */
            free(text);
            fclose(f);
            errno = fits ? ENOMEM : EFBIG;
            return NULL;
        }
        text = grown;
        got = fread(text + used, 1, room - used, f);
        used += got;
        text[used] = '\0';
        room = used == room ? 2 * room : room;
    }
    if (f) {
        fclose(f);
    }
    return text;
}

bool cli_field(const char *line, char separator, int k, const char **begin,
               const char **end)
{
    const char *at = line;
    for (;; k--) {
        bool quoted = false;
        *begin = at;
        while (*at && *at != '\n' && (*at != separator || quoted)) {
            quoted ^= *at++ == '"' && separator == ',';
        }
        *end = at > *begin && at[-1] == '\r' && *at != separator ? at - 1 : at;
        if (k == 0 || *at != separator) {
            return k == 0;
        }
        at++;
    }
}

const char *cli_line_end(const char *line)
{
    const char *end = line + strcspn(line, "\n");
    return end > line && end[-1] == '\r' ? end - 1 : end;
}

int cli_column(const char *heading, char separator, const char *name)
{
    const char *begin, *end;
    for (int k = 0; cli_field(heading, separator, k, &begin, &end); k++) {
        size_t length = (size_t)(end - begin);
        if (strlen(name) == length && strncasecmp(name, begin, length) == 0) {
            return k;
        }
    }
    return -1;
}

void cli_columns_clear(cli_columns *c)
{
    free(c->text);
    free(c->values);
    free(c->line);
    free(c->number);
}

/* NaN: it is none. */
static double number_of(const cli_columns *c, const char *line, int column)
{
    const char *begin, *end;
    char *stop = NULL;
    double value = column >= 0 && cli_field(line, c->separator, column, &begin, &end)
                       ? strtod(begin, &stop)
                       : 0;
    return stop && stop > begin && stop == end ? value : (double)NAN;
}

int cli_columns_read(cli_run *run, const char *path, const char *const *names,
                     int columns, cli_columns *c)
{
    CHK(cli_ask(run, path, 5)); /* lines and entries, too */
    c->path = c->path ? c->path : path;
    c->text = cli_slurp(run, path);
    if (!c->text) {
        return cli_failure(run, "%s: cannot be read: %s", c->path, strerror(errno));
    }
    const char *text = c->text + (strncmp(c->text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0);
    size_t heading = strcspn(text, "\n");
    okra_int lines = 0;
    long long number = 1;
    c->heading = text;
    c->separator = memchr(text, '\t', heading) ? '\t' : ',';
    for (int k = 0; k < columns; k++) {
        c->column[k] = cli_column(text, c->separator, names[k]);
    }
    for (const char *at = text; (at = strchr(at, '\n')); at++) {
        lines++;
    }
    MAKE(c->values, lines * columns);
    MAKE(c->line, lines);
    MAKE(c->number, lines);
    for (const char *line = text + heading; *line; line += strcspn(line, "\n")) {
        line++;
        number++;
        if (strspn(line, " \r") == strcspn(line, "\n")) {
            continue; /* an empty line is none */
        }
        for (int k = 0; k < columns; k++) {
            c->values[c->count * columns + k] = number_of(c, line, c->column[k]);
        }
        c->number[c->count] = number;
        c->line[c->count++] = line;
    }
    return CLI_DONE;
}

int cli_columns_check(const cli_run *run, const cli_columns *c, okra_int i, int k,
                      int columns, const char *name, bool whole)
{
    double value = c->values[i * columns + k];
    const char *begin = "", *end = begin;
    char found[40];
    if (whole ? value == floor(value) && fabs(value) <= 9e15 : !isnan(value)) {
        return CLI_DONE;
    }
    if (cli_field(c->line[i], c->separator, c->column[k], &begin, &end)) {
        snprintf(found, sizeof found, "%.*s", (int)(end - begin), begin);
    }
    return cli_failure(run, "%s: line %lld: %s is '%s', expected a %snumber", c->path,
                       c->number[i], name, end > begin ? found : "",
                       whole ? "whole " : "");
}
