/*
 * data.h: the inside of a collection of objects, and what readers and writers share.
 */
#ifndef OKRA_DATA_H_
#define OKRA_DATA_H_

#include "data/store.h"
#include "okra/data.h"

/* ---- ragged ----
 * Objects of varying size: strings, sequences, graphs, molecules.
 *
 * A ragged group gives each object a run of elements (characters, positions, atoms,
 * bonds): object i owns elements offsets[i]..offsets[i+1]-1. Every element has a few
 * fields, each an array of `width` values an element. Copying, choosing, saving and
 * loading a collection go over its groups and fields without knowing what they mean:
 *
 *     strings    characters: code point (int32)         [lines: text (uint8)]
 *     sequences  positions: vector (double, width d), label (int32)
 *     graphs     nodes: label, ...; edges: ends (int32, width 2, numbered within the
 *                object), label; texts: the object as it was written (uint8)
 *     spectra    peaks: mz, intensity (double); ion; names; texts (data/spectra)
 *     bags       members: no fields; they are the objects of the one component
 */

typedef enum okra_field_type_ {
    OKRA_FIELD_DOUBLE,
    OKRA_FIELD_INT32,
    OKRA_FIELD_BYTE,
    OKRA_FIELD_INT64,
} okra_field_type_;

enum { OKRA_FIELDS_MOST = 8, OKRA_GROUPS_MOST = 4 };

typedef struct okra_field_ {
    const char *name; /* a literal: the kind's reader and kernels know it */
    okra_field_type_ type;
    okra_int width; /* values an element */
    void *values;   /* owned by the group */
} okra_field_;

typedef struct okra_ragged_ {
    const char *name;  /* a literal */
    okra_int *offsets; /* n + 1, offsets[0] = 0; owned */
    int field_count;
    okra_field_ fields[OKRA_FIELDS_MOST];
} okra_ragged_;

size_t okra_field_size_(okra_field_type_ type); /* bytes of one value */
/* The field of that name, or NULL. */
const okra_field_ *okra_ragged_field_(const okra_ragged_ *group, const char *name);
/* counts[p] objects of each group from[p], one after the other: its first ones, or
 * (index) chosen ones of the only group. They must have the same fields. */
okra_status okra_ragged_take_(const okra_ragged_ *from, okra_int parts,
                              const okra_int *index, const okra_int *counts,
                              okra_ragged_ *to);
/* Frees offsets and values; the struct itself is the caller's. */
void okra_ragged_clear_(okra_ragged_ *group);

/* A group under construction: append elements one after another, close each object. */
typedef struct okra_ragged_builder_ {
    okra_ragged_ group;
    okra_int objects, objects_room, elements, elements_room;
} okra_ragged_builder_;
/* Fields are given by name, type, width, in order; values start empty. */
okra_status okra_ragged_begin_(okra_ragged_builder_ *b, const char *name, int field_count,
                               const okra_field_ *fields);
/* Appends one element; element[k] points at `width` values of field k. */
okra_status okra_ragged_push_(okra_ragged_builder_ *b, const void *const *element);
/* Appends `count` elements at once; arrays[k] holds count*width values of field k. */
okra_status okra_ragged_push_many_(okra_ragged_builder_ *b, okra_int count,
                                   const void *const *arrays);
/* Ends the current object. */
okra_status okra_ragged_close_(okra_ragged_builder_ *b);
/* Elements of the object under construction so far. */
okra_int okra_ragged_open_count_(const okra_ragged_builder_ *b);
/* Data of a kind from their finished groups, up to NULL; the builders are empty then. */
okra_status okra_ragged_data_(okra_kind kind, okra_ragged_builder_ **parts,
                              const char *source, okra_data **out);
void okra_ragged_abandon_(okra_ragged_builder_ *b);

OKRA_DROPS_(okra_data_drop_, okra_data, okra_data_free)

/* Compressed rows; indices ascend within a row. */
typedef struct okra_csr_ {
    okra_int *indptr, *indices;
    double *values;
} okra_csr_;

/* A network whose nodes are objects: symmetric adjacency in compressed rows, shared by
 * every collection of its nodes. */
