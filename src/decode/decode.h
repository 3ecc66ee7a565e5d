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

#include "kernel/lowrank/lowrank.h"
#include "method/method.h"
#include "okra/model.h"

OKRA_DROPS_(okra_prediction_drop_, okra_prediction, okra_prediction_free)

/* The output side of a model, all that a decoder may see. */
typedef struct okra_output_ {
    const okra_data *y;
    const okra_data *x; /* the training inputs, first those of y; NULL: not kept */
    const okra_bound_ *ky;
    /* Low rank: features of outputs, in which predictions are given; then ky is NULL. */
    const okra_map_ *map;
    const double *features; /* explicit features as in okra_problem_, or NULL */
    okra_int d, features_ld;
    double feature_scale;
    /* Where the output kernel is an inner product in another metric: y (n x d), whose
     * combination by the weights is the predicted vector; else NULL. */
    const double *vectors;
    okra_int vectors_ld;
    /* Coordinates in which candidates are compared; NULL: the whole space. */
    const okra_components_ *components;
    /* What is minimised; NULL: the distance to the prediction. */
    const okra_criterion_ *criterion;
    const okra_kernel *kernel; /* the output kernel as it was parsed */
    /* What stays of the training outputs from one prediction to the next, or NULL. */
    struct okra_shelf_ *shelf;
    bool few; /* there are few test points: what is computed for them stays */
} okra_output_;

/* A block of predictions, H in the units of the features as they stand: exactly one of W
 * (m x n) and H (m x d) has p != NULL. */
typedef struct okra_block_ {
    okra_int first, m; /* which test points: first..first+m-1 */
    okra_mat_ W, H;
    okra_mat_ extra; /* m x (1 + neighbours) with a criterion, as in okra_query_ */
} okra_block_;

/* Candidate rows allowed for test point i: ranges[i].begin..end-1; NULL: all of them. */
typedef struct okra_range_ {
    okra_int begin, end;
} okra_range_;

typedef struct okra_decode_request_ {
    const okra_data *candidates; /* NULL: the training outputs */
    const okra_range_ *ranges;   /* one per test point, or NULL */
    okra_int tests, top;         /* test points in all; how many best to keep */
    const okra_int *lengths; /* of the test inputs, where inputs and outputs are sequences
                                of equal lengths, pair by pair; else NULL */
    bool runner_up;          /* distances of runners-up are wanted */
    const okra_data *inputs; /* of the test points; NULL: not known */
    const char *argument;    /* what follows the decoder's name and a colon, or NULL */
    struct okra_delta_ *loss; /* whose expectation is least, in the place of the distance;
                                 or NULL (delta.h) */
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
    bool argument; /* its name may be followed by a colon and more */
    bool weights;  /* a block must have W where the method can give it */
    bool maps;     /* takes predictions under okra_output_.map; else a block has W or d */
    bool pointwise; /* makes an object from its prediction alone, whatever the outputs */
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
    okra_status (*create)(okra_context *ctx, const okra_output_ *output,
                          const okra_options *options,
                          const okra_decode_request_ *request, void **state);
    okra_status (*block)(okra_context *ctx, void *state, const okra_block_ *block);
    okra_status (*finish)(okra_context *ctx, void *state, okra_decoded_ *out);
    void (*free)(void *state);
} okra_decoder_;

extern const okra_decoder_ *const okra_decoders_[]; /* ends at NULL */
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

/* ---- shared by decoders and losses: space.c ---- */

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
/* H (m x d) <- the explicit prediction of the block: H itself, or W Y. */
okra_status okra_block_explicit_(okra_context *ctx, const okra_output_ *output,
                                 const okra_block_ *block, okra_mat_ H) OKRA_CHECK;

/* Has the criterion an optimum among all vectors, and are its derivatives known? */
okra_status okra_decode_smooth_(okra_context *ctx, const okra_output_ *output,
                                bool *yes) OKRA_CHECK;

/* The output kernel between all training outputs and a collection, in panels of
 * OKRA_PANEL_ columns, so that memory is bounded. */
enum { OKRA_PANEL_ = 512 };
typedef struct okra_panels_ okra_panels_;
struct okra_entries_;
/* What is made of the training outputs and outlives a prediction: panels, counted from 0,
 * and things with a name. Predictions may share it. */
typedef struct okra_shelf_ okra_shelf_;
okra_int okra_panels_of_(okra_int columns); /* how many of OKRA_PANEL_ */
okra_status okra_shelf_create_(okra_int panels, okra_shelf_ **out) OKRA_CHECK;
void okra_shelf_free_(void *shelf);
/* Panel p of a shelf, or NULL; and *fresh put there, which is taken over, unless another
 * prediction was faster: the one that stands there now. */
double *okra_shelf_panel_(const okra_shelf_ *shelf, okra_int p);
double *okra_shelf_put_(okra_shelf_ *shelf, okra_int p, double **fresh);
/* What was left there under that name, or NULL (so where there is no shelf). */
void *okra_shelf_find_(const okra_shelf_ *shelf, const char *name);
/* Leaves a thing there and takes it over; false: it is the caller's. */
bool okra_shelf_leave_(okra_shelf_ *shelf, const char *name, void *thing,
                       void (*free)(void *));
/* Is half of the budget free beside so many bytes, so that they may stay? */
bool okra_stays_(const okra_context *ctx, double bytes);
/* data: NULL for the training outputs. */
okra_status okra_panels_create_(okra_context *ctx, const okra_output_ *output,
                                const okra_data *data, okra_panels_ **out) OKRA_CHECK;
void okra_panels_free_(okra_panels_ *panels);
OKRA_DROPS_(okra_panels_drop_, okra_panels_, okra_panels_free_)
okra_int okra_panels_count_(const okra_panels_ *panels);     /* how many panels       */
const double *okra_panels_self_(const okra_panels_ *panels); /* l(y,y) of the columns */
/* Panel p, n x (up to OKRA_PANEL_), of low rank the features of the columns; valid until
 * the next call. With `again` (another block of predictions will ask for it) it is kept
 * while half of the budget is free; that of the training outputs on the model's shelf,
 * there also for `few` test points. */
okra_status okra_panels_get_(okra_context *ctx, okra_panels_ *panels, okra_int p,
                             bool again, okra_mat_ *out) OKRA_CHECK;
bool okra_panels_kept_(const okra_panels_ *panels); /* all of them */
/* The panels as entries that an engine computes: objects of the collection by training
 * outputs; not of low rank. Borrows the panels. */
okra_status okra_panels_entries_(okra_context *ctx, okra_panels_ *panels,
                                 struct okra_entries_ **out) OKRA_CHECK;
/* Low rank, points H (m x rank): norm[r] = |h_r|^2, and *out (m x rank, owned by the
 * caller) the rows whose products with a panel are <psi(c), h_r>. */
okra_status okra_panels_points_(okra_context *ctx, const okra_panels_ *panels,
                                okra_mat_ H, double *norm, double **out) OKRA_CHECK;
/* norm[r] = w_r' L w_r of the rows of W, `training`: panels of the training outputs. */
okra_status okra_panels_norms_(okra_context *ctx, okra_panels_ *training, bool again,
                               okra_mat_ W, double *norm) OKRA_CHECK;

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
