/*
 * strings_write.c: strings and labels of sequences as lines of text and as FASTA.
 */
#include "data/strings.h"
#include "data/utf8.h"

#include <inttypes.h>

static okra_status put_characters(okra_writer_ *w, const int32_t *code, okra_int length)
{
    unsigned char buffer[256];
    size_t used = 0;
    okra_status st = OKRA_OK;
    for (okra_int k = 0; st == OKRA_OK && k < length; k++) {
        if (used + 4 > sizeof buffer) {
            st = okra_writer_put_(w, buffer, used);
            used = 0;
        }
        /* A position without a label is shown, not dropped: lengths stay true. */
        used += (size_t)okra_utf8_put_(code[k] < 0 ? '?' : code[k], buffer + used);
    }
    return st == OKRA_OK ? okra_writer_put_(w, buffer, used) : st;
}

okra_status okra_strings_put_(okra_writer_ *w, const okra_data *data)
{
    okra_status st = OKRA_OK;
    for (okra_int i = 0; st == OKRA_OK && i < data->n; i++) {
        okra_int length;
        const int32_t *code = okra_characters_(data, i, &length);
        st = put_characters(w, code, length);
        st = st == OKRA_OK ? okra_writer_put_(w, "\n", 1) : st;
    }
    return st;
}

okra_status okra_fasta_put_(okra_writer_ *w, const okra_data *data)
{
    enum { WIDTH = 60 };
    okra_status st = OKRA_OK;
    const okra_ragged_ *names = okra_data_group_(data, "names");
    for (okra_int i = 0; i < data->n; i++) {
        okra_int length;
        const int32_t *code = okra_characters_(data, i, &length);
        if (names) {
            TRY(okra_writer_put_(w, ">", 1));
            TRY(okra_writer_put_(
                w, (const char *)names->fields[0].values + names->offsets[i],
                (size_t)(names->offsets[i + 1] - names->offsets[i])));
        } else {
            TRY(okra_writer_printf_(w, ">%" PRId64, i));
        }
        TRY(okra_writer_put_(w, "\n", 1));
        for (okra_int k = 0; k < length; k += WIDTH) {
            TRY(put_characters(w, code + k, OKRA_MIN_(length - k, WIDTH)));
            TRY(okra_writer_put_(w, "\n", 1));
        }
    }
done:
    return st;
}
