/*
 * mirror.c: the other half of a symmetric matrix, from the half that is there.
 *
 * Block (I, J) goes, transposed, to the rank that has block (J, I). That is done in
 * rounds of some columns of blocks, so that what is under way stays small beside the
 * matrix.
 *
 * Which of the two is there: the one of the lower or of the upper triangle or, of a Gram
 * matrix, the one whose rank has less to compute so far (ranks_deal_). Of a triangle the
 * first columns have most.
 */
#include "ranks.h"

#include <string.h>

static int owner(const ranks_ *g, okra_int i, okra_int j)
{
    return (int)(j % g->pr) * g->pc + (int)(i % g->pc);
}

static okra_int side_of(const ranks_ *g, okra_int n, okra_int i)
{
    return OKRA_MIN_(g->block, n - i * g->block);
}

bool ranks_has_half_(const ranks_half_ *half, okra_int i, okra_int j)
{
    return half->table ? half->table[i * half->blocks + j] != 0
           : half->up  ? i <= j
                       : i >= j;
}

/* First what only one rank can compute, then the others. */
okra_status ranks_deal_(const ranks_ *g, okra_int n, ranks_half_ *half)
{
    okra_int blocks = (n + g->block - 1) / g->block;
    double *load = g->host->alloc(g->ranks, sizeof *load);
    half->blocks = blocks;
    half->table = g->host->alloc(blocks * blocks, 1);
    for (int r = 0; load && r < g->ranks; r++) {
        load[r] = 0;
    }
    for (int pass = 0; load && half->table && pass < 2; pass++) {
        for (okra_int i = 0; i < blocks; i++) {
            for (okra_int j = 0; j <= i; j++) {
                int below = owner(g, i, j), above = owner(g, j, i);
                if ((below == above) != (pass == 0)) {
                    continue;
                }
                bool lower = load[below] <= load[above];
                half->table[i * blocks + j] = lower;
                half->table[j * blocks + i] = i == j || !lower;
                load[lower ? below : above] +=
                    (double)(side_of(g, n, i) * side_of(g, n, j));
            }
        }
    }
    bool good = load && half->table;
    g->host->free(load);
    return good ? OKRA_OK : OKRA_EMEM;
}

typedef struct exchange_ {
    const ranks_ *g;
    const ranks_half_ *half;
    ranks_body_ *A;
    okra_int blocks, first, end; /* of a round: columns of blocks first.. below end */
    int *send, *receive;         /* how many doubles to each rank, and from each     */
    int *put, *take;             /* where they begin                                 */
    double *out, *in;
} exchange_;

static okra_int side(const exchange_ *x, okra_int i)
{
    return side_of(x->g, x->A->rows, i);
}

static double *place(const exchange_ *x, okra_int i, okra_int j)
{
    const ranks_ *g = x->g;
    return x->A->p + i / g->pc * g->block * x->A->lm + j / g->pr * g->block;
}

void ranks_transpose_(const double *from, okra_int ld, okra_int rows, okra_int cols,
                      double *to, okra_int ld_to)
{
    enum { PART = 8 };
    for (okra_int i = 0; i < rows; i += PART) {
        for (okra_int j = 0; j < cols; j += PART) {
            for (okra_int b = j; b < OKRA_MIN_(j + PART, cols); b++) {
                for (okra_int a = i; a < OKRA_MIN_(i + PART, rows); a++) {
                    to[b * ld_to + a] = from[a * ld + b];
                }
            }
        }
    }
}

/* The triangle of a diagonal block that is there, onto the other. Of a Gram matrix all of
 * the block is there. */
static void mirror_diagonal(const exchange_ *x, okra_int k)
{
    okra_int n = side(x, k), lm = x->A->lm;
    double *p = place(x, k, k);
    for (okra_int r = 0; !x->half->table && r < n; r++) {
        for (okra_int c = 0; c < r; c++) {
            double *below = p + r * lm + c, *above = p + c * lm + r;
            *(x->half->up ? below : above) = *(x->half->up ? above : below);
        }
    }
}

typedef enum step { COUNT, PACK, UNPACK } step;

