/*
 * perceive.c: one form for every way to write a molecule.
 *
 *   1. hydrogen atoms (no isotope, no charge, one single bond to a heavier atom) become
 *      hydrogen counts;
 *   2. five-valent nitrogen, N(=O)=O and N=N#N, and halogens with double-bonded oxygen
 *      become charge-separated: [N+](=O)[O-];
 *   3. aromatic bonds outside rings are single; the others get a Kekule structure;
 *   4. hydrogens implied by the usual valences are counted;
 *   5. aromaticity is perceived from the Kekule structure;
 *   6. a ring bond between aromatic atoms that is not aromatic itself is single where a
 *      Kekule structure allows it: biphenylene has two, and the choice must not show.
 */
#include "data/molecules/molecule.h"

/* which bonds and atoms of a molecule are on a cycle. Cost: linear. */

/* Bridges are the bonds on no cycle: lowest reachable depth by an explicit stack. */
static okra_status molecule_mark_rings(okra_molecule_ *m)
{
    okra_int n = m->atoms;
    OWNED int32_t *depth = NULL, *low = NULL, *next = NULL, *via = NULL, *stack = NULL;
    ZMAKE(depth, n);
    MAKE(low, n);
    MAKE(next, n);
    MAKE(via, n);
    MAKE(stack, n);
    for (okra_int k = 0; k < m->bonds; k++) {
        m->bond[k].ring = true;
    }
    for (okra_int root = 0; root < n; root++) {
        okra_int top = 0;
        if (depth[root]) {
            continue;
        }
        stack[top++] = (int32_t)root;
        depth[root] = low[root] = 1;
        next[root] = m->first[root];
        via[root] = -1;
        while (top > 0) {
            int32_t u = stack[top - 1];
            if (next[u] < m->first[u + 1]) {
                int32_t k = m->incident[next[u]++];
                int32_t v = okra_bond_other_(&m->bond[k], u);
                if (k == via[u]) {
                    continue;
                }
                if (depth[v]) {
                    low[u] = OKRA_MIN_(low[u], depth[v]);
                } else {
                    depth[v] = low[v] = depth[u] + 1;
                    next[v] = m->first[v];
                    via[v] = k;
                    stack[top++] = v;
                }
                continue;
            }
            top--;
            if (via[u] >= 0) {
                int32_t parent = okra_bond_other_(&m->bond[via[u]], u);
                low[parent] = OKRA_MIN_(low[parent], low[u]);
                m->bond[via[u]].ring = low[u] < depth[u];
            }
        }
    }
    for (okra_int i = 0; i < n; i++) {
        m->atom[i].ring = false;
    }
    for (okra_int k = 0; k < m->bonds; k++) {
        m->atom[m->bond[k].a].ring |= m->bond[k].ring;
        m->atom[m->bond[k].b].ring |= m->bond[k].ring;
    }
    return OKRA_OK;
}

/* single and double bonds for aromatic ones.
 *
 * Problem: an aromatic atom whose usual valence is not used up by its bonds and hydrogens
 * needs one double bond among its aromatic ring bonds; give each such atom exactly one.
 * That is a perfect matching of these atoms along these bonds.
 *
 * Method: greedy matching from the atoms with fewest choices, then augmenting paths with
 * odd cycles shrunk (J. Edmonds, Paths, trees, and flowers, Canadian Journal of
 * Mathematics 17, 1965), needed since rings of five and seven are odd. Cost: linear in
 * practice, O(atoms bonds) for each atom that the greedy pass left. */

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

/* Orders 1 and 2 for the aromatic bonds by a perfect matching; *found says whether. */
static okra_status molecule_kekulise(okra_molecule_ *m, bool *found)
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

static bool plain_hydrogen(const okra_molecule_ *m, okra_int i)
{
    const okra_atom_ *atom = &m->atom[i];
    if (atom->element != 1 || atom->charge || atom->isotope || atom->hydrogens ||
        m->first[i + 1] - m->first[i] != 1) {
        return false;
    }
    const okra_bond_ *bond = &m->bond[m->incident[m->first[i]]];
    return bond->order == 1 && m->atom[okra_bond_other_(bond, i)].element > 1;
}

static okra_status fold_hydrogens(okra_molecule_ *m)
{
    okra_int atoms = 0, bonds = 0;
    OWNED int32_t *moved = NULL;
    MAKE(moved, m->atoms);
    for (okra_int i = 0; i < m->atoms; i++) {
        moved[i] = plain_hydrogen(m, i) ? -1 : (int32_t)atoms++;
    }
    if (atoms == m->atoms) {
        return OKRA_OK;
    }
    for (okra_int k = 0; k < m->bonds; k++) {
        okra_bond_ bond = m->bond[k];
        if (moved[bond.a] < 0 || moved[bond.b] < 0) {
            m->atom[moved[bond.a] < 0 ? bond.b : bond.a].hydrogens++;
            continue;
        }
        bond.a = moved[bond.a];
        bond.b = moved[bond.b];
        m->bond[bonds++] = bond;
    }
    for (okra_int i = 0; i < m->atoms; i++) {
        if (moved[i] >= 0) {
            m->atom[moved[i]] = m->atom[i];
        }
    }
    m->atoms = atoms;
    m->bonds = bonds;
    return okra_molecule_connect_(m);
}

