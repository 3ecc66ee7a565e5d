/*
 * csv.c: tables of text, separated by commas (.csv, RFC 4180) or tabs (.tsv).
 *
 * header.c decides whether the first line is a header. Every other field must be a
 * number, but for the one column read as labels or strings. FILE:COLUMN is one column
 * (labels where it does not hold numbers but texts that mostly repeat, else molecules
 * where all are SMILES, else strings; a file of one column likewise),
 * FILE:A,B several, FILE:!A,B all the others. In a .csv file whose first line
 * has semicolons in place of commas, fields stand between these, and numbers may have a
 * decimal comma.
 */
#include "data/files/formats.h"
#include "data/strings.h"
#include "okra/program.h"

typedef okra_columns_choice_ choice;

/* ---- texts of fields ---- */

/* The text of the field, quotes undoubled. */
static okra_status add_text(const okra_table_ *t, const char *begin, const char *close,
                            okra_texts_ *texts)
{
    CHK(okra_texts_add_(texts, begin, close));
    if (t->escaped) {
        char *from = texts->block + texts->offsets[texts->count - 1], *to = from;
        for (; *from; from++) {
            *to++ = *from;
            from += from[0] == '"' && from[1] == '"';
        }
        *to = '\0';
    }
    return OKRA_OK;
}

/* The same without blanks around it. */
static okra_status add_word(const okra_table_ *t, okra_texts_ *texts)
{
    const char *begin = t->begin, *close = t->close;
    while (!t->quoted && begin < close && *begin == ' ') {
        begin++;
    }
    while (!t->quoted && begin < close && close[-1] == ' ') {
        close--;
    }
    return add_text(t, begin, close, texts);
}

/* ---- numbers ---- */

static okra_status read_numbers(okra_source_ *source, okra_table_ t,
                                const okra_table_shape_ *s, const choice *c,
                                okra_data **out)
{
    FREED_BY(okra_data_drop_) okra_data *data = NULL;
    FREED_BY(okra_texts_free_) okra_texts_ names = {0};
    OWNED double *values = NULL;
    bool more = true;
    okra_int n = s->records - c->header, at = 0, d = c->count;
    CHK(okra_doubles_(source->ctx, n, d, "a table", &values));
    for (okra_int k = 0; k < s->records * s->columns; k++) {
        CHK(okra_table_next_(&t, &more));
        bool taken = !c->taken || c->taken[t.column - 1];
        if (taken && k < c->header * s->columns) {
            CHK(add_word(&t, &names));
        } else if (taken) {
            okra_token_ token = okra_table_number_(&t, &values[at]);
            bool gap = token == OKRA_TOKEN_MISSING_ ||
                       (token == OKRA_TOKEN_NONFINITE_ && isnan(values[at]));
            if (gap && source->how == OKRA_HOW_MISSING_) {
                values[at] = (double)NAN;
            } else if (token != OKRA_TOKEN_NUMBER_) {
                return okra_bad_field_(token, t.line, t.column, t.begin, t.close);
            }
            at++;
        }
    }
    CHK(okra_data_adopt_dense_(&values, n, d, source->name, &data));
    if (c->header) {
        CHK(okra_texts_done_(&names));
        CHK(okra_columns_read_(data, (const char *const *)names.pointers));
        if (!okra_data_column(data, 0)) {
            okra_warn_(source->ctx, "%s: the names of its columns are not kept: %s",
                       source->name, okra_message());
        }
    }
    *out = TAKE(data);
    return OKRA_OK;
}

/* ---- labels ---- */

static okra_status add_label(const okra_table_ *t, okra_texts_ *texts)
{
    double value;
    return okra_number_(t->begin, t->close, &value) == OKRA_TOKEN_MISSING_
               ? okra_table_fail_(t, "a class is missing; classes may have no gaps: "
                                     "take such rows out, or give the gap a name")
               : add_word(t, texts);
}

