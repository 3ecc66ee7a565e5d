/*
 * figure_curve.c: curves, points and bars over axes.
 */
#include "report/figure.h"

#include <math.h>
#include <string.h>

enum { LEFT = 64, RIGHT = 16, TOP = 16, BOTTOM = 46, LEGEND = 20, TICKS = 8 };

typedef struct plot {
    FILE *out;
    figure_scale x, y;
    double bottom, right;
    bool zero; /* the axis of x is logarithmic, and 0 has a tick of its own before it */
} plot;

enum { ZERO = 20, BEFORE = 44 }; /* where 0 stands, and where the others begin */

static double at_x(const plot *p, double x)
{
    return p->zero && x == 0 ? LEFT + ZERO : figure_scale_at(&p->x, x);
}

static void axis_x(const plot *p, const char *label)
{
    double ticks[TICKS];
    char text[32];
    for (int i = 0, n = figure_ticks(&p->x, ticks, TICKS); i < n; i++) {
        double at = figure_scale_at(&p->x, ticks[i]);
        fprintf(p->out,
                "<line class=\"axis\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%.1f\"/>\n",
                at, at, TOP, p->bottom);
        figure_text(p->out, at, p->bottom + 16, "middle", "soft",
                    figure_number(ticks[i], text, sizeof text));
    }
    if (p->zero) {
        fprintf(p->out,
                "<line class=\"axis\" x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%.1f\"/>\n",
                LEFT + ZERO, LEFT + ZERO, TOP, p->bottom);
        figure_text(p->out, LEFT + ZERO, p->bottom + 16, "middle", "soft", "0");
    }
    figure_text(p->out, (LEFT + p->right) / 2, p->bottom + 36, "middle", "", label);
}

static void axis_y(const plot *p, const char *label)
{
    double ticks[TICKS];
    char text[32];
    for (int i = 0, n = figure_ticks(&p->y, ticks, TICKS); i < n; i++) {
        double at = figure_scale_at(&p->y, ticks[i]);
        fprintf(p->out,
                "<line class=\"axis\" x1=\"%d\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n",
                LEFT, p->right, at, at);
        figure_text(p->out, LEFT - 6, at + 4, "end", "soft",
                    figure_number(ticks[i], text, sizeof text));
    }
    fprintf(p->out,
            "<text transform=\"translate(14 %.1f) rotate(-90)\" "
            "text-anchor=\"middle\">",
            (TOP + p->bottom) / 2);
    figure_escape(p->out, label);
    fputs("</text>\n", p->out);
}

static void legend(const plot *p, const json_t *series)
{
    size_t i;
    json_t *one;
    json_array_foreach(series, i, one)
    {
        size_t line_number = i / 3;
        double x = LEFT + (double)(i % 3) * (p->right - LEFT) / 3;
        double y = p->bottom + BOTTOM + 8 + LEGEND * (double)line_number;
        fprintf(p->out,
                "<rect x=\"%.1f\" y=\"%.1f\" width=\"12\" height=\"12\" rx=\"2\" "
                "fill=\"var(--s%zu)\"/>\n",
                x, y - 10, i % FIGURE_SERIES);
        figure_text(p->out, x + 18, y, "start", "", figure_string(one, "name", ""));
    }
}

static double height_of(const json_t *series)
{
    size_t lines = (json_array_size(series) + 2) / 3;
    return FIGURE_HEIGHT + LEGEND * (double)lines;
}

/* ---- curves ---- */

static bool usable(const plot *p, double x, double y)
{
    return isfinite(x) && isfinite(y) && (!p->x.log || x > 0 || (p->zero && x == 0)) &&
           (!p->y.log || y > 0);
}

