/*
 * select.h: what the files of selection share.
 *
 *   space.c     the grid: axes, cells, the options of a cell
 *   folds.c     who is left out when
 *   view.c      a training set and the pairs left out, seen through slices of Gram
 *               matrices of the whole, once for each kernel
 *   score.c     from predictions of left-out pairs to the value of the metric
 *   group.c     all lambdas of a setting: in closed form where there is one, else refits
 *   search.c    which cells, in which order, their evaluation, the best
 *   halve.c     losers on a part of the pairs are dropped
 *   refine.c    around the best; search.c: at the end of a list
 *   journal.c   finished work on file
 *   automatic.c a fit that needs no options, also of links
 *   outputs.c   a lambda for each output
 *   links.c     the same for links of a network: nodes are left out, pairs are ranked
 *   rules.h     what is chosen where nobody says it; pairs as they are compared
 *   select.c    the whole, nested or not (job.h); folds.c: what is asked; report.c: JSON
 */
#ifndef OKRA_SELECT_H_
#define OKRA_SELECT_H_

#include "link/link.h"
#include "metric/metric.h"
#include "select/rules.h"

/* ---- space.c ---- */

typedef struct okra_axis_ {
    const char *name; /* of the option */
    bool predict;     /* an option of predict, else of fit */
    okra_grid_ *grid;
    okra_int count;
    bool automatic; /* nobody wrote the list */
} okra_axis_;

typedef struct okra_space_ {
    okra_axis_ *axes; /* kx, ky, then others; lambda last where it is a path */
    size_t count;
    const okra_method_ *method;
    const okra_decoder_ *decoder;
    char decode[512]; /* its name and argument, as --decode says */
    okra_int cells;   /* product of all counts */
    okra_int lambdas; /* values of the last axis if it is a path, else 1 */
    bool decode_set;  /* else the method may choose */
    bool path;        /* the last axis is lambda and the method shares work over it */
    bool ky_varies;   /* more than one output kernel */
} okra_space_;

/* The decoder with its argument. */
const char *okra_space_decode_(const okra_space_ *space);
okra_status okra_space_create_(const okra_options *options, okra_space_ **out);
void okra_space_free_(okra_space_ *space);
OKRA_DROPS_(okra_space_drop_, okra_space_, okra_space_free_)
OKRA_DROPS_(okra_selection_drop_, okra_selection, okra_selection_free)
/* The space of the alternatives that a cell is of, and which of its cells it is. */
okra_status okra_space_narrow_(const okra_space_ *space, okra_int cell, okra_space_ **out,
                               okra_int *within);
/* A setting: one text for each axis. Free with okra_setting_free_. */
typedef struct okra_setting_ {
    char **text; /* one an axis */
    size_t count;
} okra_setting_;
okra_status okra_space_setting_(const okra_space_ *space, okra_int cell,
                                okra_setting_ *out);
/* Places of all axes that hold lists, in the order of the axes. */
okra_int okra_space_places_(const okra_space_ *space);
/* Which value of the list at a place of an axis a cell has. */
okra_int okra_space_digit_(const okra_space_ *space, okra_int cell, size_t axis,
                           okra_int place);
/* The setting of a cell with numbers (six digits) in some places: one a place, NaN: as it
 * is; NULL: all as they are. Axes without a number are those of `base` (NULL: the cell).
 */
okra_status okra_space_at_(const okra_space_ *space, okra_int cell, const double *numbers,
                           const okra_setting_ *base, okra_setting_ *out);
okra_status okra_setting_copy_(const okra_setting_ *from, okra_setting_ *to);
void okra_setting_free_(okra_setting_ *setting);
/* The row of an option of fit or predict; NULL: none. */
const okra_option *okra_space_row_(const char *name, const char *topic);
/* The options that a setting stands for; either may be NULL. */
okra_status okra_space_options_(const okra_space_ *space, const okra_setting_ *setting,
                                okra_options **fit, okra_options **predict);
