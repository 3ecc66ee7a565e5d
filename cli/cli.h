/*
 * cli.h: what the commands share: one run of the program, flags from option tables,
 * messages, tables on the terminal, files.
 *
 * A command is one file with one cli_command and one line in commands.h. Data goes to
 * standard output, everything said about it to standard error. Exit status: 0 done, 1
 * failed, 2 wrong usage, 128 + signal when interrupted.
 */
#ifndef OKRA_CLI_H
#define OKRA_CLI_H

#include "okra/okra.h"
#include "okra/more.h"

#include <jansson.h>
#include <stdio.h>

enum { CLI_DONE = 0, CLI_FAILED = 1, CLI_USAGE = 2 };

typedef struct cli_run cli_run;

/* Says what is wrong with what was typed, and leaves. */
#define REFUSE_IF(bad, ...)                     \
    do {                                        \
        if (bad) {                              \
            return cli_usage(run, __VA_ARGS__); \
        }                                       \
    } while (0)

/* Passes a failure on at once: an okra_status, or an exit status. */
#define CHK(call)                                       \
    do {                                                \
        __typeof__(call) failed_ = (call);              \
        if (failed_ != (__typeof__(failed_))CLI_DONE) { \
            return failed_;                             \
        }                                               \
    } while (0)
/* The same of a call of the library, after saying what failed. */
#define TRY(call) CHK(cli_status(run, call))
#define GOT(p) CHK((p) ? CLI_DONE : cli_no_memory(run))
/* p gets `count` elements of zeros, and at least one; --memory has room for them. */
#define MAKE(p, count) \
    CHK(((p) = cli_make(run, (size_t)(count) + 1, sizeof *(p))) ? CLI_DONE : CLI_FAILED)

/* A variable that every way out frees, by free or by the call of its type. */
#define FREED_BY(call) __attribute__((cleanup(call)))
#define OWNED FREED_BY(cli_free_at)
void cli_free_at(void *at);
#define FREED_AT(type, call)                \
    static inline void call##_at(type **at) \
    {                                       \
        call(*at);                          \
    }
FREED_AT(okra_data, okra_data_free)
FREED_AT(okra_model, okra_model_free)
FREED_AT(okra_kernel, okra_kernel_free)
FREED_AT(okra_index, okra_index_free)
FREED_AT(okra_options, okra_options_free)
FREED_AT(okra_prediction, okra_prediction_free)
FREED_AT(okra_selection, okra_selection_free)
FREED_AT(okra_ranking, okra_ranking_free)
FREED_AT(json_t, json_decref)
#define OWNED_DATA FREED_BY(okra_data_free_at) okra_data
#define OWNED_MODEL FREED_BY(okra_model_free_at) okra_model
#define OWNED_JSON FREED_BY(json_decref_at) json_t
#define TAKE(p)                     \
    __extension__({                 \
        __typeof__(p) taken_ = (p); \
        (p) = NULL;                 \
        taken_;                     \
    })

/* Rows of a table of options for the struct that FIELDS names: any text, file or
 * yes-or-no flag; one of several words; a number in a range. */
#define ROW(type, name, field, preset, metavar, help)                                   \
    {                                                                                   \
        name, OKRA_OPTION_##type, offsetof(FIELDS, field), preset, 1, 0, NULL, metavar, \
            help                                                                        \
    }
#define CHOICE(name, field, preset, choices, metavar, help)                       \
    {                                                                             \
        name, OKRA_OPTION_CHOICE, offsetof(FIELDS, field), preset, 1, 0, choices, \
            metavar, help                                                         \
    }
#define RANGE(type, name, field, preset, low, high, metavar, help)                  \
    {                                                                               \
        name, OKRA_OPTION_##type, offsetof(FIELDS, field), preset, low, high, NULL, \
            metavar, help                                                           \
    }

