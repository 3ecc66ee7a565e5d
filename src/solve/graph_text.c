/*
 * graph_text.c: "knn(k=10) | normalized | power(p=5)" and its like.
 */
#include "solve/graph.h"

#include <ctype.h>
#include <string.h>

typedef struct values {
    okra_int k, p;
    double share, beta;
} values;

static const okra_option knn_rows[] = {
    {"k", OKRA_OPTION_INT, offsetof(values, k), NULL, 1, 9e15, NULL, "N", "Neighbours"},
    {"share", OKRA_OPTION_NUMBER, offsetof(values, share), NULL, 1e-300, 1, NULL, "V",
     "Neighbours as a share of the inputs"},
    {0}};
static const okra_option power_rows[] = {
    {"p", OKRA_OPTION_INT, offsetof(values, p), "5", 1, 64, NULL, "N", "Exponent"}, {0}};
static const okra_option diffusion_rows[] = {{"beta", OKRA_OPTION_NUMBER,
                                              offsetof(values, beta), "1", 1e-300, 1e300,
                                              NULL, "V", "Time of diffusion"},
                                             {0}};
static const okra_option no_rows[] = {{0}};

static const okra_option_table tables[] = {
    {"graph gram", no_rows, sizeof(values)},
    {"graph knn", knn_rows, sizeof(values)},
    {"graph file", no_rows, sizeof(values)},
    {"graph normalized", no_rows, sizeof(values)},
    {"graph power", power_rows, sizeof(values)},
    {"graph diffusion", diffusion_rows, sizeof(values)},
};
enum { GRAM, KNN, FILE_NAME, NORMALIZED, POWER, DIFFUSION, NAMES };

typedef struct piece {
    int which;
    const char *inside; /* between the brackets, or "" */
    size_t length;
} piece;

static void trim(const char **begin, const char **end)
{
    while (*begin < *end && isspace((unsigned char)**begin)) {
        ++*begin;
    }
    while (*end > *begin && isspace((unsigned char)(*end)[-1])) {
        --*end;
    }
}

/* name or name(...) in begin..end */
static okra_status read_piece(const char *text, const char *begin, const char *end,
                              piece *out)
{
    trim(&begin, &end);
    const char *open = memchr(begin, '(', (size_t)(end - begin));
    const char *name_end = open ? open : end;
    *out = (piece){.which = NAMES, .inside = ""};
    REFUSE_IF(open && end[-1] != ')', OKRA_EARG, "graph: '%s': a bracket is not closed",
              text);
    if (open) {
        const char *a = open + 1, *b = end - 1;
        trim(&a, &b);
        out->inside = a;
        out->length = (size_t)(b - a);
    }
    trim(&begin, &name_end);
    size_t length = (size_t)(name_end - begin);
    for (int k = 0; k < NAMES; k++) {
        const char *name = tables[k].owner + strlen("graph ");
        if (strlen(name) == length && strncmp(name, begin, length) == 0) {
            out->which = k;
        }
    }
    return out->which < NAMES
               ? OKRA_OK
               : okra_fail_(OKRA_EARG,
                            "graph: '%s': '%.*s' is unknown, expected gram, knn(k=N), "
                            "knn(share=V) or file(PATH), then | normalized, power(p=N), "
                            "diffusion(beta=V)",
                            text, (int)length, begin);
}

/* name=value { ',' name=value } as the piece's table says. */
static okra_status read_values(const piece *p, values *out)
{
    const okra_option_table *table = &tables[p->which];
    const char *at = p->inside, *end = p->inside + p->length;
    OWNED char *text = NULL;
    CHK(okra_option_defaults_(table, out));
    while (at < end) {
        const char *stop = memchr(at, ',', (size_t)(end - at));
        stop = stop ? stop : end;
        const char *equals = memchr(at, '=', (size_t)(stop - at));
        const char *name = at, *name_end = equals ? equals : stop;
        trim(&name, &name_end);
        const okra_option *row =
            equals ? okra_option_find_(table, name, (size_t)(name_end - name)) : NULL;
        REFUSE_IF(!row, OKRA_EARG, "%s: '%.*s' is no parameter of it", table->owner,
                  (int)(stop - at), at);
        const char *value = equals + 1, *value_end = stop;
        trim(&value, &value_end);
        okra_free_(text);
        GOT(text = okra_strndup_(value, (size_t)(value_end - value)));
        CHK(okra_option_parse_(table->owner, row, text, (char *)out + row->offset));
        at = stop < end ? stop + 1 : end;
    }
    return OKRA_OK;
}

static okra_status set_source(const char *text, const piece *p, const values *v,
                              okra_graph_text_ *out)
{
    if (p->which == FILE_NAME) {
        out->source = OKRA_GRAPH_FILE_;
        REFUSE_IF(p->length == 0, OKRA_EARG, "graph: '%s': file() names no file", text);
        out->file = okra_strndup_(p->inside, p->length);
        return out->file ? OKRA_OK : OKRA_EMEM;
    }
    out->source = p->which == GRAM ? OKRA_GRAPH_GRAM_ : OKRA_GRAPH_KNN_;
    out->k = v->k;
    out->share = v->share;
    REFUSE_IF(p->which == KNN && (v->k > 0) == (v->share > 0), OKRA_EARG,
              "graph: '%s': knn takes either k=N or share=V", text);
    return OKRA_OK;
}

static okra_status set_stage(const char *text, const piece *p, const values *v,
                             okra_graph_text_ *out)
{
    if (p->which == NORMALIZED) {
        REFUSE_IF(out->normalized || out->stages > 0, OKRA_EARG,
                  "graph: '%s': normalized stands once, right after the graph", text);
        out->normalized = true;
        return OKRA_OK;
    }
    REFUSE_IF(out->stages == OKRA_GRAPH_STAGES_, OKRA_EARG,
              "graph: '%s': more than %d stages", text, OKRA_GRAPH_STAGES_);
    out->stage[out->stages].diffusion = p->which == DIFFUSION;
    out->stage[out->stages++].value = p->which == DIFFUSION ? v->beta : (double)v->p;
    return OKRA_OK;
}

okra_status okra_graph_parse_(const char *text, okra_graph_text_ *out)
{
    okra_graph_text_ g = {0};
    OWNS(&g.file);
    const char *at = text;
    for (int k = 0; at; k++) {
        const char *bar = strchr(at, '|');
        piece p;
        values v = {0};
        CHK(read_piece(text, at, bar ? bar : at + strlen(at), &p));
        REFUSE_IF((p.which < NORMALIZED) != (k == 0), OKRA_EARG,
                  "graph: '%s': %s stands %s", text,
                  tables[p.which].owner + strlen("graph "),
                  k == 0 ? "after a graph and a pipe" : "at the beginning only");
        if (p.which != FILE_NAME) {
            CHK(read_values(&p, &v));
        }
        CHK(k == 0 ? set_source(text, &p, &v, &g) : set_stage(text, &p, &v, &g));
        at = bar ? bar + 1 : NULL;
    }
    *out = TAKE(g);
    return OKRA_OK;
}