const char *okra_space_value_(const okra_space_ *space, const okra_setting_ *setting,
                              const char *option);

/* ---- folds.c ---- */

/* Each of `repeats` times the n pairs are split in `parts`. */
typedef struct okra_folds_ {
    okra_int n, parts, repeats;
    okra_int *part;    /* repeats x n; NULL: each pair is a part */
    bool train_on_one; /* train on a part and test on the rest, not the other way round */
} okra_folds_;

typedef enum okra_cv_kind_ { OKRA_CV_LOO_, OKRA_CV_GCV_, OKRA_CV_KFOLD_ } okra_cv_kind_;
typedef struct okra_cv_ {
    okra_cv_kind_ kind; /* of the selection itself (nested: of the inner one) */
    okra_int parts;
    okra_int outer; /* nested: outer parts; 0: not nested */
} okra_cv_;

/* Codes of the pairs of `index` (NULL: 0, 1, ...) that folds depend on; NULL: not. */
typedef struct okra_keys_ {
    const okra_int *folds, *groups, *strata;
} okra_keys_;
okra_status okra_folds_create_(const okra_keys_ *keys, const okra_int *index, okra_int n,
                               okra_int parts, okra_int repeats, uint64_t seed,
                               okra_folds_ *out);
void okra_folds_free_(okra_folds_ *folds);
okra_int okra_folds_count_(const okra_folds_ *folds); /* parts * repeats */
/* Positions trained on and tested in a fold; both have room for n. */
void okra_folds_get_(const okra_folds_ *folds, okra_int fold, okra_int *train,
                     okra_int *trained, okra_int *test, okra_int *tested);

/* ---- view.c ---- */

/* A network whose links are selected for. */
typedef struct okra_link_source_ {
    const okra_link_task *task;
    const okra_link_settings *settings;
} okra_link_source_;

/* The training set of a selection and the Gram matrices made of it so far. */
typedef struct okra_pairs_ {
    const okra_data *x, *y;
    okra_int n, inputs;
    const okra_select_request *request;
    const okra_link_source_ *links; /* the pairs are nodes of a network, or NULL: not */
    bool classes; /* y are rows e_c of classes c: `linear` in the place of `zero-one` */
    struct okra_gram_ *grams;
    int count;
    okra_int *same; /* score.c: n, equal outputs have one number, or NULL            */
    okra_int *of;   /* and of the candidates of the request                          */
} okra_pairs_;
void okra_source_clear_(okra_pairs_ *source);

/* Pairs of the source to train on, and pairs that are left out. */
typedef struct okra_view_ {
    okra_training_ *training;
    okra_map_ *map_x; /* low rank of the inputs, or NULL */
    okra_problem_ problem;
    okra_output_ output; /* as decoders and losses see it: Gram rows where they will do */
    okra_data *gram_y;   /* of output, or NULL */
    okra_kernel *gram_kernel;
    okra_trained_kernel_ *gram_bound;
    double *K, *L;      /* slices, or NULL */
    okra_int m, n;      /* left out, trained on */
    okra_data *test_x;  /* the inputs left out */
    okra_data *train_x; /* all inputs of the problem */
    double *Kx;         /* m x inputs: sliced, or NULL */
    double *self, *train_self;
    okra_data *truth;      /* m outputs as they are */
    okra_data *truth_rows; /* m outputs as `output` knows them */
    okra_data *train_y;    /* n outputs as they are */
    okra_int *number;      /* of the m outputs (of all n where m is 0) in same, or NULL */
} okra_view_;

typedef struct okra_view_request_ {
    const char *kx, *ky;
    bool objects; /* the objects alone: somebody else fits and predicts */
    const okra_method_ *method;
    const okra_int *train, *test; /* indices into the source */
    okra_int n, m;
    bool keep_inputs; /* left-out inputs stay as inputs without outputs */
    bool rows;        /* Gram rows will do for the outputs */
} okra_view_request_;
okra_status okra_view_create_(okra_context *ctx, okra_pairs_ *source,
                              const okra_view_request_ *request, okra_view_ **out);
