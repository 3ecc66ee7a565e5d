/* Any bytes as a MATLAB file: the check of version 5, then matio in this process (HDF5 is
 * not ours to mend: version 7.3 is left to the program that is made for it), then the
 * taking of what came out. */
#include "reader.h"

#include "../../plugins/mat/mat.h"
#include "data/files/mat_child.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    okra_source_ source = {.ctx = fuzz_context(),
                           .name = "input",
                           .bytes = {.p = data, .size = (okra_int)size}};
    okra_int live = okra_alloc_live_blocks_();
    if (okra_mat_check_(&source) == OKRA_OK && !(size > 125 && data[125] == 2)) {
        int in = memfd_create("okra-fuzz", MFD_CLOEXEC);
        int out = memfd_create("okra-fuzz-answer", MFD_CLOEXEC);
        okra_data *read = NULL;
        bool ended = false;
        FUZZ_CHECK(in >= 0 && out >= 0 && write(in, data, size) == (ssize_t)size);
        snprintf(path, sizeof path, "/proc/self/fd/%d", in);
        (void)mat_answer(path, NULL, INT64_C(1) << 22, NULL, out);
        FUZZ_CHECK(lseek(out, 0, SEEK_SET) == 0);
        if (okra_mat_receive_(&source, out, 10, &ended, &read) == OKRA_OK) {
            fuzz_check(read);
        }
        okra_data_free(read);
        close(in);
        close(out);
    }
    FUZZ_CHECK(okra_alloc_live_blocks_() == live);
    return 0;
}
