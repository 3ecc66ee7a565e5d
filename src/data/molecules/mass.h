/*
 * mass.h: exact masses and formulas of molecules.
 */
#ifndef OKRA_MASS_H_
#define OKRA_MASS_H_

#include "data/data.h"
#include "data/molecules/molecule.h"

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
