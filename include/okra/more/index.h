/*
 * okra/more/index.h: candidates on disk: features of many molecules, computed once, or
 * many vectors.
 *
 * An index is a folder NAME.okx: a description and shards. A shard holds candidates
 * sorted by exact mass, with their texts, their formulas, numbers that came with them
 * and, for an output kernel whose features are hashed (bits=N), the bits or counts of
 * their features; it is mapped, never read as a whole. With a model it also holds
 * features of low rank of the model's output kernel.
 */
#ifndef OKRA_MORE_INDEX_H
#define OKRA_MORE_INDEX_H

#include "okra/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How an index is made. */
typedef struct okra_index_request {
    size_t size;             /* OKRA_SIZED(okra_index_request)                          */
    const char *source;      /* one SMILES per line, a name behind a blank; or a table
                              * NAME.tsv whose header has the column smiles; or vectors,
                              * NAME.npy or dense:NAME                              */
    const char *path;        /* the folder to make; it ends in .okx                     */
    const char *ky;          /* the output kernel; NULL: that of the model              */
    const okra_model *model; /* NULL: no features of low rank                          */
    okra_int rank;           /* of these; 0: none                                       */
    okra_int shard;          /* candidates in a shard at most; 0: 250,000               */
    const char *columns; /* of a table: whose numbers to keep, "logp,rt"; NULL: none */
    const char *table;   /* of vectors: NAME.tsv, whose lines tell about one after the
                          * other: name, and columns, of which mass sorts; NULL: none */
} okra_index_request;

/* What came of it. */
typedef struct okra_index_report {
    size_t size;       /* OKRA_SIZED(okra_index_report) */
    okra_int lines;    /* of the source                                             */
    okra_int kept;     /* candidates of the index                                   */
    okra_int broken;   /* lines that are no molecule: told and left out             */
    okra_int repeated; /* molecules that were there already, written the same or not;
                        * vectors all stay                                           */
    okra_int apart;    /* of equal features, but not shown to be the same: kept      */
    okra_int massless; /* kept, but of unknown mass: found without a window only     */
    okra_int shards;   /*                                                            */
    okra_int resumed;  /* shards that an interrupted run had left                    */
    bool whole;        /* repeats were looked for in all shards, not in each alone   */
    okra_int width;    /* of candidates that are vectors; 0: molecules               */
} okra_index_report;

/* Makes an index in bounded memory on the threads of the context. A run that was
 * interrupted leaves PATH.part; the same call goes on from there. Broken lines are left
 * out unless the context is strict. report may be NULL. */
OKRA_EXPERIMENTAL okra_status okra_index_build(okra_context *context,
                                               const okra_index_request *request,
                                               okra_index_report *report) OKRA_CHECK;

typedef struct okra_index okra_index;

/* Maps an index. Sizes are checked against the files; okra_index_check reads all of it.
 */
OKRA_EXPERIMENTAL okra_status okra_index_open(okra_context *context, const char *path,
                                              okra_index **out) OKRA_CHECK;
OKRA_EXPERIMENTAL void okra_index_free(okra_index *index);
/* OKRA_EFORMAT unless every checksum of every shard is right. */
OKRA_EXPERIMENTAL okra_status okra_index_check(okra_context *context,
                                               const okra_index *index) OKRA_CHECK;
OKRA_EXPERIMENTAL okra_int okra_index_count(const okra_index *index);
OKRA_EXPERIMENTAL okra_int
okra_index_rank(const okra_index *index); /* of low rank; 0: none */
/* Numbers of each candidate where these are vectors; 0: they are molecules. */
OKRA_EXPERIMENTAL okra_int okra_index_width(const okra_index *index);
/* Rows of the source: lines below a header that are not empty, or vectors. A candidate's
 * number is its row, from 0; rows that are broken or repeated are no candidates. */
OKRA_EXPERIMENTAL okra_int okra_index_lines(const okra_index *index);
/* Have vectors names, which a table gave? Molecules always may have one. */
OKRA_EXPERIMENTAL bool okra_index_named(const okra_index *index);
/* Columns of numbers that candidates came with; the name of one, NULL: there is none. */
OKRA_EXPERIMENTAL int okra_index_columns(const okra_index *index);
OKRA_EXPERIMENTAL const char *okra_index_column(const okra_index *index, int column);
/* The number of candidate i; NaN: not known. */
OKRA_EXPERIMENTAL double okra_index_value(const okra_index *index, okra_int i,
                                          int column);
/* The output kernel that its bits are of, and whether it has bits. */
OKRA_EXPERIMENTAL const char *okra_index_kernel(const okra_index *index, bool *bits);
/* Candidate i: its text (length bytes, not ended by NUL; NULL: there is none), mass. */
OKRA_EXPERIMENTAL const char *okra_index_text(const okra_index *index, okra_int i,
                                              okra_int *length);
OKRA_EXPERIMENTAL double okra_index_mass(const okra_index *index, okra_int i);

/* number[k]: the candidate that is the same molecule, or has the same values, as object
 * k; -1 where there is none. */
OKRA_EXPERIMENTAL okra_status okra_index_find(okra_context *context,
                                              const okra_index *index,
                                              const okra_data *molecules,
                                              okra_int *number) OKRA_CHECK;

/* Which candidates are compared with a test point, for okra_predict. */
typedef struct okra_window {
    size_t size; /* OKRA_SIZED(okra_window) */
    /* All of these between commas: "mass=10ppm", "mass=0.5Da" of the mass of the test
     * point; "formula": that of it; "logp=0.5": a column of the index within so much of
     * what the test point has there; "logp=1..3", "mass=100..200": from, to. NULL: all
     * candidates fit. Lists of molecules have mass and formula. */
    const char *within;
    const double *masses; /* of the test points; NULL: spectra and molecules tell them */
    const char *const *formulas; /* the same */
    const double *values; /* tests x columns of the index; NULL: spectra tell them    */
    okra_int shortlist;   /* low rank: how many are measured exactly; 0: 1,000         */
    bool exact;           /* measure all of them exactly, whatever the index holds     */
} okra_window;

#ifdef __cplusplus
}
#endif
#endif
