/*
 * archive.h: the one form of what okra keeps in files: a sealed zip archive of arrays and
 * of a description of them in JSON.
 *
 * An array is an entry FOLDER/NAME.npy: a version 1.0 header padded to a multiple of 64
 * bytes, then the elements in C order, little-endian. Entries begin at multiples of 64,
 * so elements can be used where they lie in the mapped file. The description comes last;
 * it names the format and its version, and lists type, shape and CRC-32 of every array.
 * It is written under a temporary name and renamed when whole.
 */
#ifndef OKRA_ARCHIVE_H_
#define OKRA_ARCHIVE_H_

#include "data/data.h"

#include <jansson.h>

/* ---- zip ----
 * Archives: read for .npz and model files, written for model files.
 *
 * Read: stored and deflated entries, zip64; every offset and size is checked against the
 * file before use, every CRC when an entry is opened. Written: stored entries whose bytes
 * begin at multiples of 64 in the file, zip64 where sizes ask for it, fixed dates: the
 * same content gives the same bytes.
 */

typedef struct okra_zip_ okra_zip_;

/* Maps (or reads) the file and checks its directory. */
okra_status okra_zip_open_(const okra_context *ctx, const char *path, okra_zip_ **out);
/* The same over bytes already in memory, which are taken over (and zeroed) on success. */
okra_status okra_zip_adopt_(okra_bytes_ *bytes, okra_zip_ **out);
/* The bytes of the whole file: who takes them over leaves the archive without. */
okra_bytes_ *okra_zip_bytes_(okra_zip_ *zip);
void okra_zip_close_(okra_zip_ *zip); /* accepts NULL */
/* The index-th entry's name, or NULL at the end. */
const char *okra_zip_each_(const okra_zip_ *zip, size_t index);
/* -1 if there is none of that name. */
okra_int okra_zip_find_(const okra_zip_ *zip, const char *name);
/* Whether the entry is not compressed, and its size, before anything of it is read. */
bool okra_zip_stored_(const okra_zip_ *zip, okra_int index, okra_int *size);
/* The entry's bytes, CRC checked. Stored: a view into the mapped file, valid until close
 * (*owned is NULL); deflated: a block that the caller frees (*owned). */
okra_status okra_zip_entry_(const okra_context *ctx, const okra_zip_ *zip, okra_int index,
                            const unsigned char **bytes, okra_int *size, void **owned);
/* OKRA_EFORMAT unless the archive comment is the seal of okra_zip_finish_ and agrees with
 * the bytes of the file: nothing at all was altered, headers and gaps included. */
okra_status okra_zip_check_seal_(const okra_zip_ *zip);

typedef struct okra_zip_writer_ okra_zip_writer_;

/* Writes through `file`, which stays the caller's to commit or abort. */
okra_status okra_zip_writer_create_(okra_writer_ *file, okra_zip_writer_ **out);
void okra_zip_writer_free_(okra_zip_writer_ *zip); /* accepts NULL */
OKRA_DROPS_(okra_zip_writer_drop_, okra_zip_writer_, okra_zip_writer_free_)
/* For tests: sizes and offsets from `least` on (not 4 GiB) are written as zip64. */
void okra_zip_writer_zip64_(okra_zip_writer_ *zip, okra_int least);
/* An entry made of `head` and of pieces, `size` bytes together. `next` is called with 0,
 * 1, ... and gives a piece until *bytes stays 0; it is asked for all of them twice, and
 * gives the same. *crc (may be NULL) is the CRC-32 of the entry. */
typedef okra_status okra_piece_fn_(void *user, okra_int k, const void **p, size_t *bytes);
okra_status okra_zip_add_pieces_(okra_zip_writer_ *zip, const char *name,
                                 const void *head, size_t head_size, okra_int size,
                                 okra_piece_fn_ *next, void *user, uint32_t *crc);
/* An entry made of `head` followed by `rows` pieces of `width` bytes, `stride` bytes
 * apart (the rows of a matrix); *crc (may be NULL) is its CRC-32. */
okra_status okra_zip_add_(okra_zip_writer_ *zip, const char *name, const void *head,
                          size_t head_size, const void *body, okra_int rows, size_t width,
                          size_t stride, uint32_t *crc);
