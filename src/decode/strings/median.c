/*
 * median.c: strings of the least sum_i w_i v(edit(z, y_i)): of the expected edit
 * distance, v(d) = d, or of the distance to a prediction under the kernel edit, v(d) = -2
 * c exp(-d/sigma), where l(z,z) = c for all strings.
 *
 * A beam search from the best training outputs that moves by single edits: the `width`
 * best strings are kept, and each of them is expanded once. The losses of all single
 * edits of a string z come together. With F(p, j) the distance of the first p letters of
 * z to the first j of y, and B(p, j) that of what follows, the distance of z to y after
 * one edit is
 *     letter p taken out     min_j F(p, j) + B(p + 1, j)
 *     c put in before q      min_j F(p, j) + 1 + min(B(q, j), B(q, j + 1)), p = q, or
 *                            one less where y has the letter c at a j with F(p, j) +
 *                            B(q, j + 1) one less
 *     c in place of p        the same with q = p + 1
 * so that an output costs |z| |y| for all |z| (2 letters + 1) edits of z.
 */
#include "decode/strings/string_prediction.h"

/* What one thread works with. */
typedef struct workspace {
    const okra_string_search_ *m;
    const double *w;
    okra_int most;   /* letters of z and y at most */
    double *value;   /* 2 most + 3: v of a distance */
    int32_t *F, *B;  /* (most + 1)^2 */
    int32_t *places; /* most: the letters of y */
    okra_int *stamp; /* letters: seen at this mark */
    okra_int mark;
    double *out, *put, *replaced; /* most; (most + 1) x letters; most x letters */
    okra_shortlist_ kept;         /* by the loss */
    int32_t *edited, *z;          /* most + 1 each */
} workspace;

typedef struct work {
    const okra_string_search_ *m;
    okra_int most;
    const okra_block_ *block;
    const double *norm; /* of the predictions, 0 of a loss */
    const okra_results_ *results;
} work;

static void workspace_clear(void *arg)
{
    workspace *d = arg;
    FREE(d->value, d->F, d->B, d->places, d->stamp, d->out, d->put, d->replaced,
         d->edited, d->z);
    okra_shortlist_clear_(&d->kept);
}

static okra_status workspace_open(const void *arg, void *space)
{
    const okra_string_search_ *m = ((const work *)arg)->m;
    workspace *d = space;
    okra_int most = ((const work *)arg)->most, room = OKRA_MAX_(m->letters, 1);
    d->m = m;
    d->most = most;
    MAKE(d->value, 2 * most + 3);
    for (okra_int k = 0; k < 2 * most + 3; k++) {
        double far = (double)k;
        d->value[k] = m->sigma > 0 ? -2 * m->scale * exp(-far / m->sigma) : far;
    }
    MAKE(d->F, (most + 1) * (most + 1));
    MAKE(d->B, (most + 1) * (most + 1));
    MAKE(d->places, most);
    ZMAKE(d->stamp, room);
    MAKE(d->out, most);
    MAKE(d->put, (most + 1) * room);
    MAKE(d->replaced, most * room);
    MAKE(d->edited, most + 1);
    MAKE(d->z, most + 1);
    return okra_shortlist_open_(m->width, false, &d->kept);
}

/* ---- the losses of all edits ---- */

/* F; F(n, m) is the distance of z and y. */
static void forwards(workspace *d, const int32_t *z, okra_int n, const int32_t *y,
                     okra_int m)
{
    okra_int ld = m + 1;
    for (okra_int p = 0; p <= n; p++) {
        for (okra_int j = 0; j <= m; j++) {
            int32_t best = (int32_t)(p + j);
            if (p > 0 && j > 0) {
                int32_t corner = d->F[(p - 1) * ld + j - 1] + (z[p - 1] != y[j - 1]);
                int32_t side =
                    1 + OKRA_MIN_(d->F[(p - 1) * ld + j], d->F[p * ld + j - 1]);
                best = OKRA_MIN_(corner, side);
            }
            d->F[p * ld + j] = best;
        }
    }
}

