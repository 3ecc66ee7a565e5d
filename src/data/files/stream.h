/*
 * stream.h: the bytes of a file in pieces, unpacked on the way when it is gzipped.
 */
#ifndef OKRA_STREAM_H_
#define OKRA_STREAM_H_

#include "data/data.h"

typedef struct okra_stream_ okra_stream_;

/* `bytes` stay the caller's and must outlive the stream. Gzip is told by its first bytes;
 * files of several members (bgzip) are read through. */
okra_status okra_stream_create_(const okra_bytes_ *bytes, okra_stream_ **out);
void okra_stream_free_(okra_stream_ *stream); /* accepts NULL */
OKRA_DROPS_(okra_stream_drop_, okra_stream_, okra_stream_free_)
/* The next piece, valid until the next call; *size is 0 at the end. */
okra_status okra_stream_next_(okra_stream_ *stream, const unsigned char **piece,
                              okra_int *size);

#endif
