/*
 * assignment.c: the assignment problem, a row at a time along a shortest path.
 */
#include "decode/rankings/assignment.h"

#include <math.h>

typedef struct paths {
    okra_int d;
    const double *cost;
    double *u, *v;       /* d, d: potentials, cost - u - v >= 0                     */
    double *distance;    /* d: of a column from the row that is put in              */
    okra_int *row, *via; /* d: who has a column, -1: nobody; the column before it   */
    bool *done;          /* d */
} paths;

/* The free column that is nearest to row i; *total: how far. */
static okra_int nearest_free(paths *p, okra_int i, double *total)
{
    okra_int d = p->d, column = -1;
    *total = 0;
    for (okra_int j = 0; j < d; j++) {
        p->distance[j] = (double)INFINITY;
        p->done[j] = false;
    }
    while (true) {
        okra_int next = -1;
        for (okra_int j = 0; j < d; j++) {
            if (p->done[j]) {
                continue;
            }
            double through = *total + p->cost[i * d + j] - p->u[i] - p->v[j];
            if (through < p->distance[j]) {
                p->distance[j] = through;
                p->via[j] = column;
            }
            if (next < 0 || p->distance[j] < p->distance[next]) {
                next = j;
            }
        }
        column = next;
        *total = p->distance[column];
        p->done[column] = true;
        if (p->row[column] < 0) {
            return column;
        }
        i = p->row[column];
    }
}

/* Row i gets a column, those on the path to it move on. */
static void put_in(paths *p, okra_int i)
{
    double total;
    okra_int column = nearest_free(p, i, &total);
    p->u[i] += total;
    for (okra_int j = 0; j < p->d; j++) {
        if (p->done[j] && j != column) {
            p->u[p->row[j]] += total - p->distance[j];
            p->v[j] -= total - p->distance[j];
        }
    }
    while (p->via[column] >= 0) {
        p->row[column] = p->row[p->via[column]];
        column = p->via[column];
    }
    p->row[column] = i;
}

okra_status okra_assignment_(okra_int d, const double *cost, okra_int *place)
{
    paths p = {.d = d, .cost = cost};
    OWNS(&p.u, &p.v, &p.distance, &p.row, &p.via, &p.done);
    ZMAKE(p.u, d);
    ZMAKE(p.v, d);
    MAKE(p.distance, d);
    MAKE(p.row, d);
    MAKE(p.via, d);
    MAKE(p.done, d);
    for (okra_int j = 0; j < d; j++) {
        p.row[j] = -1;
    }
    for (okra_int i = 0; i < d; i++) {
        put_in(&p, i);
    }
    for (okra_int j = 0; j < d; j++) {
        place[p.row[j]] = j;
    }
    return OKRA_OK;
}
