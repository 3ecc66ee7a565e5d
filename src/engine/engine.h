/*
 * engine.h: where large matrices live.
 *
 * A method never indexes an n x n matrix. It holds an okra_matrix_, which an engine owns,
 * and asks for verbs: make it from a kernel, add to the diagonal, multiply, factor,
 * decompose, scale, combine, reduce. What is small (n x d coefficients, eigenvalues, the
 * weights of a block of queries) is plain host memory and goes in and out by put, get and
 * borrow.
 *
 * An engine is one table of verbs, okra_engine_class_: `host` (this library), others as
 * plugins libokra-NAME.so (loader.c). The wrappers in matrix.c handle empty matrices, so
 * that a verb sees non-empty operands of its own engine; methods see to it that shapes
 * agree. All verbs can fail. An engine may leave a verb NULL: the wrapper then fails with
 * OKRA_EUNSUPPORTED, and names the engine and the verb. Every engine must pass
 * tests/unit/engine/test_conformance.c.
 *
 * Matrices are row-major to whoever looks at them through put and get. Same inputs, same
 * engine, same device, same threads: same bits.
 */
#ifndef OKRA_ENGINE_H_
#define OKRA_ENGINE_H_

#include "kernel/kernel.h"

/* ---- entries ----
 * Where the entries of a Gram matrix come from, as an engine sees it.
 *
 * Any kernel gives host tiles. An expression over vectors (inner products of dense or
 * packed rows, absolute differences, and functions of them) is told as a short program
 * as well (kernel/kernel.h), which an engine may run on its own device.
 */

typedef struct okra_entries_ {
    okra_int rows, cols;
    bool symmetric; /* rows and columns are the same objects */
    /* out[r*ld + c] = entry (i0 + r, j0 + c), serial, safe in many threads; any kernel */
    okra_status (*tile)(okra_context *ctx, const void *self, okra_int i0, okra_int ni,
                        okra_int j0, okra_int nj, double *out, okra_int ld);
    const void *self;
    /* The same entries as a program; NULL: there is none. depth: values on the stack. */
    const okra_step_ *steps;
    int count, depth;
} okra_entries_;

/* The training set of a bound kernel against itself (other NULL), or another collection
 * (rows) against the training set (columns). Borrows both. */
okra_status okra_entries_create_(okra_context *ctx, const okra_trained_kernel_ *bound,
                                 const okra_test_side_ *other, okra_entries_ **out);
void okra_entries_free_(okra_entries_ *entries);
OKRA_DROPS_(okra_entries_drop_, okra_entries_, okra_entries_free_)
/* The kernel and the collection behind them, for the host engine; NULL: they come from
 * elsewhere. */
const okra_trained_kernel_ *okra_entries_bound_(const okra_entries_ *entries,
                                                const okra_test_side_ **other);

#define OKRA_ENGINE_INTERFACE_ 5u

typedef struct okra_engine_class_ okra_engine_class_;

/* An open engine (loader.c). */
typedef struct okra_engine_ {
    const okra_engine_class_ *verbs;
    void *state;   /* what verbs->open made            */
    void *library; /* of dlopen, or NULL: built in      */
    atomic_int references;
} okra_engine_;

/* A matrix of one engine; the body is the engine's alone. */
typedef struct okra_matrix_ {
    const okra_engine_ *engine;
    void *body;
    okra_int rows, cols;
} okra_matrix_;

/* The context's engine; NULL or none set: host. */
const okra_engine_ *okra_engine_of_(const okra_context *ctx);
/* Closes the engine where nobody else holds it. */
void okra_engine_drop_(void *engine);

/* ---- the verbs, as methods call them ---- */

/* rows x cols, not initialised; the engine's memory is asked for first, and `what` is
 * named in the message where there is not enough. */
okra_status okra_matrix_create_(okra_context *ctx, okra_int rows, okra_int cols,
                                const char *what, okra_matrix_ **out);
/* A host block as an operand: the host engine looks at it in place, others copy. The
 * block must outlive it, and is not written. */
okra_status okra_matrix_borrow_(okra_context *ctx, okra_mat_ block, okra_matrix_ **out);
/* The Gram matrix of `entries` (engine/engine.h), or the rows first.. of it that `A` has
 * room for. */
