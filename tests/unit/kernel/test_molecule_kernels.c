/*
 * Kernels of molecules against counts by hand, and of one molecule written in several
 * ways.
 */
#include "data/graphs.h"
#include "grams.h"

/* Counted by hand. Ethanol CCO: three atoms (all different); radius 1: three circles with
 * bonds {1}, {1,2}, {2}; radius 2: all circles are {1,2}, which radius 1 has at C2: none.
 * Propane CCC: two kinds of atoms; radius 1: the two ends are alike ({1} and {2}), and
 * the middle. The methyl of ethanol is that of propane in round 0 (CH3, one neighbour).
 */
TEST(circles_counted_by_hand)
{
    static const char *const smiles[] = {"CCO", "CCC", "C", "OCC", "C1CC1"};
    okra_data *data = NULL;
    double K[25], C[25];
    CHECK_OK(okra_data_smiles(NULL, smiles, 5, &data));
    gram("ecfp(radius=2)", data, NULL, K);
    gram("ecfp(radius=2,count=1)", data, NULL, C);
    CHECK_NEAR(K[0], 6, 0);             /* 3 + 3 + 0 */
    CHECK_NEAR(K[6], 4, 0);             /* 2 + 2 + 0 */
    CHECK_NEAR(C[6], 4 + 1 + 4 + 1, 0); /* ends twice in both rounds */
    CHECK_NEAR(K[12], 1, 0);            /* methane: the atom alone */
    CHECK_NEAR(K[1], 3, 0);             /* CH3, CH2; CH3 next to CH2 */
    CHECK_NEAR(K[3], 6, 0);             /* ethanol backwards */
    CHECK_NEAR(K[2], 0, 0);             /* CH4 is no CH3 */
    /* Cyclopropane: one kind of atom, on a ring; radius 1 has two bonds, radius 2 three.
     */
    CHECK_NEAR(K[24], 3, 0);
    CHECK_NEAR(C[24], 27, 0);
    okra_data_free(data);
}

/* The same molecule written in several ways, aromatic and Kekule, has the same features;
 * so Tanimoto is exactly 1. */
TEST(rewritten_molecules_are_the_same)
{
    static const char *const pairs[] = {"c1ccccc1C(=O)O",
                                        "OC(=O)C1=CC=CC=C1",
                                        "c1ccc2ccccc2c1",
                                        "C1=CC2=CC=CC=C2C=C1",
                                        "O=N(=O)c1ccccc1",
                                        "[O-][N+](=O)c1ccccc1",
                                        "Cn1cnc2c1c(=O)n(C)c(=O)n2C",
                                        "CN1C=NC2=C1C(=O)N(C)C(=O)N2C",
                                        "[H]C([H])([H])O",
                                        "CO",
                                        "c1ccc2c(c1)c1ccccc12",
                                        "C1=CC2=C3C=CC=CC3=C2C=C1"};
    static const char *const kernels[] = {
        "paths(m=6) | tanimoto", "paths(m=6,bits=512) | tanimoto", "wl(h=4) | normalize",
        "ecfp(radius=3,count=1) | normalize", "shortest-path | normalize"};
    okra_data *data = NULL;
    double K[144];
    CHECK_OK(okra_data_smiles(NULL, pairs, 12, &data));
    for (int k = 0; k < 5; k++) {
        gram(kernels[k], data, NULL, K);
        for (int i = 0; i < 12; i += 2) {
            CHECK_NEAR(K[i * 12 + i + 1], 1, 0);
            CHECK_NEAR(K[i * 12 + i], 1, 0);
        }
        CHECK(K[1 * 12 + 2] < 1); /* and different ones do not */
    }
    okra_data_free(data);
}

/* Sums of the smaller counts, written down by hand. */
TEST(composition_counts_atoms_and_hydrogens)
{
    static const char *const smiles[] = {"CCO",  "C", "O", "[H][H]", "CC(=O)[O-].[Na+]",
                                         "[2H]O"};
    /* C, H, O, Na */
    static const int counts[6][4] = {{2, 6, 1, 0}, {1, 4, 0, 0}, {0, 2, 1, 0},
                                     {0, 2, 0, 0}, {2, 3, 2, 1}, {0, 2, 1, 0}};
    okra_data *data = NULL;
    double K[36] = {0}, C[12] = {0};
    CHECK_OK(okra_data_smiles(NULL, smiles, 6, &data));
    gram("composition", data, NULL, K);
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++) {
            double want = 0;
            for (int e = 0; e < 4; e++) {
                want += fmin(counts[i][e], counts[j][e]);
            }
            CHECK_NEAR(K[i * 6 + j], want, 0);
        }
    }
    okra_data *some = NULL; /* atoms that training never saw */
    CHECK_OK(okra_data_take(data, (const okra_int[]){0, 4}, 2, &some));
    gram("composition", data, some, C);
    CHECK_NEAR(C[2 * 3], 2, 0);
    CHECK_NEAR(C[1], 6, 0);
    okra_data_free(some);
    okra_data_free(data);
}

TEST(allocations_may_fail)
{
    static const char *const smiles[] = {"CCO", "c1ccccc1"};
    okra_data *made = NULL;
    CHECK_ALLOCATIONS(okra_data_smiles(NULL, smiles, 2, &made), okra_data_free(made));
}

MAIN(RUN(circles_counted_by_hand), RUN(rewritten_molecules_are_the_same),
     RUN(composition_counts_atoms_and_hydrogens), RUN(allocations_may_fail))
