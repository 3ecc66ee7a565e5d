/*
 * okra: Output Kernel Regression, Any structure. The umbrella header.
 */
#ifndef OKRA_OKRA_H
#define OKRA_OKRA_H

#include "okra/base.h"
#include "okra/conformal.h"
#include "okra/data.h"
#include "okra/index.h"
#include "okra/kernel.h"
#include "okra/link.h"
#include "okra/metric.h"
#include "okra/model.h"
#include "okra/operator.h"
#include "okra/ranking.h"
#include "okra/select.h"
#include "okra/twin.h"
#include "okra/version.h"

#endif
