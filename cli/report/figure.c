/*
 * figure.c: what figures share: styles, text, numbers, scales.
 */
#include "report/figure.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Eight colours that people with colour-blindness tell apart (Okabe and Ito 2008), the
 * first, black, replaced by the colour of text. */
const char figure_light[] =
    "--ink:#1b1f23;--soft:#5b6570;--line:#d5dae0;--page:#ffffff;--card:#f6f8fa;"
    "--s0:#0072b2;--s1:#d55e00;--s2:#009e73;--s3:#cc79a7;--s4:#e69f00;--s5:#56b4e9;"
    "--s6:#1b1f23;--s7:#b8a800;--good:#117a4b;--bad:#b3261e;--high:#08519c";
const char figure_dark[] =
    "--ink:#e6eaee;--soft:#9aa5b1;--line:#3a424b;--page:#14181c;--card:#1d2329;"
    "--s0:#56b4e9;--s1:#ff8c42;--s2:#2fc79a;--s3:#e29cc4;--s4:#f0b429;--s5:#8fd0f5;"
    "--s6:#e6eaee;--s7:#f0e442;--good:#4cc38a;--bad:#ff7b72;--high:#9ecae1";
const char figure_style[] =
    "svg.figure{font:13px "
    "system-ui,sans-serif;color:var(--ink);max-width:100%;height:auto}"
    "svg.figure text{fill:var(--ink)}svg.figure .soft{fill:var(--soft);font-size:11px}"
    "svg.figure .head{font-weight:600}svg.figure .axis{stroke:var(--line);fill:none}"
    "svg.figure .plot{fill:none;stroke-width:2}svg.figure .band{opacity:.18;stroke:none}"
    "svg.figure .stem{stroke-width:1.5}"
    "svg.figure .bond{stroke:var(--ink);stroke-width:1.3;stroke-linecap:round}"
    "svg.figure .atom{font-size:11px;stroke:var(--page);stroke-width:4;"
    "paint-order:stroke}"
    "svg.figure .edge{stroke:var(--soft);stroke-width:.6;opacity:.6}"
    "svg.figure .known{stroke:var(--ink);stroke-width:1.2}"
    "svg.figure .cells{stroke:var(--s0)}svg.figure .fresh{stroke:var(--s1)}"
    "svg.figure .fresh.edge{stroke-width:1;opacity:.9}"
    "svg.figure .pixel{image-rendering:pixelated}";

void figure_begin(FILE *out, double width, double height, const char *title, bool alone)
{
    fprintf(out,
            "<svg class=\"figure\" role=\"img\" xmlns=\"http://www.w3.org/2000/svg\" "
            "viewBox=\"0 0 %g %g\" width=\"%g\" height=\"%g\">\n<title>",
            width, height, width, height);
    figure_escape(out, title);
    fputs("</title>\n", out);
    if (alone) {
        fprintf(out,
                "<style>svg{%s}@media(prefers-color-scheme:dark){svg{%s}}"
                "%s</style>\n<rect width=\"%g\" height=\"%g\" fill=\"var(--page)\"/>\n",
                figure_light, figure_dark, figure_style, width, height);
    }
}

void figure_end(FILE *out)
{
    fputs("</svg>\n", out);
}

const char *figure_character(const char **text, char buffer[FIGURE_CHARACTER])
{
    unsigned char first = (unsigned char)**text;
    int length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    char one[5];
    snprintf(one, sizeof one, "%.*s", length, *text);
    *text += strlen(one);
    return okra_text_printable(one, buffer, FIGURE_CHARACTER);
}

void figure_escape(FILE *out, const char *text)
{
    char buffer[FIGURE_CHARACTER];
    while (*text) {
        switch (*text) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        case '\n':
            fputc(*text, out);
            break;
        default:
            fputs(figure_character(&text, buffer), out);
            continue;
        }
        text++;
    }
}

void figure_text(FILE *out, double x, double y, const char *anchor, const char *kind,
                 const char *text)
{
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" class=\"%s\">", x, y,
            anchor, kind);
    figure_escape(out, text);
    fputs("</text>\n", out);
}

const char *figure_number(double value, char *buffer, size_t size)
{
    snprintf(buffer, size, "%.4g", value);
    return buffer;
}

double figure_at(const json_t *array, size_t index)
{
    const json_t *item = json_array_get(array, index);
    return json_is_number(item) ? json_number_value(item) : (double)NAN;
}

const char *figure_string(const json_t *object, const char *key, const char *otherwise)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : otherwise;
}

/* ---- scales ---- */

figure_scale figure_scale_empty(bool log)
{
    return (figure_scale){DBL_MAX, -DBL_MAX, 0, 1, log};
}

static double inner(const figure_scale *s, double value)
{
    return s->log ? log10(value) : value;
}

void figure_scale_take(figure_scale *s, double value)
{
    if (isfinite(value) && (!s->log || value > 0)) {
        s->low = fmin(s->low, inner(s, value));
        s->high = fmax(s->high, inner(s, value));
    }
}

void figure_scale_finish(figure_scale *s, double from, double to)
{
    if (s->low > s->high) {
        s->low = 0;
        s->high = 1;
    }
    double span = s->high - s->low;
    bool share = !s->log && s->low >= 0 && s->high <= 1; /* accuracies, areas, ... */
    if (span <= fabs(s->high) * 1e-12) {
        span = fabs(s->high) > 0 ? fabs(s->high) : 1;
        s->low -= span / 2;
        s->high += span / 2;
    }
    s->low -= 0.04 * span;
    s->high += 0.04 * span;
    if (share) { /* nothing lies beyond them */
        s->low = fmax(s->low, -0.04);
        s->high = fmin(s->high, 1.04);
    }
    s->from = from;
    s->to = to;
}

double figure_scale_at(const figure_scale *s, double value)
{
    return s->from + (inner(s, value) - s->low) / (s->high - s->low) * (s->to - s->from);
}

/* 1, 2 or 5 times a power of ten, so that about `most` steps fill the span. */
static double round_step(double span, int most)
{
    double raw = span / most, power = pow(10, floor(log10(raw)));
    double lead = raw / power;
    return power * (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10);
}

int figure_ticks(const figure_scale *s, double *ticks, int most)
{
    int count = 0;
    double step = round_step(s->high - s->low, most - 1);
    if (s->log) {
        step = fmax(1, ceil(step));
    }
    for (double k = ceil(s->low / step); k * step <= s->high && count < most; k++) {
        double value = k * step;
        value = fabs(value) < step * 1e-9 ? 0 : value;
        ticks[count++] = s->log ? pow(10, value) : value;
    }
    return count;
}

/* ---- which figure ---- */

typedef bool (*drawer)(FILE *, const json_t *, bool, char *, size_t);

static const struct {
    const char *type;
    drawer draw;
} drawers[] = {
    {"curve", figure_curve},         {"scatter", figure_curve},
    {"bars", figure_bars},           {"heatmap", figure_heatmap},
    {"images", figure_images},       {"network", figure_network},
    {"molecules", figure_molecules},
};

bool figure_draw(FILE *out, const json_t *figure, bool alone, char *why, size_t size)
{
    const char *type = figure_string(figure, "type", "");
    for (size_t i = 0; i < sizeof drawers / sizeof *drawers; i++) {
        if (strcmp(drawers[i].type, type) == 0) {
            return drawers[i].draw(out, figure, alone, why, size);
        }
    }
    snprintf(why, size, "its type is '%s'", type);
    return false;
}
