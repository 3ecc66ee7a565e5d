/*
 * Any bytes as a list of candidates (okra index), lines or a table: refused with a
 * message, or an index that opens, whose checksums are right.
 */
#include "candidates/index.h"
#include "turn.h"
#include "okra/more/index.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool condition)
{
    if (!condition) {
        abort();
    }
}

static void clean(const char *folder, const char *end)
{
    char name[120];
    for (int k = -1; k < 400; k++) {
        snprintf(name, sizeof name, k < 0 ? "%s%s/index.json" : "%s%s/shard-%05d", folder,
                 end, k);
        if (unlink(name) != 0 && k >= 0) {
            break;
        }
    }
    snprintf(name, sizeof name, "%s%s", folder, end);
    rmdir(name);
}

static void build(okra_context *ctx, const char *folder, const char *source,
                  const char *columns)
{
    okra_index *index = NULL;
    okra_index_request request = {OKRA_SIZED(okra_index_request),
                                  .source = source,
                                  .path = folder,
                                  .columns = columns,
                                  .ky = "ecfp(bits=70) | tanimoto",
                                  .shard = 3};
    okra_status st = okra_index_build(ctx, &request, NULL);
    demand(st == OKRA_OK || (okra_message()[0] && st != OKRA_EINTERNAL));
    if (st == OKRA_OK) {
        demand(okra_index_open(ctx, folder, &index) == OKRA_OK);
        demand(okra_index_check(ctx, index) == OKRA_OK);
        demand(okra_index_count(index) > 0);
        okra_index_free(index);
    }
    clean(folder, "");
    clean(folder, ".part");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static okra_context *ctx;
    static const char *const ends[] = {"smi", "tsv"};
    char folder[80], source[100];
    if (!ctx) {
        demand(okra_context_create(&ctx) == OKRA_OK);
        demand(okra_context_set_memory(ctx, INT64_C(1) << 26) == OKRA_OK);
        demand(okra_context_set_threads(ctx, 1) == OKRA_OK);
    }
    snprintf(folder, sizeof folder, "%s/okra-fuzz-candidates-%ld.okx",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", (long)getpid());
    okra_int live = okra_alloc_live_blocks_();
    for (int k = 0; k < 2; k++) {
        if (fuzz_turn(size, k, 2)) {
            snprintf(source, sizeof source, "%s.%s", folder, ends[k]);
            FILE *f = fopen(source, "wb");
            demand(f && fwrite(data, 1, size, f) == size && fclose(f) == 0);
            build(ctx, folder, source, k ? "x" : "");
            unlink(source);
        }
    }
    demand(okra_alloc_live_blocks_() == live);
    return 0;
}
