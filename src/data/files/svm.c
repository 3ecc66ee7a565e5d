/*
 * svm.c: LIBSVM text: a line is "target index:value index:value ...", "#" begins a
 * comment. The features become sparse vectors; the targets are read on their own as
 * labels or as numbers.
 */
#include "data/files/formats.h"

typedef struct reading {
    okra_lines_ lines;
    okra_int base; /* the least index: 1, or 0 for svm0 */
    okra_csr_ csr;
    okra_int n, count, width;
} reading;

/* The next line that is not blank, its comment cut. */
static bool next_line(okra_lines_ *lines)
{
    while (okra_lines_next_(lines)) {
        size_t length = (size_t)(lines->close - lines->begin);
        const char *comment = memchr(lines->begin, '#', length);
        lines->close = comment ? comment : lines->close;
        const char *p = lines->begin, *word, *close;
        if (okra_word_(&p, lines->close, &word, &close)) {
            return true;
        }
    }
    return false;
}

static okra_status read_pair(reading *r, const char *word, const char *close)
{
    const char *p = word;
    okra_int index;
    double value;
    okra_int column = word - r->lines.begin + 1;
    REFUSE_IF(!okra_whole_(&p, close, &index) || p == close || *p != ':', OKRA_EFORMAT,
              "line %" PRId64 ", character %" PRId64
              ": '%.*s' is not of the form index:value",
              r->lines.number, column, (int)OKRA_MIN_(close - word, 40), word);
    REFUSE_IF(index < r->base, OKRA_EFORMAT,
              "line %" PRId64 ", character %" PRId64 ": index %" PRId64
              ", but indices begin at %" PRId64
              " (svm0:FILE reads files whose indices begin at 0)",
              r->lines.number, column, index, r->base);
    REFUSE_IF(index == INT64_MAX, OKRA_EFORMAT,
              "line %" PRId64 ", character %" PRId64 ": index %" PRId64
              " is more than can be addressed",
              r->lines.number, column, index);
    okra_token_ token = okra_number_(p + 1, close, &value);
    if (token != OKRA_TOKEN_NUMBER_) {
        return okra_bad_field_(token, r->lines.number, column, word, close);
    }
    index -= r->base;
    okra_int first = r->csr.indptr[r->n];
    REFUSE_IF(r->count > first && r->csr.indices[r->count - 1] >= index, OKRA_EFORMAT,
              "line %" PRId64 ", character %" PRId64 ": index %" PRId64
              " does not ascend",
              r->lines.number, column, index + r->base);
    r->csr.indices[r->count] = index;
    r->csr.values[r->count++] = value;
    r->width = OKRA_MAX_(r->width, index + 1);
    return OKRA_OK;
}

static okra_status read_features(okra_source_ *source, reading *r, okra_data **out)
{
    okra_int colons = 0, rows = 0;
    for (okra_lines_ lines = r->lines; next_line(&lines); rows++) {
        for (const char *p = lines.begin; p < lines.close; p++) {
            colons += *p == ':';
        }
    }
    CHK(okra_budget_ask_(source->ctx, 16.0 * (double)colons + 8.0 * (double)rows,
                         "%" PRId64 " rows with %" PRId64 " values", rows, colons));
    MAKE(r->csr.indptr, rows + 1);
    MAKE(r->csr.indices, colons);
    MAKE(r->csr.values, colons);
    r->csr.indptr[0] = 0;
    while (next_line(&r->lines)) {
        const char *p = r->lines.begin, *word, *close;
        okra_word_(&p, r->lines.close, &word, &close); /* the target */
        REFUSE_IF(memchr(word, ':', (size_t)(close - word)), OKRA_EFORMAT,
                  "line %" PRId64 ": begins with '%.*s'; expected a target before the "
                  "features",
                  r->lines.number, (int)OKRA_MIN_(close - word, 40), word);
        while (okra_word_(&p, r->lines.close, &word, &close)) {
            CHK(read_pair(r, word, close));
        }
        r->csr.indptr[++r->n] = r->count;
    }
    return okra_data_adopt_sparse_(&r->csr, r->n, r->width, source->name, out);
}

/* The leading words of the lines, as labels or numbers. */
static okra_status read_targets(okra_source_ *source, okra_lines_ lines, okra_data **out)
{
    FREED_BY(okra_texts_free_) okra_texts_ texts = {0};
    OWNED double *values = NULL;
    double value;
    while (next_line(&lines)) {
        const char *p = lines.begin, *word, *close;
        okra_word_(&p, lines.close, &word, &close);
        okra_token_ token = okra_number_(word, close, &value);
        if (token != OKRA_TOKEN_NUMBER_) {
            REFUSE_IF(memchr(word, ',', (size_t)(close - word)), OKRA_EUNSUPPORTED,
                      "line %" PRId64 ": several labels ('%.*s')", lines.number,
                      (int)OKRA_MIN_(close - word, 40), word);
            return okra_bad_field_(token, lines.number, 1, word, close);
        }
        word += *word == '+'; /* "+1" is the class 1 */
        CHK(okra_texts_add_(&texts, word, close));
    }
    CHK(okra_texts_done_(&texts));
    if (source->how == OKRA_HOW_LABELS_) {
        return okra_labels_from_texts_(texts.pointers, texts.count, source->name, out);
    }
    MAKE(values, texts.count);
    for (okra_int i = 0; i < texts.count; i++) {
        const char *text = texts.pointers[i];
        okra_number_(text, text + strlen(text), &values[i]);
    }
    return okra_data_adopt_dense_(&values, texts.count, 1, source->name, out);
}

static okra_status read_svm(okra_source_ *source, okra_int base, okra_data **out)
{
    okra_lines_ lines = okra_lines_begin_(&source->bytes), first = lines;
    REFUSE_IF(!next_line(&first), OKRA_EFORMAT,
              "the file is empty; expected lines such as '1 3:0.5 7:2'");
    if (source->how == OKRA_HOW_LABELS_ || source->how == OKRA_HOW_TARGETS_) {
        return read_targets(source, lines, out);
    }
    reading r = {.lines = lines, .base = base};
    OWNS(&r.csr.indptr, &r.csr.indices, &r.csr.values);
    return read_features(source, &r, out);
}

okra_status okra_read_svm_(okra_source_ *source, okra_data **out)
{
    return read_svm(source, 1, out);
}

okra_status okra_read_svm0_(okra_source_ *source, okra_data **out)
{
    return read_svm(source, 0, out);
}
