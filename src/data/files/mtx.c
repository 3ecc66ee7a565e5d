/*
 * mtx.c: Matrix Market files (Boisvert, Pozo, Remington 1996): "array" files give dense
 * data, "coordinate" files sparse data; general or symmetric; real, integer or pattern.
 * Sparse data and bits are written, as coordinates.
 */
#include "data/files/formats.h"

#include <strings.h>

typedef struct matrix {
    okra_lines_ lines;
    bool array, pattern, symmetric;
    okra_int n, d, count;
    const char *p; /* in the current line */
} matrix;

/* The next word of the banner, which must be one of a list "real, integer or pattern". */
static okra_status banner_word(matrix *m, const char *allowed, int *found)
{
    const char *word, *close, *own, *end, *list = allowed;
    okra_word_(&m->p, m->lines.close, &word, &close);
    *found = 0;
    while (okra_word_(&list, allowed + strlen(allowed), &own, &end)) {
        size_t length = (size_t)(end - own) - (end[-1] == ',');
        bool a_word = strncmp(own, "or ", 3) != 0;
        if (a_word && length == (size_t)(close - word) &&
            strncasecmp(word, own, length) == 0) {
            return OKRA_OK;
        }
        *found += a_word;
    }
    return okra_fail_(OKRA_EUNSUPPORTED, "line 1: '%.*s' found; expected %s",
                      (int)OKRA_MIN_(close - word, 40), word, allowed);
}

static okra_status read_banner(matrix *m)
{
    const char *word, *close;
    int choice = 0;
    bool any = okra_lines_next_(&m->lines);
    m->p = m->lines.begin;
    REFUSE_IF(!any || !okra_word_(&m->p, m->lines.close, &word, &close) ||
                  close - word != 14 || strncasecmp(word, "%%MatrixMarket", 14) != 0,
              OKRA_EFORMAT,
              "not a Matrix Market file: it does not begin with %%%%MatrixMarket");
    CHK(banner_word(m, "matrix", &choice));
    CHK(banner_word(m, "coordinate or array", &choice));
    m->array = choice == 1;
    CHK(banner_word(m, "real, integer or pattern", &choice));
    m->pattern = choice == 2;
    CHK(banner_word(m, "general or symmetric", &choice));
    m->symmetric = choice == 1;
    REFUSE_IF(m->array && m->pattern, OKRA_EFORMAT,
              "line 1: an array cannot be a pattern");
    return OKRA_OK;
}

/* The next line that is neither a comment nor blank. */
static bool next_line(matrix *m)
{
    const char *word, *close;
    while (okra_lines_next_(&m->lines)) {
        m->p = m->lines.begin;
        const char *p = m->p;
        if (okra_word_(&p, m->lines.close, &word, &close) && *word != '%') {
            return true;
        }
    }
    return false;
}

static bool whole_word(matrix *m, okra_int *value)
{
    const char *word, *close;
    return okra_word_(&m->p, m->lines.close, &word, &close) &&
           okra_whole_(&word, close, value) && word == close;
}

static bool at_line_end(matrix *m)
{
    const char *word, *close;
    return !okra_word_(&m->p, m->lines.close, &word, &close);
}

