/*
 * journal.c: finished cells on file, so that an interrupted selection goes on where it
 * stopped. The first line names the work by a fingerprint of options, data and seed; each
 * further line is one cell, with 17 digits of its numbers and the CRC-32 of what it says.
 * Lines are appended one by one; a last line that was cut short is dropped.
 */
#include "select/select.h"
#include "okra/more/group.h"

#include <unistd.h>
#include <zlib.h>

enum { MORE = 5 };

typedef struct entry {
    okra_int outer, count;
    char *name;
    double *values; /* count values, then MORE: mean, error, gcv, closed, threshold */
} entry;

struct okra_journal_ {
    char *path; /* NULL: in memory alone */
    uint64_t fingerprint;
    entry *entries;
    okra_int count, room, loaded, saved; /* the first `loaded` are sorted */
};

/* ---- fingerprint ---- */

static uint64_t mix_ints(uint64_t h, const okra_int *p, okra_int count)
{
    return p ? okra_mix_(h, p, (size_t)count * sizeof *p) : h;
}

static uint64_t mix_links(uint64_t h, const okra_link_source_ *links)
{
    const okra_link_task *task = links->task;
    double beta = links->settings->beta;
    char known = links->settings->known;
    h = okra_data_mix_(okra_data_mix_(h, task->x), task->gram);
    h = mix_ints(h, task->labelled, task->labelled_count);
    for (okra_int k = 0; k < task->edge_count; k++) {
        okra_int ends[] = {task->edges[k].a, task->edges[k].b};
        h = okra_mix_(mix_ints(h, ends, 2), &task->edges[k].value, sizeof(double));
    }
    return okra_mix_(okra_mix_(h, &beta, sizeof beta), &known, 1);
}

uint64_t okra_fingerprint_(const okra_options *options, const okra_pairs_ *source,
                           uint64_t seed)
{
    uint64_t h = okra_mix_(OKRA_MIX_START_, &seed, sizeof seed);
    const char *version = okra_version();
    const okra_select_request *request = source->request;
    h = okra_options_mix_(okra_mix_(h, version, strlen(version)), options);
    const okra_data *all[] = {source->x,      source->y,       request->candidates,
                              request->folds, request->groups, request->strata};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        h = okra_data_mix_(h, all[i]);
    }
    if (request->window && request->window->within) {
        h = okra_mix_(h, request->window->within, strlen(request->window->within));
    }
    return source->links ? mix_links(h, source->links) : h;
}

/* ---- entries ---- */

static int by_name(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    return x->outer != y->outer ? (x->outer < y->outer ? -1 : 1)
                                : strcmp(x->name, y->name);
}

/* Takes over name and values on success. */
static okra_status append(okra_journal_ *j, okra_int outer, char *name, double *values,
                          okra_int count)
{
    EXTEND(j->entries, j->count, j->room, 16);
    j->entries[j->count++] =
        (entry){.outer = outer, .count = count, .name = name, .values = values};
    return OKRA_OK;
}

bool okra_journal_find_(const okra_journal_ *j, okra_int outer, const char *name,
                        okra_int values, okra_cell_ *cell)
{
    entry key = {.outer = outer, .name = (char *)(uintptr_t)name};
    const entry *e =
        j->loaded ? bsearch(&key, j->entries, (size_t)j->loaded, sizeof *e, by_name)
                  : NULL;
    if (!e || e->count != values) {
        return false;
    }
    memcpy(cell->values, e->values, (size_t)values * sizeof *cell->values);
    cell->mean = e->values[values];
    cell->error = e->values[values + 1];
    cell->gcv = e->values[values + 2];
    cell->closed = e->values[values + 3] != 0;
    cell->threshold = e->values[values + 4];
    return true;
}

okra_status okra_journal_add_(okra_journal_ *j, okra_int outer, const char *name,
                              okra_int values, const okra_cell_ *cell)
{
    OWNED char *copy = okra_strdup_(name);
    OWNED double *numbers = NULL;
    GOT(copy);
    MAKE(numbers, values + MORE);
    memcpy(numbers, cell->values, (size_t)values * sizeof *numbers);
    numbers[values] = cell->mean;
    numbers[values + 1] = cell->error;
    numbers[values + 2] = cell->gcv;
    numbers[values + 3] = cell->closed;
    numbers[values + 4] = cell->threshold;
    CHK(append(j, outer, copy, numbers, values));
    copy = NULL;
    numbers = NULL;
    return OKRA_OK;
}

