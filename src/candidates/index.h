/*
 * index.h: the inside of an index of candidates.
 */
#ifndef OKRA_INDEX_H_
#define OKRA_INDEX_H_

#include "candidates/outputs.h"
#include "kernel/expression/expr.h"
#include "okra/more/index.h"
#include "data/graphs.h"
#include "data/spectra/spectra.h"

/* ---- output kernels whose features are bits: bits.c ---- */

enum { OKRA_LEAVES_MOST_ = 8, OKRA_COLUMNS_MOST_ = 32, OKRA_INDEX_VERSION_ = 4 };

/* A kernel of molecules all of whose leaves are hashed features, 0/1 or counts, and the
 * same kernel of the bits and counts: leaf k becomes linear@k. */
typedef struct okra_bit_kernel_ {
    okra_kernel *kernel; /* of molecules */
    okra_kernel *of_bits;
    int leaves;
    bool counts[OKRA_LEAVES_MOST_]; /* else 0/1 */
    okra_int bits[OKRA_LEAVES_MOST_];
    const okra_kernel_class_ *class[OKRA_LEAVES_MOST_];
    const void *params[OKRA_LEAVES_MOST_];
} okra_bit_kernel_;
/* *yes: the kernel is one; why not goes to `why` (a literal). */
okra_status okra_bit_kernel_open_(const char *text, okra_bit_kernel_ *out, bool *yes,
                                  const char **why);
void okra_bit_kernel_close_(okra_bit_kernel_ *k);
static inline okra_int okra_bit_words_(const okra_bit_kernel_ *k, int leaf)
{
    return (k->bits[leaf] + 63) / 64;
}
/* The bits and counts of molecules, owned by the collection. */
okra_status okra_bit_molecules_(okra_context *ctx, const okra_bit_kernel_ *k,
                                const okra_data *molecules, okra_data **out);

/* ---- the same molecule: same.c ---- */

/* A molecule is compared with at most this many others of its key. */
enum { OKRA_ALIKE_MOST_ = 32 };

typedef struct okra_keyed_ {
    uint64_t key;
    okra_int at;
} okra_keyed_;

/* A number that does not depend on how molecule i is written. */
okra_status okra_molecule_keys_(const okra_data *molecules, uint64_t *keys);
/* Are molecules i of a and j of b the same graph of atoms and bonds? *sure is false where
 * the search was given up. */
okra_status okra_molecules_same_(const okra_data *a, okra_int i, const okra_data *b,
                                 okra_int j, bool *same, bool *sure);

/* ---- shards: shard.c ---- */

/* How often a molecule has the features of a place. */
typedef struct okra_count_ {
    uint32_t place, count;
} okra_count_;

/* Arrays of a shard in file order: seven of numbers, two of each leaf, columns, low rank,
 * texts. */
enum { OKRA_SHARD_FIXED_ = 7, OKRA_SHARD_ARRAYS_ = 10 + 2 * OKRA_LEAVES_MOST_ };

/* What a shard says of itself. Numbers are little-endian, as the machine has them. */
typedef struct okra_shard_head_ {
    char magic[8]; /* "OKRASHRD" */
    uint32_t version, leaves;
    uint64_t stamp;        /* of the settings and the source              */
    uint64_t begin, end;   /* bytes of the source that it was made from   */
    uint64_t first, lines; /* rows of the source, the first from 0        */
    uint64_t rows, rank, texts, columns;
    uint64_t broken, repeated, apart, massless;
    uint64_t words[OKRA_LEAVES_MOST_]; /* of a row of bits; 0: counts         */
    uint64_t pairs[OKRA_LEAVES_MOST_]; /* counts: all of the shard            */
    uint32_t crc[OKRA_SHARD_ARRAYS_];  /* of the arrays                       */
    uint32_t self;                     /* of the head before this             */
} okra_shard_head_;

typedef struct okra_shard_ {
    okra_shard_head_ head;
    okra_bytes_ bytes;
    const double *mass;      /* rows, ascending; 0: unknown, at the beginning */
    const uint64_t *key;     /* rows                                          */
    const uint64_t *formula; /* rows: a hash; 0: unknown                      */
    const uint64_t *place;   /* rows: where in the source                     */
    const uint64_t *end;     /* rows: of the texts                            */
    const uint64_t *row;     /* rows: of the source, from head.first on       */
    const uint64_t *where;   /* lines: 1 + where each is here; 0: left out    */
    const uint64_t *bits[OKRA_LEAVES_MOST_]; /* rows x words; counts: ends of the rows;
                                              * vectors: doubles                    */
    const okra_count_ *counts[OKRA_LEAVES_MOST_]; /* places ascend within a row */
    const double *values;                         /* rows x columns; NaN: unknown */
    const float *low;                             /* rows x okra_low_width_ */
    const char *text;
} okra_shard_;
/* OKRA_EFORMAT where sizes do not fit the file. */
okra_status okra_shard_open_(const okra_context *ctx, const char *path, okra_shard_ *out);
void okra_shard_close_(okra_shard_ *shard);
/* Writes head and arrays (those of `shard`, bytes unused), whole or not at all. */
okra_status okra_shard_write_(const char *path, okra_shard_ *shard);
okra_status okra_shard_check_(const okra_shard_ *shard, const char *path);
/* The text of a row; "" where the file's numbers do not fit. */
const char *okra_shard_text_(const okra_shard_ *shard, okra_int row, okra_int *length);
/* Features of rows[0..count-1], or of first..first+count-1 where rows == NULL, as the
 * kernel of bits takes them: bits.c. The shard outlives them. */