/* The area one standard deviation around a curve. */
static void band(const plot *p, const json_t *one, size_t colour)
{
    const json_t *x = json_object_get(one, "x"), *y = json_object_get(one, "y");
    const json_t *sd = json_object_get(one, "sd");
    size_t n = json_array_size(x);
    if (json_array_size(sd) != n || p->y.log) {
        return;
    }
    fprintf(p->out, "<polygon class=\"band\" fill=\"var(--s%zu)\" points=\"", colour);
    for (size_t k = 0; k < 2 * n; k++) {
        size_t i = k < n ? k : 2 * n - 1 - k;
        double edge = figure_at(y, i) + (k < n ? 1 : -1) * figure_at(sd, i);
        if (usable(p, figure_at(x, i), edge)) {
            fprintf(p->out, "%.1f,%.1f ", at_x(p, figure_at(x, i)),
                    figure_scale_at(&p->y, edge));
        }
    }
    fputs("\"/>\n", p->out);
}

/* steps: the value y_i holds from x_{i-1} to x_i. */
static void line(const plot *p, const json_t *one, size_t colour)
{
    const json_t *x = json_object_get(one, "x"), *y = json_object_get(one, "y");
    bool steps = json_is_true(json_object_get(one, "steps"));
    fprintf(p->out, "<polyline class=\"plot\" stroke=\"var(--s%zu)\" points=\"", colour);
    for (size_t i = 0; i < json_array_size(x); i++) {
        if (usable(p, figure_at(x, i), figure_at(y, i))) {
            double at = figure_scale_at(&p->y, figure_at(y, i));
            if (steps && i > 0) {
                fprintf(p->out, "%.2f,%.2f ", at_x(p, figure_at(x, i - 1)), at);
            }
            fprintf(p->out, "%.2f,%.2f ", at_x(p, figure_at(x, i)), at);
        }
    }
    fputs("\"/>\n", p->out);
}

/* A line from 0 to each value, as spectra are drawn. */
static void stems(const plot *p, const json_t *one, size_t colour)
{
    const json_t *x = json_object_get(one, "x"), *y = json_object_get(one, "y");
    for (size_t i = 0; i < json_array_size(x); i++) {
        if (usable(p, figure_at(x, i), figure_at(y, i)) && !p->y.log) {
            double at = at_x(p, figure_at(x, i));
            fprintf(p->out,
                    "<line class=\"stem\" stroke=\"var(--s%zu)\" x1=\"%.2f\" "
                    "x2=\"%.2f\" y1=\"%.2f\" y2=\"%.2f\"/>\n",
                    colour, at, at, figure_scale_at(&p->y, 0),
                    figure_scale_at(&p->y, figure_at(y, i)));
        }
    }
}

static void points(const plot *p, const json_t *one, size_t colour, double radius)
{
    const json_t *x = json_object_get(one, "x"), *y = json_object_get(one, "y");
    for (size_t i = 0; i < json_array_size(x); i++) {
        if (usable(p, figure_at(x, i), figure_at(y, i))) {
            fprintf(p->out,
                    "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%g\" fill=\"var(--s%zu)\"/>\n",
                    at_x(p, figure_at(x, i)), figure_scale_at(&p->y, figure_at(y, i)),
                    radius, colour);
        }
    }
}

