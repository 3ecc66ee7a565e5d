/*
 * risk.c: the object of the least expected loss, for any metric of pairs.
 *
 *     y(x) = argmin_y sum_i w_i(x) D(y, y_i)
 *
 * D is the metric between one object and one training output (pair_loss.c); the weights
 * stand for the conditional distribution of outputs (Ciliberto, Rosasco and Rudi 2016). A
 * metric that is better when larger counts negative. Where D(y, z) = |phi(y) - phi(z)|^2
 * of a kernel and all l(y,y) are equal, or the weights sum to 1, this is the decoder
 * `candidates`.
 *
 * The weights may be made sharper first (below). Over candidates D is computed
 * in panels of candidates by all training outputs and kept while half of the budget is
 * free, those of few test points with the model: c n pairs once, then a product for every
 * block of predictions. Over all objects of a kind the decoder of that kind searches,
 * with the expected loss in the place of the distance: labels, string or rankings.
 */
#include "decode/decode.h"

enum { WIDE = 64 }; /* candidates of a panel */

typedef struct loss_options {
    bool all;
    double sharpen, votes;
    okra_int beam, rounds, longest;
    const char *alphabet;
} loss_options;

/* What `over all` searches with is read by the decoder of the kind. */
static const okra_option rows[] = {
    {"over-all", OKRA_OPTION_BOOL, offsetof(loss_options, all), "no", 1, 0, NULL, "",
     "choose among all label sets, strings or rankings, not among candidates"},
    {"sharpen", OKRA_OPTION_NUMBER, offsetof(loss_options, sharpen), "1", 0.1, 10, NULL,
     "P", "weights w count as |w|^P with their sign: above 1 the largest count more"},
    {"votes", OKRA_OPTION_NUMBER, offsetof(loss_options, votes), "0", 0, 10, NULL, "A",
     "weights of equal training outputs are added up to votes v, those below 0 are none, "
     "the others count as v^A; 0: weights as they are"},
    {"beam", OKRA_OPTION_INT, offsetof(loss_options, beam), "0", 0, 1e6, NULL, "N",
     "over all: objects that are kept and changed further; 0: as many as usual"},
    {"rounds", OKRA_OPTION_INT, offsetof(loss_options, rounds), "1000", 1, 1e6, NULL, "N",
     "over all: rounds of changes at most"},
    {"longest", OKRA_OPTION_INT, offsetof(loss_options, longest), "0", 0, 1e6, NULL, "N",
     "over all strings: letters at most; 0: two more than any training output has"},
    {"alphabet", OKRA_OPTION_TEXT, offsetof(loss_options, alphabet), "", 1, 0, NULL,
     "TEXT", "over all strings: letters to write with"},
    {0},
};

/* ---- votes ---- */

/* Weights of training outputs as votes for outputs.
 *
 * An expected loss sum_i w_i D(y, y_i) takes the weights of a method for the distribution
 * of the output. Those of ridge spread more than outputs do: large weights of both signs
 * that cancel, and small ones of pairs that are not similar. Where a loss rewards hedges
 * (F1: larger sets) the expectation then hedges too much. Two powers make up for that,
 * and are chosen as any option is, on training pairs:
 *
 *     sharpen P   w_i <- sign(w_i) |w_i|^P: the most similar pairs count more; scaled
 *                 to the sum of magnitudes that there was
 *     votes A     v_g = sum of the weights of training outputs that are the same object
 *                 g, a regression on [y = g]; votes below 0 are none, and the others
 *                 count v_g^A / sum_h v_h^A, which is a distribution
 *
 * P = 1 and A = 0 leave the weights alone. Where no object has a vote above 0, A does
 * too. The votes of g stand at the first training output that is g, 0 at the others.
 */
typedef struct votes {
    double sharpen, power;
    okra_int *first; /* of each training output: the first that is the same */
} votes;

OKRA_FREES_(votes_free, votes, it->first)
OKRA_DROPS_(votes_drop, votes, votes_free)

/* *out stays NULL where weights do not change. */
static okra_status votes_create(const okra_data *y, double sharpen, double power,
                                votes **out)
{
    FREED_BY(votes_drop) votes *v = NULL;
    if (sharpen == 1 && power <= 0) {
        return OKRA_OK;
    }
    ZMAKE(v, 1);
    v->sharpen = sharpen;
    v->power = power;
    if (power > 0) {
        MAKE(v->first, y->n);
        CHK(okra_data_same_(&y, 1, v->first));
    }
    *out = TAKE(v);
    return OKRA_OK;
}

