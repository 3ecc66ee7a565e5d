/*
 * gram.c: the Gram matrix of an expression over vectors, computed on the device.
 *
 * Panels of rows. Of each, the values of the first leaf (inner products by cuBLAS, bits
 * in common, absolute differences) go to the panel itself, those of further leaves to the
 * arena; one kernel then runs the program over every entry (program.cu). Of a whole
 * symmetric matrix, a panel ends at its diagonal and its entries are written twice.
 *
 * Rows of operands are uploaded once however many leaves read them, and a leaf that
 * occurs twice is computed once. The Tanimoto coefficient of bits, new objects against
 * the training set, needs no second pass.
 */
#include "gpu.h"

#define SAME(mine, theirs) \
    _Static_assert((int)(mine) == (int)(theirs), "a code of engine/engine.h moved")
SAME(GPU_DOT_, OKRA_CODE_DOT_);
SAME(GPU_BITS_, OKRA_CODE_BITS_);
SAME(GPU_DISTANCE1_, OKRA_CODE_DISTANCE1_);
SAME(GPU_CONSTANT_, OKRA_CODE_CONSTANT_);
SAME(GPU_SUM_, OKRA_CODE_SUM_);
SAME(GPU_PRODUCT_, OKRA_CODE_PRODUCT_);
SAME(GPU_SCALE_, OKRA_CODE_SCALE_);
SAME(GPU_RBF_, OKRA_CODE_RBF_);
SAME(GPU_EXP_, OKRA_CODE_EXP_);
SAME(GPU_POLY_, OKRA_CODE_POLY_);
SAME(GPU_POWER_, OKRA_CODE_POWER_);
SAME(GPU_NORMALIZE_, OKRA_CODE_NORMALIZE_);
SAME(GPU_TANIMOTO_, OKRA_CODE_TANIMOTO_);
SAME(GPU_CENTER_, OKRA_CODE_CENTER_);
SAME(GPU_SERIES_, OKRA_CODE_SERIES_);

enum { PANEL_ROWS = 4096, LEAF_BYTES = 256 << 20, ITEM = 8 /* a double, a word */ };

/* A block of the host that leaves read, on the device without gaps. */
typedef struct operand_ {
    const void *from;
    okra_int rows, width, ld;
    void *at;
} operand_;

typedef struct leaf_ {
    okra_code_ code;
    int a, b;   /* operands */
    double *at; /* values of a panel; NULL: in the matrix */
} leaf_;

typedef struct job_ {
    gpu_ *g;
    okra_context *ctx;
    const okra_entries_ *entries;
    okra_int first, rows;
    gpu_body_ *A;
    bool half;
    gpu_each_ *each; /* not NULL: A is one panel, which is handed on */
    void *arg;
    bool at_once; /* the leaf's kernel does the whole program */
    int operands, leaves;
    operand_ operand[2 * GPU_STEPS_];
    leaf_ leaf[GPU_STEPS_];
    int leaf_of[GPU_STEPS_]; /* of a step that is a leaf */
    gpu_program_ program;
    okra_int height; /* rows of a panel */
    size_t bytes;    /* of the arena */
    char *at;
} job_;

static int operand_of(job_ *job, const void *from, okra_int rows, okra_int width,
                      okra_int ld)
{
    int k = 0;
    for (; k < job->operands; k++) {
        const operand_ *o = &job->operand[k];
        if (o->from == from && o->rows == rows && o->width == width && o->ld == ld) {
            return k;
        }
    }
    job->operand[k] = (operand_){from, rows, width, ld, NULL};
    job->operands++;
    job->bytes += gpu_round_((size_t)rows * (size_t)width * ITEM);
    return k;
}

static int leaf_of(job_ *job, const okra_step_ *s)
{
    int k = 0;
    const char *a = s->a;
    leaf_ leaf = {
        s->code,
        operand_of(job, a + job->first * s->a_ld * ITEM, job->rows, s->width, s->a_ld),
        operand_of(job, s->b, job->entries->cols, s->width, s->b_ld), NULL};
    for (; k < job->leaves; k++) {
        const leaf_ *l = &job->leaf[k];
        if (l->code == leaf.code && l->a == leaf.a && l->b == leaf.b) {
            return k;
        }
    }
    job->leaf[k] = leaf;
    job->leaves++;
    return k;
}

/* Can the device compute the entries? */
static bool runs(const okra_entries_ *entries)
{
    return entries->steps && entries->count <= GPU_STEPS_ && entries->depth <= GPU_DEPTH_;
}

static bool is_leaf(const okra_step_ *s)
{
    return s->code == OKRA_CODE_DOT_ || s->code == OKRA_CODE_BITS_ ||
           s->code == OKRA_CODE_DISTANCE1_;
}

