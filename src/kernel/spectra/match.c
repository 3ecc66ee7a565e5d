/*
 * match.c: matched peaks of two spectra, and kernels of what is said about them.
 *
 * mz-match: peaks p of a and q of b may match where their m/z differ by at most the
 * larger of `da` and ppm of the larger m/z; with `modified`, also where they do after b
 * was shifted by the difference of the precursors (peaks that kept what the two molecules
 * differ by; Watrous et al., PNAS 109, 2012). Each peak matches at most one other: pairs
 * are taken greedily, the largest product first, then by place. The value is
 *     sum over pairs of w_p w_q / (|w(a)| |w(b)|),
 * 1 for a spectrum and itself. With score=entropy weights are shares w / sum w, of few
 * peaks evened out (where their entropy S is below 3: to the power (1 + S) / 4), and the
 * value is 1 - (2 S((w(a) + w(b)) / 2) - S(w(a)) - S(w(b))) / log 4 (Li et al., Nature
 * Methods 18, 2021), to which a pair adds h(w_p + w_q) - h(w_p) - h(w_q), h(x) = x log x
 * / log 4, and a peak without partner nothing. Neither need be positive semidefinite: a
 * warning says by how much.
 *
 * precursor: exp(-(m_a - m_b)^2 / (2 sigma^2)) of the precursor m/z or the mass. field:
 * the same of the first number in a field such as COLLISION_ENERGY, or (sigma 0) 1 where
 * the texts are equal, else 0; floor + (1 - floor) times that.
 *
 * Cost of a pair of spectra: the peaks of both, and m log m for m pairs that may match.
 */
#include "kernel/spectra/peaks.h"
#include "kernel/strings/string_kernels.h"
#include "okra/more/objects.h"

typedef struct match_params {
    okra_peaks_params_ peaks;
    double ppm, da;
    bool modified;
    int entropy;
} match_params;

typedef struct pair {
    double product;
    okra_int p, q;
} pair;

/* The larger product first, then so that it does not matter which spectrum is a. */
static int by_product(const void *a, const void *b)
{
    const pair *x = a, *y = b;
    ORDER_BY(y->product, x->product);
    ORDER_BY(x->p + x->q, y->p + y->q);
    ORDER_BY(llabs(x->p - x->q), llabs(y->p - y->q));
    return 0;
}

typedef struct room {
    pair *pairs;
    okra_int count, room;
    bool *used; /* peaks of a, then of b */
    okra_int used_room;
} room;

OKRA_CLEARS_(clear_room, room, it->pairs, it->used)

static double h(double x)
{
    return x > 0 ? x * log(x) / log(4) : 0;
}

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
                double w = a->weight[k], v = b->weight[c];
                EXTEND(m->pairs, m->count, m->room, 256);
                m->pairs[m->count++] =
                    (pair){p->entropy ? h(w + v) - h(w) - h(v) : w * v, k - a0, c - b0};
            }
        }
    }
    return OKRA_OK;
}