typedef struct cli_command {
    const char *name, *purpose; /* one line, a sentence without the full stop       */
    const char *usage;          /* what follows the name: "MODEL --x FILE -o FILE"   */
    const char *about;          /* a paragraph or more, ended by newlines            */
    const char *examples;       /* lines as they are typed, each ended by a newline  */
    okra_option_table own;      /* the command's own flags                           */
    const char *refuses;        /* common flags that have no use, between spaces     */
    const char *gathers;        /* flags whose values add up, between spaces         */
    const char *topic;          /* okra_option_tables of the library, or NULL        */
    int operands_least, operands_most;
    const char *operand; /* "MODEL", for messages */
    bool replaces;       /* it may write over its operands */
    bool python;         /* okra-audit reads the flags and prints the help */
    const char *common;  /* " x y ": flags that --help tells; NULL: all */
    int (*run)(cli_run *run);
} cli_command;

extern const cli_command *const cli_commands[]; /* ends at NULL */
const cli_command *cli_find_command(const char *name);

typedef struct cli_common {
    okra_int threads, seed;
    int header; /* of choices auto|yes|no */
    const char *memory, *data, *engine, *bag;
    bool json, quiet, strict, help;
} cli_common;
extern const okra_option_table cli_common_table;

struct cli_run {
    const cli_command *command;
    okra_context *context;
    cli_common common;
    okra_options *options; /* the command's own flags and the common ones */
    okra_options *library; /* flags of the library's tables, or NULL      */
    const char *operands[64];
    int operand_count;
    bool inputs;      /* what is read are inputs, see cli_read_inputs */
    bool input_taken; /* standard input has a reader, see cli_take_input */
    char **typed;     /* the arguments, the last one NULL */
};

/* ---- flags: args.c ---- */

/* Fills options and operands; CLI_USAGE with a message on a mistake. */
int cli_parse(cli_run *run, int argc, char **argv);
/* The letter of a flag with a short form, or 0. */
char cli_short(const char *name);
/* Has the command no use for this common flag? It is then no flag of the command. */
bool cli_refuses(const cli_command *command, const char *name);
/* A flag without a default must be given; CLI_USAGE if one is not. */
int cli_check_required(const cli_run *run);
/* Tables of options: the program's for a command (its own, the common one), then those of
 * the library for it. */
enum { CLI_TABLES = 80, CLI_OWN_TABLES = 2 };
typedef struct cli_tables {
    const okra_option_table *all[CLI_TABLES];
    size_t count;
    const cli_command *command; /* the flags that it refuses are none, or NULL */
    size_t table, row;          /* what cli_next_row gave last, counted from 1 */
} cli_tables;
cli_tables cli_tables_of(const cli_command *command);
/* Those of a topic of the library, after what is there. */
void cli_tables_add(cli_tables *tables, const char *topic);
/* The row of that name, or NULL. */
const okra_option *cli_row_in(const okra_option_table *table, const char *name);
/* Row after row, each name once: that of the first table that has it; NULL at the end. */
const okra_option *cli_next_row(cli_tables *tables);
/* The command's own fields. */
okra_status cli_fields(const cli_run *run, void *fields) OKRA_CHECK;

/* ---- messages: say.c ---- */

/* "okra fit: TEXT" on standard error; returns CLI_USAGE. */
int cli_usage(const cli_run *run, const char *format, ...) OKRA_PRINTF(2, 3);
int cli_no_memory(const cli_run *run);
/* The same for a failure; returns CLI_FAILED. */
int cli_failure(const cli_run *run, const char *format, ...) OKRA_PRINTF(2, 3);
/* The exit status of a library call, after saying what failed. OKRA_EARG is a mistake in
 * what was typed. */
int cli_status(const cli_run *run, okra_status status);
void cli_on_warning(void *run, const char *text);
/* One of the program's own. */
void cli_warn(cli_run *run, const char *format, ...) OKRA_PRINTF(2, 3);
void cli_on_progress(void *run, const char *what, okra_int done, okra_int total);
/* From now on messages of cli_usage, cli_failure and cli_status are kept; the end. */
void cli_keep_messages(void);
void cli_end_messages(bool tell);
/* Interrupts cancel the run's context. */
void cli_catch_signals(okra_context *context);
void cli_end_signals(void);  /* before the context is freed */
int cli_signal_caught(void); /* 0 if none */