okra_status okra_matrix_gram_(okra_context *ctx, const okra_entries_ *entries,
                              okra_int first, okra_matrix_ *A);
void okra_matrix_free_(okra_matrix_ *A);
OKRA_DROPS_(okra_matrix_drop_, okra_matrix_, okra_matrix_free_)

/* The block of the shape of `block` at (i, j): to the engine, and back. */
okra_status okra_matrix_put_(okra_context *ctx, okra_mat_ block, okra_int i, okra_int j,
                             okra_matrix_ *A);
okra_status okra_matrix_get_(okra_context *ctx, const okra_matrix_ *A, okra_int i,
                             okra_int j, okra_mat_ block);
/* All of A as a fresh host block that the caller owns, and A is freed: the host engine
 * hands its memory over. *A becomes NULL. */
okra_status okra_matrix_take_(okra_context *ctx, okra_matrix_ **A, const char *what,
                              double **out);
/* A into the store, and *A becomes NULL: taken as above or, where several processes share
 * it, as it lies there. lower: what is above the diagonal counts as 0. */
okra_status okra_matrix_keep_(okra_context *ctx, okra_matrix_ **A, bool lower,
                              const char *what, const char *name, okra_store_ *store);
/* That matrix; NULL: the store has its values, or nothing of that name. */
okra_matrix_ *okra_matrix_kept_(const okra_store_ *store, const char *name);
/* Values in the place of such matrices: of all, or of those of other engines. */
okra_status okra_matrix_to_host_(okra_context *ctx, okra_store_ *store, bool all);
/* B <- A, or A' (trans). */
okra_status okra_matrix_copy_(okra_context *ctx, bool trans, const okra_matrix_ *A,
                              okra_matrix_ *B);

okra_status okra_matrix_fill_(okra_context *ctx, double value, okra_matrix_ *A);
okra_status okra_matrix_add_diagonal_(okra_context *ctx, double value, okra_matrix_ *A);
okra_status okra_matrix_diagonal_(okra_context *ctx, const okra_matrix_ *A, double *out);
/* A_ij <- A_ij r_i c_j; r or c NULL: 1. */
okra_status okra_matrix_scale_(okra_context *ctx, const double *r, const double *c,
                               okra_matrix_ *A);
/* H A H, H = I - 11'/n, A symmetric; mean (n, or NULL) gets A1/n as it was. */
okra_status okra_matrix_center_(okra_context *ctx, double *mean, okra_matrix_ *A);

/* Elementwise, in place, A and B of one shape. */
typedef enum okra_combine_ {
    OKRA_COMBINE_SUM_,     /* A_ij <- s A_ij + t B_ij                                   */
    OKRA_COMBINE_PRODUCT_, /* A_ij <- A_ij B_ij                                         */
    OKRA_COMBINE_POWER_,   /* A_ij <- A_ij^s; B NULL                                    */
    OKRA_COMBINE_DIVIDE_,  /* A_ij <- B_ij / (r_i c_j + s): Z of the covariance operators
                            */
} okra_combine_;
okra_status okra_matrix_combine_(okra_context *ctx, okra_combine_ how, double s, double t,
                                 const double *r, const double *c, const okra_matrix_ *B,
                                 okra_matrix_ *A);

/* Reductions: out_i = sum_j A_ij; *out = sum_ij A_ij B_ij (the trace of A'B). */
okra_status okra_matrix_row_sums_(okra_context *ctx, const okra_matrix_ *A, double *out);
okra_status okra_matrix_dot_(okra_context *ctx, const okra_matrix_ *A,
                             const okra_matrix_ *B, double *out);
/* out (p x q) = those inner products of every X[s] with every Y[t], all of one shape. */
okra_status okra_matrix_dots_(okra_context *ctx, okra_int p, okra_matrix_ *const *X,
                              okra_int q, okra_matrix_ *const *Y, double *out);
/* The k best of each row of A by A_ij + offset_j (offset NULL: 0), largest first, ties to
 * the lower column: index and value are rows x k; k <= cols. */
okra_status okra_matrix_best_(okra_context *ctx, const okra_matrix_ *A,
                              const double *offset, okra_int k, okra_int *index,
                              double *value);

