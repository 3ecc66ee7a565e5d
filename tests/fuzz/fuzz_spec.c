/* Any text as a spec: parsed or refused; nothing is written, files hardly ever exist. */
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char spec[256];
    okra_data *out = NULL;
    okra_int live = okra_alloc_live_blocks_();
    if (size >= sizeof spec || memchr(data, '-', size) || memchr(data, '/', size)) {
        return 0; /* standard input would wait; other folders are nobody's business */
    }
    memcpy(spec, data, size);
    spec[size] = '\0';
    if (okra_data_read(NULL, spec, &out) == OKRA_OK) {
        fuzz_check(out);
    }
    okra_data_free(out);
    FUZZ_CHECK(okra_alloc_live_blocks_() == live);
    return 0;
}
