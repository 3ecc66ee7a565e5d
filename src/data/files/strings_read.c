/*
 * strings_read.c: strings from text, a line each, and from FASTA records.
 *
 * The bytes come in pieces (stream.h) and every character passes through one function of
 * the format, so memory is what the strings need and a line without end stops at
 * OKRA_STRING_MOST_ characters. Carriage returns before a line feed are dropped; other
 * control characters but tab are refused, for they tell a file that is no text.
 */
#include "data/files/formats.h"
#include "data/files/stream.h"
#include "data/strings.h"
#include "data/utf8.h"

#include <inttypes.h>

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
    if (r->record == 0) {
        return OKRA_OK;
    }
    return close_string(r, r->record, "the record has no sequence");
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
    if (r->fasta) {
        CHK(close_record(r));
    }
    return OKRA_OK;
}

static okra_status read_strings(okra_context *ctx, const okra_bytes_ *bytes, bool fasta,
                                const char *source, okra_data **out)
{
    static const okra_field_ text[] = {{"text", OKRA_FIELD_BYTE, 1, NULL}};
    okra_status st = OKRA_OK;
    okra_stream_ *stream = NULL;
    reader *r = NULL;
    ZALLOC(r, 1);
    r->ctx = ctx;
    r->fasta = fasta;
    r->line = 1;
    r->bom_allowed = true;
    TRY(okra_stream_create_(bytes, &stream));
    TRY(okra_characters_begin_(&r->characters));
    TRY(okra_ragged_begin_(&r->names, "names", 1, text));
    TRY(read_characters(r, stream));
    TRY(okra_strings_adopt_(&r->characters, fasta ? &r->names : NULL, source, out));
done:
    okra_stream_free_(stream);
    if (r) {
        okra_ragged_abandon_(&r->characters);
        okra_ragged_abandon_(&r->names);
    }
    okra_free_(r);
    return st;
}

okra_status okra_strings_text_(okra_context *ctx, const okra_bytes_ *bytes,
                               const char *source, okra_data **out)
{
    return read_strings(ctx, bytes, false, source, out);
}

okra_status okra_strings_fasta_(okra_context *ctx, const okra_bytes_ *bytes,
                                const char *source, okra_data **out)
{
    return read_strings(ctx, bytes, true, source, out);
}

okra_status okra_read_txt_(okra_source_ *source, okra_data **out)
{
    if (source->how == OKRA_HOW_LABELS_) { /* one class a line */
        return okra_read_tsv_(source, out);
    }
    return okra_strings_text_(source->ctx, &source->bytes, source->name, out);
}

okra_status okra_read_fasta_(okra_source_ *source, okra_data **out)
{
    return okra_strings_fasta_(source->ctx, &source->bytes, source->name, out);
}
