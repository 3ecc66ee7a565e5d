/*
 * patches.c: images, patch by patch (Weston et al. 2007; Kadri et al. 2013, sec. 6.3):
 * the sum of a kernel over square patches at the same place.
 *
 * An image of `width` columns (its rows one after another) becomes the sequence of its
 * patches, `patch` pixels wide and high, neighbours sharing `overlap` pixels; the last
 * ones end at the border, so every pixel is in one. Then position.c.
 */
#include "kernel/positions/position.h"
#include "kernel/gram/trained_kernel.h"

typedef struct patches_params {
    okra_position_params_ base;
    okra_int width, patch, overlap;
} patches_params;

static okra_status check(const patches_params *p, const okra_data *data)
{
    REFUSE_IF(p->overlap >= p->patch, OKRA_EARG,
              "kernel patches: overlap=%" PRId64 " must be less than patch=%" PRId64,
              p->overlap, p->patch);
    REFUSE_IF(data->d % p->width != 0, OKRA_ESHAPE,
              "kernel patches: the %" PRId64 " pixels of %s make no rows of %" PRId64,
              data->d, data->source, p->width);
    REFUSE_IF(p->patch > p->width || p->patch > data->d / p->width, OKRA_ESHAPE,
              "kernel patches: patch=%" PRId64 " does not fit images of %" PRId64
              " x %" PRId64,
              p->patch, data->d / p->width, p->width);
    return OKRA_OK;
}

/* How many patches lie along `length` pixels, and where the k-th begins. */
static okra_int along(const patches_params *p, okra_int length)
{
    okra_int step = p->patch - p->overlap;
    return (length - p->patch + step - 1) / step + 1;
}

static okra_int start(const patches_params *p, okra_int length, okra_int k)
{
    return OKRA_MIN_(k * (p->patch - p->overlap), length - p->patch);
}

OKRA_SHARED_CLEARS_(okra_layout_clear_, okra_layout_, it->row, it->col)

okra_status okra_patches_layout_(const void *params, const okra_data *data,
                                 okra_layout_ *out)
{
    const patches_params *p = params;
    FREED_BY(okra_layout_clear_) okra_layout_ l = {.width = p->width, .patch = p->patch};
    CHK(check(p, data));
    l.height = data->d / p->width;
    l.down = along(p, l.height);
    l.across = along(p, p->width);
    MAKE(l.row, l.down);
    MAKE(l.col, l.across);
    for (okra_int k = 0; k < l.down; k++) {
        l.row[k] = start(p, l.height, k);
    }
    for (okra_int k = 0; k < l.across; k++) {
        l.col[k] = start(p, p->width, k);
    }
    *out = TAKE(l);
    return OKRA_OK;
}

void okra_layout_cut_(const okra_layout_ *l, const double *image, okra_int p, double *to)
{
    okra_int r = l->row[p / l->across], c = l->col[p % l->across];
    for (okra_int y = 0; y < l->patch; y++) {
        memcpy(to + y * l->patch, image + (r + y) * l->width + c,
               (size_t)l->patch * sizeof *to);
    }
}

static okra_status map(okra_context *ctx, const void *params, const void *state,
                       const okra_data *data, okra_data **out)
{
    FREED_BY(okra_layout_clear_) okra_layout_ l = {0};
    OWNED double *patches = NULL;
    OWNED okra_int *offsets = NULL;
    CHK(okra_patches_layout_(params, data, &l));
    okra_int size = l.patch * l.patch, count = l.down * l.across;
    CHK(okra_doubles_(ctx, data->n, count * size, "patches of images", &patches));
    MAKE(offsets, data->n + 1);
    offsets[0] = 0;
    for (okra_int i = 0; i < data->n; i++) {
        offsets[i + 1] = (i + 1) * count;
        for (okra_int p = 0; p < count; p++) {
            okra_layout_cut_(&l, data->values + i * data->ld, p,
                             patches + (i * count + p) * size);
        }
    }
    return okra_data_sequences(offsets, patches, NULL, data->n, size, out);
}

static const okra_through_ how = {&okra_position_, NULL, NULL, map, NULL};

/* Patches are sequences of vectors that are not made yet. */
static okra_status check_kept(const void *params, const okra_data *train, okra_int n,
                              const char *name, okra_store_ *store)
{
    FREED_BY(okra_layout_clear_) okra_layout_ l = {0};
    CHK(okra_patches_layout_(params, train, &l));
    return okra_position_check_kept_(params, train, n * l.down * l.across, name, store);
}

static const okra_option rows[] = {
    {"width", OKRA_OPTION_INT, offsetof(patches_params, width), NULL, 1, 1 << 30, NULL,
     "N", "pixels of a row of the image"},
    {"patch", OKRA_OPTION_INT, offsetof(patches_params, patch), "10", 1, 1 << 15, NULL,
     "N", "pixels of a side of a patch"},
    {"overlap", OKRA_OPTION_INT, offsetof(patches_params, overlap), "5", 0, 1 << 15, NULL,
     "N", "pixels that neighbouring patches share"},
    {.name = NULL}};

const okra_kernel_class_ okra_patches_ = {
    .name = "patches",
    .help = "images: patches(k,width=W), the sum of a kernel over patches",
    .params = {"patches", rows, sizeof(patches_params)},
    .kinds = 1u << OKRA_DENSE,
    .nested = true,
    .through = &how,
    .save = okra_through_save_,
    .check_kept = check_kept,
    OKRA_THROUGH_HOOKS_};
