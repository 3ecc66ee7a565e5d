/*
 * test_molecules.c: SMILES and SDF: what atoms and bonds come of them, and what is said
 * of broken ones. (Agreement with another program on thousands: tests/peer.)
 */
#include "files.h"

#include "data/graphs.h"

static okra_status perceive(const char *smiles, okra_molecule_ *m, bool *kekule)
{
    okra_status st = okra_smiles_parse_(smiles, strlen(smiles), 1, m);
    return st == OKRA_OK ? okra_molecule_perceive_(m, kekule) : st;
}

/* Atoms, bonds, hydrogens, aromatic atoms, aromatic bonds, ring bonds. */
static void counts(const char *smiles, const int want[6])
{
    okra_molecule_ m = {0};
    int got[6] = {0};
    CHECK_OK(perceive(smiles, &m, NULL));
    got[0] = (int)m.atoms;
    got[1] = (int)m.bonds;
    for (okra_int i = 0; i < m.atoms; i++) {
        got[2] += m.atom[i].hydrogens;
        got[3] += m.atom[i].aromatic;
    }
    for (okra_int k = 0; k < m.bonds; k++) {
        got[4] += m.bond[k].aromatic;
        got[5] += m.bond[k].ring;
    }
    for (int k = 0; k < 6; k++) {
        CHECK_NEAR(got[k], want[k], 0);
    }
    if (memcmp(got, want, sizeof got) != 0) {
        printf("    in %s\n", smiles);
    }
    okra_molecule_clear_(&m);
}

TEST(atoms_bonds_hydrogens_aromaticity)
{
    counts("C", (int[]){1, 0, 4, 0, 0, 0});
    counts("c1ccccc1", (int[]){6, 6, 6, 6, 6, 6});
    counts("C1=CC=CC=C1", (int[]){6, 6, 6, 6, 6, 6});
    counts("C1=CC=CC=CC=C1", (int[]){8, 8, 8, 0, 0, 8});
    counts("c1cc[nH]c1", (int[]){5, 5, 5, 5, 5, 5});
    counts("O1C=CC=C1", (int[]){5, 5, 4, 5, 5, 5});
    counts("c1ccc2cccc2cc1", (int[]){10, 11, 8, 10, 10, 11}); /* azulene */
    counts("c1ccccc1-c1ccccc1", (int[]){12, 13, 10, 12, 12, 12});
    counts("c1ccccc1c1ccccc1", (int[]){12, 13, 10, 12, 12, 12});
    counts("O=C1C=CC(=O)C=C1", (int[]){8, 8, 4, 0, 0, 6}); /* quinone */
    counts("[Na+].[Cl-]", (int[]){2, 0, 0, 0, 0, 0});
    counts("[13CH4]", (int[]){1, 0, 4, 0, 0, 0});
    counts("[H]O[H]", (int[]){1, 0, 2, 0, 0, 0});
    counts("[2H]O", (int[]){2, 1, 1, 0, 0, 0});
    counts("C%10CCCCC%10", (int[]){6, 6, 12, 0, 0, 6});
    counts("C%(10)CCCCC%(10)", (int[]){6, 6, 12, 0, 0, 6});
    counts("C=1CCCCC1", (int[]){6, 6, 10, 0, 0, 6});
    counts("N[C@@H](C)C(=O)O", (int[]){6, 5, 7, 0, 0, 0});
    counts("F/C=C\\F", (int[]){4, 3, 2, 0, 0, 0});
    counts("CN(=O)=O", (int[]){4, 3, 3, 0, 0, 0});
    counts("C1.C1", (int[]){2, 1, 6, 0, 0, 0});
    counts("[Co@OH12](N)(N)(N)(N)(N)N", (int[]){7, 6, 12, 0, 0, 0});
    counts("[CH3:7][CH2--]", (int[]){2, 1, 5, 0, 0, 0});
    counts("C$C", (int[]){2, 1, 0, 0, 0, 0});
    counts("*C", (int[]){2, 1, 3, 0, 0, 0});
}

