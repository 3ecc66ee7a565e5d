/*
 * mat_child.h: a MATLAB file read by okra-mat in a process of its own.
 */
#ifndef OKRA_MAT_CHILD_H_
#define OKRA_MAT_CHILD_H_

#include "data/files/formats.h"

/* mat.c: whether source->bytes are those of a MATLAB file whose parts are whole. */
okra_status okra_mat_check_(const okra_source_ *source) OKRA_CHECK;
/* Starts okra-mat on source->path and takes what it answers. */
okra_status okra_mat_child_(okra_source_ *source, okra_data **out) OKRA_CHECK;

/* The records (data/files/mat.h) that come from `fd`, which nobody vouches for. *ended:
 * they ended early. After `seconds` without an end it gives up. */
okra_status okra_mat_receive_(okra_source_ *source, int fd, double seconds, bool *ended,
                              okra_data **out) OKRA_CHECK;

#endif
