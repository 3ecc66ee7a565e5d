/*
 * meta.c: what files say about a spectrum: keys, adducts, the mass of the molecule.
 *
 * An ion of m/z v and charge z that holds k molecules and further atoms of mass A has
 *     v |z| = k M + A - z m_e,      so  M = (v |z| - A + z m_e) / k,
 * m_e the mass of an electron; [2M+Na]+ has k = 2, z = 1, A the mass of sodium.
 */
#include "data/molecules/molecule.h"
#include "data/spectra/spectra.h"

#include <strings.h>

static const struct {
    const char *one, *others; /* others: between spaces, without underscores */
} keys[] = {
    {"TITLE", " NAME COMPOUNDNAME SPECTRUMNAME "},
    {"PEPMASS", " PRECURSORMZ PRECURSORM/Z PRECURSORMASS PARENTMZ "},
    {"ADDUCT", " PRECURSORTYPE IONTYPE ADDUCTIONNAME "},
    {"IONMODE", " POLARITY IONIZATIONMODE "},
    {"FORMULA", " MOLECULARFORMULA MOLECULEFORMULA "},
    {"SMILES", " COMPUTEDSMILES CANONICALSMILES "},
    {"INCHIKEY", " INCHIK INCHIAUX "},
    {"MASS", " PARENTMASS EXACTMASS MONOISOTOPICMASS "},
};

void okra_meta_key_(const char *key, size_t length, char out[64])
{
    char plain[68];
    size_t used = 0, bare = 1;
    plain[0] = ' ';
    for (size_t i = 0; i < length && used < 63; i++) {
        char c = key[i];
        c = c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
        c = c == ' ' || c == '\t' || c == '-' || c == '=' ? '_' : c;
        out[used++] = c;
        if (c != '_') {
            plain[bare++] = c;
        }
    }
    out[used] = '\0';
    plain[bare] = ' ';
    plain[bare + 1] = '\0';
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        if (strstr(keys[k].others, plain) ||
            (strlen(keys[k].one) == bare - 1 &&
             memcmp(keys[k].one, plain + 1, bare - 1) == 0)) {
            memcpy(out, keys[k].one, strlen(keys[k].one) + 1);
        }
    }
}

const char *okra_meta_find_(const char *text, okra_int size, const char *key,
                            okra_int *length)
{
    size_t key_length = strlen(key);
    const char *end = size > 0 ? text + size : text;
    while (text < end) {
        const char *close = memchr(text, '\n', (size_t)(end - text));
        close = close ? close : end;
        if ((size_t)(close - text) > key_length && text[key_length] == '=' &&
            memcmp(text, key, key_length) == 0) {
            *length = close - text - (okra_int)key_length - 1;
            return text + key_length + 1;
        }
        text = close + 1;
    }
    return NULL;
}

static double take_count(const char **p, const char *end)
{
    double count = 0;
    bool any = false;
    while (*p < end && **p >= '0' && **p <= '9' && count < 1000) {
        count = 10 * count + (*(*p)++ - '0');
        any = true;
    }
    return any ? count : 1;
}

/* A charge: "+", "2+", "+2", "++", "-"; 0: it is none. */
static double charge_of(const char *p, const char *end)
{
    bool first = p < end && (*p == '+' || *p == '-');
    bool negative = first && *p == '-';
    double signs = 0, count = first ? 1 : take_count(&p, end);
    negative = first ? negative : p < end && *p == '-';
    while (p < end && *p == (negative ? '-' : '+')) {
        signs++;
        p++;
    }
    if (first && signs == 1) {
        count = take_count(&p, end);
    }
    count = signs > 1 ? signs : count;
    return p < end || signs == 0 ? 0 : negative ? -count : count;
}

/* What CHARGE and IONMODE say of the charge; 0: nothing. */
static double told_charge(const char *text, okra_int size)
{
    okra_int length = 0;
    const char *value = okra_meta_find_(text, size, "CHARGE", &length);
    double charge = 0;
    if (value) {
        charge = charge_of(value, value + length);
        const char *p = value;
        double plain = take_count(&p, value + length);
        charge = charge == 0 && length > 0 && p == value + length ? plain : charge;
    }
    const char *mode = okra_meta_find_(text, size, "IONMODE", &length);
    if (mode && length > 0) {
        bool negative = *mode == 'n' || *mode == 'N' || *mode == '-';
        charge = charge == 0 ? 1 : charge;
        charge = negative && charge > 0 ? -charge : charge;
    }
    return charge;
}

/* Usual names of what an ion has taken up that are no formulas. */
static bool gained(const char *p, size_t length, double *mass)
{
    static const struct {
        const char *name, *formula;
    } names[] = {{"ACN", "C2H3N"},     {"FA", "CH2O2"},    {"HAc", "C2H4O2"},
                 {"Ac", "C2H3O2"},     {"MeOH", "CH4O"},   {"DMSO", "C2H6OS"},
                 {"IsoProp", "C3H8O"}, {"TFA", "C2HF3O2"}, {"Hac", "C2H4O2"}};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        if (strlen(names[k].name) == length && memcmp(names[k].name, p, length) == 0) {
            return okra_formula_mass_(names[k].formula, strlen(names[k].formula), mass);
        }
    }
    return okra_formula_mass_(p, length, mass);
}

