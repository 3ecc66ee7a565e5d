/*
 * molecule.h: one molecule under construction, between its reader and the collection.
 *
 * A reader (SMILES, SDF) fills atoms and bonds as they are written. Perception then makes
 * them canonical, so that every way to write a molecule gives the same features:
 * hydrogen atoms become counts, nitro groups and their like get one form, aromatic bonds
 * get a Kekule structure, and aromaticity is perceived anew from that.
 */
#ifndef OKRA_MOLECULE_H_
#define OKRA_MOLECULE_H_

#include "data/data.h"

/* Limits of one molecule, checked before anything is allocated. */
enum { OKRA_ATOMS_MOST_ = 100000, OKRA_BONDS_MOST_ = 200000, OKRA_RINGS_MOST_ = 1000 };
enum { OKRA_RING_ATOMS_MOST_ = 6000 };

typedef struct okra_atom_ {
    int32_t element;   /* atomic number; 0: any atom (*)                          */
    int32_t charge;    /*                                                         */
    int32_t isotope;   /* mass number; 0: not given                               */
    int32_t hydrogens; /* attached, written or implied                            */
    bool implied;      /* hydrogens are to be found from the valence              */
    int32_t valence;   /* bonds and hydrogens if told so, 15 for none; 0: not told */
    int32_t radical;   /* unpaired electrons, told by the file                    */
    bool aromatic;
    bool ring; /* on some cycle */
} okra_atom_;

/* Orders 1 to 4; `aromatic` bonds have the order of their Kekule structure once perceived
 * (order 0 before). */
typedef struct okra_bond_ {
    int32_t a, b;
    int32_t order;
    bool aromatic;
    bool ring;  /* on some cycle */
    int32_t at; /* place in the text, for messages */
} okra_bond_;

typedef struct okra_molecule_ {
    okra_atom_ *atom;
    okra_bond_ *bond;
    okra_int atoms, bonds, atoms_room, bonds_room;
    /* Incident bonds of atom i: incident[first[i]..first[i+1]-1], from
     * okra_molecule_connect_. */
    int32_t *first, *incident;
} okra_molecule_;

void okra_molecule_reset_(okra_molecule_ *m); /* empty, memory kept for the next one */
void okra_molecule_clear_(okra_molecule_ *m); /* memory freed */
okra_status okra_molecule_add_atom_(okra_molecule_ *m, okra_atom_ atom);
okra_status okra_molecule_add_bond_(okra_molecule_ *m, okra_bond_ bond);

/* Symbol to atomic number: 1..118, 0 for "*", -1 for no element. */
int okra_element_(const char *symbol, size_t length);
const char *okra_element_symbol_(int element);
/* The usual valences of an element, ascending, ending in 0; a charge is treated as the
 * neighbouring element (N+ binds like C). An empty list: none is known. */
const unsigned char *okra_valences_(int element, int charge);
/* Electrons of the outer shell, main-group elements; 0 for the others. */
int okra_outer_electrons_(int element);

/* One SMILES of `length` bytes. Messages name the character, counted from `column`. */
okra_status okra_smiles_parse_(const char *text, size_t length, size_t column,
                               okra_molecule_ *m);

/* Canonical atoms and bonds, see above. *kekule (may be NULL): a Kekule structure was
 * found; if not, aromaticity stays as it was written. */
okra_status okra_molecule_perceive_(okra_molecule_ *m, bool *kekule);

/* Both: a SMILES in canonical atoms and bonds. */
okra_status okra_smiles_read_(const char *text, size_t length, size_t column,
                              okra_molecule_ *m, bool *kekule);

/* Lists of incident bonds, again; *again: a bond between two atoms that have one already,
 * or NULL. */
okra_status okra_molecule_repeats_(okra_molecule_ *m, const okra_bond_ **again);

/* ---- the steps of perception ---- */

/* Lists of incident bonds; again whenever bonds changed. */
okra_status okra_molecule_connect_(okra_molecule_ *m);
/* Sets `aromatic` of atoms and bonds from the orders. */
okra_status okra_molecule_aromatise_(okra_molecule_ *m);

/* The relevant cycles (those that are no sum of shorter ones: the union of all smallest
 * sets of smallest rings), so a set that does not depend on the numbering. Cycle c is the
 * bonds bonds[first[c]..first[c+1]-1]. */
typedef struct okra_cycles_ {
    okra_int count;
    int32_t *first, *bonds;
} okra_cycles_;
okra_status okra_cycles_find_(const okra_molecule_ *m, okra_cycles_ *out);
void okra_cycles_clear_(okra_cycles_ *cycles);

static inline int32_t okra_bond_other_(const okra_bond_ *bond, okra_int atom)
{
    return bond->a == atom ? bond->b : bond->a;
}

/* ---- exact masses and formulas of molecules ---- */

#define OKRA_ELECTRON_MASS_ 5.48579909065e-4

/* Of an isotope, to 1e-6; 0: not known. */
double okra_isotope_mass_(int element, int isotope);
/* Of the commonest isotope (0) or the one given; 0: not known. */
double okra_atom_mass_(int element, int isotope);
/* The mass of a formula such as C2H6O or NH4, which fills the text; false: it is none. */
bool okra_formula_mass_(const char *text, size_t length, double *mass);
/* Which formula it is, whatever the order of its elements and the charge behind it:
 * [C5H12N]+ is C5H12N; 0: it is none. *mass as above. */
uint64_t okra_formula_key_(const char *text, size_t length, double *mass);

typedef struct okra_atom_counts_ {
    double mass;         /* 0: not known, or no molecule */
    okra_int count[119]; /* atoms by element, hydrogens included */
    okra_int charge;
} okra_atom_counts_;
void okra_atoms_(const okra_data *data, okra_int i, okra_atom_counts_ *out);
/* The same number as okra_formula_key_ of its formula; 0: not all atoms are known. */
uint64_t okra_atoms_key_(const okra_atom_counts_ *composition);
/* The formula in Hill's order, ended by NUL; cut where it does not fit. */
void okra_formula_(const okra_atom_counts_ *composition, char *text, size_t size);

#endif
