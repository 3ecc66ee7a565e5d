/*
 * okra/model.h: fit, predict, save, load.
 */
#ifndef OKRA_MODEL_H
#define OKRA_MODEL_H

#include "okra/data.h"
#include "okra/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct okra_model okra_model;
typedef struct okra_prediction okra_prediction;

/* Options of fit: kx, ky, method, and those of every method (lambda, operator, ...). */
OKRA_API okra_status okra_fit_options(okra_options **out) OKRA_CHECK;
/* Options of predict: decode, top, and those of every decoder. */
OKRA_API okra_status okra_predict_options(okra_options **out) OKRA_CHECK;
/* The tables behind the two ("fit", "predict") and behind "select", for help and
 * bindings. */
OKRA_API const okra_option_table *const *okra_option_tables(const char *topic,
                                                            size_t *count);

/* Names, help and options of methods and decoders: index 0, 1, ... until NULL. */
OKRA_API const char *okra_method_name(size_t index, const char **help,
                                      const okra_option_table **options);
OKRA_API const char *okra_decoder_name(size_t index, const char **help,
                                       const okra_option_table **options);

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
OKRA_API bool okra_method_has(const char *method, okra_trait trait);
/* The same of decoders; the name may have its argument (loss:f1). */
typedef enum okra_decoder_trait {
    OKRA_DECODER_CHOOSES,  /* one of the candidates, unless its option over-all is set  */
    OKRA_DECODER_MAKES_UP, /* objects that need not be among the candidates             */
    OKRA_DECODER_REPORTS,  /* tells of the search for each object                       */
    OKRA_DECODER_NOTHING,  /* gives no objects                                          */
} okra_decoder_trait;
OKRA_API bool okra_decoder_has(const char *decoder, okra_decoder_trait trait);

/* options == NULL: the defaults. A set option that the chosen method does not use is an
 * error. x may have more objects than y where the method can use them: the first ones are
 * those of y, the others are inputs without outputs. */
OKRA_API okra_status okra_fit(okra_context *context, const okra_data *x,
                              const okra_data *y, const okra_options *options,
                              okra_model **out) OKRA_CHECK;
/* Other ways to fit: one of these. */
typedef struct okra_fit_request {
    size_t size; /* OKRA_SIZED(okra_fit_request) */
    /* One model a lambda, in the order given, from shared decompositions. */
    const double *lambda;
    size_t count;
    /* Rows in files, as okra_data_read takes them, in place of x and y (NULL both):
     * shards:PATTERN or list:FILE for rows in several of them. Ridge of low rank by
     * nystrom (uniform, centres), rff or a sparse sketch on dense arrays of NumPy, ky
     * linear, reads the rows of shards as it needs them; each of many processes (engine
     * mpi) those of its share. Of more than 16,384 pairs such a model keeps the first
     * 16,384 outputs. Any other fit has all rows in memory. */
    const char *x_files, *y_files;
    /* On the features of a basis (okra_basis_create), or of a model that keeps its
     * moments: kx and low-rank-x are those of the basis. */
    const okra_model *basis;
} okra_fit_request;
/* okra_fit as the request says; NULL: as it is. models: a place for each lambda, else
 * one. */
OKRA_API okra_status okra_fit_as(okra_context *context, const okra_data *x,
                                 const okra_data *y, const okra_options *options,
                                 const okra_fit_request *request,
                                 okra_model **models) OKRA_CHECK;
/* What a fit of low rank is going to do, in a line of text: ranks, blocks, passes over
 * the data, memory; *seconds is a guess at its time. "" and 0 for a fit that has Gram
 * matrices in memory: dense, or of low rank by a method without a factored form. */
OKRA_API okra_status okra_fit_plan(okra_context *context, const okra_data *x,
                                   const okra_data *y, const okra_options *options,
                                   char *text, size_t size, double *seconds) OKRA_CHECK;
OKRA_API void okra_model_free(okra_model *model);

/* How much of a factor (n x n) a file keeps. */
typedef enum okra_compact {
    OKRA_COMPACT_NO, /* all of it */
    /* Nothing where there are coefficients (such a model gives embeddings, no weights),
     * else half of it; predictions have the same bits. */
    OKRA_COMPACT_YES,
    /* Nothing: loading makes the Gram matrix and its factor again. The model can do all
     * that it could before; on the same machine, with as many threads, it has the same
     * bits. Where the method cannot, as OKRA_COMPACT_YES. */
    OKRA_COMPACT_RECOMPUTE,
} okra_compact;
typedef struct okra_save_request {
    size_t size; /* OKRA_SIZED(okra_save_request) */
    okra_compact compact;
} okra_save_request;
/* Writes a temporary file beside `path`, syncs, renames. request == NULL: all of the
 * model. Cost: one pass over what the model holds. */
