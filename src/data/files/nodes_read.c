/*
 * nodes_read.c: nodes of a network, nodes:FILE[:LIST].
 *
 * FILE is an edge list (.edges, .tsv, .csv, .txt: a line is "a b" or "a b weight", "a"
 * alone for a node without edges; blanks, tabs or a comma between; # begins a comment
 * line; a table may have a header) or a symmetric matrix of weights (.mtx, .npy, ...).
 * Nodes of an edge list are called by name, in order of number if all names are whole
 * numbers, else in order of their first line; nodes of a matrix by number from 0. LIST
 * names the objects, one per line; without it all nodes are the objects, in order.
 */
#include "data/files/formats.h"
#include "data/graphs.h"

typedef struct edges {
    okra_link_ *list;
    okra_int *line; /* where each was */
    okra_int count, room;
} edges;

static okra_status add_edge(edges *e, okra_link_ link, okra_int line)
{
    okra_int room = e->room;
    CHK(okra_reserve_(&e->list, e->count + 1, &room, sizeof link));
    CHK(okra_reserve_(&e->line, e->count + 1, &e->room, sizeof line));
    e->list[e->count] = link;
    e->line[e->count++] = line;
    return OKRA_OK;
}

/* The words of a line, blanks or one comma between them; at most four are looked at. */
static int split(const okra_lines_ *line, const char *word[4], const char *close[4])
{
    const char *p = line->begin;
    int count = 0;
    while (count < 4) {
        while (p < line->close && (*p == ' ' || *p == '\t' || *p == ',')) {
            p++;
        }
        if (p == line->close) {
            break;
        }
        word[count] = p;
        while (p < line->close && *p != ' ' && *p != '\t' && *p != ',') {
            p++;
        }
        close[count++] = p;
    }
    return count;
}

static okra_status read_line(const okra_lines_ *line, okra_names_ *n, edges *e)
{
    const char *word[4], *close[4];
    okra_link_ link = {0, 0, 1};
    int count = split(line, word, close);
    REFUSE_IF(count == 0 || count > 3, OKRA_EFORMAT,
              "line %" PRId64 ", character %" PRId64
              ": expected two nodes and perhaps a weight, found %s",
              line->number, (int64_t)(count ? word[3] - line->begin : 0) + 1,
              count ? "more" : "an empty line");
    CHK(okra_names_add_(n, word[0], close[0], &link.a));
    if (count == 1) {
        return OKRA_OK;
    }
    CHK(okra_names_add_(n, word[1], close[1], &link.b));
    REFUSE_IF(count == 3 &&
                  okra_number_(word[2], close[2], &link.weight) != OKRA_TOKEN_NUMBER_,
              OKRA_EFORMAT,
              "line %" PRId64 ", character %" PRId64 ": the weight is not a number",
              line->number, (int64_t)(word[2] - line->begin) + 1);
    REFUSE_IF(link.a == link.b, OKRA_EFORMAT,
              "line %" PRId64 ", character %" PRId64 ": an edge from a node to itself",
              line->number, (int64_t)(word[1] - line->begin) + 1);
    return add_edge(e, link, line->number);
}

typedef struct ranked {
    okra_int number, code;
} ranked;

OKRA_ORDER_(by_number, ranked, OKRA_UP_(number))

/* order[new] = old: by number if all names are numbers; else as they came. */
static okra_status order_names(const okra_names_ *n, okra_int **out)
{
    OWNED ranked *r = NULL;
    okra_int *order = NULL, count = n->texts.count;
    bool numbers = true;
    MAKE(r, count);
    MAKE(order, count);
    for (okra_int i = 0; i < count; i++) {
        r[i] =
            (ranked){okra_plain_number_(okra_name_(n, i), INT64_C(999999999999999)), i};
        numbers &= r[i].number >= 0;
    }
    OKRA_SORT_(r, numbers ? count : 0, by_number);
    for (okra_int i = 0; i < count; i++) {
        order[i] = r[i].code;
    }
    *out = order;
    return OKRA_OK;
}

/* Whether a table begins with a header: no word of the first line is a number, though the
 * third would have to be one, or though the nodes of the second line are. */
