/*
 * Any lines as the finished work of a selection (--resume), each with its right checksum:
 * refused with a message, or cells that are found again after they were written.
 */
#include "select/select.h"
#include "turn.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WORK = 0x2a };

static void demand(bool condition)
{
    if (!condition) {
        abort();
    }
}

/* The first line names the work; then the input's, sealed as the writer does it. */
static void write_journal(const char *path, const uint8_t *data, size_t size)
{
    static const char head[] = "{\"okra-select\": \"000000000000002a\"}";
    const char *p = (const char *)data, *end = p + size, *line = head;
    size_t length = sizeof head - 1;
    FILE *f = fopen(path, "wb");
    demand(f != NULL);
    for (;;) {
        fprintf(f, "{\"crc32\": \"%08lx\", \"record\": ",
                crc32_z(0, (const Bytef *)line, length));
        fwrite(line, 1, length, f);
        fputs("}\n", f);
        if (p >= end) {
            break;
        }
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        line = p;
        length = (size_t)((stop ? stop : end) - p);
        p = stop ? stop + 1 : end;
    }
    demand(fclose(f) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static okra_context *ctx;
    char path[80];
    okra_journal_ *journal = NULL, *again = NULL;
    if (!ctx) {
        demand(okra_context_create(&ctx) == OKRA_OK);
        demand(okra_context_set_memory(ctx, INT64_C(1) << 26) == OKRA_OK);
    }
    okra_int live = okra_alloc_live_blocks_();
    snprintf(path, sizeof path, "%s/okra-fuzz-journal-%ld",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", (long)getpid());
    if (fuzz_turn(size, 0, 8)) { /* as it is */
        FILE *f = fopen(path, "wb");
        demand(f && fwrite(data, 1, size, f) == size && fclose(f) == 0);
        okra_status st = okra_journal_open_(ctx, path, WORK, &journal);
        demand(st == OKRA_OK || okra_message()[0]);
        okra_journal_free_(journal);
        journal = NULL;
    }
    write_journal(path, data, size);
    okra_status st = okra_journal_open_(ctx, path, WORK, &journal);
    demand(st == OKRA_OK || (okra_message()[0] && st != OKRA_EINTERNAL));
    if (st == OKRA_OK) { /* opening wrote it anew */
        demand(okra_journal_open_(ctx, path, WORK, &again) == OKRA_OK);
        demand(okra_journal_count_(again) == okra_journal_count_(journal));
    }
    okra_journal_free_(journal);
    okra_journal_free_(again);
    unlink(path);
    demand(okra_alloc_live_blocks_() == live);
    return 0;
}
