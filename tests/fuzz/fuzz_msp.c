/* Any bytes as a file of format msp: refused with a message, or valid data. */
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_read("msp", NULL, data, size);
    fuzz_field("msp", "smiles", data, size);
    fuzz_field("msp", "mass", data, size);
    return 0;
}
