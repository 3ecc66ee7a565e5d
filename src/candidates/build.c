/*
 * build.c: an index is made shard by shard.
 *
 * A shard is read, computed on all threads, sorted by mass and written whole; then the
 * next. Memory: one shard, and 16 to 32 bytes a candidate to know repeats by. PATH.part
 * becomes PATH when all is there; what an interrupted run of the same settings and source
 * left in it is kept.
 */
#include "candidates/index.h"
#include "data/files/archive.h"

#include <jansson.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- a shard: its candidates by mass, their features, coordinates of low rank ---- */

static int by_mass(const void *a, const void *b)
{
    const okra_entry_ *const *x = a, *const *y = b;
    if ((*x)->mass != (*y)->mass) {
        return (*x)->mass < (*y)->mass ? -1 : 1;
    }
    return ((*x)->place > (*y)->place) - ((*x)->place < (*y)->place);
}

/* What a shard is written from. */
typedef struct arrays {
    const okra_entry_ **order;
    void *blocks[OKRA_SHARD_ARRAYS_];
    int count;
} arrays;

static void clear_arrays(arrays *a)
{
    while (a->count > 0) {
        okra_free_(a->blocks[--a->count]);
    }
    okra_free_(a->order);
}

/* A block, all 0, that is freed with the others. */
static void *block_of(arrays *a, okra_int count, size_t size)
{
    return a->blocks[a->count++] = okra_zalloc_(count, size);
}

/* The SMILES, a blank, the name; where it ends. */
static uint64_t put_text(const okra_build_ *b, const okra_entry_ *e, char *text,
                         uint64_t at)
{
    if (e->smiles > 0) {
        memcpy(text + at, b->source.p + e->place, (size_t)e->smiles);
        at += (uint64_t)e->smiles;
    }
    if (e->named > 0) {
        if (!b->vectors) {
            text[at++] = ' ';
        }
        memcpy(text + at, b->source.p + e->name, (size_t)e->named);
        at += (uint64_t)e->named;
    }
    return at;
}

static okra_status sort_rows(const okra_build_ *b, okra_shard_ *s, arrays *a)
{
    okra_int rows = 0;
    uint64_t texts = 0, *key, *formula, *place, *end, *row, *where;
    double *mass, *values;
    char *text;
    MAKE(a->order, b->count);
    for (okra_int k = 0; k < b->count; k++) {
        if (!b->entry[k].dropped) {
            a->order[rows++] = &b->entry[k];
            texts += (uint64_t)b->entry[k].smiles + (uint64_t)b->entry[k].named + 1;
        }
    }
    OKRA_SORT_(a->order, rows, by_mass);
    GOT(s->mass = mass = block_of(a, rows, sizeof *mass));
    GOT(s->values = values = block_of(a, rows * b->columns, sizeof *values));
    GOT(s->key = key = block_of(a, rows, sizeof *key));
    GOT(s->formula = formula = block_of(a, rows, sizeof *formula));
    GOT(s->place = place = block_of(a, rows, sizeof *place));
    GOT(s->end = end = block_of(a, rows, sizeof *end));
    GOT(s->row = row = block_of(a, rows, sizeof *row));
    GOT(s->where = where = block_of(a, b->count, sizeof *where));
    GOT(s->text = text = block_of(a, (okra_int)texts, sizeof *text));
    texts = 0;
    for (okra_int k = 0; k < rows; k++) {
        const okra_entry_ *e = a->order[k];
        texts = put_text(b, e, text, texts);
        mass[k] = e->mass;
        key[k] = e->key;
        formula[k] = e->formula;
        place[k] = e->place;
        end[k] = texts;
        row[k] = s->head.first + (uint64_t)(e - b->entry);
        where[e - b->entry] = (uint64_t)k + 1;
        for (int c = 0; c < b->columns; c++) {
            values[k * b->columns + c] = b->values[(e - b->entry) * b->columns + c];
        }
        s->head.massless += !(e->mass > 0);
    }
    s->head.columns = (uint64_t)b->columns;
    s->head.rows = (uint64_t)rows;
    s->head.texts = texts;
    return OKRA_OK;
}

