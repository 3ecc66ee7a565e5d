/*
 * alignment.c: proteins by their local alignments (Saigo et al. 2004), compared through
 * anchors.
 *
 *   K(x, y)  = sum over all local alignments of exp(beta score),  1 of the empty one,
 *   score    = substitutions S(a, b), less `open` for the first letter of each gap and
 *              `extend` for each more
 *   phi_t(x) = log K(x, t) / sqrt(log K(x, x) log K(t, t)),   t: at most `anchors`
 *              different training strings, spread evenly
 *   k(x, y)  = sum_t phi_t(x) phi_t(y) / (number of anchors)
 *
 * K is positive definite, since exp(beta S) is: both matrices S are conditionally
 * positive definite. But even normalised K(x, y) is 0 for practical purposes unless x =
 * y, the numbers of two alignments differing by hundreds of powers of e. Its logarithm is
 * what alignment scores are, and positive definite no longer; inner products of
 * logarithms are, whatever the strings. A letter that is none of the 20 counts as the
 * mean of all.
 *
 * With E = exp(beta S), D = exp(-beta open), G = exp(-beta extend):
 *   M(i,j) = E(x_i, y_j) T(i-1,j-1)       T = 1 + M + X + Y    K = 1 + sum_ij M(i,j)
 *   X(i,j) = D M(i-1,j) + G X(i-1,j)      Y(i,j) = D (M + X)(i,j-1) + G Y(i,j-1)
 * Sixteen strings y at a time, in strips of STRIP columns. Numbers of a row of a strip
 * share a power of 2^64, one for each string, which moves with them; what is e^125 times
 * smaller than what stands beside it in the strip is lost.
 *
 * Cost: |x||y| steps for each string and anchor. Accuracy: single precision, all terms
 * positive: log K to about (|x| + |y|) 1e-7 at worst; phi measured within 2e-8.
 */
#include "data/strings.h"
#include "core/simd.h"
#include "kernel/gram/trained_kernel.h"
#include "kernel/strings/string_kernels.h"

enum { LETTERS = 20, ANY = LETTERS, PAD, CODES, WIDE = 16, STRIP = 16, UNIT = 64 };

typedef float wide __attribute__((vector_size(WIDE * sizeof(float))));

/* ---- matrices ---- */

static const char letters[] = "ARNDCQEGHILKMFPSTWYV";

/* clang-format off */
/* Lower triangles. Henikoff and Henikoff 1992: at least 62 % or 50 % alike; in halves and
 * thirds of a bit. */
static const signed char matrices[2][LETTERS * (LETTERS + 1) / 2] = {{
    4,-1,5,-2,0,6,-2,-2,1,6,0,-3,-3,-3,9,-1,1,0,0,-3,5,-1,0,0,2,-4,2,5,0,-2,0,-1,-3,-2,
    -2,6,-2,0,1,-1,-3,0,0,-2,8,-1,-3,-3,-3,-1,-3,-3,-4,-3,4,-1,-2,-3,-4,-1,-2,-3,-4,-3,
    2,4,-1,2,0,-1,-3,1,1,-2,-1,-3,-2,5,-1,-1,-2,-3,-1,0,-2,-3,-2,1,2,-1,5,-2,-3,-3,-3,
    -2,-3,-3,-3,-1,0,0,-3,0,6,-1,-2,-2,-1,-3,-1,-1,-2,-2,-3,-3,-1,-2,-4,7,1,-1,1,0,-1,0,
    0,0,-1,-2,-2,0,-1,-2,-1,4,0,-1,0,-1,-1,-1,-1,-2,-2,-1,-1,-1,-1,-2,-1,1,5,-3,-3,-4,
    -4,-2,-2,-3,-2,-2,-3,-2,-3,-1,1,-4,-3,-2,11,-2,-2,-2,-3,-2,-1,-2,-3,2,-1,-1,-2,-1,3,
    -3,-2,-2,2,7,0,-3,-3,-3,-1,-2,-2,-3,-3,3,1,-2,1,-1,-2,-2,0,-3,-1,4,
    }, {
    5,-2,7,-1,-1,7,-2,-2,2,8,-1,-4,-2,-4,13,-1,1,0,0,-3,7,-1,0,0,2,-3,2,6,0,-3,0,-1,-3,
    -2,-3,8,-2,0,1,-1,-3,1,0,-2,10,-1,-4,-3,-4,-2,-3,-4,-4,-4,5,-2,-3,-4,-4,-2,-2,-3,-4,
    -3,2,5,-1,3,0,-1,-3,2,1,-2,0,-3,-3,6,-1,-2,-2,-4,-2,0,-2,-3,-1,2,3,-2,7,-3,-3,-4,-5,
    -2,-4,-3,-4,-1,0,1,-4,0,8,-1,-3,-2,-1,-4,-1,-1,-2,-2,-3,-4,-1,-3,-4,10,1,-1,1,0,-1,
    0,-1,0,-1,-3,-3,0,-2,-3,-1,5,0,-1,0,-1,-1,-1,-1,-2,-2,-1,-1,-1,-1,-2,-1,2,5,-3,-3,
    -4,-5,-5,-1,-3,-3,-3,-3,-2,-3,-1,1,-4,-4,-3,15,-2,-1,-2,-3,-3,-1,-2,-3,2,-1,-1,-2,0,
    4,-3,-2,-2,2,8,0,-3,-3,-4,-1,-3,-3,-4,-4,4,1,-3,1,-1,-3,-2,0,-3,-1,5,
    }};
