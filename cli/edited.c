/*
 * edited.c: columns of a table whose texts are the outputs with a few letters changed
 * (the lemma of a form, say). They are strings, though in a list of paradigms each comes
 * again and again, and though they stand in a table beside classes.
 */
#include "cli.h"

#include "okra/more.h"

#include <stdio.h>
#include <math.h>
#include <string.h>

/* The share of the longer text that both have at their beginning and at their end. */
static double shared(const okra_data *x, okra_int i, const okra_data *y, okra_int j)
{
    okra_int n = 0, m = 0, begin = 0, end = 0;
    const int32_t *a = okra_data_characters(x, i, &n),
                  *b = okra_data_characters(y, j, &m);
    okra_int least = n < m ? n : m;
    for (; begin < least && a[begin] == b[begin]; begin++) {
    }
    for (; end < least - begin && a[n - 1 - end] == b[m - 1 - end]; end++) {
    }
    return n + m > least ? (double)(begin + end) / (double)(n + m - least) : 0;
}

/* Are inputs, but for a header, much more like their own outputs than like others? */
static bool edited(const okra_data *x, const okra_data *y)
{
    okra_int n = okra_data_count(y), count = n < 200 ? n : 200;
    okra_int header = okra_data_count(x) - n;
    double more = 0;
    for (okra_int s = 0; n > 2 && header >= 0 && header < 2 && s < count; s++) {
        okra_int i = s * n / count;
        for (int k = 1; k <= 3; k++) { /* far away: neighbours may share a lemma */
            okra_int j = (i + 1 + (okra_int)(fmod(0.618 * k, 1) * (double)(n - 1))) % n;
            more += shared(x, header + i, y, i) - shared(x, header + i, y, j);
        }
    }
    return more > 0 && more >= 0.25 * 3 * (double)count;
}

/* Column j of a table as strings, with the header; `name`: what a list of columns calls
 * it, its number where it has no name (or one that a list could not hold). */
static okra_status read_column(cli_run *run, const char *table, int j, okra_int n,
                               okra_data **out, char name[80])
{
    char spec[4200];
    okra_int length = 0, k = 0;
    int set = run->common.header;
    snprintf(name, 80, "%d", j);
    snprintf(spec, sizeof spec, "strings:%s:%d", table, j);
    CHK(okra_context_set_header(run->context, -1));
    okra_status st = cli_read(run, spec, out);
    CHK(okra_context_set_header(run->context, set == 2 ? -1 : set));
    CHK(st);
    const int32_t *c = okra_data_characters(*out, 0, &length);
    for (; k < length && k < 79 && c[k] > 32 && c[k] < 127 && !strchr(",:!", c[k]); k++) {
        name[k] = (char)c[k];
    }
    name[k] = '\0';
    if (okra_data_count(*out) == n || k < length) {
        snprintf(name, 80, "%d", j);
    }
    return OKRA_OK;
}

/* TABLE:!OUT as "TABLE:A,B" and "strings:TABLE:C"; false: no column is like y. */
static bool split_table(cli_run *run, const char *table, const char *less,
                        const okra_data *y, char *out, size_t size)
{
    char rest[2000] = "", found[80] = "", name[80], all[4200], one[100], number[32];
    snprintf(all, sizeof all, ",%s,", less);
    for (int j = 1; j <= 64; j++) {
        OWNED_DATA *column = NULL;
        okra_status st = read_column(run, table, j, okra_data_count(y), &column, name);
        if (st == OKRA_EARG) {
            break; /* beyond the last one */
        }
        snprintf(one, sizeof one, ",%s,", name);
        snprintf(number, sizeof number, ",%d,", j);
        if (strstr(all, one) || strstr(all, number)) {
            continue;
        }
        if (!*found && st == OKRA_OK && edited(column, y)) { /* else it has gaps */
            memcpy(found, name, sizeof found);
        } else if (strlen(rest) + 80 < sizeof rest) {
            strcat(strcat(rest, *rest ? "," : ""), name);
        }
    }
    snprintf(out, size, "%s:%s\nstrings:%s:%s", table, rest, table, found);
    return *found && *rest;
}

/* Lines TABLE:COLUMN whose texts are like the outputs, with "strings:" before them. */
static bool call_strings(cli_run *run, const char *x, const okra_data *y, char *out)
{
    bool any = false;
    for (int length; *x; x += length + (x[length] == '\n')) {
        OWNED_DATA *column = NULL;
        char spec[4200];
        length = (int)strcspn(x, "\n");
        snprintf(spec, sizeof spec, "strings:%.*s", length, x);
        size_t table = 8 + cli_table_length(spec + 8);
        bool like = x == cli_without_types(x) && spec[table] == ':' &&
                    spec[table + 1] != '!' && cli_read(run, spec, &column) == OKRA_OK &&
                    edited(column, y);
        any = any || like;
        out += sprintf(out, "%s%s", spec + (like ? 0 : 8), x[length] ? "\n" : "");
    }
    return any;
}

const char *cli_edited(cli_run *run, const char *x, const okra_data *y, char *buffer,
                       size_t size)
{
    char table[4096];
    size_t length = cli_table_length(x);
    bool open = !okra_options_is_set(run->library, "kx") ||
                strchr(okra_options_get(run->library, "kx"), '@'); /* of two inputs */
    bool whole = open && x == cli_without_types(x) && !strchr(x, '\n') &&
                 strncmp(x + length, ":!", 2) == 0;
    snprintf(table, sizeof table, "%.*s", (int)length, x);
    if (okra_data_kind(y) != OKRA_STRINGS || 4 * strlen(x) + 4300 >= size ||
        (whole ? !split_table(run, table, x + length + 2, y, buffer, size)
               : !call_strings(run, x, y, buffer))) {
        return x;
    }
    if (!run->common.quiet) {
        fprintf(stderr, "okra %s: texts like the outputs are strings, as if given by",
                run->command->name);
        for (const char *p = buffer; p; p = strchr(p, '\n')) {
            p += *p == '\n';
            fprintf(stderr, " --x %.*s", (int)strcspn(p, "\n"), p);
        }
        fputc('\n', stderr);
    }
    return buffer;
}
