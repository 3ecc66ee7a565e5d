/*
 * svg.h: small drawings as SVG.
 */
#ifndef OKRA_SVG_H
#define OKRA_SVG_H

#include <stdio.h>

typedef struct svg {
    FILE *out;
} svg;

svg svg_begin(FILE *out, double width, double height);
void svg_end(svg *s);
void svg_rect(svg *s, double x, double y, double width, double height, const char *fill);
void svg_circle(svg *s, double x, double y, double radius, const char *fill);
void svg_line(svg *s, double x1, double y1, double x2, double y2, const char *stroke);
/* anchor: "start", "middle" or "end" */
void svg_text(svg *s, double x, double y, double size, const char *anchor,
              const char *text);
/* rows x cols values, low as black and high as white, in squares of side `cell`. */
void svg_image(svg *s, double x, double y, double cell, int rows, int cols,
               const double *values, double low, double high);

#endif
