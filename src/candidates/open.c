/*
 * open.c: an index on disk, mapped, and which of its candidates is a given object.
 */
#include "data/files/archive.h"
#include "candidates/set.h"
#include "okra/more/objects.h"

#include <jansson.h>
#include <sys/stat.h>
#include <zlib.h>

enum { SHARDS_MOST = 100000, ABOUT_MOST = 1 << 16 };

void okra_index_free(okra_index *index)
{
    if (!index) {
        return;
    }
    for (int k = 0; k < index->shards && index->shard; k++) {
        okra_shard_close_(&index->shard[k]);
    }
    FREE(index->shard, index->first, index->basis, index->path, index->kernel);
    for (int k = 0; k < index->columns; k++) {
        okra_free_(index->column[k]);
    }
    okra_free_(index);
}

/* A pipe or a device in place of a file would be read for ever. */
static okra_status ordinary(const char *file)
{
    struct stat info;
    REFUSE_IF(stat(file, &info) == 0 && !S_ISREG(info.st_mode), OKRA_EFORMAT,
              "%s is no ordinary file", file);
    return OKRA_OK;
}

static okra_status is_one(const char *path, bool good)
{
    REFUSE_IF(!good, OKRA_EFORMAT, "%s: index.json does not describe an index", path);
    return OKRA_OK;
}

static int add_crc(const char *text, size_t size, void *crc)
{
    *(uint32_t *)crc = (uint32_t)crc32_z(*(uint32_t *)crc, (const void *)text, size);
    return 0;
}

okra_status okra_index_seal_(json_t *about, uint32_t *out)
{
    json_t *seal = json_incref(json_object_get(about, "seal"));
    uint32_t crc = 0;
    json_object_del(about, "seal");
    int failed = json_dump_callback(about, add_crc, &crc, JSON_COMPACT | JSON_SORT_KEYS);
    if (seal) {
        json_object_set_new(about, "seal", seal);
    }
    REFUSE_IF(failed, OKRA_EMEM, "there is no memory for the checksum of an index");
    *out = crc;
    return OKRA_OK;
}

/* OKRA_EFORMAT: somebody altered the description. */
static okra_status check_seal(json_t *about, const char *path)
{
    uint32_t seal = 0;
    CHK(okra_index_seal_(about, &seal));
    REFUSE_IF(json_integer_value(json_object_get(about, "seal")) != (json_int_t)seal,
              OKRA_EFORMAT, "%s: the checksum of index.json is wrong", path);
    return OKRA_OK;
}

static okra_status take_columns(const json_t *columns, const char *path, okra_index *x)
{
    size_t k;
    json_t *name;
    CHK(is_one(path,
               json_is_array(columns) && json_array_size(columns) <= OKRA_COLUMNS_MOST_));
    json_array_foreach(columns, k, name)
    {
        size_t length = json_string_length(name);
        CHK(is_one(path, length >= 1 && length <= 63));
        GOT(x->column[x->columns] = okra_strdup_(json_string_value(name)));
        x->columns++;
    }
    return OKRA_OK;
}

static okra_status take_about(const json_t *about, const char *path, okra_index *x)
{
    const char *what = json_string_value(json_object_get(about, "okra"));
    const char *kernel = json_string_value(json_object_get(about, "kernel"));
    const char *outputs = json_string_value(json_object_get(about, "outputs"));
    json_int_t shards = json_integer_value(json_object_get(about, "shards"));
    x->width = json_integer_value(json_object_get(about, "width")); /* 0: none */
    x->count = json_integer_value(json_object_get(about, "count"));
    x->rank = json_integer_value(json_object_get(about, "rank"));
    x->bits = json_is_true(json_object_get(about, "bits"));
    json_int_t version = json_integer_value(json_object_get(about, "version"));
    REFUSE_IF(what && strcmp(what, "index") == 0 && version != OKRA_INDEX_VERSION_,
              OKRA_EFORMAT,
              "%s is an index of version %lld, expected %d: make it again with 'okra "
              "index'",
              path, (long long)version, OKRA_INDEX_VERSION_);
    CHK(is_one(path,
               !(!what || strcmp(what, "index") != 0 || !kernel || !outputs ||
                 shards < 1 || shards > SHARDS_MOST || x->count < 1 || x->rank < 0 ||
                 x->rank > 1 << 16 || x->width < 0 || x->width > 1 << 18)));
    CHK(take_columns(json_object_get(about, "columns"), path, x));
    x->basis_crc = json_integer_value(json_object_get(about, "basis"));
    x->model = strtoull(outputs, NULL, 10);
    json_t *level = json_object_get(about, "level");
    x->level = json_is_number(level) ? json_number_value(level) : (double)NAN;
    x->kernel = okra_strdup_(kernel);
    x->path = okra_strdup_(path);
    GOT(x->kernel && x->path);
    x->shards = (int)shards;
    ZMAKE(x->shard, shards);
    ZMAKE(x->first, shards + 1);
    return OKRA_OK;
}