/* The bits of a leaf, or the vectors. */
static okra_status sort_words(const okra_build_ *b, int leaf, okra_shard_ *s, arrays *a)
{
    const okra_data *v = b->vectors;
    okra_int rows = (okra_int)s->head.rows;
    okra_int words = v ? v->d : okra_bit_words_(&b->kernel, leaf);
    uint64_t *bits = block_of(a, rows * words, sizeof *bits);
    GOT(bits);
    for (okra_int k = 0; k < rows; k++) {
        const okra_entry_ *e = a->order[k];
        const void *from = v ? (const void *)(v->values + (okra_int)e->place * v->ld)
                             : b->rows[leaf] + (e - b->entry) * words;
        memcpy(bits + k * words, from, (size_t)words * sizeof *bits);
    }
    s->head.words[leaf] = (uint64_t)words;
    s->bits[leaf] = bits;
    return OKRA_OK;
}

static okra_status sort_counts(const okra_build_ *b, int leaf, okra_shard_ *s, arrays *a)
{
    okra_int rows = (okra_int)s->head.rows, used = 0;
    uint64_t *ends = block_of(a, rows, sizeof *ends);
    okra_count_ *counts = NULL;
    GOT(ends);
    for (int pass = 0; pass < 2; pass++) { /* how many, then which */
        for (okra_int k = 0; k < rows; k++) {
            const okra_entry_ *e = a->order[k];
            const okra_csr_ *list = &b->lists[leaf][e->lists];
            okra_int i = e - b->entry - e->lists;
            okra_int begin = list->indptr[i], end = list->indptr[i + 1];
            if (pass == 0) {
                used += end - begin;
                ends[k] = (uint64_t)used;
                continue;
            }
            okra_count_ *out = counts + ends[k] - (end - begin);
            for (okra_int at = begin; at < end; at++) {
                *out++ = (okra_count_){(uint32_t)list->indices[at],
                                       (uint32_t)list->values[at]};
            }
        }
        if (pass == 0) {
            GOT(counts = block_of(a, used, sizeof *counts));
        }
    }
    s->head.pairs[leaf] = (uint64_t)used;
    s->bits[leaf] = ends;
    s->counts[leaf] = counts;
    return OKRA_OK;
}

/* Features of the sorted rows, and their coordinates of low rank. */
static okra_status sort_features(const okra_build_ *b, okra_shard_ *s, arrays *a)
{
    enum { PANEL = 8192 };
    okra_int rows = (okra_int)s->head.rows;
    float *low;
    s->head.leaves = b->bits ? (uint32_t)b->kernel.leaves : b->vectors ? 1 : 0;
    CHK(b->vectors ? sort_words(b, 0, s, a) : OKRA_OK);
    for (int leaf = 0; b->bits && leaf < b->kernel.leaves; leaf++) {
        CHK(b->kernel.counts[leaf] ? sort_counts(b, leaf, s, a)
                                   : sort_words(b, leaf, s, a));
    }
    s->head.rank = (uint64_t)b->rank;
    GOT(s->low = low = block_of(a, rows * okra_low_width_(b->rank), sizeof *low));
    for (okra_int first = 0; b->rank > 0 && first < rows; first += PANEL) {
        okra_int count = OKRA_MIN_(PANEL, rows - first);
        FREED_BY(okra_data_drop_) okra_data *data = NULL;
        CHK(okra_shard_data_(b->ctx, b->bits ? &b->kernel : NULL, b->vectors != NULL, s,
                             NULL, first, count, &data));
        CHK(okra_index_low_(b->ctx, b->bound, data, b->basis, b->rank,
                            low + first * okra_low_width_(b->rank)));
    }
    return OKRA_OK;
}

/* Sorts the entries that are kept, computes low rank and writes the shard */
static okra_status write_shard(const okra_build_ *b, const char *path, okra_shard_ *s)
{
    FREED_BY(clear_arrays) arrays a = {.order = NULL};
    CHK(sort_rows(b, s, &a));
    CHK(sort_features(b, s, &a));
    return okra_shard_write_(path, s);
}

