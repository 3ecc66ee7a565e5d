/*
 * debruijn.c: the string nearest to a prediction under the spectrum kernel, exactly.
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
#include "decode/strings/debruijn.h"

#include "data/strings.h"
#include "kernel/strings/string_kernels.h"

#include <string.h>

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
    *out = d;
    d = (okra_debruijn_){0};
    return OKRA_OK;
}

OKRA_SHARED_CLEARS_(okra_debruijn_clear_, okra_debruijn_, it->g, it->counts, it->bound,
                    it->path, it->best)

static bool above(okra_gain_ a, okra_gain_ b)
{
    return 2 * (a.sum - b.sum) > a.steps - b.steps;
}

static okra_gain_ add(okra_gain_ a, double sum, double steps)
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
                okra_gain_ gain = add(before[u % d->states], d->g[u], 1);
                now[s] = above(gain, now[s]) ? gain : now[s];
            }
        }
    }
}

/* The walk has `length` letters and has just taken step u. */
static void visit(okra_debruijn_ *d, okra_int u, okra_int length, okra_gain_ value)
{
    okra_int state = u % d->states;
    value = add(value, d->g[u], (double)(2 * d->counts[u] + 1));
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
    if (length == d->longest || !above(add(value, more.sum, more.steps), d->value)) {
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
        if (d->best_length > 0 && !above(add(more, d->g[u], 1), d->value)) {
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

okra_status okra_debruijn_word_(okra_debruijn_ *d, const okra_data *y,
                                const int32_t *alphabet, const double *w, int32_t **out,
                                okra_int *length, bool *complete)
{
    int32_t *word = NULL;
    memset(d->g, 0, (size_t)d->kmers * sizeof *d->g);
    for (okra_int i = 0; i < y->n; i++) {
        okra_int own;
        const int32_t *codes = okra_characters_(y, i, &own);
        add_counts(d, alphabet, codes, own, w[i]);
    }
    *complete = search_all(d);
    *length = d->best_length;
    MAKE(word, *length);
    for (okra_int j = 0; j < *length; j++) {
        word[j] = alphabet[d->best[j]];
    }
    *out = word;
    return OKRA_OK;
}