static okra_status read_about(const okra_context *ctx, const char *path, okra_index *x)
{
    FREED_BY(okra_bytes_close_) okra_bytes_ bytes = {0};
    FREED_BY(okra_json_drop_) json_t *about = NULL;
    OWNED char *file = okra_format_("%s/index.json", path);
    GOT(file);
    CHK(ordinary(file));
    CHK(okra_bytes_open_(ctx, file, &bytes));
    CHK(is_one(path, bytes.size <= ABOUT_MOST));
    CHK(okra_budget_ask_(ctx, 2.0 * OKRA_JSON_PARSED_ * (double)bytes.size, "%s", file));
    about = json_loadb((const char *)bytes.p, (size_t)bytes.size, 0, NULL);
    CHK(is_one(path, json_is_object(about)));
    CHK(take_about(about, path, x));
    return check_seal(about, path);
}

/* Every shard holds the features that the description says. */
static okra_status check_shard(const okra_index *x, const okra_bit_kernel_ *k, int which)
{
    const okra_shard_head_ *h = &x->shard[which].head;
    bool vectors = x->width > 0;
    bool good = h->rank == (uint64_t)x->rank && h->columns == (uint64_t)x->columns &&
                h->leaves == (vectors ? 1 : (uint32_t)k->leaves) &&
                (!vectors || h->words[0] == (uint64_t)x->width);
    for (int leaf = 0; good && leaf < k->leaves; leaf++) {
        uint64_t words = k->counts[leaf] ? 0 : (uint64_t)okra_bit_words_(k, leaf);
        good = h->words[leaf] == words;
    }
    REFUSE_IF(!good, OKRA_EFORMAT, "%s: shard %d does not hold the features of %s",
              x->path, which, x->kernel);
    return OKRA_OK;
}

static okra_status open_shards(const okra_context *ctx, okra_index *x)
{
    FREED_BY(okra_bit_kernel_close_) okra_bit_kernel_ k = {0};
    const char *why = NULL;
    uint64_t lines = 0;
    bool bits = false;
    okra_status st = okra_bit_kernel_open_(x->kernel, &k, &bits, &why);
    if (st == OKRA_EARG) {
        okra_message_prefix_("%s", x->path);
        st = OKRA_EFORMAT;
    }
    CHK(st);
    CHK(is_one(x->path, x->bits == bits && !(bits && x->width > 0)));
    k.leaves = bits ? k.leaves : 0;
    for (int s = 0; s < x->shards; s++) {
        OWNED char *file = okra_format_("%s/shard-%05d", x->path, s);
        GOT(file);
        CHK(ordinary(file));
        CHK(okra_shard_open_(ctx, file, &x->shard[s]));
        CHK(check_shard(x, &k, s));
        x->first[s + 1] = x->first[s] + (okra_int)x->shard[s].head.rows;
        REFUSE_IF(x->shard[s].head.first != lines, OKRA_EFORMAT,
                  "%s: it begins at row %llu, expected %llu", file,
                  (unsigned long long)x->shard[s].head.first, (unsigned long long)lines);
        lines += x->shard[s].head.lines;
    }
    REFUSE_IF(x->first[x->shards] != x->count, OKRA_EFORMAT,
              "%s: there are %lld candidates, expected %lld", x->path,
              (long long)x->first[x->shards], (long long)x->count);
    return OKRA_OK;
}

