/*
 * graphs.c: collections of labelled graphs and molecules, built object by object, and
 * networks whose nodes are objects.
 */
#include "data/graphs.h"

okra_status okra_graphs_begin_(okra_graphs_builder_ *b, bool molecules)
{
    static const okra_field_ node[] = {{"label", OKRA_FIELD_INT32, 1, NULL},
                                       {"atom", OKRA_FIELD_INT32, 4, NULL}};
    static const okra_field_ edge[] = {{"ends", OKRA_FIELD_INT32, 2, NULL},
                                       {"label", OKRA_FIELD_INT32, 1, NULL}};
    static const okra_field_ byte[] = {{"text", OKRA_FIELD_BYTE, 1, NULL}};
    *b = (okra_graphs_builder_){0};
    CHK(okra_ragged_begin_(&b->nodes, "nodes", molecules ? 2 : 1, node));
    CHK(okra_ragged_begin_(&b->edges, "edges", 2, edge));
    CHK(okra_ragged_begin_(&b->texts, "texts", 1, byte));
    return okra_ragged_begin_(&b->names, "names", 1, byte);
}

okra_status okra_graphs_label_(okra_graphs_builder_ *b, const char *text, size_t length,
                               int32_t *label)
{
    int32_t number = 0;
    size_t k = 0;
    while (k < length && k < 9 && text[k] >= '0' && text[k] <= '9') {
        number = number * 10 + (text[k++] - '0');
    }
    if (length > 0 && k == length && (text[0] != '0' || length == 1)) {
        *label = number;
        return OKRA_OK;
    }
    /* Labels of one object are few: look for the text among those it has. */
    okra_int begin = b->names.elements - okra_ragged_open_count_(&b->names);
    const char *names = (const char *)b->names.group.fields[0].values;
    for (okra_int at = begin; at < b->names.elements;) {
        size_t size = strlen(names + at);
        if (size == length && memcmp(names + at, text, length) == 0) {
            *label = (int32_t)(-1 - (at - begin));
            return OKRA_OK;
        }
        at += (okra_int)size + 1;
    }
    okra_int place = okra_ragged_open_count_(&b->names);
    REFUSE_IF(place + (okra_int)length > 1 << 20 || memchr(text, '\0', length),
              OKRA_EFORMAT, "labels of one graph are too long or hold a zero byte");
    const void *bytes = text, *end = "";
    CHK(okra_ragged_push_many_(&b->names, (okra_int)length, &bytes));
    CHK(okra_ragged_push_(&b->names, &end));
    *label = (int32_t)(-1 - place);
    return OKRA_OK;
}

okra_status okra_graphs_node_(okra_graphs_builder_ *b, int32_t label)
{
    static const int32_t none[4] = {0};
    const void *element[] = {&label, none};
    REFUSE_IF(okra_ragged_open_count_(&b->nodes) == OKRA_GRAPH_NODES_MOST_, OKRA_EFORMAT,
              "more than %d nodes in one graph", OKRA_GRAPH_NODES_MOST_);
    return okra_ragged_push_(&b->nodes, element);
}

okra_status okra_graphs_edge_(okra_graphs_builder_ *b, int32_t from, int32_t to,
                              int32_t label)
{
    const int32_t ends[2] = {OKRA_MIN_(from, to), OKRA_MAX_(from, to)};
    const void *element[] = {ends, &label};
    REFUSE_IF(okra_ragged_open_count_(&b->edges) == OKRA_GRAPH_EDGES_MOST_, OKRA_EFORMAT,
              "more than %d edges in one graph", OKRA_GRAPH_EDGES_MOST_);
    return okra_ragged_push_(&b->edges, element);
}

okra_status okra_graphs_close_(okra_graphs_builder_ *b, const char *text, size_t length)
{
    const void *bytes = text;
    CHK(okra_ragged_push_many_(&b->texts, (okra_int)length, &bytes));
    CHK(okra_ragged_close_(&b->nodes));
    CHK(okra_ragged_close_(&b->edges));
    CHK(okra_ragged_close_(&b->texts));
    return okra_ragged_close_(&b->names);
}

okra_status okra_graphs_molecule_(okra_graphs_builder_ *b, const okra_molecule_ *m,
                                  const char *text, size_t length)
{
    for (okra_int i = 0; i < m->atoms; i++) {
        const okra_atom_ *a = &m->atom[i];
        const int32_t atom[4] = {a->charge, a->hydrogens, a->isotope, a->ring};
        const void *element[] = {&a->element, atom};
        CHK(okra_ragged_push_(&b->nodes, element));
    }
    for (okra_int k = 0; k < m->bonds; k++) {
        const okra_bond_ *bond = &m->bond[k];
        int32_t order = bond->order == 4 ? OKRA_BOND_QUADRUPLE_ : bond->order;
        CHK(okra_graphs_edge_(b, bond->a, bond->b,
                              bond->aromatic ? OKRA_BOND_AROMATIC_ : order));
    }
    return okra_graphs_close_(b, text, length);
}

okra_status okra_graphs_finish_(okra_graphs_builder_ *b, const char *source,
                                okra_data **out)
{
    okra_ragged_builder_ *parts[] = {&b->nodes, &b->edges, &b->texts, &b->names, NULL};
    okra_status st = okra_ragged_data_(OKRA_GRAPHS, parts, source, out);
    okra_graphs_abandon_(b);
    return st;
}

void okra_graphs_abandon_(okra_graphs_builder_ *b)
{
    okra_ragged_abandon_(&b->nodes);
    okra_ragged_abandon_(&b->edges);
    okra_ragged_abandon_(&b->texts);
    okra_ragged_abandon_(&b->names);
}

const char *okra_graphs_text_(const okra_data *data, okra_int i, okra_int *length)
{
    const okra_ragged_ *texts = okra_data_group_(data, "texts");
    *length = texts->offsets[i + 1] - texts->offsets[i];
    return (const char *)texts->fields[0].values + texts->offsets[i];
}

/* ---- networks ---- */

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
    OKRA_SORT_(halves, 2 * count, by_ends);
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
    CHK(names ? copy_names(n, names) : OKRA_OK);
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

/* ---- objects handed over by a program ---- */

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
    CHK(okra_smiles_read_(text, length, 1, m, kekule));
    return okra_graphs_molecule_(b, m, text, strlen(text));
}

okra_status okra_data_smiles(okra_context *context, const char *const *texts, okra_int n,
                             okra_data **out)
{
    FREED_BY(okra_graphs_abandon_) okra_graphs_builder_ b = {0};
    FREED_BY(okra_molecule_clear_) okra_molecule_ m = {0};
    okra_int odd = 0, odd_first = 0;
    NOT_NULL(out);
    CHK(check_texts("SMILES", texts, n));
    CHK(okra_graphs_begin_(&b, true));
    for (okra_int i = 0; i < n; i++) {
        bool kekule = true;
        CHK(okra_cancelled_(context));
        CHK(okra_at_(add_smiles(&b, &m, texts[i], &kekule),
                     "SMILES %" PRId64 " (counted from 0)", i));
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
    CHK(names ? check_texts("names of nodes", names, nodes) : OKRA_OK);
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
