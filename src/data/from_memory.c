/*
 * from_memory.c: molecules, graphs and networks handed over by a program.
 */
#include "data/graphs.h"
#include "data/network.h"

#include <inttypes.h>
#include <string.h>

static okra_status check_texts(const char *what, const char *const *texts, okra_int n)
{
    REFUSE_IF(n < 0 || (!texts && n > 0), OKRA_EARG, "%s: %s", what,
              n < 0 ? "their number is negative" : "the texts are NULL");
    for (okra_int i = 0; i < n; i++) {
        REFUSE_IF(!texts[i], OKRA_EARG, "%s: text %" PRId64 " (counted from 0) is NULL",
                  what, i);
    }
    return OKRA_OK;
}

/* ---- molecules ---- */

/* The SMILES of a text ends at the first blank; the whole text is kept. */
static okra_status add_smiles(okra_graphs_builder_ *b, okra_molecule_ *m,
                              const char *text, bool *kekule)
{
    size_t length = strcspn(text, " \t\r\n");
    REFUSE_IF(length == 0 || strpbrk(text, "\r\n"), OKRA_EFORMAT,
              "expected one SMILES, found %s", length == 0 ? "none" : "several lines");
    CHK(okra_smiles_parse_(text, length, 1, m));
    CHK(okra_molecule_perceive_(m, kekule));
    return okra_graphs_molecule_(b, m, text, strlen(text));
}

okra_status okra_data_smiles(okra_context *context, const char *const *texts, okra_int n,
                             okra_data **out)
{
    okra_status st = OKRA_OK;
    FREED_BY(okra_graphs_abandon_) okra_graphs_builder_ b = {0};
    FREED_BY(okra_molecule_clear_) okra_molecule_ m = {0};
    okra_int odd = 0, odd_first = 0;
    NOT_NULL(out);
    CHK(check_texts("SMILES", texts, n));
    CHK(okra_graphs_begin_(&b, true));
    for (okra_int i = 0; i < n; i++) {
        bool kekule = true;
        CHK(okra_cancelled_(context));
        st = add_smiles(&b, &m, texts[i], &kekule);
        if (st == OKRA_EFORMAT) {
            okra_message_prefix_("SMILES %" PRId64 " (counted from 0)", i);
        }
        CHK(st);
        odd_first = !kekule && odd == 0 ? i : odd_first;
        odd += !kekule;
    }
    if (odd > 0) {
        okra_warn_(context,
                   "%" PRId64 " molecules (the first one is SMILES %" PRId64
                   ", counted from 0) have no Kekule structure; their aromatic atoms are "
                   "taken as they are written",
                   odd, odd_first);
    }
    return okra_graphs_finish_(&b, "memory", out);
}

/* ---- graphs ---- */

static okra_status check_first(const char *what, const okra_int *first, okra_int n)
{
    REFUSE_IF(!first || first[0] != 0, OKRA_EARG, "graphs: %s must begin with 0", what);
    for (okra_int i = 0; i < n; i++) {
        REFUSE_IF(first[i + 1] < first[i], OKRA_EARG,
                  "graphs: %s decreases at graph %" PRId64 " (counted from 0)", what, i);
    }
    return OKRA_OK;
}

static okra_status label_of(okra_graphs_builder_ *b, const char *const *labels,
                            okra_int k, int32_t *label)
{
    *label = 0;
    return labels ? okra_graphs_label_(b, labels[k], strlen(labels[k]), label) : OKRA_OK;
}

okra_status okra_data_graphs(const okra_int *first_node, const char *const *node_labels,
                             const okra_int *first_edge, const okra_int *ends,
                             const char *const *edge_labels, okra_int n, okra_data **out)
{
    NOT_NULL(out);
    FREED_BY(okra_graphs_abandon_) okra_graphs_builder_ b = {0};
    int32_t label;
    REFUSE_IF(n < 0, OKRA_EARG, "graphs: their number is negative");
    CHK(check_first("first_node", first_node, n));
    CHK(check_first("first_edge", first_edge, n));
    if (node_labels) {
        CHK(check_texts("labels of nodes", node_labels, first_node[n]));
    }
    if (edge_labels) {
        CHK(check_texts("labels of edges", edge_labels, first_edge[n]));
    }
    REFUSE_IF(!ends && first_edge[n] > 0, OKRA_EARG, "graphs: ends are NULL");
    CHK(okra_graphs_begin_(&b, false));
    for (okra_int i = 0; i < n; i++) {
        okra_int nodes = first_node[i + 1] - first_node[i];
        REFUSE_IF(nodes > OKRA_GRAPH_NODES_MOST_, OKRA_EARG,
                  "graph %" PRId64 " has %" PRId64 " nodes; at most %d", i, nodes,
                  OKRA_GRAPH_NODES_MOST_);
        for (okra_int k = first_node[i]; k < first_node[i + 1]; k++) {
            CHK(label_of(&b, node_labels, k, &label));
            CHK(okra_graphs_node_(&b, label));
        }
        for (okra_int k = first_edge[i]; k < first_edge[i + 1]; k++) {
            okra_int a = ends[2 * k], z = ends[2 * k + 1];
            REFUSE_IF(a < 0 || a >= nodes || z < 0 || z >= nodes || a == z, OKRA_EARG,
                      "graph %" PRId64 " (counted from 0): an edge between nodes %" PRId64
                      " and %" PRId64 "; expected two of its %" PRId64 " nodes",
                      i, a, z, nodes);
            CHK(label_of(&b, edge_labels, k, &label));
            CHK(okra_graphs_edge_(&b, (int32_t)a, (int32_t)z, label));
        }
        CHK(okra_graphs_close_(&b, "", 0));
    }
    return okra_graphs_finish_(&b, "memory", out);
}

/* ---- nodes of a network ---- */

okra_status okra_data_nodes(okra_int nodes, const char *const *names,
                            const okra_int *ends, const double *weights, okra_int edges,
                            const okra_int *codes, okra_int n, okra_data **out)
{
    OWNED okra_link_ *links = NULL;
    FREED_BY(okra_network_drop_) okra_network_ *network = NULL;
    okra_int bad = -1;
    NOT_NULL(out);
    REFUSE_IF(nodes < 0 || edges < 0 || (codes && n < 0) || (!ends && edges > 0),
              OKRA_EARG, "network: %s",
              ends || edges <= 0 ? "a number is negative" : "ends are NULL");
    if (names) {
        CHK(check_texts("names of nodes", names, nodes));
    }
    MAKE(links, edges);
    for (okra_int k = 0; k < edges; k++) {
        links[k] = (okra_link_){ends[2 * k], ends[2 * k + 1], weights ? weights[k] : 1};
    }
    okra_status st = okra_network_create_(nodes, links, edges, names, &bad, &network);
    if (st == OKRA_EFORMAT && edges > 0) {
        okra_message_prefix_("edge %" PRId64 " (counted from 0)", bad);
    }
    CHK(st);
    return okra_nodes_create_(network, codes, codes ? n : nodes, "memory", out);
}