/* A view of objects alone gets maps of low rank as the options of fit say, made from all
 * it trains on, and a problem and an output that use them. */
okra_status okra_view_low_(okra_context *ctx, const okra_method_ *method,
                           const okra_options *fit, okra_view_ *view);
void okra_view_free_(okra_view_ *view);
OKRA_DROPS_(okra_view_drop_, okra_view_, okra_view_free_)
/* Predictions at the pairs left out, as embeddings where there are features. */
okra_status okra_view_predict_(okra_context *ctx, const okra_view_ *view,
                               const okra_method_ *method, const okra_store_ *store,
                               double **out, okra_block_ *block);

/* ---- where scores of labels are cut ---- */

/* How scores of labels are cut into sets. */
typedef struct okra_cut_ {
    bool wanted;         /* decode says threshold=auto                                */
    bool judges;         /* settings are compared by the metric at its best cut, else */
                         /* by a loss in feature space, the cut is that of F1         */
    bool hamming, micro; /* neither: F1 of sets                                       */
    bool nonempty;
    double empty; /* F1 of two empty sets */
} okra_cut_;
enum { OKRA_CUTS_ = 199 };
/* Sums over rows at every cut. */
typedef struct okra_cut_sums_ {
    okra_int rows;
    double weight;
    double sum[OKRA_CUTS_], square[OKRA_CUTS_], right[OKRA_CUTS_], sizes[OKRA_CUTS_];
} okra_cut_sums_;
/* The decoder with a number for auto; NaN: 1/2. */
okra_status okra_cut_text_(const char *decode, double threshold, char **out);
/* Adds the predictions of a block, row r to sums[part[r]] (part NULL: sums[0]). */
okra_status okra_cut_block_(okra_context *ctx, const okra_cut_ *cut,
                            const okra_output_ *output, const okra_block_ *block,
                            const okra_data *truth, const okra_int *part,
                            okra_cut_sums_ *sums);
void okra_cut_merge_(const okra_cut_sums_ *from, okra_cut_sums_ *to);
int okra_cut_best_(const okra_cut_ *cut, const okra_cut_sums_ *sums);
double okra_cut_threshold_(int best);
double okra_cut_value_(const okra_cut_ *cut, const okra_cut_sums_ *sums, int at);
double okra_cut_error_(const okra_cut_ *cut, const okra_cut_sums_ *sums, int at);

/* ---- score.c ---- */

typedef struct okra_scorer_ {
    const char *metric; /* "feature-loss", "relative-loss" (select.c), or of okra_score */
    bool feature;       /* in the feature space of ky, nothing is decoded */
    bool lists;         /* of all candidates in their order: score.c */
    bool loss;          /* smaller is better */
    const okra_decoder_ *decoder;
    const okra_options *predict;
    const okra_data *candidates;
    const okra_pairs_ *source;
    okra_cut_ cut;
} okra_scorer_;
okra_status okra_scorer_create_(const char *metric, const okra_pairs_ *source,
                                const okra_space_ *space, okra_scorer_ *out);
/* What is known of the left-out pairs of a view: a block of their predictions, or a model
 * that predicts by itself. */
typedef struct okra_left_out_ {
    okra_block_ block;
    const okra_model *model; /* NULL: the block */
} okra_left_out_;
/* The value for all left-out pairs of a view; `each` is work space of m places, the
 * losses of feature-loss. */
okra_status okra_scorer_value_(okra_context *ctx, const okra_scorer_ *scorer,
                               const okra_view_ *view, const okra_left_out_ *left_out,
                               double *value, double *each);
/* The value of the metric at the best cut of scores of labels, and that cut. */
okra_status okra_scorer_cut_(okra_context *ctx, const okra_scorer_ *scorer,
                             const okra_view_ *view, const okra_left_out_ *left_out,
                             double *value, double *threshold);
