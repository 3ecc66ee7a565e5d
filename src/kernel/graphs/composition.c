/*
 * composition.c: how many atoms of each element two molecules share.
 *
 * Features are (element, 1), ..., (element, c) for the c atoms of an element, the
 * hydrogens counted too, so that k(a,b) = sum over elements of min(c_a, c_b); `|
 * tanimoto` makes the sum of the smaller counts over that of the larger ones of it. Of
 * other graphs the labels of nodes are counted.
 */
#include "kernel/graphs/graph_features.h"

/* One feature for each of `count` of a kind. */
static okra_status emit(okra_collector_ *c, uint64_t kind, okra_int count)
{
    for (okra_int k = 1; k <= count; k++) {
        uint64_t code;
        CHK(okra_fold_(c, kind, 11, (uint64_t)k, &code));
        CHK(okra_collect_(c, code));
    }
    return OKRA_OK;
}

static okra_status extract(const void *arg, const okra_graph_view_ *g, okra_collector_ *c)
{
    okra_int hydrogens = 0, run = 0;
    OWNED uint64_t *labels = NULL;
    uint64_t hydrogen;
    MAKE(labels, g->nodes);
    /* The code of an atom of hydrogen, as graph_features.c codes labels. */
    CHK(okra_fold_(c, OKRA_CODE_ROOT_, 1, 1, &hydrogen));
    for (okra_int i = 0; i < g->nodes; i++) {
        labels[i] = g->label[i];
        hydrogens += g->atom && g->atom[4 * i + 1] > 0 ? g->atom[4 * i + 1] : 0;
    }
    OKRA_SORT_(labels, g->nodes, okra_by_code_);
    for (okra_int i = 0; i < g->nodes; i++) {
        run++;
        if (i + 1 == g->nodes || labels[i + 1] != labels[i]) {
            bool more = labels[i] == hydrogen;
            CHK(emit(c, labels[i], run + (more ? hydrogens : 0)));
            hydrogens = more ? 0 : hydrogens;
            run = 0;
        }
    }
    return emit(c, hydrogen, hydrogens);
}

static const okra_option table[] = {
    {"bits", OKRA_OPTION_INT, offsetof(okra_feature_params_, bits), "0", 0, 1 << 24, NULL,
     "N", "hash features to N places; 0: keep all features"},
    {.name = NULL}};

const okra_kernel_class_ okra_composition_ = {
    .name = "composition",
    .help = "molecules: atoms of each element that two share, hydrogens too",
    .params = {"composition", table, sizeof(okra_feature_params_)},
    .extract = extract,
    OKRA_FEATURE_CLASS_(OKRA_GRAPHS)};
