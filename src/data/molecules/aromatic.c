/*
 * aromatic.c: which rings are aromatic, from a Kekule structure.
 *
 * Problem: atoms and bonds of a molecule with single, double and triple bonds; mark those
 * of aromatic rings. Method: Hueckel's rule on the relevant cycles and on fused systems
 * of up to six of them, in the way that is customary in cheminformatics:
 *   - an atom of a ring gives 0, 1 or 2 electrons or disqualifies its rings (`donate`);
 *     a double bond out of the ring to a more electronegative atom takes its electron;
 *   - candidate rings are those of candidate atoms only;
 *   - for every connected choice of 1, 2, ..., 6 fused candidate rings, the atoms in one
 *     or two of the rings are counted: 4n + 2 electrons make all atoms of these rings,
 * and the bonds in exactly one of them, aromatic;
 *   - larger choices are looked at while some ring bond of the fused system is not
 *     aromatic. Fused means sharing one bond; rings of more than 24 atoms stand alone.
 * The cycles do not depend on the numbering, nor do the choices, so neither does the
 * result. At most MOST_CHOICES choices of a size are looked at.
 */
#include "data/molecules/molecule.h"

enum { FUSED_MOST = 6, FUSED_SIZE = 24, MOST_CHOICES = 200000 };

/* Electrons given to the ring: 0, 1, 2, or one of these. */
enum { NONE = -1, ANY = -2 };

/* Total order of bonds without hydrogens; those in and out of rings of order > 1. */
typedef struct surroundings {
    int order, degree, multiple;
    bool ring_multiple;
    int32_t
        outside; /* the atom at the other end of a multiple bond outside rings, or -1 */
} surroundings;

static surroundings look_around(const okra_molecule_ *m, okra_int i)
{
    surroundings s = {.outside = -1};
    for (int32_t e = m->first[i]; e < m->first[i + 1]; e++) {
        const okra_bond_ *bond = &m->bond[m->incident[e]];
        s.order += bond->order;
        s.degree++;
        if (bond->order > 1) {
            s.multiple++;
            if (bond->ring) {
                s.ring_multiple = true;
            } else {
                s.outside = okra_bond_other_(bond, i);
            }
        }
    }
    return s;
}

static bool more_electronegative(int a, int b)
{
    int x = okra_outer_electrons_(a), y = okra_outer_electrons_(b);
    return x > y || (x == y && a < b);
}

/* Electrons left over by the sigma bonds; < 0: the atom has no part in a pi system. */
static int free_electrons(const okra_atom_ *atom, const surroundings *s)
{
    int valence = okra_valences_(atom->element, 0)[0];
    int degree = s->degree + atom->hydrogens;
    if (valence <= 1 || degree > 3) {
        return -1;
    }
    int lone = okra_outer_electrons_(atom->element) - valence - atom->charge;
    int left = valence - degree + OKRA_MAX_(lone, 0);
    /* An unpaired electron, [CH] or the like, is not given away. */
    int usual = okra_valences_(atom->element, atom->charge)[0];
    int radicals = usual - s->order - atom->hydrogens;
    left -= OKRA_MAX_(radicals, 0);
    return left > 1 && s->order - s->degree > 1 ? 1 : left;
}

static int donate(const okra_molecule_ *m, okra_int i)
{
    const okra_atom_ *atom = &m->atom[i];
    surroundings s = look_around(m, i);
    if (atom->element == 0) {
        return s.ring_multiple ? 1 : ANY;
    }
    /* Rows one to three, selenium and tellurium; the usual valence; one multiple bond. */
    int like = okra_valences_(atom->element, atom->charge)[0];
    if ((atom->element > 18 && atom->element != 34 && atom->element != 52) ||
        (like && s.order + atom->hydrogens > like) ||
        (s.order - s.degree > 1 && s.multiple > 1)) {
        return NONE;
    }
    bool radical = s.order + atom->hydrogens < like;
    if (radical && (atom->element != 6 || atom->charge)) {
        return NONE;
    }
    int left = free_electrons(atom, &s);
    bool stolen =
        s.outside >= 0 && more_electronegative(m->atom[s.outside].element, atom->element);
    if (left < 0) {
        return NONE;
    }
    if (left == 0) {
        return s.outside >= 0 ? 0 : s.ring_multiple ? 1 : NONE;
    }
    if (left == 1) {
        if (s.outside >= 0) {
            return stolen ? 0 : 1;
        }
        return s.multiple ? 1 : atom->charge == 1 ? 0 : NONE;
    }
    return (left - stolen) % 2 ? 1 : 2;
}