okra_status okra_scorer_feature_(okra_context *ctx, const okra_view_ *view,
                                 const okra_left_out_ *left_out, double *value,
                                 double *each);
/* The decoded objects alone. */
okra_status okra_scorer_objects_(okra_context *ctx, const okra_scorer_ *scorer,
                                 const okra_view_ *view, const okra_left_out_ *left_out,
                                 okra_data **out);
/* The value where row i of the block is the prediction at training pair i of the view
 * without it; `each` and *has_each as in okra_score. */
okra_status okra_scorer_left_(okra_context *ctx, const okra_scorer_ *scorer,
                              const okra_view_ *view, const okra_block_ *block,
                              double *value, double *each, bool *has_each);

/* ---- ranks of the truth: score.c ---- */

/* Fills source->same. */
okra_status okra_ranks_number_(okra_pairs_ *source);
/* Labels of the outputs: equal ones are left out together; *count: how many differ. */
okra_status okra_ranks_groups_(const okra_data *y, okra_data **out, okra_int *count);

/* ---- group.c ---- */

/* What is known of a cell. */
typedef struct okra_cell_ {
    okra_setting_ setting;
    double *values; /* one a fold; one alone for leave-one-out */
    double mean, error, gcv;
    bool closed, refined; /* by a closed form; by refinement, not of the grid */
    double *outputs;      /* per-output: left-out squared error of each coordinate */
    bool dropped;         /* it lost on a part of the pairs: its mean is NaN */
    double part;          /* the mean there, or NaN */
    double threshold;     /* of scores of labels; NaN: none was looked for */
} okra_cell_;

typedef struct okra_task_ {
    okra_pairs_ *source;
    const okra_space_ *space;
    const okra_int *index; /* pairs of the source that take part */
    okra_folds_ folds;
    okra_cv_kind_ cv;
    const char *metric;
    bool closed;  /* set when a closed form was used */
    bool outputs; /* errors of each coordinate are wanted */
} okra_task_;

/* A grid of more cells than this is refused. */
enum { OKRA_CELLS_MOST_ = 200000 };
/* One fold alone, by a fit: values[fold] of every cell. */
okra_status okra_group_fold_(okra_context *ctx, okra_task_ *task,
                             okra_cell_ *const *cells, size_t count, okra_int fold);
/* The lambda of a cell, where space->path. */
okra_status okra_cell_lambda_(const okra_space_ *space, const okra_cell_ *cell,
                              double *out);
/* One of which nothing is known yet. */
#define OKRA_CELL_UNKNOWN_                                                              \
    .mean = (double)NAN, .error = (double)NAN, .gcv = (double)NAN, .part = (double)NAN, \
    .threshold = (double)NAN
/* Values a cell has: folds, or 1 for leave-one-out, which is scored as a whole. */
okra_int okra_task_values_(const okra_task_ *task);
/* Fills the values of cells that differ in lambda alone (`count` of them, in order). */
okra_status okra_group_run_(okra_context *ctx, okra_task_ *task, okra_cell_ *const *cells,
                            size_t count);

/* ---- links.c ---- */

/* Refuses folds that have nothing to learn from or nothing to rank. */
okra_status okra_links_check_(const okra_pairs_ *source, const okra_folds_ *folds,
                              const okra_int *index);
/* As okra_group_run_ and okra_group_fold_, less the means. */
okra_status okra_links_run_(okra_context *ctx, okra_task_ *task, okra_cell_ *const *cells,
                            size_t count);
okra_status okra_links_fold_(okra_context *ctx, const okra_task_ *task,
                             okra_cell_ *const *cells, size_t count, okra_int fold);

/* ---- outputs.c ---- */

okra_status okra_outputs_check_(const okra_pairs_ *source, const okra_space_ *space,
                                const okra_scorer_ *scorer, const okra_options *options,
                                const okra_cv_ *cv);
/* The best lambda of every coordinate, and the best setting with these. */
okra_status okra_outputs_choose_(const okra_pairs_ *source,
                                 struct okra_selection *selection);

