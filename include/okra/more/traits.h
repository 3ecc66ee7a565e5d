/*
 * okra/more/traits.h: what a kernel, a method, a decoder or a metric is, can do and
 * needs, by its name.
 */
#ifndef OKRA_MORE_TRAITS_H
#define OKRA_MORE_TRAITS_H

#include "okra/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a kernel is, written by its name or as name(param=value, ...); false for an
 * unknown one, and for an expression of several. */
typedef enum okra_kernel_trait {
    OKRA_KERNEL_GIVEN,    /* its objects are rows of a Gram matrix: precomputed         */
    OKRA_KERNEL_LINEAR,   /* the inner product of the vectors themselves                */
    OKRA_KERNEL_EQUALITY, /* 1 of equal objects, else 0                                 */
} okra_kernel_trait;
OKRA_EXPERIMENTAL bool okra_kernel_has(const char *kernel, okra_kernel_trait trait);
/* What a metric is, by its specification; false for an unknown one. Those of predictions
 * that are not decoded (feature-loss, relative-loss) belong to selection: they are not
 * listed above, and okra_score does not know them. */
typedef enum okra_metric_trait {
    OKRA_METRIC_UNDECODED, /* of predictions in the feature space of the outputs       */
    OKRA_METRIC_RELATIVE,  /* each output over its variance                            */
    OKRA_METRIC_LINKS,     /* of a ranking of links                                    */
    OKRA_METRIC_LISTS,     /* of lists or sets of candidates                           */
    OKRA_METRIC_INTERVALS, /* of intervals                                             */
} okra_metric_trait;
OKRA_EXPERIMENTAL bool okra_metric_has(const char *spec, okra_metric_trait trait);
/* What a method can do, or needs, by its name; false for an unknown one. */
typedef enum okra_trait {
    OKRA_TRAIT_MISSING,    /* takes outputs with missing values                       */
    OKRA_TRAIT_UNLABELLED, /* takes inputs without outputs                            */
    OKRA_TRAIT_LOW_RANK,   /* has a form of its own for kernels of low rank           */
    OKRA_TRAIT_PATH,       /* fits several lambdas together                           */
    OKRA_TRAIT_LEAVE_OUT,  /* has left-out predictions in closed form                 */
    OKRA_TRAIT_VARIANCE,   /* tells the variance of a prediction                      */
    OKRA_TRAIT_SELF,       /* looks at k(x,x) of the inputs it is asked about         */
    OKRA_TRAIT_LINKS,      /* scores links, and predicts nothing else                 */
    OKRA_TRAIT_WEIGHTS,    /* takes weights of pairs (okra_data_weigh)                */
} okra_trait;
OKRA_EXPERIMENTAL bool okra_method_has(const char *method, okra_trait trait);
/* The same of decoders; the name may have its argument (loss:f1). */
typedef enum okra_decoder_trait {
    OKRA_DECODER_CHOOSES,  /* one of the candidates, unless its option over-all is set  */
    OKRA_DECODER_MAKES_UP, /* objects that need not be among the candidates             */
    OKRA_DECODER_REPORTS,  /* tells of the search for each object                       */
    OKRA_DECODER_NOTHING,  /* gives no objects                                          */
} okra_decoder_trait;
OKRA_EXPERIMENTAL bool okra_decoder_has(const char *decoder, okra_decoder_trait trait);

#ifdef __cplusplus
}
#endif
#endif