/* A string as it stands; it must not be empty. */
static okra_status add_string(const okra_table_ *t, okra_texts_ *texts)
{
    okra_utf8_ utf8 = {0};
    okra_int character = 0;
    if (t->begin == t->close) {
        return okra_table_fail_(t, "the field is empty; expected a string");
    }
    for (const char *p = t->begin; p < t->close; p++) {
        int32_t code = okra_utf8_take_(&utf8, (unsigned char)*p);
        character += code >= 0;
        REFUSE_IF(code == OKRA_UTF8_BAD_ || code == 0, OKRA_EFORMAT,
                  "line %" PRId64 ", column %" PRId64 ", character %" PRId64
                  ": not UTF-8 text (byte 0x%02x)",
                  t->line, t->column, character + (code != 0), (unsigned char)*p);
    }
    if (utf8.more > 0) {
        return okra_table_fail_(t, "the field ends inside a UTF-8 character");
    }
    return add_text(t, t->begin, t->close, texts);
}

/* The column that `part` tells, a number from 1 or (*named) a field of the header. */
static okra_status find_column(const okra_source_ *source, okra_table_ t,
                               const char *part, size_t length,
                               const okra_table_shape_ *s, okra_int *column, bool *named)
{
    bool more = true;
    const char *p = part, *end = part + length;
    char names[200] = ""; /* for the message */
    int set = okra_context_header_(source->ctx);
    double value;
    for (okra_int k = 1; set >= 0 && k <= s->columns; k++) {
        CHK(okra_table_next_(&t, &more));
        size_t own = (size_t)(t.close - t.begin), used = strlen(names);
        bool name =
            set > 0 || okra_table_number_(&t, &value) == OKRA_TOKEN_TEXT_ || !s->numbers;
        if (name && own == length && memcmp(t.begin, part, length) == 0) {
            *column = k;
            *named = true;
            return OKRA_OK;
        }
        snprintf(names + used, s->numbers ? 0 : sizeof names - used, "%s%.*s",
                 k > 1 ? ", " : ": ", (int)OKRA_MIN_(own, 40), t.begin);
    }
    REFUSE_IF(!okra_whole_(&p, end, column) || p < end || *column < 1 ||
                  *column > s->columns,
              OKRA_EARG, "there is no column '%.*s' among the %" PRId64 " columns%s",
              (int)length, part, s->columns,
              set < 0 ? ", which have no names (header no)" : names);
    return OKRA_OK;
}

/* The column chosen by `part`; NULL: the only one. */
static okra_status choose_column(const okra_source_ *source, okra_table_ t,
                                 const char *part, const okra_table_shape_ *s, bool texts,
                                 okra_int *column, bool *header)
{
    bool named = false;
    *column = 1;
    REFUSE_IF(!part && s->columns > 1, OKRA_ESHAPE,
              "labels must be one column, found %" PRId64
              "; choose one as labels:FILE:COLUMN, by its name or number",
              s->columns);
    CHK(part ? find_column(source, t, part, strlen(part), s, column, &named) : OKRA_OK);
    *header = named;
    return named ? OKRA_OK : okra_table_header_(source, t, s, texts, header);
}

/* The columns of a list "a,b" or "!a,b"; a name may itself hold commas. */
static okra_status choose_columns(const okra_source_ *source, okra_table_ t,
                                  const okra_table_shape_ *s, choice *c)
{
    const char *part = source->part + c->rest;
    bool named = false;
    okra_int column = 0;
    okra_status st = find_column(source, t, part, strlen(part), s, &column, &named);
    bool whole = st != OKRA_EARG || !strchr(part, ',');
    CHK(whole ? st : OKRA_OK);
    for (const char *end; part; part = !whole && *end ? end + 1 : NULL) {
        end = part + strcspn(part, ",");
        CHK(whole
                ? OKRA_OK
                : find_column(source, t, part, (size_t)(end - part), s, &column, &named));
        c->count += !c->taken[column - 1];
        c->taken[column - 1] = true;
    }
    for (okra_int k = 0; c->rest && k < s->columns; k++) {
        c->taken[k] = !c->taken[k];
    }
    c->count = c->rest ? s->columns - c->count : c->count;
    REFUSE_IF(c->count == 0, OKRA_ESHAPE, "without %s the table is empty",
              s->columns > 1 ? "these columns" : "its only column");
    c->header = named;
    return named ? OKRA_OK : okra_table_header_(source, t, s, c->count == 1, &c->header);
}

