/*
 * draw_network.c: networks side by side, each with its adjacency matrix below.
 *
 * The layout is that of T. Fruchterman and E. Reingold (1991): nodes repel one another
 * with k^2/d, edges attract with d^2/k, steps shrink linearly; k is the side of the
 * square over the square root of the number of nodes. The start is a sunflower, so that a
 * picture is always the same. Cost: nodes^2 a step.
 */
#include "draw_network.h"

#include "svg.h"

#include <math.h>
#include <stdlib.h>

enum { SIDE = 420, GAP = 40, HEAD = 40 };

typedef struct point {
    double x, y;
} point;

static point repulsion(okra_int n, const point *at, okra_int i, double k)
{
    point force = {(0.5 - at[i].x) * 0.5, (0.5 - at[i].y) * 0.5}; /* to the middle */
    for (okra_int j = 0; j < n; j++) {
        double dx = at[i].x - at[j].x, dy = at[i].y - at[j].y;
        double d2 = dx * dx + dy * dy + 1e-9;
        if (j != i && d2 < 16 * k * k) {
            force.x += dx * k * k / d2;
            force.y += dy * k * k / d2;
        }
    }
    return force;
}

static void layout(okra_int n, const draw_panel *panel, point *at, point *force)
{
    double k = sqrt(1 / (double)n);
    int steps = n < 2000 ? 150 : 30;
    for (okra_int i = 0; i < n; i++) {
        double angle = 2.399963 * (double)i, r = 0.45 * sqrt((double)(i + 1) / (double)n);
        at[i] = (point){0.5 + r * cos(angle), 0.5 + r * sin(angle)};
    }
    for (int step = 0; step < steps; step++) {
        double most = 0.1 * (1 - (double)step / steps);
        for (okra_int i = 0; i < n; i++) {
            force[i] = repulsion(n, at, i, k);
        }
        for (okra_int e = 0; e < panel->count; e++) {
            okra_int a = panel->edges[e].a, b = panel->edges[e].b;
            double dx = at[a].x - at[b].x, dy = at[a].y - at[b].y;
            double pull = sqrt(dx * dx + dy * dy) / k;
            force[a].x -= dx * pull;
            force[a].y -= dy * pull;
            force[b].x += dx * pull;
            force[b].y += dy * pull;
        }
        for (okra_int i = 0; i < n; i++) {
            double length = hypot(force[i].x, force[i].y);
            double scale = length > most ? most / length : 1;
            at[i].x += force[i].x * scale;
            at[i].y += force[i].y * scale;
        }
    }
}

/* All points into the unit square. */
static void fit_square(okra_int n, point *at)
{
    point low = at[0], high = at[0];
    for (okra_int i = 1; i < n; i++) {
        low = (point){fmin(low.x, at[i].x), fmin(low.y, at[i].y)};
        high = (point){fmax(high.x, at[i].x), fmax(high.y, at[i].y)};
    }
    double size = fmax(fmax(high.x - low.x, high.y - low.y), 1e-9);
    for (okra_int i = 0; i < n; i++) {
        at[i].x = (at[i].x - low.x) / size;
        at[i].y = (at[i].y - low.y) / size;
    }
}

static void draw_panel_at(svg *s, double left, okra_int n, const bool *marked,
                          const point *at, const draw_panel *panel)
{
    double cell = (double)SIDE / (double)n, dot = fmax(cell, 1),
           below = HEAD + SIDE + GAP;
    svg_text(s, left + SIDE / 2.0, HEAD - 14, 16, "middle", panel->title);
    for (okra_int e = 0; e < panel->count; e++) {
        point a = at[panel->edges[e].a], b = at[panel->edges[e].b];
        svg_line(s, left + SIDE * a.x, HEAD + SIDE * a.y, left + SIDE * b.x,
                 HEAD + SIDE * b.y, "#b0b8c0");
    }
    for (okra_int i = 0; i < n; i++) {
        svg_circle(s, left + SIDE * at[i].x, HEAD + SIDE * at[i].y, n > 300 ? 1.5 : 3,
                   marked && marked[i] ? "#c0392b" : "#2c3e50");
    }
    svg_rect(s, left - 1, below - 1, SIDE + 2, SIDE + 2, "#d8dde2");
    svg_rect(s, left, below, SIDE, SIDE, "white");
    for (okra_int e = 0; e < panel->count; e++) {
        double a = (double)panel->edges[e].a * cell, b = (double)panel->edges[e].b * cell;
        svg_rect(s, left + b, below + a, dot, dot, "#2c3e50");
        svg_rect(s, left + a, below + b, dot, dot, "#2c3e50");
    }
}

bool draw_networks(FILE *out, okra_int nodes, const bool *marked,
                   const draw_panel *panels, int count)
{
    point *at = calloc((size_t)nodes + 1, sizeof *at);
    point *force = calloc((size_t)nodes + 1, sizeof *force);
    bool good = at && force;
    if (good) {
        layout(nodes, &panels[0], at, force);
        fit_square(nodes, at);
        svg s = svg_begin(out, GAP + count * (SIDE + GAP), HEAD + 2 * (SIDE + GAP));
        for (int p = 0; p < count; p++) {
            draw_panel_at(&s, GAP + p * (SIDE + GAP), nodes, marked, at, &panels[p]);
        }
        svg_end(&s);
    }
    free(at);
    free(force);
    return good;
}
