/*
 * folds.c: which pairs are left out together.
 * Drawn folds: the units (pairs, or groups of pairs) are shuffled, sorted by stratum and
 * dealt out in turn: fold sizes differ by one unit at most, and so does each stratum's
 * share. Groups go, largest first, to the fold that has the fewest pairs so far.
 */
#include "select/select.h"

/* A whole positive number, or 0; *end is where it stops. */
static okra_int whole(const char *text, const char **end)
{
    char *stop = NULL;
    long long value = *text >= '0' && *text <= '9' ? strtoll(text, &stop, 10) : 0;
    *end = stop ? stop : text;
    return value > 0 && value < (1ll << 40) ? (okra_int)value : 0;
}

/* "loo", "gcv", "kfold:5", "nested:5,5", "nested:5,loo" */
static okra_status cv_parse(const char *text, okra_cv_ *out)
{
    okra_cv_ cv = {OKRA_CV_KFOLD_, 0, 0};
    const char *end = text;
    bool good = true;
    if (strcmp(text, "loo") == 0 || strcmp(text, "gcv") == 0) {
        cv.kind = *text == 'l' ? OKRA_CV_LOO_ : OKRA_CV_GCV_;
    } else if (strncmp(text, "kfold:", 6) == 0) {
        cv.parts = whole(text + 6, &end);
        good = cv.parts >= 2 && !*end;
    } else if (strncmp(text, "nested:", 7) == 0) {
        cv.outer = whole(text + 7, &end);
        good = cv.outer >= 2 && *end == ',';
        if (good && strcmp(end + 1, "loo") == 0) {
            cv.kind = OKRA_CV_LOO_;
        } else if (good) {
            cv.parts = whole(end + 1, &end);
            good = cv.parts >= 2 && !*end;
        }
    } else {
        good = false;
    }
    REFUSE_IF(!good, OKRA_EARG,
              "cv is '%s', expected loo, gcv, kfold:K, nested:K,K2 or nested:K,loo with "
              "K, K2 of 2 or more",
              text);
    *out = cv;
    return OKRA_OK;
}

/* ---- drawing ---- */

typedef struct unit {
    okra_int key, size, stratum, place; /* place: in the shuffled order */
} unit;

OKRA_ORDER_(by_key, unit, OKRA_UP_(key))

/* By stratum, larger units first, then as shuffled. */
OKRA_ORDER_(by_stratum, unit, OKRA_UP_(stratum), OKRA_DOWN_(size), OKRA_UP_(place))

static okra_int code(const okra_int *codes, const okra_int *index, okra_int i)
{
    return codes[index ? index[i] : i];
}

/* Units in ascending order of their key: groups by code, single pairs by position. */
static okra_status make_units(const okra_keys_ *keys, const okra_int *index, okra_int n,
                              unit **out, okra_int *count)
{
    OWNED unit *units = NULL;
    MAKE(units, n);
    for (okra_int i = 0; i < n; i++) {
        units[i] = (unit){.key = keys->groups ? code(keys->groups, index, i) : i,
                          .size = 1,
                          .stratum = keys->strata ? code(keys->strata, index, i) : 0};
    }
    qsort(units, (size_t)n, sizeof *units, by_key);
    okra_int kept = 0;
    for (okra_int i = 0; i < n; i++) {
        if (kept > 0 && units[kept - 1].key == units[i].key) {
            REFUSE_IF(units[kept - 1].stratum != units[i].stratum, OKRA_EARG,
                      "a group holds pairs of two strata: folds cannot be grouped and "
                      "stratified by these labels");
            units[kept - 1].size++;
        } else {
            units[kept++] = units[i];
        }
    }
    *out = units;
    *count = kept;
    units = NULL;
    return OKRA_OK;
}

/* Deals the units to the parts; of_key[key's position] gets the part. */
static void deal(unit *units, okra_int count, okra_int parts, okra_int *load)
{
    okra_int next = 0;
    memset(load, 0, (size_t)parts * sizeof *load);
    for (okra_int u = 0; u < count; u++) {
        okra_int best = next; /* the first in turn among those with the fewest pairs */
        for (okra_int k = 1; k < parts; k++) {
            okra_int p = (next + k) % parts;
            best = load[p] < load[best] ? p : best;
        }
        load[best] += units[u].size;
        units[u].place = best;
        next = (best + 1) % parts;
    }
}

