/*
 * graphml.c: graphs in GraphML, read by expat and written.
 *
 * Every <graph> is an object. The label of a node or edge is the text of its <data> whose
 * <key> has attr.name "label"; without one, labels are 0. Graphs are undirected;
 * hyperedges and nested graphs are refused, as are document type definitions, which could
 * make a small file large. Memory beyond the graphs: a piece of the file, and one element
 * of at most ELEMENT_MOST bytes.
 */
#include "data/graphs.h"
#include "data/files/formats.h"

#include <expat.h>

/* Newer versions of expat deprecate numbers that are 32 bits wide on some systems. */
#if XML_MAJOR_VERSION == 2 && XML_MINOR_VERSION < 9
#define XML_GetCurrentLineNumber64 XML_GetCurrentLineNumber
#define XML_GetCurrentColumnNumber64 XML_GetCurrentColumnNumber
#define XML_GetCurrentByteIndex64 XML_GetCurrentByteIndex
#endif

enum { TEXT_MOST = 4096, PIECE = 1 << 20, ELEMENT_MOST = 1 << 24 };

typedef struct ends {
    int32_t from, to;
    okra_int line;
} ends;

typedef struct reader {
    XML_Parser parser;
    okra_status st;
    okra_graphs_builder_ b;
    okra_names_ ids;                      /* of the nodes of the graph at hand */
    char *node_key, *edge_key, *graph_id; /* ids of the keys of labels */
    bool graph, node, edge, wanted;       /* where we are */
    int32_t label;
    ends *edges; /* of the graph at hand */
    okra_int count, room;
    char text[TEXT_MOST];
    size_t length;
} reader;

/* The first fault stops the parser; expat may call on for a while. */
static void fault(reader *r, const char *what, const char *found)
{
    if (r->st == OKRA_OK) {
        r->st =
            okra_fail_(OKRA_EFORMAT, "line %" PRId64 ", character %" PRId64 ": %s%s%s%s",
                       (int64_t)XML_GetCurrentLineNumber64(r->parser),
                       (int64_t)XML_GetCurrentColumnNumber64(r->parser) + 1, what,
                       found ? " '" : "", found ? found : "", found ? "'" : "");
        XML_StopParser(r->parser, XML_FALSE);
    }
}

/* A call of the library that failed. */
static bool failed(reader *r, okra_status st)
{
    if (st == OKRA_EFORMAT) {
        char *message = okra_strdup_(okra_message());
        fault(r, message ? message : "out of memory", NULL);
        okra_free_(message);
    } else if (st != OKRA_OK && r->st == OKRA_OK) {
        r->st = st;
        XML_StopParser(r->parser, XML_FALSE);
    }
    return st != OKRA_OK;
}

static const char *attribute(const XML_Char **list, const char *name)
{
    for (; *list; list += 2) {
        if (strcmp(list[0], name) == 0) {
            return list[1];
        }
    }
    return NULL;
}

static void start_key(reader *r, const XML_Char **list)
{
    const char *id = attribute(list, "id"), *name = attribute(list, "attr.name");
    const char *what = attribute(list, "for");
    if (!id || !name || strcmp(name, "label") != 0) {
        return;
    }
    bool all = !what || strcmp(what, "all") == 0;
    char **keys[] = {&r->node_key, &r->edge_key};
    static const char *const kinds[] = {"node", "edge"};
    for (int k = 0; k < 2; k++) {
        if (all || strcmp(what, kinds[k]) == 0) {
            okra_free_(*keys[k]);
            *keys[k] = okra_strdup_(id);
            (void)failed(r, *keys[k] ? OKRA_OK : OKRA_EMEM);
        }
    }
}

