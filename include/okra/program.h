/*
 * okra/program.h: what the program and the Python package need of the library beyond its
 * interface. It is not installed for C and promises nothing: any version may change it.
 */
#ifndef OKRA_PROGRAM_H
#define OKRA_PROGRAM_H

#include "okra/data.h"
#include "okra/more/tables.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The processor whose code OpenBLAS runs: "SkylakeX", "Haswell", ... Where that is a much
 * older one than this, because OpenBLAS does not know it, *better (may be NULL) is what
 * the environment variable OPENBLAS_CORETYPE should say before the program starts; NULL
 * where all is well, or the user has set it. */
OKRA_API const char *okra_blas_core(const char **better);
/* OKRA_EMEM where the process's limits have no room for matrix products: OpenBLAS would
 * wait for ever. */
OKRA_API okra_status okra_blas_check(void) OKRA_CHECK;
/* "8G", "512M", "1.5e9", "64k" (powers of 1024) -> bytes. */
OKRA_API okra_status okra_parse_bytes(const char *text, okra_int *bytes) OKRA_CHECK;
/* A text that came from a file, safe to show: control characters, invalid UTF-8 and marks
 * that change the direction of writing become \xNN. Returns buffer; cut where it does not
 * fit. Messages and warnings of the library have been through this. */
OKRA_API const char *okra_text_printable(const char *text, char *buffer, size_t size);
/* The nearest of the names (edit distance <= 3), or NULL: for "did you mean". */
OKRA_API const char *okra_nearest(const char *name, const char *const *names,
                                  size_t count);
/* A file that appears under its name whole or not at all: what is written to *fd is kept
 * where okra_file_close says so, which frees the file in any case. Only the first of
 * processes that work together writes it. */
typedef struct okra_writer_ okra_file;
OKRA_API okra_status okra_file_open(okra_context *context, const char *path,
                                    okra_file **out, int *fd) OKRA_CHECK;
OKRA_API okra_status okra_file_close(okra_file *file, bool keep);
/* n smooth 16 x 16 patterns with values in [-1, 1], cut in two: x is the upper half, y
 * the lower one, 128 values each, row by row. */
OKRA_API okra_status okra_synthetic_patterns(uint64_t seed, okra_int n, okra_data **x,
                                             okra_data **y) OKRA_CHECK;
/* The S-shape: t ~ U(0,1), r = t + 0.3 sin(2 pi t) + N(0, 0.05^2); x is r, y is t, so
 * that three values of y fit one x in the middle. */
OKRA_API okra_status okra_synthetic_s_shape(uint64_t seed, okra_int n, okra_data **x,
                                            okra_data **y) OKRA_CHECK;
/* Strings to strings (Weston et al. 2003, sec. 4.1): n pairs of strings over a, b, c, d
 * in three classes, one after another in turn; x from a Markov chain of the class, y its
 * word (abad, dbbd, abc) with letters inserted and deleted. `classes` (may be NULL) gets
 * the labels. */
OKRA_API okra_status okra_synthetic_strings(uint64_t seed, okra_int n, okra_data **x,
                                            okra_data **y,
                                            okra_data **classes) OKRA_CHECK;
/* The same with the probabilities of one and of two insertions, and of as many deletions;
 * 0.3 and 0.15 above. */
OKRA_API okra_status okra_synthetic_strings_noise(uint64_t seed, okra_int n, double one,
                                                  double two, okra_data **x,
                                                  okra_data **y,
                                                  okra_data **classes) OKRA_CHECK;
/* All n nodes of a random network: an edge between two nodes of one class has probability
 * p_intra, of two classes p_inter; the classes are equally large runs of nodes. One
 * class: the Erdos-Renyi law. */
OKRA_API okra_status okra_synthetic_network(uint64_t seed, okra_int n, okra_int classes,
                                            double p_intra, double p_inter,
                                            okra_data **out) OKRA_CHECK;
/* The numbers of the objects that differ, as okra_data_distinct tells them, but molecules
 * are the same where their atoms and bonds are, however they are written (stereo
 * chemistry plays no part, as in an index). */
OKRA_API okra_status okra_candidates_distinct(const okra_data *data, okra_int *index,
                                              okra_int *count) OKRA_CHECK;
/* index[k]: the first of `among` that is object k of `data` in this sense, or -1. */
OKRA_API okra_status okra_candidates_match(const okra_data *data, const okra_data *among,
                                           okra_int *index) OKRA_CHECK;

#ifdef __cplusplus
}
#endif
#endif
