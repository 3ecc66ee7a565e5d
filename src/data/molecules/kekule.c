/*
 * kekule.c: single and double bonds for aromatic ones.
 *
 * Problem: an aromatic atom whose usual valence is not used up by its bonds and hydrogens
 * needs one double bond among its aromatic ring bonds; give each such atom exactly one.
 * That is a perfect matching of these atoms along these bonds.
 *
 * Method: greedy matching from the atoms with fewest choices, then augmenting paths with
 * odd cycles shrunk (J. Edmonds, Paths, trees, and flowers, Canadian Journal of
 * Mathematics 17, 1965), needed since rings of five and seven are odd. Cost: linear in
 * practice, O(atoms bonds) for each atom that the greedy pass left.
 */
#include "data/molecules/molecule.h"

typedef struct matcher {
    const okra_molecule_ *m;
    bool *needs;    /* atom takes part                                               */
    int32_t *mate;  /* atom matched, or -1                                           */
    int32_t *from;  /* alternating tree: the atom before                             */
    int32_t *base;  /* of the shrunk odd cycle that holds the atom                   */
    int32_t *queue; /*                                                              */
    bool *even;     /* outer atoms of the tree                                       */
    bool *mark, *blossom;
} matcher;

static bool usable(const matcher *s, const okra_bond_ *bond)
{
    return bond->aromatic && bond->ring && s->needs[bond->a] && s->needs[bond->b];
}

/* One more double bond fits in the smallest valence that holds what is there. */
static bool needs_double(const okra_molecule_ *m, okra_int i)
{
    const okra_atom_ *atom = &m->atom[i];
    int used = atom->hydrogens;
    bool any = false;
    for (int32_t e = m->first[i]; e < m->first[i + 1]; e++) {
        const okra_bond_ *bond = &m->bond[m->incident[e]];
        used += OKRA_MAX_(bond->order, 1);
        any |= bond->aromatic && bond->ring;
    }
    for (const unsigned char *v = okra_valences_(atom->element, atom->charge); *v; v++) {
        if (*v >= used) {
            return any && *v > used;
        }
    }
    return false;
}

/* How many free neighbours atom i could be matched with, and the last of them. */
static int32_t choices(const matcher *s, int32_t i, int32_t *chosen)
{
    const okra_molecule_ *m = s->m;
    int32_t count = 0;
    for (int32_t e = m->first[i]; e < m->first[i + 1]; e++) {
        const okra_bond_ *bond = &m->bond[m->incident[e]];
        int32_t j = okra_bond_other_(bond, i);
        if (usable(s, bond) && s->mate[j] < 0) {
            count++;
            *chosen = j;
        }
    }
    return count;
}

/* Matches the atoms on the stack that have one choice (the seed: any), and so on with the
 * atoms around them. `stack` has room for every bond end. */
static void match_from(matcher *s, int32_t seed, bool any, int32_t *stack)
{
    const okra_molecule_ *m = s->m;
    okra_int top = 0;
    stack[top++] = seed;
    while (top > 0) {
        int32_t i = stack[--top], pair[2] = {i, -1};
        int32_t count = s->needs[i] && s->mate[i] < 0 ? choices(s, i, &pair[1]) : 0;
        if (count != 1 && !(any && i == seed && count > 0)) {
            continue;
        }
        s->mate[i] = pair[1];
        s->mate[pair[1]] = i;
        for (int k = 0; k < 2; k++) {
            int32_t u = pair[k];
            for (int32_t e = m->first[u]; e < m->first[u + 1]; e++) {
                stack[top++] = okra_bond_other_(&m->bond[m->incident[e]], u);
            }
        }
    }
}

static void match_greedily(matcher *s, int32_t *stack)
{
    for (int any = 0; any < 2; any++) {
        for (int32_t i = 0; i < s->m->atoms; i++) {
            match_from(s, i, any == 1, stack);
        }
    }
}

