/* SPDX-License-Identifier: Apache-2.0
 *
 * The one path of every call: describe (the hook) -> decide -> make resident -> run -> mark. Nothing here
 * knows Python; callers may or may not hold the GIL. May take the DISPATCH lock and block for
 * transfers.
 *
 * A hook fills a gsh_call and asks gsh_dispatch_decide.
 *   NONE: it makes the output array between gsh_arena_hint_begin and _end, sets the output's address and
 *     calls gsh_dispatch_run. GSH_OK: it returns the array. Otherwise it drops the array and declines.
 *   Any other reason: it declines: gsh_dispatch_fetch, then the original between gsh_host_calibration_begin and _end,
 *     then gsh_stats_host_call.
 */
#pragma once

#include "call.h"
#include "status.h"

/* True where calls may be accepted at all: mode is not off, a device was chosen, not in a forked
 * child, not retired, and this thread is not inside the library. One load and a thread-local test.
 */
bool gsh_dispatch_is_live(void);

/* Whether this thread is inside the library, or pauses, so that its calls are not the program's; or the program has switched
 * its calls off. */
bool gsh_dispatch_is_inside(void);

/* Why it is not live, for a thread that is not inside the library. */
enum gsh_reason gsh_dispatch_why_dead(void);

/* While it pauses, this thread's calls are neither accepted nor counted. */
void gsh_dispatch_pause(bool pauses);

/* Switches this thread's calls off, as often as it is called so, or on again: NumPy's own code computes them meanwhile. On
 * without off does nothing. */
void gsh_dispatch_switch(bool is_off);

/* Prices the call where its operands are. NONE: run it on the device. Touches nothing but the books
 * of the policy and what makes the device ready behind the caller (readiness.h), and waits for the device where the call's
 * own gain pays that. The output's address may be 0. */
enum gsh_reason gsh_dispatch_decide(const struct gsh_call *call);

/* Records the call as a node and submits it. OK: the outputs' newest contents are on the device, or, where they are
 * outside the arena (batches only), in place. Otherwise nothing was touched; *why says which reason to report. With GPUSHIM_SYNC it has
 * run on return. */
enum gsh_status gsh_dispatch_run(const struct gsh_call *call, enum gsh_reason *why);

/* Starts the device where it has not been, waits for it, and sends it what it lacks of these bytes of one block. Returns once they
 * have been read; the program may go on to use them. False: they are not all there. */
bool gsh_dispatch_prefetch(const void *address, size_t size);

/* Fetches every operand in bulk before the original runs: inputs readable, the output
 * writeable. */
void gsh_dispatch_fetch(const struct gsh_call *call);

/* Fewest elements (product of an upper bound on the broadcast shape) worth describing at all when
 * no operand is resident: hooks compare with it before anything else. 0 in force mode. Larger during a rest (small_call_rest.h). */
extern _Atomic int64_t gsh_dispatch_min_elements;

/* Waits until everything submitted has run. */
void gsh_dispatch_synchronize(void);