static void backwards(workspace *d, const int32_t *z, okra_int n, const int32_t *y,
                      okra_int m)
{
    okra_int ld = m + 1;
    for (okra_int p = n; p >= 0; p--) {
        for (okra_int j = m; j >= 0; j--) {
            int32_t best = (int32_t)(n - p + m - j);
            if (p < n && j < m) {
                int32_t corner = d->B[(p + 1) * ld + j + 1] + (z[p] != y[j]);
                int32_t side =
                    1 + OKRA_MIN_(d->B[(p + 1) * ld + j], d->B[p * ld + j + 1]);
                best = OKRA_MIN_(corner, side);
            }
            d->B[p * ld + j] = best;
        }
    }
}

/* values[c] += w times v of the distance to y of z with letter c between its first p
 * letters and those from q on. */
static void add_letter(workspace *d, okra_int p, okra_int q, okra_int m, double w,
                       double *values)
{
    const int32_t *F = d->F + p * (m + 1), *B = d->B + q * (m + 1);
    int32_t other = F[m] + 1 + B[m];
    d->mark++;
    for (okra_int j = 0; j < m; j++) {
        int32_t rest = F[j] + 1 + OKRA_MIN_(B[j], B[j + 1]);
        other = OKRA_MIN_(other, rest);
    }
    for (okra_int c = 0; c < d->m->letters; c++) {
        values[c] += w * d->value[other];
    }
    for (okra_int j = 0; j < m; j++) {
        int32_t c = d->places[j];
        if (c >= 0 && F[j] + B[j + 1] < other && d->stamp[c] != d->mark) {
            d->stamp[c] = d->mark;
            values[c] += w * (d->value[other - 1] - d->value[other]);
        }
    }
}

static void add_output(workspace *d, okra_int n, okra_int i, double w)
{
    okra_int m, letters = d->m->letters;
    const int32_t *y = okra_characters_(d->m->y, i, &m);
    forwards(d, d->z, n, y, m);
    backwards(d, d->z, n, y, m);
    for (okra_int j = 0; j < m; j++) {
        okra_int place = okra_letter_(d->m->alphabet, letters, y[j]);
        d->places[j] = place < letters ? (int32_t)place : -1;
    }
    for (okra_int p = 0; p <= n; p++) {
        add_letter(d, p, p, m, w, d->put + p * letters);
        if (p == n) {
            break;
        }
        add_letter(d, p, p + 1, m, w, d->replaced + p * letters);
        int32_t best = d->F[p * (m + 1)] + d->B[(p + 1) * (m + 1)];
        for (okra_int j = 1; j <= m; j++) {
            int32_t here = d->F[p * (m + 1) + j] + d->B[(p + 1) * (m + 1) + j];
            best = OKRA_MIN_(best, here);
        }
        d->out[p] += w * d->value[best];
    }
}

/* ---- the search ---- */

static okra_status offer(workspace *d, const int32_t *code, okra_int length, double loss)
{
    return okra_shortlist_put_(&d->kept, code, length, (okra_key_){loss, 0}, loss);
}

/* z of n letters with letters p..q-1 replaced by a letter, or by none (c < 0). */
static okra_status offer_edit(workspace *d, okra_int n, okra_int p, okra_int q,
                              okra_int c, double loss)
{
    okra_int length = p;
    if (!(loss < okra_shortlist_worst_(&d->kept))) {
        return OKRA_OK;
    }
    memcpy(d->edited, d->z, (size_t)p * sizeof *d->z);
    if (c >= 0) {
        d->edited[length++] = d->m->alphabet[c];
    }
    memcpy(d->edited + length, d->z + q, (size_t)(n - q) * sizeof *d->z);
    return offer(d, d->edited, length + n - q, loss);
}

static okra_status expand(workspace *d, okra_int n)
{
    okra_int letters = d->m->letters;
    for (okra_int p = 0; p <= n; p++) {
        for (okra_int c = 0; n < d->m->longest && c < letters; c++) {
            CHK(offer_edit(d, n, p, p, c, d->put[p * letters + c]));
        }
        for (okra_int c = 0; p < n && c < letters; c++) {
            CHK(offer_edit(d, n, p, p + 1, c, d->replaced[p * letters + c]));
        }
        if (p < n) {
            CHK(offer_edit(d, n, p, p + 1, -1, d->out[p]));
        }
    }
    return OKRA_OK;
}

