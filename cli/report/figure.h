/*
 * figure.h: figures of results (docs/results-format.md) drawn as SVG.
 *
 * Colours are classes and custom properties, so that a page's theme decides them; a
 * figure saved alone carries the style sheet itself.
 */
#ifndef OKRA_FIGURE_H
#define OKRA_FIGURE_H

#include "okra/okra.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* Draws one figure; false if its type or fields are not known, with the reason in `why`
 * (of `size` bytes). `alone`: a whole SVG file rather than a part of a page. */
bool figure_draw(FILE *out, const json_t *figure, bool alone, char *why, size_t size);

/* The style of figures, for the page that holds them. */
extern const char figure_style[];
/* The custom properties of the light and of the dark theme. */
extern const char figure_light[], figure_dark[];

/* ---- shared by the figure_ .c files ---- */

enum { FIGURE_WIDTH = 640, FIGURE_HEIGHT = 400, FIGURE_SERIES = 8 };

/* <svg ...> with a title for readers that do not see; closed by figure_end. */
void figure_begin(FILE *out, double width, double height, const char *title, bool alone);
void figure_end(FILE *out);
/* The character at *text, which moves behind it; as \xNN what a terminal would obey. */
enum { FIGURE_CHARACTER = 20 };
const char *figure_character(const char **text, char buffer[FIGURE_CHARACTER]);
/* Text with <, >, & and quotes written so that markup stays markup. */
void figure_escape(FILE *out, const char *text);
void figure_text(FILE *out, double x, double y, const char *anchor, const char *kind,
                 const char *text);
/* A number as people write it: 4 digits, no trailing zeros. */
const char *figure_number(double value, char *buffer, size_t size);
/* The item of a JSON array as a number; NaN where it is none. */
double figure_at(const json_t *array, size_t index);
const char *figure_string(const json_t *object, const char *key, const char *otherwise);

/* A scale from data to pixels, linear or logarithmic, with round ticks. */
typedef struct figure_scale {
    double low, high, from, to;
    bool log;
} figure_scale;
/* Takes in a value; begin with figure_scale_empty. */
figure_scale figure_scale_empty(bool log);
void figure_scale_take(figure_scale *s, double value);
/* Widens an empty or single-valued range, adds a margin, and sets the pixels. */
void figure_scale_finish(figure_scale *s, double from, double to);
double figure_scale_at(const figure_scale *s, double value);
/* Up to `most` tick values inside the range; returns how many. */
int figure_ticks(const figure_scale *s, double *ticks, int most);

bool figure_curve(FILE *out, const json_t *figure, bool alone, char *why, size_t size);
bool figure_bars(FILE *out, const json_t *figure, bool alone, char *why, size_t size);
bool figure_heatmap(FILE *out, const json_t *figure, bool alone, char *why, size_t size);
bool figure_images(FILE *out, const json_t *figure, bool alone, char *why, size_t size);
bool figure_network(FILE *out, const json_t *figure, bool alone, char *why, size_t size);
bool figure_molecules(FILE *out, const json_t *figure, bool alone, char *why,
                      size_t size);

/* The figure of a ROC curve (id roc), or of precision and recall (id pr). */
json_t *figure_ranking(const okra_ranking *ranking, bool roc);

/* A grey image as a PNG in a data: address; values low..high are black..white. */
bool figure_png(FILE *out, const double *values, int rows, int cols, double low,
                double high);

#endif
