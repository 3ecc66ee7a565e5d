/*
 * ranked_figures.c: ranked candidates as figures: the spectrum of a query, the training
 * spectrum that speaks loudest below it, and the molecules.
 *
 * Peaks of the two match where their m/z differ by at most 10 ppm or 2 mDa. Intensities
 * are shares of the largest one.
 */
#include "predict/ranked.h"
#include "okra/program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { QUERIES = 20, BEST = 6, TITLE = 80 };

typedef struct spectrum {
    const double *mz, *height;
    okra_int count;
    double largest;
} spectrum;

static spectrum spectrum_of(const okra_data *data, okra_int i)
{
    spectrum s = {.largest = 0};
    s.count = okra_data_peaks(data, i, &s.mz, &s.height);
    for (okra_int k = 0; k < s.count; k++) {
        s.largest = fmax(s.largest, s.height[k]);
    }
    return s;
}

/* Has the other spectrum a peak at this m/z? */
static bool matched(const spectrum *other, double mz)
{
    double away = fmax(10e-6 * mz, 0.002);
    okra_int low = 0, high = other->count;
    while (low < high) { /* m/z ascend */
        okra_int middle = low + (high - low) / 2;
        if (other->mz[middle] < mz - away) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < other->count && other->mz[low] <= mz + away;
}

/* The peaks that match, or those that do not, as a series of lines. */
static json_t *series(const char *name, const spectrum *s, const spectrum *other,
                      bool match, double sign)
{
    json_t *x = json_array(), *y = json_array();
    for (okra_int k = 0; k < s->count; k++) {
        if (matched(other, s->mz[k]) == match) {
            json_array_append_new(x, json_real(s->mz[k]));
            json_array_append_new(y, json_real(sign * s->height[k] / s->largest));
        }
    }
    return json_pack("{s:s, s:o, s:o, s:b}", "name", name, "x", x, "y", y, "stems", true);
}

static void title_of(const okra_data *data, okra_int i, const char *otherwise, char *out)
{
    okra_int length = 0;
    const char *text = okra_data_text(data, i, &length);
    char *copy = text ? strndup(text, (size_t)length) : NULL;
    snprintf(out, TITLE, "%s %lld", otherwise, (long long)i);
    if (copy && *copy) {
        okra_text_printable(copy, out, TITLE);
    } else if (text && !copy) {
        cli_lose();
    }
    free(copy);
}

static json_t *spectrum_figure(const cli_ranking *t, okra_int query,
                               const okra_data *library, okra_int nearest)
{
    char own[TITLE], below[TITLE] = "", id[48], title[2 * TITLE + 40];
    spectrum up = spectrum_of(t->x, query), down = {.count = 0, .largest = 1};
    title_of(t->x, query, "query", own);
    if (nearest >= 0) {
        down = spectrum_of(library, nearest);
        title_of(library, nearest, "training spectrum", below);
    }
    snprintf(id, sizeof id, "spectrum-%lld", (long long)query);
    snprintf(title, sizeof title, *below ? "%s (up) and %s (down)" : "%s%s", own, below);
    json_t *list = json_array();
    json_array_append_new(list, series("query", &up, &down, false, 1));
    if (nearest >= 0) {
        json_array_append_new(list, series("query, matched", &up, &down, true, 1));
        json_array_append_new(list, series("training spectrum", &down, &up, false, -1));
        json_array_append_new(list,
                              series("training spectrum, matched", &down, &up, true, -1));
    }
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:o}", "id", id, "type", "curve", "title",
                     title, "x_label", "m/z", "y_label", "intensity, of the largest",
                     "series", list);
}

static json_t *molecules_figure(const cli_ranking *t, okra_int query)
{
    char id[48], own[TITLE], title[TITLE + 40];
    json_t *items = json_array();
    for (okra_int k = 0; k < t->top && k < BEST; k++) {
        cli_ranked_row r;
        if (!cli_ranked_row_of(t, query * t->top + k, &r)) {
            break;
        }
        char label[200], note[96];
        int most = (int)(r.name_length < 100 ? r.name_length : 100);
        snprintf(label, sizeof label, "%lld. %.*s", (long long)r.rank,
                 r.name_length > 0 ? most : (int)strlen(r.formula),
                 r.name_length > 0 ? r.name : r.formula);
        int used = snprintf(note, sizeof note, "distance %.4g", r.distance);
        if (t->p) {
            snprintf(note + used, sizeof note - (size_t)used, ", p-value %.3g", r.p);
        }
        json_t *smiles = json_stringn(r.smiles, (size_t)r.smiles_length);
        json_array_append_new(items, json_pack("{s:o, s:s, s:s}", "smiles",
                                               smiles ? smiles : json_string(""), "label",
                                               label, "note", note));
    }
    title_of(t->x, query, "query", own);
    snprintf(id, sizeof id, "molecules-%lld", (long long)query);
    snprintf(title, sizeof title, "%s: the best candidates", own);
    if (json_array_size(items) == 0) {
        json_decref(items);
        return NULL;
    }
    return json_pack("{s:s, s:s, s:s, s:o}", "id", id, "type", "molecules", "title",
                     title, "items", items);
}

/* The training input with the largest weight for each of the first queries. */
static okra_status loudest(cli_run *run, const okra_model *model, const okra_data *x,
                           okra_int count, okra_int *nearest)
{
    FREED_BY(okra_options_free_at) okra_options *options = NULL;
    FREED_BY(okra_prediction_free_at) okra_prediction *p = NULL;
    OWNED_DATA *part = NULL;
    okra_int which[QUERIES], rows = 0, n = 0;
    okra_predict_request request = {OKRA_SIZED(okra_predict_request), .weights = true};
    for (okra_int i = 0; i < count; i++) {
        which[i] = i;
        nearest[i] = -1;
    }
    CHK(okra_data_take(x, which, count, &part));
    CHK(okra_predict_options(&options));
    CHK(okra_options_set(options, "decode", "none"));
    CHK(okra_predict(run->context, model, part, options, &request, &p));
    const double *w = okra_prediction_weights(p, &rows, &n);
    bool all = w && n == okra_data_count(okra_model_inputs(model)); /* one input each */
    for (okra_int i = 0; all && i < count; i++) {
        nearest[i] = 0;
        for (okra_int k = 1; k < n; k++) {
            nearest[i] = w[i * n + k] > w[i * n + nearest[i]] ? k : nearest[i];
        }
    }
    return OKRA_OK;
}

int cli_ranked_figures(cli_run *run, const cli_ranking *t, json_t *figures)
{
    const okra_model *model = t->model;
    okra_int count = t->tests < QUERIES ? t->tests : QUERIES, nearest[QUERIES];
    bool spectra = okra_data_kind(t->x) == OKRA_SPECTRA;
    okra_status st = spectra ? loudest(run, model, t->x, count, nearest) : OKRA_OK;
    for (okra_int i = 0; st == OKRA_OK && i < count; i++) {
        if (spectra) {
            json_array_append_new(
                figures, spectrum_figure(t, i, okra_model_inputs(model), nearest[i]));
        }
        json_t *molecules = cli_ranked_molecules(t) ? molecules_figure(t, i) : NULL;
        if (molecules) {
            json_array_append_new(figures, molecules);
        }
    }
    return cli_status(run, st);
}
