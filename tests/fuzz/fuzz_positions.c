/* Any bytes as a table of positions: refused with a message, or valid sequences. */
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_one_way("tsv", NULL, OKRA_HOW_SEQUENCES_, data, size);
    return 0;
}