/* Block (i, j), which is there, in one step of a round. */
static void carry(exchange_ *x, step now, okra_int i, okra_int j)
{
    const ranks_ *g = x->g;
    okra_int rows = side(x, i), cols = side(x, j), lm = x->A->lm;
    int from = owner(g, i, j), to = owner(g, j, i);
    if (from == to) {
        if (now == PACK && from == g->rank) {
            ranks_transpose_(place(x, i, j), lm, rows, cols, place(x, j, i), lm);
        }
    } else if (now == COUNT) {
        x->send[to] += from == g->rank ? (int)(rows * cols) : 0;
        x->receive[from] += to == g->rank ? (int)(rows * cols) : 0;
    } else if (now == PACK && from == g->rank) {
        ranks_transpose_(place(x, i, j), lm, rows, cols, x->out + x->put[to], rows);
        x->put[to] += (int)(rows * cols);
    } else if (now == UNPACK && to == g->rank) {
        const double *at = x->in + x->take[from];
        for (okra_int c = 0; c < cols; c++) {
            memcpy(place(x, j, i) + c * lm, at + c * rows, (size_t)rows * sizeof *at);
        }
        x->take[from] += (int)(rows * cols);
    }
}

static void walk(exchange_ *x, step now)
{
    for (okra_int j = x->first; j < x->end; j++) {
        for (okra_int i = 0; i < x->blocks; i++) {
            if (i != j && ranks_has_half_(x->half, i, j)) {
                carry(x, now, i, j);
            } else if (i == j && now == PACK && owner(x->g, i, i) == x->g->rank) {
                mirror_diagonal(x, i);
            }
        }
    }
}

static void places(const exchange_ *x)
{
    for (int r = 0, out = 0, in = 0; r < x->g->ranks; r++) {
        x->put[r] = out;
        x->take[r] = in;
        out += x->send[r];
        in += x->receive[r];
    }
}

static void round_of(exchange_ *x)
{
    memset(x->send, 0, (size_t)x->g->ranks * sizeof *x->send);
    memset(x->receive, 0, (size_t)x->g->ranks * sizeof *x->receive);
    walk(x, COUNT);
    places(x);
    walk(x, PACK);
    places(x);
    if (x->g->ranks > 1) {
        MPI_Alltoallv(x->out, x->send, x->put, MPI_DOUBLE, x->in, x->receive, x->take,
                      MPI_DOUBLE, x->g->comm);
    }
    walk(x, UNPACK);
}

okra_status ranks_mirror_(ranks_ *g, const ranks_half_ *half, ranks_body_ *A)
{
    enum { CHUNK = 1 << 19 }; /* doubles that a rank may send in a round, about */
    okra_status st = OKRA_OK;
    okra_int blocks = (A->rows + g->block - 1) / g->block;
    okra_int longest = ranks_count_(g, A->rows, 0, g->pc); /* the same on all ranks */
    okra_int width = OKRA_MAX_(1, CHUNK / (longest * g->block)) * g->pr;
    okra_int sent = width / g->pr * g->block * A->ln;
    okra_int received = (width + g->pc - 1) / g->pc * g->block * A->lm;
    exchange_ x = {.g = g, .half = half, .A = A, .blocks = blocks};
    int *counts = g->host->alloc((okra_int)4 * g->ranks, sizeof *counts);
    x.out = g->host->alloc(OKRA_MIN_(sent, A->lm * A->ln) + 1, sizeof *x.out);
    x.in = g->host->alloc(OKRA_MIN_(received, A->lm * A->ln) + 1, sizeof *x.in);
    st = counts && x.out && x.in ? OKRA_OK : OKRA_EMEM;
    TRY(ranks_agree_(g, st, "mirror", (uint64_t)A->rows, half->up));
    x.send = counts;
    x.receive = counts + g->ranks;
    x.put = counts + 2 * g->ranks;
    x.take = counts + 3 * g->ranks;
    for (x.first = 0; x.first < blocks; x.first = x.end) {
        x.end = OKRA_MIN_(x.first + width, blocks);
        round_of(&x);
    }
done:
    g->host->free(counts);
    g->host->free(x.out);
    g->host->free(x.in);
    return st;
}
