/*
 * demo_draw.c: pictures of the demo as text and as SVG.
 */
#include "report/demo.h"

#include "report/svg.h"

#include <langinfo.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIDE = 16, HALF = SIDE * SIDE / 2, SHOWN = 3, PLOT_WIDTH = 60, PLOT_HEIGHT = 16 };

/* Gray levels need colours, colours a terminal. */
static bool has_blocks(FILE *out)
{
    const char *term = getenv("TERM");
    return isatty(fileno(out)) && !getenv("NO_COLOR") && term &&
           strcmp(term, "dumb") != 0 && strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

/* A whole pattern: the upper half as given, the lower half as told. */
static void join(const okra_data *upper, const okra_data *lower, okra_int i,
                 double *image)
{
    okra_int ld;
    const double *u = okra_data_values(upper, &ld);
    memcpy(image, u + i * ld, HALF * sizeof *image);
    const double *l = okra_data_values(lower, &ld);
    memcpy(image + HALF, l + i * ld, HALF * sizeof *image);
}

static double share(double value)
{
    double s = (value + 1) / 2;
    return s < 0 ? 0 : s > 1 ? 1 : s;
}

/* Two rows of pixels as one row of characters. */
static void draw_line(FILE *out, const double *image, int row, bool blocks)
{
    static const char levels[] = " .:-=+*#%@";
    for (int c = 0; c < SIDE; c++) {
        double top = share(image[row * SIDE + c]),
               low = share(image[(row + 1) * SIDE + c]);
        if (blocks) {
            /* 232..255 are the grays of a terminal with 256 colours */
            fprintf(out, "\033[38;5;%d;48;5;%dm\xe2\x96\x80", 232 + (int)(23 * top),
                    232 + (int)(23 * low));
        } else {
            fputc(levels[(int)(9 * (top + low) / 2 + 0.5)], out);
        }
    }
    fputs(blocks ? "\033[0m" : "", out);
}

void demo_draw_patterns(FILE *out, const demo_result *r)
{
    bool blocks = has_blocks(out);
    double image[3][SIDE * SIDE];
    const okra_data *lower[] = {r->test_y, r->predicted[r->task->row_count - 1],
                                r->predicted[0]};
    fprintf(out, "  %-18s%-18s%-18s\n", "truth", "okra", "k-NN");
    for (okra_int i = 0; i < SHOWN; i++) {
        for (int k = 0; k < 3; k++) {
            join(r->test_x, lower[k], i, image[k]);
        }
        for (int row = 0; row < SIDE; row += 2) {
            for (int k = 0; k < 3; k++) {
                fputs("  ", out);
                draw_line(out, image[k], row, blocks);
            }
            fputs(row == SIDE / 2 - 2 ? "  given above, predicted below\n" : "\n", out);
        }
        fputc('\n', out);
    }
}

/* ---- the curve ---- */

static double at(const okra_data *data, okra_int i)
{
    okra_int ld;
    return okra_data_values(data, &ld)[i * ld];
}

/* r runs from about -0.2 to 1.2, t from 0 to 1. */
static double across(double r)
{
    return fmin(1, fmax(0, (r + 0.25) / 1.5));
}

void demo_draw_s_shape(FILE *out, const demo_result *r)
{
    char plot[PLOT_HEIGHT][PLOT_WIDTH + 1];
    const okra_data *sets[] = {r->test_y, r->predicted[r->task->row_count - 1]};
    const char marks[] = ".o";
    for (int row = 0; row < PLOT_HEIGHT; row++) {
        memset(plot[row], ' ', PLOT_WIDTH);
        plot[row][PLOT_WIDTH] = '\0';
    }
    for (int k = 0; k < 2; k++) {
        for (okra_int i = 0; i < okra_data_count(r->test_x); i++) {
            int c = (int)(across(at(r->test_x, i)) * (PLOT_WIDTH - 1));
            double t = fmin(1, fmax(0, at(sets[k], i)));
            plot[(int)((1 - t) * (PLOT_HEIGHT - 1) + 0.5)][c] = marks[k];
        }
    }
    for (int row = 0; row < PLOT_HEIGHT; row++) {
        fprintf(out, "  |%s\n", plot[row]);
    }
    fprintf(out, "  +%.*s\n  t over r: . truth, o okra\n\n", PLOT_WIDTH,
            "------------------------------------------------------------");
}

/* ---- SVG ---- */

static void svg_patterns(svg *s, const demo_result *r, double left, double top)
{
    const double cell = 6, step = SIDE * cell + 12;
    static const char *const names[] = {"truth", "okra", "k-NN"};
    const okra_data *lower[] = {r->test_y, r->predicted[r->task->row_count - 1],
                                r->predicted[0]};
    for (int k = 0; k < 3; k++) {
        svg_text(s, left + k * step + SIDE * cell / 2, top - 6, 13, "middle", names[k]);
        for (int i = 0; i < SHOWN; i++) {
            double image[SIDE * SIDE];
            join(r->test_x, lower[k], i, image);
            svg_image(s, left + k * step, top + i * step, cell, SIDE, SIDE, image, -1, 1);
            double middle = top + i * step + SIDE * cell / 2;
            svg_line(s, left + k * step, middle, left + k * step + SIDE * cell, middle,
                     "#c03020");
        }
    }
}

static void svg_curve(svg *s, const demo_result *r, double left, double top)
{
    const double width = 330, height = 312;
    const struct {
        const okra_data *y;
        const char *name, *fill;
    } sets[] = {{r->test_y, "truth", "#b0b0b0"},
                {r->predicted[0], "k-NN", "#d08030"},
                {r->predicted[r->task->row_count - 1], "okra", "#2060b0"}};
    svg_line(s, left, top, left, top + height, "black");
    svg_line(s, left, top + height, left + width, top + height, "black");
    for (int k = 0; k < 3; k++) {
        for (okra_int i = 0; i < okra_data_count(r->test_x); i++) {
            svg_circle(s, left + width * across(at(r->test_x, i)),
                       top + height * (1 - at(sets[k].y, i)), 2, sets[k].fill);
        }
        svg_circle(s, left + 20 + 80 * k, top - 10, 4, sets[k].fill);
        svg_text(s, left + 28 + 80 * k, top - 6, 13, "start", sets[k].name);
    }
}

void demo_svg(FILE *out, const demo_result *patterns, const demo_result *s_shape)
{
    svg s = svg_begin(out, 730, 380);
    svg_patterns(&s, patterns, 20, 40);
    svg_curve(&s, s_shape, 380, 40);
    svg_end(&s);
}
