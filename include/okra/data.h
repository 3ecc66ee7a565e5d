/*
 * okra/data.h: collections of objects, and the files they come from.
 *
 * An okra_data is an immutable collection of n objects of one kind. It is counted: every
 * holder frees it once. A model keeps a reference to data that owns its memory and copies
 * data that only borrows it.
 */
#ifndef OKRA_DATA_H
#define OKRA_DATA_H

#include "okra/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum okra_kind {
    OKRA_DENSE,     /* n vectors of d doubles                                     */
    OKRA_SPARSE,    /* n vectors in compressed rows                               */
    OKRA_BITS,      /* n vectors of d bits, packed in 64-bit words                */
    OKRA_LABELS,    /* n class labels                                             */
    OKRA_GRAM,      /* n rows of a Gram matrix given by the user                  */
    OKRA_STRINGS,   /* n strings of code points                                   */
    OKRA_SEQUENCES, /* n sequences of vectors with labels                         */
    OKRA_GRAPHS,    /* n labelled graphs or molecules                             */
    OKRA_NODES,     /* n nodes of one network                                     */
    OKRA_TUPLE,     /* n tuples: the same n objects described in several ways     */
    OKRA_SPECTRA,   /* n tandem mass spectra: peaks, precursor, what is said of them */
    OKRA_BAGS,      /* n bags, each of one or more objects of one other kind      */
} okra_kind;

typedef struct okra_data okra_data;

/* What messages call the data, in place of "memory" or the file; for whoever made them,
 * before anybody else holds them. */
OKRA_API okra_status okra_data_name(okra_data *data, const char *name) OKRA_CHECK;

/* Row-major values with row stride ld. The memory is borrowed and must outlive the data;
 * okra_data_copy makes an owner of it. NaN and infinities are refused, with position. */
OKRA_API okra_status okra_data_dense(const double *values, okra_int n, okra_int d,
                                     okra_int ld, okra_data **out) OKRA_CHECK;
/* The same, NaN standing for a value that is not known: outputs of methods that say they
 * can use them. */
OKRA_API okra_status okra_data_missing(const double *values, okra_int n, okra_int d,
                                       okra_int ld, okra_data **out) OKRA_CHECK;
/* Compressed rows (indptr[n+1], indices, values), copied; indices are sorted and must be
 * in 0..d-1 without repeats. */
OKRA_API okra_status okra_data_sparse(const okra_int *indptr, const okra_int *indices,
                                      const double *values, okra_int n, okra_int d,
                                      okra_data **out) OKRA_CHECK;
/* Packed bits, `bytes` bytes a row, bit j of a row in byte j/8 at position j%8; copied.
 */
OKRA_API okra_status okra_data_bits(const unsigned char *packed, okra_int n, okra_int d,
                                    okra_int bytes, okra_data **out) OKRA_CHECK;
/* Class labels, copied; names (may be NULL) are the texts of classes 0..classes-1. */
OKRA_API okra_status okra_data_labels(const okra_int *labels, okra_int n,
                                      const char *const *names, okra_int classes,
                                      okra_data **out) OKRA_CHECK;
/* A Gram matrix: n x n for training, n_test x n_train for prediction. `diagonal`, the
 * self-similarities of the row objects, may be NULL; for a square training matrix it is
 * then the matrix's diagonal. Borrowed like dense data. */
OKRA_API okra_status okra_data_gram(const double *values, okra_int rows, okra_int cols,
                                    okra_int ld, const double *diagonal,
                                    okra_data **out) OKRA_CHECK;

/* Strings, UTF-8, copied; counted in code points. */
OKRA_API okra_status okra_data_strings(const char *const *texts, okra_int n,
                                       okra_data **out) OKRA_CHECK;
/* Sequences of vectors with labels, copied: sequence i owns rows offsets[i] to
 * offsets[i+1]-1 of `vectors` (d doubles each, row stride d; d may be 0) and of `labels`
 * (code points; may be NULL). */
OKRA_API okra_status okra_data_sequences(const okra_int *offsets, const double *vectors,
                                         const int32_t *labels, okra_int n, okra_int d,
                                         okra_data **out) OKRA_CHECK;
/* Molecules from SMILES, UTF-8, copied; a text after a blank is the molecule's name. */
OKRA_API okra_status okra_data_smiles(okra_context *context, const char *const *texts,
                                      okra_int n, okra_data **out) OKRA_CHECK;
/* Undirected graphs, copied. Graph i has the nodes first_node[i] to first_node[i+1]-1 and
 * the edges first_edge[i] to first_edge[i+1]-1; `ends` are two nodes an edge, numbered
 * from 0 within the graph. A label is a text; one that is a whole number is that number.
 * Labels may be NULL: all 0. */
OKRA_API okra_status okra_data_graphs(const okra_int *first_node,
                                      const char *const *node_labels,
                                      const okra_int *first_edge, const okra_int *ends,
                                      const char *const *edge_labels, okra_int n,
                                      okra_data **out) OKRA_CHECK;
/* n nodes of a network (codes == NULL: all of them in order, n is not looked at), copied.
 * Edges are undirected, each given once as two nodes in `ends`; weights (NULL: all 1) are
 * more than 0. names may be NULL: nodes are called by number. */
OKRA_API okra_status okra_data_nodes(okra_int nodes, const char *const *names,
                                     const okra_int *ends, const double *weights,
                                     okra_int edges, const okra_int *codes, okra_int n,
                                     okra_data **out) OKRA_CHECK;
