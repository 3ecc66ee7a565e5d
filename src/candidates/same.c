/*
 * same.c: is it the same molecule, written in another way?
 *
 * Two molecules are the same where a one-to-one map of their atoms keeps element, charge,
 * hydrogens and isotope of atoms and the kind of bonds; marks of stereo chemistry, which
 * the reader drops, play no part. A key is a hash of all codes of atoms, refined until
 * they tell no more atoms apart: the same molecule has the same key, and nearly every
 * other one another. Equal keys are then settled by a search for the map, atom by atom in
 * breadth first order, codes being what an image must have in common; an image is looked
 * for beside that of the atom that the search came from. The search is given up after
 * STEPS trials, which only large and very symmetric molecules reach.
 */
#include "candidates/index.h"

#include "kernel/graphs/graph_features.h"
#include "okra/more/objects.h"
#include "okra/program.h"

enum { STEPS = 200000, REFINED_MOST = 4000000 };

/* A graph with the final codes of its atoms. */
typedef struct coded {
    okra_graph_space_ space;
    okra_collector_ c;
    uint64_t *code, *next;
    okra_neighbour_ *around;
} coded;

static void clear_coded(coded *g)
{
    okra_graph_space_clear_(&g->space);
    okra_coder_free_(g->c.coder);
    FREE(g->c.codes, g->code, g->next, g->around);
}

/* How many different codes there are; `room` is overwritten. */
static okra_int distinct(const uint64_t *code, okra_int count, uint64_t *room)
{
    okra_int different = count > 0;
    memcpy(room, code, (size_t)count * sizeof *code);
    OKRA_SORT_(room, count, okra_by_code_);
    for (okra_int k = 1; k < count; k++) {
        different += room[k] != room[k - 1];
    }
    return different;
}

/* The view of molecule i, and the codes of its atoms. */
static okra_status code_one(const okra_data *data, okra_int i, coded *g)
{
    g->c.count = 0;
    CHK(okra_graph_view_make_(data, i, &g->c, &g->space));
    const okra_graph_view_ *v = &g->space.view;
    FREE(g->code, g->next, g->around);
    g->code = g->next = NULL;
    g->around = NULL;
    MAKE(g->code, v->nodes);
    MAKE(g->next, v->nodes);
    CHK(okra_neighbours_(v, &g->around));
    for (okra_int k = 0; k < v->nodes; k++) {
        CHK(okra_fold_(&g->c, OKRA_CODE_ROOT_, 21, v->label[k], &g->code[k]));
        for (int f = 0; v->atom && f < 3; f++) {
            uint64_t value = (uint64_t)(int64_t)v->atom[4 * k + f];
            CHK(okra_fold_(&g->c, g->code[k], 22, value, &g->code[k]));
        }
    }
    okra_int before = 0, now = distinct(g->code, v->nodes, g->next);
    okra_int most =
        10 + REFINED_MOST / OKRA_MAX_(v->nodes, 1); /* of enormous ones fewer */
    for (okra_int round = 1; now > before && round <= most; round++) {
        CHK(okra_refine_(v, &g->c, (uint64_t)round, g->code, g->around, g->next));
        memcpy(g->code, g->next, (size_t)v->nodes * sizeof *g->code);
        before = now;
        now = distinct(g->code, v->nodes, g->next);
    }
    return OKRA_OK;
}

static okra_status open_coded(const okra_data *data, coded *g)
{
    CHK(okra_coder_create_(NULL, true, &g->c.coder));
    return okra_graph_space_create_(data, &g->space);
}

okra_status okra_molecule_keys_(const okra_data *molecules, uint64_t *keys)
{
    FREED_BY(clear_coded) coded g = {.code = NULL};
    CHK(open_coded(molecules, &g));
    for (okra_int i = 0; i < molecules->n; i++) {
        CHK(code_one(molecules, i, &g));
        /* A sum of mixed codes does not depend on the order of atoms. */
        uint64_t sum = (uint64_t)g.space.view.nodes;
        for (okra_int k = 0; k < g.space.view.nodes; k++) {
            uint64_t mixed;
            CHK(okra_fold_(&g.c, OKRA_CODE_ROOT_, 23, g.code[k], &mixed));
            sum += mixed * UINT64_C(0x9e3779b97f4a7c15);
        }
        CHK(okra_fold_(&g.c, sum, 24, (uint64_t)g.space.view.edges, &keys[i]));
    }
    return OKRA_OK;
}

