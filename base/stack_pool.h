/* SPDX-License-Identifier: Apache-2.0
 *
 * A pool of stacks of the library's own, for work that may need more stack than the program's thread has left: loops,
 * planning, kernel compilation, drivers. A Python thread of threading.stack_size(64 << 10) has some 30 KiB, a handler
 * on an alternate stack less. The number of stacks is fixed. The caller's own stack is used where all are taken, and on
 * the main thread where enough of its stack is free. Address space is reserved once; pages are allocated when touched.
 * All functions but gsh_stack_pool_init are async-signal-safe.
 */
#pragma once

#include "base.h"

/* Bytes of one stack: Linux's default for a program's main thread, which libraries expect (OpenBLAS's
 * getrf_parallel takes half a megabyte at each recursion). */
#define GSH_STACK_POOL_BYTES ((size_t)8 << 20)

/* Reserves the address space, once. Before that, or where it fails, callers run on their own stacks. */
void gsh_stack_pool_init(void);
/* Calls body(argument) on one of the stacks, in a critical section. A nested call runs on the same stack. */
void gsh_stack_pool_run(void (*body)(void *argument), void *argument);
