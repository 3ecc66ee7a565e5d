/*
 * sdf.c: molecules from SDF and MOL files, version V2000.
 *
 * A record is three header lines, the counts, atoms and bonds in fixed columns, property
 * lines (M  CHG, M  ISO, M  RAD are read) up to M  END, then data up to $$$$.
 */
#include "data/files/formats.h"
#include "data/graphs.h"

/* A record under way. */
typedef struct sdf {
    okra_lines_ lines;
    okra_molecule_ *m;
    bool charges; /* an M  CHG or M  RAD line takes the place of the atoms' charges */
} sdf;

/* OKRA_EFORMAT at the character `at` (from 0) unless all is good. */
static okra_status demand(const sdf *f, bool good, okra_int at, const char *what)
{
    REFUSE_IF(!good, OKRA_EFORMAT, "line %" PRId64 ", character %" PRId64 ": %s",
              f->lines.number, at + 1, what);
    return OKRA_OK;
}

static okra_status sdf_line(sdf *f, const char *what)
{
    REFUSE_IF(!okra_lines_next_(&f->lines), OKRA_EFORMAT,
              "the file ends after line %" PRId64 "; expected %s", f->lines.number, what);
    return okra_line_check_(&f->lines);
}

/* The whole number in columns at..at+width-1; blanks alone are 0. */
static okra_status fixed(const sdf *f, okra_int at, okra_int width, int32_t *value)
{
    okra_int length = f->lines.close - f->lines.begin, k = at;
    okra_int end = OKRA_MIN_(at + width, length);
    bool minus = false, digits = false;
    *value = 0;
    while (k < end && f->lines.begin[k] == ' ') {
        k++;
    }
    if (k < end && (f->lines.begin[k] == '-' || f->lines.begin[k] == '+')) {
        minus = f->lines.begin[k++] == '-';
        digits = true;
    }
    bool blank = k >= end;
    while (k < end && f->lines.begin[k] >= '0' && f->lines.begin[k] <= '9') {
        *value = *value * 10 + (f->lines.begin[k++] - '0');
        digits = true;
        blank = true;
    }
    while (k < end && f->lines.begin[k] == ' ') {
        k++;
    }
    CHK(demand(f, k >= end && (blank || !digits), at, "expected a whole number"));
    *value = minus ? -*value : *value;
    return OKRA_OK;
}

/* The isotope that the difference in an atom line counts from. */
static int32_t usual_isotope(int element)
{
    static const unsigned char known[][2] = {
        {1, 1},   {5, 11},  {6, 12},  {7, 14},  {8, 16},  {9, 19},  {14, 28},
        {15, 31}, {16, 32}, {17, 35}, {34, 80}, {35, 79}, {53, 127}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        if (known[k][0] == element) {
            return known[k][1];
        }
    }
    return 0;
}

static okra_status sdf_symbol(const sdf *f, okra_atom_ *atom)
{
    static const char *const any[] = {"*", "A", "Q", "R", "R#", "L"};
    const char *p = f->lines.begin + 30, *begin, *close;
    const char *end = f->lines.begin + OKRA_MIN_(34, f->lines.close - f->lines.begin);
    CHK(demand(
        f,
        !(f->lines.close - f->lines.begin < 32 || !okra_word_(&p, end, &begin, &close)),
        31, "expected the symbol of an atom"));
    size_t length = (size_t)(close - begin);
    for (size_t k = 0; k < sizeof any / sizeof *any; k++) {
        if (strlen(any[k]) == length && memcmp(any[k], begin, length) == 0) {
            atom->element = 0;
            return OKRA_OK;
        }
    }
    if (length == 1 && (*begin == 'D' || *begin == 'T')) {
        atom->element = 1;
        atom->isotope = *begin == 'D' ? 2 : 3;
        return OKRA_OK;
    }
    atom->element = okra_element_(begin, length);
    REFUSE_IF(atom->element < 0, OKRA_EFORMAT,
              "line %" PRId64 ", character 32: unknown element '%.*s'", f->lines.number,
              (int)length, begin);
    atom->implied = atom->element > 0;
    return OKRA_OK;
}

