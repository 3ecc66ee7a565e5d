/*
 * archive.c: the archives of archive.h. A header of an array is fixed by type and shape:
 * on reading it must be, byte for byte, the one that would be written.
 */
#include "data/files/archive.h"

#include "data/files/formats.h"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "archives are mapped as they are: little-endian machines only"
#endif

enum { NAME_MOST = 256 };

/* ---- JSON ---- */

okra_status okra_json_set_(json_t *object, const char *key, json_t *value)
{
    /* json_object_set_new takes the value in any case, and refuses one that is NULL. */
    REFUSE_IF(json_object_set_new(object, key, value) != 0, OKRA_EMEM,
              "could not describe '%s' as JSON", key);
    return OKRA_OK;
}

typedef struct growing {
    char *text;
    okra_int used, room;
    bool lost;
} growing;

/* Once a piece is lost all others are: jansson passes over the loss of a key. */
static int grow(const char *piece, size_t size, void *user)
{
    growing *g = user;
    g->lost = g->lost || okra_reserve_(&g->text, g->used + (okra_int)size + 1, &g->room,
                                       1) != OKRA_OK;
    if (g->lost) {
        return -1;
    }
    memcpy(g->text + g->used, piece, size);
    g->used += (okra_int)size;
    g->text[g->used] = '\0';
    return 0;
}

okra_status okra_json_text_(const json_t *json, char **text)
{
    growing g = {0};
    /* 17 digits name a double exactly. */
    bool good = json_dump_callback(json, grow, &g,
                                   JSON_INDENT(2) | JSON_REAL_PRECISION(17)) == 0 &&
                grow("\n", 1, &g) == 0;
    if (!good) {
        okra_free_(g.text);
        return okra_fail_(OKRA_EMEM, "could not write JSON");
    }
    *text = g.text;
    return OKRA_OK;
}

/* ---- writing ---- */

/* "<f8": 8 bytes. */
#define ELEMENT_SIZE(dtype) ((okra_int)((dtype)[2] - '0'))

static okra_status entry_name(const char *folder, const char *name, const char *tail,
                              char out[NAME_MOST])
{
    int length = snprintf(out, NAME_MOST, "%s/%s%s", folder, name, tail);
    REFUSE_IF(length >= NAME_MOST, OKRA_EINTERNAL,
              "the name of the array %s/%s is too long", folder, name);
    return OKRA_OK;
}

/* A line of the description. */
static okra_status describe(const okra_saver_ *saver, const char *folder,
                            const char *name, const char *dtype, okra_int rows,
                            okra_int cols, uint32_t crc)
{
    char text[16], key[NAME_MOST];
    CHK(entry_name(folder, name, "", key));
    snprintf(text, sizeof text, "%08x", (unsigned)crc);
    json_t *about = cols < 0
                        ? json_pack("{s:s, s:[I], s:s}", "dtype", dtype, "shape",
                                    (json_int_t)rows, "crc32", text)
                        : json_pack("{s:s, s:[I, I], s:s}", "dtype", dtype, "shape",
                                    (json_int_t)rows, (json_int_t)cols, "crc32", text);
    return okra_json_set_(saver->arrays, key, about);
}

okra_status okra_saver_begin_(okra_context *ctx, const char *path, okra_saver_ *saver)
{
    *saver = (okra_saver_){.arrays = json_object()};
    CHK(okra_writer_join_(ctx, path, &saver->file));
    return okra_zip_writer_create_(saver->file, &saver->zip);
}

void okra_saver_clear_(okra_saver_ *saver)
{
    okra_zip_writer_free_(saver->zip);
    okra_writer_abort_(saver->file);
    json_decref(saver->arrays);
    *saver = (okra_saver_){0};
}

okra_status okra_saver_end_(okra_saver_ *saver, const char *name, json_t *about)
{
    OWNED char *text = NULL;
    CHK(okra_json_set_(about, "arrays", json_incref(saver->arrays)));
    CHK(okra_json_text_(about, &text));
    CHK(okra_zip_add_(saver->zip, name, text, strlen(text), NULL, 0, 0, 0, NULL));
    CHK(okra_zip_finish_(saver->zip));
    return okra_writer_commit_(TAKE(saver->file));
}

