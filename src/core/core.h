/*
 * core.h: what every file of the library stands on: failing with a message, memory,
 * the budget, threads, random numbers, progress.
 */
#ifndef OKRA_CORE_H_
#define OKRA_CORE_H_

#include "okra/base.h"

/* The headers of standard C, once for the whole library. */
#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- errors: through one `done:` label, or at once where nothing is left to do ---- */

/* Sets this thread's message and returns `status`. */
okra_status okra_fail_(okra_status status, const char *format, ...) OKRA_PRINTF(2, 3);
/* Puts "prefix: " before this thread's message (to add the file's name, say). */
void okra_message_prefix_(const char *format, ...) OKRA_PRINTF(1, 2);
/* The status as it is; a fault of what was read or asked for (not one of memory, nor a
 * stop on request) gets "prefix: " before its message. */
#define okra_at_(call, ...)                                       \
    __extension__({                                               \
        okra_status at_ = (call);                                 \
        at_ == OKRA_OK ? at_ : okra_failed_at_(at_, __VA_ARGS__); \
    })
okra_status okra_failed_at_(okra_status status, const char *format, ...)
    OKRA_PRINTF(2, 3);

/* status.c: the text with what a terminal would obey as \xNN; `lines`: but for ends of
 * lines. Cut where it does not fit. */
const char *okra_printable_(const char *text, bool lines, char *out, size_t size);

/* Propagate: leave through `done:` when a call failed. Needs a local `st`. */
#define TRY(call)            \
    do {                     \
        st = (call);         \
        if (st != OKRA_OK) { \
            goto done;       \
        }                    \
    } while (0)

/* Propagate at once: in functions without `done:`. What they hold is OWNED or FREED_BY.
 */
#define CHK(call)                     \
    do {                              \
        okra_status failed_ = (call); \
        if (failed_ != OKRA_OK) {     \
            return failed_;           \
        }                             \
    } while (0)

/* Fail where `bad` holds. */
#define REFUSE_IF(bad, status, ...)                   \
    do {                                              \
        if (bad) {                                    \
            return okra_fail_((status), __VA_ARGS__); \
        }                                             \
    } while (0)

/* Refuses NULL among the pointers that a public function needs. */
#define NOT_NULL(...)                                                              \
    CHK(okra_not_null_(__func__, #__VA_ARGS__, (const void *const[]){__VA_ARGS__}, \
                       sizeof((const void *const[]){__VA_ARGS__}) / sizeof(void *)))
okra_status okra_not_null_(const char *function, const char *names,
                           const void *const *pointers, size_t count);

/* Where p and q differ, leaves with what a comparison for qsort gives. */
#define ORDER_BY(p, q)                 \
    do {                               \
        if ((p) != (q)) {              \
            return (p) < (q) ? -1 : 1; \
        }                              \
    } while (0)
/* Defines a comparison for qsort, by members in turn: OKRA_ORDER_(by_score, scored,
 * OKRA_DOWN_(score), OKRA_UP_(item)). */
#define OKRA_UP_(member) (x_->member > y_->member) - (x_->member < y_->member)
#define OKRA_DOWN_(member) (x_->member < y_->member) - (x_->member > y_->member)
#define OKRA_ORDER_(name, type, ...)                                \
    static int name(const void *a_, const void *b_)                 \
    {                                                               \
        const type *x_ = a_, *y_ = b_;                              \
        const int by_[] = {__VA_ARGS__};                            \
        size_t k_ = 0;                                              \
        while (k_ + 1 < sizeof by_ / sizeof *by_ && by_[k_] == 0) { \
            k_++;                                                   \
        }                                                           \
        return by_[k_];                                             \
    }
/* Sorts or copies `count` elements, also none of a block that is not there; exchanges. */
#define OKRA_SORT_(p, count, by)                            \
    do {                                                    \
        if ((count) > 0) {                                  \
            qsort((p), (size_t)(count), sizeof *(p), (by)); \
        }                                                   \
    } while (0)
#define OKRA_COPY_(to, from, count)                               \
    do {                                                          \
        if ((count) > 0) {                                        \
            memcpy((to), (from), (size_t)(count) * sizeof *(to)); \
        }                                                         \
    } while (0)