/* Texts of a column that nobody called labels or strings: okra prints the choice. */
static okra_status choose_how(const okra_source_ *source, const okra_texts_ *texts,
                              okra_how_ *how, bool *molecules)
{
    bool classes = false;
    const char *const *all = (const char *const *)texts->pointers;
    const char *part = source->part ? source->part : "1";
    CHK(okra_texts_are_classes(all, texts->count, &classes));
    CHK(okra_texts_are_molecules_(all, classes ? 0 : texts->count, false, molecules));
    *how = classes ? OKRA_HOW_LABELS_ : OKRA_HOW_STRINGS_;
    okra_warn_(source->ctx,
               "note: %s: the column %s holds %s, read as %s; %s:%s:%s reads them as %s",
               source->name, part,
               classes      ? "texts that mostly repeat"
               : *molecules ? "SMILES"
                            : "texts that mostly differ",
               classes      ? "class labels"
               : *molecules ? "molecules"
                            : "strings",
               classes || *molecules ? "strings" : "labels", source->path, part,
               classes || *molecules ? "strings" : "class labels");
    return OKRA_OK;
}

/* Warns of class labels of inputs that the model does not know. */
static void tell_strange(const okra_source_ *source, const okra_data *labels)
{
    const okra_data *like = source->inputs ? source->like : NULL;
    okra_int strange = 0, first = 0;
    if (!like || like->kind != OKRA_LABELS || !like->class_names ||
        !labels->class_names) {
        return;
    }
    for (okra_int i = labels->n - 1; i >= 0; i--) {
        const char *name = labels->class_names[labels->codes[i]];
        okra_int c = 0;
        while (c < like->d && strcmp(like->class_names[c], name) != 0) {
            c++;
        }
        strange += c == like->d;
        first = c == like->d ? i : first;
    }
    if (strange > 0) {
        okra_warn_(source->ctx,
                   "%s: %" PRId64 " of %" PRId64 " class labels are none of the model's, "
                   "such as '%.40s' of row %" PRId64 " (from 0)",
                   source->name, strange, labels->n,
                   labels->class_names[labels->codes[first]], first);
    }
}

/* `left`: the one column that is left of a table, NULL: that of source->part. */
static okra_status read_column(okra_source_ *source, okra_table_ t, const choice *left,
                               okra_data **out)
{
    FREED_BY(okra_texts_free_) okra_texts_ texts = {0};
    okra_table_shape_ s = {0};
    okra_int column = 1;
    okra_how_ how = source->how;
    bool header = false, more = true, molecules = false;
    if (how == OKRA_HOW_FOUND_ && source->like) {
        molecules = source->like->kind == OKRA_GRAPHS;
        how = source->like->kind == OKRA_LABELS    ? OKRA_HOW_LABELS_
              : source->like->kind == OKRA_STRINGS ? OKRA_HOW_STRINGS_
                                                   : how;
    }
    CHK(okra_table_measure_(t, &s));
    if (left) {
        while (!left->taken[column - 1]) {
            column++;
        }
        header = left->header;
    } else {
        CHK(choose_column(source, t, source->part, &s, true, &column, &header));
    }
    for (okra_int record = 0; record < s.records;) {
        CHK(okra_table_next_(&t, &more));
        if (t.column == column && !(header && record == 0)) {
            CHK(how == OKRA_HOW_STRINGS_ ? add_string(&t, &texts)
                                         : add_label(&t, &texts));
        }
        record += t.last;
    }
    CHK(okra_texts_done_(&texts));
    if (how == OKRA_HOW_FOUND_ && !molecules) {
        CHK(choose_how(source, &texts, &how, &molecules));
    }
    if (molecules) {
        CHK(okra_data_smiles(source->ctx, (const char *const *)texts.pointers,
                             texts.count, out));
        return okra_data_rename_(out, source->name);
    }
    if (how == OKRA_HOW_STRINGS_) {
        CHK(okra_data_strings((const char *const *)texts.pointers, texts.count, out));
        return okra_data_rename_(out, source->name);
    }
    CHK(okra_labels_from_texts_(texts.pointers, texts.count, source->name, out));
    tell_strange(source, *out);
    return OKRA_OK;
}

