/*
 * checkpoint.c: what a fit of ridge keeps of itself in a file, to go on from after a
 * kill: the state of conjugate gradients, the moments of low rank, or the factor of K +
 * lambda I.
 *
 * The file is a sealed zip archive: a header of eight 64-bit numbers and arrays as they
 * lie in memory. It is replaced as a whole, so that a kill leaves the one before. The
 * header names the fit (checkpoint.c).
 *
 * Moments are summed in ROUNDS parts of the rows, each shared by all processes, and kept
 * after each, so that another number of processes can go on. The factor is kept when it
 * is whole, its lower triangle in panels of rows.
 */
#include "solve/moments.h"
#include "solve/ridge.h"
#include "data/files/archive.h"
#include "kernel/gram/trained_kernel.h"
#include "kernel/lowrank/lowrank.h"
#include "okra/more/group.h"

#include <unistd.h>

enum { HEAD = 8, ROUNDS = 16, ROUND_LEAST = 256 };

/* ---- the file ---- */

typedef struct state {
    const char *entry; /* which sort of state it is */
    uint64_t head[HEAD];
    int count;
    double *p[8];
    okra_int size[8];
} state;

static void array_name(char name[2], int i)
{
    name[0] = (char)('a' + i);
    name[1] = '\0';
}

/* By all processes, of which one writes. */
static okra_status save(okra_context *ctx, const char *path, const state *s)
{
    FREED_BY(okra_writer_drop_) okra_writer_ *file = NULL;
    FREED_BY(okra_zip_writer_drop_) okra_zip_writer_ *zip = NULL;
    char name[2];
    CHK(okra_writer_join_(ctx, path, &file));
    CHK(okra_zip_writer_create_(file, &zip));
    CHK(okra_zip_add_(zip, s->entry, s->head, sizeof s->head, NULL, 0, 0, 0, NULL));
    for (int i = 0; i < s->count; i++) {
        size_t bytes = (size_t)s->size[i] * 8;
        array_name(name, i);
        CHK(okra_zip_add_(zip, name, NULL, 0, s->p[i], 1, bytes, bytes, NULL));
    }
    CHK(okra_zip_finish_(zip));
    return okra_writer_commit_(TAKE(file));
}

static okra_status no_checkpoint(void)
{
    return okra_fail_(OKRA_EFORMAT, "it is no checkpoint of such a fit");
}

static okra_status entry(const okra_context *ctx, const okra_zip_ *zip, const char *name,
                         okra_int bytes, void *out)
{
    const unsigned char *found = NULL;
    okra_int size = 0, at = okra_zip_find_(zip, name);
    OWNED void *owned = NULL;
    if (at >= 0) {
        CHK(okra_zip_entry_(ctx, zip, at, &found, &size, &owned));
    }
    if (at < 0 || size != bytes) {
        return no_checkpoint();
    }
    if (bytes > 0) { /* out may be NULL */
        memcpy(out, found, (size_t)bytes);
    }
    return OKRA_OK;
}

/* The sealed file, whose header begins as `head` does (`same` numbers of it); *zip is
 * NULL where there is none. */
static okra_status open_state(const okra_context *ctx, const char *path, const char *sort,
                              int same, uint64_t head[HEAD], okra_zip_ **zip)
{
    uint64_t found[HEAD];
    bool there = false;
    CHK(okra_bytes_there_(path, &there));
    if (!there) {
        return OKRA_OK;
    }
    CHK(okra_zip_open_(ctx, path, zip));
    CHK(okra_zip_check_seal_(*zip));
    CHK(entry(ctx, *zip, sort, sizeof found, found));
    REFUSE_IF(memcmp(found, head, (size_t)same * sizeof *head) != 0, OKRA_EARG,
              "it is the checkpoint of another fit: other data or options, or conjugate "
              "gradients on another kind of processor; remove it, or name another file");
    memcpy(head, found, sizeof found);
    return OKRA_OK;
}

static void close_zip(okra_zip_ **zip)
{
    okra_zip_close_(*zip);
}

static okra_status told(const char *path, okra_status st)
{
    if (st == OKRA_EFORMAT || st == OKRA_EARG || st == OKRA_EUNSUPPORTED) {
        okra_message_prefix_("checkpoint %s", path);
    }
    return st;
}

/* `same`: how many numbers of s->head must be those of the file; the others are set. */
static okra_status load(const okra_context *ctx, const char *path, int same, state *s,
                        bool *found)
{
    okra_zip_ *zip = NULL;
    char name[2];
    okra_status st = open_state(ctx, path, s->entry, same, s->head, &zip);
    for (int i = 0; zip && st == OKRA_OK && i < s->count; i++) {
        array_name(name, i);
        st = entry(ctx, zip, name, s->size[i] * 8, s->p[i]);
    }
    *found = zip != NULL;
    okra_zip_close_(zip);
    return told(path, st);
}

