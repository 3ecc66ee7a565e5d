/*
 * spectra_read.c: spectra from MGF and MSP files, and the fields that come with them.
 *
 * MGF: blocks BEGIN IONS ... END IONS of lines KEY=VALUE and peaks "m/z intensity". MSP:
 * records of lines "Key: value" that an empty line ends, or the next Name behind all
 * peaks; after "Num Peaks: N" come N peaks, one per line or several between semicolons,
 * each with an annotation behind it or none. A broken record is told with its line,
 * counted and left out, the same ones whatever field is read; only a strict context stops
 * at it.
 */
#include "data/spectra/spectra.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

/* One record that is read: where it begins, and whether there was one. */
typedef struct record {
    okra_lines_ *lines;
    okra_spectra_builder_ *b;
    okra_int line;
    bool found;
} record;

static bool is_text(const okra_lines_ *line, const char *text)
{
    size_t length = (size_t)(line->close - line->begin);
    while (length > 0 && strchr(" \t\r", line->begin[length - 1])) {
        length--;
    }
    return length == strlen(text) && strncasecmp(line->begin, text, length) == 0;
}

static bool is_empty(const okra_lines_ *line)
{
    return is_text(line, "");
}

static okra_status on_line(const okra_lines_ *line, okra_status st)
{
    if (st == OKRA_EFORMAT) {
        okra_message_prefix_("line %" PRId64, line->number);
    }
    return st;
}

/* Is "31,02 40" a number with a decimal comma, rather than "31,2", two numbers? */
static bool decimal_comma(const char *comma, const char *close, const char *end)
{
    const char *p = close, *word, *stop;
    double number;
    return comma + 1 < close && okra_word_(&p, end, &word, &stop) &&
           okra_number_(word, stop, &number) == OKRA_TOKEN_NUMBER_;
}

/* Two numbers at the beginning of p..end; *rest behind them. */
static okra_status take_peak(okra_spectra_builder_ *b, const char *p, const char *end,
                             const char **rest)
{
    const char *word, *close;
    double pair[2] = {0, 0};
    for (int k = 0; k < 2; k++) {
        bool there = okra_word_(&p, end, &word, &close);
        const char *comma = there ? memchr(word, ',', (size_t)(close - word)) : NULL;
        if (comma && k == 0 && !decimal_comma(comma, close, end)) {
            close = comma;
            p = comma + 1;
        }
        REFUSE_IF(!there, OKRA_EFORMAT, "expected a peak, m/z and intensity; found %s",
                  k ? "one number" : "nothing");
        REFUSE_IF(okra_number_(word, close, &pair[k]) != OKRA_TOKEN_NUMBER_, OKRA_EFORMAT,
                  "expected a peak, m/z and intensity; found '%.*s'",
                  (int)OKRA_MIN_(close - word, 40), word);
    }
    *rest = p;
    return okra_spectra_peak_(b, pair[0], pair[1]);
}

/* ---- MGF ---- */

static okra_status mgf_line(record *r)
{
    const okra_lines_ *line = r->lines;
    const char *rest;
    char first = *line->begin;
    const char *equals = memchr(line->begin, '=', (size_t)(line->close - line->begin));
    if (is_empty(line) || first == '#' || first == ';' || first == '!' || first == '/') {
        return OKRA_OK;
    }
    CHK(okra_line_check_(line));
    if (equals && !(first >= '0' && first <= '9')) {
        CHK(on_line(line,
                    okra_spectra_about_(r->b, line->begin, (size_t)(equals - line->begin),
                                        equals + 1, (size_t)(line->close - equals - 1))));
    } else {
        CHK(on_line(line, take_peak(r->b, line->begin, line->close, &rest)));
    }
    return OKRA_OK;
}

/* Between blocks: nothing, comments, settings of a search engine. */
static okra_status mgf_between(const okra_lines_ *line)
{
    if (is_empty(line) || strchr("#;!/", *line->begin) ||
        memchr(line->begin, '=', (size_t)(line->close - line->begin))) {
        return OKRA_OK;
    }
    return okra_fail_(OKRA_EFORMAT, "line %" PRId64 ": expected BEGIN IONS, found '%.*s'",
                      line->number, (int)OKRA_MIN_(line->close - line->begin, 40),
                      line->begin);
}

