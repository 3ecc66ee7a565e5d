/*
 * faults.c: broken records of a file: told with their lines, counted, left out.
 */
#include "data/spectra/spectra.h"

#include <inttypes.h>

enum { TOLD = 10 }; /* the rest is counted alone */

okra_status okra_fault_(okra_faults_ *faults, okra_status st)
{
    if (st != OKRA_EFORMAT || okra_context_strict_(faults->ctx) > faults->level) {
        return st;
    }
    if (faults->count++ < TOLD) {
        okra_warn_(faults->ctx, "%s: %s: left out", faults->name, okra_message());
    }
    return OKRA_OK;
}

void okra_faults_end_(const okra_faults_ *faults, const char *what, okra_int kept)
{
    if (faults->count > 0) {
        okra_warn_(faults->ctx,
                   "%s: %" PRId64 " of %" PRId64 " %s are broken and left out",
                   faults->name, faults->count, faults->count + kept, what);
    }
}