static void start_graph(reader *r, const XML_Char **list)
{
    const char *directed = attribute(list, "edgedefault"), *id = attribute(list, "id");
    if (r->graph) {
        fault(r, "a graph within a graph is not supported", NULL);
    } else if (directed && strcmp(directed, "undirected") != 0) {
        fault(r, "expected edgedefault undirected, found", directed);
    } else {
        r->graph = true;
        r->count = 0;
        okra_names_free_(&r->ids);
        r->ids = (okra_names_){0};
        okra_free_(r->graph_id);
        r->graph_id = okra_strdup_(id ? id : "");
        (void)failed(r, r->graph_id ? OKRA_OK : OKRA_EMEM);
    }
}

static void start_node(reader *r, const XML_Char **list)
{
    const char *id = attribute(list, "id");
    okra_int code, before = r->ids.texts.count;
    if (!r->graph || r->node || r->edge || !id) {
        fault(r, id ? "a node out of place" : "a node without an id", NULL);
        return;
    }
    if (failed(r, okra_names_add_(&r->ids, id, id + strlen(id), &code))) {
        return;
    }
    if (code < before) {
        fault(r, "a node of this id is there already,", id);
    }
    r->node = true;
    r->label = 0;
}

static void start_edge(reader *r, const XML_Char **list)
{
    const char *name[] = {attribute(list, "source"), attribute(list, "target")};
    const char *directed = attribute(list, "directed");
    okra_int code[2];
    if (!r->graph || r->node || r->edge || !name[0] || !name[1]) {
        fault(r, name[0] && name[1] ? "an edge out of place" : "an edge without two ends",
              NULL);
        return;
    }
    for (int k = 0; k < 2; k++) {
        code[k] = okra_names_find_(&r->ids, name[k], name[k] + strlen(name[k]));
        if (code[k] < 0) {
            fault(r, "an edge to a node that is not there (nodes come first),", name[k]);
            return;
        }
    }
    if (code[0] == code[1]) {
        fault(r, "an edge from a node to itself,", name[0]);
    } else if (directed && strcmp(directed, "true") == 0) {
        fault(r, "a directed edge is not supported", NULL);
    }
    (void)failed(r, okra_reserve_(&r->edges, r->count + 1, &r->room, sizeof *r->edges));
    if (r->st == OKRA_OK) {
        r->edges[r->count++] = (ends){(int32_t)OKRA_MIN_(code[0], code[1]),
                                      (int32_t)OKRA_MAX_(code[0], code[1]),
                                      (okra_int)XML_GetCurrentLineNumber64(r->parser)};
        r->edge = true;
        r->label = 0;
    }
}

static void start(void *user, const XML_Char *name, const XML_Char **list)
{
    reader *r = user;
    const char *colon = strrchr(name, ':'), *key;
    name = colon ? colon + 1 : name;
    r->wanted = false;
    if (r->st != OKRA_OK) {
        return;
    }
    if (strcmp(name, "key") == 0) {
        start_key(r, list);
    } else if (strcmp(name, "graph") == 0) {
        start_graph(r, list);
    } else if (strcmp(name, "node") == 0) {
        start_node(r, list);
    } else if (strcmp(name, "edge") == 0) {
        start_edge(r, list);
    } else if (strcmp(name, "hyperedge") == 0) {
        fault(r, "hyperedges are not supported", NULL);
    } else if (strcmp(name, "data") == 0 && (r->node || r->edge)) {
        const char *mine = r->node ? r->node_key : r->edge_key;
        key = attribute(list, "key");
        r->wanted = key && mine && strcmp(key, mine) == 0;
        r->length = 0;
    }
}

static void characters(void *user, const XML_Char *text, int length)
{
    reader *r = user;
    if (!r->wanted || r->st != OKRA_OK) {
        return;
    }
    if (r->length + (size_t)length > TEXT_MOST) {
        fault(r, "a label of more than 4096 bytes", NULL);
        return;
    }
    memcpy(r->text + r->length, text, (size_t)length);
    r->length += (size_t)length;
}

OKRA_ORDER_(by_ends, ends, OKRA_UP_(from), OKRA_UP_(to), OKRA_UP_(line))

