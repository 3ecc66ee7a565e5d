/*
 * table.c: tables with a header, field by field.
 */
#include "predict/table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

char *cli_slurp(const char *path)
{
    FILE *f = fopen(path, "r");
    char *text = NULL;
    size_t used = 0, room = 1 << 16, got = 1;
    while (f && got > 0) {
        char *grown = realloc(text, room + 1);
        if (!grown) {
            free(text);
            fclose(f);
            errno = ENOMEM;
            return NULL;
        }
        text = grown;
        got = fread(text + used, 1, room - used, f);
        used += got;
        text[used] = '\0';
        room = used == room ? 2 * room : room;
    }
    if (f) {
        fclose(f);
    }
    return text;
}

bool cli_field(const char *line, char separator, int k, const char **begin,
               const char **end)
{
    const char *at = line;
    for (;; k--) {
        bool quoted = false;
        *begin = at;
        while (*at && *at != '\n' && (*at != separator || quoted)) {
            quoted ^= *at++ == '"' && separator == ',';
        }
        *end = at > *begin && at[-1] == '\r' && *at != separator ? at - 1 : at;
        if (k == 0 || *at != separator) {
            return k == 0;
        }
        at++;
    }
}

const char *cli_line_end(const char *line)
{
    const char *end = line + strcspn(line, "\n");
    return end > line && end[-1] == '\r' ? end - 1 : end;
}

int cli_column(const char *heading, char separator, const char *name)
{
    const char *begin, *end;
    for (int k = 0; cli_field(heading, separator, k, &begin, &end); k++) {
        size_t length = (size_t)(end - begin);
        if (strlen(name) == length && strncasecmp(name, begin, length) == 0) {
            return k;
        }
    }
    return -1;
}
