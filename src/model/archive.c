/*
 * archive.c: arrays in and out of the zip archive that a model file is.
 *
 * An array is an entry FOLDER/NAME.npy: a version 1.0 header padded to a multiple of 64
 * bytes, then the elements in C order, little-endian. Entries begin at multiples of 64,
 * so elements can be used where they lie in the mapped file. A header is fixed by type
 * and shape: on reading it must be, byte for byte, the one that would be written.
 */
#include "model/model.h"

#include "data/files/npy.h"
#include "data/files/zip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "model files are mapped as they are: little-endian machines only"
#endif

enum { NAME_MOST = 256 };

static okra_int element_size(const char *dtype)
{
    return dtype[2] - '0';
}

static okra_status entry_name(const char *folder, const char *name, const char *tail,
                              char out[NAME_MOST])
{
    int length = snprintf(out, NAME_MOST, "%s/%s%s", folder, name, tail);
    return length < NAME_MOST ? OKRA_OK
                              : okra_fail_(OKRA_EINTERNAL,
                                           "the name of the array %s/%s "
                                           "is too long",
                                           folder, name);
}

okra_status okra_saver_put_(okra_saver_ *saver, const char *folder, const char *name,
                            const char *dtype, okra_int rows, okra_int cols,
                            const void *values, okra_int stride)
{
    char header[OKRA_NPY_HEADER_], entry[NAME_MOST], key[NAME_MOST], crc_text[16];
    uint32_t crc = 0;
    json_t *about = NULL;
    CHK(entry_name(folder, name, ".npy", entry));
    CHK(entry_name(folder, name, "", key));
    size_t length = okra_npy_header_(dtype, rows, cols, header);
    size_t width = (size_t)((cols < 0 ? 1 : cols) * element_size(dtype));
    CHK(okra_zip_add_(saver->zip, entry, header, length, values, rows, width,
                      (size_t)stride, &crc));
    snprintf(crc_text, sizeof crc_text, "%08x", (unsigned)crc);
    about = cols < 0 ? json_pack("{s:s, s:[I], s:s}", "dtype", dtype, "shape",
                                 (json_int_t)rows, "crc32", crc_text)
                     : json_pack("{s:s, s:[I, I], s:s}", "dtype", dtype, "shape",
                                 (json_int_t)rows, (json_int_t)cols, "crc32", crc_text);
    return okra_json_set_(saver->arrays, key, about);
}

bool okra_archive_has_(const okra_archive_ *archive, const char *folder, const char *name)
{
    char key[NAME_MOST];
    snprintf(key, sizeof key, "%s/%s", folder, name);
    return json_object_get(archive->arrays, key) != NULL;
}

/* Type and shape as model.json has them. */
static okra_status described(const okra_archive_ *archive, const char *key,
                             const char *dtype, okra_int *rows, okra_int *cols)
{
    const json_t *about = json_object_get(archive->arrays, key);
    const char *found = json_string_value(json_object_get(about, "dtype"));
    const json_t *shape = json_object_get(about, "shape");
    size_t dimensions = json_array_size(shape);
    if (!found || strcmp(found, dtype) != 0 || dimensions < 1 || dimensions > 2) {
        return okra_fail_(OKRA_EFORMAT,
                          "%s: model.json does not list the array %s of type %s",
                          archive->path, key, dtype);
    }
    *rows = json_integer_value(json_array_get(shape, 0));
    *cols = dimensions == 2 ? json_integer_value(json_array_get(shape, 1)) : -1;
    /* An empty array has no bytes that would bound its other side. */
    okra_int most = okra_zip_bytes_(archive->zip)->size;
    if (*rows < 0 || *rows > most || *cols > most || (dimensions == 2 && *cols < 0)) {
        return okra_fail_(OKRA_EFORMAT,
                          "%s: the shape of the array %s is not one that a file of %lld "
                          "bytes can hold",
                          archive->path, key, (long long)most);
    }
    return OKRA_OK;
}

okra_status okra_archive_bytes_(const okra_archive_ *archive, okra_int index,
                                const unsigned char **bytes, okra_int *size, void **owned)
{
    if (!okra_zip_stored_(archive->zip, index, size)) { /* it may inflate to anything */
        return okra_fail_(OKRA_EFORMAT,
                          "%s: entry '%s' is compressed; a model's entries are stored",
                          archive->path, okra_zip_each_(archive->zip, (size_t)index));
    }
    okra_status st = okra_zip_entry_(NULL, archive->zip, index, bytes, size, owned);
    if (st == OKRA_EFORMAT) {
        okra_message_prefix_("%s", archive->path);
    }
    return st;
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
    if (at < 0) {
        return okra_fail_(OKRA_EFORMAT, "%s: the array %s is missing", archive->path,
                          entry);
    }
    CHK(okra_archive_bytes_(archive, at, &bytes, &size, &owned));
    CHK(okra_area_(*rows, *cols < 0 ? 1 : *cols, (size_t)element_size(dtype), &area));
    okra_int length = (okra_int)okra_npy_header_(dtype, *rows, *cols, header);
    if (size != length + area * element_size(dtype) ||
        memcmp(bytes, header, (size_t)length) != 0) {
        return okra_fail_(OKRA_EFORMAT, "%s: the array %s is not what model.json says",
                          archive->path, entry);
    }
    if ((uintptr_t)(bytes + length) % 8 != 0) {
        return okra_fail_(OKRA_EFORMAT, "%s: the array %s is not aligned", archive->path,
                          entry);
    }
    *values = bytes + length;
    if (json_object_set_new(json_object_get(archive->arrays, key), "used", json_true()) !=
        0) {
        return okra_fail_(OKRA_EMEM, "%s: no memory to note that '%s' was read",
                          archive->path, key);
    }
    return OKRA_OK;
}

okra_status okra_archive_check_count_(const okra_archive_ *archive)
{
    size_t entries = 0;
    while (entries <= OKRA_ARRAYS_MOST_ && okra_zip_each_(archive->zip, entries)) {
        entries++;
    }
    if (entries > OKRA_ARRAYS_MOST_ || entries > json_object_size(archive->arrays) + 1) {
        return okra_fail_(OKRA_EFORMAT,
                          "%s: the archive holds %zu entries or more, which is not what "
                          "model.json lists, or too many",
                          archive->path, entries);
    }
    return OKRA_OK;
}

okra_status okra_archive_check_used_(const okra_archive_ *archive)
{
    const char *key;
    json_t *about;
    json_object_foreach(archive->arrays, key, about)
    {
        if (!json_object_get(about, "used")) {
            return okra_fail_(
                OKRA_EFORMAT,
                "%s: the array '%s' is nothing that a model like this holds",
                archive->path, key);
        }
    }
    return OKRA_OK;
}

void okra_archive_free_(okra_archive_ *archive)
{
    if (archive && atomic_fetch_sub(&archive->references, 1) == 1) {
        okra_zip_close_(archive->zip);
        okra_free_(archive->path);
        okra_free_(archive);
    }
}