/* "1 2" or "1,2": fields between something else than the file's name says? */
static bool several_numbers(const okra_table_ *t)
{
    int count = 0;
    const char *p = t->begin, *end;
    double value;
    for (; p < t->close && !t->quoted; p = end + (end < t->close)) {
        for (end = p; end < t->close && *end != ' ' && *end != ','; end++) {
        }
        if (end > p && okra_number_(p, end, &value) != OKRA_TOKEN_NUMBER_) {
            return false;
        }
        count += end > p;
    }
    return count > 1;
}

/* What the chosen columns hold. Where some text stands among numbers that is at fault,
 * and told as such. */
static okra_status look(okra_table_ t, const okra_table_shape_ *s, const choice *c,
                        bool *text, bool *gaps)
{
    OWNED okra_int *numbers = NULL, *texts = NULL;
    bool more = true;
    okra_table_ again = t;
    double value;
    ZMAKE(numbers, s->columns);
    ZMAKE(texts, s->columns);
    for (okra_int k = 0; k < s->records * s->columns; k++) {
        CHK(okra_table_next_(&t, &more));
        if (k >= c->header * s->columns && (!c->taken || c->taken[t.column - 1])) {
            okra_token_ token = okra_table_number_(&t, &value);
            numbers[t.column - 1] += token == OKRA_TOKEN_NUMBER_;
            texts[t.column - 1] += token == OKRA_TOKEN_TEXT_;
            *text = *text || token == OKRA_TOKEN_TEXT_;
            *gaps = *gaps || token == OKRA_TOKEN_MISSING_ ||
                    (token == OKRA_TOKEN_NONFINITE_ && isnan(value));
        }
    }
    for (okra_int k = 0; k < s->records * s->columns; k++) {
        CHK(okra_table_next_(&again, &more));
        okra_int j = again.column - 1;
        size_t length = (size_t)(again.close - again.begin);
        bool other =
            s->columns == 1 && /* another separator */
            (memchr(again.begin, ';', length) || memchr(again.begin, '\t', length));
        REFUSE_IF(s->columns == 1 && several_numbers(&again), OKRA_EFORMAT,
                  "line %" PRId64 ": '%.*s' are several numbers; fields stand between "
                  "commas in .csv files, between tabs in .tsv files",
                  again.line, (int)OKRA_MIN_(length, 40), again.begin);
        if (k >= c->header * s->columns && texts[j] > 0 &&
            (other || numbers[j] > texts[j]) &&
            okra_table_number_(&again, &value) == OKRA_TOKEN_TEXT_) {
            return okra_bad_field_(OKRA_TOKEN_TEXT_, again.line, again.column,
                                   again.begin, again.close);
        }
    }
    return OKRA_OK;
}

static okra_status read_table(okra_source_ *source, char separator, okra_data **out)
{
    okra_table_ t = okra_table_begin_(&source->bytes, separator);
    okra_table_shape_ s = {0};
    OWNED bool *taken = NULL;
    choice c = {.rest = source->part && *source->part == '!'};
    char number[24]; /* of the column that is left */
    bool text = false, gaps = false, found = source->how == OKRA_HOW_FOUND_;
    bool numbers = source->like && source->like->kind == OKRA_DENSE && !source->inputs;
    if (source->how == OKRA_HOW_LABELS_ || source->how == OKRA_HOW_STRINGS_) {
        return read_column(source, t, NULL, out);
    }
    CHK(okra_table_measure_(t, &s));
    ZMAKE(taken, s.columns);
    c.taken = taken;
    if (source->part) {
        CHK(choose_columns(source, t, &s, &c));
    } else {
        memset(taken, true, (size_t)s.columns);
        c.count = s.columns;
        CHK(okra_table_header_(source, t, &s, false, &c.header));
    }
    if (c.header && s.gaps && (!source->part || c.rest)) {
        CHK(okra_table_leave_unnamed_(source, t, &s, &c));
    }
    bool one = c.count == 1, left = one && s.columns > 1 && (!source->part || c.rest);
    if (left) {
        snprintf(number, sizeof number, "%td",
                 (bool *)memchr(taken, true, (size_t)s.columns) - taken + 1);
        source->part = number;
    }
    if (found && one && source->like &&
        (source->like->kind == OKRA_LABELS || source->like->kind == OKRA_STRINGS)) {
        return read_column(source, t, left ? &c : NULL, out);
    }
    if (found && !numbers && (one || source->inputs)) {
        CHK(look(t, &s, &c, &text, &gaps));
    }
    bool mixed = found && source->inputs &&
                 (gaps || (text && !one) ||
                  (okra_mixed_like_(source->like) && (c.header || !one)));
    return mixed  ? okra_read_mixed_(source, t, &s, &c, out)
           : text ? read_column(source, t, left ? &c : NULL, out)
                  : read_numbers(source, t, &s, &c, out);
}

