/*
 * report.c: okra report: what okra-report gets beside the files: the order of the
 * papers, and what their results say of the claims.
 */
#include "report/report.h"
#include "commands.h"
#include "papers/claims.h"

#include <string.h>

typedef struct report_fields {
    const char *output, *title, *figures, *figure;
    int claims;
} report_fields;

#define FIELDS report_fields
static const okra_option rows[] = {
    ROW(WRITTEN, "output", output, NULL, "FILE",
        "The page to write (.html or .md; - is HTML on standard output), or one figure "
        "(.svg or .png)"),
    ROW(TEXT, "title", title, "", "TEXT",
        "The heading of the page; what the results are if not given"),
    CHOICE("claims", claims, "no", "no|first|alone", "WHAT",
           "The claims of the papers and what these results say of them: first on the "
           "page, or alone (.md)"),
    ROW(WRITTEN, "figures", figures, "", "DIR",
        "Also write each figure as DIR/RESULT-FIGURE.svg (the folder must exist)"),
    ROW(TEXT, "figure", figure, "", "ID",
        "Which figure .svg and .png draw, where there are several; all: side by side"),
    {0},
};

/* The full result of an entry. */
static const json_t *result_of(const json_t *all, const char *entry)
{
    size_t i;
    json_t *result;
    json_array_foreach(all, i, result)
    {
        if (strcmp(cli_text(result, "kind", ""), "paper") == 0 && entry &&
            strcmp(cli_text(result, "name", ""), entry) == 0 &&
            strcmp(cli_text(result, "mode", ""), "full") == 0) {
            return result;
        }
    }
    return NULL;
}

static json_t *judged(const json_t *all)
{
    static const char *const rules[] = {"values", "order", "best"};
    json_t *list = json_array();
    const char *paper = "";
    int place = 0;
    for (const paper_claim *c = paper_claims; c->paper; c++) {
        claim_verdict found;
        claim_judge(c, result_of(all, c->entry), &found);
        place += strcmp(paper, c->paper) != 0;
        paper = c->paper;
        json_array_append_new(
            list, json_pack("{s:s,s:i,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s}", "paper",
                            paper, "place", place, "text", c->text, "where", c->where,
                            "tested", c->tested, "numbers", found.numbers, "verdict",
                            found.verdict, "reason", found.reason, "rule", rules[c->rule],
                            "yardstick", found.yardstick, "doing",
                            c->doing ? c->doing : "", "entry", c->entry ? c->entry : ""));
    }
    return list;
}

/* What results there are; what cannot be read okra-report will tell. */
static void gather(json_t *all, const char *path)
{
    json_t *value = json_load_file(path, 0, NULL);
    json_t *list = json_is_array(value) ? json_incref(value) : json_pack("[O*]", value);
    json_array_extend(all, list);
    json_decref(list);
    json_decref(value);
}

static int run_report(cli_run *run)
{
    report_fields f;
    char found[64][4096];
    const char *arguments[64 + 16], *const claims[] = {"no", "first", "alone"};
    int count = 0;
    CHK(cli_status(run, cli_fields(run, &f)));
    REFUSE_IF(f.claims && !cli_ends(f.output, ".md"),
              "--claims writes Markdown: a page whose name ends in .md");
    json_t *all = json_array(), *order = json_array();
    const char *const given[] = {"-o",        f.output,        "--title",  f.title,
                                 "--figures", f.figures,       "--figure", f.figure,
                                 "--claims",  claims[f.claims]};
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        arguments[count++] = given[i];
    }
    int status = CLI_DONE;
    for (int i = 0; i < run->operand_count && status == CLI_DONE; i++) {
        const char *path = run->operands[i];
        status = cli_status(run, cli_take_input(run, path));
        const char *there = cli_find(run, path, found[i], sizeof found[i]);
        status = status ? status : cli_ask(run, there, 10); /* Python's objects */
        if (f.claims && strcmp(there, "-") == 0) {
            status = cli_usage(run, "--claims reads files, not standard input");
        } else if (f.claims) {
            gather(all, there);
        }
        /* a name that begins with a dash is no flag */
        if (*there == '-' && there[1]) {
            snprintf(found[i], sizeof found[i], "./%s", path);
            there = found[i];
        }
        arguments[count++] = there;
    }
    arguments[count++] = "--extra";
    arguments[count] = NULL;
    for (size_t i = 0; paper_entries[i]; i++) {
        json_array_append_new(order, json_string(paper_entries[i]->name));
    }
    json_t *extra = json_pack("{s:o, s:o}", "order", order, "claims",
                              f.claims ? judged(all) : json_array());
    status = status ? status : report_start(run, OKRA_REPORT, arguments, extra);
    json_decref(extra);
    json_decref(all);
    return status;
}

const cli_command cli_report = {
    .name = "report",
    .purpose = "Draw results as one page with tables and figures",
    .usage = "RESULT.json... -o FILE [flags]",
    .about =
        "Results come from okra fit, select, link, score, predict and paper with "
        "--json;\ndocs/results-format.md says what they hold. The HTML page needs no "
        "network and no\nother file, follows the system's light or dark theme, explains "
        "its numbers, and\nreads on a phone and on paper. A name that ends in .md makes "
        "the same as\nMarkdown, which shows the pictures of --figures. The program "
        "okra-report draws\nthem; it comes with okra's Python package.\n",
    .examples = "okra report results/*.json -o report.html\n"
                "okra report results/*.json -o results.md --figures pictures\n"
                "okra report link.json -o network.png --figure network\n"
                "okra report results/*-full.json -o claims.md --claims alone\n",
    .own = {"report", rows, sizeof(report_fields)},
    .refuses = " threads seed json engine strict header bag ",
    .operands_least = 1,
    .operands_most = 60,
    .operand = "RESULT",
    .run = run_report,
};