static void end_graph(reader *r)
{
    r->graph = false;
    OKRA_SORT_(r->edges, r->count, by_ends);
    for (okra_int k = 1; k < r->count && r->st == OKRA_OK; k++) {
        const ends *a = &r->edges[k - 1], *b = &r->edges[k];
        if (a->from == b->from && a->to == b->to) {
            r->st = okra_fail_(OKRA_EFORMAT,
                               "line %" PRId64 ": the edge is there already, on line "
                               "%" PRId64,
                               b->line, a->line);
            XML_StopParser(r->parser, XML_FALSE);
        }
    }
    if (r->st == OKRA_OK) {
        (void)failed(r, okra_graphs_close_(&r->b, r->graph_id, strlen(r->graph_id)));
    }
}

static void end(void *user, const XML_Char *name)
{
    reader *r = user;
    const char *colon = strrchr(name, ':');
    name = colon ? colon + 1 : name;
    if (r->st != OKRA_OK) {
        return;
    }
    if (r->wanted) {
        r->wanted = false;
        (void)failed(r, okra_graphs_label_(&r->b, r->text, r->length, &r->label));
    } else if (strcmp(name, "node") == 0) {
        r->node = false;
        (void)failed(r, okra_graphs_node_(&r->b, r->label));
    } else if (strcmp(name, "edge") == 0) {
        const ends *e = &r->edges[r->count - 1];
        r->edge = false;
        (void)failed(r, okra_graphs_edge_(&r->b, e->from, e->to, r->label));
    } else if (strcmp(name, "graph") == 0) {
        end_graph(r);
    }
}

static void doctype(void *user, const XML_Char *name, const XML_Char *system,
                    const XML_Char *public, int internal)
{
    fault(user, "document type definitions are not supported", NULL);
}

static void *get(size_t size)
{
    return okra_alloc_((okra_int)size, 1);
}

static void *resize(void *block, size_t size)
{
    return okra_realloc_(block, (okra_int)size, 1);
}

/* Feeds the file by pieces; an element that does not end is noticed before it fills the
 * memory. */
static okra_status parse(const okra_source_ *s, reader *r)
{
    for (okra_int at = 0; at <= s->bytes.size; at += PIECE) {
        okra_int size = OKRA_MIN_(PIECE, s->bytes.size - at);
        bool last = at + PIECE > s->bytes.size;
        CHK(okra_cancelled_(s->ctx));
        const char *piece = size > 0 ? (const char *)s->bytes.p + at : "";
        enum XML_Status status = XML_Parse(r->parser, piece, (int)size, last);
        CHK(r->st);
        if (status != XML_STATUS_OK) {
            enum XML_Error code = XML_GetErrorCode(r->parser);
            REFUSE_IF(code == XML_ERROR_NO_MEMORY, OKRA_EMEM, "out of memory");
            fault(r, XML_ErrorString(code), NULL);
            CHK(r->st);
        }
        if (at + size - XML_GetCurrentByteIndex64(r->parser) > ELEMENT_MOST) {
            fault(r, "an element of more than 16 million bytes", NULL);
            CHK(r->st);
        }
    }
    return OKRA_OK;
}

/* No randomness from the system: the same file gives the same run. */
static void fix_salt(XML_Parser parser)
{
#if XML_MAJOR_VERSION == 2 && XML_MINOR_VERSION < 8
    (void)XML_SetHashSalt(parser, 1);
#else
    static const uint8_t salt[16] = {1};
    (void)XML_SetHashSalt16Bytes(parser, salt);
#endif
}

static void reader_free(reader **at)
{
    reader *r = *at;
    if (r) {
        if (r->parser) {
            XML_ParserFree(r->parser);
        }
        okra_graphs_abandon_(&r->b);
        okra_names_free_(&r->ids);
        FREE(r->node_key, r->edge_key, r->graph_id, r->edges, r);
    }
}