/* Where the atoms of an adduct stand, and its charge, 0: it tells none. Brackets may be
 * missing, and a dot or star marks a radical: "[M+H]+", "M+H", "[M]+.", "M+". */
static bool split_adduct(const char *adduct, size_t length, const char **begin,
                         const char **close, double *charge)
{
    const char *p = adduct, *end = adduct + length;
    while (end > p && (end[-1] == '.' || end[-1] == '*' || end[-1] == ' ')) {
        end--;
    }
    bool brackets = p < end && *p == '[';
    const char *stop = brackets ? memchr(p, ']', (size_t)(end - p)) : end;
    if (!stop) {
        return false;
    }
    *begin = p + brackets;
    while (!brackets && stop > p && (stop[-1] == '+' || stop[-1] == '-')) {
        stop--;
    }
    *close = stop;
    const char *sign = stop + brackets;
    *charge = charge_of(sign, end);
    return sign == end || *charge != 0;
}

/* Of an adduct that tells no charge: the protons that it gained or lost, else one as its
 * first sign says. */
static double guess_charge(const char *p, const char *close)
{
    double sign = p < close && *p == '-' ? -1 : 1;
    const char *at = p + (p < close);
    double count = take_count(&at, close);
    return sign * (close - at == 1 && *at == 'H' ? count : 1);
}

double okra_adduct_mass_(const char *adduct, size_t length, double mz, double told)
{
    const char *p, *close;
    double charge = 0, atoms = 0;
    if (!split_adduct(adduct, length, &p, &close, &charge)) {
        return 0;
    }
    double molecules = take_count(&p, close);
    bool cation = close - p >= 3 && memcmp(p, "Cat", 3) == 0;
    if (p >= close || (*p != 'M' && !cation) || molecules < 1) {
        return 0;
    }
    p += cation ? 3 : 1;
    charge = charge != 0 ? charge : told != 0 ? told : guess_charge(p, close);
    while (p < close) {
        double sign = *p == '+' ? 1 : -1, mass = 0;
        if (*p != '+' && *p != '-') {
            return 0;
        }
        p++;
        double count = take_count(&p, close);
        const char *stop = p;
        while (stop < close && *stop != '+' && *stop != '-') {
            stop++;
        }
        if (!gained(p, (size_t)(stop - p), &mass)) {
            return 0;
        }
        atoms += sign * count * mass;
        p = stop;
    }
    double size = charge < 0 ? -charge : charge;
    double mass = (mz * size - atoms + charge * OKRA_ELECTRON_MASS_) / molecules;
    return mass > 0 ? mass : 0;
}

/* Without an adduct an ion is taken for protonated, or deprotonated where negative. */
static double protonated(double charge, double mz)
{
    const double proton = okra_atom_mass_(1, 0) - OKRA_ELECTRON_MASS_;
    double number = charge < 0 ? -charge : charge, mass = mz * number - charge * proton;
    return charge != 0 && mass > 0 ? mass : 0;
}

/* The first number of a value; MGF may have the precursor's intensity behind it. */
static okra_status number_of(const char *key, const char *value, okra_int length,
                             double *out)
{
    const char *p = value, *word, *close;
    double number = 0;
    if (okra_word_(&p, value + length, &word, &close) &&
        okra_number_(word, close, &number) == OKRA_TOKEN_NUMBER_ && number >= 0 &&
        number <= OKRA_MZ_MOST_) {
        *out = number;
        return OKRA_OK;
    }
    return okra_fail_(OKRA_EFORMAT, "%s is '%.*s', expected a number from 0 to %d", key,
                      (int)OKRA_MIN_(length, 40), value, OKRA_MZ_MOST_);
}

okra_status okra_meta_ion_(const char *text, okra_int size, double ion[2])
{
    okra_int length = 0;
    ion[0] = ion[1] = 0;
    const char *value = okra_meta_find_(text, size, "PEPMASS", &length);
    if (value) {
        CHK(number_of("the precursor", value, length, &ion[0]));
    }
    value = okra_meta_find_(text, size, "ADDUCT", &length);
    if (ion[0] > 0 && value) {
        ion[1] =
            okra_adduct_mass_(value, (size_t)length, ion[0], told_charge(text, size));
    }
    if (ion[0] > 0 && (!value || length == 0)) {
        ion[1] = protonated(told_charge(text, size), ion[0]);
    }
    value = okra_meta_find_(text, size, "MASS", &length);
    return value && ion[1] == 0 && length > 0
               ? number_of("the mass", value, length, &ion[1])
               : OKRA_OK;
}
