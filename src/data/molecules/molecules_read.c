/*
 * molecules_read.c: molecules from files of SMILES; molecules back as they were written.
 *
 * .smi: a molecule a line, the SMILES first, then (after blanks) its name. With a part,
 * smiles:FILE:COLUMN, the file is a table with a header, separated by tabs (or by commas
 * if its name ends in .csv), and the SMILES are in that column. An empty line is an
 * error.
 */
#include "data/graphs.h"
#include "data/spectra/spectra.h"
#include "data/strings.h"

#include <strings.h>

enum { LINE_MOST = 1000000 }; /* characters of a line */

okra_status okra_line_check_(const okra_lines_ *line)
{
    okra_utf8_ utf8 = {0};
    REFUSE_IF(line->close - line->begin > LINE_MOST, OKRA_EFORMAT,
              "line %" PRId64 " has %" PRId64 " characters; at most %d are expected",
              line->number, (int64_t)(line->close - line->begin), LINE_MOST);
    for (const char *p = line->begin; p < line->close; p++) {
        REFUSE_IF(
            okra_utf8_take_(&utf8, (unsigned char)*p) == OKRA_UTF8_BAD_, OKRA_EFORMAT,
            "line %" PRId64 ", character %" PRId64 ": byte 0x%02x is not UTF-8",
            line->number, (int64_t)(p - line->begin + 1), (unsigned)(unsigned char)*p);
    }
    REFUSE_IF(utf8.more > 0, OKRA_EFORMAT,
              "line %" PRId64 ": the last character is cut short (UTF-8)", line->number);
    return OKRA_OK;
}

bool okra_line_field_(const okra_lines_ *line, char separator, okra_int column,
                      const char **begin, const char **close)
{
    const char *p = line->begin;
    for (okra_int k = 0;; k++) {
        const char *q = memchr(p, separator, (size_t)(line->close - p));
        q = q ? q : line->close;
        if (k == column) {
            *begin = p;
            *close = q;
            return true;
        }
        if (q == line->close) {
            return false;
        }
        p = q + 1;
    }
}

typedef struct table {
    char separator;
    okra_int column;
} table;

static okra_status read_header(okra_source_ *s, okra_lines_ *lines, table *t)
{
    const char *begin, *close;
    size_t length = strlen(s->name);
    bool commas = length > 4 && strcasecmp(s->name + length - 4, ".csv") == 0;
    t->separator = commas ? ',' : '\t';
    REFUSE_IF(!okra_lines_next_(lines), OKRA_EFORMAT,
              "the file is empty; expected a header with '%s'", s->part);
    for (t->column = 0; okra_line_field_(lines, t->separator, t->column, &begin, &close);
         t->column++) {
        if ((size_t)(close - begin) == strlen(s->part) &&
            memcmp(begin, s->part, strlen(s->part)) == 0) {
            return OKRA_OK;
        }
    }
    return okra_fail_(OKRA_EFORMAT, "line %" PRId64 ": no column is called '%s'",
                      lines->number, s->part);
}

/* Where the SMILES of a line is. */
static okra_status find_smiles(const okra_source_ *s, const table *t,
                               const okra_lines_ *lines, const char **begin,
                               const char **close)
{
    const char *p = lines->begin;
    if (!s->part) {
        (void)okra_word_(&p, lines->close, begin, close);
    } else if (!okra_line_field_(lines, t->separator, t->column, begin, close)) {
        return okra_fail_(OKRA_EFORMAT,
                          "line %" PRId64 " has fewer than %" PRId64 " columns",
                          lines->number, t->column + 1);
    }
    REFUSE_IF(s->part && *close - *begin == 1 && **begin == '-', OKRA_EFORMAT,
              "line %" PRId64 ", character %" PRId64
              ": '-' is a missing value; expected a SMILES",
              lines->number, (int64_t)(*begin - lines->begin + 1));
    REFUSE_IF(*begin == *close, OKRA_EFORMAT,
              "line %" PRId64 ", character %" PRId64 ": expected a SMILES, found %s",
              lines->number, (int64_t)(*begin - lines->begin + 1),
              lines->begin == lines->close ? "an empty line" : "nothing");
    return OKRA_OK;
}

