/*
 * stream_json.c: okra predict --stream: JSON lines in, JSON lines out.
 *
 *     {"id": 7, "x": [0.1, 0.2]}   ->   {"id": 7, "y": [1.5]}
 *     "a string"                   ->   {"y": "gnirts a"}
 *
 * A line is an input, or an object whose "x" is one; "id" comes back as it was. Vectors
 * are arrays of numbers, sparse ones (and sets of labels that come out) objects {"index":
 * value} counted from 0, strings and molecules (SMILES) texts. A line that cannot be
 * answered gets {"error": "..."}; the others are not held up by it.
 */
#include "predict/stream.h"
#include "predict/sets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct row {
    json_t *id, *x; /* borrowed from `line` */
    json_t *line;
    char error[300];
    okra_int at; /* its place among those that are predicted, or -1 */
} row;

typedef struct batch {
    cli_run *run;
    const cli_stream *s;
    row *rows;
    int count;
    char kind[20]; /* of the model's inputs */
    okra_int width;
} batch;

/* ---- in ---- */

static void wrong(row *r, const char *text)
{
    snprintf(r->error, sizeof r->error, "%s", text);
    r->at = -1;
}

static void check_vector(const batch *b, row *r)
{
    size_t k;
    json_t *value;
    if (!json_is_array(r->x) || (okra_int)json_array_size(r->x) != b->width) {
        snprintf(r->error, sizeof r->error, "expected an array of %lld numbers",
                 (long long)b->width);
        return;
    }
    json_array_foreach(r->x, k, value)
    {
        if (!json_is_number(value)) {
            snprintf(r->error, sizeof r->error, "element %zu is no number", k);
        }
    }
}

static void check_sparse(row *r)
{
    const char *key;
    json_t *value;
    if (!json_is_object(r->x)) {
        wrong(r, "expected an object {\"index\": value}");
    }
    json_object_foreach(r->x, key, value)
    {
        size_t digits = strspn(key, "0123456789");
        bool plain = digits > 0 && digits < 19 && !key[digits] &&
                     (digits == 1 || *key != '0'); /* one way to write a number */
        if (!plain || !json_is_number(value)) {
            wrong(r, "expected indices from 0 and numbers, {\"3\": 1.5}");
        }
    }
}

static void check_row(const batch *b, row *r)
{
    if (strcmp(b->kind, "dense") == 0) {
        check_vector(b, r);
    } else if (strcmp(b->kind, "sparse") == 0) {
        check_sparse(r);
    } else if (!json_is_string(r->x)) {
        wrong(r, "expected a text");
    }
}

static void read_row(const batch *b, const char *text, row *r)
{
    enum { PARSED = 160 }; /* bytes that one of JSON may become in memory */
    json_error_t where;
    *r = (row){.at = -1};
    if (strlen(text) > (size_t)okra_context_memory(b->run->context) / PARSED) {
        wrong(r, "the line is too long for the memory budget");
        return;
    }
    r->line = json_loads(text, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &where);
    if (!r->line) {
        snprintf(r->error, sizeof r->error, "no JSON: %s", where.text);
        return;
    }
    json_t *x = json_is_object(r->line) ? json_object_get(r->line, "x") : NULL;
    r->id = json_is_object(r->line) ? json_object_get(r->line, "id") : NULL;
    r->x = x ? x : r->line;
    if (!x && json_is_object(r->line) && strcmp(b->kind, "sparse") != 0) {
        wrong(r, "the object has no \"x\"");
        return;
    }
    check_row(b, r);
}

/* ---- rows that are predicted together ---- */

static okra_status make_dense(const batch *b, const row *const *rows, okra_int n,
                              double **values, okra_data **out)
{
    *values = cli_alloc((size_t)(n * b->width) + 1, sizeof **values);
    for (okra_int i = 0; *values && i < n * b->width; i++) {
        const json_t *x = rows[i / b->width]->x;
        (*values)[i] = json_number_value(json_array_get(x, (size_t)(i % b->width)));
    }
    return *values ? okra_data_dense(*values, n, b->width, b->width, out) : OKRA_EMEM;
}