static bool has_header(okra_lines_ lines)
{
    const char *word[4], *close[4];
    double value;
    int count = okra_lines_next_(&lines) ? split(&lines, word, close) : 0;
    for (int k = 0; k < count; k++) {
        if (okra_number_(word[k], close[k], &value) == OKRA_TOKEN_NUMBER_) {
            return false;
        }
    }
    return count == 3 ||
           (count == 2 && okra_lines_next_(&lines) && split(&lines, word, close) == 2 &&
            okra_number_(word[0], close[0], &value) == OKRA_TOKEN_NUMBER_ &&
            okra_number_(word[1], close[1], &value) == OKRA_TOKEN_NUMBER_);
}

static okra_status read_edges(const okra_source_ *s, bool table, okra_network_ **out)
{
    FREED_BY(okra_names_free_) okra_names_ n = {0};
    edges e = {0};
    OWNS(&e.list, &e.line);
    OWNED okra_int *order = NULL, *place = NULL;
    OWNED char **sorted = NULL;
    okra_int bad = 0;
    okra_lines_ lines = okra_lines_begin_(&s->bytes);
    if (table && has_header(lines)) {
        (void)okra_lines_next_(&lines);
    }
    while (okra_lines_next_(&lines)) {
        if (lines.begin < lines.close && *lines.begin == '#') {
            continue;
        }
        CHK(okra_line_check_(&lines));
        CHK(read_line(&lines, &n, &e));
    }
    CHK(okra_cancelled_(s->ctx));
    CHK(order_names(&n, &order));
    MAKE(place, n.texts.count);
    MAKE(sorted, n.texts.count);
    for (okra_int i = 0; i < n.texts.count; i++) {
        place[order[i]] = i;
        sorted[i] = n.texts.block + n.texts.offsets[order[i]];
    }
    for (okra_int k = 0; k < e.count; k++) {
        e.list[k].a = place[e.list[k].a];
        e.list[k].b = place[e.list[k].b];
    }
    okra_status st = okra_network_create_(n.texts.count, e.list, e.count,
                                          (const char *const *)sorted, &bad, out);
    if (st == OKRA_EFORMAT && bad < e.count) {
        okra_message_prefix_("line %" PRId64, e.line[bad]);
    }
    return st;
}

/* ---- matrices ---- */

/* Adds an edge for entry (i, j). */
static okra_status matrix_entry(okra_int i, okra_int j, double value, edges *e)
{
    if (value == 0) {
        return OKRA_OK;
    }
    REFUSE_IF(i == j || !(value > 0), OKRA_EFORMAT,
              "row %" PRId64 ", column %" PRId64 ", counted from 0: %s", i, j,
              i == j ? "an edge from a node to itself"
                     : "the weight of an edge must be more than 0");
    return add_edge(e, (okra_link_){i, j, value}, 0);
}

OKRA_ORDER_(by_place, okra_link_, OKRA_UP_(a), OKRA_UP_(b))

/* Both halves of a symmetric matrix come: pairs them off, keeps the lower one. */
static okra_status fold_halves(edges *e)
{
    okra_int kept = 0;
    for (okra_int k = 0; k < e->count; k++) {
        okra_link_ flipped = {e->list[k].b, e->list[k].a, 0};
        const okra_link_ *other =
            bsearch(&flipped, e->list, (size_t)e->count, sizeof flipped, by_place);
        REFUSE_IF(!other || other->weight != e->list[k].weight, OKRA_EFORMAT,
                  "row %" PRId64 ", column %" PRId64
                  ", counted from 0: the matrix is not symmetric",
                  e->list[k].a, e->list[k].b);
    }
    for (okra_int k = 0; k < e->count; k++) {
        if (e->list[k].a > e->list[k].b) {
            e->list[kept++] = e->list[k];
        }
    }
    e->count = kept;
    return OKRA_OK;
}

