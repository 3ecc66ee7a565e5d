/*
 * constrained.c: regression between sequences with constraints between positions (Cortes,
 * Mohri and Weston 2007, as Kadri et al. 2013 use it in sec. 6.2).
 *
 *     min_W  sum_i |phi(y_i) - W Phi(x_i)|^2 + lambda sum_ab R_ab W_ab^2
 *
 * Phi(x) and phi(y) hold features position by position: those of k at x_p, which are
 * never formed, and which letter y_t is. R_ab = 1 where the positions of output feature a
 * and input feature b are no more than `reach` apart; elsewhere R_ab = 1 / leak: leak = 0
 * makes the constraint W_ab = 0, leak = 1 is ridge on the sum over all positions.
 *
 * Row a of W has its own weights, so the rows of one output position t make a ridge with
 *     k_t(x,x') = sum_p s_tp k(x_p, x'_p),   s_tp = 1 / R:  1 within reach, else leak,
 * which is what groups.c solves. All n pairs take part at every position; outputs that
 * have ended are 0 there. Predictions are scores of letters at positions, longest x
 * letters, for the decoder position.
 */
#include "solve/ridge.h"
#include "method/method.h"

#include "kernel/strings/string_kernels.h"
#include "okra/more/objects.h"

typedef struct constrained_options {
    double lambda, leak;
    okra_int reach;
} constrained_options;

static const okra_option rows[] = {
    {"lambda", OKRA_OPTION_NUMBER, offsetof(constrained_options, lambda), "0.1", 1e-300,
     1e300, NULL, "V", "regularisation: weight of |W|^2 beside the squared errors"},
    {"reach", OKRA_OPTION_INT, offsetof(constrained_options, reach), "1", 0, 1e9, NULL,
     "N", "how far an input element may be from the position it helps to predict"},
    {"leak", OKRA_OPTION_NUMBER, offsetof(constrained_options, leak), "0", 0, 1, NULL,
     "V", "weight of elements beyond reach: 0 forbids them, 1 lifts the constraint"},
    {0},
};

extern const okra_method_ okra_method_constrained_;

static okra_status check(const okra_problem_ *p)
{
    okra_int a = 0, b = 0;
    bool kinds = p->x && p->y && p->kx && p->ky &&
                 (p->y->kind == OKRA_STRINGS || p->y->kind == OKRA_SEQUENCES) &&
                 (p->x->kind == OKRA_STRINGS || p->x->kind == OKRA_SEQUENCES);
    REFUSE_IF(!kinds || !okra_kernel_counts_letters_(p->ky->kernel), OKRA_EUNSUPPORTED,
              "constrained maps sequences to sequences of letters under the output "
              "kernel position(zero-one)");
    for (okra_int i = 0; i < p->n; i++) {
        okra_data_characters(p->x, i, &a);
        okra_data_characters(p->y, i, &b);
        REFUSE_IF(a != b, OKRA_ESHAPE,
                  "constrained: input %lld has %lld elements, its output %lld; expected "
                  "as many, position by position",
                  (long long)i, (long long)a, (long long)b);
    }
    return OKRA_OK;
}

/* Every position of the inputs is a group; Y (n x longest letters): 1 at the letter of
 * every position. The caller clears them. */
static okra_status open_training(okra_context *ctx, const okra_problem_ *p,
                                 const constrained_options *o, okra_grouped_ *r)
{
    FREED_BY(okra_pieces_drop_) okra_pieces_ *pieces = NULL;
    OWNED int32_t *alphabet = NULL;
    okra_groups_ *g = &r->groups;
    okra_int letters = 0, length;
    CHK(okra_alphabet_(p->y, &alphabet, &letters));
    CHK(okra_pieces_create_(ctx, "constrained", p->kx->kernel, p->x, &pieces));
    okra_int longest = pieces->count;
    REFUSE_IF(longest == 0, OKRA_EARG,
              "constrained: the training outputs have no letters");
    CHK(okra_groups_create_(ctx, pieces, p->n, longest * letters, longest, g));
    for (okra_int j = 0; j < g->d; j++) {
        g->of[j] = j / letters;
    }
    for (okra_int k = 0; k < longest * longest; k++) {
        okra_int apart = k / longest - k % longest;
        bool near = apart <= o->reach && -apart <= o->reach;
        g->S[k] = near ? 1 : o->leak;
    }
    CHK(okra_doubles_(ctx, p->n, g->d, "the letters of the outputs", &r->Y));
    okra_mat_fill_(okra_mat_of_(r->Y, p->n, g->d), 0);
    for (okra_int i = 0; i < p->n; i++) {
        const int32_t *codes = okra_data_characters(p->y, i, &length);
        for (okra_int at = 0; at < length; at++) {
            okra_int letter = okra_letter_(alphabet, letters, codes[at]);
            r->Y[i * g->d + at * letters + letter] = 1;
        }
    }
    return OKRA_OK;
}