okra_status okra_saver_put_(okra_saver_ *saver, const char *folder, const char *name,
                            const char *dtype, okra_int rows, okra_int cols,
                            const void *values, okra_int stride)
{
    char header[OKRA_NPY_HEADER_], entry[NAME_MOST];
    uint32_t crc = 0;
    CHK(entry_name(folder, name, ".npy", entry));
    size_t length = okra_npy_header_(dtype, rows, cols, header);
    size_t width = (size_t)((cols < 0 ? 1 : cols) * ELEMENT_SIZE(dtype));
    CHK(okra_zip_add_(saver->zip, entry, header, length, values, rows, width,
                      (size_t)stride, &crc));
    return describe(saver, folder, name, dtype, rows, cols, crc);
}

/* ---- in blocks of rows ---- */

typedef struct pieces {
    okra_context *ctx;
    const okra_rows_ *source; /* NULL: A has the values */
    okra_mat_ A;
    bool half;
    okra_int height;
    const char *name;
    double *block; /* height x A.cols, where there is a source */
} pieces;

/* Rows first.. of the matrix, as they are. */
static okra_status rows_of(pieces *z, okra_int first, okra_int count, okra_mat_ *out)
{
    *out = z->source ? okra_mat_of_(z->block, count, z->A.cols)
                     : okra_mat_part_(z->A, first, count, 0, z->A.cols);
    if (z->source) {
        CHK(z->source->get(z->ctx, z->source->self, first, *out));
    }
    return okra_at_(okra_finite_(out->p, count, z->A.cols, out->ld),
                    "rows from %lld of '%s'", (long long)first, z->name);
}

static okra_status next_rows(void *user, okra_int k, const void **p, size_t *bytes)
{
    pieces *z = user;
    okra_int first = k * z->height, used = 0;
    okra_int count = OKRA_MIN_(z->height, z->A.rows - first);
    okra_mat_ rows;
    if (count <= 0) {
        return OKRA_OK;
    }
    CHK(rows_of(z, first, count, &rows));
    *p = rows.p;
    *bytes = (size_t)(count * rows.cols) * sizeof *rows.p;
    for (okra_int i = 0; z->half && i < count; i++) { /* each begins before it was */
        memmove(z->block + used, rows.p + i * rows.ld,
                (size_t)(first + i + 1) * sizeof *rows.p);
        used += first + i + 1;
    }
    if (z->half) {
        *p = z->block;
        *bytes = (size_t)used * sizeof *rows.p;
    }
    return OKRA_OK;
}

okra_status okra_saver_put_rows_(okra_context *ctx, okra_saver_ *saver,
                                 const char *folder, const char *name,
                                 const okra_rows_ *source, okra_mat_ A, bool half)
{
    enum { BLOCK = 1 << 18 }; /* doubles */
    char header[OKRA_NPY_HEADER_], entry[NAME_MOST];
    OWNED double *block = NULL;
    uint32_t crc = 0;
    okra_int height = OKRA_MAX_(1, OKRA_MIN_(A.rows, BLOCK / OKRA_MAX_(1, A.cols)));
    okra_int rows = half ? A.rows * (A.rows + 1) / 2 : A.rows, cols = half ? 1 : A.cols;
    CHK(entry_name(folder, name, ".npy", entry));
    CHK(okra_doubles_(ctx, height, A.cols, "a block of rows", &block));
    pieces z = {ctx, source, A, half, height, name, block};
    size_t length = okra_npy_header_("<f8", rows, cols, header);
    CHK(okra_zip_add_pieces_(saver->zip, entry, header, length, 8 * rows * cols,
                             next_rows, &z, &crc));
    return describe(saver, folder, name, "<f8", rows, cols, crc);
}

/* ---- reading ---- */

