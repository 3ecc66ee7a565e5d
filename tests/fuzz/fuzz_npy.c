/* Any bytes as a file of format npy: refused with a message, or valid data. */
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_read("npy", data, size);
    return 0;
}
