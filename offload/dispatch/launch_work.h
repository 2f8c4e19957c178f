/* SPDX-License-Identifier: Apache-2.0
 *
 * A launch's work in numbers, of which the cost model (policy/cost_model.h) makes seconds: bytes, elements, operations. Pure but for the
 * rates of the chosen backend. Any thread.
 */
#pragma once

#include "cost_model.h"
#include "launch.h"

struct gsh_work gsh_launch_work(const struct gsh_launch *launch);

/* Bytes between operand k's lowest and highest element, and its first. */
double gsh_launch_work_span(const struct gsh_launch *launch, unsigned k, uint64_t *first);
/* Bytes of operand k's elements, of an output's distinct ones. */
double gsh_launch_work_bytes(const struct gsh_launch *launch, unsigned k);
