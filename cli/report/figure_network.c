/*
 * figure_network.c: networks side by side: their adjacency matrices, and a layout that
 * all panels share, so that the eye compares edges and not places.
 *
 * Nodes are grouped by communities.c: a group has its own region of the layout and
 * neighbouring rows of the matrix. A panel has "edges" and may have "new", predicted
 * edges in order of strength: the layout shows the strongest of them alone, which it says
 * above it; the matrix shows all.
 */
#include "report/communities.h"
#include "report/figure.h"

#include <math.h>
#include <stdlib.h>

enum { NODES_MOST = 3000, PANEL = 300, GAP = 20, HEAD = 24, COLOURS = 6 };

typedef struct layout {
    size_t n, groups;
    double *x, *y, *fx, *fy;
    double *degree, *cx, *cy; /* of nodes; of groups: the middle */
    size_t *group, *rank;     /* of nodes: the group, the row in the matrix */
} layout;

static size_t node_at(const json_t *edge, size_t end, size_t n)
{
    json_int_t v = json_integer_value(json_array_get(edge, end));
    return v >= 0 && (size_t)v < n ? (size_t)v : n;
}

/* Edges of the panels whose both ends are nodes, as pairs of ends. */
static size_t *gather(const json_t *panels, size_t n, size_t *count)
{
    size_t room = 0, p, e;
    json_t *panel, *edge;
    json_array_foreach(panels, p, panel)
    {
        room += json_array_size(json_object_get(panel, "edges"));
    }
    size_t *ends = calloc(2 * room + 1, sizeof *ends);
    *count = 0;
    json_array_foreach(panels, p, panel)
    {
        json_array_foreach(json_object_get(panel, "edges"), e, edge)
        {
            size_t i = node_at(edge, 0, n), j = node_at(edge, 1, n);
            if (ends && i < n && j < n) {
                ends[2 * *count] = i;
                ends[2 * (*count)++ + 1] = j;
            }
        }
    }
    return ends;
}

/* Places of a sunflower: the k-th of n seeds. */
static void seed(double k, double n, double *x, double *y)
{
    double r = 0.5 * sqrt((k + 0.5) / n), a = 2.39996323 * k;
    *x = r * cos(a);
    *y = r * sin(a);
}

/* Rows of the matrix and first places: group by group, the largest in the middle. */
static void arrange(layout *l)
{
    double n = (double)l->n, before = 0;
    size_t row = 0;
    for (size_t g = 0; g < l->groups; g++) {
        double size = 0, inside = 0, gx, gy;
        for (size_t i = 0; i < l->n; i++) {
            size += l->group[i] == g;
        }
        seed(before + size / 2, n, &gx, &gy);
        for (size_t i = 0; i < l->n; i++) {
            if (l->group[i] == g) {
                double x, y, share = sqrt(size / n);
                seed(inside++, size, &x, &y);
                l->x[i] = 0.5 + 1.2 * gx + share * x;
                l->y[i] = 0.5 + 1.2 * gy + share * y;
                l->rank[i] = row++;
            }
        }
        before += size;
    }
}

/* The middle of every group. */
static void find_middles(layout *l)
{
    for (size_t g = 0; g < l->groups; g++) {
        l->cx[g] = l->cy[g] = 0;
        l->degree[g] = 0; /* its size, while the nodes settle */
    }
    for (size_t i = 0; i < l->n; i++) {
        l->degree[l->group[i]]++;
    }
    for (size_t i = 0; i < l->n; i++) {
        l->cx[l->group[i]] += l->x[i] / l->degree[l->group[i]];
        l->cy[l->group[i]] += l->y[i] / l->degree[l->group[i]];
    }
}

/* Springs along edges, weaker between groups, repulsion between nodes (Fruchterman and
 * Reingold 1991), and a pull to the middle of the own group. No random numbers: the same
 * picture every time. */
