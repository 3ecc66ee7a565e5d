/*
 * tile_out.h: finished tiles to the Gram matrix.
 */
#ifndef OKRA_TILE_OUT_H_
#define OKRA_TILE_OUT_H_

#include "linalg/linalg.h"

/* to <- from, or from'. `stream`: past the caches, for matrices too large to be found
 * there again; whoever stores so ends with okra_tile_out_end_. */
okra_status okra_tile_out_(okra_mat_ from, okra_mat_ to, bool stream);
okra_status okra_tile_out_transposed_(okra_mat_ from, okra_mat_ to, bool stream);
void okra_tile_out_end_(bool stream);

#endif