TEST(broken_smiles_point_at_the_character)
{
    static const struct {
        const char *smiles, *message;
    } bad[] = {
        {"C1CC", "character 2: ring is not closed '1'"},
        {"CC%12CC", "character 3: ring is not closed '%12'"},
        {"C[Xx]C", "character 3: unknown element 'Xx'"},
        {"C[C", "character 2: bracket is not closed '['"},
        {"[C@@H2+3x]", "character 9: expected ']' to end the bracket atom, found 'x'"},
        {"[]", "character 2: expected an element in brackets, found ']'"},
        {"[13]", "character 4: expected an element"},
        {"[C:]", "character 4: expected the number of an atom class"},
        {"[C+99]", "character 3: expected a charge"},
        {"C(C", "character 2: branch is not closed '('"},
        {"C)C", "character 2: no branch is open ')'"},
        {"C()C", "character 3: expected an atom in the branch"},
        {"(C)C", "character 1: expected an atom before the branch"},
        {"C=(C)", "character 3: expected an atom after the bond"},
        {"C(C=)C", "character 5: expected an atom after the bond"},
        {"C==C", "character 3: expected an atom after the bond"},
        {"=C", "character 1: expected an atom before the bond"},
        {"/C", "character 1: expected an atom before the bond"},
        {"C=", "character 3: expected an atom, found the end"},
        {"C.", "character 3: expected an atom, found the end"},
        {"C..C", "character 3: expected an atom before the dot"},
        {"", "character 1: expected an atom, found the end"},
        {"1CC1", "character 1: expected an atom before the ring closure"},
        {"C=1CC#1", "character 7: bond differs"},
        {"C11", "character 3: ring closure bonds an atom to itself"},
        {"C1C1", "character 4: ring closure repeats a bond"},
        {"C12CC1C2C12CC12", "repeats a bond"},
        {"C%1", "character 3: expected a ring number of two digits"},
        {"C%(1", "character 5: expected a ring number"},
        {"C?C", "character 2: expected an atom, bond, branch or ring closure, found '?'"},
        {"C\xc3\xa9", "character 2: expected an atom, bond, branch or ring closure, "
                      "found '\\xc3'"}};
    okra_molecule_ m = {0};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        CHECK_FAILS(perceive(bad[k].smiles, &m, NULL), OKRA_EFORMAT, bad[k].message);
    }
    okra_molecule_clear_(&m);
}

TEST(no_kekule_structure_leaves_what_was_written)
{
    okra_molecule_ m = {0};
    bool kekule = true;
    CHECK_OK(perceive("c1cccc1", &m, &kekule));
    CHECK(!kekule && m.atom[0].aromatic && m.bond[0].aromatic);
    CHECK_OK(perceive("c1ccccc1", &m, &kekule));
    CHECK(kekule);
    okra_molecule_clear_(&m);
}