/* Scaled to a sum of magnitudes; all 0 stay so. */
static void scale_to(double sum, okra_int n, double *w)
{
    double now = okra_total_abs_(n, w);
    for (okra_int i = 0; i < n && now > 0; i++) {
        w[i] *= sum / now;
    }
}

/* Relative to the largest, lest powers overflow. */
static void raise_to(double power, okra_int n, double *w)
{
    double largest = okra_most_abs_(n, w);
    for (okra_int i = 0; i < n && largest > 0; i++) {
        w[i] = copysign(pow(fabs(w[i]) / largest, power), w[i]);
    }
}

static void count_row(const votes *v, okra_int n, const double *w, double *out)
{
    double all = 0;
    for (okra_int i = 0; i < n; i++) {
        out[i] = w[i];
        all += fabs(w[i]);
    }
    if (v->sharpen != 1) {
        raise_to(v->sharpen, n, out);
        scale_to(all, n, out);
    }
    if (!v->first) {
        return;
    }
    for (okra_int i = 0; i < n; i++) { /* the first comes before the others */
        if (v->first[i] != i) {
            out[v->first[i]] += out[i];
            out[i] = 0;
        }
    }
    if (okra_most_(n, out) > 0) {
        okra_clamp_(n, out);
        raise_to(v->power, n, out);
        scale_to(1, n, out);
    }
}

/* *out (rows and columns of W, owned by the caller): what the weights count. */
static okra_status votes_count(okra_context *ctx, const votes *v, okra_mat_ W,
                               double **out)
{
    OWNED double *counted = NULL;
    CHK(okra_doubles_(ctx, W.rows, W.cols, "votes", &counted));
    for (okra_int r = 0; r < W.rows; r++) {
        count_row(v, W.cols, W.p + r * W.ld, counted + r * W.cols);
    }
    *out = TAKE(counted);
    return OKRA_OK;
}

/* ---- candidates ---- */

typedef struct state {
    const okra_output_ *output;
    const okra_data *set;
    okra_nearest_ nearest;
    okra_pair_loss_ *delta, *own;   /* own: freed with the state */
    okra_cache_ *cache, *own_cache; /* of the losses; own: freed with the state */
    bool few;                       /* there are few test points: losses stay */
    double *scratch;
    double zeros[WIDE];
    votes *votes;              /* what weights count; NULL: as they are */
    const okra_decoder_ *over; /* all objects: who searches, and its state */
    void *search;
} state;

static okra_int panels(const state *s)
{
    return (s->nearest.count + WIDE - 1) / WIDE;
}

static void clear(void *arg)
{
    state *s = arg;
    okra_cache_free_(s->own_cache);
    okra_free_(s->scratch);
    if (s->over) {
        okra_decoder_close_(s->over, s->search);
    }
    okra_nearest_clear_(&s->nearest);
    okra_pair_loss_free_(s->own);
    votes_free(s->votes);
}

/* Panel p: losses of candidates by training outputs. */
static okra_status get(okra_context *ctx, state *s, okra_int p, bool again, okra_mat_ *D)
{
    OWNED double *fresh = NULL;
    okra_int n = s->output->y->n, first = p * WIDE;
    *D = okra_mat_of_(okra_cache_panel_(s->cache, p),
                      OKRA_MIN_(WIDE, s->nearest.count - first), n);
    if (D->p) {
        return OKRA_OK;
    }
    bool keep = (again || s->few) && okra_stays_(ctx, 8.0 * WIDE * (double)n);
    if (keep || !s->scratch) {
        CHK(okra_doubles_(ctx, WIDE, n, "losses of candidates", &fresh));
    }
    D->p = fresh ? fresh : s->scratch;
    CHK(okra_cancelled_(ctx));
    CHK(okra_pair_loss_bind_(ctx, s->delta, s->set));
    CHK(okra_pair_loss_pairs_(ctx, s->delta, first, *D));
    if (fresh && keep) {
        D->p = okra_cache_put_(s->cache, p, &fresh);
    } else if (fresh) {
        s->scratch = TAKE(fresh);
    }
    return OKRA_OK;
}

