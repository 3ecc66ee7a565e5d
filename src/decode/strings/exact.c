/*
 * exact.c: the best strings for a row of weights, exactly: under the kernels
 * weighted-degree and spectrum, and of the loss that counts places.
 */
#include "decode/strings/string_prediction.h"

/* ---- weighted-degree ---- */

/* The best string under the weighted-degree kernel:
 *
 *     l(y, z) = sum_{d=1..k} b_d sum_i [the d letters of y and z that end at place i
 * agree]
 *
 * All strings have one length and so one l(y,y). <h, phi(y)> is a sum over places of what
 * the last k letters there are worth, h_id(u) = b_d sum_j w_j [y_j has u at i]: the best
 * string is the best path through contexts of k - 1 letters (Viterbi), and the best
 * strings come from the best paths to every context. Cost: length times letters^k a
 * string, whatever the number of training outputs.
 */
static const double MOST = 1 << 23; /* numbers of a table */

bool okra_kernel_is_degree_(const okra_kernel *kernel, okra_int *k)
{
    double scale;
    bool normalized;
    const okra_degree_params_ *p =
        okra_kernel_core_leaf_(kernel, &okra_weighted_degree_, &scale, &normalized);
    *k = p ? p->k : *k;
    return p;
}

bool okra_kernel_one_length_(const okra_kernel *kernel)
{
    bool found = false;
    for (int at = 0; at < kernel->count; at++) {
        found |= kernel->nodes[at].kind == OKRA_NODE_LEAF_ &&
                 kernel->nodes[at].leaf == &okra_weighted_degree_;
    }
    return found;
}

struct okra_degree_ {
    const int32_t *alphabet;
    okra_int letters, top, k, length; /* top: of the kernel; k: it, or the length       */
    okra_int states, cells; /* letters^(k-1), letters at least; all degrees of a place */
    double *h;              /* length x cells                                          */
    okra_int best;          /* strings that are wanted                                 */
    double *score, *next;   /* states x best: the best paths to each, descending       */
    okra_int *from;         /* length x states x best: the path before                 */
    okra_int *code;         /* length: one string                                      */
};

okra_status okra_degree_create_(const int32_t *alphabet, okra_int letters, okra_int k,
                                okra_int length, okra_int best, okra_degree_ **out)
{
    FREED_BY(okra_degree_drop_) okra_degree_ *d = NULL;
    double cells = 0, words = 1;
    ZMAKE(d, 1);
    *d = (okra_degree_){.alphabet = alphabet, .letters = letters, .top = k};
    d->length = length;
    d->best = best;
    d->k = OKRA_MIN_(k, length);
    for (okra_int q = 1; q <= d->k && words <= MOST; q++) {
        words *= (double)letters;
        cells += words;
    }
    double numbers = cells * (double)length * (best > 1 ? (double)best : 1);
    REFUSE_IF(
        numbers > MOST || letters == 0 || length == 0, OKRA_EUNSUPPORTED,
        "decoder string: weighted-degree of up to %lld of %lld letters needs tables "
        "of %.3g numbers, expected 1 to %.3g; --decode candidates needs none",
        (long long)d->k, (long long)letters, numbers, MOST);
    d->states = letters; /* so that a state tells its last letter */
    for (okra_int q = 2; q < d->k; q++) {
        d->states *= letters;
    }
    d->cells = (okra_int)cells;
    MAKE(d->h, length * d->cells);
    MAKE(d->score, d->states * best);
    MAKE(d->next, d->states * best);
    MAKE(d->from, length * d->states * best);
    MAKE(d->code, length);
    *out = TAKE(d);
    return OKRA_OK;
}

OKRA_SHARED_FREES_(okra_degree_free_, okra_degree_, it->h, it->score, it->next, it->from,
                   it->code)

/* h += weight times the features of d->code; a letter that is not in the alphabet cannot
 * be written. */
static void add(okra_degree_ *d, double weight)
{
    for (okra_int i = 0; i < d->length; i++) {
        double *h = d->h + i * d->cells;
        okra_int word = 0, step = 1;
        for (okra_int q = 1; q <= OKRA_MIN_(d->k, i + 1); q++) {
            okra_int c = d->code[i + 1 - q];
            if (c >= d->letters) {
                break;
            }
            word += c * step; /* the last letter counts least */
            step *= d->letters;
            h[word] += weight * (double)(d->top - q + 1);
            h += step;
        }
    }
}