/* Bytes for people: "3.2 MiB". */
const char *cli_bytes(double bytes, char *buffer, size_t size);
/* "12 ms", "3.4 s", "2 min 5 s" */
const char *cli_seconds(double seconds, char *buffer, size_t size);
double cli_now(void);

/* A small table "name  value", names aligned. */
void cli_line(FILE *out, const char *name, const char *format, ...) OKRA_PRINTF(3, 4);
/* "inputs  dense, 200 of width 128", from a model's description. */
void cli_line_data(FILE *out, const char *name, const json_t *about);
/* "calibration  40 pairs held back", where the model keeps some. */
void cli_line_calibration(FILE *out, const json_t *about);
/* Weights of kernels that were learned, and a figure of them; nothing (NULL) without. */
void cli_line_align(FILE *out, const json_t *about);
json_t *cli_align_figure(const json_t *about);
/* A text of an object, or what stands for it. */
const char *cli_text(const json_t *object, const char *key, const char *otherwise);
/* The head of a result as docs/results-format.md has it, its lists empty. */
json_t *cli_result(const cli_run *run, const char *kind, const char *name,
                   const char *title);
/* ROC (id roc), or precision and recall (id pr), with area and chance: score_figure.c */
json_t *cli_ranking_figure(const okra_ranking *ranking, bool roc);
/* A word as a shell takes it. */
void cli_put_word(FILE *out, const char *word);
/* JSON on standard output; the value is freed. */
int cli_print_json(const cli_run *run, json_t *value);

/* ---- memory: memory.c ---- */

/* From now on jansson has a reserve, and cli_json_lost tells where even that did not do
 * or cli_alloc failed: what is to be told is then not whole. */
void cli_watch_json(void);
bool cli_json_lost(void);
void cli_lose(void); /* a part of what is to be told is missing */
/* CLI_FAILED where the file, times what is made of it, and those asked for before are
 * beyond
 * --memory. */
int cli_ask(const cli_run *run, const char *path, double times);
/* calloc. */
void *cli_alloc(size_t count, size_t size);
/* The same, within --memory; says why it gives NULL. */
void *cli_make(const cli_run *run, size_t count, size_t size);
void cli_json_free(char *text); /* what json_dumps made */

/* ---- files: files.c ---- */

/* Reads a data file, also from the folder of --data or OKRA_DATA. */
okra_status cli_read(cli_run *run, const char *spec, okra_data **out) OKRA_CHECK;
/* The same, like data of a model (or NULL) where the file leaves open what it holds. */
okra_status cli_read_like(cli_run *run, const char *spec, const okra_data *like,
                          okra_data **out) OKRA_CHECK;
/* The same of inputs, whose tables may have classes, dates and gaps. */
okra_status cli_read_inputs(cli_run *run, const char *spec, const okra_data *like,
                            okra_data **out) OKRA_CHECK;
/* Pairs of a new fit, or (model) more of a model's, then inputs without outputs ("":
 * none). x leaves out a column of its table that is y; what may be meant otherwise is
 * told. */
okra_status cli_read_pairs(cli_run *run, const char *x, const char *y,
                           const char *unlabelled, const okra_model *model,
                           okra_data **x_out, okra_data **y_out) OKRA_CHECK;
size_t cli_table_length(const char *spec); /* of TABLE in TABLE:COLUMN */
/* x, or in `buffer` what stands for it where texts of x are like the outputs y: edited.c.
 */
const char *cli_edited(cli_run *run, const char *x, const okra_data *y, char *buffer,
                       size_t size);
/* The same of a file of numbers: NAME.txt is a table, not strings. */
okra_status cli_read_numbers(cli_run *run, const char *spec, okra_data **out) OKRA_CHECK;
/* Whole numbers, `columns` a row; *rows of them, or -1: any, and their number comes back.
 * Else a message tells what was `expected`. */
int cli_read_whole(cli_run *run, const char *file, okra_int columns, okra_int *rows,
                   const char *expected, okra_int **out);
/* The length of what a reader's message says before hints for outputs. */
int cli_without_hints(const char *message);
/* Outputs get weights: of a file with one number per pair (--sample-weight), times those
 * of their classes ("balanced": --class-weight); "" and "none": neither. */