static okra_status path(okra_context *ctx, const okra_problem_ *problem,
                        const okra_options *options, const double *lambda, size_t count,
                        okra_store_ *const *stores)
{
    constrained_options o;
    FREED_BY(okra_grouped_clear_) okra_grouped_ r = {ctx, lambda, count, {0}, NULL, NULL};
    CHK(okra_options_read(options, &okra_method_constrained_.options, &o));
    CHK(check(problem));
    CHK(open_training(ctx, problem, &o, &r));
    CHK(okra_grouped_ridge_(&r, stores));
    for (size_t l = 0; l < count; l++) {
        CHK(okra_store_put_number_(stores[l], "reach", (double)o.reach));
        CHK(okra_store_put_number_(stores[l], "leak", o.leak));
    }
    return OKRA_OK;
}

/* Scores of the letters of the outputs at every position of the inputs. */
static okra_status check_letters(const okra_store_ *store, const okra_facts_ *f)
{
    okra_int letters = 0, longest = 0, a = 0, b = 0, positions;
    OWNED int32_t *alphabet = NULL;
    bool good = (f->y->kind == OKRA_STRINGS || f->y->kind == OKRA_SEQUENCES) &&
                (f->x->kind == OKRA_STRINGS || f->x->kind == OKRA_SEQUENCES) &&
                okra_kernel_counts_letters_(f->ky);
    for (okra_int i = 0; good && i < f->y->n; i++) {
        okra_data_characters(f->x, i, &a);
        okra_data_characters(f->y, i, &b);
        longest = OKRA_MAX_(longest, a);
        good = a == b;
    }
    if (good) {
        CHK(okra_alphabet_(f->y, &alphabet, &letters));
    }
    okra_store_get_(store, "shares", &a, &positions);
    REFUSE_IF(!good || a != longest || positions != longest ||
                  okra_sizes_get_(f->sizes, "s") != longest * letters,
              OKRA_EFORMAT, "constrained: letters and sequences do not fit together");
    return OKRA_OK;
}

/* What a model keeps (data/store.h). The embedding is scores of letters at positions. */
static const okra_schema_ kept_groups[] = {
    OKRA_KEEPS_MATRIX_("coefficients", 0, "n", "s"),
    OKRA_KEEPS_MATRIX_("shares", 0, "g", "q"),
    OKRA_KEEPS_VALUES_("groups", OKRA_KEPT_WHOLE_, "1", "s", "0", "g-1"),
    OKRA_KEEPS_MATRIX_("mean", OKRA_KEPT_OPTIONAL_, "1", "s"),
    OKRA_KEEPS_NUMBER_("lambda", 0, "0", "1e300"),
    OKRA_KEEPS_SAME_("inputs", "c", "n"),
    OKRA_KEEPS_TOLD_("reach"),
    OKRA_KEEPS_TOLD_("leak"),
    OKRA_KEPT_END_,
};

const okra_method_ okra_method_constrained_ = {
    .name = "constrained",
    .unweighted =
        "solves for positions of pairs of equal weight: it does not use weights",
    .help = "sequences to sequences: ridge whose letters depend on near positions alone",
    .options = {"constrained", rows, sizeof(constrained_options)},
    .path = path,
    .width = okra_ridge_width_,
    .predict = okra_grouped_predict_,
    .kept = (const okra_schema_ *const[]){kept_groups, NULL},
    .check = check_letters,
};
