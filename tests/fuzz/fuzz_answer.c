/* Any bytes as the answer of okra-mat, which a hostile file may have taken over. */
#include "reader.h"

#include "data/files/mat_child.h"

#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    okra_context *context = NULL;
    okra_data *read = NULL;
    bool ended = false;
    okra_int live = okra_alloc_live_blocks_();
    FUZZ_CHECK(okra_context_create(&context) == OKRA_OK);
    FUZZ_CHECK(okra_context_set_memory(context, INT64_C(1) << 22) == OKRA_OK);
    okra_source_ source = {.ctx = context, .name = "input"};
    int fd = memfd_create("okra-fuzz", MFD_CLOEXEC);
    FUZZ_CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size &&
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
    close(fd);
    okra_context_free(context);
    FUZZ_CHECK(okra_alloc_live_blocks_() == live);
    return 0;
}
