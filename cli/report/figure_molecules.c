/*
 * figure_molecules.c: molecules side by side: drawn where their atoms have places, else
 * as SMILES.
 */
#include "report/figure.h"

#include <math.h>
#include <string.h>

enum { CELL = 208, PICTURE = 130, TEXT = 16, ACROSS = 3, LINES = 6, LETTERS = 28 };

/* ---- a molecule with places ---- */

typedef struct picture {
    FILE *out;
    const json_t *atoms, *bonds;
    figure_scale x, y;
} picture;

/* Places of the atoms fill the box at x, y, with one scale for both directions. */
static bool fit(picture *p, double x, double y)
{
    double low[2] = {1e9, 1e9}, high[2] = {-1e9, -1e9};
    size_t i;
    json_t *atom;
    json_array_foreach(p->atoms, i, atom)
    {
        for (size_t k = 0; k < 2; k++) {
            double at = figure_at(atom, k);
            if (!isfinite(at) || fabs(at) > 1e6) {
                return false;
            }
            low[k] = fmin(low[k], at);
            high[k] = fmax(high[k], at);
        }
    }
    double room[2] = {CELL - 40, PICTURE - 30};
    double unit = fmin(26, fmin(room[0] / fmax(high[0] - low[0], 1e-9),
                                room[1] / fmax(high[1] - low[1], 1e-9)));
    double middle[2] = {x + CELL / 2.0, y + PICTURE / 2.0};
    /* upwards on paper is downwards on a page */
    p->x = (figure_scale){(low[0] + high[0]) / 2, (low[0] + high[0]) / 2 + 1, middle[0],
                          middle[0] + unit, false};
    p->y = (figure_scale){(low[1] + high[1]) / 2, (low[1] + high[1]) / 2 + 1, middle[1],
                          middle[1] - unit, false};
    return json_array_size(p->atoms) > 0;
}

/* One, two or three lines beside each other. */
static bool draw_bond(const picture *p, const json_t *bond)
{
    const json_t *ends[2];
    double at[4];
    for (size_t k = 0; k < 2; k++) {
        json_int_t which = json_integer_value(json_array_get(bond, k));
        ends[k] = which < 0 ? NULL : json_array_get(p->atoms, (size_t)which);
        if (!ends[k]) {
            return false;
        }
        at[2 * k] = figure_scale_at(&p->x, figure_at(ends[k], 0));
        at[2 * k + 1] = figure_scale_at(&p->y, figure_at(ends[k], 1));
    }
    json_int_t order = json_integer_value(json_array_get(bond, 2));
    order = order < 1 ? 1 : order > 3 ? 3 : order;
    double dx = at[2] - at[0], dy = at[3] - at[1], length = fmax(hypot(dx, dy), 1e-9);
    for (json_int_t k = 0; k < order; k++) {
        double away = 3.2 * ((double)k - (double)(order - 1) / 2) / length;
        fprintf(p->out,
                "<line class=\"bond\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" "
                "y2=\"%.1f\"/>\n",
                at[0] - away * dy, at[1] + away * dx, at[2] - away * dy,
                at[3] + away * dx);
    }
    return true;
}

static bool draw_molecule(FILE *out, const json_t *item, double x, double y)
{
    picture p = {.out = out,
                 .atoms = json_object_get(item, "atoms"),
                 .bonds = json_object_get(item, "bonds")};
    size_t i;
    json_t *one;
    bool good = fit(&p, x, y);
    json_array_foreach(p.bonds, i, one)
    {
        good = good && draw_bond(&p, one);
    }
    json_array_foreach(p.atoms, i, one)
    {
        const char *text = json_string_value(json_array_get(one, 2));
        if (good && text && *text) {
            figure_text(out, figure_scale_at(&p.x, figure_at(one, 0)),
                        figure_scale_at(&p.y, figure_at(one, 1)) + 4, "middle", "atom",
                        text);
        }
    }
    return good;
}

/* ---- a molecule as text ---- */

static void write_smiles(FILE *out, const char *smiles, double x, double y)
{
    size_t length = strlen(smiles);
    for (size_t line = 0; line < LINES && line * LETTERS < length; line++) {
        char part[LETTERS + 4];
        bool more = line == LINES - 1 && (line + 1) * LETTERS < length;
        snprintf(part, sizeof part, "%.*s%s", LETTERS, smiles + line * LETTERS,
                 more ? "..." : "");
        figure_text(out, x + CELL / 2.0, y + 20 + TEXT * (double)line, "middle", "soft",
                    part);
    }
}

static bool draw_item(FILE *out, const json_t *item, double x, double y)
{
    bool good = true;
    if (json_array_size(json_object_get(item, "atoms")) > 0) {
        good = draw_molecule(out, item, x, y);
    } else {
        write_smiles(out, figure_string(item, "smiles", ""), x, y);
    }
    figure_text(out, x + CELL / 2.0, y + PICTURE + 6, "middle",
                json_is_true(json_object_get(item, "true")) ? "head" : "",
                figure_string(item, "label", ""));
    figure_text(out, x + CELL / 2.0, y + PICTURE + 6 + TEXT, "middle", "soft",
                figure_string(item, "note", ""));
    return good;
}

bool figure_molecules(FILE *out, const json_t *figure, bool alone, char *why, size_t size)
{
    const json_t *items = json_object_get(figure, "items");
    size_t count = json_array_size(items), i;
    json_t *item;
    bool good = count > 0;
    double line = PICTURE + 2.5 * TEXT;
    size_t down = (count + ACROSS - 1) / ACROSS;
    if (!good) {
        snprintf(why, size, "it has no molecules");
        return false;
    }
    figure_begin(out, FIGURE_WIDTH, 8 + line * (double)down,
                 figure_string(figure, "title", ""), alone);
    json_array_foreach(items, i, item)
    {
        size_t row = i / ACROSS;
        good =
            draw_item(out, item, CELL * (double)(i % ACROSS), line * (double)row) && good;
    }
    figure_end(out);
    if (!good) {
        snprintf(why, size, "a molecule has bonds or places that do not fit");
    }
    return good;
}
