/* bridge.c: handles, failures, options by name, and the list of what R may call. */
#include "bridge.h"

#include <R_ext/Rdynload.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- handles ---- */

typedef struct held {
    handle_kind kind;
    void *pointer;
    void (*free)(void *);
} held;

static void finalize(SEXP handle)
{
    held *h = R_ExternalPtrAddr(handle);
    R_ClearExternalPtr(handle);
    if (h) {
        if (h->pointer) {
            h->free(h->pointer);
        }
        free(h);
    }
}

SEXP handle_new(handle_kind kind, void (*free_it)(void *), SEXP keep)
{
    SEXP handle = PROTECT(R_MakeExternalPtr(NULL, Rf_install("okra"), keep));
    R_RegisterCFinalizerEx(handle, finalize, TRUE);
    held *h = malloc(sizeof *h);
    if (!h) {
        Rf_error("out of memory");
    }
    *h = (held){kind, NULL, free_it};
    R_SetExternalPtrAddr(handle, h);
    UNPROTECT(1);
    return handle;
}

void handle_hold(SEXP handle, void *pointer)
{
    held *h = R_ExternalPtrAddr(handle);
    h->pointer = pointer;
}

void *handle_get(SEXP handle, handle_kind kind)
{
    if (TYPEOF(handle) != EXTPTRSXP || R_ExternalPtrTag(handle) != Rf_install("okra")) {
        Rf_error("expected an object of okra");
    }
    const held *h = R_ExternalPtrAddr(handle);
    if (!h || !h->pointer) {
        Rf_error(
            "this object of okra is from another R session, which kept its name alone; "
            "okra_save() and okra_load() keep models");
    }
    if (h->kind != kind) {
        Rf_error("an object of okra of another kind was expected");
    }
    return h->pointer;
}

void *handle_maybe(SEXP handle, handle_kind kind)
{
    return handle == R_NilValue ? NULL : handle_get(handle, kind);
}

static void free_data(void *p)
{
    okra_data_free(p);
}

static void free_model(void *p)
{
    okra_model_free(p);
}

static void free_selection(void *p)
{
    okra_selection_free(p);
}

static void free_options(void *p)
{
    okra_options_free(p);
}

static void free_prediction(void *p)
{
    okra_prediction_free(p);
}

static void free_kernel(void *p)
{
    okra_kernel_free(p);
}

SEXP data_handle(SEXP keep)
{
    return handle_new(A_DATA, free_data, keep);
}

SEXP model_handle(void)
{
    return handle_new(A_MODEL, free_model, R_NilValue);
}

SEXP selection_handle(void)
{
    return handle_new(A_SELECTION, free_selection, R_NilValue);
}

SEXP options_handle(void)
{
    return handle_new(OTHER, free_options, R_NilValue);
}

SEXP prediction_handle(void)
{
    return handle_new(OTHER, free_prediction, R_NilValue);
}

SEXP kernel_handle(void)
{
    return handle_new(OTHER, free_kernel, R_NilValue);
}

/* ---- values ---- */

SEXP utf8_string(const char *text, okra_int length)
{
    if (!text) {
        return NA_STRING;
    }
    return Rf_mkCharLenCE(text, length > INT_MAX ? INT_MAX : (int)length, CE_UTF8);
}

const char **utf8_texts(SEXP texts)
{
    R_xlen_t n = XLENGTH(texts);
    const char **out = (const char **)R_alloc((size_t)n + 1, sizeof *out);
    for (R_xlen_t i = 0; i < n; i++) {
        if (STRING_ELT(texts, i) == NA_STRING) {
            Rf_error("text %.0f is NA", (double)i + 1);
        }
        out[i] = Rf_translateCharUTF8(STRING_ELT(texts, i));
    }
    out[n] = NULL;
    return out;
}

SEXP named_list(const char *const *names, int count)
{
    SEXP list = PROTECT(Rf_allocVector(VECSXP, count));
    SEXP called = PROTECT(Rf_allocVector(STRSXP, count));
    for (int k = 0; k < count; k++) {
        SET_STRING_ELT(called, k, Rf_mkChar(names[k]));
    }
    Rf_setAttrib(list, R_NamesSymbol, called);
    UNPROTECT(2);
    return list;
}

okra_int *counts_of(SEXP numbers)
{
    if (numbers == R_NilValue) {
        return NULL;
    }
    R_xlen_t n = XLENGTH(numbers);
    okra_int *out = (okra_int *)R_alloc((size_t)n + 1, sizeof *out);
    for (R_xlen_t i = 0; i < n; i++) {
        out[i] =
            TYPEOF(numbers) == REALSXP ? (okra_int)REAL(numbers)[i] : INTEGER(numbers)[i];
    }
    return out;
}

static char *said;

void failure_says(char *message)
{
    free(said);
    said = message;
}

SEXP failure(okra_status status)
{
    static const char *const names[] = {"status", "message"};
    SEXP list = PROTECT(named_list(names, 2));
    SET_VECTOR_ELT(list, 0, Rf_mkString(okra_status_name(status)));
    const char *message = said ? said : okra_message();
    SET_VECTOR_ELT(list, 1,
                   Rf_ScalarString(utf8_string(message, (okra_int)strlen(message))));
    failure_says(NULL);
    Rf_setAttrib(list, R_ClassSymbol, Rf_mkString("okra_failure"));
    UNPROTECT(1);
    return list;
}

