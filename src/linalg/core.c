/*
 * core.c: the processor whose code BLAS runs.
 *
 * OpenBLAS chooses by a list of processors. One that is newer than the list gets the code
 * of a processor of 2004, which has no AVX and is four times slower. The processor's own
 * flags tell that this has happened, and which code it could run. The choice is made when
 * OpenBLAS is loaded, so that it can only be mended before the program starts, by
 * OPENBLAS_CORETYPE.
 */
#include "linalg/backend.h"

#include <cblas.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <strings.h>

/* Whether the code of this name uses vectors of AVX2 or more. */
static bool modern(const char *name)
{
    static const char *const names[] = {"Haswell", "Zen", "SkylakeX", "Cooperlake",
                                        "SapphireRapids"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcasecmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* The newest code that this processor can run, NULL: nothing newer than AVX. */
static const char *best(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl")) {
        return "SkylakeX";
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        return "Haswell";
    }
#endif
    return NULL;
}

/* What the user chose stays. A test sets OKRA_TEST_PROCESSOR to have a choice of its own
 * taken for that of OpenBLAS. */
static bool chosen(void)
{
    const char *type = getenv("OPENBLAS_CORETYPE");
    return type && *type && !getenv("OKRA_TEST_PROCESSOR");
}

const char *okra_blas_core(const char **better)
{
    const char *name = openblas_get_corename();
    GIVE(better, modern(name) || chosen() ? NULL : best());
    return name;
}

void okra_blas_core_warn_(const okra_context *ctx)
{
    static atomic_bool told;
    const char *better;
    if (atomic_load(&told) || !okra_warns_(ctx)) {
        return;
    }
    atomic_store(&told, true);
    const char *name = okra_blas_core(&better);
    if (better) {
        okra_warn_(ctx,
                   "OpenBLAS does not know this processor and runs code for %s, which is "
                   "several times slower: set OPENBLAS_CORETYPE=%s in the environment "
                   "before the program starts",
                   name, better);
    }
}
