/*
 * threshold.c: where scores of labels are cut: `labels:threshold=auto`.
 *
 * Ridge of rows of 0 and 1 gives each label a score h_j, about its probability. The set
 * {j : h_j > 1/2} has the fewest wrong labels but is often empty where labels are rare;
 * the metric that judges sets (F1 of sets or of all labels together, Hamming) has its own
 * best cut t, which left-out scores tell: the value of the metric at t = 1/200, 2/200,
 * ... for all left-out pairs at once, from counts of each row,
 *     k_i(t) labels above t, of which r_i(t) are right, s_i the size of the true set:
 *     F1 of sets  mean_i 2 r_i / (k_i + s_i);  of labels  2 sum r_i / sum (k_i + s_i);
 *     Hamming     mean_i (k_i + s_i - 2 r_i) / d.
 * Of equal values the t nearest 1/2. One cut serves all labels: cuts of single labels
 * follow the noise of rare ones. `nonempty`: a row without labels above t has its best.
 * Cost: n (d + 200) for a setting.
 */
#include "decode/sets/counts.h"
#include "okra/more/traits.h"
#include "select/select.h"

#define AUTO "threshold=auto"

static double cut_at(int b)
{
    return (b + 1) / 200.0;
}

/* How many cuts are below a score. */
static int cuts_below(double score)
{
    int q = score <= 0 ? 0 : score >= 1 ? OKRA_CUTS_ : (int)(score * 200);
    q = OKRA_MIN_(q, OKRA_CUTS_);
    while (q > 0 && cut_at(q - 1) >= score) {
        q--;
    }
    while (q < OKRA_CUTS_ && cut_at(q) < score) {
        q++;
    }
    return q;
}

okra_status okra_cut_read_(const char *decode, const char *metric, okra_cut_ *out)
{
    FREED_BY(okra_spec_clear_) okra_spec_ s = {NULL, NULL, NULL};
    okra_cut_ cut = {.wanted = strstr(decode, AUTO) != NULL};
    if (cut.wanted && !okra_metric_has(metric, OKRA_METRIC_UNDECODED)) {
        CHK(okra_spec_read_(metric, &s));
        bool f1 = strcmp(s.metric->name, "f1") == 0;
        const char *average = f1 ? okra_options_get(s.options, "average") : "";
        cut.hamming = strcmp(s.metric->name, "hamming") == 0;
        cut.micro = strcmp(average, "micro") == 0;
        REFUSE_IF(!cut.hamming && !cut.micro && strcmp(average, "example") != 0,
                  OKRA_EARG,
                  "decoder labels: " AUTO " is chosen by f1:average=example, "
                  "f1:average=micro or hamming; metric is '%s'",
                  metric);
        cut.empty = f1 ? okra_strtod_(okra_options_get(s.options, "empty"), NULL) : 0;
        cut.judges = true;
    }
    cut.nonempty = strstr(decode, "nonempty=yes") != NULL;
    *out = cut;
    return OKRA_OK;
}

okra_status okra_cut_text_(const char *decode, double threshold, char **out)
{
    const char *at = strstr(decode, AUTO);
    *out = at ? okra_format_("%.*sthreshold=%.4g%s", (int)(at - decode), decode,
                             isnan(threshold) ? 0.5 : threshold, at + strlen(AUTO))
              : okra_strdup_(decode);
    return *out ? OKRA_OK : OKRA_EMEM;
}

/* ---- counts ---- */

static double value_of(const okra_cut_ *cut, double right, double sizes, okra_int d)
{
    return cut->hamming ? (sizes - 2 * right) / (double)d
           : sizes > 0  ? 2 * right / sizes
                        : cut->empty;
}

