/*
 * pieces.c: position(k) and patches(k, ...) taken apart: at each position p the elements
 * of the objects that have one there, under k itself.
 *
 * With map=1 the features of position.c are F_p(x) = (k(c, x_p))_c over the training
 * elements c at p, so that the piece is K_p K_p', and against others K_p(x) K_p'.
 * Memory: a copy of all elements.
 */
#include "kernel/positions/position.h"

#include "kernel/gram/trained_kernel.h"

/* The elements at one position, and whose they are. */
typedef struct okra_piece_ {
    okra_data *elements;
    okra_int *owner, count;
    okra_trained_kernel_ *bound; /* training pieces; NULL: no elements */
} piece;

static void piece_clear(piece *p)
{
    okra_trained_kernel_free_(p->bound);
    okra_data_free(p->elements);
    okra_free_(p->owner);
}

void okra_pieces_free_(okra_pieces_ *s)
{
    if (s) {
        for (okra_int p = 0; s->at && p < s->count; p++) {
            piece_clear(&s->at[p]);
        }
        okra_layout_clear_(&s->layout);
        FREE(s->at, s);
    }
}

static okra_int length_of(const okra_pieces_ *s, const okra_data *data, okra_int i)
{
    okra_int length = s->layout.down * s->layout.across;
    if (!s->layout.width) {
        length = data->groups[0].offsets[i + 1] - data->groups[0].offsets[i];
    }
    return length;
}

/* ---- elements ---- */

static okra_status take_patches(okra_context *ctx, const okra_layout_ *l,
                                const okra_data *data, okra_int p, piece *out)
{
    okra_int d = l->patch * l->patch;
    OWNED double *values = NULL;
    CHK(okra_doubles_(ctx, out->count, d, "the elements at a position", &values));
    for (okra_int k = 0; k < out->count; k++) {
        okra_layout_cut_(l, data->values + out->owner[k] * data->ld, p, values + k * d);
    }
    return okra_data_adopt_dense_(&values, out->count, d, data->source, &out->elements);
}

static okra_status take_elements(okra_context *ctx, const okra_pieces_ *s,
                                 const okra_data *data, okra_int p, piece *out)
{
    OWNED okra_int *order = NULL;
    MAKE(order, out->count);
    for (okra_int k = 0; k < out->count; k++) {
        order[k] = data->groups[0].offsets[out->owner[k]] + p;
    }
    return okra_position_elements_(ctx, data, s->labels, order, out->count,
                                   &out->elements);
}

/* Of objects first..first+m-1; owners are numbers of `data`. */
static okra_status take(okra_context *ctx, const okra_pieces_ *s, const okra_data *data,
                        okra_int first, okra_int m, okra_int p, piece *out)
{
    MAKE(out->owner, m);
    for (okra_int i = first; i < first + m; i++) {
        if (p < length_of(s, data, i)) {
            out->owner[out->count++] = i;
        }
    }
    if (out->count > 0) {
        CHK(s->layout.width ? take_patches(ctx, &s->layout, data, p, out)
                            : take_elements(ctx, s, data, p, out));
    }
    return OKRA_OK;
}

/* ---- create ---- */

static okra_status open_kernel(const char *who, const okra_kernel *kernel,
                               const okra_data *train, okra_pieces_ *s)
{
    const okra_node_ *root = &kernel->nodes[kernel->count - 1];
    bool images = root->leaf == &okra_patches_;
    REFUSE_IF(root->kind != OKRA_NODE_LEAF_ || root->component ||
                  (!images && root->leaf != &okra_position_),
              OKRA_EUNSUPPORTED,
              "%s needs an input kernel that is a sum over positions, position(k) or "
              "patches(k,width=W); it is %s",
              who, kernel->text);
    s->params = root->params;
    REFUSE_IF(okra_kernel_files_(s->params->inner), OKRA_EUNSUPPORTED,
              "%s binds the kernel of elements again when it predicts, and a model keeps "
              "no file: expected one without, it is %s",
              who, okra_kernel_text(s->params->inner));
    CHK(images ? okra_patches_layout_(root->params, train, &s->layout)
               : okra_position_labels_(s->params->inner, train, &s->labels));
    return OKRA_OK;
}