/* What a word of `most` letters, the last counting least, is worth at its place. */
static double worth(const okra_degree_ *d, const double *h, okra_int word, okra_int most)
{
    double sum = 0;
    okra_int step = 1;
    for (okra_int q = 1; q <= most; q++) {
        step *= d->letters;
        sum += h[word % step];
        h += step;
    }
    return sum;
}

/* A path among the best to its context: values descend. */
static void keep(double *values, okra_int *from, okra_int best, double value,
                 okra_int path)
{
    okra_int at = best - 1;
    if (!(value > values[at])) {
        return;
    }
    for (; at > 0 && value > values[at - 1]; at--) {
        values[at] = values[at - 1];
        from[at] = from[at - 1];
    }
    values[at] = value;
    from[at] = path;
}

/* One letter more: the best of every context of letters at place i. */
static okra_int advance(okra_degree_ *d, okra_int i, okra_int states)
{
    const double *h = d->h + i * d->cells;
    okra_int best = d->best, *from = d->from + i * d->states * best;
    okra_int most = OKRA_MIN_(d->k, i + 1),
             reached = OKRA_MIN_(states * d->letters, d->states);
    for (okra_int s = 0; s < reached * best; s++) {
        d->next[s] = -(double)INFINITY;
        from[s] = 0;
    }
    for (okra_int s = 0; s < states; s++) {
        for (okra_int c = 0; c < d->letters; c++) {
            okra_int word = s * d->letters + c, to = word % reached * best;
            double more = worth(d, h, word, most);
            for (okra_int t = s * best; t < (s + 1) * best; t++) {
                if (isfinite(d->score[t])) {
                    keep(d->next + to, from + to, best, d->score[t] + more, t);
                }
            }
        }
    }
    OKRA_SWAP_(d->score, d->next);
    return reached;
}

/* The strings of the largest <h, phi(y)> as those of test point `test`. */
static okra_status search(okra_degree_ *d, okra_int test, const okra_results_ *results)
{
    okra_int states = 1, best = d->best;
    OWNED int32_t *word = NULL;
    OWNED okra_int *path = NULL;
    MAKE(word, d->length);
    ZMAKE(path, best);
    d->score[0] = 0;
    for (okra_int t = 1; t < best; t++) {
        d->score[t] = -(double)INFINITY;
    }
    for (okra_int i = 0; i < d->length; i++) {
        states = advance(d, i, states);
    }
    okra_fill_(best, -(double)INFINITY, d->next);
    for (okra_int s = 0; s < states * best; s++) {
        keep(d->next, path, best, d->score[s], s);
    }
    for (okra_int t = 0; t < best && isfinite(d->next[t]); t++) {
        okra_int at = path[t];
        for (okra_int i = d->length - 1; i >= 0; i--) {
            word[i] = d->alphabet[at / best % d->letters];
            at = d->from[i * d->states * best + at];
        }
        CHK(okra_results_put_(results, test, t, word, d->length, 0));
    }
    return OKRA_OK;
}

static okra_status one_row(okra_degree_ *d, const okra_data *y, const double *w,
                           okra_int test, const okra_results_ *results)
{
    okra_int own;
    memset(d->h, 0, (size_t)(d->length * d->cells) * sizeof *d->h);
    for (okra_int i = 0; i < y->n; i++) {
        const int32_t *codes = okra_characters_(y, i, &own);
        for (okra_int t = 0; t < d->length; t++) {
            d->code[t] = okra_letter_(d->alphabet, d->letters, codes[t]);
        }
        add(d, w[i]);
    }
    return search(d, test, results);
}

okra_status okra_degree_block_(okra_context *ctx, okra_degree_ *d, const okra_data *y,
                               const okra_block_ *block, okra_results_ *results)
{
    for (okra_int r = 0; r < block->m; r++) {
        CHK(okra_cancelled_(ctx));
        CHK(one_row(d, y, block->W.p + r * block->W.ld, block->first + r, results));
    }
    return okra_results_measure_(ctx, results, block);
}