/* clang-format on */

typedef struct params {
    int matrix;
    double beta, open, extend;
    okra_int anchors;
} params;

/* exp(beta S); ANY: means over the letters, so that E stays positive definite. */
static void exponentiate(const params *p, float E[CODES][CODES])
{
    double sums[CODES] = {0}, all = 0;
    memset(E, 0, sizeof(float[CODES][CODES]));
    for (int a = 0; a < LETTERS; a++) {
        for (int b = 0; b < LETTERS; b++) {
            int i = OKRA_MAX_(a, b), at = i * (i + 1) / 2 + OKRA_MIN_(a, b);
            double v = exp(p->beta * matrices[p->matrix][at]);
            E[a][b] = (float)v;
            sums[a] += v / LETTERS;
        }
        all += sums[a] / LETTERS;
    }
    for (int a = 0; a < LETTERS; a++) {
        E[a][ANY] = E[ANY][a] = (float)sums[a];
    }
    E[ANY][ANY] = (float)all;
}

static unsigned char code_of(int32_t letter)
{
    int32_t upper = letter >= 'a' && letter <= 'z' ? letter - 'a' + 'A' : letter;
    const char *at =
        upper >= 'A' && upper <= 'Z' ? memchr(letters, (int)upper, LETTERS) : NULL;
    return at ? (unsigned char)(at - letters) : ANY;
}

/* ---- sixteen sums at a time ---- */

/* A number as m 2^(UNIT e), in each lane. */
typedef struct totals {
    double m[WIDE];
    int32_t e[WIDE];
} totals;

typedef struct strip {
    const float (*E)[CODES];
    float D, G;
    okra_int m;             /* rows                                                */
    const unsigned char *s; /* m x (1 or WIDE) codes                               */
    bool own;               /* each lane has an s of its own                       */
    const unsigned char *t; /* STRIP x WIDE codes                                  */
    wide *T, *H;            /* m + 1: T and next Y of the column before, row i at i+1 */
    int32_t (*e)[WIDE];     /* m + 1: their powers                                 */
    totals *sum;
} strip;

/* total += sum 2^(UNIT e); sum = 0. */
static void flush(totals *total, wide *sum, const int32_t *e, int l)
{
    double v = (double)(*sum)[l];
    (*sum)[l] = 0;
    if (e[l] > total->e[l]) {
        total->m[l] = ldexp(total->m[l], UNIT * (total->e[l] - e[l]));
        total->e[l] = e[l];
    }
    total->m[l] += ldexp(v, UNIT * (e[l] - total->e[l]));
}

/* The numbers of a strip, all times 2^(UNIT e). */
typedef struct state {
    wide T[STRIP], V[STRIP], one, sum; /* V: the next X */
    int32_t e[WIDE];
} state;

static void set_power(state *z, totals *total, int l, int32_t e)
{
    float factor = ldexpf(1, UNIT * (z->e[l] - e));
    flush(total, &z->sum, z->e, l);
    for (int j = 0; j < STRIP; j++) {
        z->T[j][l] *= factor;
        z->V[j][l] *= factor;
    }
    z->one[l] = ldexpf(1, -UNIT * e);
    z->e[l] = e;
}