typedef struct okra_network_ {
    okra_int nodes;
    okra_csr_ adjacency;
    char **names;   /* nodes texts, or NULL: nodes are called by number */
    int references; /* atomic */
} okra_network_;
okra_network_ *okra_network_retain_(const okra_network_ *network);
void okra_network_free_(okra_network_ *network); /* accepts NULL */
OKRA_DROPS_(okra_network_drop_, okra_network_, okra_network_free_)

/* Dense rows that stay in several files, one after the other (files/shards.c). */
typedef struct okra_stack_ {
    okra_int count;
    okra_int *first; /* count + 1: the first row of each, and n */
    okra_data **part;
} okra_stack_;

struct okra_data {
    okra_kind kind;
    okra_int n, d;
    /* DENSE, GRAM: row-major values; BITS: words of a row; LABELS: codes. */
    const double *values;
    okra_int ld;
    okra_csr_ csr;          /* SPARSE                                             */
    const uint64_t *bits;   /* BITS: n rows of `words` words, unused bits are 0    */
    okra_int words;         /*                                                    */
    const okra_int *codes;  /* LABELS: 0..d-1; NODES: which node of the network    */
    char **class_names;     /* LABELS: d texts, or NULL                           */
    const double *diagonal; /* GRAM: self-similarities of the rows, or NULL        */
    okra_ragged_ groups[OKRA_GROUPS_MOST]; /* STRINGS, SEQUENCES, GRAPHS, SPECTRA    */
    int group_count;
    okra_network_ *network; /* NODES                                               */
    okra_data **components; /* TUPLE: `component_count` collections of n objects; BAGS:
                             * one of all members, bag after bag                   */
    int component_count;
    bool missing;            /* DENSE: NaN stands for a value that is not known     */
    bool borrowed;           /* some memory above belongs to the caller             */
    void *owned[4];          /* blocks to free with the data                        */
    void (*release)(void *); /* called on `release_arg` last (unmap, close)         */
    void *release_arg;
    int references; /* atomic */
    char *source;   /* where it came from, for messages; never NULL        */
    /* DENSE: `values` are those of the first piece alone. Fits of low rank
     * (model/shards.c) make such collections for themselves; no other function sees one.
     */
    const okra_stack_ *pieces;
    double *weights; /* n: how much each object counts, 0 or more; NULL: 1  */
    struct okra_columns_ *columns; /* names of the d columns, or NULL: columns.c */
    okra_int *rows; /* n: of the file, where lines were left out; NULL: 0, 1, ...; of
                     * bags from a file: the first of each, then of each member   */
    okra_data *of;  /* whose memory all else is (but a tuple's parts), or NULL */
};

/* Do the objects hold rows of a Gram matrix, whose columns are objects, too? */
bool okra_data_holds_gram_(const okra_data *data);
/* Of a bag its first object, where *i then stands; of others the object itself. */
static inline const okra_data *okra_bag_first_(const okra_data *data, okra_int *i)
{
    bool bags = data->kind == OKRA_BAGS;
    *i = bags ? data->groups[0].offsets[*i] : *i;
    return bags ? data->components[0] : data;
}
/* OKRA_EARG unless every row of dense y has each of 1..d once. */
okra_status okra_data_check_rankings_(const okra_data *y);

/* An empty shell of a kind with one reference and a source text. */
okra_status okra_data_new_(okra_kind kind, okra_int n, okra_int d, const char *source,
                           okra_data **out);
/* A dense collection that owns *values (got from okra_alloc_), taken over, then NULL, on
 * success. */
okra_status okra_data_adopt_dense_(double **values, okra_int n, okra_int d,
                                   const char *source, okra_data **out);
/* Compressed rows whose blocks are got from okra_alloc_: sorted and checked in place,
 * taken over (and zeroed) on success. */
okra_status okra_data_adopt_sparse_(okra_csr_ *csr, okra_int n, okra_int d,
                                    const char *source, okra_data **out);
void okra_csr_free_(okra_csr_ *csr);
/* Another text of where fresh data come from; a failure frees them, *data is NULL. */
okra_status okra_data_rename_(okra_data **data, const char *source);
/* `block` (from okra_alloc_) will be freed with the data. */
void okra_data_own_(okra_data *data, void *block);
/* Gives label data copies of its d class names, in one block of pointers and one of
 * texts. */
