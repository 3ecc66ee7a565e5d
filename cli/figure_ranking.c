/*
 * figure_ranking.c: a ranking as the figures that judge it.
 */
#include "figure.h"

json_t *figure_ranking(const okra_ranking *ranking, bool roc)
{
    enum { POINTS = 200 };
    json_t *x = json_array(), *y = json_array();
    if (roc) { /* nothing taken */
        json_array_append_new(x, json_real(0));
        json_array_append_new(y, json_real(0));
    }
    for (okra_int i = 0; i < POINTS; i++) {
        double score, fpr, recall, precision;
        okra_ranking_point(ranking, i, POINTS, &score, &fpr, &recall, &precision);
        json_array_append_new(x, json_real(roc ? fpr : recall));
        json_array_append_new(y, json_real(roc ? recall : precision));
    }
    return json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:[{s:s, s:o, s:o}]}", "id", roc ? "roc" : "pr",
        "type", "curve", "title", roc ? "ROC" : "Precision and recall", "x_label",
        roc ? "false-positive rate" : "recall", "y_label", roc ? "recall" : "precision",
        "series", "name", roc ? "ROC" : "precision", "x", x, "y", y);
}
