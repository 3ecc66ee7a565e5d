/*
 * okra/more.h: all of the experimental headers, okra/more/. What they declare is marked
 * OKRA_EXPERIMENTAL and may change in any minor version; okra/okra.h has what stays.
 */
#ifndef OKRA_MORE_H
#define OKRA_MORE_H

#include "okra/more/classes.h"
#include "okra/more/conformal.h"
#include "okra/more/features.h"
#include "okra/more/fuse.h"
#include "okra/more/group.h"
#include "okra/more/index.h"
#include "okra/more/leave.h"
#include "okra/more/link.h"
#include "okra/more/objects.h"
#include "okra/more/operator.h"
#include "okra/more/pairs.h"
#include "okra/more/prediction.h"
#include "okra/more/ranking.h"
#include "okra/more/score.h"
#include "okra/more/select.h"
#include "okra/more/tables.h"
#include "okra/more/traits.h"
#include "okra/more/twin.h"
#include "okra/more/update.h"

#endif
