/* SPDX-License-Identifier: Apache-2.0
 *
 * A draw of random numbers as a call. The hook locks the generator, reads its stream, has the call decided and run, and writes
 * *draw->end back to the generator. A call that is declined has changed nothing.
 */
#pragma once

#include "call.h"

/* To an array in C order: to `out`, or to a fresh one (NULL). draw->end is not NULL, and lives until the call has run. */
struct gsh_call gsh_draw_call_make(const struct gsh_random_draw *draw, enum gsh_dtype dtype,
                                   int ndim, const int64_t *shape, void *out, unsigned row);