static okra_status make_texts(const batch *b, const row *const *rows, okra_int n,
                              okra_data **out)
{
    const char **texts = cli_alloc((size_t)n + 1, sizeof *texts);
    okra_status st = texts ? OKRA_OK : OKRA_EMEM;
    for (okra_int i = 0; texts && i < n; i++) {
        texts[i] = json_string_value(rows[i]->x);
    }
    if (st == OKRA_OK) {
        st = strcmp(b->kind, "strings") == 0
                 ? okra_data_strings(texts, n, out)
                 : okra_data_smiles(b->run->context, texts, n, out);
    }
    free(texts);
    return st;
}

static int by_index(const void *a, const void *b)
{
    okra_int i = *(const okra_int *)a, j = *(const okra_int *)b;
    return (i > j) - (i < j);
}

static okra_status make_sparse(const row *const *rows, okra_int n, okra_data **out)
{
    size_t total = 0;
    okra_int width = 1;
    for (okra_int i = 0; i < n; i++) {
        total += json_object_size(rows[i]->x);
    }
    okra_int *indptr = cli_alloc((size_t)n + 1, sizeof *indptr);
    okra_int *indices = cli_alloc(total + 1, sizeof *indices);
    double *values = cli_alloc(total + 1, sizeof *values);
    okra_status st = indptr && indices && values ? OKRA_OK : OKRA_EMEM;
    for (okra_int i = 0; st == OKRA_OK && i < n; i++) {
        okra_int at = indptr[i];
        const char *key;
        json_t *value;
        json_object_foreach(rows[i]->x, key, value)
        {
            indices[at++] = strtoll(key, NULL, 10);
        }
        qsort(indices + indptr[i], (size_t)(at - indptr[i]), sizeof *indices, by_index);
        for (okra_int k = indptr[i]; k < at; k++) {
            char name[24];
            snprintf(name, sizeof name, "%lld", (long long)indices[k]);
            values[k] = json_number_value(json_object_get(rows[i]->x, name));
            width = indices[k] + 1 > width ? indices[k] + 1 : width;
        }
        indptr[i + 1] = at;
    }
    st = st ? st : okra_data_sparse(indptr, indices, values, n, width, out);
    okra_data *owned = NULL;
    if (st == OKRA_OK && (st = okra_data_copy(*out, &owned)) == OKRA_OK) {
        okra_data_free(*out);
        *out = owned;
    }
    free(indptr);
    free(indices);
    free(values);
    return st;
}

static okra_status predict(const batch *b, const row *const *rows, okra_int n,
                           okra_prediction **out)
{
    okra_data *x = NULL;
    double *values = NULL;
    okra_predict_request request = {OKRA_SIZED(okra_predict_request),
                                    .candidates = b->s->candidates};
    okra_status st = strcmp(b->kind, "dense") == 0 ? make_dense(b, rows, n, &values, &x)
                     : strcmp(b->kind, "sparse") == 0 ? make_sparse(rows, n, &x)
                                                      : make_texts(b, rows, n, &x);
    st = st ? st
            : okra_predict(b->run->context, b->s->model, x, b->run->library, &request,
                           out);
    okra_data_free(x);
    free(values);
    return st;
}

/* ---- out ---- */

static json_t *ranked_json(const batch *b, const okra_prediction *p, okra_int i)
{
    okra_int top = 0;
    const okra_int *index = okra_prediction_index(p, &top);
    const double *distance = okra_prediction_distance(p, &top);
    const okra_data *made = okra_prediction_proposals(p);
    const okra_data *set = made               ? made
                           : b->s->candidates ? b->s->candidates
                                              : okra_model_outputs(b->s->model);
    json_t *list = json_array();
    for (okra_int k = i * top; index && k < (i + 1) * top && index[k] >= 0; k++) {
        okra_int given = made        ? k - i * top /* whatever other lines came with it */
                         : b->s->row ? b->s->row[index[k]]
                                     : index[k];
        json_array_append_new(list, json_pack("{s:I, s:f, s:o}", "candidate",
                                              (json_int_t)given, "distance", distance[k],
                                              "y", cli_object_json(set, index[k])));
    }
    return list;
}

