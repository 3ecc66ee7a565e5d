/*
 * formats.h: what the readers and writers of file formats share.
 *
 * A reader turns a source into dense or sparse data, or into labels when labels are asked
 * for and the format knows them (text columns, LIBSVM); okra_take_as_ then makes of
 * dense or sparse data what was asked for. Readers do not name the file in messages: the
 * caller puts it in front.
 */
#ifndef OKRA_FORMATS_H_
#define OKRA_FORMATS_H_

#include "data/data.h"

/* How the values of a file are to be taken; the words are the prefixes of a spec. */
#define OKRA_HOW_LIST_(X)                                                                \
    X(DENSE, "dense", "vectors, zeros filled in")                                        \
    X(SPARSE, "sparse", "vectors, zeros left out")                                       \
    X(BITS, "bits", "vectors of 0 and 1, packed into bits")                              \
    X(PACKED, "packed", "bytes that hold 8 bits each, the lowest first")                 \
    X(LABELS, "labels", "class labels")                                                  \
    X(TARGETS, "targets", "the leading numbers of LIBSVM lines, as vectors of length 1") \
    X(GRAM, "gram", "rows of a Gram matrix")                                             \
    X(STRINGS, "strings", "strings: lines of text, or a column of a table")              \
    X(SEQUENCES, "sequences",                                                            \
      "sequences of vectors with labels, by a table of positions")                       \
    X(NODES, "nodes",                                                                    \
      "nodes of the network that the file holds; nodes:FILE:LIST for some")              \
    X(MISSING, "missing", "vectors in which nan or an empty field is a missing value")   \
    X(DISTANCES, "distances", "rows of a matrix of distances, for from-distance")        \
    X(PERMUTATIONS, "permutations",                                                      \
      "rankings: vectors of the ranks of items, each of 1 to d once")

typedef enum okra_how_ {
    OKRA_HOW_FOUND_, /* as the file has them */
#define OKRA_HOW_ENUM_(symbol, word, help) OKRA_HOW_##symbol##_,
    OKRA_HOW_LIST_(OKRA_HOW_ENUM_)
#undef OKRA_HOW_ENUM_
} okra_how_;

const char *okra_how_name_(okra_how_ how);                 /* the word */
okra_how_ okra_how_find_(const char *word, size_t length); /* OKRA_HOW_FOUND_: none */

typedef struct okra_source_ {
    okra_context *ctx;
    const char *name; /* for messages and for the data's source      */
    const char *path; /* for readers that open the file again        */
    const char *part; /* the array or column chosen, or NULL         */
    okra_how_ how;
    bool inputs;           /* a table may be of several kinds        */
    const okra_data *like; /* what it is to be like, or NULL         */
    const char *bag;       /* the field that groups rows into bags, or NULL */
    okra_bytes_ bytes;     /* the file; a reader may take it over        */
} okra_source_;

typedef struct okra_file_format_ {
    const char *name, *extensions, *magic; /* extensions: ".a .b"; magic may be NULL */
    okra_status (*read)(okra_source_ *source, okra_data **out);
    okra_status (*write)(okra_writer_ *w, const okra_data *data);
} okra_file_format_;

/* NULL if there is none of that name. */
const okra_file_format_ *okra_format_find_(const char *name, size_t length);
/* Reads by one format and takes the values as asked. */
okra_status okra_format_read_(const okra_file_format_ *format, okra_source_ *source,
                              okra_data **out);

/* Rows of one text in the field or column source->bag become one bag (bags_read.c). */
okra_status okra_read_bags_(const okra_file_format_ *format, okra_source_ *source,
                            okra_data **out);

/* okra_read_npy_, ... and okra_write_npy_, ...; nodes: names or numbers, a line each. */
/* clang-format off */
#define OKRA_READERS_(X) X(npy) X(npz) X(csv) X(tsv) X(svm) X(svm0) X(mtx) X(smiles) \
    X(sdf) X(mgf) X(msp) X(txt) X(fasta) X(letters) X(graphml) X(edges)
#define OKRA_WRITERS_(X) X(npy) X(csv) X(tsv) X(mtx) X(smiles) X(sdf) X(mgf) X(txt) \
    X(fasta) X(graphml) X(nodes)
/* clang-format on */
#define OKRA_READS_(name) \
    okra_status okra_read_##name##_(okra_source_ *source, okra_data **out);
#define OKRA_WRITES_(name) \
    okra_status okra_write_##name##_(okra_writer_ *w, const okra_data *data);
OKRA_READERS_(OKRA_READS_)
OKRA_WRITERS_(OKRA_WRITES_)
/* Nodes of a network: edges, or a matrix of weights read by the format. */
okra_status okra_read_nodes_(const okra_file_format_ *format, okra_source_ *source,
                             okra_data **out);