OKRA_API okra_status okra_model_save(okra_context *context, const okra_model *model,
                                     const okra_save_request *request,
                                     const char *path) OKRA_CHECK;
/* About how many bytes the file will have. */
OKRA_API double okra_model_bytes(const okra_model *model, okra_compact how);
/* Maps the file; it must stay in place while the model lives. */
OKRA_API okra_status okra_model_load(okra_context *context, const char *path,
                                     okra_model **out) OKRA_CHECK;
/* What the model holds as JSON; owned by the model. */
OKRA_API const char *okra_model_json(const okra_model *model);
/* The value of an option as the model has it, as text: "lambda", "method", "operator",
 * ...; kx and ky are the kernels that were chosen. NULL: there is none. Owned by the
 * model. */
OKRA_API const char *okra_model_option(const okra_model *model, const char *name);
OKRA_API okra_int okra_model_count(const okra_model *model); /* training pairs */
/* The training outputs, owned by the model; and the inputs, of which a model of low rank
 * may keep some alone. */
OKRA_API const okra_data *okra_model_outputs(const okra_model *model);
OKRA_API const okra_data *okra_model_inputs(const okra_model *model);

/* What a prediction should hold beside the decoded objects. */
typedef struct okra_predict_request {
    size_t size;                 /* OKRA_SIZED(okra_predict_request) */
    const okra_data *candidates; /* NULL: the training outputs */
    const okra_int *ranges; /* 2 a test point (begin, end), or NULL: all candidates */
    bool weights;           /* keep the weights     */
    bool embedding;         /* keep the explicit h  */
    bool confidence;        /* distance, gap to the runner-up, predictive variance */
    const struct okra_index *index; /* candidates on disk (okra/index.h), in the place of
                                     * `candidates`; ranked by the decoder candidates */
    const struct okra_window *window; /* which of them fit a test point; NULL: all.
                                       * Objects are then decoded for nobody, and a test
                                       * point may have no candidate */
} okra_predict_request;

/* request == NULL: nothing special. */
OKRA_API okra_status okra_predict(okra_context *context, const okra_model *model,
                                  const okra_data *x, const okra_options *options,
                                  const okra_predict_request *request,
                                  okra_prediction **out) OKRA_CHECK;
/* The same of plain numbers, for models from dense vectors to dense vectors: x is m rows
 * of the width of the inputs, row stride ld; out (m x width of the outputs, one row after
 * the other) gets the decoded vectors. */
OKRA_API okra_status okra_predict_values(okra_context *context, const okra_model *model,
                                         const double *x, okra_int m, okra_int ld,
                                         double *out) OKRA_CHECK;
OKRA_API void okra_prediction_free(okra_prediction *prediction);
OKRA_API okra_int okra_prediction_count(const okra_prediction *prediction);
/* The decoded objects; NULL with `--decode none`. Owned by the prediction. */
OKRA_API const okra_data *okra_prediction_objects(const okra_prediction *prediction);
/* n_test x n_train, row-major; NULL if not asked for. */
OKRA_API const double *okra_prediction_weights(const okra_prediction *prediction,
                                               okra_int *rows, okra_int *cols);
/* n_test x d; NULL if not asked for. */
OKRA_API const double *okra_prediction_embedding(const okra_prediction *prediction,
                                                 okra_int *rows, okra_int *cols);
/* How sure the prediction is, n_test x 3, NaN where a value does not exist; NULL if not
 * asked for:
 *   distance   squared distance of the decoded object in feature space
 *   gap        how much farther the nearest other candidate is (decoder candidates);
 *              candidates at the same distance count as one
 *   variance   k(x,x) - k_x'(K + lambda I)^-1 k_x of the training inputs, in units of the
 *              input kernel; n lambda with the operators cov and ccov. Of ridge, kpca and
 *              tgp-kl alone, which predict the mean of that Gaussian process; none with
 *              unlabelled inputs, the operator diagonal or low rank */
enum { OKRA_CONFIDENCE_COLUMNS = 3 };
OKRA_API const double *okra_prediction_confidence(const okra_prediction *prediction,
                                                  okra_int *rows);
/* n_test x top: candidate rows, best first (-1 where fewer), and squared distances (the
 * criterion for methods that have one of their own). There are no more columns than
 * objects to choose from, however many were asked for. */
OKRA_API const okra_int *okra_prediction_index(const okra_prediction *prediction,
                                               okra_int *top);
OKRA_API const double *okra_prediction_distance(const okra_prediction *prediction,
                                                okra_int *top);

/* How the optimisation of each prediction went, n_test x OKRA_REPORT_COLUMNS; NULL where
 * the decoder optimises nothing. Columns: the criterion reached (the largest double if
 * nothing finite was found), evaluations, norm of the gradient, and 1 if it converged,
 * else 0. */
enum { OKRA_REPORT_COLUMNS = 4 };
OKRA_API const double *okra_prediction_report(const okra_prediction *prediction,
                                              okra_int *rows);
