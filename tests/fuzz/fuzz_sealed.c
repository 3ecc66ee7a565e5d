/*
 * Models of every kind (zoo.h) whose parts are altered and sealed again: arrays, shapes,
 * numbers, texts, kernels, kinds, JSON. Each is refused with a message, or predicts
 * within its memory, the same twice, in finite numbers. What was taken from the file is
 * what the file says: written and loaded again, it answers with the same bits.
 *
 * The input is a programme: which model, then one alteration after the other.
 */
#include "alter.h"
#include "turn.h"
#include "okra/more/conformal.h"
#include "okra/more/leave.h"
#include "okra/more/update.h"

#include <math.h>
#include <time.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BUDGET = 64 << 20, MORE = 64 << 20, SECONDS_MOST = 10 };

/* ---- what a model does ---- */

static void check_numbers(const double *values, okra_int count, bool infinite)
{
    for (okra_int i = 0; values && i < count; i++) {
        PARTS_CHECK(!isnan(values[i]) && (infinite || isfinite(values[i])));
    }
}

static void check_prediction(const okra_prediction *p)
{
    okra_int rows = 0, cols = 0, top = 0;
    const double *values = okra_prediction_weights(p, &rows, &cols);
    check_numbers(values, rows * cols, false);
    values = okra_prediction_embedding(p, &rows, &cols);
    check_numbers(values, rows * cols, false);
    values = okra_prediction_distance(p, &top);
    check_numbers(values, okra_prediction_count(p) * top, true);
}

/* Twice the same numbers: none of them is left over in memory. */
static void check_same(const okra_prediction *a, const okra_prediction *b)
{
    okra_int rows = 0, cols = 0, ta = 0, tb = 0;
    const double *p = okra_prediction_embedding(a, &rows, &cols);
    const double *q = okra_prediction_embedding(b, &rows, &cols);
    PARTS_CHECK(!p == !q);
    PARTS_CHECK(!p || memcmp(p, q, (size_t)(rows * cols) * sizeof *p) == 0);
    p = okra_prediction_weights(a, &rows, &cols);
    q = okra_prediction_weights(b, &rows, &cols);
    PARTS_CHECK(!p == !q);
    PARTS_CHECK(!p || memcmp(p, q, (size_t)(rows * cols) * sizeof *p) == 0);
    p = okra_prediction_distance(a, &ta);
    q = okra_prediction_distance(b, &tb);
    PARTS_CHECK(ta == tb && !p == !q);
    PARTS_CHECK(!p || memcmp(p, q, (size_t)(okra_prediction_count(a) * ta) * 8) == 0);
}

static void refused_well(okra_status st)
{
    PARTS_CHECK(okra_message()[0]);
    PARTS_CHECK(st != OKRA_EINTERNAL && st != OKRA_EIO);
}

/* p-values of candidates: shares above 0. */
static void exclude(okra_context *ctx, const okra_model *model, const okra_data *x)
{
    const okra_data *c = okra_model_outputs(model);
    okra_int count = okra_data_count(x) * okra_data_count(c);
    double *p = malloc((size_t)count * sizeof *p + 1);
    okra_status st = okra_conformal_p_values(ctx, model, x, c, NULL, p);
    if (st != OKRA_OK) {
        refused_well(st);
    }
    for (okra_int i = 0; st == OKRA_OK && i < count; i++) {
        PARTS_CHECK(p[i] > 0 && p[i] <= 1);
    }
    free(p);
}

/* What came last goes again, its input given: models of low rank subtract it. */
static void go_again(okra_context *ctx, const okra_model *model, const okra_data *x)
{
    okra_model *less = NULL;
    okra_data *gone = NULL;
    okra_int last = okra_model_count(model) - 1, at = okra_data_count(x) - 1;
    PARTS_CHECK(okra_data_take(x, &at, 1, &gone) == OKRA_OK);
    okra_update_request request = {OKRA_SIZED(okra_update_request), .remove = &last,
                                   .remove_count = 1, .removed_x = gone};
    okra_status st = okra_model_update(ctx, model, &request, NULL, &less);
    if (st != OKRA_OK) {
        refused_well(st);
    }
    okra_model_free(less);
    okra_data_free(gone);
}

/* The model and another become one. */
static bool merge(okra_context *ctx, const okra_model *a, const okra_model *b)
{
    const okra_model *both[] = {a, b};
    okra_model *merged = NULL;
    okra_status st = okra_model_merge(ctx, both, 2, 0, &merged);
    if (st != OKRA_OK) {
        refused_well(st);
    }
    okra_model_free(merged);
    return st == OKRA_OK;
}

/* Pairs come and go; the model becomes one with itself and with what it was. */
static void change(okra_context *ctx, const okra_model *model, const okra_data *x,
                   const okra_data *y, size_t which)
{
    okra_model *changed = NULL, *intact = NULL;
    okra_int first = 0;
    okra_update_request request = {OKRA_SIZED(okra_update_request), .x = x, .y = y,
                                   .remove = &first};
    okra_status st = okra_model_update(ctx, model, &request, NULL, &changed);
    PARTS_CHECK(st != OKRA_OK || okra_model_count(changed) > 0);
    if (st != OKRA_OK) {
        refused_well(st);
    } else {
        go_again(ctx, changed, x);
    }
    okra_model_free(changed);
    changed = NULL;
    request = (okra_update_request){OKRA_SIZED(okra_update_request), .remove = &first,
                                    .remove_count = 1};
    st = okra_model_update(ctx, model, &request, NULL, &changed);
    if (st != OKRA_OK) {
        refused_well(st);
    }
    if (merge(ctx, model, model)) {
        parts_write(animal(which), path);
        PARTS_CHECK(okra_model_load(ctx, path, &intact) == OKRA_OK);
        merge(ctx, model, intact);
        merge(ctx, intact, model);
    }
    okra_model_free(changed);
    okra_model_free(intact);
}

