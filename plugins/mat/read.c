/*
 * read.c: MATLAB files, version 5 and 7.3, through matio.
 *
 * MATLAB stores columns one after another and its sparse matrices as compressed columns;
 * both are turned into rows. An array of more dimensions is the matrix that MATLAB writes
 * as A(:,:), rows by everything else.
 */
#include "mat.h"

#include "data/files/mat.h"
#include "okra/base.h"

#include <errno.h>
#include <inttypes.h>
#include <matio.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAMES = 200, TEXT = 512, ROWS_BYTES = 1 << 20 };

/* matio writes to stderr unless it is given somebody to talk to. */
static void hear(int level, char *message)
{
    (void)level;
    (void)message;
}

/* ---- records ---- */

static bool put(int out, const void *p, size_t size)
{
    for (const char *at = p; size > 0;) {
        ssize_t wrote = write(out, at, size);
        if (wrote < 0 && errno == EINTR) {
            continue;
        }
        if (wrote <= 0) {
            return false;
        }
        at += wrote;
        size -= (size_t)wrote;
    }
    return true;
}

static okra_mat_record_ record_of(okra_mat_kind_ kind)
{
    okra_mat_record_ r = {.kind = (int32_t)kind};
    memcpy(r.magic, OKRA_MAT_MAGIC_, sizeof r.magic);
    return r;
}

/* Tells an error; always false. */
static bool fail(int out, okra_status status, const char *format, ...) OKRA_PRINTF(3, 4);
static bool fail(int out, okra_status status, const char *format, ...)
{
    char text[TEXT];
    okra_mat_record_ r = record_of(OKRA_MAT_ERROR_);
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    r.status = (int32_t)status;
    r.count = (int64_t)strlen(text);
    (void)(put(out, &r, sizeof r) && put(out, text, strlen(text)));
    return false;
}

/* ---- the variable ---- */

static bool is_numeric(const matvar_t *v)
{
    return v->class_type >= MAT_C_SPARSE && v->class_type <= MAT_C_UINT64;
}

/* The variable asked for, or the only numeric one; its data are not read yet. */
static bool choose(mat_t *file, const char *part, int out, matvar_t **chosen)
{
    char names[NAMES] = "";
    size_t used = 0;
    int64_t count = 0;
    matvar_t *v, *found = NULL;
    while ((v = Mat_VarReadNextInfo(file)) != NULL) {
        const char *name = v->name ? v->name : "";
        bool wanted = part ? strcmp(name, part) == 0 : is_numeric(v);
        if (used < NAMES) {
            used += (size_t)snprintf(names + used, NAMES - used, "%s%s", used ? ", " : "",
                                     name);
        }
        count += wanted;
        if (wanted && !found) {
            found = v;
        } else {
            Mat_VarFree(v);
        }
    }
    *chosen = found;
    if (part && !found) {
        return fail(out, OKRA_EARG, "there is no variable '%s'; there is: %s", part,
                    names);
    }
    if (!part && count != 1) {
        return fail(out, count ? OKRA_EARG : OKRA_EFORMAT,
                    "there are %" PRId64
                    " numeric variables%s%s; choose one as FILE:NAME",
                    count, used ? " among: " : "", names);
    }
    return true;
}

/* Rows, and the product of all other dimensions; false where that is absurd. */
static bool flat(const matvar_t *v, int64_t *n, int64_t *d)
{
    int64_t area;
    *d = 1;
    for (int k = 1; k < v->rank; k++) {
        if (v->dims[k] > INT64_MAX ||
            __builtin_mul_overflow(*d, (int64_t)v->dims[k], d)) {
            return false;
        }
    }
    *n = v->rank > 0 ? (int64_t)v->dims[0] : 0;
    return v->rank >= 2 && *n >= 0 && !__builtin_mul_overflow(*n, *d, &area) &&
           area <= INT64_MAX / 8 &&
           (v->class_type != MAT_C_SPARSE || (v->rank == 2 && *d < INT32_MAX));
}

