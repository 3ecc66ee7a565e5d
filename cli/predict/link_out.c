/*
 * link_out.c: what okra link writes, prints and tells programs.
 */
#include "predict/link_job.h"

#include "report/report.h"

#include <stdlib.h>
#include <string.h>

const char *const link_baselines[LINK_BASELINES] = {"degree", "no inputs"};

static void write_pairs(const link_job *j, const okra_link *list, okra_int count,
                        bool scores, FILE *out)
{
    char a[32], b[32];
    for (okra_int k = 0; k < count; k++) {
        fprintf(out, "%s\t%s", cli_node_name(&j->nodes, list[k].a, a),
                cli_node_name(&j->nodes, list[k].b, b));
        if (scores) {
            fprintf(out, "\t%.17g", list[k].value);
        }
        if (scores && j->p_values) {
            fprintf(out, "\t%.17g", j->p_values[k]);
        }
        fputc('\n', out);
    }
}

static json_t *edge_list(const okra_link *list, okra_int count)
{
    json_t *edges = json_array();
    for (okra_int k = 0; k < count; k++) {
        json_array_append_new(
            edges, json_pack("[I, I]", (json_int_t)list[k].a, (json_int_t)list[k].b));
    }
    return edges;
}

int link_by_value(const void *a, const void *b)
{
    const okra_link *x = a, *y = b;
    return x->value > y->value ? -1 : x->value < y->value;
}

/* Predicted edges, the strongest first. */
static json_t *new_edges(const link_job *j)
{
    size_t count = (size_t)j->network_count;
    okra_link *sorted = malloc((count + 1) * sizeof *sorted);
    if (sorted && count > 0) {
        memcpy(sorted, j->network, count * sizeof *sorted);
        qsort(sorted, count, sizeof *sorted, link_by_value);
    }
    json_t *edges = edge_list(sorted, sorted ? (okra_int)count : 0);
    free(sorted);
    return edges;
}

static json_t *picture(const link_job *j)
{
    json_t *panels = json_array(), *labelled = json_array();
    if (*j->f.truth) {
        json_array_append_new(panels,
                              json_pack("{s:s, s:o}", "name", "true network", "edges",
                                        edge_list(j->truth, j->truth_count)));
    }
    json_array_append_new(
        panels,
        json_pack("{s:s, s:o, s:o}", "name", "predicted network", "edges",
                  edge_list(j->known.edges, j->known.edge_count), "new", new_edges(j)));
    for (okra_int k = 0; k < j->known.labelled_count; k++) {
        json_array_append_new(labelled, json_integer(j->known.labelled[k]));
    }
    return json_pack("{s:s, s:s, s:s, s:I, s:o, s:o}", "id", "network", "type", "network",
                     "title", "Predicted network", "nodes", (json_int_t)j->nodes.count,
                     "labelled", labelled, "panels", panels);
}

static int draw(const cli_run *run, const link_job *j)
{
    OWNED_JSON *result = cli_result(run, "link", "link", "Links of a network");
    json_array_append_new(json_object_get(result, "figures"), picture(j));
    return report_draw(run, result, j->f.plot, "", "network");
}

int link_write(const cli_run *run, const link_job *j)
{
    cli_table t;
    if (*j->f.output) {
        CHK(cli_table_open(run, j->f.output, "", &t));
        fprintf(t.out, "node_a\tnode_b\tscore%s\n", j->p_values ? "\tp_value" : "");
        write_pairs(j, j->pairs, j->pair_count, true, t.out);
        CHK(cli_file_close(run, t.file, CLI_DONE));
    }
    if (*j->f.network) {
        CHK(cli_table_open(run, j->f.network, "", &t));
        write_pairs(j, j->known.edges, j->known.edge_count, false, t.out);
        write_pairs(j, j->network, j->network_count, false, t.out);
        CHK(cli_file_close(run, t.file, CLI_DONE));
    }
    return *j->f.plot ? draw(run, j) : CLI_DONE;
}

bool link_next_k(const char **at, okra_int *k)
{
    char *end = NULL;
    if (!**at) {
        return false;
    }
    *k = strtoll(*at, &end, 10);
    *at = *end == ',' ? end + 1 : end;
    return true;
}

bool link_is_true(const link_job *j, const okra_link *link)
{
    okra_int a = link->a, b = link->b;
    okra_link pair = {a < b ? a : b, a < b ? b : a, 0};
    return j->truth_count > 0 &&
           bsearch(&pair, j->truth, (size_t)j->truth_count, sizeof pair, cli_by_ends);
}

/* Of the pairs that were found, those that are no true edges. */
static double false_share(const link_job *j)
{
    okra_int wrong = 0;
    for (okra_int k = 0; k < j->pair_count; k++) {
        wrong += !link_is_true(j, &j->pairs[k]);
    }
    return j->pair_count > 0 ? (double)wrong / (double)j->pair_count : 0;
}