static okra_status read_size(matrix *m)
{
    REFUSE_IF(!next_line(m), OKRA_EFORMAT,
              "the file ends before the line with the sizes");
    REFUSE_IF(!whole_word(m, &m->n) || !whole_word(m, &m->d) ||
                  (!m->array && !whole_word(m, &m->count)) || !at_line_end(m),
              OKRA_EFORMAT, "line %" PRId64 ": expected %s", m->lines.number,
              m->array ? "the sizes 'rows columns'" : "the sizes 'rows columns entries'");
    REFUSE_IF(m->symmetric && m->n != m->d, OKRA_EFORMAT,
              "line %" PRId64 ": a symmetric matrix of %" PRId64 " x %" PRId64,
              m->lines.number, m->n, m->d);
    /* An entry takes a digit and a line end at least; coordinates two numbers. */
    okra_int rest = m->lines.end - m->lines.p, least = m->array ? 2 : 4, bytes;
    if (m->array) {
        bool large = __builtin_mul_overflow(m->n, m->d, &m->count) ||
                     __builtin_add_overflow(m->count, m->n, &bytes);
        if (large) {
            m->count = INT64_MAX;
        } else if (m->symmetric) {
            m->count = (m->count + m->n) / 2;
        }
    }
    REFUSE_IF(m->count > (rest + 1) / least, OKRA_EFORMAT,
              "line %" PRId64 ": %" PRId64 " x %" PRId64
              "%s are more entries than the %" PRId64 " bytes that follow can hold",
              m->lines.number, m->n, m->d, m->array ? "" : " with the number given",
              rest);
    REFUSE_IF(m->n > 0 && m->d == 0, OKRA_EFORMAT,
              "line %" PRId64 ": %" PRId64 " rows of no columns", m->lines.number, m->n);
    return OKRA_OK;
}

static okra_status end_line(matrix *m)
{
    REFUSE_IF(!at_line_end(m), OKRA_EFORMAT,
              "line %" PRId64 ": more numbers than expected", m->lines.number);
    return OKRA_OK;
}

static okra_status read_value(matrix *m, double *value)
{
    const char *word, *close, *begin = m->lines.begin;
    okra_word_(&m->p, m->lines.close, &word, &close);
    okra_token_ token = okra_number_(word, close, value);
    if (token != OKRA_TOKEN_NUMBER_) {
        return okra_bad_field_(token, m->lines.number, word - begin + 1, word, close);
    }
    return end_line(m);
}

static okra_status expect_line(matrix *m, okra_int k)
{
    REFUSE_IF(!next_line(m), OKRA_EFORMAT,
              "the file ends after %" PRId64 " of %" PRId64 " entries", k, m->count);
    return OKRA_OK;
}

/* Columns one after another; of a symmetric matrix the part on and below the diagonal. */
static okra_status read_array(okra_source_ *source, matrix *m, okra_data **out)
{
    OWNED double *values = NULL;
    okra_int k = 0;
    CHK(okra_doubles_(source->ctx, m->n, m->d, "a matrix", &values));
    for (okra_int j = 0; m->n > 0 && j < m->d; j++) {
        for (okra_int i = m->symmetric ? j : 0; i < m->n; i++) {
            double value;
            CHK(expect_line(m, k++));
            CHK(read_value(m, &value));
            values[i * m->d + j] = value;
            if (m->symmetric) {
                values[j * m->d + i] = value;
            }
        }
    }
    return okra_data_adopt_dense_(&values, m->n, m->d, source->name, out);
}

typedef struct triplet {
    okra_int i, j;
    double value;
} triplet;

static okra_status read_triplet(matrix *m, triplet *t)
{
    REFUSE_IF(!whole_word(m, &t->i) || !whole_word(m, &t->j), OKRA_EFORMAT,
              "line %" PRId64 ": expected 'row column%s'", m->lines.number,
              m->pattern ? "" : " value");
    REFUSE_IF(t->i < 1 || t->i > m->n || t->j < 1 || t->j > m->d, OKRA_EFORMAT,
              "line %" PRId64 ": entry (%" PRId64 ", %" PRId64 ") is outside 1..%" PRId64
              ", 1..%" PRId64,
              m->lines.number, t->i, t->j, m->n, m->d);
    t->i--;
    t->j--;
    t->value = 1;
    return m->pattern ? end_line(m) : read_value(m, &t->value);
}

static void put_entry(okra_csr_ *csr, okra_int i, okra_int j, double value)
{
    okra_int k = csr->indptr[i + 1]++;
    csr->indices[k] = j;
    csr->values[k] = value;
}

