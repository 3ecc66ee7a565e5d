/*
 * peaks.h: peaks of spectra as kernels compare them.
 *
 * A peak of a spectrum has a place and a weight. The place is its m/z v, or what its ion
 * has lost: precursor - v (losses of less than half a dalton are then left out). The
 * weight is (intensity / largest intensity)^power.
 */
#ifndef OKRA_KERNEL_PEAKS_H_
#define OKRA_KERNEL_PEAKS_H_

#include "data/spectra/spectra.h"
#include "kernel/kernel.h"

enum { OKRA_OF_PEAKS_, OKRA_OF_LOSSES_ };

/* The leading parameters of every such kernel. */
typedef struct okra_peaks_params_ {
    int of;
    double power;
} okra_peaks_params_;

/* clang-format off */
#define OKRA_PEAKS_ROWS_(type)                                                           \
    {"of", OKRA_OPTION_CHOICE, offsetof(type, peaks.of), "peaks", 1, 0, "peaks|losses",  \
     "WHAT", "peaks by m/z, or losses: what lies between a peak and the precursor"},     \
    {"power", OKRA_OPTION_NUMBER, offsetof(type, peaks.power), "0.5", 0, 10, NULL, "V",  \
     "weight of a peak: its share of the largest intensity to this power"}
/* Widths: the larger of the two. */
#define OKRA_WIDTH_ROWS_(type, ppm_, da_)                                                \
    {"ppm", OKRA_OPTION_NUMBER, offsetof(type, ppm), ppm_, 0, 1e5, NULL, "V",            \
     "width in millionths of m/z"},                                                      \
    {"da", OKRA_OPTION_NUMBER, offsetof(type, da), da_, 0, 1e3, NULL, "V",               \
     "width in dalton; the larger of the two is taken"}
/* clang-format on */

typedef struct okra_places_ {
    okra_int n;
    okra_int *first; /* n + 1: the peaks of spectrum i are first[i]..first[i+1]-1 */
    double *place;   /* ascending within a spectrum */
    double *weight;
    double *mz;        /* of the peak itself, which widths in ppm are of */
    double *precursor; /* n */
    bool bins;         /* places are numbers of bins */
} okra_places_;
/* Losses (and `precursors`) need precursors: a spectrum that tells none has no losses. */
okra_status okra_places_create_(okra_context *ctx, const okra_peaks_params_ *params,
                                const okra_data *data, bool precursors,
                                okra_places_ **out);
/* Of `count` spectra, the first of them given, something is not known: a warning, and
 * OKRA_EARG where it is all of several or the context is strict. */
okra_status okra_spectra_silent_(okra_context *ctx, const okra_data *data, okra_int count,
                                 okra_int first, const char *what, const char *so);
void okra_places_free_(void *places); /* accepts NULL */

#endif