/* Warns that `count` molecules, the first on that line, have no Kekule structure. */
void okra_warn_unkekulised_(const okra_source_ *s, okra_int count, okra_int first);
/* A text as a line of its own; one that holds a line end is refused: "string 3 ...". */
okra_status okra_put_line_(okra_writer_ *w, const char *text, const char *what,
                           okra_int i);
/* Sequences: `source` is a table of positions, or dense vectors whose part names such a
 * table beside the file. */
okra_status okra_read_sequences_(const okra_file_format_ *format, okra_source_ *source,
                                 okra_data **out);
/* Vectors without the header. */
okra_status okra_write_npy_rows_(okra_writer_ *w, const okra_data *data);

/* ---- taking values as asked ---- */

/* Replaces *data (dense, sparse or labels) by what `how` asks for. */
okra_status okra_take_as_(const okra_context *ctx, okra_how_ how, okra_data **data);
/* The same vectors, bits or rows of a Gram matrix, column j in the place place[j]. */
okra_status okra_move_columns_(const okra_context *ctx, const okra_data *from,
                               const okra_int *place, okra_data **out);
static inline unsigned char okra_bit_(const okra_data *data, okra_int i, okra_int j)
{
    return (unsigned char)(data->bits[i * data->words + j / 64] >> (j % 64) & 1);
}
/* Codes beyond this are not class numbers but identifiers. */
#define OKRA_CODES_MOST_ INT64_C(1000000)
/* Labels from n texts: whole numbers from 0 are codes as they are; otherwise the distinct
 * texts, in order of number or else of bytes, are the names of the classes. */
okra_status okra_labels_from_texts_(char *const *texts, okra_int n, const char *source,
                                    okra_data **out);

/* ---- text ---- */

/* What a piece of text is. */
typedef enum okra_token_ {
    OKRA_TOKEN_NUMBER_,
    OKRA_TOKEN_NONFINITE_, /* nan, inf, or a number too large */
    OKRA_TOKEN_MISSING_,   /* empty, "?", "NA" or "-"          */
    OKRA_TOKEN_TEXT_,
} okra_token_;
/* Reads a decimal number that must fill p..end but for blanks around it. */
okra_token_ okra_number_(const char *p, const char *end, double *value);
/* A whole number of at least 0 at *p; moves *p behind it. */
bool okra_whole_(const char **p, const char *end, okra_int *value);

/* The whole number that a text is, without sign and leading zeros; -1: it is none, or
 * above `most`. */
okra_int okra_plain_number_(const char *text, okra_int most);

/* Lines of a text, one after another. */
typedef struct okra_lines_ {
    const char *p, *end;       /* what is left            */
    const char *begin, *close; /* the line, without its end of line */
    okra_int number;           /* of the line, from 1     */
} okra_lines_;
/* Begins at the text of `bytes`, behind a byte-order mark. */
okra_lines_ okra_lines_begin_(const okra_bytes_ *bytes);
bool okra_lines_next_(okra_lines_ *lines);
/* Reports how much of a file is read. */
void okra_lines_progress_(const okra_source_ *source, const okra_lines_ *lines);
/* OKRA_EFORMAT if a line of a file of objects is too long or is not UTF-8. */
okra_status okra_line_check_(const okra_lines_ *line);
/* The column-th field (from 0) of a line; false if there are fewer. */
bool okra_line_field_(const okra_lines_ *line, char separator, okra_int column,
                      const char **begin, const char **close);
/* The next run of non-blank characters from *p on; false at the end. */
bool okra_word_(const char **p, const char *end, const char **word, const char **close);
/* The words of a failing field: "line 3, column 2: '...' is not a number". */
okra_status okra_bad_field_(okra_token_ token, okra_int line, okra_int column,
                            const char *p, const char *end);

/* Collects texts; all of them end in one block. */
typedef struct okra_texts_ {
    char *block;
    okra_int used, capacity, count, room;
    okra_int *offsets;
    char **pointers; /* made by okra_texts_done_ */
} okra_texts_;
okra_status okra_texts_add_(okra_texts_ *texts, const char *p, const char *end);
okra_status okra_texts_done_(okra_texts_ *texts);
void okra_texts_free_(okra_texts_ *texts);

/* Columns of a table with a header as texts: names[k] lists the headers that column k may
 * have, "word_id|sequence"; texts[k] stays empty where there is none. */
okra_status okra_table_columns_(const okra_bytes_ *bytes, char separator, int count,
                                const char *const *names, okra_texts_ *texts);

/* The texts of one column of source's table, its name or number, and the table without
 * it; has_header: the first record of both was names. */
okra_status okra_table_cut_(const okra_source_ *source, bool tabs, const char *part,
                            okra_texts_ *texts, okra_bytes_ *rest, bool *has_header);

/* ---- NumPy's array format, shared by .npy and .npz files and the model file ---- */

