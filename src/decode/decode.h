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
                                 distance; or NULL */
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
    OKRA_SUITS_WRITTEN_,   /* short strings of strings that hardly come again          */
    OKRA_SUITS_TRANSCRIBED_, /* of one string each, about as long as that */
    OKRA_SUITS_RANKED_,      /* outputs are rankings: each of 1..d once   */
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
    unsigned kinds; /* of outputs (1u << kind); 0: it says itself what it takes */
    const char *needs; /* them in words */
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
                               const okra_decode_request_ *request, void **state);
void okra_decoder_close_(const okra_decoder_ *decoder, void *state);
/* All of it for the one block that there is. */
okra_status okra_decode_block_(okra_context *ctx, const okra_decoder_ *decoder,
                               const okra_output_ *output, const okra_options *options,
                               const okra_decode_request_ *request,
                               const okra_block_ *block, okra_decoded_ *out);
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
                                  const char *what, okra_decoded_ *out);

/* Do most of the pairs of strings that differ differ within, in several places or in all?
 * Inflection mostly changes one end.
 * rulebook.c */
bool okra_edits_within_(const okra_data *x, const okra_data *y);
/* Outputs of signs with blanks between them, as phonemes are often written, of inputs
 * without: the characters of a sign, its blank included. 1: it is not so. */
double okra_spaced_(const okra_data *x, const okra_data *y);

/* ---- shared by decoders and losses ---- */

/* The node of a kernel below multiples, whose product is *scale, and, unless `normalized`
 * is NULL, below normalizations: whether there are some. */
struct okra_node_;
const struct okra_node_ *okra_kernel_core_(const okra_kernel *kernel, double *scale,
                                           bool *normalized);
/* The parameters of that core where it is this leaf, of the whole object and times more
 * than 0; else NULL. */
const void *okra_kernel_core_leaf_(const okra_kernel *kernel,
                                   const okra_kernel_class_ *leaf, double *scale,
                                   bool *normalized);
/* Fails if the request has candidates or a ranking, for decoders that search nothing. */
okra_status okra_decode_check_plain_(const char *who,
                                     const okra_decode_request_ *request);
/* Fails unless data is of the kind and width of the training outputs; `what` opens the
 * message: "the candidates are". */
okra_status okra_decode_check_kind_(const okra_output_ *output, const okra_data *data,
                                    const char *what);
/* OKRA_EUNSUPPORTED where the output kernel has no explicit features; `who` asks. */
okra_status okra_decode_check_features_(const okra_output_ *output, const char *who);
/* Has the criterion an optimum among all vectors, and are its derivatives known? */
okra_status okra_decode_smooth_(okra_context *ctx, const okra_output_ *output, bool *yes);

/* ---- the loss of predictions that are not decoded: loss.c ---- */

/* |phi(y) - h(x)|^2 = l(y,y) - 2 sum_i w_i l(y_i,y) + w'Lw of test pairs; truth holds one
 * object a test point. The loss is fed the same blocks as a decoder. */
typedef struct okra_feature_loss_ okra_feature_loss_;
okra_status okra_feature_loss_create_(okra_context *ctx, const okra_output_ *output,
                                      const okra_data *truth, okra_feature_loss_ **out);
/* each[0..m-1]: the losses of test points block->first onwards. */
okra_status okra_feature_loss_block_(okra_context *ctx, okra_feature_loss_ *loss,
                                     const okra_block_ *block, double *each);
void okra_feature_loss_free_(okra_feature_loss_ *loss);
OKRA_DROPS_(okra_feature_loss_drop_, okra_feature_loss_, okra_feature_loss_free_)

/* ---- results ----
 * What decoders make up: objects as codes, letters of a string, members of a
 * set or ranks of items; the best of every test point, and lists of the best so far.
 */

/* `count` objects from their codes: object c has codes offsets[c]..offsets[c+1]-1. */
typedef okra_status (*okra_objects_)(okra_context *ctx, const void *user,
                                     const int32_t *codes, const okra_int *offsets,
                                     okra_int count, okra_data **out);
/* Codes are characters; user: the outputs, of whose kind the strings or sequences are. */
okra_status okra_objects_letters_(okra_context *ctx, const void *user,
                                  const int32_t *codes, const okra_int *offsets,
                                  okra_int count, okra_data **out);

okra_int okra_longest_(const okra_data *y); /* characters of the longest of y */

typedef struct okra_result_ {
    int32_t *codes; /* NULL: there is none */
    okra_int length;
    double distance;
} okra_result_;

/* Those of all test points. The state of a decoder that has no other end than
 * okra_results_give_ begins with it. */
typedef struct okra_results_ {
    const okra_output_ *output;
    okra_int tests, top;
    okra_result_ *cells; /* tests x top, best first */
    okra_objects_ objects;
    const void *user;
    okra_panels_ *training; /* where distances were measured */
} okra_results_;
/* Fails where the request has candidates; `who` asks. most: objects that there are at
 * most, so that no more are asked for. */