/* ---- conjugate gradients ---- */

static state cg_state(const okra_cg_state_ *s, uint64_t problem)
{
    okra_int large = s->m * s->d;
    return (state){"okra-cg-1",
                   {problem, (uint64_t)s->m, (uint64_t)s->d, (uint64_t)s->steps},
                   6,
                   {s->X, s->R, s->P, s->rho, s->norm, s->mean},
                   {large, large, large, s->d, s->d, s->d}};
}

okra_status okra_cg_state_save_(okra_context *ctx, const okra_cg_state_ *s,
                                const char *path, uint64_t problem)
{
    state all = cg_state(s, problem);
    return save(ctx, path, &all);
}

okra_status okra_cg_state_load_(const okra_context *ctx, const char *path,
                                uint64_t problem, okra_cg_state_ *s, bool *found)
{
    state all = cg_state(s, problem);
    CHK(load(ctx, path, 3, &all, found));
    bool good = (okra_int)all.head[3] >= 0;
    for (int i = 0; *found && i < all.count; i++) {
        good = good && okra_finite_(all.p[i], 1, all.size[i], all.size[i]) == OKRA_OK;
    }
    if (*found && !good) {
        return told(path, no_checkpoint());
    }
    s->steps = *found ? (okra_int)all.head[3] : s->steps;
    return OKRA_OK;
}

/* ---- moments ---- */

enum { ROWS_DONE = 4, SOLVED = 5 }; /* of the header */

static state moments_state(okra_moments_ *t, uint64_t problem)
{
    okra_moments_sums_ all = okra_moments_list_(t);
    state s = {"okra-moments-1",
               {problem, (uint64_t)t->m, (uint64_t)t->d, (uint64_t)all.size[2]},
               OKRA_MOMENTS_SUMS_,
               {0},
               {0}};
    memcpy(s.p, all.p, sizeof all.p);
    memcpy(s.size, all.size, sizeof all.size);
    return s;
}

okra_status okra_moments_solved_(const okra_context *ctx, const okra_keep_ *keep,
                                 bool *solved)
{
    bool found = false;
    state s = {.entry = "okra-moments-1", .head = {keep->problem}};
    CHK(load(ctx, keep->path, 1, &s, &found));
    *solved = found && s.head[SOLVED] == 1;
    return OKRA_OK;
}

/* Rows that are done already, 0: there is no file, or one of the other sort. */
static okra_status load_moments(okra_context *ctx, const okra_keep_ *keep, bool solved,
                                okra_moments_ *t, okra_int *rows)
{
    bool found = false, other = false;
    state s = moments_state(t, keep->problem);
    CHK(okra_moments_solved_(ctx, keep, &other));
    *rows = 0;
    if (other == solved) {
        CHK(load(ctx, keep->path, 4, &s, &found));
    }
    if (found && (s.head[ROWS_DONE] > (uint64_t)t->n || s.head[SOLVED] != solved)) {
        return told(keep->path, no_checkpoint());
    }
    *rows = found ? (okra_int)s.head[ROWS_DONE] : 0;
    return okra_context_finish_together(ctx, OKRA_OK, NULL); /* all have read it */
}

/* The moments of some rows, added to those of the rows before. */
static okra_status add_round(okra_context *ctx, const okra_problem_ *p, okra_int begin,
                             okra_int end, bool solved, okra_moments_ *t)
{
    FREED_BY(okra_moments_clear_)
    okra_moments_ part = {
        .n = t->n, .m = t->m, .d = t->d, .total = t->total, .weights = t->weights};
    CHK(okra_moments_room_(ctx, t->D != NULL, &part));
    CHK(okra_moments_on_engine_(ctx, p)
            ? okra_moments_engine_(ctx, p, solved, &part)
            : okra_moments_rows_(ctx, p, begin, end, solved, &part));
    okra_moments_add_(1, &part, t);
    return OKRA_OK;
}

okra_status okra_moments_rounds_(okra_context *ctx, const okra_problem_ *p,
                                 const okra_keep_ *keep, bool solved, okra_moments_ *t)
{
    okra_int done = 0, step = OKRA_MAX_((p->n + ROUNDS - 1) / ROUNDS, ROUND_LEAST);
    CHK(load_moments(ctx, keep, solved, t, &done));
    if (done % step != 0 && done < p->n) {
        return told(keep->path, no_checkpoint());
    }
    if (okra_moments_on_engine_(ctx, p)) { /* it takes all rows at once, or none */
        step = p->n;
        done = done < p->n ? 0 : done;
    }
    if (done == 0) {
        okra_moments_add_(0, NULL, t);
    }
    for (; done < p->n; done = OKRA_MIN_(done + step, p->n)) {
        okra_int end = OKRA_MIN_(done + step, p->n);
        CHK(add_round(ctx, p, done, end, solved, t));
        state all = moments_state(t, keep->problem);
        all.head[ROWS_DONE] = (uint64_t)end;
        all.head[SOLVED] = solved;
        CHK(save(ctx, keep->path, &all));
    }
    return OKRA_OK;
}