/* ---- the map ---- */

typedef struct search {
    const okra_graph_view_ *a, *b;
    const uint64_t *code_a, *code_b;
    int32_t *order, *image; /* order[k]: the k-th atom of a; image[atom of a], or -1 */
    int32_t *from;          /* of an atom of a: the one it was found from, or -1 */
    int32_t *try;           /* for the k-th: the next atom of b, or neighbour of the image
                             * of the one it was found from */
    bool *used;
    okra_int steps;
} search;

static void breadth_first(search *s)
{
    okra_int n = s->a->nodes, tail = 0;
    for (okra_int k = 0; k < n; k++) {
        s->image[k] = -1;
        s->used[k] = false;
        s->try[k] = 0;
    }
    for (okra_int root = 0; root < n; root++) { /* image: -2 while waiting */
        if (s->image[root] == -2) {
            continue;
        }
        okra_int head = tail;
        s->order[tail++] = (int32_t)root;
        s->from[root] = -1;
        s->image[root] = -2;
        for (; head < tail; head++) {
            int32_t u = s->order[head];
            for (okra_int k = s->a->first[u]; k < s->a->first[u + 1]; k++) {
                if (s->image[s->a->other[k]] == -1) {
                    s->image[s->a->other[k]] = -2;
                    s->from[s->a->other[k]] = u;
                    s->order[tail++] = s->a->other[k];
                }
            }
        }
    }
    for (okra_int i = 0; i < n; i++) {
        s->image[i] = -1;
    }
}

/* The label of the bond between two atoms of b, and whether there is one. */
static bool bond_of(const okra_graph_view_ *g, int32_t u, int32_t v, uint64_t *label)
{
    for (okra_int k = g->first[u]; k < g->first[u + 1]; k++) {
        if (g->other[k] == v) {
            *label = g->edge_label[k];
            return true;
        }
    }
    return false;
}

/* May atom u of a become v of b, given the atoms that have images? */
static bool goes(const search *s, int32_t u, int32_t v)
{
    const okra_graph_view_ *a = s->a, *b = s->b;
    if (s->used[v] || s->code_a[u] != s->code_b[v] ||
        a->first[u + 1] - a->first[u] != b->first[v + 1] - b->first[v]) {
        return false;
    }
    for (okra_int k = a->first[u]; k < a->first[u + 1]; k++) {
        int32_t other = s->image[a->other[k]];
        uint64_t label = 0;
        if (other >= 0 && (!bond_of(b, v, other, &label) || label != a->edge_label[k])) {
            return false;
        }
    }
    return true;
}

/* The next atom of b that u may become, from s->try[k] on, which moves behind it; -1:
 * none is left. */
static int32_t next_image(search *s, okra_int k, int32_t u)
{
    int32_t beside = s->from[u] < 0 ? -1 : s->image[s->from[u]];
    okra_int first = beside < 0 ? 0 : s->b->first[beside];
    okra_int end = beside < 0 ? s->b->nodes : s->b->first[beside + 1] - first;
    while (s->try[k] < end) {
        int32_t at = s->try[k]++;
        int32_t v = beside < 0 ? at : s->b->other[first + at];
        s->steps++;
        if (goes(s, u, v)) {
            return v;
        }
    }
    return -1;
}

static bool find_map(search *s, bool *sure)
{
    okra_int n = s->a->nodes, k = 0;
    breadth_first(s);
    *sure = true;
    while (k >= 0 && k < n) {
        int32_t u = s->order[k];
        if (s->steps > STEPS) {
            *sure = false;
            return false;
        }
        if (s->image[u] >= 0) { /* back from deeper: take it off */
            s->used[s->image[u]] = false;
            s->image[u] = -1;
        }
        int32_t v = next_image(s, k, u);
        if (v >= 0) {
            s->image[u] = v;
            s->used[v] = true;
            if (++k < n) {
                s->try[k] = 0;
            }
        } else {
            s->try[k--] = 0;
        }
    }
    return k == n;
}

