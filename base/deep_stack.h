/* SPDX-License-Identifier: Apache-2.0
 *
 * Stacks of our own for what needs more than the program's thread may have left: loops, planning, compilers' texts, drivers.
 * A Python thread of threading.stack_size(64 << 10) has some 30 KiB, a handler on an alternate stack less. There is a fixed
 * number of them; where all are in use the caller's own stack has to do, and where the main thread has room on its
 * own. The address space is taken once, pages when touched. Async-signal-safe, but for gsh_deep_stack_init.
 */
#pragma once

#include "base.h"

/* Bytes of one: what Linux gives a program's main thread, as libraries expect (OpenBLAS's getrf_parallel takes half a megabyte
 * each time it calls itself). */
#define GSH_DEEP_STACK_BYTES ((size_t)8 << 20)

/* Takes the address space; once. Until then, and where there is none, callers run on their own stacks. */
void gsh_deep_stack_init(void);
/* Calls body(argument) on such a stack, in a critical section; where the thread is on one, there. */
void gsh_deep_stack_run(void (*body)(void *argument), void *argument);
