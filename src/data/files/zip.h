/*
 * zip.h: archives: read for .npz and model files, written for model files.
 *
 * Read: stored and deflated entries, zip64; every offset and size is checked against the
 * file before use, every CRC when an entry is opened. Written: stored entries whose bytes
 * begin at multiples of 64 in the file, zip64 where sizes ask for it, fixed dates: the
 * same content gives the same bytes.
 */
#ifndef OKRA_ZIP_H_
#define OKRA_ZIP_H_

#include "data/data.h"

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

#endif