okra_status okra_results_open_(okra_context *ctx, const char *who, double most,
                               const okra_output_ *output,
                               const okra_decode_request_ *request, okra_objects_ objects,
                               const void *user, okra_results_ *out);
void okra_results_clear_(okra_results_ *results);
/* One of test point i, which has `rank` better ones; copies the codes. Threads may put
 * those of different test points. */
okra_status okra_results_put_(const okra_results_ *results, okra_int i, okra_int rank,
                              const int32_t *codes, okra_int length, double distance);
/* The distances of the results of a block of weights, by the output kernel. */
okra_status okra_results_measure_(okra_context *ctx, okra_results_ *results,
                                  const okra_block_ *block);
/* All of them as a decoder gives them; results: an okra_results_. */
okra_status okra_results_give_(okra_context *ctx, void *results, okra_decoded_ *out);

/* ---- the best so far ---- */

typedef struct okra_item_ {
    okra_rank_ rank;
    int32_t *codes;
    okra_int length, room;
    double distance;
    bool expanded;
} okra_item_;

/* The objects of the least keys, best first; of equal ones that which came first. */
typedef struct okra_shortlist_ {
    okra_item_ *items;
    okra_int count, most, came;
    okra_int room; /* of items: `most` may become less */
    bool distinct; /* no object comes twice; else it is looked for */
} okra_shortlist_;
okra_status okra_shortlist_open_(okra_int most, bool distinct, okra_shortlist_ *out);
void okra_shortlist_clear_(okra_shortlist_ *list);
void okra_shortlist_empty_(okra_shortlist_ *list); /* to be filled again */
okra_status okra_shortlist_put_(okra_shortlist_ *list, const int32_t *codes,
                                okra_int length, okra_key_ key, double distance);
bool okra_shortlist_has_(const okra_shortlist_ *list, const int32_t *codes,
                         okra_int length);
/* The best that is not yet expanded, which then counts as that; NULL: all are. */
okra_item_ *okra_shortlist_next_(const okra_shortlist_ *list);
/* What a key must be below. */
double okra_shortlist_worst_(const okra_shortlist_ *list);
/* Copies a list to those of test point i. */
okra_status okra_results_list_(const okra_results_ *results, okra_int i,
                               const okra_shortlist_ *list);

/* ---- propose ----
 * Distances of objects that a decoder makes up, each to one prediction, and
 * the best training outputs to begin from.
 */

/* distance[c] = |phi(y_c) - h_r|^2, r = owner[c] a row of W, norm[r] = w_r'Lw_r; infinite
 * where l(y,y) <= 0 (an object without features lies near every small prediction), unless
 * `empty`. key[c] (NULL: not wanted) orders the objects of a row; `constant` is the
 * l(y,y) of all training outputs, or NaN. */
okra_status okra_propose_(okra_context *ctx, const okra_output_ *output,
                          const okra_data *data, const okra_int *owner, bool empty,
                          okra_mat_ W, const double *norm, double constant,
                          okra_key_ *key, double *distance);

/* The training outputs nearest to each prediction, or of the least expected loss (NULL:
 * none); then norms are 0. */
typedef struct okra_starts_ {
    const okra_decoder_ *decoder; /* candidates, or loss, */
    void *candidates;             /* and its state */
    const okra_nearest_ *nearest; /* its lists */
    okra_panels_ *training;
    okra_int tests;
    double constant; /* the l(y,y) of all training outputs that have features, or NaN */
} okra_starts_;
okra_status okra_starts_create_(okra_context *ctx, const okra_output_ *output,
                                struct okra_pair_loss_ *loss, okra_int tests,
                                okra_int top, bool empty, okra_starts_ **out);
void okra_starts_free_(okra_starts_ *starts);
OKRA_DROPS_(okra_starts_drop_, okra_starts_, okra_starts_free_)
/* Looks at a block of weights; norm[r] = w_r'Lw_r. */
okra_status okra_starts_block_(okra_context *ctx, okra_starts_ *starts,
                               const okra_block_ *block, double *norm);
/* The best of test point i, at most `top`, best first. */
const okra_near_ *okra_starts_get_(const okra_starts_ *starts, okra_int i,
                                   okra_int *count);

/* What `finish` hands over: one object and one distance a test point, no candidate rows.
 * Takes over `distance` (from okra_alloc_) and `objects` on success. */
okra_status okra_decoded_single_(okra_data **objects, okra_int tests, double **distance,
                                 okra_decoded_ *out);
/* Fails unless the block holds weights; `who` asks. */
okra_status okra_block_weights_(const okra_block_ *block, const char *who);

/* ---- the search among candidates, for those that begin from its best ---- */

extern const okra_decoder_ okra_decoder_candidates_;
/* Are candidates compared as if they were new? */
okra_status okra_candidates_as_new_(const okra_options *options, bool *out);
/* The state of the decoder; empty: candidates with l(y,y) <= 0 are kept. */
okra_status okra_candidates_open_(okra_context *ctx, void *state,
                                  const okra_output_ *output,
                                  const okra_decode_request_ *request, bool empty);
