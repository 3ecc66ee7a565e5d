/* Any bytes as a file of format msp: refused with a message, or valid data. */
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (fuzz_turn(size, 0, 3)) {
        fuzz_read("msp", data, size);
    }
    if (fuzz_turn(size, 1, 3)) {
        fuzz_one_way("msp", "smiles", OKRA_HOW_FOUND_, data, size);
    }
    if (fuzz_turn(size, 2, 3)) {
        fuzz_one_way("msp", "mass", OKRA_HOW_FOUND_, data, size);
    }
    return 0;
}
