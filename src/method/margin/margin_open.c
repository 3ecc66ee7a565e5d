/*
 * margin_open.c: what margin sets in a fit that leaves options open.
 *
 * Huber's loss is ridge within delta: kernel and lambda of numbers and classes are those
 * of ridge, which has a closed form. The hinge of classes takes its kernel alone, from
 * more of them than folds could compare.
 */
#include "method/margin/margin.h"
#include "okra/more/traits.h"

/* The hinge of <y, h(x)> says nothing of the size of numbers, and knows a class by its
 * own pairs alone. delta is the typical distance from the mean: ridge within, and robust
 * beyond. There is no center-output: 100 more in every value of the
 * kernel is a constant that hardly costs, and more where the mean is more than 10 such
 * distances from 0 (beyond 1e5 the duals lose the digits of the rest). Outputs
 * that are all equal are a constant. */
static okra_status set_loss(const okra_open_ *open, okra_options *o)
{
    OWNED char *more = NULL;
    char delta[32];
    double spread = open->spread > 0 ? open->spread : 1e-3 * open->offset;
    bool given = okra_options_is_set(o, "loss");
    const char *loss = given ? okra_options_get(o, "loss") : "huber";
    if (strcmp(loss, "hinge") == 0 || !(spread > 0)) {
        return OKRA_OK;
    }
    bool huber = strcmp(loss, "huber") == 0;
    double far = open->offset / spread;
    /* a tube's duals have at most 1: what they sum to must reach the mean */
    double constant = fmin(fmax(100, huber ? far * far : 10 * far), 1e5);
    CHK(given ? OKRA_OK : okra_options_set(o, "loss", loss));
    if (huber && !okra_options_is_set(o, "delta")) {
        snprintf(delta, sizeof delta, "%.3g", spread);
        CHK(okra_options_set(o, "delta", delta));
    }
    more = okra_format_("%s | poly(degree=1,gamma=1,coef0=%.3g)",
                        okra_options_get(o, "kx"), constant);
    return more ? okra_options_set(o, "kx", more) : OKRA_EMEM;
}

/* The tube has half the size of what ridge leaves unexplained, r, unless it is given. A
 * residual pulls with 2 r in ridge, with 1 beyond a tube: lambda is as much smaller. */
static okra_status set_tube(const okra_open_ *open, okra_options *o)
{
    char text[32];
    double r = open->residual;
    if (!okra_options_is_set(o, "tube")) {
        snprintf(text, sizeof text, "%.3g", r / 2);
        CHK(okra_options_set(o, "tube", text));
    }
    if (open->lambda) {
        double lambda = okra_strtod_(okra_options_get(o, "lambda"), NULL);
        snprintf(text, sizeof text, "%.6g", lambda / (2 * r));
        CHK(okra_options_set(o, "lambda", text));
    }
    return OKRA_OK;
}

static okra_status fill(const okra_open_ *open, okra_options *o)
{
    CHK(open->kx || open->like ? set_loss(open, o) : OKRA_OK);
    bool tube = okra_options_is_set(o, "loss") &&
                strcmp(okra_options_get(o, "loss"), "epsilon") == 0;
    return tube && open->residual > 0 ? set_tube(open, o) : OKRA_OK;
}

static okra_likeness_ likeness(const okra_open_ *open, const okra_options *o)
{
    bool given = okra_options_is_set(o, "loss");
    bool hinge = given && strcmp(okra_options_get(o, "loss"), "hinge") == 0;
    bool dense = open->y->kind == OKRA_DENSE, labels = open->y->kind == OKRA_LABELS;
    if (open->y->missing || okra_options_is_set(o, "twin")) {
        return OKRA_LIKE_NOTHING_;
    }
    bool numbers =
        dense && open->lambda && !given && /* the hinge has no size */
        (open->ky || okra_kernel_has(okra_options_get(o, "ky"), OKRA_KERNEL_LINEAR));
    return numbers || (open->kx && !hinge && (dense || labels)) ? OKRA_LIKE_WHOLE_
           : open->kx && labels                                 ? OKRA_LIKE_KERNEL_
                                                                : OKRA_LIKE_NOTHING_;
}

const okra_auto_ okra_margin_auto_ = {
    .few = true,
    .least = 1e-3, /* it is slow if lambda is small */
    .lambdas = 5,
    .classes = "zero-one | center", /* without it no class knows of the others */
    .fill = fill,
    .like = "ridge",
    .likeness = likeness,
};