static okra_status draw(const okra_keys_ *keys, const okra_int *index, okra_int n,
                        okra_int parts, okra_random_ *random, okra_int *part)
{
    OWNED unit *units = NULL;
    OWNED okra_int *order = NULL, *load = NULL;
    okra_int count = 0;
    CHK(make_units(keys, index, n, &units, &count));
    REFUSE_IF(count < parts, OKRA_EARG, "%lld folds are asked of %lld %s",
              (long long)parts, (long long)count, keys->groups ? "groups" : "pairs");
    MAKE(order, count);
    MAKE(load, parts);
    okra_iota_(count, order);
    okra_random_shuffle_(random, count, order);
    for (okra_int i = 0; i < count; i++) {
        units[order[i]].place = i;
    }
    qsort(units, (size_t)count, sizeof *units, by_stratum);
    deal(units, count, parts, load);
    qsort(units, (size_t)count, sizeof *units, by_key);
    for (okra_int i = 0; i < n; i++) {
        unit key = {.key = keys->groups ? code(keys->groups, index, i) : i};
        const unit *found = bsearch(&key, units, (size_t)count, sizeof *units, by_key);
        part[i] = found->place;
    }
    return OKRA_OK;
}

/* Folds as given: codes that occur, in ascending order. */
static okra_status given(const okra_int *codes, const okra_int *index, okra_int n,
                         okra_folds_ *f)
{
    OWNED okra_int *number = NULL;
    okra_int most = -1;
    for (okra_int i = 0; i < n; i++) {
        most = OKRA_MAX_(most, code(codes, index, i));
    }
    ZMAKE(number, most + 1);
    for (okra_int i = 0; i < n; i++) {
        number[code(codes, index, i)] = 1;
    }
    for (okra_int c = 0; c <= most; c++) {
        number[c] = number[c] ? f->parts++ : -1;
    }
    for (okra_int i = 0; i < n; i++) {
        f->part[i] = number[code(codes, index, i)];
    }
    REFUSE_IF(f->parts < 2, OKRA_EARG, "the folds given are %lld, expected two or more",
              (long long)f->parts);
    return OKRA_OK;
}

okra_status okra_folds_create_(const okra_keys_ *keys, const okra_int *index, okra_int n,
                               okra_int parts, okra_int repeats, uint64_t seed,
                               okra_folds_ *out)
{
    okra_folds_ f = {.n = n, .parts = parts, .repeats = repeats};
    OWNS(&f.part);
    REFUSE_IF(n < 2, OKRA_EARG, "there %s %lld training pair%s, expected two or more",
              n == 1 ? "is" : "are", (long long)n, n == 1 ? "" : "s");
    if (parts == n && !keys->folds && !keys->groups) { /* leave-one-out */
        f.repeats = 1;
    } else {
        MAKE(f.part, repeats * n);
        if (keys->folds) {
            f.parts = 0;
            f.repeats = 1;
            CHK(given(keys->folds, index, n, &f));
        }
        for (okra_int r = 0; !keys->folds && r < repeats; r++) {
            okra_random_ random = okra_random_create_(seed, (uint64_t)r);
            CHK(draw(keys, index, n, parts, &random, f.part + r * n));
        }
    }
    *out = TAKE(f);
    return OKRA_OK;
}

void okra_folds_free_(okra_folds_ *folds)
{
    okra_free_at_(&folds->part);
}

okra_int okra_folds_count_(const okra_folds_ *folds)
{
    return folds->parts * folds->repeats;
}

void okra_folds_get_(const okra_folds_ *folds, okra_int fold, okra_int *train,
                     okra_int *trained, okra_int *test, okra_int *tested)
{
    const okra_int *part =
        folds->part ? folds->part + fold / folds->parts * folds->n : NULL;
    okra_int wanted = fold % folds->parts;
    *trained = *tested = 0;
    for (okra_int i = 0; i < folds->n; i++) {
        bool in = (part ? part[i] : i) == wanted;
        if (in != folds->train_on_one) {
            test[(*tested)++] = i;
        } else {
            train[(*trained)++] = i;
        }
    }
}

/* ---- what a selection is asked, before anything is computed ---- */

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
    CHK(cv_parse(j->fields.cv, &j->cv));
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
    FREED_BY(okra_folds_free_) okra_folds_ f = {0};
    CHK(okra_folds_create_(&keys, index, n, parts, repeats, seed, &f));
    f.train_on_one = j->fields.train_on_one && !nested;
    CHK(check_classes(j, &f, index));
    *out = TAKE(f);
    return OKRA_OK;
}

okra_status okra_job_check_folds_(const okra_job_ *j, const okra_folds_ *outer)
{
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
        okra_status st = okra_job_folds_(j, train, n, f, &inner);
        if (st != OKRA_OK) {
            okra_message_prefix_("within outer fold %lld", (long long)f);
            return st;
        }
    }
    return OKRA_OK;
}
