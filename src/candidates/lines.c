/*
 * lines.c: candidates as lines: a SMILES and a name behind a blank, or a table.
 *
 * A table, NAME.tsv, begins with a header. The column smiles (or canonical_smiles) is the
 * molecule, the column name (title, id) what it is called; columns that are asked for
 * hold numbers, or nothing where they are not known. Of vectors the lines of the table
 * tell about one after the other.
 */
#include "candidates/build.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <strings.h>

static bool ends_in(const char *text, const char *end)
{
    size_t length = strlen(text), size = strlen(end);
    return length >= size && strcasecmp(text + length - size, end) == 0;
}

/* The column of the header that has one of the names, between commas; -1: none. */
static okra_int find_column(const okra_lines_ *header, const char *names)
{
    for (const char *at = names; *at; at += *at == ',') {
        size_t length = strcspn(at, ",");
        const char *begin, *close;
        for (okra_int k = 0; okra_line_field_(header, '\t', k, &begin, &close); k++) {
            if ((size_t)(close - begin) == length &&
                strncasecmp(begin, at, length) == 0) {
                return k;
            }
        }
        at += length;
    }
    return -1;
}

static const char *table_of(const okra_build_ *b)
{
    return b->vectors && b->request->table ? b->request->table : b->request->source;
}

/* One name of the list of columns. */
static okra_status want_column(okra_build_ *b, const okra_lines_ *header,
                               const char *name, size_t length)
{
    OWNED char *copy = okra_strndup_(name, length);
    GOT(copy);
    bool mass = strcasecmp(copy, "mass") == 0;
    REFUSE_IF(length == 0 || length > 63 || strpbrk(copy, "=. \t") ||
                  (mass && !b->vectors) || strcasecmp(copy, "formula") == 0,
              OKRA_EARG,
              "a column of numbers is called '%s': expected 1 to 63 characters without "
              "blanks, '=' and '.', and neither mass nor formula, which are known anyway",
              copy);
    REFUSE_IF(b->columns == OKRA_COLUMNS_MOST_, OKRA_EARG,
              "there are more than %d columns", OKRA_COLUMNS_MOST_);
    b->column[b->columns] = find_column(header, copy);
    REFUSE_IF(b->column[b->columns] < 0, OKRA_EFORMAT,
              "%s: line %" PRId64 ": no column is called '%s'", table_of(b),
              header->number, copy);
    b->mass = mass ? b->columns : b->mass;
    b->names[b->columns++] = copy;
    copy = NULL;
    return OKRA_OK;
}

okra_status okra_build_header_(okra_build_ *b, okra_lines_ *lines)
{
    const char *source = table_of(b), *at = b->request->columns;
    bool given = b->request->table && *b->request->table;
    REFUSE_IF(given && !b->vectors, OKRA_EARG,
              "%s: a table apart is for vectors, NAME.npy", b->request->source);
    b->table = b->vectors ? given : ends_in(source, ".tsv");
    REFUSE_IF(given && !ends_in(source, ".tsv"), OKRA_EARG,
              "%s: expected a table with tabs, NAME.tsv", source);
    REFUSE_IF(!b->vectors && ends_in(source, ".csv"), OKRA_EARG,
              "%s: a table of candidates has tabs between columns: NAME.tsv", source);
    REFUSE_IF(!b->table && at && *at, OKRA_EARG,
              "%s: columns need a table with a header, NAME.tsv%s", source,
              b->vectors ? ", beside the vectors" : "");
    if (!b->table) {
        return OKRA_OK;
    }
    REFUSE_IF(!okra_lines_next_(lines), OKRA_EFORMAT,
              "%s: the file is empty; expected a header", source);
    b->smiles = find_column(lines, "smiles,canonical_smiles");
    b->name = find_column(lines, "name,title,id");
    REFUSE_IF(b->smiles < 0 && !b->vectors, OKRA_EFORMAT,
              "%s: line %" PRId64 ": no column is called 'smiles'", source,
              lines->number);
    for (; at && *at; at += strcspn(at, ","), at += *at == ',') {
        CHK(want_column(b, lines, at, strcspn(at, ",")));
    }
    return OKRA_OK;
}

/* A blank-free SMILES of a field, or of a line, and what stands behind it. */
static void split(const okra_build_ *b, const char *begin, const char *close,
                  okra_entry_ *e)
{
    const char *p = begin, *word = begin, *end = begin;
    const char *base = (const char *)b->source.p;
    (void)okra_word_(&p, close, &word, &end);
    e->place = (uint64_t)(word - base);
    e->smiles = (int32_t)OKRA_MIN_(end - word, INT32_MAX);
    while (end < close && (*end == ' ' || *end == '\t')) {
        end++;
    }
    e->name = (uint64_t)(end - base);
    e->named = (int32_t)OKRA_MIN_(close - end, INT32_MAX);
}

static void take_row(const okra_build_ *b, const okra_lines_ *line, okra_entry_ *e,
                     double *values)
{
    const char *begin = line->begin, *close = line->begin;
    if (!b->vectors) {
        (void)okra_line_field_(line, '\t', b->smiles, &begin, &close);
        split(b, begin, close, e);
    }
    if (b->name >= 0 && okra_line_field_(line, '\t', b->name, &begin, &close)) {
        e->name = (uint64_t)(begin - (const char *)b->source.p);
        e->named = (int32_t)OKRA_MIN_(close - begin, INT32_MAX);
    }
    for (int k = 0; k < b->columns; k++) {
        values[k] = (double)NAN;
        begin = close = line->close;
        (void)okra_line_field_(line, '\t', b->column[k], &begin, &close);
        okra_token_ token = okra_number_(begin, close, &values[k]);
        bool good = token == OKRA_TOKEN_NUMBER_ || token == OKRA_TOKEN_MISSING_;
        e->wrong = good || e->wrong ? e->wrong : k + 1;
        values[k] = token == OKRA_TOKEN_NUMBER_ ? values[k] : (double)NAN;
    }
}

static bool next_line(okra_lines_ *lines)
{
    do {
        if (!okra_lines_next_(lines)) {
            return false;
        }
    } while (lines->begin == lines->close); /* an empty line is none */
    return true;
}

static void next_vectors(okra_build_ *b, okra_lines_ *lines)
{
    for (; b->count < b->shard && b->next < b->vectors->n; b->next++) {
        okra_entry_ e = {.place = (uint64_t)b->next};
        if (b->table && next_line(lines)) {
            e.line = lines->number;
            take_row(b, lines, &e, b->values + b->count * b->columns);
        }
        b->entry[b->count++] = e;
    }
}

void okra_build_lines_(okra_build_ *b, okra_lines_ *lines)
{
    b->count = 0;
    if (b->vectors) {
        next_vectors(b, lines);
        return;
    }
    while (b->count < b->shard && next_line(lines)) {
        okra_entry_ e = {.line = lines->number};
        if (b->table) {
            take_row(b, lines, &e, b->values + b->count * b->columns);
        } else {
            split(b, lines->begin, lines->close, &e);
        }
        b->entry[b->count++] = e;
    }
}
