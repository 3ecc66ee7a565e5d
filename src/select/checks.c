/*
 * checks.c: what a selection is asked, and its folds, before anything is computed.
 */
#include "select/job.h"

static okra_status check_labels(const okra_data *labels, const char *what, okra_int n,
                                const okra_int **codes)
{
    char text[96];
    REFUSE_IF(labels && (labels->kind != OKRA_LABELS || labels->n != n), OKRA_ESHAPE,
              "%s: found %s, expected labels of the %lld pairs", what,
              okra_data_describe_(labels, text, sizeof text), (long long)n);
    *codes = labels ? labels->codes : NULL;
    return OKRA_OK;
}

/* A search over more cells than this is refused, with what it would cost. */
static okra_status check_size(const okra_job_ *j)
{
    const okra_space_ *space = j->out->space;
    okra_int cells = okra_search_cells_(space, j->fields.budget);
    double n = (double)j->source.n, settings = (double)cells / (double)space->lambdas;
    if (cells <= OKRA_CELLS_MOST_) {
        return OKRA_OK;
    }
    /* about 10 n^3 flops for a decomposition at some 10 Gflop/s */
    double hours = (settings * 10 * n * n * n + (double)cells * n * n) / 1e10 / 3600;
    return okra_fail_(
        OKRA_EARG,
        "the grid has %lld cells, %.3g settings beside lambda: some %.2g hours of "
        "computing for %lld pairs. At most %d cells are evaluated: shorten the lists, or "
        "give a budget of cells to be drawn",
        (long long)cells, settings, hours, (long long)j->source.n, OKRA_CELLS_MOST_);
}

/* Labels that are to be told apart must be there in what is trained on. */
static okra_status check_classes(const okra_job_ *j, const okra_folds_ *folds,
                                 const okra_int *index)
{
    const okra_data *y = j->source.y;
    OWNED okra_int *train = NULL, *test = NULL;
    okra_int n, m;
    if (j->source.links) {
        return okra_links_check_(&j->source, folds, index);
    }
    if (y->kind != OKRA_LABELS || !folds->part) {
        return OKRA_OK;
    }
    MAKE(train, folds->n);
    MAKE(test, folds->n);
    for (okra_int f = 0; f < okra_folds_count_(folds); f++) {
        bool several = false;
        okra_folds_get_(folds, f, train, &n, test, &m);
        for (okra_int i = 0; i < n && !several; i++) {
            okra_int a = index ? index[train[i]] : train[i];
            okra_int b = index ? index[train[0]] : train[0];
            several = y->codes[a] != y->codes[b];
        }
        REFUSE_IF(!several, OKRA_EARG,
                  "fold %lld trains on %lld pairs of one class alone: stratify the folds "
                  "or take fewer of them",
                  (long long)f, (long long)n);
    }
    return OKRA_OK;
}

okra_status okra_job_check_(okra_job_ *j, const okra_options *options)
{
    const okra_select_request *r = j->source.request;
    okra_int n = j->source.n;
    CHK(okra_cv_parse_(j->fields.cv, &j->cv));
    if (!j->source.links) {
        CHK(okra_method_check_pairs_(j->out->space->method, j->source.x, j->source.y));
    }
    CHK(check_labels(r->folds, "folds", n, &j->keys.folds));
    CHK(check_labels(r->groups, "groups", n, &j->keys.groups));
    CHK(check_labels(r->strata, "strata", n, &j->keys.strata));
    bool loo = j->cv.kind != OKRA_CV_KFOLD_ && j->cv.outer == 0;
    REFUSE_IF(loo && (r->folds || r->groups || r->strata || j->fields.repeats > 1 ||
                      j->fields.train_on_one),
              OKRA_EARG,
              "cv is %s, which leaves out every pair by itself: folds, groups, strata, "
              "repeats and train-on-one are for kfold and nested",
              j->fields.cv);
    REFUSE_IF(r->folds && (r->groups || r->strata || j->fields.repeats > 1), OKRA_EARG,
              "the folds are given: groups, strata and repeats have no use");
    REFUSE_IF(okra_options_is_set(options, "top"), OKRA_EARG,
              "top has no use in a selection");
    CHK(okra_scorer_create_(j->fields.metric, &j->source, j->out->space, &j->scorer));
    REFUSE_IF(j->cv.kind == OKRA_CV_GCV_ && !j->scorer.feature, OKRA_EARG,
              "generalised cross-validation estimates feature-loss, not %s",
              j->fields.metric);
    if (j->fields.per_output) {
        CHK(okra_outputs_check_(&j->source, j->out->space, &j->scorer, options, &j->cv));
    } else if (r->output_groups) {
        return okra_fail_(OKRA_EARG, "groups of outputs are for per-output");
    }
    return check_size(j);
}

/* Folds of a search over the pairs of `index`, the outer fold it belongs to or -1. */
okra_status okra_job_folds_(const okra_job_ *j, const okra_int *index, okra_int n,
                            okra_int outer, okra_folds_ *out)
{
    okra_keys_ keys = j->keys;
    bool nested = j->cv.outer > 0;
    if (nested) {
        keys.folds = NULL; /* they are the outer ones */
    }
    if (j->cv.kind != OKRA_CV_KFOLD_) {
        keys = (okra_keys_){NULL, NULL, NULL};
    }
    okra_int parts = j->cv.kind == OKRA_CV_KFOLD_ ? j->cv.parts : n;
    okra_int repeats = nested ? 1 : j->fields.repeats;
    uint64_t seed = okra_context_seed(j->ctx) + 1000003u * (uint64_t)(outer + 1);
    okra_status st = okra_folds_create_(&keys, index, n, parts, repeats, seed, out);
    if (st == OKRA_OK) {
        out->train_on_one = j->fields.train_on_one && !nested;
        st = check_classes(j, out, index);
        if (st != OKRA_OK) {
            okra_folds_free_(out);
        }
    }
    return st;
}

/* The folds of every search are drawn once before any computing, so that those which
 * cannot be learned from are refused first. */
okra_status okra_job_check_folds_(const okra_job_ *j, const okra_folds_ *outer)
{
    okra_status st = OKRA_OK;
    OWNED okra_int *train = NULL, *test = NULL;
    okra_int n = j->source.n, m;
    FREED_BY(okra_folds_free_) okra_folds_ inner = {0};
    CHK(okra_job_folds_(j, NULL, n, -1, &inner));
    if (outer) {
        CHK(check_classes(j, outer, NULL));
        MAKE(train, n);
        MAKE(test, n);
    }
    for (okra_int f = 0; outer && f < okra_folds_count_(outer); f++) {
        okra_folds_free_(&inner);
        okra_folds_get_(outer, f, train, &n, test, &m);
        st = okra_job_folds_(j, train, n, f, &inner);
        if (st != OKRA_OK) {
            okra_message_prefix_("within outer fold %lld", (long long)f);
            return st;
        }
    }
    return st;
}