okra_status okra_pieces_create_(okra_context *ctx, const char *who,
                                const okra_kernel *kernel, const okra_data *train,
                                okra_pieces_ **out)
{
    FREED_BY(okra_pieces_drop_) okra_pieces_ *s = NULL;
    ZMAKE(s, 1);
    s->n = train->n;
    s->d = train->d;
    CHK(open_kernel(who, kernel, train, s));
    for (okra_int i = 0; i < train->n; i++) {
        s->count = OKRA_MAX_(s->count, length_of(s, train, i));
    }
    ZMAKE(s->at, s->count);
    for (okra_int p = 0; p < s->count; p++) {
        piece *at = &s->at[p];
        CHK(take(ctx, s, train, 0, train->n, p, at));
        CHK(okra_weights_take_(&train, 1, at->owner, at->count, at->elements));
        CHK(okra_trained_kernel_create_(ctx, s->params->inner, at->elements, &at->bound));
    }
    *out = TAKE(s);
    return OKRA_OK;
}

/* ---- values ---- */

/* K (n x n) <- 0 but for the rows and columns of the owners. */
static void scatter(okra_mat_ V, const okra_int *rows, okra_int first,
                    const okra_int *cols, okra_mat_ K)
{
    okra_mat_fill_(K, 0);
    for (okra_int r = 0; r < V.rows; r++) {
        double *to = K.p + (rows[r] - first) * K.ld;
        for (okra_int c = 0; c < V.cols; c++) {
            to[cols[c]] = V.p[r * V.ld + c];
        }
    }
}

/* V <- V G, G the training values at the position, where the kernel has map=1. */
static okra_status apply_map(okra_context *ctx, const okra_pieces_ *s, const piece *at,
                             double **values, okra_int rows)
{
    okra_int count = at->count;
    OWNED double *G = NULL, *product = NULL;
    if (!s->params->map) {
        return OKRA_OK;
    }
    CHK(okra_doubles_(ctx, count, count, "position-wise features", &G));
    CHK(okra_doubles_(ctx, rows, count, "position-wise features", &product));
    CHK(okra_trained_kernel_gram_(ctx, at->bound, okra_mat_of_(G, count, count)));
    CHK(okra_gemm_(ctx, false, false, 1, okra_mat_of_(*values, rows, count),
                   okra_mat_of_(G, count, count), 0, okra_mat_of_(product, rows, count)));
    okra_free_(*values);
    *values = TAKE(product);
    return OKRA_OK;
}

okra_status okra_pieces_gram_(okra_context *ctx, const okra_pieces_ *s, okra_int p,
                              okra_mat_ K)
{
    const piece *at = &s->at[p];
    OWNED double *V = NULL;
    CHK(okra_doubles_(ctx, at->count, at->count, "the values at a position", &V));
    CHK(okra_trained_kernel_gram_(ctx, at->bound, okra_mat_of_(V, at->count, at->count)));
    CHK(apply_map(ctx, s, at, &V, at->count));
    scatter(okra_mat_of_(V, at->count, at->count), at->owner, 0, at->owner, K);
    return OKRA_OK;
}

okra_status okra_pieces_cross_(okra_context *ctx, const okra_pieces_ *s,
                               const okra_data *data, okra_int first, okra_int p,
                               okra_mat_ K)
{
    const piece *at = &s->at[p];
    FREED_BY(piece_clear) piece test = {0};
    FREED_BY(okra_test_side_drop_) okra_test_side_ *other = NULL;
    OWNED double *V = NULL;
    REFUSE_IF(data->d != s->d && !s->labels, OKRA_ESHAPE,
              "%s has vectors of length %lld, the training set's have %lld", data->source,
              (long long)data->d, (long long)s->d);
    CHK(take(ctx, s, data, first, K.rows, p, &test));
    okra_mat_fill_(K, 0);
    if (test.count == 0) {
        return OKRA_OK;
    }
    CHK(okra_doubles_(ctx, test.count, at->count, "the values at a position", &V));
    CHK(okra_test_side_create_(ctx, at->bound, test.elements, &other));
    CHK(okra_test_side_cross_(ctx, at->bound, other, 0,
                              okra_mat_of_(V, test.count, at->count)));
    CHK(apply_map(ctx, s, at, &V, test.count));
    scatter(okra_mat_of_(V, test.count, at->count), test.owner, first, at->owner, K);
    return OKRA_OK;
}

bool okra_kernel_counts_letters_(const okra_kernel *kernel)
{
    const okra_node_ *root = &kernel->nodes[kernel->count - 1];
    const okra_position_params_ *p = root->params;
    double scale = 0;
    return root->kind == OKRA_NODE_LEAF_ && root->leaf == &okra_position_ && !p->map &&
           okra_kernel_shape_(p->inner, &scale) == OKRA_SHAPE_EQUAL_ && scale == 1;
}
