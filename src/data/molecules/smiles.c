/*
 * smiles.c: one SMILES into atoms and bonds, as written.
 *
 * The grammar is that of OpenSMILES: the organic subset, bracket atoms with isotope,
 * chirality, hydrogens, charge and atom class, the bonds - = # $ : / \, branches, ring
 * closures of one digit or %nn or %(nnn), and dots. Stereo marks and atom classes are
 * read and dropped. A bond without a symbol between two aromatic atoms is aromatic. The
 * reading is one pass with an explicit stack for branches, so that depth is bounded by
 * the text and not by the machine's stack. Cost: linear in the text.
 */
#include "data/molecules/molecule.h"

enum { RINGS = 100, BRANCHES = 10000, ANY = -1 /* bond symbol not written */ };

typedef struct parser {
    const unsigned char *text;
    size_t length, at, column;
    okra_molecule_ *m;
    int32_t previous; /* atom to bond to; -1: none */
    int32_t order;    /* of the next bond: 1..4, 0 for ':', ANY */
    size_t bond_at;
    struct {
        int32_t atom, order;
        size_t at;
    } ring[RINGS];
    int32_t *stack;
    size_t *opened;
    okra_int depth;
} parser;

/* Fails where `bad` holds. */
#define REFUSE(bad, ...) CHK((bad) ? refuse(__VA_ARGS__) : OKRA_OK)

static okra_status refuse(const parser *p, size_t where, const char *what,
                          const char *found)
{
    char seen[32];
    REFUSE_IF(found, OKRA_EFORMAT, "character %zu: %s '%s'", p->column + where, what,
              found);
    if (where < p->length) {
        unsigned c = p->text[where];
        snprintf(seen, sizeof seen, c >= 0x20 && c < 0x7f ? "%c" : "\\x%02x", c);
        return okra_fail_(OKRA_EFORMAT, "character %zu: %s, found '%s'",
                          p->column + where, what, seen);
    }
    return okra_fail_(OKRA_EFORMAT, "character %zu: %s, found the end", p->column + where,
                      what);
}

