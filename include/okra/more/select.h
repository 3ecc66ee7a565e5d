/*
 * okra/more/select.h: nested cross-validation, and the choice of options for links.
 */
#ifndef OKRA_MORE_SELECT_H
#define OKRA_MORE_SELECT_H

#include "okra/more/link.h"
#include "okra/select.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The same for links of a network (okra/link.h): labelled nodes are left out, and the
 * metric is auc-roc (if not set) or auc-pr of the pairs.
 *   loo     over all labelled pairs, each end left out (settings->together: both at
 *           once), the known network kept whole: okra_link_leave, one decomposition for
 *           all lambdas
 *   kfold   fitted on the known network without the fold; its pairs with nodes of the
 *           fold are ranked
 * Folds, groups and strata are of the labelled nodes. settings == NULL: defaults. */
OKRA_EXPERIMENTAL okra_status okra_select_links(okra_context *context,
                                                const okra_link_task *task,
                                                const okra_link_settings *settings,
                                                const okra_options *options,
                                                const okra_select_request *request,
                                                okra_selection **out) OKRA_CHECK;
/* The same for links of a network: kx and lambda (not ky, which is diffusion where it is
 * not given) by leave-one-out over links, on at most 300 labelled nodes. *fit is for
 * okra_link_fit. Where nothing can be compared they are a guess, and *selection is NULL.
 */
OKRA_EXPERIMENTAL okra_status okra_choose_links(okra_context *context,
                                                const okra_link_task *task,
                                                const okra_link_settings *settings,
                                                const okra_options *options,
                                                okra_options **fit,
                                                okra_selection **selection) OKRA_CHECK;
/* Nested cross-validation: outer folds (0 if not nested), the error of the inner choice
 * on each, and that choice as a value of an option. */
OKRA_EXPERIMENTAL okra_int okra_selection_outer_count(const okra_selection *selection);
OKRA_EXPERIMENTAL double okra_selection_outer_error(const okra_selection *selection,
                                                    okra_int fold);
OKRA_EXPERIMENTAL const char *okra_selection_outer_value(const okra_selection *selection,
                                                         okra_int fold,
                                                         const char *option);

#ifdef __cplusplus
}
#endif
#endif