/* What there is to upload and to compute, and the room it takes. */
static void plan(job_ *job)
{
    const okra_entries_ *entries = job->entries;
    size_t rows = gpu_round_((size_t)job->rows * sizeof(double));
    size_t cols = gpu_round_((size_t)entries->cols * sizeof(double));

    for (int k = 0; k < entries->count; k++) {
        const okra_step_ *s = &entries->steps[k];
        if (is_leaf(s)) {
            job->leaf_of[k] = leaf_of(job, s);
        }
        job->bytes += (s->u ? rows : 0) + (s->v ? cols : 0) + (s->self ? rows : 0);
        job->bytes += s->list ? gpu_round_((size_t)s->count * sizeof(double)) : 0;
    }
    job->height = OKRA_MIN_(job->rows, PANEL_ROWS);
    job->at_once = entries->count == 2 && !entries->symmetric && job->leaves == 1 &&
                   job->leaf[0].code == OKRA_CODE_BITS_ &&
                   entries->steps[1].code == OKRA_CODE_TANIMOTO_ &&
                   entries->steps[0].width;
    if (job->leaves > 1) {
        okra_int fit = LEAF_BYTES / (entries->cols * (okra_int)sizeof(double));
        job->height = OKRA_MIN_(job->height, OKRA_MAX_(fit, 32));
        job->bytes += (size_t)(job->leaves - 1) *
                      gpu_round_((size_t)job->height * (size_t)entries->cols * ITEM);
    }
}

static okra_status upload_operands(job_ *job)
{
    okra_status st = OKRA_OK;
    for (int k = 0; k < job->operands; k++) {
        operand_ *o = &job->operand[k];
        size_t row = (size_t)o->width * ITEM;
        o->at = job->at;
        job->at += gpu_round_((size_t)o->rows * row);
        if (o->width > 0) {
            TRY(gpu_upload_(job->g, job->ctx, o->from, (size_t)o->ld * ITEM, row, o->rows,
                            o->at, row));
        }
    }
    for (int k = 1; k < job->leaves; k++) {
        job->leaf[k].at = (double *)(void *)job->at;
        job->at += gpu_round_((size_t)job->height * (size_t)job->entries->cols * ITEM);
    }
done:
    return st;
}

/* The steps with their vectors on the device, those of rows from `first` on. */
static okra_status upload_steps(job_ *job)
{
    okra_status st = OKRA_OK;
    const okra_entries_ *entries = job->entries;

    for (int k = 0; k < entries->count; k++) {
        const okra_step_ *s = &entries->steps[k];
        gpu_step_ *d = &job->program.steps[k];
        const double *self = entries->symmetric ? s->self : NULL;
        *d = (gpu_step_){.code = (int)s->code,
                         .p = s->p,
                         .q = s->q,
                         .degree = s->degree,
                         .count = s->count};
        TRY(gpu_vector_(job->g, job->ctx, s->u ? s->u + job->first : NULL, job->rows,
                        &job->at, &d->u));
        TRY(gpu_vector_(job->g, job->ctx, s->v, entries->cols, &job->at, &d->v));
        TRY(gpu_vector_(job->g, job->ctx, self ? self + job->first : NULL, job->rows,
                        &job->at, &d->self));
        TRY(gpu_vector_(job->g, job->ctx, s->list, s->count, &job->at, &d->list));
        d->leaf = is_leaf(s) ? job->leaf[job->leaf_of[k]].at : NULL;
    }
    job->program.count = entries->count;
done:
    return st;
}

/* Where row r begins that is made next. */
static double *place(const job_ *job, okra_int r)
{
    return job->A->p + (job->each ? 0 : r * job->A->ld);
}

/* Values of one leaf: rows r.. of the panel, columns 0..cols-1. */
static okra_status run_leaf(const job_ *job, const leaf_ *leaf, okra_int r, okra_int rows,
                            okra_int cols)
{
    okra_status st = OKRA_OK;
    const gpu_ *g = job->g;
    const operand_ *a = &job->operand[leaf->a], *b = &job->operand[leaf->b];
    okra_int width = a->width;
    double *out = leaf->at ? leaf->at : place(job, r), one = 1, zero = 0;
    okra_int ld = leaf->at ? job->entries->cols : job->A->ld;
    const double *x = (const double *)a->at + r * width, *y = b->at;

    if (width == 0) {
        GPU_TRY(gpu_run_fill_(g->stream, rows, cols, 0, out, ld), "an empty leaf");
    } else if (leaf->code == OKRA_CODE_DOT_) {
        /* out = x y' is out' = y x' of theirs. */
        BLAS_TRY(cublasDgemm_64(g->blas, CUBLAS_OP_T, CUBLAS_OP_N, cols, rows, width,
                                &one, y, width, x, width, &zero, out, ld),
                 "inner products");
    } else if (leaf->code == OKRA_CODE_BITS_) {
        const gpu_step_ *last = &job->program.steps[1];
        GPU_TRY(gpu_run_bits_(g->stream, rows, cols, width,
                              (const uint64_t *)a->at + r * width, width, b->at, width,
                              job->at_once ? last->u + r : NULL,
                              job->at_once ? last->v : NULL, out, ld),
                "bits in common");
    } else {
        GPU_TRY(
            gpu_run_distance1_(g->stream, rows, cols, width, x, width, y, width, out, ld),
            "absolute differences");
    }
done:
    return st;
}