/* An entry's bytes as okra_zip_entry_ gives them. */
static okra_status bytes_of(const okra_archive_ *archive, okra_int index,
                            const unsigned char **bytes, okra_int *size, void **owned)
{
    REFUSE_IF(!okra_zip_stored_(archive->zip, index, size), OKRA_EFORMAT,
              "%s: entry '%s' is compressed; a %s's entries are stored", archive->path,
              okra_zip_each_(archive->zip, (size_t)index), archive->sort->what);
    return okra_at_(okra_zip_entry_(NULL, archive->zip, index, bytes, size, owned), "%s",
                    archive->path);
}

/* A file of a newer format may be sealed in another way, so that its version is looked at
 * first. */
static okra_status describe_all(const okra_context *ctx, const okra_archive_ *a,
                                json_t **out, char **text)
{
    const okra_archive_sort_ *sort = a->sort;
    const unsigned char *bytes = NULL;
    OWNED void *owned = NULL;
    okra_int size = 0, at = okra_zip_find_(a->zip, sort->entry);
    json_error_t where = {.text = ""};
    FREED_BY(okra_json_drop_) json_t *about = NULL;
    REFUSE_IF(at < 0, OKRA_EFORMAT, "%s: a zip archive without %s is not a %s", a->path,
              sort->entry, sort->what);
    CHK(bytes_of(a, at, &bytes, &size, &owned));
    REFUSE_IF(size > sort->most, OKRA_EFORMAT,
              "%s: %s has %lld bytes; a %s's has at most %lld", a->path, sort->entry,
              (long long)size, sort->what, (long long)sort->most);
    CHK(okra_budget_ask_(ctx, 2.0 * OKRA_JSON_PARSED_ * (double)size, "%s: %s", a->path,
                         sort->entry));
    about = json_loadb((const char *)bytes, (size_t)size, JSON_REJECT_DUPLICATES, &where);
    const char *format = json_string_value(json_object_get(about, "format"));
    REFUSE_IF(!format || strcmp(format, sort->format) != 0, OKRA_EFORMAT,
              "%s: %s is not the description of a %s%s%s", a->path, sort->entry,
              sort->what, about ? "" : ": ", about ? "" : where.text);
    json_int_t version = json_integer_value(json_object_get(about, "version"));
    if (version < 1 || version > sort->version) {
        const char *by = json_string_value(json_object_get(about, "okra"));
        return okra_fail_(version < 1 ? OKRA_EFORMAT : OKRA_EVERSION,
                          "%s: the %s has format version %lld (written by okra %s), "
                          "expected 1 to %d; a "
                          "newer okra may read it",
                          a->path, sort->what, (long long)version, by ? by : "unknown",
                          sort->version);
    }
    CHK(okra_at_(okra_zip_check_seal_(a->zip), "%s", a->path));
    if (text) {
        GOT(*text = okra_strndup_((const char *)bytes, (size_t)size));
    }
    *out = TAKE(about);
    return OKRA_OK;
}

okra_status okra_archive_open_(const okra_context *ctx, const char *path,
                               const okra_archive_sort_ *sort, okra_archive_ **out,
                               json_t **about, char **text)
{
    FREED_BY(okra_archive_drop_) okra_archive_ *a = NULL;
    ZMAKE(a, 1);
    atomic_init(&a->references, 1);
    a->sort = sort;
    GOT(a->path = okra_strdup_(path));
    CHK(okra_zip_open_(ctx, path, &a->zip));
    CHK(describe_all(ctx, a, about, text));
    *out = TAKE(a);
    return OKRA_OK;
}

bool okra_archive_has_(const okra_archive_ *archive, const char *folder, const char *name)
{
    char key[NAME_MOST];
    snprintf(key, sizeof key, "%s/%s", folder, name);
    return json_object_get(archive->arrays, key) != NULL;
}

