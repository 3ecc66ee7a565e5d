/*
 * spectra.c: collections of tandem mass spectra, built from files and from memory, and
 * what is said about a spectrum: keys, adducts, the mass of the molecule.
 *
 * An ion of m/z v and charge z that holds k molecules and further atoms of mass A has
 *     v |z| = k M + A - z m_e,      so  M = (v |z| - A + z m_e) / k,
 * m_e the mass of an electron; [2M+Na]+ has k = 2, z = 1, A the mass of sodium.
 */
#include "data/spectra/spectra.h"
#include "data/molecules/molecule.h"
#include "okra/more/objects.h"

#include <strings.h>

/* ---- what is said about a spectrum ---- */

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
    bool block = strcmp(key, "INCHIKEY14") == 0; /* the first one: which molecule */
    key = block ? "INCHIKEY" : key;
    size_t key_length = strlen(key);
    const char *end = size > 0 ? text + size : text;
    while (text < end) {
        const char *close = memchr(text, '\n', (size_t)(end - text));
        close = close ? close : end;
        if ((size_t)(close - text) > key_length && text[key_length] == '=' &&
            memcmp(text, key, key_length) == 0) {
            *length = close - text - (okra_int)key_length - 1;
            *length = block ? OKRA_MIN_(*length, 14) : *length;
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

/* Precursor and mass from all lines; 0: not told. OKRA_EFORMAT: told, but no number. */
static okra_status find_ion(const char *text, okra_int size, double ion[2])
{
    okra_int length = 0;
    ion[0] = ion[1] = 0;
    const char *value = okra_meta_find_(text, size, "PEPMASS", &length);
    CHK(value ? number_of("the precursor", value, length, &ion[0]) : OKRA_OK);
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

/* ---- building ---- */

okra_status okra_spectra_begin_(okra_spectra_builder_ *b)
{
    static const okra_field_ peaks[] = {{"mz", OKRA_FIELD_DOUBLE, 1, NULL},
                                        {"intensity", OKRA_FIELD_DOUBLE, 1, NULL}};
    static const okra_field_ ion[] = {{"precursor", OKRA_FIELD_DOUBLE, 1, NULL},
                                      {"mass", OKRA_FIELD_DOUBLE, 1, NULL}};
    static const okra_field_ text[] = {{"text", OKRA_FIELD_BYTE, 1, NULL}};
    *b = (okra_spectra_builder_){0};
    CHK(okra_ragged_begin_(&b->peaks, "peaks", 2, peaks));
    CHK(okra_ragged_begin_(&b->ion, "ion", 2, ion));
    CHK(okra_ragged_begin_(&b->names, "names", 1, text));
    return okra_ragged_begin_(&b->texts, "texts", 1, text);
}

void okra_spectra_abandon_(okra_spectra_builder_ *b)
{
    okra_ragged_abandon_(&b->peaks);
    okra_ragged_abandon_(&b->ion);
    okra_ragged_abandon_(&b->names);
    okra_ragged_abandon_(&b->texts);
    FREE(b->peak, b->text);
    *b = (okra_spectra_builder_){0};
}

void okra_spectra_drop_(okra_spectra_builder_ *b)
{
    b->count = b->length = 0;
}

okra_status okra_spectra_peak_(okra_spectra_builder_ *b, double mz, double intensity)
{
    REFUSE_IF(!(mz > 0) || !(mz <= OKRA_MZ_MOST_), OKRA_EFORMAT,
              "m/z is %g, expected a number above 0%s", mz,
              mz > 0 ? " and at most 1e9" : "");
    REFUSE_IF(!(intensity >= 0) || !isfinite(intensity), OKRA_EFORMAT,
              "the intensity is %g, expected at least 0", intensity);
    REFUSE_IF(b->count == OKRA_PEAKS_MOST_, OKRA_EFORMAT,
              "more than %d peaks in one spectrum", OKRA_PEAKS_MOST_);
    EXTEND(b->peak, b->count, b->room, 128);
    if (intensity > 0) {
        b->peak[b->count++] = (okra_peak_){mz, intensity};
    }
    return OKRA_OK;
}

static void trim(const char **p, size_t *length)
{
    while (*length > 0 && (**p == ' ' || **p == '\t' || **p == '\r')) {
        (*p)++;
        (*length)--;
    }
    while (*length > 0 && ((*p)[*length - 1] == ' ' || (*p)[*length - 1] == '\t' ||
                           (*p)[*length - 1] == '\r')) {
        (*length)--;
    }
}

okra_status okra_spectra_text_(okra_spectra_builder_ *b, const char *text, size_t length)
{
    REFUSE_IF(b->length + (okra_int)length > OKRA_META_MOST_, OKRA_EFORMAT,
              "more than %d bytes about one spectrum", OKRA_META_MOST_);
    CHK(okra_reserve_(&b->text, b->length + (okra_int)length, &b->text_room, 1));
    memcpy(b->text + b->length, text, length);
    b->length += (okra_int)length;
    return OKRA_OK;
}

okra_status okra_spectra_about_(okra_spectra_builder_ *b, const char *key,
                                size_t key_length, const char *value, size_t length)
{
    char name[64];
    trim(&key, &key_length);
    trim(&value, &length);
    okra_meta_key_(key, key_length, name);
    if (key_length == 0 || length == 0) {
        return OKRA_OK; /* nothing is said */
    }
    CHK(okra_spectra_text_(b, name, strlen(name)));
    CHK(okra_spectra_text_(b, "=", 1));
    CHK(okra_spectra_text_(b, value, length));
    return okra_spectra_text_(b, "\n", 1);
}

OKRA_ORDER_(by_mz, okra_peak_, OKRA_UP_(mz))

/* Ascending, peaks of the same m/z as one. */
static okra_int sort_peaks(okra_peak_ *peak, okra_int count)
{
    okra_int kept = 0;
    for (okra_int k = 1; k < count; k++) {
        if (peak[k].mz < peak[k - 1].mz) {
            qsort(peak, (size_t)count, sizeof *peak, by_mz);
            break;
        }
    }
    for (okra_int k = 0; k < count; k++) {
        if (kept > 0 && peak[k].mz == peak[kept - 1].mz) {
            peak[kept - 1].intensity += peak[k].intensity;
        } else {
            peak[kept++] = peak[k];
        }
    }
    return kept;
}

static okra_status push_all(okra_spectra_builder_ *b, okra_int peaks, const double ion[2])
{
    okra_int length = 0;
    const char *title = okra_meta_find_(b->text, b->length, "TITLE", &length);
    const void *name[] = {title}, *text[] = {b->text}, *about[] = {&ion[0], &ion[1]};
    for (okra_int k = 0; k < peaks; k++) {
        const void *element[] = {&b->peak[k].mz, &b->peak[k].intensity};
        REFUSE_IF(!isfinite(b->peak[k].intensity), OKRA_EFORMAT,
                  "intensities add up to infinity");
        CHK(okra_ragged_push_(&b->peaks, element));
    }
    CHK(okra_ragged_push_(&b->ion, about));
    CHK(okra_ragged_push_many_(&b->names, title ? length : 0, name));
    CHK(okra_ragged_push_many_(&b->texts, b->length, text));
    CHK(okra_ragged_close_(&b->peaks));
    CHK(okra_ragged_close_(&b->ion));
    CHK(okra_ragged_close_(&b->names));
    return okra_ragged_close_(&b->texts);
}

static okra_status close_spectrum(okra_spectra_builder_ *b)
{
    double ion[2] = {0, 0}, sum = 0;
    for (okra_int k = 0; k < b->count; k++) {
        sum += b->peak[k].intensity;
    }
    REFUSE_IF(b->count == 0, OKRA_EFORMAT, "the spectrum has no peaks");
    REFUSE_IF(!isfinite(sum), OKRA_EFORMAT, "the intensities add up to infinity");
    CHK(find_ion(b->text, b->length, ion));
    return push_all(b, sort_peaks(b->peak, b->count), ion);
}

okra_status okra_spectra_close_(okra_spectra_builder_ *b)
{
    okra_status st = close_spectrum(b);
    okra_spectra_drop_(b);
    return st;
}

okra_status okra_spectra_finish_(okra_spectra_builder_ *b, const char *source,
                                 okra_data **out)
{
    okra_ragged_builder_ *parts[] = {&b->peaks, &b->ion, &b->names, &b->texts, NULL};
    okra_status st = okra_ragged_data_(OKRA_SPECTRA, parts, source, out);
    okra_spectra_abandon_(b);
    return st;
}

okra_spectrum_view_ okra_spectrum_view_of_(const okra_data *data, okra_int i)
{
    const okra_ragged_ *peaks = &data->groups[0], *ion = &data->groups[1];
    okra_int begin = peaks->offsets[i], at = ion->offsets[i];
    return (okra_spectrum_view_){(const double *)peaks->fields[0].values + begin,
                                 (const double *)peaks->fields[1].values + begin,
                                 peaks->offsets[i + 1] - begin,
                                 ((const double *)ion->fields[0].values)[at],
                                 ((const double *)ion->fields[1].values)[at]};
}

/* ---- from memory, and what a program may see ---- */

/* Lines "KEY=VALUE" that a program gives. */
static okra_status add_about(okra_spectra_builder_ *b, const char *text)
{
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n"), equals = strcspn(line, "=\n");
        REFUSE_IF(length > 0 && equals == length, OKRA_EFORMAT, "'%.*s' is not KEY=VALUE",
                  (int)OKRA_MIN_(length, 40), line);
        if (length > 0) {
            CHK(okra_spectra_about_(b, line, equals, line + equals + 1,
                                    length - equals - 1));
        }
        line += length + (line[length] == '\n');
    }
    return OKRA_OK;
}

static okra_status add_spectrum(okra_spectra_builder_ *b, const double *mz,
                                const double *intensity, okra_int count,
                                const char *about)
{
    for (okra_int k = 0; k < count; k++) {
        CHK(okra_spectra_peak_(b, mz[k], intensity[k]));
    }
    CHK(about ? add_about(b, about) : OKRA_OK);
    return okra_spectra_close_(b);
}

okra_status okra_data_spectra(const okra_int *offsets, const double *mz,
                              const double *intensity, const char *const *about,
                              okra_int n, okra_data **out)
{
    NOT_NULL(out);
    FREED_BY(okra_spectra_abandon_) okra_spectra_builder_ b = {0};
    REFUSE_IF(n < 0 || !offsets || offsets[0] != 0 ||
                  ((!mz || !intensity) && offsets[n] > 0),
              OKRA_EARG, "spectra: %s",
              n < 0                       ? "their number is negative"
              : !offsets || *offsets != 0 ? "the offsets must begin with 0"
                                          : "m/z or intensities are NULL");
    CHK(okra_spectra_begin_(&b));
    for (okra_int i = 0; i < n; i++) {
        REFUSE_IF(offsets[i + 1] < offsets[i], OKRA_EARG,
                  "spectra: the offsets fall at %" PRId64, i);
        CHK(okra_at_(add_spectrum(&b, mz + offsets[i], intensity + offsets[i],
                                  offsets[i + 1] - offsets[i], about ? about[i] : NULL),
                     "spectrum %" PRId64 " (counted from 0)", i));
    }
    return okra_spectra_finish_(&b, "memory", out);
}

okra_int okra_data_peaks(const okra_data *data, okra_int i, const double **mz,
                         const double **intensity)
{
    if (!data || data->kind != OKRA_SPECTRA || i < 0 || i >= data->n) {
        return 0;
    }
    okra_spectrum_view_ v = okra_spectrum_view_of_(data, i);
    GIVE(mz, v.mz);
    GIVE(intensity, v.intensity);
    return v.count;
}

const char *okra_data_about(const okra_data *data, okra_int i, const char *key,
                            okra_int *length)
{
    if (!data || i < 0 || i >= data->n || !length) {
        return NULL;
    }
    data = okra_bag_first_(data, &i);
    if (data->kind != OKRA_SPECTRA) {
        return NULL;
    }
    const okra_ragged_ *texts = okra_data_group_(data, "texts");
    const char *text = (const char *)texts->fields[0].values + texts->offsets[i];
    okra_int size = texts->offsets[i + 1] - texts->offsets[i];
    char name[64];
    if (!key) {
        *length = size;
        return text;
    }
    okra_meta_key_(key, strlen(key), name);
    return okra_meta_find_(text, size, name, length);
}
