/*
 * cycles.c: the relevant cycles of a molecule.
 *
 * Problem: a set of small rings that does not depend on how atoms are numbered. A
 * smallest set of smallest rings is not unique; the union of all of them is: the relevant
 * cycles, those that are no sum (modulo 2, of bond sets) of shorter cycles.
 *
 * Method (P. Vismara, Union of all the minimum cycle bases of a graph, Electronic Journal
 * of Combinatorics 4, R9, 1997): for every root r, let V_r be the atoms below r that a
 * shortest path from r reaches through atoms below r only. Two shortest paths r..p, r..q
 * that meet only in r, closed by a bond p-q (odd) or by an atom y next to both (even),
 * give a candidate; every relevant cycle belongs to the family of such a candidate, that
 * of all shortest paths r..p and r..q. Candidates are taken by length; one is relevant if
 * it is independent of all shorter ones, by elimination modulo 2.
 *
 * Cost: a breadth-first search an atom, plus the elimination: candidates times rings
 * times bonds/64. Exact. Families beyond MOST_CYCLES are cut to their first member.
 */
#include "data/molecules/molecule.h"

enum { MOST_CYCLES = 4096, MOST_CANDIDATES = 5000000 };

/* Root r, the ends p and q of the two paths, and y (even) or -1 (odd: bond p-q). */
typedef struct candidate {
    int32_t length, r, p, q, y;
} candidate;

typedef struct finder {
    const okra_molecule_ *m;
    int32_t *far;   /* distance from the root in the whole molecule                     */
    int32_t *near_; /* the same through V_r, where the two agree; else -1               */
    int32_t *via;   /* bond towards the root                                            */
    int32_t *queue;
    candidate *list;
    okra_int count, room;
    okra_int rank; /* bonds - atoms + components, of the ring bonds */
    int32_t *slot; /* ring bonds numbered from 0 */
    okra_int words;
    uint64_t *basis; /* rank rows, each reduced by the ones before it */
    okra_int *pivot; /* leading bit of each row */
    okra_int independent;
    int32_t *path[2], *choice[2];
    int32_t *work; /* bonds of the cycle being written                                  */
    okra_cycles_ *out;
    okra_int bonds, bonds_room, cycles_room;
} finder;

/* Distances from r; within = true: through atoms below r only. */
static void search(finder *f, int32_t r, bool within, int32_t *distance)
{
    const okra_molecule_ *m = f->m;
    okra_int head = 0, tail = 0;
    for (okra_int i = 0; i < m->atoms; i++) {
        distance[i] = -1;
    }
    distance[r] = 0;
    f->queue[tail++] = r;
    while (head < tail) {
        int32_t u = f->queue[head++];
        for (int32_t e = m->first[u]; e < m->first[u + 1]; e++) {
            int32_t k = m->incident[e], v = okra_bond_other_(&m->bond[k], u);
            if (!m->bond[k].ring || distance[v] >= 0 || (within && v > r)) {
                continue;
            }
            distance[v] = distance[u] + 1;
            if (within) {
                f->via[v] = k;
            }
            f->queue[tail++] = v;
        }
    }
}

static void search_root(finder *f, int32_t r)
{
    search(f, r, false, f->far);
    search(f, r, true, f->near_);
    for (okra_int i = 0; i < f->m->atoms; i++) {
        if (f->near_[i] != f->far[i]) {
            f->near_[i] = -1;
        }
    }
}

/* Do the paths p..r and q..r, of equal length, meet only in r? */
static bool apart(const finder *f, int32_t r, int32_t p, int32_t q)
{
    while (p != r && q != r) {
        if (p == q) {
            return false;
        }
        p = okra_bond_other_(&f->m->bond[f->via[p]], p);
        q = okra_bond_other_(&f->m->bond[f->via[q]], q);
    }
    return true;
}

static okra_status add(finder *f, candidate c)
{
    REFUSE_IF(f->count == MOST_CANDIDATES, OKRA_EFORMAT,
              "the rings of the molecule are too many");
    EXTEND(f->list, f->count, f->room, 64);
    f->list[f->count++] = c;
    return OKRA_OK;
}

/* Candidates that close at atom y. */
static okra_status candidates_at(finder *f, int32_t r, int32_t y)
{
    const okra_molecule_ *m = f->m;
    const int32_t *d = f->near_;
    for (int32_t e = m->first[y]; e < m->first[y + 1]; e++) {
        const okra_bond_ *bond = &m->bond[m->incident[e]];
        int32_t z = okra_bond_other_(bond, y);
        if (!bond->ring || d[z] < 0) {
            continue;
        }
        if (d[z] == d[y] && z < y && apart(f, r, y, z)) {
            CHK(add(f, (candidate){2 * d[y] + 1, r, y, z, -1}));
        }
        for (int32_t g = m->first[y]; d[z] + 1 == d[y] && g < e; g++) {
            const okra_bond_ *second = &m->bond[m->incident[g]];
            int32_t w = okra_bond_other_(second, y);
            if (second->ring && d[w] == d[z] && apart(f, r, z, w)) {
                CHK(add(f, (candidate){2 * d[y], r, z, w, y}));
            }
        }
    }
    return OKRA_OK;
}

