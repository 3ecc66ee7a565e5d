/*
 * sets_out.c: objects as text and JSON, and the tables of prediction sets and intervals.
 */
#include "predict/sets_job.h"

#include <stdlib.h>
#include <string.h>

/* Each entry of a sparse vector, each 1 of bits. */
typedef void (*entry_fn)(void *user, okra_int j, double value);
static void each_entry(const okra_data *data, okra_int i, entry_fn entry, void *user)
{
    const okra_int *indices = NULL;
    const double *values = NULL;
    okra_int words = 0;
    const okra_int *indptr = okra_data_compressed(data, &indices, &values);
    const uint64_t *bits = indptr ? NULL : okra_data_words(data, &words);
    for (okra_int k = indptr ? indptr[i] : 0; indptr && k < indptr[i + 1]; k++) {
        entry(user, indices[k], values[k]);
    }
    for (okra_int j = 0; bits && j < okra_data_width(data); j++) {
        if (bits[i * words + j / 64] >> (j % 64) & 1) {
            entry(user, j, 1);
        }
    }
}

typedef struct printing {
    FILE *out;
    bool dense;
    okra_int count;
} printing;

static void print_entry(void *user, okra_int j, double value)
{
    printing *p = user;
    fputs(p->count++ > 0 ? " " : "", p->out);
    if (!p->dense) {
        fprintf(p->out, "%lld", (long long)j);
    }
    if (p->dense || value < 1 || value > 1) {
        fprintf(p->out, "%s%.17g", p->dense ? "" : ":", value);
    }
}

void cli_print_vector(FILE *out, const okra_data *data, okra_int i)
{
    okra_int ld = 0;
    const double *values = okra_data_values(data, &ld);
    printing p = {out, values != NULL, 0};
    for (okra_int j = 0; values && j < okra_data_width(data); j++) {
        print_entry(&p, j, values[i * ld + j]);
    }
    each_entry(data, i, print_entry, &p);
}

static void print_point(FILE *out, uint32_t c)
{
    if (c < 0x80) {
        fputc((int)c, out);
    } else if (c < 0x800) {
        fprintf(out, "%c%c", (int)(0xc0 | c >> 6), (int)(0x80 | (c & 0x3f)));
    } else if (c < 0x10000) {
        fprintf(out, "%c%c%c", (int)(0xe0 | c >> 12), (int)(0x80 | (c >> 6 & 0x3f)),
                (int)(0x80 | (c & 0x3f)));
    } else {
        fprintf(out, "%c%c%c%c", (int)(0xf0 | c >> 18), (int)(0x80 | (c >> 12 & 0x3f)),
                (int)(0x80 | (c >> 6 & 0x3f)), (int)(0x80 | (c & 0x3f)));
    }
}

void cli_print_object(FILE *out, const okra_data *data, okra_int i, char separator)
{
    okra_int length = 0;
    bool quoted = false;
    const char *text = okra_data_text(data, i, &length);
    const int32_t *points = text ? NULL : okra_data_characters(data, i, &length);
    length = text || points ? length : 0;
    for (okra_int k = 0; separator == ',' && k < length; k++) {
        uint32_t c = text ? (unsigned char)text[k] : (uint32_t)points[k];
        quoted |= c == ',' || c == '"';
    }
    fputs(quoted ? "\"" : "", out);
    for (okra_int k = 0; k < length; k++) {
        uint32_t c = text ? (unsigned char)text[k] : (uint32_t)points[k];
        if (separator && (c < 32 || c == 127)) {
            fprintf(out, "\\x%02x", c);
            continue;
        }
        fputs(c == '"' && quoted ? "\"" : "", out);
        if (text) {
            fputc((int)c, out);
        } else {
            print_point(out, c);
        }
    }
    fputs(quoted ? "\"" : "", out);
}

json_t *cli_object_text(const okra_data *data, okra_int i)
{
    char *text = NULL;
    size_t size = 0;
    json_t *value = NULL;
    FILE *out = open_memstream(&text, &size);
    if (out) {
        cli_print_object(out, data, i, '\0');
        long wrote = ftell(out); /* it does not tell what it loses for want of memory */
        bool whole = !ferror(out);
        whole = fclose(out) == 0 && whole && text && wrote >= 0 && (size_t)wrote == size;
        value = whole ? json_stringn(text, size) : NULL;
    }
    if (!value) {
        cli_lose();
    }
    free(text);
    return value;
}

