/*
 * names.c: what to say of a name that no kernel or transform has.
 */
#include "kernel/expression/parse.h"

#include <string.h>

enum { NAMES_MOST = 64 };

typedef const char *(*name_list)(size_t, const char **, const okra_option_table **);

static bool listed(name_list list, const char *name)
{
    for (size_t k = 0; list(k, NULL, NULL); k++) {
        if (strcmp(list(k, NULL, NULL), name) == 0) {
            return true;
        }
    }
    return false;
}

okra_status okra_parse_unknown_(const okra_parser_ *p, size_t at, const char *name,
                                bool kernel)
{
    name_list own = kernel ? okra_kernel_name : okra_transform_name;
    name_list other = kernel ? okra_transform_name : okra_kernel_name;
    const char *names[NAMES_MOST];
    size_t count = 0;

    if (listed(other, name)) {
        return kernel ? okra_parse_fail_(p, OKRA_EARG, at,
                                         "'%s' is a transform: it follows a kernel and a "
                                         "pipe, as in linear | %s",
                                         name, name)
                      : okra_parse_fail_(p, OKRA_EARG, at,
                                         "'%s' is a kernel, expected a transform", name);
    }
    while (count < NAMES_MOST && own(count, NULL, NULL)) {
        names[count] = own(count, NULL, NULL);
        count++;
    }
    const char *near = okra_nearest(name, names, count);
    return okra_parse_fail_(
        p, OKRA_EARG, at, "unknown %s '%s'%s%s%s", kernel ? "kernel" : "transform", name,
        near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
}