/* A cache for the losses; those of few test points stay with the training outputs. */
static okra_status find_cache(state *s)
{
    okra_cache_ *of = s->set == s->output->y ? okra_cache_of_(s->output) : NULL;
    const char *name = s->delta->spec;
    s->cache = okra_cache_find_(of, name);
    s->few = of && s->output->few;
    if (!s->cache) {
        CHK(okra_cache_create_(panels(s), &s->own_cache));
        s->cache = s->own_cache;
        if (s->few && okra_cache_leave_(of, name, s->cache, okra_cache_free_)) {
            s->own_cache = NULL;
        }
    }
    return OKRA_OK;
}

/* ---- the decoder ---- */

okra_status okra_risk_open_(okra_context *ctx, void *arg, const okra_output_ *output,
                            okra_pair_loss_ *delta, const okra_decode_request_ *request)
{
    state *s = arg;
    s->output = output;
    s->delta = delta;
    s->set = request->candidates ? request->candidates : output->y;
    REFUSE_IF(okra_data_count(s->set) == 0, OKRA_EARG,
              "decoder loss: the set of candidates is empty");
    CHK(okra_decode_check_kind_(output, s->set, "the candidates are"));
    okra_nearest_ lists = {.tests = request->tests,
                           .top = request->top,
                           .count = s->set->n,
                           .ranges = request->ranges,
                           .negative = true};
    CHK(okra_nearest_open_(ctx, &lists, request->runner_up, &s->nearest));
    return find_cache(s);
}

const okra_nearest_ *okra_risk_nearest_(const void *arg)
{
    return &((const state *)arg)->nearest;
}

okra_status okra_risk_block_(okra_context *ctx, void *arg, const okra_block_ *block)
{
    state *s = arg;
    OWNED double *G = NULL;
    CHK(okra_block_weights_(block, "decoder loss"));
    CHK(okra_doubles_(ctx, block->m, WIDE, "expected losses", &G));
    for (okra_int p = 0; p < panels(s); p++) {
        okra_int first = p * WIDE, columns = OKRA_MIN_(WIDE, s->nearest.count - first);
        okra_mat_ D;
        if (!okra_nearest_wanted_(&s->nearest, block, first, columns)) {
            continue;
        }
        CHK(get(ctx, s, p, block->m < s->nearest.tests, &D));
        CHK(okra_gemm_(ctx, false, true, -0.5, block->W, D, 0,
                       okra_mat_of_(G, block->m, columns)));
        okra_part_ part = {.m = block->m, .first = first, .count = columns};
        okra_measured_ all = {block, &part, s->zeros, G, NULL, 1, (double)NAN, NULL};
        CHK(okra_nearest_put_(ctx, &s->nearest, &all));
    }
    return OKRA_OK;
}

/* The objects go with their owner, and are let go whatever comes. */
static okra_status expect(okra_context *ctx, okra_pair_loss_ *delta,
                          const okra_data *data, const okra_int *owner, okra_mat_ W,
                          okra_key_ *key, double *distance)
{
    OWNED double *D = NULL;
    CHK(okra_doubles_(ctx, WIDE, W.cols, "losses of proposals", &D));
    okra_mute_(ctx, true);
    okra_status st = okra_pair_loss_bind_(ctx, delta, data);
    okra_mute_(ctx, false);
    CHK(st);
    for (okra_int first = 0; first < data->n; first += WIDE) {
        okra_int count = OKRA_MIN_(WIDE, data->n - first);
        CHK(okra_pair_loss_pairs_(ctx, delta, first, okra_mat_of_(D, count, W.cols)));
        for (okra_int c = 0; c < count; c++) {
            okra_int at = first + c;
            distance[at] = okra_dot_(W.cols, W.p + owner[at] * W.ld, D + c * W.cols);
            key[at] = (okra_key_){distance[at], 0};
        }
    }
    return OKRA_OK;
}

okra_status okra_risk_propose_(okra_context *ctx, okra_pair_loss_ *delta,
                               const okra_data *data, const okra_int *owner, okra_mat_ W,
                               okra_key_ *key, double *distance)
{
    okra_status st = expect(ctx, delta, data, owner, W, key, distance);
    okra_status end = okra_pair_loss_bind_(ctx, delta, NULL);
    return st == OKRA_OK ? end : st;
}

