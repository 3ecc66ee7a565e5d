/*
 * wl.c: Weisfeiler-Lehman subtree kernel.
 *
 * Labels are refined h times; the labels of all rounds, the original ones included, are
 * the features (N. Shervashidze et al., Weisfeiler-Lehman graph kernels, Journal of
 * Machine Learning Research 12, 2011, definition 5). Edge labels take part in the
 * refinement. Cost of a graph: h times (nodes + edges log degree).
 */
#include "kernel/graphs/graph_features.h"

/* ---- one round of refinement (B. Weisfeiler and A. Leman, 1968): every node gets a new
 * label for its old one and the multiset of the edges and labels around it ---- */

OKRA_ORDER_(in_order, okra_neighbour_, OKRA_UP_(edge), OKRA_UP_(node))

okra_status okra_neighbours_(const okra_graph_view_ *g, okra_neighbour_ **out)
{
    okra_int most = 0;
    for (okra_int i = 0; i < g->nodes; i++) {
        most = OKRA_MAX_(most, g->first[i + 1] - g->first[i]);
    }
    MAKE(*out, most);
    return OKRA_OK;
}

okra_status okra_refine_(const okra_graph_view_ *g, okra_collector_ *c, uint64_t round,
                         const uint64_t *code, okra_neighbour_ *around, uint64_t *next)
{
    for (okra_int i = 0; i < g->nodes; i++) {
        okra_int degree = g->first[i + 1] - g->first[i];
        for (okra_int k = 0; k < degree; k++) {
            okra_int at = g->first[i] + k;
            around[k] = (okra_neighbour_){g->edge_label[at], code[g->other[at]]};
        }
        if (degree > 1) {
            qsort(around, (size_t)degree, sizeof *around, in_order);
        }
        CHK(okra_fold_(c, code[i], 5, round, &next[i]));
        for (okra_int k = 0; k < degree; k++) {
            CHK(okra_fold_(c, next[i], around[k].edge, around[k].node, &next[i]));
        }
    }
    return OKRA_OK;
}

/* ---- the kernel ---- */

typedef struct wl_params {
    okra_feature_params_ how;
    okra_int h;
} wl_params;

static okra_status extract(const void *arg, const okra_graph_view_ *g, okra_collector_ *c)
{
    const wl_params *p = arg;
    OWNED uint64_t *code = NULL, *next = NULL;
    OWNED okra_neighbour_ *around = NULL;
    MAKE(code, g->nodes);
    MAKE(next, g->nodes);
    CHK(okra_neighbours_(g, &around));
    for (okra_int i = 0; i < g->nodes; i++) {
        CHK(okra_fold_(c, OKRA_CODE_ROOT_, 4, g->label[i], &code[i]));
        CHK(okra_collect_(c, code[i]));
    }
    for (okra_int round = 1; round <= p->h; round++) {
        CHK(okra_refine_(g, c, (uint64_t)round, code, around, next));
        for (okra_int i = 0; i < g->nodes; i++) {
            code[i] = next[i];
            CHK(okra_collect_(c, code[i]));
        }
    }
    return OKRA_OK;
}

static const okra_option table[] = {{"h", OKRA_OPTION_INT, offsetof(wl_params, h), "3", 0,
                                     1000, NULL, "N", "rounds of refinement"},
                                    OKRA_FEATURE_ROWS_(wl_params, "1"),
                                    {.name = NULL}};

const okra_kernel_class_ okra_wl_ = {.name = "wl",
                                     .help = "Weisfeiler-Lehman subtrees of graphs",
                                     .params = {"wl", table, sizeof(wl_params)},
                                     .extract = extract,
                                     OKRA_FEATURE_CLASS_(OKRA_GRAPHS)};