/* What comes from the column before, in the power of the strip, which rises to it. */
static void agree(state *z, totals *total, const int32_t *corner_e, const int32_t *h_e,
                  wide *corner, wide *h)
{
    for (int l = 0; l < WIDE; l++) {
        int32_t most = OKRA_MAX_(corner_e[l], h_e[l]);
        if (most > z->e[l]) {
            set_power(z, total, l, most);
        }
        (*corner)[l] = ldexpf((*corner)[l], UNIT * (corner_e[l] - z->e[l]));
        (*h)[l] = ldexpf((*h)[l], UNIT * (h_e[l] - z->e[l]));
    }
}

/* Powers follow the numbers up and down. */
static void follow(state *z, totals *total, const wide *peak)
{
    for (int l = 0; l < WIDE; l++) {
        if ((*peak)[l] > 0x1p90f) {
            set_power(z, total, l, z->e[l] + 1);
        } else if (z->e[l] > 0 && (*peak)[l] < 0x1p20f) {
            set_power(z, total, l, z->e[l] - 1);
        }
    }
}

static inline OKRA_INLINE_ void body(const strip *p, bool fused)
{
    wide rows[CODES][STRIP], mixed[STRIP];
    state z = {.one = (wide){0} + 1};
    int32_t corner_e[WIDE], here_e[WIDE];
    for (int j = 0; j < STRIP; j++) {
        for (int l = 0; l < WIDE; l++) {
            for (int a = 0; a < CODES; a++) {
                rows[a][j][l] = p->E[a][p->t[j * WIDE + l]];
            }
        }
        z.T[j] = z.one;
        z.V[j] = (wide){0};
    }
    wide corner = p->T[0];
    memcpy(corner_e, p->e[0], sizeof corner_e);
    for (okra_int i = 0; i < p->m; i++) {
        const wide *E = p->own ? mixed : rows[p->s[i]];
        wide h = p->H[i + 1], next = p->T[i + 1], peak = {0};
        for (int j = 0; p->own && j < STRIP; j++) {
            for (int l = 0; l < WIDE; l++) {
                mixed[j][l] = rows[p->s[i * WIDE + l]][j][l];
            }
        }
        memcpy(here_e, p->e[i + 1], sizeof here_e);
        if (memcmp(corner_e, z.e, sizeof z.e) != 0 ||
            memcmp(here_e, z.e, sizeof z.e) != 0) {
            agree(&z, p->sum, corner_e, here_e, &corner, &h);
        }
        wide diagonal = corner, sum = {0};
        for (int j = 0; j < STRIP; j++) {
            wide m = E[j] * diagonal, x = z.V[j], mx = m + x;
            diagonal = z.T[j];
            sum += m;
            z.T[j] = z.one + (mx + h);
            peak += z.T[j];
            z.V[j] = p->D * m + p->G * x;
            h = p->D * mx + p->G * h;
        }
        z.sum += sum;
        p->T[i + 1] = z.T[STRIP - 1];
        p->H[i + 1] = h;
        memcpy(p->e[i + 1], z.e, sizeof z.e);
        corner = next;
        memcpy(corner_e, here_e, sizeof corner_e);
        for (int l = 0; l < WIDE; l++) {
            if (peak[l] > 0x1p90f || (z.e[l] > 0 && peak[l] < 0x1p20f)) {
                follow(&z, p->sum, &peak);
                break;
            }
        }
    }
    for (int l = 0; l < WIDE; l++) {
        flush(p->sum, &z.sum, z.e, l);
    }
}
OKRA_VARIANTS_(run_strip, body, (const strip *p), (p))

/* ---- collections ---- */

/* The different strings of a collection, in order of length. */
typedef struct strings {
    okra_int count;
    okra_int *first; /* count: an object that is it */
    okra_int *of;    /* n: the first object that is the same, */
    okra_int *place; /* and where such a one is in `first` */
} strings;

OKRA_CLEARS_(clear_strings, strings, it->first, it->of, it->place)

