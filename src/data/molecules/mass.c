/*
 * mass.c: exact masses and formulas.
 *
 * The mass of a molecule is the sum of the masses of its atoms, each of the commonest
 * isotope unless another is written; charges are not weighed, so that a salt, an ion and
 * its neutral form differ by atoms alone (the electron is the ion's: spectra/ion.c).
 * Unit: dalton. Values: the atomic mass evaluation, to 1e-6 or better for what is found
 * in organic molecules.
 */
#include "data/molecules/molecule.h"

/* clang-format off */
static const double masses[119] = {
    0, 1.007825032, 4.002603254, 7.01600455, 9.0121822, 11.0093054, 12.0, 14.003074,
    15.99491462, 18.99840322, 19.99244018, 22.98976928, 23.9850417, 26.98153863,
    27.97692653, 30.97376163, 31.972071, 34.96885268, 39.96238312, 38.96370668,
    39.96259098, 44.9559119, 47.9479463, 50.9439595, 51.9405075, 54.9380451, 55.9349375,
    58.933195, 57.9353429, 62.9295975, 63.9291422, 68.9255736, 73.9211778, 74.9215965,
    79.9165213, 78.9183371, 83.911507, 84.91178974, 87.9056121, 88.9058483, 89.9047044,
    92.9063781, 97.9054082, 96.906365, 101.9043493, 102.905504, 105.903486, 106.905097,
    113.9033585, 114.903878, 119.9021947, 120.9038157, 129.9062244, 126.904473,
    131.9041535, 132.9054519, 137.9052472, 138.9063533, 139.9054387, 140.9076528,
    141.9077233, 144.912749, 151.9197324, 152.9212303, 157.9241039, 158.9253468,
    163.9291748, 164.9303221, 165.9302931, 168.9342133, 173.9388621, 174.9407718,
    179.94655, 180.9479958, 183.9509312, 186.9557531, 191.9614807, 192.9629264,
    194.9647911, 196.9665687, 201.970643, 204.9744275, 207.9766521, 208.9803987,
    208.9824304, 209.987148, 222.0175777, 223.0197359, 226.0254098, 227.0277521,
    232.0380553, 231.035884, 238.0507882, 236.04657, 238.0495599, 241.0568291,
    243.0613891, 247.070307, 249.0748535, 252.08298, 257.095105, 258.098431, 259.10103,
    262.10963, 267.12153, 268.12545, 271.13347, 270.13362, 269.13406, 278.15481,
    281.16206, 281.16537, 285.17411, 284.17873, 289.19042, 288.19274, 293.20449,
    292.20746, 294.21392};

static const struct {
    int element, isotope;
    double mass;
} isotopes[] = {
    {1, 2, 2.014101778}, {1, 3, 3.016049278}, {3, 6, 6.015122795}, {5, 10, 10.012937},
    {6, 11, 11.0114336}, {6, 13, 13.00335484}, {6, 14, 14.00324199},
    {7, 13, 13.00573861}, {7, 15, 15.0001089}, {8, 15, 15.0030656},
    {8, 17, 16.9991317}, {8, 18, 17.999161}, {9, 18, 18.000938}, {14, 29, 28.9764947},
    {14, 30, 29.97377017}, {15, 32, 31.97390727}, {15, 33, 32.9717255},
    {16, 33, 32.97145876}, {16, 34, 33.9678669}, {16, 35, 34.96903216},
    {16, 36, 35.96708076}, {17, 36, 35.96830698}, {17, 37, 36.96590259},
    {34, 74, 73.9224764}, {34, 75, 74.9225234}, {34, 76, 75.9192136},
    {34, 77, 76.919914}, {34, 78, 77.9173091}, {34, 82, 81.9166994},
    {35, 76, 75.924541}, {35, 77, 76.921379}, {35, 81, 80.9162906},
    {53, 123, 122.905589}, {53, 124, 123.9062099}, {53, 125, 124.9046302},
    {53, 131, 130.9061246}};
/* clang-format on */

double okra_atom_mass_(int element, int isotope)
{
    if (element < 1 || element > 118) {
        return 0;
    }
    if (isotope == 0 || isotope == (int)lround(masses[element])) {
        return masses[element];
    }
    for (size_t k = 0; k < sizeof isotopes / sizeof *isotopes; k++) {
        if (isotopes[k].element == element && isotopes[k].isotope == isotope) {
            return isotopes[k].mass;
        }
    }
    return okra_isotope_mass_(element, isotope);
}

