/*
 * soar.h: what fitting and predicting of structured output-associative regression share.
 */
#ifndef OKRA_METHOD_SOAR_H_
#define OKRA_METHOD_SOAR_H_

#include "method/method.h"

/* Y (m x d) without column j. */
okra_status okra_soar_others_(okra_mat_ Y, okra_int j, okra_data **out) OKRA_CHECK;

/* What tables cannot say of a model (okra_method_). */
okra_status okra_soar_check_(const okra_bag_ *bag, const okra_facts_ *facts);
okra_status okra_soar_predict_(okra_context *ctx, const okra_bag_ *bag,
                               okra_query_ *query, okra_mat_ out) OKRA_CHECK;

#endif
