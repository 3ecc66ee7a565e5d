/*
 * objects.h: how collections of one kind are saved and loaded, shared by their files.
 */
#ifndef OKRA_MODEL_OBJECTS_H_
#define OKRA_MODEL_OBJECTS_H_

#include "model/model.h"

/* The folder of an archive that a collection is loaded from. */
typedef struct okra_stored_ {
    okra_archive_ *archive;
    const char *folder;
    const json_t *about; /* kind, count, width */
    okra_int n, d;
} okra_stored_;

/* An array whose shape must be rows x cols (cols < 0: a vector; rows < 0: any number). */
okra_status okra_fetch_(const okra_stored_ *s, const char *name, const char *dtype,
                        okra_int rows, okra_int cols, const void **values,
                        okra_int *rows_found);

okra_status okra_ragged_save_(okra_saver_ *saver, const char *folder,
                              const okra_data *data);
okra_status okra_ragged_load_(const okra_stored_ *s, okra_data **out);
okra_status okra_tuple_save_(okra_saver_ *saver, const char *folder,
                             const okra_data *data);
okra_status okra_tuple_load_(const okra_stored_ *s, okra_data **out);

#endif
