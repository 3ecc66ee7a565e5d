/*
 * options.h: the options of fit, predict and select themselves.
 */
#ifndef OKRA_MODEL_OPTIONS_H_
#define OKRA_MODEL_OPTIONS_H_

#include "core/core.h"

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

/* The tables of "fit" and "predict"; NULL for another topic. */
const okra_option_table *const *okra_model_tables_(const char *topic, size_t *count);

/* "there is no method 'x'; did you mean 'y'?" */
enum { OKRA_NAMES_MOST_ = 64 };
okra_status okra_unknown_(const char *what, const char *name, const char *const *names,
                          size_t count);

#endif
