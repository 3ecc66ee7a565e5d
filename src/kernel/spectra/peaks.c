/*
 * peaks.c: places and weights of the peaks of a collection of spectra.
 */
#include "kernel/spectra/peaks.h"

void okra_places_free_(void *arg)
{
    okra_places_ *p = arg;
    if (p) {
        FREE(p->first, p->place, p->weight, p->mz, p->precursor, p);
    }
}

/* No ion loses less than a hydrogen atom: a peak nearer to the precursor than this is the
 * precursor, and has lost nothing, wherever the last digits of the two put it. */
static const double LEAST_LOSS = 0.5;

/* Losses come from the last peak to the first, so that they ascend. */
static void put_one(const okra_peaks_params_ *params, const okra_spectrum_view_ *v,
                    okra_places_ *p, okra_int *at)
{
    bool losses = params->of == OKRA_OF_LOSSES_;
    double most = okra_most_(v->count, v->intensity);
    for (okra_int k = 0; k < v->count; k++) {
        okra_int peak = losses ? v->count - 1 - k : k;
        double place = losses ? v->precursor - v->mz[peak] : v->mz[peak];
        place = losses && fabs(place) < LEAST_LOSS ? 0 : place;
        if (place >= 0) {
            p->place[*at] = place;
            p->mz[*at] = v->mz[peak];
            p->weight[(*at)++] = pow(v->intensity[peak] / most, params->power);
        }
    }
}

okra_status okra_spectra_silent_(okra_context *ctx, const okra_data *data, okra_int count,
                                 okra_int first, const char *what, const char *so)
{
    bool all = count == data->n && count > 1; /* a lone query may lack it */
    REFUSE_IF(count > 0 && (all || okra_context_strict_(ctx) > 0), OKRA_EARG,
              "%s: spectrum %lld (counted from 0) does not tell %s", data->source,
              (long long)first, what);
    if (count > 0) {
        okra_warn_(ctx, "%s: %lld of %lld spectra do not tell %s; %s", data->source,
                   (long long)count, (long long)data->n, what, so);
    }
    return OKRA_OK;
}

OKRA_DROPS_(drop_places, okra_places_, okra_places_free_)

okra_status okra_places_create_(okra_context *ctx, const okra_peaks_params_ *params,
                                const okra_data *data, bool precursors,
                                okra_places_ **out)
{
    FREED_BY(drop_places) okra_places_ *p = NULL;
    okra_int total = data->groups[0].offsets[data->n], at = 0, silent = 0, first = 0;
    ZMAKE(p, 1);
    p->n = data->n;
    MAKE(p->first, data->n + 1);
    MAKE(p->place, total);
    MAKE(p->weight, total);
    MAKE(p->mz, total);
    MAKE(p->precursor, data->n);
    for (okra_int i = 0; i < data->n; i++) {
        okra_spectrum_view_ v = okra_spectrum_view_of_(data, i);
        if (v.precursor == 0 && (precursors || params->of == OKRA_OF_LOSSES_)) {
            first = silent++ > 0 ? first : i;
        }
        p->first[i] = at;
        p->precursor[i] = v.precursor;
        put_one(params, &v, p, &at);
    }
    p->first[data->n] = at;
    CHK(okra_spectra_silent_(ctx, data, silent, first, "the precursor m/z",
                             precursors ? "their peaks match unshifted"
                                        : "they have no losses"));
    *out = TAKE(p);
    return OKRA_OK;
}
