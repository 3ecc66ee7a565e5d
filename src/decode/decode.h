/*
 * decode.h: from a predicted point of the output feature space to an object.
 *
 * The squared distance of a prediction to a candidate y is
 *     l(y,y) - 2 sum_i w_i l(y_i,y) + w' L w        (weights)
 *     |phi(y)|^2 - 2 <h, phi(y)> + |h|^2            (embedding)
 * A decoder is created once for a model and a candidate set, then fed blocks of
 * predictions. To add one: a file and one line in decoders.c.
 */
#ifndef OKRA_DECODE_H_
#define OKRA_DECODE_H_

#include "candidates/outputs.h"
#include "okra/more/index.h"

OKRA_DROPS_(okra_prediction_drop_, okra_prediction, okra_prediction_free)

typedef struct okra_decode_request_ {
    const okra_data *candidates;      /* NULL: the training outputs, */
    const struct okra_index *index;   /* or those of an index */
    const struct okra_window *window; /* which of them fit a test point; NULL: all */
    const okra_range_ *ranges;        /* one per test point, or NULL */
    okra_int tests, top;              /* test points in all; how many best to keep */
    const okra_int *lengths; /* of the test inputs, where inputs and outputs are sequences
                                of equal lengths, pair by pair; else NULL */
    bool runner_up;          /* distances of runners-up are wanted */
    const okra_data *inputs; /* of the test points; NULL: not known */
    const double *unlearn;   /* n: with candidates as if they were new, weight i counts
                                unlearn[i] less for those that are output i; or NULL */
    const char *argument;    /* what follows the decoder's name and a colon, or NULL */
    const okra_options *options;  /* set by okra_decoder_open_ */
    struct okra_pair_loss_ *loss; /* whose expectation is least, in the place of the
                                 distance; or NULL (pair_loss.h) */
} okra_decode_request_;

/* What decoders deliver, for all test points. */
typedef struct okra_decoded_ {
    okra_data *objects; /* tests objects: the best one each; NULL for `none`           */
    okra_int top;       /* columns of index and distance; 0 where there are none        */
    okra_int *index;    /* tests x top candidate rows, best first; -1 where fewer exist */
    double *distance;   /* tests x top squared feature-space distances, or criteria     */
    double *runner_up;  /* tests distances of the nearest candidates that are not at the
                           best's distance (infinite: none), where wanted; or NULL */
    double *report;     /* tests x OKRA_REPORT_COLUMNS where something was optimised    */
    const char *const
        *report_names;    /* of its columns, literals; NULL: those of optimum */
    okra_data *proposals; /* what index counts where a decoder made it up, or NULL */
    okra_int *compared;   /* tests: candidates that fit, where a window chose; or NULL */
    double error;         /* of distances by low rank, where an index has them */
} okra_decoded_;

/* What is asked of the training pairs before a decoder is taken by itself. */
typedef enum okra_suits_ {
    OKRA_SUITS_ZERO_ONE_,  /* all numbers of the outputs are 0 or 1                  */
    OKRA_SUITS_ALIGNED_,   /* outputs are strings of the lengths of their inputs     */
    OKRA_SUITS_REWRITTEN_, /* outputs are strings, inputs with a few letters changed */
} okra_suits_;

typedef struct okra_decoder_ {
    const char *name, *help;
    /* The output kernel under which fits that leave kernels or lambda open take it, where
     * it suits the pairs; NULL: they do not. */
    const char *automatic;
    okra_suits_ suits;
    okra_option_table options;
    /* Its name may be followed by a colon and more, which this refuses where it is wrong.
     */
    okra_status (*argument)(okra_context *ctx, const okra_output_ *output,
                            const char *text);
    bool weights; /* a block must have W where the method can give it */
    bool maps;    /* takes predictions under okra_output_.map; else a block has W or d */
    bool pointwise; /* makes an object from its prediction alone, whatever the outputs */
    bool indexes;   /* takes the candidates of an index, and windows */
    bool chooses;   /* one of the candidates, unless its option over-all says otherwise */
    bool makes_up;  /* objects that need not be among the candidates, several a point */
    bool nothing;   /* gives no objects */
    bool reports;   /* how the search for each object went */
    bool inputs;    /* needs those of the training pairs */
    /* Under a loss it searches all objects of these kinds (1u << kind), or rankings, for
     * the one of least expectation. */
    unsigned all;
    bool all_rankings;
    bool criterion; /* minimises that of a method with one of its own, or nothing */
    size_t state;   /* bytes of what it keeps from `open` to `clear`, 0 at first */
    /* options: the struct of its table, with the request's options or defaults. */
    okra_status (*open)(okra_context *ctx, void *state, const okra_output_ *output,
                        const void *options, const okra_decode_request_ *request);
    okra_status (*block)(okra_context *ctx, void *state, const okra_block_ *block);
    okra_status (*finish)(okra_context *ctx, void *state, okra_decoded_ *out);
    void (*clear)(void *state); /* also where `open` failed; NULL: holds nothing */
} okra_decoder_;