/* Looks at a block; norm[r] = w_r'Lw_r where that comes with it, *known: it did. */
okra_status okra_candidates_block_(okra_context *ctx, void *state,
                                   const okra_block_ *block, double *norm, bool *known);
const okra_nearest_ *okra_candidates_nearest_(const void *state); /* the lists so far */

/* ---- a search among sequences of codes for the one nearest to a prediction ---- */

/* Where sequences are proposed; those seen before are dropped. */
typedef struct okra_offer_ okra_offer_;
okra_status okra_offer_put_(okra_offer_ *offer, const int32_t *codes, okra_int length);

/* What the sequences mean. */
typedef struct okra_moves_ {
    const char *decoder, *what; /* for messages: "decoder labels", "set" */
    void *user;
    /* Proposes a training output by its number. */
    okra_status (*start)(void *user, okra_int index, okra_offer_ *offer);
    /* Proposes what else a row of weights begins from; NULL: nothing. */
    okra_status (*begin)(void *user, const double *w, okra_offer_ *offer);
    /* Proposes every neighbour of a sequence. */
    okra_status (*neighbours)(const void *user, const int32_t *codes, okra_int length,
                              okra_offer_ *offer);
    okra_results_ *results;       /* receives the best of every test point */
    okra_int width, rounds;       /* of the beam; how often it is expanded at most */
    bool empty;                   /* objects with l(y,y) <= 0 are allowed          */
    struct okra_pair_loss_ *loss; /* of the request: in the place of distances, or NULL */
} okra_moves_;

/* A search for all test points of `results`, from the `width` nearest training outputs
 * each, or as many as are to be found. */
typedef struct okra_beam_ okra_beam_;
okra_status okra_beam_create_(okra_context *ctx, const okra_output_ *output,
                              const okra_moves_ *moves, okra_beam_ **out);
void okra_beam_free_(okra_beam_ *beam);
OKRA_DROPS_(okra_beam_drop_, okra_beam_, okra_beam_free_)
okra_status okra_beam_block_(okra_context *ctx, okra_beam_ *beam,
                             const okra_block_ *block);

/* ---- a loss between objects: any metric of pairs, smaller is better ---- */

typedef struct okra_pair_loss_ {
    const okra_output_ *output;
    char *spec;           /* the metric */
    bool gain;            /* larger is better */
    const okra_data *set; /* the objects */
    okra_kernel *kernel;  /* kernel-loss: its pairs come from the Gram engine */
    okra_trained_kernel_ *bound;
    okra_test_side_ *other;
    double *self, *train_self;
    struct okra_counts_ *counts; /* of sets of labels, or NULL */
    bool sought;                 /* whether there is one is known */
} okra_pair_loss_;
/* argument: a metric as for okra score; f1 of a pair is its mean over examples. */
okra_status okra_pair_loss_create_(okra_context *ctx, const okra_output_ *output,
                                   const char *argument, okra_pair_loss_ **out);
void okra_pair_loss_free_(okra_pair_loss_ *delta);
OKRA_DROPS_(okra_pair_loss_drop_, okra_pair_loss_, okra_pair_loss_free_)
/* What the metric says of it; *power: of OKRA_SHAPE_PLACES_. */
okra_shape_ okra_pair_loss_shape_(const okra_pair_loss_ *delta, double *power);
/* The objects that okra_pair_loss_pairs_ counts; borrowed until others are, or NULL. */
okra_status okra_pair_loss_bind_(okra_context *ctx, okra_pair_loss_ *delta,
                                 const okra_data *set);
/* D <- losses of objects first.. (rows) and all training outputs (columns). */
okra_status okra_pair_loss_pairs_(okra_context *ctx, const okra_pair_loss_ *delta,
                                  okra_int first, okra_mat_ D);
/* each[i]: the loss of objects_i where truth_i is right. */
okra_status okra_pair_loss_each_(const okra_pair_loss_ *delta, const okra_data *truth,
                                 const okra_data *objects, double *each);

/* ---- expected losses of candidates and of objects that a decoder makes up: risk.c ----
 */

extern const okra_decoder_ okra_decoder_loss_;
/* The training outputs, or the candidates of the request, by expected loss. */
okra_status okra_risk_open_(okra_context *ctx, void *state, const okra_output_ *output,
                            okra_pair_loss_ *delta, const okra_decode_request_ *request);
okra_status okra_risk_block_(okra_context *ctx, void *state, const okra_block_ *block);
/* The lists so far. */
const okra_nearest_ *okra_risk_nearest_(const void *state);
/* distance[c]: the expected loss of object c under row owner[c] of W; key orders them. */
okra_status okra_risk_propose_(okra_context *ctx, okra_pair_loss_ *delta,
                               const okra_data *data, const okra_int *owner, okra_mat_ W,
                               okra_key_ *key, double *distance);

#endif
