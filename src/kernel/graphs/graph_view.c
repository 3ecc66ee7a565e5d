/*
 * graph_view.c: one graph of a collection as the kernels of graphs walk it: labels as
 * codes, the neighbours of every node.
 */
#include "kernel/graphs/graph_features.h"

#include <string.h>

OKRA_SHARED_CLEARS_(okra_graph_space_clear_, okra_graph_space_, it->label, it->edge_label,
                    it->first, it->other, it->edge)

okra_status okra_graph_space_create_(const okra_data *data, okra_graph_space_ *w)
{
    const okra_ragged_ *nodes = okra_data_group_(data, "nodes");
    const okra_ragged_ *edges = okra_data_group_(data, "edges");
    okra_int most_nodes = 0, most_edges = 0;
    for (okra_int i = 0; i < data->n; i++) {
        most_nodes = OKRA_MAX_(most_nodes, nodes->offsets[i + 1] - nodes->offsets[i]);
        most_edges = OKRA_MAX_(most_edges, edges->offsets[i + 1] - edges->offsets[i]);
    }
    MAKE(w->label, most_nodes);
    MAKE(w->first, most_nodes + 2);
    MAKE(w->edge_label, 2 * most_edges);
    MAKE(w->other, 2 * most_edges);
    MAKE(w->edge, 2 * most_edges);
    return OKRA_OK;
}

/* A label as a code: numbers are coded as they are, texts character by character, so that
 * it does not matter where in its object a text stands. */
static okra_status code_label(okra_collector_ *c, int32_t label, const char *names,
                              okra_int length, uint64_t *out)
{
    REFUSE_IF(label < 0 && (-1 - (okra_int)label >= length || names[length - 1]),
              OKRA_EFORMAT, "label %d is not among the %lld bytes of names", label,
              (long long)length);
    if (label >= 0) {
        CHK(okra_fold_(c, OKRA_CODE_ROOT_, 1, (uint64_t)label, out));
        return OKRA_OK;
    }
    CHK(okra_fold_(c, OKRA_CODE_ROOT_, 2, 0, out));
    for (const char *p = names - 1 - label; *p; p++) {
        CHK(okra_fold_(c, *out, 3, (unsigned char)*p, out));
    }
    return OKRA_OK;
}

okra_status okra_graph_view_make_(const okra_data *data, okra_int i, okra_collector_ *c,
                                  okra_graph_space_ *w)
{
    const okra_ragged_ *nodes = okra_data_group_(data, "nodes");
    const okra_ragged_ *edges = okra_data_group_(data, "edges");
    const okra_ragged_ *texts = okra_data_group_(data, "names");
    okra_int n0 = nodes->offsets[i], e0 = edges->offsets[i];
    okra_int n = nodes->offsets[i + 1] - n0, m = edges->offsets[i + 1] - e0;
    const int32_t *label = okra_ragged_field_(nodes, "label")->values;
    const int32_t *ends = okra_ragged_field_(edges, "ends")->values;
    const int32_t *edge_label = okra_ragged_field_(edges, "label")->values;
    const okra_field_ *atom = okra_ragged_field_(nodes, "atom");
    const char *names = (const char *)texts->fields[0].values + texts->offsets[i];
    okra_int length = texts->offsets[i + 1] - texts->offsets[i];

    for (okra_int k = 0; k < n; k++) {
        CHK(code_label(c, label[n0 + k], names, length, &w->label[k]));
    }
    memset(w->first, 0, (size_t)(n + 2) * sizeof *w->first);
    for (okra_int k = 2 * e0; k < 2 * (e0 + m); k++) {
        REFUSE_IF(ends[k] < 0 || ends[k] >= n, OKRA_EFORMAT,
                  "graph %lld: an edge ends at node %d of %lld", (long long)i, ends[k],
                  (long long)n);
        w->first[ends[k] + 2]++;
    }
    for (okra_int k = 2; k < n + 2; k++) {
        w->first[k] += w->first[k - 1];
    }
    for (okra_int k = 0; k < m; k++) {
        uint64_t code;
        CHK(code_label(c, edge_label[e0 + k], names, length, &code));
        for (int end = 0; end < 2; end++) {
            int32_t from = ends[2 * (e0 + k) + end], to = ends[2 * (e0 + k) + 1 - end];
            okra_int place = w->first[from + 1]++;
            w->other[place] = to;
            w->edge[place] = (int32_t)k;
            w->edge_label[place] = code;
        }
    }
    w->view =
        (okra_graph_view_){n,        m,
                           w->label, atom ? (const int32_t *)atom->values + 4 * n0 : NULL,
                           w->first, w->other,
                           w->edge,  w->edge_label};
    return OKRA_OK;
}
