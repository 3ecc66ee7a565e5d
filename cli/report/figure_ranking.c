/*
 * figure_ranking.c: a ranking as the figures that judge it.
 */
#include "report/figure.h"

enum { POINTS = 200 };

static void roc_points(const okra_ranking *ranking, json_t *x, json_t *y)
{
    json_array_append_new(x, json_real(0)); /* nothing taken */
    json_array_append_new(y, json_real(0));
    for (okra_int i = 0; i < POINTS; i++) {
        double fpr, recall;
        okra_ranking_point(ranking, i, POINTS, NULL, &fpr, &recall, NULL);
        json_array_append_new(x, json_real(fpr));
        json_array_append_new(y, json_real(recall));
    }
}

/* Steps: the area that is drawn is the average precision. */
static void pr_points(const okra_ranking *ranking, json_t *x, json_t *y)
{
    double recall[POINTS], precision[POINTS];
    okra_int count = okra_ranking_steps(ranking, POINTS, recall, precision);
    json_array_append_new(x, json_real(0));
    json_array_append_new(y, json_real(count > 0 ? precision[0] : 0));
    for (okra_int i = 0; i < count; i++) {
        json_array_append_new(x, json_real(recall[i]));
        json_array_append_new(y, json_real(precision[i]));
    }
}

json_t *figure_ranking(const okra_ranking *ranking, bool roc)
{
    json_t *x = json_array(), *y = json_array();
    if (roc) {
        roc_points(ranking, x, y);
    } else {
        pr_points(ranking, x, y);
    }
    return json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:[{s:s, s:o, s:o, s:b}]}", "id", roc ? "roc" : "pr",
        "type", "curve", "title", roc ? "ROC" : "Precision and recall", "x_label",
        roc ? "false-positive rate" : "recall", "y_label", roc ? "recall" : "precision",
        "series", "name", roc ? "ROC" : "precision", "x", x, "y", y, "steps", !roc);
}
