/*
 * okra/more/objects.h: the inside of objects, and collections compared with one another.
 */
#ifndef OKRA_MORE_OBJECTS_H
#define OKRA_MORE_OBJECTS_H

#include "okra/data.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Each different object once: index (okra_data_count places) gets the numbers of the
 * first of each, ascending, *count how many they are. Labels and nodes with names are the
 * same where their names are. */
OKRA_EXPERIMENTAL okra_status okra_data_distinct(const okra_data *data, okra_int *index,
                                                 okra_int *count) OKRA_CHECK;
/* index[k]: the first object of `among` that is the same as object k of `data`, -1 where
 * there is none. */
OKRA_EXPERIMENTAL okra_status okra_data_match(const okra_data *data,
                                              const okra_data *among,
                                              okra_int *index) OKRA_CHECK;
/* x with its columns in the order of `like`, where both have names: x itself (retained)
 * where they agree or one has none, OKRA_ESHAPE where their names differ. A warning tells
 * of another order. okra_predict and all that take new inputs of a model do this. */
OKRA_EXPERIMENTAL okra_status okra_data_align(okra_context *context, const okra_data *x,
                                              const okra_data *like,
                                              okra_data **out) OKRA_CHECK;
/* weights (n places) that make every class of labels count the same: n / (classes that
 * occur * pairs of the class). A label of weight 2 counts twice, one of weight 0 does not
 * occur. */
OKRA_EXPERIMENTAL okra_status okra_data_balanced(const okra_data *labels,
                                                 double *weights) OKRA_CHECK;
/* The code points of string i, or the labels of sequence i; NULL for other kinds. */
OKRA_EXPERIMENTAL const int32_t *okra_data_characters(const okra_data *data, okra_int i,
                                                      okra_int *length);
/* The vectors of sequence i, length x d, row by row; NULL for other kinds. */
OKRA_EXPERIMENTAL const double *okra_data_vectors(const okra_data *data, okra_int i,
                                                  okra_int *length);
/* The compressed rows of sparse data: indptr (n + 1; NULL for other kinds), and the
 * others. */
OKRA_EXPERIMENTAL const okra_int *okra_data_compressed(const okra_data *data,
                                                       const okra_int **indices,
                                                       const double **values);
/* The packed rows of bits, `words` words each, bit j in word j / 64 at j % 64; NULL for
 * other kinds. */
OKRA_EXPERIMENTAL const uint64_t *okra_data_words(const okra_data *data, okra_int *words);
/* The peaks of spectrum i, m/z ascending; how many, 0 for other kinds. */
OKRA_EXPERIMENTAL okra_int okra_data_peaks(const okra_data *data, okra_int i,
                                           const double **mz, const double **intensity);
/* What is said about spectrum i under that key, `length` bytes, not ended by NUL; all of
 * it as lines KEY=VALUE where key is NULL. NULL where nothing is said. */
OKRA_EXPERIMENTAL const char *okra_data_about(const okra_data *data, okra_int i,
                                              const char *key, okra_int *length);
/* The exact mass of object i in dalton: of a molecule the sum of its atoms, of a spectrum
 * that of the molecule as precursor and adduct tell it; 0: not known. */
OKRA_EXPERIMENTAL double okra_data_mass(const okra_data *data, okra_int i);
/* The formula of molecule i in Hill's order, in the buffer ("": no molecule, or no
 * buffer); returns the buffer. */
OKRA_EXPERIMENTAL const char *okra_data_formula(const okra_data *data, okra_int i,
                                                char *buffer, size_t size);
/* Description k of tuples, or (k = 0) all members of bags, borrowed; else NULL. */
OKRA_EXPERIMENTAL const okra_data *okra_data_part(const okra_data *data, int k);
/* Of bags: bag i has the members offsets[i] to offsets[i+1]-1; NULL of other kinds. */
OKRA_EXPERIMENTAL const okra_int *okra_data_offsets(const okra_data *data);

#ifdef __cplusplus
}
#endif
#endif