okra_status cli_weigh(cli_run *run, const char *file, const char *classes,
                      okra_data **y) OKRA_CHECK;
/* The same of candidates: a broken molecule is reported, counted and left out, unless
 * --strict. */
okra_status cli_read_candidates(cli_run *run, const char *spec, const okra_data *like,
                                okra_data **out) OKRA_CHECK;
/* The path itself, or in the data folder if only there it exists; in `buffer`. */
const char *cli_find(const cli_run *run, const char *path, char *buffer, size_t size);
/* A model, also from the data folder; a file that is none says what one is. */
int cli_load_model(const cli_run *run, const char *path, okra_model **model);
/* To be called by who reads standard input, "-" or "csv:-": it fails the second time. */
okra_status cli_take_input(cli_run *run, const char *spec) OKRA_CHECK;
/* Writes rows x cols values in C order. */
okra_status cli_write(cli_run *run, const double *values, okra_int rows, okra_int cols,
                      const char *file) OKRA_CHECK;
/* Writes a model; a large one is announced with its size before. */
okra_status cli_save_model(const cli_run *run, const okra_model *model, okra_compact how,
                           const char *file) OKRA_CHECK;
/* The row of --compact, where the fields hold an int compact. */
#define COMPACT_ROW \
    CHOICE("compact", compact, "auto", "no|yes|recompute|auto", "", CLI_COMPACT_HELP)
#define CLI_COMPACT_HELP                                                                \
    "A smaller model file: coefficients alone where outputs are explicit (then no "     \
    "--weights), else half of the factor; --compact=recompute: no factor, loading "     \
    "makes it again; --compact=no: all of it; auto: what prediction needs, the factor " \
    "of a large model is computed again where it is asked for"
/* Before long work: can a file be made there? Says so and gives CLI_FAILED if not. */
int cli_check_writable(const cli_run *run, const char *path);
/* The same of a model, which is mapped: it must be a file. */
int cli_check_model_file(const cli_run *run, const char *path);
/* same.c: CLI_USAGE where a file is to be written that the command reads, or writes
 * otherwise. */
int cli_check_same(cli_run *run);
/* A path without "csv:" and the like before it. */
const char *cli_without_types(const char *spec);
/* Both name one file, which may not be there yet. */
bool cli_same_file(const char *a, const char *b);
bool cli_ends(const char *text, const char *tail);

/* A text file written whole or not at all ("-": standard output). NULL: said why. */
typedef struct cli_file cli_file;
cli_file *cli_file_open(const cli_run *run, const char *path);
FILE *cli_file_stream(cli_file *file);
int cli_file_close(const cli_run *run, cli_file *file, int status);
/* The same of a table, columns between commas or (not .csv) tabs. */
typedef struct cli_table {
    cli_file *file;
    FILE *out;
    char mark;
} cli_table;
int cli_table_open(const cli_run *run, const char *path, const char *heading,
                   cli_table *table);

/* ---- help: help.c, topics.c, manual.c, completion.c ---- */

void cli_help(FILE *out);
/* One screen: the common flags, and those of a method and a decoder ("": none of them).
 */
void cli_help_screen(FILE *out, const cli_command *command, const char *method,
                     const char *decode);
/* All of it. */
void cli_help_command(FILE *out, const cli_command *command, const char *method,
                      const char *decode);
/* A topic, or whatever has the name. */
int cli_help_topic(const cli_run *run, FILE *out, const char *name);
/* Is it a flag that the topic low-rank tells? */
bool cli_help_low_rank(const char *name);
/* Calls `each` for every topic but commands. */
void cli_each_topic(FILE *out, void (*each)(FILE *out, const char *name));
enum { CLI_HELP_WIDTH = 80 };
/* Rows of a table as help lines: name, metavar, text, default. */
void cli_help_row(FILE *out, const okra_option *row, const char *prefix);
void cli_help_rows(FILE *out, const okra_option_table *table, const char *prefix);
void cli_wrap(FILE *out, const char *text, int indent, int column, int width);
/* The page of a command, or (NULL) of all. */
void cli_man(FILE *out, const cli_command *command);
void cli_completion_bash(FILE *out);
void cli_completion_zsh(FILE *out);

#endif