static okra_status find_strings(const okra_data *data, strings *out)
{
    MAKE(out->first, data->n);
    MAKE(out->of, data->n);
    MAKE(out->place, data->n);
    CHK(okra_data_same_(&data, 1, out->of));
    for (okra_int i = 0; i < data->n; i++) {
        out->first[out->count] = i;
        out->count += out->of[i] == i;
    }
    CHK(okra_order_by_length_(data, out->count, out->first));
    for (okra_int k = 0; k < out->count; k++) {
        out->place[out->first[k]] = k;
    }
    return OKRA_OK;
}

/* ---- training ---- */

typedef struct shared {
    float E[CODES][CODES], D, G;
    okra_int count;      /* anchors */
    okra_int *start;     /* count + 1 */
    unsigned char *code; /* of all anchors, one after the other */
    double *self;        /* log K(t, t) */
} shared;

OKRA_FREES_(forget, shared, it->start, it->code, it->self)
OKRA_DROPS_(drop_shared, shared, forget)

/* ---- logarithms of sums ---- */

typedef struct room {
    unsigned char *t, *s; /* WIDE codes a place */
    wide *T, *H;
    int32_t (*e)[WIDE];
} room;

OKRA_CLEARS_(clear_room, room, it->t, it->s, it->T, it->H, it->e)

/* log K of sixteen strings, `n` places of codes t, each with s. */
static void align(const shared *sh, room *r, okra_int m, const unsigned char *s, bool own,
                  okra_int n, double *out)
{
    totals sum = {{0}, {0}};
    strip p = {.E = sh->E, .D = sh->D, .G = sh->G, .m = m, .s = s, .own = own};
    for (okra_int i = 0; i <= m; i++) {
        r->T[i] = (wide){0} + 1;
        r->H[i] = (wide){0};
    }
    memset(r->e, 0, (size_t)(m + 1) * sizeof *r->e);
    p.T = r->T, p.H = r->H, p.e = r->e, p.sum = &sum;
    for (int l = 0; l < WIDE; l++) {
        sum.m[l] = 1;
    }
    for (okra_int j = 0; j < n; j += STRIP) {
        p.t = r->t + j * WIDE;
        run_strip(&p);
    }
    for (int l = 0; l < WIDE; l++) {
        out[l] = log(sum.m[l]) + UNIT * log(2) * sum.e[l];
    }
}

/* Features of the strings of a collection: log K with every anchor, and with itself. */
typedef struct features {
    okra_context *ctx;
    const shared *sh;
    const okra_data *data;
    const strings *strings;
    double *self, *Z; /* count; count x anchors, or NULL */
} features;

static okra_status fill_sixteen(void *arg, okra_int begin, okra_int end, int worker)
{
    const features *f = arg;
    const shared *sh = f->sh;
    FREED_BY(clear_room) room r = {0};
    okra_int n = 0, most = 0, first = begin * WIDE;
    okra_int count = OKRA_MIN_(f->strings->count - first, WIDE);
    double out[WIDE];
    okra_characters_(f->data, f->strings->first[first + count - 1], &n);
    okra_int places = (n + STRIP - 1) / STRIP * STRIP;
    for (okra_int t = 0; f->Z && t < sh->count; t++) {
        most = OKRA_MAX_(most, sh->start[t + 1] - sh->start[t]);
    }
    most = OKRA_MAX_(most, n) + 1;
    CHK(okra_budget_ask_(f->ctx, (double)(2 * most) * WIDE * 7, "aligning strings"));
    MAKE(r.t, places * WIDE);
    MAKE(r.T, most);
    MAKE(r.H, most);
    MAKE(r.e, most);
    memset(r.t, PAD, (size_t)(places * WIDE));
    for (int l = 0; l < count; l++) {
        okra_int length;
        const int32_t *code =
            okra_characters_(f->data, f->strings->first[first + l], &length);
        for (okra_int j = 0; j < length; j++) {
            r.t[j * WIDE + l] = code_of(code[j]);
        }
    }
    align(sh, &r, n, r.t, true, n, out);
    for (int l = 0; l < count; l++) {
        f->self[first + l] = out[l];
    }
    for (okra_int t = 0; f->Z && t < sh->count; t++) {
        align(sh, &r, sh->start[t + 1] - sh->start[t], sh->code + sh->start[t], false, n,
              out);
        for (int l = 0; l < count; l++) {
            double scale = sqrt(f->self[first + l] * sh->self[t] * (double)sh->count);
            f->Z[(first + l) * sh->count + t] = scale > 0 ? out[l] / scale : 0;
        }
    }
    return OKRA_OK;
}

