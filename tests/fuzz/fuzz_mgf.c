/* Any bytes as a file of format mgf: refused with a message, or valid data. */
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_read("mgf", NULL, data, size);
    fuzz_field("mgf", "smiles", data, size);
    fuzz_field("mgf", "mass", data, size);
    return 0;
}
