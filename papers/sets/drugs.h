/*
 * drugs.h: molecules, their activities in cell lines, and random choices of labelled
 * ones.
 */
#ifndef OKRA_PAPER_DRUGS_H
#define OKRA_PAPER_DRUGS_H

#include "network.h"
#include "../protocol.h"

/* FORMS: activities as they are, and less the means of the labelled molecules. What is
 * fitted: models 0 and 2 (with three values of mu), a block of 59 outputs each, in both
 * forms. */
enum { LINES = 59, FORMS = 2, DRUG_MUS = 3, PARTS = 1 + DRUG_MUS };
enum { BLOCKS = FORMS * PARTS, WIDTH = BLOCKS * LINES };
#define DRUG_MU_1 0.4
#define DRUG_MU_2 0.8
#define DRUG_MU_3 0.95

typedef struct drugs {
    okra_int n;
    double *K; /* n x n: Tanimoto of paths */
    double *Y; /* n x LINES: -log10(GI50)  */
} drugs;
okra_status drugs_load(paper_run *run, drugs *t) OKRA_CHECK;
void drugs_clear(drugs *t);

typedef struct drug_draw {
    okra_int labelled;
    double *K, *Y, *self;           /* permuted: labelled first; Y: n x WIDTH  */
    double M[FORMS][LINES * LINES]; /* graphs between the lines               */
    char file[256];                 /* of the operator of all blocks          */
} drug_draw;

okra_status drug_draw_make(paper_run *run, const drugs *t, okra_int labelled,
                           uint64_t seed, drug_draw *d) OKRA_CHECK;
void drug_draw_clear(drug_draw *d);

#endif