extern const okra_decoder_ *const okra_decoders_[]; /* ends at NULL */
/* The state of a decoder, which is then fed blocks, and its end. */
okra_status okra_decoder_open_(okra_context *ctx, const okra_decoder_ *decoder,
                               const okra_output_ *output, const okra_options *options,
                               const okra_decode_request_ *request,
                               void **state) OKRA_CHECK;
void okra_decoder_close_(const okra_decoder_ *decoder, void *state);
/* All of it for the one block that there is. */
okra_status okra_decode_block_(okra_context *ctx, const okra_decoder_ *decoder,
                               const okra_output_ *output, const okra_options *options,
                               const okra_decode_request_ *request,
                               const okra_block_ *block, okra_decoded_ *out) OKRA_CHECK;
/* name: a decoder, or decoder:argument where that takes one. */
const okra_decoder_ *okra_decoder_find_(const char *name);
const char *okra_decoder_argument_(const char *name); /* NULL: there is none */
/* What is taken where nothing says which: where the prediction is an explicit vector,
 * where a criterion of the method's own has an optimum among vectors, and else. */
const okra_decoder_ *okra_decoder_default_(bool explicitly, bool smooth);
/* With these options, does it choose one of the candidates: the training outputs where
 * none are given? */
bool okra_decoder_chooses_(const okra_decoder_ *decoder, const okra_options *options);
void okra_decoded_clear_(okra_decoded_ *decoded);
/* The lists of the nearest, with the best of each as an object of `set`: NULL, or where a
 * test point may have none: no objects. Messages as okra_nearest_give_. */
struct okra_nearest_;
okra_status okra_decoded_nearest_(okra_context *ctx, struct okra_nearest_ *nearest,
                                  const okra_data *set, const char *whose,
                                  const char *what, okra_decoded_ *out) OKRA_CHECK;

/* ---- shared by decoders and losses ---- */

/* The node of a kernel below multiples, whose product is *scale, and, unless `normalized`
 * is NULL, below normalizations: whether there are some. */
struct okra_node_;
const struct okra_node_ *okra_kernel_core_(const okra_kernel *kernel, double *scale,
                                           bool *normalized);
/* Fails if the request has candidates or a ranking, for decoders that search nothing. */
okra_status okra_decode_check_plain_(const char *who,
                                     const okra_decode_request_ *request) OKRA_CHECK;
/* Fails unless data is of the kind and width of the training outputs; `what` opens the
 * message: "the candidates are". */
okra_status okra_decode_check_kind_(const okra_output_ *output, const okra_data *data,
                                    const char *what) OKRA_CHECK;
/* OKRA_EUNSUPPORTED where the output kernel has no explicit features; `who` asks. */
okra_status okra_decode_check_features_(const okra_output_ *output,
                                        const char *who) OKRA_CHECK;
/* Has the criterion an optimum among all vectors, and are its derivatives known? */
okra_status okra_decode_smooth_(okra_context *ctx, const okra_output_ *output,
                                bool *yes) OKRA_CHECK;

/* ---- the loss of predictions that are not decoded: loss.c ---- */

/* |phi(y) - h(x)|^2 = l(y,y) - 2 sum_i w_i l(y_i,y) + w'Lw of test pairs; truth holds one
 * object a test point. The loss is fed the same blocks as a decoder. */
typedef struct okra_feature_loss_ okra_feature_loss_;
okra_status okra_feature_loss_create_(okra_context *ctx, const okra_output_ *output,
                                      const okra_data *truth,
                                      okra_feature_loss_ **out) OKRA_CHECK;
/* each[0..m-1]: the losses of test points block->first onwards. */
okra_status okra_feature_loss_block_(okra_context *ctx, okra_feature_loss_ *loss,
                                     const okra_block_ *block, double *each) OKRA_CHECK;
void okra_feature_loss_free_(okra_feature_loss_ *loss);
OKRA_DROPS_(okra_feature_loss_drop_, okra_feature_loss_, okra_feature_loss_free_)

#endif