/* One row: scores h, the `size` members of the true set marked in `in`. */
static void add_row(const okra_cut_ *cut, okra_int d, const double *h, const bool *in,
                    double size, double weight, okra_cut_sums_ *s)
{
    int chosen[OKRA_CUTS_ + 1] = {0}, right[OKRA_CUTS_ + 1] = {0};
    okra_int top = 0;
    for (okra_int j = 0; j < d; j++) {
        int q = cuts_below(h[j]);
        chosen[q]++;
        right[q] += in[j];
        top = h[j] > h[top] ? j : top;
    }
    double k = 0, r = 0;
    s->weight += weight;
    for (int b = OKRA_CUTS_ - 1; b >= 0; b--) {
        k += chosen[b + 1];
        r += right[b + 1];
        bool alone = cut->nonempty && k == 0;
        double sizes = size + (alone ? 1 : k), hits = alone ? in[top] : r;
        double value = value_of(cut, hits, sizes, d);
        s->sum[b] += weight * value;
        s->square[b] += weight * value * value;
        s->right[b] += weight * hits;
        s->sizes[b] += weight * sizes;
    }
}

double okra_cut_value_(const okra_cut_ *cut, const okra_cut_sums_ *s, int b)
{
    return cut->micro ? value_of(cut, s->right[b], s->sizes[b], 1)
                      : s->sum[b] / s->weight;
}

double okra_cut_error_(const okra_cut_ *cut, const okra_cut_sums_ *s, int b)
{
    double mean = s->sum[b] / s->weight, n = (double)s->rows;
    return cut->micro || s->rows < 2
               ? (double)NAN
               : sqrt(fmax(0, s->square[b] / s->weight - mean * mean) / (n - 1));
}

int okra_cut_best_(const okra_cut_ *cut, const okra_cut_sums_ *s)
{
    int best = OKRA_CUTS_ / 2;
    for (int b = 0; b < OKRA_CUTS_; b++) {
        double gain = okra_cut_value_(cut, s, b) - okra_cut_value_(cut, s, best);
        gain = cut->hamming ? -gain : gain;
        bool nearer = fabs(cut_at(b) - 0.5) < fabs(cut_at(best) - 0.5);
        best = gain > 1e-12 || (gain > -1e-12 && nearer) ? b : best;
    }
    return best;
}

double okra_cut_threshold_(int b)
{
    return cut_at(b);
}

void okra_cut_merge_(const okra_cut_sums_ *from, okra_cut_sums_ *to)
{
    to->rows += from->rows;
    to->weight += from->weight;
    for (int b = 0; b < OKRA_CUTS_; b++) {
        to->sum[b] += from->sum[b];
        to->square[b] += from->square[b];
        to->right[b] += from->right[b];
        to->sizes[b] += from->sizes[b];
    }
}

okra_status okra_cut_block_(okra_context *ctx, const okra_cut_ *cut,
                            const okra_output_ *output, const okra_block_ *block,
                            const okra_data *truth, const okra_int *part,
                            okra_cut_sums_ *sums)
{
    OWNED double *H = NULL;
    OWNED bool *in = NULL;
    OWNED int32_t *members = NULL;
    okra_int d = okra_data_width(truth);
    double scale;
    bool dense = output->features != NULL;
    REFUSE_IF(!dense && !okra_sparse_outputs_wanted_(output, &scale), OKRA_EARG,
              "decoder labels: " AUTO " cuts scores, which the linear kernel alone has");
    CHK(okra_doubles_(ctx, dense ? block->m : 1, d, "explicit predictions", &H));
    MAKE(in, d);
    MAKE(members, d + 1);
    if (dense) {
        CHK(okra_block_explicit_(ctx, output, block, okra_mat_of_(H, block->m, d)));
    }
    for (okra_int r = 0; r < block->m; r++) {
        okra_cut_sums_ *s = &sums[part ? part[r] : 0];
        okra_int size = okra_sets_members_(truth, r, members);
        memset(in, 0, (size_t)d * sizeof *in);
        for (okra_int k = 0; k < size; k++) {
            in[members[k]] = true;
        }
        if (!dense) {
            okra_sparse_outputs_combine_(output->y, block->W.p + r * block->W.ld, H);
        }
        add_row(cut, d, dense ? H + r * d : H, in, (double)size, okra_weight_(truth, r),
                s);
        s->rows++;
    }
    return OKRA_OK;
}
