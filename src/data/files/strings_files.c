/*
 * strings_files.c: strings from and to text, a line each, and from FASTA records.
 *
 * The bytes come in pieces (formats.h) and every character passes through one function of
 * the format, so memory is what the strings need and a line without end stops at
 * OKRA_STRING_MOST_ characters. Carriage returns before a line feed are dropped; other
 * control characters but tab are refused, for they tell a file that is no text.
 */
#include "data/files/formats.h"
#include "data/strings.h"

enum { BUFFER = 4096, BYTE_ORDER_MARK = 0xfeff };

typedef enum mode { SEQUENCE, HEADER, COMMENT } mode;

typedef struct reader {
    okra_context *ctx;
    okra_ragged_builder_ characters, names;
    int32_t buffer[BUFFER]; /* characters not yet in the builder          */
    okra_int buffered;
    okra_int line, column; /* of the character at hand, from 1            */
    bool fasta, bom_allowed, carriage;
    mode mode;       /* FASTA: what kind of line this is            */
    okra_int record; /* FASTA: the line of the open record; 0: none */
} reader;

static okra_status flush(reader *r)
{
    okra_ragged_builder_ *b = &r->characters;
    if (b->elements + r->buffered > b->elements_room) {
        CHK(okra_budget_ask_(r->ctx, 2.5 * (double)b->elements * sizeof *r->buffer,
                             "%" PRId64 " characters of strings", b->elements));
    }
    CHK(okra_ragged_push_many_(b, r->buffered, (const void *const[]){r->buffer}));
    r->buffered = 0;
    return OKRA_OK;
}

static okra_status keep(reader *r, int32_t code)
{
    REFUSE_IF(okra_ragged_open_count_(&r->characters) + r->buffered >= OKRA_STRING_MOST_,
              OKRA_EFORMAT,
              "line %" PRId64 ", character %" PRId64
              ": the string is longer than %d characters, the limit",
              r->line, r->column, OKRA_STRING_MOST_);
    r->buffer[r->buffered++] = code;
    return r->buffered == BUFFER ? flush(r) : OKRA_OK;
}

/* Ends the string under construction; an empty one is `what`. */
static okra_status close_string(reader *r, okra_int line, const char *what)
{
    CHK(flush(r));
    REFUSE_IF(okra_ragged_open_count_(&r->characters) == 0, OKRA_EFORMAT,
              "line %" PRId64 ", character 1: %s", line, what);
    return okra_ragged_close_(&r->characters);
}

static okra_status text_character(reader *r, int32_t code)
{
    return code != '\n' ? keep(r, code)
                        : close_string(r, r->line,
                                       "the line is empty; expected one string per line");
}

static okra_status close_record(reader *r)
{
    return r->record == 0 ? OKRA_OK
                          : close_string(r, r->record, "the record has no sequence");
}

static okra_status header_character(reader *r, int32_t code)
{
    if (code == '\n') {
        return okra_ragged_close_(&r->names);
    }
    unsigned char bytes[4];
    int count = okra_utf8_put_(code, bytes);
    REFUSE_IF(okra_ragged_open_count_(&r->names) + count > OKRA_STRING_MOST_,
              OKRA_EFORMAT,
              "line %" PRId64 ": the name is longer than %d bytes, the limit", r->line,
              OKRA_STRING_MOST_);
    return okra_ragged_push_many_(&r->names, count, (const void *const[]){bytes});
}

static okra_status fasta_character(reader *r, int32_t code)
{
    if (r->column == 1 && code == '>') {
        CHK(close_record(r));
        r->record = r->line;
        r->mode = HEADER;
    } else if (r->column == 1 && code == ';') {
        r->mode = COMMENT;
    } else if (r->mode == HEADER) {
        CHK(header_character(r, code));
    } else if (r->mode == SEQUENCE && code != '\n' && code != ' ' && code != '\t') {
        REFUSE_IF(r->record == 0, OKRA_EFORMAT,
                  "line %" PRId64 ", character %" PRId64
                  ": a sequence before any \">name\" line",
                  r->line, r->column);
        CHK(keep(r, code));
    }
    if (code == '\n') {
        r->mode = SEQUENCE;
    }
    return OKRA_OK;
}