/* The name of a column of the report, from 0; NULL where there is none. The decoder
 * rewrite reports in the same place: `distance`, `proposals` (how many there were),
 * `rank` (of the chosen one among edits, from 1), `input` (which was rewritten, from 1).
 */
OKRA_API const char *okra_prediction_report_name(const okra_prediction *prediction,
                                                 int column);
/* With an index or a window: how many candidates fit test point i and were compared. */
OKRA_API okra_int okra_prediction_compared(const okra_prediction *prediction, okra_int i);
/* An index of low rank: the largest difference of approximate and exact squared distances
 * among the candidates that were measured exactly; 0 where nothing was approximated. */
OKRA_API double okra_prediction_error(const okra_prediction *prediction);
/* The objects that okra_prediction_index counts, where the decoder made them up (labels,
 * position, rankings, rewrite, string, and loss over all); NULL elsewhere: the
 * candidates, or the training outputs. */
OKRA_API const okra_data *okra_prediction_proposals(const okra_prediction *prediction);

/* ---- pairs that come and go ---- */

/* What is to change. Pairs that go are removed first; the new ones come after those that
 * stay. */
typedef struct okra_update_request {
    size_t size;            /* OKRA_SIZED(okra_update_request)                          */
    const okra_data *x, *y; /* new pairs, or NULL                                      */
    const okra_int *remove; /* training pairs that go, counted from 0, in any order    */
    okra_int remove_count;
    /* Inputs of the pairs that go, in the order of `remove`: for models of low rank with
     * kept moments, which hold no training inputs; else NULL. */
    const okra_data *removed_x;
} okra_update_request;

typedef enum okra_update_how {
    OKRA_UPDATE_FACTOR,  /* a Cholesky factor was changed: ridge, operator identity    */
    OKRA_UPDATE_MOMENTS, /* moments were added and subtracted: low rank, keep-moments  */
    OKRA_UPDATE_REFIT,   /* a new fit with the options and kernels of the model        */
} okra_update_how;

typedef struct okra_update_report {
    size_t size; /* OKRA_SIZED(okra_update_report) */
    okra_int added, removed;
    okra_update_how how;
    /* Rounding that added up: how far the factor is from the one of a fit, relative to
     * the mean diagonal of the kernel; of moments, relative to lambda. */
    double drift;
    const char *why; /* of a new fit: the reason, a text that stays; else NULL */
} okra_update_report;

/* A new model whose training set is that of `model` less the pairs that go, then the new
 * ones: what a fit on these pairs gives, to rounding. Kernels stay those of the first
 * fit: what `auto` chose, what twin learned, the spread of `standardize`, the basis of
 * low rank. report: may be NULL. */
OKRA_API okra_status okra_model_update(okra_context *context, const okra_model *model,
                                       const okra_update_request *request,
                                       okra_update_report *report,
                                       okra_model **out) OKRA_CHECK;

/* ---- one basis, several fits ---- */

/* A basis of low rank from a sample of inputs: of the options of fit, kx and low-rank-x
 * say which. It is a model that predicts the features of an input. */
OKRA_API okra_status okra_basis_create(okra_context *context, const okra_data *x,
                                       const okra_options *options,
                                       okra_model **out) OKRA_CHECK;
/* The model of all pairs of `count` models that keep their moments (keep-moments), have
 * one basis and the same options: what one fit gives, to rounding. Sums run in the order
 * given: the same models in the same order give the same bits. lambda > 0: another one
 * than that of the models; else 0. */
OKRA_API okra_status okra_model_merge(okra_context *context,
                                      const okra_model *const *models, size_t count,
                                      double lambda, okra_model **out) OKRA_CHECK;

/* Feature-space loss of the undecoded prediction, mean over test pairs of
 * l(y,y) - 2 sum w_i l(y_i,y) + w'Lw; `each` (may be NULL) has one value per pair. */
OKRA_API okra_status okra_model_loss(okra_context *context, const okra_model *model,
                                     const okra_data *x, const okra_data *y,
                                     double *value, double *each) OKRA_CHECK;

/* Each training input predicted by the model that has not seen its pair, in closed form:
 * weights (0 for the pair itself) or, where there are explicit features, the embedding;
 * the nearest of the other training outputs; and the losses (may be NULL) as
 * okra_model_loss gives them. `options` are those of the fit (OKRA_EARG where they are
 * not; lambda may be left open), which NULL takes from the model. Kernels that learned
 * from the training set (standardize, align, widths) keep what all of it said.
 * OKRA_EUNSUPPORTED where the model has no closed form, as with `| center`. */
OKRA_API okra_status okra_model_leave(okra_context *context, const okra_model *model,
                                      const okra_options *options, double *losses,
                                      okra_prediction **out) OKRA_CHECK;

#ifdef __cplusplus
}
#endif
#endif
