/* SPDX-License-Identifier: Apache-2.0
 *
 * Device time of launches, if a report was requested: a pair of events around each launch, read once both have
 * completed and charged to the launch's stats row. With the context current.
 */
#pragma once

#include "base.h"

/* Begins the measurement of the launch submitted next; false: nothing is measured. DISPATCH lock held. */
bool gsh_cuda_timing_begin(unsigned row);
/* Ends it. DISPATCH lock held. */
void gsh_cuda_timing_end(void);
/* Charges every measurement whose launch has run. Any thread. */
void gsh_cuda_timing_collect(void);
