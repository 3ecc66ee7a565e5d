/*
 * model.h: the inside of a model and of a prediction.
 */
#ifndef OKRA_MODEL_H_
#define OKRA_MODEL_H_

#include "data/files/archive.h"
#include "decode/decode.h"

/* The training set seen through its kernels; counted, since the models of a path share
 * it. */
typedef struct okra_training_ {
    atomic_int references;
    okra_data *x, *y;
    okra_data *filled; /* y, 0 in place of missing values */
    okra_kernel *kx, *ky;
    okra_trained_kernel_ *bound_x, *bound_y;
    okra_map_ *map_y;    /* low rank of the output kernel, or NULL; then no bound_y */
    bool waves;          /* x holds frequencies: low rank by random Fourier features */
    char *waves_text;    /* then kx is linear, and this is the kernel that it is for */
    okra_output_ output; /* views of the above, as decoders see them */
    okra_cache_slot_ cache;
} okra_training_;

struct okra_model {
    okra_training_ *training;
    const okra_method_ *method;
    okra_store_ *store; /* what the method keeps, and statistics of the kernels */
    char *json;
    json_t *about;                 /* the same, read */
    struct okra_archive_ *archive; /* the file that a loaded model lies in, or NULL */
    okra_data *calibration_x,
        *calibration_y; /* pairs that the fit has not seen, or NULL */
    bool dropped;       /* the file left the factor out, see OKRA_COMPACT_AUTO */
};

struct okra_prediction {
    okra_int tests, n, d; /* d: columns of the embedding */
    okra_decoded_ decoded;
    double *weights, *embedding;
    double *confidence; /* tests x OKRA_CONFIDENCE_COLUMNS, or NULL */
};

/* Takes over both kernels; keeps x and y (a copy where they borrow). `store` != NULL:
 * statistics of the kernels, and a map of the outputs if it has one, are read from it and
 * not computed. On failure the kernels still belong to the caller. */
okra_status okra_training_create_(okra_context *ctx, const okra_data *x,
                                  const okra_data *y, okra_kernel *kx, okra_kernel *ky,
                                  const okra_store_ *store, okra_training_ **out);
/* The same with a map of the outputs, which is taken over, and the statistics of both
 * kernels from two stores. */
okra_status okra_training_low_(okra_context *ctx, const okra_data *x, const okra_data *y,
                               okra_kernel *kx, okra_kernel *ky,
                               const okra_store_ *store_x, const okra_store_ *store_y,
                               okra_map_ *map_y, okra_training_ **out);
/* The kernels of the model, closed to files, on other objects; anew: with statistics of
 * these. */
okra_status okra_training_again_(okra_context *ctx, const okra_model *model,
                                 const okra_data *x, const okra_data *y, bool anew,
                                 okra_training_ **out);
void okra_training_free_(okra_training_ *training); /* one reference */
OKRA_DROPS_(okra_model_drop_, okra_model, okra_model_free)
OKRA_DROPS_(okra_training_drop_, okra_training_, okra_training_free_)
/* What a method is asked to solve. x: all inputs, those of the training set or, of low
 * rank, those that the map was made of. */
okra_problem_ okra_training_problem_(const okra_training_ *training, const okra_data *x,
                                     const okra_map_ *map_x);

/* A model around a store, which it takes over on success. lambda NULL: of the options. */
okra_status okra_model_assemble_(okra_training_ *training, const okra_method_ *method,
                                 const okra_options *options, const double *lambda,
                                 okra_store_ *store, okra_model **out);

struct okra_fit_fields_;

/* A SPEC of low rank; messages begin with the option's name. */
okra_status okra_low_read_(const char *name, const char *text, struct okra_low_ *out);
/* Low rank as the options say: maps (NULL: none) where okra_fit_factored_ holds, else
 * kernels EXPR | SPEC take the place of *kx and *ky. */
okra_status okra_fit_low_(okra_context *ctx, const struct okra_fit_fields_ *fields,
                          const okra_method_ *method, const okra_options *options,
                          const okra_data *x, const okra_data *y, okra_kernel **kx,
                          okra_kernel **ky, okra_map_ **map_x, okra_map_ **map_y);
/* A way of okra_fit_as: inputs are seen through the basis that a model keeps. */
okra_status okra_fit_basis_(okra_context *ctx, const okra_model *basis,
                            const okra_data *x, const okra_data *y,
                            const okra_options *options, okra_model **out);