okra_status okra_data_names_(okra_data *data, const char *const *names);
/* rows*cols, or OKRA_ESHAPE when the elements of `size` bytes are no 64-bit count. */
okra_status okra_area_(okra_int rows, okra_int cols, size_t size, okra_int *out);
/* OKRA_EFORMAT with the position of the first NaN or infinity among the values. */
okra_status okra_finite_(const double *values, okra_int rows, okra_int cols, okra_int ld);
/* The shortest text that reads back as the same double. */
enum { OKRA_NUMBER_TEXT_ = 32 };
const char *okra_double_text_(double value, char text[OKRA_NUMBER_TEXT_]);
/* The same for infinities alone; *missing says whether there is a NaN. */
okra_status okra_no_infinity_(const double *values, okra_int rows, okra_int cols,
                              okra_int ld, bool *missing);
/* The ragged group of that name, or NULL. */
const okra_ragged_ *okra_data_group_(const okra_data *data, const char *name);
/* The row count, kind and width in words, for messages: "200 dense vectors of length
 * 128". */
const char *okra_data_describe_(const okra_data *data, char *buffer, size_t size);

/* ---- weights ---- */

/* The weights of the objects of several collections, one after the other, or (index) of
 * chosen ones of the only one. */
okra_status okra_weights_take_(const okra_data *const *from, okra_int parts,
                               const okra_int *index, okra_int count, okra_data *to);
bool okra_weights_plain_(const okra_data *data); /* none, or all 1 */
/* How much object i counts, and all of them together. */
static inline double okra_weight_(const okra_data *data, okra_int i)
{
    return data->weights ? data->weights[i] : 1;
}
double okra_weights_total_(const okra_data *data);
/* The mean of n values as weights (NULL: none) say. */
double okra_weighted_mean_(okra_int n, const double *each, const double *weights);
/* Takes the weights from data that nobody else holds. */
void okra_weights_forget_(okra_data *fresh);
/* *x <- the same inputs, weighed as the outputs y are; those beyond y count once. */
okra_status okra_weights_pass_(const okra_data *y, okra_data **x);
/* Which of 0..n-1 do not have a weight of 0 in y; those beyond y have none. */
okra_status okra_weights_positive_(const okra_data *y, okra_int n, okra_int **out,
                                   okra_int *count);
/* Pairs without those of weight 0, and without weights where all others are 1. Inputs get
 * the weights of y, for kernels that learn from them. x may hold more objects than y. */
okra_status okra_weights_drop_(const okra_data *x, const okra_data *y, okra_data **x_out,
                               okra_data **y_out);

/* ---- names of columns ---- */

typedef struct okra_columns_ okra_columns_;
okra_columns_ *okra_columns_retain_(const okra_columns_ *columns);
void okra_columns_free_(okra_columns_ *columns); /* accepts NULL */
OKRA_DROPS_(okra_columns_drop_, okra_columns_, okra_columns_free_)
/* Sets the names that a file tells; those that tell no columns apart are none. */
okra_status okra_columns_read_(okra_data *data, const char *const *names);
/* The names of `from`, where `to` has as many columns and no names. */
void okra_columns_pass_(const okra_data *from, okra_data *to);
/* okra_data_align; not `strict`: names that have nothing in common do not count. */
okra_status okra_columns_align_(okra_context *ctx, const okra_data *x,
                                const okra_data *like, bool strict, okra_data **out);

/* ---- whole files ---- */

/* A file's bytes: a copy that nobody else can change, in memory, or in an unnamed file
 * where they are more than a quarter of the memory left. */
typedef struct okra_bytes_ {
    const unsigned char *p;
    okra_int size;
    void *base; /* of the mapping or block */
    bool mapped;
    okra_scratch_ copy;
} okra_bytes_;
okra_status okra_bytes_open_(const okra_context *ctx, const char *path, okra_bytes_ *out);
/* The same, but a file of `least` bytes or more stays mapped (0: more than a quarter of
 * the memory left). Another process may change such bytes: no bound may come from one
 * that is read twice. Where it cuts them short, loops fail (core/guard.c). */