okra_int okra_journal_count_(const okra_journal_ *j)
{
    return j->count;
}

/* ---- the file ---- */

static okra_status read_line(okra_journal_ *j, const json_t *line)
{
    const json_t *list = json_object_get(line, "values");
    const char *cell = json_string_value(json_object_get(line, "cell"));
    OWNED char *name = NULL;
    OWNED double *values = NULL;
    okra_int count = (okra_int)json_array_size(list) - MORE;
    REFUSE_IF(!cell || count < 1, OKRA_EFORMAT, "expected a cell and its values");
    GOT(name = okra_strdup_(cell));
    MAKE(values, count + MORE);
    for (okra_int i = 0; i < count + MORE; i++) {
        const json_t *v = json_array_get(list, (size_t)i);
        values[i] = json_is_number(v) ? json_number_value(v) : (double)NAN;
    }
    CHK(append(j, (okra_int)json_integer_value(json_object_get(line, "outer")), name,
               values, count));
    name = NULL;
    values = NULL;
    return OKRA_OK;
}

/* A line is BEFORE, eight hexadecimal digits, BETWEEN, what it says, "}". */
#define BEFORE "{\"crc32\": \""
#define BETWEEN "\", \"record\": "
enum { AT_CRC = sizeof BEFORE - 1, AT_RECORD = AT_CRC + 8 + sizeof BETWEEN - 1 };

/* Whether p..stop is a line whose sum is right; what it says is then *length from
 * p + AT_RECORD on. */
static bool right_line(const char *p, const char *stop, size_t *length)
{
    char sum[12];
    if (stop - p < AT_RECORD + 1 || memcmp(p, BEFORE, AT_CRC) != 0 ||
        memcmp(p + AT_CRC + 8, BETWEEN, sizeof BETWEEN - 1) != 0 || stop[-1] != '}') {
        return false;
    }
    *length = (size_t)(stop - p) - AT_RECORD - 1;
    uLong crc = crc32_z(0, (const Bytef *)p + AT_RECORD, *length);
    snprintf(sum, sizeof sum, "%08lx", crc);
    return memcmp(p + AT_CRC, sum, 8) == 0;
}

/* One line of the file out of what it says; NULL on failure. */
static char *make_line(const char *record)
{
    uLong crc = crc32_z(0, (const Bytef *)record, strlen(record));
    return okra_format_(BEFORE "%08lx" BETWEEN "%s}\n", crc, record);
}

static okra_status read_lines(okra_journal_ *j, const okra_bytes_ *bytes)
{
    okra_status st = OKRA_OK;
    const char *p = (const char *)bytes->p, *end = p + bytes->size;
    for (okra_int number = 1; p < end; number++) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        size_t length = 0;
        if (!stop && number > 1) {
            break; /* cut short */
        }
        if (!stop || !right_line(p, stop, &length)) {
            if (number > 1 && stop + 1 == end) {
                break; /* the last one, in part */
            }
            REFUSE_IF(number == 1, OKRA_EFORMAT, "not the finished work of a selection");
            return okra_fail_(OKRA_EFORMAT,
                              "line %lld was altered: its CRC-32 is another",
                              (long long)number);
        }
        json_t *line = json_loadb(p + AT_RECORD, length, 0, NULL);
        if (number == 1) {
            char hex[24];
            const char *mark = json_string_value(json_object_get(line, "okra-select"));
            snprintf(hex, sizeof hex, "%016llx", (unsigned long long)j->fingerprint);
            if (!mark) {
                st = okra_fail_(OKRA_EFORMAT, "not the finished work of a selection");
            } else if (strcmp(mark, hex) != 0) {
                st = okra_fail_(OKRA_EARG, "holds work on other data, other options, "
                                           "another seed or another version: remove it, "
                                           "or name another file");
            }
        } else if (!line) {
            st = okra_fail_(OKRA_EFORMAT, "line %lld is not JSON", (long long)number);
        } else {
            st = read_line(j, line);
        }
        json_decref(line);
        CHK(st);
        p = stop + 1;
    }
    return OKRA_OK;
}

OKRA_DROPS_(drop_journal, okra_journal_, okra_journal_free_)