/* A formula's atoms and their mass. */
static bool read_formula(const char *text, size_t length, okra_atom_counts_ *out)
{
    size_t at = 0;
    *out = (okra_atom_counts_){0};
    while (at < length) {
        size_t letters = 1;
        while (at + letters < length && text[at + letters] >= 'a' &&
               text[at + letters] <= 'z') {
            letters++;
        }
        int element = okra_element_(text + at, letters);
        double one = okra_atom_mass_(element, 0), count = 0;
        at += letters;
        size_t digits = at;
        while (at < length && text[at] >= '0' && text[at] <= '9' && count < 1e6) {
            count = 10 * count + (text[at++] - '0');
        }
        if (!(one > 0) || count >= 1e6 || (at > digits && count == 0)) {
            return false;
        }
        count = at > digits ? count : 1;
        out->mass += one * count;
        out->count[element] += (okra_int)count;
    }
    return length > 0;
}

bool okra_formula_mass_(const char *text, size_t length, double *mass)
{
    okra_atom_counts_ atoms;
    bool good = read_formula(text, length, &atoms);
    *mass = good ? atoms.mass : *mass;
    return good;
}

uint64_t okra_atoms_key_(const okra_atom_counts_ *c)
{
    uint64_t key = okra_mix_(OKRA_MIX_START_, c->count + 1, 118 * sizeof *c->count);
    return c->count[0] == 0 && c->mass > 0 ? (key ? key : 1) : 0;
}

uint64_t okra_formula_key_(const char *text, size_t length, double *mass)
{
    okra_atom_counts_ atoms;
    while (length > 0 && (text[length - 1] == '+' || text[length - 1] == '-')) {
        length--;
    }
    const char *close = length > 0 && text[0] == '[' ? memchr(text, ']', length) : NULL;
    if (close) { /* a number behind the bracket is the charge's */
        length = (size_t)(close - text) - 1;
        text++;
    }
    bool good = read_formula(text, length, &atoms);
    *mass = good ? atoms.mass : 0;
    return good ? okra_atoms_key_(&atoms) : 0;
}

void okra_atoms_(const okra_data *data, okra_int i, okra_atom_counts_ *out)
{
    const okra_ragged_ *nodes = okra_data_group_(data, "nodes");
    const okra_field_ *field = nodes ? okra_ragged_field_(nodes, "atom") : NULL;
    *out = (okra_atom_counts_){0};
    if (data->kind != OKRA_GRAPHS || !field) {
        return;
    }
    const int32_t *label = okra_ragged_field_(nodes, "label")->values;
    const int32_t *atom = field->values;
    bool known = nodes->offsets[i + 1] > nodes->offsets[i];
    for (okra_int k = nodes->offsets[i]; k < nodes->offsets[i + 1]; k++) {
        int element = label[k] >= 0 && label[k] < 119 ? label[k] : 0;
        int32_t hydrogens = OKRA_MAX_(atom[4 * k + 1], 0);
        double mass = okra_atom_mass_(element, atom[4 * k + 2]);
        known = known && mass > 0;
        out->mass += mass + hydrogens * masses[1];
        out->count[element]++;
        out->count[1] += hydrogens;
        out->charge += atom[4 * k];
    }
    out->mass = known ? out->mass : 0;
}

/* Carbon, hydrogen, then the rest by symbol; without carbon all by symbol (Hill). */
void okra_formula_(const okra_atom_counts_ *c, char *text, size_t size)
{
    bool done[119] = {true}; /* "*" has no mass */
    bool carbon = c->count[6] > 0;
    size_t used = 0;
    text[0] = '\0';
    for (;;) {
        int best = 0;
        for (int z = 1; z < 119; z++) {
            if (done[z] || c->count[z] == 0) {
                continue;
            }
            bool first = carbon && (z == 6 || (z == 1 && done[6]));
            if (best == 0 || first ||
                (!(carbon && best == 1 && done[6]) && !(carbon && best == 6) &&
                 strcmp(okra_element_symbol_(z), okra_element_symbol_(best)) < 0)) {
                best = z;
            }
        }
        if (best == 0 || used + 24 > size) {
            return;
        }
        done[best] = true;
        used +=
            (size_t)snprintf(text + used, size - used, "%s", okra_element_symbol_(best));
        if (c->count[best] > 1) {
            used += (size_t)snprintf(text + used, size - used, "%lld",
                                     (long long)c->count[best]);
        }
    }
}
