/* field.h: pairs to add to models and to take out of them. */
#ifndef OKRA_TEST_FIELD_H
#define OKRA_TEST_FIELD_H

#include "pairs.h"
#include "okra/more/update.h"

enum { MANY = 60, WIDE = 3, OUT = 2, TESTS_ = 9 };

typedef struct field {
    double x[MANY * WIDE], y[MANY * OUT], t[TESTS_ * WIDE];
} field;

static inline field *make_field(uint64_t seed, int shape)
{
    static field f;
    okra_random_ r = okra_random_create_(seed, 5);
    harness_normals(&r, MANY * WIDE, f.x);
    harness_normals(&r, MANY * OUT, f.y);
    harness_normals(&r, TESTS_ * WIDE, f.t);
    for (int i = 0; shape == 1 && i < MANY; i++) { /* every third is a copy */
        for (int k = 0; k < WIDE; k++) {
            f.x[i * WIDE + k] = f.x[i / 3 * 3 * WIDE + k];
        }
    }
    for (int i = 0; shape == 2 && i < MANY; i++) { /* of rank one */
        f.x[i * WIDE + 1] = f.x[i * WIDE + 2] = f.x[i * WIDE];
    }
    return &f;
}

static inline okra_data *rows_of(const double *values, const okra_int *index,
                                 okra_int count, okra_int width)
{
    okra_data *all = NULL, *some = NULL;
    CHECK_OK(okra_data_dense(values, MANY, width, width, &all));
    CHECK_OK(okra_data_take(all, index, count, &some));
    okra_data_free(all);
    return some;
}

static inline okra_model *fit_rows(const field *f, const okra_int *index, okra_int count,
                                   const char *settings)
{
    okra_data *x = rows_of(f->x, index, count, WIDE),
              *y = rows_of(f->y, index, count, OUT);
    okra_model *model = pairs_fit(x, y, settings);
    okra_data_free(x);
    okra_data_free(y);
    return model;
}

/* The rows `more` of the field come, the model's rows `gone` go. */
static inline okra_status change(const field *f, const okra_model *model,
                                 const okra_int *more, okra_int more_count,
                                 const okra_int *gone, okra_int gone_count,
                                 okra_update_report *report, okra_model **out)
{
    okra_data *x = NULL, *y = NULL;
    okra_update_request request = {OKRA_SIZED(okra_update_request), .remove = gone,
                                   .remove_count = gone_count};
    if (more_count > 0) {
        request.x = x = rows_of(f->x, more, more_count, WIDE);
        request.y = y = rows_of(f->y, more, more_count, OUT);
    }
    okra_status st = okra_model_update(NULL, model, &request, report, out);
    okra_data_free(x);
    okra_data_free(y);
    return st;
}

static inline double apart(const field *f, const okra_model *a, const okra_model *b)
{
    okra_data *t = NULL;
    okra_int rows = 0, cols = 0;
    CHECK_OK(okra_data_dense(f->t, TESTS_, WIDE, WIDE, &t));
    bool weights = okra_model_form_(a) == OKRA_FORM_WEIGHTS;
    bool embedding = !weights || a->training->output.features != NULL;
    CHECK(okra_model_form_(b) == okra_model_form_(a));
    okra_prediction *p = pairs_predict(a, t, "decode=none", weights, embedding);
    okra_prediction *q = pairs_predict(b, t, "decode=none", weights, embedding);
    double worst = 0;
    if (weights) {
        const double *w = okra_prediction_weights(p, &rows, &cols);
        worst =
            harness_relative(rows * cols, w, okra_prediction_weights(q, &rows, &cols));
    }
    if (embedding) {
        const double *h = okra_prediction_embedding(p, &rows, &cols);
        worst = fmax(worst, harness_relative(rows * cols, h,
                                             okra_prediction_embedding(q, &rows, &cols)));
    }
    okra_prediction_free(p);
    okra_prediction_free(q);
    okra_data_free(t);
    return worst;
}

/* lambda 0.05 and Gram matrices of rank 3 and more: condition numbers up to 1e4. Ten
 * times the worst over 100 seeds. */
static const double CLOSE = 2e-12; /* 1.7e-13 */

#endif