static okra_status from_matrix(const okra_data *m, okra_network_ **out)
{
    edges e = {0};
    OWNS(&e.list, &e.line);
    if (m->n != m->d || (m->kind != OKRA_DENSE && m->kind != OKRA_SPARSE)) {
        char text[96];
        return okra_fail_(OKRA_EFORMAT, "found %s; expected a square matrix of weights",
                          okra_data_describe_(m, text, sizeof text));
    }
    for (okra_int i = 0; i < m->n; i++) {
        if (m->kind == OKRA_DENSE) {
            for (okra_int j = 0; j < m->d; j++) {
                CHK(matrix_entry(i, j, m->values[i * m->ld + j], &e));
            }
            continue;
        }
        for (okra_int k = m->csr.indptr[i]; k < m->csr.indptr[i + 1]; k++) {
            CHK(matrix_entry(i, m->csr.indices[k], m->csr.values[k], &e));
        }
    }
    CHK(fold_halves(&e)); /* rows and columns ascend: the list is sorted */
    return okra_network_create_(m->n, e.list, e.count, NULL, NULL, out);
}

/* ---- the objects ---- */

static okra_status list_objects(const okra_source_ *s, const okra_network_ *network,
                                okra_data **out)
{
    OWNED okra_int *codes = NULL;
    FREED_BY(okra_names_free_) okra_names_ n = {0};
    FREED_BY(okra_bytes_close_) okra_bytes_ bytes = {0};
    okra_int count = 0, room = 0, known = network->nodes;
    CHK(okra_bytes_open_(s->ctx, s->part, &bytes));
    for (okra_int i = 0; network->names && i < known; i++) {
        okra_int code;
        const char *name = network->names[i];
        CHK(okra_names_add_(&n, name, name + strlen(name), &code));
    }
    okra_lines_ lines = okra_lines_begin_(&bytes);
    while (okra_lines_next_(&lines)) {
        const char *p = lines.begin, *word, *close, *more, *after;
        okra_int code = -1;
        CHK(okra_line_check_(&lines));
        bool found = okra_word_(&p, lines.close, &word, &close);
        REFUSE_IF(okra_word_(&p, lines.close, &more, &after), OKRA_EFORMAT,
                  "%s: line %" PRId64 ", character %" PRId64
                  ": expected one node, found more",
                  s->part, lines.number, (int64_t)(more - lines.begin) + 1);
        if (found && network->names) {
            code = okra_names_find_(&n, word, close);
        } else if (found && (!okra_whole_(&word, close, &code) || word != close)) {
            code = -1;
        }
        REFUSE_IF(!found || code < 0 || code >= known, OKRA_EFORMAT,
                  "%s: line %" PRId64 ", character %" PRId64 ": %s", s->part,
                  lines.number, (int64_t)(found ? word - lines.begin : 0) + 1,
                  found ? "no node of the network has this name"
                        : "expected a node, found an empty line");
        EXTEND(codes, count, room, 256);
        codes[count++] = code;
    }
    return okra_nodes_create_(network, codes, count, s->name, out);
}

okra_status okra_read_nodes_(const okra_file_format_ *format, okra_source_ *s,
                             okra_data **out)
{
    FREED_BY(okra_network_drop_) okra_network_ *network = NULL;
    FREED_BY(okra_data_drop_) okra_data *matrix = NULL;
    bool table = format->read == okra_read_csv_ || format->read == okra_read_tsv_;
    if (table || format->read == okra_read_txt_ || format->read == okra_read_edges_) {
        CHK(read_edges(s, table, &network));
    } else {
        okra_source_ inner = *s;
        inner.part = NULL;
        inner.how = OKRA_HOW_FOUND_;
        okra_status st = format->read(&inner, &matrix);
        s->bytes = inner.bytes; /* the reader may have taken them over */
        CHK(st);
        CHK(from_matrix(matrix, &network));
    }
    CHK(s->part ? list_objects(s, network, out)
                : okra_nodes_create_(network, NULL, network->nodes, s->name, out));
    return OKRA_OK;
}

okra_status okra_read_edges_(okra_source_ *s, okra_data **out)
{
    return okra_read_nodes_(okra_format_find_("edges", 5), s, out);
}

okra_status okra_write_nodes_(okra_writer_ *w, const okra_data *data)
{
    REFUSE_IF(data->kind != OKRA_NODES, OKRA_EUNSUPPORTED,
              "%s data cannot be written as nodes", okra_kind_name(data->kind));
    for (okra_int i = 0; i < data->n; i++) {
        okra_int code = data->codes[i];
        CHK(data->network->names
                ? okra_put_line_(w, data->network->names[code], "node", code)
                : okra_writer_printf_(w, "%" PRId64 "\n", code));
    }
    return OKRA_OK;
}
