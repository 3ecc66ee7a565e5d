/*
 * original_job.h: one conversion of an original file, shared by original*.c.
 */
#ifndef OKRA_PAPER_ORIGINAL_JOB_H
#define OKRA_PAPER_ORIGINAL_JOB_H

#include "../run.h"

typedef struct original_job {
    okra_context *context;
    const char *from;   /* the original                  */
    const char *folder; /* of the files that are made    */
    const char *part;   /* "train" of zip.train, or NULL */
} original_job;

okra_status original_no_memory(const original_job *j);
/* values, n x d, as FOLDER/name; they are given away. */
okra_status original_save(const original_job *j, const char *name, double *values,
                          okra_int n, okra_int d) OKRA_CHECK;
/* A text file FOLDER/name, to be closed by original_close, which says what went wrong. */
FILE *original_create(const original_job *j, const char *name);
okra_status original_close(const original_job *j, FILE *file) OKRA_CHECK;

okra_status original_zip_digits(const original_job *j) OKRA_CHECK;
okra_status original_letter_data(const original_job *j) OKRA_CHECK;
okra_status original_usps_all(const original_job *j) OKRA_CHECK;
okra_status original_poser(const original_job *j) OKRA_CHECK;
okra_status original_nips(const original_job *j) OKRA_CHECK;

#endif