okra_status okra_fit_with_(okra_context *ctx, const okra_model *basis, const okra_data *x,
                           const okra_data *y, const okra_options *options,
                           const double *lambda, size_t count, okra_model **models);
/* low.c: the map of the inputs from a model, that of the outputs as okra_fit_low_. */
okra_status okra_fit_basis_low_(okra_context *ctx, const okra_model *basis,
                                const struct okra_fit_fields_ *fields,
                                const okra_method_ *method, const okra_options *options,
                                const okra_data *x, const okra_data *y,
                                const okra_kernel *kx, const okra_kernel *ky,
                                okra_map_ **map_x, okra_map_ **map_y);
/* options.c: is it the option `matrix` of the method, whose file the model keeps? */
bool okra_model_keeps_(const okra_method_ *method, const char *name);
/* options.c: the options that the model was fitted with, where they are not the defaults,
 * kernels as they were chosen and learned. *file (or NULL): one that names a file. */
okra_status okra_model_options_(const okra_model *model, okra_options **out,
                                const char **file);
/* Is low-rank-x asked for, and does the method use maps for this? */
bool okra_fit_factored_(const struct okra_fit_fields_ *fields, const okra_method_ *method,
                        const okra_options *options, const okra_data *x,
                        const okra_data *y, const okra_kernel *ky);
/* Rank and trace error of a kernel EXPR | SPEC as SIDE.rank and SIDE.trace-error of all
 * stores; bound == NULL, or another kernel: nothing. */
okra_status okra_low_put_(okra_context *ctx, const okra_trained_kernel_ *bound,
                          const char *side, size_t count, okra_store_ *const *stores);
/* Random Fourier features: test inputs meet the frequencies through `linear`, which takes
 * the place of *kx; *text: what it was, EXPR | rff(...), to be freed with okra_free_. */
okra_status okra_low_waves_(const struct okra_fit_fields_ *fields, okra_kernel **kx,
                            char **text);

/* The method or decoder of a name, and whether nothing is set that it does not use. */
okra_status okra_method_choose_(const char *name, const okra_method_ **out);
okra_status okra_method_check_(const okra_options *options, const okra_method_ *method);
/* Fails unless the options are those that the model was fitted with; lambda where it is
 * set. */
okra_status okra_model_check_options_(const okra_model *model,
                                      const okra_options *options);
/* Whether the options of a model's description are such that a fit would take them, each
 * by its row. */
okra_status okra_model_check_values_(const okra_method_ *method, const json_t *fitted);
/* As many inputs as outputs; more inputs where the method can use them. */
okra_status okra_method_check_pairs_(const okra_method_ *method, const okra_data *x,
                                     const okra_data *y);
/* Refuses a column of outputs of which nothing is known. */
okra_status okra_outputs_known_(const okra_data *y);
okra_status okra_decoder_choose_(const char *name, const okra_decoder_ **out);
okra_status okra_decoder_check_(const okra_options *options,
                                const okra_decoder_ *decoder);

/* ---- blocks of predictions: what predict and loss share ---- */

/* Test inputs prepared against a model, in blocks of at most `rows` rows. */
typedef struct okra_batches_ {
    const okra_model *model;
    okra_data *x; /* its columns as the model has them */
    okra_test_side_ *other;
    double *self, *train_self; /* where the method asked for them */
    okra_entries_ *entries;    /* test inputs against all inputs that are kept      */
    double *K;                 /* rows x columns of them, or                        */
    okra_matrix_ *large;       /* where the method takes it from the engine         */
    okra_sent_ sent;           /* matrices of the model there                       */
    double *extra;             /* rows x extra_cols: of the last block, for a criterion */
    okra_int tests, rows, columns, extra_cols;
} okra_batches_;

/* `extra`: doubles per test row that the caller needs besides; the rows of a block come
 * from the budget. */
okra_status okra_batches_open_(okra_context *ctx, const okra_model *model,
                               const okra_data *x, okra_int extra, okra_batches_ *walk);
void okra_batches_close_(okra_batches_ *walk);
/* Weights (m x n) or embedding (m x d) of test rows first..first+out.rows-1. */
okra_status okra_batches_predict_(okra_context *ctx, okra_batches_ *walk, okra_int first,
                                  okra_mat_ out);
/* Factors of the scores of links, of test rows first.. (labelled: they are the labelled
 * training inputs themselves), for a method that has a linker. */