/* C <- alpha op(A) op(B) + beta C; beta == 0 never reads C. */
okra_status okra_matrix_gemm_(okra_context *ctx, bool ta, bool tb, double alpha,
                              const okra_matrix_ *A, const okra_matrix_ *B, double beta,
                              okra_matrix_ *C);
/* C <- alpha A A' + beta C (trans: alpha A'A + beta C), both triangles written. */
okra_status okra_matrix_syrk_(okra_context *ctx, bool trans, double alpha,
                              const okra_matrix_ *A, double beta, okra_matrix_ *C);
/* As okra_cholesky_ and okra_cholesky_try_ of linalg.h. */
okra_status okra_matrix_cholesky_(okra_context *ctx, okra_matrix_ *A, double *jitter);
okra_status okra_matrix_cholesky_try_(okra_context *ctx, okra_matrix_ *A, bool *done);
/* left: B <- op(L)^-1 B; right: B <- B op(L)^-1, L lower triangular. */
okra_status okra_matrix_trsm_(okra_context *ctx, bool left, bool trans,
                              const okra_matrix_ *L, okra_matrix_ *B);
/* B <- (L L')^-1 B (left), or B (L L')^-1: rows of B are right-hand sides. */
okra_status okra_matrix_solve_(okra_context *ctx, bool left, const okra_matrix_ *L,
                               okra_matrix_ *B);
/* Symmetric A = V' diag(w) V, ascending; A becomes V. Only the lower triangle is read. */
okra_status okra_matrix_eigh_(okra_context *ctx, okra_matrix_ *A, double *w);

/* Is it the host that works, where matrices cost no copy? */
bool okra_engine_is_host_(const okra_context *ctx);

/* ---- with blocks of the host ---- */

/* A matrix for what is going to be in `block` (keep: that begins with what is in it), and
 * at the end the way there. The host engine works where the block is. */
okra_status okra_matrix_begin_(okra_context *ctx, bool keep, okra_mat_ block,
                               okra_matrix_ **out);
okra_status okra_matrix_end_(okra_context *ctx, const okra_matrix_ *A, okra_mat_ block);
/* C <- alpha op(A) op(B), C of the host: both large; A large and B of the host; A of the
 * host and B large. */
okra_status okra_matrix_times_(okra_context *ctx, bool ta, bool tb, double alpha,
                               const okra_matrix_ *A, const okra_matrix_ *B, okra_mat_ C);
okra_status okra_matrix_left_(okra_context *ctx, bool ta, bool tb, double alpha,
                              const okra_matrix_ *A, okra_mat_ B, okra_mat_ C);
okra_status okra_matrix_right_(okra_context *ctx, bool ta, bool tb, double alpha,
                               okra_mat_ A, const okra_matrix_ *B, okra_mat_ C);
/* As okra_matrix_solve_, B of the host. */
okra_status okra_matrix_solve_host_(okra_context *ctx, bool left, const okra_matrix_ *L,
                                    okra_mat_ B);
/* What linalg.h has of these names, the matrices in the host's memory, computed by the
 * engine: for methods that also come back to single entries. Not in parallel bodies. */
okra_status okra_engine_gemm_(okra_context *ctx, bool ta, bool tb, double alpha,
                              okra_mat_ A, okra_mat_ B, double beta, okra_mat_ C);
okra_status okra_engine_syrk_(okra_context *ctx, bool trans, double alpha, okra_mat_ A,
                              double beta, okra_mat_ C);
okra_status okra_engine_cholesky_(okra_context *ctx, okra_mat_ A, double *jitter);
okra_status okra_engine_cholesky_try_(okra_context *ctx, okra_mat_ A, bool *done);
okra_status okra_engine_trsm_(okra_context *ctx, bool left, bool trans, okra_mat_ L,
                              okra_mat_ B);
okra_status okra_engine_cholesky_solve_(okra_context *ctx, okra_mat_ L, okra_mat_ B);
okra_status okra_engine_cholesky_solve_rows_(okra_context *ctx, okra_mat_ L, okra_mat_ B);
okra_status okra_engine_eigh_(okra_context *ctx, okra_mat_ A, double *w);
/* Rows first.. of the Gram matrix into a block of the host, computed by the engine. */
okra_status okra_matrix_gram_host_(okra_context *ctx, const okra_entries_ *entries,
                                   okra_int first, okra_mat_ block);

