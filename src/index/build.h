/*
 * build.h: an index under construction.
 */
#ifndef OKRA_INDEX_BUILD_H_
#define OKRA_INDEX_BUILD_H_

#include "data/graphs.h"
#include "index/index.h"

/* One line of the source. */
typedef struct okra_entry_ {
    uint64_t place; /* of the line in the source */
    uint64_t key;
    double mass;
    okra_int line;          /* from 1 */
    int32_t length, smiles; /* bytes of the line, of its SMILES */
    bool broken, dropped;
} okra_entry_;

/* Which molecules are there already: by key, where in the source they stand. */
typedef struct okra_seen_ {
    struct {
        uint64_t key, place; /* place + 1; 0: free */
    } * slots;
    uint64_t room, used;
} okra_seen_;

typedef struct okra_build_ {
    okra_context *ctx;
    const okra_index_request *request;
    okra_index_report report;
    char *part; /* the folder PATH.part */
    okra_bit_kernel_ kernel;
    bool bits;
    okra_bytes_ source;
    uint64_t stamp;
    okra_seen_ seen;
    okra_faults_ *faults;
    /* low rank */
    okra_data *outputs; /* bits of the training outputs */
    okra_bound_ *bound;
    double *basis;
    okra_int rank;
    /* the shard at hand */
    okra_entry_ *entry;
    okra_int count, shard;
    uint64_t *rows[OKRA_LEAVES_MOST_];
} okra_build_;

/* Parses the molecules of entries first..first+count-1 into *out; a broken one is marked
 * and stands as a lone carbon. */
okra_status okra_build_molecules_(const okra_build_ *b, okra_int first, okra_int count,
                                  okra_data **out) OKRA_CHECK;
/* Mass, key and bits of every entry of the shard, in parallel. */
okra_status okra_build_features_(okra_build_ *b) OKRA_CHECK;
/* Marks entries whose molecule was seen before. */
okra_status okra_build_repeats_(okra_build_ *b, uint64_t *repeated,
                                uint64_t *apart) OKRA_CHECK;
/* A molecule that an earlier run had indexed. */
okra_status okra_build_remember_(okra_build_ *b, uint64_t key, uint64_t place) OKRA_CHECK;

#endif
