/*
 * rewrites.c: are the outputs edited inputs? Then `auto` rewrites them
 * (decode/rewriting/rewrite.c).
 *
 * Strings are taken for edited inputs where, of at most SAMPLE pairs, the input is like
 * its own output (1 - edits / the longer length, half of it or more on average) and much
 * more so than it is like the output of another pair. Inputs are then compared from their
 * ends, and whatever else describes a pair (tags) as a product with that.
 */
#include "data/strings.h"
#include "metric/metric.h"
#include "select/select.h"

enum { SAMPLE = 200, LONGEST = 200, MOST = 20000 /* pairs: beyond, of low rank */ };

static double likeness(const okra_data *x, okra_int i, const okra_data *y, okra_int k)
{
    okra_int n, m, row[LONGEST + 1];
    const int32_t *a = okra_characters_(x, i, &n), *b = okra_characters_(y, k, &m);
    if (n > LONGEST || m > LONGEST || n + m == 0) {
        return 0;
    }
    return 1 - (double)okra_edits_(a, n, b, m, row) / (double)OKRA_MAX_(n, m);
}

static bool like(const okra_data *x, const okra_data *y)
{
    okra_int count = OKRA_MIN_(SAMPLE, y->n);
    double own = 0, other = 0;
    for (okra_int s = 0; s < count; s++) {
        okra_int i = s * y->n / count, k = (s + 1) % count * y->n / count;
        own += likeness(x, i, y, i) / (double)count;
        other += likeness(x, i, y, k) / (double)count;
    }
    return count > 1 && own >= 0.5 && own >= other + 0.25;
}

int okra_rule_rewritten_(const okra_data *x, const okra_data *y)
{
    int parts = x->kind == OKRA_TUPLE ? x->component_count : 1;
    if (y->kind == OKRA_STRINGS && okra_look_aligned_(x, y)) {
        return 0; /* by position */
    }
    for (int k = 0; k < parts && y->kind == OKRA_STRINGS && y->n <= MOST; k++) {
        const okra_data *part = x->kind == OKRA_TUPLE ? x->components[k] : x;
        if (part->kind == OKRA_STRINGS && like(part, y)) {
            return k + 1;
        }
    }
    return 0;
}

okra_status okra_rule_rewriting_(okra_context *ctx, const okra_data *x, int which,
                                 char **out)
{
    OWNED char *text = NULL, *middle = NULL;
    char *longer = NULL;
    text = x->kind == OKRA_TUPLE
               ? okra_format_("(ends(share={0.5,0.7})@%d + {0.1,0.2}*ends(start=1)@%d)",
                              which, which)
               : okra_format_("ends(share={0.5,0.7}) + {0.1,0.2}*ends(start=1)");
    for (int k = 0; text && x->kind == OKRA_TUPLE && k < x->component_count; k++) {
        const okra_data *part = x->components[k];
        if (k + 1 == which) {
            continue;
        }
        if (part->kind != OKRA_STRINGS && part->kind != OKRA_LABELS) {
            CHK(okra_rule_middle_(ctx, part, &middle));
        }
        longer = part->kind == OKRA_STRINGS
                     ? okra_format_("(spectrum(k=2)@%d | normalize)*%s", k + 1, text)
                 : part->kind == OKRA_LABELS
                     ? okra_format_("(zero-one@%d + 0.2)*%s", k + 1, text)
                     : okra_format_("(%s)@%d*%s", middle, k + 1, text);
        FREE(middle, text);
        middle = NULL;
        text = longer;
    }
    okra_status st = text ? OKRA_OK : OKRA_EMEM;
    *out = TAKE(text);
    return st;
}
