/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether the device is ready for a call that it would do sooner than the host: started, the library that the call needs open
 * and its routine's code loaded, its kernel compiled. What is missing is seen to beside the host's work, which goes on
 * meanwhile; only a call that gains more than that takes, or is asked for by an option, waits for it. Any thread,
 * without locks. Checked by tests/unit/offload/dispatch/test_readiness.c.
 */
#pragma once

#include "call.h"
#include "decide.h"

/* NONE: it is ready, or becomes so while the call waits. */
enum gsh_reason gsh_readiness_check(const struct gsh_call *call, const struct gsh_verdict *verdict);
/* The device has been started: the libraries that calls so far would have gained by are opened beside the host's work. */
void gsh_readiness_prepare(void);
