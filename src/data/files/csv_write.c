/*
 * csv_write.c: vectors, labels and strings as tables of text (.csv, .tsv).
 */
#include "data/files/formats.h"
#include "data/strings.h"

#include <inttypes.h>
#include <string.h>

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
        if (j > 0) {
            CHK(okra_writer_put_(w, &separator, 1));
        }
        CHK(okra_writer_put_(w, text, strlen(text)));
    }
    return OKRA_OK;
}

static okra_status write_strings(okra_writer_ *w, const okra_data *data, char separator)
{
    OWNED char *text = NULL;
    for (okra_int i = 0; i < data->n; i++) {
        CHK(okra_string_text_(data, i, &text));
        CHK(put_name(w, text, separator));
        CHK(okra_writer_put_(w, "\n", 1));
        okra_free_(text);
        text = NULL;
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
