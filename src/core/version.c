/*
 * version.c: which okra this is, and what is built in.
 */
#include "core/core.h"
#include "okra/version.h"
#include "build_info.h"

#ifdef __clang__
#define COMPILER __VERSION__
#else
#define COMPILER "GCC " __VERSION__
#endif

const char *okra_version(void)
{
    return OKRA_VERSION;
}

const char *okra_build_info(void)
{
    return "version: " OKRA_VERSION "\n"
           "compiler: " COMPILER "\n" OKRA_BUILD_INFO;
}