okra_status okra_read_graphml_(okra_source_ *s, okra_data **out)
{
    static const XML_Memory_Handling_Suite memory = {get, resize, okra_free_};
    FREED_BY(reader_free) reader *r = NULL;
    ZMAKE(r, 1);
    CHK(okra_graphs_begin_(&r->b, false));
    r->parser = XML_ParserCreate_MM(NULL, &memory, NULL);
    REFUSE_IF(!r->parser, OKRA_EMEM, "out of memory");
    fix_salt(r->parser);
    XML_SetUserData(r->parser, r);
    XML_SetElementHandler(r->parser, start, end);
    XML_SetCharacterDataHandler(r->parser, characters);
    XML_SetStartDoctypeDeclHandler(r->parser, doctype);
    CHK(parse(s, r));
    return okra_graphs_finish_(&r->b, s->name, out);
}

/* ---- writing ---- */

static okra_status put_escaped(okra_writer_ *w, const char *text, size_t length)
{
    for (size_t k = 0; k < length; k++) {
        const char *entity = text[k] == '&'   ? "&amp;"
                             : text[k] == '<' ? "&lt;"
                             : text[k] == '>' ? "&gt;"
                             : text[k] == '"' ? "&quot;"
                                              : NULL;
        CHK(okra_writer_put_(w, entity ? entity : text + k, entity ? strlen(entity) : 1));
    }
    return OKRA_OK;
}

static okra_status put_label(okra_writer_ *w, int32_t label, const char *names)
{
    char number[16];
    snprintf(number, sizeof number, "%d", label);
    const char *text = label < 0 ? names - 1 - label : number;
    return put_escaped(w, text, strlen(text));
}

static okra_status put_graph(okra_writer_ *w, const okra_data *data, okra_int i)
{
    const okra_ragged_ *nodes = okra_data_group_(data, "nodes");
    const okra_ragged_ *edges = okra_data_group_(data, "edges");
    const okra_ragged_ *texts = okra_data_group_(data, "names");
    const char *names = (const char *)texts->fields[0].values + texts->offsets[i];
    const int32_t *label = okra_ragged_field_(nodes, "label")->values;
    const int32_t *end_of = okra_ragged_field_(edges, "ends")->values;
    const int32_t *edge_label = okra_ragged_field_(edges, "label")->values;
    okra_int length;
    const char *id = okra_graphs_text_(data, i, &length);
    CHK(okra_writer_printf_(w, "  <graph edgedefault=\"undirected\" id=\""));
    CHK(put_escaped(w, id, (size_t)length));
    CHK(okra_writer_printf_(w, "\">\n"));
    for (okra_int k = nodes->offsets[i]; k < nodes->offsets[i + 1]; k++) {
        CHK(okra_writer_printf_(w, "    <node id=\"n%" PRId64 "\"><data key=\"node\">",
                                k - nodes->offsets[i]));
        CHK(put_label(w, label[k], names));
        CHK(okra_writer_printf_(w, "</data></node>\n"));
    }
    for (okra_int k = edges->offsets[i]; k < edges->offsets[i + 1]; k++) {
        CHK(okra_writer_printf_(
            w, "    <edge source=\"n%d\" target=\"n%d\"><data key=\"edge\">",
            end_of[2 * k], end_of[2 * k + 1]));
        CHK(put_label(w, edge_label[k], names));
        CHK(okra_writer_printf_(w, "</data></edge>\n"));
    }
    return okra_writer_printf_(w, "  </graph>\n");
}

okra_status okra_write_graphml_(okra_writer_ *w, const okra_data *data)
{
    REFUSE_IF(data->kind != OKRA_GRAPHS, OKRA_EUNSUPPORTED,
              "%s data cannot be written as GraphML", okra_kind_name(data->kind));
    CHK(okra_writer_printf_(
        w, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
           "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n"
           "  <key id=\"node\" for=\"node\" attr.name=\"label\" attr.type=\"string\"/>\n"
           "  <key id=\"edge\" for=\"edge\" attr.name=\"label\" "
           "attr.type=\"string\"/>\n"));
    for (okra_int i = 0; i < data->n; i++) {
        CHK(put_graph(w, data, i));
    }
    return okra_writer_printf_(w, "</graphml>\n");
}