/* ---- spectrum ---- */

/* The string nearest to a prediction under the spectrum kernel.
 *
 * A string y of at least k letters is a walk in the de Bruijn graph: states are the
 * strings of k-1 letters, steps the substrings u of k letters. With c_u the number of
 * times the walk takes step u,
 *     |phi(y) - h|^2 = |h|^2 - sum_u (2 g_u c_u - c_u^2),
 * so that the j-th use of u gains 2 g_u - (2j - 1): never more than its first use. Hence
 *     bound(l, s) = max(0, max_{u from s} 2 g_u - 1 + bound(l-1, s'))
 * bounds what l more steps from state s can gain, and depth-first search that leaves a
 * branch when value + bound <= best is exact. Sums of g and whole numbers are kept apart,
 * so that weak predictions are ordered too. Cost: letters^k (longest - k) for the
 * bounds; the search visits few nodes when few g_u exceed 1/2, which is the usual case.
 * The number of nodes is limited; beyond it the best string so far is returned.
 */
okra_status okra_debruijn_create_(okra_int letters, okra_int k, okra_int longest,
                                  okra_debruijn_ *out)
{
    FREED_BY(okra_debruijn_clear_)
    okra_debruijn_ d = {.letters = letters, .k = k, .longest = longest, .kmers = 1};
    for (okra_int j = 0; j < k; j++) {
        d.kmers *= letters;
        REFUSE_IF(d.kmers > OKRA_DEBRUIJN_KMERS_, OKRA_EUNSUPPORTED,
                  "%lld letters have too many substrings of %lld", (long long)letters,
                  (long long)k);
    }
    d.states = letters > 0 ? d.kmers / letters : 0;
    ZMAKE(d.g, d.kmers);
    ZMAKE(d.counts, d.kmers);
    MAKE(d.bound, OKRA_MAX_(longest - k + 1, 1) * d.states);
    MAKE(d.path, longest);
    MAKE(d.best, longest);
    *out = TAKE(d);
    return OKRA_OK;
}

OKRA_SHARED_CLEARS_(okra_debruijn_clear_, okra_debruijn_, it->g, it->counts, it->bound,
                    it->path, it->best)

static bool above(okra_gain_ a, okra_gain_ b)
{
    return 2 * (a.sum - b.sum) > a.steps - b.steps;
}

static okra_gain_ gain_add(okra_gain_ a, double sum, double steps)
{
    return (okra_gain_){a.sum + sum, a.steps + steps};
}

static void make_bounds(okra_debruijn_ *d)
{
    memset(d->bound, 0, (size_t)d->states * sizeof *d->bound);
    for (okra_int l = 1; l <= d->longest - d->k; l++) {
        const okra_gain_ *before = d->bound + (l - 1) * d->states;
        okra_gain_ *now = d->bound + l * d->states;
        for (okra_int s = 0; s < d->states; s++) {
            now[s] = (okra_gain_){0};
            for (okra_int c = 0; c < d->letters; c++) {
                okra_int u = s * d->letters + c;
                okra_gain_ gain = gain_add(before[u % d->states], d->g[u], 1);
                now[s] = above(gain, now[s]) ? gain : now[s];
            }
        }
    }
}

/* The walk has `length` letters and has just taken step u. */
static void visit(okra_debruijn_ *d, okra_int u, okra_int length, okra_gain_ value)
{
    okra_int state = u % d->states;
    value = gain_add(value, d->g[u], (double)(2 * d->counts[u] + 1));
    if (++d->nodes > OKRA_DEBRUIJN_NODES_) {
        return;
    }
    if (d->best_length == 0 || above(value, d->value)) {
        d->value = value;
        d->best_length = length;
        memcpy(d->best, d->path, (size_t)length * sizeof *d->path);
    }
    okra_gain_ more = {0};
    if (length < d->longest) {
        more = d->bound[(d->longest - length) * d->states + state];
    }
    if (length == d->longest || !above(gain_add(value, more.sum, more.steps), d->value)) {
        return;
    }
    d->counts[u]++;
    for (okra_int c = 0; c < d->letters; c++) {
        d->path[length] = (int32_t)c;
        visit(d, state * d->letters + c, length + 1, value);
    }
    d->counts[u]--;
}

