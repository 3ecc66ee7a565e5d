/*
 * status.c: status codes, and the message of the last failure in each thread.
 */
#include "core/core.h"
#include "okra/program.h"

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

OKRA_PRINTF(1, 0) static void prefix(const char *format, va_list args)
{
    char fresh[MESSAGE_SIZE], raw[MESSAGE_SIZE];
    vsnprintf(raw, sizeof raw, format, args);
    okra_printable_(raw, false, fresh, sizeof fresh);
    /* A text that does not fit loses its end, not its beginning. */
    size_t used = strlen(fresh), room = sizeof fresh - used;
    snprintf(fresh + used, room, ": %.*s", room > 3 ? (int)room - 3 : 0, message);
    memcpy(message, fresh, sizeof message);
}

okra_status okra_not_null_(const char *function, const char *arguments,
                           const void *const *pointers, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        size_t length = strcspn(arguments, ",");
        REFUSE_IF(!pointers[k], OKRA_EARG, "%s: %.*s is NULL", function, (int)length,
                  arguments);
        arguments += length + strspn(arguments + length, ", ");
    }
    return OKRA_OK;
}

void okra_message_prefix_(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    prefix(format, args);
    va_end(args);
}

okra_status okra_failed_at_(okra_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (status != OKRA_EMEM && status != OKRA_ECANCELLED) {
        prefix(format, args);
    }
    va_end(args);
    return status;
}

/* ---- texts that came from files, made safe to print ---- */

/* What a terminal would obey (control characters, invalid UTF-8, changes of direction)
 * becomes \xNN. */

/* The code point at p and its length in bytes; 0: not valid UTF-8. */
static size_t decode(const unsigned char *p, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = *p < 0x80             ? 1
                    : (*p & 0xe0) == 0xc0 ? 2
                    : (*p & 0xf0) == 0xe0 ? 3
                    : (*p & 0xf8) == 0xf0 ? 4
                                          : 0;
    *code = length == 1 ? *p : length > 1 ? *p & (0x7fu >> length) : 0;
    for (size_t k = 1; k < length; k++) {
        if ((p[k] & 0xc0) != 0x80) {
            return 0;
        }
        *code = *code << 6 | (p[k] & 0x3f);
    }
    bool valid = length > 0 && *code >= least[length] && *code <= 0x10ffff &&
                 !(*code >= 0xd800 && *code <= 0xdfff);
    return valid ? length : 0;
}

static bool obeyed(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x200e || c == 0x200f ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

const char *okra_printable_(const char *text, bool lines, char *out, size_t size)
{
    const unsigned char *p = (const unsigned char *)text;
    size_t used = 0;
    while (*p && size > 0) {
        uint32_t code = 0;
        size_t length = decode(p, &code), step = length ? length : 1;
        bool plain =
            length > 0 && (!obeyed(code) || code == '\t' || (lines && code == '\n'));
        if (used + (plain ? step : 4 * step) >= size) {
            break; /* whole characters or none */
        }
        for (size_t k = 0; k < step; k++) {
            if (plain) {
                out[used++] = (char)p[k];
            } else {
                used += (size_t)snprintf(out + used, 5, "\\x%02x", (unsigned)p[k]);
            }
        }
        p += step;
    }
    if (size > 0) {
        out[used] = '\0';
    }
    return out;
}

const char *okra_text_printable(const char *text, char *buffer, size_t size)
{
    return buffer && size > 0 ? okra_printable_(text ? text : "", false, buffer, size)
                              : "";
}