bool figure_curve(FILE *out, const json_t *figure, bool alone, char *why, size_t size)
{
    const json_t *series = json_object_get(figure, "series");
    bool scatter = strcmp(figure_string(figure, "type", ""), "scatter") == 0;
    if (json_array_size(series) == 0) {
        snprintf(why, size, "it has no series");
        return false;
    }
    plot p = {out,
              figure_scale_empty(json_is_true(json_object_get(figure, "log_x"))),
              figure_scale_empty(json_is_true(json_object_get(figure, "log_y"))),
              FIGURE_HEIGHT - BOTTOM,
              FIGURE_WIDTH - RIGHT,
              false};
    size_t i;
    json_t *one;
    json_array_foreach(series, i, one)
    {
        const json_t *x = json_object_get(one, "x"), *y = json_object_get(one, "y");
        if (!json_is_array(x) || json_array_size(x) != json_array_size(y)) {
            snprintf(why, size, "series %zu has %zu x and %zu y", i, json_array_size(x),
                     json_array_size(y));
            return false;
        }
        for (size_t k = 0; k < json_array_size(x); k++) {
            figure_scale_take(&p.x, figure_at(x, k));
            figure_scale_take(&p.y, figure_at(y, k));
            p.zero = p.zero || (p.x.log && figure_at(x, k) == 0);
        }
        if (json_is_true(json_object_get(one, "stems"))) {
            figure_scale_take(&p.y, 0);
        }
    }
    figure_scale_finish(&p.x, LEFT + (p.zero ? BEFORE : 0), p.right);
    figure_scale_finish(&p.y, p.bottom, TOP);
    figure_begin(out, FIGURE_WIDTH, height_of(series), figure_string(figure, "title", ""),
                 alone);
    axis_x(&p, figure_string(figure, "x_label", ""));
    axis_y(&p, figure_string(figure, "y_label", ""));
    json_array_foreach(series, i, one)
    {
        bool only_points = scatter || json_is_true(json_object_get(one, "points"));
        if (json_is_true(json_object_get(one, "stems"))) {
            stems(&p, one, i % FIGURE_SERIES);
            continue;
        }
        if (!only_points) {
            band(&p, one, i % FIGURE_SERIES);
            line(&p, one, i % FIGURE_SERIES);
        }
        if (only_points || json_array_size(json_object_get(one, "x")) <= 30) {
            points(&p, one, i % FIGURE_SERIES, only_points ? 2 : 3);
        }
    }
    legend(&p, series);
    figure_end(out);
    return true;
}

/* ---- bars ---- */

static void bar_group(const plot *p, const json_t *series, size_t group, double x,
                      double width)
{
    size_t i, n = json_array_size(series);
    json_t *one;
    double zero = figure_scale_at(&p->y, 0);
    json_array_foreach(series, i, one)
    {
        double y = figure_at(json_object_get(one, "y"), group);
        if (isfinite(y)) {
            double at = figure_scale_at(&p->y, y);
            fprintf(p->out,
                    "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
                    "fill=\"var(--s%zu)\"/>\n",
                    x + width * (double)i / (double)n, fmin(at, zero),
                    fmax(1, width / (double)n - 1), fabs(at - zero), i % FIGURE_SERIES);
        }
    }
}

bool figure_bars(FILE *out, const json_t *figure, bool alone, char *why, size_t size)
{
    const json_t *series = json_object_get(figure, "series");
    const json_t *labels = json_object_get(figure, "labels");
    size_t groups = json_array_size(labels), i;
    if (json_array_size(series) == 0 || groups == 0) {
        snprintf(why, size, "it has no series or no labels");
        return false;
    }
    plot p = {out,
              figure_scale_empty(false),
              figure_scale_empty(false),
              FIGURE_HEIGHT - BOTTOM,
              FIGURE_WIDTH - RIGHT,
              false};
    json_t *one;
    figure_scale_take(&p.y, 0);
    json_array_foreach(series, i, one)
    {
        for (size_t g = 0; g < groups; g++) {
            figure_scale_take(&p.y, figure_at(json_object_get(one, "y"), g));
        }
    }
    figure_scale_finish(&p.y, p.bottom, TOP);
    figure_begin(out, FIGURE_WIDTH, height_of(series), figure_string(figure, "title", ""),
                 alone);
    axis_y(&p, figure_string(figure, "y_label", ""));
    double room = (p.right - LEFT) / (double)groups;
    for (size_t g = 0; g < groups; g++) {
        double x = LEFT + room * (double)g;
        const char *label = json_string_value(json_array_get(labels, g));
        bar_group(&p, series, g, x + 0.1 * room, 0.8 * room);
        figure_text(out, x + room / 2, p.bottom + 16, "middle", "soft",
                    label ? label : "");
    }
    figure_text(out, (LEFT + p.right) / 2, p.bottom + 36, "middle", "",
                figure_string(figure, "x_label", ""));
    legend(&p, series);
    figure_end(out);
    return true;
}