/* The decoder that searches all objects of the outputs' kind; NULL: none does. */
static const okra_decoder_ *find_all(okra_kind kind, bool ranks)
{
    const okra_decoder_ *const *d = okra_decoders_;
    while (*d && (!((*d)->all >> kind & 1u) || (*d)->all_rankings != ranks)) {
        d++;
    }
    return *d;
}

static okra_status open_all(okra_context *ctx, state *s,
                            const okra_decode_request_ *request)
{
    okra_decode_request_ all = *request;
    okra_kind kind = s->output->y->kind;
    bool ranks = false;
    double power = 0;
    REFUSE_IF(
        !find_all(kind, false) && !find_all(kind, true), OKRA_EUNSUPPORTED,
        "decoder loss: over-all writes label sets, strings, sequences and rankings; "
        "the outputs are %s",
        okra_kind_name(kind));
    REFUSE_IF(request->candidates || request->ranges, OKRA_EARG,
              "decoder loss: over-all searches all objects for the best: it "
              "takes no candidates");
    if (kind == OKRA_DENSE && s->output->y->d > 1) {
        okra_status st = okra_data_check_rankings_(s->output->y);
        ranks = st == OKRA_OK;
        CHK(st == OKRA_EARG ? OKRA_OK : st);
    }
    /* also of relevances */
    ranks = ranks || okra_pair_loss_shape_(s->delta, &power) == OKRA_SHAPE_GAINS_;
    s->over = ranks ? find_all(kind, true) : NULL;
    s->over = s->over ? s->over : find_all(kind, false);
    all.loss = s->delta;
    all.argument = NULL;
    return okra_decoder_open_(ctx, s->over, s->output, request->options, &all,
                              &s->search);
}

static okra_status open(okra_context *ctx, void *arg, const okra_output_ *output,
                        const void *options, const okra_decode_request_ *request)
{
    state *s = arg;
    const loss_options *o = options;
    static const char *const needy[] = {"beam", "rounds", "longest", "alphabet"};
    for (int k = 0; k < 4; k++) {
        REFUSE_IF(!o->all && okra_options_is_set(request->options, needy[k]), OKRA_EARG,
                  "decoder loss: %s has no use without over-all", needy[k]);
    }
    s->output = output;
    CHK(okra_pair_loss_create_(ctx, output, request->argument, &s->own));
    s->delta = s->own;
    CHK(o->all ? open_all(ctx, s, request)
               : okra_risk_open_(ctx, s, output, s->own, request));
    return votes_create(output->y, o->sharpen, o->votes, &s->votes);
}

static okra_status check_loss(okra_context *ctx, const okra_output_ *output,
                              const char *text)
{
    FREED_BY(okra_pair_loss_drop_) okra_pair_loss_ *delta = NULL;
    return okra_pair_loss_create_(ctx, output, text, &delta);
}

static okra_status search(okra_context *ctx, void *arg, const okra_block_ *block)
{
    state *s = arg;
    OWNED double *W = NULL;
    okra_block_ counted = *block;
    if (s->votes) {
        CHK(okra_block_weights_(block, "decoder loss"));
        CHK(votes_count(ctx, s->votes, block->W, &W));
        counted.W = okra_mat_of_(W, block->W.rows, block->W.cols);
    }
    return s->over ? s->over->block(ctx, s->search, &counted)
                   : okra_risk_block_(ctx, s, &counted);
}

static okra_status finish(okra_context *ctx, void *arg, okra_decoded_ *out)
{
    state *s = arg;
    return s->over ? s->over->finish(ctx, s->search, out)
                   : okra_decoded_nearest_(ctx, &s->nearest, s->set, "decoder loss",
                                           "candidate of finite loss", out);
}

const okra_decoder_ okra_decoder_loss_ = {
    .name = "loss",
    .help = "loss:METRIC, the object of the least expected loss: loss:f1, loss:hamming, "
            "loss:edit, loss:kernel-loss:kernel=EXPR and other metrics of pairs",
    .options = {"decoder loss", rows, sizeof(loss_options)},
    .argument = check_loss,
    .chooses = true,
    .weights = true,
    .state = sizeof(state),
    .open = open,
    .block = search,
    .finish = finish,
    .clear = clear,
};