/* The vectors of the steps of the panel that begins at row r. */
static gpu_program_ program_at(const job_ *job, okra_int r)
{
    gpu_program_ P = job->program;
    for (int k = 0; k < P.count; k++) {
        P.steps[k].u = P.steps[k].u ? P.steps[k].u + r : NULL;
        P.steps[k].self = P.steps[k].self ? P.steps[k].self + r : NULL;
    }
    return P;
}

static okra_status run(job_ *job)
{
    okra_status st = OKRA_OK;
    gpu_ *g = job->g;
    void *arena = NULL;

    TRY(gpu_arena_(g, job->ctx, job->bytes, "the vectors of a Gram matrix",
                   "a low rank (--low-rank-x) needs less", &arena));
    job->at = arena;
    TRY(upload_operands(job));
    TRY(upload_steps(job));
    for (okra_int r = 0; r < job->rows; r += job->height) {
        okra_int now = OKRA_MIN_(job->height, job->rows - r);
        okra_int cols = job->half ? r + now : job->entries->cols;
        gpu_program_ P = program_at(job, r);
        gpu_panel_ panel = {.rows = now,
                            .cols = cols,
                            .first = job->first + r,
                            .diagonal = job->entries->symmetric,
                            .mirror = job->half && !job->each,
                            .p = place(job, r),
                            .ld = job->A->ld,
                            .leaf_ld = job->entries->cols};
        for (int k = 0; k < job->leaves; k++) {
            TRY(run_leaf(job, &job->leaf[k], r, now, cols));
        }
        if (!job->at_once) {
            GPU_TRY(gpu_run_program_(g->stream, &P, &panel),
                    "the entries of a Gram matrix");
        }
        if (job->each) {
            TRY(job->each(job->arg, job->A, job->first + r, now, cols, job->half));
        }
        TRY(g->host->cancelled(job->ctx));
    }
done:
    return st;
}

okra_status gpu_panels_(gpu_ *g, okra_context *ctx, const okra_entries_ *entries,
                        gpu_body_ *P, gpu_each_ *each, void *arg)
{
    okra_status st = OKRA_OK;
    okra_int n = entries->rows;
    job_ *job = g->host->alloc(1, sizeof *job);
    if (!job) {
        return OKRA_EMEM;
    }
    TRY(gpu_use_(g));
    *job = (job_){.g = g,
                  .ctx = ctx,
                  .entries = entries,
                  .rows = n,
                  .A = P,
                  .half = entries->symmetric,
                  .each = each,
                  .arg = arg};
    if (runs(entries)) {
        plan(job);
        job->height = OKRA_MIN_(job->height, P->rows);
        TRY(run(job));
        goto done;
    }
    for (okra_int r = 0; r < n; r += P->rows) {
        okra_int now = OKRA_MIN_(P->rows, n - r);
        TRY(gpu_tiles_(g, ctx, entries, r, now, P));
        TRY(each(arg, P, r, now, n, false));
        TRY(g->host->cancelled(ctx));
    }
done:
    g->host->free(job);
    return st;
}

okra_status gpu_gram_(void *e, okra_context *ctx, const okra_entries_ *entries,
                      okra_int first, okra_int rows, void *A)
{
    okra_status st = OKRA_OK;
    gpu_ *g = e;
    job_ *job = NULL;
    size_t room = 0;
    bool program = runs(entries);

    TRY(gpu_use_(g));
    if (program) {
        job = g->host->alloc(1, sizeof *job);
        if (!job) {
            st = OKRA_EMEM;
            goto done;
        }
        *job = (job_){.g = g,
                      .ctx = ctx,
                      .entries = entries,
                      .first = first,
                      .rows = rows,
                      .A = A,
                      .half = entries->symmetric && first == 0 && rows == entries->cols};
        plan(job);
        TRY(gpu_room_(g, ctx, &room));
        program = job->bytes <= room;
    }
    /* Where the vectors do not fit beside the matrix, the host's tiles do. */
    TRY(program ? run(job) : gpu_tiles_(g, ctx, entries, first, rows, A));
done:
    g->host->free(job);
    return st;
}
