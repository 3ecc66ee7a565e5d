/*
 * figure_network.c: networks side by side: their adjacency matrices, and a layout that
 * all panels share, so that the eye compares edges and not places.
 */
#include "figure.h"

#include <math.h>
#include <stdlib.h>

enum { NODES_MOST = 3000, PANEL = 300, GAP = 20, HEAD = 24 };

typedef struct layout {
    size_t n;
    double *x, *y, *fx, *fy;
    double *degree;
} layout;

static size_t node_at(const json_t *edge, size_t end, size_t n)
{
    json_int_t v = json_integer_value(json_array_get(edge, end));
    return v >= 0 && (size_t)v < n ? (size_t)v : n;
}

/* Springs along edges, repulsion between nodes (Fruchterman and Reingold 1991), from a
 * sunflower's places: no random numbers, the same picture every time. */
static void settle(layout *l, const json_t *edges)
{
    double k = 1 / sqrt((double)l->n), n = (double)l->n;
    int rounds = (int)fmin(200, fmax(60, 1e8 / (n * n)));
    for (size_t i = 0; i < l->n; i++) {
        double r = 0.5 * sqrt(((double)i + 0.5) / (double)l->n),
               a = 2.39996323 * (double)i;
        l->x[i] = 0.5 + r * cos(a);
        l->y[i] = 0.5 + r * sin(a);
    }
    for (int round = 0; round < rounds; round++) {
        double heat = 0.1 * (1 - (double)round / rounds);
        for (size_t i = 0; i < l->n; i++) {
            l->fx[i] = (0.5 - l->x[i]) * 0.05;
            l->fy[i] = (0.5 - l->y[i]) * 0.05;
            for (size_t j = 0; j < l->n; j++) {
                double dx = l->x[i] - l->x[j], dy = l->y[i] - l->y[j];
                double d2 = dx * dx + dy * dy + 1e-9;
                l->fx[i] += dx * k * k / d2;
                l->fy[i] += dy * k * k / d2;
            }
        }
        size_t e;
        json_t *edge;
        json_array_foreach(edges, e, edge)
        {
            size_t i = node_at(edge, 0, l->n), j = node_at(edge, 1, l->n);
            if (i < l->n && j < l->n) {
                double dx = l->x[i] - l->x[j], dy = l->y[i] - l->y[j];
                double pull = sqrt(dx * dx + dy * dy) / k;
                l->fx[i] -= dx * pull;
                l->fy[i] -= dy * pull;
                l->fx[j] += dx * pull;
                l->fy[j] += dy * pull;
            }
        }
        for (size_t i = 0; i < l->n; i++) {
            double f = sqrt(l->fx[i] * l->fx[i] + l->fy[i] * l->fy[i]) + 1e-12;
            double step = fmin(heat, f) / f;
            l->x[i] += l->fx[i] * step;
            l->y[i] += l->fy[i] * step;
        }
    }
}

/* Into the unit square; nodes without an edge do not count, and lie at its border. */
static void frame(layout *l, const json_t *edges)
{
    double *const axes[] = {l->x, l->y};
    size_t e;
    json_t *edge;
    json_array_foreach(edges, e, edge)
    {
        size_t i = node_at(edge, 0, l->n), j = node_at(edge, 1, l->n);
        if (i < l->n && j < l->n) {
            l->degree[i]++;
            l->degree[j]++;
        }
    }
    for (int a = 0; a < 2; a++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t i = 0; i < l->n; i++) {
            if (l->degree[i] > 0 || json_array_size(edges) == 0) {
                low = fmin(low, axes[a][i]);
                high = fmax(high, axes[a][i]);
            }
        }
        for (size_t i = 0; i < l->n; i++) {
            double at = high > low ? (axes[a][i] - low) / (high - low) : 0.5;
            axes[a][i] = fmin(1, fmax(0, at));
        }
    }
}

