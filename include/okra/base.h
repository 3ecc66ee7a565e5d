/*
 * okra/base.h: status codes, messages, the context of a run, and options by name.
 *
 * Every function that can fail returns okra_status and must be checked. Results go out by
 * pointer, last, and are untouched on failure. okra_message() then says, for the calling
 * thread, which argument was wrong, what was found and what was expected. The library
 * never prints, never exits and never aborts.
 */
#ifndef OKRA_BASE_H
#define OKRA_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define OKRA_API __attribute__((visibility("default")))
#define OKRA_CHECK __attribute__((warn_unused_result))
#define OKRA_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define OKRA_API
#define OKRA_CHECK
#define OKRA_PRINTF(f, a)
#endif

/* Functions of okra/more/: they may change in any minor version. */
#define OKRA_EXPERIMENTAL OKRA_API

/* Sizes and indices: signed 64 bits, so that n*n of a Gram matrix never overflows. */
typedef int64_t okra_int;

/* One list makes the enum, its texts and the exceptions of the Python package. */
#define OKRA_STATUS_LIST(X)                          \
    X(OKRA_OK, "ok")                                 \
    X(OKRA_EARG, "invalid argument")                 \
    X(OKRA_ESHAPE, "shapes do not agree")            \
    X(OKRA_EMEM, "out of memory")                    \
    X(OKRA_EBUDGET, "memory budget exceeded")        \
    X(OKRA_EIO, "file could not be read or written") \
    X(OKRA_EFORMAT, "file content is not valid")     \
    X(OKRA_EVERSION, "written by a newer version")   \
    X(OKRA_ENUMERIC, "numerical failure")            \
    X(OKRA_EUNSUPPORTED, "not supported")            \
    X(OKRA_ECANCELLED, "cancelled")                  \
    X(OKRA_EINTERNAL, "internal error")

/* Inside the library the type itself says that a status is not to be dropped. */
#if defined(OKRA_CHECK_EVERY_STATUS) && defined(__clang__)
#define OKRA_STATUS_TYPE_ typedef enum __attribute__((warn_unused_result))
#elif defined(OKRA_CHECK_EVERY_STATUS) && __GNUC__ > 10
#define OKRA_STATUS_TYPE_ __extension__ typedef enum [[nodiscard]]
#else
#define OKRA_STATUS_TYPE_ typedef enum
#endif
OKRA_STATUS_TYPE_ okra_status{
#define OKRA_STATUS_ENUM(name, text) name,
    OKRA_STATUS_LIST(OKRA_STATUS_ENUM)
#undef OKRA_STATUS_ENUM
} okra_status;

/* The general text of a status code; never NULL. */
OKRA_API const char *okra_status_text(okra_status status);

/* The symbol of a status code, e.g. "OKRA_EARG"; never NULL. */
OKRA_API const char *okra_status_name(okra_status status);

/* What went wrong in the last failing call of this thread; "" if nothing did. Valid until
 * the next failing call of this thread. */
OKRA_API const char *okra_message(void);

/* Sets this thread's message and returns `status`, so that programs built on the library
 * fail in the same way as it does. */
OKRA_API okra_status okra_fail(okra_status status, const char *format, ...)
    OKRA_PRINTF(2, 3);

/* The version of the library, "major.minor.patch". */
OKRA_API const char *okra_version(void);

/* What is built in, one "name: value" a line. */
OKRA_API const char *okra_build_info(void);

/* Do not use a handle after freeing it. */

/* ---- settings that grow ---- */

/* Structs of settings (those that begin with `size`) get new fields from one version to
 * the next, behind the old end and never in its padding. A program keeps working with a
 * newer library, and with an older one as long as it leaves what that one does not know
 * at 0: `size` tells them apart. Begin every initialiser with this; all that is not named
 * is 0, the default: okra_predict_request request = {OKRA_SIZED(okra_predict_request),
 * .weights = true}; Other structs (okra_link, okra_link_task, okra_twin_base,
 * okra_operator and its report, okra_option) stay as they are for as long as the number
 * in the library's soname does. */
#define OKRA_SIZED(type) .size = sizeof(type)

/* ---- the context of a run ---- */

/* Threads, memory budget, seed, engine and callbacks of a run. NULL is
 * accepted wherever a context is asked for and means the defaults. One context serves one
 * thread at a time; okra_context_cancel alone may be called from anywhere. */
typedef struct okra_context okra_context;

/* Work done so far: `done` of `total` steps of `what`. Called from the calling thread. */
typedef void (*okra_progress_fn)(void *user, const char *what, okra_int done,
                                 okra_int total);

/* Something worth knowing that is not an error: jitter added, no convergence. */
typedef void (*okra_warning_fn)(void *user, const char *text);

OKRA_API okra_status okra_context_create(okra_context **out) OKRA_CHECK;
OKRA_API void okra_context_free(okra_context *context);

/* 0 means every processor that the affinity mask and the quota of the control group leave
 * this process. Small work uses one thread whatever is set. Not from a callback: the
 * number stays the same while a call is under way. */
