/*
 * align.c: the weights of kernels that a model learned (align(...)): lines, and a figure.
 */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

/* The k-th kernel and weight of the model's texts; false: there are no more. */
static bool nth(const json_t *texts, size_t k, char *kernel, size_t size, double *weight)
{
    const char *names = json_string_value(json_object_get(texts, "align.kernels"));
    const char *weights = json_string_value(json_object_get(texts, "align.weights"));
    for (size_t i = 0; names && weights && i < k; i++) {
        names = strchr(names, '\n');
        weights = strchr(weights, ',');
        names = names ? names + 1 : NULL;
        weights = weights ? weights + 1 : NULL;
    }
    if (!names || !weights) {
        return false;
    }
    snprintf(kernel, size, "%.*s", (int)strcspn(names, "\n"), names);
    *weight = strtod(weights, NULL);
    return true;
}

void cli_line_align(FILE *out, const json_t *about)
{
    const json_t *texts = json_object_get(about, "texts");
    char kernel[400];
    double weight;
    for (size_t k = 0; nth(texts, k, kernel, sizeof kernel, &weight); k++) {
        cli_line(out, k ? "" : "weights", "%-10.4g %s", weight, kernel);
    }
}

json_t *cli_align_figure(const json_t *about)
{
    const json_t *texts = json_object_get(about, "texts");
    json_t *labels = json_array(), *values = json_array();
    char kernel[400];
    double weight;
    for (size_t k = 0; nth(texts, k, kernel, sizeof kernel, &weight); k++) {
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
