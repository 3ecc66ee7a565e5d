/*
 * align.c: the text of kernel expressions whose weights are learned: align(A, B, ...) is
 * found, its kernels are read, and numbers take its place, w1*(A) + w2*(B) + ..., once
 * align_learn.c has the weights.
 */
#include "model/align.h"

#include <stdio.h>
#include <string.h>

enum { SAMPLE = 4000, SAMPLE_LOO = 1000, KERNELS_MOST = 200 };

/* ---- the text ---- */

/* The first align( of the text, its arguments and its end; false: there is none. */
typedef struct call {
    okra_align_how_ how;
    size_t begin, end; /* of the whole of it */
    size_t from[KERNELS_MOST], to[KERNELS_MOST];
    int count;
} call;

static bool name_ends(const char *text, size_t at, size_t length)
{
    bool before = at > 0 && (strchr("-_", text[at - 1]) ||
                             (text[at - 1] >= '0' && text[at - 1] <= '9') ||
                             ((text[at - 1] | 32) >= 'a' && (text[at - 1] | 32) <= 'z'));
    return !before && text[at + length] == '(';
}

static bool find_name(const char *text, call *c)
{
    for (size_t at = 0; text[at]; at++) {
        for (int k = 0; okra_align_names_[k]; k++) {
            size_t length = strlen(okra_align_names_[k]);
            if (strncmp(text + at, okra_align_names_[k], length) == 0 &&
                name_ends(text, at, length)) {
                c->how = (okra_align_how_)k;
                c->begin = at;
                c->from[0] = at + length + 1;
                return true;
            }
        }
    }
    return false;
}

bool okra_align_asked_(const char *text)
{
    call c = {0};
    return find_name(text, &c);
}

okra_status okra_align_mean_(const char *text, char **out)
{
    call c = {0};
    char *mean = NULL;
    size_t size = strlen(text) + 1;
    MAKE(mean, (okra_int)size);
    if (find_name(text, &c)) {
        snprintf(mean, size, "%.*smean(%s", (int)c.begin, text, text + c.from[0]);
    } else {
        snprintf(mean, size, "%s", text);
    }
    *out = mean;
    return OKRA_OK;
}

/* Arguments between commas outside brackets. */
static okra_status read_call(const char *text, call *c)
{
    int depth = 0;
    size_t at = c->from[0];
    for (; text[at] && (depth > 0 || text[at] != ')'); at++) {
        depth +=
            (text[at] == '(' || text[at] == '{') - (text[at] == ')' || text[at] == '}');
        if (text[at] == ',' && depth == 0) {
            REFUSE_IF(c->count + 1 == KERNELS_MOST, OKRA_EARG, "%s: more than %d kernels",
                      okra_align_names_[c->how], KERNELS_MOST);
            c->to[c->count++] = at;
            c->from[c->count] = at + 1;
        }
    }
    REFUSE_IF(!text[at], OKRA_EARG, "%s( has no end", okra_align_names_[c->how]);
    c->to[c->count++] = at;
    c->end = at + 1;
    return OKRA_OK;
}

/* ---- all together ---- */

/* At most so many pairs, evenly spaced; Gram matrices stay whole. */
static okra_status sample(const okra_data *x, const okra_data *y, okra_int most,
                          okra_data **some_x, okra_data **some_y)
{
    bool whole = okra_data_holds_gram_(x) || okra_data_holds_gram_(y);
    OWNED okra_int *index = NULL;
    okra_int n = whole ? y->n : OKRA_MIN_(y->n, most);
    REFUSE_IF(okra_data_holds_gram_(x) && x->n > y->n, OKRA_EUNSUPPORTED,
              "align: Gram matrices of inputs without outputs cannot be aligned");
    MAKE(index, n);
    for (okra_int i = 0; i < n; i++) {
        index[i] = i * y->n / n;
    }
    CHK(okra_data_take(x, index, n, some_x));
    return okra_data_take(y, index, n, some_y);
}