/* Of the rows j of `entries` the k best for each row of W (m x entries->cols) by <W_q,
 * entries_j>, largest first, ties to the lower index, less those that `skip` marks (NULL:
 * none): index and value are m x k, -1 where there are fewer. *done false: the engine has
 * no short cut here, or it did not lead there; nothing is then known. */
okra_status okra_engine_top_(okra_context *ctx, const okra_entries_ *entries, okra_mat_ W,
                             const bool *skip, okra_int k, okra_int *index, double *value,
                             bool *done);

/* ---- factors in single precision ----
 * For a square Gram matrix K that is never kept in double precision. */

typedef struct okra_single_ {
    const okra_engine_ *engine;
    void *body;
    okra_int n;
} okra_single_;

/* K + lambda I = L L' to single precision, n^2/2 floats or, on other engines, up to n^2
 * (`rough`: less precise where that is faster, as TF32 of GPUs is). *done false: rounding
 * is more than lambda, or the engine has none. */
okra_status okra_single_create_(okra_context *ctx, const okra_entries_ *entries,
                                double lambda, bool rough, okra_single_ *out, bool *done);
/* Has the engine such factors? *bits: of the numbers that rough ones multiply. */
bool okra_single_there_(const okra_context *ctx, int *bits);
void okra_single_clear_(okra_single_ *L);
/* B (n x c, of the host) <- (L L')^-1 B to single precision. */
okra_status okra_single_apply_(okra_context *ctx, const okra_single_ *L, okra_mat_ B);
/* Y <- K X in double precision, K made in tiles; both of the host. */
okra_status okra_engine_product_(okra_context *ctx, const okra_entries_ *entries,
                                 okra_mat_ X, okra_mat_ Y);

/* ---- several processes ---- */

/* The rows first..first+count-1 of n that this process streams; one process: all. */
void okra_engine_share_(okra_context *ctx, okra_int n, okra_int *first, okra_int *count);
/* values <- their sum over all processes, the same bits on each; one: as it is. */
okra_status okra_engine_sum_(okra_context *ctx, okra_int count, double *values);

/* ---- an engine ---- */

/* What the library offers to a plugin, which sees no other symbol of it. */
typedef struct okra_engine_host_ {
    uint32_t interface; /* OKRA_ENGINE_INTERFACE_ of the library */
    okra_status (*fail)(okra_status status, const char *format, ...) OKRA_PRINTF(2, 3);
    void (*warn)(const okra_context *ctx, const char *format, ...) OKRA_PRINTF(2, 3);
    okra_status (*cancelled)(okra_context *ctx);
    void *(*alloc)(okra_int count, size_t size);
    void (*free)(void *block);
    okra_status (*parallel)(okra_context *ctx, okra_int count, okra_int grain,
                            const char *what,
                            okra_status (*body)(void *arg, okra_int begin, okra_int end,
                                                int worker),
                            void *arg);
    int (*workers)(const okra_context *ctx);
    /* The share of the engine's memory that may be used, in bytes: --memory where it was
     * set, else 0: whatever there is. */
    okra_int (*budget)(const okra_context *ctx);
    okra_int (*left)(const okra_context *ctx); /* of the memory budget of the host */
} okra_engine_host_;

/* `e` is the state that open made; bodies are what create made. */
struct okra_engine_class_ {
    uint32_t interface; /* OKRA_ENGINE_INTERFACE_ it was written for */
    const char *name, *help;
    /* device: what follows the colon of --engine NAME:DEVICE, or "". */
    okra_status (*open)(const okra_engine_host_ *host, const char *device, void **e);
    void (*close)(void *e);
    /* One line for people: the device, its memory, the versions of its libraries. */
    void (*describe)(void *e, char *text, size_t size);

