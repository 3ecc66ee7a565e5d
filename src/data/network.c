/*
 * network.c: networks whose nodes are objects, and collections of their nodes.
 */
#include "data/graphs.h"

okra_network_ *okra_network_retain_(const okra_network_ *network)
{
    okra_network_ *own = (okra_network_ *)(uintptr_t)network;
    __atomic_add_fetch(&own->references, 1, __ATOMIC_RELAXED);
    return own;
}

void okra_network_free_(okra_network_ *network)
{
    if (!network || __atomic_sub_fetch(&network->references, 1, __ATOMIC_ACQ_REL) > 0) {
        return;
    }
    for (okra_int i = 0; network->names && i < network->nodes; i++) {
        okra_free_(network->names[i]);
    }
    FREE(network->names, network->adjacency.indptr, network->adjacency.indices,
         network->adjacency.values, network);
}

/* One end of an edge as seen from the other. */
typedef struct half {
    okra_int from, to, edge;
    double weight;
} half;

OKRA_ORDER_(by_ends, half, OKRA_UP_(from), OKRA_UP_(to), OKRA_UP_(edge))

static okra_status check_edge(okra_int nodes, const okra_link_ *e)
{
    REFUSE_IF(e->a < 0 || e->a >= nodes || e->b < 0 || e->b >= nodes, OKRA_EFORMAT,
              "an edge ends at node %lld, there are %lld nodes",
              (long long)(e->a < 0 || e->a >= nodes ? e->a : e->b), (long long)nodes);
    REFUSE_IF(e->a == e->b, OKRA_EFORMAT, "an edge from a node to itself");
    if (!(e->weight > 0 && e->weight <= 1e150)) { /* degrees must stay finite */
        return okra_fail_(
            OKRA_EFORMAT, "the weight %g of an edge; expected %s", e->weight,
            e->weight > 0 ? "at most 1e150"
                          : "more than 0; a pair without an edge is left out");
    }
    return OKRA_OK;
}

static okra_status copy_names(okra_network_ *n, const char *const *names)
{
    ZMAKE(n->names, n->nodes);
    for (okra_int i = 0; i < n->nodes; i++) {
        GOT(n->names[i] = okra_strdup_(names[i]));
    }
    return OKRA_OK;
}

okra_status okra_network_create_(okra_int nodes, const okra_link_ *edges, okra_int count,
                                 const char *const *names, okra_int *bad,
                                 okra_network_ **out)
{
    FREED_BY(okra_network_drop_) okra_network_ *n = NULL;
    OWNED half *halves = NULL;
    okra_int nobody, *at = bad ? bad : &nobody; /* the edge that is wrong */
    *at = 0;
    REFUSE_IF(nodes > OKRA_NETWORK_NODES_MOST_, OKRA_EFORMAT,
              "%lld nodes; at most %d are expected", (long long)nodes,
              OKRA_NETWORK_NODES_MOST_);
    for (; *at < count; ++*at) {
        CHK(check_edge(nodes, &edges[*at]));
    }
    ZMAKE(n, 1);
    n->references = 1;
    n->nodes = nodes;
    MAKE(halves, 2 * count);
    for (okra_int k = 0; k < count; k++) {
        halves[2 * k] = (half){edges[k].a, edges[k].b, k, edges[k].weight};
        halves[2 * k + 1] = (half){edges[k].b, edges[k].a, k, edges[k].weight};
    }
    if (count > 0) {
        qsort(halves, (size_t)(2 * count), sizeof *halves, by_ends);
    }
    ZMAKE(n->adjacency.indptr, nodes + 1);
    MAKE(n->adjacency.indices, 2 * count);
    MAKE(n->adjacency.values, 2 * count);
    for (okra_int k = 0; k < 2 * count; k++) {
        if (k > 0 && halves[k].from == halves[k - 1].from &&
            halves[k].to == halves[k - 1].to) {
            *at = halves[k].edge;
            return okra_fail_(OKRA_EFORMAT,
                              "the edge between nodes %lld and %lld comes twice",
                              (long long)OKRA_MIN_(halves[k].from, halves[k].to),
                              (long long)OKRA_MAX_(halves[k].from, halves[k].to));
        }
        n->adjacency.indptr[halves[k].from + 1]++;
        n->adjacency.indices[k] = halves[k].to;
        n->adjacency.values[k] = halves[k].weight;
    }
    for (okra_int i = 0; i < nodes; i++) {
        n->adjacency.indptr[i + 1] += n->adjacency.indptr[i];
    }
    if (names) {
        CHK(copy_names(n, names));
    }
    *out = TAKE(n);
    return OKRA_OK;
}

bool okra_network_equal_(const okra_network_ *a, const okra_network_ *b)
{
    const okra_csr_ *x = &a->adjacency, *y = &b->adjacency;
    if (a == b) {
        return true;
    }
    if (a->nodes != b->nodes || !a->names != !b->names ||
        memcmp(x->indptr, y->indptr, (size_t)(a->nodes + 1) * sizeof *x->indptr) != 0) {
        return false;
    }
    for (okra_int k = 0; k < x->indptr[a->nodes]; k++) {
        if (x->indices[k] != y->indices[k] || x->values[k] != y->values[k]) {
            return false;
        }
    }
    for (okra_int i = 0; a->names && i < a->nodes; i++) {
        if (strcmp(a->names[i], b->names[i]) != 0) {
            return false;
        }
    }
    return true;
}

okra_status okra_nodes_create_(const okra_network_ *network, const okra_int *codes,
                               okra_int n, const char *source, okra_data **out)
{
    FREED_BY(okra_data_drop_) okra_data *data = NULL;
    okra_int *own = NULL;
    CHK(okra_data_new_(OKRA_NODES, n, network->nodes, source, &data));
    data->network = okra_network_retain_(network);
    MAKE(own, n);
    okra_data_own_(data, own);
    for (okra_int i = 0; i < n; i++) {
        own[i] = codes ? codes[i] : i;
        REFUSE_IF(own[i] < 0 || own[i] >= network->nodes, OKRA_EFORMAT,
                  "node %lld; the network has %lld", (long long)own[i],
                  (long long)network->nodes);
    }
    data->codes = own;
    *out = TAKE(data);
    return OKRA_OK;
}
