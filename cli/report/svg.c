/*
 * svg.c: small drawings as SVG. Coordinates grow to the right and downward.
 */
#include "report/svg.h"

svg svg_begin(FILE *out, double width, double height)
{
    svg s = {out};
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" "
            "viewBox=\"0 0 %g %g\" font-family=\"sans-serif\">\n",
            width, height, width, height);
    svg_rect(&s, 0, 0, width, height, "white");
    return s;
}

void svg_end(svg *s)
{
    fputs("</svg>\n", s->out);
}

void svg_rect(svg *s, double x, double y, double width, double height, const char *fill)
{
    fprintf(s->out, "<rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" fill=\"%s\"/>\n",
            x, y, width, height, fill);
}

void svg_circle(svg *s, double x, double y, double radius, const char *fill)
{
    fprintf(s->out, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"%g\" fill=\"%s\"/>\n", x, y,
            radius, fill);
}

void svg_line(svg *s, double x1, double y1, double x2, double y2, const char *stroke)
{
    fprintf(s->out,
            "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" stroke=\"%s\"/>\n", x1,
            y1, x2, y2, stroke);
}

void svg_text(svg *s, double x, double y, double size, const char *anchor,
              const char *text)
{
    fprintf(s->out, "<text x=\"%g\" y=\"%g\" font-size=\"%g\" text-anchor=\"%s\">", x, y,
            size, anchor);
    for (; *text; text++) {
        switch (*text) {
        case '&':
            fputs("&amp;", s->out);
            break;
        case '<':
            fputs("&lt;", s->out);
            break;
        case '>':
            fputs("&gt;", s->out);
            break;
        default:
            fputc(*text, s->out);
        }
    }
    fputs("</text>\n", s->out);
}

void svg_image(svg *s, double x, double y, double cell, int rows, int cols,
               const double *values, double low, double high)
{
    for (int i = 0; i < rows * cols; i++) {
        double share = (values[i] - low) / (high - low);
        int gray = (int)(255 * (share < 0 ? 0 : share > 1 ? 1 : share) + 0.5);
        char fill[8];
        snprintf(fill, sizeof fill, "#%02x%02x%02x", (unsigned)gray & 0xff,
                 (unsigned)gray & 0xff, (unsigned)gray & 0xff);
        int row = i / cols, col = i % cols;
        svg_rect(s, x + col * cell, y + row * cell, cell, cell, fill);
    }
}