okra_status set_options(okra_options *options, SEXP names, SEXP values)
{
    const char **name = utf8_texts(names), **value = utf8_texts(values);
    okra_status st = OKRA_OK;
    for (R_xlen_t i = 0; i < XLENGTH(names) && st == OKRA_OK; i++) {
        st = okra_options_set(options, name[i], value[i]);
    }
    return st;
}

/* ---- what there is ---- */

SEXP C_version(void)
{
    SEXP out = PROTECT(Rf_allocVector(STRSXP, 2));
    SET_STRING_ELT(out, 0, Rf_mkChar(okra_version()));
    SET_STRING_ELT(out, 1, Rf_mkCharCE(okra_build_info(), CE_UTF8));
    UNPROTECT(1);
    return out;
}

/* Names, with their help as names of the vector. */
SEXP C_listing(SEXP what)
{
    const char *topic = CHAR(STRING_ELT(what, 0));
    const char *(*name)(size_t, const char **, const okra_option_table **) =
        strcmp(topic, "kernels") == 0    ? okra_kernel_name
        : strcmp(topic, "methods") == 0  ? okra_method_name
        : strcmp(topic, "decoders") == 0 ? okra_decoder_name
                                         : okra_metric_name;
    size_t count = 0;
    const char *help;
    const okra_option_table *table;
    while (name(count, &help, &table)) {
        count++;
    }
    SEXP out = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)count));
    SEXP texts = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)count));
    for (size_t k = 0; k < count; k++) {
        SET_STRING_ELT(out, (R_xlen_t)k, Rf_mkChar(name(k, &help, &table)));
        SET_STRING_ELT(texts, (R_xlen_t)k, Rf_mkCharCE(help ? help : "", CE_UTF8));
    }
    Rf_setAttrib(out, R_NamesSymbol, texts);
    UNPROTECT(2);
    return out;
}

/* Rows of the tables of a topic: owner, name, default, choices, help. */
SEXP C_options(SEXP topic)
{
    static const char *const names[] = {"of", "option", "default", "choices", "help"};
    size_t tables, count = 0;
    const okra_option_table *const *table =
        okra_option_tables(CHAR(STRING_ELT(topic, 0)), &tables);
    for (size_t t = 0; t < tables; t++) {
        for (const okra_option *row = table[t]->rows; row && row->name; row++) {
            count++;
        }
    }
    SEXP out = PROTECT(named_list(names, 5));
    for (int k = 0; k < 5; k++) {
        SET_VECTOR_ELT(out, k, Rf_allocVector(STRSXP, (R_xlen_t)count));
    }
    R_xlen_t i = 0;
    for (size_t t = 0; t < tables; t++) {
        for (const okra_option *row = table[t]->rows; row && row->name; row++, i++) {
            const char *const cells[] = {table[t]->owner, row->name, row->preset,
                                         row->choices, row->help};
            for (int k = 0; k < 5; k++) {
                SEXP cell = cells[k] ? Rf_mkCharCE(cells[k], CE_UTF8) : NA_STRING;
                SET_STRING_ELT(VECTOR_ELT(out, k), i, cell);
            }
        }
    }
    UNPROTECT(1);
    return out;
}

/* ---- registration ---- */

#define ENTRY(name, count)            \
    {                                 \
#name, (DL_FUNC)(name), count \
    }
static const R_CallMethodDef entries[] = {
    ENTRY(C_context, 1),
    ENTRY(C_warnings, 1),
    ENTRY(C_version, 0),
    ENTRY(C_listing, 1),
    ENTRY(C_options, 1),
    ENTRY(C_dense, 4),
    ENTRY(C_sparse, 6),
    ENTRY(C_bits, 2),
    ENTRY(C_labels, 3),
    ENTRY(C_gram_rows, 3),
    ENTRY(C_strings, 2),
    ENTRY(C_smiles, 3),
    ENTRY(C_sequences, 2),
    ENTRY(C_tuple, 1),
    ENTRY(C_weigh, 2),
    ENTRY(C_take, 2),
    ENTRY(C_read, 4),
    ENTRY(C_write, 3),
    ENTRY(C_are_classes, 1),
    ENTRY(C_objects, 1),
    ENTRY(C_data_about, 1),
    ENTRY(C_label_names, 1),
    ENTRY(C_fit, 6),
    ENTRY(C_predict, 6),
    ENTRY(C_classes, 4),
    ENTRY(C_leave, 2),
    ENTRY(C_save, 5),
    ENTRY(C_load, 2),
    ENTRY(C_model_about, 1),
    ENTRY(C_model_data, 2),
    ENTRY(C_select, 6),
    ENTRY(C_selection_about, 1),
    ENTRY(C_selection_options, 2),
    ENTRY(C_gram, 4),
    ENTRY(C_score, 4),
    {NULL, NULL, 0},
};

void R_init_okra(DllInfo *dll);
void R_init_okra(DllInfo *dll)
{
    R_registerRoutines(dll, NULL, entries, NULL, NULL);
    R_useDynamicSymbols(dll, FALSE);
    R_forceSymbols(dll, TRUE);
}
