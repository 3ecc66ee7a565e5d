/*
 * entries.c: every table and figure that can be run again, in the order of the papers.
 */
#include "paper.h"

/* clang-format off */
extern const paper_entry
    paper_weston_t1,
    paper_weston_t2,
    paper_weston_t3,
    paper_kadri_t2_left,
    paper_kadri_t2_right,
    paper_kadri_t3,
    paper_kadri_fig2,
    paper_stkl_sshape,
    paper_stkl_usps,
    paper_stkl_poser,
    paper_brouard_fig3,
    paper_brouard_t3,
    paper_brouard_t4_t5,
    paper_brouard_t4_go,
    paper_brouard_t6,
    paper_brouard_drugs,
    paper_brouard_t8,
    paper_brouard_t9,
    paper_brouard_fig8,
    paper_metabolites,
    paper_when;

const paper_entry *const paper_entries[] = {
    &paper_weston_t1,
    &paper_weston_t2,
    &paper_weston_t3,
    &paper_kadri_t2_left,
    &paper_kadri_t2_right,
    &paper_kadri_t3,
    &paper_kadri_fig2,
    &paper_stkl_sshape,
    &paper_stkl_usps,
    &paper_stkl_poser,
    &paper_brouard_fig3,
    &paper_brouard_t3,
    &paper_brouard_t4_t5,
    &paper_brouard_t4_go,
    &paper_brouard_t6,
    &paper_brouard_drugs,
    &paper_brouard_t8,
    &paper_brouard_t9,
    &paper_brouard_fig8,
    &paper_metabolites,
    &paper_when,
    NULL,
};
/* clang-format on */