/* Fullerene-like nets, cages and long chains end; too many rings are refused. */
TEST(large_molecules_are_bounded)
{
    enum { RINGS = 1001 };
    static char text[200000];
    size_t at = 0;
    okra_molecule_ m = {0};
    for (int k = 0; k < RINGS; k++) {
        at += (size_t)snprintf(text + at, sizeof text - at, "C1CC1");
    }
    CHECK_FAILS(perceive(text, &m, NULL), OKRA_EFORMAT, "more than 1000 rings");
    static char ring[20002];
    memset(ring, 'C', sizeof ring - 1);
    ring[1] = ring[sizeof ring - 2] = '1';
    CHECK_FAILS(perceive(ring, &m, NULL), OKRA_EFORMAT, "more than 6000 atoms in rings");
    memset(text, 'C', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    CHECK_FAILS(perceive(text, &m, NULL), OKRA_EFORMAT, "more than 100000 atoms");
    text[50000] = '\0';
    CHECK_OK(perceive(text, &m, NULL));
    CHECK(m.atoms == 50000);
    memset(text, '(', sizeof text - 1);
    text[0] = 'C';
    CHECK_FAILS(perceive(text, &m, NULL), OKRA_EFORMAT, "nested too deeply");
    okra_molecule_clear_(&m);
}

static void bad_file(const char *prefix, const char *name, const char *part,
                     const char *text, const char *message)
{
    okra_data *data = NULL;
    CHECK_FAILS(files_read(prefix, name, part, text, strlen(text), &data), OKRA_EFORMAT,
                message);
    okra_data_free(data);
}

TEST(smiles_files)
{
    okra_data *data = NULL;
    okra_int length;
    CHECK_OK(files_text("", "a.smi", "CCO\tethanol\r\nc1ccccc1 benzene ring\nC", &data));
    CHECK(data->n == 3 && data->kind == OKRA_GRAPHS);
    const char *text = okra_graphs_text_(data, 1, &length);
    CHECK(length == 21 && memcmp(text, "c1ccccc1 benzene ring", 21) == 0);
    CHECK_OK(okra_data_write(NULL, data, files_path("b.smi")));
    CHECK_FAILS(okra_data_write(NULL, data, files_path("b.sdf")), OKRA_EUNSUPPORTED,
                "the format they came in");
    okra_data_free(data);
    data = NULL;
    CHECK_OK(okra_data_read(NULL, files_path("b.smi"), &data));
    CHECK(data->n == 3);
    okra_data_free(data);
    data = NULL;
    CHECK_OK(files_read("smiles:", "t.tsv", ":smiles", "id\tsmiles\n1\tCC\n2\tCO\n", 20,
                        &data));
    CHECK(data->n == 2);
    okra_data_free(data);
    bad_file("", "a.smi", "", "C\nC1CC\n", "a.smi: line 2: character 2: ring");
    bad_file("", "a.smi", "", "C\n\nC\n", "line 2, character 1: expected a SMILES");
    bad_file("", "a.smi", "", "C\nC na\xffme\n", "line 2, character 5: byte 0xff");
    bad_file("", "a.smi", "", "C na\xc3", "cut short");
    bad_file("smiles:", "t.tsv", ":smiles", "id\tx\n1\tCC\n", "no column is called");
    bad_file("smiles:", "t.tsv", ":smiles", "id\tsmiles\n1\n", "fewer than 2 columns");
    bad_file("smiles:", "t.tsv", ":smiles", "id\tsmiles\n1\t\n", "found nothing");
    bad_file("smiles:", "t.tsv", ":smiles", "id\tsmiles\n1\t-\n",
             "line 2, character 3: '-' is a missing value");
    bad_file("smiles:", "t.tsv", ":smiles", "", "empty");
    data = NULL;
    CHECK_FAILS(files_text("labels:", "a.smi", "C\n", &data), OKRA_EARG, "does not go");
}

/* One line without end takes no memory beside the file's. */
TEST(a_line_without_end_is_refused_in_bounded_memory)
{
    size_t size = (size_t)64 << 20;
    FILE *f = fopen(files_path("long.smi"), "wb");
    okra_data *data = NULL;
    CHECK(f && ftruncate(fileno(f), (off_t)size) == 0); /* zeros: a sparse file */
    fclose(f);
    okra_alloc_reset_peak_();
    okra_int before = okra_alloc_live_bytes_();
    CHECK_FAILS(okra_data_read(NULL, files_path("long.smi"), &data), OKRA_EFORMAT,
                "line 1 has 67108864 characters");
    CHECK(okra_alloc_peak_bytes_() - before < (okra_int)size + (1 << 20));
}

static const char ethanol[] = "ethanol\n  by hand\n\n"
                              "  3  2  0  0  0  0  0  0  0  0999 V2000\n"
                              "    0.0000    0.0000    0.0000 C   0  0\n"
                              "    1.0000    0.0000    0.0000 C   0  0\n"
                              "    2.0000    0.0000    0.0000 O   0  5\n"
                              "  1  2  1  0\n"
                              "  2  3  1  0\n"
                              "M  CHG  1   3   0\n"
                              "M  ISO  1   1  13\n"
                              "M  END\n"
                              "> <name>\nx\n\n$$$$\n";

TEST(sdf_files)
{
    okra_data *data = NULL;
    char text[2 * sizeof ethanol];
    snprintf(text, sizeof text, "%s%s", ethanol, ethanol);
    CHECK_OK(files_text("", "a.sdf", text, &data));
    CHECK(data->n == 2 && data->groups[0].offsets[2] == 6);
    const int32_t *atom = data->groups[0].fields[1].values;
    CHECK(atom[2] == 13 && atom[1] == 3); /* isotope, hydrogens of the first carbon */
    CHECK(atom[8] == 0 && atom[9] == 1);  /* M  CHG takes the place of the 5 */
    CHECK_OK(okra_data_write(NULL, data, files_path("b.sdf")));
    okra_data_free(data);
    data = NULL;
    CHECK_OK(okra_data_read(NULL, files_path("b.sdf"), &data));
    CHECK(data->n == 2);
    CHECK_FAILS(okra_data_write(NULL, data, files_path("b.smi")), OKRA_EUNSUPPORTED,
                "the format they came in");
    okra_data_free(data);
}

/* Replaces the first `from` of the record and expects the message. */
static void altered(const char *from, const char *to, const char *message)
{
    char text[2 * sizeof ethanol];
    const char *at = strstr(ethanol, from);
    CHECK(at != NULL);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - ethanol), ethanol, to,
             at + strlen(from));
    okra_data *data = NULL;
    okra_status st = files_text("", "a.sdf", text, &data);
    CHECK(st == OKRA_EFORMAT || st == OKRA_EUNSUPPORTED);
    if (!strstr(okra_message(), message)) {
        harness_fail(__FILE__, __LINE__, okra_message());
    }
    okra_data_free(data);
}

