/* Any bytes as a table of positions: refused with a message, or valid sequences. */
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    okra_int live = okra_alloc_live_blocks_();
    okra_source_ source = {.name = "input",
                           .path = "input",
                           .how = OKRA_HOW_SEQUENCES_,
                           .bytes = {.p = data, .size = (okra_int)size}};
    okra_data *out = NULL;
    okra_status st = okra_format_read_(okra_format_find_("tsv", 3), &source, &out);
    FUZZ_CHECK((st == OKRA_OK) == (out != NULL) && st != OKRA_EINTERNAL);
    if (out) {
        fuzz_check(out);
    }
    okra_data_free(out);
    FUZZ_CHECK(okra_alloc_live_blocks_() == live);
    return 0;
}