okra_status okra_batches_link_(okra_context *ctx, okra_batches_ *walk, okra_int first,
                               bool labelled, okra_mat_ P, okra_mat_ Q);
/* The explicit h(x), m x d, straight from the method's coefficients. */
okra_status okra_batches_embed_(okra_context *ctx, okra_batches_ *walk, okra_int first,
                                okra_mat_ out);
/* unlearn.c: g (n, the caller frees it) for okra_decode_request_.unlearn. */
okra_status okra_unlearn_(okra_context *ctx, const okra_model *model, double **out);
okra_form_ okra_model_form_(const okra_model *model);
/* What the fit left behind, to be cleared; of a method without squared loss lambda alone,
 * noise below 0 and no closed form. */
void okra_model_solution_(const okra_model *model, okra_solution_ *out);
/* Does it keep a basis of low rank in the place of its training inputs? */
bool okra_model_low_(const okra_model *model);
/* Before single entries of its matrices are read: engine/block.c. */
okra_status okra_model_settle_(okra_context *ctx, const okra_model *model);
/* Columns of what okra_batches_predict_ gives: n or d. */
okra_int okra_model_width_(const okra_model *model);

/* update.c: numbers and texts that belong to the kernels or the model as a whole. */
okra_status okra_update_common_(const okra_store_ *from, okra_store_ *to);

/* ---- compact models: file.c ---- */

/* The model with its factor, computed again; okra_compact_forget_ frees what is its own.
 */
okra_status okra_compact_whole_(okra_context *ctx, const okra_model *model,
                                okra_model *out);
void okra_compact_forget_(okra_model *whole);
/* A factor of n rows that only looks like one, into the store: model/json.c sees its
 * shape, and okra_compact_recompute_ makes it true when everything else is checked. */
#define OKRA_RECOMPUTED_ "factor.recomputed"
enum { OKRA_DROPPED_ = 2 }; /* not at load, but by those who ask for it */
okra_status okra_compact_promise_(okra_context *ctx, const okra_method_ *method,
                                  okra_int n, okra_store_ *store, double **out);
okra_status okra_compact_recompute_(okra_context *ctx, const okra_model *model,
                                    double *factor);
/* Is this matrix kept as half of a factor, okra_compact_count_(rows) numbers? */
bool okra_compact_halves_(const char *name, okra_mat_ A, okra_compact how);
okra_int okra_compact_count_(okra_int n); /* n (n + 1) / 2 */
/* The factor of n training inputs from its half, into the store. */
okra_status okra_compact_spread_(okra_context *ctx, const double *half, okra_int count,
                                 okra_int n, okra_store_ *store);

/* ---- the model file ---- */

#define OKRA_MODEL_FORMAT_ "okra-model"
enum { OKRA_MODEL_VERSION_ = 1 };

/* A collection of any kind, as arrays in a folder of the archive and a line of JSON. */
okra_status okra_objects_save_(okra_saver_ *saver, const char *folder,
                               const okra_data *data);
okra_status okra_objects_load_(okra_archive_ *archive, const char *folder,
                               const json_t *about, okra_data **out);

/* json.c: OKRA_EFORMAT unless the store is what this method with these kernels and data
 * would leave, in names, shapes and ranges. kx as it is bound: linear for waves. */
okra_status okra_model_check_(const okra_method_ *method, const okra_data *x,
                              const okra_data *y, const okra_kernel *kx,
                              const okra_kernel *ky, okra_store_ *store);

/* model.json without its arrays; a new reference. */
okra_status okra_model_about_(const okra_training_ *training, const okra_method_ *method,
                              const okra_options *options, const double *lambda,
                              const okra_store_ *store, json_t **out);
/* Kind, count and width; NULL: no memory. */
json_t *okra_model_about_data_(const okra_data *data);

/* calibration.c */
/* Warns where pairs that are to be learned from equal pairs that were held back. */
okra_status okra_model_meets_calibration_(okra_context *ctx, const okra_model *model,
                                          const okra_data *x, const okra_data *y);
okra_status okra_model_load_calibration_(const json_t *about, okra_model *model);

/* ---- the options of fit, predict and select themselves ---- */