okra_status okra_shard_features_(const okra_context *ctx, const okra_bit_kernel_ *k,
                                 const okra_shard_ *shard, const okra_int *rows,
                                 okra_int first, okra_int count, okra_data **out);
/* The molecules of these rows, read again: set.c. */
okra_status okra_shard_molecules_(okra_context *ctx, const okra_shard_ *shard,
                                  const okra_int *rows, okra_int first, okra_int count,
                                  okra_data **out);
/* Any of these: features where a kernel of bits is given, else vectors or molecules:
 * set.c. */
okra_status okra_shard_data_(okra_context *ctx, const okra_bit_kernel_ *bits,
                             bool vectors, const okra_shard_ *shard, const okra_int *rows,
                             okra_int first, okra_int count, okra_data **out);
/* A number of a vector's values, -0 being 0. */
uint64_t okra_vector_key_(const double *row, okra_int width);

/* The checksum of a description but for its member "seal": open.c. */
struct json_t;
okra_status okra_index_seal_(struct json_t *about, uint32_t *out);
/* The checksum of a file: shard.c. */
okra_status okra_file_crc_(const okra_context *ctx, const char *path, uint32_t *out);

struct okra_index {
    char *path, *kernel; /* kernel: canonical text */
    bool bits;           /* the shards have those  */
    okra_int width;      /* of candidates that are vectors; 0: molecules */
    okra_int count, rank;
    char *column[OKRA_COLUMNS_MOST_]; /* numbers that every candidate comes with */
    int columns;
    double level;   /* |y|^2 where all vectors have that, else NaN */
    uint64_t model; /* low rank: which outputs the basis is of */
    int shards;
    okra_shard_ *shard;
    okra_int *first; /* shards + 1: candidates before each */
    double *basis;   /* low rank: outputs x rank */
    int64_t basis_crc;
    okra_int outputs;
};

/* ---- low rank: low_rank.c ---- */

/* Numbers of a candidate: its coordinates, and -l(y,y)/2. */
static inline okra_int okra_low_width_(okra_int rank)
{
    return rank > 0 ? rank + 1 : 0;
}

/* Which outputs and output kernel a model has. */
uint64_t okra_index_outputs_(const okra_output_ *output);
/* B = V_r diag(1/sqrt(lambda_r)) of L = V diag(lambda) V', outputs x rank, owned by the
 * caller; *rank becomes smaller where L has fewer eigenvalues above 0. */
okra_status okra_index_basis_(okra_context *ctx, const okra_output_ *output,
                              okra_int *rank, double **B);
/* out (rows of `candidates` x okra_low_width_) = l(outputs, y)' B, -l(y,y)/2; the
 * candidates are bits or molecules, as the kernel takes them. */
okra_status okra_index_low_(okra_context *ctx, const okra_trained_kernel_ *bound,
                            const okra_data *candidates, const double *B, okra_int rank,
                            float *out);

/* ---- made by: build.c ---- */

/* okra_index_build with the output side of the request's model, or NULL. */
okra_status okra_index_make_(okra_context *ctx, const okra_index_request *request,
                             const okra_output_ *output, okra_index_report *report);

/* ---- an index under construction ---- */

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
    okra_hashed_ seen; /* molecules: by key, where in the source they stand */
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

/* Reads the header of a table, and which of its columns are wanted: entries.c. */
okra_status okra_build_header_(okra_build_ *b, okra_lines_ *lines);
/* The lines, or vectors, of the next shard; `lines` is moved behind them. */
void okra_build_lines_(okra_build_ *b, okra_lines_ *lines);

/* Candidates that are vectors: entries.c. */
bool okra_build_of_vectors_(const char *source);
/* Reads them; checks that the kernel takes them and that the table has their lines. */
okra_status okra_build_vectors_(okra_build_ *b);

/* Frees the lists of the shard at hand. */
void okra_build_drop_lists_(okra_build_ *b);
/* Mass, key, formula and features of every entry of the shard, in parallel. */
okra_status okra_build_features_(okra_build_ *b);
/* Marks entries whose molecule was seen before. */
okra_status okra_build_repeats_(okra_build_ *b, uint64_t *repeated, uint64_t *apart);
/* A molecule that an earlier run had indexed. */
okra_status okra_build_remember_(okra_build_ *b, uint64_t key, uint64_t place);

#endif
