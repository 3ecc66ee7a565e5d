/*
 * settings.h: options from text.
 */
#ifndef OKRA_TEST_SETTINGS_H
#define OKRA_TEST_SETTINGS_H

#include "harness.h"

/* "name=value ..." into fresh options of fit, predict, ... */
static inline okra_options *settings_of(okra_status (*create)(okra_options **),
                                        const char *text)
{
    okra_options *options = NULL;
    CHECK_OK(create(&options));
    while (*text) {
        char name[40], value[120];
        size_t length = strcspn(text, " "), equals = strcspn(text, "=");
        snprintf(name, sizeof name, "%.*s", (int)equals, text);
        snprintf(value, sizeof value, "%.*s", (int)(length - equals - 1),
                 text + equals + 1);
        CHECK_OK(okra_options_set(options, name, value));
        text += length + strspn(text + length, " ");
    }
    return options;
}

#endif