static okra_status read_basis(okra_context *ctx, okra_index *x)
{
    FREED_BY(okra_data_drop_) okra_data *data = NULL;
    OWNED char *file = okra_format_("%s/basis.npy", x->path);
    okra_int ld = 0;
    GOT(file);
    uint32_t crc = 0;
    CHK(ordinary(file));
    CHK(okra_file_crc_(ctx, file, &crc));
    REFUSE_IF(x->basis_crc != (int64_t)crc, OKRA_EFORMAT, "%s: the checksum is wrong",
              file);
    CHK(okra_data_read(ctx, file, &data));
    const double *values = okra_data_values(data, &ld);
    REFUSE_IF(!values || data->d != x->rank || data->kind != OKRA_DENSE, OKRA_EFORMAT,
              "%s: expected %lld columns", file, (long long)x->rank);
    x->outputs = data->n;
    CHK(okra_doubles_(ctx, data->n, x->rank, "the basis of an index", &x->basis));
    for (okra_int i = 0; i < data->n; i++) {
        memcpy(x->basis + i * x->rank, values + i * ld,
               (size_t)x->rank * sizeof *x->basis);
    }
    return OKRA_OK;
}

OKRA_DROPS_(drop_index, okra_index, okra_index_free)

okra_status okra_index_open(okra_context *context, const char *path, okra_index **out)
{
    FREED_BY(drop_index) okra_index *x = NULL;
    NOT_NULL(path, out);
    ZMAKE(x, 1);
    CHK(read_about(context, path, x));
    CHK(open_shards(context, x));
    if (x->rank > 0) {
        CHK(read_basis(context, x));
    }
    *out = TAKE(x);
    return OKRA_OK;
}

static okra_status check_some(void *arg, okra_int begin, okra_int end, int worker)
{
    const okra_index *x = arg;
    for (okra_int s = begin; s < end; s++) {
        OWNED char *file = okra_format_("%s/shard-%05d", x->path, (int)s);
        CHK(file ? okra_shard_check_(&x->shard[s], file) : OKRA_EMEM);
    }
    return OKRA_OK;
}

okra_status okra_index_check(okra_context *context, const okra_index *index)
{
    NOT_NULL(index);
    return okra_parallel_(context, index->shards, 1, "checksums", check_some,
                          (okra_index *)(uintptr_t)index);
}

okra_int okra_index_count(const okra_index *index)
{
    return index ? index->count : 0;
}

okra_int okra_index_rank(const okra_index *index)
{
    return index ? index->rank : 0;
}

okra_int okra_index_width(const okra_index *index)
{
    return index ? index->width : 0;
}

const char *okra_index_kernel(const okra_index *index, bool *bits)
{
    GIVE(bits, index && index->bits);
    return index ? index->kernel : NULL;
}

okra_int okra_index_lines(const okra_index *index)
{
    const okra_shard_head_ *last = index ? &index->shard[index->shards - 1].head : NULL;
    return last ? (okra_int)(last->first + last->lines) : 0;
}

/* The shard that has candidate i, and where; NULL: there is none. */
static const okra_shard_ *shard_of(const okra_index *x, okra_int i, okra_int *place)
{
    if (!x || i < 0 || i >= okra_index_lines(x)) {
        return NULL;
    }
    const okra_shard_ *s =
        x->shard + okra_run_of_(&x->shard[0].head.first, sizeof *s, x->shards, i);
    uint64_t line = (uint64_t)i - s->head.first;
    uint64_t where =
        line < s->head.lines ? ((const volatile uint64_t *)s->where)[line] : 0;
    if (where == 0 ||
        where > s->head.rows) { /* a number of the file, which is not trusted */
        return NULL;
    }
    *place = (okra_int)where - 1;
    return s;
}

const char *okra_index_text(const okra_index *index, okra_int i, okra_int *length)
{
    okra_int place = 0;
    const okra_shard_ *s = shard_of(index, i, &place);
    return s && length ? okra_shard_text_(s, place, length) : NULL;
}

double okra_index_mass(const okra_index *index, okra_int i)
{
    okra_int place = 0;
    const okra_shard_ *s = shard_of(index, i, &place);
    double mass = s ? s->mass[place] : 0;
    return mass > 0 && isfinite(mass) ? mass : 0;
}

bool okra_index_named(const okra_index *index)
{
    bool named = index && index->width == 0;
    for (int s = 0; index && !named && s < index->shards; s++) {
        named = index->shard[s].head.texts > 0;
    }
    return named;
}

int okra_index_columns(const okra_index *index)
{
    return index ? index->columns : 0;
}

const char *okra_index_column(const okra_index *index, int column)
{
    return index && column >= 0 && column < index->columns ? index->column[column] : NULL;
}

