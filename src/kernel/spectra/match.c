/*
 * match.c: cosines of matched peaks, and the kernel of precursors.
 *
 * mz-match: peaks p of a and q of b may match where their m/z differ by at most the
 * larger of `da` and ppm of the larger m/z; with `modified`, also where they do after b
 * was shifted by the difference of the precursors (peaks that kept what the two molecules
 * differ by; Watrous et al., PNAS 109, 2012). Each peak matches at most one other: pairs
 * are taken greedily, the largest product first, then by place. The value is
 *     sum over pairs of w_p w_q / (|w(a)| |w(b)|),
 * 1 for a spectrum and itself. It need not be positive semidefinite: a warning says by
 * how much. precursor: exp(-(m_a - m_b)^2 / (2 sigma^2)) of the precursor m/z or the
 * mass.
 *
 * Cost of a pair of spectra: the peaks of both, and m log m for m pairs that may match.
 */
#include "kernel/spectra/peaks.h"
#include "kernel/strings/string_kernels.h"

typedef struct match_params {
    okra_peaks_params_ peaks;
    double ppm, da;
    bool modified;
} match_params;

typedef struct pair {
    double product;
    okra_int p, q;
} pair;

static int by_product(const void *a, const void *b)
{
    const pair *x = a, *y = b;
    ORDER_BY(y->product, x->product);
    /* So that it does not matter which spectrum comes first. */
    okra_int s = x->p + x->q, t = y->p + y->q, u = llabs(x->p - x->q),
             v = llabs(y->p - y->q);
    return s != t ? (s < t ? -1 : 1) : (u > v) - (u < v);
}

typedef struct room {
    pair *pairs;
    okra_int count, room;
    bool *used; /* peaks of a, then of b */
    okra_int used_room;
} room;

OKRA_CLEARS_(clear_room, room, it->pairs, it->used)

/* Pairs whose m/z differ by `shift`. d and the width are the same to the bit where a and
 * b change places; what numbers of decimals differ by is known to a few of their units in
 * the last place, and that much more is within the width. */
static okra_status near_pairs(const match_params *p, const okra_places_ *a, okra_int i,
                              const okra_places_ *b, okra_int j, double shift, room *m)
{
    okra_int a0 = a->first[i], b0 = b->first[j], nb = b->first[j + 1], q = b0;
    double last = nb > b0 ? b->mz[nb - 1] : 0;
    double rounding = 2 * DBL_EPSILON * (a->precursor[i] + b->precursor[j]);
    for (okra_int k = a0; k < a->first[i + 1]; k++) {
        /* The widest reach of this peak; each pair is then measured by its own. */
        double reach = 1.1 * fmax(p->da, 1e-6 * p->ppm * fmax(a->mz[k], last)) + 1e-9;
        while (q < nb && b->mz[q] + shift < a->mz[k] - reach) {
            q++;
        }
        for (okra_int c = q; c < nb && b->mz[c] + shift <= a->mz[k] + reach; c++) {
            double d = fabs((a->mz[k] - b->mz[c]) - shift);
            double most = fmax(p->da, 1e-6 * p->ppm * fmax(a->mz[k], b->mz[c]));
            if (d <= most + rounding + 2 * DBL_EPSILON * (a->mz[k] + b->mz[c])) {
                EXTEND(m->pairs, m->count, m->room, 256);
                m->pairs[m->count++] =
                    (pair){a->weight[k] * b->weight[c], k - a0, c - b0};
            }
        }
    }
    return OKRA_OK;
}

static double norm_of(const okra_places_ *a, okra_int i)
{
    double sum = 0;
    for (okra_int k = a->first[i]; k < a->first[i + 1]; k++) {
        sum += a->weight[k] * a->weight[k];
    }
    return sqrt(sum);
}

static okra_status cosine(const match_params *p, const okra_places_ *a, okra_int i,
                          const okra_places_ *b, okra_int j, room *m, double *out)
{
    okra_int na = a->first[i + 1] - a->first[i], nb = b->first[j + 1] - b->first[j];
    double sum = 0, shift = a->precursor[i] - b->precursor[j];
    bool shifts = p->modified && a->precursor[i] > 0 && b->precursor[j] > 0;
    m->count = 0;
    CHK(near_pairs(p, a, i, b, j, 0, m));
    if (shifts && shift != 0) { /* pairs that come twice do no harm */
        CHK(near_pairs(p, a, i, b, j, shift, m));
    }
    if (na + nb > m->used_room) {
        okra_free_(m->used);
        m->used_room = 0;
        MAKE(m->used, na + nb);
        m->used_room = na + nb;
    }
    memset(m->used, 0, (size_t)(na + nb) * sizeof *m->used);
    if (m->count > 1) {
        qsort(m->pairs, (size_t)m->count, sizeof *m->pairs, by_product);
    }
    for (okra_int k = 0; k < m->count; k++) {
        const pair *one = &m->pairs[k];
        if (!m->used[one->p] && !m->used[na + one->q]) {
            m->used[one->p] = m->used[na + one->q] = true;
            sum += one->product;
        }
    }
    *out = sum / (norm_of(a, i) * norm_of(b, j));
    return OKRA_OK;
}