OKRA_API okra_status okra_context_set_threads(okra_context *context,
                                              int threads) OKRA_CHECK;
/* A budget counts what the calls of this context took and did not free. 0 means three
 * quarters of the machine's memory, and counts what the whole process took. */
OKRA_API okra_status okra_context_set_memory(okra_context *context,
                                             okra_int bytes) OKRA_CHECK;
/* What becomes of a broken record of a file. 0: spectra are left out, told and counted,
 * a broken molecule is an error; 1: every one is an error; -1: molecules are left out
 * too. */
OKRA_API okra_status okra_context_set_strict(okra_context *context,
                                             int strict) OKRA_CHECK;
/* Is the first line of a table its names? 1: yes; -1: no; 0: what stands below decides.
 */
OKRA_API okra_status okra_context_set_header(okra_context *context,
                                             int header) OKRA_CHECK;
OKRA_API void okra_context_set_seed(okra_context *context, uint64_t seed);
/* Where large matrices live and are computed with: "host" (default), or the name of an
 * engine that is installed beside this library as libokra-NAME.so (or in a folder of
 * OKRA_ENGINE_PATH), as in "cuda" or "cuda:1". An engine that cannot run is an error. */
OKRA_API okra_status okra_context_set_engine(okra_context *context,
                                             const char *name) OKRA_CHECK;
OKRA_API void okra_context_set_progress(okra_context *context, okra_progress_fn fn,
                                        void *user);
OKRA_API void okra_context_set_warning(okra_context *context, okra_warning_fn fn,
                                       void *user);
/* Asks a running call to stop with OKRA_ECANCELLED; safe in a signal handler and from
 * other threads. The request stands until okra_context_resume. */
OKRA_API void okra_context_cancel(okra_context *context);
OKRA_API void okra_context_resume(okra_context *context);

OKRA_API int okra_context_threads(const okra_context *context);
OKRA_API okra_int okra_context_memory(const okra_context *context);
OKRA_API uint64_t okra_context_seed(const okra_context *context);

/* ---- options by name ---- */

typedef enum okra_option_type {
    OKRA_OPTION_NUMBER, /* field: double      */
    OKRA_OPTION_INT,    /* field: okra_int    */
    OKRA_OPTION_BOOL,   /* field: bool        */
    OKRA_OPTION_TEXT,   /* field: const char* (borrowed from the options object) */
    OKRA_OPTION_CHOICE, /* field: int, the index into choices "a|b|c" */
    /* A text as well, the name of a file or folder. */
    OKRA_OPTION_READ,    /* that is read, perhaps with types before it: "labels:csv:a" */
    OKRA_OPTION_WRITTEN, /* that is written                                            */
} okra_option_type;

/* One row feeds the default, the range check, set-by-name, the command line's flag and
 * help, the man page, shell completion and the Python keyword. */
typedef struct okra_option {
    const char *name;      /* "lambda", "low-rank-x"                                 */
    okra_option_type type; /*                                                        */
    size_t offset;         /* of the field in the struct that the table describes    */
    const char *preset;    /* the default as text; NULL: the option must be given    */
    double low, high;      /* closed range of NUMBER and INT; low > high: unchecked  */
    const char *choices;   /* "a|b|c" for CHOICE, else NULL                          */
    const char *metavar;   /* "FILE", "EXPR", "V", ... for help                      */
    const char *help;      /* one line, a sentence without the full stop             */
} okra_option;

/* Rows end at name == NULL. */
typedef struct okra_option_table {
    const char *owner; /* "ridge", "fit", "kernel rbf": named in messages and help */
    const okra_option *rows;
    size_t size; /* of the struct described */
} okra_option_table;

/* Values set by name, checked against the tables they were created for. */
typedef struct okra_options okra_options;

OKRA_API okra_status okra_options_create(const okra_option_table *const *tables,
                                         size_t count, okra_options **out) OKRA_CHECK;
OKRA_API okra_status okra_options_copy(const okra_options *options,
                                       okra_options **out) OKRA_CHECK;
OKRA_API void okra_options_free(okra_options *options);
/* The value is parsed and range-checked at once; an unknown name is an error that lists
 * the nearest known one. Setting again replaces. */
OKRA_API okra_status okra_options_set(okra_options *options, const char *name,
                                      const char *value) OKRA_CHECK;
OKRA_API okra_status okra_options_set_number(okra_options *options, const char *name,
                                             double value) OKRA_CHECK;
/* The text that was set, or the default, or NULL for an unknown name. */
OKRA_API const char *okra_options_get(const okra_options *options, const char *name);
OKRA_API bool okra_options_is_set(const okra_options *options, const char *name);
/* Fills a struct as the table describes it: defaults, then what was set. Text fields
 * point into `options`. */
OKRA_API okra_status okra_options_read(const okra_options *options,
                                       const okra_option_table *table,
                                       void *fields) OKRA_CHECK;

#ifdef __cplusplus
}
#endif
#endif