double okra_index_value(const okra_index *index, okra_int i, int column)
{
    okra_int place = 0;
    const okra_shard_ *s = shard_of(index, i, &place);
    return s && okra_index_column(index, column)
               ? s->values[place * index->columns + column]
               : (double)NAN;
}

/* ---- which candidate is a given molecule, or vector ---- */

/* Is a row of a shard that molecule? */
static okra_status is_row(okra_context *ctx, const okra_shard_ *s, okra_int row,
                          const okra_data *molecules, okra_int k, bool *same)
{
    FREED_BY(okra_data_drop_) okra_data *one = NULL;
    bool sure;
    CHK(okra_shard_molecules_(ctx, s, &row, 0, 1, &one));
    return okra_molecules_same_(one, 0, molecules, k, same, &sure);
}

static bool same_values(const double *a, const double *b, okra_int width)
{
    okra_int j = 0;
    while (j < width && a[j] == b[j]) {
        j++;
    }
    return j == width;
}

/* Which of the vectors wanted, sorted by key, is a row of a shard? */
static void look_up(const okra_index *x, int shard, okra_int row, const okra_data *data,
                    const okra_keyed_ *want, okra_int *number)
{
    const okra_shard_ *s = &x->shard[shard];
    const double *values = (const double *)(const void *)s->bits[0] + row * x->width;
    okra_int low = 0, high = data->n;
    while (low < high) {
        okra_int middle = low + (high - low) / 2;
        bool below = want[middle].key < s->key[row];
        low = below ? middle + 1 : low;
        high = below ? high : middle;
    }
    for (; low < data->n && want[low].key == s->key[row]; low++) {
        okra_int k = want[low].at;
        okra_int found = (okra_int)s->row[row];
        if ((number[k] < 0 || found < number[k]) &&
            same_values(values, data->values + k * data->ld, x->width)) {
            number[k] = found;
        }
    }
}

OKRA_ORDER_(by_key, okra_keyed_, OKRA_UP_(key), OKRA_UP_(at))

/* Every row of the index looked up among the vectors wanted. */
static okra_status find_vectors(const okra_index *x, const okra_data *data,
                                okra_int *number)
{
    OWNED okra_keyed_ *want = NULL;
    char text[96];
    REFUSE_IF(data->kind != OKRA_DENSE || data->d != x->width, OKRA_EARG,
              "%s: expected vectors of length %lld, found %s", data->source,
              (long long)x->width, okra_data_describe_(data, text, sizeof text));
    MAKE(want, data->n);
    for (okra_int k = 0; k < data->n; k++) {
        want[k] =
            (okra_keyed_){okra_vector_key_(data->values + k * data->ld, x->width), k};
        number[k] = -1;
    }
    OKRA_SORT_(want, data->n, by_key);
    for (int s = 0; s < x->shards; s++) {
        for (okra_int row = 0; row < (okra_int)x->shard[s].head.rows; row++) {
            look_up(x, s, row, data, want, number);
        }
    }
    return OKRA_OK;
}

okra_status okra_index_find(okra_context *context, const okra_index *index,
                            const okra_data *molecules, okra_int *number)
{
    OWNED uint64_t *keys = NULL;
    const double rounding = 1e-6; /* of sums of masses in another order */
    NOT_NULL(index, molecules, number);
    if (index->width > 0) {
        return find_vectors(index, molecules, number);
    }
    REFUSE_IF(molecules->kind != OKRA_GRAPHS ||
                  !okra_ragged_field_(&molecules->groups[0], "atom"),
              OKRA_EARG, "%s: expected molecules, found %s", molecules->source,
              okra_kind_name(molecules->kind));
    MAKE(keys, molecules->n);
    CHK(okra_molecule_keys_(molecules, keys));
    for (okra_int k = 0; k < molecules->n; k++) {
        double mass = okra_data_mass(molecules, k);
        bool same = false;
        number[k] = -1;
        CHK(okra_cancelled_(context));
        for (int s = 0; s < index->shards && !same; s++) {
            const okra_shard_ *shard = &index->shard[s];
            okra_int end = okra_shard_row_(shard, mass + rounding, true);
            for (okra_int row = okra_shard_row_(shard, mass - rounding, false);
                 row < end && !same; row++) {
                if (shard->key[row] == keys[k]) {
                    CHK(is_row(context, shard, row, molecules, k, &same));
                    number[k] = same ? (okra_int)shard->row[row] : -1;
                }
            }
        }
    }
    return OKRA_OK;
}