/* The separator of a .csv file: a comma, but for a first line with semicolons in place of
 * them, or between numbers with decimal commas. */
static char separator_of(const okra_bytes_ *bytes)
{
    okra_table_ t = okra_table_begin_(bytes, ';');
    bool more = true, commas = false, numbers = true;
    double value;
    do {
        if (okra_table_next_(&t, &more) != OKRA_OK || !more) {
            return ',';
        }
        commas =
            commas || (!t.quoted && memchr(t.begin, ',', (size_t)(t.close - t.begin)));
        numbers = numbers && okra_table_number_(&t, &value) != OKRA_TOKEN_TEXT_;
    } while (!t.last);
    return t.column > 1 && (!commas || numbers) ? ';' : ',';
}

okra_status okra_read_csv_(okra_source_ *source, okra_data **out)
{
    return read_table(source, separator_of(&source->bytes), out);
}

okra_status okra_read_tsv_(okra_source_ *source, okra_data **out)
{
    return read_table(source, '\t', out);
}

okra_status okra_table_cut_(const okra_source_ *source, bool tabs, const char *part,
                            okra_texts_ *texts, okra_bytes_ *rest, bool *has_header)
{
    char separator = tabs ? '\t' : separator_of(&source->bytes);
    okra_table_ t = okra_table_begin_(&source->bytes, separator);
    okra_table_shape_ s = {0};
    FREED_BY(okra_bytes_close_) okra_bytes_ all = {0};
    okra_int column = 0, lines = 0, used = 0, fields = 0;
    bool header = false, more = true;
    char *text = NULL;
    CHK(okra_table_measure_(t, &s));
    CHK(choose_column(source, t, part, &s, true, &column, &header));
    REFUSE_IF(s.columns < 2, OKRA_ESHAPE, "without its only column the table is empty");
    MAKE(text, source->bytes.size + 1);
    all = (okra_bytes_){.p = (unsigned char *)text, .base = text};
    for (okra_int k = 0; k < s.records * s.columns; k++) {
        CHK(okra_table_next_(&t, &more));
        if (t.column == column && k >= header * s.columns) {
            CHK(add_label(&t, texts));
        }
        for (fields = t.column == 1 ? 0 : fields; t.column == 1 && lines < t.line - 1;) {
            text[used++] = '\n'; /* messages name the lines of the file */
            lines++;
        }
        if (t.column != column) {
            text[used] = separator;
            used += fields++ > 0;
            for (const char *p = t.begin - t.quoted; p < t.close + t.quoted; p++) {
                lines += *p == '\n';
                text[used++] = *p;
            }
        }
    }
    text[used] = '\0';
    all.size = used;
    CHK(okra_texts_done_(texts));
    *rest = all;
    *has_header = header;
    all = (okra_bytes_){0};
    return OKRA_OK;
}

/* Does the list "a|b" have the header of the field at hand? */
static bool in_list(const char *list, const okra_table_ *t)
{
    size_t length = (size_t)(t->close - t->begin);
    for (const char *p = list; p; p = strchr(p, '|') ? strchr(p, '|') + 1 : NULL) {
        if (strcspn(p, "|") == length && memcmp(p, t->begin, length) == 0) {
            return true;
        }
    }
    return false;
}