static int peek(const parser *p, size_t ahead)
{
    return p->at + ahead < p->length ? p->text[p->at + ahead] : -1;
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

/* Up to `most` digits; -1: none. */
static int32_t number(parser *p, int most)
{
    int32_t value = -1;
    for (int k = 0; k < most && is_digit(peek(p, 0)); k++) {
        value = (value < 0 ? 0 : value) * 10 + (p->text[p->at++] - '0');
    }
    return value;
}

static okra_status join_atoms(parser *p, int32_t a, int32_t b, int32_t order, size_t at)
{
    okra_molecule_ *m = p->m;
    bool aromatic = order == 0;
    if (order == ANY) {
        aromatic = m->atom[a].aromatic && m->atom[b].aromatic;
        order = aromatic ? 0 : 1;
    }
    okra_bond_ bond = {
        .a = a, .b = b, .order = order, .aromatic = aromatic, .at = (int32_t)at};
    return okra_molecule_add_bond_(m, bond);
}

static okra_status add_atom(parser *p, okra_atom_ atom)
{
    CHK(okra_molecule_add_atom_(p->m, atom));
    int32_t index = (int32_t)(p->m->atoms - 1);
    if (p->previous >= 0) {
        CHK(join_atoms(p, p->previous, index, p->order, p->at));
    } else if (p->order != ANY) {
        return refuse(p, p->bond_at, "expected an atom before the bond", NULL);
    }
    p->previous = index;
    p->order = ANY;
    return OKRA_OK;
}

/* B C N O P S F Cl Br I, b c n o p s, and *. */
static okra_status organic_atom(parser *p, bool *taken)
{
    static const char *const two[] = {"Cl", "Br"};
    okra_atom_ atom = {.implied = true};
    size_t length = 0;
    int c = peek(p, 0);
    for (int k = 0; k < 2; k++) {
        if (c == two[k][0] && peek(p, 1) == two[k][1]) {
            atom.element = okra_element_(two[k], 2);
            length = 2;
        }
    }
    if (!length && c > 0 && strchr("BCNOPSFI*", c)) {
        char symbol = (char)c;
        atom.element = okra_element_(&symbol, 1);
        length = 1;
    } else if (!length && c > 0 && strchr("bcnops", c)) {
        char symbol = (char)(c - 'a' + 'A');
        atom.element = okra_element_(&symbol, 1);
        atom.aromatic = true;
        length = 1;
    }
    *taken = length > 0;
    if (!length) {
        return OKRA_OK;
    }
    atom.implied = atom.element != 0;
    p->at += length;
    return add_atom(p, atom);
}

/* The symbol of a bracket atom: an element, an aromatic one in small letters, or *. */
static okra_status bracket_symbol(parser *p, okra_atom_ *atom)
{
    static const char *const aromatic[] = {"se", "as", "te", "si", "b",
                                           "c",  "n",  "o",  "p",  "s"};
    size_t left = p->length - p->at;
    char shown[3] = {0};
    for (size_t k = 0; k < sizeof aromatic / sizeof *aromatic; k++) {
        size_t size = strlen(aromatic[k]);
        if (size <= left && memcmp(p->text + p->at, aromatic[k], size) == 0) {
            char symbol[2] = {(char)(aromatic[k][0] - 'a' + 'A'), aromatic[k][1]};
            atom->element = okra_element_(symbol, size);
            atom->aromatic = true;
            p->at += size;
            return OKRA_OK;
        }
    }
    for (size_t size = 2; size >= 1; size--) {
        int z = size <= left ? okra_element_((const char *)p->text + p->at, size) : -1;
        if (z >= 0) {
            atom->element = z;
            p->at += size;
            return OKRA_OK;
        }
    }
    int c = peek(p, 0), d = peek(p, 1);
    if ((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')) {
        shown[0] = (char)c;
        shown[1] = d >= 'a' && d <= 'z' ? (char)d : '\0';
        return refuse(p, p->at, "unknown element", shown);
    }
    return refuse(p, p->at, "expected an element in brackets", NULL);
}

/* @, @@, @TH1, @AL2, @SP3, @TB12, @OH30: read over. */
static void chirality(parser *p)
{
    static const char *const classes[] = {"TH", "AL", "SP", "TB", "OH"};
    if (peek(p, 0) != '@') {
        return;
    }
    p->at++;
    if (peek(p, 0) == '@') {
        p->at++;
        return;
    }
    for (int k = 0; k < 5; k++) {
        if (peek(p, 0) == classes[k][0] && peek(p, 1) == classes[k][1] &&
            is_digit(peek(p, 2))) {
            p->at += 2;
            (void)number(p, 2);
            return;
        }
    }
}

/* +, -, ++, --, +2, -2 */
static okra_status charge(parser *p, okra_atom_ *atom)
{
    int sign = peek(p, 0);
    size_t begin = p->at;
    if (sign != '+' && sign != '-') {
        return OKRA_OK;
    }
    p->at++;
    int32_t size = number(p, 2);
    if (size < 0) {
        size = 1;
        while (peek(p, 0) == sign) {
            size++;
            p->at++;
        }
    }
    REFUSE(size > 15, p, begin, "expected a charge from -15 to +15", NULL);
    atom->charge = sign == '+' ? size : -size;
    return OKRA_OK;
}

static okra_status bracket_atom(parser *p)
{
    okra_atom_ atom = {0};
    size_t begin = p->at++;
    int32_t mass = number(p, 3);
    atom.isotope = OKRA_MAX_(mass, 0);
    CHK(bracket_symbol(p, &atom));
    chirality(p);
    if (peek(p, 0) == 'H') {
        p->at++;
        int32_t count = number(p, 2);
        atom.hydrogens = count < 0 ? 1 : count;
    }
    CHK(charge(p, &atom));
    if (peek(p, 0) == ':') {
        p->at++;
        REFUSE(number(p, 9) < 0, p, p->at, "expected the number of an atom class", NULL);
    }
    if (peek(p, 0) != ']') {
        REFUSE(p->at >= p->length, p, begin, "bracket is not closed", "[");
        return refuse(p, p->at, "expected ']' to end the bracket atom", NULL);
    }
    p->at++;
    return add_atom(p, atom);
}

/* Two bond symbols of one ring closure must agree; one of them may be left out. */
static okra_status ring_bond(parser *p)
{
    size_t begin = p->at;
    int32_t k = -1;
    if (peek(p, 0) != '%') {
        k = number(p, 1);
    } else if (peek(p, 1) == '(') {
        p->at += 2;
        k = number(p, 2);
        REFUSE(k < 0 || peek(p, 0) != ')', p, p->at,
               "expected a ring number of one or two digits and ')'", NULL);
        p->at++;
    } else if (is_digit(peek(p, 1)) && is_digit(peek(p, 2))) {
        p->at++;
        k = number(p, 2);
    } else {
        return refuse(p, begin + 1, "expected a ring number of two digits after '%'",
                      NULL);
    }
    REFUSE(p->previous < 0, p, begin, "expected an atom before the ring closure", NULL);
    int32_t order = p->order, other = p->ring[k].atom;
    p->order = ANY;
    if (other < 0) {
        p->ring[k].atom = p->previous;
        p->ring[k].order = order;
        p->ring[k].at = begin;
        return OKRA_OK;
    }
    p->ring[k].atom = -1;
    REFUSE(order != ANY && p->ring[k].order != ANY && order != p->ring[k].order, p, begin,
           "bond differs from the one that opened the ring", NULL);
    REFUSE(other == p->previous, p, begin, "ring closure bonds an atom to itself", NULL);
    return join_atoms(p, other, p->previous, order == ANY ? p->ring[k].order : order,
                      begin);
}

static okra_status open_branch(parser *p)
{
    REFUSE(p->previous < 0, p, p->at, "expected an atom before the branch", NULL);
    REFUSE(p->order != ANY, p, p->at, "expected an atom after the bond", NULL);
    REFUSE(p->depth == BRANCHES, p, p->at, "branches are nested too deeply", NULL);
    p->opened[p->depth] = p->at++;
    p->stack[p->depth++] = p->previous;
    REFUSE(peek(p, 0) == ')', p, p->at, "expected an atom in the branch", NULL);
    return OKRA_OK;
}

static okra_status close_branch(parser *p)
{
    REFUSE(p->depth == 0, p, p->at, "no branch is open", ")");
    REFUSE(p->order != ANY, p, p->at, "expected an atom after the bond", NULL);
    p->previous = p->stack[--p->depth];
    p->at++;
    return OKRA_OK;
}

static okra_status bond_symbol(parser *p)
{
    static const char symbols[] = ":-=#$/\\";
    int place = (int)(strchr(symbols, p->text[p->at]) - symbols);
    REFUSE(p->order != ANY, p, p->at, "expected an atom after the bond", NULL);
    p->bond_at = p->at++;
    p->order = place > 4 ? ANY : place; /* / and \ leave the order open */
    REFUSE(place > 4 && p->previous < 0, p, p->bond_at,
           "expected an atom before the bond", NULL);
    return OKRA_OK;
}

static okra_status step(parser *p)
{
    bool taken;
    int c = peek(p, 0);
    okra_status st = organic_atom(p, &taken);
    if (taken || st != OKRA_OK) {
        return st;
    }
    if (c == '[') {
        return bracket_atom(p);
    }
    if (is_digit(c) || c == '%') {
        return ring_bond(p);
    }
    if (c == '(') {
        return open_branch(p);
    }
    if (c == ')') {
        return close_branch(p);
    }
    if (c > 0 && strchr(":-=#$/\\", c)) {
        return bond_symbol(p);
    }
    if (c == '.') {
        REFUSE(p->previous < 0 || p->order != ANY, p, p->at,
               "expected an atom before the dot", NULL);
        p->previous = -1;
        p->at++;
        return OKRA_OK;
    }
    return refuse(p, p->at, "expected an atom, bond, branch or ring closure", NULL);
}

static okra_status finish(parser *p)
{
    REFUSE(p->m->atoms == 0, p, p->at, "expected an atom", NULL);
    REFUSE(p->previous < 0 || p->order != ANY, p, p->at, "expected an atom", NULL);
    REFUSE(p->depth > 0, p, p->opened[p->depth - 1], "branch is not closed", "(");
    for (int k = 0; k < RINGS; k++) {
        if (p->ring[k].atom >= 0) {
            char shown[4] = {0};
            size_t at = p->ring[k].at;
            size_t size = OKRA_MIN_(p->text[at] == '%' ? (size_t)3 : 1, p->length - at);
            memcpy(shown, p->text + at, size);
            return refuse(p, at, "ring is not closed", shown);
        }
    }
    return OKRA_OK;
}

static void parser_free(parser **p)
{
    if (*p) {
        FREE((*p)->stack, (*p)->opened, *p);
    }
}

okra_status okra_smiles_parse_(const char *text, size_t length, size_t column,
                               okra_molecule_ *m)
{
    FREED_BY(parser_free) parser *p = NULL;
    const okra_bond_ *again = NULL;
    REFUSE_IF(length > INT32_MAX, OKRA_EFORMAT,
              "%zu characters are too many for one molecule", length);
    okra_molecule_reset_(m);
    ZMAKE(p, 1);
    p->text = (const unsigned char *)text;
    p->length = length;
    p->column = column;
    p->m = m;
    p->previous = -1;
    p->order = ANY;
    for (int k = 0; k < RINGS; k++) {
        p->ring[k].atom = -1;
    }
    okra_int deepest = OKRA_MIN_((okra_int)length, BRANCHES);
    MAKE(p->stack, deepest);
    MAKE(p->opened, deepest);
    while (p->at < length) {
        CHK(step(p));
    }
    CHK(finish(p));
    CHK(okra_molecule_repeats_(m, &again));
    return again ? refuse(p, (size_t)again->at, "ring closure repeats a bond", NULL)
                 : OKRA_OK;
}