/* ---- the index ---- */

enum { SHARD = 250000, SHARDS_MOST = 100000 };

static void release(okra_build_ *b)
{
    okra_free_(b->part);
    okra_build_drop_lists_(b);
    okra_trained_kernel_free_(b->own);
    okra_data_free(b->outputs);
    okra_bit_kernel_close_(&b->kernel); /* which the bound kernel borrows */
    okra_bytes_close_(&b->source);
    okra_data_free(b->vectors);
    FREE(b->seen.slots, b->basis, b->entry, b->values);
    for (int leaf = 0; leaf < OKRA_LEAVES_MOST_; leaf++) {
        FREE(b->rows[leaf], b->lists[leaf]);
    }
    for (int k = 0; k < b->columns; k++) {
        okra_free_(b->names[k]);
    }
}

/* ---- settings ---- */

static okra_status open_kernel(okra_build_ *b)
{
    const okra_index_request *r = b->request;
    const char *why = "";
    const char *own = b->output ? b->output->kernel->text : NULL;
    const char *text = r->ky ? r->ky : own;
    REFUSE_IF(!text, OKRA_EARG,
              "an index needs an output kernel, or a model that has one");
    CHK(okra_bit_kernel_open_(text, &b->kernel, &b->bits, &why));
    REFUSE_IF(own && strcmp(own, b->kernel.kernel->text) != 0, OKRA_EARG,
              "the output kernel is %s, that of the model %s", b->kernel.kernel->text,
              own);
    if (!b->bits && !okra_build_of_vectors_(r->source)) {
        okra_warn_(b->ctx,
                   "the index will hold no features of %s: %s; candidates are read again "
                   "when they are ranked",
                   b->kernel.kernel->text, why);
    }
    return OKRA_OK;
}

static okra_status open_low(okra_build_ *b)
{
    const okra_output_ *o = b->output;
    if (b->request->rank == 0) {
        return OKRA_OK;
    }
    okra_kind kind = b->vectors ? OKRA_DENSE : OKRA_GRAPHS;
    REFUSE_IF(!o || o->y->kind != kind || (b->vectors && o->y->d != b->vectors->d),
              OKRA_EARG,
              "low rank needs a model whose outputs are %s, as the candidates are",
              b->vectors ? "vectors of as many numbers" : "molecules");
    b->rank = b->request->rank;
    b->bound = o->ky;
    if (b->bits) {
        CHK(okra_bit_molecules_(b->ctx, &b->kernel, o->y, &b->outputs));
        CHK(okra_trained_kernel_create_(b->ctx, b->kernel.of_bits, b->outputs, &b->own));
        b->bound = b->own;
    }
    return okra_index_basis_(b->ctx, o, &b->rank, &b->basis);
}

/* What a shard of an earlier run must agree with. */
static okra_status stamp_of(okra_build_ *b)
{
    struct stat info = {0};
    const char *text = b->kernel.kernel->text;
    REFUSE_IF(!b->vectors && stat(b->request->source, &info) != 0, OKRA_EIO,
              "%s: cannot be read: %s", b->request->source, strerror(errno));
    int64_t numbers[] = {info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec,
                         b->shard, b->rank};
    b->stamp = okra_mix_(OKRA_MIX_START_, text, strlen(text));
    b->stamp = okra_mix_(b->stamp, numbers, sizeof numbers);
    if (b->vectors) {
        b->stamp = okra_data_mix_(b->stamp, b->vectors);
        b->stamp = okra_mix_(b->stamp, b->source.p, (size_t)b->source.size);
    }
    for (int k = 0; k < b->columns; k++) {
        b->stamp = okra_mix_(b->stamp, b->names[k], strlen(b->names[k]) + 1);
    }
    if (b->basis) {
        uint64_t outputs = okra_index_outputs_(b->output);
        b->stamp = okra_mix_(b->stamp, &outputs, sizeof outputs);
    }
    return OKRA_OK;
}

