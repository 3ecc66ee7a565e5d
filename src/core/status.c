/*
 * status.c: status codes, and the message of the last failure in each thread.
 */
#include "core/core.h"

#include <stdio.h>
#include <string.h>

enum { MESSAGE_SIZE = 2048 };

/* The only state that is not in a handle: one message a thread. */
/* Aligned as no other section is more: a linker (mold 1.10) that gives thread-local
 * storage of smaller alignment the last bytes of a page makes a program that cannot be
 * loaded. */
static _Thread_local _Alignas(64) char message[MESSAGE_SIZE];

static const char *const texts[] = {
#define TEXT(name, text) text,
    OKRA_STATUS_LIST(TEXT)
#undef TEXT
};

static const char *const names[] = {
#define NAME(name, text) #name,
    OKRA_STATUS_LIST(NAME)
#undef NAME
};

static bool known(okra_status status)
{
    return (size_t)status < sizeof texts / sizeof *texts;
}

const char *okra_status_text(okra_status status)
{
    return known(status) ? texts[status] : "unknown status";
}

const char *okra_status_name(okra_status status)
{
    return known(status) ? names[status] : "OKRA_?";
}

const char *okra_message(void)
{
    return message;
}

OKRA_PRINTF(1, 0) static void fail(const char *format, va_list args)
{
    /* Arguments may point into the old message, so write beside it first. */
    char fresh[MESSAGE_SIZE], safe[MESSAGE_SIZE];
    vsnprintf(fresh, sizeof fresh, format, args);
    /* Lines are the format's own, or they are not ended. */
    okra_printable_(fresh, strchr(format, '\n') != NULL, safe, sizeof safe);
    memcpy(message, safe, sizeof message);
}

okra_status okra_fail_(okra_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fail(format, args);
    va_end(args);
    return status;
}

okra_status okra_fail(okra_status status, const char *format, ...)
{
    va_list args;
    REFUSE_IF(!format, status, "%s", "");
    va_start(args, format);
    fail(format, args);
    va_end(args);
    return status;
}

void okra_message_prefix_(const char *format, ...)
{
    char fresh[MESSAGE_SIZE], raw[MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(raw, sizeof raw, format, args);
    va_end(args);
    okra_printable_(raw, false, fresh, sizeof fresh);
    /* A text that does not fit loses its end, not its beginning. */
    size_t used = strlen(fresh), room = sizeof fresh - used;
    snprintf(fresh + used, room, ": %.*s", room > 3 ? (int)room - 3 : 0, message);
    memcpy(message, fresh, sizeof message);
}