/* From g into best and best_length. True if the search was complete. */
static bool search_all(okra_debruijn_ *d)
{
    d->best_length = 0;
    d->nodes = 0;
    if (d->longest < d->k) {
        return true;
    }
    make_bounds(d);
    for (okra_int u = 0; u < d->kmers; u++) {
        okra_int rest = u;
        okra_gain_ more = d->bound[(d->longest - d->k) * d->states + u % d->states];
        if (d->best_length > 0 && !above(gain_add(more, d->g[u], 1), d->value)) {
            continue;
        }
        for (okra_int j = d->k; j-- > 0; rest /= d->letters) {
            d->path[j] = (int32_t)(rest % d->letters);
        }
        visit(d, u, d->k, (okra_gain_){0});
    }
    return d->nodes <= OKRA_DEBRUIJN_NODES_;
}

/* g += weight times the counts of substrings of a string; a letter that is not in the
 * alphabet cannot be written, so that its substrings do not matter. */
static void add_counts(okra_debruijn_ *d, const int32_t *alphabet, const int32_t *codes,
                       okra_int length, double weight)
{
    okra_int u = 0, run = 0;
    for (okra_int i = 0; i < length; i++) {
        okra_int c = okra_letter_(alphabet, d->letters, codes[i]);
        run = c == d->letters ? 0 : run + 1;
        u = (u * d->letters + c % d->letters) % d->kmers;
        if (run >= d->k) {
            d->g[u] += weight;
        }
    }
}

okra_int okra_debruijn_word_(okra_debruijn_ *d, const okra_data *y,
                             const int32_t *alphabet, const double *w, int32_t *out,
                             bool *complete)
{
    memset(d->g, 0, (size_t)d->kmers * sizeof *d->g);
    for (okra_int i = 0; i < y->n; i++) {
        okra_int own;
        const int32_t *codes = okra_characters_(y, i, &own);
        add_counts(d, alphabet, codes, own, w[i]);
    }
    *complete = search_all(d);
    for (okra_int j = 0; j < d->best_length; j++) {
        out[j] = alphabet[d->best[j]];
    }
    return d->best_length;
}

/* ---- places ---- */

/* The string of the least expected number of places that are wrong:
 *
 *     sum_i w_i hamming(y, y_i) = sum_i w_i (max(T, T_i) - places that agree)
 *
 * for a string of T letters. One letter more, at place t, adds the weights of outputs
 * that end before it and takes away its score, sum_i w_i [letter t of y_i is it]: the
 * best letter of each place, then the best length.
 */

/* score (longest x letters), and longer[t]: the weights of outputs with a letter t. */
static void add_up(const okra_data *y, const int32_t *alphabet, okra_int letters,
                   okra_int longest, const double *w, double *score, double *longer)
{
    for (okra_int i = 0; i < y->n; i++) {
        okra_int length;
        const int32_t *codes = okra_characters_(y, i, &length);
        for (okra_int t = 0; t < OKRA_MIN_(length, longest); t++) {
            okra_int c = okra_letter_(alphabet, letters, codes[t]);
            longer[t] += w[i];
            if (c < letters) {
                score[t * letters + c] += w[i];
            }
        }
    }
}

okra_status okra_best_places_(const okra_data *y, const int32_t *alphabet,
                              okra_int letters, okra_int longest, const double *w,
                              int32_t *code, okra_int *length)
{
    OWNED double *score = NULL, *longer = NULL;
    double total = 0, J = 0, least = 0;
    ZMAKE(score, longest * letters);
    ZMAKE(longer, longest);
    add_up(y, alphabet, letters, longest, w, score, longer);
    total = okra_total_(y->n, w);
    *length = 0;
    for (okra_int t = 0; t < longest; t++) {
        const double *at = score + t * letters;
        okra_int c = 0;
        for (okra_int k = 1; k < letters; k++) {
            c = at[k] > at[c] ? k : c;
        }
        code[t] = alphabet[c];
        J += total - longer[t] - at[c];
        if (J < least) {
            least = J;
            *length = t + 1;
        }
    }
    return OKRA_OK;
}