#define OKRA_SWAP_(a, b)              \
    do {                              \
        __typeof__(a) swapped_ = (a); \
        (a) = (b);                    \
        (b) = swapped_;               \
    } while (0)
/* Comparisons of numbers and texts for qsort. */
int okra_by_code_(const void *a, const void *b); /* uint64_t */
int okra_by_int32_(const void *a, const void *b);
int okra_by_text_(const void *a, const void *b); /* char * */
int okra_by_int_(const void *a, const void *b);
int okra_by_double_(const void *a, const void *b);
/* How many of n ascending numbers, `size` bytes apart, are below x. */
okra_int okra_below_(const double *sorted, size_t size, okra_int n, double x);
/* The last of n ascending beginnings, `size` bytes apart, that is not above `at`. */
okra_int okra_run_of_(const void *first, size_t size, okra_int n, okra_int at);
void okra_iota_(okra_int n, okra_int *out); /* 0, 1, ..., n - 1 */
double okra_now_(void); /* seconds, of a clock that only goes forward */

/* *place <- value where the caller wants it (place may be NULL). */
#define GIVE(place, value)    \
    do {                      \
        if (place) {          \
            *(place) = value; \
        }                     \
    } while (0)

/* Settings that a caller gave (a struct that begins with `size_t size`), as this library
 * knows them: what a shorter struct does not have is 0. NULL: the copy stays as it is. At
 * the head of a function. */
