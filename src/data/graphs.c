/*
 * graphs.c: collections of labelled graphs and molecules, built object by object.
 */
#include "data/graphs.h"

#include <string.h>

okra_status okra_graphs_begin_(okra_graphs_builder_ *b, bool molecules)
{
    static const okra_field_ node[] = {{"label", OKRA_FIELD_INT32, 1, NULL},
                                       {"atom", OKRA_FIELD_INT32, 4, NULL}};
    static const okra_field_ edge[] = {{"ends", OKRA_FIELD_INT32, 2, NULL},
                                       {"label", OKRA_FIELD_INT32, 1, NULL}};
    static const okra_field_ byte[] = {{"text", OKRA_FIELD_BYTE, 1, NULL}};
    *b = (okra_graphs_builder_){.molecules = molecules};
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
    okra_status st = OKRA_OK;
    okra_data *data = NULL;
    TRY(okra_data_new_(OKRA_GRAPHS, b->nodes.objects, 0, source, &data));
    okra_ragged_finish_(&b->nodes, &data->groups[0]);
    okra_ragged_finish_(&b->edges, &data->groups[1]);
    okra_ragged_finish_(&b->texts, &data->groups[2]);
    okra_ragged_finish_(&b->names, &data->groups[3]);
    data->group_count = 4;
    *out = data;
done:
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