OKRA_SHARED_CLEARS_(okra_align_clear_, okra_align_, it->text, it->kernels, it->weights)

/* The texts: of the kernel, and for whoever reads the model. */
static okra_status write_texts(const char *text, const call *c,
                               okra_kernel *const *kernels, const double *w,
                               okra_align_ *out)
{
    size_t size = strlen(text) + 64;
    for (int k = 0; k < c->count; k++) {
        size += strlen(okra_kernel_text(kernels[k])) + 64;
    }
    MAKE(out->text, (okra_int)size);
    MAKE(out->kernels, (okra_int)size);
    MAKE(out->weights, (okra_int)size);
    out->kernels[0] = out->weights[0] = '\0';
    int at = snprintf(out->text, size, "%.*s(", (int)c->begin, text), names_at = 0,
        weights_at = 0, terms = 0;
    for (int k = 0; k < c->count; k++) {
        char number[40];
        const char *kernel = okra_kernel_text(kernels[k]);
        okra_number_format_(number, sizeof number, 17, w[k]);
        weights_at += snprintf(out->weights + weights_at, size - (size_t)weights_at,
                               "%s%s", k ? "," : "", number);
        names_at += snprintf(out->kernels + names_at, size - (size_t)names_at, "%s%s",
                             k ? "\n" : "", kernel);
        if (w[k] > 0) {
            at += snprintf(out->text + at, size - (size_t)at, "%s%s*(%s)",
                           terms++ ? " + " : "", number, kernel);
        }
    }
    snprintf(out->text + at, size - (size_t)at, ")%s", text + c->end);
    return OKRA_OK;
}

okra_status okra_align_learn_(okra_context *ctx, const okra_data *x, const okra_data *y,
                              const char *text, const okra_kernel *ky,
                              const okra_align_options_ *o, okra_align_ *out)
{
    okra_status st = OKRA_OK;
    call c = {0};
    okra_kernel **kernels = NULL;
    double *w = NULL;
    okra_data *some_x = NULL, *some_y = NULL;
    okra_align_ made = {0};
    FAIL_IF(!find_name(text, &c), OKRA_EINTERNAL, "there is nothing to align in '%s'",
            text);
    FAIL_IF(y->missing, OKRA_EARG,
            "%s: y has missing values, with which nothing can be aligned",
            okra_align_names_[c.how]);
    TRY(read_call(text, &c));
    ZALLOC(kernels, c.count);
    ALLOC(w, c.count);
    for (int k = 0; k < c.count; k++) {
        char *one = okra_strndup_(text + c.from[k], c.to[k] - c.from[k]);
        st = one ? okra_kernel_choose(ctx, one, x, &kernels[k]) : OKRA_EMEM;
        okra_free_(one);
        if (st != OKRA_OK && st != OKRA_EMEM) {
            okra_message_prefix_("kernel %d of %s", k + 1, okra_align_names_[c.how]);
        }
        TRY(st);
    }
    TRY(sample(x, y, c.how == OKRA_ALIGN_LOO_ ? SAMPLE_LOO : SAMPLE, &some_x, &some_y));
    okra_learner_ z = {
        .ctx = ctx, .x = some_x, .y = some_y, .n = some_y->n, .p = c.count};
    TRY(okra_align_find_(&z, kernels, ky, c.how, o, w, &made.value));
    TRY(write_texts(text, &c, kernels, w, &made));
    FAIL_IF(okra_align_asked_(made.text), OKRA_EARG,
            "align stands once in a kernel expression");
    *out = made;
    made = (okra_align_){0};
done:
    for (int k = 0; kernels && k < c.count; k++) {
        okra_kernel_free(kernels[k]);
    }
    FREE(kernels, w);
    okra_data_free(some_x);
    okra_data_free(some_y);
    okra_align_clear_(&made);
    return st;
}