static void settle(layout *l, const size_t *ends, size_t count)
{
    double k = 1 / sqrt((double)l->n), n = (double)l->n;
    int rounds = (int)fmin(200, fmax(60, 1e8 / (n * n)));
    for (int round = 0; round < rounds; round++) {
        double heat = 0.1 * (1 - (double)round / rounds);
        find_middles(l);
        for (size_t i = 0; i < l->n; i++) {
            double gx = l->cx[l->group[i]], gy = l->cy[l->group[i]];
            l->fx[i] = (0.5 - l->x[i]) * 0.05 + (gx - l->x[i]) * 2;
            l->fy[i] = (0.5 - l->y[i]) * 0.05 + (gy - l->y[i]) * 2;
            for (size_t j = 0; j < l->n; j++) {
                double dx = l->x[i] - l->x[j], dy = l->y[i] - l->y[j];
                double d2 = dx * dx + dy * dy + 1e-9;
                double push = k * k / d2 * (l->group[i] == l->group[j] ? 1 : 2);
                l->fx[i] += dx * push;
                l->fy[i] += dy * push;
            }
        }
        for (size_t e = 0; e < count; e++) {
            size_t i = ends[2 * e], j = ends[2 * e + 1];
            double dx = l->x[i] - l->x[j], dy = l->y[i] - l->y[j];
            double pull = sqrt(dx * dx + dy * dy) / k;
            pull *= l->group[i] == l->group[j] ? 1 : 0.1;
            l->fx[i] -= dx * pull;
            l->fy[i] -= dy * pull;
            l->fx[j] += dx * pull;
            l->fy[j] += dy * pull;
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
static void frame(layout *l, const size_t *ends, size_t count)
{
    double *const axes[] = {l->x, l->y};
    for (size_t i = 0; i < l->n; i++) {
        l->degree[i] = 0;
    }
    for (size_t e = 0; e < 2 * count; e++) {
        l->degree[ends[e]]++;
    }
    for (int a = 0; a < 2; a++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t i = 0; i < l->n; i++) {
            if (l->degree[i] > 0 || count == 0) {
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

/* ---- panels ---- */

/* Cells of edges and of their mirror images, as lines of the width of a cell. */
static void draw_cells(FILE *out, const layout *l, const json_t *edges, const char *class,
                       double x0, double y0)
{
    double cell = (double)PANEL / (double)l->n, side = fmax(1, cell);
    size_t e;
    json_t *edge;
    fprintf(out, "<path class=\"%s\" stroke-width=\"%.1f\" d=\"", class, side);
    json_array_foreach(edges, e, edge)
    {
        size_t i = node_at(edge, 0, l->n), j = node_at(edge, 1, l->n);
        if (i < l->n && j < l->n) {
            double a = cell * (double)l->rank[i], b = cell * (double)l->rank[j];
            fprintf(out, "M%.1f %.1fh%.1fM%.1f %.1fh%.1f", x0 + a, y0 + b + side / 2,
                    side, x0 + b, y0 + a + side / 2, side);
        }
    }
    fputs("\"/>\n", out);
}

static void draw_edges(FILE *out, const layout *l, const json_t *edges, size_t most,
                       const char *class, double x0, double y0)
{
    double inside = PANEL - 12;
    size_t e;
    json_t *edge;
    fprintf(out, "<path class=\"%s\" d=\"", class);
    json_array_foreach(edges, e, edge)
    {
        size_t i = node_at(edge, 0, l->n), j = node_at(edge, 1, l->n);
        if (i < l->n && j < l->n && e < most) {
            fprintf(out, "M%.1f %.1fL%.1f %.1f", x0 + 6 + inside * l->x[i],
                    y0 + 6 + inside * l->y[i], x0 + 6 + inside * l->x[j],
                    y0 + 6 + inside * l->y[j]);
        }
    }
    fputs("\"/>\n", out);
}

/* Coloured by group; those whose edges were known have a ring. */
static void draw_nodes(FILE *out, layout *l, const json_t *labelled, double x0, double y0)
{
    double inside = PANEL - 12, radius = fmin(6, fmax(1.6, 40 / sqrt((double)l->n)));
    size_t e;
    json_t *node;
    for (size_t i = 0; i < l->n; i++) {
        l->fx[i] = 0; /* now: is it labelled? */
    }
    json_array_foreach(labelled, e, node)
    {
        json_int_t v = json_integer_value(node);
        if (v >= 0 && (size_t)v < l->n) {
            l->fx[v] = 1;
        }
    }
    for (size_t i = 0; i < l->n; i++) {
        fprintf(out,
                "<circle class=\"%s\" fill=\"var(--s%zu)\" cx=\"%.1f\" cy=\"%.1f\" "
                "r=\"%.1f\"/>\n",
                l->fx[i] > 0 ? "known" : "node", l->group[i] % COLOURS,
                x0 + 6 + inside * l->x[i], y0 + 6 + inside * l->y[i], radius);
    }
}

static void draw_panel(FILE *out, layout *l, const json_t *panel, const json_t *labelled,
                       double x)
{
    const json_t *edges = json_object_get(panel, "edges");
    const json_t *fresh = json_object_get(panel, "new");
    size_t some = json_array_size(fresh), most = l->n / 2 > 40 ? l->n / 2 : 40;
    char note[80];
    figure_text(out, x + PANEL / 2.0, 16, "middle", "head",
                figure_string(panel, "name", ""));
    if (some > most) {
        snprintf(note, sizeof note, "below: the %zu strongest of %zu new edges", most,
                 some);
        figure_text(out, x + PANEL / 2.0, HEAD + PANEL + GAP - 6, "middle", "soft", note);
    }
    fprintf(out, "<rect class=\"axis\" x=\"%g\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n",
            x, HEAD, PANEL, PANEL);
    draw_cells(out, l, edges, "cells", x, HEAD);
    if (fresh) {
        draw_cells(out, l, fresh, "fresh", x, HEAD);
    }
    draw_edges(out, l, edges, json_array_size(edges), "edge", x, HEAD + PANEL + GAP);
    if (fresh) {
        draw_edges(out, l, fresh, most, "fresh edge", x, HEAD + PANEL + GAP);
    }
    draw_nodes(out, l, labelled, x, HEAD + PANEL + GAP);
}

/* The layout by the first panel alone, so that others do not move its nodes. */
static bool lay_out(layout *l, const json_t *panels)
{
    json_t *first = json_pack("[O]", json_array_get(panels, 0));
    size_t count = 0, *ends = gather(first, l->n, &count);
    bool good = ends && communities_find(l->n, ends, count, l->group, &l->groups);
    if (good) {
        arrange(l);
        settle(l, ends, count);
        frame(l, ends, count);
    }
    free(ends);
    json_decref(first);
    return good;
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
    double *room = calloc(7 * n, sizeof *room);
    size_t *places = calloc(2 * n, sizeof *places);
    layout l = {.n = n};
    bool good = room && places;
    if (good) {
        l = (layout){n,
                     0,
                     room,
                     room + n,
                     room + 2 * n,
                     room + 3 * n,
                     room + 4 * n,
                     room + 5 * n,
                     room + 6 * n,
                     places,
                     places + n};
        good = lay_out(&l, panels);
    }
    if (good) {
        json_t *panel;
        figure_begin(out, (double)count * (PANEL + GAP), 2 * (PANEL + GAP) + HEAD,
                     figure_string(figure, "title", ""), alone);
        json_array_foreach(panels, p, panel)
        {
            draw_panel(out, &l, panel, json_object_get(figure, "labelled"),
                       (double)p * (PANEL + GAP) + GAP / 2.0);
        }
        figure_end(out);
    } else {
        snprintf(why, size, "there is no memory for %zu nodes", n);
    }
    free(places);
    free(room);
    return good;
}
