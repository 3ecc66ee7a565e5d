/*
 * characters.c: agreement of strings, or of the labels of sequences.
 *
 *   characters  share of the true characters that are predicted at their places, over all
 *               objects together (the well recognised characters of Kadri et al. 2013);
 *               what is predicted beyond the end of the truth does not count
 *   edit        least number of insertions, deletions and replacements that turn the
 *               prediction into the truth (Levenshtein 1966), the mean over objects; one
 *               pair costs the product of the lengths
 */
#include "data/strings.h"
#include "metric/metric.h"

static okra_status characters(okra_context *ctx, const void *params, okra_scores_ *s)
{
    double right = 0, all = 0;
    for (okra_int i = 0; i < s->n; i++) {
        okra_int length, other;
        const int32_t *y = okra_characters_(s->truth, i, &length);
        const int32_t *z = okra_characters_(s->predicted, i, &other);
        double w = okra_metric_weight_(s, i);
        for (okra_int t = 0; t < OKRA_MIN_(length, other); t++) {
            right += y[t] == z[t] ? w : 0;
        }
        all += w * (double)length;
    }
    s->has_each = false; /* objects weigh by their lengths */
    s->value = all > 0 ? right / all : 1;
    return OKRA_OK;
}

okra_int okra_edits_(const int32_t *y, okra_int n, const int32_t *z, okra_int m,
                     okra_int *row)
{
    for (okra_int j = 0; j <= m; j++) {
        row[j] = j;
    }
    for (okra_int i = 1; i <= n; i++) {
        okra_int corner = row[0];
        row[0] = i;
        for (okra_int j = 1; j <= m; j++) {
            okra_int replaced = corner + (y[i - 1] != z[j - 1]);
            okra_int shifted = 1 + OKRA_MIN_(row[j], row[j - 1]);
            corner = row[j];
            row[j] = OKRA_MIN_(replaced, shifted);
        }
    }
    return row[m];
}

static okra_status edit(okra_context *ctx, const void *params, okra_scores_ *s)
{
    OWNED okra_int *row = NULL;
    okra_int longest = 0, length, other;
    for (okra_int i = 0; i < s->n; i++) {
        okra_characters_(s->predicted, i, &other);
        longest = OKRA_MAX_(longest, other);
    }
    MAKE(row, longest + 1);
    for (okra_int i = 0; i < s->n; i++) {
        const int32_t *y = okra_characters_(s->truth, i, &length);
        const int32_t *z = okra_characters_(s->predicted, i, &other);
        s->each[i] = (double)okra_edits_(y, length, z, other, row);
    }
    return OKRA_OK;
}

const okra_metric_ okra_metric_characters_ = {
    .name = "characters",
    .help = "share of characters of strings that are right, place by place",
    .params = {"metric characters", NULL, 0},
    .kinds = 1u << OKRA_STRINGS | 1u << OKRA_SEQUENCES,
    .score = characters,
};

const okra_metric_ okra_metric_edit_ = {
    .name = "edit",
    .help = "insertions, deletions and replacements between two strings",
    .params = {"metric edit", NULL, 0},
    .kinds = 1u << OKRA_STRINGS | 1u << OKRA_SEQUENCES,
    .loss = true,
    .shape = OKRA_SHAPE_EDITS_,
    .score = edit,
};
