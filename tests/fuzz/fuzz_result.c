/* Any bytes as a result of okra: refused with a message, or a page, HTML and Markdown. */
#include "commands.h"
#include "turn.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void report(char *in, char *out)
{
    cli_run run = {.command = &cli_report, .common = {.data = "", .quiet = true}};
    char quiet[] = "-q", to[] = "-o", *argv[] = {in, to, out, quiet};
    if (cli_parse(&run, 4, argv) != CLI_DONE) {
        abort();
    }
    int status = cli_report.run(&run);
    if (status != CLI_DONE && status != CLI_FAILED) {
        abort();
    }
    okra_options_free(run.options);
    unlink(out);
}

/* Pictures of large networks take seconds, which finds nothing. */
static bool is_slow(const uint8_t *data, size_t size)
{
    static const char word[] = "nodes\"";
    const char *at = (const char *)data, *end = at + size;
    while ((at = memmem(at, (size_t)(end - at), word, sizeof word - 1))) {
        int digits = 0;
        for (; at < end && *at != ',' && *at != '}'; at++) {
            digits += *at >= '0' && *at <= '9';
        }
        if (digits > 2) {
            return true;
        }
    }
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char in[80], page[80], text[80];
    if (is_slow(data, size)) {
        return 0;
    }
    const char *folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(in, sizeof in, "%s/okra-fuzz-%ld.json", folder, (long)getpid());
    snprintf(page, sizeof page, "%s/okra-fuzz-%ld.html", folder, (long)getpid());
    snprintf(text, sizeof text, "%s/okra-fuzz-%ld.md", folder, (long)getpid());
    FILE *f = fopen(in, "wb");
    if (!f || fwrite(data, 1, size, f) != size || fclose(f) != 0) {
        abort();
    }
    if (fuzz_turn(size, 0, 2)) {
        report(in, page);
    }
    if (fuzz_turn(size, 1, 2)) {
        report(in, text);
    }
    unlink(in);
    return 0;
}