OKRA_ORDER_(by_length, candidate, OKRA_UP_(length), OKRA_UP_(r), OKRA_UP_(p), OKRA_UP_(q),
            OKRA_UP_(y))

static int32_t bond_between(const okra_molecule_ *m, int32_t a, int32_t b)
{
    for (int32_t e = m->first[a]; e < m->first[a + 1]; e++) {
        if (okra_bond_other_(&m->bond[m->incident[e]], a) == b) {
            return m->incident[e];
        }
    }
    return -1;
}

/* Closing bonds first, then those of the two paths given as atoms from p (q) to r. */
static void write_cycle(finder *f, const candidate *c, const int32_t *p, const int32_t *q)
{
    const okra_molecule_ *m = f->m;
    int32_t at = 0, steps = (c->length - (c->y < 0 ? 1 : 2)) / 2;
    if (c->y < 0) {
        f->work[at++] = bond_between(m, c->p, c->q);
    } else {
        f->work[at++] = bond_between(m, c->p, c->y);
        f->work[at++] = bond_between(m, c->q, c->y);
    }
    for (int32_t k = 0; k < steps; k++) {
        f->work[at++] = bond_between(m, p[k], p[k + 1]);
        f->work[at++] = bond_between(m, q[k], q[k + 1]);
    }
}

static okra_status keep(finder *f, int32_t length)
{
    okra_cycles_ *out = f->out;
    CHK(okra_reserve_(&out->bonds, f->bonds + length, &f->bonds_room, sizeof(int32_t)));
    CHK(okra_reserve_(&out->first, out->count + 2, &f->cycles_room, sizeof(int32_t)));
    memcpy(out->bonds + f->bonds, f->work, (size_t)length * sizeof *out->bonds);
    out->first[out->count++] = (int32_t)f->bonds;
    f->bonds += length;
    out->first[out->count] = (int32_t)f->bonds;
    return OKRA_OK;
}

/* The first (again = false) or next shortest path from `from` to r, as atoms; false: no
 * more. choice[k] is the place in the list of bonds that leads on from path[k]. */
static bool next_path(const finder *f, int32_t from, int32_t *path, int32_t *choice,
                      bool again)
{
    const okra_molecule_ *m = f->m;
    int32_t steps = f->near_[from], k = again ? steps - 1 : 0;
    if (!again) {
        path[0] = from;
        choice[0] = m->first[from] - 1;
    }
    if (steps == 0) {
        return !again;
    }
    while (k >= 0) {
        int32_t u = path[k], v = -1;
        for (choice[k]++; choice[k] < m->first[u + 1]; choice[k]++) {
            const okra_bond_ *bond = &m->bond[m->incident[choice[k]]];
            v = okra_bond_other_(bond, u);
            if (bond->ring && f->near_[v] == f->near_[u] - 1 && f->near_[v] >= 0) {
                break;
            }
        }
        if (choice[k] >= m->first[u + 1]) {
            k--;
            continue;
        }
        path[++k] = v;
        if (k == steps) {
            return true;
        }
        choice[k] = m->first[v] - 1;
    }
    return false;
}

static okra_status enumerate(finder *f, const candidate *c)
{
    search_root(f, c->r);
    for (bool p = next_path(f, c->p, f->path[0], f->choice[0], false); p;
         p = next_path(f, c->p, f->path[0], f->choice[0], true)) {
        for (bool q = next_path(f, c->q, f->path[1], f->choice[1], false); q;
             q = next_path(f, c->q, f->path[1], f->choice[1], true)) {
            write_cycle(f, c, f->path[0], f->path[1]);
            CHK(keep(f, c->length));
            if (f->out->count >= MOST_CYCLES) {
                return OKRA_OK;
            }
        }
    }
    return OKRA_OK;
}

/* Reduces the candidate's bonds by the first `rows` rows of the basis into `row`; the
 * leading bit, or -1 when nothing is left. */
