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
okra_status okra_table_next_(okra_table_ *table, bool *more) OKRA_CHECK;
/* OKRA_EFORMAT with the place of the field. */
okra_status okra_table_fail_(const okra_table_ *table, const char *what) OKRA_CHECK;

/* The shape of a table whose rows must agree. */
typedef struct okra_table_shape_ {
    okra_int records, columns;
    bool numbers; /* some field of the first record is a number or stands for one */
} okra_table_shape_;
okra_status okra_table_measure_(okra_table_ table, okra_table_shape_ *out) OKRA_CHECK;
/* The field at hand; between semicolons a number may have a decimal comma. */
okra_token_ okra_table_number_(const okra_table_ *table, double *value);

#endif
