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
    /* What prediction needs: a model above 1 MiB without its factor where there are
     * coefficients, one above 64 MiB as OKRA_COMPACT_RECOMPUTE where there are none; all
     * of the others, and of those fitted with keep = weights. What needs the factor (the
     * weights, updates, conformal prediction) makes it again. */
    OKRA_COMPACT_AUTO,
} okra_compact;
typedef struct okra_save_request {
    size_t size; /* OKRA_SIZED(okra_save_request) */
    okra_compact compact;
    /* A text of the caller, the member "note" of okra_model_json when it is loaded; NULL:
     * the one that the model was loaded with, if any. */
    const char *note;
} okra_save_request;
/* Writes a temporary file beside `path`, syncs, renames. request == NULL: all of the
 * model. Cost: one pass over what the model holds. */
OKRA_API okra_status okra_model_save(okra_context *context, const okra_model *model,
                                     const okra_save_request *request,
                                     const char *path) OKRA_CHECK;
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
    const okra_data *given; /* weights over the training outputs, n_test x n_train, dense
                             * or sparse, in the place of the model's own; x may then be
                             * NULL, for decoders that do without test inputs */
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

/* ---- pairs that come and go ---- */

/* ---- one basis, several fits ---- */

#ifdef __cplusplus
}
#endif
#endif
