/*
 * test_same.c: the same molecule, however it is written.
 */
#include "harness.h"

#include "candidates/index.h"
#include "okra/program.h"

TEST(the_same_molecule_however_it_is_written)
{
    static const struct {
        const char *a, *b;
        bool same;
    } pairs[] = {{"CCO", "OCC", true},
                 {"C1CCCC1C1CCCC1", "C1CCC2CCCCC2C1", false},
                 {"c1ccc2ccccc2c1", "C1=CC=C2C=CC=CC2=C1", true},
                 {"CC(C)C", "CCCC", false},
                 {"[O-][N+](=O)C", "CN(=O)=O", true},
                 {"C1CC1.C1CC1", "C1CCCCC1", false},
                 {"C12C3C4C1C5C2C3C45", "C12C3C4C2C2C1C3C24", true}, /* cubane */
                 {"[13CH4]", "C", false},
                 {"C[NH3+]", "CN", false}};
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
        okra_data *both = NULL;
        const char *const texts[] = {pairs[k].a, pairs[k].b};
        uint64_t keys[2];
        bool same = false, sure = false;
        CHECK_OK(okra_data_smiles(NULL, texts, 2, &both));
        CHECK_OK(okra_molecule_keys_(both, keys));
        CHECK_OK(okra_molecules_same_(both, 0, both, 1, &same, &sure));
        CHECK(sure && same == pairs[k].same);
        CHECK(!pairs[k].same || keys[0] == keys[1]);
        okra_data_free(both);
    }
}

/* Distinct candidates: a molecule however it is written, and none besides. Decalin and
 * bicyclopentyl have the same neighbourhoods at every radius. */
TEST(distinct_candidates)
{
    static const char *const texts[] = {"CCO",
                                        "OCC",
                                        "C(O)C",
                                        "c1ccccc1",
                                        "C1=CC=CC=C1",
                                        "C1CCC2CCCCC2C1",
                                        "CCO one",
                                        "C1CCCC1C1CCCC1",
                                        "C1CC2CCCCC2CC1",
                                        "CC[O-]",
                                        "[13CH3]CO",
                                        "C1CCC(C1)C2CCCC2"};
    static const okra_int want[] = {0, 3, 5, 7, 9, 10};
    okra_data *data = NULL, *plain = NULL;
    okra_int index[12] = {0}, count = 0;
    CHECK_OK(okra_data_smiles(NULL, texts, 12, &data));
    CHECK_OK(okra_candidates_distinct(data, index, &count));
    CHECK(count == 6);
    for (okra_int k = 0; k < count && k < 6; k++) {
        CHECK(index[k] == want[k]);
    }
    CHECK_ALLOCATIONS(okra_candidates_distinct(data, index, &count), (void)0);
    /* which of them others are, however written and named */
    static const char *const other[] = {"OCC", "C1CCCC1C1CCCC1 x", "CCN", "c1ccccc1"};
    okra_data *asked = NULL;
    okra_int found[12] = {0};
    CHECK_OK(okra_data_smiles(NULL, other, 4, &asked));
    CHECK_OK(okra_candidates_match(asked, data, found));
    for (okra_int k = 0; k < 4; k++) {
        okra_int first = -1;
        for (okra_int i = 0; i < 12 && first < 0; i++) {
            bool same = false, sure = false;
            CHECK_OK(okra_molecules_same_(data, i, asked, k, &same, &sure));
            first = same ? i : -1;
        }
        CHECK(found[k] == first);
    }
    CHECK(found[0] >= 0 && found[1] >= 0 && found[2] == -1);
    CHECK_ALLOCATIONS(okra_candidates_match(asked, data, found), (void)0);
    CHECK_OK(okra_candidates_match(data, data, found));
    for (okra_int i = 0, k = -1; i < 12; i++) {
        k += k + 1 < 6 && want[k + 1] == i;
        CHECK(found[i] <= i && (found[i] == i) == (k >= 0 && want[k] == i));
    }
    okra_data_free(asked);
    double rows[] = {1, 2, 1};
    CHECK_OK(okra_data_dense(rows, 3, 1, 1, &plain)); /* other kinds as they are */
    CHECK_OK(okra_candidates_distinct(plain, index, &count));
    CHECK(count == 2 && index[0] == 0 && index[1] == 1);
    okra_data_free(data);
    okra_data_free(plain);
}

MAIN(RUN(distinct_candidates), RUN(the_same_molecule_however_it_is_written))