typedef struct okra_fit_fields_ {
    const char *kx, *ky, *method, *twin, *low_rank, *low_rank_x, *low_rank_y, *decode;
} okra_fit_fields_;
/* SPEC of low rank of the inputs and of the outputs; "": none. */
static inline const char *okra_fit_low_x_(const okra_fit_fields_ *f)
{
    return *f->low_rank ? f->low_rank : f->low_rank_x;
}
static inline const char *okra_fit_low_y_(const okra_fit_fields_ *f)
{
    return *f->low_rank ? f->low_rank : f->low_rank_y;
}

typedef struct okra_predict_fields_ {
    const char *decode;
    okra_int top;
} okra_predict_fields_;

typedef struct okra_select_fields_ {
    const char *cv, *metric;
    okra_int budget, refine, repeats;
    bool train_on_one, per_output;
    int effort; /* of okra_effort_ */
} okra_select_fields_;
/* How long choosing may take (select/automatic.c). */
typedef enum okra_effort_ { OKRA_QUICK_, OKRA_NORMAL_, OKRA_THOROUGH_ } okra_effort_;

extern const okra_option_table okra_fit_table_, okra_predict_table_, okra_select_table_;

enum { OKRA_NAMES_MOST_ = 64 };

/* ---- how collections of one kind are saved and loaded, shared by their files ---- */

/* The folder of an archive that a collection is loaded from. */
typedef struct okra_stored_ {
    okra_archive_ *archive;
    const char *folder;
    const json_t *about; /* kind, count, width */
    okra_int n, d;
} okra_stored_;

/* An array whose shape must be rows x cols (cols < 0: a vector; rows < 0: any number). */
okra_status okra_fetch_(const okra_stored_ *s, const char *name, const char *dtype,
                        okra_int rows, okra_int cols, const void **values,
                        okra_int *rows_found);

okra_status okra_ragged_save_(okra_saver_ *saver, const char *folder,
                              const okra_data *data);
okra_status okra_ragged_load_(const okra_stored_ *s, okra_data **out);
okra_status okra_tuple_save_(okra_saver_ *saver, const char *folder,
                             const okra_data *data);
okra_status okra_tuple_load_(const okra_stored_ *s, okra_data **out);
okra_status okra_bags_save_(okra_saver_ *saver, const char *folder,
                            const okra_data *data);
okra_status okra_bags_load_(const okra_stored_ *s, okra_data **out);

/* ---- kernel expressions whose weights are learned: align.c ---- */

typedef enum okra_align_how_ {
    OKRA_ALIGN_,
    OKRA_ALIGN_EACH_,
    OKRA_ALIGN_LOO_
} okra_align_how_;

/* What align-loo needs of the options. */
typedef struct okra_align_options_ {
    double lambda;
    bool center; /* outputs are */
} okra_align_options_;

typedef struct okra_align_ {
    char *text;    /* the expression with numbers in the place of align(...) */
    char *kernels; /* one per line            */
    char *weights; /* "V,V,...": all of them */
    double value;  /* the alignment of the combination with the outputs */
} okra_align_;
void okra_align_clear_(okra_align_ *align);

/* align.c: w (p) of the kernels, and the alignment of the combination. */
typedef struct okra_learner_ {
    okra_context *ctx;
    const okra_data *x, *y; /* n pairs */
    okra_int n, p;
    double *K;        /* p x n^2, its own          */
    double *L;        /* n x n, its own            */
    double *scale;    /* p: powers of 2 that the matrices were multiplied by */
    double *s, total; /* roots of the weights of pairs, or NULL */
} okra_learner_;
/* align_loo.c: w (p), where the search begins and what is found, for the scaled matrices
 * K and L = F F' (F: n x r, or NULL); mean: the weights of the mean of the kernels. */
okra_status okra_align_loo_(const okra_learner_ *z, double lambda, const double *F,
                            okra_int r, const double *mean, double *w);

/* Does the expression hold align(, align-each( or align-loo(? */
bool okra_align_asked_(const char *text);
/* The same with mean in its place, to be freed: for what needs no outputs. */
okra_status okra_align_mean_(const char *text, char **out);
okra_status okra_align_learn_(okra_context *ctx, const okra_data *x, const okra_data *y,
                              const char *text, const okra_kernel *ky,
                              const okra_align_options_ *o, okra_align_ *out);
/* w (p, sum 1) from M_kl = <K_k, K_l> (p x p) and a_k = <K_k, L>, matrices centred; each:
 * ALIGN, else ALIGNF. */
okra_status okra_align_weights_(okra_context *ctx, okra_int p, const double *M,
                                const double *a, bool each, double *w);

#endif
