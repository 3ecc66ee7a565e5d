/*
 * cut.c: numbers become groups: those below the first cut, between two cuts, and from the
 * last one on.
 */
#include "conformal/conformal.h"

#include <math.h>
#include <stdio.h>

enum { NAME = 64 };

static okra_status check(const okra_data *numbers, const double *cuts, okra_int count)
{
    REFUSE_IF(numbers->kind != OKRA_DENSE || numbers->d != 1, OKRA_ESHAPE,
              "groups to cut: %s holds %s of width %lld, expected one column of numbers",
              numbers->source, okra_kind_name(numbers->kind), (long long)numbers->d);
    for (okra_int k = 0; k < count; k++) {
        REFUSE_IF(!isfinite(cuts[k]) || (k > 0 && !(cuts[k] > cuts[k - 1])), OKRA_EARG,
                  "groups to cut: cut %lld is %g, expected growing numbers", (long long)k,
                  cuts[k]);
    }
    for (okra_int i = 0; i < numbers->n; i++) {
        REFUSE_IF(isnan(numbers->values[i * numbers->ld]), OKRA_EARG,
                  "groups to cut: %s: number %lld is missing", numbers->source,
                  (long long)i);
    }
    return OKRA_OK;
}

okra_status okra_groups_cut(const okra_data *numbers, const double *cuts, okra_int count,
                            okra_data **out)
{
    NOT_NULL(out);
    OWNED okra_int *codes = NULL;
    OWNED char *text = NULL;
    OWNED const char **names = NULL;
    NOT_NULL(numbers);
    NOT_NULL(cuts);
    REFUSE_IF(count < 1, OKRA_EARG, "groups to cut: there is no cut");
    CHK(check(numbers, cuts, count));
    MAKE(codes, numbers->n);
    MAKE(text, (count + 1) * NAME);
    MAKE(names, count + 1);
    for (okra_int k = 0; k <= count; k++) {
        char low[NAME / 2 - 4], high[NAME / 2 - 4];
        okra_number_format_(low, sizeof low, 15, k > 0 ? cuts[k - 1] : 0);
        okra_number_format_(high, sizeof high, 15, k < count ? cuts[k] : 0);
        char *name = text + k * NAME;
        if (k == 0) {
            snprintf(name, NAME, "below %s", high);
        } else if (k == count) {
            snprintf(name, NAME, "from %s", low);
        } else {
            snprintf(name, NAME, "%s to %s", low, high);
        }
        names[k] = name;
    }
    for (okra_int i = 0; i < numbers->n; i++) {
        double value = numbers->values[i * numbers->ld];
        codes[i] = 0;
        while (codes[i] < count && value >= cuts[codes[i]]) {
            codes[i]++;
        }
    }
    return okra_data_labels(codes, numbers->n, names, count + 1, out);
}
