/* Any bytes as JSON lines of inputs (okra predict --stream): an answer or an error to
 * each. */
#include "commands.h"
#include "predict/stream.h"
/* The program's; the library has its own. */
#undef CHK
#undef REFUSE_IF
#undef TRY
#undef GOT
#undef MAKE
#undef OWNED
#undef TAKE
#include "turn.h"
#include "zoo.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { KINDS = 4, LINES = 8 };
static const zoo_entry entries[KINDS] = {
    {ZOO_DENSE, ZOO_PLANE, 0, "kx=rbf(sigma=1)"},
    {ZOO_SPARSE, ZOO_LABELS, 0, "kx=linear ky=zero-one"},
    {ZOO_STRINGS, ZOO_STRINGS, 0, "kx=spectrum(k=2) ky=spectrum(k=1)"},
    {ZOO_SMILES, ZOO_PLANE, 0, "kx=wl"}};
static okra_model *models[KINDS];
static cli_run run = {.command = &cli_predict};

static void set_up(void)
{
    PARTS_CHECK(freopen("/dev/null", "w", stdout));
    PARTS_CHECK(okra_context_create(&run.context) == OKRA_OK);
    PARTS_CHECK(okra_context_set_threads(run.context, 1) == OKRA_OK);
    PARTS_CHECK(okra_context_set_memory(run.context, INT64_C(1) << 26) == OKRA_OK);
    PARTS_CHECK(okra_predict_options(&run.library) == OKRA_OK);
    fuzz_keep(true);
    for (int k = 0; k < KINDS; k++) {
        models[k] = zoo_fit(&entries[k]);
    }
    fuzz_keep(false);
}

static void answer(char **lines, int count, size_t size)
{
    for (int k = 0; k < KINDS; k++) {
        cli_stream s = {.model = models[k], .x = "-", .output = "-", .top = k % 2};
        for (int i = 0; i < count && fuzz_turn(size, k, KINDS); i++) {
            PARTS_CHECK(cli_stream_answer(&run, &s, lines[i]) == CLI_DONE);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *lines[LINES];
    int count = 0;
    if (!models[0]) {
        set_up();
    }
    okra_int live = okra_alloc_live_blocks_();
    const uint8_t *p = data, *end = data + size;
    while (p < end && count < LINES) {
        const uint8_t *stop = memchr(p, '\n', (size_t)(end - p));
        size_t length = (size_t)((stop ? stop : end) - p);
        lines[count] = calloc(length + 1, 1);
        PARTS_CHECK(lines[count]);
        memcpy(lines[count++], p, length);
        p += length + (stop != NULL);
    }
    answer(lines, count, size);
    if (okra_alloc_live_blocks_() > live) { /* models keep some of what they compute */
        live = okra_alloc_live_blocks_();
        answer(lines, count, size);
    }
    while (count > 0) {
        free(lines[--count]);
    }
    PARTS_CHECK(okra_alloc_live_blocks_() == live);
    return 0;
}
