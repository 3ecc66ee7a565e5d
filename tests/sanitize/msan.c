/*
 * msan.c: the border between okra and libraries that MemorySanitizer does not see into.
 *
 * The linker sends okra's calls through here (--wrap; tests/CMakeLists.txt has the list).
 * Memory of libraries counts as written (poison_in_malloc=0, poison_in_free=0); okra's
 * own blocks come from posix_memalign and are poisoned here. What a library has written
 * into a block of okra's is known afterwards. Factors of products are checked before:
 * garbage that goes in would come out as known.
 */
#include <cblas.h>
#include <expat.h>
#include <jansson.h>
#include <lapacke.h>
#include <sanitizer/msan_interface.h>
#include <stdlib.h>
#include <zlib.h>

#define WRAP(type, name, ...)        \
    type __real_##name(__VA_ARGS__); \
    type __wrap_##name(__VA_ARGS__); \
    type __wrap_##name(__VA_ARGS__)
#define KNOWN(p, count) __msan_unpoison((p), (size_t)(count) * sizeof *(p))

/* Lines of a matrix, `ld` apart. */
static void matrix(double *p, int lines, int length, int ld)
{
    for (int i = 0; i < lines; i++) {
        KNOWN(p + (ptrdiff_t)i * ld, length);
    }
}

static void look(const double *p, int lines, int length, int ld)
{
    for (int i = 0; i < lines; i++) {
        __msan_check_mem_is_initialized(p + (ptrdiff_t)i * ld,
                                        (size_t)length * sizeof *p);
    }
}

WRAP(int, posix_memalign, void **block, size_t alignment, size_t bytes)
{
    int status = __real_posix_memalign(block, alignment, bytes);
    if (status == 0) {
        __msan_allocated_memory(*block, bytes);
    }
    return status;
}

/*
 * Frames of a library lie where okra's were, whose locals are unknown still: what it will
 * use of the stack counts as written, before it is called and when a function of okra's
 * that it called has returned.
 */
static __attribute__((noinline)) void fresh(void)
{
    enum { FRAMES = 1 << 17 };
    __msan_unpoison((char *)__builtin_frame_address(0) - FRAMES, FRAMES);
}

WRAP(int, inflate, z_stream *z, int flush)
{
    Bytef *to = z->next_out;
    fresh();
    int status = __real_inflate(z, flush);
    __msan_unpoison(z, sizeof *z);
    __msan_unpoison(to, (size_t)(z->next_out - to));
    return status;
}

static _Thread_local struct {
    XML_StartElementHandler start;
    XML_EndElementHandler end;
    XML_CharacterDataHandler text;
    json_dump_callback_t dump;
} called;

static void start(void *user, const char *name, const char **attributes)
{
    called.start(user, name, attributes);
    fresh();
}

static void end(void *user, const char *name)
{
    called.end(user, name);
    fresh();
}

static void text(void *user, const char *p, int length)
{
    called.text(user, p, length);
    fresh();
}

static int dump(const char *p, size_t length, void *user)
{
    int status = called.dump(p, length, user);
    fresh();
    return status;
}

/* Its parts are the library's own. */
WRAP(XML_Parser, XML_ParserCreate_MM, const char *encoding,
     const XML_Memory_Handling_Suite *memory, const char *separator)
{
    (void)memory;
    fresh();
    return __real_XML_ParserCreate_MM(encoding, NULL, separator);
}

WRAP(void, XML_SetElementHandler, XML_Parser parser, XML_StartElementHandler first,
     XML_EndElementHandler last)
{
    called.start = first;
    called.end = last;
    __real_XML_SetElementHandler(parser, first ? start : NULL, last ? end : NULL);
}

WRAP(void, XML_SetCharacterDataHandler, XML_Parser parser,
     XML_CharacterDataHandler handler)
{
    called.text = handler;
    __real_XML_SetCharacterDataHandler(parser, handler ? text : NULL);
}

WRAP(enum XML_Status, XML_Parse, XML_Parser parser, const char *p, int length, int last)
{
    fresh();
    return __real_XML_Parse(parser, p, length, last);
}

WRAP(json_t *, json_loadb, const char *p, size_t length, size_t flags,
     json_error_t *error)
{
    fresh();
    json_t *value = __real_json_loadb(p, length, flags, error);
    __msan_unpoison(error, error ? sizeof *error : 0);
    return value;
}

WRAP(int, json_dump_callback, const json_t *value, json_dump_callback_t callback,
     void *user, size_t flags)
{
    called.dump = callback;
    fresh();
    return __real_json_dump_callback(value, dump, user, flags);
}

