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
#include "decode/strings/median.h"

#include "data/strings.h"
#include "kernel/expression/expr.h"
#include "kernel/strings/string_kernels.h"

#include <math.h>
#include <string.h>

typedef struct item {
    int32_t *code;
    okra_int length;
    double loss;
    bool expanded;
} item;

/* What one thread works with. */
typedef struct workspace {
    const okra_median_ *m;
    const double *w;
    okra_int most;   /* letters of z and y at most */
    double *value;   /* 2 most + 3: v of a distance */
    int32_t *F, *B;  /* (most + 1)^2 */
    int32_t *places; /* most: the letters of y */
    okra_int *stamp; /* letters: seen at this mark */
    okra_int mark;
    double *out, *put, *replaced; /* most; (most + 1) x letters; most x letters */
    item *kept;                   /* width */
    okra_int count;
    int32_t *edited; /* most + 1 */
} workspace;

static void desk_clear(workspace *d)
{
    FREE(d->value, d->F, d->B, d->places, d->stamp, d->out, d->put, d->replaced);
    for (okra_int k = 0; d->kept && k < d->m->width; k++) {
        okra_free_(d->kept[k].code);
    }
    FREE(d->kept, d->edited);
}

static okra_status desk_open(const okra_median_ *m, okra_int most, workspace *out)
{
    FREED_BY(desk_clear) workspace d = {.m = m, .most = most};
    okra_int room = OKRA_MAX_(m->letters, 1);
    MAKE(d.value, 2 * most + 3);
    for (okra_int k = 0; k < 2 * most + 3; k++) {
        double far = (double)k;
        d.value[k] = m->sigma > 0 ? -2 * m->scale * exp(-far / m->sigma) : far;
    }
    MAKE(d.F, (most + 1) * (most + 1));
    MAKE(d.B, (most + 1) * (most + 1));
    MAKE(d.places, most);
    ZMAKE(d.stamp, room);
    MAKE(d.out, most);
    MAKE(d.put, (most + 1) * room);
    MAKE(d.replaced, most * room);
    ZMAKE(d.kept, m->width);
    for (okra_int k = 0; k < m->width; k++) {
        MAKE(d.kept[k].code, most + 1);
    }
    MAKE(d.edited, most + 1);
    *out = d;
    d = (workspace){.m = m};
    return OKRA_OK;
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

static void add_output(workspace *d, const item *z, okra_int i, double w)
{
    okra_int m, n = z->length, letters = d->m->letters;
    const int32_t *y = okra_characters_(d->m->y, i, &m);
    forwards(d, z->code, n, y, m);
    backwards(d, z->code, n, y, m);
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

/* Keeps a string that is not there yet, if it is among the best. */
static void offer(workspace *d, const int32_t *code, okra_int length, double loss)
{
    okra_int width = d->m->width, at = d->count;
    if (at == width && !(loss < d->kept[width - 1].loss)) {
        return;
    }
    for (okra_int k = 0; k < d->count; k++) {
        if (d->kept[k].length == length &&
            memcmp(d->kept[k].code, code, (size_t)length * sizeof *code) == 0) {
            return;
        }
    }
    at = OKRA_MIN_(at, width - 1);
    item fresh = {d->kept[at].code, length, loss, false};
    for (; at > 0 && loss < d->kept[at - 1].loss; at--) {
        d->kept[at] = d->kept[at - 1];
    }
    memcpy(fresh.code, code, (size_t)length * sizeof *code);
    d->kept[at] = fresh;
    d->count = OKRA_MIN_(d->count + 1, width);
}

/* z with letters p..q-1 replaced by a letter, or by none (c < 0). */
static void offer_edit(workspace *d, const int32_t *z, okra_int n, okra_int p, okra_int q,
                       okra_int c, double loss)
{
    okra_int length = p;
    memcpy(d->edited, z, (size_t)p * sizeof *z);
    if (c >= 0) {
        d->edited[length++] = d->m->alphabet[c];
    }
    memcpy(d->edited + length, z + q, (size_t)(n - q) * sizeof *z);
    offer(d, d->edited, length + n - q, loss);
}

static void expand(workspace *d, const int32_t *z, okra_int n)
{
    okra_int letters = d->m->letters;
    for (okra_int p = 0; p <= n; p++) {
        for (okra_int c = 0; n < d->m->longest && c < letters; c++) {
            offer_edit(d, z, n, p, p, c, d->put[p * letters + c]);
        }
        for (okra_int c = 0; p < n && c < letters; c++) {
            offer_edit(d, z, n, p, p + 1, c, d->replaced[p * letters + c]);
        }
        if (p < n) {
            offer_edit(d, z, n, p, p + 1, -1, d->out[p]);
        }
    }
}

static void measure(workspace *d, const item *z, double least)
{
    okra_int letters = d->m->letters, n = z->length;
    memset(d->put, 0, (size_t)((n + 1) * letters) * sizeof *d->put);
    memset(d->replaced, 0, (size_t)(n * letters) * sizeof *d->replaced);
    memset(d->out, 0, (size_t)n * sizeof *d->out);
    for (okra_int i = 0; i < d->m->y->n; i++) {
        if (fabs(d->w[i]) > least) {
            add_output(d, z, i, d->w[i]);
        }
    }
}

static void search(workspace *d, int32_t *z)
{
    double most = 0;
    for (okra_int i = 0; i < d->m->y->n; i++) {
        most = fmax(most, fabs(d->w[i]));
    }
    for (okra_int round = 0; round < d->m->rounds * d->m->width; round++) {
        okra_int k = 0;
        while (k < d->count && d->kept[k].expanded) {
            k++;
        }
        if (k == d->count) {
            break;
        }
        okra_int n = d->kept[k].length;
        d->kept[k].expanded = true;
        measure(d, &d->kept[k], 1e-16 * most);
        memcpy(z, d->kept[k].code, (size_t)n * sizeof *z);
        expand(d, z, n);
    }
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

/* ---- rows ---- */

typedef struct work {
    const okra_block_ *block;
    workspace *workspaces; /* one per worker */
    const double *norm;    /* of the predictions, 0 of a loss */
    okra_int top;
    okra_result_ *found; /* rows x top */
} work;

static okra_status some_rows(void *arg, okra_int begin, okra_int end, int worker)
{
    const work *w = arg;
    workspace *d = &w->workspaces[worker];
    OWNED int32_t *z = NULL;
    MAKE(z, d->most + 1);
    for (okra_int r = begin; r < end; r++) {
        d->w = w->block->W.p + r * w->block->W.ld;
        d->count = 0;
        okra_int count = 0, length = 0;
        const okra_near_ *near =
            okra_starts_get_(d->m->starts, w->block->first + r, &count);
        for (okra_int t = 0; t < OKRA_MIN_(d->m->width, count); t++) {
            const int32_t *y = okra_characters_(d->m->y, near[t].rank.id, &length);
            offer(d, y, length, d->m->sigma > 0 ? worth(d, y, length) : near[t].distance);
        }
        search(d, z);
        for (okra_int t = 0; t < OKRA_MIN_(w->top, d->count); t++) {
            const item *k = &d->kept[t];
            double far =
                d->m->sigma > 0 ? fmax(d->m->scale + k->loss + w->norm[r], 0) : k->loss;
            CHK(okra_result_make_(k->code, k->length, far, &w->found[r * w->top + t]));
        }
    }
    return OKRA_OK;
}

static okra_status search_rows(okra_context *ctx, const okra_median_ *m, work *w)
{
    okra_status st = OKRA_OK;
    int workers = okra_workers_(ctx);
    okra_int most = m->longest, own;
    for (okra_int i = 0; i < m->y->n; i++) {
        okra_characters_(m->y, i, &own);
        most = OKRA_MAX_(most, own);
    }
    ZALLOC(w->workspaces, workers);
    for (int k = 0; k < workers; k++) {
        w->workspaces[k].m = m;
    }
    for (int k = 0; k < workers; k++) {
        TRY(desk_open(m, most, &w->workspaces[k]));
    }
    TRY(okra_parallel_(ctx, w->block->m, 1, "decode", some_rows, w));
done:
    for (int k = 0; w->workspaces && k < workers; k++) {
        desk_clear(&w->workspaces[k]);
    }
    okra_free_(w->workspaces);
    return st;
}

bool okra_kernel_is_edit_(const okra_kernel *kernel, double *sigma, double *scale)
{
    int root = kernel->count - 1;
    *scale = 1;
    while (kernel->nodes[root].kind == OKRA_NODE_SCALE_) {
        *scale *= kernel->nodes[root].scale;
        root = kernel->nodes[root].a;
    }
    const okra_node_ *node = &kernel->nodes[root];
    bool is = node->kind == OKRA_NODE_LEAF_ && node->leaf == &okra_edit_ &&
              node->component == 0 && *scale > 0;
    if (is) {
        *sigma = ((const okra_edit_params_ *)node->params)->sigma;
    }
    return is;
}

okra_status okra_median_block_(okra_context *ctx, const okra_median_ *m,
                               const okra_block_ *block, okra_int top,
                               okra_result_ *found)
{
    OWNED double *norm = NULL;
    work w = {.block = block, .top = top, .found = found};
    MAKE(norm, block->m);
    w.norm = norm;
    CHK(okra_starts_block_(ctx, m->starts, block, norm));
    return search_rows(ctx, m, &w);
}
