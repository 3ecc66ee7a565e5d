/*
 * tu.c: folders of graphs in the form of the TU Dortmund collection, tu:FOLDER.
 *
 * With NAME the last part of the folder's path: NAME_graph_indicator.txt (the graph of
 * each node, from 1, ascending), NAME_A.txt (edges "i, j", nodes numbered from 1 over all
 * graphs, both directions), and if they are there NAME_node_labels.txt and
 * NAME_edge_labels.txt. A graph is written as its number.
 */
#include "data/files/formats.h"
#include "data/graphs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct tu_edge {
    okra_int a, b, label, line;
} tu_edge;

typedef struct folder {
    okra_int *graph, nodes; /* of each node, from 0 */
    okra_int *label;        /* of each node, or NULL */
    tu_edge *edges;
    okra_int edge_count;
} folder;

/* One file of whole numbers, `width` a line, all into one block. */
static okra_status numbers(const okra_context *ctx, const char *path, int width,
                           bool optional, okra_int **out, okra_int *rows)
{
    FREED_BY(okra_bytes_close_) okra_bytes_ bytes = {0};
    OWNED okra_int *values = NULL;
    okra_int count = 0, room = 0;
    *out = NULL;
    if (optional && access(path, F_OK) != 0) {
        return OKRA_OK;
    }
    CHK(okra_bytes_open_(ctx, path, &bytes));
    okra_lines_ lines = okra_lines_begin_(&bytes);
    while (okra_lines_next_(&lines)) {
        const char *p = lines.begin;
        if (count + width > room) {
            room = room ? 2 * room : 1024;
            RESIZE(values, room);
        }
        for (int k = 0; k < width; k++) {
            while (p < lines.close && (*p == ' ' || *p == '\t' || (k > 0 && *p == ','))) {
                p++;
            }
            const char *from = p;
            bool minus = width == 1 && p < lines.close && *p == '-';
            p += minus;
            REFUSE_IF(!okra_whole_(&p, lines.close, &values[count]), OKRA_EFORMAT,
                      "%s: line %" PRId64 ", character %" PRId64
                      ": expected a whole number",
                      path, lines.number, (int64_t)(from - lines.begin) + 1);
            values[count] = minus ? -values[count] : values[count];
            count++;
        }
        while (p < lines.close && (*p == ' ' || *p == '\t')) {
            p++;
        }
        REFUSE_IF(p < lines.close, OKRA_EFORMAT,
                  "%s: line %" PRId64 ", character %" PRId64 ": expected the end of line",
                  path, lines.number, (int64_t)(p - lines.begin) + 1);
    }
    if (!values) {
        MAKE(values, 1);
    }
    *rows = count / width;
    *out = TAKE(values);
    return OKRA_OK;
}

static int by_graph(const void *a, const void *b)
{
    const tu_edge *x = a, *y = b;
    ORDER_BY(x->a, y->a);
    ORDER_BY(x->b, y->b);
    return (x->line > y->line) - (x->line < y->line);
}

/* Edges with the smaller node first, sorted, each once though both directions came. */
static okra_status take_edges(folder *f, const char *path, const okra_int *ends,
                              const okra_int *labels, okra_int count)
{
    MAKE(f->edges, count);
    for (okra_int k = 0; k < count; k++) {
        okra_int a = ends[2 * k] - 1, b = ends[2 * k + 1] - 1;
        REFUSE_IF(a < 0 || a >= f->nodes || b < 0 || b >= f->nodes, OKRA_EFORMAT,
                  "%s: line %" PRId64 ": node %" PRId64 "; there are %" PRId64 " nodes",
                  path, k + 1, (a < 0 || a >= f->nodes ? a : b) + 1, f->nodes);
        REFUSE_IF(a == b || f->graph[a] != f->graph[b], OKRA_EFORMAT,
                  "%s: line %" PRId64 ": an edge %s", path, k + 1,
                  a == b ? "from a node to itself" : "between nodes of two graphs");
        f->edges[k] =
            (tu_edge){OKRA_MIN_(a, b), OKRA_MAX_(a, b), labels ? labels[k] : 0, k + 1};
    }
    if (count > 0) {
        qsort(f->edges, (size_t)count, sizeof *f->edges, by_graph);
    }
    for (okra_int k = 0; k < count; k++) {
        const tu_edge *last = f->edge_count ? &f->edges[f->edge_count - 1] : NULL;
        if (!last || last->a != f->edges[k].a || last->b != f->edges[k].b) {
            f->edges[f->edge_count++] = f->edges[k];
        } else if (last->label != f->edges[k].label) {
            return okra_fail_(OKRA_EFORMAT,
                              "%s: line %" PRId64
                              ": the edge has another label on line %" PRId64,
                              path, f->edges[k].line, last->line);
        }
    }
    return OKRA_OK;
}