okra_status okra_table_columns_(const okra_bytes_ *bytes, char separator, int count,
                                const char *const *names, okra_texts_ *texts)
{
    enum { MOST = 8 };
    okra_table_ t = okra_table_begin_(bytes, separator);
    okra_table_shape_ s = {0};
    bool more = true;
    okra_int column[MOST] = {0}; /* of each name, from 1; 0: none */
    CHK(okra_table_measure_(t, &s));
    for (okra_int record = 0; record < s.records;) {
        CHK(okra_table_next_(&t, &more));
        for (int k = 0; k < OKRA_MIN_(count, MOST); k++) {
            if (record == 0 && in_list(names[k], &t)) {
                column[k] = t.column;
            } else if (record > 0 && column[k] == t.column) {
                CHK(add_text(&t, t.begin, t.close, &texts[k]));
            }
        }
        record += t.last;
    }
    for (int k = 0; k < count; k++) {
        CHK(okra_texts_done_(&texts[k]));
    }
    return OKRA_OK;
}

/* ---- writing ---- */

/* A class name, quoted where it must be: a reader shall take it for the same text. */
static okra_status put_name(okra_writer_ *w, const char *name, char separator)
{
    const char special[] = {separator, '"', '\n', '\r', '\0'};
    if (!name[strcspn(name, special)]) {
        return okra_writer_put_(w, name, strlen(name));
    }
    CHK(okra_writer_put_(w, "\"", 1));
    for (const char *p = name; *p; p++) {
        CHK(okra_writer_put_(w, "\"\"", *p == '"' ? 1 : 0));
        CHK(okra_writer_put_(w, p, 1));
    }
    return okra_writer_put_(w, "\"", 1);
}

static okra_status put_row(okra_writer_ *w, const okra_data *data, okra_int i,
                           char separator)
{
    char text[OKRA_NUMBER_TEXT_];
    for (okra_int j = 0; j < data->d; j++) {
        double value = data->kind == OKRA_BITS ? okra_bit_(data, i, j)
                                               : data->values[i * data->ld + j];
        okra_double_text_(value, text);
        CHK(j > 0 ? okra_writer_put_(w, &separator, 1) : OKRA_OK);
        CHK(okra_writer_put_(w, text, strlen(text)));
    }
    return OKRA_OK;
}

static okra_status write_strings(okra_writer_ *w, const okra_data *data, char separator)
{
    for (okra_int i = 0; i < data->n; i++) {
        OWNED char *text = NULL;
        CHK(okra_string_text_(data, i, &text));
        CHK(put_name(w, text, separator));
        CHK(okra_writer_put_(w, "\n", 1));
    }
    return OKRA_OK;
}

static okra_status write_table(okra_writer_ *w, const okra_data *data, char separator)
{
    if (data->kind == OKRA_STRINGS) {
        return write_strings(w, data, separator);
    }
    REFUSE_IF(data->kind > OKRA_STRINGS, OKRA_EUNSUPPORTED,
              "%s cannot be written as a table", okra_kind_name(data->kind));
    REFUSE_IF(data->kind == OKRA_SPARSE, OKRA_EUNSUPPORTED,
              "sparse data cannot be written as a table, but as .mtx, or read with "
              "dense: first");
    for (okra_int i = 0; i < data->n; i++) {
        if (data->kind != OKRA_LABELS) {
            CHK(put_row(w, data, i, separator));
        } else if (data->class_names) {
            CHK(put_name(w, data->class_names[data->codes[i]], separator));
        } else {
            CHK(okra_writer_printf_(w, "%" PRId64, data->codes[i]));
        }
        CHK(okra_writer_put_(w, "\n", 1));
    }
    return OKRA_OK;
}

okra_status okra_write_csv_(okra_writer_ *w, const okra_data *data)
{
    return write_table(w, data, ',');
}

okra_status okra_write_tsv_(okra_writer_ *w, const okra_data *data)
{
    return write_table(w, data, '\t');
}