typedef struct okra_npy_ {
    char type;      /* 'b' bool, 'i', 'u', 'f'            */
    int size;       /* bytes an element                   */
    bool swapped;   /* big-endian                         */
    bool fortran;   /* column after column                */
    int dimensions; /* 1 or 2                            */
    okra_int rows, cols;
    okra_int offset; /* of the first element             */
} okra_npy_;

/* Parses the header of a whole array file in memory and tests that its elements fill the
 * rest of the bytes exactly. */
okra_status okra_npy_parse_(const unsigned char *p, okra_int size, okra_npy_ *out);
/* Dense data from the whole array file at p. The elements are used in place when they
 * already are what okra computes with; `holder`, the bytes that p points into, is then
 * taken over (and zeroed). `nan`: elements that are not finite are let through. */
okra_status okra_npy_data_(const okra_context *ctx, const unsigned char *p, okra_int size,
                           okra_bytes_ *holder, bool nan, const char *source,
                           okra_data **out);
/* A version 1 header for n x d elements in C order (d < 0: a 1-D array of n), for example
 * descr "<f8". Returns its length, a multiple of 64. */
enum { OKRA_NPY_HEADER_ = 128 };
size_t okra_npy_header_(const char *descr, okra_int n, okra_int d,
                        char header[OKRA_NPY_HEADER_]);

/* ---- the bytes of a file in pieces, unpacked on the way when it is gzipped ---- */

typedef struct okra_stream_ okra_stream_;

/* `bytes` stay the caller's and must outlive the stream. Gzip is told by its first bytes;
 * files of several members (bgzip) are read through. */
okra_status okra_stream_create_(const okra_bytes_ *bytes, okra_stream_ **out);
void okra_stream_free_(okra_stream_ *stream); /* accepts NULL */
OKRA_DROPS_(okra_stream_drop_, okra_stream_, okra_stream_free_)
/* The next piece, valid until the next call; *size is 0 at the end. */
okra_status okra_stream_next_(okra_stream_ *stream, const unsigned char **piece,
                              okra_int *size);

/* ---- the fields of a table of text, one after another (RFC 4180) ---- */

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
    okra_int gaps; /* fields of the first record that stand for none */
    bool numbers;  /* some field there is a number, or all are gaps */
} okra_table_shape_;
okra_status okra_table_measure_(okra_table_ table, okra_table_shape_ *out);
/* Is the first record the names of the columns? The setting of the context, or evidence:
 * yes where a column without a number there holds numbers or dates below. `texts`: its
 * values are to be texts; numbers cannot stand in a first line without any. */
okra_status okra_table_header_(const okra_source_ *source, okra_table_ table,
                               const okra_table_shape_ *shape, bool texts, bool *header);
/* Which columns are read, `count` of them; taken NULL: all. rest: all but those named. */
typedef struct okra_columns_choice_ {
    bool *taken;
    okra_int count;
    bool rest, header;
} okra_columns_choice_;
/* Leaves out columns that the header gives no name, if they count the rows, as pandas and
 * R number them, or hold nothing, as after a comma at the end of each line. */
okra_status okra_table_leave_unnamed_(const okra_source_ *source, okra_table_ table,
                                      const okra_table_shape_ *shape,
                                      okra_columns_choice_ *choice);
/* Refuses one file for a model of several inputs. */
okra_status okra_too_few_parts_(const okra_data *like);
/* A table of numbers, dates, classes, gaps and molecules, as vectors (mixed.c). */
okra_status okra_read_mixed_(const okra_source_ *source, okra_table_ table,
                             const okra_table_shape_ *shape,
                             const okra_columns_choice_ *choice, okra_data **out);
/* Are the texts SMILES? Not where all could be words, or one in ten is broken; of a
 * column `called` so, where half are. What is broken the reader of molecules will refuse.
 */
okra_status okra_texts_are_molecules_(const char *const *texts, okra_int n, bool called,
                                      bool *out);
/* Were these inputs made by it? (NULL: no) */
bool okra_mixed_like_(const okra_data *like);
/* A day and time of the calendar, 2024-05-31, 2024/05/31 10:30 or 31.05.2024, in days
 * since 1970. */
bool okra_date_(const char *p, const char *end, double *days);
/* The field at hand; between semicolons a number may have a decimal comma. */
okra_token_ okra_table_number_(const okra_table_ *table, double *value);

/* ---- texts and their numbers, in order of first appearance ---- */

/* All zero when empty. */
typedef struct okra_names_ {
    okra_texts_ texts;
    okra_hashed_ slots;
} okra_names_;

static inline const char *okra_name_(const okra_names_ *n, okra_int i)
{
    return n->texts.block + n->texts.offsets[i];
}
/* The number of a name, -1 if it is not there. */
okra_int okra_names_find_(const okra_names_ *n, const char *p, const char *end);
/* The same, given the next number if it is new. */
okra_status okra_names_add_(okra_names_ *n, const char *p, const char *end,
                            okra_int *code);
void okra_names_free_(okra_names_ *n);

#endif
