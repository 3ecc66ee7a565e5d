/*
 * claims.h: what the four papers claim, one line each, and what the results say of it.
 *
 * A claim names cells of one entry's tables and a rule; its verdict follows from the
 * numbers of the result, never from a text:
 *   CLAIM_VALUES: printed values. Reproduced where every compared cell is, beyond the
 *       paper where every one is; else not reproduced.
 *   CLAIM_ORDER: the first cell is better than the second, that one than the third, ...,
 *       column by column where the column is '*'. Reproduced where each mean is better
 *       by more than two standard errors of the paired differences of the single values.
 *   CLAIM_BEST: the first cell is better than each of the others, by the same rule.
 * A cell whose parameters were set with test results in sight is never counted: the
 * claim is not comparable then. An entry without a full result has not run.
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
} paper_claim;

extern const paper_claim paper_claims[]; /* in the order of the papers; ends at 0 */

typedef struct claim_verdict {
    const char *verdict; /* one of the four, or "not run" */
    char reason[300];    /* of not comparable and not reproduced; "" */
    char numbers[700];   /* ours and the paper's */
} claim_verdict;

/* result: of claim->entry, a full run, or NULL. */
void claim_judge(const paper_claim *claim, const json_t *result, claim_verdict *out);

/* Is the mean of a better than that of b by more than two standard errors of the paired
 * differences? Of one pair: is it better at all? */
bool claim_better(const double *a, const double *b, size_t count, bool lower);

/* Decimals that a number was printed with, at most 4. */
int claim_decimals(double printed);

#endif