/* ---- the factor ---- */

enum { PANEL = 1 << 23 }; /* doubles of a panel of rows, at most; one row at least */

static okra_int panel_rows(okra_int n)
{
    return OKRA_MIN_(n, OKRA_MAX_(1, PANEL / n));
}

static okra_status save_factor(const okra_ridge_ *r, uint64_t problem,
                               const okra_matrix_ *L, double jitter)
{
    okra_context *ctx = r->ctx;
    okra_int n = r->p->n, height = panel_rows(n);
    uint64_t head[HEAD] = {problem, (uint64_t)n, (uint64_t)height};
    FREED_BY(okra_writer_drop_) okra_writer_ *file = NULL;
    FREED_BY(okra_zip_writer_drop_) okra_zip_writer_ *zip = NULL;
    OWNED double *rows = NULL;
    char name[32];
    memcpy(&head[3], &jitter, sizeof jitter);
    CHK(okra_doubles_(ctx, height, n, "rows of the factor", &rows));
    CHK(okra_writer_join_(ctx, r->checkpoint, &file));
    CHK(okra_zip_writer_create_(file, &zip));
    CHK(okra_zip_add_(zip, "okra-factor-1", head, sizeof head, NULL, 0, 0, 0, NULL));
    for (okra_int i = 0; i < n; i += height) {
        okra_int some = OKRA_MIN_(height, n - i), width = i + some;
        CHK(okra_cancelled_(ctx));
        CHK(okra_matrix_get_(ctx, L, i, 0, okra_mat_of_(rows, some, width)));
        snprintf(name, sizeof name, "%lld", (long long)i);
        size_t bytes = (size_t)(some * width) * sizeof *rows;
        CHK(okra_zip_add_(zip, name, NULL, 0, rows, 1, bytes, bytes, NULL));
    }
    CHK(okra_zip_finish_(zip));
    return okra_writer_commit_(TAKE(file));
}

static okra_status load_panels(const okra_ridge_ *r, const okra_zip_ *zip,
                               okra_int height, okra_matrix_ *L)
{
    okra_context *ctx = r->ctx;
    okra_int n = r->p->n;
    OWNED double *rows = NULL;
    char name[32];
    CHK(okra_doubles_(ctx, height, n, "rows of the factor", &rows));
    for (okra_int i = 0; i < n; i += height) {
        okra_int some = OKRA_MIN_(height, n - i), width = i + some;
        CHK(okra_cancelled_(ctx));
        snprintf(name, sizeof name, "%lld", (long long)i);
        CHK(entry(ctx, zip, name, some * width * (okra_int)sizeof *rows, rows));
        bool good = okra_finite_(rows, some, width, width) == OKRA_OK;
        for (okra_int k = 0; k < some; k++) {
            good = good && rows[k * width + i + k] > 0;
        }
        if (!good) {
            return no_checkpoint();
        }
        CHK(okra_matrix_put_(ctx, okra_mat_of_(rows, some, width), i, 0, L));
    }
    return OKRA_OK;
}

/* *L stays NULL where there is no file. */
static okra_status load_factor(const okra_ridge_ *r, uint64_t problem, okra_matrix_ **L,
                               double *jitter)
{
    okra_int n = r->p->n;
    FREED_BY(okra_matrix_drop_) okra_matrix_ *made = NULL;
    FREED_BY(close_zip) okra_zip_ *zip = NULL;
    uint64_t head[HEAD] = {problem, (uint64_t)n};
    CHK(open_state(r->ctx, r->checkpoint, "okra-factor-1", 2, head, &zip));
    if (!zip) {
        return OKRA_OK;
    }
    CHK((okra_int)head[2] != panel_rows(n) ? no_checkpoint() : OKRA_OK);
    CHK(okra_matrix_create_(r->ctx, n, n, "the factor of the Gram matrix", &made));
    CHK(okra_matrix_fill_(r->ctx, 0, made));
    CHK(load_panels(r, zip, (okra_int)head[2], made));
    memcpy(jitter, &head[3], sizeof *jitter);
    CHK(!(*jitter >= 0) || !isfinite(*jitter) ? no_checkpoint() : OKRA_OK);
    *L = TAKE(made);
    return OKRA_OK;
}

