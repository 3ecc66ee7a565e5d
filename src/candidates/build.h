/*
 * build.h: an index under construction.
 */
#ifndef OKRA_INDEX_BUILD_H_
#define OKRA_INDEX_BUILD_H_

#include "data/graphs.h"
#include "data/spectra/spectra.h"
#include "candidates/index.h"

/* One line of the source. */
typedef struct okra_entry_ {
    uint64_t place, name; /* of its SMILES (vectors: its row) and name in the source */
    uint64_t key, formula;
    double mass;
    okra_int line;         /* from 1; vectors: of their table */
    int32_t smiles, named; /* bytes of both */
    int32_t lists;         /* counts: at which entry its lists begin */
    int32_t wrong;         /* 1 + column that is no number; 0: none */
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
    const okra_output_ *output; /* that of the model, or NULL */
    okra_index_report report;
    char *part; /* the folder PATH.part */
    okra_bit_kernel_ kernel;
    bool bits;
    okra_bytes_ source; /* of vectors their table, or nothing */
    okra_data *vectors; /* NULL: molecules */
    okra_int next;      /* of these */
    double level;       /* |y|^2 of all of them, or NaN */
    uint64_t stamp;
    /* a table: where its columns stand; -1: there is none */
    bool table;
    okra_int smiles, name, column[OKRA_COLUMNS_MOST_];
    int mass; /* vectors: which of the columns is that; -1: none */
    char *names[OKRA_COLUMNS_MOST_];
    int columns;
    okra_seen_ seen;
    okra_faults_ *faults;
    /* low rank */
    okra_data *outputs; /* bits of the training outputs */
    okra_trained_kernel_ *own;
    const okra_trained_kernel_ *bound; /* own, or that of the model: over molecules */
    double *basis;
    uint32_t basis_crc; /* of its file */
    okra_int rank;
    /* the shard at hand */
    okra_entry_ *entry;
    okra_int count, shard;
    double *values; /* shard x columns */
    uint64_t *rows[OKRA_LEAVES_MOST_];
    okra_csr_
        *lists[OKRA_LEAVES_MOST_]; /* of the entries from here on, see entry.lists */
} okra_build_;

/* Reads the header of a table, and which of its columns are wanted: lines.c. */
okra_status okra_build_header_(okra_build_ *b, okra_lines_ *lines) OKRA_CHECK;
/* The lines, or vectors, of the next shard; `lines` is moved behind them. */
void okra_build_lines_(okra_build_ *b, okra_lines_ *lines);

/* Candidates that are vectors: vectors.c. */
bool okra_build_of_vectors_(const char *source);
/* Reads them; checks that the kernel takes them and that the table has their lines. */
okra_status okra_build_vectors_(okra_build_ *b) OKRA_CHECK;

/* Frees the lists of the shard at hand. */
void okra_build_drop_lists_(okra_build_ *b);
/* Mass, key, formula and features of every entry of the shard, in parallel. */
okra_status okra_build_features_(okra_build_ *b) OKRA_CHECK;
/* Marks entries whose molecule was seen before. */
okra_status okra_build_repeats_(okra_build_ *b, uint64_t *repeated,
                                uint64_t *apart) OKRA_CHECK;
/* A molecule that an earlier run had indexed. */
okra_status okra_build_remember_(okra_build_ *b, uint64_t key, uint64_t place) OKRA_CHECK;

#endif
