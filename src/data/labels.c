/*
 * labels.c: class labels from codes and from texts.
 */
#include "data/files/formats.h"
#include "okra/program.h"

/* ---- codes ---- */

okra_status okra_data_names_(okra_data *data, const char *const *names)
{
    okra_int size = 0;
    char *texts;
    for (okra_int c = 0; c < data->d; c++) {
        REFUSE_IF(!names[c], OKRA_EARG,
                  "labels data: the name of class %" PRId64 " is NULL", c);
        size += (okra_int)strlen(names[c]) + 1;
    }
    MAKE(data->class_names, data->d);
    okra_data_own_(data, data->class_names);
    MAKE(texts, size);
    okra_data_own_(data, texts);
    for (okra_int c = 0; c < data->d; c++) {
        size_t length = strlen(names[c]) + 1;
        data->class_names[c] = memcpy(texts, names[c], length);
        texts += length;
    }
    return OKRA_OK;
}

okra_status okra_data_labels(const okra_int *labels, okra_int n, const char *const *names,
                             okra_int classes, okra_data **out)
{
    NOT_NULL(out);
    FREED_BY(okra_data_drop_) okra_data *data = NULL;
    okra_int *codes;
    REFUSE_IF(n < 0 || classes < 0, OKRA_ESHAPE,
              "labels data: %" PRId64 " labels of %" PRId64 " classes", n, classes);
    REFUSE_IF(!labels && n > 0, OKRA_EARG, "labels data: labels are NULL");
    for (okra_int i = 0; i < n; i++) {
        REFUSE_IF(labels[i] < 0 || labels[i] >= classes, OKRA_EARG,
                  "labels data: label %" PRId64 " is %" PRId64 "; expected 0..%" PRId64,
                  i, labels[i], classes - 1);
    }
    CHK(okra_data_new_(OKRA_LABELS, n, classes, "memory", &data));
    MAKE(codes, n);
    okra_data_own_(data, codes);
    data->codes = codes;
    OKRA_COPY_(codes, labels, n);
    CHK(names ? okra_data_names_(data, names) : OKRA_OK);
    *out = TAKE(data);
    return OKRA_OK;
}

/* ---- texts ---- */

static int by_number(const void *a, const void *b)
{
    const char *s = *(char *const *)a, *t = *(char *const *)b;
    double x = 0, y = 0;
    okra_number_(s, s + strlen(s), &x);
    okra_number_(t, t + strlen(t), &y);
    return x < y ? -1 : x > y ? 1 : strcmp(s, t);
}

okra_status okra_texts_are_classes(const char *const *texts, okra_int n, bool *out)
{
    enum { FEW = 20, OF_FEW = 2, OF_MANY = 5 };
    NOT_NULL(texts, out);
    okra_int different = 0;
    OWNED const char **sorted = NULL;
    MAKE(sorted, n);
    memcpy(sorted, texts, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, okra_by_text_);
    for (okra_int i = 0; i < n; i++) {
        different += i == 0 || strcmp(sorted[i], sorted[i - 1]) != 0;
    }
    *out = n > 1 && different <= n / (different <= FEW ? OF_FEW : OF_MANY);
    return OKRA_OK;
}

okra_status okra_labels_from_texts_(char *const *texts, okra_int n, const char *source,
                                    okra_data **out)
{
    OWNED char **names = NULL;
    OWNED okra_int *codes = NULL;
    okra_int classes = 0;
    bool own = true, numbers = true;
    double value;
    MAKE(codes, n);
    for (okra_int i = 0; i < n; i++) {
        codes[i] = okra_plain_number_(texts[i], OKRA_CODES_MOST_);
        own = own && codes[i] >= 0;
        classes = own ? OKRA_MAX_(classes, codes[i] + 1) : 0;
        numbers = numbers && okra_number_(texts[i], texts[i] + strlen(texts[i]),
                                          &value) == OKRA_TOKEN_NUMBER_;
    }
    if (!own) {
        int (*order)(const void *, const void *) = numbers ? by_number : okra_by_text_;
        MAKE(names, n);
        memcpy(names, texts, (size_t)n * sizeof *names);
        qsort(names, (size_t)n, sizeof *names, order);
        for (okra_int i = 0; i < n; i++) {
            if (i == 0 || strcmp(names[i], names[classes - 1]) != 0) {
                names[classes++] = names[i];
            }
        }
        for (okra_int i = 0; i < n; i++) {
            char **found =
                bsearch(&texts[i], names, (size_t)classes, sizeof *names, order);
            codes[i] = found - names;
        }
    }
    CHK(okra_data_labels(codes, n, (const char *const *)names, classes, out));
    return okra_data_rename_(out, source);
}