    okra_status (*create)(void *e, okra_context *ctx, okra_int rows, okra_int cols,
                          const char *what, void **body);
    void (*destroy)(void *e, void *body);
    /* NULL: create and put. */
    okra_status (*borrow)(void *e, okra_context *ctx, okra_mat_ block, void **body);
    okra_status (*gram)(void *e, okra_context *ctx, const okra_entries_ *entries,
                        okra_int first, okra_int rows, void *A);
    okra_status (*put)(void *e, okra_context *ctx, okra_mat_ block, okra_int i,
                       okra_int j, void *A);
    okra_status (*get)(void *e, okra_context *ctx, const void *A, okra_int i, okra_int j,
                       okra_mat_ block);
    /* The body's memory as a block of okra_alloc_, and the body gone; NULL: get. */
    double *(*release)(void *e, void *A);
    okra_status (*copy)(void *e, okra_context *ctx, bool trans, const void *A, void *B);
    okra_status (*fill)(void *e, okra_context *ctx, double value, void *A);
    okra_status (*add_diagonal)(void *e, okra_context *ctx, double value, void *A);
    okra_status (*diagonal)(void *e, okra_context *ctx, const void *A, double *out);
    okra_status (*scale)(void *e, okra_context *ctx, const double *r, const double *c,
                         void *A);
    okra_status (*center)(void *e, okra_context *ctx, double *mean, void *A);
    okra_status (*combine)(void *e, okra_context *ctx, okra_combine_ how, double s,
                           double t, const double *r, const double *c, const void *B,
                           void *A);
    okra_status (*row_sums)(void *e, okra_context *ctx, const void *A, double *out);
    okra_status (*dot)(void *e, okra_context *ctx, const void *A, const void *B,
                       double *out);
    /* NULL: dot by dot. */
    okra_status (*dots)(void *e, okra_context *ctx, okra_int p, const void *const *X,
                        okra_int q, const void *const *Y, double *out);
    okra_status (*best)(void *e, okra_context *ctx, const void *A, const double *offset,
                        okra_int k, okra_int *index, double *value);
    okra_status (*gemm)(void *e, okra_context *ctx, bool ta, bool tb, double alpha,
                        const void *A, const void *B, double beta, void *C);
    okra_status (*syrk)(void *e, okra_context *ctx, bool trans, double alpha,
                        const void *A, double beta, void *C);
    /* lower triangle <- L; *done false: a pivot was not positive, A then half done. The
     * wrapper keeps the upper triangle and the diagonal and tries again with jitter. */
    okra_status (*cholesky)(void *e, okra_context *ctx, void *A, bool *done);
    /* lower triangle <- upper triangle, diagonal <- d (n): undoes a half-done factor */
    okra_status (*restore)(void *e, okra_context *ctx, const double *d, void *A);
    okra_status (*trsm)(void *e, okra_context *ctx, bool left, bool trans, const void *L,
                        void *B);
    okra_status (*eigh)(void *e, okra_context *ctx, void *A, double *w);
    /* As okra_engine_top_; NULL: nothing is faster than gram, gemm and best. */
    okra_status (*top)(void *e, okra_context *ctx, const okra_entries_ *entries,
                       okra_mat_ W, const bool *skip, okra_int k, okra_int *index,
                       double *value, bool *done);

    /* As okra_single_create_ and the others; NULL: none of them. */
    okra_status (*single)(void *e, okra_context *ctx, const okra_entries_ *entries,
                          double lambda, bool rough, void **L, bool *done);
    void (*single_destroy)(void *e, void *L);
    okra_status (*single_solve)(void *e, okra_context *ctx, const void *L, okra_mat_ B);
    okra_status (*product)(void *e, okra_context *ctx, const okra_entries_ *entries,
                           okra_mat_ X, okra_mat_ Y);

    /* Several processes; NULL: one. */
    void (*share)(void *e, okra_int n, okra_int *first, okra_int *count);
    okra_status (*sum)(void *e, okra_context *ctx, okra_int count, double *values);
    /* This process meets the others. `group` comes with its threads and memory and goes
     * with rank, ranks, and the least of all threads and memories. */
    okra_status (*join)(void *e, okra_context *ctx, okra_processes_ *group);
    /* As okra_context_finish_together; `what` is where this process is. */
    okra_status (*agree)(void *e, okra_status status, const char *what, bool *talks);
};

/* What a plugin exports; NULL where host->interface is not one that it knows. */
typedef const okra_engine_class_ *okra_engine_plugin_fn_(const okra_engine_host_ *host);
#define OKRA_ENGINE_PLUGIN_SYMBOL_ "okra_engine_plugin"

extern const okra_engine_class_ okra_engine_host_class_; /* host.c */

/* For tests: where a context has no engine, that of `ctx` is used; NULL: host again. */
void okra_engine_assume_(okra_context *ctx);

#endif