/* Orders of the bonds of atom i, aromatic ones counted once, and its hydrogens. */
static int used_valence(const okra_molecule_ *m, okra_int i)
{
    int used = m->atom[i].hydrogens;
    for (int32_t e = m->first[i]; e < m->first[i + 1]; e++) {
        used += OKRA_MAX_(m->bond[m->incident[e]].order, 1);
    }
    return used;
}

/* Takes one order from a bond of atom i to a neutral `element` and moves a charge along
 * it: X=O to [X+][O-]. */
static bool separate(okra_molecule_ *m, okra_int i, int element, int order)
{
    for (int32_t e = m->first[i]; e < m->first[i + 1]; e++) {
        okra_bond_ *bond = &m->bond[m->incident[e]];
        okra_atom_ *other = &m->atom[okra_bond_other_(bond, i)];
        if (bond->order == order && other->element == element && other->charge == 0) {
            bond->order--;
            other->charge--;
            m->atom[i].charge++;
            return true;
        }
    }
    return false;
}

static void separate_charges(okra_molecule_ *m)
{
    for (okra_int i = 0; i < m->atoms; i++) {
        okra_atom_ *atom = &m->atom[i];
        if (atom->charge) {
            continue;
        }
        int used = used_valence(m, i);
        if (atom->element == 7 && used == 5) {
            if (!separate(m, i, 8, 2)) {
                (void)separate(m, i, 7, 3);
            }
        } else if ((atom->element == 17 || atom->element == 35 || atom->element == 53) &&
                   (used == 3 || used == 5 || used == 7)) {
            while (separate(m, i, 8, 2)) {
            }
        }
    }
}

/* The smallest usual valence that holds the bonds, less the bonds. */
static void imply_hydrogens(okra_molecule_ *m, bool kekule)
{
    for (okra_int i = 0; i < m->atoms; i++) {
        okra_atom_ *atom = &m->atom[i];
        if (!atom->implied) {
            continue;
        }
        int used = used_valence(m, i);
        used += !kekule && atom->aromatic && atom->element == 6;
        atom->implied = false;
        if (atom->valence) {
            atom->hydrogens += OKRA_MAX_(atom->valence % 15 - used, 0);
            continue;
        }
        for (const unsigned char *v = okra_valences_(atom->element, atom->charge); *v;
             v++) {
            if (*v >= used) {
                atom->hydrogens += OKRA_MAX_(*v - used - atom->radical, 0);
                break;
            }
        }
    }
}

static okra_status prefer_single(okra_molecule_ *m)
{
    bool found = false, any = false;
    OWNED int32_t *order = NULL;
    MAKE(order, m->bonds);
    for (okra_int k = 0; k < m->bonds; k++) {
        okra_bond_ *bond = &m->bond[k];
        bool between = bond->ring && bond->order == 2 && m->atom[bond->a].aromatic &&
                       m->atom[bond->b].aromatic && !bond->aromatic;
        order[k] = bond->order;
        any |= between;
        bond->order = bond->aromatic ? 0 : between ? 1 : bond->order;
    }
    if (any) {
        CHK(molecule_kekulise(m, &found));
    }
    for (okra_int k = 0; k < m->bonds && !found; k++) {
        m->bond[k].order = order[k];
    }
    return OKRA_OK;
}

okra_status okra_molecule_perceive_(okra_molecule_ *m, bool *kekule)
{
    bool found = true;
    CHK(okra_molecule_connect_(m));
    CHK(fold_hydrogens(m));
    separate_charges(m);
    CHK(molecule_mark_rings(m));
    for (okra_int k = 0; k < m->bonds; k++) {
        okra_bond_ *bond = &m->bond[k];
        if (bond->aromatic && !bond->ring) {
            bond->aromatic = false;
            bond->order = 1;
        }
    }
    CHK(molecule_kekulise(m, &found));
    imply_hydrogens(m, found);
    if (found) {
        CHK(okra_molecule_aromatise_(m));
        CHK(prefer_single(m));
    }
    GIVE(kekule, found);
    return OKRA_OK;
}

okra_status okra_smiles_read_(const char *text, size_t length, size_t column,
                              okra_molecule_ *m, bool *kekule)
{
    CHK(okra_smiles_parse_(text, length, column, m));
    return okra_molecule_perceive_(m, kekule);
}