/* Type and shape as the description has them. */
static okra_status described(const okra_archive_ *archive, const char *key,
                             const char *dtype, okra_int *rows, okra_int *cols)
{
    const json_t *about = json_object_get(archive->arrays, key);
    const char *found = json_string_value(json_object_get(about, "dtype"));
    const json_t *shape = json_object_get(about, "shape");
    size_t dimensions = json_array_size(shape);
    REFUSE_IF(!found || strcmp(found, dtype) != 0 || dimensions < 1 || dimensions > 2,
              OKRA_EFORMAT, "%s: %s does not list the array %s of type %s", archive->path,
              archive->sort->entry, key, dtype);
    *rows = json_integer_value(json_array_get(shape, 0));
    *cols = dimensions == 2 ? json_integer_value(json_array_get(shape, 1)) : -1;
    /* An empty array has no bytes that would bound its other side. */
    okra_int most = okra_zip_bytes_(archive->zip)->size;
    REFUSE_IF(*rows < 0 || *rows > most || *cols > most || (dimensions == 2 && *cols < 0),
              OKRA_EFORMAT,
              "%s: the shape of the array %s is not one that a file of %lld "
              "bytes can hold",
              archive->path, key, (long long)most);
    return OKRA_OK;
}

okra_status okra_archive_get_(const okra_archive_ *archive, const char *folder,
                              const char *name, const char *dtype, okra_int *rows,
                              okra_int *cols, const void **values)
{
    char header[OKRA_NPY_HEADER_], entry[NAME_MOST], key[NAME_MOST];
    const unsigned char *bytes = NULL;
    OWNED void *owned = NULL;
    okra_int size = 0, area = 0;
    CHK(entry_name(folder, name, ".npy", entry));
    CHK(entry_name(folder, name, "", key));
    CHK(described(archive, key, dtype, rows, cols));
    okra_int at = okra_zip_find_(archive->zip, entry);
    REFUSE_IF(at < 0, OKRA_EFORMAT, "%s: the array %s is missing", archive->path, entry);
    CHK(bytes_of(archive, at, &bytes, &size, &owned));
    CHK(okra_area_(*rows, *cols < 0 ? 1 : *cols, (size_t)ELEMENT_SIZE(dtype), &area));
    okra_int length = (okra_int)okra_npy_header_(dtype, *rows, *cols, header);
    REFUSE_IF(size != length + area * ELEMENT_SIZE(dtype) ||
                  memcmp(bytes, header, (size_t)length) != 0,
              OKRA_EFORMAT, "%s: the array %s is not what %s says", archive->path, entry,
              archive->sort->entry);
    REFUSE_IF((uintptr_t)(bytes + length) % 8 != 0, OKRA_EFORMAT,
              "%s: the array %s is not aligned", archive->path, entry);
    *values = bytes + length;
    REFUSE_IF(json_object_set_new(json_object_get(archive->arrays, key), "used",
                                  json_true()) != 0,
              OKRA_EMEM, "%s: no memory to note that '%s' was read", archive->path, key);
    return OKRA_OK;
}

okra_status okra_archive_check_count_(const okra_archive_ *archive)
{
    size_t entries = 0;
    while (entries <= OKRA_ARRAYS_MOST_ && okra_zip_each_(archive->zip, entries)) {
        entries++;
    }
    REFUSE_IF(entries > OKRA_ARRAYS_MOST_ ||
                  entries > json_object_size(archive->arrays) + 1,
              OKRA_EFORMAT,
              "%s: the archive holds %zu entries or more, which is not what %s lists, or "
              "too many",
              archive->path, entries, archive->sort->entry);
    return OKRA_OK;
}

okra_status okra_archive_check_used_(const okra_archive_ *archive)
{
    const char *key;
    json_t *about;
    json_object_foreach(archive->arrays, key, about)
    {
        REFUSE_IF(!json_object_get(about, "used"), OKRA_EFORMAT,
                  "%s: the array '%s' is nothing that a %s like this holds",
                  archive->path, key, archive->sort->what);
    }
    return OKRA_OK;
}

void okra_archive_free_(okra_archive_ *archive)
{
    if (archive && atomic_fetch_sub(&archive->references, 1) == 1) {
        okra_zip_close_(archive->zip);
        FREE(archive->path, archive);
    }
}