static bool tell_shape(const matvar_t *v, int out)
{
    okra_mat_record_ r = record_of(OKRA_MAT_SHAPE_);
    const char *name = v->name ? v->name : "";
    if (!is_numeric(v) || v->isComplex) {
        return fail(out, OKRA_EUNSUPPORTED, "variable '%s' is not %s", name,
                    is_numeric(v) ? "real" : "numeric");
    }
    if (!flat(v, &r.rows, &r.cols)) {
        return fail(out, OKRA_EFORMAT, "variable '%s' has an absurd size", name);
    }
    if (r.rows > 0 && r.cols == 0) {
        return fail(out, OKRA_EFORMAT,
                    "variable '%s' has %" PRId64 " rows of no elements", name, r.rows);
    }
    r.sparse = v->class_type == MAT_C_SPARSE;
    snprintf(r.name, sizeof r.name, "%s", name);
    return put(out, &r, sizeof r);
}

/* ---- its elements ---- */

/* Element k of a block of the type that matio names; false for other types. */
static bool element(enum matio_types type, const void *p, size_t k, double *value)
{
    switch ((int)type) {
#define CASE(symbol, ctype)                     \
    case symbol:                                \
        *value = (double)((const ctype *)p)[k]; \
        return true;
        CASE(MAT_T_DOUBLE, double)
        CASE(MAT_T_SINGLE, float)
        CASE(MAT_T_INT8, int8_t)
        CASE(MAT_T_UINT8, uint8_t)
        CASE(MAT_T_INT16, int16_t)
        CASE(MAT_T_UINT16, uint16_t)
        CASE(MAT_T_INT32, int32_t)
        CASE(MAT_T_UINT32, uint32_t)
        CASE(MAT_T_INT64, int64_t)
        CASE(MAT_T_UINT64, uint64_t)
#undef CASE
    default:
        return false;
    }
}

/* Some rows at a time: the whole is in memory once here, once in the library. */
static bool tell_dense(const matvar_t *v, int out)
{
    okra_mat_record_ r = record_of(OKRA_MAT_DATA_);
    int64_t n = 0, d = 0;
    double value;
    flat(v, &n, &d);
    if (n * d > 0 && (!v->data || !element(v->data_type, v->data, 0, &value) ||
                      (int64_t)(v->nbytes / Mat_SizeOf(v->data_type)) < n * d)) {
        return fail(out, OKRA_EFORMAT, "the elements of variable '%s' could not be read",
                    v->name);
    }
    int64_t step = d > 0 ? ROWS_BYTES / 8 / d : n;
    step = step < 1 ? 1 : step;
    step = step > n ? n : step; /* none of no rows, however long */
    double *rows = malloc((size_t)(step * d) * sizeof *rows + 1);
    if (!rows) {
        return fail(out, OKRA_EMEM, "there is not enough memory for variable '%s'",
                    v->name);
    }
    r.count = n * d;
    bool ok = put(out, &r, sizeof r);
    for (int64_t first = 0; ok && first < n; first += step) {
        int64_t count = step < n - first ? step : n - first;
        for (int64_t j = 0; j < d; j++) {
            for (int64_t i = 0; i < count; i++) {
                element(v->data_type, v->data, (size_t)(j * n + first + i),
                        &rows[i * d + j]);
            }
        }
        ok = put(out, rows, (size_t)(count * d) * sizeof *rows);
    }
    free(rows);
    return ok;
}

