/*
 * demo_draw.c: pictures of the demo, as text and as figures of a result.
 */
#include "report/demo.h"

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

/* ---- as figures of a result, for okra-report ---- */

static json_t *numbers(const double *values, okra_int count)
{
    json_t *list = json_array();
    for (okra_int i = 0; i < count; i++) {
        json_array_append_new(list, json_real(values[i]));
    }
    return list;
}

static json_t *patterns_figure(const demo_result *r)
{
    const okra_data *lower[] = {r->test_y, r->predicted[r->task->row_count - 1],
                                r->predicted[0]};
    json_t *rows = json_array();
    for (int i = 0; i < SHOWN; i++) {
        json_t *row = json_array();
        for (int k = 0; k < 3; k++) {
            double image[SIDE * SIDE];
            join(r->test_x, lower[k], i, image);
            json_array_append_new(row, numbers(image, SIDE * SIDE));
        }
        json_array_append_new(rows, row);
    }
    return json_pack("{s:s,s:s,s:s,s:i,s:i,s:f,s:f,s:[s,s,s],s:o}", "id", "patterns",
                     "type", "images", "title",
                     "The upper half is given, the lower half is predicted", "rows", SIDE,
                     "cols", SIDE, "low", -1.0, "high", 1.0, "columns", "truth", "okra",
                     "k-NN", "images", rows);
}

static json_t *points(const char *name, const okra_data *x, const okra_data *y)
{
    json_t *right = json_array(), *up = json_array();
    for (okra_int i = 0; i < okra_data_count(x); i++) {
        json_array_append_new(right, json_real(at(x, i)));
        json_array_append_new(up, json_real(at(y, i)));
    }
    return json_pack("{s:s,s:o,s:o}", "name", name, "x", right, "y", up);
}

json_t *demo_figures(const demo_result *patterns, const demo_result *s_shape)
{
    const demo_result *s = s_shape;
    return json_pack("[o,{s:s,s:s,s:s,s:s,s:s,s:[o,o,o]}]", patterns_figure(patterns),
                     "id", "s-shape", "type", "scatter", "title",
                     "Three t fit one r: okra chooses, k-NN averages", "x_label", "r",
                     "y_label", "t", "series", points("truth", s->test_x, s->test_y),
                     points("k-NN", s->test_x, s->predicted[0]),
                     points("okra", s->test_x, s->predicted[s->task->row_count - 1]));
}