/* ---- journal.c ---- */

/* Finished cells on file: a line of JSON each, `outer` the outer fold or -1, `name` the
 * cell's number or its settings. */
typedef struct okra_journal_ okra_journal_;
/* What the work depends on, as a number: the options, the data, the seed. */
uint64_t okra_fingerprint_(const okra_options *options, const okra_pairs_ *source,
                           uint64_t seed);
/* Reads the file if it is there, and fails if it is of other work. */
okra_status okra_journal_open_(okra_context *ctx, const char *path, uint64_t fingerprint,
                               okra_journal_ **out);
void okra_journal_free_(okra_journal_ *journal);
/* Fills the cell if it is known. */
bool okra_journal_find_(const okra_journal_ *journal, okra_int outer, const char *name,
                        okra_int values, okra_cell_ *cell);
okra_status okra_journal_add_(okra_journal_ *journal, okra_int outer, const char *name,
                              okra_int values, const okra_cell_ *cell);
/* path == NULL: what is new goes to the end of its own file, if it has one; else all of
 * it to the path. */
okra_status okra_journal_save_(okra_journal_ *journal, const char *path);
okra_int okra_journal_count_(const okra_journal_ *journal);

/* ---- search.c ---- */

typedef struct okra_plan_ {
    okra_int count, places;
    okra_int *number; /* of the cell; ranges that are drawn from: their first value */
    double *drawn;    /* count x places: numbers, NaN: as the cell; NULL: no such range */
} okra_plan_;
void okra_plan_clear_(okra_plan_ *plan);
/* The numbers drawn for cell i, or NULL. */
const double *okra_plan_drawn_(const okra_plan_ *plan, okra_int i);
/* How many cells a search will evaluate, less the refinement. */
okra_int okra_search_cells_(const okra_space_ *space, okra_int budget);

/* The cells of one search, and the best. */
typedef struct okra_found_ {
    okra_cell_ *cells;
    okra_int count, best;
} okra_found_;

typedef struct okra_cell_search_ {
    okra_task_ *task;
    okra_int budget, refine;
    bool loss;
    bool edges; /* say where the best value is at the end of its list */
    bool halve; /* losers on a part of the pairs need not be compared on all (halve.c) */
    bool own; /* the refinement is nobody's wish: of automatic lists, if there are any */
    uint64_t seed;
    okra_journal_ *journal;
    okra_int outer;         /* fold, or -1 */
    okra_int before, total; /* cells of all searches, for progress */
} okra_cell_search_;
okra_status okra_search_run_(okra_context *ctx, okra_cell_search_ *search,
                             okra_found_ *out);
void okra_found_free_(okra_found_ *found);
/* A cell that is not evaluated yet; takes over the setting, also on failure. */
okra_status okra_search_cell_(const okra_task_ *task, okra_setting_ *setting,
                              okra_cell_ *cell);
/* Numbers in place of auto. */
okra_status okra_search_resolve_(okra_context *ctx, const okra_task_ *task,
                                 okra_found_ *found);

/* ---- halve.c ---- */

bool okra_halve_wanted_(const okra_cell_search_ *search, const okra_plan_ *plan);
/* Marks the cells that lose on a part. */
okra_status okra_halve_(okra_context *ctx, const okra_cell_search_ *search,
                        okra_found_ *found);
/* Where the best lambda is the last of those that stayed: the others of its group. */
okra_status okra_halve_more_(okra_context *ctx, const okra_cell_search_ *search,
                             okra_found_ *found);

/* ---- refine.c ---- */

/* Around the best, which is the cell `origin` of the plan, but perhaps for its lambda. */
okra_status okra_search_refine_(okra_context *ctx, okra_cell_search_ *search,
                                okra_found_ *found, const okra_plan_ *plan,
                                okra_int origin);

/* ---- select.c, report.c ---- */