static okra_status sdf_atom(sdf *f)
{
    static const int32_t charge_of[] = {0, 3, 2, 1, 0, -1, -2, -3};
    okra_atom_ atom = {0};
    int32_t difference, charge, valence;
    CHK(sdf_symbol(f, &atom));
    CHK(fixed(f, 34, 2, &difference));
    CHK(fixed(f, 36, 3, &charge));
    CHK(fixed(f, 48, 3, &valence));
    CHK(demand(f, charge >= 0 && charge <= 7, 36,
               "expected the code of a charge, 0 to 7"));
    if (difference) {
        CHK(demand(f, usual_isotope(atom.element), 34,
                   "mass difference of this element; expected M  ISO"));
        atom.isotope = usual_isotope(atom.element) + difference;
    }
    atom.charge = charge_of[charge];
    atom.radical = charge == 4;
    CHK(demand(f, valence >= 0 && valence <= 15, 48, "expected a valence, 0 to 15"));
    atom.valence = valence;
    return okra_molecule_add_atom_(f->m, atom);
}

static okra_status sdf_bond(sdf *f)
{
    int32_t a, b, type;
    CHK(fixed(f, 0, 3, &a));
    CHK(fixed(f, 3, 3, &b));
    CHK(fixed(f, 6, 3, &type));
    CHK(demand(f, a >= 1 && a <= f->m->atoms, 0, "bond to an atom that is not there"));
    CHK(demand(f, b >= 1 && b <= f->m->atoms, 3, "bond to an atom that is not there"));
    CHK(demand(f, a != b, 3, "bond of an atom to itself"));
    CHK(demand(f, type >= 1 && type <= 4, 6, "expected the type of a bond, 1 to 4"));
    okra_bond_ bond = {.a = a - 1,
                       .b = b - 1,
                       .order = type == 4 ? 0 : type,
                       .aromatic = type == 4,
                       .at = (int32_t)OKRA_MIN_(f->lines.number, INT32_MAX)};
    if (type == 4) {
        f->m->atom[a - 1].aromatic = f->m->atom[b - 1].aromatic = true;
    }
    return okra_molecule_add_bond_(f->m, bond);
}

/* M  CHG, M  ISO, M  RAD: a count, then pairs (atom, value). */
static okra_status sdf_property(sdf *f)
{
    const char *begin = f->lines.begin;
    okra_int length = f->lines.close - begin;
    bool charge = length >= 6 && memcmp(begin, "M  CHG", 6) == 0;
    bool isotope = length >= 6 && memcmp(begin, "M  ISO", 6) == 0;
    bool radical = length >= 6 && memcmp(begin, "M  RAD", 6) == 0;
    int32_t count;
    if (!charge && !isotope && !radical) {
        return OKRA_OK;
    }
    CHK(fixed(f, 6, 3, &count));
    CHK(demand(f, count >= 1 && count <= 8, 6, "expected a count from 1 to 8"));
    for (okra_int i = 0; !isotope && !f->charges && i < f->m->atoms; i++) {
        f->m->atom[i].charge = f->m->atom[i].radical = 0;
    }
    f->charges |= !isotope;
    for (okra_int k = 0; k < count; k++) {
        int32_t atom, value;
        CHK(fixed(f, 9 + 8 * k, 4, &atom));
        CHK(fixed(f, 13 + 8 * k, 4, &value));
        CHK(demand(f, atom >= 1 && atom <= f->m->atoms, 9 + 8 * k, "no such atom"));
        CHK(demand(f, value >= (charge ? -15 : 0) && value <= (isotope ? 999 : 15),
                   13 + 8 * k, "value out of range"));
        okra_atom_ *a = &f->m->atom[atom - 1];
        if (charge) {
            a->charge = value;
        } else if (isotope) {
            a->isotope = value;
        } else {
            a->radical = value == 2  ? 1
                         : value > 0 ? 2
                                     : 0; /* doublet; singlet, triplet */
        }
    }
    return OKRA_OK;
}

