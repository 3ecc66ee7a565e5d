/*
 * strings_write.c: strings and labels of sequences as lines of text and as FASTA.
 */
#include "data/files/formats.h"
#include "data/strings.h"
#include "data/utf8.h"

#include <inttypes.h>
#include <string.h>

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
    return data->kind == OKRA_STRINGS || data->kind == OKRA_SEQUENCES
               ? OKRA_OK
               : okra_fail_(OKRA_EUNSUPPORTED, "%s data cannot be written as %s",
                            okra_kind_name(data->kind), format);
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
    OWNED char *text = NULL;
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
        CHK(okra_string_text_(data, i, &text));
        CHK(okra_put_line_(w, text, "string", i));
        okra_free_(text);
        text = NULL;
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
    OWNED char *text = NULL;
    CHK(check_kind(data, "FASTA"));
    const okra_ragged_ *names = okra_data_group_(data, "names");
    for (okra_int i = 0; i < data->n; i++) {
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
        okra_free_(text);
        text = NULL;
    }
    return OKRA_OK;
}
