/* Any bytes as the answer of okra-mat, which a hostile file may have taken over. */
#include "reader.h"

#include "data/files/mat_child.h"

#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    okra_data *read = NULL;
    bool ended = false;
    okra_source_ source = {.ctx = fuzz_context(), .name = "input"};
    okra_int live = okra_alloc_live_blocks_();
    static int fd = -1;
    if (fd < 0) {
        fd = memfd_create("okra-fuzz", MFD_CLOEXEC);
    }
    FUZZ_CHECK(ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size &&
               lseek(fd, 0, SEEK_SET) == 0);
    okra_status st = okra_mat_receive_(&source, fd, 10, &ended, &read);
    if (st == OKRA_OK) {
        fuzz_check(read);
    } else {
        FUZZ_CHECK(!read && okra_message()[0] && st != OKRA_EINTERNAL);
        for (const char *p = okra_message(); *p; p++) {
            FUZZ_CHECK((unsigned char)*p >= 0x20 && *p != 0x7f);
        }
    }
    okra_data_free(read);
    FUZZ_CHECK(okra_alloc_live_blocks_() == live);
    return 0;
}