/* Everything that indexes is tested; *count: entries. */
static bool check_sparse(const matvar_t *v, int64_t n, int64_t d, int out, int64_t *count)
{
    const mat_sparse_t *s = v->data;
    double value;
    if (!s || !s->jc || (int64_t)s->njc < d + 1 || s->jc[0] != 0) {
        return fail(out, OKRA_EFORMAT, "the columns of variable '%s' could not be read",
                    v->name);
    }
    *count = s->jc[d];
    if (*count > s->nir || *count > s->ndata || (*count > 0 && (!s->ir || !s->data)) ||
        (*count > 0 && !element(v->data_type, s->data, 0, &value))) {
        return fail(out, OKRA_EFORMAT, "the elements of variable '%s' could not be read",
                    v->name);
    }
    for (int64_t j = 0; j < d; j++) {
        if (s->jc[j + 1] < s->jc[j]) {
            return fail(out, OKRA_EFORMAT, "the columns of variable '%s' do not ascend",
                        v->name);
        }
    }
    for (int64_t k = 0; k < *count; k++) {
        if (s->ir[k] >= n) {
            return fail(out, OKRA_EFORMAT,
                        "variable '%s' has an element in row %u of %" PRId64, v->name,
                        (unsigned)s->ir[k] + 1, n);
        }
    }
    return true;
}

/* Compressed columns to rows. */
static bool tell_sparse(const matvar_t *v, int64_t memory, int out)
{
    okra_mat_record_ r = record_of(OKRA_MAT_DATA_);
    const mat_sparse_t *s = v->data;
    int64_t n = (int64_t)v->dims[0], d = (int64_t)v->dims[1], count = 0;
    if (!check_sparse(v, n, d, out, &count)) {
        return false;
    }
    if (n > memory / 8 || count > (memory - 8 * n) / 16) {
        return fail(out, OKRA_EBUDGET,
                    "variable '%s' has %" PRId64 " rows and %" PRId64
                    " elements, which the memory budget has no room for",
                    v->name, n, count);
    }
    int64_t *begin = calloc((size_t)n + 2, sizeof *begin);
    int64_t *column = calloc((size_t)count + 1, sizeof *column);
    double *values = calloc((size_t)count + 1, sizeof *values);
    bool ok = begin && column && values;
    if (!ok) {
        fail(out, OKRA_EMEM, "there is not enough memory for variable '%s'", v->name);
        goto done;
    }
    for (int64_t k = 0; k < count; k++) {
        begin[s->ir[k] + 2]++;
    }
    for (int64_t i = 2; i <= n + 1; i++) {
        begin[i] += begin[i - 1];
    }
    /* begin[i+1] is where row i begins; filling moves it to where the row ends. */
    for (int64_t j = 0; j < d; j++) {
        for (int64_t k = s->jc[j]; k < (int64_t)s->jc[j + 1]; k++) {
            int64_t to = begin[s->ir[k] + 1]++;
            column[to] = j;
            element(v->data_type, s->data, (size_t)k, &values[to]);
        }
    }
    r.count = count;
    ok = put(out, &r, sizeof r) && put(out, begin, (size_t)(n + 1) * sizeof *begin) &&
         put(out, column, (size_t)count * sizeof *column) &&
         put(out, values, (size_t)count * sizeof *values);
done:
    free(begin);
    free(column);
    free(values);
    return ok;
}

int mat_answer(const char *path, const char *part, int64_t memory, bool (*opened)(void),
               int out)
{
    bool ok = false;
    matvar_t *v = NULL;
    Mat_LogInitFunc("okra-mat", hear);
    mat_t *file = Mat_Open(path, MAT_ACC_RDONLY);
    if (!file) {
        fail(out, OKRA_EFORMAT, "damaged: matio cannot open it");
        goto done;
    }
    if (opened && !opened()) {
        goto done;
    }
    if (!choose(file, part, out, &v) || !tell_shape(v, out)) {
        goto done;
    }
    int64_t n = 0, d = 0;
    if (!flat(v, &n, &d) || (v->class_type != MAT_C_SPARSE && 8 * n * d > memory)) {
        fail(out, OKRA_EMEM, "variable '%s' does not fit in the memory budget", v->name);
        goto done;
    }
    if (Mat_VarReadDataAll(file, v) != 0) {
        fail(out, OKRA_EFORMAT, "the elements of variable '%s' could not be read",
             v->name);
        goto done;
    }
    ok = v->class_type == MAT_C_SPARSE ? tell_sparse(v, memory, out) : tell_dense(v, out);
done:
    Mat_VarFree(v);
    if (file) {
        Mat_Close(file);
    }
    return ok ? 0 : 1;
}
