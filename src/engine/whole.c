/*
 * whole.c: is this file a whole shared object?
 *
 * The loader maps what a file's headers promise. Where the file is shorter, the first
 * look at what is missing ends the process (SIGBUS); a pipe of that name would never end.
 */
#include "engine/open.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Every part that is loaded lies within the file. */
static bool parts_inside(int file, const ElfW(Ehdr) * head, uint64_t size)
{
    for (unsigned i = 0; i < head->e_phnum; i++) {
        ElfW(Phdr) part;
        uint64_t at = head->e_phoff + (uint64_t)i * sizeof part;
        if (at > size || pread(file, &part, sizeof part, (off_t)at) != sizeof part) {
            return false;
        }
        if (part.p_type == PT_LOAD &&
            (part.p_offset > size || part.p_filesz > size - part.p_offset)) {
            return false;
        }
    }
    return true;
}

okra_status okra_engine_whole_(const char *path)
{
    struct stat is;
    ElfW(Ehdr) head;
    int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    REFUSE_IF(file < 0, OKRA_EUNSUPPORTED, "%s cannot be opened", path);
    bool regular = fstat(file, &is) == 0 && S_ISREG(is.st_mode);
    bool object = regular && pread(file, &head, sizeof head, 0) == sizeof head &&
                  memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 &&
                  head.e_phentsize == sizeof(ElfW(Phdr));
    bool whole = object && parts_inside(file, &head, (uint64_t)is.st_size);
    close(file);
    REFUSE_IF(!regular, OKRA_EUNSUPPORTED, "%s is no regular file", path);
    REFUSE_IF(!object, OKRA_EUNSUPPORTED,
              "%s is no shared object: its ELF header is not valid", path);
    REFUSE_IF(!whole, OKRA_EUNSUPPORTED,
              "%s is cut off: its headers promise more than %lld bytes", path,
              (long long)is.st_size);
    return OKRA_OK;
}