static okra_status mgf_next(record *r)
{
    okra_status line_st = OKRA_OK;
    while (okra_lines_next_(r->lines) && !is_text(r->lines, "BEGIN IONS")) {
        r->line = r->lines->number;
        CHK(mgf_between(r->lines));
    }
    r->found = r->lines->begin != NULL && is_text(r->lines, "BEGIN IONS");
    r->line = r->lines->number;
    while (r->found) {
        okra_lines_ before = *r->lines;
        if (!okra_lines_next_(r->lines) || is_text(r->lines, "BEGIN IONS")) {
            *r->lines = before; /* the next block is read as one */
            return okra_fail_(OKRA_EFORMAT,
                              "line %" PRId64 ": END IONS of this spectrum is missing",
                              r->line);
        }
        if (is_text(r->lines, "END IONS")) {
            CHK(line_st);
            okra_status st = okra_spectra_close_(r->b);
            if (st == OKRA_EFORMAT) {
                okra_message_prefix_("line %" PRId64, r->line);
            }
            return st;
        }
        /* After a fault the block is only walked through to its end. */
        if (line_st == OKRA_OK) {
            line_st = mgf_line(r);
            if (line_st != OKRA_OK && line_st != OKRA_EFORMAT) {
                return line_st;
            }
        }
    }
    return OKRA_OK;
}

/* ---- MSP ---- */

/* The first peak of a piece of a line: "m/z intensity" and an annotation, or, as NIST
 * writes them, "(m/z,intensity)" and "m/z:intensity", behind which there may be more. */
static okra_status msp_peak(okra_spectra_builder_ *b, okra_lines_ *piece, bool *more)
{
    const char *p = piece->begin, *word, *close, *rest;
    char text[80];
    REFUSE_IF(!okra_word_(&p, piece->close, &word, &close), OKRA_EFORMAT,
              "expected a peak, found nothing");
    bool round = *word == '(';
    const char *end = round ? memchr(word, ')', (size_t)(piece->close - word)) : close;
    const char *colon = memchr(word, ':', (size_t)(close - word));
    size_t length = end ? (size_t)(end - word) - round : sizeof text;
    if ((!round && !colon) || length >= sizeof text) {
        return take_peak(b, piece->begin, piece->close, &rest);
    }
    memcpy(text, word + round, length);
    for (size_t k = 0; k < length; k++) {
        text[k] = text[k] == ',' || text[k] == ':' ? ' ' : text[k];
    }
    for (piece->begin = end + round; piece->begin < piece->close;) {
        if (!strchr(" \t", *piece->begin)) {
            break;
        }
        piece->begin++;
    }
    *more = piece->begin < piece->close && strchr("(0123456789", *piece->begin);
    return take_peak(b, text, text + length, &rest);
}

static okra_status msp_peaks(record *r, okra_int *left)
{
    const okra_lines_ *line = r->lines;
    const char *p = line->begin;
    CHK(okra_line_check_(line));
    while (p < line->close) {
        bool quoted = false;
        const char *end = p;
        while (end < line->close && (*end != ';' || quoted)) {
            quoted ^= *end++ == '"';
        }
        okra_lines_ piece = {.begin = p, .close = end};
        while (!is_empty(&piece)) {
            bool more = false;
            REFUSE_IF(*left == 0, OKRA_EFORMAT,
                      "line %" PRId64 ": more peaks than Num Peaks says", line->number);
            CHK(on_line(line, msp_peak(r->b, &piece, &more)));
            (*left)--;
            piece.begin = more ? piece.begin : end;
        }
        p = end + (end < line->close);
    }
    return OKRA_OK;
}

/* Comments: "key=value" "key=value", as collections write what has no line of its own. */
static okra_status msp_comments(record *r, const char *p, const char *end)
{
    while ((p = p < end ? memchr(p, '"', (size_t)(end - p)) : NULL) != NULL) {
        const char *close = memchr(p + 1, '"', (size_t)(end - p - 1));
        const char *equals = close ? memchr(p, '=', (size_t)(close - p)) : NULL;
        if (!close) {
            break;
        }
        if (equals) {
            CHK(on_line(r->lines,
                        okra_spectra_about_(r->b, p + 1, (size_t)(equals - p - 1),
                                            equals + 1, (size_t)(close - equals - 1))));
        }
        p = close + 1;
    }
    return OKRA_OK;
}

