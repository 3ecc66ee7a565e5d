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

/* Column j of a table as strings, with the header: its text between commas; `name`: what
 * a list of columns calls it, its number where the list could not hold its name. */
static okra_status read_column(cli_run *run, const char *table, int j, okra_int n,
                               okra_data **out, char name[80], char text[400])
{
    OWNED_DATA *labels = NULL;
    char spec[4200];
    int k = 0, set = run->common.header;
    snprintf(spec, sizeof spec, "labels:%s:%d", table, j);
    CHK(okra_context_set_header(run->context, -1));
    okra_status st = cli_read(run, spec, &labels);
    snprintf(spec, sizeof spec, "strings:%s:%d", table, j);
    st = st == OKRA_OK ? cli_read(run, spec, out) : st;
    CHK(okra_context_set_header(run->context, set == 2 ? -1 : set));
    const char *head = labels ? okra_data_text(labels, 0, NULL) : NULL;
    for (; head && head[k] > 32 && head[k] < 127 && !strchr(",:!", head[k]); k++) {
    }
    snprintf(text, 400, ",%s,", head ? head : "");
    snprintf(name, 80, "%d", j);
    if (head && !head[k] && k < 80 && okra_data_count(labels) > n) {
        memcpy(name, head, (size_t)k + 1);
    }
    return st;
}

/* Takes ",ITEM," out of a list between commas; false: it was not there. */
static bool cut(char *list, const char *item)
{
    size_t before = strlen(list), length = strlen(item) - 1;
    for (char *p; length > 1 && (p = strstr(list, item));) {
        memmove(p, p + length, strlen(p + length) + 1);
    }
    return strlen(list) < before;
}

/* TABLE:!OUT as "TABLE:A,B" and "strings:TABLE:C"; false: no column is like y, or some
 * cannot be told apart or listed. */
static bool split_table(cli_run *run, const char *table, const char *less,
                        const okra_data *y, char *out, size_t size)
{
    char rest[2000] = "", found[80] = "", name[80], all[4200], text[400], number[32];
    okra_status st = OKRA_OK;
    snprintf(all, sizeof all, ",%s,", less);
    for (int j = 1; j <= 64; j++) {
        OWNED_DATA *column = NULL;
        st = read_column(run, table, j, okra_data_count(y), &column, name, text);
        if (st == OKRA_EARG || st == OKRA_EMEM || st == OKRA_ECANCELLED) {
            break; /* beyond the last one, or worse */
        }
        snprintf(number, sizeof number, ",%d,", j);
        if (cut(all, text) || cut(all, number)) {
            continue;
        }
        if (!*found && st == OKRA_OK && edited(column, y)) { /* else it has gaps */
            memcpy(found, name, sizeof found);
        } else if (strlen(rest) + 80 < sizeof rest) {
            strcat(strcat(rest, *rest ? "," : ""), name);
        } else {
            return false;
        }
    }
    snprintf(out, size, "%s:%s\nstrings:%s:%s", table, rest, table, found);
    return *found && *rest && strcmp(all, ",") == 0 && st == OKRA_EARG;
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