static okra_int reduce(finder *f, const candidate *c, okra_int rows, uint64_t *row)
{
    memset(row, 0, (size_t)f->words * sizeof *row);
    search_root(f, c->r);
    (void)next_path(f, c->p, f->path[0], f->choice[0], false);
    (void)next_path(f, c->q, f->path[1], f->choice[1], false);
    write_cycle(f, c, f->path[0], f->path[1]);
    for (int32_t k = 0; k < c->length; k++) {
        int32_t bit = f->slot[f->work[k]];
        row[bit / 64] ^= UINT64_C(1) << bit % 64;
    }
    for (okra_int i = 0; i < rows; i++) {
        const uint64_t *b = f->basis + i * f->words;
        if (row[f->pivot[i] / 64] >> f->pivot[i] % 64 & 1) {
            for (okra_int w = 0; w < f->words; w++) {
                row[w] ^= b[w];
            }
        }
    }
    for (okra_int w = 0; w < f->words; w++) {
        for (int bit = 0; row[w] && bit < 64; bit++) {
            if (row[w] >> bit & 1) {
                return w * 64 + bit;
            }
        }
    }
    return -1;
}

/* One length after another, until the cycles found span all of them. */
static okra_status select_relevant(finder *f)
{
    okra_int end;
    for (okra_int begin = 0; begin < f->count && f->independent < f->rank; begin = end) {
        okra_int shorter = f->independent;
        for (end = begin; end < f->count && f->list[end].length == f->list[begin].length;
             end++) {
            const candidate *c = &f->list[end];
            uint64_t *row = f->basis + f->independent * f->words;
            if (reduce(f, c, shorter, row) < 0) {
                continue;
            }
            CHK(enumerate(f, c));
            okra_int lead = reduce(f, c, f->independent, row);
            if (lead >= 0) {
                f->pivot[f->independent++] = lead;
            }
        }
    }
    return OKRA_OK;
}

/* The root of atom i in a forest, whose paths become shorter. */
static int32_t root_of(int32_t *up, int32_t i)
{
    while (up[i] != i) {
        i = up[i] = up[up[i]];
    }
    return i;
}

/* Numbers the ring bonds; rank: those that close a cycle of earlier ones. */
static okra_status measure(finder *f)
{
    const okra_molecule_ *m = f->m;
    okra_int ring_bonds = 0, ring_atoms = 0;
    MAKE(f->slot, m->bonds);
    for (int32_t i = 0; i < m->atoms; i++) {
        ring_atoms += m->atom[i].ring;
        f->via[i] = i;
    }
    for (okra_int k = 0; k < m->bonds; k++) {
        const okra_bond_ *bond = &m->bond[k];
        f->slot[k] = bond->ring ? (int32_t)ring_bonds++ : -1;
        if (bond->ring) {
            int32_t a = root_of(f->via, bond->a), b = root_of(f->via, bond->b);
            f->rank += a == b;
            f->via[a] = b;
        }
    }
    f->words = ring_bonds / 64 + 1;
    REFUSE_IF(f->rank > OKRA_RINGS_MOST_, OKRA_EFORMAT,
              "more than %d rings in one molecule", OKRA_RINGS_MOST_);
    if (ring_atoms > OKRA_RING_ATOMS_MOST_) { /* a search for each of them */
        return okra_fail_(OKRA_EFORMAT, "more than %d atoms in rings of one molecule",
                          OKRA_RING_ATOMS_MOST_);
    }
    return OKRA_OK;
}

OKRA_SHARED_CLEARS_(okra_cycles_clear_, okra_cycles_, it->first, it->bonds)

okra_status okra_cycles_find_(const okra_molecule_ *m, okra_cycles_ *out)
{
    FREED_BY(okra_cycles_clear_) okra_cycles_ cycles = {0};
    finder f = {.m = m, .out = &cycles};
    OWNS(&f.far, &f.near_, &f.via, &f.queue, &f.path[0], &f.path[1], &f.work,
         &f.choice[0], &f.choice[1], &f.slot, &f.list, &f.basis, &f.pivot);
    int32_t **arrays[] = {&f.far,     &f.near_, &f.via,       &f.queue,    &f.path[0],
                          &f.path[1], &f.work,  &f.choice[0], &f.choice[1]};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        MAKE(*arrays[k], m->atoms + 2);
    }
    CHK(measure(&f));
    if (f.rank > 0) {
        MAKE(f.basis, (f.rank + 1) * f.words);
        MAKE(f.pivot, f.rank + 1);
        for (int32_t r = 0; r < m->atoms; r++) {
            if (!m->atom[r].ring) {
                continue;
            }
            search_root(&f, r);
            for (int32_t y = 0; y < r; y++) {
                if (f.near_[y] > 0) {
                    CHK(candidates_at(&f, r, y));
                }
            }
        }
        OKRA_SORT_(f.list, f.count, by_length);
        CHK(select_relevant(&f));
    }
    *out = TAKE(cycles);
    return OKRA_OK;
}
