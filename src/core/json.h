/*
 * json.h: jansson with an eye on its memory.
 */
#ifndef OKRA_CORE_JSON_H_
#define OKRA_CORE_JSON_H_

#include "core/core.h"

#include <jansson.h>

/* A byte of JSON may become this many in memory (an empty list in a list). */
enum { OKRA_JSON_PARSED_ = 160 };

/* From now on okra_json_lost_ tells whether an allocation of jansson's failed in this
 * thread; jansson does not always say so itself. */
void okra_json_watch_(void);
bool okra_json_lost_(void);

/* Parses size bytes of text. NULL and *where (may be NULL) where they are no JSON; NULL
 * and okra_json_lost_ where memory did not suffice. */
json_t *okra_json_parse_(const char *text, size_t size, size_t flags,
                         json_error_t *where);
static inline void okra_json_drop_(json_t **at)
{
    json_decref(*at);
}

#endif
