/*
 * lines.c: lines of standard input, as they come.
 */
#include "predict/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 1 << 18, LINE_MOST = 64 << 20 };

int cli_lines_more(cli_run *run, cli_lines *in)
{
    if (in->begin > 0) {
        memmove(in->p, in->p + in->begin, in->used - in->begin);
        in->used -= in->begin;
        in->begin = 0;
    }
    if (in->room - in->used < PIECE) {
        size_t room = 2 * in->room + 2 * PIECE;
        char *grown = room > LINE_MOST ? NULL : realloc(in->p, room + 1);
        if (!grown) {
            return cli_failure(run, "standard input: line %lld is too long", in->line);
        }
        in->p = grown;
        in->room = room;
    }
    ssize_t got = read(STDIN_FILENO, in->p + in->used, PIECE);
    if (got < 0 && errno != EINTR) {
        return cli_failure(run, "standard input: cannot be read: %s", strerror(errno));
    }
    in->end = got == 0;
    in->used += got > 0 ? (size_t)got : 0;
    in->p[in->used] = '\0'; /* the last line may have no end */
    return cli_signal_caught() ? CLI_FAILED : CLI_DONE;
}

/* Bytes of the next line, 0: it is not complete; at the end the last one may have no end.
 */
static size_t take(const cli_lines *in)
{
    const char *begin = in->p + in->begin;
    size_t size = in->used - in->begin;
    const char *end = size > 0 ? memchr(begin, '\n', size) : NULL;
    return end ? (size_t)(end - begin) + 1 : in->end ? size : 0;
}

int cli_lines_each(cli_run *run, cli_lines *in, void *user,
                   int (*each)(cli_run *run, void *user, const char *text, size_t size,
                               long long line))
{
    int status = CLI_DONE;
    while (status == CLI_DONE) {
        size_t size = take(in);
        if (size > 0) {
            status = each(run, user, in->p + in->begin, size, in->line++);
            in->begin += size;
        } else if (in->end) {
            break;
        } else {
            status = cli_lines_more(run, in);
        }
    }
    return status;
}