static okra_status find_features(features *f)
{
    return okra_parallel_(f->ctx, (f->strings->count + WIDE - 1) / WIDE, 1,
                          f->Z ? "alignments" : NULL, fill_sixteen, f);
}

static okra_status fit(okra_context *ctx, const void *arg, const okra_data *train,
                       const okra_store_ *store, const char *name, void **out,
                       okra_data **mapped)
{
    const params *p = arg;
    FREED_BY(drop_shared) shared *sh = NULL;
    FREED_BY(clear_strings) strings all = {0};
    okra_int total = 0, length;
    ZMAKE(sh, 1);
    exponentiate(p, sh->E);
    sh->D = (float)exp(-p->beta * p->open);
    sh->G = (float)exp(-p->beta * p->extend);
    CHK(find_strings(train, &all));
    sh->count = OKRA_MIN_(p->anchors, all.count);
    /* spread evenly over lengths: every k-th of the strings */
    for (okra_int t = 0; t < sh->count; t++) {
        all.first[t] = all.first[t * all.count / sh->count];
        okra_characters_(train, all.first[t], &length);
        total += length;
    }
    all.count = sh->count;
    MAKE(sh->start, sh->count + 1);
    MAKE(sh->code, total);
    MAKE(sh->self, sh->count);
    sh->start[0] = 0;
    for (okra_int t = 0; t < sh->count; t++) {
        const int32_t *code = okra_characters_(train, all.first[t], &length);
        for (okra_int j = 0; j < length; j++) {
            sh->code[sh->start[t] + j] = code_of(code[j]);
        }
        sh->start[t + 1] = sh->start[t] + length;
    }
    features f = {ctx, sh, train, &all, sh->self, NULL};
    CHK(find_features(&f));
    *out = TAKE(sh);
    return OKRA_OK;
}

/* ---- features ---- */

static okra_status map(okra_context *ctx, const void *arg, const void *common,
                       const okra_data *data, okra_data **out)
{
    const shared *sh = common;
    okra_int d = sh->count;
    FREED_BY(clear_strings) strings all = {0};
    OWNED double *Z = NULL, *different = NULL, *self = NULL;
    CHK(find_strings(data, &all));
    CHK(okra_doubles_(ctx, data->n, d, "alignments with the anchors", &Z));
    CHK(okra_doubles_(ctx, all.count, d, "alignments with the anchors", &different));
    MAKE(self, all.count);
    features f = {ctx, sh, data, &all, self, different};
    CHK(find_features(&f));
    for (okra_int i = 0; i < data->n; i++) {
        OKRA_COPY_(Z + i * d, different + all.place[all.of[i]] * d, d);
    }
    return okra_data_adopt_dense_(&Z, data->n, d, data->source, out);
}

static const okra_through_ how = {&okra_linear_, fit, forget, map, NULL};

static const okra_option rows[] = {
    {"matrix", OKRA_OPTION_CHOICE, offsetof(params, matrix), "blosum62", 0, 0,
     "blosum62|blosum50", NULL, "scores of substitutions"},
    {"beta", OKRA_OPTION_NUMBER, offsetof(params, beta), "0.5", 1e-3, 1, NULL, "V",
     "exp(beta score) is the weight of an alignment"},
    {"open", OKRA_OPTION_NUMBER, offsetof(params, open), "12", 0, 1000, NULL, "V",
     "score that the first letter of a gap costs"},
    {"extend", OKRA_OPTION_NUMBER, offsetof(params, extend), "2", 0, 1000, NULL, "V",
     "score that each further letter of a gap costs"},
    {"anchors", OKRA_OPTION_INT, offsetof(params, anchors), "256", 1, 100000, NULL, "N",
     "training strings that all are aligned with"},
    {.name = NULL}};

const okra_kernel_class_ okra_alignment_ = {
    .name = "alignment",
    .help = "proteins: local alignments with training strings, by substitution scores",
    .params = {"alignment", rows, sizeof(params)},
    .kinds = 1u << OKRA_STRINGS,
    .follows = true,
    .through = &how,
    .share = okra_through_share_,
    OKRA_THROUGH_HOOKS_};
