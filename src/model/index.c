/*
 * index.c: an index of candidates made for a model.
 */
#include "candidates/index.h"
#include "model/model.h"

okra_status okra_index_build(okra_context *context, const okra_index_request *request,
                             okra_index_report *report)
{
    okra_index_request known = {OKRA_SIZED(okra_index_request)};
    NOT_NULL(request);
    SIZED(request, &known);
    const okra_output_ *output = known.model ? &known.model->training->output : NULL;
    return okra_index_make_(context, &known, output, report);
}