static int32_t common_base(matcher *s, int32_t a, int32_t b)
{
    for (okra_int i = 0; i < s->m->atoms; i++) {
        s->mark[i] = false;
    }
    for (;;) {
        a = s->base[a];
        s->mark[a] = true;
        if (s->mate[a] < 0) {
            break;
        }
        a = s->from[s->mate[a]];
    }
    for (;;) {
        b = s->base[b];
        if (s->mark[b]) {
            return b;
        }
        b = s->from[s->mate[b]];
    }
}

static void mark_path(matcher *s, int32_t v, int32_t base, int32_t child)
{
    while (s->base[v] != base) {
        s->blossom[s->base[v]] = s->blossom[s->base[s->mate[v]]] = true;
        s->from[v] = child;
        child = s->mate[v];
        v = s->from[s->mate[v]];
    }
}

static void shrink(matcher *s, int32_t u, int32_t v, okra_int *tail)
{
    int32_t base = common_base(s, u, v);
    okra_int n = s->m->atoms;
    for (okra_int i = 0; i < n; i++) {
        s->blossom[i] = false;
    }
    mark_path(s, u, base, v);
    mark_path(s, v, base, u);
    for (int32_t i = 0; i < n; i++) {
        if (s->blossom[s->base[i]]) {
            s->base[i] = base;
            if (!s->even[i]) {
                s->even[i] = true;
                s->queue[(*tail)++] = i;
            }
        }
    }
}

/* The free end of an augmenting path from `root`, or -1. */
static int32_t grow(matcher *s, int32_t root)
{
    const okra_molecule_ *m = s->m;
    okra_int head = 0, tail = 0;
    for (int32_t i = 0; i < m->atoms; i++) {
        s->from[i] = -1;
        s->base[i] = i;
        s->even[i] = false;
    }
    s->even[root] = true;
    s->queue[tail++] = root;
    while (head < tail) {
        int32_t u = s->queue[head++];
        for (int32_t e = m->first[u]; e < m->first[u + 1]; e++) {
            const okra_bond_ *bond = &m->bond[m->incident[e]];
            int32_t v = okra_bond_other_(bond, u);
            if (!usable(s, bond) || s->base[u] == s->base[v] || s->mate[u] == v) {
                continue;
            }
            if (v == root || (s->mate[v] >= 0 && s->from[s->mate[v]] >= 0)) {
                shrink(s, u, v, &tail);
            } else if (s->from[v] < 0) {
                s->from[v] = u;
                if (s->mate[v] < 0) {
                    return v;
                }
                s->even[s->mate[v]] = true;
                s->queue[tail++] = s->mate[v];
            }
        }
    }
    return -1;
}

static bool augment(matcher *s, int32_t root)
{
    int32_t v = grow(s, root);
    if (v < 0) {
        return false;
    }
    while (v >= 0) {
        int32_t u = s->from[v], next = s->mate[u];
        s->mate[v] = u;
        s->mate[u] = v;
        v = next;
    }
    return true;
}

okra_status okra_molecule_kekulise_(okra_molecule_ *m, bool *found)
{
    okra_int n = m->atoms;
    matcher s = {.m = m};
    OWNS(&s.needs, &s.mate, &s.from, &s.base, &s.queue, &s.even, &s.mark, &s.blossom);
    OWNED int32_t *stack = NULL;
    MAKE(stack, 2 * m->bonds + 1);
    MAKE(s.needs, n);
    MAKE(s.mate, n);
    MAKE(s.from, n);
    MAKE(s.base, n);
    MAKE(s.queue, n);
    MAKE(s.even, n);
    MAKE(s.mark, n);
    MAKE(s.blossom, n);
    for (okra_int i = 0; i < n; i++) {
        s.needs[i] = needs_double(m, i);
        s.mate[i] = -1;
    }
    match_greedily(&s, stack);
    *found = true;
    for (int32_t i = 0; i < n && *found; i++) {
        if (s.needs[i] && s.mate[i] < 0) {
            *found = augment(&s, i);
        }
    }
    for (okra_int k = 0; k < m->bonds && *found; k++) {
        okra_bond_ *bond = &m->bond[k];
        if (bond->aromatic) {
            bond->order = usable(&s, bond) && s.mate[bond->a] == bond->b ? 2 : 1;
        }
    }
    return OKRA_OK;
}