static okra_status check_graphs(const folder *f, const char *path)
{
    for (okra_int i = 0; i < f->nodes; i++) {
        okra_int before = i ? f->graph[i - 1] : 1;
        REFUSE_IF(f->graph[i] < 1 || f->graph[i] < before ||
                      f->graph[i] > before + (i > 0),
                  OKRA_EFORMAT,
                  "%s: line %" PRId64 ": graph %" PRId64
                  "; graphs are numbered from 1, one after another",
                  path, i + 1, f->graph[i]);
    }
    return OKRA_OK;
}

static okra_status label_of(okra_graphs_builder_ *b, okra_int value, int32_t *label)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, value);
    return okra_graphs_label_(b, text, strlen(text), label);
}

static okra_status build(const folder *f, const char *source, okra_data **out)
{
    FREED_BY(okra_graphs_abandon_) okra_graphs_builder_ b = {0};
    okra_int edge = 0;
    CHK(okra_graphs_begin_(&b, false));
    for (okra_int i = 0; i < f->nodes;) {
        okra_int first = i;
        int32_t label;
        char text[32];
        for (; i < f->nodes && f->graph[i] == f->graph[first]; i++) {
            CHK(label_of(&b, f->label ? f->label[i] : 0, &label));
            CHK(okra_graphs_node_(&b, label));
        }
        for (; edge < f->edge_count && f->edges[edge].a < i; edge++) {
            const tu_edge *e = &f->edges[edge];
            CHK(label_of(&b, e->label, &label));
            CHK(okra_graphs_edge_(&b, (int32_t)(e->a - first), (int32_t)(e->b - first),
                                  label));
        }
        snprintf(text, sizeof text, "%" PRId64, f->graph[first]);
        CHK(okra_graphs_close_(&b, text, strlen(text)));
    }
    return okra_graphs_finish_(&b, source, out);
}

okra_status okra_read_tu_(okra_source_ *s, okra_data **out)
{
    okra_status st = OKRA_OK;
    static const char *const parts[] = {"graph_indicator", "node_labels", "A",
                                        "edge_labels"};
    char *path[4] = {NULL};
    folder f = {0};
    okra_int *ends = NULL, *labels = NULL, rows = 0, edges = 0;
    size_t length = strlen(s->path);
    while (length > 1 && s->path[length - 1] == '/') {
        length--;
    }
    size_t begin = length;
    while (begin > 0 && s->path[begin - 1] != '/') {
        begin--;
    }
    for (int k = 0; k < 4; k++) {
        path[k] = okra_format_("%.*s/%.*s_%s.txt", (int)length, s->path,
                               (int)(length - begin), s->path + begin, parts[k]);
        if (!path[k]) {
            st = OKRA_EMEM;
            goto done;
        }
    }
    TRY(numbers(s->ctx, path[0], 1, false, &f.graph, &f.nodes));
    TRY(check_graphs(&f, path[0]));
    TRY(numbers(s->ctx, path[1], 1, true, &f.label, &rows));
    FAIL_IF(f.label && rows != f.nodes, OKRA_EFORMAT,
            "%s: %" PRId64 " lines; there are %" PRId64 " nodes", path[1], rows, f.nodes);
    TRY(numbers(s->ctx, path[2], 2, false, &ends, &edges));
    TRY(numbers(s->ctx, path[3], 1, true, &labels, &rows));
    FAIL_IF(labels && rows != edges, OKRA_EFORMAT,
            "%s: %" PRId64 " lines; there are %" PRId64 " edges", path[3], rows, edges);
    TRY(take_edges(&f, path[2], ends, labels, edges));
    TRY(build(&f, s->name, out));
done:
    for (int k = 0; k < 4; k++) {
        okra_free_(path[k]);
    }
    FREE(f.graph, f.label, f.edges, ends, labels);
    return st;
}
