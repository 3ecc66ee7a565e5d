/*
 * okra/more/prediction.h: what decoders report of a prediction.
 */
#ifndef OKRA_MORE_PREDICTION_H
#define OKRA_MORE_PREDICTION_H

#include "okra/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How the optimisation of each prediction went, n_test x OKRA_REPORT_COLUMNS; NULL where
 * the decoder optimises nothing. Columns: the criterion reached (the largest double if
 * nothing finite was found), evaluations, norm of the gradient, and 1 if it converged,
 * else 0. */
enum { OKRA_REPORT_COLUMNS = 4 };
OKRA_EXPERIMENTAL const double *okra_prediction_report(const okra_prediction *prediction,
                                                       okra_int *rows);
/* The name of a column of the report, from 0; NULL where there is none. The decoder
 * rewrite reports in the same place: `distance`, `proposals` (how many there were),
 * `rank` (of the chosen one among edits, from 1), `input` (which was rewritten, from 1).
 */
OKRA_EXPERIMENTAL const char *
okra_prediction_report_name(const okra_prediction *prediction, int column);
/* With an index or a window: how many candidates fit test point i and were compared. */
OKRA_EXPERIMENTAL okra_int okra_prediction_compared(const okra_prediction *prediction,
                                                    okra_int i);
/* An index of low rank: the largest difference of approximate and exact squared distances
 * among the candidates that were measured exactly; 0 where nothing was approximated. */
OKRA_EXPERIMENTAL double okra_prediction_error(const okra_prediction *prediction);
/* The objects that okra_prediction_index counts, where the decoder made them up (labels,
 * position, rankings, rewrite, string, and loss over all); NULL elsewhere: the
 * candidates, or the training outputs. */
OKRA_EXPERIMENTAL const okra_data *
okra_prediction_proposals(const okra_prediction *prediction);

#ifdef __cplusplus
}
#endif
#endif
