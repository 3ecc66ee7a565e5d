/*
 * report_claims.c: the claims of the papers and what results say of them, as Markdown.
 */
#include "report/report.h"

#include "papers/claims.h"

#include <string.h>

/* The full result of an entry. */
static const json_t *result_of(const json_t *all, const char *entry)
{
    size_t i;
    json_t *result;
    json_array_foreach(all, i, result)
    {
        if (strcmp(figure_string(result, "kind", ""), "paper") == 0 && entry &&
            strcmp(figure_string(result, "name", ""), entry) == 0 &&
            strcmp(figure_string(result, "mode", ""), "full") == 0) {
            return result;
        }
    }
    return NULL;
}

static void one_claim(FILE *out, const paper_claim *claim, const claim_verdict *found,
                      const char *page)
{
    char anchor[128];
    fputs("| ", out);
    report_escape(out, claim->text);
    fputs(" (", out);
    report_escape(out, claim->where);
    fputs(") | ", out);
    report_escape(out, claim->tested);
    fputs(" | ", out);
    report_escape(out, found->numbers);
    fputs(" | ", out);
    if (strcmp(found->verdict, "not run") == 0) {
        fprintf(out, "the entry has not run | %s |\n", claim->entry);
        return;
    }
    fputs(found->verdict, out);
    if (*found->reason) {
        fputs(" (", out);
        report_escape(out, found->reason);
        fputs(")", out);
    }
    if (!claim->entry) {
        fputs(" | |\n", out);
        return;
    }
    report_figure_name(anchor, sizeof anchor, claim->entry, NULL);
    fprintf(out, " | [%s](%s#%s) |\n", claim->entry, page, anchor);
}

/* How many claims have which verdict. */
static void totals(FILE *out, const json_t *all)
{
    int counts[REPORT_VERDICTS + 1] = {0}, sum = 0;
    for (const paper_claim *c = paper_claims; c->paper; c++) {
        claim_verdict found;
        int v = 0;
        claim_judge(c, result_of(all, c->entry), &found);
        while (v < REPORT_VERDICTS && strcmp(report_verdicts[v], found.verdict) != 0) {
            v++;
        }
        counts[v]++;
        sum++;
    }
    fprintf(out, "Of %d claims", sum);
    for (int v = 0; v <= REPORT_VERDICTS; v++) {
        if (counts[v] > 0) {
            fprintf(out, ", %d %s", counts[v],
                    v < REPORT_VERDICTS ? report_verdicts[v] : "whose entry has not run");
        }
    }
    fputs(".\n\n", out);
}

void report_claims(FILE *out, const json_t *all, const char *page)
{
    const char *paper = "";
    fputs(
        "## Claims\n\n"
        "One line per claim of the papers. Its verdict follows from the numbers: a claim "
        "about values is reproduced where every compared cell is within one sd of the "
        "print, and beyond the paper where every one is better by more; a claim about an "
        "order is reproduced where each difference is larger than two of its standard "
        "errors over the paired folds or repeats (≈ where it is not). Cells tuned with "
        "test results in sight never count.\n\n",
        out);
    totals(out, all);
    for (const paper_claim *c = paper_claims; c->paper; c++) {
        claim_verdict found;
        if (strcmp(paper, c->paper) != 0) {
            paper = c->paper;
            fprintf(out, "%s**", c == paper_claims ? "" : "\n");
            report_escape(out, paper);
            fputs("**\n\n| claim | tested | numbers | verdict | entry |\n"
                  "|---|---|---|---|---|\n",
                  out);
        }
        claim_judge(c, result_of(all, c->entry), &found);
        one_claim(out, c, &found, page);
    }
    fputc('\n', out);
}