okra_status okra_ridge_factor_kept_(const okra_ridge_ *r, okra_matrix_ **L,
                                    double *jitter)
{
    uint64_t problem = 0;
    CHK(okra_ridge_name_(r, &problem));
    CHK(told(r->checkpoint, load_factor(r, problem, L, jitter)));
    CHK(okra_context_finish_together(r->ctx, OKRA_OK, NULL)); /* all have read it */
    if (*L) {
        return OKRA_OK;
    }
    CHK(okra_ridge_factor_(r, L, jitter));
    if (isinf(*jitter)) {
        return OKRA_OK;
    }
    return save_factor(r, problem, *L, *jitter);
}

/* ---- the name of a fit, which a checkpoint begins with: a hash of all pairs, kernels
 * and options. Of rows that many processes share it is a sum over rows, the same for any
 * number of processes. ---- */

/* h += a sum over rows, the same for any share of them. */
static okra_status mix_rows(okra_context *ctx, const okra_data *data, uint64_t *h)
{
    enum { ROWS = 4096, LIMBS = 4, BITS = 16 };
    okra_int first = 0, count = 0;
    uint64_t sum = 0;
    okra_engine_share_(ctx, data->n, &first, &count);
    for (okra_int at = first; at < first + count; at += ROWS) {
        okra_int some = OKRA_MIN_(ROWS, first + count - at);
        FREED_BY(okra_data_drop_) okra_data *rows = NULL;
        if (data->pieces) {
            CHK(okra_stack_slice_(data, at, some, &rows));
        }
        for (okra_int i = 0; i < some; i++) {
            const double *row =
                rows ? rows->values + i * rows->ld : data->values + (at + i) * data->ld;
            okra_int place = at + i;
            sum += okra_mix_(okra_mix_(OKRA_MIX_START_, &place, sizeof place), row,
                             (size_t)data->d * sizeof *row);
        }
    }
    double limbs[LIMBS]; /* sums of 16 bits are exact */
    for (int k = 0; k < LIMBS; k++) {
        limbs[k] = (double)(sum >> (BITS * k) & 0xffff);
    }
    CHK(okra_engine_sum_(ctx, LIMBS, limbs));
    for (int k = 0; k < LIMBS; k++) {
        *h += (uint64_t)limbs[k] << (BITS * k);
    }
    return OKRA_OK;
}

static okra_status mix_data(okra_context *ctx, const okra_data *data, uint64_t *h)
{
    if (data->kind != OKRA_DENSE) {
        *h = okra_data_mix_(*h, data);
        return OKRA_OK;
    }
    okra_int head[] = {(okra_int)data->kind, data->n, data->d};
    *h = okra_mix_(*h, head, sizeof head);
    return mix_rows(ctx, data, h);
}

static uint64_t mix_text(uint64_t h, const char *text)
{
    return okra_mix_(h, text, strlen(text) + 1);
}

static uint64_t mix_sketch(uint64_t h, const okra_sketch_ *S)
{
    h = okra_mix_(h, S->value, (size_t)S->entries * sizeof *S->value);
    if (S->start) {
        h = okra_mix_(h, S->start, (size_t)(S->rows + 1) * sizeof *S->start);
        h = okra_mix_(h, S->column, (size_t)S->entries * sizeof *S->column);
    }
    return h;
}

/* The factor follows from the objects, but for its last bits. */
static uint64_t mix_map(uint64_t h, const okra_map_ *map)
{
    h = mix_text(h, okra_kernel_text(map->bound->kernel));
    h = okra_data_mix_(okra_mix_(h, &map->scale, sizeof map->scale), map->objects);
    return map->sketch ? mix_sketch(h, map->sketch) : h;
}

okra_status okra_ridge_name_(const okra_ridge_ *r, uint64_t *out)
{
    const okra_problem_ *p = r->p;
    okra_int sizes[] = {p->n, p->unlabelled, p->d, r->center, (okra_int)r->count};
    double numbers[] = {r->epsilon, r->lambda2};
    uint64_t h = okra_mix_(OKRA_MIX_START_, sizes, sizeof sizes);
    h = okra_mix_(h, numbers, sizeof numbers);
    h = okra_mix_(h, r->lambda, r->count * sizeof *r->lambda);
    h = mix_text(mix_text(h, r->operator_text), r->graph ? r->graph : "gram");
    h = p->map_x ? mix_map(h, p->map_x) : mix_text(h, okra_kernel_text(p->kx->kernel));
    h = p->map_y ? mix_map(h, p->map_y)
        : p->ky  ? mix_text(h, okra_kernel_text(p->ky->kernel))
                 : h;
    h = p->A ? okra_mix_(h, p->A, (size_t)(p->d * p->d) * sizeof *p->A) : h;
    CHK(mix_data(r->ctx, p->x, &h));
    CHK(mix_data(r->ctx, p->y, &h));
    h = p->weights ? okra_mix_(h, p->weights, (size_t)p->n * sizeof(double)) : h;
    *out = h;
    return OKRA_OK;
}