static double norm_of(const okra_places_ *a, okra_int i)
{
    const double *w = a->weight + a->first[i];
    return sqrt(okra_dot_(a->first[i + 1] - a->first[i], w, w));
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
    CHK(okra_reserve_(&m->used, na + nb, &m->used_room, sizeof *m->used));
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
    *out = p->entropy ? sum : sum / (norm_of(a, i) * norm_of(b, j));
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

/* Weights as shares, those of few peaks evened out. */
static void share_out(okra_places_ *a)
{
    for (okra_int i = 0; i < a->n; i++) {
        double *w = a->weight + a->first[i], entropy = 0;
        okra_int count = a->first[i + 1] - a->first[i];
        for (int pass = 0; pass < 2; pass++) {
            okra_scale_(count, 1 / okra_total_(count, w), w);
            for (okra_int k = 0; pass == 0 && k < count; k++) {
                entropy -= log(4) * h(w[k]);
            }
            for (okra_int k = 0; pass == 0 && entropy < 3 && k < count; k++) {
                w[k] = pow(w[k], (1 + entropy) / 4);
            }
        }
    }
}

static okra_status match_side(okra_context *ctx, const void *params, const void *shared,
                              const okra_data *data, void **side)
{
    const match_params *p = params;
    okra_places_ *places = NULL;
    CHK(okra_places_create_(ctx, &p->peaks, data, p->modified, &places));
    if (p->entropy) {
        share_out(places);
    }
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
    {"score", OKRA_OPTION_CHOICE, offsetof(match_params, entropy), "cosine", 1, 0,
     "cosine|entropy", "HOW", "cosine, or spectral entropy similarity"},
    {.name = NULL}};

const okra_kernel_class_ okra_mz_match_ = {
    .name = "mz-match",
    .help = "spectra: (modified) cosine or entropy of matched peaks; may not be "
            "semidefinite",
    .params = {"mz-match", match_rows, sizeof(match_params)},
    .kinds = 1u << OKRA_SPECTRA,
    .bind = match_bind,
    .side = match_side,
    .free_side = okra_places_free_,
    .block = match_block};

/* ---- what is said about a spectrum ---- */

static const double NOTHING = -1e4; /* exp of it is 0 */

typedef struct said_params {
    const char *name; /* of a field; NULL: the precursor */
    double sigma, floor;
    int of;
} said_params;

/* A number or (NaN) a text; NaN and "": nothing. */
typedef struct said {
    double number;
    const char *text;
    okra_int length;
} said;

static double first_number(const char *p, const char *end)
{
    double number = NAN;
    while (p < end && !(*p >= '0' && *p <= '9')) {
        p++;
    }
    const char *close = p;
    while (close < end && strchr("0123456789.", *close)) {
        close++;
    }
    return okra_number_(p, close, &number) == OKRA_TOKEN_NUMBER_ ? number : (double)NAN;
}

static said look_up(const said_params *p, const okra_data *data, okra_int i)
{
    said found = {(double)NAN, "", 0};
    okra_int length = 0;
    const char *text = p->name ? okra_data_about(data, i, p->name, &length) : NULL;
    okra_spectrum_view_ v = okra_spectrum_view_of_(data, i);
    double ion = p->of ? v.mass : v.precursor;
    if (!p->name) {
        found.number = ion > 0 ? ion : (double)NAN;
    } else if (text && p->sigma > 0) {
        found.number = first_number(text, text + length);
    } else if (text) {
        found = (said){(double)NAN, text, length};
    }
    return found;
}

static okra_status said_side(okra_context *ctx, const void *params, const void *shared,
                             const okra_data *data, void **side)
{
    const said_params *p = params;
    OWNED said *all = NULL;
    okra_int silent = 0, first = 0;
    MAKE(all, data->n);
    for (okra_int i = 0; i < data->n; i++) {
        all[i] = look_up(p, data, i);
        if (isnan(all[i].number) && all[i].length == 0) {
            first = silent++ > 0 ? first : i;
        }
    }
    CHK(okra_spectra_silent_(
        ctx, data, silent, first,
        p->name ? p->name
        : p->of ? "the mass: it needs a precursor, and an adduct or charge"
                : "the precursor m/z",
        p->name ? "they are like one another alone" : "they are 0 against all"));
    *side = TAKE(all);
    return OKRA_OK;
}

static okra_status said_block(okra_context *ctx, const void *params, const void *pa,
                              okra_int i0, okra_int ni, const void *pb, okra_int j0,
                              okra_int nj, double *out, okra_int ld)
{
    const said_params *p = params;
    for (okra_int r = 0; r < ni; r++) {
        const said *a = (const said *)pa + i0 + r, *b = (const said *)pb + j0;
        for (okra_int c = 0; c < nj; c++, b++) {
            double d = (a->number - b->number) / p->sigma;
            bool same = p->name && isnan(a->number) && isnan(b->number) &&
                        a->length == b->length &&
                        memcmp(a->text, b->text, (size_t)a->length) == 0;
            out[r * ld + c] = same ? 0 : isnan(d) ? NOTHING : -d * d / 2;
        }
        okra_vexp_(nj, out + r * ld);
        for (okra_int c = 0; p->floor > 0 && c < nj; c++) {
            out[r * ld + c] = p->floor + (1 - p->floor) * out[r * ld + c];
        }
    }
    return OKRA_OK;
}

static const okra_option precursor_rows[] = {
    {"sigma", OKRA_OPTION_NUMBER, offsetof(said_params, sigma), "20", DBL_MIN, 1e9, NULL,
     "V", "width of the Gaussian, in dalton"},
    {"of", OKRA_OPTION_CHOICE, offsetof(said_params, of), "mz", 1, 0, "mz|mass", "WHAT",
     "m/z of the precursor, or the mass of the molecule"},
    {.name = NULL}};

const okra_kernel_class_ okra_precursor_ = {
    .name = "precursor",
    .help = "spectra: a Gaussian of the difference of precursors",
    .params = {"precursor", precursor_rows, sizeof(said_params)},
    .kinds = 1u << OKRA_SPECTRA,
    .side = said_side,
    .free_side = okra_free_,
    .block = said_block,
    .self_by_block = true};

static const okra_option field_rows[] = {
    {"name", OKRA_OPTION_TEXT, offsetof(said_params, name), "COLLISION_ENERGY", 1, 0,
     NULL, "FIELD", "the field, such as INSTRUMENT_TYPE"},
    {"sigma", OKRA_OPTION_NUMBER, offsetof(said_params, sigma), "0", 0, 1e9, NULL, "V",
     "width of the Gaussian of the first number in it; 0: its text, equal or not"},
    {"floor", OKRA_OPTION_NUMBER, offsetof(said_params, floor), "0", 0, 1, NULL, "V",
     "the value where fields differ"},
    {.name = NULL}};

const okra_kernel_class_ okra_of_field_ = {
    .name = "field",
    .help = "spectra: a field, such as the collision energy, equal or near",
    .params = {"field", field_rows, sizeof(said_params)},
    .kinds = 1u << OKRA_SPECTRA,
    .side = said_side,
    .free_side = okra_free_,
    .block = said_block};