static okra_status read_coordinate(okra_source_ *source, matrix *m, okra_data **out)
{
    OWNED triplet *entries = NULL;
    FREED_BY(okra_csr_free_) okra_csr_ csr = {0};
    CHK(okra_bytes_claim_(&source->bytes, m->n, "rows"));
    CHK(okra_budget_ask_(source->ctx, 8.0 * (double)m->n + 56.0 * (double)m->count,
                         "a sparse matrix of %" PRId64 " rows with %" PRId64 " entries",
                         m->n, m->count));
    MAKE(entries, m->count);
    ZMAKE(csr.indptr, m->n + 2);
    for (okra_int k = 0; k < m->count; k++) {
        triplet *t = &entries[k];
        CHK(expect_line(m, k));
        CHK(read_triplet(m, t));
        csr.indptr[t->i + 2]++;
        if (m->symmetric && t->i != t->j) {
            csr.indptr[t->j + 2]++;
        }
    }
    for (okra_int i = 2; i <= m->n + 1; i++) {
        csr.indptr[i] += csr.indptr[i - 1];
    }
    /* indptr[i+1] is where row i begins; filling moves it to where the row ends. */
    okra_int count = csr.indptr[m->n + 1];
    MAKE(csr.indices, count);
    MAKE(csr.values, count);
    for (okra_int k = 0; k < m->count; k++) {
        const triplet *t = &entries[k];
        put_entry(&csr, t->i, t->j, t->value);
        if (m->symmetric && t->i != t->j) {
            put_entry(&csr, t->j, t->i, t->value);
        }
    }
    okra_status st = okra_data_adopt_sparse_(&csr, m->n, m->d, source->name, out);
    return st == OKRA_EARG ? OKRA_EFORMAT : st; /* an entry that is there twice */
}

okra_status okra_read_mtx_(okra_source_ *source, okra_data **out)
{
    FREED_BY(okra_data_drop_) okra_data *data = NULL;
    matrix m = {.lines = okra_lines_begin_(&source->bytes)};
    CHK(read_banner(&m));
    CHK(read_size(&m));
    CHK(m.array ? read_array(source, &m, &data) : read_coordinate(source, &m, &data));
    REFUSE_IF(next_line(&m), OKRA_EFORMAT,
              "line %" PRId64 ": more than the %" PRId64 " entries announced",
              m.lines.number, m.count);
    *out = TAKE(data);
    return OKRA_OK;
}

/* ---- writing ---- */

static okra_status put_entry_text(okra_writer_ *w, okra_int i, okra_int j, double value)
{
    char text[OKRA_NUMBER_TEXT_];
    okra_double_text_(value, text);
    return okra_writer_printf_(w, "%" PRId64 " %" PRId64 " %s\n", i + 1, j + 1, text);
}

static okra_status write_bits(okra_writer_ *w, const okra_data *data)
{
    okra_int count = 0;
    for (okra_int k = 0; k < data->n * data->words; k++) {
        count += __builtin_popcountll(data->bits[k]);
    }
    CHK(okra_writer_printf_(w, "%" PRId64 " %" PRId64 " %" PRId64 "\n", data->n, data->d,
                            count));
    for (okra_int i = 0; i < data->n; i++) {
        for (okra_int j = 0; j < data->d; j++) {
            if (okra_bit_(data, i, j)) {
                CHK(put_entry_text(w, i, j, 1));
            }
        }
    }
    return OKRA_OK;
}

okra_status okra_write_mtx_(okra_writer_ *w, const okra_data *data)
{
    const okra_csr_ *csr = &data->csr;
    REFUSE_IF(data->kind != OKRA_SPARSE && data->kind != OKRA_BITS, OKRA_EUNSUPPORTED,
              "%s data cannot be written as .mtx; expected sparse, bits",
              okra_kind_name(data->kind));
    CHK(okra_writer_printf_(w, "%%%%MatrixMarket matrix coordinate real general\n"));
    if (data->kind == OKRA_BITS) {
        return write_bits(w, data);
    }
    CHK(okra_writer_printf_(w, "%" PRId64 " %" PRId64 " %" PRId64 "\n", data->n, data->d,
                            csr->indptr[data->n]));
    for (okra_int i = 0; i < data->n; i++) {
        for (okra_int k = csr->indptr[i]; k < csr->indptr[i + 1]; k++) {
            CHK(put_entry_text(w, i, csr->indices[k], csr->values[k]));
        }
    }
    return OKRA_OK;
}