WRAP(void, cblas_dgemm, enum CBLAS_ORDER order, enum CBLAS_TRANSPOSE ta,
     enum CBLAS_TRANSPOSE tb, int m, int n, int k, double alpha, const double *A, int lda,
     const double *B, int ldb, double beta, double *C, int ldc)
{
    look(A, ta == CblasNoTrans ? m : k, ta == CblasNoTrans ? k : m, lda);
    look(B, tb == CblasNoTrans ? k : n, tb == CblasNoTrans ? n : k, ldb);
    __real_cblas_dgemm(order, ta, tb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
    if (beta == 0) {
        matrix(C, m, n, ldc);
    }
}

/* The lower triangle of C; what lies above it stays unknown. */
WRAP(void, cblas_dsyrk, enum CBLAS_ORDER order, enum CBLAS_UPLO uplo,
     enum CBLAS_TRANSPOSE trans, int n, int k, double alpha, const double *A, int lda,
     double beta, double *C, int ldc)
{
    look(A, trans == CblasNoTrans ? n : k, trans == CblasNoTrans ? k : n, lda);
    __real_cblas_dsyrk(order, uplo, trans, n, k, alpha, A, lda, beta, C, ldc);
    for (int i = 0; beta == 0 && i < n; i++) {
        KNOWN(C + (ptrdiff_t)i * ldc, i + 1);
    }
}

WRAP(void, cblas_dgemv, enum CBLAS_ORDER order, enum CBLAS_TRANSPOSE trans, int m, int n,
     double alpha, const double *A, int lda, const double *x, int incx, double beta,
     double *y, int incy)
{
    __real_cblas_dgemv(order, trans, m, n, alpha, A, lda, x, incx, beta, y, incy);
    if (beta == 0) {
        KNOWN(y, trans == CblasNoTrans ? m : n);
    }
}

WRAP(void, cblas_dcopy, int n, const double *x, int incx, double *y, int incy)
{
    __real_cblas_dcopy(n, x, incx, y, incy);
    KNOWN(y, n);
}

WRAP(void, dlamrg_, const int *n1, const int *n2, const double *a, const int *step1,
     const int *step2, int *index)
{
    __real_dlamrg_(n1, n2, a, step1, step2, index);
    KNOWN(index, *n1 + *n2);
}

WRAP(int, LAPACKE_dsyevd_work, int layout, char job, char uplo, int n, double *A, int lda,
     double *w, double *work, int lwork, int *iwork, int liwork)
{
    fresh();
    int info = __real_LAPACKE_dsyevd_work(layout, job, uplo, n, A, lda, w, work, lwork,
                                          iwork, liwork);
    KNOWN(work, 1);
    KNOWN(iwork, 1);
    if (lwork >= 0) {
        KNOWN(w, n);
        matrix(A, n, n, lda);
    }
    return info;
}

WRAP(int, LAPACKE_dsyevr_work, int layout, char job, char range, char uplo, int n,
     double *A, int lda, double vl, double vu, int il, int iu, double abstol, int *found,
     double *w, double *Z, int ldz, int *support, double *work, int lwork, int *iwork,
     int liwork)
{
    fresh();
    int info = __real_LAPACKE_dsyevr_work(layout, job, range, uplo, n, A, lda, vl, vu, il,
                                          iu, abstol, found, w, Z, ldz, support, work,
                                          lwork, iwork, liwork);
    KNOWN(work, 1);
    KNOWN(iwork, 1);
    if (lwork >= 0) {
        KNOWN(found, 1);
        KNOWN(w, n);
        matrix(Z, n, n, ldz);
    }
    return info;
}

WRAP(int, LAPACKE_dstedc_work, int layout, char job, int n, double *d, double *e,
     double *Z, int ldz, double *work, int lwork, int *iwork, int liwork)
{
    fresh();
    int info = __real_LAPACKE_dstedc_work(layout, job, n, d, e, Z, ldz, work, lwork,
                                          iwork, liwork);
    matrix(Z, n, n, ldz);
    return info;
}

WRAP(int, LAPACKE_dlarfg_work, int n, double *alpha, double *x, int incx, double *tau)
{
    fresh();
    int info = __real_LAPACKE_dlarfg_work(n, alpha, x, incx, tau);
    KNOWN(tau, 1);
    return info;
}

WRAP(int, LAPACKE_dgetrf_work, int layout, int m, int n, double *A, int lda, int *pivot)
{
    fresh();
    int info = __real_LAPACKE_dgetrf_work(layout, m, n, A, lda, pivot);
    KNOWN(pivot, m < n ? m : n);
    return info;
}

WRAP(int, LAPACKE_dgecon_work, int layout, char norm, int n, const double *A, int lda,
     double anorm, double *rcond, double *work, int *iwork)
{
    int info =
        __real_LAPACKE_dgecon_work(layout, norm, n, A, lda, anorm, rcond, work, iwork);
    KNOWN(rcond, 1);
    return info;
}

/* Column by column: U is m x min(m,n), Vt min(m,n) x n. */
WRAP(int, LAPACKE_dgesdd_work, int layout, char job, int m, int n, double *A, int lda,
     double *s, double *U, int ldu, double *Vt, int ldvt, double *work, int lwork,
     int *iwork)
{
    fresh();
    int info = __real_LAPACKE_dgesdd_work(layout, job, m, n, A, lda, s, U, ldu, Vt, ldvt,
                                          work, lwork, iwork);
    int least = m < n ? m : n;
    KNOWN(work, 1);
    if (lwork >= 0) {
        KNOWN(s, least);
        matrix(U, least, m, ldu);
        matrix(Vt, n, least, ldvt);
    }
    return info;
}