void okra_warn_unkekulised_(const okra_source_ *s, okra_int count, okra_int first)
{
    if (count > 0) {
        okra_warn_(s->ctx,
                   "%s: %" PRId64 " molecules (the first one on line %" PRId64
                   ") have no Kekule structure; their aromatic atoms are taken as "
                   "they are written",
                   s->name, count, first);
    }
}

/* The molecule of a line, and where its SMILES is. */
static okra_status read_line(const okra_source_ *s, const table *t,
                             const okra_lines_ *lines, okra_molecule_ *m,
                             const char **begin, const char **close, bool *kekule)
{
    CHK(okra_line_check_(lines));
    CHK(find_smiles(s, t, lines, begin, close));
    return okra_at_(okra_smiles_read_(*begin, (size_t)(*close - *begin),
                                      (size_t)(*begin - lines->begin) + 1, m, kekule),
                    "line %" PRId64, lines->number);
}

okra_status okra_read_smiles_(okra_source_ *s, okra_data **out)
{
    okra_lines_ lines = okra_lines_begin_(&s->bytes);
    FREED_BY(okra_graphs_abandon_) okra_graphs_builder_ b = {0};
    FREED_BY(okra_molecule_clear_) okra_molecule_ m = {0};
    table t = {0};
    okra_int odd = 0, odd_first = 0, row = 0, count = 0, room = 0;
    OWNED okra_int *rows = NULL; /* of the molecules that stay */
    okra_faults_ faults = {.ctx = s->ctx, .name = s->name, .level = -1};
    CHK(okra_graphs_begin_(&b, true));
    if (s->part) {
        CHK(read_header(s, &lines, &t));
    }
    while (okra_lines_next_(&lines)) {
        const char *begin, *close;
        bool kekule = true;
        CHK(okra_cancelled_(s->ctx));
        okra_lines_progress_(s, &lines);
        row += lines.begin < lines.close;
        okra_status st = read_line(s, &t, &lines, &m, &begin, &close, &kekule);
        if (st != OKRA_OK) {
            CHK(okra_fault_(&faults, st)); /* left out where the context says so */
            continue;
        }
        odd_first = !kekule && odd == 0 ? lines.number : odd_first;
        odd += !kekule;
        EXTEND(rows, count, room, 1024);
        rows[count++] = row - 1;
        CHK(okra_graphs_molecule_(
            &b, &m, s->part ? begin : lines.begin,
            (size_t)(s->part ? close - begin : lines.close - lines.begin)));
    }
    okra_faults_end_(&faults, "lines", b.nodes.objects);
    okra_warn_unkekulised_(s, odd, odd_first);
    CHK(okra_graphs_finish_(&b, s->name, out));
    if (row > count) {
        (*out)->rows = TAKE(rows);
    }
    return OKRA_OK;
}

/* ---- back as they were written ---- */

/* SDF records span lines, SMILES do not: that tells where a text came from. */
static okra_status write_texts(okra_writer_ *w, const okra_data *data, bool records)
{
    REFUSE_IF(data->kind != OKRA_GRAPHS, OKRA_EUNSUPPORTED,
              "%s cannot be written as molecules", okra_kind_name(data->kind));
    for (okra_int i = 0; i < data->n; i++) {
        okra_int length;
        const char *text = okra_graphs_text_(data, i, &length);
        REFUSE_IF((memchr(text, '\n', (size_t)length) != NULL) != records,
                  OKRA_EUNSUPPORTED,
                  "molecules are written in the format they came in, %s",
                  records ? "not as .sdf" : "not as .smi");
        CHK(okra_writer_put_(w, text, (size_t)length));
        CHK(okra_writer_put_(w, "\n", 1));
    }
    return OKRA_OK;
}

okra_status okra_write_smiles_(okra_writer_ *w, const okra_data *data)
{
    return write_texts(w, data, false);
}

okra_status okra_write_sdf_(okra_writer_ *w, const okra_data *data)
{
    return write_texts(w, data, true);
}