static okra_status match_block(okra_context *ctx, const void *params, const void *pa,
                               okra_int i0, okra_int ni, const void *pb, okra_int j0,
                               okra_int nj, double *out, okra_int ld)
{
    FREED_BY(clear_room) room m = {0};
    for (okra_int r = 0; r < ni; r++) {
        for (okra_int c = 0; c < nj; c++) {
            CHK(cosine(params, pa, i0 + r, pb, j0 + c, &m, &out[r * ld + c]));
        }
    }
    return OKRA_OK;
}

static okra_status match_side(okra_context *ctx, const void *params, const void *shared,
                              const okra_data *data, void **side)
{
    const match_params *p = params;
    okra_places_ *places = NULL;
    CHK(okra_places_create_(ctx, &p->peaks, data, p->modified, &places));
    *side = places;
    return OKRA_OK;
}

extern const okra_kernel_class_ okra_mz_match_;

static okra_status match_bind(okra_context *ctx, const void *params,
                              const okra_data *train, void **shared)
{
    *shared = NULL;
    return okra_psd_check_(ctx, &okra_mz_match_, params, NULL, train);
}

static const okra_option match_rows[] = {
    OKRA_WIDTH_ROWS_(match_params, "10", "0.01"),
    {"power", OKRA_OPTION_NUMBER, offsetof(match_params, peaks.power), "0.5", 0, 10, NULL,
     "V", "weight of a peak: its share of the largest intensity to this power"},
    {"modified", OKRA_OPTION_BOOL, offsetof(match_params, modified), "1", 0, 1, NULL,
     "0|1", "peaks match after a shift by the difference of precursors, too"},
    {.name = NULL}};

const okra_kernel_class_ okra_mz_match_ = {
    .name = "mz-match",
    .help = "spectra: (modified) cosine of matched peaks; may not be semidefinite",
    .params = {"mz-match", match_rows, sizeof(match_params)},
    .kinds = 1u << OKRA_SPECTRA,
    .bind = match_bind,
    .side = match_side,
    .free_side = okra_places_free_,
    .block = match_block};

/* ---- precursors ---- */

static const double NOTHING = -1e4; /* exp of it is 0 */

typedef struct precursor_params {
    double sigma;
    int of;
} precursor_params;

static okra_status precursor_side(okra_context *ctx, const void *params,
                                  const void *shared, const okra_data *data, void **side)
{
    const precursor_params *p = params;
    OWNED double *values = NULL;
    okra_int silent = 0, first = 0;
    MAKE(values, data->n);
    for (okra_int i = 0; i < data->n; i++) {
        okra_spectrum_view_ v = okra_spectrum_view_of_(data, i);
        values[i] = p->of ? v.mass : v.precursor;
        if (!(values[i] > 0)) {
            first = silent++ > 0 ? first : i;
            values[i] = (double)NAN;
        }
    }
    CHK(okra_spectra_silent_(
        ctx, data, silent, first,
        p->of ? "the mass: it needs a precursor, and an adduct or charge"
              : "the precursor m/z",
        "they are 0 against all"));
    *side = TAKE(values);
    return OKRA_OK;
}

static okra_status precursor_block(okra_context *ctx, const void *params, const void *pa,
                                   okra_int i0, okra_int ni, const void *pb, okra_int j0,
                                   okra_int nj, double *out, okra_int ld)
{
    const double *a = pa, *b = pb;
    double sigma = ((const precursor_params *)params)->sigma;
    for (okra_int r = 0; r < ni; r++) {
        for (okra_int c = 0; c < nj; c++) {
            double d = (a[i0 + r] - b[j0 + c]) / sigma;
            out[r * ld + c] = isnan(d) ? NOTHING : -d * d / 2;
        }
        okra_vexp_(nj, out + r * ld);
    }
    return OKRA_OK;
}

static okra_status precursor_diagonal(okra_context *ctx, const void *params,
                                      const void *pa, okra_int n, double *out)
{
    const double *a = pa;
    for (okra_int i = 0; i < n; i++) {
        out[i] = isnan(a[i]) ? 0 : 1;
    }
    return OKRA_OK;
}

static const okra_option precursor_rows[] = {
    {"sigma", OKRA_OPTION_NUMBER, offsetof(precursor_params, sigma), "20", DBL_MIN, 1e9,
     NULL, "V", "width of the Gaussian, in dalton"},
    {"of", OKRA_OPTION_CHOICE, offsetof(precursor_params, of), "mz", 1, 0, "mz|mass",
     "WHAT", "m/z of the precursor, or the mass of the molecule"},
    {.name = NULL}};

const okra_kernel_class_ okra_precursor_ = {
    .name = "precursor",
    .help = "spectra: a Gaussian of the difference of precursors",
    .params = {"precursor", precursor_rows, sizeof(precursor_params)},
    .kinds = 1u << OKRA_SPECTRA,
    .side = precursor_side,
    .free_side = okra_free_,
    .block = precursor_block,
    .diagonal = precursor_diagonal};
