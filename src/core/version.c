/*
 * version.c: which okra this is, and what is built in.
 */
#include "core/core.h"
#include "okra/version.h"

#ifndef OKRA_BUILD_INFO
#define OKRA_BUILD_INFO ""
#endif

const char *okra_version(void)
{
    return OKRA_VERSION;
}

const char *okra_build_info(void)
{
    return "version: " OKRA_VERSION "\n"
           "compiler: " __VERSION__ "\n"
           "backends: blas ref\n" OKRA_BUILD_INFO;
}
