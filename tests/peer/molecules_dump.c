/*
 * molecules_dump.c: what the SMILES parser makes of each line of standard input, as JSON
 * a line, for comparison with other programs: atoms [element, charge, isotope, hydrogens,
 * aromatic, ring], bonds [a, b, order, aromatic, ring], the number of independent rings.
 */
#include "data/molecules/molecule.h"

#include <stdio.h>
#include <string.h>

static void show(const okra_molecule_ *m, bool kekule)
{
    printf("{\"kekule\": %s, \"atoms\": [", kekule ? "true" : "false");
    for (okra_int i = 0; i < m->atoms; i++) {
        const okra_atom_ *a = &m->atom[i];
        printf("%s[%d, %d, %d, %d, %d, %d]", i ? ", " : "", a->element, a->charge,
               a->isotope, a->hydrogens, a->aromatic, a->ring);
    }
    printf("], \"bonds\": [");
    for (okra_int k = 0; k < m->bonds; k++) {
        const okra_bond_ *b = &m->bond[k];
        printf("%s[%d, %d, %d, %d, %d]", k ? ", " : "", b->a, b->b, b->order, b->aromatic,
               b->ring);
    }
    printf("]}\n");
}

int main(void)
{
    static char line[1 << 20];
    okra_molecule_ m = {0};
    while (fgets(line, sizeof line, stdin)) {
        bool kekule = false;
        size_t length = strcspn(line, "\n");
        okra_status st = okra_smiles_parse_(line, length, 1, &m);
        if (st == OKRA_OK) {
            st = okra_molecule_perceive_(&m, &kekule);
        }
        if (st == OKRA_OK) {
            show(&m, kekule);
        } else {
            printf("{\"error\": \"refused\"}\n");
        }
    }
    okra_molecule_clear_(&m);
    return 0;
}
