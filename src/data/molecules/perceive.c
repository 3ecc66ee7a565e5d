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
        CHK(okra_molecule_kekulise_(m, &found));
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
    CHK(okra_molecule_mark_rings_(m));
    for (okra_int k = 0; k < m->bonds; k++) {
        okra_bond_ *bond = &m->bond[k];
        if (bond->aromatic && !bond->ring) {
            bond->aromatic = false;
            bond->order = 1;
        }
    }
    CHK(okra_molecule_kekulise_(m, &found));
    imply_hydrogens(m, found);
    if (found) {
        CHK(okra_molecule_aromatise_(m));
        CHK(prefer_single(m));
    }
    GIVE(kekule, found);
    return OKRA_OK;
}