typedef struct hueckel {
    okra_molecule_ *m;
    const okra_cycles_ *cycles;
    int *gives;     /* by atom                                                    */
    int32_t *ring;  /* candidate rings: which cycle                               */
    okra_int rings; /*                                                            */
    int32_t *near_first, *near_; /* fused neighbours of candidate rings               */
    unsigned char *atom_in, *bond_in; /* of how many chosen rings                     */
    bool *inside; /* the ring is chosen or has been put among the extensions    */
    int32_t *chosen, *reach, *touched;
    okra_int target, budget;
} hueckel;

/* Counts a ring in (by = 1) or out (by = -1) of the choice. */
static void count_ring(hueckel *h, int32_t ring, int by)
{
    const okra_cycles_ *c = h->cycles;
    int32_t which = h->ring[ring];
    for (int32_t k = c->first[which]; k < c->first[which + 1]; k++) {
        const okra_bond_ *bond = &h->m->bond[c->bonds[k]];
        h->bond_in[c->bonds[k]] = (unsigned char)(h->bond_in[c->bonds[k]] + by);
        /* Each atom of a ring ends two of its bonds: counts are twice the rings. */
        h->atom_in[bond->a] = (unsigned char)(h->atom_in[bond->a] + by);
        h->atom_in[bond->b] = (unsigned char)(h->atom_in[bond->b] + by);
    }
}

/* Atoms of the chosen rings, each once, at its first ring among them. */
static bool rule_holds(hueckel *h, okra_int count)
{
    okra_int low = 0, high = 0, any = 0, touched = 0;
    for (okra_int r = 0; r < count; r++) {
        const okra_cycles_ *c = h->cycles;
        int32_t which = h->ring[h->chosen[r]];
        for (int32_t k = c->first[which]; k < c->first[which + 1]; k++) {
            const int32_t ends[] = {h->m->bond[c->bonds[k]].a, h->m->bond[c->bonds[k]].b};
            for (int e = 0; e < 2; e++) {
                int32_t i = ends[e];
                int in = h->atom_in[i] / 2;
                if (in != 1 && in != 2) {
                    continue;
                }
                h->touched[touched++] = i;
                h->touched[touched++] = h->atom_in[i];
                h->atom_in[i] = 255; /* seen */
                any += h->gives[i] == ANY;
                low += OKRA_MAX_(h->gives[i], 0);
                high += h->gives[i] == ANY ? 2 : h->gives[i];
            }
        }
    }
    for (okra_int k = 0; k < touched; k += 2) {
        h->atom_in[h->touched[k]] = (unsigned char)h->touched[k + 1];
    }
    if (any > 1) {
        return false;
    }
    for (okra_int e = low; high >= 6 && e <= high; e++) {
        if (e % 4 == 2) {
            return true;
        }
    }
    return high == 2;
}

static void mark_choice(hueckel *h, okra_int count)
{
    for (okra_int r = 0; r < count; r++) {
        const okra_cycles_ *c = h->cycles;
        int32_t which = h->ring[h->chosen[r]];
        for (int32_t k = c->first[which]; k < c->first[which + 1]; k++) {
            okra_bond_ *bond = &h->m->bond[c->bonds[k]];
            h->m->atom[bond->a].aromatic = h->m->atom[bond->b].aromatic = true;
            bond->aromatic |= h->bond_in[c->bonds[k]] == 1;
        }
    }
}

/* All connected choices of `target` rings that hold chosen[0..count-1], have chosen[0] as
 * their smallest ring and go on with rings from reach[begin..end-1]; each comes once
 * (S. Wernicke, Efficient detection of network motifs, 2006). */
static void extend(hueckel *h, okra_int count, okra_int begin, okra_int end)
{
    if (count == h->target) {
        if (h->budget-- > 0 && rule_holds(h, count)) {
            mark_choice(h, count);
        }
        return;
    }
    for (okra_int k = begin; k < end && h->budget > 0; k++) {
        int32_t next = h->reach[k];
        okra_int more = end;
        for (int32_t e = h->near_first[next]; e < h->near_first[next + 1]; e++) {
            int32_t other = h->near_[e];
            if (other > h->chosen[0] && !h->inside[other]) {
                h->inside[other] = true;
                h->reach[more++] = other;
            }
        }
        h->chosen[count] = next;
        count_ring(h, next, 1);
        extend(h, count + 1, k + 1, more);
        count_ring(h, next, -1);
        while (more > end) {
            h->inside[h->reach[--more]] = false;
        }
    }
}

/* The fused system of `start` (rings list[0..*size-1], inside[] set). */
static void system_of(hueckel *h, int32_t start, int32_t *list, okra_int *size)
{
    okra_int head = 0;
    *size = 0;
    list[(*size)++] = start;
    h->inside[start] = true;
    while (head < *size) {
        int32_t r = list[head++];
        for (int32_t e = h->near_first[r]; e < h->near_first[r + 1]; e++) {
            if (!h->inside[h->near_[e]]) {
                h->inside[h->near_[e]] = true;
                list[(*size)++] = h->near_[e];
            }
        }
    }
    for (okra_int k = 0; k < *size; k++) {
        h->inside[list[k]] = false;
    }
}

