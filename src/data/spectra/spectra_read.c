/*
 * spectra_read.c: spectra from MGF and MSP files, and the fields that come with them.
 *
 * MGF: blocks BEGIN IONS ... END IONS of lines KEY=VALUE and peaks "m/z intensity". MSP:
 * records of lines "Key: value" that an empty line ends, or the next Name behind all
 * peaks; after "Num Peaks: N" come N peaks, one per line or several between semicolons,
 * each with an annotation behind it or none. A broken record is reported with its line,
 * counted and left out, the same ones whatever field is read; only a strict context stops
 * at it.
 */
#include "data/spectra/spectra.h"
#include "data/graphs.h"
#include "okra/more/objects.h"

#include <strings.h>

/* broken records of a file: told with their lines, counted, left out. */

enum { TOLD = 10 }; /* the rest is counted alone */

okra_status okra_fault_(okra_faults_ *faults, okra_status st)
{
    if (st != OKRA_EFORMAT || okra_context_strict_(faults->ctx) > faults->level) {
        return st;
    }
    if (faults->count++ < TOLD) {
        okra_warn_(faults->ctx, "%s: %s: left out", faults->name, okra_message());
    }
    return OKRA_OK;
}

void okra_faults_end_(const okra_faults_ *faults, const char *what, okra_int kept)
{
    if (faults->count > 0) {
        okra_warn_(faults->ctx,
                   "%s: %" PRId64 " of %" PRId64 " %s are broken and left out",
                   faults->name, faults->count, faults->count + kept, what);
    }
}

/* a field of spectra in their place, and spectra written as MGF.
 *
 * spectra.mgf:smiles are the molecules, spectra.mgf:mass and spectra.mgf:pepmass numbers,
 * labels:spectra.mgf:KEY and strings:spectra.mgf:KEY whatever a key says. The objects
 * stay those of the file, so a spectrum without the field is an error. But
 * spectra.mgf:known are the spectra whose molecules can be read, and
 * spectra.mgf:known-smiles these molecules; the others are reported and left out of both.
 */

static okra_status absent(const okra_source_ *s, okra_int line)
{
    return okra_fail_(OKRA_EFORMAT, "line %" PRId64 ": the spectrum has no field '%s'",
                      line, s->part);
}

/* The molecule of spectrum i; OKRA_EFORMAT: there is none that can be read. */
static okra_status molecule_of(const okra_source_ *s, const okra_int *lines,
                               const okra_data *data, okra_int i, okra_molecule_ *m,
                               bool *kekule)
{
    okra_int length = 0;
    const char *text = okra_data_about(data, i, "SMILES", &length);
    CHK(okra_cancelled_(s->ctx));
    REFUSE_IF(!text, OKRA_EFORMAT, "line %" PRId64 ": the spectrum has no field 'smiles'",
              lines[i]);
    return okra_at_(okra_smiles_read_(text, (size_t)length, 1, m, kekule),
                    "line %" PRId64 ": the SMILES of the spectrum", lines[i]);
}

/* all: one that cannot be read is an error: the objects stay those of the file. */
static okra_status molecules(const okra_source_ *s, const okra_int *lines,
                             const okra_data *data, bool all, okra_data **out)
{
    FREED_BY(okra_graphs_abandon_) okra_graphs_builder_ b = {0};
    FREED_BY(okra_molecule_clear_) okra_molecule_ m = {0};
    okra_faults_ faults = {.ctx = s->ctx, .name = s->name};
    okra_int odd = 0, odd_first = 0, length = 0;
    CHK(okra_graphs_begin_(&b, true));
    for (okra_int i = 0; i < data->n; i++) {
        bool kekule = true;
        okra_status st = molecule_of(s, lines, data, i, &m, &kekule);
        if (st == OKRA_EFORMAT && !all && faults.count + 1 < data->n) {
            CHK(okra_fault_(&faults, st));
            continue;
        }
        CHK(st);
        odd_first = !kekule && odd == 0 ? lines[i] : odd_first;
        odd += !kekule;
        const char *text = okra_data_about(data, i, "SMILES", &length);
        CHK(okra_graphs_molecule_(&b, &m, text, (size_t)length));
    }
    okra_faults_end_(&faults, "molecules", data->n - faults.count);
    okra_warn_unkekulised_(s, odd, odd_first);
    return okra_graphs_finish_(&b, s->name, out);
}

/* The spectra whose molecules can be read: the same ones that `molecules` keeps. */
static okra_status known(const okra_source_ *s, const okra_int *lines,
                         const okra_data *data, okra_data **out)
{
    FREED_BY(okra_molecule_clear_) okra_molecule_ m = {0};
    OWNED okra_int *kept = NULL;
    okra_int count = 0;
    bool kekule;
    MAKE(kept, data->n);
    for (okra_int i = 0; i < data->n; i++) {
        okra_status st = molecule_of(s, lines, data, i, &m, &kekule);
        bool left_out = st == OKRA_EFORMAT && okra_context_strict_(s->ctx) == 0 &&
                        (count > 0 || i + 1 < data->n);
        CHK(left_out ? OKRA_OK : st);
        kept[count] = i;
        count += !left_out;
    }
    if (count < data->n) {
        okra_warn_(s->ctx, "%s: %lld of %lld spectra tell no molecule and are left out",
                   s->name, (long long)(data->n - count), (long long)data->n);
    }
    return okra_data_take(data, kept, count, out);
}

