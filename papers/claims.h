/*
 * claims.h: what the four papers claim, one line each, and what the results say of it.
 *
 * A claim names cells of one entry's tables and a rule; its verdict follows from the
 * numbers of the result, never from a text:
 *   CLAIM_VALUES: printed values. It holds where every compared cell is within two
 *       standard errors of the print.
 *   CLAIM_ORDER: the first cell is better than the second, that one than the third, ...,
 *       column by column where the column is '*'. It holds where each mean is better by
 *       more than two standard errors of the paired differences of the single values.
 *   CLAIM_BEST: the first cell is better than each of the others, by the same rule.
 * Verdicts:
 *   reproduced as printed             it holds
 *   reproduced after one constant     it holds in `other`, cells that a constant, fitted
 *   reproduced under a found reading  on another cell, or a reading found with the print
 *                                     in sight belong to
 *   fails         `bound`, the best that any setting reaches, is worse than the print by
 *                 more than two standard errors; or an order is reversed by as much
 *   undecided     neither; or the print is one draw without a spread, near our mean
 *   not comparable  other data, or nothing to compare
 * A cell whose parameters were set with test results in sight counts as a bound alone.
 * An entry without a full result has not run.
 */
#ifndef OKRA_PAPER_CLAIMS_H
#define OKRA_PAPER_CLAIMS_H

#include "paper.h"

typedef enum claim_rule { CLAIM_VALUES, CLAIM_ORDER, CLAIM_BEST } claim_rule;

enum { CLAIM_CELLS = 6 };

typedef struct paper_claim {
    const char *paper, *where; /* "Weston et al. 2003", "Table 3"             */
    const char *text;          /* the claim                                   */
    const char *entry;         /* whose results are asked                     */
    claim_rule rule;
    const char *cells[CLAIM_CELLS]; /* "table|row|column"; column *: every one */
    const char *tested;             /* what was done here                      */
    const char *apart; /* why it cannot be compared with the paper; NULL: it can */
    /* Whose doing it is that it does not hold as printed: "reading open". */
    const char *doing;
    const char *other[CLAIM_CELLS]; /* the same under the other reading; none: NULL */
    const char *reading;            /* which one                                    */
    int tried; /* readings that were tried; 0: one constant was fitted instead      */
    const char *bound; /* the cell of the best that can be had; NULL: none is shown */
} paper_claim;

extern const paper_claim paper_claims[]; /* in the order of the papers; ends at 0 */

typedef struct claim_verdict {
    const char *verdict; /* one of the six, or "not run" */
    char reason[1000];
    char numbers[900];   /* ours and the paper's */
    char yardstick[400]; /* by what they were compared, and n */
} claim_verdict;

/* result: of claim->entry, a full run, or NULL. */
void claim_judge(const paper_claim *claim, const json_t *result, claim_verdict *out);

/* Is the mean of a better than that of b by more than two standard errors of the paired
 * differences? Of one pair: is it better at all? */
bool claim_better(const double *a, const double *b, size_t count, bool lower);

/* Decimals that a number was printed with, at most 4. */
int claim_decimals(double printed);

#endif
