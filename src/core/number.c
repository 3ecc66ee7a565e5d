/*
 * number.c: numbers as text, the same in every locale: a host program may have set one
 * whose decimal point is a comma.
 */
#include "core/core.h"

#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static locale_t plain; /* made once, never changed; (locale_t)0 if that failed */

static void make_plain(void)
{
    plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

int okra_by_int_(const void *a, const void *b)
{
    okra_int i = *(const okra_int *)a, j = *(const okra_int *)b;
    return (i > j) - (i < j);
}

void okra_iota_(okra_int n, okra_int *out)
{
    for (okra_int i = 0; i < n; i++) {
        out[i] = i;
    }
}

int okra_by_double_(const void *a, const void *b)
{
    double p = *(const double *)a, q = *(const double *)b;
    return (p > q) - (p < q);
}

double okra_strtod_(const char *text, char **end)
{
    pthread_once(&once, make_plain);
    return plain ? strtod_l(text, end, plain) : strtod(text, end);
}

void okra_number_format_(char *buffer, size_t size, int digits, double value)
{
    snprintf(buffer, size, "%.*g", digits, value);
    for (char *p = buffer; *p; p++) {
        if (!strchr("0123456789+-.einfa", *p)) {
            *p = '.';
        }
    }
}