static void draw_matrix(FILE *out, const json_t *edges, size_t n, double x0, double y0)
{
    double cell = (double)PANEL / (double)n, side = fmax(1, cell);
    fprintf(out,
            "<rect class=\"axis\" x=\"%g\" y=\"%g\" width=\"%d\" height=\"%d\"/>\n<path "
            "stroke=\"var(--s0)\" stroke-width=\"%.1f\" d=\"",
            x0, y0, PANEL, PANEL, side);
    size_t e;
    json_t *edge;
    y0 += side / 2; /* a square is a line of its width */
    json_array_foreach(edges, e, edge)
    {
        size_t i = node_at(edge, 0, n), j = node_at(edge, 1, n);
        if (i < n && j < n) {
            fprintf(out, "M%.1f %.1fh%.1fM%.1f %.1fh%.1f", x0 + cell * (double)i,
                    y0 + cell * (double)j, side, x0 + cell * (double)j,
                    y0 + cell * (double)i, side);
        }
    }
    fputs("\"/>\n", out);
}

static void draw_layout(FILE *out, const layout *l, const json_t *edges,
                        const json_t *labelled, double x0, double y0)
{
    double inside = PANEL - 12, radius = fmin(4, fmax(1.2, 60 / sqrt((double)l->n) / 2));
    fputs("<path class=\"edge\" d=\"", out);
    size_t e;
    json_t *edge;
    json_array_foreach(edges, e, edge)
    {
        size_t i = node_at(edge, 0, l->n), j = node_at(edge, 1, l->n);
        if (i < l->n && j < l->n) {
            fprintf(out, "M%.1f %.1fL%.1f %.1f", x0 + 6 + inside * l->x[i],
                    y0 + 6 + inside * l->y[i], x0 + 6 + inside * l->x[j],
                    y0 + 6 + inside * l->y[j]);
        }
    }
    fputs("\"/>\n", out);
    for (size_t i = 0; i < l->n; i++) {
        l->fx[i] = 0; /* now: is it labelled? */
    }
    json_array_foreach(labelled, e, edge)
    {
        json_int_t v = json_integer_value(edge);
        if (v >= 0 && (size_t)v < l->n) {
            l->fx[v] = 1;
        }
    }
    for (size_t i = 0; i < l->n; i++) {
        fprintf(out, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>\n",
                l->fx[i] > 0 ? "known" : "node", x0 + 6 + inside * l->x[i],
                y0 + 6 + inside * l->y[i], radius);
    }
}

bool figure_network(FILE *out, const json_t *figure, bool alone, char *why, size_t size)
{
    const json_t *panels = json_object_get(figure, "panels");
    json_int_t nodes = json_integer_value(json_object_get(figure, "nodes"));
    size_t count = json_array_size(panels), p;
    if (nodes < 1 || nodes > NODES_MOST || count == 0) {
        snprintf(why, size, "it has %lld nodes (1 to %d can be drawn) and %zu panels",
                 (long long)nodes, NODES_MOST, count);
        return false;
    }
    size_t n = (size_t)nodes;
    double *room = calloc(5 * n, sizeof *room);
    if (!room) {
        snprintf(why, size, "there is no memory for %zu nodes", n);
        return false;
    }
    layout l = {n, room, room + n, room + 2 * n, room + 3 * n, room + 4 * n};
    const json_t *first = json_object_get(json_array_get(panels, 0), "edges");
    settle(&l, first);
    frame(&l, first);
    figure_begin(out, (double)count * (PANEL + GAP), 2 * (PANEL + GAP) + HEAD,
                 figure_string(figure, "title", ""), alone);
    json_t *panel;
    json_array_foreach(panels, p, panel)
    {
        double x = (double)p * (PANEL + GAP) + GAP / 2.0;
        const json_t *edges = json_object_get(panel, "edges");
        figure_text(out, x + PANEL / 2.0, 16, "middle", "head",
                    figure_string(panel, "name", ""));
        draw_matrix(out, edges, n, x, HEAD);
        draw_layout(out, &l, edges, json_object_get(figure, "labelled"), x,
                    HEAD + PANEL + GAP);
    }
    figure_end(out);
    free(room);
    return true;
}