static okra_status take_character(reader *r, int32_t code)
{
    bool first = r->bom_allowed;
    r->bom_allowed = false;
    if (first && code == BYTE_ORDER_MARK) {
        return OKRA_OK;
    }
    r->column++;
    bool control = (code < 0x20 && code != '\n' && code != '\t' && code != '\r') ||
                   code == 0x7f || (r->carriage && code != '\n');
    REFUSE_IF(control, OKRA_EFORMAT,
              "line %" PRId64 ", character %" PRId64
              ": control character U+%04X; expected text",
              r->line, r->carriage ? r->column - 1 : r->column,
              r->carriage ? '\r' : (unsigned)code);
    r->carriage = code == '\r';
    if (code != '\r') {
        CHK(r->fasta ? fasta_character(r, code) : text_character(r, code));
    }
    if (code == '\n') {
        r->line++;
        r->column = 0;
    }
    return OKRA_OK;
}

static okra_status read_characters(reader *r, okra_stream_ *stream)
{
    okra_utf8_ utf8 = {0};
    const unsigned char *piece = NULL;
    okra_int size = 0;
    do {
        CHK(okra_stream_next_(stream, &piece, &size));
        for (okra_int k = 0; k < size; k++) {
            int32_t code = okra_utf8_take_(&utf8, piece[k]);
            REFUSE_IF(code == OKRA_UTF8_BAD_, OKRA_EFORMAT,
                      "line %" PRId64 ", character %" PRId64 ": not UTF-8 (byte 0x%02x)",
                      r->line, r->column + 1, piece[k]);
            if (code >= 0) {
                CHK(take_character(r, code));
            }
        }
        CHK(okra_cancelled_(r->ctx));
    } while (size > 0);
    REFUSE_IF(utf8.more > 0, OKRA_EFORMAT,
              "line %" PRId64 ", character %" PRId64
              ": the file ends inside a UTF-8 character",
              r->line, r->column + 1);
    /* The last line may lack its end. */
    if (r->column > 0 || r->carriage) {
        CHK(take_character(r, '\n'));
    }
    return r->fasta ? close_record(r) : OKRA_OK;
}

static void reader_free(reader **at)
{
    if (*at) {
        okra_ragged_abandon_(&(*at)->characters);
        okra_ragged_abandon_(&(*at)->names);
        okra_free_(*at);
    }
}

okra_status okra_strings_read_(okra_context *ctx, const okra_bytes_ *bytes, bool fasta,
                               const char *source, okra_data **out)
{
    static const okra_field_ text[] = {{"text", OKRA_FIELD_BYTE, 1, NULL}};
    FREED_BY(okra_stream_drop_) okra_stream_ *stream = NULL;
    FREED_BY(reader_free) reader *r = NULL;
    ZMAKE(r, 1);
    r->ctx = ctx;
    r->fasta = fasta;
    r->line = 1;
    r->bom_allowed = true;
    CHK(okra_stream_create_(bytes, &stream));
    CHK(okra_characters_begin_(&r->characters));
    CHK(okra_ragged_begin_(&r->names, "names", 1, text));
    CHK(read_characters(r, stream));
    return okra_strings_adopt_(&r->characters, fasta ? &r->names : NULL, source, out);
}

okra_status okra_read_txt_(okra_source_ *source, okra_data **out)
{
    if (source->how == OKRA_HOW_LABELS_) { /* one class a line */
        return okra_read_tsv_(source, out);
    }
    return okra_strings_read_(source->ctx, &source->bytes, false, source->name, out);
}

okra_status okra_read_fasta_(okra_source_ *source, okra_data **out)
{
    return okra_strings_read_(source->ctx, &source->bytes, true, source->name, out);
}

/* ---- writing ---- */

okra_status okra_string_text_(const okra_data *data, okra_int i, char **text)
{
    okra_int length, used = 0;
    const int32_t *code = okra_characters_(data, i, &length);
    char *bytes = okra_alloc_(4 * length + 1, 1);
    GOT(bytes);
    for (okra_int k = 0; k < length; k++) {
        /* A position without a label is shown, not dropped: lengths stay true. */
        used +=
            okra_utf8_put_(code[k] < 0 ? '?' : code[k], (unsigned char *)bytes + used);
    }
    bytes[used] = '\0';
    *text = bytes;
    return OKRA_OK;
}