/* The three header lines and the counts; *end: the file is over. */
static okra_status sdf_header(sdf *f, int32_t *atoms, int32_t *bonds)
{
    CHK(sdf_line(f, "the second line of a molecule"));
    CHK(sdf_line(f, "the third line of a molecule"));
    CHK(sdf_line(f, "the counts of atoms and bonds"));
    okra_int length = f->lines.close - f->lines.begin;
    REFUSE_IF(length >= 39 && memcmp(f->lines.begin + 34, "V3000", 5) == 0,
              OKRA_EUNSUPPORTED, "line %" PRId64 ": V3000; expected a V2000 molecule",
              f->lines.number);
    CHK(fixed(f, 0, 3, atoms));
    CHK(fixed(f, 3, 3, bonds));
    return demand(f, *atoms >= 1 && *bonds >= 0 && length >= 6, 0,
                  "expected the counts of atoms and bonds");
}

static okra_status sdf_record(sdf *f)
{
    int32_t atoms = 0, bonds = 0;
    const okra_bond_ *again = NULL;
    okra_molecule_reset_(f->m);
    f->charges = false;
    CHK(sdf_header(f, &atoms, &bonds));
    for (int32_t k = 0; k < atoms; k++) {
        CHK(sdf_line(f, "an atom"));
        CHK(sdf_atom(f));
    }
    for (int32_t k = 0; k < bonds; k++) {
        CHK(sdf_line(f, "a bond"));
        CHK(sdf_bond(f));
    }
    CHK(okra_molecule_repeats_(f->m, &again));
    REFUSE_IF(again, OKRA_EFORMAT, "line %d: the bond is there already", again->at);
    for (bool end = false; !end;) {
        CHK(sdf_line(f, "M  END"));
        okra_int length = f->lines.close - f->lines.begin;
        end = length >= 6 && memcmp(f->lines.begin, "M  END", 6) == 0;
        CHK(demand(f, length < 4 || memcmp(f->lines.begin, "$$$$", 4) != 0, 0,
                   "expected M  END before $$$$"));
        CHK(sdf_property(f));
    }
    while (okra_lines_next_(&f->lines)) {
        if (f->lines.close - f->lines.begin >= 4 &&
            memcmp(f->lines.begin, "$$$$", 4) == 0) {
            break;
        }
    }
    return OKRA_OK;
}

okra_status okra_read_sdf_(okra_source_ *s, okra_data **out)
{
    FREED_BY(okra_molecule_clear_) okra_molecule_ m = {0};
    sdf f = {.lines = okra_lines_begin_(&s->bytes), .m = &m};
    FREED_BY(okra_graphs_abandon_) okra_graphs_builder_ b = {0};
    okra_int odd = 0, odd_first = 0;
    CHK(okra_graphs_begin_(&b, true));
    while (okra_lines_next_(&f.lines)) {
        const char *begin = f.lines.begin;
        okra_int first = f.lines.number;
        bool kekule = true;
        CHK(okra_line_check_(&f.lines));
        CHK(okra_cancelled_(s->ctx));
        okra_lines_progress_(s, &f.lines);
        CHK(sdf_record(&f));
        CHK(okra_at_(okra_molecule_perceive_(&m, &kekule), "molecule on line %" PRId64,
                     first));
        odd_first = !kekule && odd == 0 ? first : odd_first;
        odd += !kekule;
        CHK(okra_graphs_molecule_(&b, &m, begin, (size_t)(f.lines.close - begin)));
    }
    okra_warn_unkekulised_(s, odd, odd_first);
    return okra_graphs_finish_(&b, s->name, out);
}
