/*
 * report.h: results (docs/results-format.md) as one page, HTML or Markdown.
 */
#ifndef OKRA_REPORT_H
#define OKRA_REPORT_H

#include "cli.h"
#include "report/figure.h"

typedef struct report_settings {
    const char *output, *title; /* output: .html, .md, or "-" (HTML)         */
    const char *figures;        /* each figure goes there as .svg; "": none  */
    int claims;                 /* REPORT_CLAIMS_..., Markdown alone */
} report_settings;

enum { REPORT_CLAIMS_NO, REPORT_CLAIMS_FIRST, REPORT_CLAIMS_ALONE };

/* Writes the results, a JSON array, and says where to; an exit status. */
int report_write(const cli_run *run, const report_settings *settings, const json_t *all);

/* ---- what the two kinds of page share: report.c ---- */

/* The name of result i of all, with its count behind it where an earlier one has the
 * same. */
const char *report_name(const json_t *all, size_t i, char *buffer, size_t size);
/* RESULT-FIGURE, or RESULT where the figure is NULL, of letters, digits and dashes alone:
 * a file's name without .svg, the anchor of a heading. */
void report_figure_name(char *to, size_t size, const char *result, const char *figure);
int report_save_figure(const cli_run *run, const char *folder, const char *result,
                       const json_t *f);
/* How it was made: "okra paper x --full · full run · 12 s · 2026-01-31 · ..." */
const char *report_origin(const json_t *result, char *buffer, size_t size);
/* Is any result one of a paper? */
bool report_has_paper(const json_t *all);

/* ---- cells of tables: cells.c ---- */

/* How many decimals the numbers of a column have: as many as the paper prints, else one
 * from 10 on and four below. */
int report_decimals(const json_t *table, const char *column);
/* "0.9234 ± 0.0123", or a dash where there is no number; 1.234e-05 where four decimals
 * would show nothing or too much. */
const char *report_value(const json_t *cell, int decimals, const char *mean,
                         const char *sd, char *buffer, size_t size);
/* From the paper's value to ours: "+1.2 sd"; "-0.0123, no sd" where none is known; a dash
 * where there are no two values. */
const char *report_difference(const json_t *cell, char *buffer, size_t size);
/* Verdicts of a result's cells: reproduced, beyond the paper, not reproduced, not
 * comparable. */
enum { REPORT_VERDICTS = 4 };
extern const char *const report_verdicts[REPORT_VERDICTS];
/* What verdicts mean, in words. */
extern const char report_rule[];
/* The verdict of a cell; "" where it is none of them. */
const char *report_verdict(const json_t *cell);
/* Has it a printed value that ours does not reach, so that a reader asks why? */
bool report_needs_reason(const json_t *cell);
void report_count(const json_t *result, int counts[REPORT_VERDICTS]);

/* Text in which nothing is Markdown. */
void report_escape(FILE *out, const char *text);
/* report_claims.c: one table per paper; `page` ("results.md" or "") is where the entries
 * are. */
void report_claims(FILE *out, const json_t *all, const char *page);

int report_page(const cli_run *run, FILE *out, const report_settings *settings,
                const json_t *all);
int report_markdown(const cli_run *run, FILE *out, const report_settings *settings,
                    const json_t *all);

#endif
