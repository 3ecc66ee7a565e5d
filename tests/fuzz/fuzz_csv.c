/* Any bytes as a file of format csv: refused with a message, or valid data. */
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (fuzz_turn(size, 0, 3)) {
        fuzz_read("csv", data, size);
    }
    if (fuzz_turn(size, 1, 3)) {
        fuzz_one_way("csv", "b", OKRA_HOW_LABELS_, data, size);
    }
    if (fuzz_turn(size, 2, 3)) {
        fuzz_one_way("csv", "b", OKRA_HOW_STRINGS_, data, size);
    }
    return 0;
}
