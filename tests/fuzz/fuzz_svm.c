/* Any bytes as a file of format svm: refused with a message, or valid data. */
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (fuzz_turn(size, 0, 3) || fuzz_turn(size, 1, 3)) {
        fuzz_read("svm", data, size);
    }
    if (fuzz_turn(size, 2, 3)) {
        fuzz_read("svm0", data, size);
    }
    return 0;
}
