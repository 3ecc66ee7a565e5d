/*
 * align.c: the weights of kernels that a model learned (align(...)): lines, and a figure.
 */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

/* What is left of the kernels and weights of a model's texts; NULL: nothing. */
typedef struct rest {
    const char *kernels, *weights;
} rest;

static rest begin(const json_t *about)
{
    const json_t *texts = json_object_get(about, "texts");
    return (rest){json_string_value(json_object_get(texts, "align.kernels")),
                  json_string_value(json_object_get(texts, "align.weights"))};
}

/* What comes behind the next `end`. */
static const char *behind(const char *text, char end)
{
    const char *found = strchr(text, end);
    return found ? found + 1 : NULL;
}

/* The next kernel and weight; false: there are no more. */
static bool next(rest *r, char *kernel, size_t size, double *weight)
{
    if (!r->kernels || !r->weights) {
        return false;
    }
    size_t length = strcspn(r->kernels, "\n");
    snprintf(kernel, size, "%.*s", (int)(length < size ? length : size), r->kernels);
    *weight = strtod(r->weights, NULL);
    *r = (rest){behind(r->kernels, '\n'), behind(r->weights, ',')};
    return true;
}

void cli_line_align(FILE *out, const json_t *about)
{
    rest r = begin(about);
    const char *name = "weights";
    char kernel[400];
    double weight;
    while (next(&r, kernel, sizeof kernel, &weight)) {
        cli_line(out, name, "%-10.4g %s", weight, kernel);
        name = "";
    }
}

json_t *cli_align_figure(const json_t *about)
{
    rest r = begin(about);
    json_t *labels = json_array(), *values = json_array();
    char kernel[400];
    double weight;
    while (next(&r, kernel, sizeof kernel, &weight)) {
        json_array_append_new(labels, json_string(kernel));
        json_array_append_new(values, json_real(weight));
    }
    if (json_array_size(labels) == 0) {
        json_decref(labels);
        json_decref(values);
        return NULL;
    }
    return json_pack("{s:s, s:s, s:s, s:s, s:o, s:[{s:s, s:o}]}", "id", "align", "type",
                     "bars", "title", "Learned weights of the kernels", "y_label",
                     "weight", "labels", labels, "series", "name", "weight", "y", values);
}