/* Tandem mass spectra, copied: spectrum i has the peaks offsets[i] to offsets[i+1]-1, in
 * any order, at least one; intensities of 0 are no peaks. about[i] (about and each of its
 * texts may be NULL) says more in lines KEY=VALUE, as an MGF file does: PEPMASS is the
 * m/z of the precursor, ADDUCT or CHARGE tells the mass of the molecule. */
OKRA_API okra_status okra_data_spectra(const okra_int *offsets, const double *mz,
                                       const double *intensity, const char *const *about,
                                       okra_int n, okra_data **out) OKRA_CHECK;
/* Bags of objects (retained): bag i has the objects offsets[i] to offsets[i+1]-1, at
 * least one. The objects are no bags and have no weights. */
OKRA_API okra_status okra_data_bags(const okra_data *members, const okra_int *offsets,
                                    okra_int n, okra_data **out) OKRA_CHECK;
/* The same n objects described in `count` ways, retained. */
OKRA_API okra_status okra_data_tuple(okra_data *const *parts, int count,
                                     okra_data **out) OKRA_CHECK;

OKRA_API okra_status okra_data_copy(const okra_data *data, okra_data **out) OKRA_CHECK;
/* The chosen objects, in the order given (repeats allowed), as an owning collection. */
OKRA_API okra_status okra_data_take(const okra_data *data, const okra_int *index,
                                    okra_int count, okra_data **out) OKRA_CHECK;
/* The objects of a, then those of b, as an owning collection. Both are of one kind, width
 * and network; sparse vectors take the larger width, class labels the union of the names.
 * The rows of a Gram matrix keep their self-similarities only if both have them. */
OKRA_API okra_status okra_data_concat(const okra_data *a, const okra_data *b,
                                      okra_data **out) OKRA_CHECK;
/* The same objects (retained), each with a weight of 0 or more, copied: 2 counts as the
 * object twice, 0 as no such object. Weights of outputs are those of the training pairs
 * in okra_fit and selection, and of the pairs in okra_score; okra_data_take, copy and
 * concat keep them. weights == NULL: without. */
OKRA_API okra_status okra_data_weigh(const okra_data *data, const double *weights,
                                     okra_int n, okra_data **out) OKRA_CHECK;
/* Names of the columns of dense, sparse and bit vectors and of Gram matrices, UTF-8,
 * copied: all different, 1 to 255 bytes each without control characters, a megabyte
 * together. NULL: none. Readers of tables with a header set them; okra_data_take, copy,
 * weigh and concat keep them, and so does a model. */
OKRA_API okra_status okra_data_set_columns(okra_data *data,
                                           const char *const *names) OKRA_CHECK;
/* The name of column j, or NULL: there is none. */
OKRA_API const char *okra_data_column(const okra_data *data, okra_int j);
/* The n weights, or NULL: there are none. */
OKRA_API const double *okra_data_weights(const okra_data *data);
OKRA_API okra_data *okra_data_retain(const okra_data *data);
OKRA_API void okra_data_free(okra_data *data);

OKRA_API okra_kind okra_data_kind(const okra_data *data);
OKRA_API const char *okra_kind_name(okra_kind kind);
OKRA_API okra_int okra_data_count(const okra_data *data); /* n */
OKRA_API okra_int okra_data_width(const okra_data *data); /* d; classes for labels */
/* Values and row stride of dense and Gram data; NULL for other kinds. */
OKRA_API const double *okra_data_values(const okra_data *data, okra_int *ld);
/* The codes of label data, the numbers of nodes; NULL for other kinds. */
OKRA_API const okra_int *okra_data_codes(const okra_data *data);
/* The text that object i is known by, `length` bytes, not ended by NUL: the class of a
 * label, the name of a node, a molecule as it was written, the id of a graph, the title
 * of a spectrum; NULL where there is none. */
OKRA_API const char *okra_data_text(const okra_data *data, okra_int i, okra_int *length);
/* The row of object i in its file, from 0: lines below a header that are not empty, also
 * those that were left out because they are broken. -1: there is none. */
OKRA_API okra_int okra_data_row(const okra_data *data, okra_int i);

/* Reads `spec`: a path whose extension tells the format, or "-" for standard input, after
 * any of these prefixes: a format (okra_data_formats lists them) and how to take the
 * values (dense, sparse, bits, packed, labels, targets, gram, strings, ...), as
 * "labels:y.csv". "file.npz:name" chooses an array, "labels:file.csv:name" a
 * column; docs/formats.md has all of it. Messages name the file, the line or element,
 * what was found and what was expected. */
OKRA_API okra_status okra_data_read(okra_context *context, const char *spec,
                                    okra_data **out) OKRA_CHECK;
/* The same of `size` bytes in memory, by the name of a format: csv, tsv, txt, smiles,
 * svm, ... */
OKRA_API okra_status okra_data_parse(okra_context *context, const char *format,
                                     const char *text, size_t size,
                                     okra_data **out) OKRA_CHECK;
/* Writes to a temporary name beside `path`, syncs, renames; the extension tells the
 * format (okra_data_formats says which can be written); "-" is standard output (format by
 * `type:-`, csv if none). */
OKRA_API okra_status okra_data_write(okra_context *context, const okra_data *data,
                                     const char *path) OKRA_CHECK;
/* ---- synthetic tasks: same seed, same numbers, on every machine ---- */

/* The formats that can be read and written, one "name: description" a line. */
OKRA_API const char *okra_data_formats(void);

#ifdef __cplusplus
}
#endif
#endif
