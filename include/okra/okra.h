/*
 * okra: Output Kernel Regression, Any structure. The umbrella header: what it includes
 * will not change after 1.0 (VERSIONING.md). okra/more.h has what may.
 */
#ifndef OKRA_OKRA_H
#define OKRA_OKRA_H

#include "okra/base.h"
#include "okra/data.h"
#include "okra/kernel.h"
#include "okra/metric.h"
#include "okra/model.h"
#include "okra/select.h"
#include "okra/version.h"

#endif
