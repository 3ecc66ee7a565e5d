/* See trained_kernel.h. */
#include "kernel/gram/trained_kernel.h"

#define FAR_TOLERANCE 2e-11
/* The error of inner products in units of eps |a||b|: sums in eight or more parts. */
#define FAR_ROUNDING 32

/* f of a squared distance. */
static double value(const okra_node_ *node, double d2)
{
    double zero = 0, k = -d2 / 2;
    node->transform->apply(node->params, &zero, &zero, 1, 1, &k, 1);
    return k;
}

/* By how much f may be off where k(a,a) + k(b,b) is `both`. */
static double doubt(const okra_node_ *node, double both)
{
    return fabs(value(node, 0) - value(node, FAR_ROUNDING * DBL_EPSILON * both));
}

static bool rough(const okra_node_ *node, double both)
{
    return !(doubt(node, both) <= FAR_TOLERANCE);
}

/* Is the squared distance of this node that of leaves which tell theirs by differences,
 * times numbers and added up? */
static bool has_distance(const okra_kernel *kernel, int place)
{
    const okra_node_ *node = &kernel->nodes[place];
    return node->kind == OKRA_NODE_LEAF_    ? node->leaf->distance2 != NULL
           : node->kind == OKRA_NODE_SCALE_ ? has_distance(kernel, node->a)
           : node->kind == OKRA_NODE_SUM_
               ? has_distance(kernel, node->a) && has_distance(kernel, node->b)
               : false;
}

static double distance2(const okra_kernel *kernel, int place, const okra_slot_ *a,
                        okra_int i, const okra_slot_ *b, okra_int j)
{
    const okra_node_ *node = &kernel->nodes[place];
    if (node->kind == OKRA_NODE_LEAF_) {
        return node->leaf->distance2(a[place].side, i, b[place].side, j);
    }
    double first = distance2(kernel, node->a, a, i, b, j);
    return node->kind == OKRA_NODE_SCALE_
               ? node->scale * first
               : first + distance2(kernel, node->b, a, i, b, j);
}

bool okra_far_(const okra_kernel *kernel, const okra_node_ *node, double a, double b)
{
    return node->transform->distances && has_distance(kernel, node->a) &&
           rough(node, a + b);
}

void okra_far_mend_(const okra_kernel *kernel, const okra_node_ *node,
                    const okra_slot_ *a_slots, okra_int i, okra_int ni, const double *da,
                    const okra_slot_ *b_slots, okra_int j, okra_int nj, const double *db,
                    double *tile, okra_int ld)
{
    double most = node->transform->distances ? okra_most_(nj, db) : 0;
    if (!node->transform->distances ||
        !okra_far_(kernel, node, okra_most_(ni, da), most)) {
        return;
    }
    for (okra_int r = 0; r < ni; r++) {
        if (!rough(node, da[r] + most)) {
            continue;
        }
        for (okra_int c = 0; c < nj; c++) {
            double a = sqrt(da[r]), b = sqrt(db[c]), *k = &tile[r * ld + c];
            /* The distance is at least this, so that f is at most `bound`. */
            double least = fabs(a - b) - FAR_ROUNDING * DBL_EPSILON * (a + b);
            double bound = value(node, least > 0 ? least * least : 0);
            *k = !rough(node, da[r] + db[c]) ? *k
                 : bound <= FAR_TOLERANCE
                     ? fmin(*k, bound)
                     : value(node,
                             distance2(kernel, node->a, a_slots, i + r, b_slots, j + c));
        }
    }
}

/* An object by its row in the file, from 0, and its name. */
static const char *describe(const okra_data *data, okra_int i, char *text, size_t size)
{
    okra_int length = 0, row = okra_data_row(data, i);
    const char *name = okra_data_text(data, i, &length);
    char known[64], shown[72];
    snprintf(known, sizeof known, "%.*s", name ? (int)(length < 60 ? length : 60) : 0,
             name ? name : "");
    snprintf(text, size, "row %lld%s%s", (long long)(row < 0 ? i : row),
             *known ? ", " : "", okra_printable_(known, false, shown, sizeof shown));
    return text;
}

okra_status okra_check_self_(okra_context *ctx, const okra_kernel *kernel,
                             const okra_node_ *node, const okra_slots_ *view,
                             const double *self)
{
    const okra_transform_class_ *t = node->transform;
    okra_int count = 0, first = 0;
    char text[160];
    REFUSE_IF(!self, OKRA_EARG,
              "%s: `%s` needs the self-similarities of its objects, which "
              "rows of a Gram matrix do not tell: give the diagonal too",
              view->data->source, t->name);
    for (okra_int i = 0; t->degenerate && i < view->n; i++) {
        if (!(self[i] > 0)) {
            first = count++ == 0 ? i : first;
        }
    }
    if (count > 0) {
        okra_warn_(ctx,
                   "%s: in %lld of %lld objects (the first: %s, from 0) the kernel finds "
                   "nothing to compare: self-similarity 0 before `%s`; %s",
                   view->data->source, (long long)count, (long long)view->n,
                   describe(view->data, first, text, sizeof text), t->name,
                   t->degenerate);
    }
    double most = okra_most_(view->n, self),
           lost = node->transform->distances && !has_distance(kernel, node->a)
                      ? doubt(node, 2 * most)
                      : 0;
    if (lost > 1e-6) {
        okra_warn_(
            ctx,
            "%s: values up to %g before `%s` leave few digits of distances: kernel "
            "values may be off by %.1g; move the data nearer to 0, or compare them "
            "with `linear` or `standardize`",
            view->data->source, most, t->name, lost);
    }
    return OKRA_OK;
}
