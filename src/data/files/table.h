/*
 * table.h: the fields of a table of text, one after another (RFC 4180).
 */
#ifndef OKRA_TABLE_H_
#define OKRA_TABLE_H_

#include "data/files/formats.h"

/* A quoted field may hold line ends. */
typedef struct okra_table_ {
    const char *p, *end;
    char separator;
    okra_int line, column; /* of the field, from 1; the line where it begins */
    okra_int next_line;
    const char *begin, *close; /* the field, without quotes     */
    bool quoted, escaped;      /* escaped: holds doubled quotes */
    bool last;                 /* of its record                 */
} okra_table_;

okra_table_ okra_table_begin_(const okra_bytes_ *bytes, char separator);
/* Moves to the next field; *more is false at the end of the table. */
okra_status okra_table_next_(okra_table_ *table, bool *more);
/* OKRA_EFORMAT with the place of the field. */
okra_status okra_table_fail_(const okra_table_ *table, const char *what);

/* The shape of a table whose rows must agree. */
typedef struct okra_table_shape_ {
    okra_int records, columns;
    bool numbers; /* some field of the first record is a number or stands for one */
} okra_table_shape_;
okra_status okra_table_measure_(okra_table_ table, okra_table_shape_ *out);
/* Is the first record the names of the columns? The setting of the context, or evidence:
 * yes where a column without a number there holds numbers or dates below. `texts`: its
 * values are to be texts; numbers cannot stand in a first line without any. */
okra_status okra_table_header_(const okra_source_ *source, okra_table_ table,
                               const okra_table_shape_ *shape, bool texts, bool *header);
/* A table with a header, of numbers, dates, classes and gaps, as vectors (mixed.c);
 * left_out: a column from 1 that is not wanted, or 0. */
okra_status okra_read_mixed_(const okra_source_ *source, okra_table_ table,
                             const okra_table_shape_ *shape, okra_int left_out,
                             okra_data **out);
/* Were these vectors made by it? (NULL: no) */
bool okra_mixed_like_(const okra_data *like);
/* A day and time of the calendar, 2024-05-31, 2024/05/31 10:30 or 31.05.2024, in days
 * since 1970. */
bool okra_date_(const char *p, const char *end, double *days);
/* The field at hand; between semicolons a number may have a decimal comma. */
okra_token_ okra_table_number_(const okra_table_ *table, double *value);

#endif
