/*
 * jitter.c: the Gaussian kernel of images that may be shifted (DeCoste and Schoelkopf
 * 2002):
 *
 *   exp(-gamma d^2),  d^2 = least |T x - z|^2 and |x - T z|^2 over all shifts T of up to
 *   `shift` pixels along rows and columns
 *
 * Pixels that a shift brings in repeat the border. Both images are shifted in turn, so
 * the kernel is symmetric. Not positive semidefinite in general: looked at when bound
 * (string_kernels.h). Distances are taken as |a|^2 + |b|^2 - 2 <a,b>, whose absolute
 * error is a few eps (|a|^2 + |b|^2), clamped at 0. Cost: 2 (2 shift + 1)^2 products of
 * blocks.
 */
#include "kernel/positions/position.h"
#include "kernel/strings/string_kernels.h"

typedef struct jitter_params {
    double sigma, gamma;
    okra_int width, shift;
} jitter_params;

static okra_status make_side(okra_context *ctx, const void *params, const void *shared,
                             const okra_data *data, void **side)
{
    const jitter_params *p = params;
    const okra_data *train = shared;
    REFUSE_IF((p->sigma > 0) == (p->gamma > 0), OKRA_EARG,
              "kernel jitter needs exactly one of sigma and gamma, a number above 0");
    REFUSE_IF(data->d % p->width != 0 || data->d != train->d, OKRA_ESHAPE,
              "kernel jitter: %s has images of %" PRId64 " pixels, expected %" PRId64
              " in rows of %" PRId64,
              data->source, data->d, train->d, p->width);
    *side = (okra_data *)(uintptr_t)data;
    return OKRA_OK;
}

static okra_status bind_training(okra_context *ctx, const void *params,
                                 const okra_data *train, void **shared)
{
    *shared = (okra_data *)(uintptr_t)train;
    return okra_psd_check_(ctx, &okra_jitter_, params, train, train);
}

static okra_int clamp(okra_int x, okra_int top)
{
    return x < 0 ? 0 : x > top ? top : x;
}

/* Rows i0.. of `data`, each shifted by (dy, dx), and their squared lengths. */
static void shifted(const okra_data *data, okra_int width, okra_int i0, okra_int n,
                    okra_int dy, okra_int dx, double *to, double *square)
{
    okra_int d = data->d, height = d / width;
    for (okra_int i = 0; i < n; i++) {
        const double *image = data->values + (i0 + i) * data->ld;
        for (okra_int k = 0; k < d; k++) {
            okra_int y = clamp(k / width + dy, height - 1);
            to[i * d + k] = image[y * width + clamp(k % width + dx, width - 1)];
        }
        square[i] = okra_dot_(d, to + i * d, to + i * d);
    }
}

typedef struct space {
    double *a, *b, *aa, *bb, *product;
} space;

/* out <- the lesser of out and the squared distances of the images in the space; by
 * differences where |a|^2 + |b|^2 > far: the sum below would be off by more than 2e-11 of
 * the kernel's width. */
static okra_status lower(okra_context *ctx, const space *sp, okra_int ni, okra_int nj,
                         okra_int d, double far, double *out, okra_int ld)
{
    CHK(okra_gemm_(ctx, false, true, 1, okra_mat_of_(sp->a, ni, d),
                   okra_mat_of_(sp->b, nj, d), 0, okra_mat_of_(sp->product, ni, nj)));
    for (okra_int r = 0; r < ni; r++) {
        for (okra_int c = 0; c < nj; c++) {
            double both = sp->aa[r] + sp->bb[c], d2 = both - 2 * sp->product[r * nj + c];
            if (both > far) {
                d2 = okra_distance2_(d, sp->a + r * d, sp->b + c * d);
            }
            double *least = &out[r * ld + c];
            if (!isnan(*least) && !(d2 >= *least)) { /* a NaN stays, to be reported */
                *least = d2 < 0 ? 0 : d2;
            }
        }
    }
    return OKRA_OK;
}

static okra_status block(okra_context *ctx, const void *params, const void *a,
                         okra_int i0, okra_int ni, const void *b, okra_int j0,
                         okra_int nj, double *out, okra_int ld)
{
    const jitter_params *p = params;
    const okra_data *x = a, *z = b;
    okra_int d = x->d, h = p->shift, side = 2 * h + 1;
    double gamma = p->gamma > 0 ? p->gamma : 0.5 / p->sigma / p->sigma;
    space sp = {0};
    OWNS(&sp.a, &sp.b, &sp.aa, &sp.bb, &sp.product);
    MAKE(sp.a, ni * d);
    MAKE(sp.b, nj * d);
    MAKE(sp.aa, ni);
    MAKE(sp.bb, nj);
    MAKE(sp.product, ni * nj);
    okra_mat_fill_((okra_mat_){out, ni, nj, ld}, DBL_MAX);
    for (okra_int k = 0; k < 2 * side * side; k++) {
        okra_int dy = k / 2 / side - h, dx = k / 2 % side - h;
        bool first = k % 2 == 0;
        shifted(x, p->width, i0, ni, first ? dy : 0, first ? dx : 0, sp.a, sp.aa);
        shifted(z, p->width, j0, nj, first ? 0 : dy, first ? 0 : dx, sp.b, sp.bb);
        CHK(lower(ctx, &sp, ni, nj, d, 2e-11 / (32 * DBL_EPSILON * gamma), out, ld));
    }
    for (okra_int r = 0; r < ni; r++) {
        okra_scale_(nj, -gamma, out + r * ld);
        okra_vexp_(nj, out + r * ld);
    }
    return OKRA_OK;
}

static const okra_option rows[] = {
    {"sigma", OKRA_OPTION_NUMBER, offsetof(jitter_params, sigma), "0", 0, DBL_MAX, NULL,
     "V", "width: exp(-d^2/(2 sigma^2)); give sigma or gamma"},
    {"gamma", OKRA_OPTION_NUMBER, offsetof(jitter_params, gamma), "0", 0, DBL_MAX, NULL,
     "V", "inverse width: exp(-gamma d^2); give sigma or gamma"},
    {"width", OKRA_OPTION_INT, offsetof(jitter_params, width), NULL, 1, 1 << 30, NULL,
     "N", "pixels of a row of the image"},
    {"shift", OKRA_OPTION_INT, offsetof(jitter_params, shift), "1", 0, 16, NULL, "N",
     "pixels that an image may be shifted"},
    {.name = NULL}};

const okra_kernel_class_ okra_jitter_ = {
    .name = "jitter",
    .help = "images: Gaussian of the least distance over shifts; may not be semidefinite",
    .params = {"jitter", rows, sizeof(jitter_params)},
    .kinds = 1u << OKRA_DENSE,
    .bind = bind_training,
    .side = make_side,
    .block = block};
