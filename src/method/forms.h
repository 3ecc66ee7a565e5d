/*
 * forms.h: methods whose models all have one form.
 */
#ifndef OKRA_FORMS_H_
#define OKRA_FORMS_H_

#include "method/method.h"

static inline okra_form_ okra_form_weights_(const okra_bag_ *bag)
{
    (void)bag;
    return OKRA_FORM_WEIGHTS;
}

static inline okra_form_ okra_form_embedding_(const okra_bag_ *bag)
{
    (void)bag;
    return OKRA_FORM_EMBEDDING;
}

#endif
