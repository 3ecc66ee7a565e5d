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
    char error[300]; /* "": there is an answer */
} row;

/* What inputs of the model are. */
typedef struct reader {
    cli_run *run;
    const cli_stream *s;
    char kind[20];
    okra_int width;
} reader;

/* ---- in ---- */

static void wrong(row *r, const char *text)
{
    snprintf(r->error, sizeof r->error, "%s", text);
}

static void check_vector(const reader *b, row *r)
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

static void check_row(const reader *b, row *r)
{
    if (strcmp(b->kind, "dense") == 0) {
        check_vector(b, r);
    } else if (strcmp(b->kind, "sparse") == 0) {
        check_sparse(r);
    } else if (!json_is_string(r->x)) {
        wrong(r, "expected a text");
    }
}

static void read_row(const reader *b, const char *text, row *r)
{
    enum { PARSED = 160 }; /* bytes that one of JSON may become in memory */
    json_error_t where;
    *r = (row){.id = NULL};
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

/* ---- a prediction ---- */

static okra_status make_dense(const json_t *x, okra_int n, okra_int width,
                              double **values, okra_data **out)
{
    *values = cli_alloc((size_t)width + 1, sizeof **values);
    for (okra_int j = 0; *values && j < width; j++) {
        (*values)[j] = json_number_value(json_array_get(x, (size_t)j));
    }
    return *values ? okra_data_dense(*values, n, width, width, out) : OKRA_EMEM;
}

static int by_index(const void *a, const void *b)
{
    okra_int i = *(const okra_int *)a, j = *(const okra_int *)b;
    return (i > j) - (i < j);
}

static okra_status make_sparse(json_t *x, okra_int n, okra_data **out)
{
    const char *key;
    json_t *value;
    OWNED_DATA *view = NULL;
    okra_int indptr[] = {0, 0}, width = 1;
    OWNED okra_int *indices = cli_alloc(json_object_size(x) + 1, sizeof *indices);
    OWNED double *values = cli_alloc(json_object_size(x) + 1, sizeof *values);
    if (!indices || !values) {
        return OKRA_EMEM;
    }
    json_object_foreach(x, key, value)
    {
        indices[indptr[1]++] = strtoll(key, NULL, 10);
    }
    qsort(indices, (size_t)indptr[1], sizeof *indices, by_index);
    for (okra_int k = 0; k < indptr[1]; k++) {
        char name[24];
        snprintf(name, sizeof name, "%lld", (long long)indices[k]);
        values[k] = json_number_value(json_object_get(x, name));
        width = indices[k] + 1 > width ? indices[k] + 1 : width;
    }
    CHK(okra_data_sparse(indptr, indices, values, n, width, &view));
    return okra_data_copy(view, out);
}

/* Of one input; `x` is NULL: of none. */
static okra_status predict(const reader *b, json_t *x, okra_prediction **out)
{
    OWNED_DATA *data = NULL;
    OWNED double *values = NULL;
    okra_predict_request request = {OKRA_SIZED(okra_predict_request),
                                    .candidates = b->s->candidates};
    const char *text = json_string_value(x);
    okra_int n = x != NULL;
    CHK(strcmp(b->kind, "dense") == 0    ? make_dense(x, n, b->width, &values, &data)
        : strcmp(b->kind, "sparse") == 0 ? make_sparse(x, n, &data)
        : strcmp(b->kind, "strings") == 0
            ? okra_data_strings(&text, n, &data)
            : okra_data_smiles(b->run->context, &text, n, &data));
    return okra_predict(b->run->context, b->s->model, data, b->run->library, &request,
                        out);
}

/* ---- out ---- */

static json_t *ranked_json(const reader *b, const okra_prediction *p)
{
    okra_int top = 0;
    const okra_int *index = okra_prediction_index(p, &top);
    const double *distance = okra_prediction_distance(p, &top);
    const okra_data *made = okra_prediction_proposals(p);
    const okra_data *set = made               ? made
                           : b->s->candidates ? b->s->candidates
                                              : okra_model_outputs(b->s->model);
    json_t *list = json_array();
    for (okra_int k = 0; index && k < top && index[k] >= 0; k++) {
        okra_int given = made ? k : b->s->row ? b->s->row[index[k]] : index[k];
        json_array_append_new(list, json_pack("{s:I, s:f, s:o}", "candidate",
                                              (json_int_t)given, "distance", distance[k],
                                              "y", cli_object_json(set, index[k])));
    }
    return list;
}

static int print_row(const reader *b, const row *r, const okra_prediction *p)
{
    json_t *line = json_object();
    if (r->id) {
        json_object_set(line, "id", r->id);
    }
    if (*r->error) {
        json_object_set_new(line, "error", json_string(r->error));
    } else {
        json_object_set_new(line, "y", cli_object_json(okra_prediction_objects(p), 0));
        if (b->s->top > 0) {
            json_object_set_new(line, "top", ranked_json(b, p));
        }
    }
    int failed = json_dumpf(line, stdout, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(line);
    failed |= putchar('\n') == EOF;
    return failed || cli_json_lost()
               ? cli_failure(b->run, "standard output cannot be written")
               : CLI_DONE;
}

static void open_reader(cli_run *run, const cli_stream *s, reader *b)
{
    json_t *about = json_loads(okra_model_json(s->model), 0, NULL);
    const json_t *x = json_object_get(about, "x");
    const char *kind = json_string_value(json_object_get(x, "kind"));
    *b = (reader){.run = run, .s = s};
    snprintf(b->kind, sizeof b->kind, "%s", kind ? kind : "");
    b->width = (okra_int)json_integer_value(json_object_get(x, "width"));
    json_decref(about);
}

int cli_stream_check(cli_run *run, const cli_stream *s, bool json)
{
    reader b;
    FREED_BY(okra_prediction_free_at) okra_prediction *none = NULL;
    open_reader(run, s, &b);
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
    return cli_status(run, predict(&b, NULL, &none));
}

int cli_stream_answer(cli_run *run, cli_stream *s, const char *line)
{
    static reader b; /* read once for a model */
    static const okra_model *model;
    row r;
    FREED_BY(okra_prediction_free_at) okra_prediction *p = NULL;
    if (model != s->model) {
        open_reader(run, s, &b);
        model = s->model;
    }
    b.run = run;
    b.s = s;
    read_row(&b, line, &r);
    okra_status st = *r.error ? OKRA_OK : predict(&b, r.x, &p);
    if (st != OKRA_OK) {
        wrong(&r, okra_message());
    }
    int status = st == OKRA_ECANCELLED ? cli_status(run, st) : print_row(&b, &r, p);
    s->failed += *r.error != '\0';
    json_decref(r.line);
    fflush(stdout);
    return status;
}
