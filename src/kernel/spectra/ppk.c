/*
 * ppk.c: kernels of spectra that are inner products: the probability product kernel, and
 * bins of m/z.
 *
 * ppk: a spectrum is a sum of Gaussians, one for each peak p, of width s_p around its m/z
 * (Heinonen, Shen, Zamboni and Rousu, Metabolite identification and molecular fingerprint
 * prediction through machine learning, Bioinformatics 28, 2012, sec. 2.2; Jebara, Kondor
 * and Howard, Probability product kernels, JMLR 5, 2004). Each Gaussian is scaled to norm
 * 1, so that two of them have the inner product
 *     g(p,q) = sqrt(2 s_p s_q / S) exp(-(v_p - v_q)^2 / (2 S)),  S = s_p^2 + s_q^2,
 * and k(a,b) = sum_p sum_q w_p w_q g(p,q). With `intensity` = s a peak is a Gaussian of
 * width s in its intensity h = weight, too, in place of a weight: k(a,b) =
 * sum_p sum_q g(p,q) exp(-(h_p - h_q)^2 / (4 s^2)). bins: k(a,b) = sum over bins of the
 * weights in it, W_bin(a) W_bin(b). Both are positive semidefinite.
 *
 * A block: the peaks of its columns in one list by place; a peak of a row finds the few
 * that are near by bisection. Pairs whose exponent is below -37 add less than 1e-16 and
 * are left out. Cost of a block of r rows and c columns of m peaks: r m log(c m), and the
 * pairs that meet.
 */
#include "kernel/spectra/peaks.h"

typedef struct ppk_params {
    okra_peaks_params_ peaks;
    double ppm, da, intensity;
} ppk_params;

typedef struct bins_params {
    okra_peaks_params_ peaks;
    double width;
} bins_params;

/* A peak of a column. */
typedef struct spot {
    double place, weight, width;
    okra_int column;
} spot;

OKRA_ORDER_(by_place, spot, OKRA_UP_(place), OKRA_UP_(column))

static double width_of(const ppk_params *p, double mz)
{
    return fmax(p->ppm * 1e-6 * mz, p->da);
}

/* The peaks of columns j0..j0+nj-1 by place. */
static okra_status gather(const okra_places_ *b, okra_int j0, okra_int nj,
                          const ppk_params *ppk, spot **out, okra_int *count,
                          double *widest)
{
    okra_int begin = b->first[j0], total = b->first[j0 + nj] - begin;
    spot *list = NULL;
    *widest = 0;
    MAKE(list, total);
    for (okra_int c = 0; c < nj; c++) {
        for (okra_int k = b->first[j0 + c]; k < b->first[j0 + c + 1]; k++) {
            double width = ppk ? width_of(ppk, b->mz[k]) : 0;
            list[k - begin] = (spot){b->place[k], b->weight[k], width, c};
            *widest = fmax(*widest, width);
        }
    }
    OKRA_SORT_(list, total, by_place);
    *out = list;
    *count = total;
    return OKRA_OK;
}

enum { FAINT = 37 };

static double meet(const ppk_params *p, double width, double place, double weight,
                   const spot *q)
{
    double square = width * width + q->width * q->width, d = place - q->place;
    double exponent = d * d / (2 * square);
    if (exponent > FAINT) {
        return 0;
    }
    double scale = width == q->width ? 1 : sqrt(2 * width * q->width / square);
    if (p->intensity > 0) {
        double e = (weight - q->weight) / (2 * p->intensity);
        return scale * exp(-exponent - e * e);
    }
    return weight * q->weight * scale * exp(-exponent);
}

