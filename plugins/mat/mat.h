/*
 * mat.h: the parts of okra-mat, the program that reads MATLAB files for the library.
 */
#ifndef OKRA_PLUGIN_MAT_H
#define OKRA_PLUGIN_MAT_H

#include <stdbool.h>
#include <stdint.h>

/* Limits of this process: bytes of memory beyond what it has now, seconds of processor
 * time, no file written, no core, no new privileges, no descriptor but 0, 1 and 2, no
 * system call but those that reading needs. False where the system refuses. */
bool sandbox_enter(int64_t memory, int64_t seconds);
/* From now on no file can be opened. */
bool sandbox_close(void);

/* Reads variable `part` (NULL: the only numeric one) of the file `path` and writes the
 * records of data/files/mat.h to `out`. `opened` is called once the file is open (NULL:
 * nothing is). Elements of more than `memory` bytes are not read: the library, which has
 * the shape by then, does not want them. 0, or 1 after an error, which the records tell.
 */
int mat_answer(const char *path, const char *part, int64_t memory, bool (*opened)(void),
               int out);

#endif