static void set_entry(void *user, okra_int j, double value)
{
    char key[32];
    snprintf(key, sizeof key, "%lld", (long long)j);
    json_object_set_new(user, key, json_real(value));
}

json_t *cli_object_json(const okra_data *data, okra_int i)
{
    okra_int ld = 0, length = 0;
    okra_kind kind = okra_data_kind(data);
    const double *values = okra_data_values(data, &ld);
    const okra_int *codes = okra_data_codes(data);
    if (values || kind == OKRA_SPARSE || kind == OKRA_BITS) {
        json_t *list = values ? json_array() : json_object();
        for (okra_int k = 0; values && k < okra_data_width(data); k++) {
            json_array_append_new(list, json_real(values[i * ld + k]));
        }
        each_entry(data, i, set_entry, list);
        return list;
    }
    if (okra_data_text(data, i, &length) || okra_data_characters(data, i, &length)) {
        return cli_object_text(data, i);
    }
    return codes ? json_integer((json_int_t)codes[i]) : json_null();
}

typedef struct member {
    okra_int candidate;
    double p;
} member;

/* The largest p-value first; equal ones in the order of the candidates. */
static int by_p(const void *a, const void *b)
{
    const member *p = a, *q = b;
    if (p->p != q->p) {
        return p->p > q->p ? -1 : 1;
    }
    return (p->candidate > q->candidate) - (p->candidate < q->candidate);
}

/* The members of the set of test t, most plausible first; returns their number. */
static okra_int members(const cli_sets_job *j, okra_int t, double alpha, member *out)
{
    okra_int count = 0;
    for (okra_int c = 0; c < j->count; c++) {
        double p = j->p[t * j->count + c];
        if (p > alpha) {
            out[count++] = (member){c, p};
        }
    }
    qsort(out, (size_t)count, sizeof *out, by_p);
    return count;
}

static void print_member(FILE *out, const cli_sets_job *j, okra_int t, const member *m,
                         char sep)
{
    fprintf(out, "%lld%c%lld%c", (long long)t, sep, (long long)j->row[m->candidate], sep);
    cli_print_object(out, j->candidates, m->candidate, sep);
    fprintf(out, "%c%.17g\n", sep, m->p);
}

int cli_sets_write_members(cli_run *run, const cli_sets_job *j, const char *output,
                           okra_int *size, okra_int *single)
{
    bool reject = j->f->reject > 0;
    OWNED member *list = NULL;
    cli_table t;
    MAKE(list, j->count);
    CHK(cli_table_open(run, output, "test,candidate,object,p_value\n", &t));
    for (okra_int i = 0; i < j->tests; i++) {
        okra_int count = members(j, i, reject ? j->f->reject : j->f->set, list);
        *size += count;
        *single += count == 1;
        for (okra_int k = 0; k < count && (!reject || count == 1); k++) {
            print_member(t.out, j, i, &list[k], t.mark);
        }
    }
    return cli_file_close(run, t.file, CLI_DONE);
}

int cli_sets_write_cube(cli_run *run, const double *values, okra_int n, okra_int d,
                        const char *path)
{
    char head[128];
    cli_table t;
    CHK(cli_table_open(run, path, "", &t));
    int used = snprintf(head, sizeof head,
                        "{'descr': '<f8', 'fortran_order': False, 'shape': (%lld, %lld, "
                        "2), }",
                        (long long)n, (long long)d);
    int size = (10 + used + 1 + 63) / 64 * 64 - 10; /* the values begin at 64 bytes */
    fwrite("\x93NUMPY\x01", 1, 7, t.out);
    fprintf(t.out, "%c%c%c%s%*s\n", 0, size & 255, size >> 8, head, size - used - 1, "");
    fwrite(values, sizeof *values, (size_t)(n * d) * 2, t.out);
    return cli_file_close(run, t.file, CLI_DONE);
}

int cli_sets_write_intervals(cli_run *run, const cli_sets_job *j, const char *output,
                             const double *bounds, const double *radius, okra_int d)
{
    cli_table t;
    CHK(cli_table_open(run, output, "test,output,lower,upper,radius\n", &t));
    for (okra_int k = 0; k < j->tests * d; k++) {
        fprintf(t.out, "%lld%c%lld%c%.17g%c%.17g%c%.17g\n", (long long)(k / d), t.mark,
                (long long)(k % d), t.mark, bounds[2 * k], t.mark, bounds[2 * k + 1],
                t.mark, radius[k / d]);
    }
    return cli_file_close(run, t.file, CLI_DONE);
}
