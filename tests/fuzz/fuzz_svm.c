/* Any bytes as a file of format svm: refused with a message, or valid data. */
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_read("svm", NULL, data, size);
    fuzz_read("svm0", NULL, data, size);
    return 0;
}