/* Room for the entries of one shard and their features. */
static okra_status open_room(okra_build_ *b)
{
    /* A line has two bytes at least. */
    okra_int lines = b->vectors ? b->vectors->n : b->source.size / 2 + 1;
    okra_int room = OKRA_MIN_(b->shard, lines);
    okra_int numbers = b->columns + (b->vectors ? b->vectors->d : 0);
    CHK(okra_budget_ask_(
        b->ctx, (double)room * ((double)sizeof *b->entry + 8.0 * (double)numbers),
        "%lld candidates", (long long)room));
    MAKE(b->entry, room);
    MAKE(b->values, room * b->columns);
    for (int leaf = 0; b->bits && leaf < b->kernel.leaves; leaf++) {
        okra_int words = okra_bit_words_(&b->kernel, leaf);
        if (b->kernel.counts[leaf]) {
            ZMAKE(b->lists[leaf], room);
            continue;
        }
        CHK(okra_budget_ask_(b->ctx, 16.0 * (double)room * (double)words,
                             "the bits of %lld candidates", (long long)room));
        MAKE(b->rows[leaf], room * words);
    }
    return OKRA_OK;
}

/* The folder of unfinished work: the caller's own. */
static okra_status open_part(okra_build_ *b)
{
    struct stat info;
    GOT(b->part = okra_format_("%s.part", b->request->path));
    REFUSE_IF((mkdir(b->part, 0777) != 0 && errno != EEXIST) ||
                  lstat(b->part, &info) != 0,
              OKRA_EIO, "%s: cannot be made: %s", b->part, strerror(errno));
    REFUSE_IF(!S_ISDIR(info.st_mode) || info.st_uid != geteuid(), OKRA_EIO,
              "%s is no folder of yours, where an index is made: remove it", b->part);
    return OKRA_OK;
}

/* The name of a file in it, which is a plain file or not there: neither a link nor a pipe
 * is read or written. */
static okra_status name_file(const okra_build_ *b, const char *name, char **out)
{
    struct stat info;
    OWNED char *path = okra_format_("%s/%s", b->part, name);
    GOT(path);
    bool there = lstat(path, &info) == 0;
    REFUSE_IF(there ? !S_ISREG(info.st_mode) : errno != ENOENT, OKRA_EIO,
              "%s is no plain file: remove it", path);
    okra_free_(*out);
    *out = TAKE(path);
    return OKRA_OK;
}

static okra_status open_build(okra_build_ *b, okra_lines_ *lines)
{
    const okra_index_request *r = b->request;
    size_t length = strlen(r->path);
    struct stat info;
    REFUSE_IF(length < 5 || strcmp(r->path + length - 4, ".okx") != 0, OKRA_EARG,
              "%s: the name of an index ends in .okx", r->path);
    REFUSE_IF(r->rank < 0 || r->shard < 0, OKRA_EARG,
              "the rank or the size of shards is negative");
    REFUSE_IF(stat(r->path, &info) == 0, OKRA_EIO, "%s is there already", r->path);
    b->shard = r->shard > 0 ? r->shard : SHARD;
    CHK(open_kernel(b));
    CHK(okra_build_of_vectors_(r->source)
            ? okra_build_vectors_(b)
            : okra_bytes_open_(b->ctx, r->source, &b->source));
    CHK(open_low(b));
    *lines = okra_lines_begin_(&b->source);
    CHK(okra_build_header_(b, lines));
    CHK(stamp_of(b));
    CHK(open_part(b));
    return open_room(b);
}

/* ---- one shard ---- */

static okra_status make_shard(okra_build_ *b, const char *path, okra_shard_ *s)
{
    okra_int broken = b->faults->count;
    CHK(okra_build_features_(b));
    s->head.broken = (uint64_t)(b->faults->count - broken);
    CHK(okra_build_repeats_(b, &s->head.repeated, &s->head.apart));
    CHK(write_shard(b, path, s));
    okra_build_drop_lists_(b); /* else with the build */
    return OKRA_OK;
}

