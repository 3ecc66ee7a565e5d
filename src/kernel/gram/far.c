/* See far.h. */
#include "kernel/gram/far.h"

#include <float.h>
#include <math.h>

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

static bool rough(const okra_node_ *node, double both)
{
    double error = FAR_ROUNDING * DBL_EPSILON * both;
    return !(fabs(value(node, 0) - value(node, error)) <= FAR_TOLERANCE);
}

static const okra_kernel_class_ *leaf_of(const okra_kernel *kernel,
                                         const okra_node_ *node)
{
    const okra_node_ *child = &kernel->nodes[node->a];
    bool leaf = node->transform->distances && child->kind == OKRA_NODE_LEAF_;
    return leaf && child->leaf->distance2 ? child->leaf : NULL;
}

double okra_far_most_(okra_int n, const double *self)
{
    double most = 0;
    for (okra_int i = 0; i < n; i++) {
        most = self[i] > most ? self[i] : most;
    }
    return most;
}

bool okra_far_(const okra_kernel *kernel, const okra_node_ *node, double a, double b)
{
    return leaf_of(kernel, node) && rough(node, a + b);
}

void okra_far_mend_(const okra_kernel *kernel, const okra_node_ *node, const void *a_side,
                    okra_int i, okra_int ni, const double *da, const void *b_side,
                    okra_int j, okra_int nj, const double *db, double *tile, okra_int ld)
{
    const okra_kernel_class_ *leaf = leaf_of(kernel, node);
    double most = leaf ? okra_far_most_(nj, db) : 0;
    if (!leaf || !rough(node, okra_far_most_(ni, da) + most)) {
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
                     : value(node, leaf->distance2(a_side, i + r, b_side, j + c));
        }
    }
}