/* The losses of all edits of z, n letters. */
static void measure(workspace *d, okra_int n, double least)
{
    okra_int letters = d->m->letters;
    memset(d->put, 0, (size_t)((n + 1) * letters) * sizeof *d->put);
    memset(d->replaced, 0, (size_t)(n * letters) * sizeof *d->replaced);
    memset(d->out, 0, (size_t)n * sizeof *d->out);
    for (okra_int i = 0; i < d->m->y->n; i++) {
        if (fabs(d->w[i]) > least) {
            add_output(d, n, i, d->w[i]);
        }
    }
}

static okra_status search(workspace *d)
{
    const okra_item_ *best = NULL;
    okra_int rounds = d->m->rounds * d->m->width;
    double most = okra_most_abs_(d->m->y->n, d->w);
    while (rounds-- > 0 && (best = okra_shortlist_next_(&d->kept))) {
        okra_int n = best->length;
        OKRA_COPY_(d->z, best->codes, n);
        measure(d, n, 1e-16 * most);
        CHK(expand(d, n));
    }
    return OKRA_OK;
}

/* What one string is worth. */
static double worth(workspace *d, const int32_t *z, okra_int n)
{
    double sum = 0;
    for (okra_int i = 0; i < d->m->y->n; i++) {
        okra_int m;
        const int32_t *y = okra_characters_(d->m->y, i, &m);
        forwards(d, z, n, y, m);
        sum += d->w[i] * d->value[d->F[n * (m + 1) + m]];
    }
    return sum;
}

static okra_status one_row(const void *arg, void *space, okra_int r)
{
    const work *w = arg;
    workspace *d = space;
    const okra_string_search_ *m = d->m;
    okra_int count = 0, length = 0, i = w->block->first + r;
    const okra_near_ *near = okra_starts_get_(m->starts, i, &count);
    d->w = w->block->W.p + r * w->block->W.ld;
    okra_shortlist_empty_(&d->kept);
    for (okra_int t = 0; t < OKRA_MIN_(m->width, count); t++) {
        const int32_t *y = okra_characters_(m->y, near[t].rank.id, &length);
        CHK(offer(d, y, length, m->sigma > 0 ? worth(d, y, length) : near[t].distance));
    }
    CHK(search(d));
    for (okra_int t = 0; m->sigma > 0 && t < d->kept.count; t++) {
        double *far = &d->kept.items[t].distance;
        *far = fmax(m->scale + *far + w->norm[r], 0);
    }
    return okra_results_list_(w->results, i, &d->kept);
}

bool okra_kernel_is_edit_(const okra_kernel *kernel, double *sigma, double *scale)
{
    const okra_edit_params_ *p = okra_kernel_core_leaf_(kernel, &okra_edit_, scale, NULL);
    *sigma = p ? p->sigma : *sigma;
    return p;
}

okra_status okra_median_block_(okra_context *ctx, const okra_string_search_ *m,
                               const okra_block_ *block, const okra_results_ *results)
{
    OWNED double *norm = NULL;
    okra_int most = OKRA_MAX_(m->longest, okra_longest_(m->y));
    static const okra_each_ each = {sizeof(workspace), workspace_open, one_row,
                                    workspace_clear};
    int workers = okra_workers_(ctx);
    MAKE(norm, block->m);
    CHK(okra_starts_block_(ctx, m->starts, block, norm));
    double side = (double)most + 1, block_bytes = 128; /* what a small block takes */
    double kept = (double)sizeof(okra_item_) + block_bytes + 4 * side;
    double letters = 16 * side * (double)OKRA_MAX_(m->letters, 1);
    CHK(okra_budget_ask_(
        ctx, workers * ((double)m->width * kept + 8 * side * side + letters),
        "the search of %d threads among %lld strings", workers, (long long)m->width));
    const work w = {m, most, block, norm, results};
    return okra_parallel_each_(ctx, block->m, 1, "decode", &each, &w);
}