/* A shard that an earlier run left, if it is the one wanted here. */
static okra_status kept_shard(okra_build_ *b, const char *path, const okra_shard_ *want,
                              okra_shard_head_ *head, bool *found)
{
    FREED_BY(okra_shard_close_) okra_shard_ s = {.mass = NULL};
    *found = access(path, F_OK) == 0 && okra_shard_open_(b->ctx, path, &s) == OKRA_OK;
    *found = *found && s.head.stamp == want->head.stamp &&
             s.head.begin == want->head.begin && s.head.end == want->head.end &&
             okra_shard_check_(&s, path) == OKRA_OK;
    for (uint64_t k = 0; *found && k < s.head.rows; k++) {
        okra_int places = b->vectors ? b->vectors->n : b->source.size;
        uint64_t place = ((const volatile uint64_t *)s.place)[k];
        REFUSE_IF(place >= (uint64_t)places, OKRA_EFORMAT,
                  "%s: a place beyond the end of the source", path);
        CHK(b->vectors ? OKRA_OK : okra_build_remember_(b, s.key[k], place));
    }
    if (*found) {
        *head = s.head;
    }
    return OKRA_OK;
}

static void add_up(okra_index_report *r, const okra_shard_head_ *h)
{
    r->lines += (okra_int)h->lines;
    r->kept += (okra_int)h->rows;
    r->broken += (okra_int)h->broken;
    r->repeated += (okra_int)h->repeated;
    r->apart += (okra_int)h->apart;
    r->massless += (okra_int)h->massless;
    r->shards++;
}

static uint64_t where(const okra_build_ *b, const okra_lines_ *lines)
{
    return (uint64_t)(b->vectors ? b->next : lines->p - (const char *)b->source.p);
}

static okra_status all_shards(okra_build_ *b, okra_lines_ *lines)
{
    OWNED char *path = NULL;
    char name[32];
    okra_int before = 0;
    for (;;) {
        okra_shard_ s = {.mass = NULL};
        bool found = false;
        s.head.stamp = b->stamp;
        s.head.begin = where(b, lines);
        okra_build_lines_(b, lines);
        s.head.end = where(b, lines);
        s.head.first = (uint64_t)before;
        s.head.lines = (uint64_t)b->count;
        before += b->count;
        if (b->count == 0) {
            break;
        }
        REFUSE_IF(b->report.shards == SHARDS_MOST, OKRA_EARG,
                  "%s: more than %d shards of %lld candidates: make them larger",
                  b->request->source, SHARDS_MOST, (long long)b->shard);
        snprintf(name, sizeof name, "shard-%05d", (int)b->report.shards);
        CHK(name_file(b, name, &path));
        CHK(okra_cancelled_(b->ctx));
        CHK(kept_shard(b, path, &s, &s.head, &found));
        b->report.resumed += found;
        if (!found) {
            CHK(make_shard(b, path, &s));
        }
        add_up(&b->report, &s.head);
    }
    REFUSE_IF(b->report.kept == 0, OKRA_EFORMAT, "%s: there is no %s in the file",
              b->request->source, b->vectors ? "vector of finite numbers" : "molecule");
    return OKRA_OK;
}

/* Files that a run of other settings left are none of this index. */
static void drop_stale(const okra_build_ *b)
{
    for (okra_int k = b->report.shards; k < SHARDS_MOST; k++) {
        char *path = okra_format_("%s/shard-%05d", b->part, (int)k);
        bool gone = !path || unlink(path) != 0;
        okra_free_(path);
        if (gone) {
            return;
        }
    }
}

/* ---- the description ---- */

static okra_status write_basis(okra_build_ *b)
{
    FREED_BY(okra_data_drop_) okra_data *data = NULL;
    OWNED char *path = NULL;
    okra_int n = b->bound->train.n;
    CHK(okra_data_dense(b->basis, n, b->rank, b->rank, &data));
    CHK(name_file(b, "basis.npy", &path));
    CHK(okra_data_write(b->ctx, data, path));
    return okra_file_crc_(b->ctx, path, &b->basis_crc);
}