#define SIZED(given, copy)                                                       \
    CHK((given) ? okra_sized_(__func__, #given, (given), (copy), sizeof *(copy)) \
                : OKRA_OK)
okra_status okra_sized_(const char *function, const char *name, const void *given,
                        void *copy, size_t most);

/* ---- memory ---- */

/* 64-byte aligned, count*size checked for overflow, zero bytes allowed (gives a valid
 * pointer), not zeroed (okra_zalloc_: zeroed). NULL and a message on failure. The only
 * allocator of the library. */
void *okra_alloc_(okra_int count, size_t size);
void *okra_zalloc_(okra_int count, size_t size);
/* Grows (or shrinks) a block got from okra_alloc_; p == NULL allocates. On failure NULL,
 * and p stays valid. */
void *okra_realloc_(void *p, okra_int count, size_t size);
char *okra_strndup_(const char *text, size_t length);
#define okra_strdup_(text) okra_strndup_((text), strlen(text))
/* A printf into a fresh block; NULL on failure. */
char *okra_format_(const char *format, ...) OKRA_PRINTF(1, 2);
void okra_free_(void *p);

/* Of a local variable: when its function returns, whichever way, call(&variable). What is
 * handed on is set to NULL before. OWNED: pointers to blocks of okra_alloc_. */
#define FREED_BY(call) __attribute__((cleanup(call)))
#define OWNED FREED_BY(okra_free_at_)
static inline void okra_free_at_(void *at)
{
    void *block;
    memcpy(&block, at, sizeof block);
    okra_free_(block);
    memset(at, 0, sizeof block);
}
/* The same for blocks that fields of a struct hold: OWNS(&work.rows, &work.sums); at most
 * once in a block of code. */
#define OWNS(...)             \
    FREED_BY(okra_free_each_) \
    __attribute__((unused)) void *const owns_[] = {__VA_ARGS__, NULL}
static inline void okra_free_each_(const void *at)
{
    for (void *const *field = at; *field; field++) {
        okra_free_at_(*field);
    }
}
/* name(&variable) frees what the pointer has by `call`, and leaves it NULL: for FREED_BY
 * too. */
#define OKRA_DROPS_(name, type, call)  \
    static inline void name(type **at) \
    {                                  \
        if (*at) {                     \
            call(*at);                 \
        }                              \
        *at = NULL;                    \
    }
/* Functions that free the blocks of a struct, `it`: FREES and the struct (NULL: none),
 * CLEARS leaves it all 0. They are static, but for SHARED ones, which a header declares.
 */
#define OKRA_FREES_(name, type, ...) \
    static void name(void *arg)      \
    {                                \
        type *it = arg;              \
        if (it) {                    \
            FREE(__VA_ARGS__, it);   \
        }                            \
    }
#define OKRA_SHARED_FREES_(name, type, ...) \
    void name(type *it)                     \
    {                                       \
        if (it) {                           \
            FREE(__VA_ARGS__, it);          \
        }                                   \
    }
#define OKRA_SHARED_CLEARS_(name, type, ...) \
    void name(type *it)                      \
    {                                        \
        FREE(__VA_ARGS__);                   \
        *it = (type){0};                     \
    }
#define OKRA_CLEARS_(name, ...) static OKRA_SHARED_CLEARS_(name, __VA_ARGS__)
OKRA_DROPS_(okra_options_drop_, okra_options, okra_options_free)

/* Leave at once, as CHK does, where an allocation gave NULL. */
#define GOT(pointer) CHK((pointer) ? OKRA_OK : OKRA_EMEM)
#define MAKE(p, count) GOT((p) = okra_alloc_((count), sizeof *(p)))
#define ZMAKE(p, count) GOT((p) = okra_zalloc_((count), sizeof *(p)))
/* The block p gets another size; on failure it stays as it is. */
#define RESIZE(p, count)                                         \
    do {                                                         \
        void *grown_ = okra_realloc_((p), (count), sizeof *(p)); \
        GOT(grown_);                                             \
        (p) = grown_;                                            \
    } while (0)
/* `made` in the place of the block p; on failure (NULL) that stays. */
#define RENEW(p, made)        \
    do {                      \
        void *made_ = (made); \
        GOT(made_);           \
        okra_free_(p);        \
        (p) = made_;          \
    } while (0)
/* Room for one more than `count` elements: twice as much, or `first` of them. */
#define EXTEND(p, count, room, first)                 \
    do {                                              \
        if ((count) == (room)) {                      \
            RESIZE(p, (room) ? 2 * (room) : (first)); \
            (room) = (room) ? 2 * (room) : (first);   \
        }                                             \
    } while (0)
/* Room for `need` elements of `size` bytes in the block whose address `at` is: twice as
 * much as before at least. On failure all stays as it is. */
okra_status okra_reserve_(void *at, okra_int need, okra_int *room, size_t size);
/* The pointer or struct p, which then is NULL or all 0: for handing on what is OWNED. */
#define TAKE(p)                     \
    __extension__({                 \
        __typeof__(p) taken_ = (p); \
        (p) = (__typeof__(p)){0};   \
        taken_;                     \
    })
/* Frees several blocks. */
#define FREE(...)                                                          \
    do {                                                                   \
        void *const blocks_[] = {__VA_ARGS__};                             \
        for (size_t b_ = 0; b_ < sizeof blocks_ / sizeof *blocks_; b_++) { \
            okra_free_(blocks_[b_]);                                       \
        }                                                                  \
    } while (0)

/* For tests: blocks and bytes alive now; the k-th allocation from now on (k = 0: the
 * next) fails once, -1 switches that off. The hooks are exported so that tests of the
 * command line can use them too. */
okra_int okra_alloc_live_blocks_(void);
okra_int okra_alloc_live_bytes_(void);
okra_int okra_alloc_peak_bytes_(void);
void okra_alloc_reset_peak_(void);
void okra_alloc_fail_at_(okra_int k);

/* Accounts: what the calls of one context have taken and not freed. 0: nobody's, also
 * when there are more contexts than accounts. */
int okra_account_open_(void);
void okra_account_close_(int account);
/* The budget that blocks which grow obey (okra_realloc_); 0: the default one. */
void okra_account_limit_(int account, okra_int bytes);
/* This thread works for the context from now on (NULL: for the same as before). */
void okra_account_use_(const okra_context *context);
okra_int okra_account_bytes_(const okra_context *context);
/* Bytes alive that count for the context's budget, and what that budget has left. */
okra_int okra_memory_used_(const okra_context *context);
okra_int okra_memory_left_(const okra_context *context);

/* Is there room for `bytes` more under the context's budget, given what is alive? If not,
 * OKRA_EBUDGET with a message that says how much `what` needs and how much there is. */
okra_status okra_budget_ask_(const okra_context *context, double bytes, const char *what,
                             ...) OKRA_PRINTF(3, 4);

/* rows*cols doubles, asked of the budget first. For anything of size n*n or n*d. */
okra_status okra_doubles_(const okra_context *context, okra_int rows, okra_int cols,
                          const char *what, double **out);

/* Bytes that the control groups of this process allow, INT64_MAX: no limit.
 * Files are looked for below `root`, "" but in tests. */
okra_int okra_memory_limit_(const char *root);
/* Whole processors that they allow, at least 1; INT_MAX: no limit. A part of a processor
 * counts for nothing: a thread that is stopped half of the time holds up the others. */
int okra_processor_limit_(const char *root);

/* rows x cols doubles that may be larger than memory: what is more than a quarter of what
 * the budget has left lies in an unnamed file in TMPDIR. Read through p, written by rows;
 * what was not written is undefined. */
typedef struct okra_scratch_ {
    const double *p;
    okra_int rows, cols;
    double *memory; /* p, or NULL: a file */
    int file;       /* 1 + its descriptor */
} okra_scratch_;
okra_status okra_scratch_create_(const okra_context *context, okra_int rows,
                                 okra_int cols, const char *what, okra_scratch_ *out);
okra_status okra_scratch_write_(okra_scratch_ *scratch, okra_int first, okra_int rows,
                                const double *values);
void okra_scratch_clear_(okra_scratch_ *scratch);

/* Guards a mapped file until it is closed: where another process cuts it short, loops and
 * okra_guard_check_ fail with its name; without that it would be a signal.
 * okra_guard_settle_ asks the system whether it changed at all. */
struct stat;
void okra_guard_open_(int fd, const void *base, const struct stat *info,
                      const char *name);
void okra_guard_close_(const void *base);
okra_status okra_guard_check_(void);
okra_status okra_guard_settle_(void);
/* The same size and time? */
bool okra_same_file_(const struct stat *a, const struct stat *b);

/* ---- threads ---- */

/* Runs body(arg, begin, end, worker) over 0..count in chunks of `grain`, on the context's
 * threads; worker in 0..threads-1 identifies scratch space. Chunks are the same whatever
 * the number of threads, so a body whose chunks write apart gives the same bits. A body's
 * failure (message included) is passed on; the first by chunk number wins; chunks not yet
 * begun are then skipped. Checks for cancellation between chunks and reports progress
 * when `what` is not NULL. While it runs, BLAS is single-threaded in every worker. */
typedef okra_status (*okra_body_)(void *arg, okra_int begin, okra_int end, int worker);
okra_status okra_parallel_(okra_context *context, okra_int count, okra_int grain,
                           const char *what, okra_body_ body, void *arg);
/* The same for a loop that may be too small for several threads; it has at least
 * `least` operations in all. */
okra_status okra_parallel_least_(okra_context *context, double least, okra_int count,
                                 okra_int grain, const char *what, okra_body_ body,
                                 void *arg);
/* The same, one by one, with a state of its own for each worker: `size` bytes, 0 at
 * first, which `open` makes ready and `clear` empties, also where `open` failed. */
typedef struct okra_each_ {
    size_t size;
    okra_status (*open)(const void *arg, void *state);
    okra_status (*one)(const void *arg, void *state, okra_int i);
    void (*clear)(void *state);
} okra_each_;
okra_status okra_parallel_each_(okra_context *context, okra_int count, okra_int grain,
                                const char *what, const okra_each_ *each,
                                const void *arg);
/* How many workers okra_parallel_ uses at most: the size for per-worker scratch. */
int okra_workers_(const okra_context *context);
/* As okra_context_threads; without a context as many as when it was first asked. The
 * number does not change within a call, since scratch is made for as many workers. */
int okra_threads_(const okra_context *context);
/* Functions of the caller that run in this thread now: they cannot set the number. */
extern _Thread_local int okra_callbacks_;
/* Is this thread a worker of okra_parallel_? Then BLAS stays single-threaded. */
extern _Thread_local bool okra_inside_worker_;
/* Provided by src/linalg: between the two BLAS uses `threads` threads. In a worker they
 * do nothing: its loop holds BLAS at one. */
void okra_blas_hold_(int threads);
void okra_blas_release_(void);
/* How many workers the process's limits have room for, and bytes beside them; 0: not for
 * one. */
int okra_blas_room_(double *rest);

/* ---- long calls ---- */

/* Calls call(arg), `work` operations that should take `expected` seconds. Where the
 * context wants progress and the call is long, it runs in another thread while this one
 * reports. What the call itself reports is not heard. */
typedef okra_status (*okra_call_)(void *arg);
okra_status okra_watched_(okra_context *context, const char *what, double work,
                          double expected, okra_call_ call, void *arg);
/* The same, expected to take `work` / *rate: operations a second of the last long call,
 * or a guess before the first one. */
okra_status okra_watched_rate_(okra_context *context, const char *what, double work,
                               _Atomic double *rate, okra_call_ call, void *arg);
/* A watched call tells that it has done `work` of its operations; any thread may. */
void okra_worked_(const okra_context *context, double work);
/* Is this the thread of a watched call, which must not report: its caller does? */
extern _Thread_local bool okra_inside_watch_;
/* Whether okra_watched_ might report here. */
bool okra_watches_(const okra_context *context);
/* The share of a call that is done after `elapsed` of `expected` seconds: below 1. */
double okra_watch_share_(double elapsed, double expected);
/* The shortest expected time that is watched, in seconds. */
extern double okra_watch_least_;

/* ---- context ---- */

/* Processes that do the same work together (engine/engine.h); NULL: there is one. */
typedef struct okra_processes_ {
    int rank, ranks;
    int threads; /* of each, and its memory: those of the one that has least */
    okra_int memory;
    bool memory_given; /* --memory, and not a share of the machine's */
    void *state;
    /* See okra_context_finish_together. */
    okra_status (*agree)(void *state, okra_status status, const char *what, bool *talks);
} okra_processes_;
/* The settings of a run. A NULL context means the defaults everywhere. */
struct okra_context {
    int threads, processors; /* 0: as many as there were when that was said */
    okra_int memory;         /* 0: the default budget */
    int account;             /* of the memory that this context's calls take */
    uint64_t seed;
    void *engine; /* of engine/loader.c, NULL: none; close_engine frees it */
    void (*close_engine)(void *engine);
    okra_processes_ group; /* ranks 0: none */
    okra_progress_fn progress;
    struct okra_meter_ *meter; /* of the call that is watched (watch.c) */
    void *progress_user;
    okra_warning_fn warning;
    void *warning_user;
    int muted;  /* how many times */
    bool apart; /* see okra_context_set_distributed */
    int strict, header;
    atomic_bool cancelled;
    /* What was begun last: the name of an operation and the size of its matrix. */
    _Atomic(const char *) doing;
    atomic_llong doing_size;
};

okra_status okra_cancelled_(const okra_context *context);
void okra_progress_(const okra_context *context, const char *what, okra_int done,
                    okra_int total);
/* A phase whose length was not known is over. */
void okra_progress_end_(const okra_context *context, const char *what);
void okra_warn_(const okra_context *context, const char *format, ...) OKRA_PRINTF(2, 3);
/* -1, 0 or 1: see okra_context_set_strict. */
int okra_context_strict_(const okra_context *context);
/* -1, 0 or 1: see okra_context_set_header. */
int okra_context_header_(const okra_context *context);
/* Whether anybody would hear a warning now. */
bool okra_warns_(const okra_context *context);
/* While muted nothing is warned of: for objects that the user never sees.
 * Calls nest: each with true needs one with false. */
void okra_mute_(okra_context *context, bool muted);
const okra_processes_ *okra_context_processes_(const okra_context *context);
/* Have all processes come with the same `mark` of `what`? */
okra_status okra_context_same_(const okra_context *context, const char *what,
                               uint64_t mark);
/* The context owns the engine from now on. */
void okra_context_hold_engine_(okra_context *context, void *engine,
                               void (*close)(void *engine));

/* ---- files beside the library ---- */

/* The folder of the file that holds this library (libokra.so, or the program that okra is
 * linked into), in full. */
okra_status okra_library_folder_(char **out);

/* ---- random numbers ---- */

/* xoshiro256** seeded by splitmix64: same seed, same numbers, on every machine. */
typedef struct okra_random_ {
    uint64_t s[4];
    double spare;
    bool has_spare;
} okra_random_;

/* `stream` separates uses of one seed (folds, trees, starts). */
okra_random_ okra_random_create_(uint64_t seed, uint64_t stream);
uint64_t okra_random_bits_(okra_random_ *r);
double okra_random_uniform_(okra_random_ *r);             /* [0, 1)              */
okra_int okra_random_below_(okra_random_ *r, okra_int n); /* 0..n-1, unbiased    */
double okra_random_normal_(okra_random_ *r);              /* mean 0, variance 1  */
void okra_random_shuffle_(okra_random_ *r, okra_int n, okra_int *items);

/* ---- numbers as text, in the C locale whatever the program's ---- */

double okra_strtod_(const char *text, char **end);
/* "%.*g" with a point. */
void okra_number_format_(char *buffer, size_t size, int digits, double value);

/* ---- options ---- */

/* Parses one value as the row says into `field` (a pointer to the row's field); text
 * values keep the pointer given. `owner` names the culprit in the message. */
okra_status okra_option_parse_(const char *owner, const okra_option *row,
                               const char *text, void *field);
/* Fills `fields` with the table's defaults alone. */
okra_status okra_option_defaults_(const okra_option_table *table, void *fields);
const okra_option *okra_option_find_(const okra_option_table *table, const char *name,
                                     size_t length);
/* Fails if a set option belongs to none of the given tables: `who` ("method knn") does
 * not use it. Nothing is parsed and ignored. */
okra_status okra_options_check_used_(const okra_options *options,
                                     const okra_option_table *const *tables, size_t count,
                                     const char *who);
/* Every set (name, value), in the order set; returns NULL at the end. */
const char *okra_options_each_(const okra_options *options, size_t index,
                               const char **value);

#define OKRA_MIN_(a, b) ((a) < (b) ? (a) : (b))
#define OKRA_MAX_(a, b) ((a) > (b) ? (a) : (b))

/* ---- numbers by hashes ----
 * Several numbers of one hash or none, by open addressing, at most half full. All of it
 * is 0 at first.
 */
typedef struct okra_hashed_ {
    struct okra_hash_place_ {
        uint64_t hash;
        okra_int number; /* plus 1; 0: free */
    } * slots;
    okra_int room, used;
} okra_hashed_;
okra_status okra_hashed_put_(okra_hashed_ *s, uint64_t hash, okra_int number);
/* The next number of a hash, *at being 0 at first; -1: there is no more. */
okra_int okra_hashed_next_(const okra_hashed_ *s, uint64_t hash, okra_int *at);

/* ---- best ----
 * The k best of many, written once.
 *
 * A list of at most `most` items, sorted: smaller keys first, of equal ones the lower id
 * first, of equal ids the earlier one. An item is a struct that begins with okra_rank_.
 */

/* A number as the sum of two, of which `high` is the rounded one. */
typedef struct okra_key_ {
    double high, low;
} okra_key_;
static inline bool okra_key_less_(okra_key_ a, okra_key_ b)
{
    return a.high < b.high || (a.high == b.high && a.low < b.low);
}

typedef struct okra_rank_ {
    okra_key_ key;
    okra_int id;
} okra_rank_;
static inline bool okra_rank_less_(okra_rank_ a, okra_rank_ b)
{
    return okra_key_less_(a.key, b.key) || (!okra_key_less_(b.key, a.key) && a.id < b.id);
}

/* Makes room for an item of that rank in a list of *count items of `size` bytes; NULL: it
 * is not among the best. The place has the rank already; its other members are those of a
 * free item, or of the one that drops out, so that what they point to can be used again.
 * A key that is NaN is never among the best. Cost: log k comparisons, up to k moves. */
void *okra_best_put_(void *items, size_t size, okra_int *count, okra_int most,
                     okra_rank_ rank);

#endif