/* Losses and predictions of models that have not seen the input, other pairs, p-values.
 */
static void judge(okra_context *ctx, const okra_model *model, size_t which, size_t turn)
{
    okra_data *x = zoo_data(zoo[which].x, ZOO_M),
              *y = zoo_data(zoo[which].y, zoo[which].y == ZOO_NODES ? ZOO_N : ZOO_M);
    okra_options *options = NULL;
    okra_prediction *p = NULL;
    double loss = 0;
    if (fuzz_turn(turn, 0, 4)) {
        okra_status st = okra_model_loss(ctx, model, x, y, &loss, NULL);
        if (st != OKRA_OK) {
            refused_well(st);
        }
        PARTS_CHECK(okra_fit_options(&options) == OKRA_OK);
        st = okra_model_leave(ctx, model, options, NULL, &p);
        if (st != OKRA_OK) {
            refused_well(st);
        }
    }
    if (fuzz_turn(turn, 1, 4)) {
        change(ctx, model, x, y, which);
    }
    if (fuzz_turn(turn, 2, 4)) {
        exclude(ctx, model, x);
    }
    okra_prediction_free(p);
    okra_options_free(options);
    okra_data_free(x);
    okra_data_free(y);
}

/* The model, written and loaded again, gives p. */
static void check_kept(okra_context *ctx, const okra_model *model, const okra_data *x,
                       const okra_options *options, const okra_predict_request *request,
                       const okra_prediction *p)
{
    okra_model *again = NULL;
    okra_prediction *q = NULL;
    PARTS_CHECK(okra_model_save(ctx, model, NULL, path) == OKRA_OK);
    PARTS_CHECK(okra_model_load(ctx, path, &again) == OKRA_OK);
    PARTS_CHECK(okra_predict(ctx, again, x, options, request, &q) == OKRA_OK);
    check_same(p, q);
    okra_prediction_free(q);
    okra_model_free(again);
}

static void predict(okra_context *ctx, const okra_model *model, const okra_data *x,
                    tape *t)
{
    static const char *const decoders[] = {
        NULL,     NULL,          NULL,     "candidates", "explicit", "none",   "position",
        "labels", "fixed-point", "string", "gradient",   "optimum",  "rewrite"};
    okra_options *options = NULL;
    okra_prediction *p = NULL, *q = NULL;
    const char *decoder = t ? PICK(t, decoders) : NULL;
    unsigned ask = t ? next(t, 8) : 0;
    okra_predict_request request = {
        .weights = ask & 1, .embedding = ask & 2, .confidence = ask & 4};
    PARTS_CHECK(okra_predict_options(&options) == OKRA_OK);
    if (decoder) {
        PARTS_CHECK(okra_options_set(options, "decode", decoder) == OKRA_OK);
    }
    okra_status st = okra_predict(ctx, model, x, options, &request, &p);
    if (st != OKRA_OK) {
        refused_well(st);
    } else {
        check_prediction(p);
        PARTS_CHECK(okra_predict(ctx, model, x, options, &request, &q) == OKRA_OK);
        check_same(p, q);
        check_kept(ctx, model, x, options, &request, p);
    }
    okra_prediction_free(p);
    okra_prediction_free(q);
    okra_options_free(options);
}

static void use(const parts *m, size_t which, tape *t, size_t turn)
{
    okra_context *ctx = NULL;
    okra_model *model = NULL;
    PARTS_CHECK(okra_context_create(&ctx) == OKRA_OK);
    PARTS_CHECK(okra_context_set_memory(ctx, BUDGET) == OKRA_OK);
    PARTS_CHECK(okra_context_set_threads(ctx, 1) == OKRA_OK);
    parts_write(m, path);
    okra_alloc_reset_peak_();
    okra_status st = okra_model_load(ctx, path, &model);
    if (st != OKRA_OK) {
        refused_well(st);
        PARTS_CHECK(strstr(okra_message(), path) || st == OKRA_EMEM);
    } else {
        okra_data *x = zoo_data(zoo[which].x, ZOO_M);
        PARTS_CHECK(okra_model_json(model)[0] == '{');
        predict(ctx, model, x, NULL);
        predict(ctx, model, x, t);
        judge(ctx, model, which, turn);
        okra_data_free(x);
    }
    PARTS_CHECK(okra_alloc_peak_bytes_() <= (okra_int)BUDGET + MORE);
    okra_model_free(model);
    okra_context_free(ctx);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tape t = {data, data + size};
    parts m;
    struct timespec begin, end;
    /* a model is synced when written: memory is faster than a disk */
    snprintf(path, sizeof path, "%s/okra-fuzz-sealed-%ld",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", (long)getpid());
    for (size_t i = 0; i < ZOO_COUNT; i++) {
        animal(i); /* made once, and not counted among what an input leaves */
    }
    okra_int live = okra_alloc_live_blocks_();
    size_t which = next(&t, ZOO_COUNT);
    unsigned count = next(&t, 4);
    parts_copy(animal(which), &m);
    for (unsigned i = 0; i < count; i++) {
        alter(&m, &t);
    }
    clock_gettime(CLOCK_MONOTONIC, &begin);
    use(&m, which, &t, size);
    clock_gettime(CLOCK_MONOTONIC, &end);
    PARTS_CHECK(end.tv_sec - begin.tv_sec <= SECONDS_MOST);
    parts_free(&m);
    PARTS_CHECK(okra_alloc_live_blocks_() == live);
    unlink(path);
    return 0;
}