static okra_status write_about(const okra_build_ *b)
{
    FREED_BY(okra_writer_drop_) okra_writer_ *w = NULL;
    FREED_BY(okra_json_drop_) json_t *about = NULL;
    const okra_index_report *r = &b->report;
    OWNED char *path = NULL, *text = NULL;
    char model[32];
    uint32_t seal = 0;
    snprintf(model, sizeof model, "%llu",
             b->rank > 0 ? (unsigned long long)okra_index_outputs_(b->output) : 0);
    about = json_pack(
        "{s:s, s:i, s:s, s:b, s:I, s:I, s:I, s:I, s:s, s:[], s:{s:I, s:I, s:I, s:I, s:I, "
        "s:b}}",
        "okra", "index", "version", OKRA_INDEX_VERSION_, "kernel", b->kernel.kernel->text,
        "bits", b->bits, "width", (json_int_t)(b->vectors ? b->vectors->d : 0), "count",
        (json_int_t)r->kept, "shards", (json_int_t)r->shards, "rank", (json_int_t)b->rank,
        "outputs", model, "columns", "source", "lines", (json_int_t)r->lines, "broken",
        (json_int_t)r->broken, "repeated", (json_int_t)r->repeated, "apart",
        (json_int_t)r->apart, "massless", (json_int_t)r->massless, "whole", r->whole);
    CHK(name_file(b, "index.json", &path));
    GOT(about);
    for (int k = 0; k < b->columns; k++) {
        REFUSE_IF(json_array_append_new(json_object_get(about, "columns"),
                                        json_string(b->names[k])) != 0,
                  OKRA_EMEM, "%s: there is no memory for its columns", path);
    }
    if (b->vectors && !isnan(b->level)) {
        CHK(okra_json_set_(about, "level", json_real(b->level)));
    }
    CHK(okra_json_set_(about, "basis", json_integer((json_int_t)b->basis_crc)));
    CHK(okra_index_seal_(about, &seal));
    CHK(okra_json_set_(about, "seal", json_integer((json_int_t)seal)));
    CHK(okra_json_text_(about, &text));
    CHK(okra_writer_open_(path, &w));
    CHK(okra_writer_printf_(w, "%s\n", text));
    return okra_writer_commit_(TAKE(w));
}

static okra_status run(okra_build_ *b)
{
    okra_lines_ lines = {.p = NULL};
    CHK(open_build(b, &lines));
    CHK(all_shards(b, &lines));
    drop_stale(b);
    b->report.width = b->vectors ? b->vectors->d : 0;
    CHK(b->basis ? write_basis(b) : OKRA_OK);
    CHK(write_about(b));
    REFUSE_IF(rename(b->part, b->request->path) != 0, OKRA_EIO, "%s: cannot be made: %s",
              b->request->path, strerror(errno));
    okra_faults_end_(b->faults, b->vectors ? "vectors" : "lines",
                     b->report.lines - b->faults->count);
    return OKRA_OK;
}

okra_status okra_index_make_(okra_context *context, const okra_index_request *request,
                             const okra_output_ *output, okra_index_report *report)
{
    okra_faults_ faults = {.ctx = context, .name = request->source, .level = 0};
    FREED_BY(release)
    okra_build_ b = {.ctx = context,
                     .request = request,
                     .output = output,
                     .faults = &faults,
                     .mass = -1};
    NOT_NULL(request->source, request->path);
    if (report) {
        SIZED(report, &b.report);
    }
    b.report = (okra_index_report){OKRA_SIZED(okra_index_report), .whole = true};
    okra_status st = run(&b);
    if (st == OKRA_OK && report) {
        b.report.size = report->size; /* the caller's header may be older */
        memcpy(report, &b.report, OKRA_MIN_(report->size, sizeof b.report));
    }
    if (b.part && b.report.resumed == 0 && (st == OKRA_EFORMAT || st == OKRA_EARG)) {
        b.report.shards = 0; /* the source or the settings must change: none will serve */
        drop_stale(&b);
    }
    if (b.part && st != OKRA_OK) {
        (void)rmdir(b.part); /* where it is empty */
    }
    return st;
}