okra_status okra_bytes_map_(const okra_context *ctx, const char *path, okra_int least,
                            okra_bytes_ *out);
void okra_bytes_close_(okra_bytes_ *bytes);
/* Whether a file that okra keeps for itself is there: what is no file, or cannot be read,
 * is an error, and nobody waits for a pipe. */
okra_status okra_bytes_there_(const char *path, bool *there);
/* inflateInit2 of zlib, whose memory is then the library's. */
struct z_stream_s;
okra_status okra_inflate_open_(struct z_stream_s *z, int window);
/* Deflate makes at most this many bytes of one: a larger claim is a lie. */
#define OKRA_RATIO_MOST_ 1032
/* Refuses a count that a file claims, of rows that may be empty or of elements that may
 * be packed, where it is beyond that ratio and beyond 2^20. */
okra_status okra_bytes_claim_(const okra_bytes_ *bytes, okra_int count, const char *what);

/* A file written under a temporary name in the same folder, then synced and renamed:
 * either the whole new file is there or nothing changed. */
typedef struct okra_writer_ okra_writer_;
okra_status okra_writer_open_(const char *path, okra_writer_ **out);
/* The same where many processes may work together (engine mpi): one of them writes, and
 * commits when all have come that far. */
okra_status okra_writer_join_(okra_context *ctx, const char *path, okra_writer_ **out);
okra_status okra_writer_put_(okra_writer_ *w, const void *bytes, size_t size);
okra_status okra_writer_printf_(okra_writer_ *w, const char *format, ...)
    OKRA_PRINTF(2, 3);
okra_int okra_writer_position_(const okra_writer_ *w);
/* Syncs and renames; the writer is gone afterwards whatever happens. */
okra_status okra_writer_commit_(okra_writer_ *w);
void okra_writer_abort_(okra_writer_ *w); /* accepts NULL */
OKRA_DROPS_(okra_writer_drop_, okra_writer_, okra_writer_abort_)

/* `count` objects, those first + i of / count, copied: evenly spaced, or (of == count)
 * one after the other. */
okra_status okra_data_some_(const okra_data *data, okra_int first, okra_int of,
                            okra_int count, okra_data **out);

/* The objects of several collections of one kind and width, one after the other. */
okra_status okra_data_join_(const okra_data *const *part, okra_int parts,
                            okra_data **out);

/* ---- shards ---- */

/* Does a spec name several files, shards:PATTERN or list:FILE? */
bool okra_shards_named_(const char *text);
okra_status okra_shards_read_(okra_context *ctx, const char *text, okra_data **out);
/* The same in pieces where all of them are arrays that can be used where they lie. */
okra_status okra_shards_open_(okra_context *ctx, const char *text, okra_data **out);
/* Rows of data in pieces, which are finite: copied, or as a collection. */
okra_status okra_stack_copy_(const okra_data *data, okra_int first, okra_int count,
                             double *to);
okra_status okra_stack_slice_(const okra_data *data, okra_int first, okra_int count,
                              okra_data **out);
/* Pieces become one block of memory; other data stay. */
okra_status okra_stack_join_(okra_context *ctx, okra_data **data);

/* ---- fingerprints ---- */

/* More bytes, and all values of a collection (NULL: none), mixed into a running hash that
 * begins at OKRA_MIX_START_. */
#define OKRA_MIX_START_ UINT64_C(0xcbf29ce484222325)
uint64_t okra_mix_(uint64_t h, const void *bytes, size_t size);
uint64_t okra_data_mix_(uint64_t h, const okra_data *data);
/* Names and values of options (NULL: none). */
uint64_t okra_options_mix_(uint64_t h, const okra_options *options);

/* ---- the same objects ---- */

/* first[k]: the lowest number of an object that is the same as object k, the objects of
 * all collections numbered one after the other. */
okra_status okra_data_same_(const okra_data *const *sets, int count, okra_int *first);
/* A whole number below 2^53 that is the same for the same objects. */
double okra_data_key_(const okra_data *data, okra_int i);

#endif
