/*
 * ecfp.c: circular fingerprints of molecules.
 *
 * An atom begins with (element, neighbours, charge, hydrogens, isotope, on a ring); a
 * node of another graph with (label, degree). Codes are refined `radius` times, and the
 * code of each atom and round is a feature, unless the bonds around the atom up to that
 * radius are exactly those of a feature of an earlier round, which then says the same
 * (after D. Rogers and M. Hahn, Extended-connectivity fingerprints, Journal of Chemical
 * Information and Modeling 50, 2010; of several atoms with the same bonds in one round
 * all are kept, so that no choice among them is needed).
 *
 * The set of bonds is known by the sum of two mixed words a bond; two sets are taken for
 * another with probability 2^-128 a pair. Cost: radius times the size of the
 * surroundings.
 */
#include "kernel/graphs/graph_features.h"

typedef struct ecfp_params {
    okra_feature_params_ how;
    okra_int radius;
} ecfp_params;

typedef struct bond_set {
    uint64_t low, high;
} bond_set;

typedef struct circle {
    const okra_graph_view_ *g;
    int32_t *queue;
    okra_int *node_seen, *edge_seen, stamp;
    bond_set *sets; /* of earlier rounds, sorted; then of this one */
    okra_int old, count;
} circle;

OKRA_ORDER_(by_set, bond_set, OKRA_UP_(low), OKRA_UP_(high))

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 31) * UINT64_C(0x7fb5d329728ea185);
    x = (x ^ x >> 27) * UINT64_C(0x81dadef4bc2dd44d);
    return x ^ x >> 33;
}

/* The bonds at atoms nearer than `radius` to the centre. */
static bond_set surroundings(circle *s, int32_t centre, okra_int radius)
{
    const okra_graph_view_ *g = s->g;
    bond_set set = {0, 0};
    okra_int head = 0, tail = 0;
    s->stamp++;
    s->queue[tail++] = centre;
    s->node_seen[centre] = s->stamp;
    for (okra_int d = 0; d < radius; d++) {
        for (okra_int level = tail; head < level; head++) {
            int32_t u = s->queue[head];
            for (okra_int k = g->first[u]; k < g->first[u + 1]; k++) {
                int32_t v = g->other[k], e = g->edge[k];
                if (s->edge_seen[e] != s->stamp) {
                    s->edge_seen[e] = s->stamp;
                    set.low += mix((uint64_t)e + 1);
                    set.high += mix(~(uint64_t)e);
                }
                if (s->node_seen[v] != s->stamp) {
                    s->node_seen[v] = s->stamp;
                    s->queue[tail++] = v;
                }
            }
        }
    }
    return set;
}

/* (element, degree, ...) as one code; without atoms (label, degree). */
static okra_status begin(const okra_graph_view_ *g, okra_int i, okra_collector_ *c,
                         uint64_t *code)
{
    uint64_t degree = (uint64_t)(g->first[i + 1] - g->first[i]);
    CHK(okra_fold_(c, OKRA_CODE_ROOT_, 7, g->label[i], code));
    CHK(okra_fold_(c, *code, 7, degree, code));
    for (int k = 0; g->atom && k < 4; k++) {
        CHK(okra_fold_(c, *code, 7, (uint64_t)(int64_t)g->atom[4 * i + k], code));
    }
    return OKRA_OK;
}

static okra_status round_of(circle *s, okra_int radius, const uint64_t *code,
                            okra_collector_ *c)
{
    s->old = s->count;
    for (int32_t i = 0; i < s->g->nodes; i++) {
        bond_set set = surroundings(s, i, radius);
        if (!bsearch(&set, s->sets, (size_t)s->old, sizeof set, by_set)) {
            CHK(okra_collect_(c, code[i]));
            s->sets[s->count++] = set;
        }
    }
    qsort(s->sets, (size_t)s->count, sizeof *s->sets, by_set);
    return OKRA_OK;
}

static okra_status extract(const void *arg, const okra_graph_view_ *g, okra_collector_ *c)
{
    const ecfp_params *p = arg;
    OWNED uint64_t *code = NULL, *next = NULL;
    OWNED okra_neighbour_ *around = NULL;
    circle s = {.g = g};
    OWNS(&s.queue, &s.node_seen, &s.edge_seen, &s.sets);
    MAKE(code, g->nodes);
    MAKE(next, g->nodes);
    MAKE(s.queue, g->nodes);
    ZMAKE(s.node_seen, g->nodes);
    ZMAKE(s.edge_seen, g->edges);
    MAKE(s.sets, (p->radius + 1) * g->nodes + 1);
    CHK(okra_neighbours_(g, &around));
    for (okra_int i = 0; i < g->nodes; i++) {
        CHK(begin(g, i, c, &code[i]));
        CHK(okra_collect_(c, code[i]));
    }
    s.sets[s.count++] = (bond_set){0, 0}; /* a lone atom has said all in round 0 */
    for (okra_int radius = 1; radius <= p->radius; radius++) {
        CHK(okra_refine_(g, c, (uint64_t)radius, code, around, next));
        CHK(round_of(&s, radius, next, c));
        for (okra_int i = 0; i < g->nodes; i++) {
            code[i] = next[i];
        }
    }
    return OKRA_OK;
}

static const okra_option table[] = {
    {"radius", OKRA_OPTION_INT, offsetof(ecfp_params, radius), "2", 0, 100, NULL, "N",
     "bonds from the centre of the largest surroundings"},
    OKRA_FEATURE_ROWS_(ecfp_params, "0"),
    {.name = NULL}};

const okra_kernel_class_ okra_ecfp_ = {
    .name = "ecfp",
    .help = "circular surroundings of atoms up to a radius",
    .params = {"ecfp", table, sizeof(ecfp_params)},
    .extract = extract,
    OKRA_FEATURE_CLASS_(OKRA_GRAPHS)};
