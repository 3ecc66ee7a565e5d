/*
 * original.h: data sets as their makers publish them, turned into the files of entries.
 */
#ifndef OKRA_PAPER_ORIGINAL_H
#define OKRA_PAPER_ORIGINAL_H

#include "okra/okra.h"

/* The file in `data` or in the folder of `file` there from which `file`
 * ("usps/train_x.npy") can be made, e.g. DATA/zip.train.gz; false if there is none. */
bool paper_original(const char *data, const char *file, char *path, size_t size);
/* The name under which its makers publish what `file` holds, if okra reads that; NULL if
 * it does not. */
const char *paper_original_name(const char *file);
/* Makes `file`, and what else the same original holds, in the folder `scratch`. */
okra_status paper_convert(okra_context *context, const char *data, const char *file,
                          const char *scratch) OKRA_CHECK;
/* Removes what was made, and the folder. */
void paper_convert_clean(const char *scratch);

#endif