okra_status okra_journal_open_(okra_context *ctx, const char *path, uint64_t fingerprint,
                               okra_journal_ **out)
{
    okra_status st = OKRA_OK;
    FREED_BY(drop_journal) okra_journal_ *j = NULL;
    FREED_BY(okra_bytes_close_) okra_bytes_ bytes = {0};
    ZMAKE(j, 1);
    j->fingerprint = fingerprint;
    if (path) {
        GOT(j->path = okra_strdup_(path));
        bool there = false;
        st = okra_bytes_there_(path, &there);
        if (there && st == OKRA_OK) {
            CHK(okra_bytes_open_(ctx, path, &bytes));
            st = read_lines(j, &bytes);
        }
        if (st != OKRA_OK && st != OKRA_EMEM) {
            okra_message_prefix_("%s", path);
        }
        CHK(st);
        OKRA_SORT_(j->entries, j->count, by_name);
        j->loaded = j->count;
        CHK(okra_context_finish_together(ctx, OKRA_OK, NULL)); /* all have read it */
        if (!okra_context_is_primary(ctx)) {
            okra_free_at_(&j->path);
        } else { /* written anew: a line that was cut short goes */
            CHK(okra_journal_save_(j, path));
        }
        j->saved = j->count;
    }
    *out = TAKE(j);
    return OKRA_OK;
}

void okra_journal_free_(okra_journal_ *j)
{
    if (j) {
        for (okra_int i = 0; i < j->count; i++) {
            FREE(j->entries[i].name, j->entries[i].values);
        }
        FREE(j->entries, j->path, j);
    }
}

/* The line of an entry. */
static okra_status put_entry(const entry *e, char **text)
{
    enum { NUMBER = 32 }; /* bytes of one, with what comes between */
    FREED_BY(okra_json_drop_) json_t *line = json_object();
    OWNED char *record = NULL;
    okra_int room = 6 * (okra_int)strlen(e->name) + NUMBER * (e->count + MORE) + 100;
    json_t *values = json_array();
    CHK(okra_json_set_(line, "values", values));
    CHK(okra_json_set_(line, "outer", json_integer(e->outer)));
    CHK(okra_json_set_(line, "cell", json_string(e->name)));
    for (okra_int i = 0; i < e->count + MORE; i++) {
        double v = e->values[i];
        GOT(json_array_append_new(values, isfinite(v) ? json_real(v) : json_null()) == 0);
    }
    MAKE(record, room);
    record[json_dumpb(line, record, (size_t)room - 1, JSON_REAL_PRECISION(17))] = '\0';
    GOT(*text = make_line(record));
    return OKRA_OK;
}

OKRA_DROPS_(drop_file, FILE, fclose)

/* New lines at the end of the file. */
static okra_status append_lines(okra_journal_ *j)
{
    FREED_BY(drop_file) FILE *file = fopen(j->path, "ab");
    OWNED char *text = NULL;
    bool good = file != NULL;
    for (okra_int i = j->saved; good && i < j->count; i++) {
        CHK(put_entry(&j->entries[i], &text));
        good = fputs(text, file) >= 0;
        okra_free_at_(&text);
    }
    good = good && fflush(file) == 0 && fsync(fileno(file)) == 0;
    REFUSE_IF(!good, OKRA_EIO, "%s: %s", j->path, strerror(errno));
    j->saved = j->count;
    return OKRA_OK;
}

okra_status okra_journal_save_(okra_journal_ *j, const char *path)
{
    FREED_BY(okra_writer_drop_) okra_writer_ *w = NULL;
    OWNED char *text = NULL;
    char mark[64];
    if (!path) {
        return j->path ? append_lines(j) : OKRA_OK;
    }
    CHK(okra_writer_open_(path, &w));
    snprintf(mark, sizeof mark, "{\"okra-select\": \"%016llx\"}",
             (unsigned long long)j->fingerprint);
    text = make_line(mark);
    GOT(text);
    CHK(okra_writer_put_(w, text, strlen(text)));
    okra_free_at_(&text);
    for (okra_int i = 0; i < j->count; i++) {
        CHK(put_entry(&j->entries[i], &text));
        CHK(okra_writer_put_(w, text, strlen(text)));
        okra_free_at_(&text);
    }
    return okra_writer_commit_(TAKE(w));
}