static bool all_marked(const hueckel *h, const int32_t *list, okra_int size)
{
    for (okra_int k = 0; k < size; k++) {
        const okra_cycles_ *c = h->cycles;
        int32_t which = h->ring[list[k]];
        for (int32_t e = c->first[which]; e < c->first[which + 1]; e++) {
            if (!h->m->bond[c->bonds[e]].aromatic) {
                return false;
            }
        }
    }
    return true;
}

static void perceive_system(hueckel *h, const int32_t *list, okra_int size)
{
    for (h->target = 1; h->target <= OKRA_MIN_(size, FUSED_MOST); h->target++) {
        h->budget = MOST_CHOICES;
        for (okra_int k = 0; k < size; k++) {
            h->reach[0] = h->chosen[0] = list[k];
            h->inside[list[k]] = true;
            /* chosen[0] is found again as the only extension of nothing. */
            extend(h, 0, 0, 1);
            h->inside[list[k]] = false;
        }
        if (all_marked(h, list, size)) {
            return;
        }
    }
}

/* Candidate rings, and which of them are fused: share exactly one bond. */
static okra_status find_candidates(hueckel *h)
{
    const okra_cycles_ *c = h->cycles;
    okra_int pairs = 0, room = 0;
    for (okra_int r = 0; r < c->count; r++) {
        bool good = true, dummy = true;
        for (int32_t k = c->first[r]; k < c->first[r + 1]; k++) {
            const okra_bond_ *bond = &h->m->bond[c->bonds[k]];
            good &= h->gives[bond->a] != NONE && h->gives[bond->b] != NONE;
            dummy &= h->m->atom[bond->a].element == 0;
        }
        if (good && !dummy) {
            h->ring[h->rings++] = (int32_t)r;
        }
    }
    MAKE(h->near_first, h->rings + 1);
    for (okra_int r = 0; r < h->rings; r++) {
        h->near_first[r] = (int32_t)pairs;
        count_ring(h, (int32_t)r, 1);
        for (okra_int s = 0; s < h->rings; s++) {
            int32_t x = h->ring[r], y = h->ring[s];
            int shared = 0;
            bool small = c->first[x + 1] - c->first[x] <= FUSED_SIZE &&
                         c->first[y + 1] - c->first[y] <= FUSED_SIZE;
            for (int32_t k = c->first[y]; s != r && small && k < c->first[y + 1]; k++) {
                shared += h->bond_in[c->bonds[k]];
            }
            if (shared == 1) {
                EXTEND(h->near_, pairs, room, 64);
                h->near_[pairs++] = (int32_t)s;
            }
        }
        count_ring(h, (int32_t)r, -1);
    }
    h->near_first[h->rings] = (int32_t)pairs;
    return OKRA_OK;
}

okra_status okra_molecule_aromatise_(okra_molecule_ *m)
{
    FREED_BY(okra_cycles_clear_) okra_cycles_ cycles = {0};
    hueckel h = {.m = m, .cycles = &cycles};
    OWNS(&h.gives, &h.atom_in, &h.bond_in, &h.ring, &h.inside, &h.chosen, &h.reach,
         &h.touched, &h.near_first, &h.near_);
    OWNED int32_t *list = NULL;
    OWNED bool *done_ring = NULL;
    for (okra_int i = 0; i < m->atoms; i++) {
        m->atom[i].aromatic = false;
    }
    for (okra_int k = 0; k < m->bonds; k++) {
        m->bond[k].aromatic = false;
    }
    CHK(okra_cycles_find_(m, &cycles));
    if (cycles.count == 0) {
        return OKRA_OK;
    }
    MAKE(h.gives, m->atoms);
    ZMAKE(h.atom_in, m->atoms);
    ZMAKE(h.bond_in, m->bonds);
    MAKE(h.ring, cycles.count);
    ZMAKE(h.inside, cycles.count);
    MAKE(h.chosen, cycles.count + FUSED_MOST);
    MAKE(h.reach, cycles.count + FUSED_MOST);
    MAKE(h.touched, 2 * m->atoms);
    MAKE(list, cycles.count);
    ZMAKE(done_ring, cycles.count);
    for (okra_int i = 0; i < m->atoms; i++) {
        h.gives[i] = m->atom[i].ring ? donate(m, i) : NONE;
    }
    CHK(find_candidates(&h));
    for (int32_t r = 0; r < h.rings; r++) {
        okra_int size = 0;
        if (done_ring[r]) {
            continue;
        }
        system_of(&h, r, list, &size);
        for (okra_int k = 0; k < size; k++) {
            done_ring[list[k]] = true;
        }
        perceive_system(&h, list, size);
    }
    return OKRA_OK;
}