/* mass: of the molecule, as the ion tells it; others: the first number of the value. */
static okra_status numbers(const okra_source_ *s, const char *key, const okra_int *lines,
                           const okra_data *data, okra_data **out)
{
    OWNED double *values = NULL;
    MAKE(values, data->n);
    for (okra_int i = 0; i < data->n; i++) {
        okra_spectrum_view_ v = okra_spectrum_view_of_(data, i);
        values[i] = strcmp(key, "MASS") == 0 ? v.mass : v.precursor;
        if (!(values[i] > 0)) {
            CHK(absent(s, lines[i]));
        }
    }
    return okra_data_adopt_dense_(&values, data->n, 1, s->name, out);
}

static okra_status texts_of(const okra_source_ *s, const okra_int *lines,
                            const okra_data *data, okra_data **out)
{
    FREED_BY(okra_texts_free_) okra_texts_ texts = {0};
    okra_int length = 0;
    for (okra_int i = 0; i < data->n; i++) {
        const char *text = okra_data_about(data, i, s->part, &length);
        CHK(text ? OKRA_OK : absent(s, lines[i]));
        CHK(okra_texts_add_(&texts, text, text + length));
    }
    CHK(okra_texts_done_(&texts));
    if (s->how == OKRA_HOW_LABELS_) {
        CHK(okra_labels_from_texts_(texts.pointers, texts.count, s->name, out));
    } else {
        CHK(okra_data_strings((const char *const *)texts.pointers, texts.count, out));
        CHK(okra_data_rename_(out, s->name));
    }
    return OKRA_OK;
}

/* A field of every spectrum in place of the spectra: SMILES as molecules, numbers, labels
 * or strings. lines[i] is where spectrum i begins. Takes over *data. */
static okra_status spectra_field(const okra_source_ *s, const okra_int *lines,
                                 okra_data **data)
{
    okra_data *made = NULL;
    char key[64];
    okra_meta_key_(s->part, strlen(s->part), key);
    if (s->how == OKRA_HOW_LABELS_ || s->how == OKRA_HOW_STRINGS_) {
        CHK(texts_of(s, lines, *data, &made));
    } else if (strcmp(key, "SMILES") == 0) {
        CHK(molecules(s, lines, *data, true, &made));
    } else if (strcmp(key, "KNOWN_SMILES") == 0) {
        CHK(molecules(s, lines, *data, false, &made));
    } else if (strcmp(key, "KNOWN") == 0) {
        CHK(known(s, lines, *data, &made));
    } else if (strcmp(key, "MASS") == 0 || strcmp(key, "PEPMASS") == 0) {
        CHK(numbers(s, key, lines, *data, &made));
    } else {
        return okra_fail_(
            OKRA_EARG,
            "the field '%s' is text: put labels: or strings: before the file; smiles, "
            "known, known-smiles, mass and pepmass go without",
            s->part);
    }
    okra_data_free(*data);
    *data = made;
    return OKRA_OK;
}

/* ---- back as MGF ---- */

okra_status okra_write_mgf_(okra_writer_ *w, const okra_data *data)
{
    REFUSE_IF(data->kind != OKRA_SPECTRA, OKRA_EUNSUPPORTED,
              "%s cannot be written as spectra", okra_kind_name(data->kind));
    for (okra_int i = 0; i < data->n; i++) {
        okra_spectrum_view_ v = okra_spectrum_view_of_(data, i);
        okra_int length = 0;
        const char *about = okra_data_about(data, i, NULL, &length);
        CHK(okra_writer_printf_(w, "BEGIN IONS\n"));
        CHK(okra_writer_put_(w, about, (size_t)length));
        for (okra_int k = 0; k < v.count; k++) {
            char mz[OKRA_NUMBER_TEXT_], height[OKRA_NUMBER_TEXT_];
            CHK(okra_writer_printf_(w, "%s %s\n", okra_double_text_(v.mz[k], mz),
                                    okra_double_text_(v.intensity[k], height)));
        }
        CHK(okra_writer_printf_(w, "END IONS\n\n"));
    }
    return OKRA_OK;
}

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
    return okra_at_(st, "line %" PRId64, line->number);
}

/* What stands before and behind a sign. */
static okra_status about(const record *r, const char *p, const char *sign,
                         const char *close)
{
    return on_line(r->lines, okra_spectra_about_(r->b, p, (size_t)(sign - p), sign + 1,
                                                 (size_t)(close - sign - 1)));
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
        return about(r, line->begin, equals, line->close);
    }
    return on_line(line, take_peak(r->b, line->begin, line->close, &rest));
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
            return okra_at_(okra_spectra_close_(r->b), "line %" PRId64, r->line);
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
    piece->begin = end + round;
    while (piece->begin < piece->close && strchr(" \t", *piece->begin)) {
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
            CHK(about(r, p + 1, equals, close));
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
        CHK(about(r, line->begin, colon, line->close));
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
    return okra_at_(okra_spectra_close_(r->b), "line %" PRId64, r->line);
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
    return line_st != OKRA_OK || !r->found ? line_st : msp_end(r, left);
}

/* ---- all records ---- */

/* By `next`, which moves on to the end of one record, and puts it into the builder. */
static okra_status read_all(okra_source_ *s, okra_status (*next)(record *r),
                            okra_data **out)
{
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
        okra_status st = next(&r);
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
            EXTEND(at, before, room, 256);
            at[before] = r.line;
        }
    }
    okra_faults_end_(&faults, "spectra", b.peaks.objects);
    REFUSE_IF(b.peaks.objects == 0, OKRA_EFORMAT, "there is no spectrum in the file");
    CHK(okra_spectra_finish_(&b, s->name, &data));
    if (s->part) {
        CHK(spectra_field(s, at, &data));
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