okra_status okra_molecules_same_(const okra_data *a, okra_int i, const okra_data *b,
                                 okra_int j, bool *same, bool *sure)
{
    FREED_BY(clear_coded) coded ga = {.code = NULL}, gb = {.code = NULL};
    search s = {.steps = 0};
    OWNS(&s.order, &s.image, &s.from, &s.try, &s.used);
    CHK(open_coded(a, &ga));
    CHK(open_coded(b, &gb));
    CHK(code_one(a, i, &ga));
    CHK(code_one(b, j, &gb));
    s.a = &ga.space.view;
    s.b = &gb.space.view;
    s.code_a = ga.code;
    s.code_b = gb.code;
    MAKE(s.order, s.a->nodes);
    MAKE(s.image, s.a->nodes);
    MAKE(s.from, s.a->nodes);
    MAKE(s.try, s.a->nodes);
    MAKE(s.used, s.a->nodes);
    *sure = true;
    *same = s.a->nodes == s.b->nodes && s.a->edges == s.b->edges && find_map(&s, sure);
    return OKRA_OK;
}

/* ---- of a collection ---- */

OKRA_ORDER_(by_key, okra_keyed_, OKRA_UP_(key), OKRA_UP_(at))

/* Of molecules with one key those that are no other before them stay: at is -1 else. Of
 * many different ones with one key the first OKRA_ALIKE_MOST_ are looked at. */
static okra_status thin(const okra_data *data, okra_keyed_ *run, okra_int count)
{
    bool sure;
    for (okra_int k = 1; k < count; k++) {
        bool same = false;
        int alike = 0;
        for (okra_int j = 0; j < k && !same && alike < OKRA_ALIKE_MOST_; j++) {
            if (run[j].at >= 0) {
                alike++;
                CHK(okra_molecules_same_(data, run[j].at, data, run[k].at, &same, &sure));
            }
        }
        run[k].at = same ? -1 : run[k].at;
    }
    return OKRA_OK;
}

static bool are_molecules(const okra_data *data)
{
    return data->kind == OKRA_GRAPHS && okra_ragged_field_(&data->groups[0], "atom");
}

okra_status okra_candidates_distinct(const okra_data *data, okra_int *index,
                                     okra_int *count)
{
    OWNED okra_keyed_ *all = NULL;
    OWNED uint64_t *keys = NULL;
    FREED_BY(okra_data_drop_) okra_data *some = NULL;
    okra_int n = 0;
    NOT_NULL(count);
    CHK(okra_data_distinct(data, index, &n));
    *count = n;
    if (!are_molecules(data)) {
        return OKRA_OK;
    }
    MAKE(all, n);
    MAKE(keys, n);
    CHK(okra_data_take(data, index, n, &some));
    CHK(okra_molecule_keys_(some, keys));
    for (okra_int k = 0; k < n; k++) {
        all[k] = (okra_keyed_){keys[k], index[k]};
    }
    qsort(all, (size_t)n, sizeof *all, by_key);
    okra_int kept = 0;
    for (okra_int begin = 0, end = 0; begin < n; begin = end) {
        while (end < n && all[end].key == all[begin].key) {
            end++;
        }
        CHK(thin(data, all + begin, end - begin));
    }
    for (okra_int k = 0; k < n; k++) {
        if (all[k].at >= 0) {
            index[kept++] = all[k].at;
        }
    }
    qsort(index, (size_t)kept, sizeof *index, okra_by_int_);
    *count = kept;
    return OKRA_OK;
}

okra_status okra_candidates_match(const okra_data *data, const okra_data *among,
                                  okra_int *index)
{
    OWNED okra_keyed_ *all = NULL;
    OWNED uint64_t *keys = NULL;
    CHK(okra_data_match(data, among, index));
    if (!are_molecules(data) || !are_molecules(among)) {
        return OKRA_OK;
    }
    okra_int n = among->n, both = n + data->n;
    MAKE(all, both);
    MAKE(keys, both);
    CHK(okra_molecule_keys_(among, keys));
    CHK(okra_molecule_keys_(data, keys + n));
    for (okra_int k = 0; k < both; k++) {
        all[k] = (okra_keyed_){keys[k], k};
    }
    qsort(all, (size_t)both, sizeof *all, by_key);
    for (okra_int begin = 0, k = 0; k < both; k++) { /* of a key, `among` comes first */
        bool same = false, sure;
        begin = all[begin].key == all[k].key ? begin : k;
        for (okra_int j = begin, i = all[k].at - n; i >= 0 && all[j].at < n && !same;
             j++) {
            CHK(okra_molecules_same_(among, all[j].at, data, i, &same, &sure));
            index[i] = same ? all[j].at : index[i];
        }
    }
    return OKRA_OK;
}
