/*
 * okra/more/tables.h: tables as inputs, and whether texts are strings or classes.
 */
#ifndef OKRA_MORE_TABLES_H
#define OKRA_MORE_TABLES_H

#include "okra/data.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Texts that mostly repeat are classes: each comes twice or more on average, of more than
 * 20 different ones five times. */
OKRA_EXPERIMENTAL okra_status okra_texts_are_classes(const char *const *texts, okra_int n,
                                                     bool *out) OKRA_CHECK;
/* okra_data_read of a file that a model is to take: what the file leaves open (texts of a
 * table: strings or classes?) is as in `like`, which may be NULL. */
OKRA_EXPERIMENTAL okra_status okra_data_read_like(okra_context *context, const char *spec,
                                                  const okra_data *like,
                                                  okra_data **out) OKRA_CHECK;
/* The same of inputs: a table with a header may have columns of numbers, dates and
 * classes, and gaps; its vectors have columns called NAME, NAME=TEXT and "NAME missing".
 */
OKRA_EXPERIMENTAL okra_status okra_data_read_inputs(okra_context *context,
                                                    const char *spec,
                                                    const okra_data *like,
                                                    okra_data **out) OKRA_CHECK;
/* The same as bags: rows of one text in a field of spectra (INCHIKEY) or a column of a
 * table (its name or number), wherever they stand, are one bag; bags come in the order of
 * their first rows, which okra_data_row tells. The column is none of the vectors'. */
OKRA_EXPERIMENTAL okra_status okra_data_read_bags(okra_context *context, const char *spec,
                                                  const char *field,
                                                  const okra_data *like,
                                                  okra_data **out) OKRA_CHECK;
/* One output for each bag of x: where y has one for each member, that of its first; a
 * warning where those of a bag differ. Others: y itself, retained. */
OKRA_EXPERIMENTAL okra_status okra_data_outputs(okra_context *context, const okra_data *x,
                                                const okra_data *y,
                                                okra_data **out) OKRA_CHECK;

#ifdef __cplusplus
}
#endif
#endif
