/*
 * molecule.c: atoms, bonds, elements and their valences.
 */
#include "data/molecules/molecule.h"

void okra_molecule_reset_(okra_molecule_ *m)
{
    m->atoms = m->bonds = 0;
}

OKRA_SHARED_CLEARS_(okra_molecule_clear_, okra_molecule_, it->atom, it->bond, it->first,
                    it->incident)

okra_status okra_molecule_add_atom_(okra_molecule_ *m, okra_atom_ atom)
{
    REFUSE_IF(m->atoms == OKRA_ATOMS_MOST_, OKRA_EFORMAT,
              "more than %d atoms in one molecule", OKRA_ATOMS_MOST_);
    EXTEND(m->atom, m->atoms, m->atoms_room, 64);
    m->atom[m->atoms++] = atom;
    return OKRA_OK;
}

okra_status okra_molecule_add_bond_(okra_molecule_ *m, okra_bond_ bond)
{
    REFUSE_IF(m->bonds == OKRA_BONDS_MOST_, OKRA_EFORMAT,
              "more than %d bonds in one molecule", OKRA_BONDS_MOST_);
    EXTEND(m->bond, m->bonds, m->bonds_room, 64);
    m->bond[m->bonds++] = bond;
    return OKRA_OK;
}

okra_status okra_molecule_connect_(okra_molecule_ *m)
{
    FREE(m->first, m->incident);
    m->first = m->incident = NULL;
    ZMAKE(m->first, m->atoms + 2);
    MAKE(m->incident, 2 * m->bonds);
    /* Counting sort; the shift by two makes first[i] the beginning of i at the end. */
    for (okra_int k = 0; k < m->bonds; k++) {
        m->first[m->bond[k].a + 2]++;
        m->first[m->bond[k].b + 2]++;
    }
    for (okra_int i = 2; i < m->atoms + 2; i++) {
        m->first[i] += m->first[i - 1];
    }
    for (okra_int k = 0; k < m->bonds; k++) {
        m->incident[m->first[m->bond[k].a + 1]++] = (int32_t)k;
        m->incident[m->first[m->bond[k].b + 1]++] = (int32_t)k;
    }
    return OKRA_OK;
}

okra_status okra_molecule_repeats_(okra_molecule_ *m, const okra_bond_ **again)
{
    OWNED int32_t *seen = NULL;
    ZMAKE(seen, m->atoms);
    CHK(okra_molecule_connect_(m));
    *again = NULL;
    for (okra_int i = 0; i < m->atoms && !*again; i++) {
        for (int32_t k = m->first[i]; k < m->first[i + 1] && !*again; k++) {
            const okra_bond_ *bond = &m->bond[m->incident[k]];
            int32_t other = okra_bond_other_(bond, i);
            *again = seen[other] == i + 1 ? bond : NULL;
            seen[other] = (int32_t)i + 1;
        }
    }
    return OKRA_OK;
}

/* ---- elements ---- */

static const char symbols[119][3] = {
    "*",  "H",  "He", "Li", "Be", "B",  "C",  "N",  "O",  "F",  "Ne", "Na", "Mg", "Al",
    "Si", "P",  "S",  "Cl", "Ar", "K",  "Ca", "Sc", "Ti", "V",  "Cr", "Mn", "Fe", "Co",
    "Ni", "Cu", "Zn", "Ga", "Ge", "As", "Se", "Br", "Kr", "Rb", "Sr", "Y",  "Zr", "Nb",
    "Mo", "Tc", "Ru", "Rh", "Pd", "Ag", "Cd", "In", "Sn", "Sb", "Te", "I",  "Xe", "Cs",
    "Ba", "La", "Ce", "Pr", "Nd", "Pm", "Sm", "Eu", "Gd", "Tb", "Dy", "Ho", "Er", "Tm",
    "Yb", "Lu", "Hf", "Ta", "W",  "Re", "Os", "Ir", "Pt", "Au", "Hg", "Tl", "Pb", "Bi",
    "Po", "At", "Rn", "Fr", "Ra", "Ac", "Th", "Pa", "U",  "Np", "Pu", "Am", "Cm", "Bk",
    "Cf", "Es", "Fm", "Md", "No", "Lr", "Rf", "Db", "Sg", "Bh", "Hs", "Mt", "Ds", "Rg",
    "Cn", "Nh", "Fl", "Mc", "Lv", "Ts", "Og"};

int okra_element_(const char *symbol, size_t length)
{
    for (int z = 0; z < 119; z++) {
        if (strlen(symbols[z]) == length && memcmp(symbols[z], symbol, length) == 0) {
            return z;
        }
    }
    return -1;
}

const char *okra_element_symbol_(int element)
{
    return element >= 0 && element < 119 ? symbols[element] : "?";
}

/* The group of the main-group elements that bind covalently, as outer electrons. */
int okra_outer_electrons_(int element)
{
    static const struct {
        unsigned char first, last, outer;
    } runs[] = {{1, 1, 1},   {2, 2, 2},   {3, 10, 1},  {11, 18, 1},
                {19, 20, 1}, {31, 36, 3}, {37, 38, 1}, {49, 54, 3},
                {55, 56, 1}, {81, 86, 3}, {87, 88, 1}};
    for (size_t k = 0; k < sizeof runs / sizeof *runs; k++) {
        if (element >= runs[k].first && element <= runs[k].last) {
            return element - runs[k].first + runs[k].outer;
        }
    }
    return 0;
}

const unsigned char *okra_valences_(int element, int charge)
{
    static const unsigned char none[] = {0}, one[] = {1, 0}, two[] = {2, 0},
                               three[] = {3, 0}, four[] = {4, 0}, pnictogen[] = {3, 5, 0},
                               chalcogen[] = {2, 4, 6, 0};
    bool light = element < 11; /* no valence beyond the octet, but for N(V) in print */
    int like = okra_outer_electrons_(element) - charge;
    if (element == 1) {
        return charge == 0 ? one : none;
    }
    if (element < 5 || okra_outer_electrons_(element) < 3) {
        return none; /* salts and metals: no hydrogens are implied */
    }
    switch (like) {
    case 3:
        return three;
    case 4:
        return four;
    case 5:
        return !light || element == 7 ? pnictogen : three;
    case 6:
        return light ? two : chalcogen;
    case 7:
        return one;
    default:
        return none;
    }
}