typedef struct okra_outer_ {
    okra_found_ found;
    double error;
    okra_int trained, tested;
} okra_outer_;

/* ---- verdict ---- */

/* The best setting by a measure that people know, beside what needs no inputs. */
typedef struct okra_verdict_ {
    const char *measure, *naive_is; /* literals; NULL: not known */
    double value, naive;
    bool nothing; /* no better */
} okra_verdict_;
/* Finds it, puts it in the report and warns where nothing was learned. */
okra_status okra_verdict_tell_(okra_context *ctx, const okra_data *x, const okra_data *y,
                               const okra_options *fit, okra_selection *s);
/* A selection by that metric and cv: options of fit, and lambdas (NULL: theirs). */
okra_status okra_judge_(okra_context *ctx, const okra_data *x, const okra_data *y,
                        const okra_options *fit, const char *lambda, const char *metric,
                        const char *cv, okra_selection **out);

struct okra_selection {
    okra_space_ *space;
    okra_found_ found;
    okra_outer_ *outer;
    okra_int outer_count;
    okra_int values; /* a cell */
    okra_int n;
    bool loss, links; /* links: n nodes, else pairs */
    char *cv, *metric, *json;
    char *decode;                   /* of the best cell */
    char *methods, *output_kernels; /* those that were compared after that, or NULL */
    okra_verdict_ verdict;
    double seconds;
    char *output_lambda; /* per-output: "V,V,...", else NULL */
    double output_loss;
};
okra_status okra_selection_report_(okra_selection *selection);
/* okra_select; `edges`: with a warning where the best value is at the end of its list. */
okra_status okra_select_pairs_(okra_context *ctx, const okra_data *x, const okra_data *y,
                               const okra_options *options,
                               const okra_select_request *request, bool edges,
                               okra_selection **out);

/* ---- group.c: cells that differ in lambda alone ---- */

typedef struct okra_lambda_group_ {
    okra_task_ *task;
    okra_cell_ *const *cells;
    size_t count;
    okra_options *fit, *predict;
    const char *kx, *ky;
    bool plain;   /* fitted by okra_fit: nothing is known of what the fit does */
    bool chooses; /* one of the candidates, see okra_decoder_chooses_ */
    bool low; /* of low rank and nothing else: single pairs are left out in closed form */
    double *lambda;
    okra_scorer_ scorer;
    bool keep_inputs, rows;
    /* closed form */
    okra_view_ *view;   /* all pairs */
    okra_view_ **parts; /* one a fold of a repeat: made once, while memory allows */
    okra_int repeat;
    double *each;
    /* refits of leave-one-out */
    double *losses;              /* count x n */
    okra_data **pool;            /* count: the objects decoded so far */
    okra_int *at, *train, *test; /* work: indices of a fold */
} okra_lambda_group_;
/* outputs.c */
okra_status okra_outputs_add_(const okra_lambda_group_ *g, const okra_left_ *left,
                              okra_cell_ *cell);

/* ---- a selection at work: select.c, folds.c ---- */

typedef struct okra_job_ {
    okra_context *ctx;
    okra_pairs_ source;
    okra_select_fields_ fields;
    okra_cv_ cv;
    okra_keys_ keys;
    okra_scorer_ scorer;
    okra_journal_ *journal;
    okra_selection *out;
    okra_int before, total;
    bool edges, own;           /* as in okra_cell_search_ */
    bool kx_open, lambda_open; /* `auto` */
} okra_job_;

/* folds.c */

/* What is asked, before any computing. */
okra_status okra_job_check_(okra_job_ *job, const okra_options *options);
/* Folds of a search over the pairs of `index`, the outer fold it belongs to or -1. */
okra_status okra_job_folds_(const okra_job_ *job, const okra_int *index, okra_int n,
                            okra_int outer, okra_folds_ *out);
/* The folds of every search, so that those which cannot be learned from are refused. */
okra_status okra_job_check_folds_(const okra_job_ *job, const okra_folds_ *outer);

#endif