static okra_status msp_key(record *r, okra_int *left)
{
    const okra_lines_ *line = r->lines;
    const char *colon = memchr(line->begin, ':', (size_t)(line->close - line->begin));
    char key[64];
    CHK(okra_line_check_(line));
    REFUSE_IF(!colon, OKRA_EFORMAT,
              "line %" PRId64 ": expected 'Key: value', found '%.*s'", line->number,
              (int)OKRA_MIN_(line->close - line->begin, 40), line->begin);
    okra_meta_key_(line->begin, (size_t)(colon - line->begin), key);
    if (strcmp(key, "NUM_PEAKS") == 0 || strcmp(key, "NUMPEAKS") == 0) {
        const char *p = colon + 1, *word, *close;
        const char *end = line->close;
        REFUSE_IF(
            !okra_word_(&p, end, &word, &close) || !okra_whole_(&word, close, left) ||
                word != close || *left > OKRA_PEAKS_MOST_,
            OKRA_EFORMAT,
            "line %" PRId64 ": Num Peaks is '%.*s', expected a whole number up to %d",
            line->number, (int)OKRA_MIN_(line->close - colon - 1, 40), colon + 1,
            OKRA_PEAKS_MOST_);
    } else {
        CHK(on_line(line,
                    okra_spectra_about_(r->b, line->begin, (size_t)(colon - line->begin),
                                        colon + 1, (size_t)(line->close - colon - 1))));
        if (strcmp(key, "COMMENTS") == 0 || strcmp(key, "COMMENT") == 0) {
            CHK(msp_comments(r, colon + 1, line->close));
        }
    }
    return OKRA_OK;
}

static okra_status msp_end(record *r, okra_int left)
{
    REFUSE_IF(left != 0, OKRA_EFORMAT,
              left < 0 ? "line %" PRId64 ": the record has no Num Peaks"
                       : "line %" PRId64 ": fewer peaks than Num Peaks says",
              r->line);
    okra_status st = okra_spectra_close_(r->b);
    if (st == OKRA_EFORMAT) {
        okra_message_prefix_("line %" PRId64, r->line);
    }
    return st;
}

/* Does the next record begin here? */
static bool is_name(const okra_lines_ *line)
{
    return line->close - line->begin >= 5 && strncasecmp(line->begin, "name:", 5) == 0;
}

static okra_status msp_next(record *r)
{
    okra_status line_st = OKRA_OK;
    okra_int left = -1;
    r->found = false;
    for (okra_lines_ before = *r->lines; okra_lines_next_(r->lines); before = *r->lines) {
        if (r->found && left >= 0 && is_name(r->lines)) {
            *r->lines = before; /* read again, as the first line of its record */
            break;
        }
        if (is_empty(r->lines)) {
            if (r->found) {
                break;
            }
            continue;
        }
        if (!r->found) {
            r->found = true;
            r->line = r->lines->number;
        }
        if (line_st == OKRA_OK && *r->lines->begin != '#') {
            line_st = left >= 0 ? msp_peaks(r, &left) : msp_key(r, &left);
            if (line_st != OKRA_OK && line_st != OKRA_EFORMAT) {
                return line_st;
            }
        }
    }
    if (line_st != OKRA_OK || !r->found) {
        return line_st;
    }
    return msp_end(r, left);
}

/* ---- all records ---- */

static okra_status remember(okra_int **lines, okra_int *room, okra_int at, okra_int line)
{
    EXTEND(*lines, at, *room, 256);
    (*lines)[at] = line;
    return OKRA_OK;
}

/* By `next`, which moves on to the end of one record, and puts it into the builder. */
static okra_status read_all(okra_source_ *s, okra_status (*next)(record *r),
                            okra_data **out)
{
    okra_status st = OKRA_OK;
    okra_lines_ lines = okra_lines_begin_(&s->bytes);
    FREED_BY(okra_spectra_abandon_) okra_spectra_builder_ b = {0};
    record r = {.lines = &lines, .b = &b, .found = true};
    okra_faults_ faults = {.ctx = s->ctx, .name = s->name};
    OWNED okra_int *at = NULL;
    okra_int room = 0;
    FREED_BY(okra_data_drop_) okra_data *data = NULL;
    CHK(okra_spectra_begin_(&b));
    for (okra_int before = 0;; before = b.peaks.objects) {
        CHK(okra_cancelled_(s->ctx));
        okra_lines_progress_(s, &lines);
        const char *left = lines.p;
        r.found = false;
        st = next(&r);
        if (st != OKRA_OK) {
            okra_spectra_drop_(&b);
            CHK(okra_fault_(&faults, st));
            if (lines.p == left) {
                break; /* the file ended inside the record */
            }
            continue;
        }
        if (!r.found) {
            break;
        }
        if (b.peaks.objects > before) {
            CHK(remember(&at, &room, before, r.line));
        }
    }
    okra_faults_end_(&faults, "spectra", b.peaks.objects);
    REFUSE_IF(b.peaks.objects == 0, OKRA_EFORMAT, "there is no spectrum in the file");
    CHK(okra_spectra_finish_(&b, s->name, &data));
    if (s->part) {
        CHK(okra_spectra_field_(s, at, &data));
    }
    *out = TAKE(data);
    return OKRA_OK;
}

okra_status okra_read_mgf_(okra_source_ *source, okra_data **out)
{
    return read_all(source, mgf_next, out);
}

okra_status okra_read_msp_(okra_source_ *source, okra_data **out)
{
    return read_all(source, msp_next, out);
}