TEST(broken_sdf_files)
{
    altered("V2000", "V3000", "V2000");
    altered("  3  2  0", "  0  2  0", "line 4, character 1: expected the counts");
    altered("  3  2  0", "  x  2  0", "line 4, character 1: expected a whole number");
    altered(" O   0  5", " Qq  0  5", "line 7, character 32: unknown element 'Qq'");
    altered(" O   0  5", " O   0  9", "line 7, character 37: expected the code");
    altered("  2  3  1", "  2  4  1", "line 9, character 4: bond to an atom");
    altered("  2  3  1", "  2  2  1", "line 9, character 4: bond of an atom to itself");
    altered("  2  3  1", "  2  1  1", "line 9: the bond is there already");
    altered("  2  3  1", "  2  3  9", "line 9, character 7: expected the type");
    altered("CHG  1   3", "CHG  1   4", "line 10, character 10: no such atom");
    altered("CHG  1", "CHG  9", "line 10, character 7: expected a count");
    altered("   1  13", "   1 -13", "value out of range");
    altered("M  END\n", "", "expected M  END before $$$$");
    altered("M  END\n> <name>\nx\n\n$$$$\n", "", "expected M  END");
    altered("by hand", "by h\xff", "line 2, character 7");
}

static okra_status read_again(const char *spec, okra_data **out)
{
    return okra_data_read(NULL, spec, out);
}

TEST(allocations_may_fail)
{
    char spec[600];
    okra_data *data = NULL;
    const char text[] = "CC(=O)Oc1ccccc1C(=O)O aspirin\n";
    snprintf(spec, sizeof spec, "%s", files_make("x.smi", text, strlen(text)));
    CHECK_ALLOCATIONS(read_again(spec, &data), okra_data_free(data));
    snprintf(spec, sizeof spec, "%s", files_make("x.sdf", ethanol, strlen(ethanol)));
    CHECK_ALLOCATIONS(read_again(spec, &data), okra_data_free(data));
    files_clean();
}

MAIN(RUN(atoms_bonds_hydrogens_aromaticity), RUN(broken_smiles_point_at_the_character),
     RUN(no_kekule_structure_leaves_what_was_written), RUN(large_molecules_are_bounded),
     RUN(smiles_files), RUN(a_line_without_end_is_refused_in_bounded_memory),
     RUN(sdf_files), RUN(broken_sdf_files), RUN(allocations_may_fail))