/* The directory and the end record, whose comment is the seal "okra crc32 xxxxxxxx": the
 * CRC-32 of every byte before the comment. */
okra_status okra_zip_finish_(okra_zip_writer_ *zip);

/* The seal is this text and eight hexadecimal digits. */
#define OKRA_SEAL_TEXT_ "okra crc32 "
enum { OKRA_SEAL_SIZE_ = sizeof OKRA_SEAL_TEXT_ - 1 + 8 };

/* ---- JSON ---- */

static inline void okra_json_drop_(json_t **at)
{
    json_decref(*at);
}
/* A byte of JSON may become this many in memory (an empty list in a list). */
enum { OKRA_JSON_PARSED_ = 160 };
/* object[key] = value, which is taken over; fails when either is NULL. */
okra_status okra_json_set_(json_t *object, const char *key, json_t *value);
/* The text of a JSON value in a block of the library; numbers survive exactly. */
okra_status okra_json_text_(const json_t *json, char **text);

/* ---- writing ---- */

/* Arrays on their way into a file: each becomes an entry and a line of the description.
 */
typedef struct okra_saver_ {
    okra_writer_ *file;
    okra_zip_writer_ *zip;
    json_t *arrays;
} okra_saver_;

okra_status okra_saver_begin_(okra_context *ctx, const char *path, okra_saver_ *saver);
/* rows x cols elements of type `dtype` ("<f8", "<i8", "<u8", "|u1"), rows `stride` bytes
 * apart; cols < 0: a vector. */
okra_status okra_saver_put_(okra_saver_ *saver, const char *folder, const char *name,
                            const char *dtype, okra_int rows, okra_int cols,
                            const void *values, okra_int stride);
/* A matrix in blocks of rows, which must be finite: one that lies on an engine (`source`;
 * NULL: A has the values), or half: its lower triangle, row after row, n (n + 1) / 2 x 1.
 */
okra_status okra_saver_put_rows_(okra_context *ctx, okra_saver_ *saver,
                                 const char *folder, const char *name,
                                 const okra_rows_ *source, okra_mat_ A, bool half);
/* The description, which gets the list of arrays, as entry `name`; seals and renames. */
okra_status okra_saver_end_(okra_saver_ *saver, const char *name, json_t *about);
void okra_saver_clear_(okra_saver_ *saver); /* without an end nothing is left */

/* ---- reading ---- */

/* What a file must be. */
typedef struct okra_archive_sort_ {
    const char *what, *entry, *format; /* "model", "model.json", "okra-model" */
    int version;                       /* the newest that is read             */
    okra_int most;                     /* bytes of the description            */
} okra_archive_sort_;

/* An open file; counted, since data that lies in it keeps it mapped. */
typedef struct okra_archive_ {
    atomic_int references;
    const okra_archive_sort_ *sort;
    okra_zip_ *zip;
    json_t *arrays; /* borrowed while loading; those that were read get a mark */
    const okra_context *context; /* likewise: whose budget holds */
    char *path;
} okra_archive_;

/* Maps the file and checks format, version and seal; *about is its description and *text
 * (may be NULL) the bytes of that, for the caller to free. Messages name the file. */
okra_status okra_archive_open_(const okra_context *ctx, const char *path,
                               const okra_archive_sort_ *sort, okra_archive_ **out,
                               json_t **about, char **text);
/* The elements of an array that must be there with this type; *cols < 0: a vector. */
okra_status okra_archive_get_(const okra_archive_ *archive, const char *folder,
                              const char *name, const char *dtype, okra_int *rows,
                              okra_int *cols, const void **values);
bool okra_archive_has_(const okra_archive_ *archive, const char *folder,
                       const char *name);
/* Before arrays are read: the archive holds those that the description lists and no more,
 * and these are not too many; afterwards: all were read. */
enum { OKRA_ARRAYS_MOST_ = 4096 };
okra_status okra_archive_check_count_(const okra_archive_ *archive);
okra_status okra_archive_check_used_(const okra_archive_ *archive);
void okra_archive_free_(okra_archive_ *archive); /* one reference */
OKRA_DROPS_(okra_archive_drop_, okra_archive_, okra_archive_free_)

#endif