void link_print(const link_job *j)
{
    FILE *out = strcmp(j->f.output, "-") == 0 ? stderr : stdout;
    char buffer[64];
    OWNED_JSON *about = json_loads(okra_links_json(j->links), 0, NULL);
    const json_t *kernels = json_object_get(about, "kernels");
    cli_line(out, "nodes", "%lld, %lld labelled, %lld known edges",
             (long long)j->nodes.count, (long long)j->known.labelled_count,
             (long long)j->known.edge_count);
    cli_line(out, "kx", "%s", json_string_value(json_object_get(kernels, "x")));
    cli_line(out, "ky", "%s", json_string_value(json_object_get(kernels, "y")));
    const json_t *options = json_object_get(about, "options");
    cli_line(out, "method", "%s", json_string_value(json_object_get(options, "method")));
    if (json_object_get(options, "lambda")) {
        cli_line(out, "lambda", "%s",
                 json_string_value(json_object_get(options, "lambda")));
    }
    if (j->norm > 0) {
        cli_line(out, "norm", "%g", j->norm);
    }
    if (*j->f.output) {
        cli_line(out, j->f.fdr > 0 ? "found" : "ranked", "%lld pairs in %s",
                 (long long)j->pair_count, j->f.output);
    }
    if (j->f.fdr > 0) {
        cli_line(out, "false links", "a share of %g at most, on average", j->f.fdr);
    }
    if (j->f.fdr > 0 && *j->f.truth) {
        cli_line(out, "false here", "%.4f", false_share(j));
    }
    if (j->ranking) {
        const char *at = j->f.at;
        okra_int k;
        cli_line(out, "true links", "%lld",
                 (long long)okra_ranking_positives(j->ranking));
        cli_line(out, "AUC-ROC", "%.4f", okra_ranking_auc_roc(j->ranking));
        cli_line(out, "AUC-PR", "%.4f", okra_ranking_auc_pr(j->ranking));
        while (link_next_k(&at, &k)) {
            snprintf(buffer, sizeof buffer, "precision@%lld", (long long)k);
            cli_line(out, buffer, "%.4f", okra_ranking_precision(j->ranking, k));
        }
        for (int b = 0; b < LINK_BASELINES && j->baseline[b]; b++) {
            cli_line(out, link_baselines[b], "AUC-ROC %.4f, AUC-PR %.4f",
                     okra_ranking_auc_roc(j->baseline[b]),
                     okra_ranking_auc_pr(j->baseline[b]));
        }
    }
    if (*j->f.network || *j->f.plot) {
        cli_line(out, "predicted",
                 "%lld links, as dense as the known ones; expected precision %.4f%s",
                 (long long)j->network_count, j->precision,
                 j->left_out ? ", by left-out nodes" : " at most: no node was left out");
    }
    cli_line(out, "time", "%s", cli_seconds(j->seconds, buffer, sizeof buffer));
    if (*j->chosen) {
        cli_line(out, "chosen", "%s", j->chosen);
    }
    if (j->command) {
        cli_line(out, "the same", "%s", j->command);
    }
}

/* ---- as JSON, docs/results-format.md ---- */

static json_t *score_row(const link_job *j, const char *label, const okra_ranking *r)
{
    json_t *cells = json_object();
    const char *at = j->f.at;
    okra_int k;
    json_object_set_new(cells, "AUC-ROC",
                        json_pack("{s:f}", "okra", okra_ranking_auc_roc(r)));
    json_object_set_new(cells, "AUC-PR",
                        json_pack("{s:f}", "okra", okra_ranking_auc_pr(r)));
    while (link_next_k(&at, &k)) {
        char name[48];
        snprintf(name, sizeof name, "precision@%lld", (long long)k);
        json_object_set_new(cells, name,
                            json_pack("{s:f}", "okra", okra_ranking_precision(r, k)));
    }
    return json_pack("{s:s, s:o}", "label", label, "cells", cells);
}

static json_t *score_table(const link_job *j)
{
    json_t *rows = json_array(), *columns = json_pack("[s, s]", "AUC-ROC", "AUC-PR");
    const char *at = j->f.at;
    okra_int k;
    while (link_next_k(&at, &k)) {
        char name[48];
        snprintf(name, sizeof name, "precision@%lld", (long long)k);
        json_array_append_new(columns, json_string(name));
    }
    json_array_append_new(rows, score_row(j, "links", j->ranking));
    for (int b = 0; b < LINK_BASELINES && j->baseline[b]; b++) {
        json_array_append_new(rows, score_row(j, link_baselines[b], j->baseline[b]));
    }
    return json_pack("{s:s, s:s, s:s, s:s, s:o, s:o}", "id", "scores", "title",
                     "Links against the truth", "metric", "score", "better", "higher",
                     "columns", columns, "rows", rows);
}

json_t *link_json(const cli_run *run, const link_job *j)
{
    json_t *result = cli_result(run, "link", "link", "Links of a network"),
           *tables = json_object_get(result, "tables"),
           *figures = json_object_get(result, "figures");
    if (j->ranking) {
        json_array_append_new(tables, score_table(j));
        json_array_append_new(figures, cli_ranking_figure(j->ranking, true));
        json_array_append_new(figures, cli_ranking_figure(j->ranking, false));
    }
    if (*j->f.network || *j->f.plot) {
        json_array_append_new(figures, picture(j));
        json_object_set_new(result, "predicted", json_integer(j->network_count));
        json_object_set_new(result, "expected_precision", json_real(j->precision));
    }
    OWNED_JSON *own = json_pack(
        "{s:f, s:I, s:I, s:I, s:I, s:o}", "seconds", j->seconds, "nodes",
        (json_int_t)j->nodes.count, "labelled", (json_int_t)j->known.labelled_count,
        "edges", (json_int_t)j->known.edge_count, "ranked", (json_int_t)j->pair_count,
        "model", json_loads(okra_links_json(j->links), 0, NULL));
    json_object_update(result, own);
    if (j->command) {
        json_object_set_new(result, "command", json_string(j->command));
        json_object_set_new(result, "chosen", json_string(j->chosen));
    }
    return result;
}
