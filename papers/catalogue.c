/*
 * catalogue.c: every table and figure of the papers, and what runs it again.
 */
#include "paper.h"

#define WESTON "Weston et al. 2003"
#define KADRI "Kadri et al. 2013"
#define STKL "Tonde and Elgammal"
#define BROUARD "Brouard et al. 2016"
#define METABOLITES "Metabolites: Brouard et al. 2016"
#define BEYOND "Beyond the papers"

/* clang-format off */
const paper_item paper_items[] = {
    {WESTON, "Table 1", "strings to strings", "weston-t1", NULL},
    {WESTON, "Table 2", "classes of handwritten digits", "weston-t2", NULL},
    {WESTON, "Table 3", "bottom half of a digit from its top half", "weston-t3", NULL},
    {WESTON, "Section 4.3", "classes of digits from their top halves", "weston-t2", NULL},
    {WESTON, "Figure 1", "five pairs of strings", NULL,
     "shows pairs of the task of Table 1, measures nothing"},
    {WESTON, "Figure 2", "bottom halves, drawn", "weston-t3", NULL},

    {KADRI, "Table 1", "notation", NULL, "holds no experiment"},
    {KADRI, "Table 2, left", "bottom half of a digit from its top half", "kadri-t2-left", NULL},
    {KADRI, "Table 2, right", "words from images of their letters", "kadri-t2-right", NULL},
    {KADRI, "Table 3", "faces from faces, turned", "kadri-t3", NULL},
    {KADRI, "Figure 1", "diagram of the method", NULL, "holds no experiment"},
    {KADRI, "Figure 2", "error and time against the rank", "kadri-fig2", NULL},

    {STKL, "Table 1", "centre of a digit from the rest of it", "stkl-usps", NULL},
    {STKL, "Table 2", "the same beside other methods", "stkl-usps", NULL},
    {STKL, "Table 3", "human pose from images, HumanEva-I", NULL,
     "the HoG features that it was made from are not published"},
    {STKL, "Table 4", "gains of all data sets", "stkl-sshape stkl-poser stkl-usps",
     "the columns of HumanEva-I cannot be run: the features are not published"},
    {STKL, "Figure 1", "learned coefficients", "stkl-sshape", NULL},
    {STKL, "Figure 2", "gain against the degrees", "stkl-sshape", NULL},
    {STKL, "Figure 3", "fits of the S-shape", "stkl-sshape", NULL},

    {BROUARD, "Table 1", "notation", NULL, "holds no experiment"},
    {BROUARD, "Table 2", "matrices of the models", NULL, "holds formulas, no experiment"},
    {BROUARD, "Table 3", "links of co-authors", "brouard-t3", NULL},
    {BROUARD, "Table 4", "interactions of yeast proteins", "brouard-t4-t5 brouard-t4-go", NULL},
    {BROUARD, "Table 5", "running times of Table 4", "brouard-t4-t5", NULL},
    {BROUARD, "Table 6", "interactions of yeast proteins, transductive", "brouard-t6", NULL},
    {BROUARD, "Table 7", "running times of Table 6", "brouard-t6", NULL},
    {BROUARD, "Table 8", "links of random networks by inertia", "brouard-t8", NULL},
    {BROUARD, "Table 9", "links of mixtures of random networks", "brouard-t9", NULL},
    {BROUARD, "Figure 1", "diagram of the approach", NULL, "holds no experiment"},
    {BROUARD, "Figure 2", "diagram of the method", NULL, "holds no experiment"},
    {BROUARD, "Figure 3", "AUC-ROC of random networks against lambda2", "brouard-fig3", NULL},
    {BROUARD, "Figure 4", "AUC-PR of random networks against lambda2", "brouard-fig3", NULL},
    {BROUARD, "Figure 5", "links of co-authors against lambda2", "brouard-t3", NULL},
    {BROUARD, "Figure 6", "activities of molecules, two models", "brouard-drugs", NULL},
    {BROUARD, "Figure 7", "activities of molecules, three models", "brouard-drugs", NULL},
    {BROUARD, "Figure 8", "a mixture of networks, true and predicted", "brouard-fig8",
     NULL},

    {METABOLITES, "Section 4", "molecules from tandem mass spectra", "metabolites",
     "its spectra and candidate lists are not published as such; other spectra are taken"},
    {BEYOND, "Drawn data", "where operators, twin kernels and a margin help", "when-it-helps",
     NULL},
    {0},
};
/* clang-format on */