static int print_row(const batch *b, const row *r, const okra_prediction *p)
{
    json_t *line = json_object();
    if (r->id) {
        json_object_set(line, "id", r->id);
    }
    if (r->at < 0) {
        json_object_set_new(line, "error", json_string(r->error));
    } else {
        json_object_set_new(line, "y",
                            cli_object_json(okra_prediction_objects(p), r->at));
        if (b->s->top > 0) {
            json_object_set_new(line, "top", ranked_json(b, p, r->at));
        }
    }
    int failed = json_dumpf(line, stdout, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(line);
    failed |= putchar('\n') == EOF;
    return failed || cli_json_lost()
               ? cli_failure(b->run, "standard output cannot be written")
               : CLI_DONE;
}

/* One after the other: what is wrong with one is told of that one. */
static int answer_singly(const batch *b)
{
    int status = CLI_DONE;
    for (int i = 0; i < b->count && status == CLI_DONE; i++) {
        const row *r = &b->rows[i];
        okra_prediction *p = NULL;
        if (!*r->error) {
            okra_status st = predict(b, &r, 1, &p);
            if (st == OKRA_ECANCELLED) {
                return cli_status(b->run, st);
            }
            if (st == OKRA_OK) {
                b->rows[i].at = 0;
            } else {
                wrong(&b->rows[i], okra_message());
            }
        }
        status = print_row(b, r, p);
        okra_prediction_free(p);
    }
    return status;
}

static int answer_all(const batch *b)
{
    const row **good = cli_alloc((size_t)b->count + 1, sizeof *good);
    okra_prediction *p = NULL;
    okra_int n = 0;
    int status = good ? CLI_DONE : cli_failure(b->run, "out of memory");
    for (int i = 0; good && i < b->count; i++) {
        if (!*b->rows[i].error) {
            b->rows[i].at = n;
            good[n++] = &b->rows[i];
        }
    }
    bool done = status == CLI_DONE && (n == 0 || predict(b, good, n, &p) == OKRA_OK);
    for (int i = 0; done && i < b->count && status == CLI_DONE; i++) {
        status = print_row(b, &b->rows[i], p);
    }
    status = status || done ? status : answer_singly(b);
    okra_prediction_free(p);
    free(good);
    return status;
}

/* What inputs of the model are. */
static void open_batch(cli_run *run, const cli_stream *s, batch *b)
{
    json_t *about = json_loads(okra_model_json(s->model), 0, NULL);
    const json_t *x = json_object_get(about, "x");
    const char *kind = json_string_value(json_object_get(x, "kind"));
    *b = (batch){.run = run, .s = s};
    snprintf(b->kind, sizeof b->kind, "%s", kind ? kind : "");
    b->width = (okra_int)json_integer_value(json_object_get(x, "width"));
    json_decref(about);
}

int cli_stream_check(cli_run *run, const cli_stream *s, bool json)
{
    batch b;
    okra_prediction *none = NULL;
    open_batch(run, s, &b);
    bool lines = strcmp(b.kind, "dense") == 0 || strcmp(b.kind, "sparse") == 0 ||
                 strcmp(b.kind, "strings") == 0 || strcmp(b.kind, "graphs") == 0;
    if (!lines && !json) {
        return CLI_DONE;
    }
    if (!lines) {
        return cli_failure(run,
                           "--stream takes vectors, strings and molecules; the "
                           "inputs of this model are of kind %s",
                           b.kind);
    }
    int status = cli_status(run, predict(&b, NULL, 0, &none));
    okra_prediction_free(none);
    return status;
}

int cli_stream_answer(cli_run *run, cli_stream *s, char **lines, int count)
{
    batch b;
    open_batch(run, s, &b);
    b.count = count;
    b.rows = cli_alloc((size_t)count, sizeof *b.rows);
    if (!b.rows) {
        return cli_failure(run, "out of memory");
    }
    for (int i = 0; i < count; i++) {
        read_row(&b, lines[i], &b.rows[i]);
    }
    int status = answer_all(&b);
    for (int i = 0; i < count; i++) {
        s->failed += b.rows[i].at < 0;
        json_decref(b.rows[i].line);
    }
    free(b.rows);
    fflush(stdout);
    return status;
}