/* Bins meet where they are the same. */
static okra_status block(okra_context *ctx, const void *params, const void *pa,
                         okra_int i0, okra_int ni, const void *pb, okra_int j0,
                         okra_int nj, double *out, okra_int ld)
{
    const okra_places_ *a = pa, *b = pb;
    const ppk_params *ppk = a->bins ? NULL : params;
    OWNED spot *list = NULL;
    okra_int count = 0;
    double widest = 0;
    CHK(gather(b, j0, nj, ppk, &list, &count, &widest));
    for (okra_int r = 0; r < ni; r++) {
        double *row = out + r * ld;
        okra_fill_(nj, 0, row);
        for (okra_int k = a->first[i0 + r]; k < a->first[i0 + r + 1]; k++) {
            double width = ppk ? width_of(ppk, a->mz[k]) : 0, place = a->place[k];
            double reach = sqrt(2 * FAINT * (width * width + widest * widest));
            for (okra_int q =
                     okra_below_(&list->place, sizeof *list, count, place - reach);
                 q < count && list[q].place <= place + reach; q++) {
                row[list[q].column] +=
                    ppk ? meet(ppk, width, place, a->weight[k], &list[q])
                        : a->weight[k] * list[q].weight;
            }
        }
    }
    return OKRA_OK;
}

static okra_status ppk_side(okra_context *ctx, const void *params, const void *shared,
                            const okra_data *data, void **side)
{
    const ppk_params *p = params;
    okra_places_ *places = NULL;
    REFUSE_IF(!(p->ppm > 0) && !(p->da > 0), OKRA_EARG,
              "kernel ppk: ppm and da are both 0: peaks have no width");
    CHK(okra_places_create_(ctx, &p->peaks, data, false, &places));
    *side = places;
    return OKRA_OK;
}

static const okra_option ppk_rows[] = {
    OKRA_WIDTH_ROWS_(ppk_params, "10", "0.001"),
    OKRA_PEAKS_ROWS_(ppk_params),
    {"intensity", OKRA_OPTION_NUMBER, offsetof(ppk_params, intensity), "0", 0, 1e3, NULL,
     "V", "width of peaks in their weight; 0: intensities weigh peaks"},
    {.name = NULL}};

const okra_kernel_class_ okra_ppk_ = {
    .name = "ppk",
    .help = "spectra: probability product kernel, peaks as Gaussians",
    .params = {"ppk", ppk_rows, sizeof(ppk_params)},
    .kinds = 1u << OKRA_SPECTRA,
    .side = ppk_side,
    .free_side = okra_places_free_,
    .block = block,
    .self_by_block = true};

/* ---- bins ---- */

/* Places become the numbers of bins; peaks of one bin become one. */
static okra_status bins_side(okra_context *ctx, const void *params, const void *shared,
                             const okra_data *data, void **side)
{
    const bins_params *p = params;
    okra_places_ *places = NULL;
    okra_int used = 0;
    CHK(okra_places_create_(ctx, &p->peaks, data, false, &places));
    for (okra_int i = 0; i < data->n; i++) {
        okra_int begin = places->first[i], end = places->first[i + 1], first = used;
        for (okra_int k = begin; k < end; k++) {
            double bin = floor(places->place[k] / p->width);
            if (used > first && places->place[used - 1] == bin) {
                places->weight[used - 1] += places->weight[k];
            } else {
                places->place[used] = bin;
                places->weight[used++] = places->weight[k];
            }
        }
        places->first[i] = first;
    }
    places->first[data->n] = used;
    places->bins = true;
    *side = places;
    return OKRA_OK;
}

static const okra_option bins_rows[] = {{"width", OKRA_OPTION_NUMBER,
                                         offsetof(bins_params, width), "0.01", 1e-6, 1e6,
                                         NULL, "V", "width of a bin in dalton"},
                                        OKRA_PEAKS_ROWS_(bins_params),
                                        {.name = NULL}};

const okra_kernel_class_ okra_mz_bins_ = {
    .name = "mz-bins",
    .help = "spectra: weights of peaks in bins of m/z; | normalize: the binned cosine",
    .params = {"mz-bins", bins_rows, sizeof(bins_params)},
    .kinds = 1u << OKRA_SPECTRA,
    .side = bins_side,
    .free_side = okra_places_free_,
    .block = block,
    .self_by_block = true};
