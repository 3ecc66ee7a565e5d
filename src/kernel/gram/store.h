/*
 * store.h: finished tiles to the Gram matrix.
 */
#ifndef OKRA_STORE_H_
#define OKRA_STORE_H_

#include "linalg/linalg.h"

/* to <- from, or from'. `stream`: past the caches, for matrices too large to be found
 * there again; whoever stores so ends with okra_store_end_. */
okra_status okra_store_(okra_mat_ from, okra_mat_ to, bool stream) OKRA_CHECK;
okra_status okra_store_transposed_(okra_mat_ from, okra_mat_ to, bool stream) OKRA_CHECK;
void okra_store_end_(bool stream);

#endif