static okra_status check_kind(const okra_data *data, const char *format)
{
    REFUSE_IF(data->kind != OKRA_STRINGS && data->kind != OKRA_SEQUENCES,
              OKRA_EUNSUPPORTED, "%s data cannot be written as %s",
              okra_kind_name(data->kind), format);
    return OKRA_OK;
}

okra_status okra_put_line_(okra_writer_ *w, const char *text, const char *what,
                           okra_int i)
{
    size_t length = strcspn(text, "\r\n");
    REFUSE_IF(text[length], OKRA_EUNSUPPORTED,
              "%s %" PRId64
              " (counted from 0) holds a line end, which a file of lines cannot say%s",
              what, i, strcmp(what, "string") == 0 ? "; .csv can" : "");
    CHK(okra_writer_put_(w, text, length));
    return okra_writer_put_(w, "\n", 1);
}

okra_status okra_write_txt_(okra_writer_ *w, const okra_data *data)
{
    if (data->kind == OKRA_NODES) {
        return okra_write_nodes_(w, data);
    }
    if (data->kind == OKRA_GRAPHS) {
        return okra_write_smiles_(w, data); /* each as the line it came from */
    }
    if (data->kind == OKRA_LABELS) {
        return okra_write_tsv_(w, data); /* one class a line */
    }
    CHK(check_kind(data, "lines of text"));
    for (okra_int i = 0; i < data->n; i++) {
        OWNED char *text = NULL;
        CHK(okra_string_text_(data, i, &text));
        CHK(okra_put_line_(w, text, "string", i));
    }
    return OKRA_OK;
}

/* A name, what is no text in it as \xNN: it stays on its line. */
static okra_status put_name(okra_writer_ *w, const unsigned char *name, okra_int length)
{
    for (okra_int k = 0; k < length; k++) {
        bool plain = name[k] == '\t' || (name[k] >= 0x20 && name[k] != 0x7f);
        CHK(plain ? okra_writer_put_(w, &name[k], 1)
                  : okra_writer_printf_(w, "\\x%02x", (unsigned)name[k]));
    }
    return OKRA_OK;
}

/* What would end a line, or begin the next sequence, is none of a sequence. */
static okra_status check_sequence(const char *text, okra_int i)
{
    for (const char *p = text; *p; p++) {
        unsigned char c = (unsigned char)*p;
        REFUSE_IF(c < 0x20 || c == 0x7f || c == '>', OKRA_EUNSUPPORTED,
                  "string %" PRId64
                  " (counted from 0) holds the character U+%04X, which FASTA cannot say; "
                  ".csv can",
                  i, c);
    }
    return OKRA_OK;
}

/* The text in lines of at most WIDTH bytes, cut between characters. */
static okra_status put_lines(okra_writer_ *w, const char *text)
{
    enum { WIDTH = 60 };
    while (*text) {
        size_t size = strnlen(text, WIDTH);
        while (((unsigned char)text[size] & 0xc0) == 0x80) {
            size--;
        }
        CHK(okra_writer_put_(w, text, size));
        CHK(okra_writer_put_(w, "\n", 1));
        text += size;
    }
    return OKRA_OK;
}

okra_status okra_write_fasta_(okra_writer_ *w, const okra_data *data)
{
    CHK(check_kind(data, "FASTA"));
    const okra_ragged_ *names = okra_data_group_(data, "names");
    for (okra_int i = 0; i < data->n; i++) {
        OWNED char *text = NULL;
        CHK(okra_string_text_(data, i, &text));
        CHK(check_sequence(text, i));
        if (names) {
            const unsigned char *bytes = names->fields[0].values;
            CHK(okra_writer_put_(w, ">", 1));
            CHK(put_name(w, bytes + names->offsets[i],
                         names->offsets[i + 1] - names->offsets[i]));
        } else {
            CHK(okra_writer_printf_(w, ">%" PRId64, i));
        }
        CHK(okra_writer_put_(w, "\n", 1));
        CHK(put_lines(w, text));
    }
    return OKRA_OK;
}
